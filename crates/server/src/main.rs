//! The command line of ImmuxDB.

fn main() {}
