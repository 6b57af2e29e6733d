//! Providers with unusual answers, and their errors: one clear sentence, the right exit code, no lost text.

use crate::support::program::Setup;
use crate::support::service::{Answer, Service, Step};
use crate::support::terminal_session::command_answer;
use serde_json::json;
use std::time::Duration;

const JSON: &str = "application/json";

fn text_answer(text: &str) -> Answer {
    Answer::stream().text(text).finish("stop").done()
}

fn half_reply() -> Answer {
    Answer::stream().text("Half a")
}

fn error_answer(status: u16, headers: &[&str], body: &str) -> Answer {
    Answer::body(status, JSON, headers, body)
}

/// Runs `aye -p`; returns its output, its errors, its exit code and the number of requests.
async fn run_print(answers: Vec<Answer>) -> (String, String, i32, usize) {
    run_print_with_idle(60, answers).await
}

/// The same with this `idle_seconds` in the profile.
async fn run_print_with_idle(idle: u32, answers: Vec<Answer>) -> (String, String, i32, usize) {
    let service = Service::start(answers).await;
    let setup = Setup::new(&["-p", "--profile", "odd", "hi"]).env("KEY", "sk-odd-1234567890");
    let config = setup.root.path().join("home/aye/config");
    std::fs::create_dir_all(&config).unwrap();
    let profile = format!(
        "[profiles.odd]\nbase_url = \"{}\"\nkey_env = \"KEY\"\nmodel = \"m\"\nidle_seconds = {idle}\n",
        service.base_url
    );
    std::fs::write(config.join("config.toml"), profile).unwrap();
    let (out, err, code) = tokio::task::spawn_blocking(move || setup.run_piped("")).await.unwrap();
    let origin = service.base_url.trim_end_matches("/v1");
    (out, err.replace(origin, "ORIGIN"), code, service.received().len())
}

/// Runs all cases at once: the only answer of the provider, the expected output and the expected error.
async fn check(cases: Vec<(Answer, &'static str, &'static str)>) {
    // As short as the case needs, and otherwise long enough for a busy machine.
    let idle = |err: &str| if err.contains("sent no data for 1 s") { 1 } else { 60 };
    let run = |(answer, out, err)| {
        tokio::spawn(async move { (run_print_with_idle(idle(err), vec![answer]).await, out, err) })
    };
    let running: Vec<_> = cases.into_iter().map(run).collect();
    for case in running {
        let ((out, err, code, asked), expected_out, expected_err) = case.await.unwrap();
        assert_eq!(
            (out.as_str(), err.as_str(), code, asked),
            (expected_out, format!("aye: {expected_err}\n").as_str(), 1, 1)
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r48_refused_request_is_reported_in_one_sentence() {
    check(vec![
        (
            error_answer(401, &[], ""),
            "",
            "The provider rejected the key or requires one (401). Check the key of the profile.",
        ),
        (
            error_answer(402, &[], r#"{"error":{"message":"Insufficient credits"}}"#),
            "",
            "The provider requires payment (402): Insufficient credits. Add credit at the provider, or use another profile.",
        ),
        (
            error_answer(403, &[], r#"{"error":{"message":"Country not supported"}}"#),
            "",
            "The provider denied access (403): Country not supported. Check the request and what the key permits.",
        ),
        (
            error_answer(404, &[], r#"{"error":{"message":"The model `m` does not exist","code":"model_not_found"}}"#),
            "",
            "The provider does not know this model or address (404, model_not_found): The model `m` does not exist. Check the model with `aye models`, and the address.",
        ),
        (
            error_answer(429, &[], r#"{"error":{"message":"All used","code":"insufficient_quota"}}"#),
            "",
            "The account at the provider has no quota left (429, insufficient_quota): All used. Add credit at the provider, or use another profile.",
        ),
        (
            error_answer(429, &["retry-after: 3600"], r#"{"error":{"message":"Slower"}}"#),
            "",
            "The provider asks to wait 3600 s (429): Slower. Try again later, or use another profile.",
        ),
        (
            error_answer(200, &[], r#"{"error":{"message":"Overloaded"}}"#),
            "",
            "The provider returned an error (200): Overloaded",
        ),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r48_response_that_is_no_reply_is_reported_in_one_sentence() {
    let page = "<html><head><title>Login</title></head></html>";
    check(vec![
        (
            Answer::body(200, "text/html", &[], page),
            "",
            "Cannot read the reply: the server sent a web page titled “Login”. Check the address of the provider.",
        ),
        (
            Answer::body(200, "text/plain", &[], "It works"),
            "",
            "Cannot read the reply: the server sent “It works”. Check the address of the provider.",
        ),
        (error_answer(200, &[], ""), "", "Cannot read the reply: the response is empty. Check the address of the provider."),
        (
            error_answer(200, &[], r#"{"status":"ok"}"#),
            "",
            "Cannot read the reply: the server sent JSON that is not a model reply. Check the address of the provider.",
        ),
        (
            Answer::head(302, &["location: https://elsewhere.example/login"]),
            "",
            "The provider redirected the request (302): its new address is https://elsewhere.example. The redirect was not followed, to protect the key. Set `base_url` to that address",
        ),
        (
            Answer::stream().text(&"x".repeat(17 << 20)).finish("stop").done(),
            "",
            "Cannot read the reply: an event is larger than 16 MB",
        ),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r48_incomplete_reply_is_kept_and_reported_as_incomplete() {
    let moment = Step::Pause(Duration::from_millis(100));
    check(vec![
        (
            half_reply(),
            "Half a\n",
            "The connection was lost during the reply: the provider closed it before the reply was complete",
        ),
        (
            half_reply().raw("data: {nonsense\n\n"),
            "Half a\n",
            "Cannot read the reply: an event is not valid JSON: {nonsense",
        ),
        (
            half_reply().with_step(moment).with_step(Step::Reset),
            "Half a\n",
            "The connection was lost during the reply: Connection reset by peer",
        ),
        (
            half_reply().with_step(Step::Stall),
            "Half a\n",
            "The provider sent no data for 1 s. To wait longer, increase `idle_seconds` of the profile.",
        ),
        (
            half_reply().event(json!({"error": {"message": "GPU on fire", "code": 500}})),
            "Half a\n",
            "The provider reported an error during the reply: GPU on fire",
        ),
        (half_reply().finish("length").done(), "Half a\n", "Incomplete reply: cut at the provider's length limit."),
        (
            half_reply().finish("content_filter").done(),
            "Half a\n",
            "Incomplete reply: the provider withheld the rest (content_filter).",
        ),
        (
            Answer::stream().finish("stop").done(),
            "",
            "The model returned an empty reply. Retry or choose another model.",
        ),
    ])
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r49_wait_before_a_retry_is_announced_and_the_reply_arrives() {
    let busy = error_answer(429, &["retry-after: 1"], r#"{"error":{"message":"Slower"}}"#);
    let done = run_print(vec![busy, text_answer("Hello.")]).await;
    let notice = "aye: The provider asks to wait 1 s (429): Slower; trying again in 1 s\n";
    assert_eq!(done, ("Hello.\n".to_owned(), notice.to_owned(), 0, 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r49_failing_provider_gets_five_requests_before_the_error() {
    let page = "<html><title>502 Bad Gateway</title></html>";
    let cases = [
        (
            Answer::body(502, "text/html", &["retry-after-ms: 20"], page),
            "The provider failed (502): the server sent a web page titled “502 Bad Gateway”",
            " Try again later, or use another profile.",
        ),
        (
            Answer::default().with_step(Step::Reset),
            "No answer from ORIGIN: Connection reset by peer",
            " in the address.",
        ),
        (
            Answer::default().raw("HTTP/1.1 200 OK\r\nx: ").raw("x".repeat(1 << 20)),
            "No answer from ORIGIN: message head is too large",
            " Check the address and the network.",
        ),
    ];
    let running: Vec<_> = cases
        .map(|(answer, message, advice)| tokio::spawn(async move { (run_print(vec![answer]).await, message, advice) }))
        .into();
    for case in running {
        let ((out, err, code, asked), message, advice) = case.await.unwrap();
        assert_eq!((out.as_str(), code, asked), ("", 1, 5), "{err}");
        let lines: Vec<&str> = err.lines().collect();
        assert_eq!(lines.len(), 5, "four waits and the end: {err}");
        assert!(lines.iter().all(|line| line.starts_with(&format!("aye: {message}"))), "{err}");
        assert!(lines[..4].iter().all(|line| line.contains("; trying again in ")), "{err}");
        // A port that expects TLS may reset an unencrypted connection.
        let tells_of_tls = lines[4].contains(" If the port speaks TLS, use https://");
        assert_eq!(tells_of_tls, advice == " in the address.", "{err}");
        assert!(lines[4].contains(". Gave up after 5 attempts. ") && lines[4].ends_with(advice), "{err}");
        assert!(!err.contains("os error"), "{err}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reasoning_with_only_an_end_tag_is_separated_from_the_reply() {
    // The reasoning was printed before its end tag arrived. It stays, and a blank line separates it from the reply.
    let answer = Answer::stream().text("Let me see.").text(" Hm.\n</think>\n\nYes.").finish("stop").done();
    assert_eq!(run_print(vec![answer]).await, ("Let me see. Hm.\n\nYes.\n".to_owned(), String::new(), 0, 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn call_dropped_with_an_incomplete_reply_is_reported() {
    let function = json!({ "name": "write_file", "arguments": "{\"path\": \"a" });
    let delta = json!({ "tool_calls": [{ "index": 0, "id": "c1", "function": function }] });
    let answer = Answer::stream().event(json!({ "choices": [{ "index": 0, "delta": delta }] })).finish("length").done();
    let (out, err, code, asked) = run_print(vec![answer]).await;
    assert_eq!((out.as_str(), code, asked), ("", 1, 1));
    assert!(err.contains("Its calls were not run."), "{err}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failure_after_a_denied_call_is_the_exit_code() {
    let error = error_answer(400, &[], r#"{"error":{"message":"no more"}}"#);
    let (out, err, code, asked) = run_print(vec![command_answer("touch made"), error]).await;
    assert!(err.contains("no more"), "{err}");
    assert!(out.trim_end().ends_with('}') && out.contains("\"denied\""), "{out}");
    assert_eq!((code, asked), (1, 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r51_ctrl_c_in_headless_mode_keeps_the_partial_reply() {
    let service = Service::start([half_reply().raw("\n").text(" reply\n").with_step(Step::Stall)]).await;
    let setup = Setup::new(&["--base-url", &service.base_url, "--model", "m", "-p", "hi"]);
    let root = setup.root.clone();
    let mut program = setup.start();
    let code = tokio::task::spawn_blocking(move || {
        program.until("Half a reply");
        program.signal(rustix::process::Signal::INT);
        program.wait_for_exit()
    })
    .await
    .unwrap();
    assert_eq!(code, 130);
    let file = std::fs::read_dir(root.path().join("home/aye/data/sessions")).unwrap().next().unwrap().unwrap();
    let stored_text = std::fs::read_to_string(file.path()).unwrap();
    assert!(
        stored_text.contains("Half a reply") && stored_text.contains("\"incomplete\":\"stopped\""),
        "{stored_text}"
    );
    assert!(stored_text.trim_end().ends_with("{\"how\":\"interrupted\"}}}"), "{stored_text}");
}
