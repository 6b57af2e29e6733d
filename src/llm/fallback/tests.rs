//! Use of the fallback, and a table of all errors with retry, fallback and error text.

use super::*;
use crate::chat::{CallId, FinishReason, Usage};
use crate::scripted::{Reply, Scripted, fails, says};
use std::time::Duration;

fn build_request(messages: Vec<Message>) -> Request {
    Request { model: "one".into(), messages, tools: vec![], max_tokens: None, images: vec![], answer_schema: None }
}

fn user_message() -> Message {
    Message::User("hi".into())
}

fn tool_result() -> Message {
    Message::Tool { call: CallId("c".into()), text: "done".into() }
}

fn provider_error(status: u16, code: &str, message: &str, retry_after_seconds: Option<u64>) -> Error {
    let code = (!code.is_empty()).then(|| code.to_owned());
    Error::Provider { status, code, message: message.into(), retry_after: retry_after_seconds.map(Duration::from_secs) }
}

fn server_down() -> Error {
    provider_error(503, "", "down", None)
}

struct TwoModels {
    primary: Scripted,
    fallback: Scripted,
    combined: Fallback,
}

fn two_models(
    primary_replies: impl IntoIterator<Item = Reply>,
    fallback_replies: impl IntoIterator<Item = Reply>,
) -> TwoModels {
    let (primary, fallback) = (Scripted::new(primary_replies), Scripted::new(fallback_replies));
    let combined =
        Fallback::new(Arc::new(primary.clone()), Arc::new(fallback.clone()), "two".into(), "the second".into());
    TwoModels { primary, fallback, combined }
}

impl TwoModels {
    async fn collect_reply(&self, message: Message) -> Vec<Result<Chunk, Error>> {
        self.combined.stream(build_request(vec![message])).collect().await
    }

    /// Returns how many requests each model received.
    fn request_counts(&self) -> (usize, usize) {
        (self.primary.requests().lock().unwrap().len(), self.fallback.requests().lock().unwrap().len())
    }
}

fn text_chunk(text: &str) -> Result<Chunk, Error> {
    Ok(Chunk::Text(text.into()))
}

fn model_chosen(reason: Option<&str>) -> Result<Chunk, Error> {
    Ok(Chunk::ModelChosen { model: "the second".into(), reason: reason.map(str::to_owned) })
}

fn done_chunk() -> Result<Chunk, Error> {
    Ok(Chunk::Done(FinishReason::Stop))
}

#[tokio::test]
async fn the_fallback_answers_the_same_conversation_and_the_reason_is_reported() {
    let models = two_models([fails(server_down())], [says("b")]);
    let chunks = models.collect_reply(user_message()).await;
    assert_eq!(chunks, [model_chosen(Some("The provider failed (503): down")), text_chunk("b"), done_chunk()]);
    let requests = models.fallback.requests();
    let requests = requests.lock().unwrap();
    assert_eq!((requests[0].model.as_str(), &requests[0].messages), ("two", &vec![user_message()]));
}

#[tokio::test]
async fn the_next_user_message_tries_the_first_model_again() {
    let models = two_models([fails(server_down()), says("a")], [says("b"), says("c")]);
    models.collect_reply(user_message()).await;
    assert_eq!(models.collect_reply(tool_result()).await, [model_chosen(None), text_chunk("c"), done_chunk()]);
    assert_eq!(models.request_counts(), (1, 2), "results go to the model that made the call");
    assert_eq!(models.collect_reply(user_message()).await, [text_chunk("a"), done_chunk()]);
    assert_eq!(models.request_counts(), (2, 2));
}

#[tokio::test]
async fn results_go_to_the_first_model_after_it_answered() {
    let models = two_models([fails(server_down()), says("a"), says("c")], [says("b")]);
    models.collect_reply(user_message()).await;
    models.collect_reply(user_message()).await;
    assert_eq!(models.collect_reply(tool_result()).await, [text_chunk("c"), done_chunk()]);
}

#[tokio::test]
async fn a_reply_that_was_shown_does_not_fall_back() {
    let connection_lost = || Error::ConnectionLost("reset".into());
    let models = two_models(
        [
            says("half").fails(connection_lost()),
            Reply::default()
                .push_chunk(Chunk::Usage(Usage { input: 1, cached: 0, output: 1 }))
                .fails(connection_lost()),
        ],
        [says("b")],
    );
    assert_eq!(models.collect_reply(user_message()).await, [text_chunk("half"), Err(connection_lost())]);
    let chunks = models.collect_reply(user_message()).await;
    assert_eq!(chunks[0], Ok(Chunk::Usage(Usage { input: 1, cached: 0, output: 1 })));
    assert_eq!(chunks[2..], [text_chunk("b"), done_chunk()], "token usage is not shown");
}

#[tokio::test]
async fn if_both_fail_the_second_error_is_reported_and_the_first_is_tried_next() {
    let models =
        two_models([fails(server_down()), says("a")], [fails(provider_error(401, "", "", None)), says("never")]);
    let chunks = models.collect_reply(user_message()).await;
    assert_eq!(chunks[1..], [Err(provider_error(401, "", "", None))]);
    assert_eq!(
        models.collect_reply(tool_result()).await,
        [text_chunk("a"), done_chunk()],
        "requested again within the turn"
    );
    assert_eq!(models.request_counts(), (2, 1));
}

fn missing_key(status: u16) -> Error {
    let hint = "No key was sent (K is not set). alt-c enters one.".to_owned();
    Error::MissingKey { rejection: Box::new(provider_error(status, "", "no", None)), hint }
}

#[test]
fn r49_errors_are_retried_fall_back_and_are_displayed_as_listed() {
    let owned_pair = |origin: &str, cause: &str| (origin.to_owned(), cause.to_owned());
    let unreachable = |origin, cause| {
        let (origin, cause) = owned_pair(origin, cause);
        Error::Unreachable { origin, cause }
    };
    let remote = "https://api.example.com";
    let local = "http://127.0.0.1:11434";
    // For each error before anything was shown: whether the request is retried, whether the fallback is used, and the
    // error text.
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
            unreachable(local, "Connection refused"),
            false,
            true,
            "Cannot connect to http://127.0.0.1:11434: Connection refused. The server is not running, or the address is wrong. Start it, or correct the address.",
        ),
        (
            Error::NoResponse { origin: remote.into(), cause: "Connection reset by peer".into() },
            true,
            true,
            "No answer from https://api.example.com: Connection reset by peer. Check the address and the network.",
        ),
        (
            Error::NoResponse { origin: "http://h:1".into(), cause: "Connection reset by peer".into() },
            true,
            true,
            "No answer from http://h:1: Connection reset by peer. If the port speaks TLS, use https://h:1 in the address.",
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
            Error::RetriesExhausted { attempts: 5, last: Box::new(unreachable(local, "Connection reset by peer")) },
            false,
            true,
            "Cannot connect to http://127.0.0.1:11434: Connection reset by peer. Gave up after 5 attempts. Check the address and the network.",
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
        (provider_error(200, "", "Overloaded", None), false, true, "The provider returned an error (200): Overloaded"),
        (
            provider_error(302, "", "its new address is x", None),
            false,
            true,
            "The provider redirected the request (302): its new address is x",
        ),
        (provider_error(400, "", "no", None), false, false, "The provider rejected the request (400): no"),
        (
            provider_error(400, "context_length_exceeded", "", None),
            false,
            false,
            "The provider rejected the request (400, context_length_exceeded)",
        ),
        (
            provider_error(401, "", "", None),
            false,
            true,
            "The provider rejected the key or requires one (401). Check the key of the profile.",
        ),
        (
            missing_key(401),
            false,
            true,
            "The provider requires a key (401): no. No key was sent (K is not set). alt-c enters one.",
        ),
        (
            missing_key(403),
            false,
            true,
            "The provider denied access (403): no. No key was sent (K is not set). alt-c enters one.",
        ),
        (
            provider_error(402, "", "", None),
            false,
            true,
            "The provider requires payment (402). Add credit at the provider, or use another profile.",
        ),
        (
            provider_error(403, "", "", None),
            false,
            true,
            "The provider denied access (403). Check the request and what the key permits.",
        ),
        (
            provider_error(403, "", "Your input was flagged", None),
            false,
            false,
            "The provider denied access (403): Your input was flagged. Check the request and what the key permits.",
        ),
        (
            provider_error(404, "", "", None),
            false,
            true,
            "The provider does not know this model or address (404). Check the model with `aye models`, and the address.",
        ),
        (provider_error(405, "", "", None), false, false, "The provider rejected the request (405)"),
        (
            provider_error(408, "", "", None),
            true,
            true,
            "The provider timed out (408). Try again later, or use another profile.",
        ),
        (provider_error(410, "", "", None), false, true, "The provider rejected the request (410)"),
        (provider_error(413, "", "", None), false, false, "The provider rejected the request (413)"),
        (provider_error(422, "", "", None), false, false, "The provider rejected the request (422)"),
        (
            provider_error(429, "", "", None),
            true,
            true,
            "The provider asks to wait (429). Try again later, or use another profile.",
        ),
        (
            provider_error(429, "", "", Some(12)),
            true,
            true,
            "The provider asks to wait 12 s (429). Try again later, or use another profile.",
        ),
        (
            provider_error(429, "insufficient_quota", "", None),
            false,
            true,
            "The account at the provider has no quota left (429, insufficient_quota). Add credit at the provider, or use another profile.",
        ),
        (
            provider_error(500, "", "", None),
            true,
            true,
            "The provider failed (500). Try again later, or use another profile.",
        ),
        (
            provider_error(500, "", "the request exceeds the available context size", None),
            false,
            false,
            "The provider failed (500): the request exceeds the available context size. Try again later, or use another profile.",
        ),
        (
            provider_error(503, "", "", Some(5)),
            true,
            true,
            "The provider failed (503) (it asks to wait 5 s). Try again later, or use another profile.",
        ),
        (
            provider_error(529, "", "", None),
            true,
            true,
            "The provider failed (529). Try again later, or use another profile.",
        ),
    ];
    for (error, is_retried, falls_back, expected_text) in table {
        assert_eq!(
            (retry::is_retryable(error), may_succeed_elsewhere(error), error.to_string().as_str()),
            (*is_retried, *falls_back, *expected_text),
            "{error:?}"
        );
    }
    // This match fails to compile if a variant is added, as a reminder to add it to the table. Only some
    // variants are looked up in the table.
    let assert_listed = |predicate: fn(&Error) -> bool| assert!(table.iter().any(|(error, ..)| predicate(error)));
    match server_down() {
        Error::Provider { .. } => assert_listed(|error| matches!(error, Error::Provider { .. })),
        Error::MissingKey { .. } => assert_listed(|error| matches!(error, Error::MissingKey { .. })),
        Error::Unreachable { .. } => {}
        Error::NoResponse { .. } => {}
        Error::Proxy { .. } => assert_listed(|error| matches!(error, Error::Proxy { .. })),
        Error::Untrusted { .. } => {}
        Error::InvalidAddress(_) => assert_listed(|error| matches!(error, Error::InvalidAddress(_))),
        Error::RetriesExhausted { .. } => assert_listed(|error| matches!(error, Error::RetriesExhausted { .. })),
        Error::ConnectionLost(_) => {}
        Error::Idle(_) => {}
        Error::InvalidReply(_) => {}
        Error::InStream(_) => {}
    }
}

#[test]
fn a_long_wait_is_displayed_with_its_end_time() {
    let error_text = provider_error(429, "", "", Some(7200)).to_string();
    assert!(error_text.starts_with("The provider asks to wait 7200 s, until 20"), "{error_text}");
    let error_text = provider_error(429, "", "", Some(u64::MAX)).to_string();
    assert!(error_text.starts_with("The provider asks to wait 18446744073709551615 s"), "{error_text}");
}
