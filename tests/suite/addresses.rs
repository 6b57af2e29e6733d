//! Wrong addresses of a model in the real program, against real sockets: each error says what to write instead.

use crate::support::encrypted::{Encrypted, Shown, plain, request, says};
use crate::support::leave_out;
use crate::support::program::Setup;
use std::io::{Read, Write};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// What `-p` with this base address tells, and its exit code. Nothing is printed.
fn told(base: &str) -> (String, i32) {
    let setup = Setup::new(&["-p", "--base-url", base, "--model", "m", "hi"]).env("OPENAI_API_KEY", "sk-canary-0042");
    let (out, err, code) = setup.print("");
    assert_eq!(out, "", "{err}");
    assert!(!err.contains("canary"), "{err}");
    (err, code)
}

/// A server that answers by the path of a request; its port, and the paths that it was asked for.
fn by_path(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> (u16, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = asked.clone();
    let port = plain(move |mut socket| {
        let head = request(&mut socket);
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let _ = socket.write_all(&answer(&path));
        log.lock().unwrap().push(path);
    });
    (port, asked)
}

fn answer(status: u16, kind: &str, body: &str) -> Vec<u8> {
    let length = body.len();
    format!(
        "HTTP/1.1 {status} Words\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}"
    )
    .into_bytes()
}

#[test]
fn an_address_without_v1_is_answered_with_the_one_that_works() {
    let (port, asked) = by_path(|path| match path {
        "/v1/models" => answer(200, "application/json", r#"{"data":[{"id":"m"}]}"#),
        _ => answer(404, "text/plain", "404 page not found"),
    });
    for base in ["", "/"] {
        let (err, code) = told(&format!("http://127.0.0.1:{port}{base}"));
        let expected = format!(
            "aye: The provider does not know this model or address (404): 404 page not found. http://127.0.0.1:{port}/v1 \
             answers. Use it as the address.\n"
        );
        assert_eq!((err, code), (expected, 1));
    }
    assert!(asked.lock().unwrap().contains(&"/v1/models".to_owned()));
    // Nothing is claimed of an address that does not answer either.
    let (port, _) = by_path(|_| answer(404, "text/plain", "404 page not found"));
    let (err, _) = told(&format!("http://127.0.0.1:{port}"));
    let advice = format!("Is the `/v1` missing from the address? Try http://127.0.0.1:{port}/v1.\n");
    assert!(err.ends_with(&format!("404 page not found. {advice}")), "{err}");
    // With a version in it the address is not in question.
    let (err, _) = told(&format!("http://127.0.0.1:{port}/v1"));
    assert_eq!(err, "aye: The provider does not know this model or address (404): 404 page not found\n");
}

#[test]
fn a_page_for_people_is_said_to_be_no_reply() {
    let (port, _) = by_path(|_| answer(200, "text/plain; charset=utf-8", "Ollama is running"));
    let read = "aye: Cannot read the reply: the server sent \u{201c}Ollama is running\u{201d}.";
    let (err, code) = told(&format!("http://127.0.0.1:{port}"));
    let expected = format!("{read} Is the `/v1` missing from the address? Try http://127.0.0.1:{port}/v1.\n");
    assert_eq!((err, code), (expected, 1));
    let (err, _) = told(&format!("http://127.0.0.1:{port}/v1"));
    assert_eq!(err, format!("{read} Check the address of the provider.\n"));
}

#[test]
fn a_whole_endpoint_is_answered_with_the_address_before_it_and_nobody_is_asked() {
    let (port, asked) = by_path(|_| says("hello"));
    for end in ["chat/completions", "chat/completions/", "responses", "models", "chat/completions?x=1"] {
        let (err, code) = told(&format!("http://127.0.0.1:{port}/v1/{end}"));
        let expected = format!(
            "aye: --base-url: Cannot use this address: it is a complete endpoint, not a base address. Write \
             \"http://127.0.0.1:{port}/v1\".\n"
        );
        assert_eq!((err, code), (expected, 2), "{end}");
    }
    assert!(asked.lock().unwrap().is_empty());
    let (out, _, code) =
        Setup::new(&["-p", "--base-url", &format!("http://127.0.0.1:{port}/v1"), "--model", "m", "hi"]).print("");
    assert_eq!((out.as_str(), code), ("hello\n", 0), "what the error says to write");
}

#[test]
fn a_port_out_of_range_is_said_to_be_one() {
    for port in ["65536", "99999", "0"] {
        let (err, code) = told(&format!("http://127.0.0.1:{port}/v1"));
        let expected =
            "aye: --base-url: Cannot use this address: its port is out of range. Ports go from 1 to 65535.\n";
        assert_eq!((err.as_str(), code), (expected, 2), "{port}");
    }
}

#[test]
fn a_port_that_speaks_tls_is_said_to() {
    // A server that answers in TLS only.
    let service = Encrypted::start(Shown::alone("127.0.0.1"), says("hello"));
    let (err, code) = told(&format!("http://127.0.0.1:{}/v1", service.port));
    let origin = format!("127.0.0.1:{}", service.port);
    let expected = format!(
        "aye: Cannot talk to http://{origin}: the response is not HTTP. If the port speaks TLS, use https://{origin} \
         as the address.\n"
    );
    assert_eq!((err, code), (expected, 1));
    assert_eq!(service.met(), 1, "and it is not tried again");
    // Servers that notice it, each in its words.
    for (kind, words) in [
        ("text/plain", "Client sent an HTTP request to an HTTPS server.\n"),
        ("text/html", "<html><head><title>400 The plain HTTP request was sent to HTTPS port</title></head></html>"),
        ("text/html", "<html><p>You're speaking plain HTTP to an SSL-enabled server port.</html>"),
    ] {
        let (port, asked) = by_path(move |_| answer(400, kind, words));
        let (err, _) = told(&format!("http://127.0.0.1:{port}/v1"));
        let expected = format!(
            "aye: Cannot talk to http://127.0.0.1:{port}: this port speaks TLS. Use https://127.0.0.1:{port} as the address.\n"
        );
        assert_eq!((err, asked.lock().unwrap().len()), (expected, 1));
    }
}

#[test]
fn a_port_without_tls_is_said_to_be_one() {
    let port = plain(|mut socket| {
        let _ = socket.read(&mut [0; 4096]);
        let _ = socket.write_all(&answer(400, "text/plain", "Bad Request"));
    });
    let (err, code) = told(&format!("https://127.0.0.1:{port}/v1"));
    let expected = format!(
        "aye: Cannot talk to https://127.0.0.1:{port}: the server does not speak TLS on this port. For an unencrypted \
         connection, use http://127.0.0.1:{port} as the address.\n"
    );
    assert_eq!((err, code), (expected, 1));
}

#[test]
fn the_key_of_the_profile_in_use_goes_to_the_address_of_the_flag_and_help_says_so() {
    let (port, heard) = {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let log = heard.clone();
        let port = plain(move |mut socket| {
            log.lock().unwrap().push(request(&mut socket).to_lowercase());
            let _ = socket.write_all(&says("hello"));
        });
        (port, heard)
    };
    let base = format!("http://127.0.0.1:{port}/v1");
    let keys = [("OPENAI_API_KEY", "key-of-openai"), ("GROQ_API_KEY", "key-of-groq")];
    for (profile, sent) in [(&[][..], "key-of-openai"), (&["--profile", "groq"], "key-of-groq")] {
        let arguments = [&["-p", "--base-url", &base, "--model", "m", "hi"], profile].concat();
        let setup = keys.iter().fold(Setup::new(&arguments), |setup, (name, key)| setup.env(name, key));
        assert_eq!(setup.print("").0, "hello\n");
        let heard = std::mem::take(&mut *heard.lock().unwrap()).join("");
        assert!(heard.contains(&format!("authorization: bearer {sent}\r\n")), "{heard}");
    }
    let says_so = |text: &str| {
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains("the key of the profile in use"), "{text}");
        assert!(text.contains("OPENAI_API_KEY"), "{text}");
    };
    let (help, _, _) = Setup::new(&["--help"]).print("");
    let about = help.split("--base-url").nth(1).and_then(|rest| rest.split("--profile <").next());
    says_so(about.expect("help has the flag"));
    let manual = include_str!("../../docs/providers.md");
    let line = manual.lines().position(|line| line.contains("`--base-url` uses")).expect("the manual says it");
    says_so(&manual.lines().skip(line).take(2).collect::<Vec<_>>().join(" "));
}

#[test]
fn a_host_that_is_not_known_is_said_to_be_none() {
    let base = "http://no-such-host.invalid/v1";
    let (_, err, code) = Setup::new(&["models", "--base-url", base]).print("");
    if err.contains("does not answer") {
        return leave_out("the name service of this machine does not answer");
    }
    let host = "no-such-host.invalid";
    assert!(err.contains(&format!("Cannot connect to http://{host}: cannot resolve the host {host} (")), "{err}");
    assert!(err.trim_end().ends_with("). Check its spelling and the network.") && code == 1, "{err}");
}

#[test]
fn a_connection_that_is_closed_each_time_is_said_with_the_number_of_attempts() {
    let met = Arc::new(AtomicUsize::new(0));
    let count = met.clone();
    let port = plain(move |mut socket| {
        count.fetch_add(1, Ordering::SeqCst);
        request(&mut socket);
    });
    let (err, code) = told(&format!("http://127.0.0.1:{port}/v1"));
    let lines: Vec<&str> = err.lines().collect();
    let start = format!(
        "aye: No answer from http://127.0.0.1:{port}: the server closed the connection before the response was complete"
    );
    assert_eq!((lines.len(), code, met.load(Ordering::SeqCst)), (5, 1, 5), "{err}");
    assert!(lines[..4].iter().all(|line| line.starts_with(&format!("{start}; trying again in "))), "{err}");
    let advice = format!(". If the port speaks TLS, use https://127.0.0.1:{port} in the address.");
    assert_eq!(lines[4], format!("{start}{advice} Gave up after 5 attempts."));
}
