//! HTTP/2: the same door, and many requests on one connection.

use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{Method, Request, StatusCode, Version};
use http_body_util::BodyExt as _;
use hyper::client::conn::http2::{SendRequest, handshake};
use hyper_util::rt::{TokioExecutor, TokioIo};

use super::support::{LIMIT, Server};

fn run(test: impl Future<Output = ()>) {
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
    runtime.block_on(async { tokio::time::timeout(LIMIT, test).await.unwrap() });
}

async fn connect(server: &Server) -> SendRequest<Body> {
    let stream = tokio::net::TcpStream::connect(server.address()).await.unwrap();
    let (sender, connection) = handshake(TokioExecutor::new(), TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    sender
}

fn request(server: &Server, method: Method, target: &str, body: impl Into<Body>) -> Request<Body> {
    let uri = format!("http://{}{target}", server.address());
    Request::builder().method(method).uri(uri).version(Version::HTTP_2).body(body.into()).unwrap()
}

async fn ask(
    sender: &mut SendRequest<Body>,
    server: &Server,
    method: Method,
    target: &str,
    body: &'static str,
) -> (StatusCode, Bytes) {
    sender.ready().await.unwrap();
    let answer = sender.send_request(request(server, method, target, body)).await.unwrap();
    (answer.status(), answer.into_body().collect().await.unwrap().to_bytes())
}

#[test]
fn the_same_door() {
    let server = Server::start();
    run(async {
        let mut sender = connect(&server).await;
        assert_eq!(ask(&mut sender, &server, Method::PUT, "/g/a%2F%00%ff%2e%2e", "1").await.0, 201);
        let (status, content) = ask(&mut sender, &server, Method::GET, "/g/a%2f%00%FF%2E%2E", "").await;
        assert_eq!((status.as_u16(), &content[..]), (200, &b"1"[..]));
        let (status, error) = ask(&mut sender, &server, Method::GET, "/g/none", "").await;
        assert_eq!(status, 404);
        assert!(error.starts_with(b"{\"error\":{\"code\":\"unit_missing\""));
        let (_, lines) = ask(&mut sender, &server, Method::GET, "/g", "").await;
        assert!(lines.starts_with(b"{\"key_hex\":\"612f00ff2e2e\""));
    });
}

#[test]
fn many_requests_at_once() {
    let server = Server::start();
    run(async {
        let sender = connect(&server).await;
        let tasks: Vec<_> = (0..90)
            .map(|n| {
                let mut sender = sender.clone();
                let request = request(&server, Method::PUT, &format!("/g/{n}"), "1");
                tokio::spawn(async move {
                    sender.ready().await.unwrap();
                    sender.send_request(request).await.unwrap().status()
                })
            })
            .collect();
        for task in tasks {
            assert_eq!(task.await.unwrap(), 201);
        }
    });
    assert_eq!(server.ask("GET /g?count=true").is(200).json()["count"], 90);
}

#[test]
fn more_requests_than_the_server_takes() {
    let server = Server::with(&[("max_connections", "5")]);
    run(async {
        let mut sender = connect(&server).await;
        // Five whose bodies do not come.
        let mut open = Vec::new();
        for n in 0..5 {
            let (hold, body) = tokio::sync::mpsc::channel::<()>(1);
            let stream = futures_util::stream::unfold(body, |mut body| async move {
                body.recv().await;
                None::<(Result<Bytes, std::io::Error>, _)>
            });
            let request = request(&server, Method::PUT, &format!("/g/{n}"), Body::from_stream(stream));
            sender.ready().await.unwrap();
            open.push((hold, tokio::spawn(sender.send_request(request))));
        }
        let refused = loop {
            let (status, error) = ask(&mut sender, &server, Method::GET, "/.health", "").await;
            if status != 200 {
                break (status, error);
            }
        };
        assert_eq!(refused.0, 503);
        assert!(refused.1.starts_with(b"{\"error\":{\"code\":\"overloaded\""));
        for (hold, answer) in open {
            drop(hold);
            // Empty is no JSON, but it was let in.
            assert_eq!(answer.await.unwrap().unwrap().status(), 400);
        }
        assert_eq!(ask(&mut sender, &server, Method::GET, "/.health", "").await.0, 200);
    });
}

#[test]
fn an_answer_that_is_not_taken_is_given_up() {
    let server = Server::with(&[("write_timeout", "500ms"), ("durability", "process")]);
    let lines: String =
        (0..5000).map(|n| format!("{{\"key\":\"{n}\",\"content\":\"{}\"}}\n", "x".repeat(1000))).collect();
    server.client().bulk("/g/.bulk", lines).is(200);
    run(async {
        let mut sender = connect(&server).await;
        sender.ready().await.unwrap();
        let mut stuck = sender.send_request(request(&server, Method::GET, "/g", "")).await.unwrap().into_body();
        // Others on the connection go on meanwhile.
        let begin = std::time::Instant::now();
        while begin.elapsed() < Duration::from_secs(2) {
            assert_eq!(ask(&mut sender, &server, Method::GET, "/g/1", "").await.0, 200);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let mut bytes = 0;
        let error = loop {
            match stuck.frame().await {
                Some(Ok(frame)) => bytes += frame.data_ref().map_or(0, Bytes::len),
                Some(Err(error)) => break error,
                None => panic!("the answer came to its end after {bytes} bytes"),
            }
        };
        assert!(bytes < 5_000_000, "{bytes}, {error}");
    });
}
