//! A scripted model service on the loopback interface with the real wire format: the test defines every byte, pause and
//! disconnection.

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// One step of an answer to a request.
#[derive(Debug, Clone, PartialEq)]
pub enum Step {
    /// Sends these bytes.
    Send(Vec<u8>),
    /// Waits this long.
    Pause(Duration),
    /// Resets the connection.
    Reset,
    /// Neither sends nor closes until the client closes the connection.
    Stall,
}

/// One answer: its steps, after which the connection is closed.
#[derive(Debug, Clone, Default)]
pub struct Answer(Vec<Step>);

impl Answer {
    /// Head with this status and these headers, each as `name: value`.
    pub fn head(status: u16, headers: &[&str]) -> Self {
        let mut head = format!("HTTP/1.1 {status} Words\r\nconnection: close\r\n");
        for header in headers {
            head.push_str(header);
            head.push_str("\r\n");
        }
        Self::default().raw(format!("{head}\r\n"))
    }

    /// Head of an event stream.
    pub fn stream() -> Self {
        Self::head(200, &["content-type: text/event-stream"])
    }

    /// A complete answer with a body.
    pub fn body(status: u16, kind: &str, headers: &[&str], body: &str) -> Self {
        let mut all_headers = vec![format!("content-type: {kind}"), format!("content-length: {}", body.len())];
        all_headers.extend(headers.iter().map(|header| (*header).to_owned()));
        Self::head(status, &all_headers.iter().map(String::as_str).collect::<Vec<_>>()).raw(body)
    }

    /// Adds these bytes.
    pub fn raw(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.0.push(Step::Send(bytes.as_ref().to_vec()));
        self
    }

    /// Adds an event.
    pub fn event(self, data: Value) -> Self {
        self.raw(format!("data: {data}\n\n"))
    }

    /// Adds an event with text.
    pub fn text(self, text: &str) -> Self {
        self.event(json!({"choices": [{"index": 0, "delta": {"content": text}}]}))
    }

    /// Adds an event with the finish reason.
    pub fn finish(self, reason: &str) -> Self {
        self.event(json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]}))
    }

    /// Adds the event that ends the stream.
    pub fn done(self) -> Self {
        self.raw("data: [DONE]\n\n")
    }

    /// All bytes that the answer sends.
    pub fn bytes(&self) -> Vec<u8> {
        let sent_bytes = |step: &Step| if let Step::Send(bytes) = step { bytes.clone() } else { Vec::new() };
        self.0.iter().flat_map(sent_bytes).collect()
    }

    /// The same bytes in other pieces: `next_length` returns the length of each piece. A pause follows each piece.
    pub fn split_again(&self, mut next_length: impl FnMut() -> usize) -> Self {
        let mut out = Self::default();
        for step in &self.0 {
            let Step::Send(bytes) = step else {
                out = out.with_step(step.clone());
                continue;
            };
            let mut remaining = &bytes[..];
            while !remaining.is_empty() {
                let (piece, tail) = remaining.split_at(next_length().clamp(1, remaining.len()));
                out = out.raw(piece).with_step(Step::Pause(Duration::from_millis(1)));
                remaining = tail;
            }
        }
        out
    }

    /// Adds a step.
    pub fn with_step(mut self, step: Step) -> Self {
        self.0.push(step);
        self
    }
}

/// A received request.
#[derive(Debug, Clone)]
pub struct Received {
    /// Such as `POST /v1/chat/completions HTTP/1.1`.
    pub line: String,
    /// Names in lower case.
    pub headers: Vec<(String, String)>,
    /// The body; null if there is none.
    pub body: Value,
    /// When the request was complete.
    pub completed_at: Instant,
    /// When the client closed the connection, if it did so before the end of the answer.
    pub closed_early: Option<Instant>,
    /// The number of bytes of the answer that the client's side has accepted.
    pub sent_bytes: usize,
}

impl Received {
    /// The value of a header.
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(key, _)| key == name).map(|(_, value)| value.as_str())
    }
}

/// The title that the service returns.
pub const TITLE: &str = "A title from the model";

/// A service that gives each request the next answer, and repeats the last one; or the next answer of the session that
/// the request belongs to, if several run in parallel. Requests outside of the session have separate answers: a title
/// request gets a fixed title, and a request for the list of models gets 404 unless the next answer is a list.
pub struct Service {
    /// Base URL for the settings.
    pub base_url: String,
    received: Arc<Mutex<Vec<Received>>>,
    titles: Arc<Mutex<Vec<Received>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Service {
    /// Starts a service on a free port.
    pub async fn start(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self::start_with_title(answers, Answer::stream().text(TITLE).finish("stop").done()).await
    }

    /// The same without separate answers: every request gets the next answer.
    pub async fn start_strict(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self::start_with_answers(Answers {
            session: answers.into_iter().collect(),
            sessions: vec![],
            title: None,
            list: None,
        })
        .await
    }

    /// The same as [`Self::start`], with this answer to a title request.
    pub async fn start_with_title(answers: impl IntoIterator<Item = Answer>, title: Answer) -> Self {
        Self::start_with_answers(Answers {
            session: answers.into_iter().collect(),
            sessions: vec![],
            title: Some(title),
            list: None,
        })
        .await
    }

    /// A service for parallel sessions: a request gets the next answer of the session whose key text is in the first
    /// user message.
    pub async fn start_parallel(sessions: impl IntoIterator<Item = (&'static str, Vec<Answer>)>) -> Self {
        let to_queue = |(first, answers): (&'static str, Vec<Answer>)| (first, answers.into_iter().collect());
        let sessions = sessions.into_iter().map(to_queue).collect();
        let title = Some(Answer::stream().text(TITLE).finish("stop").done());
        Self::start_with_answers(Answers { session: VecDeque::new(), sessions, title, list: None }).await
    }

    async fn start_with_answers(answers: Answers) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (received, titles) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
        let next = Arc::new(Mutex::new(answers));
        let (session_log, title_log) = (received.clone(), titles.clone());
        let task = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(serve(socket, next.clone(), session_log.clone(), title_log.clone()));
            }
        });
        Self { base_url, received, titles, task }
    }

    /// The title requests so far. [`Self::received`] does not contain them.
    pub fn titles(&self) -> Vec<Received> {
        self.titles.lock().unwrap().clone()
    }

    /// The requests so far, oldest first.
    pub fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// Waits until the client has closed the connection of the first request, at most this long.
    pub async fn closed_early(&self, limit: Duration) -> Option<Instant> {
        let started = Instant::now();
        while started.elapsed() < limit {
            if let Some(time) = self.received().first().and_then(|request| request.closed_early) {
                return Some(time);
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

/// The answers to come.
struct Answers {
    session: VecDeque<Answer>,
    /// Answers of parallel sessions, by the text in their first user message.
    sessions: Vec<(&'static str, VecDeque<Answer>)>,
    /// Answer to a title request; `None` if there are no separate answers.
    title: Option<Answer>,
    /// The list of models that was sent.
    list: Option<Answer>,
}

/// Which log a request belongs to.
enum RequestKind {
    Session,
    Title,
    Ignored,
}

impl Answers {
    fn answer_for(&mut self, request: &Received) -> (Answer, RequestKind) {
        let Some(title) = &self.title else { return (self.next_answer(), RequestKind::Session) };
        let system_prompt = [&request.body["messages"][0]["content"], &request.body["instructions"]];
        let text = system_prompt.into_iter().find_map(|text| text.as_str()).unwrap_or_default();
        if text.contains("a title") && request.body.get("tools").is_none() {
            let title = if request.line.contains("/responses") {
                Answer::stream()
                    .event(json!({"type": "response.output_text.delta", "delta": TITLE}))
                    .event(json!({"type": "response.completed", "response": {"status": "completed"}}))
            } else {
                title.clone()
            };
            return (title, RequestKind::Title);
        }
        if let Some(session) = self.parallel_session(request) {
            return (pop_answer(session), RequestKind::Session);
        }
        if request.line.starts_with("GET") {
            let is_list = self.session.front().is_some_and(Answer::is_list);
            return match (&self.list, is_list) {
                (None, true) => {
                    self.list = Some(self.next_answer());
                    (self.list.clone().unwrap(), RequestKind::Session)
                }
                (Some(list), _) => (list.clone(), RequestKind::Ignored),
                (None, false) => (Answer::body(404, "text/plain", &[], "no"), RequestKind::Ignored),
            };
        }
        // A list does not answer a message: it was meant for a request for the list that was never sent. Later requests
        // for the list get it.
        while self.session.len() > 1 && self.session.front().is_some_and(Answer::is_list) {
            self.list = self.session.pop_front();
        }
        (self.next_answer(), RequestKind::Session)
    }

    fn next_answer(&mut self) -> Answer {
        pop_answer(&mut self.session)
    }

    fn parallel_session(&mut self, request: &Received) -> Option<&mut VecDeque<Answer>> {
        let messages = request.body["messages"].as_array()?;
        let first = messages.iter().find(|message| message["role"] == "user")?["content"].as_str()?;
        self.sessions.iter_mut().find(|(text, _)| first.contains(text)).map(|(_, session)| session)
    }
}

fn pop_answer(session: &mut VecDeque<Answer>) -> Answer {
    let answer = if session.len() > 1 { session.pop_front() } else { session.front().cloned() };
    answer.unwrap_or_default()
}

impl Answer {
    fn is_list(&self) -> bool {
        let sent_text = |step: &Step| match step {
            Step::Send(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Step::Pause(_) | Step::Reset | Step::Stall => String::new(),
        };
        let body: String = self.0.iter().map(sent_text).collect();
        ["\"data\":[", "\"data\": [", "\"models\":["].iter().any(|start| body.contains(start))
    }
}

/// How an answer ended.
enum SendResult {
    /// All of it was sent.
    Complete,
    /// The client closed the connection. A failed write often shows this first.
    Closed,
    /// The connection is to be reset.
    Reset,
}

async fn serve(
    mut socket: TcpStream,
    answers: Arc<Mutex<Answers>>,
    received: Arc<Mutex<Vec<Received>>>,
    titles: Arc<Mutex<Vec<Received>>>,
) {
    socket.set_nodelay(true).unwrap();
    let Some(request) = read_request(&mut socket).await else { return };
    let (answer, kind) = answers.lock().unwrap().answer_for(&request);
    let log = match kind {
        RequestKind::Session => received,
        RequestKind::Title => titles,
        RequestKind::Ignored => Arc::default(),
    };
    let index = {
        let mut log = log.lock().unwrap();
        log.push(request);
        log.len() - 1
    };
    let (mut reader, mut writer) = socket.into_split();
    let wait_for_close = async move {
        let mut byte = [0; 64];
        while !matches!(reader.read(&mut byte).await, Ok(0) | Err(_)) {}
        reader
    };
    let progress_log = log.clone();
    let send_answer = async {
        for step in answer.0 {
            match step {
                Step::Send(bytes) => {
                    if writer.write_all(&bytes).await.is_err() {
                        return SendResult::Closed;
                    }
                    progress_log.lock().unwrap()[index].sent_bytes += bytes.len();
                }
                Step::Pause(time) => tokio::time::sleep(time).await,
                Step::Stall => std::future::pending().await,
                Step::Reset => return SendResult::Reset,
            }
        }
        let _ = writer.shutdown().await;
        SendResult::Complete
    };
    let record_early_close = || log.lock().unwrap()[index].closed_early = Some(Instant::now());
    tokio::select! {
        biased;
        result = send_answer => match result {
            SendResult::Complete => {}
            SendResult::Closed => record_early_close(),
            SendResult::Reset => {
                // With a linger time of zero the kernel sends a reset and drops unsent bytes, so these must be
                // sent first.
                tokio::time::sleep(Duration::from_millis(30)).await;
                writer.as_ref().set_zero_linger().unwrap();
                // Dropping it would shut the connection down in the regular way first.
                writer.forget();
            }
        },
        _ = wait_for_close => record_early_close(),
    }
}

async fn read_request(socket: &mut TcpStream) -> Option<Received> {
    let mut bytes = Vec::new();
    let head = loop {
        if let Some(end) = bytes.windows(4).position(|window| window == b"\r\n\r\n") {
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
    Some(Received { line, headers, body, completed_at: Instant::now(), closed_early: None, sent_bytes: 0 })
}
