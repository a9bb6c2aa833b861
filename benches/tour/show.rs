//! How the tour speaks.

use anyhow::Result;
use immuxdb_benches::engine;
use libimmuxdb::{Scan, Timestamp, Unit};

/// The width of the text.
const WIDTH: usize = 110;

/// Begins a part.
pub fn heading(text: &str) {
    println!("\n{text}\n{}\n", "-".repeat(text.chars().count()));
}

/// Says a paragraph, in lines of bearable length.
pub fn say(text: &str) {
    let mut line = String::from(" ");
    for word in text.split(' ') {
        if line.chars().count() + 1 + word.chars().count() > WIDTH {
            println!("{line}");
            line = String::from(" ");
        }
        line.push(' ');
        line.push_str(word);
    }
    println!("{line}\n");
}

/// Prints at most `count` units: key and content.
pub fn print_units(units: &[Unit], count: usize) {
    for unit in units.iter().take(count) {
        let key = String::from_utf8_lossy(&unit.key);
        let content = String::from_utf8_lossy(&unit.content);
        println!("    {key:>8}  {content}");
    }
    println!();
}

/// A scan of the units with a value, which is given as its text: a number where it's one.
pub fn by_field(name: &str, value: &str) -> Result<Scan> {
    Ok(Scan::index(name).prefix(engine::field_key(name, value)?))
}

/// A field of a unit's content, as text.
pub fn field(unit: &Unit, name: &str) -> Option<String> {
    json_field(&unit.content, name)
}

/// A field of a JSON object, as text.
pub fn json_field(content: &[u8], name: &str) -> Option<String> {
    let object: serde_json::Value = serde_json::from_slice(content).ok()?;
    match object.get(name)? {
        serde_json::Value::String(text) => Some(text.clone()),
        value => Some(value.to_string()),
    }
}

/// A time for people.
pub fn time_text(time: Timestamp) -> String {
    let microseconds = i64::try_from(time.0).unwrap_or(i64::MAX);
    jiff::Timestamp::from_microsecond(microseconds).map_or_else(|_| time.0.to_string(), |time| time.to_string())
}
