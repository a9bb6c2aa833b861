//! `/{grouping}/.bulk`: many writes in one request, whose body may have any length.
//!
//! ```text
//!  body ──► text of whole lines, up to 4 MiB ──► operations ──► commits of up to 4,096 operations
//!           (read while the one before            (line by line)    │
//!            is being committed)                                    └─ one that fails is halved until
//!                                                                      the failing line is alone
//! ```
//!
//! Lines take effect in their order. What is acknowledged in the answer has the durability that was asked for. Two lines for
//! one unit are two versions of it: they do not come into one commit.

mod commit;
mod operation;

use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;

use self::commit::{Committing, OnError};
use super::answer;
use super::door::Call;
use super::problem::{Code, Problem};
use super::{lane, media};

/// Bytes of text that are parsed and committed at once.
const PORTION: usize = 4 << 20;
/// Bytes of a line.
const MOST_LINE: usize = 64 << 20;
/// What a portion takes while it is committed: its text, and the commit itself.
const COPIES: usize = 2;
/// Failures that are told one by one.
const MOST_ERRORS: usize = 100;

/// What became of the lines so far.
#[derive(Default, Serialize)]
struct Outcome {
    /// Lines whose operation happened.
    written: u64,
    /// Of these, how many made a unit that was not there.
    created: u64,
    failed: u64,
    commits: u64,
    /// The newest height.
    height: u64,
    errors: Vec<LineError>,
    /// Why it ended before its time.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<Problem>,
}

/// A line that failed.
#[derive(Serialize)]
struct LineError {
    line: u64,
    #[serde(flatten)]
    problem: Problem,
}

/// Writes the lines.
pub(crate) async fn post(mut call: Call) -> Result<Response, Problem> {
    let options = call.parameters.durability()?;
    let on_error = match call.parameters.text("on_error")?.as_deref() {
        None | Some("stop") => OnError::Stop,
        Some("continue") => OnError::Continue,
        Some(other) => {
            return Err(Problem::new(Code::BadParameter, format!("the parameter on_error is {other:?}"))
                .help("expected stop or continue"));
        }
    };
    call.check_parameters(&["on_error", "durability"])?;
    media::check_lines(&call.headers)?;
    let chain = call.door.chains.to_write(&call.chain).await?;
    let grouping = chain.grouping(&call.resource.grouping)?.with(options);
    let mut committing = Some(Committing::new(grouping, on_error));

    let (mut body, stop) = (call.body, call.door.stop.clone());
    let (mut text, mut share) = (Vec::new(), call.door.budget.share());
    // Where the last line of the text begins, which is not whole yet.
    let mut last = 0;
    let mut under_way = None;
    let end = loop {
        let piece = tokio::select! {
            biased;
            () = stop.wait() => break Err(stopping()),
            piece = body.next() => match piece {
                Ok(Some(piece)) => piece,
                Ok(None) => break Ok(()),
                Err(problem) => break Err(problem),
            },
        };
        // The text, in a buffer that grows to twice its size; the portion that is under way, and its commit.
        let needed = (text.len() + piece.len()).next_power_of_two() + text.len().min(PORTION) * COPIES;
        if let Err(problem) = share.grow(needed).await {
            break Err(problem);
        }
        if let Some(end) = memchr::memrchr(b'\n', &piece) {
            last = text.len() + end + 1;
        }
        text.extend_from_slice(&piece);
        if text.len() - last > MOST_LINE {
            break Err(too_long());
        }
        if text.len() < PORTION || last == 0 {
            continue;
        }
        let rest = text.split_off(last);
        let portion = std::mem::replace(&mut text, rest);
        last = 0;
        settle(&mut under_way, &mut committing).await?;
        let Some(mut next) = committing.take() else {
            unreachable!("what was under way is settled");
        };
        if next.is_over() {
            committing = Some(next);
            break Ok(());
        }
        under_way = Some(tokio::spawn(lane::long(move || {
            next.lines(&portion);
            Ok(next)
        })));
    };
    settle(&mut under_way, &mut committing).await?;
    let Some(mut committing) = committing else {
        unreachable!("what was under way is settled");
    };
    // Whole lines are taken also from a body that broke off; its last line may be half of one.
    let is_whole = end.is_ok();
    if !is_whole {
        text.truncate(memchr::memrchr(b'\n', &text).map_or(0, |at| at + 1));
    }
    let mut outcome = lane::long(move || {
        committing.lines(&text);
        Ok(committing.into_outcome())
    })
    .await?;
    drop(share);
    call.door.metrics.commits.inc_by(outcome.commits);
    if let Err(problem) = end {
        outcome.error.get_or_insert(problem);
    }
    if outcome.height == 0 {
        outcome.height = chain.height().0;
    }
    Ok(respond(&outcome))
}

/// Waits for the portion that is under way.
async fn settle(
    under_way: &mut Option<tokio::task::JoinHandle<Result<Committing, Problem>>>,
    committing: &mut Option<Committing>,
) -> Result<(), Problem> {
    if let Some(task) = under_way.take() {
        let lost = |error| Problem::new(Code::Internal, format!("a portion of the lines was lost: {error}"));
        *committing = Some(task.await.map_err(lost)??);
    }
    Ok(())
}

fn stopping() -> Problem {
    Problem::new(Code::Stopping, "the server is being stopped; the lines that are counted are written")
        .help("send the others when it runs anew")
}

fn too_long() -> Problem {
    Problem::new(Code::LineTooLong, format!("a line has more than {MOST_LINE} bytes"))
        .with("limit", MOST_LINE)
        .help("write such a unit with PUT, and see that lines end with a line feed")
}

fn respond(outcome: &Outcome) -> Response {
    let status = outcome.error.as_ref().map_or(StatusCode::OK, |problem| problem.code.status());
    let response = answer::object(status, outcome);
    match &outcome.error {
        Some(problem) => problem.dress(response),
        None => response,
    }
}
