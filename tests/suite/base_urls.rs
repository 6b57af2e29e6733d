//! Wrong base URLs given to the real program, against real sockets: each error names the URL to use instead.

use crate::support::program::Setup;
use crate::support::report_skipped;
use crate::support::stored_files::write_settings;
use crate::support::tls_service::{ServerCertificate, TlsService, read_request, serve_connections, stream_reply};
use std::io::{Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// Runs `-p` with this base URL and returns the errors and the exit code. Checks that nothing is printed.
fn run_with_base_url(base: &str) -> (String, i32) {
    let setup = Setup::new(&["-p", "--base-url", base, "--model", "m", "hi"]).env("OPENAI_API_KEY", "sk-canary-0042");
    let (out, err, code) = setup.run_piped("");
    assert_eq!(out, "", "{err}");
    assert!(!err.contains("canary"), "{err}");
    (err, code)
}

/// Starts a server that answers by request path. Returns its port and the paths requested so far.
fn start_server(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> (u16, Arc<Mutex<Vec<String>>>) {
    let requested = Arc::new(Mutex::new(Vec::new()));
    let log = requested.clone();
    let port = serve_connections(move |mut socket| {
        let head = read_request(&mut socket);
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let response = answer(&path);
        // Recorded first: the program may have ended before the write returns.
        log.lock().unwrap().push(path);
        let _ = socket.write_all(&response);
    });
    (port, requested)
}

fn http_response(status: u16, kind: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "HTTP/1.1 {status} Words\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
    .into_bytes()
}

#[test]
fn suggests_v1_if_it_is_missing_from_the_base_url() {
    let (port, requested) = start_server(|path| match path {
        "/v1/models" => http_response(200, "application/json", r#"{"data":[{"id":"m"}]}"#),
        _ => http_response(404, "text/plain", "404 page not found"),
    });
    for base in ["", "/"] {
        let (err, code) = run_with_base_url(&format!("http://127.0.0.1:{port}{base}"));
        let expected = format!(
            "aye: The provider does not know this model or address (404): 404 page not found. http://127.0.0.1:{port}/v1 \
             answers. Use it as the address.\n"
        );
        assert_eq!((err, code), (expected, 1));
    }
    assert!(requested.lock().unwrap().contains(&"/v1/models".to_owned()));
    // If the URL with `/v1` does not answer either, it is only suggested in a question.
    let (port, _) = start_server(|_| http_response(404, "text/plain", "404 page not found"));
    let (err, _) = run_with_base_url(&format!("http://127.0.0.1:{port}"));
    let advice = format!("Is the `/v1` missing from the address? Try http://127.0.0.1:{port}/v1.\n");
    assert!(err.ends_with(&format!("404 page not found. {advice}")), "{err}");
    // A URL with a version in it is not questioned.
    let (err, _) = run_with_base_url(&format!("http://127.0.0.1:{port}/v1"));
    assert_eq!(
        err,
        "aye: The provider does not know this model or address (404): 404 page not found. Check the model with `aye models`, and the address.\n"
    );
}

#[test]
fn reports_a_web_page_instead_of_a_reply() {
    let (port, _) = start_server(|_| http_response(200, "text/plain; charset=utf-8", "Ollama is running"));
    let read = "aye: Cannot read the reply: the server sent \u{201c}Ollama is running\u{201d}.";
    let (err, code) = run_with_base_url(&format!("http://127.0.0.1:{port}"));
    let expected = format!("{read} Is the `/v1` missing from the address? Try http://127.0.0.1:{port}/v1.\n");
    assert_eq!((err, code), (expected, 1));
    let (err, _) = run_with_base_url(&format!("http://127.0.0.1:{port}/v1"));
    assert_eq!(err, format!("{read} Check the address of the provider.\n"));
}

#[test]
fn refuses_a_complete_endpoint_without_sending_a_request() {
    let (port, requested) = start_server(|_| stream_reply("hello"));
    for end in ["chat/completions", "chat/completions/", "responses", "models", "chat/completions?x=1"] {
        let (err, code) = run_with_base_url(&format!("http://127.0.0.1:{port}/v1/{end}"));
        let expected = format!(
            "aye: --base-url: Cannot use this address: it is a complete endpoint, not a base address. Write \
             \"http://127.0.0.1:{port}/v1\".\n"
        );
        assert_eq!((err, code), (expected, 2), "{end}");
    }
    assert!(requested.lock().unwrap().is_empty());
    let (out, _, code) =
        Setup::new(&["-p", "--base-url", &format!("http://127.0.0.1:{port}/v1"), "--model", "m", "hi"]).run_piped("");
    assert_eq!((out.as_str(), code), ("hello\n", 0), "the URL that the error suggests works");
}

#[test]
fn suggests_the_scheme_that_is_missing() {
    for (given, suggested) in [
        ("127.0.0.1:18080", "http://127.0.0.1:18080"),
        ("localhost:18080/v1", "http://localhost:18080/v1"),
        ("llm.example.com/v1", "https://llm.example.com/v1"),
    ] {
        let (err, code) = run_with_base_url(given);
        let expected = format!(
            "aye: --base-url: Cannot use this address: it does not begin with http:// or https://. Write \"{suggested}\".\n"
        );
        assert_eq!((err, code), (expected, 2));
    }
}

#[test]
fn reports_a_port_out_of_range() {
    for port in ["65536", "99999", "0"] {
        let (err, code) = run_with_base_url(&format!("http://127.0.0.1:{port}/v1"));
        let expected =
            "aye: --base-url: Cannot use this address: its port is out of range. Ports go from 1 to 65535.\n";
        assert_eq!((err.as_str(), code), (expected, 2), "{port}");
    }
}

#[test]
fn suggests_https_for_a_port_that_speaks_tls() {
    // The server speaks TLS only.
    let service = TlsService::start(ServerCertificate::self_signed("127.0.0.1"), stream_reply("hello"));
    let (err, code) = run_with_base_url(&format!("http://127.0.0.1:{}/v1", service.port));
    let origin = format!("127.0.0.1:{}", service.port);
    let expected = format!(
        "aye: Cannot talk to http://{origin}: the response is not HTTP. If the port speaks TLS, begin the address \
         with https://{origin}.\n"
    );
    assert_eq!((err, code), (expected, 1));
    assert_eq!(service.connection_count(), 1, "the request is not retried");
    // These servers notice the mistake and answer in plain HTTP.
    for (kind, words) in [
        ("text/plain", "Client sent an HTTP request to an HTTPS server.\n"),
        ("text/html", "<html><head><title>400 The plain HTTP request was sent to HTTPS port</title></head></html>"),
        ("text/html", "<html><p>You're speaking plain HTTP to an SSL-enabled server port.</html>"),
    ] {
        let (port, requested) = start_server(move |_| http_response(400, kind, words));
        let (err, _) = run_with_base_url(&format!("http://127.0.0.1:{port}/v1"));
        let expected = format!(
            "aye: Cannot talk to http://127.0.0.1:{port}: this port speaks TLS. Begin the address with https://127.0.0.1:{port}.\n"
        );
        assert_eq!((err, requested.lock().unwrap().len()), (expected, 1));
    }
}

#[test]
fn suggests_http_for_a_port_without_tls() {
    let port = serve_connections(|mut socket| {
        let _ = socket.read(&mut [0; 4096]);
        let _ = socket.write_all(&http_response(400, "text/plain", "Bad Request"));
    });
    let (err, code) = run_with_base_url(&format!("https://127.0.0.1:{port}/v1"));
    let expected = format!(
        "aye: Cannot talk to https://127.0.0.1:{port}: the server does not speak TLS on this port. For an unencrypted \
         connection, begin the address with http://127.0.0.1:{port}.\n"
    );
    assert_eq!((err, code), (expected, 1));
}

#[test]
fn key_of_the_profile_is_sent_to_the_base_url_flag_as_help_says() {
    let (port, heard) = {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let log = heard.clone();
        let port = serve_connections(move |mut socket| {
            log.lock().unwrap().push(read_request(&mut socket).to_lowercase());
            let _ = socket.write_all(&stream_reply("hello"));
        });
        (port, heard)
    };
    let base = format!("http://127.0.0.1:{port}/v1");
    let keys = [("OPENAI_API_KEY", "key-of-openai"), ("GROQ_API_KEY", "key-of-groq")];
    for (profile, settings, sent) in [
        (&[][..], "", "key-of-openai"),
        (&["--profile", "groq"], "", "key-of-groq"),
        (&[], "[model]\nprofile = \"groq\"\n", "key-of-groq"),
    ] {
        let arguments = [&["-p", "--base-url", &base, "--model", "m", "hi"], profile].concat();
        let setup = keys.iter().fold(Setup::new(&arguments), |setup, (name, key)| setup.env(name, key));
        write_settings(&setup, settings);
        assert_eq!(setup.run_piped("").0, "hello\n");
        let heard = std::mem::take(&mut *heard.lock().unwrap()).join("");
        assert!(heard.contains(&format!("authorization: bearer {sent}\r\n")), "{heard}");
    }
    let check_profile_key = |text: &str| {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.to_lowercase().contains("the key of the profile in use"), "{text}");
        assert!(text.contains("OPENAI_API_KEY"), "{text}");
    };
    let (help, _, _) = Setup::new(&["--help"]).run_piped("");
    let about = help.split("--base-url").nth(1).and_then(|rest| rest.split("--profile <").next());
    let about = about.expect("help has the flag");
    check_profile_key(about);
    assert!(["--profile", "AYE_PROFILE", "settings"].iter().all(|name| about.contains(name)), "{about}");
    let readme = include_str!("../../README.md");
    check_profile_key(readme.lines().find(|line| line.contains("--base-url")).expect("README has the flag"));
    let manual = include_str!("../../docs/providers.md");
    let line = manual.lines().position(|line| line.contains("`--base-url` uses")).expect("the manual says it");
    check_profile_key(&manual.lines().skip(line).take(2).collect::<Vec<_>>().join(" "));
}

#[test]
fn reports_an_unknown_host() {
    let base = "http://no-such-host.invalid/v1";
    let (_, err, code) = Setup::new(&["models", "--base-url", base]).run_piped("");
    if err.contains("does not answer") {
        return report_skipped("the name service of this machine does not answer");
    }
    let host = "no-such-host.invalid";
    assert!(err.contains(&format!("Cannot connect to http://{host}: cannot resolve the host {host} (")), "{err}");
    assert!(err.trim_end().ends_with("). Check its spelling and the network.") && code == 1, "{err}");
}

#[test]
fn reports_the_number_of_attempts_if_every_connection_is_closed() {
    let connections = Arc::new(AtomicUsize::new(0));
    let count = connections.clone();
    let port = serve_connections(move |mut socket| {
        count.fetch_add(1, Ordering::SeqCst);
        read_request(&mut socket);
    });
    let (err, code) = run_with_base_url(&format!("http://127.0.0.1:{port}/v1"));
    let lines: Vec<&str> = err.lines().collect();
    let start = format!(
        "aye: No answer from http://127.0.0.1:{port}: the server closed the connection before the response was complete"
    );
    assert_eq!((lines.len(), code, connections.load(Ordering::SeqCst)), (5, 1, 5), "{err}");
    assert!(lines[..4].iter().all(|line| line.starts_with(&format!("{start}; trying again in "))), "{err}");
    let advice = format!(" If the port speaks TLS, use https://127.0.0.1:{port} in the address.");
    assert_eq!(lines[4], format!("{start}. Gave up after 5 attempts.{advice}"));
}
