//! The whole contract in one round, as docs/HTTP.md tells it.

use serde_json::json;

use super::support::Server;

#[test]
fn a_new_users_first_hour() {
    let server = Server::start();
    let mut client = server.client();
    client.put("/people/ada", r#"{"name":"Ada","city":"London"}"#).is(201);
    client.put("/people/ada", r#"{"name":"Ada","city":"Paris"}"#).is(200);
    assert_eq!(client.get("/people/ada?at=1").is(200).json()["city"], "London");
    client.ask_with("PUT /people/.indexes/city", r#"{"definition":"json:city"}"#).is(201);
    let people =
        "{\"key\":\"bob\",\"content\":{\"city\":\"Paris\"}}\n{\"key\":\"cy\",\"content\":{\"city\":\"Rome\"}}\n";
    let outcome = client.bulk("/people/.bulk", people).is(200).json();
    assert_eq!(outcome, json!({"written": 2, "created": 2, "failed": 0, "commits": 1, "height": 4, "errors": []}));
    let lines = client.get("/people?index=city&value=Paris").is(200).lines();
    assert_eq!((&lines[0]["key"], &lines[1]["key"]), (&json!("ada"), &json!("bob")));
    let groupings = client.get("/.groupings?count=true").is(200).json();
    assert_eq!(groupings, json!({"groupings": [{"grouping": "people", "indexes": 1, "units": 3}]}));
    assert_eq!(client.get("/.groupings").is(200).json(), json!({"groupings": [{"grouping": "people", "indexes": 1}]}));
    let stats = client.get("/.stats").is(200).json();
    assert_eq!((&stats["chain"], &stats["height"], &stats["groupings"]), (&json!("default"), &json!(4), &json!(1)));
    // What the command line says of the same store is the same.
    let output =
        Server::command(server.directory(), &[]).args(["scan", "people", "--index", "city", "--json"]).output();
    let lines = client.get("/people?index=city").is(200).text();
    let printed = String::from_utf8(output.unwrap().stdout).unwrap();
    assert_eq!(lines.lines().take(3).map(|line| format!("{line}\n")).collect::<String>(), printed);
}
