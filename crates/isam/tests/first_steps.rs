//! The way that every program goes: write a file, close it, read it.

use immuxdb_isam::{
    Access, Direction, Key, KeyPart, Layout, OpenMode, OpenRequest, Relation, RunUnit, Settings, Status,
};

fn layout() -> Layout {
    let key = |offset, len, duplicates| Key { parts: vec![KeyPart { offset, len }], duplicates, sparse: None };
    Layout { keys: vec![key(0, 4, false), key(4, 6, true)], min_record: 12, max_record: 12, variable: false }
}

#[test]
fn what_was_written_is_read_by_every_key() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("CUSTFILE");
    let (layout, settings) = (layout(), Settings::default());
    let run_unit = RunUnit::default();
    let request =
        |mode, access| OpenRequest { path: &path, mode, access, optional: false, layout: &layout, settings: &settings };
    let (mut file, status) = run_unit.open(&request(OpenMode::Output, Access::Sequential)).unwrap();
    assert_eq!(status, Status::Ok);
    assert_eq!(file.write(b"0001Lugano..").unwrap(), Status::Ok);
    assert_eq!(file.write(b"0002Aarau ..").unwrap(), Status::Ok);
    assert_eq!(file.write(b"0003Lugano..").unwrap(), Status::Duplicate);
    assert_eq!(file.write(b"0003Zug   ..").unwrap_err().status, Status::Sequence);
    assert_eq!(file.close().unwrap(), Status::Ok);

    let (mut file, _) = run_unit.open(&request(OpenMode::Input, Access::Dynamic)).unwrap();
    let mut area = [0; 12];
    file.read_next(Direction::Next, &mut area).unwrap();
    assert_eq!(&area, b"0001Lugano..");
    area[..4].copy_from_slice(b"0003");
    file.read_key(0, &mut area).unwrap();
    assert_eq!(&area, b"0003Lugano..");
    assert_eq!(file.read_next(Direction::Next, &mut area).unwrap_err().status, Status::End);
    assert_eq!(file.start(Relation::NotLess, 1, 1, b"    B......."), Ok(Status::Ok));
    let mut seen = Vec::new();
    while let Ok(read) = file.read_next(Direction::Next, &mut area) {
        assert_eq!((read.status, read.len), (Status::Ok, 12));
        seen.push(area[..4].to_vec());
    }
    assert_eq!(seen, [b"0001", b"0003"]);
    // An area that is shorter than the record gets its beginning.
    let mut short = *b"0002       ";
    let read = file.read_key(0, &mut short).unwrap();
    assert_eq!((read.status, read.len), (Status::RecordLongerThanArea, 12));
    assert_eq!(&short, b"0002Aarau .");
    file.close().unwrap();
    let names: Vec<_> = std::fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["CUSTFILE"], "a small file is one file");
}
