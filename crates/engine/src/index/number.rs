//! Numbers as bytes that order by exact value, whatever their type.
//!
//! A double has 53 bits for the digits, an `i64` or `u64` has 64; comparing them by conversion is wrong from 2^53 on, where
//! `9007199254740993 as f64` is 9007199254740992. So a number is written as
//!
//! ```text
//! floor      8 bytes   the largest double that is not larger than the number, as bits that order
//! remainder  2 bytes   number − floor; only when |floor| >= 2^53
//! ```
//!
//! Below 2^53 each integer is a double and the remainder would be 0. From there to 2^64, doubles are at most 2048 apart, so
//! that 2 bytes hold it. Whether it is there depends on the floor alone: equal floors are followed by equally many bytes.

use serde_json::Number;

use crate::error::{Error, Result};

use super::value::Reader;

/// 2^53: from here on, doubles do not hold every integer.
const EXACT: f64 = 9_007_199_254_740_992.0;
const SIGN: u64 = 1 << 63;

/// Whether an integer is in the range of `i64` or `u64`, in which integers are kept exactly.
pub(super) fn is_exact(integer: i128) -> bool {
    (i128::from(i64::MIN)..=i128::from(u64::MAX)).contains(&integer)
}

/// Writes an integer for which [`is_exact`].
pub(super) fn put_integer(out: &mut Vec<u8>, integer: i128) {
    debug_assert!(is_exact(integer));
    let (floor, remainder) = floor(integer);
    put_floor(out, floor);
    if floor.abs() >= EXACT {
        out.extend_from_slice(&remainder.to_be_bytes());
    }
}

/// Writes an integer that doubles hold exactly, and that is below 2^53: the common ones.
pub(super) fn put_small(out: &mut Vec<u8>, integer: i64) {
    debug_assert!(integer.unsigned_abs() < EXACT as u64);
    put_floor(out, integer as f64);
}

/// Writes a finite double.
pub(super) fn put_double(out: &mut Vec<u8>, double: f64) {
    debug_assert!(double.is_finite());
    put_floor(out, double);
    if double.abs() >= EXACT {
        out.extend_from_slice(&[0, 0]);
    }
}

/// Writes a number of a JSON value.
pub(super) fn put_number(out: &mut Vec<u8>, number: &Number) -> Result<()> {
    if let Some(integer) = number.as_i128()
        && is_exact(integer)
    {
        put_integer(out, integer);
        return Ok(());
    }
    match number.as_f64() {
        Some(double) if double.is_finite() => {
            put_double(out, double);
            Ok(())
        }
        _ => Err(Error::Invalid(format!("the number {number} is out of range"))),
    }
}

/// Reads a number.
pub(super) fn read_number(reader: &mut Reader<'_>) -> Result<Number> {
    let wrong = || Error::Invalid("an index key has bytes that are no number".to_owned());
    let ordered = u64::from_be_bytes(reader.array()?);
    let bits = if ordered & SIGN == 0 { !ordered } else { ordered ^ SIGN };
    let floor = f64::from_bits(bits);
    if bits == SIGN || !floor.is_finite() {
        return Err(wrong());
    }
    let remainder = if floor.abs() >= EXACT { u16::from_be_bytes(reader.array()?) } else { 0 };
    // Beyond i64 and u64 there are only doubles.
    if floor.trunc() == floor && floor.abs() < 2.0 * SIGN as f64 {
        let integer = floor as i128 + i128::from(remainder);
        let number = match (i64::try_from(integer), u64::try_from(integer)) {
            (Ok(signed), _) => Some(Number::from(signed)),
            (_, Ok(unsigned)) => Some(Number::from(unsigned)),
            _ => None,
        };
        if let Some(number) = number {
            return if self::floor(integer) == (floor, remainder) { Ok(number) } else { Err(wrong()) };
        }
    }
    if remainder != 0 {
        return Err(wrong());
    }
    Number::from_f64(floor).ok_or_else(wrong)
}

/// The largest double that is not larger than `integer`, and what is missing.
fn floor(integer: i128) -> (f64, u16) {
    let nearest = integer as f64;
    let floor = if nearest as i128 > integer { nearest.next_down() } else { nearest };
    (floor, (integer - floor as i128) as u16)
}

/// Negative doubles order backwards by their bits, so all bits are turned; of the others the sign bit, to come after.
fn put_floor(out: &mut Vec<u8>, floor: f64) {
    // −0 is 0.
    let bits = if floor == 0.0 { 0 } else { floor.to_bits() };
    let ordered = if bits & SIGN == 0 { bits ^ SIGN } else { !bits };
    out.extend_from_slice(&ordered.to_be_bytes());
}
