//! What units a scan gives, and in which order.

use crate::target::Target;
use crate::types::Moment;

/// A request for units in order: by their keys, or by an index.
///
/// Bounds are unit keys, or values of the index as they are written on the command line: JSON for an index over JSON (what is no JSON is
/// text: `PRAGUE`), an array for several fields (`[10, "PRAGUE"]`).
///
/// ```
/// use immuxdb_client::Scan;
///
/// let by_key = Scan::units().prefix("2026-").limit(10);
/// let by_index = Scan::index("amount").from("1000").to("2000").backward().at(41);
/// # let _ = (by_key, by_index);
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Scan {
    index: Option<String>,
    value: Option<Vec<u8>>,
    from: Option<Vec<u8>>,
    to: Option<Vec<u8>>,
    through: Option<Vec<u8>>,
    prefix: Option<Vec<u8>>,
    backward: bool,
    limit: Option<u64>,
    at: Option<Moment>,
    pub(crate) keys_only: bool,
    cursor: Option<String>,
}

impl Scan {
    /// All units, in the order of their keys' bytes.
    #[must_use]
    pub fn units() -> Scan {
        Scan::default()
    }

    /// All units that the index has, in its order; those with the same value in the order in which they got it.
    pub fn index(name: impl Into<String>) -> Scan {
        Scan { index: Some(name.into()), ..Scan::default() }
    }

    /// Only units with this value of the index.
    #[must_use]
    pub fn value(self, value: impl AsRef<[u8]>) -> Scan {
        Scan { value: Some(value.as_ref().to_vec()), ..self }
    }

    /// From this bound on.
    #[must_use]
    pub fn from(self, bound: impl AsRef<[u8]>) -> Scan {
        Scan { from: Some(bound.as_ref().to_vec()), ..self }
    }

    /// Up to this bound, without it.
    #[must_use]
    pub fn to(self, bound: impl AsRef<[u8]>) -> Scan {
        Scan { to: Some(bound.as_ref().to_vec()), ..self }
    }

    /// Up to this bound, and with it.
    #[must_use]
    pub fn through(self, bound: impl AsRef<[u8]>) -> Scan {
        Scan { through: Some(bound.as_ref().to_vec()), ..self }
    }

    /// Only what begins with this.
    #[must_use]
    pub fn prefix(self, prefix: impl AsRef<[u8]>) -> Scan {
        Scan { prefix: Some(prefix.as_ref().to_vec()), ..self }
    }

    /// From the last to the first.
    #[must_use]
    pub fn backward(self) -> Scan {
        Scan { backward: true, ..self }
    }

    /// At most this many.
    #[must_use]
    pub fn limit(self, limit: u64) -> Scan {
        Scan { limit: Some(limit), ..self }
    }

    /// As it was at a height or time.
    #[must_use]
    pub fn at(self, moment: impl Into<Moment>) -> Scan {
        Scan { at: Some(moment.into()), ..self }
    }

    /// Without contents.
    #[must_use]
    pub fn keys_only(self) -> Scan {
        Scan { keys_only: true, ..self }
    }

    /// Goes on where an earlier scan of the same order ended, at the same height (see [`crate::Units::end`]).
    #[must_use]
    pub fn resume(self, cursor: impl Into<String>) -> Scan {
        Scan { cursor: Some(cursor.into()), ..self }
    }

    pub(crate) fn add_to(&self, target: Target) -> Target {
        target
            .with_some("index", self.index.as_ref())
            .with_some("value", self.value.as_ref())
            .with_some("from", self.from.as_ref())
            .with_some("to", self.to.as_ref())
            .with_some("through", self.through.as_ref())
            .with_some("prefix", self.prefix.as_ref())
            .with_some("order", self.backward.then_some("desc"))
            .with_text("limit", self.limit)
            .with_text("at", self.at.as_ref())
            .with_some("cursor", self.cursor.as_ref())
            .with_some("keys_only", self.keys_only.then_some("true"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_was_asked_for_is_sent() {
        let target = |scan: Scan| scan.add_to(Target::of_grouping("g").unwrap()).finish().unwrap().to_string();
        assert_eq!(target(Scan::units()), "/g");
        assert_eq!(
            target(
                Scan::index("amount").from("-1").through("[10,\"a\"]").backward().limit(3).at("2026-01-31T12:00:00Z")
            ),
            "/g?index=amount&from=-1&through=%5B10%2C%22a%22%5D&order=desc&limit=3&at=2026-01-31T12%3A00%3A00Z"
        );
        assert_eq!(
            target(Scan::units().prefix([0xff, 0]).keys_only().resume("abc")),
            "/g?prefix=%FF%00&cursor=abc&keys_only=true"
        );
    }
}
