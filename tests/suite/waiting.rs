//! Every way to wait for a service that does not answer, in the real program: Esc and ctrl-c end each of them at once,
//! the prompt is usable again, the connection is closed, and what was said and came is kept.

use crate::support::pick_count;
use crate::support::program::{Program, Setup};
use crate::support::service::{Answer, Service, Step};
use crate::support::terminal_session::say;
use crate::support::time_limits::{is_within_limit, try_three_times};
use serde_json::json;
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

const JSON: &str = "application/json";
/// The prompt is usable again.
const USABLE: Duration = Duration::from_millis(500);
/// The connection is closed.
const CLOSED: Duration = Duration::from_secs(1);
/// Ctrl-C twice has left.
const LEFT: Duration = Duration::from_secs(2);

/// A service that makes the program wait, and how that looks.
struct Wait {
    what: &'static str,
    /// What the settings say of the profile `odd`, and of the profile `other`.
    base_url: String,
    other: Option<String>,
    more: &'static str,
    /// On the screen while it waits.
    shows: &'static str,
    /// What came before, and is kept.
    came: &'static str,
    /// Where no connection may stay open.
    port: u16,
    /// What keeps the service there.
    _held: Vec<Box<dyn std::any::Any + Sync>>,
}

impl Wait {
    fn new(what: &'static str, base_url: String, shows: &'static str) -> Self {
        let port = reqwest::Url::parse(&base_url).unwrap().port().unwrap();
        let (other, more) = (None, "model = \"m\"\n");
        Self { what, base_url, other, more, shows, came: "", port, _held: Vec::new() }
    }

    fn of(runtime: &Runtime, what: &'static str, answer: Answer, shows: &'static str) -> Self {
        let service = runtime.block_on(Service::start_strict([answer]));
        let wait = Self::new(what, service.base_url.clone(), shows);
        wait.holding(service)
    }

    fn holding(mut self, held: impl std::any::Any + Sync) -> Self {
        self._held.push(Box::new(held));
        self
    }

    fn setup(&self, arguments: &[&str]) -> Setup {
        let all: Vec<&str> = ["--profile", "odd"].into_iter().chain(arguments.iter().copied()).collect();
        let setup = Setup::new(&all);
        let config = setup.place.path().join("home/aye/config");
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

    /// Whether every connection to the service is closed within the time that this may take.
    fn closes(&self, since: Instant) -> bool {
        loop {
            if connections(self.port) == 0 {
                return true;
            }
            if !is_within_limit(CLOSED, since.elapsed()) {
                return false;
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }
}

/// How many connections to this port of this machine are being made or stand, but for those of the tests themselves.
fn connections(port: u16) -> usize {
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

/// An address at which nobody answers a call: its queue is full.
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
    Wait::new("a call that nobody takes", format!("http://{address}/v1"), "waiting for m").holding((listener, waiting))
}

/// A service that takes the call, says its words when something comes, and then neither reads nor closes.
fn deaf(what: &'static str, scheme: &str, says: &'static str, shows: &'static str) -> Wait {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            std::thread::spawn(move || {
                // An answer to what was not asked yet is none.
                let _ = stream.peek(&mut [0]);
                let _ = std::io::Write::write_all(&mut stream, says.as_bytes());
                loop {
                    std::thread::park();
                }
            });
        }
    });
    Wait::new(what, format!("{scheme}://{address}/v1"), shows)
}

fn half_a_call() -> Answer {
    let function = json!({ "name": "write_file", "arguments": "{\"path\": \"a.txt\", \"content\": \"half" });
    let delta = json!({ "tool_calls": [{ "index": 0, "id": "c1", "function": function }] });
    Answer::stream().event(json!({ "choices": [{ "index": 0, "delta": delta }] })).then(Step::Stall)
}

fn busy(wait: &str) -> Answer {
    Answer::body(503, JSON, &[&format!("retry-after: {wait}")], r#"{"error":{"message":"Overloaded"}}"#)
}

/// Every wait there is.
fn waits(runtime: &Runtime) -> Vec<Wait> {
    let stall = || Answer::default().then(Step::Stall);
    let of = |what, answer, shows| Wait::of(runtime, what, answer, shows);
    let half = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"Half a reply\\n\"}}]}\n\n";
    let mut all = vec![
        black_hole(runtime),
        deaf("a handshake that never ends", "https", "", "waiting for m"),
        of("no head", stall(), "waiting for m"),
        of("a head and no event", Answer::stream().then(Step::Stall), "waiting for m"),
        of("in a reply", Answer::stream().says("Half a reply\n").then(Step::Stall), "Half a reply"),
        of("in a call", half_a_call(), "writing call: write_file"),
        of("a countdown", busy("40"), "try 2 of 5 in 3"),
        of("a wait of an hour", busy("3000"), "try 2 of 5 in 49 min"),
        of("a silence", Answer::stream().then(Step::Stall), "timeout at 9 s"),
        of("another service", Answer::body(401, JSON, &[], "{}"), "fell back to second"),
        of("a list of models", stall(), "waiting for the provider"),
        deaf("a service that ignores the close", "http", half, "Half a reply"),
    ];
    for wait in &mut all {
        match wait.what {
            "a silence" => wait.more = "model = \"m\"\nidle_seconds = 9\n",
            "a list of models" => wait.more = "",
            "in a reply" | "a service that ignores the close" => wait.came = "Half a reply",
            "another service" => {
                let other = runtime.block_on(Service::start_strict([stall()]));
                (wait.other, wait.port) =
                    (Some(other.base_url.clone()), Wait::new("", other.base_url.clone(), "").port);
                wait._held.push(Box::new(other));
            }
            _ => {}
        }
    }
    all
}

/// What the session's file holds.
fn session(place: &Path) -> String {
    let mut files = std::fs::read_dir(place.join("home/aye/data/sessions")).unwrap().flatten();
    std::fs::read_to_string(files.next().expect("a session is kept").path()).unwrap()
}

/// Until the words are on the screen; how long that took.
fn time(program: &mut Program, words: &str, since: Instant) -> Duration {
    program.until(words);
    since.elapsed()
}

/// Waits, stops with the key, writes something; what went wrong, if anything did.
fn stops(wait: &Wait, key: &str) -> Result<(), String> {
    let mut program = wait.setup(&[]).start();
    program.until("Connected to");
    say(&mut program, "hello there");
    program.until(wait.shows);
    let pressed = Instant::now();
    program.keys(key);
    let usable = time(&mut program, "stopped", pressed);
    let closed = wait.closes(pressed);
    program.types("next words");
    program.until("❯ next words");
    if !is_within_limit(USABLE, usable) || !closed {
        return Err(format!("usable after {usable:?}, closed: {closed}"));
    }
    let ends = |program: &mut Program| session(program.place.path()).contains("interrupted");
    program.until_that("the end of the turn", ends);
    let all = session(program.place.path());
    assert!(all.contains("hello there"), "{}: {all}", wait.what);
    let marked = all.contains("\"incomplete\":\"stopped\"");
    assert!(all.contains(wait.came) && marked != wait.came.is_empty(), "{}: {all}", wait.what);
    assert!(!program.screen().contains("✗"), "{}: it is no failure", wait.what);
    Ok(())
}

/// Waits, and leaves with ctrl-c twice.
fn leaves(wait: &Wait) -> Result<(), String> {
    let mut program = wait.setup(&[]).start();
    program.until("Connected to");
    say(&mut program, "hello there");
    program.until(wait.shows);
    let pressed = Instant::now();
    program.keys("\x03");
    program.keys("\x03");
    let code = program.wait_for_exit();
    let left = pressed.elapsed();
    assert_eq!(code, 0, "{}", wait.what);
    assert!(program.is_restored(), "{}: {}", wait.what, program.screen());
    if is_within_limit(LEFT, left) { Ok(()) } else { Err(format!("left after {left:?}")) }
}

/// Stops a run without a screen as a shell does.
fn interrupts(wait: &Wait) -> Result<(), String> {
    let mut program = wait.setup(&["-p", "hello there"]).start();
    let here = |program: &mut Program| match wait.what {
        "a countdown" => {
            program.until("trying again in 40 s");
        }
        "another service" => {
            program.until("fell back to second");
        }
        _ => {
            program.until_that("the service is connected to", |_| connections(wait.port) > 0);
            program.until(wait.came);
            program.wait_ms(100);
        }
    };
    here(&mut program);
    let pressed = Instant::now();
    program.signal(rustix::process::Signal::INT);
    let code = program.wait_for_exit();
    let left = pressed.elapsed();
    assert_eq!(code, 130, "{}", wait.what);
    let all = session(program.place.path());
    assert!(all.contains("hello there") && all.contains("interrupted"), "{}: {all}", wait.what);
    assert!(all.contains(wait.came), "{}: {all}", wait.what);
    if is_within_limit(LEFT, left) { Ok(()) } else { Err(format!("ended after {left:?}")) }
}

/// Every wait, a few at a time.
fn every(waits: &[Wait], check: impl Fn(&Wait) -> Result<(), String> + Sync) {
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

/// All of them where the tests are thorough, else a few of different kinds: Esc is tried with all.
fn some(waits: Vec<Wait>) -> Vec<Wait> {
    waits.into_iter().step_by(pick_count(1, 3)).collect()
}

#[test]
fn r62_esc_ends_every_state_of_waiting_at_once_and_keeps_what_came() {
    let runtime = Runtime::new().unwrap();
    every(&waits(&runtime), |wait| stops(wait, "\x1b"));
}

#[test]
fn r62_ctrl_c_ends_every_state_of_waiting_at_once_and_keeps_what_came() {
    let runtime = Runtime::new().unwrap();
    every(&some(waits(&runtime)), |wait| stops(wait, "\x03"));
}

#[test]
fn r63_ctrl_c_twice_leaves_every_state_of_waiting() {
    let runtime = Runtime::new().unwrap();
    every(&some(waits(&runtime)), leaves);
}

#[test]
fn r63_an_interrupt_ends_every_state_of_waiting_without_a_screen() {
    let runtime = Runtime::new().unwrap();
    let mut waits = waits(&runtime);
    // Nobody is there to see it: so long a wait is told at once.
    waits.retain(|wait| wait.what != "a wait of an hour");
    every(&waits, interrupts);
}
