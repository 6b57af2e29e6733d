//! Ends of replies of the responses API, and responses that are not replies.
//!
//! In a formatted reply `#9+2` are the tokens sent and received, `~2~` announces the second attempt, `.` is a complete
//! end, `<length>` an incomplete one and `!` an error (`format_reply`).

use super::responses::{call, check, collect_once, completed, message, model, stream, text_delta};
use super::{collect, format_reply};
use crate::support::service::{Answer, Service, Step};
use crate::support::time_limits::check_with_slower_times;
use aye::llm::{Api, OpenAi, Settings};
use serde_json::{Value, json};
use std::time::Duration;

#[tokio::test]
async fn r48_every_end_of_a_response_is_understood() {
    let incomplete = |reason: Value| {
        ("incomplete", json!({"response": {"status": "incomplete", "incomplete_details": {"reason": reason}}}))
    };
    check("length", stream(&[text_delta("a"), incomplete(json!("max_output_tokens"))]), "a<length>").await;
    check("filter", stream(&[text_delta("a"), incomplete(json!("content_filter"))]), "a<content_filter>").await;
    check("something new", stream(&[text_delta("a"), incomplete(json!("tired"))]), "a<tired>").await;
    check("no reason", stream(&[text_delta("a"), incomplete(Value::Null)]), "a<no reason given>").await;
    let mislabelled = (
        "completed",
        json!({"response": {"status": "incomplete", "incomplete_details": {"reason": "max_output_tokens"}}}),
    );
    check("completed, but is not", stream(&[text_delta("a"), mislabelled]), "a<length>").await;
    let lost = "a!The connection was lost during the reply: the provider closed it before the reply was complete";
    check("closed", stream(&[text_delta("a")]), lost).await;
    check("only [DONE]", stream(&[text_delta("a")]).done(), lost).await;
    check(
        "closed within an event",
        stream(&[text_delta("a")]).raw("event: response.completed\ndata: {\"type\":\"resp"),
        lost,
    )
    .await;
    let broken = stream(&[text_delta("a")]).raw("event: response.output_text.delta\ndata: {\"type\n\n");
    check("an event that cannot be read", broken, "a!Cannot read the reply: an event is not valid JSON: {\"type").await;
    let damaged = |events: &[(&str, Value)]| {
        let start = stream(&[text_delta("a")]).raw("event: response.output_text.delta\ndata: {\"type\n\n");
        // The events without the head of their response, because `start` has one.
        start.raw(
            stream(events)
                .bytes()
                .split(|byte| *byte == b'\n')
                .skip_while(|line| !line.starts_with(b"event"))
                .collect::<Vec<_>>()
                .join(&b'\n'),
        )
    };
    check("an event is damaged", damaged(&[text_delta("c"), completed(json!([]))]), "a\u{fffd}c#9+2.").await;
    let whole = json!([{ "type": "message", "id": "m", "content": [{ "type": "output_text", "text": "abc" }] }]);
    check("and comes again at the end", damaged(&[completed(whole)]), "abc#9+2.").await;
    let reset = format_reply(
        &collect_once(
            stream(&[text_delta("a")]).with_step(Step::Pause(Duration::from_millis(50))).with_step(Step::Reset),
        )
        .await,
    );
    assert!(reset.starts_with("a!The connection was lost") && reset.to_lowercase().contains("reset"), "{reset}");
    let silence = "a!The provider sent no data for 1 s. To wait longer, increase `idle_seconds` of the profile.";
    check_with_slower_times(silence.to_owned(), async |factor| {
        let service = Service::start_strict([stream(&[text_delta("a")]).with_step(Step::Stall)]).await;
        let idle_limit = Duration::from_secs(factor.into());
        let settings = Settings { api: Api::Responses, idle_limit, ..Settings::new(&service.base_url) };
        format_reply(&collect(&OpenAi::new(settings)).await).replace(&format!("for {factor} s"), "for 1 s")
    })
    .await;
    let service =
        Service::start_strict([stream(&[text_delta("a"), completed(json!([]))]).with_step(Step::Stall)]).await;
    assert_eq!(format_reply(&collect(&model(&service)).await), "a#9+2.", "the end of the connection is not awaited");
}

#[tokio::test]
async fn r48_errors_of_the_responses_api_keep_their_message() {
    let failed = ("failed", json!({"response": {"status": "failed", "error": {"code": "odd", "message": "it broke"}}}));
    check(
        "failed",
        stream(&[text_delta("a"), failed]),
        "a!The provider reported an error during the reply: it broke (odd)",
    )
    .await;
    let error = json!({"type": "error", "code": "odd", "message": "it broke", "param": null, "sequence_number": 3});
    let expected = "a!The provider reported an error during the reply: it broke (odd)";
    check("named", stream(&[text_delta("a")]).raw(format!("event: error\ndata: {error}\n\n")), expected).await;
    check("not named", stream(&[text_delta("a")]).event(error), expected).await;
    check(
        "nested",
        stream(&[text_delta("a")]).event(json!({"type": "error", "error": {"type": "odd", "message": "it broke"}})),
        expected,
    )
    .await;
    check(
        "bare",
        stream(&[text_delta("a")]).raw("{\"error\": \"it broke\"}\n\n"),
        "a!The provider reported an error during the reply: it broke",
    )
    .await;
    check(
        "the other API",
        Answer::stream().text("a").done(),
        "!Cannot read the reply: its events are chat completion events. Set `api` of the profile to \"chat\".",
    )
    .await;
}

#[tokio::test]
async fn r49_response_that_fails_before_any_output_is_retried_if_that_can_help() {
    let failed = |code: &str| {
        stream(&[
            ("created", json!({"response": {}})),
            ("failed", json!({"response": {"status": "failed", "error": {"code": code, "message": "m"}}})),
        ])
    };
    let cases = [
        ("its server", failed("server_error"), "~2~b#9+2."),
        ("too fast", failed("rate_limit_exceeded"), "~2~b#9+2."),
        (
            "overloaded",
            stream(&[]).event(json!({"type": "error", "code": "server_is_overloaded", "message": "m"})),
            "~2~b#9+2.",
        ),
        ("nothing came", Answer::stream(), "~2~b#9+2."),
        (
            "too long",
            failed("context_length_exceeded"),
            "!The provider rejected the request (400, context_length_exceeded): m",
        ),
        (
            "no money",
            failed("insufficient_quota"),
            "!The account at the provider has no quota left (429, insufficient_quota): m. Add credit at the provider, or use another profile.",
        ),
    ];
    let all = cases.map(async |(what, first, expected)| {
        let service = Service::start_strict([first, stream(&[text_delta("b"), completed(json!([]))])]).await;
        assert_eq!(format_reply(&collect(&model(&service)).await), expected, "{what}");
    });
    futures::future::join_all(all).await;
}

#[tokio::test]
async fn r48_response_as_one_json_document_is_read_as_a_reply() {
    let json = "application/json; charset=utf-8";
    let body = json!({"id": "r", "object": "response", "status": "completed", "error": null, "incomplete_details": null,
        "output": [{"type": "reasoning", "summary": [{"type": "summary_text", "text": "r"}]}, message("a"), call("c", "{}")],
        "usage": {"input_tokens": 4, "output_tokens": 1}});
    check("whole", Answer::body(200, json, &[], &serde_json::to_string_pretty(&body).unwrap()), "(r)a#4+1[c f {}].")
        .await;
    let mut cut = body.clone();
    cut["status"] = json!("incomplete");
    cut["incomplete_details"] = json!({"reason": "max_output_tokens"});
    check("cut", Answer::body(200, json, &[], &cut.to_string()), "(r)a#4+1[c f {}]<length>").await;
    let failed = json!({"object": "response", "status": "failed", "error": {"code": "odd", "message": "it broke"}, "output": []});
    check(
        "failed",
        Answer::body(200, json, &[], &failed.to_string()),
        "!The provider returned an error (200, odd): it broke",
    )
    .await;
    let chat = json!({"choices": [{"message": {"content": "a"}}]});
    check(
        "the other API",
        Answer::body(200, json, &[], &chat.to_string()),
        "!Cannot read the reply: the server sent JSON that is not a model reply. Check the address of the provider.",
    )
    .await;
    let labelled = "event: response.completed\ndata: {\"type\":\"response.completed\",\"response\":{}}\n\n";
    check("a stream with the wrong label", Answer::body(200, "text/plain", &[], labelled), ".").await;
}

#[tokio::test]
async fn missing_responses_api_names_the_setting_to_change() {
    for (status, body) in [(404, "404 page not found"), (404, ""), (405, r#"{"detail":"Method Not Allowed"}"#)] {
        let out = format_reply(&collect_once(Answer::body(status, "text/plain", &[], body)).await);
        let start = "!The provider has no responses API at this address (";
        assert!(out.starts_with(start) && out.ends_with("Set `api` of the profile to \"chat\"."), "{out}");
    }
    let unknown = r#"{"error":{"message":"The model `m` does not exist","code":"model_not_found"}}"#;
    let out = format_reply(&collect_once(Answer::body(404, "application/json", &[], unknown)).await);
    assert_eq!(
        out,
        "!The provider does not know this model or address (404, model_not_found): The model `m` does not exist. Check the model with `aye models`, and the address."
    );
}
