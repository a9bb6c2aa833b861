//! Which site sends a request.
//!
//! A server without a token trusts whoever reaches it, and it listens where only programs of its own machine do. A browser
//! is such a program, and it sends requests for pages of any site:
//!
//! | what a page may try | what gives it away |
//! |---|---|
//! | to write here: a `POST` needs nobody's leave | `Origin` (or `Sec-Fetch-Site`) names the page's site |
//! | to have its own site's name lead here ("DNS rebinding"), so that we are its own site | `Host` is a name that is not ours |
//!
//! Other programs send neither an `Origin` nor a foreign `Host`. With a token none of this matters: no page has it.

use std::net::IpAddr;

use axum::http::uri::Authority;
use axum::http::{HeaderMap, HeaderValue, Uri, header};

use super::problem::{Code, Problem};

const HELP: &str = "set a token (setting `token`), and send it as Authorization: Bearer TOKEN";

/// Refuses a request that a browser sends for a page of another site.
///
/// # Errors
/// [`Code::CrossSite`].
pub(crate) fn check(uri: &Uri, headers: &HeaderMap) -> Result<(), Problem> {
    let host = uri.authority().cloned().or_else(|| authority(headers.get(header::HOST)?));
    if let Some(host) = &host
        && !is_this_machine(host.host())
    {
        let what = format!("without a token, this server is not asked for by the name {:?}", host.host());
        return Err(Problem::new(Code::CrossSite, what).help(HELP));
    }
    let refuse = || Err(Problem::new(Code::CrossSite, "a page of another site sent this request").help(HELP));
    if headers.get("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none") {
        return refuse();
    }
    match headers.get(header::ORIGIN) {
        Some(origin) if host.is_none() || origin_authority(origin) != host => refuse(),
        _ => Ok(()),
    }
}

fn authority(value: &HeaderValue) -> Option<Authority> {
    Authority::try_from(value.as_bytes()).ok()
}

fn origin_authority(origin: &HeaderValue) -> Option<Authority> {
    origin.to_str().ok()?.strip_prefix("http://")?.parse().ok()
}

/// Addresses, and the name that always leads to the own machine (RFC 6761, section 6.3).
fn is_this_machine(host: &str) -> bool {
    let address = host.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(host);
    address.parse::<IpAddr>().is_ok()
        || host.eq_ignore_ascii_case("localhost")
        || host.to_ascii_lowercase().ends_with(".localhost")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn passes(lines: &[(&'static str, &'static str)]) -> bool {
        let headers = lines.iter().map(|(name, value)| (name.parse().unwrap(), HeaderValue::from_static(value)));
        check(&Uri::from_static("/g/k"), &headers.collect()).is_ok()
    }

    #[test]
    fn programs_and_own_pages_pass_and_other_pages_do_not() {
        assert!(passes(&[]));
        for host in ["127.0.0.1:1991", "[::1]:1991", "localhost:1991", "LOCALHOST", "db.localhost:1991"] {
            assert!(passes(&[("host", host)]), "{host}");
        }
        for host in ["evil.example", "evil.example:1991", "localhost.evil.example", "127.0.0.1.evil.example"] {
            assert!(!passes(&[("host", host)]), "{host}");
        }
        let here = ("host", "127.0.0.1:1991");
        assert!(passes(&[here, ("origin", "http://127.0.0.1:1991"), ("sec-fetch-site", "same-origin")]));
        for origin in ["http://evil.example", "https://127.0.0.1:1991", "http://127.0.0.1:8080", "null", ""] {
            assert!(!passes(&[here, ("origin", origin)]), "{origin}");
        }
        assert!(passes(&[here, ("sec-fetch-site", "none")]));
        assert!(!passes(&[here, ("sec-fetch-site", "cross-site")]));
        assert!(!passes(&[("origin", "http://127.0.0.1:1991")]));
    }
}
