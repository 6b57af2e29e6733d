//! A talk of very many turns in the real program: what it costs in memory, on disk and in time, measured from outside.
//!
//! The figures are printed by `AYE_TEST_TURNS=10000 AYE_TEST_PROGRAM=$PWD/target/release/aye cargo test --test suite
//! a_long_talk -- --nocapture`, once `cargo build --release` has run.

use crate::support::hand::PATIENCE;
use crate::support::kept::{ALONE, settings};
use crate::support::often;
use crate::support::program::{Program, Setup};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

/// What a service saw of one request.
struct Asked {
    /// When its first byte came.
    at: Instant,
    /// The size of its body.
    bytes: usize,
    /// How many messages it had.
    messages: usize,
    /// When the last byte of the reply was handed over.
    answered: Instant,
}

/// A service that answers the nth request with `reply n.`, at its address; and what it saw.
fn service() -> (String, Receiver<Asked>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}/v1", listener.local_addr().unwrap());
    let (saw, seen) = channel();
    std::thread::spawn(move || {
        let count = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
        for socket in listener.incoming() {
            let (socket, saw, count) = (socket.unwrap(), saw.clone(), count.clone());
            std::thread::spawn(move || converse(socket, &saw, &count));
        }
    });
    (base, seen)
}

/// Answers everything that comes over one connection.
fn converse(mut socket: TcpStream, saw: &Sender<Asked>, count: &std::sync::atomic::AtomicUsize) {
    socket.set_nodelay(true).unwrap();
    let mut bytes = vec![0; 1 << 16];
    let mut said: Vec<u8> = Vec::new();
    let mut at = None;
    loop {
        let Ok(read) = socket.read(&mut bytes) else { return };
        if read == 0 {
            return;
        }
        let began = *at.get_or_insert_with(Instant::now);
        said.extend_from_slice(&bytes[..read]);
        let Some(head) = said.windows(4).take(2000).position(|four| four == b"\r\n\r\n") else { continue };
        let text = String::from_utf8_lossy(&said[..head]).to_lowercase();
        let length: usize = text.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok()).unwrap();
        if said.len() < head + 4 + length {
            continue;
        }
        let body = &said[head + 4..];
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
        let asked = Asked { at: began, bytes: length, messages, answered: Instant::now() };
        saw.send(asked).unwrap();
        said.clear();
        at = None;
    }
}

/// What the system says of the program's memory, in kB: all of it, and what is its own alone.
fn memory(program: &Program) -> (u64, u64) {
    let status = std::fs::read_to_string(format!("/proc/{}/status", program.pid())).unwrap();
    let field = |name: &str| {
        let line = status.lines().find(|line| line.starts_with(name)).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    (field("VmRSS:"), field("RssAnon:"))
}

/// The processor time that the program has used, in milliseconds.
fn used(program: &Program) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{}/stat", program.pid())).unwrap();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap().split_whitespace().collect();
    let ticks = |at: usize| fields[at].parse::<u64>().unwrap();
    // Ticks are hundredths of a second wherever this runs.
    10 * (ticks(11) + ticks(12))
}

fn session_file(place: &Path) -> PathBuf {
    let mut files = std::fs::read_dir(place.join("home/aye/data/sessions")).unwrap().flatten();
    files.next().expect("a session is on disk").path()
}

/// Whether the last line of the file is the end of a turn; only its end is read.
fn has_ended(file: &Path) -> bool {
    let mut file = std::fs::File::open(file).unwrap();
    let size = file.metadata().unwrap().len();
    file.seek(SeekFrom::Start(size.saturating_sub(200))).unwrap();
    let mut end = Vec::new();
    file.read_to_end(&mut end).unwrap();
    let end = String::from_utf8_lossy(&end);
    end.ends_with('\n') && end.trim_end().rsplit('\n').next().is_some_and(|line| line.contains("finished"))
}

/// Figures of the last turns before one.
struct Figures {
    turn: usize,
    resident: u64,
    own: u64,
    file: u64,
    body: usize,
    messages: usize,
    /// Processor time a turn since the figures before, in microseconds.
    work: u64,
    /// Medians, over at most fifty turns: from Enter to the request's first byte, from the reply's last byte to the
    /// screen, from Enter to there.
    to_wire: Duration,
    to_screen: Duration,
    whole: Duration,
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

#[allow(clippy::print_stdout, reason = "figures are there to be read")]
#[test]
fn r65_a_long_talk_costs_as_much_a_turn_at_its_end_as_at_its_beginning() {
    let wanted = std::env::var("AYE_TEST_TURNS").ok().and_then(|turns| turns.parse().ok());
    let turns: usize = wanted.unwrap_or_else(|| often(400, 100));
    let (base, seen) = service();
    let setup = Setup::new(&["--base-url", &base, "--model", "m"]).size(100, 30);
    // Nothing is asked beside the talk.
    settings(&setup, ALONE);
    let mut program = setup.start();
    program.until("ask mode");
    let mut figures: Vec<Figures> = Vec::new();
    let mut last: Vec<(Duration, Duration, Duration)> = Vec::new();
    let mut worked = used(&program);
    for turn in 1..=turns {
        // Pasted, and Enter when that is drawn: nobody types between them.
        program.keys(&format!("\x1b[200~words {turn}.\x1b[201~"));
        program.until(&format!("words {turn}."));
        let pressed = Instant::now();
        program.keys("\r");
        let asked = seen.recv_timeout(PATIENCE).expect("it is asked");
        program.until(&format!("reply {turn}."));
        let shown = Instant::now();
        last.push((asked.at - pressed, shown.saturating_duration_since(asked.answered), shown - pressed));
        let file = session_file(program.place.path());
        let end = Instant::now() + PATIENCE;
        while !has_ended(&file) {
            assert!(Instant::now() < end, "turn {turn} did not end:\n{}", program.screen());
            program.lets_pass(1);
        }
        assert!(seen.try_recv().is_err(), "asked once a turn");
        if [turns / 4, turns / 2, turns, 100, 1000, 10_000].contains(&turn) {
            let times = &last[last.len().saturating_sub(50)..];
            let of = |pick: fn(&(Duration, Duration, Duration)) -> Duration| median(times.iter().map(pick).collect());
            let (resident, own) = memory(&program);
            let before = std::mem::replace(&mut worked, used(&program));
            let since = turn - figures.last().map_or(0, |figure| figure.turn);
            let figure = Figures {
                turn,
                resident,
                own,
                file: std::fs::metadata(&file).unwrap().len(),
                body: asked.bytes,
                messages: asked.messages,
                work: 1000 * (worked - before) / since as u64,
                to_wire: of(|times| times.0),
                to_screen: of(|times| times.1),
                whole: of(|times| times.2),
            };
            println!(
                "turn {:>6}: {:>6} kB resident, {:>6} kB own, {:>9} B on disk, {:>9} B asked in {:>5} messages, {:>6} µs of work a turn; Enter to \
                 wire {:?}, last byte to screen {:?}, Enter to screen {:?}",
                figure.turn,
                figure.resident,
                figure.own,
                figure.file,
                figure.body,
                figure.messages,
                figure.work,
                figure.to_wire,
                figure.to_screen,
                figure.whole
            );
            figures.push(figure);
            last.clear();
        }
    }
    let at = |turn: usize| figures.iter().find(|figure| figure.turn == turn).expect("it was measured");
    let (early, half, all) = (at(turns / 4), at(turns / 2), at(turns));
    // The numbers have a digit more as they grow, and so has a turn a few bytes; it is not a turn's worth.
    let per_turn = |from: &Figures, to: &Figures| (to.file - from.file) as usize / (to.turn - from.turn);
    let (before, after) = (per_turn(early, half), per_turn(half, all));
    assert!(after <= before + 16 && after < 1024, "bytes on disk a turn: {before}, then {after}");
    let own = (all.own.saturating_sub(half.own)) as usize / (all.turn - half.turn);
    assert!(own < 64, "a turn of a few words takes {own} kB");
    if wanted.is_none() {
        assert_eq!(all.messages - half.messages, 2 * (all.turn - half.turn), "what was said goes along, once");
    }
}
