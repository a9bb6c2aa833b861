//! A log that is something else.

use std::fs;

use libimmuxdb::Error;

use crate::command::Place;
use crate::support::ledger::check_all;
use crate::support::site::{log_only, overwrite};
use crate::support::{Ledger, Site};

/// A store whose log is these bytes.
fn site_of(bytes: &[u8]) -> Site {
    let site = Site::new();
    fs::create_dir_all(site.log().parent().unwrap()).unwrap();
    fs::write(site.log(), bytes).unwrap();
    site
}

/// Neither reader nor writer opens it, and nothing of it is changed.
#[track_caller]
fn check_refused(site: &Site, expected: &str) {
    let before = fs::read(site.log()).ok();
    for opened in [site.open(&log_only()), site.open_to_read()] {
        let error = opened.map(|_| ()).unwrap_err().to_string();
        assert_eq!(error, format!("{}: {expected}", site.log().display()));
    }
    assert_eq!(fs::read(site.log()).ok(), before);
    // And in the command's words.
    let root = site.root();
    let place = Place::new();
    for arguments in [&["get", "g", "k"][..], &["put", "g", "k", "1"], &["stats"]] {
        let said = place.fails(1, &[arguments, &["--data-root", root.to_str().unwrap()]].concat());
        assert!(said.starts_with(&format!("error: {}: {expected}\n", site.log().display())), "{said}");
    }
}

#[test]
fn a_text() {
    for text in ["hello\n".to_owned(), "long text ".repeat(1000)] {
        check_refused(&site_of(text.as_bytes()), "this is not an ImmuxDB log");
    }
}

#[test]
fn zeroes() {
    check_refused(&site_of(&[0; 8192]), "this is not an ImmuxDB log");
}

#[test]
fn a_database_of_another_kind() {
    check_refused(&site_of(&[b"SQLite format 3\0".to_vec(), vec![1; 8000]].concat()), "this is not an ImmuxDB log");
}

#[test]
fn a_directory() {
    let site = Site::new();
    fs::create_dir_all(site.log()).unwrap();
    check_refused(&site, "Is a directory (os error 21)");
}

/// An empty file is a log whose making was interrupted: a reader waits for it, a writer makes it.
#[test]
fn an_empty_file() {
    for bytes in [&[][..], b"IMMU", &[0; 4096]] {
        let site = site_of(bytes);
        assert!(matches!(site.open_to_read().map(|_| ()), Err(Error::Format { .. })));
        assert_eq!(fs::read(site.log()).unwrap(), bytes, "a reader changes nothing");
        site.write_ledger(&log_only(), 20);
        site.check_and_go_on(20);
    }
}

/// Changes a field of the header, and makes its checksum right.
fn with_header(site: &Site, offset: usize, value: u8) {
    let mut header = fs::read(site.log()).unwrap()[..64].to_vec();
    header[offset] = value;
    overwrite(&site.log(), 0, &header);
    overwrite(&site.log(), 64, &crc32c::crc32c(&header).to_le_bytes());
}

#[test]
fn another_format_version() {
    let site = Site::with_log_only(50);
    with_header(&site, 8, 2);
    check_refused(&site, "the log has format version 2; this engine reads version 1, use a newer one");
}

#[test]
fn features_that_must_be_known() {
    let site = Site::with_log_only(50);
    with_header(&site, 20, 4);
    check_refused(&site, "the log uses features 0x4 that this engine does not know; use a newer one");
}

/// With features that are only needed for writing it can be read.
#[test]
fn features_that_a_writer_must_know() {
    let site = Site::with_log_only(50);
    with_header(&site, 16, 1);
    let (_store, chain) = site.open_to_read().unwrap();
    check_all(&chain);
    let refused = site.open(&log_only()).map(|_| ()).unwrap_err().to_string();
    assert!(
        refused.contains("features that this engine cannot write; open it read-only, or use a newer engine"),
        "{refused}"
    );
}

#[test]
fn features_that_need_not_be_known() {
    let site = Site::with_log_only(50);
    with_header(&site, 12, 0xff);
    site.check_and_go_on(50);
}

/// A log of another place in the file system, linked: it is the same log, with the same lock.
#[test]
fn a_symbolic_link() {
    let (site, link) = (Site::with_log_only(50), Site::new());
    fs::create_dir_all(link.log().parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(site.log(), link.log()).unwrap();
    let (_store, chain) = link.open(&log_only()).unwrap();
    check_all(&chain);
    let refused = site.open(&log_only()).map(|_| ());
    assert!(matches!(refused, Err(Error::Held { .. })), "{refused:?}");
    Ledger::at(50).commit_to(&chain, 60);
    check_all(&site.open_to_read().unwrap().1);
}
