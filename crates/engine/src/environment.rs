//! Time, randomness and identity come from outside the engine, so that a simulation can repeat a run to the byte.

use std::hash::{BuildHasher, RandomState};
use std::time::{SystemTime, UNIX_EPOCH};

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::sync::Mutex;
use crate::types::Timestamp;

/// What the engine asks of the world besides files.
pub trait Environment: Send + Sync {
    /// The wall clock. It may jump and run backwards: the log keeps its own time from doing so.
    fn now(&self) -> Timestamp;

    /// Fills `bytes` with unpredictable bytes (salts, nonces, log ids).
    fn fill_random(&self, bytes: &mut [u8]);

    /// A number that changes with each start of the machine. It decides whether a torn tail can be the work of a power
    /// loss.
    fn boot_id(&self) -> [u8; 16];

    /// This process, for the message that says who holds a chain.
    fn process(&self) -> ProcessIdentity;
}

/// Who holds a chain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessIdentity {
    /// The process id.
    pub id: u32,
    /// When the process (or the environment in it) began.
    pub started: Timestamp,
}

/// The operating system's clock, randomness and boot id.
pub struct System {
    random: Mutex<ChaCha8Rng>,
    boot_id: [u8; 16],
    started: Timestamp,
}

impl System {
    /// Reads the boot id and seeds the generator.
    #[must_use]
    pub fn new() -> System {
        System { random: Mutex::new(ChaCha8Rng::from_seed(seed())), boot_id: read_boot_id(), started: wall_clock() }
    }
}

impl Default for System {
    fn default() -> System {
        System::new()
    }
}

/// The operating system's randomness; should that fail, what the standard library got of it for its hash tables.
fn seed() -> [u8; 32] {
    let mut seed = [0; 32];
    if getrandom::fill(&mut seed).is_err() {
        for part in seed.chunks_exact_mut(8) {
            part.copy_from_slice(&RandomState::new().hash_one(wall_clock()).to_le_bytes());
        }
    }
    seed
}

impl Environment for System {
    fn now(&self) -> Timestamp {
        wall_clock()
    }

    fn fill_random(&self, bytes: &mut [u8]) {
        self.random.lock().fill_bytes(bytes);
    }

    fn boot_id(&self) -> [u8; 16] {
        self.boot_id
    }

    fn process(&self) -> ProcessIdentity {
        ProcessIdentity { id: std::process::id(), started: self.started }
    }
}

fn wall_clock() -> Timestamp {
    let since_epoch = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    Timestamp(u64::try_from(since_epoch.as_micros()).unwrap_or(u64::MAX))
}

/// Zeroes where the system does not tell: then no restart is ever assumed, and a torn tail with valid frames after it
/// counts as damage.
fn read_boot_id() -> [u8; 16] {
    let mut id = [0; 16];
    let text = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap_or_default();
    let digits: Vec<u8> = text.bytes().filter_map(|b| (b as char).to_digit(16)).map(|d| d as u8).collect();
    for (byte, pair) in id.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = pair[0] << 4 | pair[1];
    }
    id
}
