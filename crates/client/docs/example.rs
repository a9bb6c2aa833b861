use immuxdb_client::blocking::Client;
use immuxdb_client::{BulkItem, BulkOptions, Scan};
use serde::{Deserialize, Serialize};

#[derive(Debug, PartialEq, Serialize, Deserialize)]
struct Person {
    name: String,
    city: String,
}

/// `server` is a URL such as `http://127.0.0.1:1991`.
pub fn ada_moves(server: &str) -> immuxdb_client::Result<()> {
    let mut client = Client::connect(server)?;
    client.switch_namespace("example");

    let ada = |city: &str| Person { name: "Ada".into(), city: city.into() };
    let first = client.set_key_value("people", "ada", &ada("London"))?;
    client.set_key_value("people", "ada", &ada("Paris"))?;
    assert_eq!(client.get_by_key("people", "ada")?, Some(ada("Paris")));

    // What was, stays: every version is there, and any of them can come back.
    let cities = client.inspect_by_key("people", "ada")?.map(|version| Ok(version?.json::<Person>()?.city));
    assert_eq!(cities.collect::<immuxdb_client::Result<Vec<_>>>()?, ["Paris", "London"]);
    client.revert_by_key("people", "ada", first.height)?;
    assert_eq!(client.get_by_key("people", "ada")?, Some(ada("London")));

    // Any number of units in one request, sent while the iterator makes them.
    let crowd = (0..1000).map(|n| BulkItem::json(format!("p{n:04}"), format!(r#"{{"name":"P","city":"{}"}}"#, n % 7)));
    assert_eq!(client.bulk("people", crowd, BulkOptions::default())?.written, 1000);

    // An index can come at any time; units come while they are read.
    client.create_index("people", "by_city", "json:city")?;
    for person in client.scan("people", &Scan::index("by_city").value("London"))? {
        assert_eq!(person?.key, b"ada");
    }

    // What the server refuses has a code that stays.
    let error = client.compare_and_set("people", "ada", 1, immuxdb_client::Content::json("{}")).unwrap_err();
    assert_eq!(error.code(), Some("height_mismatch"));
    Ok(())
}
