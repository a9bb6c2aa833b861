//! Connections to the server: opened when one is needed, kept when its answer has been read to the end, used again.
//!
//! ```text
//!  request ──► idle connection? ──yes──► send ──► answer's head ──► body, read to its end ──► idle again
//!                  │ no                   │ closed by the server while idle
//!                  └──► connect ──────────┴──► next one: always where nothing was sent, else only for reads
//! ```
//!
//! One connection carries one request at a time (HTTP/1.1); as many are open as requests were under way at once. The connection itself is
//! [`hyper`]'s. Keeping them is done here, since that is little, and a blocking client must not leave work to a task that runs only while
//! somebody waits.

mod address;
mod answer;
mod outgoing;
mod pool;

pub(crate) use address::Address;
pub(crate) use answer::{Answer, Body};
pub(crate) use outgoing::Outgoing;
pub(crate) use pool::Pool;
