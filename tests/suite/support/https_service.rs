//! A service for requests of tools behind TLS, with paths that answer like those of httpbin.

use super::tls_service::{ServerCertificate, TlsService};
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::json;
use std::io::Write;
use std::sync::LazyLock;
use std::time::Duration;

/// Bytes that the answer to `/gzip` has when decompressed.
const BOMB_BYTES: usize = 20 << 20;
/// The compressed text, which takes long to make.
static BOMB: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    for _ in 0..BOMB_BYTES >> 20 {
        encoder.write_all(&[b'a'; 1 << 20]).unwrap();
    }
    encoder.finish().unwrap()
});

/// Starts the service.
pub fn start_https_service(certificate: ServerCertificate) -> TlsService {
    TlsService::start_with(certificate, answer)
}

/// Answers one request:
///
/// - `/get`, `/post`: the request as JSON
/// - `/status/N`: this status
/// - `/redirect-to?url=URL`: a redirect
/// - `/bytes/N`: text of this length
/// - `/gzip`: a compressed text of [`BOMB_BYTES`]
/// - `/stream/N`: this many lines, each in a piece of its own
/// - `/delay/N`: an answer after this many seconds
/// - `/basic-auth/USER/PASSWORD`, `/bearer`: status 401 without a login
fn answer(request: &str) -> Vec<u8> {
    let (head, body) = request.split_once("\r\n\r\n").unwrap_or((request, ""));
    let mut words = head.split(' ');
    let (method, address) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let (path, query) = address.split_once('?').unwrap_or((address, ""));
    let login = header(head, "authorization");
    let described = json!({ "method": method, "address": address, "login": login.is_some(), "body": body }).to_string();
    let described = respond("200 OK", "Content-Type: application/json\r\n", described.as_bytes());
    let text = "Content-Type: text/plain\r\n";
    let parts: Vec<&str> = path.split('/').skip(1).collect();
    match parts.as_slice() {
        ["get" | "post"] => described,
        ["status", code] => respond(&format!("{code} Status"), text, b"as asked"),
        ["redirect-to"] => {
            let url = reqwest::Url::parse(&format!("https://h/?{query}")).unwrap();
            let to = url.query_pairs().find(|(name, _)| name == "url").map(|(_, value)| value.into_owned());
            respond("302 Found", &format!("Location: {}\r\n", to.unwrap_or_default()), b"")
        }
        ["bytes", count] => {
            respond("200 OK", text, &b"0123456789\n".repeat(count.parse::<usize>().unwrap().div_ceil(11)))
        }
        ["gzip"] => respond("200 OK", &format!("{text}Content-Encoding: gzip\r\n"), &BOMB),
        ["stream", count] => {
            let head = format!("HTTP/1.1 200 OK\r\n{text}Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n");
            let pieces = (0..count.parse::<usize>().unwrap()).map(|number| {
                let line = format!("line {number}\n");
                format!("{:x}\r\n{line}\r\n", line.len())
            });
            (head + &pieces.collect::<String>() + "0\r\n\r\n").into_bytes()
        }
        ["delay", seconds] => {
            std::thread::sleep(Duration::from_secs(seconds.parse().unwrap()));
            described
        }
        ["basic-auth", ..] if login.is_some_and(|login| login.starts_with("Basic ")) => described,
        ["bearer"] if login.is_some_and(|login| login.starts_with("Bearer ")) => described,
        ["basic-auth", ..] | ["bearer"] => respond("401 Unauthorized", text, b"log in"),
        _ => respond("404 Not Found", text, b"no such path"),
    }
}

/// Returns the value of a header.
pub fn header<'a>(head: &'a str, name: &str) -> Option<&'a str> {
    head.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case(name).then_some(value.trim())
    })
}

fn respond(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let length = body.len();
    let mut response =
        format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n").into_bytes();
    response.extend_from_slice(body);
    response
}
