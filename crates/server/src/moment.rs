//! A place in a chain's history: a height, or a time.

use std::str::FromStr;
use std::sync::Arc;

use jiff::Timestamp as Time;
use libimmuxdb::{Chain, Height, Timestamp};

/// A height, or a time that stands for the newest height that is not later.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// A height.
    Height(Height),
    /// A time.
    Time(Timestamp),
}

impl Moment {
    /// The height of this moment in the chain.
    ///
    /// # Errors
    /// The height can't be found out.
    pub fn height(self, chain: &Arc<Chain>) -> libimmuxdb::Result<Height> {
        match self {
            Moment::Height(height) => Ok(height),
            Moment::Time(time) => chain.height_at(time),
        }
    }

    /// The same for the client.
    #[must_use]
    pub fn for_client(self) -> immuxdb_client::Moment {
        match self {
            Moment::Height(height) => immuxdb_client::Moment::Height(height.0),
            Moment::Time(time) => immuxdb_client::Moment::Time(time_text(time)),
        }
    }
}

impl FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Moment, String> {
        let expected = "expected a height like 42, or a time like 2026-01-31T12:00:00Z";
        if text.bytes().all(|byte| byte.is_ascii_digit()) && !text.is_empty() {
            return match text.parse() {
                Ok(height) => Ok(Moment::Height(Height(height))),
                Err(_) => Err(format!("the height is too large; {expected}")),
            };
        }
        let time: Time = text.parse().map_err(|_| expected.to_owned())?;
        match u64::try_from(time.as_microsecond()) {
            Ok(microseconds) => Ok(Moment::Time(Timestamp(microseconds))),
            Err(_) => Err("the time is before 1970".to_owned()),
        }
    }
}

/// A time as RFC 3339, in UTC, with microseconds.
#[must_use]
pub fn time_text(time: Timestamp) -> String {
    let time = i64::try_from(time.0).ok().and_then(|microseconds| Time::from_microsecond(microseconds).ok());
    // A time that no calendar has can only come from a clock that is wrong.
    time.unwrap_or(Time::MAX).strftime("%Y-%m-%dT%H:%M:%S%.6fZ").to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn heights_and_times() {
        assert_eq!("42".parse(), Ok(Moment::Height(Height(42))));
        assert_eq!("1970-01-01T00:00:01Z".parse(), Ok(Moment::Time(Timestamp(1_000_000))));
        assert_eq!("1970-01-01T01:00:00.5+01:00".parse(), Ok(Moment::Time(Timestamp(500_000))));
        for text in ["", "x", "-1", "2026-01-31", "1960-01-01T00:00:00Z", "99999999999999999999"] {
            assert!(text.parse::<Moment>().is_err(), "{text}");
        }
    }

    #[test]
    fn times_read_back() {
        let time = Timestamp(1_769_860_800_123_456);
        assert_eq!(time_text(time), "2026-01-31T12:00:00.123456Z");
        assert_eq!(time_text(time).parse(), Ok(Moment::Time(time)));
        assert_eq!(time_text(Timestamp(0)), "1970-01-01T00:00:00.000000Z");
        assert_eq!(time_text(Timestamp(u64::MAX)), time_text(Timestamp(i64::MAX as u64)));
    }
}
