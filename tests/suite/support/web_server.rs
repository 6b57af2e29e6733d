//! A web server on the loopback interface that counts its connections and keeps the requests.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// What a server answers, as whole responses.
enum Responses {
    /// The response of each path.
    ByPath(Vec<(String, Vec<u8>)>),
    /// The response of each connection, whatever its path; of further ones the last. An empty one is never sent.
    InOrder(Vec<String>),
}

impl Responses {
    /// Returns the response to this request of this connection, counted from 0; `None` if it gets no answer.
    fn find(&self, request: &str, connection: usize) -> Option<Vec<u8>> {
        let path = request.split(' ').nth(1).unwrap_or_default();
        match self {
            Self::ByPath(_) if path == "/never" => None,
            Self::ByPath(pages) => {
                let page = pages.iter().find(|(known, _)| known == path).map(|(_, response)| response.clone());
                Some(page.unwrap_or_else(|| whole_response("404 Not Found\r\nContent-Type: text/plain", b"none")))
            }
            Self::InOrder(responses) => {
                let response = &responses[connection.min(responses.len() - 1)];
                (!response.is_empty()).then(|| response.clone().into_bytes())
            }
        }
    }
}

/// A server that answers with whole responses, each on a connection of its own.
pub struct WebServer {
    pub port: u16,
    connections: Arc<AtomicUsize>,
    responses: Arc<Mutex<Responses>>,
    requests: Arc<Mutex<Vec<String>>>,
}

impl WebServer {
    /// Starts a server for pages. The path `/never` gets no answer.
    pub fn start() -> Self {
        Self::start_with(listen_on_loopback(), Responses::ByPath(Vec::new()))
    }

    /// Starts a server for pages on all addresses of this machine: those of IPv4, and of IPv6 if it has any.
    pub fn start_on_all_addresses() -> Self {
        let listener = TcpListener::bind("[::]:0").or_else(|_| TcpListener::bind("0.0.0.0:0")).unwrap();
        Self::start_with(listener, Responses::ByPath(Vec::new()))
    }

    /// Starts a server that answers with these responses in order, and the last one again. An empty one never answers.
    pub fn with_responses(responses: &[&str]) -> Self {
        let responses = responses.iter().map(|response| (*response).to_owned()).collect();
        Self::start_with(listen_on_loopback(), Responses::InOrder(responses))
    }

    fn start_with(listener: TcpListener, responses: Responses) -> Self {
        let port = listener.local_addr().unwrap().port();
        let responses = Arc::new(Mutex::new(responses));
        let server = Self { port, connections: Arc::default(), responses, requests: Arc::default() };
        let (count, responses, requests) =
            (server.connections.clone(), server.responses.clone(), server.requests.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let connection = count.fetch_add(1, Ordering::SeqCst);
                let (responses, requests) = (responses.clone(), requests.clone());
                std::thread::spawn(move || serve(stream, connection, &responses, &requests));
            }
        });
        server
    }

    /// Adds a page; `head` is its status with its headers.
    pub fn with_page(self, path: &str, head: &str, body: &[u8]) -> Self {
        if let Responses::ByPath(pages) = &mut *self.responses.lock().unwrap() {
            pages.push((path.to_owned(), whole_response(head, body)));
        }
        self
    }

    pub fn url(&self, path: &str) -> String {
        format!("http://127.0.0.1:{}{path}", self.port)
    }

    pub fn connection_count(&self) -> usize {
        self.connections.load(Ordering::SeqCst)
    }

    /// The requests so far, whole.
    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

fn listen_on_loopback() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").unwrap()
}

fn whole_response(head: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

/// Returns whether a request is complete.
fn is_complete(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    body.len() >= length.unwrap_or(0)
}

fn serve(mut stream: TcpStream, connection: usize, responses: &Mutex<Responses>, requests: &Mutex<Vec<String>>) {
    let mut request = Vec::new();
    let mut buffer = [0; 4096];
    while !is_complete(&request) {
        match stream.read(&mut buffer) {
            Ok(count @ 1..) => request.extend_from_slice(&buffer[..count]),
            Ok(0) | Err(_) => return,
        }
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    requests.lock().unwrap().push(request.clone());
    let response = responses.lock().unwrap().find(&request, connection);
    match response {
        Some(response) => _ = stream.write_all(&response),
        // Until the client gives up.
        None => _ = stream.read(&mut buffer),
    }
}
