//! Benchmarks: folding and reading a session, laying out a long reply, collecting deltas, drawing a frame, a key press,
//! a growing reply, pictures, and redaction.

use aye::agent;
use aye::chat::image::ImageSize;
use aye::chat::{Digest, Ending, Entry, Outcome, Session, SessionId, ToolCall};
use aye::llm::chat_collector::{ChatCollector, ChunkQueue, Collector, End};
use aye::policy::Policy;
use aye::store::{Header, Log, SessionLog};
use aye::text::link::{Existence, LinkTarget};
use aye::tui::canvas::Canvas;
use aye::tui::keys::Keymap;
use aye::tui::parts::pictures::{PictureData, PictureForm, Pixels, Protocol};
use aye::tui::parts::transcript::Layouts;
use aye::tui::parts::transcript::layout_cache::LayoutCache;
use aye::tui::text::markdown;
use aye::tui::theme::catalog::Themes;
use aye::tui::{Connection, Event, HostReply, LinkStatus, Settings, State, update, view};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::backend::Backend;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui_crossterm::CrosstermBackend;
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
    screen_with(entries(count), None)
}

/// Returns a screen with these entries that draws pictures in this way.
fn screen_with(entries: Vec<Entry>, pictures: Option<Protocol>) -> State {
    let blank = agent::State::new(Policy::default(), "m".into(), String::new(), Vec::new());
    let themes = Themes::bundled();
    let theme = themes.choose_theme("dark", None);
    let settings = Settings {
        folder: "/project".into(),
        location: "~/project ⎇ main".into(),
        has_links: true,
        pictures,
        ..Settings::default()
    };
    let mut state = State::new(
        agent::resume_session(Session::replay(entries), blank, &Default::default()).0,
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

/// Returns a screen with a reply that has ten pictures, each of 64 columns and 18 rows in cells of 10 × 20 pixels, and the layout
/// cache with them.
fn picture_screen(pictures: Option<Protocol>) -> (State, LayoutCache) {
    let part = |number: usize| {
        format!("Some text before.\n\n![shot]({number}.png)\n\nAnd after it:\n\n{}", "- a line\n\n".repeat(9))
    };
    let reply = Entry::Replied {
        text: (0..10).map(part).collect(),
        reasoning: String::new(),
        calls: Vec::new(),
        incomplete: None,
        model: "m".into(),
        usage: None,
        thought_ms: 0,
        echo: None,
    };
    let message = Entry::UserMessage { text: "go".into() };
    let mut state = screen_with(vec![message, reply, Entry::Ended { ending: Ending::Finished }], pictures);
    let mut cache = LayoutCache::default();
    state.lookups.pictures.set_cell_pixels((10, 20));
    let size = ImageSize { pixels: (640, 360), bytes: 100_000 };
    let mut handle = |state: &mut State, reply| {
        update::update(state, &mut cache, Event::Host(reply));
        view::draw_screen(state, &mut cache, &mut Buffer::empty(Rect::new(0, 0, TERMINAL.0, TERMINAL.1)));
    };
    handle(&mut state, HostReply::LinkStatuses(Vec::new()));
    let targets = state.lookups.take_pending();
    let statuses = targets.into_iter().map(|target| (target, LinkStatus::Picture(size))).collect();
    handle(&mut state, HostReply::LinkStatuses(statuses));
    while let Some((_, form)) = state.lookups.pictures.take_request() {
        let data = match form {
            PictureForm::Pixels(width, height) => {
                let rgba = (0..width * height * 4).map(|byte| byte as u8).collect();
                PictureData::Pixels(Pixels { width: width as usize, rgba })
            }
            PictureForm::Png(..) => PictureData::Png(vec![0; 200_000]),
            // About a byte for each pixel, as of a photo.
            PictureForm::Strips(strips) => {
                let strip = vec![b'?'; (strips.strip.0 * strips.strip.1) as usize];
                PictureData::Strips(vec![strip; strips.count as usize])
            }
        };
        handle(&mut state, HostReply::PictureRead(Ok(data)));
    }
    state.lookups.pictures.take_unsent();
    (state, cache)
}

/// Scrolls a transcript with pictures line by line, and converts each frame to terminal output. A frame with pictures may cost half
/// as much again as one of the captions alone.
fn pictures(c: &mut Criterion) {
    const LINES: isize = 200;
    let mut group = c.benchmark_group("200 frames of a scrolled transcript");
    group.sample_size(20).throughput(Throughput::Elements(LINES as u64));
    for (name, protocol) in [
        ("with captions alone", None),
        ("with half blocks", Some(Protocol::Blocks)),
        ("with kitty's placeholders", Some(Protocol::Kitty { first_id: 1 << 10 })),
        ("with sixel graphics", Some(Protocol::Sixel)),
    ] {
        let (mut state, mut cache) = picture_screen(protocol);
        let mut canvas = Canvas::new(true);
        let mut scroll = || -> usize {
            // Down and up again.
            let mut frame = |line: isize| {
                let mut transcript = std::mem::take(&mut state.viewport.transcript);
                let height = usize::from(view::layout::compute_areas(&state).transcript.height);
                let mut layouts = Layouts { context: state.layout_context(), cache: &mut cache, height };
                transcript.scroll_by(&mut layouts, if line < LINES / 2 { -1 } else { 1 });
                state.viewport.transcript = transcript;
                let mut buffer = canvas.empty_buffer(TERMINAL.0, TERMINAL.1);
                let drawn = view::draw_screen(&state, &mut cache, &mut buffer);
                canvas.encode_frame_with_strips(buffer, &drawn.links, &drawn.strips, drawn.cursor).len()
            };
            (0..LINES).map(&mut frame).sum()
        };
        let bytes = scroll() / LINES as usize;
        group.bench_function(format!("{name}, {bytes} bytes each"), |b| b.iter(&mut scroll));
    }
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

criterion_group!(benches, fold, layout, collect_deltas, frame, paint, pictures, redaction);
criterion_main!(benches);
