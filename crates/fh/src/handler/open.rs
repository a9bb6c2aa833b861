//! OPEN.

use std::sync::OnceLock;

use immuxdb_isam::{Failure, Layout, OpenMode, OpenRequest, RunUnit, Settings, Sharing, Status};

use super::table::{MAX_OPEN, OpenFile, Standing, TABLE};
use super::{assigned_name, finish, name_of, statement};
use crate::fcd::{CLOSED, Fcd, MAX_RECORD, keys, open_mode_number};
use crate::libcob::{Family, libcob};
use crate::message;
use crate::name::configuration::Configuration;
use crate::name::{self, Variables};
use crate::trace::trace;

/// Opens the file that the FCD names.
///
/// # Safety
/// As for [`crate::immuxfh`].
#[expect(unsafe_code, reason = "the name and the keys are the program's")]
pub unsafe fn open(mode: OpenMode, fcd: Fcd) -> Result<Status, Failure> {
    let file = statement::file();
    {
        let table = TABLE.lock();
        let standing = match file.map(|file| table.standing_of(file)) {
            None | Some(Standing::Unknown) => table.standing(fcd),
            Some(standing) => standing,
        };
        match standing {
            Standing::Open => return Err(Status::AlreadyOpen.into()),
            Standing::ClosedWithLock => return Err(Status::ClosedWithLock.into()),
            Standing::Unknown | Standing::Closed if table.is_full() => {
                return Err(Failure::new(Status::IoError, format!("the program has {MAX_OPEN} files open, the most")));
            }
            Standing::Unknown | Standing::Closed => {}
        }
    }
    // What an earlier use left there.
    fcd.set_open_mode(CLOSED);
    // SAFETY: promised by the caller.
    let (assigned, layout) = unsafe { (name_to_open(fcd), layout(fcd)) };
    let path = path(assigned);
    if path.as_os_str().is_empty() {
        return Err(Failure::new(
            Status::BadName,
            "ASSIGN names no file: the name, or what the environment maps it to, is empty",
        ));
    }
    let layout = layout.map_err(|text| Failure::new(Status::AttributesClash, format!("{}: {text}", path.display())))?;
    let settings = settings()?;
    finish::prepare();
    let request = OpenRequest {
        path: &path,
        mode,
        access: fcd.access(),
        optional: fcd.is_optional(),
        layout: &layout,
        settings: &settings,
    };
    let (connector, status) = RunUnit::global().open_sharing(&request, sharing(fcd))?;
    if let Some(warning) = connector.warning() {
        message::tell(warning);
    }
    let open = OpenFile {
        connector,
        name: name_of(assigned),
        area_len: layout.max_record as usize,
        min_len: layout.min_record as usize,
        key_count: layout.keys.len(),
        varying: file.filter(|_| layout.variable),
    };
    let left = TABLE.lock().insert(fcd, file, open);
    for open in left {
        // Its program is gone without CLOSE. What was acknowledged is in the file.
        if let Err(failure) = open.connector.close() {
            message::tell_failure(&failure);
        }
    }
    fcd.set_open_mode(open_mode_number(mode));
    if let (Some(trace), Some(sharing), Some(file)) = (trace(), statement::sharing(), file) {
        trace.note(&format!(
            "{} lock-mode={} sharing={sharing} path={}",
            file.name(),
            file.lock_mode(),
            path.display()
        ));
    }
    Ok(status)
}

/// What others may do with the file, by LOCK MODE EXCLUSIVE, and by OPEN's SHARING and WITH LOCK where OPEN was interposed.
fn sharing(fcd: Fcd) -> Sharing {
    const EXCLUSIVE: u8 = 1;
    const NO_OTHER: i32 = 4;
    const LOCK: i32 = 16;
    let alone = match libcob().family {
        Some(Family::Four) => NO_OTHER | LOCK,
        Some(Family::Three) => LOCK,
        None => 0,
    };
    let by_statement = statement::sharing().is_some_and(|sharing| sharing & alone != 0);
    if by_statement || fcd.lock_mode() == EXCLUSIVE { Sharing::NoOther } else { Sharing::ByMode }
}

/// The name in ASSIGN: the program's own field, where OPEN was interposed. The FCD may have the name of an earlier OPEN.
///
/// # Safety
/// As for [`crate::immuxfh`].
#[expect(unsafe_code, reason = "the name is the program's")]
pub unsafe fn name_to_open<'a>(fcd: Fcd) -> &'a [u8] {
    // SAFETY: promised by the caller.
    statement::file().and_then(assigned_name).unwrap_or_else(|| unsafe { fcd.name() })
}

/// The path that a name in ASSIGN leads to in this process.
pub fn path(assigned: &[u8]) -> std::path::PathBuf {
    let family = libcob().family.unwrap_or(Family::Three);
    name::path(assigned, family, &name::Environment, configuration().get("COB_FILE_PATH"))
}

/// libcob's configuration; read at the first call, as libcob reads it once.
fn configuration() -> &'static Configuration {
    static CONFIGURATION: OnceLock<Configuration> = OnceLock::new();
    CONFIGURATION.get_or_init(|| Configuration::read(&name::Environment))
}

/// The settings: the environment's, then those of libcob's configuration.
fn settings() -> Result<Settings, Failure> {
    Settings::from_variables(|variable| {
        let set = name::Environment.get(variable.as_bytes()).filter(|value| !value.is_empty());
        let value = set.or_else(|| configuration().get(variable).map(<[u8]>::to_vec))?;
        Some(String::from_utf8_lossy(&value).into_owned())
    })
}

/// The layout that SELECT and FD declare.
///
/// # Safety
/// As for [`crate::immuxfh`].
#[expect(unsafe_code, reason = "the keys are the program's")]
unsafe fn layout(fcd: Fcd) -> Result<Layout, String> {
    let (min_record, max_record) = (fcd.min_len(), fcd.max_len());
    if max_record == 0 || max_record > MAX_RECORD || min_record > max_record {
        return Err(format!(
            "records of {min_record} to {max_record} bytes: the longest may have from 1 to {MAX_RECORD}"
        ));
    }
    // SAFETY: promised by the caller.
    let block = unsafe { fcd.key_block() }.unwrap_or_default();
    let keys = keys::decode(block, max_record).map_err(|fault| fault.to_string())?;
    Ok(Layout { keys, min_record, max_record, variable: fcd.is_variable() || min_record != max_record })
}
