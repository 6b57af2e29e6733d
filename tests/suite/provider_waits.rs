//! Every way to wait for a provider that does not answer, in the real program: Esc and ctrl-c end it at once, the
//! prompt is usable again, the connection is closed, and the message and the partial reply are kept.

use crate::support::pick_count;
use crate::support::program::{Program, Setup};
use crate::support::service::{Answer, Service, Step};
use crate::support::terminal_session::submit_message;
use crate::support::time_limits::{is_within_limit, try_three_times};
use serde_json::json;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

const JSON: &str = "application/json";
/// Limit until the prompt is usable again.
const USABLE: Duration = Duration::from_millis(500);
/// Limit until the connection is closed.
const CLOSED: Duration = Duration::from_secs(1);
/// Limit until ctrl-c twice has ended the program.
const EXITED: Duration = Duration::from_secs(2);

/// A provider that makes the program wait.
struct Wait {
    /// Description. Some waits are recognised by it.
    what: &'static str,
    /// Address of the profile `odd` in the settings.
    base_url: String,
    /// Address of the profile `other`, the fallback, if any.
    other: Option<String>,
    /// More lines of the profile `odd`.
    more: &'static str,
    /// Text on the screen during the wait.
    shows: &'static str,
    /// Partial reply, which is kept.
    partial: &'static str,
    /// Port to which no connection may stay open.
    port: u16,
    /// Keeps the provider alive.
    _provider: Vec<Box<dyn std::any::Any + Sync>>,
}

impl Wait {
    fn new(description: &'static str, base_url: String, shows: &'static str) -> Self {
        let port = reqwest::Url::parse(&base_url).unwrap().port().unwrap();
        let (other, more) = (None, "model = \"m\"\n");
        Self { what: description, base_url, other, more, shows, partial: "", port, _provider: Vec::new() }
    }

    fn with_answer(runtime: &Runtime, description: &'static str, answer: Answer, shows: &'static str) -> Self {
        let service = runtime.block_on(Service::start_strict([answer]));
        let wait = Self::new(description, service.base_url.clone(), shows);
        wait.keep_alive(service)
    }

    fn keep_alive(mut self, provider: impl std::any::Any + Sync) -> Self {
        self._provider.push(Box::new(provider));
        self
    }

    fn setup(&self, arguments: &[&str]) -> Setup {
        let flags: Vec<&str> = ["--profile", "odd"].into_iter().chain(arguments.iter().copied()).collect();
        let setup = Setup::new(&flags);
        let config = setup.root.path().join("home/aye/config");
        std::fs::create_dir_all(&config).unwrap();
        let mut text = String::new();
        if let Some(other) = &self.other {
            text.push_str("[model]\nfallback = \"other\"\n");
            text.push_str(&format!("[profiles.other]\nbase_url = \"{other}\"\nmodel = \"second\"\n"));
        }
        text.push_str(&format!("[profiles.odd]\nbase_url = \"{}\"\n{}", self.base_url, self.more));
        std::fs::write(config.join("config.toml"), text).unwrap();
        setup
    }

    /// Waits until every connection to the provider is closed; returns whether that happened in time.
    fn closes_in_time(&self, since: Instant) -> bool {
        loop {
            if count_connections(self.port) == 0 {
                return true;
            }
            if !is_within_limit(CLOSED, since.elapsed()) {
                return false;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// Returns the number of open and opening connections to this local port, without those of the tests.
fn count_connections(port: u16) -> usize {
    let own: Vec<String> = std::fs::read_dir("/proc/self/fd")
        .unwrap()
        .flatten()
        .filter_map(|entry| std::fs::read_link(entry.path()).ok())
        .map(|link| link.to_string_lossy().into_owned())
        .collect();
    let table = std::fs::read_to_string("/proc/net/tcp").unwrap();
    let open = |line: &&str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        let [_, _, remote, state, _, _, _, _, _, inode, ..] = fields[..] else { return false };
        let mine = own.contains(&format!("socket:[{inode}]"));
        remote.ends_with(&format!(":{port:04X}")) && ["01", "02"].contains(&state) && !mine
    };
    table.lines().skip(1).filter(open).count()
}

/// An address whose accept queue is full, so that no connection is established.
fn black_hole(runtime: &Runtime) -> Wait {
    let _inside = runtime.enter();
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address: SocketAddr = listener.local_addr().unwrap();
    let mut waiting = Vec::new();
    while let Ok(stream) = TcpStream::connect_timeout(&address, Duration::from_millis(200)) {
        waiting.push(stream);
        assert!(waiting.len() < 50, "the queue is never full");
    }
    Wait::new("a connection that is never accepted", format!("http://{address}/v1"), "waiting for m")
        .keep_alive((listener, waiting))
}

/// A provider that accepts, sends this text once a request arrives, and then neither reads nor closes.
fn unresponsive(description: &'static str, scheme: &str, text: &'static str, shows: &'static str) -> Wait {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                // A reply before the request would be ignored.
                let _ = stream.peek(&mut [0]);
                let _ = std::io::Write::write_all(&mut stream, text.as_bytes());
                loop {
                    std::thread::park();
                }
            });
        }
    });
    Wait::new(description, format!("{scheme}://{address}/v1"), shows)
}

fn half_a_call() -> Answer {
    let function = json!({ "name": "write_file", "arguments": "{\"path\": \"a.txt\", \"content\": \"half" });
    let delta = json!({ "tool_calls": [{ "index": 0, "id": "c1", "function": function }] });
    Answer::stream().event(json!({ "choices": [{ "index": 0, "delta": delta }] })).with_step(Step::Stall)
}

fn busy(wait: &str) -> Answer {
    Answer::body(503, JSON, &[&format!("retry-after: {wait}")], r#"{"error":{"message":"Overloaded"}}"#)
}

/// All kinds of waits.
fn all_waits(runtime: &Runtime) -> Vec<Wait> {
    let stall = || Answer::default().with_step(Step::Stall);
    let with = |what, answer, shows| Wait::with_answer(runtime, what, answer, shows);
    let half = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"Half a reply\\n\"}}]}\n\n";
    let mut all = vec![
        black_hole(runtime),
        unresponsive("a handshake that never ends", "https", "", "waiting for m"),
        with("no head", stall(), "waiting for m"),
        with("a head and no event", Answer::stream().with_step(Step::Stall), "waiting for m"),
        with("in a reply", Answer::stream().text("Half a reply\n").with_step(Step::Stall), "Half a reply"),
        with("in a call", half_a_call(), "writing call: write_file"),
        with("a countdown", busy("40"), "try 2 of 5 in 3"),
        with("a wait of an hour", busy("3000"), "try 2 of 5 in 49 min"),
        with("a silence", Answer::stream().with_step(Step::Stall), "timeout at 9 s"),
        with("another service", Answer::body(401, JSON, &[], "{}"), "fell back to second"),
        with("a list of models", stall(), "waiting for the provider"),
        unresponsive("a service that ignores the close", "http", half, "Half a reply"),
    ];
    for wait in &mut all {
        match wait.what {
            "a silence" => wait.more = "model = \"m\"\nidle_seconds = 9\n",
            "a list of models" => wait.more = "",
            "in a reply" | "a service that ignores the close" => wait.partial = "Half a reply",
            "another service" => {
                let other_service = runtime.block_on(Service::start_strict([stall()]));
                (wait.other, wait.port) =
                    (Some(other_service.base_url.clone()), Wait::new("", other_service.base_url.clone(), "").port);
                wait._provider.push(Box::new(other_service));
            }
            _ => {}
        }
    }
    all
}

/// Returns the content of the session file.
fn read_session(root: &Path) -> String {
    let mut files = std::fs::read_dir(root.join("home/aye/data/sessions")).unwrap().flatten();
    std::fs::read_to_string(files.next().expect("there is a session").path()).unwrap()
}

/// Waits until this text is on the screen and returns how long that took.
fn time_until(program: &mut Program, text: &str, since: Instant) -> Duration {
    program.until(text);
    since.elapsed()
}

/// Waits, stops with the key and types. Returns an error if a limit was exceeded.
fn stop_with_key(wait: &Wait, key: &str) -> Result<(), String> {
    let mut program = wait.setup(&[]).start();
    program.until("Messages go to");
    submit_message(&mut program, "hello there");
    program.until(wait.shows);
    let pressed = Instant::now();
    program.press_keys(key);
    let usable = time_until(&mut program, "stopped", pressed);
    let closed = wait.closes_in_time(pressed);
    program.type_text("next words");
    program.until("❯ next words");
    if !is_within_limit(USABLE, usable) || !closed {
        return Err(format!("usable after {usable:?}, closed: {closed}"));
    }
    let ends = |program: &mut Program| read_session(program.root.path()).contains("interrupted");
    program.until_condition("the end of the turn", ends);
    let entries = read_session(program.root.path());
    assert!(entries.contains("hello there"), "{}: {entries}", wait.what);
    let marked = entries.contains("\"incomplete\":\"stopped\"");
    assert!(entries.contains(wait.partial) && marked != wait.partial.is_empty(), "{}: {entries}", wait.what);
    assert!(!program.screen().contains("✗"), "{}: shown as a failure", wait.what);
    Ok(())
}

/// Waits, and exits with ctrl-c twice.
fn exit_with_ctrl_c(wait: &Wait) -> Result<(), String> {
    let mut program = wait.setup(&[]).start();
    program.until("Messages go to");
    submit_message(&mut program, "hello there");
    program.until(wait.shows);
    let pressed = Instant::now();
    program.press_keys("\x03");
    program.press_keys("\x03");
    let code = program.wait_for_exit();
    let elapsed = pressed.elapsed();
    assert_eq!(code, 0, "{}", wait.what);
    assert!(program.is_restored(), "{}: {}", wait.what, program.screen());
    if is_within_limit(EXITED, elapsed) { Ok(()) } else { Err(format!("exited after {elapsed:?}")) }
}

/// Interrupts a headless run as a shell does.
fn interrupt_headless(wait: &Wait) -> Result<(), String> {
    let mut program = wait.setup(&["-p", "hello there"]).start();
    let until_waiting = |program: &mut Program| match wait.what {
        "a countdown" => {
            program.until("trying again in 40 s");
        }
        "another service" => {
            program.until("fell back to second");
        }
        _ => {
            program.until_condition("the program is connected", |_| count_connections(wait.port) > 0);
            program.until(wait.partial);
            program.wait_ms(100);
        }
    };
    until_waiting(&mut program);
    let pressed = Instant::now();
    program.signal(rustix::process::Signal::INT);
    let code = program.wait_for_exit();
    let elapsed = pressed.elapsed();
    assert_eq!(code, 130, "{}", wait.what);
    let entries = read_session(program.root.path());
    assert!(entries.contains("hello there") && entries.contains("interrupted"), "{}: {entries}", wait.what);
    assert!(entries.contains(wait.partial), "{}: {entries}", wait.what);
    if is_within_limit(EXITED, elapsed) { Ok(()) } else { Err(format!("ended after {elapsed:?}")) }
}

/// Runs the check for every wait, a few at a time.
fn check_each(waits: &[Wait], check: impl Fn(&Wait) -> Result<(), String> + Sync) {
    let next = std::sync::atomic::AtomicUsize::new(0);
    let work = || {
        while let Some(wait) = waits.get(next.fetch_add(1, std::sync::atomic::Ordering::Relaxed)) {
            try_three_times(wait.what, || check(wait));
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(work);
        }
    });
}

/// All waits in a thorough run, otherwise some of different kinds; Esc is tried with all of them.
fn sample_waits(waits: Vec<Wait>) -> Vec<Wait> {
    waits.into_iter().step_by(pick_count(1, 3)).collect()
}

#[test]
fn r62_esc_ends_every_wait_at_once_and_keeps_the_partial_reply() {
    let runtime = Runtime::new().unwrap();
    check_each(&all_waits(&runtime), |wait| stop_with_key(wait, "\x1b"));
}

#[test]
fn r62_ctrl_c_ends_every_wait_at_once_and_keeps_the_partial_reply() {
    let runtime = Runtime::new().unwrap();
    check_each(&sample_waits(all_waits(&runtime)), |wait| stop_with_key(wait, "\x03"));
}

#[test]
fn r63_ctrl_c_twice_exits_during_every_wait() {
    let runtime = Runtime::new().unwrap();
    check_each(&sample_waits(all_waits(&runtime)), exit_with_ctrl_c);
}

#[test]
fn r63_interrupt_ends_every_wait_in_headless_mode() {
    let runtime = Runtime::new().unwrap();
    let mut waits = all_waits(&runtime);
    // A headless run does not wait that long and fails at once.
    waits.retain(|wait| wait.what != "a wait of an hour");
    check_each(&waits, interrupt_headless);
}
