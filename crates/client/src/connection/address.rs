//! Where the server is.

use http::Uri;
use http::header::HeaderValue;

use crate::error::{Error, Result};

/// Host and port of a server, from a URL such as `http://127.0.0.1:1991`.
#[derive(Clone, Debug)]
pub(crate) struct Address {
    /// The host, without the brackets of an IPv6 address.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// For the header Host, and for messages.
    pub(crate) authority: String,
    pub(crate) header: HeaderValue,
}

impl Address {
    /// The port where none is given.
    const PORT: u16 = 1991;

    pub(crate) fn parse(text: &str) -> Result<Address> {
        let wrong = |what| Error::Address { address: text.to_owned(), what };
        let Some((scheme, _)) = text.split_once("://") else {
            return Err(wrong("it does not begin with http://"));
        };
        if scheme.eq_ignore_ascii_case("https") {
            return Err(wrong(
                "https is not supported; use http, over loopback or through a tunnel that encrypts (ssh -L, a proxy)",
            ));
        }
        if !scheme.eq_ignore_ascii_case("http") {
            return Err(wrong("only http is supported"));
        }
        let uri: Uri = text.parse().map_err(|_| wrong("it is no URL"))?;
        let authority = uri.authority().ok_or_else(|| wrong("it has no host"))?;
        if authority.as_str().contains('@') {
            return Err(wrong("a user in it is not supported; set a token"));
        }
        if !matches!(uri.path(), "" | "/") || uri.query().is_some() {
            return Err(wrong("it has a path"));
        }
        let host = authority.host();
        if host.is_empty() {
            return Err(wrong("it has no host"));
        }
        let port = match authority.as_str()[host.len()..].strip_prefix(':') {
            Some(_) => authority.port_u16().ok_or_else(|| wrong("its port is no number from 0 to 65535"))?,
            None => Address::PORT,
        };
        let authority = format!("{host}:{port}");
        Ok(Address {
            host: host.trim_start_matches('[').trim_end_matches(']').to_owned(),
            port,
            header: HeaderValue::try_from(&authority).map_err(|_| wrong("its host is no header"))?,
            authority,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_and_ports() {
        for (text, host, port, authority) in [
            ("http://127.0.0.1:1991", "127.0.0.1", 1991, "127.0.0.1:1991"),
            ("http://localhost/", "localhost", 1991, "localhost:1991"),
            ("HTTP://db.example:80", "db.example", 80, "db.example:80"),
            ("http://[::1]:8000", "::1", 8000, "[::1]:8000"),
        ] {
            let address = Address::parse(text).unwrap();
            assert_eq!((address.host.as_str(), address.port, address.authority.as_str()), (host, port, authority));
        }
    }

    #[test]
    fn what_is_no_address_says_why() {
        for (text, what) in [
            ("https://localhost", "https is not supported"),
            ("localhost:1991", "does not begin with http://"),
            ("ftp://localhost", "only http"),
            ("http://", "no URL"),
            ("http://a b", "no URL"),
            ("http://user:secret@localhost", "a user"),
            ("http://localhost/people", "a path"),
            ("http://localhost:99999", "port"),
        ] {
            let message = Address::parse(text).unwrap_err().to_string();
            assert!(message.contains(what), "{text}: {message}");
        }
    }
}
