//! Heads of HTTP messages as the proxy reads and forwards them.
//!
//! A head is parsed strictly and written anew, so that the server reads the request exactly as the proxy judged it.

use reqwest::Url;

/// Headers that concern one connection only. Those that `Connection` names are added.
const HOP_HEADERS: [&str; 9] = [
    "connection",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "upgrade",
];

/// Head of a request to the proxy.
#[derive(Debug, PartialEq, Eq)]
pub struct RequestHead {
    pub method: String,
    /// The requested address; for a tunnel `https://HOST:PORT/`.
    pub url: Url,
    /// True for a tunnel (`CONNECT`), whose bytes the proxy does not read.
    pub is_tunnel: bool,
    /// Bytes of the body.
    pub body_length: u64,
    /// Header lines to forward, without those that concern one connection only.
    headers: Vec<Vec<u8>>,
}

/// Returns the length of the head at the beginning of these bytes, with the empty line that ends it.
pub fn find_head_end(bytes: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, b"\r\n\r\n").map(|at| at + 4)
}

impl RequestHead {
    /// Parses a head that ends with an empty line.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(head: &[u8]) -> Result<Self, &'static str> {
        let mut lines = split_lines(head)?.into_iter();
        let request_line = lines.next().and_then(|line| std::str::from_utf8(line).ok()).ok_or("no request line")?;
        let parts: Vec<&str> = request_line.split(' ').collect();
        let [method, address, "HTTP/1.1"] = parts[..] else { return Err("an invalid request line") };
        if method.is_empty() || method.len() > 20 || !method.bytes().all(|byte| byte.is_ascii_uppercase()) {
            return Err("an invalid method");
        }
        let is_tunnel = method == "CONNECT";
        let url = if is_tunnel { parse_authority(address) } else { parse_absolute(address) };
        let url = url.ok_or("an invalid address")?;
        let fields: Vec<(String, &[u8])> = lines.map(parse_header).collect::<Option<_>>().ok_or("an invalid header")?;
        let named = |name: &'static str| fields.iter().filter(move |(known, _)| known == name);
        if named("transfer-encoding").next().is_some() {
            return Err("a body of unknown length");
        }
        let lengths: Vec<&[u8]> = named("content-length").map(|(_, line)| header_value(line)).collect();
        let body_length = match lengths[..] {
            [] => 0,
            [length] if length.iter().all(u8::is_ascii_digit) => {
                std::str::from_utf8(length).ok().and_then(|text| text.parse().ok()).ok_or("an invalid length")?
            }
            _ => return Err("an invalid length"),
        };
        let headers = forwarded_lines(&fields);
        Ok(Self { method: method.to_owned(), url, is_tunnel, body_length, headers })
    }

    /// Returns the head as the server receives it, on a connection of its own.
    pub fn to_origin_form(&self) -> Vec<u8> {
        self.to_head("", None)
    }

    /// Returns the head as a proxy receives it that sends the request to its server.
    pub fn to_absolute_form(&self, authorization: Option<&str>) -> Vec<u8> {
        self.to_head(&format!("{}://{}", self.url.scheme(), self.authority()), authorization)
    }

    /// Returns the head with which a proxy is asked for a tunnel.
    pub fn to_tunnel_request(&self, authorization: Option<&str>) -> Vec<u8> {
        let (host, port) = (self.url.host_str().unwrap_or_default(), self.url.port_or_known_default());
        let address = format!("{host}:{}", port.unwrap_or_default());
        let mut head = format!("CONNECT {address} HTTP/1.1\r\nHost: {address}\r\n");
        authorization.iter().for_each(|value| head.push_str(&format!("Proxy-Authorization: {value}\r\n")));
        head.push_str("\r\n");
        head.into_bytes()
    }

    fn to_head(&self, before_path: &str, authorization: Option<&str>) -> Vec<u8> {
        let path = match self.url.query() {
            Some(query) => format!("{}?{query}", self.url.path()),
            None => self.url.path().to_owned(),
        };
        let mut head = format!("{} {before_path}{path} HTTP/1.1\r\nHost: {}\r\n", self.method, self.authority());
        authorization.iter().for_each(|value| head.push_str(&format!("Proxy-Authorization: {value}\r\n")));
        let mut head = head.into_bytes();
        append_lines(&mut head, &self.headers);
        head
    }

    fn authority(&self) -> String {
        match self.url.port() {
            Some(port) => format!("{}:{port}", self.url.host_str().unwrap_or_default()),
            None => self.url.host_str().unwrap_or_default().to_owned(),
        }
    }
}

/// Head of a response, rewritten so that the browser closes the connection after it. Returns its status too.
///
/// # Errors
/// What is wrong with it.
pub fn rewrite_response(head: &[u8]) -> Result<(u16, Vec<u8>), &'static str> {
    let lines = split_lines(head)?;
    let (status_line, lines) = lines.split_first().ok_or("no status line")?;
    let status = response_status(status_line).ok_or("an invalid status line")?;
    // A server may send headers that are not quite valid; the browser decides about those.
    let fields: Vec<(String, &[u8])> = lines.iter().filter_map(|line| parse_header(line)).collect();
    let mut rewritten = [status_line, b"\r\n".as_slice()].concat();
    append_lines(&mut rewritten, &forwarded_lines(&fields));
    Ok((status, rewritten))
}

/// Returns the status of a response whose head begins with these bytes.
pub fn response_status(head: &[u8]) -> Option<u16> {
    let text = std::str::from_utf8(head.get(..12)?).ok()?;
    text.starts_with("HTTP/1.").then(|| text[9..].parse().ok())?
}

/// Splits a head into lines. A line break of another kind, or a zero byte, is an error.
fn split_lines(head: &[u8]) -> Result<Vec<&[u8]>, &'static str> {
    let head = head.strip_suffix(b"\r\n\r\n").ok_or("no end")?;
    let mut lines = Vec::new();
    let mut rest = head;
    while let Some(at) = memchr::memmem::find(rest, b"\r\n") {
        lines.push(&rest[..at]);
        rest = &rest[at + 2..];
    }
    lines.push(rest);
    let is_clean = |line: &&[u8]| !line.iter().any(|byte| matches!(byte, b'\r' | b'\n' | 0));
    if lines.iter().all(is_clean) { Ok(lines) } else { Err("an invalid line break") }
}

/// Returns the name of a header in lower case, and its line.
fn parse_header(line: &[u8]) -> Option<(String, &[u8])> {
    let name = &line[..memchr::memchr(b':', line)?];
    let is_token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    if name.is_empty() || !name.iter().all(is_token) {
        return None;
    }
    Some((String::from_utf8_lossy(name).to_ascii_lowercase(), line))
}

fn header_value(line: &[u8]) -> &[u8] {
    let start = memchr::memchr(b':', line).map_or(line.len(), |at| at + 1);
    line[start..].trim_ascii()
}

fn forwarded_lines(fields: &[(String, &[u8])]) -> Vec<Vec<u8>> {
    let connection = fields.iter().filter(|(name, _)| name == "connection" || name == "proxy-connection");
    let dropped: Vec<String> = connection
        .flat_map(|(_, line)| header_value(line).split(|byte| *byte == b','))
        .map(|name| String::from_utf8_lossy(name.trim_ascii()).to_ascii_lowercase())
        .filter(|name| name != "content-length" && name != "transfer-encoding")
        .collect();
    let is_forwarded = |name: &String| !HOP_HEADERS.contains(&name.as_str()) && !dropped.contains(name);
    fields.iter().filter(|(name, _)| is_forwarded(name)).map(|(_, line)| line.to_vec()).collect()
}

fn append_lines(head: &mut Vec<u8>, lines: &[Vec<u8>]) {
    for line in lines {
        head.extend_from_slice(line);
        head.extend_from_slice(b"\r\n");
    }
    head.extend_from_slice(b"Connection: close\r\n\r\n");
}

/// Parses the `HOST:PORT` of a tunnel.
fn parse_authority(text: &str) -> Option<Url> {
    let (host, port) = text.rsplit_once(':')?;
    let is_port = !port.is_empty() && port.bytes().all(|byte| byte.is_ascii_digit());
    if !is_port || host.is_empty() || host.contains(['/', '?', '#', '@', '\\']) {
        return None;
    }
    Url::parse(&format!("https://{text}/")).ok().filter(|url| url.path() == "/" && url.port() != Some(0))
}

/// Parses an absolute address. An encrypted connection needs a tunnel.
fn parse_absolute(text: &str) -> Option<Url> {
    Url::parse(text).ok().filter(|url| url.scheme() == "http" && url.host_str().is_some() && url.port() != Some(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(head: &str) -> Result<RequestHead, &'static str> {
        RequestHead::parse(head.as_bytes())
    }

    #[test]
    fn a_request_is_forwarded_without_what_concerns_the_connection() {
        let head = parse(
            "POST http://a.example:8080/x?y=1#z HTTP/1.1\r\nHost: other.example\r\nX-Kept: 1\r\nConnection: X-Own, close\r\n\
             X-Own: 2\r\nProxy-Authorization: Basic eA==\r\nUpgrade: h2c\r\nContent-Length: 3\r\n\r\n",
        )
        .unwrap();
        assert_eq!((head.body_length, head.is_tunnel), (3, false));
        assert_eq!(
            String::from_utf8(head.to_origin_form()).unwrap(),
            "POST /x?y=1 HTTP/1.1\r\nHost: a.example:8080\r\nX-Kept: 1\r\nContent-Length: 3\r\nConnection: close\r\n\r\n"
        );
        let proxied = String::from_utf8(head.to_absolute_form(Some("Basic b"))).unwrap();
        let start =
            "POST http://a.example:8080/x?y=1 HTTP/1.1\r\nHost: a.example:8080\r\nProxy-Authorization: Basic b\r\n";
        assert!(proxied.starts_with(start) && !proxied.contains("eA=="), "{proxied}");
        let tunnel = parse("CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\n\r\n").unwrap();
        assert_eq!((tunnel.is_tunnel, tunnel.url.as_str()), (true, "https://[::1]/"));
        assert_eq!(tunnel.to_tunnel_request(None), b"CONNECT [::1]:443 HTTP/1.1\r\nHost: [::1]:443\r\n\r\n");
        let tunnel = parse("CONNECT a.example:80 HTTP/1.1\r\n\r\n").unwrap();
        assert_eq!(tunnel.url.port_or_known_default(), Some(80));
    }

    #[test]
    fn refuses_requests_that_can_be_read_in_two_ways() {
        let with_headers = |headers: &str| format!("GET http://a.example/ HTTP/1.1\r\n{headers}\r\n\r\n");
        let heads = [
            "GET /relative HTTP/1.1\r\n\r\n".to_owned(),
            "GET https://a.example/ HTTP/1.1\r\n\r\n".into(),
            "GET file:///etc/passwd HTTP/1.1\r\n\r\n".into(),
            "GET http://a.example/ HTTP/1.0\r\n\r\n".into(),
            "GET  http://a.example/ HTTP/1.1\r\n\r\n".into(),
            "GET http://a.example/ x HTTP/1.1\r\n\r\n".into(),
            "get http://a.example/ HTTP/1.1\r\n\r\n".into(),
            "GET http://a.example:0/ HTTP/1.1\r\n\r\n".into(),
            "\r\n\r\n".into(),
            "CONNECT a.example HTTP/1.1\r\n\r\n".into(),
            "CONNECT a.example:443/x HTTP/1.1\r\n\r\n".into(),
            "CONNECT user@a.example:443 HTTP/1.1\r\n\r\n".into(),
            "CONNECT a.example:4 43 HTTP/1.1\r\n\r\n".into(),
            "CONNECT :443 HTTP/1.1\r\n\r\n".into(),
            with_headers("Content-Length: 3\r\nContent-Length: 4"),
            with_headers("Content-Length: 3\r\nTransfer-Encoding: chunked"),
            with_headers("Transfer-Encoding: chunked"),
            with_headers("Content-Length: -1"),
            with_headers("Content-Length: +3"),
            with_headers("Content-Length: 3, 3"),
            with_headers("Content-Length: 99999999999999999999999"),
            with_headers("Content-Length : 3"),
            with_headers(" folded: 1"),
            with_headers("A: 1\nB: 2"),
            with_headers("A: 1\rB: 2"),
            with_headers("A: 1\0"),
            with_headers("no colon"),
        ];
        for head in heads {
            assert!(parse(&head).is_err(), "{head:?}");
        }
    }

    #[test]
    fn a_response_closes_its_connection() {
        let (status, head) = rewrite_response(
            b"HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nKeep-Alive: timeout=5\r\nnonsense\r\nA: b\r\nContent-Length: 2\r\n\r\n",
        )
        .unwrap();
        assert_eq!(status, 200);
        assert_eq!(head, b"HTTP/1.1 200 OK\r\nA: b\r\nContent-Length: 2\r\nConnection: close\r\n\r\n");
        for head in ["SSH-2.0-x\r\n\r\n", "HTTP/1.1\r\n\r\n", "HTTP/1.1 2x0 \r\n\r\n", "HTTP/2 200 OK..\r\n\r\n"] {
            assert!(rewrite_response(head.as_bytes()).is_err(), "{head}");
        }
    }
}
