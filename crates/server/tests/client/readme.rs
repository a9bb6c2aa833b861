//! The example that the README and the client's documentation show.

use super::{Place, Server};

#[path = "../../../client/docs/example.rs"]
mod example;

#[test]
fn the_example_runs() {
    let place = Place::new();
    let server = Server::on(&place);
    example::ada_moves(&server.url).unwrap();
    server.stop();
}

#[test]
fn the_readme_shows_this_very_example() {
    let readme = include_str!("../../../../README.md");
    let example = include_str!("../../../client/docs/example.rs");
    assert!(
        readme.contains(&format!("```rust\n{example}```\n")),
        "the README's example is another one than crates/client/docs/example.rs"
    );
}
