//! What a connection may do between and within requests: it is used again, it is gone when it is to be used again, it
//! is answered before all was said.

use super::{asks, collect, told};
use aye::llm::{Llm, OpenAi, Settings};
use futures::StreamExt;
use std::io::{Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::mpsc;

const REPLY: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"hello\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n";

/// The head of a request and its body as long as it says; nothing where the other side hung up.
fn request(socket: &mut TcpStream) -> Option<(String, Vec<u8>)> {
    let (mut said, mut buffer) = (Vec::new(), vec![0; 1 << 16]);
    loop {
        let head = said.windows(4).position(|four| four == b"\r\n\r\n");
        if let Some(at) = head {
            let head = String::from_utf8_lossy(&said[..at]).to_lowercase();
            let length: usize = head.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok())?;
            if said.len() == at + 4 + length {
                return Some((head, said.split_off(at + 4)));
            }
        }
        match socket.read(&mut buffer) {
            Ok(count @ 1..) => said.extend_from_slice(&buffer[..count]),
            Ok(0) | Err(_) => return None,
        }
    }
}

fn answer(socket: &mut TcpStream) {
    let length = REPLY.len();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {length}\r\n\r\n");
    socket.write_all(format!("{head}{REPLY}").as_bytes()).unwrap();
}

/// What a service does with each connection, and what it tells of.
fn serve<T: Send + 'static>(
    each: impl Fn(TcpStream, &mpsc::Sender<T>) + Send + 'static,
) -> (OpenAi, mpsc::Receiver<T>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            each(socket.unwrap(), &tell);
        }
    });
    (OpenAi::new(Settings::new(&base)), told)
}

#[tokio::test]
async fn a_connection_that_the_service_closed_meanwhile_is_made_anew_and_nothing_is_asked_twice() {
    // Where the machine is busy a request may go out before the end of the connection is noticed. Then it is sent once
    // more, as after any connection that breaks off, and the person is told; not each time.
    let mut tries = 0;
    loop {
        let (model, seen) = serve(|mut socket, tell| {
            if request(&mut socket).is_some() {
                answer(&mut socket);
                // It said nothing of closing.
                drop(socket);
                tell.send(()).unwrap();
            }
        });
        let mut heard = Vec::new();
        for _ in 0..3 {
            heard.push(told(&collect(&model).await));
            seen.recv().unwrap();
        }
        assert!(seen.try_recv().is_err(), "three requests, three answers");
        tries += 1;
        if heard.iter().all(|words| words == "hello.") {
            return;
        }
        assert!(tries < 3 && heard.iter().all(|words| words.ends_with("hello.")), "{heard:?}");
    }
}

#[tokio::test]
async fn a_long_talk_says_how_long_it_is_and_comes_whole_over_the_same_connection() {
    let (model, seen) = serve(|mut socket, tell| {
        while let Some((head, body)) = request(&mut socket) {
            tell.send((socket.peer_addr().unwrap(), head, body)).unwrap();
            answer(&mut socket);
        }
    });
    let words = "many \u{6f22}\u{5b57} ".repeat(300_000);
    for text in ["short", &words, "short again"] {
        let out: Vec<_> = model.stream(asks(text)).collect().await;
        assert_eq!(told(&out), "hello.");
    }
    let (first, ..) = seen.recv().unwrap();
    let (second, head, body) = seen.recv().unwrap();
    assert!(!head.contains("transfer-encoding"), "{head}");
    let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
    assert_eq!(body["messages"][0]["content"].as_str().unwrap(), words);
    let (third, ..) = seen.recv().unwrap();
    assert_eq!((first, second), (second, third), "one connection");
}

#[tokio::test]
async fn a_service_that_refuses_before_all_was_said_is_heard() {
    let (model, seen) = serve(|mut socket, tell| {
        let mut buffer = [0; 4096];
        let _ = socket.read(&mut buffer).unwrap();
        let words = "{\"error\":{\"message\":\"that is far too much\",\"code\":\"too_large\"}}";
        let head = "HTTP/1.1 413 Payload Too Large\r\ncontent-type: application/json\r\nconnection: close";
        let length = words.len();
        let _ = socket.write_all(format!("{head}\r\ncontent-length: {length}\r\n\r\n{words}").as_bytes());
        let _ = socket.shutdown(Shutdown::Write);
        tell.send(()).unwrap();
        // What still comes is read, as a gateway does, so that the answer is not lost with the connection.
        while matches!(socket.read(&mut buffer), Ok(1..)) {}
    });
    let out: Vec<_> = model.stream(asks(&"words ".repeat(2_000_000))).collect().await;
    assert!(told(&out).contains("that is far too much"), "{}", told(&out));
    seen.recv().unwrap();
    assert!(seen.try_recv().is_err(), "it is asked once");
}
