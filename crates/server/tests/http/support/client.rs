//! A client of HTTP/1.1 over a plain socket, which sends exactly what the test says.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::Value;

use super::LIMIT;

pub struct Client {
    reader: BufReader<TcpStream>,
    token: Option<String>,
}

/// What the server answered.
#[derive(Debug)]
pub struct Answer {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Client {
    pub fn connect(address: &str, token: Option<&str>) -> Client {
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(LIMIT)).unwrap();
        stream.set_write_timeout(Some(LIMIT)).unwrap();
        stream.set_nodelay(true).unwrap();
        Client { reader: BufReader::new(stream), token: token.map(str::to_owned) }
    }

    /// Sends bytes as they are.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) -> &mut Client {
        self.reader.get_mut().write_all(bytes.as_ref()).unwrap();
        self
    }

    pub fn socket(&self) -> &TcpStream {
        self.reader.get_ref()
    }

    /// Sends a request without a body: method and target, then headers, one a line.
    pub fn ask(&mut self, request: &str) -> Answer {
        self.ask_with(request, b"")
    }

    /// Sends a request with this body.
    pub fn ask_with(&mut self, request: &str, body: impl AsRef<[u8]>) -> Answer {
        let body = body.as_ref();
        let mut bytes = self.head(request, &format!("content-length: {}\r\n", body.len()));
        bytes.extend_from_slice(body);
        self.send(bytes);
        self.answer_to(request)
    }

    /// The head of a request, with all headers that it needs.
    pub fn head(&self, request: &str, more: &str) -> Vec<u8> {
        let (first, headers) = request.split_once('\n').unwrap_or((request, ""));
        let mut head = format!("{first} HTTP/1.1\r\nhost: localhost\r\n{more}");
        if let Some(token) = &self.token {
            head += &format!("authorization: Bearer {token}\r\n");
        }
        for header in headers.lines() {
            head += &format!("{header}\r\n");
        }
        (head + "\r\n").into_bytes()
    }

    /// Puts JSON.
    pub fn put(&mut self, target: &str, json: impl AsRef<[u8]>) -> Answer {
        self.ask_with(&format!("PUT {target}\ncontent-type: application/json"), json)
    }

    /// Puts a raw record.
    pub fn put_raw(&mut self, target: &str, bytes: impl AsRef<[u8]>) -> Answer {
        self.ask_with(&format!("PUT {target}\ncontent-type: application/octet-stream"), bytes)
    }

    pub fn get(&mut self, target: &str) -> Answer {
        self.ask(&format!("GET {target}"))
    }

    /// Posts lines to a grouping's bulk.
    pub fn bulk(&mut self, target: &str, lines: impl AsRef<[u8]>) -> Answer {
        self.ask_with(&format!("POST {target}\ncontent-type: application/x-ndjson"), lines)
    }

    /// Reads the answer to the request that was sent last.
    pub fn answer(&mut self) -> Answer {
        self.answer_to("GET")
    }

    fn answer_to(&mut self, request: &str) -> Answer {
        self.try_answer_to(request).unwrap_or_else(|| panic!("the connection ended before an answer to {request}"))
    }

    /// Reads an answer; `None` when the connection ends before it.
    pub fn try_answer(&mut self) -> Option<Answer> {
        self.try_answer_to("GET")
    }

    fn try_answer_to(&mut self, request: &str) -> Option<Answer> {
        let first = self.line()?;
        let status: u16 = first.split(' ').nth(1)?.parse().ok()?;
        let mut headers = Vec::new();
        loop {
            let line = self.line()?;
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(':')?;
            headers.push((name.to_lowercase(), value.trim().to_owned()));
        }
        let mut answer = Answer { status, headers, body: Vec::new() };
        if status == 100 {
            return self.try_answer_to(request);
        }
        if request.starts_with("HEAD") || status == 304 || status == 204 {
            return Some(answer);
        }
        if answer.header("transfer-encoding") == Some("chunked") {
            loop {
                let size = usize::from_str_radix(&self.line()?, 16).ok()?;
                let start = answer.body.len();
                answer.body.resize(start + size, 0);
                self.reader.read_exact(&mut answer.body[start..]).ok()?;
                self.line()?;
                if size == 0 {
                    return Some(answer);
                }
            }
        }
        match answer.header("content-length") {
            Some(length) => {
                answer.body.resize(length.parse().ok()?, 0);
                self.reader.read_exact(&mut answer.body).ok()?;
            }
            None => {
                self.reader.read_to_end(&mut answer.body).ok()?;
            }
        }
        Some(answer)
    }

    fn line(&mut self) -> Option<String> {
        let mut line = String::new();
        match self.reader.read_line(&mut line) {
            Ok(length) if length > 0 && line.ends_with('\n') => Some(line.trim_end().to_owned()),
            _ => None,
        }
    }

    /// Waits until the server has closed the connection, by itself; what it sends before is passed over.
    pub fn wait_for_end(&mut self) {
        let mut rest = [0; 4096];
        loop {
            match self.reader.read(&mut rest) {
                Ok(0) => return,
                Ok(_) => (),
                Err(error) => {
                    assert_eq!(
                        error.kind(),
                        std::io::ErrorKind::ConnectionReset,
                        "the connection did not end: {error}"
                    );
                    return;
                }
            }
        }
    }
}

impl Answer {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// The body's lines, each an object.
    pub fn lines(&self) -> Vec<Value> {
        self.text().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// It must have this status.
    #[track_caller]
    pub fn is(self, status: u16) -> Answer {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.body));
        self
    }

    /// It must be this error, with a message and what to do.
    #[track_caller]
    pub fn fails(self, status: u16, code: &str) -> Value {
        assert_eq!(self.status, status, "{}", String::from_utf8_lossy(&self.body));
        assert_eq!(self.header("immux-wire"), Some("1"));
        let error = self.json()["error"].clone();
        assert_eq!(error["code"], code, "{error}");
        assert!(!error["message"].as_str().unwrap().is_empty(), "{error}");
        error
    }

    /// The height that was read at or written.
    pub fn height(&self) -> u64 {
        self.header("immux-height").unwrap().parse().unwrap()
    }
}

/// A body in chunks.
pub fn chunked(pieces: &[&[u8]]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for piece in pieces {
        bytes.extend_from_slice(format!("{:x}\r\n", piece.len()).as_bytes());
        bytes.extend_from_slice(piece);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}
