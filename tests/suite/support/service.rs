//! A model service on the loopback that speaks the real wire: every byte, pause and break of it is written by the test.

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What a service does, one after another, once it has read a request.
#[derive(Debug, Clone)]
pub enum Step {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Does nothing for so long.
    Pause(Duration),
    /// Breaks the connection, so that the client sees a reset.
    Reset,
    /// Neither sends nor closes until the client does.
    Stall,
}

/// One answer: its steps, and then the connection is closed.
#[derive(Debug, Clone, Default)]
pub struct Answer(Vec<Step>);

impl Answer {
    /// A head with this status and these headers, each as `name: value`.
    pub fn head(status: u16, headers: &[&str]) -> Self {
        let mut head = format!("HTTP/1.1 {status} Words\r\nconnection: close\r\n");
        for header in headers {
            head.push_str(header);
            head.push_str("\r\n");
        }
        Self::default().raw(format!("{head}\r\n"))
    }

    /// The head of a stream of events.
    pub fn stream() -> Self {
        Self::head(200, &["content-type: text/event-stream"])
    }

    /// A whole answer with a body.
    pub fn body(status: u16, kind: &str, headers: &[&str], body: &str) -> Self {
        let mut all = vec![format!("content-type: {kind}"), format!("content-length: {}", body.len())];
        all.extend(headers.iter().map(|header| (*header).to_owned()));
        Self::head(status, &all.iter().map(String::as_str).collect::<Vec<_>>()).raw(body)
    }

    /// Then these bytes.
    pub fn raw(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.0.push(Step::Send(bytes.as_ref().to_vec()));
        self
    }

    /// Then an event.
    pub fn event(self, data: Value) -> Self {
        self.raw(format!("data: {data}\n\n"))
    }

    /// Then an event with text.
    pub fn says(self, text: &str) -> Self {
        self.event(json!({"choices": [{"index": 0, "delta": {"content": text}}]}))
    }

    /// Then the reason why it ends.
    pub fn finish(self, reason: &str) -> Self {
        self.event(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}))
    }

    /// Then the word that everything was said.
    pub fn done(self) -> Self {
        self.raw("data: [DONE]\n\n")
    }

    /// Then something else.
    pub fn then(mut self, step: Step) -> Self {
        self.0.push(step);
        self
    }
}

/// A request as it came.
#[derive(Debug, Clone)]
pub struct Received {
    /// Such as `POST /v1/chat/completions HTTP/1.1`.
    pub line: String,
    /// Lower-case names.
    pub headers: Vec<(String, String)>,
    /// The body; null where there is none.
    pub body: Value,
    /// When it was whole.
    pub at: Instant,
    /// When the client closed the connection, if it did before the answer was over.
    pub closed_early: Option<Instant>,
    /// How many bytes of the answer the client's side has taken.
    pub sent: usize,
}

impl Received {
    /// A header's value.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.as_str())
    }
}

/// A service that gives each request the next answer, and the last one forever.
pub struct Service {
    /// As settings want it.
    pub base_url: String,
    received: Arc<Mutex<Vec<Received>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Service {
    /// Starts one on a free port.
    pub async fn start(answers: impl IntoIterator<Item = Answer>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let received = Arc::new(Mutex::new(Vec::new()));
        let mut answers: VecDeque<Answer> = answers.into_iter().collect();
        let log = received.clone();
        let task = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                let answer = if answers.len() > 1 { answers.pop_front() } else { answers.front().cloned() };
                tokio::spawn(serve(socket, answer.unwrap_or_default(), log.clone()));
            }
        });
        Self { base_url, received, task }
    }

    /// The requests so far, oldest first.
    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// Waits until the client has closed the connection of the first request, at most this long.
    pub async fn closed_early(&self, limit: Duration) -> Option<Instant> {
        let began = Instant::now();
        while began.elapsed() < limit {
            if let Some(at) = self.received().first().and_then(|request| request.closed_early) {
                return Some(at);
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        None
    }
}

impl Drop for Service {
    fn drop(&mut self) {
        self.task.abort();
    }
}

async fn serve(mut socket: TcpStream, answer: Answer, log: Arc<Mutex<Vec<Received>>>) {
    socket.set_nodelay(true).unwrap();
    let Some(request) = read(&mut socket).await else { return };
    let at = {
        let mut log = log.lock().unwrap();
        log.push(request);
        log.len() - 1
    };
    let (mut from, mut to) = socket.into_split();
    let closed = async move {
        let mut byte = [0; 64];
        while !matches!(from.read(&mut byte).await, Ok(0) | Err(_)) {}
        from
    };
    let sending = log.clone();
    let play = async {
        for step in answer.0 {
            match step {
                Step::Send(bytes) => {
                    if to.write_all(&bytes).await.is_err() {
                        return false;
                    }
                    sending.lock().unwrap()[at].sent += bytes.len();
                }
                Step::Pause(time) => tokio::time::sleep(time).await,
                Step::Stall => std::future::pending().await,
                Step::Reset => return true,
            }
        }
        let _ = to.shutdown().await;
        false
    };
    tokio::select! {
        biased;
        reset = play => {
            if reset {
                // Closing with no lingering makes the kernel send a reset, and drops what was not sent: so let it go
                // out first.
                tokio::time::sleep(Duration::from_millis(30)).await;
                to.as_ref().set_zero_linger().unwrap();
                // An ordinary drop would say goodbye first.
                to.forget();
            }
        }
        _ = closed => log.lock().unwrap()[at].closed_early = Some(Instant::now()),
    }
}

async fn read(socket: &mut TcpStream) -> Option<Received> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        if socket.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    };
    let text = String::from_utf8_lossy(&bytes[..head]).into_owned();
    let mut lines = text.lines();
    let line = lines.next()?.to_owned();
    let headers: Vec<(String, String)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_lowercase(), value.trim().to_owned()))
        .collect();
    let length = headers.iter().find(|(name, _)| name == "content-length");
    let length: usize = length.map_or(0, |(_, value)| value.parse().unwrap());
    while bytes.len() < head + 4 + length {
        if socket.read_buf(&mut bytes).await.ok()? == 0 {
            return None;
        }
    }
    let body = serde_json::from_slice(&bytes[head + 4..]).unwrap_or_default();
    Some(Received { line, headers, body, at: Instant::now(), closed_early: None, sent: 0 })
}
