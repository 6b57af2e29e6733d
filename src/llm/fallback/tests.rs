//! When the second model answers, and a table of every way a request goes wrong.

use super::*;
use crate::chat::{CallId, Finish, Usage};
use crate::llm::Scripted;
use crate::llm::scripted::{Reply, fails, says};
use std::time::Duration;

fn asks(messages: Vec<Message>) -> Request {
    Request { model: "one".into(), messages, tools: vec![], most: None, pictures: vec![] }
}

fn person() -> Message {
    Message::Person("hi".into())
}

fn outcome() -> Message {
    Message::Tool { call: CallId("c".into()), text: "done".into() }
}

fn service(status: u16, code: &str, words: &str, wait: Option<u64>) -> Error {
    let code = (!code.is_empty()).then(|| code.to_owned());
    Error::Service { status, code, words: words.into(), retry_after: wait.map(Duration::from_secs) }
}

fn down() -> Error {
    service(503, "", "down", None)
}

struct Two {
    first: Scripted,
    second: Scripted,
    both: Fallback,
}

fn two(first: impl IntoIterator<Item = Reply>, second: impl IntoIterator<Item = Reply>) -> Two {
    let (first, second) = (Scripted::new(first), Scripted::new(second));
    let both =
        Fallback::new(Arc::new(first.clone()), Arc::new(second.clone()), "two".into(), "the second".into());
    Two { first, second, both }
}

impl Two {
    async fn replies(&self, message: Message) -> Vec<Result<Chunk, Error>> {
        self.both.stream(asks(vec![message])).collect().await
    }

    /// How often each was asked.
    fn asked(&self) -> (usize, usize) {
        (self.first.requests().lock().unwrap().len(), self.second.requests().lock().unwrap().len())
    }
}

fn text(text: &str) -> Result<Chunk, Error> {
    Ok(Chunk::Text(text.into()))
}

fn answering(instead: Option<&str>) -> Result<Chunk, Error> {
    Ok(Chunk::Answering { model: "the second".into(), instead: instead.map(str::to_owned) })
}

fn done() -> Result<Chunk, Error> {
    Ok(Chunk::Done(Finish::Stop))
}

#[tokio::test]
async fn the_second_answers_with_the_same_talk_and_it_is_said_why() {
    let two = two([fails(down())], [says("b")]);
    let out = two.replies(person()).await;
    assert_eq!(out, [answering(Some("the service failed (503): down")), text("b"), done()]);
    let asked = two.second.requests();
    let asked = asked.lock().unwrap();
    assert_eq!((asked[0].model.as_str(), &asked[0].messages), ("two", &vec![person()]));
}

#[tokio::test]
async fn the_first_is_tried_again_with_what_the_person_says_next_and_not_within_a_turn() {
    let two = two([fails(down()), says("a")], [says("b"), says("c")]);
    two.replies(person()).await;
    assert_eq!(two.replies(outcome()).await, [answering(None), text("c"), done()]);
    assert_eq!(two.asked(), (1, 2), "the outcomes go to the one that called");
    assert_eq!(two.replies(person()).await, [text("a"), done()]);
    assert_eq!(two.asked(), (2, 2));
}

#[tokio::test]
async fn once_the_first_answered_its_outcomes_go_to_it() {
    let two = two([fails(down()), says("a"), says("c")], [says("b")]);
    two.replies(person()).await;
    two.replies(person()).await;
    assert_eq!(two.replies(outcome()).await, [text("c"), done()]);
}

#[tokio::test]
async fn what_was_seen_stays_with_the_first() {
    let cut = || Error::Cut("reset".into());
    let two = two([says("half").fails(cut()), Reply::default().costs(1, 1).fails(cut())], [says("b")]);
    assert_eq!(two.replies(person()).await, [text("half"), Err(cut())]);
    let out = two.replies(person()).await;
    assert_eq!(out[0], Ok(Chunk::Usage(Usage { input: 1, cached: 0, output: 1 })));
    assert_eq!(out[2..], [text("b"), done()], "a count of tokens is nothing that was seen");
}

#[tokio::test]
async fn where_the_second_fails_too_its_words_are_the_last_and_the_first_is_tried_next() {
    let two = two([fails(down()), says("a")], [fails(service(401, "", "", None)), says("never")]);
    let out = two.replies(person()).await;
    assert_eq!(out[1..], [Err(service(401, "", "", None))]);
    assert_eq!(two.replies(outcome()).await, [text("a"), done()], "asked again within the turn");
    assert_eq!(two.asked(), (2, 1));
}

/// Every way a request goes wrong before anything was seen: whether it is sent again, whether the other model is
/// asked, and what the person reads.
#[test]
fn r49_every_error_is_retried_falls_back_and_is_told_as_this_table_says() {
    let at = |origin: &str, cause: &str| (origin.to_owned(), cause.to_owned());
    let unreachable = |origin, cause| {
        let (origin, cause) = at(origin, cause);
        Error::Unreachable { origin, cause }
    };
    let remote = "https://api.example.com";
    let here = "http://127.0.0.1:11434";
    let table: &[(Error, bool, bool, &str)] = &[
        (
            unreachable(remote, "Connection refused"),
            true,
            true,
            "Cannot connect to https://api.example.com: Connection refused. Check the address and the network.",
        ),
        (
            unreachable(
                remote,
                "no address is known for the host api.example.com (Name or service not known)",
            ),
            true,
            true,
            "Cannot connect to https://api.example.com: no address is known for the host api.example.com (Name or service not known). Check its spelling and the network.",
        ),
        (
            unreachable(here, "Connection refused"),
            false,
            true,
            "Cannot connect to http://127.0.0.1:11434: Connection refused. The server is not running. Start it and ask again.",
        ),
        (
            Error::Unanswered { origin: remote.into(), cause: "Connection reset by peer".into() },
            true,
            true,
            "No answer from https://api.example.com: Connection reset by peer",
        ),
        (
            Error::Unanswered {
                origin: "http://h:1".into(),
                cause: "the server closed the connection".into(),
            },
            true,
            true,
            "No answer from http://h:1: the server closed the connection. If the port speaks TLS, use https://h:1 in the address.",
        ),
        (
            Error::Proxy {
                origin: remote.into(),
                cause: "the proxy http://p:1 (set by HTTPS_PROXY) is dead".into(),
            },
            false,
            true,
            "Cannot reach https://api.example.com: the proxy http://p:1 (set by HTTPS_PROXY) is dead.",
        ),
        (Error::Misaddressed("Cannot use it: a reason".into()), false, true, "Cannot use it: a reason."),
        (
            Error::Repeated { attempts: 5, last: Box::new(unreachable(here, "Connection reset by peer")) },
            false,
            true,
            "Cannot connect to http://127.0.0.1:11434: Connection reset by peer. Check the address and the network. Gave up after 5 attempts.",
        ),
        (
            Error::Untrusted { origin: remote.into(), cause: "certificate expired".into() },
            false,
            true,
            "Cannot trust https://api.example.com: certificate expired.",
        ),
        (Error::Cut("reset".into()), true, true, "the connection was lost in the middle of the reply: reset"),
        (
            Error::Idle(Duration::from_secs(90)),
            false,
            true,
            "the service sent nothing for 90 s (a profile's idle_seconds says how long to wait)",
        ),
        (
            Error::NotAModel("the service sent an empty answer".into()),
            false,
            true,
            "the service sent an empty answer",
        ),
        (
            Error::InStream("overloaded".into()),
            false,
            true,
            "the service reported an error in the middle of the reply: overloaded",
        ),
        (
            Error::InStream("content_filter".into()),
            false,
            false,
            "the service reported an error in the middle of the reply: content_filter",
        ),
        (
            service(200, "", "Overloaded", None),
            false,
            true,
            "the service answered with an error (200): Overloaded",
        ),
        (
            service(302, "", "it points to x", None),
            false,
            true,
            "the service is somewhere else (302): it points to x",
        ),
        (service(400, "", "no", None), false, false, "the service refused the request (400): no"),
        (
            service(400, "context_length_exceeded", "", None),
            false,
            false,
            "the service refused the request (400, context_length_exceeded)",
        ),
        (service(401, "", "", None), false, true, "the service refused the key, or wants one (401)"),
        (service(402, "", "", None), false, true, "the service wants to be paid first (402)"),
        (service(403, "", "", None), false, true, "the service does not allow this (403)"),
        (
            service(403, "", "Your input was flagged", None),
            false,
            false,
            "the service does not allow this (403): Your input was flagged",
        ),
        (service(404, "", "", None), false, true, "the service does not know this model or address (404)"),
        (service(405, "", "", None), false, false, "the service refused the request (405)"),
        (service(408, "", "", None), true, true, "the service took too long (408)"),
        (service(410, "", "", None), false, true, "the service refused the request (410)"),
        (service(413, "", "", None), false, false, "the service refused the request (413)"),
        (service(422, "", "", None), false, false, "the service refused the request (422)"),
        (service(429, "", "", None), true, true, "the service asks to wait (429)"),
        (service(429, "", "", Some(12)), true, true, "the service asks to wait 12 s (429)"),
        (
            service(429, "insufficient_quota", "", None),
            false,
            true,
            "the account at the service is used up (429, insufficient_quota)",
        ),
        (service(500, "", "", None), true, true, "the service failed (500)"),
        (
            service(500, "", "the request exceeds the available context size", None),
            false,
            false,
            "the service failed (500): the request exceeds the available context size",
        ),
        (service(503, "", "", Some(5)), true, true, "the service failed (503) (it asks to wait 5 s)"),
        (service(529, "", "", None), true, true, "the service failed (529)"),
    ];
    for (error, again, other, told) in table {
        assert_eq!(
            (retry::is_worth_trying(error), may_be_better(error), error.to_string().as_str()),
            (*again, *other, *told),
            "{error:?}"
        );
    }
    // A variant without a line in the table does not compile here.
    let has = |is: fn(&Error) -> bool| assert!(table.iter().any(|(error, ..)| is(error)));
    match down() {
        Error::Service { .. } => has(|error| matches!(error, Error::Service { .. })),
        Error::Unreachable { .. } => {}
        Error::Unanswered { .. } => {}
        Error::Proxy { .. } => has(|error| matches!(error, Error::Proxy { .. })),
        Error::Untrusted { .. } => {}
        Error::Misaddressed(_) => has(|error| matches!(error, Error::Misaddressed(_))),
        Error::Repeated { .. } => has(|error| matches!(error, Error::Repeated { .. })),
        Error::Cut(_) => {}
        Error::Idle(_) => {}
        Error::NotAModel(_) => {}
        Error::InStream(_) => {}
    }
}

#[test]
fn a_wait_of_hours_is_told_with_its_end() {
    let told = service(429, "", "", Some(7200)).to_string();
    assert!(told.starts_with("the service asks to wait 7200 s, until 20"), "{told}");
    let told = service(429, "", "", Some(u64::MAX)).to_string();
    assert!(told.starts_with("the service asks to wait 18446744073709551615 s"), "{told}");
}
