//! The first commit of a file: its layout, and the indexes that it asks for.
//!
//! All of it is one commit, so a file has a layout or nothing at all: one whose making was interrupted is an empty file,
//! and gets the layout of the program that opens it next.

use std::sync::Arc;

use libimmuxdb::{Chain, Content, Error};

use super::{FILE, LAYOUT, RECORDS};
use crate::layout::{self, Layout};

/// Gives a chain without a layout this one.
pub(crate) fn write_layout(chain: &Arc<Chain>, layout: &Layout) -> Result<(), Error> {
    let mut transaction = chain.begin();
    transaction.define(&chain.grouping(RECORDS)?, layout.indexes());
    transaction.insert(&chain.grouping(FILE)?, LAYOUT, Content::json(&layout::encode(layout)))?;
    transaction.commit().map(|_| ())
}

/// The layout of a chain; `None` when it has none yet. The inner error says why it cannot be read.
pub(crate) fn read_layout(chain: &Arc<Chain>) -> Result<Option<Result<Layout, String>>, Error> {
    chain.grouping(FILE)?.visit(LAYOUT, layout::decode)
}
