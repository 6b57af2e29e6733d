//! Use of the fallback, and a table of all errors with retry, fallback and error text.

use super::*;
use crate::chat::{CallId, FinishReason, Usage};
use crate::llm::Scripted;
use crate::llm::scripted::{Reply, fails, says};
use std::time::Duration;

fn asks(messages: Vec<Message>) -> Request {
    Request { model: "one".into(), messages, tools: vec![], max_tokens: None, pictures: vec![] }
}

fn person() -> Message {
    Message::User("hi".into())
}

fn outcome() -> Message {
    Message::Tool { call: CallId("c".into()), text: "done".into() }
}

fn service(status: u16, code: &str, words: &str, wait: Option<u64>) -> Error {
    let code = (!code.is_empty()).then(|| code.to_owned());
    Error::Provider { status, code, message: words.into(), retry_after: wait.map(Duration::from_secs) }
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
    let both = Fallback::new(Arc::new(first.clone()), Arc::new(second.clone()), "two".into(), "the second".into());
    Two { first, second, both }
}

impl Two {
    async fn replies(&self, message: Message) -> Vec<Result<Chunk, Error>> {
        self.both.stream(asks(vec![message])).collect().await
    }

    /// Returns how many requests each model received.
    fn asked(&self) -> (usize, usize) {
        (self.first.requests().lock().unwrap().len(), self.second.requests().lock().unwrap().len())
    }
}

fn text(text: &str) -> Result<Chunk, Error> {
    Ok(Chunk::Text(text.into()))
}

fn answering(instead: Option<&str>) -> Result<Chunk, Error> {
    Ok(Chunk::ModelChosen { model: "the second".into(), instead: instead.map(str::to_owned) })
}

fn done() -> Result<Chunk, Error> {
    Ok(Chunk::Done(FinishReason::Stop))
}

#[tokio::test]
async fn the_fallback_answers_the_same_conversation_and_the_reason_is_reported() {
    let two = two([fails(down())], [says("b")]);
    let out = two.replies(person()).await;
    assert_eq!(out, [answering(Some("The provider failed (503): down")), text("b"), done()]);
    let asked = two.second.requests();
    let asked = asked.lock().unwrap();
    assert_eq!((asked[0].model.as_str(), &asked[0].messages), ("two", &vec![person()]));
}

#[tokio::test]
async fn the_next_user_message_tries_the_first_model_again() {
    let two = two([fails(down()), says("a")], [says("b"), says("c")]);
    two.replies(person()).await;
    assert_eq!(two.replies(outcome()).await, [answering(None), text("c"), done()]);
    assert_eq!(two.asked(), (1, 2), "results go to the model that made the call");
    assert_eq!(two.replies(person()).await, [text("a"), done()]);
    assert_eq!(two.asked(), (2, 2));
}

#[tokio::test]
async fn results_go_to_the_first_model_after_it_answered() {
    let two = two([fails(down()), says("a"), says("c")], [says("b")]);
    two.replies(person()).await;
    two.replies(person()).await;
    assert_eq!(two.replies(outcome()).await, [text("c"), done()]);
}

#[tokio::test]
async fn a_reply_that_was_shown_does_not_fall_back() {
    let cut = || Error::ConnectionLost("reset".into());
    let two = two([says("half").fails(cut()), Reply::default().costs(1, 1).fails(cut())], [says("b")]);
    assert_eq!(two.replies(person()).await, [text("half"), Err(cut())]);
    let out = two.replies(person()).await;
    assert_eq!(out[0], Ok(Chunk::Usage(Usage { input: 1, cached: 0, output: 1 })));
    assert_eq!(out[2..], [text("b"), done()], "token usage is not shown");
}

#[tokio::test]
async fn if_both_fail_the_second_error_is_reported_and_the_first_is_tried_next() {
    let two = two([fails(down()), says("a")], [fails(service(401, "", "", None)), says("never")]);
    let out = two.replies(person()).await;
    assert_eq!(out[1..], [Err(service(401, "", "", None))]);
    assert_eq!(two.replies(outcome()).await, [text("a"), done()], "requested again within the turn");
    assert_eq!(two.asked(), (2, 1));
}

/// All errors before anything was shown: whether the request is retried, whether the fallback is used, and the error
/// text.
#[test]
fn r49_errors_are_retried_fall_back_and_are_displayed_as_listed() {
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
            unreachable(remote, "cannot resolve the host api.example.com (Name or service not known)"),
            true,
            true,
            "Cannot connect to https://api.example.com: cannot resolve the host api.example.com (Name or service not known). Check its spelling and the network.",
        ),
        (
            unreachable(here, "Connection refused"),
            false,
            true,
            "Cannot connect to http://127.0.0.1:11434: Connection refused. The server is not running. Start it and try again.",
        ),
        (
            Error::NoResponse { origin: remote.into(), cause: "Connection reset by peer".into() },
            true,
            true,
            "No answer from https://api.example.com: Connection reset by peer",
        ),
        (
            Error::NoResponse { origin: "http://h:1".into(), cause: "the server closed the connection".into() },
            true,
            true,
            "No answer from http://h:1: the server closed the connection. If the port speaks TLS, use https://h:1 in the address.",
        ),
        (
            Error::Proxy { origin: remote.into(), cause: "the proxy http://p:1 (set by HTTPS_PROXY) is dead".into() },
            false,
            true,
            "Cannot reach https://api.example.com: the proxy http://p:1 (set by HTTPS_PROXY) is dead.",
        ),
        (Error::InvalidAddress("Cannot use it: a reason".into()), false, true, "Cannot use it: a reason."),
        (
            Error::RetriesExhausted { attempts: 5, last: Box::new(unreachable(here, "Connection reset by peer")) },
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
        (Error::ConnectionLost("reset".into()), true, true, "The connection was lost during the reply: reset"),
        (
            Error::Idle(Duration::from_secs(90)),
            false,
            true,
            "The provider sent no data for 90 s. To wait longer, increase `idle_seconds` of the profile.",
        ),
        (
            Error::InvalidReply("Cannot read the reply: the response is empty".into()),
            false,
            true,
            "Cannot read the reply: the response is empty",
        ),
        (
            Error::InStream("overloaded".into()),
            false,
            true,
            "The provider reported an error during the reply: overloaded",
        ),
        (
            Error::InStream("content_filter".into()),
            false,
            false,
            "The provider reported an error during the reply: content_filter",
        ),
        (service(200, "", "Overloaded", None), false, true, "The provider returned an error (200): Overloaded"),
        (
            service(302, "", "its new address is x", None),
            false,
            true,
            "The provider redirected the request (302): its new address is x",
        ),
        (service(400, "", "no", None), false, false, "The provider rejected the request (400): no"),
        (
            service(400, "context_length_exceeded", "", None),
            false,
            false,
            "The provider rejected the request (400, context_length_exceeded)",
        ),
        (
            service(401, "", "", None),
            false,
            true,
            "The provider rejected the key or requires one (401). Check the key of the profile.",
        ),
        (service(402, "", "", None), false, true, "The provider requires payment (402)"),
        (service(403, "", "", None), false, true, "The provider denied access (403)"),
        (
            service(403, "", "Your input was flagged", None),
            false,
            false,
            "The provider denied access (403): Your input was flagged",
        ),
        (service(404, "", "", None), false, true, "The provider does not know this model or address (404)"),
        (service(405, "", "", None), false, false, "The provider rejected the request (405)"),
        (service(408, "", "", None), true, true, "The provider timed out (408)"),
        (service(410, "", "", None), false, true, "The provider rejected the request (410)"),
        (service(413, "", "", None), false, false, "The provider rejected the request (413)"),
        (service(422, "", "", None), false, false, "The provider rejected the request (422)"),
        (service(429, "", "", None), true, true, "The provider asks to wait (429)"),
        (service(429, "", "", Some(12)), true, true, "The provider asks to wait 12 s (429)"),
        (
            service(429, "insufficient_quota", "", None),
            false,
            true,
            "The account at the provider has no quota left (429, insufficient_quota)",
        ),
        (service(500, "", "", None), true, true, "The provider failed (500)"),
        (
            service(500, "", "the request exceeds the available context size", None),
            false,
            false,
            "The provider failed (500): the request exceeds the available context size",
        ),
        (service(503, "", "", Some(5)), true, true, "The provider failed (503) (it asks to wait 5 s)"),
        (service(529, "", "", None), true, true, "The provider failed (529)"),
    ];
    for (error, again, other, told) in table {
        assert_eq!(
            (retry::is_retryable(error), may_succeed_elsewhere(error), error.to_string().as_str()),
            (*again, *other, *told),
            "{error:?}"
        );
    }
    // This match fails to compile if a variant is added without a line in the table.
    let has = |is: fn(&Error) -> bool| assert!(table.iter().any(|(error, ..)| is(error)));
    match down() {
        Error::Provider { .. } => has(|error| matches!(error, Error::Provider { .. })),
        Error::Unreachable { .. } => {}
        Error::NoResponse { .. } => {}
        Error::Proxy { .. } => has(|error| matches!(error, Error::Proxy { .. })),
        Error::Untrusted { .. } => {}
        Error::InvalidAddress(_) => has(|error| matches!(error, Error::InvalidAddress(_))),
        Error::RetriesExhausted { .. } => has(|error| matches!(error, Error::RetriesExhausted { .. })),
        Error::ConnectionLost(_) => {}
        Error::Idle(_) => {}
        Error::InvalidReply(_) => {}
        Error::InStream(_) => {}
    }
}

#[test]
fn a_long_wait_is_displayed_with_its_end_time() {
    let told = service(429, "", "", Some(7200)).to_string();
    assert!(told.starts_with("The provider asks to wait 7200 s, until 20"), "{told}");
    let told = service(429, "", "", Some(u64::MAX)).to_string();
    assert!(told.starts_with("The provider asks to wait 18446744073709551615 s"), "{told}");
}
