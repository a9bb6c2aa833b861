//! The asynchronous client.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use futures_core::Stream;
use http::header::{self, HeaderValue};
use http::{Method, StatusCode};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::mpsc;

use crate::builder::Builder;
use crate::bulk::{BulkItem, BulkOptions, PIECES_AHEAD, Pieces};
use crate::call::{ANSWER_BYTES, Call, refusal, refusal_of};
use crate::connection::{Outgoing, Pool};
use crate::error::{Error, Result, ServerError};
use crate::lines::{Units, Versions};
use crate::scan::Scan;
use crate::target::Target;
use crate::types::{Condition, Content, Durability, Kind, Moment, Reading, Unit};
use crate::wire::{self, BulkAnswer, Counted, IndexItem, Reverted, Written};

/// A client of a server. Cheap to clone; clones share connections.
///
/// It needs a runtime of tokio; [`crate::blocking::Client`] does without.
#[derive(Clone)]
pub struct Client {
    pub(crate) pool: Arc<Pool>,
    pub(crate) chain: Arc<str>,
    pub(crate) token: Option<HeaderValue>,
    pub(crate) durability: Option<Durability>,
    pub(crate) timeout: Option<Duration>,
}

impl std::fmt::Debug for Client {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Client { pool, chain, .. } = self;
        f.debug_struct("Client").field("server", &pool.address.authority).field("chain", chain).finish_non_exhaustive()
    }
}

impl Client {
    /// A client of the server at a URL such as `http://127.0.0.1:1991`. It connects when it is used first.
    ///
    /// # Errors
    /// [`Error::Address`].
    pub fn connect(url: &str) -> Result<Client> {
        Client::builder(url).build()
    }

    /// A client with settings.
    #[must_use]
    pub fn builder(url: &str) -> Builder {
        Builder::new(url)
    }

    /// A client with the same settings and no connection yet.
    pub(crate) fn separate(&self) -> Client {
        Client { pool: Arc::new(self.pool.separate()), ..self.clone() }
    }

    /// Chooses the chain that this client object works on. The server keeps no such choice: each request names its chain.
    pub fn switch_namespace(&mut self, chain: &str) {
        self.chain = chain.into();
    }

    /// The chain that this client object works on.
    #[must_use]
    pub fn namespace(&self) -> &str {
        &self.chain
    }

    // ---- units

    /// The content of a unit as a value of a type; `None` if there is no such unit.
    ///
    /// # Errors
    /// [`Error::Value`]: the content is not what the type expects. Those of [`Client::read`].
    pub async fn get_by_key<T: DeserializeOwned>(&self, grouping: &str, key: impl AsRef<[u8]>) -> Result<Option<T>> {
        self.get(grouping, key).await?.map(|unit| unit.json()).transpose()
    }

    /// Writes a value as the content of a unit, whether or not it is there.
    ///
    /// # Errors
    /// [`Error::Value`]: the value can't be written as JSON. Those of [`Client::put`].
    pub async fn set_key_value(
        &self,
        grouping: &str,
        key: impl AsRef<[u8]>,
        value: &(impl Serialize + ?Sized),
    ) -> Result<Written> {
        let content = serde_json::to_vec(value)?;
        self.put(grouping, key, Content::json(&content)).await
    }

    /// All versions of a unit, newest first.
    ///
    /// # Errors
    /// [`Error::Server`] with the code `unit_missing` if there never was one.
    pub async fn inspect_by_key(&self, grouping: &str, key: impl AsRef<[u8]>) -> Result<Versions> {
        self.inspect_newest(grouping, key, None).await
    }

    /// The newest versions of a unit, at most `limit`, newest first.
    ///
    /// # Errors
    /// Those of [`Client::inspect_by_key`].
    pub async fn inspect_newest(&self, grouping: &str, key: impl AsRef<[u8]>, limit: Option<u64>) -> Result<Versions> {
        let target = Target::of_unit(grouping, key.as_ref(), Some(".journal"))?.with_text("limit", limit);
        let answer = self.ask(Call::get(target)).await?;
        let height = self.height(&answer.headers)?;
        Ok(Versions::new(answer, height))
    }

    /// Gives a unit the content that it had at a height or time; if it was not there then, it is deleted.
    ///
    /// # Errors
    /// [`Error::Server`] with the codes `height_unknown`; `unit_missing` if it is there neither now nor then.
    pub async fn revert_by_key(
        &self,
        grouping: &str,
        key: impl AsRef<[u8]>,
        to: impl Into<Moment>,
    ) -> Result<Reverted> {
        let target = Target::of_unit(grouping, key.as_ref(), Some(".revert"))?.with_text("to", Some(to.into()));
        self.json(Call::write(Method::POST, self.durable(target, None))).await
    }

    /// A unit as it is now; `None` if there is none.
    ///
    /// # Errors
    /// Those of [`Client::read`].
    pub async fn get(&self, grouping: &str, key: impl AsRef<[u8]>) -> Result<Option<Unit>> {
        Ok(self.read(grouping, key, None).await?.unit)
    }

    /// A unit as it was at a height or time; `None` if there was none.
    ///
    /// # Errors
    /// Those of [`Client::read`].
    pub async fn get_at(&self, grouping: &str, key: impl AsRef<[u8]>, at: impl Into<Moment>) -> Result<Option<Unit>> {
        Ok(self.read(grouping, key, Some(at.into())).await?.unit)
    }

    /// A unit, and the height of the snapshot that was read.
    ///
    /// # Errors
    /// [`Error::Server`] with the codes `chain_missing`, `height_unknown`; [`Error::Connect`], [`Error::Broken`], [`Error::TimedOut`].
    pub async fn read(&self, grouping: &str, key: impl AsRef<[u8]>, at: Option<Moment>) -> Result<Reading> {
        let key = key.as_ref();
        let target = Target::of_unit(grouping, key, None)?.with_text("at", at);
        let answer = self.send(Call::get(target)).await?;
        let height = self.height(&answer.headers)?;
        if answer.status != StatusCode::OK {
            return match refusal(answer).await {
                Error::Server(error) if error.code == "unit_missing" => Ok(Reading { height, unit: None }),
                error => Err(error),
            };
        }
        let kind = match answer.headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes) {
            Some(b"application/octet-stream") => Kind::Raw,
            _ => Kind::Json,
        };
        let version =
            answer.headers.get(header::ETAG).and_then(|tag| tag.to_str().ok()?.trim_matches('"').parse().ok());
        let version = version.ok_or_else(|| self.protocol("a unit has no ETag with its height"))?;
        let content = answer.body.all(ANSWER_BYTES).await?;
        Ok(Reading { height, unit: Some(Unit { key: key.to_vec(), height: version, kind, content, value: None }) })
    }

    /// Writes a version of a unit, whether or not it is there.
    ///
    /// # Errors
    /// Those of [`Client::put_with`].
    pub async fn put(&self, grouping: &str, key: impl AsRef<[u8]>, content: Content<'_>) -> Result<Written> {
        self.put_with(grouping, key, content, Condition::Any, None).await
    }

    /// Writes the first version of a unit.
    ///
    /// # Errors
    /// [`Error::Server`] with the code `unit_exists`; those of [`Client::put_with`].
    pub async fn insert(&self, grouping: &str, key: impl AsRef<[u8]>, content: Content<'_>) -> Result<Written> {
        self.put_with(grouping, key, content, Condition::Absent, None).await
    }

    /// Writes a version of a unit whose current version is that of height `expected`.
    ///
    /// # Errors
    /// [`Error::Server`] with the code `height_mismatch`; those of [`Client::put_with`].
    pub async fn compare_and_set(
        &self,
        grouping: &str,
        key: impl AsRef<[u8]>,
        expected: u64,
        content: Content<'_>,
    ) -> Result<Written> {
        self.put_with(grouping, key, content, Condition::At(expected), None).await
    }

    /// Writes a version of a unit if the condition holds, with a durability (`None` for the client's).
    ///
    /// # Errors
    /// [`Error::Server`] with the codes `unit_exists`, `height_mismatch`, `invalid_json`, `duplicate_key`, `too_large`, `no_space`;
    /// [`Error::Connect`]: nothing was sent; [`Error::Broken`], [`Error::TimedOut`]: nobody knows whether it happened.
    pub async fn put_with(
        &self,
        grouping: &str,
        key: impl AsRef<[u8]>,
        content: Content<'_>,
        condition: Condition,
        durability: Option<Durability>,
    ) -> Result<Written> {
        let target = self.durable(Target::of_unit(grouping, key.as_ref(), None)?, durability);
        let mut call = Call::write(Method::PUT, target).when(condition);
        call.body = Outgoing::Full(content.bytes.to_vec().into());
        call.content_type = Some(match content.kind {
            Kind::Raw => "application/octet-stream",
            Kind::Json | Kind::Deleted => "application/json",
        });
        self.json(call).await
    }

    /// Deletes a unit. Its versions stay.
    ///
    /// # Errors
    /// [`Error::Server`] with the code `unit_missing`.
    pub async fn delete(&self, grouping: &str, key: impl AsRef<[u8]>) -> Result<Written> {
        self.delete_with(grouping, key, Condition::Any, None).await
    }

    /// Deletes a unit if the condition holds, with a durability (`None` for the client's).
    ///
    /// # Errors
    /// [`Error::Server`] with the codes `unit_missing`, `height_mismatch`.
    pub async fn delete_with(
        &self,
        grouping: &str,
        key: impl AsRef<[u8]>,
        condition: Condition,
        durability: Option<Durability>,
    ) -> Result<Written> {
        let target = self.durable(Target::of_unit(grouping, key.as_ref(), None)?, durability);
        self.json(Call::write(Method::DELETE, target).when(condition)).await
    }

    // ---- many units

    /// Units in order. They come while they are read; memory is bounded on both sides.
    ///
    /// # Errors
    /// [`Error::Server`] with the codes `grouping_missing`, `index_missing`, `height_unknown`, `cursor_mismatch`.
    pub async fn scan(&self, grouping: &str, scan: &Scan) -> Result<Units> {
        let answer = self.ask(Call::get(scan.add_to(Target::of_grouping(grouping)?))).await?;
        let height = self.height(&answer.headers)?;
        Ok(Units::new(answer, height))
    }

    /// How many units [`Client::scan`] would give.
    ///
    /// # Errors
    /// Those of [`Client::scan`].
    pub async fn count(&self, grouping: &str, scan: &Scan) -> Result<Counted> {
        let target = scan.add_to(Target::of_grouping(grouping)?).with("count", "true");
        self.json(Call::get(target).patient()).await
    }

    /// Writes any number of units in one request, in commits of some thousands, in bounded memory. Items are taken while they are sent.
    ///
    /// A line that fails ends it: those before are written, none after it is. With [`BulkOptions::go_on`] all others are written, and the answer
    /// says which failed.
    ///
    /// # Errors
    /// [`Error::Server`] with the code of the first line that failed, its number in the field `line`, and how far it came in
    /// [`ServerError::bulk`]. Others where it is about more than a line, such as `no_space` and `stopping`.
    /// [`Error::Value`]: a content given as JSON is none; items before it may be written. [`Error::Broken`]: the first ones may be.
    pub async fn bulk<K, V>(
        &self,
        grouping: &str,
        items: impl Stream<Item = BulkItem<K, V>>,
        options: BulkOptions,
    ) -> Result<BulkAnswer>
    where
        K: AsRef<[u8]>,
        V: AsRef<[u8]>,
    {
        let target = self.durable(Target::below_grouping(grouping, ".bulk")?, options.durability);
        let target = target.with_some("on_error", options.go_on.then_some("continue"));
        let (sender, receiver) = mpsc::channel(PIECES_AHEAD);
        let mut call = Call::write(Method::POST, target).patient();
        call.body = Outgoing::Pieces(receiver);
        call.content_type = Some(wire::NDJSON);

        let mut answer = pin!(self.send(call));
        let mut feeding = pin!(feed(items, sender));
        let mut fed = None;
        // Both go on at once: the server may answer before all is sent.
        let answer = poll_fn(|cx| {
            if fed.is_none()
                && let Poll::Ready(result) = feeding.as_mut().poll(cx)
            {
                fed = Some(result);
            }
            answer.as_mut().poll(cx)
        })
        .await?;
        let status = answer.status;
        let body = answer.body.all(ANSWER_BYTES).await?;
        if let Some(Err(error)) = fed {
            return Err(error);
        }
        match serde_json::from_slice::<BulkAnswer>(&body) {
            Ok(BulkAnswer { error: None, .. }) if !status.is_success() => {
                Err(self.protocol(&format!("a bulk write ended with status {status}, and no error")))
            }
            Ok(mut answer) => match answer.error.take() {
                None => Ok(answer),
                Some(failure) => {
                    let status = status.as_u16();
                    Err(Error::Server(Box::new(ServerError { status, failure, bulk: Some(answer) })))
                }
            },
            Err(error) => Err(match refusal_of(status, &body) {
                Some(refused) => refused,
                None => self.protocol(&format!("the answer to a bulk write is none ({error})")),
            }),
        }
    }

    // ---- indexes and listings

    /// Makes an index, such as `json:date,-amount unique`, and waits until it is filled. Gives `false` where this very index was there.
    ///
    /// # Errors
    /// [`Error::Server`] with the codes `index_exists` (with another definition), `bad_definition`, `duplicate_key`.
    pub async fn create_index(&self, grouping: &str, index: &str, definition: &str) -> Result<(IndexItem, bool)> {
        let mut call = Call::write(Method::PUT, Target::of_index(grouping, index)?).patient();
        call.body =
            Outgoing::Full(serde_json::to_vec(&wire::IndexRequest { definition: definition.to_owned() })?.into());
        call.content_type = Some("application/json");
        let answer = self.ask(call).await?;
        let created = answer.status == StatusCode::CREATED;
        Ok((self.value(&answer.body.all(ANSWER_BYTES).await?)?, created))
    }

    /// An index; while it is being filled, with how far that is.
    ///
    /// # Errors
    /// [`Error::Server`] with the code `index_missing`.
    pub async fn index(&self, grouping: &str, index: &str) -> Result<IndexItem> {
        self.json(Call::get(Target::of_index(grouping, index)?)).await
    }

    /// Drops an index.
    ///
    /// # Errors
    /// [`Error::Server`] with the code `index_missing`.
    pub async fn drop_index(&self, grouping: &str, index: &str) -> Result<Written> {
        self.json(Call::write(Method::DELETE, Target::of_index(grouping, index)?)).await
    }

    /// The indexes of a grouping.
    ///
    /// # Errors
    /// [`Error::Server`] with the code `grouping_missing`.
    pub async fn indexes(&self, grouping: &str) -> Result<Vec<IndexItem>> {
        let list: wire::IndexList = self.json(Call::get(Target::below_grouping(grouping, ".indexes")?)).await?;
        Ok(list.indexes)
    }

    /// The groupings of the chain; `count` asks for the number of units of each, which reads all their keys.
    ///
    /// # Errors
    /// [`Error::Server`] with the code `chain_missing`.
    pub async fn groupings(&self, count: bool) -> Result<Vec<wire::GroupingItem>> {
        let target = Target::of_server("/.groupings").with_some("count", count.then_some("true"));
        let list: wire::GroupingList = self.json(Call::get(target).patient()).await?;
        Ok(list.groupings)
    }

    /// The chains of the store.
    ///
    /// # Errors
    /// [`Error::Connect`], [`Error::Broken`], [`Error::TimedOut`].
    pub async fn chains(&self) -> Result<Vec<String>> {
        let list: wire::ChainList = self.json(Call::get(Target::of_server("/.chains"))).await?;
        Ok(list.chains.into_iter().map(|item| item.chain).collect())
    }

    /// Sizes and counts of the chain.
    ///
    /// # Errors
    /// [`Error::Server`] with the code `chain_missing`.
    pub async fn stats(&self) -> Result<wire::StatsItem> {
        self.json(Call::get(Target::of_server("/.stats"))).await
    }

    /// Whether the server is there, and speaks this client's version of the protocol.
    ///
    /// # Errors
    /// It is not.
    pub async fn health(&self) -> Result<wire::Health> {
        self.json(Call::get(Target::of_server("/.health"))).await
    }
}

/// Hands pieces on while somebody takes them.
async fn feed<K, V>(items: impl Stream<Item = BulkItem<K, V>>, sender: mpsc::Sender<bytes::Bytes>) -> Result<()>
where
    K: AsRef<[u8]>,
    V: AsRef<[u8]>,
{
    let items = pin!(items);
    let mut pieces = Pieces::new(items);
    let mut piece = Vec::new();
    while let Some(whole) = poll_fn(|cx| pieces.poll_piece(&mut piece, cx)).await {
        if sender.send(whole?).await.is_err() {
            // The answer is there, or the connection is gone; which of them it is, the answer says.
            return Ok(());
        }
    }
    Ok(())
}
