//! A conversation with `driver.cob`: a line to it, what it answers.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStderr, ChildStdin, Command, Stdio};

use super::compiler::{Compiler, Files};
use super::program::command;

/// A driver that runs.
pub struct Session {
    child: Child,
    to: Option<ChildStdin>,
    from: BufReader<ChildStderr>,
}

impl Session {
    /// Starts a driver for a file in a folder.
    pub fn start(compiler: Compiler, folder: &Path, file: &str) -> Session {
        Session::of(command(compiler, Files::Immux, &["driver"], folder).arg(file))
    }

    /// Starts a driver by a command that is complete.
    pub fn of(command: &mut Command) -> Session {
        let command = command.stdin(Stdio::piped()).stderr(Stdio::piped()).stdout(Stdio::null());
        let mut child = command.spawn().unwrap();
        let (to, from) = (child.stdin.take(), BufReader::new(child.stderr.take().unwrap()));
        Session { child, to, from }
    }

    /// Its process.
    pub fn process(&self) -> u32 {
        self.child.id()
    }

    /// What is said to a line: the answer, after the lines of messages.
    pub fn ask(&mut self, line: &str) -> String {
        writeln!(self.to.as_mut().unwrap(), "{line}").unwrap();
        let mut said = String::new();
        loop {
            let mut line = String::new();
            assert!(self.from.read_line(&mut line).unwrap() > 0, "the program ended: {said}");
            match line.strip_prefix("> ") {
                Some(answer) => return said + answer.trim_end(),
                None => said += &line,
            }
        }
    }

    /// Asks, and compares the answer.
    #[track_caller]
    pub fn expect(&mut self, line: &str, answer: &str) {
        let given = self.ask(line);
        assert!(given == answer, "{line:?} gives {given:?}, not {answer:?}");
    }

    /// Asks, and compares the status; there must be a message, which is given.
    #[track_caller]
    pub fn fails(&mut self, line: &str, status: &str) -> String {
        let given = self.ask(line);
        let Some((message, code)) = given.rsplit_once('\n') else { panic!("{line:?} gives {given:?}") };
        assert!(code == status, "{line:?} gives {given:?}, not {status:?}");
        assert!(message.starts_with("immuxfh: "), "{message:?}");
        message.to_owned()
    }

    /// Ends the driver as a signal does that cannot be caught.
    pub fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Ends the driver by the end of its input; it must end well.
    pub fn end(mut self) {
        drop(self.to.take());
        let status = self.child.wait().unwrap();
        assert!(status.success(), "{status}");
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
