//! The blocking client: the same operations, for programs without a runtime.
//!
//! A client has a small runtime of its own, which runs on the calling thread while a call waits; there is no thread behind it. Calls from several
//! threads work, but take turns in driving the connections: for throughput, make one client for each thread.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use futures_core::Stream;
use immuxdb_proof::{ExtensionProof, Root, UnitProof};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::runtime::{Handle, Runtime};

use crate::builder::Builder;
use crate::bulk::{BulkItem, BulkOptions};
use crate::error::{Error, Result};
use crate::lines::{Item, List};
use crate::scan::Scan;
use crate::types::{Condition, Content, Durability, Moment, Reading, Unit, Version};
use crate::wire::{self, BulkAnswer, Counted, End, IndexItem, Reverted, Written};

/// A client of a server that blocks the calling thread. Cheap to clone; clones share connections.
///
/// It must not be used within an asynchronous task: there, use [`crate::Client`].
#[derive(Clone, Debug)]
pub struct Client {
    client: crate::Client,
    runtime: Arc<Runtime>,
}

impl Client {
    pub(crate) fn new(client: crate::Client) -> Result<Client> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build()
            .map_err(|error| Error::Invalid(format!("the system has no resources for a client: {error}")))?;
        Ok(Client { client, runtime: Arc::new(runtime) })
    }

    /// A client of the server at a URL such as `http://127.0.0.1:1991`. It connects when it is used first.
    ///
    /// # Errors
    /// [`Error::Address`].
    pub fn connect(url: &str) -> Result<Client> {
        Client::builder(url).build_blocking()
    }

    /// A client with settings; [`Builder::build_blocking`] makes it.
    #[must_use]
    pub fn builder(url: &str) -> Builder {
        Builder::new(url)
    }

    /// A client with the same settings, whose calls don't wait for those of this one: for another thread. They share no connection.
    ///
    /// # Errors
    /// [`Error::Invalid`]: the system has no resources for it.
    pub fn separate(&self) -> Result<Client> {
        Client::new(self.client.separate())
    }

    /// Chooses the chain that this client object works on.
    pub fn switch_namespace(&mut self, chain: &str) {
        self.client.switch_namespace(chain);
    }

    /// The chain that this client object works on.
    #[must_use]
    pub fn namespace(&self) -> &str {
        self.client.namespace()
    }

    fn wait<T>(&self, future: impl Future<Output = Result<T>>) -> Result<T> {
        self.runtime.block_on(async {
            let result = future.await;
            if result.is_err() {
                close_what_was_given_up().await;
            }
            result
        })
    }

    /// See [`crate::Client::get_by_key`].
    ///
    /// # Errors
    /// The same.
    pub fn get_by_key<T: DeserializeOwned>(&self, grouping: &str, key: impl AsRef<[u8]>) -> Result<Option<T>> {
        self.wait(self.client.get_by_key(grouping, key))
    }

    /// See [`crate::Client::set_key_value`].
    ///
    /// # Errors
    /// The same.
    pub fn set_key_value(
        &self,
        grouping: &str,
        key: impl AsRef<[u8]>,
        value: &(impl Serialize + ?Sized),
    ) -> Result<Written> {
        self.wait(self.client.set_key_value(grouping, key, value))
    }

    /// See [`crate::Client::inspect_by_key`].
    ///
    /// # Errors
    /// The same.
    pub fn inspect_by_key(&self, grouping: &str, key: impl AsRef<[u8]>) -> Result<Versions> {
        self.inspect_newest(grouping, key, None)
    }

    /// See [`crate::Client::inspect_newest`].
    ///
    /// # Errors
    /// The same.
    pub fn inspect_newest(&self, grouping: &str, key: impl AsRef<[u8]>, limit: Option<u64>) -> Result<Versions> {
        let list = self.wait(self.client.inspect_newest(grouping, key, limit))?;
        Ok(Items { list, runtime: Arc::clone(&self.runtime) })
    }

    /// See [`crate::Client::revert_by_key`].
    ///
    /// # Errors
    /// The same.
    pub fn revert_by_key(&self, grouping: &str, key: impl AsRef<[u8]>, to: impl Into<Moment>) -> Result<Reverted> {
        self.wait(self.client.revert_by_key(grouping, key, to))
    }

    /// See [`crate::Client::get`].
    ///
    /// # Errors
    /// The same.
    pub fn get(&self, grouping: &str, key: impl AsRef<[u8]>) -> Result<Option<Unit>> {
        self.wait(self.client.get(grouping, key))
    }

    /// See [`crate::Client::get_at`].
    ///
    /// # Errors
    /// The same.
    pub fn get_at(&self, grouping: &str, key: impl AsRef<[u8]>, at: impl Into<Moment>) -> Result<Option<Unit>> {
        self.wait(self.client.get_at(grouping, key, at))
    }

    /// See [`crate::Client::read`].
    ///
    /// # Errors
    /// The same.
    pub fn read(&self, grouping: &str, key: impl AsRef<[u8]>, at: Option<Moment>) -> Result<Reading> {
        self.wait(self.client.read(grouping, key, at))
    }

    /// See [`crate::Client::put`].
    ///
    /// # Errors
    /// The same.
    pub fn put(&self, grouping: &str, key: impl AsRef<[u8]>, content: Content<'_>) -> Result<Written> {
        self.wait(self.client.put(grouping, key, content))
    }

    /// See [`crate::Client::insert`].
    ///
    /// # Errors
    /// The same.
    pub fn insert(&self, grouping: &str, key: impl AsRef<[u8]>, content: Content<'_>) -> Result<Written> {
        self.wait(self.client.insert(grouping, key, content))
    }

    /// See [`crate::Client::compare_and_set`].
    ///
    /// # Errors
    /// The same.
    pub fn compare_and_set(
        &self,
        grouping: &str,
        key: impl AsRef<[u8]>,
        expected: u64,
        content: Content<'_>,
    ) -> Result<Written> {
        self.wait(self.client.compare_and_set(grouping, key, expected, content))
    }

    /// See [`crate::Client::put_with`].
    ///
    /// # Errors
    /// The same.
    pub fn put_with(
        &self,
        grouping: &str,
        key: impl AsRef<[u8]>,
        content: Content<'_>,
        condition: Condition,
        durability: Option<Durability>,
    ) -> Result<Written> {
        self.wait(self.client.put_with(grouping, key, content, condition, durability))
    }

    /// See [`crate::Client::delete`].
    ///
    /// # Errors
    /// The same.
    pub fn delete(&self, grouping: &str, key: impl AsRef<[u8]>) -> Result<Written> {
        self.wait(self.client.delete(grouping, key))
    }

    /// See [`crate::Client::delete_with`].
    ///
    /// # Errors
    /// The same.
    pub fn delete_with(
        &self,
        grouping: &str,
        key: impl AsRef<[u8]>,
        condition: Condition,
        durability: Option<Durability>,
    ) -> Result<Written> {
        self.wait(self.client.delete_with(grouping, key, condition, durability))
    }

    /// See [`crate::Client::scan`].
    ///
    /// # Errors
    /// The same.
    pub fn scan(&self, grouping: &str, scan: &Scan) -> Result<Units> {
        let list = self.wait(self.client.scan(grouping, scan))?;
        Ok(Items { list, runtime: Arc::clone(&self.runtime) })
    }

    /// See [`crate::Client::count`].
    ///
    /// # Errors
    /// The same.
    pub fn count(&self, grouping: &str, scan: &Scan) -> Result<Counted> {
        self.wait(self.client.count(grouping, scan))
    }

    /// See [`crate::Client::bulk`]. Items are taken from the iterator while they are sent.
    ///
    /// # Errors
    /// The same.
    pub fn bulk<K: AsRef<[u8]>, V: AsRef<[u8]>>(
        &self,
        grouping: &str,
        items: impl IntoIterator<Item = BulkItem<K, V>>,
        options: BulkOptions,
    ) -> Result<BulkAnswer> {
        self.wait(self.client.bulk(grouping, Iterated(items.into_iter()), options))
    }

    /// See [`crate::Client::create_index`].
    ///
    /// # Errors
    /// The same.
    pub fn create_index(&self, grouping: &str, index: &str, definition: &str) -> Result<(IndexItem, bool)> {
        self.wait(self.client.create_index(grouping, index, definition))
    }

    /// See [`crate::Client::index`].
    ///
    /// # Errors
    /// The same.
    pub fn index(&self, grouping: &str, index: &str) -> Result<IndexItem> {
        self.wait(self.client.index(grouping, index))
    }

    /// See [`crate::Client::drop_index`].
    ///
    /// # Errors
    /// The same.
    pub fn drop_index(&self, grouping: &str, index: &str) -> Result<Written> {
        self.wait(self.client.drop_index(grouping, index))
    }

    /// See [`crate::Client::indexes`].
    ///
    /// # Errors
    /// The same.
    pub fn indexes(&self, grouping: &str) -> Result<Vec<IndexItem>> {
        self.wait(self.client.indexes(grouping))
    }

    /// See [`crate::Client::groupings`].
    ///
    /// # Errors
    /// The same.
    pub fn groupings(&self, count: bool) -> Result<Vec<wire::GroupingItem>> {
        self.wait(self.client.groupings(count))
    }

    /// See [`crate::Client::chains`].
    ///
    /// # Errors
    /// The same.
    pub fn chains(&self) -> Result<Vec<String>> {
        self.wait(self.client.chains())
    }

    /// See [`crate::Client::root`].
    ///
    /// # Errors
    /// The same.
    pub fn root(&self, at: Option<Moment>) -> Result<Root> {
        self.wait(self.client.root(at))
    }

    /// See [`crate::Client::extend`].
    ///
    /// # Errors
    /// The same.
    pub fn extend(&self, old: &Root, at: Option<Moment>) -> Result<Root> {
        self.wait(self.client.extend(old, at))
    }

    /// See [`crate::Client::get_proven`].
    ///
    /// # Errors
    /// The same.
    pub fn get_proven(&self, grouping: &str, key: impl AsRef<[u8]>, root: &Root) -> Result<Option<UnitProof>> {
        self.wait(self.client.get_proven(grouping, key, root))
    }

    /// See [`crate::Client::unit_proof`].
    ///
    /// # Errors
    /// The same.
    pub fn unit_proof(&self, grouping: &str, key: impl AsRef<[u8]>, at: Option<Moment>) -> Result<UnitProof> {
        self.wait(self.client.unit_proof(grouping, key, at))
    }

    /// See [`crate::Client::extension_proof`].
    ///
    /// # Errors
    /// The same.
    pub fn extension_proof(&self, old: u64, new: u64) -> Result<ExtensionProof> {
        self.wait(self.client.extension_proof(old, new))
    }

    /// See [`crate::Client::stats`].
    ///
    /// # Errors
    /// The same.
    pub fn stats(&self) -> Result<wire::StatsItem> {
        self.wait(self.client.stats())
    }

    /// See [`crate::Client::health`].
    ///
    /// # Errors
    /// The same.
    pub fn health(&self) -> Result<wire::Health> {
        self.wait(self.client.health())
    }
}

/// The items of a list that the server sends, as an iterator.
pub struct Items<T> {
    list: List<T>,
    runtime: Arc<Runtime>,
}

impl<T> Drop for Items<T> {
    fn drop(&mut self) {
        if self.list.give_up() && Handle::try_current().is_err() {
            self.runtime.block_on(close_what_was_given_up());
        }
    }
}

/// Nothing runs while nobody waits: so the connection of an answer that is not wanted any more gets its turn now, or the server would see it open
/// until the next call.
async fn close_what_was_given_up() {
    tokio::task::yield_now().await;
}

/// The units of a scan.
pub type Units = Items<Unit>;
/// The versions of a unit, newest first.
pub type Versions = Items<Version>;

impl<T: Item> Items<T> {
    /// The height of the snapshot that the list is of.
    #[must_use]
    pub fn height(&self) -> u64 {
        self.list.height()
    }

    /// How many bytes of the list have come so far.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.list.bytes()
    }

    /// After the last item: how many there were, and where to go on when a limit ended the list.
    #[must_use]
    pub fn end(&self) -> Option<&End> {
        self.list.end()
    }
}

impl<T: Item> Iterator for Items<T> {
    type Item = Result<T>;

    fn next(&mut self) -> Option<Result<T>> {
        // What has come already needs no runtime.
        match self.list.next_here() {
            Some(item) => item,
            None => self.runtime.block_on(self.list.next()),
        }
    }
}

/// An iterator as a stream that is always ready.
struct Iterated<I>(I);

// Nothing in it is pinned.
impl<I> Unpin for Iterated<I> {}

impl<I: Iterator> Stream for Iterated<I> {
    type Item = I::Item;

    fn poll_next(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<I::Item>> {
        Poll::Ready(self.0.next())
    }
}
