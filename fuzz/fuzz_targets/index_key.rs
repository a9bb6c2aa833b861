#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| libimmuxdb::fuzzing::index_key(bytes));
