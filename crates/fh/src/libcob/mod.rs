//! What we know of the libcob in this process, and what we call in it.
//!
//! One library of ours serves all versions, so nothing of libcob is linked: each symbol is looked up when it is first
//! needed, and may be missing.
//!
//! | libcob | told by | family |
//! |---|---|---|
//! | libcob.so.4: 3.1.2, 3.2, 3.3 | `libcob_version` says so | [`Family::Three`] |
//! | libcob.so.5: 4.0-early | has `cob_file_create`, no `libcob_version` | [`Family::Four`] |
//! | any other | | none: the plain handler, no interposing |

pub mod faults;
pub mod file;

use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::OnceLock;

use faults::Faults;

/// A handler as libcob calls it, and as its own `EXTFH` is.
pub type Handler = unsafe extern "C" fn(*mut u8, *mut u8) -> c_int;

/// Versions of libcob whose `cob_file` has one layout and whose functions take the same arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// 3.1 to 3.3.
    Three,
    /// 4.0-early.
    Four,
}

/// The libcob of this process.
pub struct Libcob {
    /// What it is called in messages: its version, if it tells.
    pub version: String,
    /// Its family, if we know it.
    pub family: Option<Family>,
    /// Which workarounds it needs.
    pub faults: Faults,
    extfh: Option<Handler>,
    set_exception: Option<unsafe extern "C" fn(c_int)>,
    set_int: Option<unsafe extern "C" fn(*mut c_void, c_int)>,
    get_int: Option<unsafe extern "C" fn(*mut c_void) -> c_int>,
}

/// The libcob of this process; looked up at the first call.
pub fn libcob() -> &'static Libcob {
    static LIBCOB: OnceLock<Libcob> = OnceLock::new();
    LIBCOB.get_or_init(Libcob::find)
}

/// The address of a symbol in the process, from the program on.
fn symbol(name: &CStr) -> Option<*mut c_void> {
    lookup(libc::RTLD_DEFAULT, name)
}

/// The address of a symbol in the libraries that come after ours: libcob's own, where we export a function of its name.
pub fn next_symbol(name: &CStr) -> Option<*mut c_void> {
    lookup(libc::RTLD_NEXT, name)
}

#[expect(unsafe_code, reason = "dlsym")]
fn lookup(place: *mut c_void, name: &CStr) -> Option<*mut c_void> {
    // SAFETY: `place` is one of dlsym's pseudo-handles, the name is a C string.
    let address = unsafe { libc::dlsym(place, name.as_ptr()) };
    (!address.is_null()).then_some(address)
}

/// The function at an address. That it has this type is what all callers know of libcob: see the table above.
#[expect(unsafe_code, reason = "functions of libcob, by their address")]
pub fn function<F: Copy>(address: *mut c_void) -> F {
    assert_eq!(size_of::<F>(), size_of::<*mut c_void>(), "a function is called by its address");
    // SAFETY: `F` has the size of a pointer; callers name the type that libcob's function has in all versions.
    unsafe { std::mem::transmute_copy(&address) }
}

#[expect(unsafe_code, reason = "functions of libcob, by their address")]
impl Libcob {
    fn find() -> Libcob {
        let version = symbol(c"libcob_version").map(|address| {
            let version: unsafe extern "C" fn() -> *const c_char = function(address);
            // SAFETY: libcob's function of this name takes nothing and gives a static C string.
            let text = unsafe { CStr::from_ptr(version()) };
            text.to_string_lossy().into_owned()
        });
        let family = match &version {
            Some(version) => {
                ["3.1", "3.2", "3.3"].iter().any(|known| version.starts_with(known)).then_some(Family::Three)
            }
            None => symbol(c"cob_file_create").map(|_| Family::Four),
        };
        let faults = Faults::of(family, version.as_deref());
        let version = version.unwrap_or_else(|| match family {
            Some(Family::Four) => "4.0-early".to_owned(),
            _ => "unknown".to_owned(),
        });
        Libcob {
            version,
            family,
            faults,
            extfh: symbol(c"EXTFH").map(function),
            set_exception: symbol(c"cob_set_exception").map(function),
            set_int: symbol(c"cob_set_int").map(function),
            get_int: symbol(c"cob_get_int").map(function),
        }
    }

    /// libcob's own handler: for files that are not indexed, and for the [workarounds](faults).
    ///
    /// # Safety
    /// `code` points to the operation's two bytes, `fcd` to an FCD that libcob made.
    pub unsafe fn extfh(&self, code: *mut u8, fcd: *mut u8) -> Option<c_int> {
        // SAFETY: promised by the caller.
        self.extfh.map(|extfh| unsafe { extfh(code, fcd) })
    }

    /// Sets or (with 0) clears the runtime's exception.
    pub fn set_exception(&self, exception: c_int) {
        if let Some(set_exception) = self.set_exception {
            // SAFETY: it takes any number.
            unsafe { set_exception(exception) }
        }
    }

    /// Moves a number to a field.
    ///
    /// # Safety
    /// `field` is a `cob_field` of the program.
    pub unsafe fn set_int(&self, field: *mut c_void, number: c_int) {
        if let Some(set_int) = self.set_int {
            // SAFETY: promised by the caller.
            unsafe { set_int(field, number) }
        }
    }

    /// The number in a field.
    ///
    /// # Safety
    /// As for [`Libcob::set_int`].
    pub unsafe fn get_int(&self, field: *mut c_void) -> Option<c_int> {
        // SAFETY: promised by the caller.
        self.get_int.map(|get_int| unsafe { get_int(field) })
    }
}
