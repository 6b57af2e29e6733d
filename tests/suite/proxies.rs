//! Proxies between the program and a provider: failing, unreachable and invalid proxies are reported at once, and none
//! is bypassed.

use crate::provider_tls::{KEY, PASSWORD, authority_file, own_address, run_failing, run_print};
use crate::support::closed_port::reserve_closed_port;
use crate::support::program::Setup;
use crate::support::report_skipped;
use crate::support::stored_files::write_settings;
use crate::support::tls_service::{Authority, TlsService, read_request, serve_connections, stream_reply};
use std::io::{Read, Write};
use std::net::{IpAddr, TcpStream};
use std::sync::{Arc, Mutex};

/// Starts a proxy that answers every request with these bytes, or sends nothing and keeps the connection open if there
/// are none. Returns its port and the requests it received.
pub fn start_proxy(answer: &'static [u8]) -> (u16, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = asked.clone();
    let port = serve_connections(move |mut socket| {
        let head = read_request(&mut socket);
        log.lock().unwrap().push(head);
        let _ = socket.write_all(answer);
        if answer.is_empty() {
            // It sends nothing and keeps the connection open.
            read_request(&mut socket);
        }
    });
    (port, asked)
}

/// Starts a proxy that connects to this port for any target. It answers the first request with `first`, unless that is
/// empty. Returns its own port and the requests it received.
fn tunnel_to(port: u16, first: &'static [u8]) -> (u16, Arc<Mutex<Vec<String>>>) {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = asked.clone();
    let proxy_port = serve_connections(move |mut near| {
        // Byte by byte, so that no byte after the head is consumed.
        let mut head = Vec::new();
        let mut byte = [0];
        while !head.ends_with(b"\r\n\r\n") && matches!(near.read(&mut byte), Ok(1)) {
            head.push(byte[0]);
        }
        log.lock().unwrap().push(String::from_utf8_lossy(&head).into_owned());
        if log.lock().unwrap().len() == 1 && !first.is_empty() {
            let _ = near.write_all(first);
            return;
        }
        let mut far = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let _ = near.write_all(b"HTTP/1.1 200 OK\r\n\r\n");
        let (mut from_far, mut to_near) = (far.try_clone().unwrap(), near.try_clone().unwrap());
        std::thread::spawn(move || {
            let _ = std::io::copy(&mut from_far, &mut to_near);
            let _ = to_near.shutdown(std::net::Shutdown::Both);
        });
        let _ = std::io::copy(&mut near, &mut far);
        let _ = far.shutdown(std::net::Shutdown::Both);
    });
    (proxy_port, asked)
}

#[test]
fn r57_proxy_tunnels_and_sees_neither_key_nor_message() {
    let authority = Authority::new();
    let roots = authority_file(&authority.pem);
    let service = TlsService::start(authority.issue_certificate("model.example.test", 2090), stream_reply("hello"));
    for variable in ["HTTPS_PROXY", "https_proxy", "ALL_PROXY"] {
        let (port, asked) = tunnel_to(service.port, b"");
        let proxy = format!("http://me:{PASSWORD}@127.0.0.1:{port}");
        let environment = [("SSL_CERT_FILE", roots.path().to_str().unwrap()), (variable, &proxy)];
        let (out, err, code) = run_print("https://model.example.test/v1", &environment);
        assert_eq!((out.as_str(), err.as_str(), code), ("hello\n", "", 0), "{variable}");
        let asked = asked.lock().unwrap().join("");
        assert!(asked.starts_with("CONNECT model.example.test:443 HTTP/1.1\r\n"), "{asked}");
        assert!(asked.to_lowercase().contains("proxy-authorization: basic "), "{asked}");
        assert!(!asked.contains(KEY) && !asked.contains("hi"), "{asked}");
    }
    assert_eq!(service.requests.lock().unwrap().len(), 3);
}

/// Returns the error with this proxy in this variable.
fn error_with_proxy(variable: &str, proxy: &str) -> String {
    run_failing("https://model.example.test/v1", &[(variable, proxy)])
}

#[test]
fn r57_refusing_proxy_is_reported_with_address_and_setting_but_no_password() {
    let wants: &[u8] = b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n";
    let forbids: &[u8] = b"HTTP/1.1 403 Forbidden\r\ncontent-length: 0\r\n\r\n";
    for (variable, answer, reason) in [
        (
            "HTTPS_PROXY",
            wants,
            "requires a valid user name and password (407). Add them to the address of the proxy, for example \
             http://USER:PASSWORD@HOST:PORT.",
        ),
        ("https_proxy", forbids, "refused the connection (403). Allow it there, or correct https_proxy."),
        ("ALL_PROXY", forbids, "refused the connection (403). Allow it there, or correct ALL_PROXY."),
    ] {
        let (port, asked) = start_proxy(answer);
        let err = error_with_proxy(variable, &format!("http://me:{PASSWORD}@127.0.0.1:{port}"));
        assert_eq!(
            err,
            format!(
                "aye: Cannot reach https://model.example.test: the proxy http://127.0.0.1:{port} (set by {variable}) \
                 {reason}\n"
            )
        );
        // The program asks once more for the proxy's status, since the connection does not keep it, but never for the
        // reply.
        let asked = asked.lock().unwrap();
        assert!(asked.len() <= 2 && asked.iter().all(|asked| !asked.contains(KEY)), "{asked:?}");
    }
    // A proxy that sends nothing is reported like any other silence.
    let (port, asked) = start_proxy(b"");
    let err = error_with_proxy("HTTPS_PROXY", &format!("http://me:{PASSWORD}@127.0.0.1:{port}"));
    assert_eq!(
        err,
        "aye: The provider sent no data for 3 s. To wait longer, increase `idle_seconds` of the profile.\n"
    );
    assert_eq!(asked.lock().unwrap().len(), 1);
}

#[test]
fn proxy_that_refuses_a_plain_request_is_reported_at_once() {
    for (answer, reason) in [
        (
            &b"HTTP/1.1 407 Proxy Authentication Required\r\ncontent-length: 0\r\n\r\n"[..],
            "requires a valid user name and password (407).",
        ),
        (
            b"HTTP/1.1 403 Forbidden\r\ncontent-type: text/html\r\ncontent-length: 33\r\n\r\n<html><title>Not this one</title>",
            "or the server after it refused the request (403): the server sent a web page titled \u{201c}Not this one\u{201d}. Allow it \
             there, or correct HTTP_PROXY.",
        ),
    ] {
        let (port, asked) = start_proxy(answer);
        let proxy = format!("http://me:{PASSWORD}@127.0.0.1:{port}");
        let err = run_failing("http://model.example.test/v1", &[("HTTP_PROXY", &proxy)]);
        let last = err.lines().last().unwrap_or_default();
        let start = format!(
            "aye: Cannot reach http://model.example.test: the proxy http://127.0.0.1:{port} (set by HTTP_PROXY) {reason}"
        );
        assert!(last.starts_with(&start), "{err}");
        assert_eq!(asked.lock().unwrap().len(), 1, "{err}");
    }
}

#[test]
fn unreachable_proxy_is_reported_at_once_with_address_and_setting() {
    for scheme in ["http", "socks5", "socks5h", "socks4"] {
        for base in ["https://192.0.2.1/v1", "http://192.0.2.1/v1"] {
            let (_closed, address) = reserve_closed_port();
            let proxy = format!("{scheme}://me:{PASSWORD}@{address}");
            let err = run_failing(base, &[("ALL_PROXY", &proxy)]);
            let last = err.lines().last().unwrap_or_default();
            let origin = base.trim_end_matches("/v1");
            let start = format!(
                "aye: Cannot reach {origin}: the proxy {scheme}://{address} (set by ALL_PROXY) cannot be reached: "
            );
            assert!(last.starts_with(&start), "{scheme} {base}: {err}");
            assert!(last.ends_with(". Start it, or correct ALL_PROXY."), "{err}");
            assert!(!err.contains("trying again"), "{err}");
        }
    }
}

#[test]
fn silent_proxy_is_reported_with_address_and_setting() {
    for scheme in ["http", "socks5h"] {
        let (port, _) = start_proxy(b"");
        let through = format!("{scheme}://127.0.0.1:{port}");
        let setup = Setup::new(&["-p", "--profile", "way", "hi"]);
        write_settings(
            &setup,
            &format!(
                "[profiles.way]\nbase_url = \"https://model.example.test/v1\"\nmodel = \"m\"\nconnect_seconds = 1\nproxy = \"{through}\"\n"
            ),
        );
        let (out, err, code) = setup.run_piped("");
        let expected = format!(
            "aye: Cannot reach https://model.example.test: the proxy {through} (set by the profile's `proxy`) cannot be \
             reached: it does not answer in time. Start it, or correct the profile's `proxy`.\n"
        );
        assert_eq!((out.as_str(), err, code), ("", expected, 1));
    }
}

#[test]
fn refusing_socks_proxy_is_reported_at_once() {
    // The first accepts no authentication method; the second does not allow the connection.
    let no_method: &[&[u8]] = &[b"\x05\xff"];
    let not_allowed: &[&[u8]] = &[b"\x05\x00", b"\x05\x02\x00\x01\x00\x00\x00\x00\x00\x00"];
    for answers in [no_method, not_allowed] {
        let port = serve_connections(move |mut socket| {
            for answer in answers {
                let _ = socket.read(&mut [0; 512]);
                let _ = socket.write_all(answer);
            }
            let _ = socket.read(&mut [0; 512]);
        });
        let err = error_with_proxy("HTTPS_PROXY", &format!("socks5h://127.0.0.1:{port}"));
        let start = format!(
            "aye: Cannot reach https://model.example.test: the proxy socks5h://127.0.0.1:{port} (set by HTTPS_PROXY) \
             refused the connection: "
        );
        assert!(err.starts_with(&start) && err.lines().count() == 1, "{err}");
    }
}

#[test]
fn invalid_proxy_is_an_error_and_nothing_is_connected() {
    let own = own_address();
    let direct_connections = Arc::new(Mutex::new(0));
    let listener = std::net::TcpListener::bind((own.unwrap_or(IpAddr::from([127, 0, 0, 1])), 0)).unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let count = direct_connections.clone();
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            *count.lock().unwrap() += 1;
            let mut socket = socket.unwrap();
            read_request(&mut socket);
            let _ = socket.write_all(&stream_reply("straight"));
        }
    });
    for wrong in
        ["ftp://127.0.0.1:1", "http://me:hunter2@", "http://127.0.0.1:99999", "127.0.0.1:port", " ", "not a proxy"]
    {
        if own.is_some() {
            let err = run_failing(&base, &[("HTTP_PROXY", wrong), ("NO_PROXY", "")]);
            let last = err.lines().last().unwrap_or_default();
            assert!(last.starts_with("aye: Cannot use HTTP_PROXY: it is not the address of a proxy."), "{err}");
            assert!(!err.contains("hunter2"), "{err}");
        }
        // In a profile the proxy applies to local addresses too.
        let setup = Setup::new(&["-p", "--profile", "way", "hi"]);
        let profile = format!("[profiles.way]\nbase_url = \"{base}\"\nmodel = \"m\"\nproxy = \"{wrong}\"\n");
        write_settings(&setup, &profile);
        let (out, err, code) = setup.run_piped("");
        assert_eq!((out.as_str(), code), ("", 2), "{err}");
        assert!(err.contains("profiles.way.proxy") && !err.contains("hunter2"), "{err}");
    }
    assert_eq!(*direct_connections.lock().unwrap(), 0, "there was a direct connection");
    if own.is_none() {
        report_skipped("this machine has no address but the loopback");
    }
    // A host in `NO_PROXY` is not affected.
    if let Some(own) = own {
        let (out, err, _) = run_print(&base, &[("HTTP_PROXY", "ftp://h"), ("NO_PROXY", &own.to_string())]);
        assert_eq!(out, "straight\n", "{err}");
    }
}

#[test]
fn r49_proxy_that_fails_once_is_retried_with_a_notice() {
    let authority = Authority::new();
    let roots = authority_file(&authority.pem);
    let service = TlsService::start(authority.issue_certificate("model.example.test", 2090), stream_reply("hello"));
    let failed: &[u8] = b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n";
    for answer in [failed, b"220 mail.example.test ESMTP\r\n"] {
        let (port, _) = tunnel_to(service.port, answer);
        let proxy = format!("http://me:{PASSWORD}@127.0.0.1:{port}");
        let environment = [("SSL_CERT_FILE", roots.path().to_str().unwrap()), ("HTTPS_PROXY", &proxy)];
        let (out, err, code) = run_print("https://model.example.test/v1", &environment);
        // The end of the notice is not compared: the proxy may be able to connect when the program asks for its status.
        let notice = format!(
            "aye: Cannot connect to https://model.example.test: the proxy http://127.0.0.1:{port} (set by HTTPS_PROXY) could \
             not connect"
        );
        assert!(err.starts_with(&notice) && err.trim_end().ends_with("; trying again in 3 s"), "{err}");
        assert_eq!((out.as_str(), err.lines().count(), code), ("hello\n", 1, 0));
    }
}

#[test]
fn r57_local_addresses_bypass_every_proxy() {
    let (port, asked) = start_proxy(b"HTTP/1.1 502 Bad Gateway\r\ncontent-length: 0\r\n\r\n");
    let through = format!("http://127.0.0.1:{port}");
    let service = serve_connections(|mut socket| {
        read_request(&mut socket);
        let _ = socket.write_all(&stream_reply("hello"));
    });
    for host in ["127.0.0.1", "localhost"] {
        let all = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"].map(|name| (name, through.as_str()));
        let environment = [&all[..], &[("NO_PROXY", "")]].concat();
        let (out, err, code) = run_print(&format!("http://{host}:{service}/v1"), &environment);
        assert_eq!((out.as_str(), err.as_str(), code), ("hello\n", "", 0), "{host}");
    }
    assert_eq!(asked.lock().unwrap().len(), 0);
}
