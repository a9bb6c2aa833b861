//! What a client does when connections break, lists are cut off, and answers are strange: against a server that says what the test tells it to.
#![allow(clippy::unwrap_used, reason = "in a test, a panic is the report")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;
use std::time::Duration;

use immuxdb_client::blocking::Client;
use immuxdb_client::{BulkItem, BulkOptions, Content, Error, Scan};

/// A request as it came.
#[derive(Debug)]
struct Request {
    /// Method and target.
    line: String,
    headers: String,
    body: String,
}

/// What a connection does after a request.
enum Then {
    /// Answers.
    Say(String),
    /// Answers, and closes the connection.
    SayAndClose(String),
    /// Closes the connection.
    Close,
    /// Says this, which may be nothing, and then waits until the client goes away.
    SayAndWait(String),
}

/// A server that takes one connection after another, and does for each request what the list says next.
fn server(answers: Vec<Then>) -> (Client, JoinHandle<Vec<Request>>) {
    patient_server(Duration::from_secs(10), answers)
}

fn patient_server(patience: Duration, answers: Vec<Then>) -> (Client, JoinHandle<Vec<Request>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let mut answers = answers.into_iter();
        let mut requests = Vec::new();
        while answers.len() > 0 {
            let (stream, _) = listener.accept().unwrap();
            serve(stream, &mut answers, &mut requests);
        }
        requests
    });
    (Client::builder(&url).timeout(Some(patience)).build_blocking().unwrap(), thread)
}

fn serve(stream: TcpStream, answers: &mut impl Iterator<Item = Then>, requests: &mut Vec<Request>) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut writer = stream;
    while let Some(request) = read(&mut reader) {
        requests.push(request);
        match answers.next().unwrap() {
            Then::Say(text) => writer.write_all(text.as_bytes()).unwrap(),
            Then::SayAndClose(text) => return writer.write_all(text.as_bytes()).unwrap(),
            Then::Close => return,
            Then::SayAndWait(text) => {
                writer.write_all(text.as_bytes()).unwrap();
                let _ = reader.read(&mut [0]);
                return;
            }
        }
    }
}

fn read(reader: &mut impl BufRead) -> Option<Request> {
    let mut line = String::new();
    if reader.read_line(&mut line).ok()? == 0 {
        return None;
    }
    let mut headers = String::new();
    while !headers.ends_with("\r\n\r\n") && headers != "\r\n" {
        reader.read_line(&mut headers).unwrap();
    }
    let headers = headers.to_lowercase();
    let mut body = String::new();
    if let Some(length) = headers.lines().find_map(|line| line.strip_prefix("content-length: ")) {
        let mut bytes = vec![0; length.parse().unwrap()];
        reader.read_exact(&mut bytes).unwrap();
        body = String::from_utf8(bytes).unwrap();
    } else if headers.contains("transfer-encoding: chunked") {
        loop {
            let mut size = String::new();
            reader.read_line(&mut size).unwrap();
            let mut bytes = vec![0; usize::from_str_radix(size.trim(), 16).unwrap() + 2];
            reader.read_exact(&mut bytes).unwrap();
            if bytes.len() == 2 {
                break;
            }
            body.push_str(std::str::from_utf8(&bytes[..bytes.len() - 2]).unwrap());
        }
    }
    let line = line.trim().trim_end_matches(" HTTP/1.1").to_owned();
    Some(Request { line, headers, body })
}

fn answer(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\nimmux-wire: 1\r\ncontent-length: {length}\r\n{headers}\r\n{body}")
}

fn unit() -> String {
    answer("200 OK", "content-type: application/json\r\netag: \"7\"\r\nimmux-height: 9\r\n", "{\"a\": 1}")
}

fn written() -> String {
    answer("200 OK", "", "{\"height\":10,\"created\":false}")
}

fn list(lines: &[&str]) -> String {
    answer("200 OK", "immux-height: 9\r\n", &lines.iter().map(|line| format!("{line}\n")).collect::<String>())
}

#[test]
fn a_connection_is_used_again() {
    let (client, server) = server(vec![
        Then::Say(unit()),
        Then::Say(written()),
        Then::Say(list(&[r#"{"end":{"count":0,"height":9}}"#])),
        Then::SayAndClose(unit()),
    ]);
    let found = client.read("g", "a/b", None).unwrap();
    assert_eq!((found.height, found.unit.as_ref().unwrap().height), (9, 7));
    client.put("g", "", Content::raw(b"\0")).unwrap();
    assert_eq!(client.scan("g", &Scan::units()).unwrap().count(), 0);
    client.get("g", "a").unwrap();
    // Only one connection was accepted, or the server would still wait for another one.
    let requests = server.join().unwrap();
    let lines: Vec<&str> = requests.iter().map(|request| request.line.as_str()).collect();
    assert_eq!(lines, ["GET /g/a%2Fb", "PUT /g/.unit?key=", "GET /g", "GET /g/a"]);
    assert!(requests[1].headers.contains("content-type: application/octet-stream"), "{:?}", requests[1]);
}

#[test]
fn a_read_is_repeated_where_an_idle_connection_was_closed() {
    let (client, server) = server(vec![
        Then::SayAndClose(unit()),
        Then::SayAndClose(unit()),
        Then::Say(unit()),
        Then::Close,
        Then::SayAndClose(unit()),
    ]);
    for _ in 0..4 {
        assert!(client.get("g", "a").unwrap().is_some());
    }
    assert_eq!(server.join().unwrap().len(), 5);
}

#[test]
fn a_write_is_sent_once() {
    let (client, server) = server(vec![Then::Say(unit()), Then::Close]);
    client.get("g", "a").unwrap();
    // It goes out on the idle connection, which breaks: nobody knows whether it happened.
    let error = client.put("g", "a", Content::json("1")).unwrap_err();
    assert!(matches!(error, Error::Broken { .. }), "{error}");
    let requests = server.join().unwrap();
    assert_eq!(requests.iter().filter(|request| request.line.starts_with("PUT")).count(), 1);
}

#[test]
fn a_read_on_a_new_connection_that_breaks_is_not_repeated() {
    let (client, server) = server(vec![Then::Close]);
    assert!(matches!(client.get("g", "a").unwrap_err(), Error::Broken { .. }));
    assert_eq!(server.join().unwrap().len(), 1);
}

#[test]
fn a_list_without_its_end_is_an_error() {
    let one = r#"{"key":"a","height":1,"kind":"json","content":1}"#;
    let end = r#"{"end":{"count":1,"height":9,"cursor":"abc","used_index":false}}"#;
    let (client, server) = server(vec![
        Then::Say(list(&[one, end])),
        Then::Say(list(&[one])),
        Then::SayAndClose(list(&[one, r#"{"error":{"code":"damaged","message":"m"}}"#])),
        Then::SayAndClose(list(&[one, one, end])),
        Then::SayAndClose(list(&[one, "{}", end])),
        Then::SayAndClose(list(&[one, end]).replace("content-length: ", "content-length: 9")),
    ]);
    let mut whole = client.scan("g", &Scan::units()).unwrap();
    assert_eq!(whole.by_ref().map(Result::unwrap).count(), 1);
    let end = whole.end().unwrap();
    assert_eq!((end.count, end.cursor.as_deref(), end.used_index), (1, Some("abc"), false));
    let last = || client.scan("g", &Scan::units()).unwrap().last().unwrap().unwrap_err();
    assert!(matches!(last(), Error::CutOff));
    assert_eq!(last().code(), Some("damaged"));
    assert!(matches!(last(), Error::Protocol { .. }));
    assert!(matches!(last(), Error::Protocol { .. }));
    assert!(matches!(last(), Error::Broken { .. }));
    server.join().unwrap();
}

#[test]
fn a_silent_server_is_not_waited_for_without_end() {
    let (client, server) = patient_server(Duration::from_millis(50), vec![Then::SayAndWait(String::new())]);
    let error = client.get("g", "a").unwrap_err();
    assert!(matches!(error, Error::TimedOut { .. }), "{error}");
    // The connection is closed, as nobody knows what would come on it.
    assert_eq!(server.join().unwrap().len(), 1);
}

#[test]
fn a_list_that_is_not_wanted_any_more_lets_its_connection_go() {
    let begun =
        list(&[r#"{"key":"a","height":1,"kind":"json","content":1}"#]).replace("content-length: ", "content-length: 9");
    let (client, server) = server(vec![Then::SayAndWait(begun)]);
    let mut units = client.scan("g", &Scan::units()).unwrap();
    assert!(units.next().unwrap().is_ok());
    drop(units);
    server.join().unwrap();
}

#[test]
fn what_is_no_immuxdb_server_is_told() {
    let strange = "HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nhello";
    let (client, server) = server(vec![
        Then::SayAndClose(strange.to_owned()),
        Then::SayAndClose(unit().replace("immux-wire: 1", "immux-wire: 2")),
        Then::SayAndClose(answer("500 Internal Server Error", "", "<html>")),
        Then::SayAndClose("hello\r\n\r\n".to_owned()),
    ]);
    let message = || client.get("g", "a").unwrap_err().to_string();
    assert!(message().contains("it has no header immux-wire"));
    assert!(message().contains("its version is 2"));
    assert!(message().contains("status 500"));
    assert!(message().contains("broke"));
    server.join().unwrap();
}

#[test]
fn nobody_there() {
    // A port that was free a moment ago.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let client = Client::connect(&format!("http://127.0.0.1:{port}")).unwrap();
    let error = client.get("g", "a").unwrap_err();
    assert!(matches!(error, Error::Connect { .. }));
    assert!(error.help().unwrap().contains("immuxdb serve"));
}

#[test]
fn a_bulk_write_is_sent_in_pieces() {
    let (client, server) = server(vec![
        Then::Say(answer("200 OK", "", r#"{"written":2,"failed":0,"height":3,"errors":[]}"#)),
        Then::Say(answer(
            "409 Conflict",
            "",
            r#"{"written":16,"failed":1,"height":4,"errors":[{"line":17,"code":"duplicate_key","message":"m","index":"i"}],"error":{"code":"duplicate_key","message":"line 17: m","line":17}}"#,
        )),
        Then::Say(answer("401 Unauthorized", "", r#"{"error":{"code":"unauthorized","message":"m","help":"h"}}"#)),
        Then::SayAndClose(answer("200 OK", "", "{}")),
    ]);
    let items = || [BulkItem::json("a", "1"), BulkItem::delete("b")];
    assert_eq!(client.bulk("g", items(), BulkOptions::default()).unwrap().written, 2);
    let error = client.bulk("g", items(), BulkOptions { go_on: true, ..BulkOptions::default() }).unwrap_err();
    assert_eq!((error.code(), error.to_string().as_str()), (Some("duplicate_key"), "line 17: m"));
    let failed = error.server().unwrap().bulk.as_ref().unwrap();
    assert_eq!((failed.written, &error.server().unwrap().fields["line"]), (16, &17.into()));
    assert_eq!((failed.errors[0].line, failed.errors[0].failure.code.as_str()), (17, "duplicate_key"));
    assert_eq!(failed.errors[0].failure.fields["index"], "i");
    assert_eq!(client.bulk("g", items(), BulkOptions::default()).unwrap_err().code(), Some("unauthorized"));
    // What is no JSON is not sent: it could be taken for another line.
    let wrong = [BulkItem::json("a", "1}\n{\"op\":\"delete\"")];
    assert!(matches!(client.bulk("g", wrong, BulkOptions::default()).unwrap_err(), Error::Value(_)));
    let requests = server.join().unwrap();
    assert_eq!(requests[0].body, "{\"key\":\"a\",\"content\":1}\n{\"op\":\"delete\",\"key\":\"b\"}\n");
    assert_eq!(requests[1].line, "POST /g/.bulk?on_error=continue");
    assert_eq!(requests[3].body, "");
}

#[test]
fn each_request_names_its_chain() {
    let (mut client, server) = server(vec![Then::Say(unit()), Then::Say(unit()), Then::SayAndClose(unit())]);
    client.get("g", "a").unwrap();
    client.switch_namespace("a&b");
    client.get_at("g", "a", "2026-01-31T12:00:00Z").unwrap();
    client.switch_namespace("default");
    client.get("g", ".").unwrap();
    let lines: Vec<String> = server.join().unwrap().into_iter().map(|request| request.line).collect();
    assert_eq!(lines, ["GET /g/a", "GET /g/a?at=2026-01-31T12%3A00%3A00Z&chain=a%26b", "GET /g/.unit?key=."]);
}
