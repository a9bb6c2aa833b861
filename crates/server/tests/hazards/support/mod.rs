//! What the hazards have in common.
//!
//! | | |
//! |---|---|
//! | `ledger` | a history that is a function of the height, so that any reader can check what it sees |
//! | `expected` | a file that says what a store must hold, whoever was killed |
//! | `site` | a directory with a store, its files, and what can be done to them |
//! | `worker` | this test binary as another process that writes or reads |
//! | `tight` | a disk on which chosen files cannot grow |

pub mod expected;
pub mod ledger;
pub mod site;
pub mod tight;
pub mod worker;

pub use ledger::Ledger;
pub use site::Site;
pub use worker::Worker;

/// Says on standard error why a hazard is not tried here.
#[expect(clippy::print_stderr, reason = "a test that is left out should not look like one that passed")]
pub fn skip(why: &str) {
    eprintln!("skipped: {why}");
}

/// Whether this process may do everything.
pub fn is_root() -> bool {
    let output = std::process::Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout == b"0\n")
}

/// Numbers that look random, and are the same in each run.
pub struct Numbers(pub u64);

impl Numbers {
    pub fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) % bound
    }
}
