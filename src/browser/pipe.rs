//! Commands, answers and events of a browser, which are JSON: over a pipe, where a zero byte ends each message, or over another
//! transport.

use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::net::UnixStream;
use tokio::sync::{mpsc, oneshot};
use tokio::task::JoinHandle;

/// Maximum bytes of a message. A page with a larger accessibility tree ends the browser.
pub const MAX_MESSAGE_BYTES: usize = 64 << 20;

/// Something that happened in the browser.
#[derive(Debug, Clone, PartialEq)]
pub struct BrowserEvent {
    pub method: String,
    pub params: Value,
    /// Protocol session that it belongs to; empty for the browser itself.
    pub session: String,
}

/// Why a command has no result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CommandError {
    /// The browser has ended.
    Lost,
    /// The browser refused the command, with its reason.
    Refused(String),
}

type Answer = Result<Value, CommandError>;

/// Called with each message.
pub type OnMessage = Box<dyn FnMut(&[u8]) + Send>;

/// Messages to send.
pub type Messages = mpsc::UnboundedReceiver<String>;

/// Sends commands.
#[derive(Clone)]
pub struct Outbox {
    messages: mpsc::UnboundedSender<String>,
    next_id: Arc<AtomicU64>,
}

/// Commands that wait for their answers; `None` once the connection has ended.
type Waiting = Arc<Mutex<Option<HashMap<u64, oneshot::Sender<Answer>>>>>;

/// The connection to a browser. Dropping it ends the connection.
pub struct Connection {
    outbox: Outbox,
    waiting: Waiting,
    tasks: [JoinHandle<()>; 2],
}

impl Outbox {
    /// Sends a command, and returns its number. An empty session is the browser itself.
    pub fn post(&self, method: &str, params: Value, session: &str) -> u64 {
        let id = self.next_id.fetch_add(1, Ordering::Relaxed);
        let mut message = json!({ "id": id, "method": method, "params": params });
        if !session.is_empty() {
            message["sessionId"] = session.into();
        }
        // If the browser has ended, the answer says so.
        let _ = self.messages.send(message.to_string());
        id
    }
}

impl Connection {
    /// Uses this socket. `on_event` is called for each event, in order, and `on_end` when the connection ends, before its
    /// commands are answered. Neither may block. Requires a tokio runtime.
    pub fn new(
        socket: UnixStream,
        on_event: impl FnMut(&BrowserEvent, &Outbox) + Send + 'static,
        on_end: impl FnOnce() + Send + 'static,
    ) -> Self {
        let (reader, mut writer) = socket.into_split();
        let write = |mut queue: Messages| async move {
            while let Some(message) = queue.recv().await {
                let mut bytes = message.into_bytes();
                bytes.push(0);
                if writer.write_all(&bytes).await.is_err() {
                    return;
                }
            }
        };
        Self::with_transport(|on_message| read_messages(reader, on_message), write, on_event, on_end)
    }

    /// The same over any transport: `read` calls its argument with each message until the connection ends, and `write` sends the
    /// messages that it receives.
    pub fn with_transport<R, W>(
        read: impl FnOnce(OnMessage) -> R,
        write: impl FnOnce(Messages) -> W,
        mut on_event: impl FnMut(&BrowserEvent, &Outbox) + Send + 'static,
        on_end: impl FnOnce() + Send + 'static,
    ) -> Self
    where
        R: Future<Output = ()> + Send + 'static,
        W: Future<Output = ()> + Send + 'static,
    {
        let (messages, queue) = mpsc::unbounded_channel();
        let outbox = Outbox { messages, next_id: Arc::new(AtomicU64::new(1)) };
        let waiting: Waiting = Arc::new(Mutex::new(Some(HashMap::new())));
        let (event_outbox, answered) = (outbox.clone(), waiting.clone());
        let on_message = move |message: &[u8]| match parse_message(message) {
            Some(Message::Answer(id, answer)) => {
                let mut waiting = answered.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(sender) = waiting.as_mut().and_then(|waiting| waiting.remove(&id)) {
                    let _ = sender.send(answer);
                }
            }
            Some(Message::Event(event)) => on_event(&event, &event_outbox),
            None => {}
        };
        let (read, ended) = (read(Box::new(on_message)), waiting.clone());
        let read = tokio::spawn(async move {
            read.await;
            on_end();
            *ended.lock().unwrap_or_else(PoisonError::into_inner) = None;
        });
        Self { outbox, waiting, tasks: [read, tokio::spawn(write(queue))] }
    }

    /// Sends a command and waits for its answer.
    pub async fn call(&self, method: &str, params: Value, session: &str) -> Answer {
        let (sender, answer) = oneshot::channel();
        {
            let mut waiting = self.waiting.lock().unwrap_or_else(PoisonError::into_inner);
            let Some(waiting) = waiting.as_mut() else { return Err(CommandError::Lost) };
            waiting.retain(|_, sender| !sender.is_closed());
            waiting.insert(self.outbox.post(method, params, session), sender);
        }
        answer.await.unwrap_or(Err(CommandError::Lost))
    }

    /// Sends a command without waiting for its answer.
    pub fn post(&self, method: &str, params: Value, session: &str) {
        self.outbox.post(method, params, session);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.tasks.iter().for_each(JoinHandle::abort);
    }
}

enum Message {
    Answer(u64, Answer),
    Event(BrowserEvent),
}

fn parse_message(bytes: &[u8]) -> Option<Message> {
    let mut message: Value = serde_json::from_slice(bytes).ok()?;
    if let Some(id) = message["id"].as_u64() {
        // Chromium sends an object, Firefox a code and a sentence next to it.
        let error = message["error"].as_str().map_or(&message["error"]["message"], |_| &message["message"]);
        let answer = match error.as_str() {
            Some(error) => Err(CommandError::Refused(error.to_owned())),
            None => Ok(message["result"].take()),
        };
        return Some(Message::Answer(id, answer));
    }
    let method = message["method"].as_str()?.to_owned();
    let session = message["sessionId"].as_str().unwrap_or_default().to_owned();
    Some(Message::Event(BrowserEvent { method, params: message["params"].take(), session }))
}

/// Reads messages until the end, or until one is too long.
async fn read_messages(mut reader: impl AsyncRead + Unpin, mut on_message: impl FnMut(&[u8])) {
    let (mut buffer, mut searched) = (Vec::with_capacity(64 << 10), 0);
    while let Ok(1..) = reader.read_buf(&mut buffer).await {
        let mut start = 0;
        while let Some(length) = memchr::memchr(0, &buffer[searched..]) {
            on_message(&buffer[start..searched + length]);
            searched += length + 1;
            start = searched;
        }
        buffer.drain(..start);
        searched = buffer.len();
        if searched > MAX_MESSAGE_BYTES {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicBool;

    async fn read_all(pieces: &[&[u8]]) -> Vec<String> {
        let (ours, mut theirs) = tokio::io::duplex(64);
        let bytes: Vec<Vec<u8>> = pieces.iter().map(|piece| piece.to_vec()).collect();
        let write = async move {
            for piece in bytes {
                theirs.write_all(&piece).await.unwrap();
                tokio::task::yield_now().await;
            }
        };
        let mut messages = Vec::new();
        let read = read_messages(ours, |message| messages.push(String::from_utf8(message.to_vec()).unwrap()));
        tokio::join!(write, read);
        messages
    }

    #[tokio::test]
    async fn messages_may_arrive_in_pieces_and_together() {
        assert_eq!(read_all(&[b"a\0b", b"c\0", b"\0d\0e\0unfinished"]).await, ["a", "bc", "", "d", "e"]);
        let long = "x".repeat(10_000);
        assert_eq!(read_all(&[long.as_bytes(), b"\0y\0"]).await, [long.as_str(), "y"]);
    }

    #[tokio::test]
    async fn answers_reach_their_commands_and_an_end_answers_all() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        let (seen, mut events) = mpsc::unbounded_channel();
        let has_ended = Arc::new(AtomicBool::new(false));
        let end = has_ended.clone();
        let on_end = move || end.store(true, Ordering::SeqCst);
        let connection = Connection::new(ours, move |event, _| drop(seen.send(event.clone())), on_end);
        let (mut reader, mut writer) = theirs.into_split();
        let browser = async {
            let mut received = Vec::new();
            while received.iter().filter(|byte| **byte == 0).count() < 3 {
                reader.read_buf(&mut received).await.unwrap();
            }
            let sent = b"{\"method\":\"E\",\"params\":{\"a\":1},\"sessionId\":\"S\"}\0not json\0{\"id\":2,\"error\":{\"message\":\"no\"}}\0{\"id\":1,\"result\":{\"x\":true}}\0{\"id\":99,\"result\":{}}\0";
            writer.write_all(sent).await.unwrap();
            drop((reader, writer));
            String::from_utf8(received).unwrap()
        };
        let (first, second, third, received) = tokio::join!(
            connection.call("A", json!({}), ""),
            connection.call("B", json!({ "b": 2 }), "S"),
            connection.call("C", json!({}), ""),
            browser
        );
        assert_eq!(first, Ok(json!({ "x": true })));
        assert_eq!(second, Err(CommandError::Refused("no".into())));
        assert_eq!(third, Err(CommandError::Lost), "the browser ended without an answer");
        assert!(received.contains(r#"{"id":2,"method":"B","params":{"b":2},"sessionId":"S"}"#), "{received}");
        let event = events.recv().await.unwrap();
        assert_eq!((event.method.as_str(), event.session.as_str(), &event.params["a"]), ("E", "S", &json!(1)));
        assert!(has_ended.load(Ordering::SeqCst), "the end was told before the last answer");
        assert_eq!(connection.call("D", json!({}), "").await, Err(CommandError::Lost));
    }
}
