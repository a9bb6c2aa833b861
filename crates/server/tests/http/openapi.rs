//! The OpenAPI document holds for what a running server answers: each operation is used, and each answer is what the document says.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::support::{Answer, Client, Server};

/// Asks, and holds the answers against the document.
struct Checked {
    client: Client,
    document: Value,
    /// Methods and paths that were used with success.
    used: BTreeSet<(String, String)>,
}

impl Checked {
    /// `path` is the document's, `target` the one to ask for.
    fn ask(&mut self, method: &str, path: &str, target: &str, headers: &str, body: &str) -> Answer {
        let answer = self.client.ask_with(&format!("{method} {target}\n{headers}"), body);
        let place = format!("{method} {target}: {}", answer.status);
        let operation = &self.document["paths"][path][method.to_lowercase()];
        let status = answer.status.to_string();
        let response = self.resolved(&operation["responses"][&status]).clone();
        assert!(response.is_object(), "{place} is not in the document");
        for (name, header) in response["headers"].as_object().into_iter().flatten() {
            let value = answer.header(&name.to_lowercase()).unwrap_or_else(|| panic!("{place}: there is no {name}"));
            let value = value.parse::<u64>().map_or(json!(value), Value::from);
            self.validate(&self.resolved(header)["schema"], &value, &place);
        }
        if answer.status < 300 {
            self.used.insert((method.to_lowercase(), path.to_owned()));
        }
        if method == "HEAD" {
            assert!(answer.body.is_empty());
            return answer;
        }
        let content_type = answer.header("content-type").unwrap().split(';').next().unwrap();
        let content = &response["content"][content_type];
        assert!(content.is_object(), "{place}: {content_type} is not in the document");
        let schema = self.resolved(&content["schema"]).clone();
        match (content_type, schema.get("x-line-schema")) {
            ("application/json", _) => self.validate(&schema, &answer.json(), &place),
            ("application/x-ndjson", Some(schema)) => {
                answer.lines().iter().for_each(|line| self.validate(schema, line, &place));
                assert!(answer.lines().last().unwrap()["end"].is_object(), "{place}");
            }
            _ => (),
        }
        answer
    }

    /// What a reference names.
    fn resolved<'a>(&'a self, value: &'a Value) -> &'a Value {
        match value["$ref"].as_str() {
            Some(reference) => self.document.pointer(reference.strip_prefix('#').unwrap()).unwrap(),
            None => value,
        }
    }

    fn validate(&self, schema: &Value, value: &Value, place: &str) {
        let whole = json!({ "allOf": [schema], "components": self.document["components"] });
        let validator = jsonschema::draft202012::new(&whole).unwrap();
        let faults: Vec<String> = validator.iter_errors(value).map(|fault| fault.to_string()).collect();
        assert!(faults.is_empty(), "{place}: {value}: {faults:?}");
    }
}

#[test]
fn each_answer_is_what_the_document_says() {
    let server = Server::start();
    let document = server.ask("GET /.openapi.json").is(200).json();
    let mut checked = Checked { client: server.client(), document, used: BTreeSet::new() };
    let c = &mut checked;
    let (unit, by_key) = ("/{grouping}/{key}", "/{grouping}/.unit");
    let json = "content-type: application/json";
    c.ask("PUT", unit, "/g/k", json, "{\"n\":1}").is(201);
    c.ask("PUT", unit, "/g/k", json, "{\"n\":2}").is(200);
    c.ask("PUT", unit, "/g/k", json, "{\"n\":").is(400);
    c.ask("PUT", unit, "/g/k", "content-type: text/plain", "x").is(415);
    c.ask("PUT", unit, "/g/k", &format!("{json}\nif-match: 1"), "1").is(412);
    c.ask("PUT", unit, "/g/k", &format!("{json}\nif-none-match: *"), "1").is(412);
    c.ask("PUT", by_key, "/g/.unit?key=", "content-type: application/octet-stream", "raw").is(201);
    c.ask("PUT", by_key, "/g/.unit?key_hex=ff", "content-type: application/octet-stream", "raw").is(201);
    c.ask("PUT", by_key, "/g/.unit", json, "1").is(400);
    for (path, target) in [(unit, "/g/k"), (by_key, "/g/.unit?key=k")] {
        for method in ["GET", "HEAD"] {
            c.ask(method, path, target, "", "").is(200);
            c.ask(method, path, &target.replace('g', "nothing"), "", "").is(404);
        }
    }
    for (path, target) in [
        ("/{grouping}/{key}/.journal", "/g/k/.journal"),
        ("/{grouping}/.unit/.journal", "/g/.unit/.journal?key=k"),
        ("/{grouping}/{key}/.proof", "/g/k/.proof"),
        ("/{grouping}/.unit/.proof", "/g/.unit/.proof?key=k"),
        ("/.root", "/.root"),
        ("/.root", "/.root?at=1"),
        ("/.extension", "/.extension?from=1"),
    ] {
        c.ask("GET", path, target, "", "").is(200);
        c.ask("HEAD", path, target, "", "").is(200);
    }
    c.ask("POST", "/{grouping}/{key}/.revert", "/g/k/.revert?to=1", "", "").is(200);
    c.ask("POST", "/{grouping}/{key}/.revert", "/g/k/.revert?to=99", "", "").is(404);
    c.ask("POST", "/{grouping}/.unit/.revert", "/g/.unit/.revert?key=k&to=1", "", "").is(200);
    let bulk = "/{grouping}/.bulk";
    let ndjson = "content-type: application/x-ndjson";
    c.ask("POST", bulk, "/g/.bulk", ndjson, "{\"key\":\"b\",\"content\":{\"n\":2}}").is(200);
    c.ask("POST", bulk, "/g/.bulk", ndjson, "{\"op\":\"delete\",\"key\":\"x\"}").is(404);
    c.ask("POST", bulk, "/g/.bulk?on_error=continue", ndjson, "{\"op\":\"insert\",\"key\":\"b\",\"content\":1}")
        .is(200);
    c.ask("POST", bulk, "/g/.bulk", ndjson, "?").is(400);
    let index = "/{grouping}/.indexes/{name}";
    c.ask("PUT", index, "/g/.indexes/n", json, "{\"definition\":\"json:n\"}").is(201);
    c.ask("PUT", index, "/g/.indexes/n", json, "{\"definition\":\"json:n\"}").is(200);
    c.ask("PUT", index, "/g/.indexes/n", json, "{\"definition\":\"json:m\"}").is(409);
    c.ask("PUT", index, "/g/.indexes/m", json, "{\"definition\":\"m\"}").is(422);
    for method in ["GET", "HEAD"] {
        c.ask(method, index, "/g/.indexes/n", "", "").is(200);
        c.ask(method, "/{grouping}/.indexes", "/g/.indexes", "", "").is(200);
        for query in ["", "?limit=1", "?index=n", "?index=n&at=2", "?keys_only=true", "?count=true"] {
            c.ask(method, "/{grouping}", &format!("/g{query}"), "", "").is(200);
        }
        c.ask(method, "/{grouping}", "/nothing", "", "").is(404);
        for path in ["/.groupings", "/.chains", "/.stats", "/.health", "/.metrics", "/.openapi.json"] {
            c.ask(method, path, path, "", "").is(200);
            c.ask(method, path, &format!("{path}?no=1"), "", "").is(400);
        }
        c.ask(method, "/.groupings", "/.groupings?count=true", "", "").is(200);
        c.ask(method, "/.stats", "/.stats?chain=nothing", "", "").is(404);
    }
    c.ask("DELETE", index, "/g/.indexes/n", "", "").is(200);
    c.ask("DELETE", index, "/g/.indexes/n", "", "").is(404);
    c.ask("DELETE", unit, "/g/k", "", "").is(200);
    c.ask("DELETE", unit, "/g/k", "", "").is(404);
    c.ask("DELETE", by_key, "/g/.unit?key=", "", "").is(200);

    let all = c.document["paths"].as_object().unwrap().iter().flat_map(|(path, operations)| {
        operations.as_object().unwrap().keys().map(move |method| (method.clone(), path.clone()))
    });
    assert_eq!(c.used, all.collect());
    // The document itself is one, as far as its parts can be found.
    let text = c.document.to_string();
    for reference in text.split("\"$ref\":\"#").skip(1) {
        let reference = &reference[..reference.find('"').unwrap()];
        assert!(c.document.pointer(reference).is_some(), "{reference} is not in the document");
    }
}
