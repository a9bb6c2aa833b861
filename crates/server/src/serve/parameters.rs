//! The parameters of a query: each is known, and given once, or the request is refused, so that a slip of the pen is not
//! taken for a wish.

use std::str::FromStr;

use data_encoding::HEXLOWER_PERMISSIVE;
use libimmuxdb::{Durability, WriteOptions};

use super::problem::{Code, Problem};
use super::target::decode;
use crate::failure::nearest;
use crate::moment::Moment;

/// The parameters that nobody has asked for yet.
#[derive(Debug, Default)]
pub(crate) struct Parameters {
    pairs: Vec<(String, Vec<u8>)>,
}

impl Parameters {
    /// Takes a raw query apart.
    pub(crate) fn parse(query: Option<&str>) -> Result<Parameters, Problem> {
        let mut pairs: Vec<(String, Vec<u8>)> = Vec::new();
        for pair in query.unwrap_or_default().split('&').filter(|pair| !pair.is_empty()) {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            let name = String::from_utf8(decode(name, true)?).map_err(|_| bad(format!("{name} is no parameter")))?;
            if pairs.iter().any(|(known, _)| *known == name) {
                return Err(bad(format!("the parameter {name} is given twice")).help("give it once"));
            }
            pairs.push((name, decode(value, true)?));
        }
        Ok(Parameters { pairs })
    }

    /// The value of a parameter.
    pub(crate) fn bytes(&mut self, name: &str) -> Option<Vec<u8>> {
        let at = self.pairs.iter().position(|(known, _)| known == name)?;
        Some(self.pairs.swap_remove(at).1)
    }

    /// … that is text.
    pub(crate) fn text(&mut self, name: &str) -> Result<Option<String>, Problem> {
        let text = self.bytes(name).map(String::from_utf8).transpose();
        text.map_err(|_| bad(format!("the parameter {name} is not UTF-8")))
    }

    /// … that is something written as text; `expected` says what.
    pub(crate) fn value<T: FromStr>(&mut self, name: &str, expected: &str) -> Result<Option<T>, Problem> {
        let Some(text) = self.text(name)? else {
            return Ok(None);
        };
        match text.parse() {
            Ok(value) => Ok(Some(value)),
            Err(_) => Err(bad(format!("the parameter {name} is {text:?}")).help(format!("expected {expected}"))),
        }
    }

    /// … that is `true` or `false`; `false` where there is none.
    pub(crate) fn flag(&mut self, name: &str) -> Result<bool, Problem> {
        Ok(self.value(name, "true or false")?.unwrap_or(false))
    }

    /// … that is a height or a time.
    pub(crate) fn moment(&mut self, name: &str) -> Result<Option<Moment>, Problem> {
        let expected = "a height like 42, or a time like 2026-01-31T12:00:00Z (a plus in a time zone is written %2B)";
        self.value(name, expected)
    }

    /// The chain.
    pub(crate) fn chain(&mut self) -> Result<String, Problem> {
        Ok(self.text("chain")?.unwrap_or_else(|| "default".to_owned()))
    }

    /// `durability`, as the engine takes it.
    pub(crate) fn durability(&mut self) -> Result<WriteOptions, Problem> {
        let Some(text) = self.text("durability")? else {
            return Ok(WriteOptions::default());
        };
        Ok(WriteOptions::durability(match text.as_str() {
            "buffered" => Durability::Buffered,
            "process" => Durability::Process,
            "sync" => Durability::Sync,
            _ => {
                let problem = bad(format!("the parameter durability is {text:?}"));
                return Err(problem.help("expected buffered, process or sync"));
            }
        }))
    }

    /// The unit's key: `key`, or `key_hex`.
    pub(crate) fn key(&mut self) -> Result<Vec<u8>, Problem> {
        match (self.bytes("key"), self.bytes("key_hex")) {
            (Some(key), None) => Ok(key),
            (None, Some(hex)) => HEXLOWER_PERMISSIVE.decode(&hex).map_err(|_| {
                bad("the parameter key_hex is not hexadecimal").help("write two digits for each byte, such as 00ff")
            }),
            (Some(_), Some(_)) => Err(bad("both key and key_hex are given").help("give one of them")),
            (None, None) => Err(bad("the parameter key is missing").help("name the unit with ?key= or ?key_hex=")),
        }
    }

    /// Refuses what is left over; `known` are the parameters that there are.
    pub(crate) fn end(&self, known: &[&str]) -> Result<(), Problem> {
        let Some((name, _)) = self.pairs.first() else {
            return Ok(());
        };
        let problem = bad(format!("there is no parameter {name:?} here"));
        Err(match nearest(name, known.iter().copied()) {
            Some(near) => problem.help(format!("did you mean {near}? There are: {}", known.join(", "))),
            None => problem.help(format!("there are: {}", known.join(", "))),
        })
    }
}

fn bad(message: impl Into<String>) -> Problem {
    Problem::new(Code::BadParameter, message)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(query: &str) -> Parameters {
        Parameters::parse(Some(query)).unwrap()
    }

    #[test]
    fn values_are_decoded() {
        let mut parameters = parse("key=a%2Bb+c%00&limit=7&&empty");
        assert_eq!(parameters.bytes("key").unwrap(), b"a+b c\0");
        assert_eq!(parameters.value::<u64>("limit", "a number").unwrap(), Some(7));
        assert_eq!(parameters.text("empty").unwrap().unwrap(), "");
        assert!(parameters.end(&[]).is_ok());
    }

    #[test]
    fn what_is_wrong() {
        assert!(Parameters::parse(Some("a=1&a=2")).is_err());
        assert!(Parameters::parse(Some("a=%zz")).is_err());
        assert!(parse("limit=-1").value::<u64>("limit", "a number").is_err());
        assert!(parse("durability=fast").durability().is_err());
        assert!(parse("key=a&key_hex=00").key().is_err());
        assert!(parse("key_hex=0").key().is_err());
        let problem = parse("limmit=1").end(&["limit", "at"]).unwrap_err();
        assert!(problem.text().contains("did you mean limit?"), "{}", problem.text());
    }
}
