//! Standard input and output, each on its own thread, so that a client that stops writing or reading does not block the
//! program.

use crate::mcp::serving::bounded_lines::{Line, read_bounded_line};
use serde_json::Value;
use std::io::{self, Write};
use std::thread;
use std::time::Duration;
use tokio::sync::{mpsc, oneshot};

/// Maximum bytes of a message of an MCP client.
pub(super) const MAX_MESSAGE_BYTES: usize = 1 << 20;
/// Number of messages that wait in each direction. A client that writes faster is slowed down.
const WAITING_MESSAGES: usize = 4;
/// Time in which the last messages must be written.
const WRITE_LIMIT: Duration = Duration::from_secs(1);

/// Starts to read lines of at most `max_bytes`. The channel is closed at the end of the input.
pub(super) fn start_reader(max_bytes: usize) -> mpsc::Receiver<Line> {
    let (sender, receiver) = mpsc::channel(WAITING_MESSAGES);
    thread::spawn(move || {
        let mut input = io::stdin().lock();
        while let Ok(Some(line)) = read_bounded_line(&mut input, max_bytes) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

/// Writes messages, one per line.
pub(super) struct Output {
    messages: Option<mpsc::Sender<String>>,
    /// Ends when everything is written.
    end: oneshot::Receiver<()>,
}

impl Output {
    pub(super) fn start() -> Self {
        let (sender, mut receiver) = mpsc::channel::<String>(WAITING_MESSAGES);
        let (end_sender, end) = oneshot::channel();
        thread::spawn(move || {
            let mut out = io::stdout().lock();
            while let Some(message) = receiver.blocking_recv() {
                if writeln!(out, "{message}").and_then(|()| out.flush()).is_err() {
                    return;
                }
            }
            let _ = end_sender.send(());
        });
        Self { messages: Some(sender), end }
    }

    /// Sends a message. Returns false if the output is closed.
    pub(super) async fn send(&mut self, message: &Value) -> bool {
        match &self.messages {
            Some(messages) => messages.send(message.to_string()).await.is_ok(),
            None => false,
        }
    }

    /// Waits until everything is written, but not for a client that no longer reads.
    pub(super) async fn finish(mut self) {
        self.messages = None;
        let _ = tokio::time::timeout(WRITE_LIMIT, self.end).await;
    }
}
