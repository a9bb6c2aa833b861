//! A scanner of JSON text: it proves that the text is JSON, and finds where values stand, without building any.
//!
//! It is strict (RFC 8259) and refuses what a reader of the content would stumble over later: text that is not UTF-8, halves of
//! surrogate pairs, numbers beyond the range of a double, nesting deeper than [`JSON_DEPTH`]. So it accepts just what
//! `serde_json` parses into a value; a test compares the two. It exists because skipping values with serde is laxer
//! than parsing them (it checks neither UTF-8 nor surrogates, depth or range), and what is accepted must not depend on which
//! fields have an index today.

use crate::error::{Error, Result};
use crate::limits::JSON_DEPTH;

/// Checks that `content` is one JSON value and nothing else.
///
/// # Errors
/// [`Error::InvalidJson`], saying what is wrong and where.
pub fn validate_json(content: &[u8]) -> Result<()> {
    scan(content, |scanner| scanner.value())
}

/// Scans `content` as one JSON value, which `value` reads.
pub(super) fn scan(content: &[u8], value: impl FnOnce(&mut Scanner<'_>) -> Result<(), Fault>) -> Result<()> {
    // Checking all of the text at once is several times faster than string by string.
    if let Err(fault) = std::str::from_utf8(content) {
        return Err(invalid(Fault("invalid UTF-8"), fault.valid_up_to()));
    }
    let mut scanner = Scanner::new(content);
    scanner.space();
    let mut scanned = value(&mut scanner);
    if scanned.is_ok() {
        scanner.space();
        if scanner.at < content.len() {
            scanned = Err(Fault("there is more after the value"));
        }
    }
    scanned.map_err(|fault| invalid(fault, scanner.at))
}

fn invalid(fault: Fault, at: usize) -> Error {
    Error::InvalidJson(format!("{} at byte {at}", fault.0))
}

/// What is wrong at the scanner's place.
#[derive(Debug)]
pub(super) struct Fault(&'static str);

/// What stands between two quotation marks.
#[derive(Clone, Copy)]
pub(super) struct Quoted<'a> {
    /// The text as it stands.
    pub(super) text: &'a [u8],
    /// Whether it has escapes.
    pub(super) escaped: bool,
}

/// A place in a JSON text (which is UTF-8).
pub(super) struct Scanner<'a> {
    text: &'a [u8],
    at: usize,
    depth: usize,
}

impl<'a> Scanner<'a> {
    pub(super) fn new(text: &'a [u8]) -> Scanner<'a> {
        Scanner { text, at: 0, depth: 0 }
    }

    /// The offset of the next byte.
    #[inline]
    pub(super) fn at(&self) -> usize {
        self.at
    }

    /// The next byte; at the end 0, which is as wrong anywhere between values as the end is.
    #[inline]
    pub(super) fn peek(&self) -> u8 {
        self.text.get(self.at).copied().unwrap_or(0)
    }

    #[inline]
    fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
    }

    /// Passes a value.
    pub(super) fn value(&mut self) -> Result<(), Fault> {
        match self.peek() {
            b'"' => self.string().map(drop),
            b'-' | b'0'..=b'9' => self.number(),
            b'{' => self.object(|scanner, _| scanner.value()),
            b'[' => self.array(Scanner::value),
            b't' => self.word(b"true"),
            b'f' => self.word(b"false"),
            b'n' => self.word(b"null"),
            _ => Err(Fault("a value is missing")),
        }
    }

    fn word(&mut self, word: &[u8]) -> Result<(), Fault> {
        if !self.text[self.at..].starts_with(word) {
            return Err(Fault("an unknown word"));
        }
        self.at += word.len();
        Ok(())
    }

    /// Passes an object. `field` gets each name and passes the value, before which the scanner stands.
    #[inline]
    pub(super) fn object(
        &mut self,
        mut field: impl FnMut(&mut Self, Quoted<'a>) -> Result<(), Fault>,
    ) -> Result<(), Fault> {
        self.enter()?;
        if self.peek() != b'}' {
            loop {
                if self.peek() != b'"' {
                    return Err(Fault("a field name is missing"));
                }
                let name = self.string()?;
                self.space();
                if self.peek() != b':' {
                    return Err(Fault("a colon is missing"));
                }
                self.at += 1;
                self.space();
                field(self, name)?;
                self.space();
                match self.peek() {
                    b',' => self.at += 1,
                    b'}' => break,
                    _ => return Err(Fault("a comma or } is missing")),
                }
                self.space();
            }
        }
        self.leave();
        Ok(())
    }

    /// Passes an array. `element` passes each value, before which the scanner stands.
    #[inline]
    pub(super) fn array(&mut self, mut element: impl FnMut(&mut Self) -> Result<(), Fault>) -> Result<(), Fault> {
        self.enter()?;
        if self.peek() != b']' {
            loop {
                element(self)?;
                self.space();
                match self.peek() {
                    b',' => self.at += 1,
                    b']' => break,
                    _ => return Err(Fault("a comma or ] is missing")),
                }
                self.space();
            }
        }
        self.leave();
        Ok(())
    }

    fn enter(&mut self) -> Result<(), Fault> {
        self.depth += 1;
        if self.depth > JSON_DEPTH {
            return Err(Fault("nesting is too deep"));
        }
        self.at += 1;
        self.space();
        Ok(())
    }

    fn leave(&mut self) {
        self.depth -= 1;
        self.at += 1;
    }

    /// Passes a number.
    pub(super) fn number(&mut self) -> Result<(), Fault> {
        let start = self.at;
        if self.peek() == b'-' {
            self.at += 1;
        }
        let mut large = match self.peek() {
            b'0' => {
                self.at += 1;
                false
            }
            b'1'..=b'9' => self.digits()? > 200,
            _ => return Err(Fault("a digit is missing")),
        };
        if self.peek() == b'.' {
            self.at += 1;
            self.digits()?;
        }
        if matches!(self.peek(), b'e' | b'E') {
            self.at += 1;
            if matches!(self.peek(), b'+' | b'-') {
                self.at += 1;
            }
            large |= self.digits()? >= 3;
        }
        // Up to 200 digits and an exponent of two stay far below the largest double, 1.8e308.
        if large && !double(&self.text[start..self.at]).is_finite() {
            return Err(Fault("a number is out of range"));
        }
        Ok(())
    }

    /// Passes at least one digit and says how many there were.
    #[inline]
    fn digits(&mut self) -> Result<usize, Fault> {
        let start = self.at;
        while self.peek().is_ascii_digit() {
            self.at += 1;
        }
        match self.at - start {
            0 => Err(Fault("a digit is missing")),
            count => Ok(count),
        }
    }

    /// Passes a string.
    #[inline]
    pub(super) fn string(&mut self) -> Result<Quoted<'a>, Fault> {
        self.at += 1;
        let start = self.at;
        let mut escaped = false;
        loop {
            self.plain();
            match self.text.get(self.at) {
                Some(b'"') => {
                    let text = &self.text[start..self.at];
                    self.at += 1;
                    return Ok(Quoted { text, escaped });
                }
                Some(b'\\') => {
                    escaped = true;
                    let (_, len) = unescape(&self.text[self.at..])?;
                    self.at += len;
                }
                Some(_) => return Err(Fault("a control character in a string")),
                None => return Err(Fault("the text ends within a string")),
            }
        }
    }

    /// Passes the characters of a string up to a quotation mark, backslash, control character or the end; eight at a time.
    #[inline]
    fn plain(&mut self) {
        const ONES: u64 = u64::from_ne_bytes([1; 8]);
        const HIGH: u64 = ONES << 7;
        // The high bit of each byte that is zero; above a zero byte there may be false ones, which do not matter.
        let zeros = |word: u64| word.wrapping_sub(ONES) & !word;
        while let Some(word) = self.text[self.at..].first_chunk::<8>() {
            let word = u64::from_le_bytes(*word);
            let control = word.wrapping_sub(ONES * 0x20) & !word;
            let quote = zeros(word ^ (ONES * u64::from(b'"')));
            let backslash = zeros(word ^ (ONES * u64::from(b'\\')));
            let found = (control | quote | backslash) & HIGH;
            if found != 0 {
                self.at += found.trailing_zeros() as usize / 8;
                return;
            }
            self.at += 8;
        }
        while self.text.get(self.at).is_some_and(|byte| !matches!(byte, b'"' | b'\\' | 0..0x20)) {
            self.at += 1;
        }
    }
}

/// The double nearest to a JSON number; infinite when there is none.
pub(super) fn double(number: &[u8]) -> f64 {
    let number = std::str::from_utf8(number).map(str::parse);
    match number {
        Ok(Ok(double)) => double,
        _ => unreachable!("a JSON number is also one for Rust"),
    }
}

/// The character that an escape stands for, and the escape's length. `text` begins with the backslash.
pub(super) fn unescape(text: &[u8]) -> Result<(char, usize), Fault> {
    let short = |character| Ok((character, 2));
    match text.get(1) {
        Some(b'"') => short('"'),
        Some(b'\\') => short('\\'),
        Some(b'/') => short('/'),
        Some(b'b') => short('\u{8}'),
        Some(b'f') => short('\u{c}'),
        Some(b'n') => short('\n'),
        Some(b'r') => short('\r'),
        Some(b't') => short('\t'),
        Some(b'u') => match hexadecimal(&text[2..])? {
            high @ 0xD800..0xDC00 => {
                let low = match text.get(6..8) {
                    Some(b"\\u") => hexadecimal(&text[8..])?,
                    _ => 0,
                };
                if !(0xDC00..0xE000).contains(&low) {
                    return Err(Fault("half of a surrogate pair"));
                }
                let code = 0x1_0000 + (high - 0xD800) * 0x400 + (low - 0xDC00);
                match char::from_u32(code) {
                    Some(character) => Ok((character, 12)),
                    None => unreachable!("a surrogate pair is a character"),
                }
            }
            code => match char::from_u32(code) {
                Some(character) => Ok((character, 6)),
                None => Err(Fault("half of a surrogate pair")),
            },
        },
        _ => Err(Fault("an unknown escape")),
    }
}

/// The number of the four hexadecimal digits that `text` begins with.
fn hexadecimal(text: &[u8]) -> Result<u32, Fault> {
    let mut code = 0;
    for place in 0..4 {
        let digit = text.get(place).and_then(|byte| char::from(*byte).to_digit(16));
        code = code * 16 + digit.ok_or(Fault("a hexadecimal digit is missing"))?;
    }
    Ok(code)
}
