//! The command line of ImmuxDB.

use std::process::ExitCode;

fn main() -> ExitCode {
    immuxdb::command_line::main()
}
