//! Tests of the page of Firefox with peers that are odd, over real sockets.

use super::*;
use crate::browser::pipe::MAX_MESSAGE_BYTES;
use futures::{SinkExt, StreamExt};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio_websockets::{Config, Limits, Message, ServerBuilder, WebSocketStream};

type Peer = WebSocketStream<TcpStream>;

/// Attaches a page to a peer, which `serve` plays.
async fn attach<F: Future<Output = ()> + Send + 'static>(
    serve: impl FnOnce(TcpStream) -> F,
) -> Result<FirefoxPage, PageError> {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let (ours, accepted) = tokio::join!(TcpStream::connect(listener.local_addr().unwrap()), listener.accept());
    tokio::spawn(serve(accepted.unwrap().0));
    FirefoxPage::attach(ours.unwrap(), PrivateHosts::default()).await
}

async fn accept(stream: TcpStream) -> Peer {
    // Long messages are one frame, as those of Firefox.
    let config = Config::default().frame_size(usize::MAX);
    ServerBuilder::new().config(config).limits(Limits::unlimited()).accept(stream).await.unwrap().1
}

/// Answers commands as Firefox does until one has this method; returns the number of that one.
async fn answer_until(peer: &mut Peer, last: &str) -> u64 {
    while let Some(Ok(message)) = peer.next().await {
        let Some(text) = message.as_text() else { continue };
        let command: Value = serde_json::from_str(text).unwrap();
        if command["method"] == last {
            return command["id"].as_u64().unwrap();
        }
        let result = match command["method"].as_str().unwrap() {
            "browsingContext.getTree" => json!({ "contexts": [{ "context": "P" }] }),
            "script.callFunction" => {
                let text = "[\"http://a.example/\",2]";
                json!({ "type": "success", "realm": "R", "result": { "type": "string", "value": text } })
            }
            _ => json!({}),
        };
        send(peer, &json!({ "type": "success", "id": command["id"], "result": result })).await;
    }
    0
}

async fn send(peer: &mut Peer, message: &Value) {
    peer.send(Message::text(message.to_string())).await.unwrap();
}

#[tokio::test]
async fn odd_messages_are_skipped() {
    let page = attach(|stream| async {
        let mut peer = accept(stream).await;
        for message in [
            Message::text("no JSON"),
            Message::text("null"),
            Message::text("{\"id\":\"x\"}"),
            Message::text("{\"type\":\"success\",\"id\":999,\"result\":{}}"),
            Message::text("{\"type\":\"error\",\"id\":null,\"error\":\"x\",\"message\":\"y\"}"),
            Message::text("{\"type\":\"event\",\"method\":\"new.event\",\"params\":[[1]]}"),
            Message::text("{\"type\":\"event\",\"method\":\"network.beforeRequestSent\"}"),
            Message::binary(vec![0, 159, 146]),
            Message::ping(vec![1]),
        ] {
            peer.send(message).await.unwrap();
        }
        answer_until(&mut peer, "none").await;
    });
    let page = page.await.ok().unwrap();
    page.refresh().await.unwrap();
    let state = page.watch.state();
    assert_eq!((state.url.as_str(), state.document.as_str(), state.frame.as_str()), ("http://a.example/", "R", "P"));
    assert!(!state.is_gone && !page.hangs().await);
}

#[tokio::test]
async fn an_error_names_its_reason() {
    let refused = attach(|stream| async {
        let mut peer = accept(stream).await;
        let id = answer_until(&mut peer, "session.new").await;
        let text = "Maximum number of active sessions";
        send(&mut peer, &json!({ "type": "error", "id": id, "error": "session not created", "message": text })).await;
        answer_until(&mut peer, "none").await;
    });
    let expected = "The browser refused: Maximum number of active sessions.";
    assert_eq!(refused.await.err(), Some(PageError::failed(expected)));
    let no_socket = attach(|mut stream| async move { stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap() });
    assert!(matches!(no_socket.await.err(), Some(PageError::Failed(_))));
}

#[test]
fn old_versions_are_refused() {
    assert!(check_version("140.10.2").is_ok() && check_version("200.0a1").is_ok() && check_version("").is_ok());
    let text = "Firefox 128.3.1 is too old; 140 or newer is needed.";
    assert_eq!(check_version("128.3.1"), Err(PageError::failed(text)));
}

#[tokio::test]
async fn a_connection_that_ends_loses_the_page() {
    // In the middle of a message, by a message that is too long, and at once.
    for kind in ["cut", "long", "closed"] {
        let page = attach(move |stream| async move {
            let mut peer = accept(stream).await;
            answer_until(&mut peer, "browsingContext.reload").await;
            match kind {
                // The head of a text of ten bytes, and one of them.
                "cut" => peer.get_mut().write_all(&[0x81, 10, b'x']).await.unwrap(),
                "long" => drop(peer.send(Message::text("x".repeat(MAX_MESSAGE_BYTES + 1))).await),
                _ => {}
            }
        });
        let page = page.await.ok().unwrap();
        let answer = page.send_to_page("browsingContext.reload", json!({})).await;
        assert_eq!(answer, Err(PageError::Lost), "{kind}");
        assert!(page.watch.has_ended(), "{kind}");
        assert_eq!(page.refresh().await, Err(PageError::Lost), "{kind}");
    }
}
