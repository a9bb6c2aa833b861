//! How a client is set up.

use std::sync::Arc;
use std::time::Duration;

use http::header::HeaderValue;

use crate::blocking;
use crate::client::Client;
use crate::connection::{Address, Pool};
use crate::error::{Error, Result};
use crate::types::Durability;

/// The chain that is used where none is chosen.
pub(crate) const DEFAULT_CHAIN: &str = "default";

/// The settings of a client.
#[derive(Clone, Debug)]
pub struct Builder {
    address: String,
    chain: String,
    token: Option<String>,
    durability: Option<Durability>,
    timeout: Option<Duration>,
    connect_timeout: Duration,
}

impl Builder {
    pub(crate) fn new(address: &str) -> Builder {
        Builder {
            address: address.to_owned(),
            chain: DEFAULT_CHAIN.to_owned(),
            token: None,
            durability: None,
            timeout: Some(Duration::from_secs(60)),
            connect_timeout: Duration::from_secs(5),
        }
    }

    /// The chain to work on: `default` where none is set.
    #[must_use]
    pub fn chain(self, chain: impl Into<String>) -> Builder {
        Builder { chain: chain.into(), ..self }
    }

    /// The token that the server asks for.
    #[must_use]
    pub fn token(self, token: impl Into<String>) -> Builder {
        Builder { token: Some(token.into()), ..self }
    }

    /// What a write survives when it has returned; where none is set, the server decides.
    #[must_use]
    pub fn durability(self, durability: Durability) -> Builder {
        Builder { durability: Some(durability), ..self }
    }

    /// How long to wait for an answer to begin, and for each further piece of it; `None` for as long as it takes. 60 seconds where nothing is
    /// set. Bulk writes, counts and the making of indexes wait for as long as they take.
    #[must_use]
    pub fn timeout(self, timeout: Option<Duration>) -> Builder {
        Builder { timeout, ..self }
    }

    /// How long to wait for a connection: 5 seconds where nothing is set.
    #[must_use]
    pub fn connect_timeout(self, timeout: Duration) -> Builder {
        Builder { connect_timeout: timeout, ..self }
    }

    /// The asynchronous client. It connects when it is used first.
    ///
    /// # Errors
    /// [`Error::Address`]; [`Error::Invalid`]: the token can't be sent.
    pub fn build(self) -> Result<Client> {
        let token = self.token.map(|token| {
            let mut header = HeaderValue::try_from(format!("Bearer {token}"))
                .map_err(|_| Error::Invalid("the token has characters that no header can have".to_owned()))?;
            header.set_sensitive(true);
            Ok::<_, Error>(header)
        });
        let address = Address::parse(&self.address)?;
        Ok(Client {
            pool: Arc::new(Pool::new(address, self.connect_timeout)),
            chain: self.chain.into(),
            token: token.transpose()?,
            durability: self.durability,
            timeout: self.timeout,
        })
    }

    /// The blocking client. It connects when it is used first.
    ///
    /// # Errors
    /// Those of [`Builder::build`]; [`Error::Invalid`]: the system has no resources for it.
    pub fn build_blocking(self) -> Result<blocking::Client> {
        blocking::Client::new(self.build()?)
    }
}
