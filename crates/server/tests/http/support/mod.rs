//! A server and its clients.

mod client;
mod server;

pub use client::{Answer, Client, chunked};
pub use server::Server;

use std::time::{Duration, Instant};

/// Nothing takes so long that works.
pub const LIMIT: Duration = Duration::from_secs(60);

/// Polls until `ask` has an answer.
pub fn until<T>(what: &str, mut ask: impl FnMut() -> Option<T>) -> T {
    let begin = Instant::now();
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(begin.elapsed() < LIMIT, "waited in vain: {what}");
        std::thread::sleep(Duration::from_millis(5));
    }
}
