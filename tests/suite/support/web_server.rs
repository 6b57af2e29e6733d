//! A web server on the loopback interface that counts its connections and keeps the requests.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

/// The pages of a server: each path with its whole response.
type Pages = Mutex<Vec<(String, Vec<u8>)>>;

/// A server that answers a path with a whole response. The path `/never` gets no answer.
pub struct WebServer {
    pub port: u16,
    connections: Arc<AtomicUsize>,
    pages: Arc<Pages>,
    requests: Arc<Mutex<Vec<String>>>,
}

impl WebServer {
    pub fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = Self { port, connections: Arc::default(), pages: Arc::default(), requests: Arc::default() };
        let (count, pages, requests) = (server.connections.clone(), server.pages.clone(), server.requests.clone());
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                count.fetch_add(1, Ordering::SeqCst);
                let (pages, requests) = (pages.clone(), requests.clone());
                std::thread::spawn(move || serve_page(stream, &pages, &requests));
            }
        });
        server
    }

    /// Adds a page; `head` is its status with its headers.
    pub fn with_page(self, path: &str, head: &str, body: &[u8]) -> Self {
        let mut response =
            format!("HTTP/1.1 {head}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len()).into_bytes();
        response.extend_from_slice(body);
        self.pages.lock().unwrap().push((path.to_owned(), response));
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

/// Returns whether a request is complete.
fn is_complete(request: &[u8]) -> bool {
    let text = String::from_utf8_lossy(request);
    let Some((head, body)) = text.split_once("\r\n\r\n") else { return false };
    let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
    body.len() >= length.unwrap_or(0)
}

fn serve_page(mut stream: TcpStream, pages: &Pages, requests: &Mutex<Vec<String>>) {
    let mut request = Vec::new();
    let mut buffer = [0; 1024];
    while !is_complete(&request) {
        match stream.read(&mut buffer) {
            Ok(count @ 1..) => request.extend_from_slice(&buffer[..count]),
            Ok(0) | Err(_) => return,
        }
    }
    let request = String::from_utf8_lossy(&request).into_owned();
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    requests.lock().unwrap().push(request);
    if path == "/never" {
        let _ = stream.read(&mut buffer);
        return;
    }
    let response = pages.lock().unwrap().iter().find(|(known, _)| *known == path).map(|(_, response)| response.clone());
    let missing =
        b"HTTP/1.1 404 Not Found\r\nContent-Type: text/plain\r\nContent-Length: 4\r\nConnection: close\r\n\r\nnone";
    let _ = stream.write_all(&response.unwrap_or_else(|| missing.to_vec()));
}
