//! Connections to a provider: they are reused, the provider closes one after a reply, and an answer arrives before the
//! whole request was sent.

use super::{collect, format_reply, request_with};
use aye::llm::{Llm, OpenAi, Settings};
use futures::StreamExt;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc;

const REPLY: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hello\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

/// Reads the head and the whole body of a request; `None` if the client closed the connection.
fn read_request(socket: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let (mut bytes, mut buffer) = (Vec::new(), vec![0; 1 << 16]);
    loop {
        let head = bytes.windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(at) = head {
            let head = String::from_utf8_lossy(&bytes[..at]).to_lowercase();
            let length: usize = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok())?;
            if bytes.len() == at + 4 + length {
                return Some((head, bytes.split_off(at + 4)));
            }
        }
        match socket.read(&mut buffer) {
            Ok(count @ 1..) => bytes.extend_from_slice(&buffer[..count]),
            Ok(0) | Err(_) => return None,
        }
    }
}

fn send_reply(socket: &mut TcpStream) {
    let length = REPLY.len();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {length}\r\n\r\n");
    socket.write_all(format!("{head}{REPLY}").as_bytes()).unwrap();
}

/// Starts a provider that handles each connection with this function. Returns a client of the provider, and the
/// receiver of what the function sends.
fn serve<T: Send + 'static>(
    handle: impl Fn(TcpStream, &mpsc::Sender<T>) + Send + 'static,
) -> (OpenAi, mpsc::Receiver<T>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let (sender, reports) = mpsc::channel();
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            handle(socket.unwrap(), &sender);
        }
    });
    (OpenAi::new(Settings::new(&base)), reports)
}

#[tokio::test]
async fn connection_closed_by_the_provider_is_replaced_without_a_second_request() {
    // On a busy machine a request may be sent before the end of the connection is noticed. It is then sent again with a
    // notice, as after any lost connection, but not each time.
    let mut tries = 0;
    loop {
        let (model, seen) = serve(|mut socket, tell| {
            if read_request(&mut socket).is_some() {
                send_reply(&mut socket);
                // Closed without an announcement.
                drop(socket);
                tell.send(()).unwrap();
            }
        });
        let mut replies = Vec::new();
        for _ in 0..3 {
            replies.push(format_reply(&collect(&model).await));
            seen.recv().unwrap();
        }
        assert!(seen.try_recv().is_err(), "three requests, three answers");
        tries += 1;
        // The `.` stands for the end of the reply.
        if replies.iter().all(|reply| reply == "hello.") {
            return;
        }
        assert!(tries < 3 && replies.iter().all(|reply| reply.ends_with("hello.")), "{replies:?}");
    }
}

#[tokio::test]
async fn long_request_has_a_length_and_reuses_the_connection() {
    let (model, seen) = serve(|mut socket, tell| {
        while let Some((head, body)) = read_request(&mut socket) {
            tell.send((socket.peer_addr().unwrap(), head, body)).unwrap();
            send_reply(&mut socket);
        }
    });
    let long = "many \u{6f22}\u{5b57} ".repeat(300_000);
    for text in ["short", &long, "short again"] {
        let out: Vec<_> = model.stream(request_with(text)).collect().await;
        assert_eq!(format_reply(&out), "hello.");
    }
    let (first, ..) = seen.recv().unwrap();
    let (second, head, body) = seen.recv().unwrap();
    assert!(!head.contains("transfer-encoding"), "{head}");
    let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(body["messages"][0]["content"].as_str().unwrap(), long);
    let (third, ..) = seen.recv().unwrap();
    assert_eq!((first, second), (second, third), "one connection");
}

#[tokio::test]
async fn refusal_before_the_end_of_the_request_is_reported() {
    let (model, seen) = serve(|mut socket, tell| {
        let mut buffer = [0; 4096];
        let _ = socket.read(&mut buffer).unwrap();
        let body = "{\"error\":{\"message\":\"that is far too much\",\"code\":\"too_large\"}}";
        let head = "HTTP/1.1 413 Payload Too Large\r\ncontent-type: application/json\r\nconnection: close";
        let length = body.len();
        let _ = socket.write_all(format!("{head}\r\ncontent-length: {length}\r\n\r\n{body}").as_bytes());
        let _ = socket.shutdown(Shutdown::Write);
        tell.send(()).unwrap();
        // The rest of the request is read, as a gateway does, so that the answer is not lost with the connection.
        while matches!(socket.read(&mut buffer), Ok(1..)) {}
    });
    let out: Vec<_> = model.stream(request_with(&"words ".repeat(2_000_000))).collect().await;
    assert!(format_reply(&out).contains("that is far too much"), "{}", format_reply(&out));
    seen.recv().unwrap();
    assert!(seen.try_recv().is_err(), "it receives one request");
}
