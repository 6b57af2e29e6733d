//! Connections to a provider in the real program: which certificates are trusted, and where the key is never sent.

use crate::proxies::start_proxy;
use crate::support::keyboard::PATIENCE;
use crate::support::program::Setup;
use crate::support::report_skipped;
use crate::support::stored_files::{NO_TITLES, write_settings};
use crate::support::tls_service::{
    Authority, ServerCertificate, TlsService, read_request, serve_connections, stream_reply,
};
use rustix::fs::inotify;
use std::io::{Read, Write};
use std::net::{IpAddr, UdpSocket};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

pub const KEY: &str = "canary-4711-of-the-way";
pub const PASSWORD: &str = "canary-0815-of-the-proxy";

/// Runs `-p` with the provider at this address and these additional environment variables. Checks that no secret is
/// printed. Returns standard output, standard error and the exit code.
pub fn run_print(base: &str, environment: &[(&str, &str)]) -> (String, String, i32) {
    let setup = Setup::new(&["-p", "--profile", "way", "hi"]).env("WAY", KEY);
    let setup = environment.iter().fold(setup, |setup, (name, value)| setup.env(name, value));
    let profile =
        format!("[profiles.way]\nbase_url = \"{base}\"\nkey_env = \"WAY\"\nmodel = \"m\"\nidle_seconds = 3\n");
    write_settings(&setup, &profile);
    let (out, err, code) = setup.run_piped("");
    for secret in [KEY, PASSWORD] {
        assert!(!err.contains(secret) && !out.contains(secret), "{err}");
    }
    (out, err, code)
}

/// Returns the errors of a run without a reply.
pub fn run_failing(base: &str, environment: &[(&str, &str)]) -> String {
    let (out, err, code) = run_print(base, environment);
    assert_eq!((out.as_str(), code), ("", 1), "{err}");
    err
}

/// Writes a file of certificate authorities.
pub fn authority_file(text: &str) -> tempfile::NamedTempFile {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text.as_bytes()).unwrap();
    file
}

/// An environment without any certificate authority.
fn no_authorities() -> [(&'static str, &'static str); 2] {
    [("SSL_CERT_FILE", "/nowhere/at/all.pem"), ("SSL_CERT_DIR", "/nowhere/at/all")]
}

/// Connects to a provider with this certificate. Returns the error and the requests that it received over TLS.
fn connect_to(shown: ServerCertificate, environment: &[(&str, &str)]) -> (String, Vec<String>) {
    let service = TlsService::start(shown, stream_reply("hello"));
    let err = run_failing(&format!("https://127.0.0.1:{}/v1", service.port), environment);
    let err = err.replace(&service.port.to_string(), "PORT");
    // The provider sees the end of the connection a moment later.
    let end = Instant::now() + PATIENCE;
    while service.requests.lock().unwrap().is_empty() && Instant::now() < end {
        std::thread::sleep(Duration::from_millis(5));
    }
    let received = service.requests.lock().unwrap().clone();
    (err, received)
}

#[test]
fn r42_provider_with_a_certificate_of_a_known_authority_is_trusted() {
    let authority = Authority::new();
    let roots = authority_file(&authority.pem);
    let environment = [("SSL_CERT_FILE", roots.path().to_str().unwrap())];
    let service = TlsService::start(authority.issue_certificate("localhost", 2090), stream_reply("hello"));
    let (out, err, code) = run_print(&format!("https://localhost:{}/v1", service.port), &environment);
    assert_eq!((out.as_str(), err.as_str(), code), ("hello\n", "", 0));
    let received = service.requests.lock().unwrap();
    assert!(received[0].contains(&format!("Bearer {KEY}")), "{received:?}");
}

#[test]
fn r42_untrusted_provider_receives_nothing_and_the_error_names_the_reason() {
    let authority = Authority::new();
    let roots = authority_file(&authority.pem);
    let variables = [("SSL_CERT_FILE", roots.path().to_str().unwrap())];
    let stranger = "aye: Cannot trust https://127.0.0.1:PORT: its certificate is not signed by an authority that this \
                    machine trusts. If it is yours, name a file with it, or with that of its authority, in `ca_file` of \
                    the profile or in SSL_CERT_FILE.\n";
    // Without a file of authorities the bundled ones apply, so this is not the error about missing authorities.
    for (shown, environment, expected) in [
        (ServerCertificate::self_signed("127.0.0.1"), &variables[..], stranger),
        (ServerCertificate::self_signed("127.0.0.1"), &[], stranger),
        (authority.issue_certificate("127.0.0.1", 2090), &[], stranger),
        (authority.issue_certificate("127.0.0.1", 2090), &no_authorities(), stranger),
        (
            authority.issue_certificate("model.example.test", 2090),
            &variables,
            "aye: Cannot trust https://127.0.0.1:PORT: its certificate is for model.example.test, not for 127.0.0.1.\n",
        ),
        (
            authority.issue_certificate("127.0.0.1", 2001),
            &variables,
            "aye: Cannot trust https://127.0.0.1:PORT: its certificate expired on 2001-01-01. Check the clock of this \
             machine.\n",
        ),
    ] {
        let (err, received) = connect_to(shown, environment);
        assert_eq!(err, expected);
        assert_eq!(received, [""], "one connection without a request");
    }
}

#[test]
fn server_without_tls_or_with_an_old_version_is_reported() {
    let clear = serve_connections(|mut socket| {
        let _ = socket.write_all(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n");
        read_request(&mut socket);
    });
    assert_eq!(
        run_failing(&format!("https://127.0.0.1:{clear}/v1"), &[]),
        format!(
            "aye: Cannot talk to https://127.0.0.1:{clear}: the server does not speak TLS on this port. For an \
             unencrypted connection, begin the address with http://127.0.0.1:{clear}.\n"
        )
    );
    // A server that knows TLS 1.0 at most refuses the version: the bytes are the TLS alert `protocol_version`.
    let oldest = serve_connections(|mut socket| {
        let mut hello = [0; 4096];
        let _ = socket.read(&mut hello);
        let _ = socket.write_all(&[21, 3, 1, 0, 2, 2, 70]);
        read_request(&mut socket);
    });
    assert_eq!(
        run_failing(&format!("https://127.0.0.1:{oldest}/v1"), &[]),
        format!(
            "aye: Cannot trust https://127.0.0.1:{oldest}: it supports no secure version of TLS. TLS 1.2 or later is \
             required.\n"
        )
    );
}

#[test]
fn a_certificate_made_as_an_authority_is_accepted_if_the_user_named_exactly_it() {
    for (shown, pem) in [
        ServerCertificate::self_signed_authority("127.0.0.1", 2090),
        ServerCertificate::self_signed_common_name("127.0.0.1", 2090),
    ] {
        let named = authority_file(&pem);
        let path = named.path().to_str().unwrap();
        let service = TlsService::start(shown, stream_reply("hello"));
        let base = format!("https://127.0.0.1:{}/v1", service.port);
        let (out, err, code) = run_print(&base, &[("SSL_CERT_FILE", path)]);
        assert_eq!((out.as_str(), err.as_str(), code), ("hello\n", "", 0));
        let setup = Setup::new(&["-p", "--profile", "way", "hi"]);
        let profile = format!("[profiles.way]\nbase_url = \"{base}\"\nmodel = \"m\"\nca_file = \"{path}\"\n");
        write_settings(&setup, &profile);
        assert_eq!(setup.run_piped(""), ("hello\n".to_owned(), String::new(), 0));
    }
}

#[test]
fn no_other_certificate_made_as_an_authority_is_accepted() {
    let (another, pem) = ServerCertificate::self_signed_authority("127.0.0.1", 2090);
    let named = authority_file(&pem);
    let variables = [("SSL_CERT_FILE", named.path().to_str().unwrap())];
    let elsewhere = ServerCertificate::self_signed_authority("model.example.test", 2090);
    let expired = ServerCertificate::self_signed_authority("127.0.0.1", 2001);
    let longer_name = ServerCertificate::self_signed_common_name("127.0.0.10", 2090);
    let (elsewhere_file, expired_file) = (authority_file(&elsewhere.1), authority_file(&expired.1));
    let longer_name_file = authority_file(&longer_name.1);
    let path = |file: &tempfile::NamedTempFile| file.path().to_str().unwrap().to_owned();
    for (shown, environment, expected) in [
        // Another certificate of the same name.
        (
            ServerCertificate::self_signed_authority("127.0.0.1", 2090).0,
            &variables[..],
            "its certificate is a CA certificate.",
        ),
        (another, &[], "its certificate is a CA certificate."),
        (
            elsewhere.0,
            &[("SSL_CERT_FILE", path(&elsewhere_file).as_str())],
            "its certificate is for model.example.test, not for 127.0.0.1.",
        ),
        (expired.0, &[("SSL_CERT_FILE", path(&expired_file).as_str())], "its certificate expired on 2001-01-01."),
        (
            longer_name.0,
            &[("SSL_CERT_FILE", path(&longer_name_file).as_str())],
            "its certificate is for no name at all, not for 127.0.0.1. Create one with this name, with openssl by -addext \
             subjectAltName=IP:127.0.0.1.",
        ),
    ] {
        let (err, received) = connect_to(shown, environment);
        assert!(err.starts_with(&format!("aye: Cannot trust https://127.0.0.1:PORT: {expected}")), "{err}");
        assert_eq!(
            (received.as_slice(), err.lines().count()),
            (&[String::new()][..], 1),
            "the provider received a request"
        );
    }
}

/// Returns an address of this machine that is not the loopback, if any. Sends nothing to find it.
pub fn own_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    let own = socket.local_addr().ok()?.ip();
    (!own.is_loopback() && !own.is_unspecified()).then_some(own)
}

#[test]
fn r47_unencrypted_network_address_warns_and_uses_the_proxy_unless_excluded() {
    let Some(own) = own_address() else {
        return report_skipped("this machine has no address but the loopback");
    };
    let listener = std::net::TcpListener::bind((own, 0)).unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.unwrap();
            read_request(&mut socket);
            let _ = socket.write_all(&stream_reply("straight"));
        }
    });
    let origin = base.trim_end_matches("/v1");
    let host_and_port = origin.trim_start_matches("http://");
    let warning = format!("The connection to {host_and_port} is not encrypted: others on the network can read the key");
    let (out, err, code) = run_print(&base, &[]);
    assert_eq!((out.as_str(), code), ("straight\n", 0), "{err}");
    assert!(err.contains(&warning), "{err}");

    let proxied = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n\
        data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"proxied\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";
    let (port, asked) = start_proxy(proxied);
    let through = format!("http://127.0.0.1:{port}");
    let (out, err, code) = run_print(&base, &[("HTTP_PROXY", &through), ("NO_PROXY", "")]);
    assert_eq!((out.as_str(), code), ("proxied\n", 0), "{err}");
    assert!(asked.lock().unwrap()[0].starts_with(&format!("POST {base}/chat/completions ")));
    let own = own.to_string();
    let (out, ..) = run_print(&base, &[("HTTP_PROXY", &through), ("NO_PROXY", &own)]);
    assert_eq!(out, "straight\n");
    assert_eq!(asked.lock().unwrap().len(), 1);
}

#[test]
fn r42_no_redirect_is_followed_and_its_target_is_reported() {
    let connections = Arc::new(Mutex::new(0));
    let count = connections.clone();
    let other_port = serve_connections(move |mut socket| {
        *count.lock().unwrap() += 1;
        read_request(&mut socket);
        let _ = socket.write_all(&stream_reply("stolen"));
    });
    let check = |status: u16, location: &str, named: &str| {
        let answer = format!("HTTP/1.1 {status} Elsewhere\r\n{location}content-length: 0\r\nconnection: close\r\n\r\n");
        let asked = Arc::new(Mutex::new(0));
        let count = asked.clone();
        let service = serve_connections(move |mut socket| {
            *count.lock().unwrap() += 1;
            read_request(&mut socket);
            let _ = socket.write_all(answer.as_bytes());
        });
        let err = run_failing(&format!("http://127.0.0.1:{service}/v1"), &[]).replace(&service.to_string(), "OWN");
        assert!(err.starts_with(&format!("aye: The provider redirected the request ({status})")), "{err}");
        assert!(err.contains(named) && err.lines().count() == 1, "{err}");
        assert!(!err.contains("hunter2") && !err.contains("token"), "{err}");
        assert_eq!(*asked.lock().unwrap(), 1, "{err}");
    };
    let to = format!("http://127.0.0.1:{other_port}");
    for status in [301, 302, 303, 307, 308] {
        check(
            status,
            &format!("location: {to}/v1/chat/completions\r\n"),
            &format!("its new address is {to}. The redirect was not followed"),
        );
    }
    check(308, &format!("location: //localhost:{other_port}/v1\r\n"), &format!("http://localhost:{other_port}"));
    check(302, "location: https://login.example.test/?token=a\r\n", "https://login.example.test. ");
    check(
        307,
        &format!("location: http://me:hunter2@localhost:{other_port}/\r\n"),
        &format!("http://localhost:{other_port}"),
    );
    check(307, "location: /v2/chat/completions\r\n", "http://127.0.0.1:OWN");
    for location in ["", "location: \r\n", "location: http://\r\n", "location: javascript:alert(1)\r\n"] {
        check(302, location, "");
    }
    assert_eq!(*connections.lock().unwrap(), 0, "the redirect was followed");
}

#[test]
fn r57_no_connection_is_made_before_the_first_message() {
    let authority = Authority::new();
    let roots = authority_file(&authority.pem);
    let service = TlsService::start(authority.issue_certificate("127.0.0.1", 2090), stream_reply("hello to you"));
    let base = format!("https://127.0.0.1:{}/v1", service.port);
    let setup = Setup::new(&["--base-url", &base, "--model", "m"]);
    write_settings(&setup, NO_TITLES);
    let watch = inotify::init(inotify::CreateFlags::CLOEXEC | inotify::CreateFlags::NONBLOCK).unwrap();
    inotify::add_watch(&watch, roots.path(), inotify::WatchFlags::CLOSE_NOWRITE).unwrap();
    let mut program = setup.env("SSL_CERT_FILE", roots.path().to_str().unwrap()).start();
    program.until("ask mode");
    program.type_text("good day");
    program.until("good day");
    program.until_condition("the authorities are read", |_| rustix::io::read(&watch, &mut [0; 64]).is_ok());
    program.wait_ms(300);
    assert_eq!(service.connection_count(), 0, "the program connected before Enter");
    // The authorities were read in advance, so the file is no longer needed.
    roots.close().unwrap();
    program.press_keys("\r");
    program.until("hello to you");
    assert_eq!(service.connection_count(), 1);
}
