//! The WebSocket over which Firefox speaks.

use crate::browser::pipe::{BrowserEvent, Connection, MAX_MESSAGE_BYTES, Messages, OnMessage, Outbox};
use futures::{SinkExt, StreamExt};
use tokio::net::TcpStream;
use tokio_websockets::{ClientBuilder, Limits, Message};

/// Opens the WebSocket on a connection to Firefox at this port, as [`Connection::with_transport`]. A message that is too long, or
/// is no valid one, ends the connection.
///
/// # Errors
/// Part of a sentence.
pub async fn connect(
    stream: TcpStream,
    port: u16,
    on_event: impl FnMut(&BrowserEvent, &Outbox) + Send + 'static,
    on_end: impl FnOnce() + Send + 'static,
) -> Result<Connection, String> {
    let limits = Limits::default().max_payload_len(Some(MAX_MESSAGE_BYTES));
    let address = format!("ws://127.0.0.1:{port}/session");
    let client = ClientBuilder::new().uri(&address).map_err(|error| error.to_string())?.limits(limits);
    let opened = client.connect_on(stream).await.map_err(|error| error.to_string())?;
    let (mut writer, mut reader) = opened.0.split();
    let read = |mut on_message: OnMessage| async move {
        while let Some(Ok(message)) = reader.next().await {
            if let Some(text) = message.as_text() {
                on_message(text.as_bytes());
            }
        }
    };
    let write = |mut queue: Messages| async move {
        while let Some(message) = queue.recv().await {
            if writer.send(Message::text(message)).await.is_err() {
                return;
            }
        }
    };
    Ok(Connection::with_transport(read, write, on_event, on_end))
}
