//! A model service on the loopback that speaks the real wire: every byte, pause and break of it is written by the test.

use serde_json::{Value, json};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// What a service does, one after another, once it has read a request.
#[derive(Debug, Clone, PartialEq)]
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

    /// Everything it sends, in one.
    pub fn bytes(&self) -> Vec<u8> {
        let sent = |step: &Step| if let Step::Send(bytes) = step { bytes.clone() } else { Vec::new() };
        self.0.iter().flat_map(sent).collect()
    }

    /// The same bytes, written in other pieces: as `next` says how long each is, with a moment after it.
    pub fn recut(&self, mut next: impl FnMut() -> usize) -> Self {
        let mut out = Self::default();
        for step in &self.0 {
            let Step::Send(bytes) = step else {
                out = out.then(step.clone());
                continue;
            };
            let mut rest = &bytes[..];
            while !rest.is_empty() {
                let (piece, behind) = rest.split_at(next().clamp(1, rest.len()));
                out = out.raw(piece).then(Step::Pause(Duration::from_millis(1)));
                rest = behind;
            }
        }
        out
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

/// What a service says where it is asked for a title.
pub const TITLE: &str = "A title from the model";

/// A service that gives each request the next answer, and the last one forever; or the next of the talk that the request
/// belongs to, where several go on side by side. What a program asks beside the talk it
/// answers aside: a title with a fixed one, and the list of models with none unless the next answer is one.
pub struct Service {
    /// As settings want it.
    pub base_url: String,
    received: Arc<Mutex<Vec<Received>>>,
    titles: Arc<Mutex<Vec<Received>>>,
    task: tokio::task::JoinHandle<()>,
}

impl Service {
    /// Starts one on a free port.
    pub async fn start(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self::naming(answers, Answer::stream().says(TITLE).finish("stop").done()).await
    }

    /// The same, but nothing is answered aside: every request, whatever it is, gets the next answer.
    pub async fn strict(answers: impl IntoIterator<Item = Answer>) -> Self {
        Self::with(Answers { talk: answers.into_iter().collect(), talks: vec![], title: None, list: None }).await
    }

    /// The same as [`Self::start`], where a request for a title gets this answer.
    pub async fn naming(answers: impl IntoIterator<Item = Answer>, title: Answer) -> Self {
        Self::with(Answers { talk: answers.into_iter().collect(), talks: vec![], title: Some(title), list: None }).await
    }

    /// One for talks that go on side by side: a request gets the next answer of the talk whose words are in what was said
    /// in it first.
    pub async fn of_talks(talks: impl IntoIterator<Item = (&'static str, Vec<Answer>)>) -> Self {
        let answers = |(first, answers): (&'static str, Vec<Answer>)| (first, answers.into_iter().collect());
        let talks = talks.into_iter().map(answers).collect();
        let title = Some(Answer::stream().says(TITLE).finish("stop").done());
        Self::with(Answers { talk: VecDeque::new(), talks, title, list: None }).await
    }

    async fn with(answers: Answers) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}/v1", listener.local_addr().unwrap());
        let (received, titles) = (Arc::new(Mutex::new(Vec::new())), Arc::new(Mutex::new(Vec::new())));
        let next = Arc::new(Mutex::new(answers));
        let (log, aside) = (received.clone(), titles.clone());
        let task = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(serve(socket, next.clone(), log.clone(), aside.clone()));
            }
        });
        Self { base_url, received, titles, task }
    }

    /// The requests for a title so far, which are not among the others.
    pub fn titles(&self) -> Vec<Received> {
        self.titles.lock().unwrap().clone()
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

/// The answers to come.
struct Answers {
    talk: VecDeque<Answer>,
    /// Those of talks beside it, by the words that they began with.
    talks: Vec<(&'static str, VecDeque<Answer>)>,
    /// What a request for a title gets; `None` where nothing is answered aside.
    title: Option<Answer>,
    /// The list of models that was given out.
    list: Option<Answer>,
}

/// Where the answer to a request is kept with it.
enum For {
    Talk,
    Title,
    Nobody,
}

impl Answers {
    fn to(&mut self, request: &Received) -> (Answer, For) {
        let Some(title) = &self.title else { return (self.next(), For::Talk) };
        let standing = [&request.body["messages"][0]["content"], &request.body["instructions"]];
        let words = standing.into_iter().find_map(|words| words.as_str()).unwrap_or_default();
        if words.contains("a title") && request.body.get("tools").is_none() {
            let title = if request.line.contains("/responses") {
                Answer::stream()
                    .event(json!({"type": "response.output_text.delta", "delta": TITLE}))
                    .event(json!({"type": "response.completed", "response": {"status": "completed"}}))
            } else {
                title.clone()
            };
            return (title, For::Title);
        }
        if let Some(talk) = self.beside(request) {
            return (next(talk), For::Talk);
        }
        if request.line.starts_with("GET") {
            let is_list = self.talk.front().is_some_and(Answer::is_list);
            return match (&self.list, is_list) {
                (None, true) => {
                    self.list = Some(self.next());
                    (self.list.clone().unwrap(), For::Talk)
                }
                (Some(list), _) => (list.clone(), For::Nobody),
                (None, false) => (Answer::body(404, "text/plain", &[], "no"), For::Nobody),
            };
        }
        // A list is no answer to what is said: it was meant for a question that was not asked again.
        while self.talk.len() > 1 && self.talk.front().is_some_and(Answer::is_list) {
            self.list = self.talk.pop_front();
        }
        (self.next(), For::Talk)
    }

    fn next(&mut self) -> Answer {
        next(&mut self.talk)
    }

    fn beside(&mut self, request: &Received) -> Option<&mut VecDeque<Answer>> {
        let messages = request.body["messages"].as_array()?;
        let first = messages.iter().find(|message| message["role"] == "user")?["content"].as_str()?;
        self.talks.iter_mut().find(|(words, _)| first.contains(words)).map(|(_, talk)| talk)
    }
}

fn next(talk: &mut VecDeque<Answer>) -> Answer {
    let next = if talk.len() > 1 { talk.pop_front() } else { talk.front().cloned() };
    next.unwrap_or_default()
}

impl Answer {
    fn is_list(&self) -> bool {
        let text = |step: &Step| match step {
            Step::Send(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            Step::Pause(_) | Step::Reset | Step::Stall => String::new(),
        };
        let all: String = self.0.iter().map(text).collect();
        ["\"data\":[", "\"data\": [", "\"models\":["].iter().any(|start| all.contains(start))
    }
}

/// How an answer came to its end.
enum Over {
    /// All of it was sent.
    Said,
    /// The client had closed the connection: writing says so too, and often first.
    Closed,
    /// It is to be broken.
    Reset,
}

async fn serve(
    mut socket: TcpStream,
    next: Arc<Mutex<Answers>>,
    received: Arc<Mutex<Vec<Received>>>,
    titles: Arc<Mutex<Vec<Received>>>,
) {
    socket.set_nodelay(true).unwrap();
    let Some(request) = read(&mut socket).await else { return };
    let (answer, whose) = next.lock().unwrap().to(&request);
    let log = match whose {
        For::Talk => received,
        For::Title => titles,
        For::Nobody => Arc::default(),
    };
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
                        return Over::Closed;
                    }
                    sending.lock().unwrap()[at].sent += bytes.len();
                }
                Step::Pause(time) => tokio::time::sleep(time).await,
                Step::Stall => std::future::pending().await,
                Step::Reset => return Over::Reset,
            }
        }
        let _ = to.shutdown().await;
        Over::Said
    };
    let closed_early = || log.lock().unwrap()[at].closed_early = Some(Instant::now());
    tokio::select! {
        biased;
        over = play => match over {
            Over::Said => {}
            Over::Closed => closed_early(),
            Over::Reset => {
                // Closing with no lingering makes the kernel send a reset, and drops what was not sent: so let it go
                // out first.
                tokio::time::sleep(Duration::from_millis(30)).await;
                to.as_ref().set_zero_linger().unwrap();
                // An ordinary drop would say goodbye first.
                to.forget();
            }
        },
        _ = closed => closed_early(),
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
