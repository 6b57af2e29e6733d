//! A session of very many turns in the real program: memory, disk space and time per turn, measured from outside.
//!
//! To print the figures: `AYE_TEST_TURNS=10000 AYE_TEST_PROGRAM=$PWD/target/release/aye cargo test --test suite
//! session_growth -- --nocapture`, after `cargo build --release`.

use crate::support::keyboard::PATIENCE;
use crate::support::pick_count;
use crate::support::program::{Program, Setup};
use crate::support::stored_files::{NO_TITLES, write_settings};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// One request as the service saw it.
struct SeenRequest {
    /// Arrival of the first byte.
    at: Instant,
    /// Size of the body.
    bytes: usize,
    /// Number of messages.
    messages: usize,
    /// When the last byte of the reply was sent.
    answered: Instant,
}

/// Starts a service that answers the nth request with `reply n.`; returns its base URL and the requests it sees.
fn start_service() -> (String, Receiver<SeenRequest>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let (saw, seen) = channel();
    std::thread::spawn(move || {
        let count = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        for socket in listener.incoming() {
            let (socket, saw, count) = (socket.unwrap(), saw.clone(), count.clone());
            std::thread::spawn(move || serve_connection(socket, &saw, &count));
        }
    });
    (base, seen)
}

/// Answers every request on one connection.
fn serve_connection(mut socket: TcpStream, saw: &Sender<SeenRequest>, count: &std::sync::atomic::AtomicUsize) {
    socket.set_nodelay(true).unwrap();
    let mut bytes = vec![0; 1 << 16];
    let mut received: Vec<u8> = Vec::new();
    let mut at = None;
    loop {
        let Ok(read) = socket.read(&mut bytes) else { return };
        if read == 0 {
            return;
        }
        let started = *at.get_or_insert_with(Instant::now);
        received.extend_from_slice(&bytes[..read]);
        let Some(head) = received.windows(4).take(2000).position(|four| four == b"\r\n\r\n") else { continue };
        let text = String::from_utf8_lossy(&received[..head]).to_lowercase();
        let length: usize = text.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap();
        if received.len() < head + 4 + length {
            continue;
        }
        let body = &received[head + 4..];
        let messages = body.windows(8).filter(|word| word == b"\"role\":\"").count();
        let number = 1 + count.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
        let delta = format!("{{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"reply {number}.\"}}}}]}}");
        let end = "{\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}";
        let events = format!("data: {delta}\n\ndata: {end}\n\ndata: [DONE]\n\n");
        let answer = format!(
            "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ncontent-length: {}\r\n\r\n{events}",
            events.len()
        );
        if socket.write_all(answer.as_bytes()).is_err() {
            return;
        }
        let request = SeenRequest { at: started, bytes: length, messages, answered: Instant::now() };
        saw.send(request).unwrap();
        received.clear();
        at = None;
    }
}

/// The memory of the program in kB: resident, and anonymous.
fn read_memory(program: &Program) -> (u64, u64) {
    let status = std::fs::read_to_string(format!("/proc/{}/status", program.pid())).unwrap();
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    (field("VmRSS:"), field("RssAnon:"))
}

/// The processor time of the program, in milliseconds.
fn read_cpu_ms(program: &Program) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", program.pid())).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks = |index: usize| fields[index].parse::<u64>().unwrap();
    // User and system time, the fields 14 and 15 of proc(5). The fields here begin with the third one. A clock tick is
    // a hundredth of a second on every system that the tests run on.
    10 * (ticks(11) + ticks(12))
}

fn session_file(root: &Path) -> PathBuf {
    let mut files = std::fs::read_dir(root.join("home/aye/data/sessions")).unwrap().flatten();
    files.next().expect("a session is on disk").path()
}

/// Returns whether the last line of the file is the end of a turn; reads only the end of the file.
fn has_ended(file: &Path) -> bool {
    let mut file = std::fs::File::open(file).unwrap();
    let size = file.metadata().unwrap().len();
    file.seek(SeekFrom::Start(size.saturating_sub(200))).unwrap();
    let mut end = Vec::new();
    file.read_to_end(&mut end).unwrap();
    let end = String::from_utf8_lossy(&end);
    end.ends_with('\n') && end.trim_end().rsplit('\n').next().is_some_and(|line| line.contains("finished"))
}

/// Figures measured at one turn.
struct Figures {
    turn: usize,
    resident: u64,
    private: u64,
    file: u64,
    body: usize,
    messages: usize,
    /// Processor time per turn since the previous figures, in microseconds.
    work: u64,
    /// Medians over at most fifty turns: from Enter to the first byte of the request, from the last byte of the reply
    /// to the screen, and from Enter to the screen.
    to_wire: Duration,
    to_screen: Duration,
    whole_turn: Duration,
}

fn median_duration(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

#[allow(clippy::print_stdout, reason = "figures are there to be read")]
#[test]
fn r65_cost_per_turn_stays_constant_in_a_long_session() {
    let wanted = std::env::var("AYE_TEST_TURNS").ok().and_then(|turns| turns.parse().ok());
    let turns: usize = wanted.unwrap_or_else(|| pick_count(400, 100));
    let (base, seen) = start_service();
    let setup = Setup::new(&["--base-url", &base, "--model", "m"]).size(100, 30);
    // No title is requested.
    write_settings(&setup, NO_TITLES);
    let mut program = setup.start();
    program.until("ask mode");
    let mut figures: Vec<Figures> = Vec::new();
    // `to_wire`, `to_screen` and `whole_turn` of each turn since the previous figures.
    let mut last: Vec<(Duration, Duration, Duration)> = Vec::new();
    let mut cpu_ms = read_cpu_ms(&program);
    for turn in 1..=turns {
        // The text is pasted, and Enter is pressed once it is drawn: no real user types between the two.
        program.press_keys(&format!("\x1b[200~words {turn}.\x1b[201~"));
        program.until(&format!("words {turn}."));
        let pressed = Instant::now();
        program.press_keys("\r");
        let request = seen.recv_timeout(PATIENCE).expect("it is asked");
        program.until(&format!("reply {turn}."));
        let shown = Instant::now();
        last.push((request.at - pressed, shown.saturating_duration_since(request.answered), shown - pressed));
        let file = session_file(program.root.path());
        let end = Instant::now() + PATIENCE;
        while !has_ended(&file) {
            assert!(Instant::now() < end, "turn {turn} did not end:\n{}", program.screen());
            program.wait_ms(1);
        }
        assert!(seen.try_recv().is_err(), "more than one request per turn");
        if [turns / 4, turns / 2, turns, 100, 1000, 10_000].contains(&turn) {
            let times = &last[last.len().saturating_sub(50)..];
            let median_of = |pick: fn(&(Duration, Duration, Duration)) -> Duration| {
                median_duration(times.iter().map(pick).collect())
            };
            let (resident, private) = read_memory(&program);
            let before = std::mem::replace(&mut cpu_ms, read_cpu_ms(&program));
            let since = turn - figures.last().map_or(0, |figure| figure.turn);
            let figure = Figures {
                turn,
                resident,
                private,
                file: std::fs::metadata(&file).unwrap().len(),
                body: request.bytes,
                messages: request.messages,
                work: 1000 * (cpu_ms - before) / since as u64,
                to_wire: median_of(|times| times.0),
                to_screen: median_of(|times| times.1),
                whole_turn: median_of(|times| times.2),
            };
            println!(
                "turn {:>6}: {:>6} kB resident, {:>6} kB own, {:>9} B on disk, {:>9} B asked in {:>5} messages, {:>6} µs of work a turn; Enter to \
                 wire {:?}, last byte to screen {:?}, Enter to screen {:?}",
                figure.turn,
                figure.resident,
                figure.private,
                figure.file,
                figure.body,
                figure.messages,
                figure.work,
                figure.to_wire,
                figure.to_screen,
                figure.whole_turn
            );
            figures.push(figure);
            last.clear();
        }
    }
    let figure_of = |turn: usize| figures.iter().find(|figure| figure.turn == turn).expect("it was measured");
    let (early, half, all) = (figure_of(turns / 4), figure_of(turns / 2), figure_of(turns));
    // Numbers get longer, and a turn grows by some bytes with them; that is not growth per turn.
    let per_turn = |from: &Figures, to: &Figures| (to.file - from.file) as usize / (to.turn - from.turn);
    let (before, after) = (per_turn(early, half), per_turn(half, all));
    assert!(after <= before + 16 && after < 1024, "bytes on disk a turn: {before}, then {after}");
    let kb_per_turn = (all.private.saturating_sub(half.private)) as usize / (all.turn - half.turn);
    assert!(kb_per_turn < 64, "a turn of a few words takes {kb_per_turn} kB");
    if wanted.is_none() {
        assert_eq!(all.messages - half.messages, 2 * (all.turn - half.turn), "each message is sent once");
    }
}
