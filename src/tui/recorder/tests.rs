//! Tests of recordings, which are played into a terminal.

use super::*;
use crate::chat::Chunk;
use crate::tui::event::Event;
use crate::tui::parts::line_cache::LineCache;
use crate::tui::popup::{Popup, Reader, ReaderBody};
use crate::tui::tests::{Screen, buffer_text, command_intent, reply_entry, turn_end, user_message};
use std::path::PathBuf;

/// A screen that is recorded.
struct RecordedScreen {
    screen: Screen,
    recorder: Recorder,
    folder: tempfile::TempDir,
    now: Duration,
}

impl RecordedScreen {
    fn new(screen: Screen, secrets: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let options = RecordingOptions {
            version: CastVersion::V3,
            secrets: secrets.iter().copied().collect(),
            timestamp: None,
            title: None,
        };
        let recorder = Recorder::start(&folder.path().join("a.cast"), &options, &screen.state, Duration::ZERO).unwrap();
        Self { screen, recorder, folder, now: Duration::ZERO }
    }

    /// Records the current frame after 100 ms, and returns it as text.
    fn record_frame(&mut self) -> String {
        self.now += Duration::from_millis(100);
        let buffer = self.screen.draw_frame();
        self.recorder.record_frame(&self.screen.state, &buffer, None, self.now).unwrap();
        buffer_text(&buffer)
    }

    /// Ends the recording, and returns its events.
    fn finish(self) -> Vec<(f64, String, String)> {
        let file: PathBuf = self.recorder.path().to_owned();
        self.recorder.finish().unwrap();
        let text = std::fs::read_to_string(file).unwrap();
        drop(self.folder);
        text.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect()
    }
}

/// Plays the output of a recording, and returns the screen after each event.
fn play(events: &[(f64, String, String)], size: (u16, u16)) -> Vec<String> {
    let mut terminal = vt100::Parser::new(size.1.try_into().unwrap(), size.0.try_into().unwrap(), 0);
    let mut screens = Vec::new();
    for (_, code, data) in events {
        match code.as_str() {
            "o" => terminal.process(data.as_bytes()),
            "r" => {
                let (columns, rows) = data.split_once('x').unwrap();
                terminal.screen_mut().set_size(rows.parse().unwrap(), columns.parse().unwrap());
            }
            _ => continue,
        }
        screens.push(terminal.screen().contents());
    }
    screens
}

fn trim_lines(text: &str) -> Vec<&str> {
    text.trim_end().lines().map(str::trim_end).collect()
}

#[test]
fn a_recording_plays_as_the_screen_was() {
    let mut recorded = RecordedScreen::new(Screen::new(), &[]);
    let mut frames = vec![recorded.record_frame()];
    recorded.screen.send_text("What is here?");
    frames.push(recorded.record_frame());
    recorded.screen.receive_chunk(Chunk::Text("A *lot* of 日本 files.\n\n- one\n- two\n".into()));
    frames.push(recorded.record_frame());
    assert_eq!(recorded.record_frame(), frames[2], "a frame without a change is no event");
    recorded.screen.resize_screen(60, 15);
    frames.push(recorded.record_frame());
    let events = recorded.finish();
    let times: Vec<f64> = events.iter().map(|(time, ..)| *time).collect();
    assert_eq!(times, [0.1, 0.1, 0.0, 0.1, 0.2, 0.0], "{events:?}");
    let chapters: Vec<&str> = events.iter().filter(|(_, code, _)| code == "m").map(|(.., name)| &**name).collect();
    assert_eq!(chapters, ["What is here?"]);
    assert!(events.iter().any(|(_, code, data)| code == "r" && data == "60x15"), "{events:?}");
    let played = play(&events, (80, 24));
    let shown: Vec<&String> = [0, 1, 2, 4].map(|index| &played[index]).into();
    for (frame, shown) in frames.iter().zip(shown) {
        assert_eq!(trim_lines(shown), trim_lines(frame));
    }
    assert!(events.iter().all(|(.., data)| !data.contains("\u{1b}]")), "no title, link or clipboard");
}

#[test]
fn prompts_are_chapters() {
    let mut recorded = RecordedScreen::new(Screen::with_turn(), &[]);
    recorded.record_frame();
    recorded.screen.receive_call("c1", "bash_exec", command_intent("cargo test"));
    recorded.record_frame();
    recorded.record_frame();
    let events = recorded.finish();
    let chapters: Vec<&str> = events.iter().filter(|(_, code, _)| code == "m").map(|(.., name)| &**name).collect();
    assert_eq!(chapters, ["Approval: Run cargo test"]);
}

#[test]
fn secrets_of_the_session_are_masked_also_where_only_their_end_is_visible() {
    let rows: Vec<String> =
        (0..60_u64).map(|row| format!("{:064x}", u128::from(row + 7) * 0xfedc_ba98_7654_3211)).collect();
    let pem = format!("```\n-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n```", rows.join("\n"));
    let entries = [user_message("the word is tuesday-tuesday"), reply_entry(&pem), turn_end()];
    let mut recorded = RecordedScreen::new(Screen::with_entries(entries), &["tuesday-tuesday"]);
    let shown = recorded.record_frame();
    assert!(shown.contains(&rows[59]) && !shown.contains("BEGIN"), "{shown}");
    recorded.screen.press_key("ctrl-home");
    recorded.record_frame();
    recorded.screen.send_text("and password=correct-horse-battery");
    recorded.screen.receive_chunk(Chunk::Text("Key: sk-proj-Zq3vT8yLm2Nc7Rb1Xw5Kd9Hf4Gj6Ps0A".into()));
    recorded.record_frame();
    let events = recorded.finish();
    let all: String = events.iter().map(|(.., data)| data.as_str()).collect();
    for secret in
        rows.iter().map(String::as_str).chain(["tuesday-tuesday", "correct-horse-battery", "Zq3vT8yLm2Nc7Rb1"])
    {
        assert!(!all.contains(&secret[..12]), "{secret}");
    }
    assert!(all.contains("and password="), "{all}");
}

#[test]
fn frames_before_the_start_are_not_recorded() {
    let mut recorded = RecordedScreen::new(Screen::new(), &[]);
    recorded.recorder.start = Duration::from_secs(1);
    recorded.record_frame();
    recorded.now = Duration::from_millis(1_400);
    recorded.record_frame();
    let events = recorded.finish();
    assert_eq!((events.len(), events[0].0), (1, 0.5), "the first frame is a whole one: {events:?}");
    assert!(events[0].2.contains("\u{1b}[2J"), "{events:?}");
}

#[test]
fn a_session_that_is_opened_later_is_searched_for_secrets_too() {
    let secret = "sk-proj-Zq3vT8yLm2Nc7Rb1Xw5Kd9Hf4Gj6Ps0A";
    let mut recorded = RecordedScreen::new(Screen::new(), &[]);
    recorded.record_frame();
    let mut other = Screen::with_entries([user_message(&format!("use {secret}")), turn_end()]);
    other.handle_event(Event::Notice(format!("…{}", &secret[12..])));
    recorded.screen = other;
    recorded.record_frame();
    let all: String = recorded.finish().into_iter().map(|(.., data)| data).collect();
    assert!(!all.contains(&secret[14..26]), "{all}");
}

#[test]
fn each_page_is_searched_also_if_it_is_as_long_as_the_one_before() {
    let mut recorded = RecordedScreen::new(Screen::new(), &[]);
    let mut all_rows = Vec::new();
    for seed in [3_u128, 5] {
        let rows: Vec<String> =
            (1..60_u128).map(|row| format!("{:032x}", row * seed * 0x1234_5678_9abc_def1)).collect();
        let key = format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----", rows.join("\n"));
        recorded.screen.state.viewport.popups.clear();
        let reader = Reader {
            title: "Key".into(),
            text: key.into(),
            body: ReaderBody::Plain,
            whole_text: None,
            search: None,
            top: Default::default(),
            layout: LineCache::default(),
        };
        recorded.screen.state.viewport.popups.push(Popup::Reader(reader));
        recorded.screen.press_key("end");
        let shown = recorded.record_frame();
        assert!(shown.contains(&rows[58]) && !shown.contains("BEGIN"), "{shown}");
        all_rows.extend(rows);
    }
    let all: String = recorded.finish().into_iter().map(|(.., data)| data).collect();
    assert!(all_rows.iter().all(|row| !all.contains(&row[16..])), "{all}");
}
