//! What goes wrong, as clients see it: a stable code, a status, a message, and what to do.
//!
//! ```json
//! {"error":{"code":"unit_missing","message":"there is no unit ada in people","help":"…"}}
//! ```
//!
//! Codes never change their meaning; a message may be worded better.

use std::borrow::Cow;

use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value};

use super::answer;

/// Declares the codes, and their table.
macro_rules! codes {
    ($($name:ident $text:literal $status:ident $meaning:literal,)*) => {
        /// A stable code.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Code {
            $(#[doc = $meaning] $name,)*
        }

        impl Code {
            /// All codes.
            #[cfg(test)]
            pub(crate) const ALL: &'static [Code] = &[$(Code::$name),*];

            /// As clients see it.
            pub(crate) fn text(self) -> &'static str {
                match self { $(Code::$name => $text),* }
            }

            /// The status that goes with it.
            pub(crate) fn status(self) -> StatusCode {
                match self { $(Code::$name => StatusCode::$status),* }
            }

            /// When it happens.
            #[cfg(test)]
            pub(crate) fn meaning(self) -> &'static str {
                match self { $(Code::$name => $meaning),* }
            }
        }
    };
}

codes! {
    BadEscape "bad_escape" BAD_REQUEST "A percent sign in the target is not followed by two hexadecimal digits.",
    BadName "bad_name" BAD_REQUEST "A name in the target cannot be: it is reserved, or not UTF-8.",
    BadParameter "bad_parameter" BAD_REQUEST "A query parameter is unknown, missing, given twice, or has a wrong value.",
    BadHeader "bad_header" BAD_REQUEST "A header has a value that cannot be, such as an If-Match that is no height.",
    BadCursor "bad_cursor" BAD_REQUEST "The cursor was not made by this server.",
    CursorMismatch "cursor_mismatch" BAD_REQUEST "The cursor belongs to another scan.",
    InvalidJson "invalid_json" BAD_REQUEST "What should be JSON is not.",
    BadLine "bad_line" BAD_REQUEST "A line of a bulk body is no operation.",
    BadBody "bad_body" BAD_REQUEST "The body ended too early, or cannot be decoded.",
    Unauthorized "unauthorized" UNAUTHORIZED "The token is missing or wrong.",
    CrossSite "cross_site" FORBIDDEN "A browser sent the request for a page of another site, and there is no token.",
    NoSuchPath "no_such_path" NOT_FOUND "The target leads nowhere.",
    UnitMissing "unit_missing" NOT_FOUND "There is no such unit (at that height).",
    GroupingMissing "grouping_missing" NOT_FOUND "There is no such grouping.",
    IndexMissing "index_missing" NOT_FOUND "There is no such index.",
    ChainMissing "chain_missing" NOT_FOUND "There is no such chain.",
    HeightUnknown "height_unknown" NOT_FOUND "The height is beyond the newest one.",
    MethodNotAllowed "method_not_allowed" METHOD_NOT_ALLOWED "The resource does not know this method.",
    SlowBody "slow_body" REQUEST_TIMEOUT "The body came too slowly.",
    DuplicateKey "duplicate_key" CONFLICT "A unique index has this value already.",
    IndexExists "index_exists" CONFLICT "There is an index of this name with another definition.",
    HeightMismatch "height_mismatch" PRECONDITION_FAILED "The unit is not at the height of If-Match.",
    UnitExists "unit_exists" PRECONDITION_FAILED "The unit exists, and If-None-Match forbade that.",
    BodyTooLarge "body_too_large" PAYLOAD_TOO_LARGE "The body is larger than the server takes.",
    LineTooLong "line_too_long" PAYLOAD_TOO_LARGE "A line of a bulk body is too long.",
    UnsupportedMediaType "unsupported_media_type" UNSUPPORTED_MEDIA_TYPE "The Content-Type is not one that this resource takes.",
    UnsupportedEncoding "unsupported_encoding" UNSUPPORTED_MEDIA_TYPE "The Content-Encoding is not gzip.",
    TooLarge "too_large" UNPROCESSABLE_ENTITY "A key, name, content or commit is over its limit.",
    BadDefinition "bad_definition" UNPROCESSABLE_ENTITY "The definition of an index cannot be.",
    Invalid "invalid" UNPROCESSABLE_ENTITY "The request was understood, but cannot be done.",
    Damaged "damaged" INTERNAL_SERVER_ERROR "Bytes on disk are not what was written.",
    IoError "io_error" INTERNAL_SERVER_ERROR "The operating system reports an error.",
    Internal "internal" INTERNAL_SERVER_ERROR "A fault of the server.",
    TooManyConnections "too_many_connections" SERVICE_UNAVAILABLE "There are as many connections as the server takes.",
    Overloaded "overloaded" SERVICE_UNAVAILABLE "There is no room for this request now.",
    Stopping "stopping" SERVICE_UNAVAILABLE "The server is being stopped.",
    Poisoned "poisoned" SERVICE_UNAVAILABLE "An I/O error stopped writing; reading goes on.",
    ReadOnly "read_only" SERVICE_UNAVAILABLE "Damage was found when the chain was opened; it can only be read.",
    NoSpace "no_space" SERVICE_UNAVAILABLE "The disk is full; the commit did not happen.",
    ChainHeld "chain_held" SERVICE_UNAVAILABLE "Another process writes to the chain.",
    UnknownFormat "unknown_format" SERVICE_UNAVAILABLE "The chain's files are of another version, or none of ours.",
    TooManyChains "too_many_chains" SERVICE_UNAVAILABLE "The server has as many chains open as it may.",
}

/// Why a request was not done.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Problem {
    #[serde(serialize_with = "code_text")]
    pub(crate) code: Code,
    /// What was wrong.
    pub(crate) message: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    help: Option<Cow<'static, str>>,
    /// What belongs to the code, such as the height that was found.
    #[serde(flatten)]
    fields: Map<String, Value>,
    #[serde(skip)]
    allow: Option<&'static [Method]>,
}

fn code_text<S: Serializer>(code: &Code, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(code.text())
}

impl Problem {
    pub(crate) fn new(code: Code, message: impl Into<String>) -> Problem {
        Problem { code, message: message.into(), help: None, fields: Map::new(), allow: None }
    }

    /// What to do about it.
    pub(crate) fn help(mut self, help: impl Into<Cow<'static, str>>) -> Problem {
        self.help = Some(help.into());
        self
    }

    /// One more thing to know about it.
    pub(crate) fn with(mut self, field: &str, value: impl Into<Value>) -> Problem {
        self.fields.insert(field.to_owned(), value.into());
        self
    }

    /// The methods that would have been right.
    pub(crate) fn allow(mut self, methods: &'static [Method]) -> Problem {
        self.allow = Some(methods);
        self
    }

    /// The whole answer's text, on one line.
    pub(crate) fn text(&self) -> String {
        #[derive(Serialize)]
        struct Whole<'a> {
            error: &'a Problem,
        }
        answer::text(&Whole { error: self })
    }

    /// The answer.
    pub(crate) fn response(&self) -> Response {
        self.dress(answer::json(self.code.status(), self.text()))
    }

    /// Adds the headers that go with the status.
    pub(crate) fn dress(&self, mut response: Response) -> Response {
        let headers = response.headers_mut();
        if let Some(methods) = self.allow {
            let list = methods.iter().map(Method::as_str).collect::<Vec<_>>().join(", ");
            if let Ok(value) = HeaderValue::try_from(list) {
                headers.insert(header::ALLOW, value);
            }
        }
        match self.code {
            Code::Unauthorized => {
                headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
            }
            Code::TooManyConnections | Code::Overloaded | Code::Stopping | Code::NoSpace => {
                headers.insert(header::RETRY_AFTER, HeaderValue::from_static("1"));
            }
            _ => (),
        }
        response
    }
}
