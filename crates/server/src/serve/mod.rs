//! `immuxdb serve`: the HTTP door.
//!
//! The way of a request through the code:
//!
//! ```text
//!  socket ──► listener      accepts, or turns away what is over the limit
//!               │
//!             connection    HTTP/1.1 or HTTP/2 by its first bytes; ends silent, slow and stuck clients
//!               │
//!             door          stopping? overloaded? token?
//!               │
//!             target        the raw request target ──► Resource, parameters (bytes: nothing is normalised)
//!               │
//!             unit, journal, revert, scan, bulk, indexes, listing, health, metrics, openapi
//!               │                     one file for each resource
//!             lane          where the engine's blocking work runs
//!               │
//!             libimmuxdb
//!               │
//!             answer, stream, problem ──► status, headers, bytes
//! ```
//!
//! There is no state between requests, but for the open store and the cursors that clients carry with them. What must not
//! grow is bounded:
//!
//! | what | by | beyond it |
//! |---|---|---|
//! | connections | `max_connections` | 503 `too_many_connections`, closed |
//! | requests at work (HTTP/2 has many on one connection) | the same number | 503 `overloaded` |
//! | a body that is read as a whole | `max_body` | 413 `body_too_large` |
//! | a line of a bulk body | 64 MiB | 413 `line_too_long` |
//! | memory for bodies and answers over 64 KiB, all together | `request_memory` | waits, then 503 `overloaded` |
//! | a request's head | 128 KiB, 10 s (`header_timeout`) | 431, or closed |
//! | a silent connection | `idle_timeout` | closed |
//! | a body that does not come | `body_timeout` | 408 `slow_body` |
//! | an answer that nobody reads | `write_timeout` | closed |
//!
//! The document of record for clients is docs/HTTP.md.

mod answer;
mod body;
mod budget;
mod bulk;
mod chains;
mod conditions;
mod connection;
mod cursor;
mod door;
mod engine_problem;
mod health;
mod indexes;
mod journal;
mod lane;
mod line;
mod listener;
mod listing;
mod logging;
mod media;
mod metrics;
mod openapi;
mod parameters;
mod problem;
mod proofs;
mod resource;
mod revert;
mod scan;
mod site;
mod stop;
mod stream;
mod target;
mod unit;

pub use listener::serve;
