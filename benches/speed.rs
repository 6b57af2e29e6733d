//! Benchmarks: folding and reading a session, laying out a long reply, collecting deltas, drawing a frame, a key press,
//! a growing reply, and redaction.

use aye::agent;
use aye::chat::{Digest, Ending, Entry, Outcome, Session, SessionId, ToolCall};
use aye::llm::chat_collector::{ChatCollector, ChunkQueue, Collector, End};
use aye::policy::Policy;
use aye::store::{Header, Log, SessionLog};
use aye::text::link::{Existence, LinkTarget};
use aye::tui::canvas::Canvas;
use aye::tui::keys::Keymap;
use aye::tui::parts::transcript::layout_cache::LayoutCache;
use aye::tui::text::markdown;
use aye::tui::theme::catalog::Themes;
use aye::tui::{Connection, Event, Settings, State, update, view};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use serde_json::{Value, json};
use std::hint::black_box;

/// Returns a reply of about 35 kB: prose, lists, tables, code, wide characters.
fn long_reply() -> String {
    let part = "## A heading\n\nSome **prose** with `code`, a path src/retry.rs:41 and 漢字 in it, long enough to be wrapped \
        at the usual widths of a terminal.\n\n- one\n- two\n  - nested\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n\
        ```rust\nfn main() {\n    println!(\"hello\");\n}\n```\n\n";
    part.repeat(35_000 / part.len())
}

/// Returns a session of this many entries, five per turn.
fn entries(count: usize) -> Vec<Entry> {
    let turn = |turn: usize| {
        let id = format!("call_{turn}");
        let call = ToolCall { id: id.as_str().into(), name: "read_file".into(), arguments: r#"{"path":"a"}"#.into() };
        let replied = |text: &str, calls| Entry::Replied {
            text: text.to_owned(),
            reasoning: String::new(),
            calls,
            incomplete: None,
            model: "m".into(),
            usage: None,
            thought_ms: 0,
            echo: None,
        };
        [
            Entry::UserMessage { text: format!("question {turn}") },
            replied("", vec![call]),
            Entry::Settled {
                call: id.as_str().into(),
                outcome: Outcome::Done("x".repeat(400)),
                took_ms: 3,
                sha256: Digest::default(),
                staged: None,
                usage: None,
            },
            replied("An answer with **some** words, a list\n\n- one\n- two\n", Vec::new()),
            Entry::Ended { ending: Ending::Finished },
        ]
    };
    (0..count / 5).flat_map(turn).collect()
}

fn fold(c: &mut Criterion) {
    let entries = entries(10_000);
    let mut group = c.benchmark_group("session");
    group.throughput(Throughput::Elements(entries.len() as u64));
    group.bench_function("fold 10,000 entries", |b| {
        b.iter_batched(|| entries.clone(), Session::replay, BatchSize::LargeInput);
    });
    let temporary = tempfile::tempdir().expect("a folder");
    let header = Header::new(SessionId("01BENCH".into()), temporary.path(), "m", false);
    let mut log = SessionLog::new(temporary.path(), &header);
    for entry in &entries {
        log.append(entry).expect("the entry is written");
    }
    let path = log.path().to_owned();
    group.bench_function("read 10,000 entries back", |b| b.iter(|| aye::store::read(black_box(&path))));
    group.finish();
}

fn layout(c: &mut Criterion) {
    let reply = long_reply();
    let theme = Themes::bundled().choose_theme("dark", None);
    let mut group = c.benchmark_group("reply");
    group.throughput(Throughput::Bytes(reply.len() as u64));
    group.bench_function("lay out 35 kB", |b| {
        b.iter(|| {
            markdown::lay_out_markdown(
                black_box(&reply),
                100,
                &theme,
                &|_: &LinkTarget| Existence::Unknown,
                &markdown::NoPictures,
            )
        });
    });
    group.bench_function("find the stable prefix of 35 kB", |b| b.iter(|| markdown::stable_prefix(black_box(&reply))));
    group.finish();
}

fn collect_deltas(c: &mut Criterion) {
    let delta = |text: &str| json!({ "choices": [{ "index": 0, "delta": { "content": text } }] });
    let deltas: Vec<Value> = (0..10_000).map(|_| delta("word ")).collect();
    let mut group = c.benchmark_group("stream");
    group.throughput(Throughput::Elements(deltas.len() as u64));
    group.bench_function("collect 10,000 deltas", |b| {
        b.iter(|| {
            let (mut collector, mut chunks) = (ChatCollector::default(), ChunkQueue::new());
            for delta in &deltas {
                collector.collect_event(delta, &mut chunks);
                black_box(chunks.drain(..).count());
            }
            collector.finish(End::Marked, &mut chunks);
            chunks
        });
    });
    group.finish();
}

/// Size of a usual terminal.
const TERMINAL: (u16, u16) = (120, 36);

/// Returns a screen with a session of this many entries.
fn screen(count: usize) -> State {
    let blank = agent::State::new(Policy::default(), "m".into(), String::new(), Vec::new());
    let themes = Themes::bundled();
    let theme = themes.choose_theme("dark", None);
    let settings = Settings {
        folder: "/project".into(),
        location: "~/project ⎇ main".into(),
        has_links: true,
        reads_terminal_clipboard: false,
        ..Settings::default()
    };
    let mut state = State::new(
        agent::resume_session(Session::replay(entries(count)), blank, &Default::default()).0,
        SessionId("01BENCH".into()),
        Connection { model: "m".into(), ..Connection::default() },
        themes,
        theme,
        Keymap::default(),
        settings,
        aye::chat::UnsentText::default(),
        Vec::new(),
        Vec::new(),
    );
    update::update(&mut state, &mut LayoutCache::default(), Event::Resized(TERMINAL.0, TERMINAL.1));
    state
}

fn frame(c: &mut Criterion) {
    let blank = Buffer::empty(Rect::new(0, 0, TERMINAL.0, TERMINAL.1));
    let key = |code| Event::Key(KeyEvent::new(code, KeyModifiers::NONE));
    let mut state = screen(10_000);
    let mut group = c.benchmark_group("frame of 10,000 entries");
    group.bench_function("with a warm layout cache", |b| {
        let mut cache = LayoutCache::default();
        b.iter_batched_ref(
            || blank.clone(),
            |buffer| view::draw_screen(&state, &mut cache, buffer),
            BatchSize::SmallInput,
        );
    });
    group.bench_function("with an empty layout cache", |b| {
        b.iter_batched_ref(
            || (blank.clone(), LayoutCache::default()),
            |(buffer, cache)| view::draw_screen(&state, cache, buffer),
            BatchSize::SmallInput,
        );
    });
    group.bench_function("after a key into the composer", |b| {
        let (mut cache, mut is_typing) = (LayoutCache::default(), false);
        b.iter_batched_ref(
            || blank.clone(),
            |buffer| {
                // Type a letter and delete it again, so that the composer does not grow.
                is_typing = !is_typing;
                let code = if is_typing { KeyCode::Char('a') } else { KeyCode::Backspace };
                update::update(&mut state, &mut cache, key(code));
                view::draw_screen(&state, &mut cache, buffer)
            },
            BatchSize::SmallInput,
        );
    });
    group.finish();
}

/// Draws the frames of a reply that grows by a fixed number of characters, and converts them to terminal output.
fn paint(c: &mut Criterion) {
    let reply = long_reply();
    let chars: Vec<char> = reply.chars().collect();
    let pieces: Vec<String> = chars.chunks(115).map(|piece| piece.iter().collect()).collect();
    let mut group = c.benchmark_group("painting");
    group.throughput(Throughput::Elements(pieces.len() as u64));
    group.sample_size(10);
    // The same frames for both writers.
    let mut drawn_frames = Vec::new();
    let draw_frames = |visit: &mut dyn FnMut(&Buffer, &view::DrawnScreen)| {
        let (mut state, mut cache) = (screen(10), LayoutCache::default());
        let message = agent::Event::UserMessage("go".into());
        update::update(&mut state, &mut cache, Event::Agent(message));
        let turn = state.agent.current_turn().expect("a turn runs");
        for piece in &pieces {
            let chunk = aye::chat::Chunk::Text(piece.clone());
            let event = agent::Event::ReplyChunk { turn, chunk, elapsed: std::time::Duration::ZERO };
            update::update(&mut state, &mut cache, Event::Agent(event));
            let mut buffer = Buffer::empty(Rect::new(0, 0, TERMINAL.0, TERMINAL.1));
            let drawn = view::draw_screen(&state, &mut cache, &mut buffer);
            visit(&buffer, &drawn);
        }
    };
    draw_frames(&mut |buffer, drawn| drawn_frames.push((buffer.clone(), drawn.clone())));
    group.bench_function("update, lay out and draw every frame of 35 kB", |b| {
        b.iter(|| {
            draw_frames(&mut |buffer, _| {
                black_box(buffer);
            })
        });
    });
    let own_canvas = || -> usize {
        let erase_uses_background = true;
        let mut canvas = Canvas::new(erase_uses_background);
        let frame = |(buffer, drawn): &(Buffer, view::DrawnScreen)| {
            canvas.encode_frame(buffer.clone(), &drawn.links, drawn.cursor).len()
        };
        drawn_frames.iter().map(frame).sum()
    };
    let library_backend = || -> usize {
        let mut bytes = Vec::new();
        let mut previous = Buffer::empty(Rect::new(0, 0, TERMINAL.0, TERMINAL.1));
        for (buffer, _) in &drawn_frames {
            let cells = previous.diff(buffer).into_iter();
            let mut backend = CrosstermBackend::new(&mut bytes);
            backend.draw(cells).expect("writing to memory");
            previous = buffer.clone();
        }
        bytes.len()
    };
    // The name contains the number of bytes.
    let name = |writer: &str, bytes: usize| format!("write frames {writer}, {} bytes each", bytes / drawn_frames.len());
    group.bench_function(name("by the canvas", own_canvas()), |b| b.iter(own_canvas));
    group.bench_function(name("by ratatui's backend", library_backend()), |b| b.iter(library_backend));
    group.finish();
}

/// Redacts 1 MB of source code, and of texts full of prefixes of secrets.
fn redaction(c: &mut Criterion) {
    const SIZE: usize = 1_000_000;
    let mut group = c.benchmark_group("redact");
    group.sample_size(10).throughput(Throughput::Bytes(SIZE as u64));
    let code = include_str!("../src/text/redaction.rs");
    for (name, part) in [
        ("source code", code),
        ("keys", "KEY=["),
        ("blocks", "-----BEGIN PRIVATE KEY-----"),
        ("tokens", "a\u{200b}password="),
    ] {
        let text = part.repeat(SIZE / part.len() + 1);
        group.bench_function(name, |b| b.iter(|| aye::text::redaction::redact(black_box(text.as_str()))));
    }
    group.finish();
}

criterion_group!(benches, fold, layout, collect_deltas, frame, paint, redaction);
criterion_main!(benches);
