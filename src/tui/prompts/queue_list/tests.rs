//! The queue list: keys and rendering.

use super::*;
use crate::agent::Preapproval;
use crate::chat::{CommandLine, Plan, Preview, ToolCall, Work};
use crate::tui::parts::frame::PromptContext;
use crate::tui::parts::listening::TOO_SOON_AFTER_PASTE;
use crate::tui::prompts::prompt::Prompt;
use crate::tui::tests::buffer_text;
use crate::tui::theme::Theme;
use crossterm::event::{KeyCode, KeyModifiers};
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Draws the list and records the frame as the event loop does. Returns the screen as text.
fn draw_list(width: u16, height: u16, list: &mut QueueList, rows: &[QueueRow]) -> String {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    let (keys, theme) = (Keymap::default(), Theme::without_colours());
    let context = PromptContext { listening: Listening::Ready, keys: &keys, theme: &theme, message: "" };
    let drawn = list.draw(rows, &context, area, &mut buffer);
    list.record_frame(Duration::ZERO, drawn);
    buffer_text(&buffer)
}

fn press_key(list: &mut QueueList, rows: &[QueueRow], code: KeyCode) -> KeyResult {
    list.handle_key(&KeyEvent::from(code), &Keymap::default(), rows, Listening::Ready)
}

/// A denial of these calls, the last one first.
fn denial(calls: &[&str], message: &str) -> KeyResult {
    let deny = |call: &&str| PromptCommand::Decide((*call).into(), Decision::Deny(message.into()));
    KeyResult::Run([PromptCommand::IgnoreRepeats].into_iter().chain(calls.iter().rev().map(deny)).collect())
}

fn queue_row(number: usize, tool: &str, summary: &str, access: &str) -> QueueRow {
    let (can_open, can_deny) = (!["needs no approval", "approved"].contains(&access), access != "question");
    QueueRow {
        call: CallId(format!("c{number}")),
        number,
        tool: tool.into(),
        summary: summary.into(),
        arguments: String::new(),
        access: access.into(),
        is_sensitive: access == "destroys",
        is_destructive: access == "destroys",
        can_open,
        can_deny,
        is_approved: access == "approved",
    }
}

fn sample_rows() -> Vec<QueueRow> {
    vec![
        queue_row(1, "bash_exec", "cargo test retry -- --nocapture", "runs"),
        queue_row(2, "bash_exec", "rm -rf target", "destroys"),
        queue_row(3, "read_file", "src/retry.rs", "needs no approval"),
        queue_row(4, "ask_question", "Which clock?", "question"),
        queue_row(5, "write_file", "{\"path\":\"a.txt\"}", "not planned yet"),
    ]
}

#[test]
fn the_list_shows_tool_summary_and_access_of_each_call() {
    let (mut list, rows) = (QueueList::default(), sample_rows());
    press_key(&mut list, &rows, KeyCode::Char(' '));
    insta::assert_snapshot!(draw_list(60, 12, &mut list, &rows), @r#"
╭─ Queue ──────────────────────────── 1 selected · 2 of 5 ─╮
│   [x]   1 bash_exec    cargo test ret… runs              │
│ ❯ [ ]   2 bash_exec    rm -rf target   destroys          │
│   [ ]   3 read_file    src/retry.rs    needs no approval │
│         4 ask_question Which clock?    question          │
│   [ ]   5 write_file   {"path":"a.txt… not planned yet   │
│                                                          │
│ ──────────────────────────────────────────────────────── │
│ rm -rf target                                            │
│                                                          │
│                                                          │
╰─ enter open · n deny selected · m message · esc back ────╯
"#);
    insta::assert_snapshot!(draw_list(100, 11, &mut list, &rows), @r#"
╭─ Queue ──────────────────────────────────────────────────────────────────── 1 selected · 2 of 5 ─╮
│   [x]   1 bash_exec    cargo test retry -- --nocapture                         runs              │
│ ❯ [ ]   2 bash_exec    rm -rf target                                           destroys          │
│   [ ]   3 read_file    src/retry.rs                                            needs no approval │
│         4 ask_question Which clock?                                            question          │
│   [ ]   5 write_file   {"path":"a.txt"}                                        not planned yet   │
│ ──────────────────────────────────────────────────────────────────────────────────────────────── │
│ rm -rf target                                                                                    │
│                                                                                                  │
│                                                                                                  │
╰─ ↑↓ move · enter open prompt · space select · t all · n deny selected · m message · esc back ────╯
"#);
}

#[test]
fn columns_have_room_for_wide_and_marked_characters() {
    for (tool, expected) in [("天気予報", "天気予報"), ("a\u{202e}b", "a<U+202E>b")] {
        let rows = [queue_row(1, tool, "Berlin", "runs")];
        let screen = draw_list(100, 8, &mut QueueList::default(), &rows);
        assert!(screen.replace(' ', "").contains(&format!("1{expected}Berlin")), "{screen}");
    }
}

#[test]
fn r18_calls_cannot_be_approved_from_the_list() {
    let rows = sample_rows();
    for code in ['y', 'Y', 'a', 'e', 'd'].map(KeyCode::Char) {
        assert!(matches!(press_key(&mut QueueList::default(), &rows, code), KeyResult::Explained(_)), "{code:?}");
    }
    for code in ['q', '1', '?'].map(KeyCode::Char) {
        assert_eq!(press_key(&mut QueueList::default(), &rows, code), KeyResult::PassedOn, "{code:?}");
    }
    let mut list = QueueList::default();
    press_key(&mut list, &rows, KeyCode::Down);
    assert_eq!(
        press_key(&mut list, &rows, KeyCode::Enter),
        KeyResult::answered(PromptCommand::OpenPrompt("c2".into()))
    );
    press_key(&mut list, &rows, KeyCode::Down);
    assert!(matches!(press_key(&mut list, &rows, KeyCode::Enter), KeyResult::Explained(_)));
    press_key(&mut list, &rows, KeyCode::Down);
    assert_eq!(
        press_key(&mut list, &rows, KeyCode::Enter),
        KeyResult::answered(PromptCommand::OpenPrompt("c4".into())),
        "a question"
    );
}

#[test]
fn r15_a_denial_message_is_for_selected_calls_or_the_one_under_the_cursor() {
    let (mut list, rows) = (QueueList::default(), sample_rows());
    assert_eq!(press_key(&mut list, &rows, KeyCode::Char('m')), KeyResult::Handled);
    assert!(list.is_writing() && list.insert_paste("n\no"));
    for code in [KeyCode::Char('y'), KeyCode::Char(' '), KeyCode::Esc] {
        assert_eq!(press_key(&mut list, &rows, code), KeyResult::Handled, "{code:?}");
    }
    assert!(!list.is_writing(), "back in the list, nothing was denied");
    press_key(&mut list, &rows, KeyCode::Char(' '));
    press_key(&mut list, &rows, KeyCode::Char(' '));
    press_key(&mut list, &rows, KeyCode::Char('m'));
    for character in "not now".chars() {
        press_key(&mut list, &rows, KeyCode::Char(character));
    }
    let screen = draw_list(60, 12, &mut list, &rows);
    assert!(screen.contains("deny 2 because not now"), "two calls are selected: {screen}");
    let enter = KeyEvent::from(KeyCode::Enter);
    let result = list.handle_key(&enter, &Keymap::default(), &rows, Listening::Until(Duration::MAX));
    assert_eq!(
        result,
        KeyResult::Explained(TOO_SOON_AFTER_PASTE.into()),
        "an enter that came with a paste ends nothing"
    );
    // The first of the two calls has started in the meantime.
    let result = press_key(&mut list, &rows[1..], KeyCode::Enter);
    assert_eq!(result, denial(&["c2"], "not now"));
}

#[test]
fn destructive_calls_keep_their_colour_under_the_cursor() {
    for name in ["dark", "light", "colour-blind", "high-contrast", "terminal"] {
        let theme = crate::tui::theme::Themes::bundled().choose_theme(name, None);
        let (mut list, rows, keys) = (QueueList::default(), sample_rows(), Keymap::default());
        let context = PromptContext { listening: Listening::Ready, keys: &keys, theme: &theme, message: "" };
        // The first frame has the cursor on the row above, the second one on the destructive call.
        for _ in 0..2 {
            let mut buffer = Buffer::empty(Rect::new(0, 0, 80, 14));
            list.draw(&rows, &context, buffer.area, &mut buffer);
            let row: String = (0..80).map(|x| buffer[(x, 2)].symbol()).collect();
            let column = row[..row.find("destroys").unwrap()].chars().count() as u16;
            let cell = &buffer[(column, 2)];
            assert_eq!((Some(cell.fg), cell.modifier), (theme.danger.fg, theme.danger.add_modifier), "{name} {row}");
            press_key(&mut list, &rows, KeyCode::Down);
        }
    }
}

#[test]
fn a_denial_is_for_selected_calls_or_the_one_under_the_cursor() {
    let (mut list, rows) = (QueueList::default(), sample_rows());
    assert_eq!(press_key(&mut list, &rows, KeyCode::Char('n')), denial(&["c1"], ""));
    press_key(&mut list, &rows, KeyCode::Char(' '));
    press_key(&mut list, &rows, KeyCode::Down);
    press_key(&mut list, &rows, KeyCode::Char(' '));
    assert!(matches!(press_key(&mut list, &rows, KeyCode::Char(' ')), KeyResult::Explained(_)), "a question");
    assert_eq!(press_key(&mut list, &rows, KeyCode::Char('n')), denial(&["c1", "c3"], ""));
    assert!(matches!(press_key(&mut list, &rows, KeyCode::Char('n')), KeyResult::Explained(_)), "a question");
    press_key(&mut list, &rows, KeyCode::Home);
    press_key(&mut list, &rows, KeyCode::Char(' '));
    press_key(&mut list, &rows, KeyCode::Home);
    press_key(&mut list, &rows, KeyCode::Char(' '));
    press_key(&mut list, &rows, KeyCode::End);
    assert_eq!(
        press_key(&mut list, &rows, KeyCode::Char('n')),
        denial(&["c5"], ""),
        "no call is selected any more: the one under the cursor is denied"
    );
}

#[test]
fn select_all_skips_approved_calls() {
    let mut rows = sample_rows();
    rows.push(queue_row(6, "bash_exec", "ls", "approved"));
    let mut list = QueueList::default();
    press_key(&mut list, &rows, KeyCode::Char('t'));
    press_key(&mut list, &rows, KeyCode::Char('t'));
    assert_eq!(
        press_key(&mut list, &rows, KeyCode::Char('n')),
        denial(&["c1"], ""),
        "no call is selected any more: the one under the cursor is denied"
    );
    press_key(&mut list, &rows, KeyCode::Char('t'));
    assert_eq!(press_key(&mut list, &rows, KeyCode::Char('n')), denial(&["c1", "c2", "c3", "c5"], ""));
    press_key(&mut list, &rows, KeyCode::End);
    assert!(matches!(press_key(&mut list, &rows, KeyCode::Enter), KeyResult::Explained(_)));
    assert_eq!(press_key(&mut list, &rows, KeyCode::Char('n')), denial(&["c6"], ""), "the approval is revoked");
}

#[test]
fn r03_a_list_that_does_not_listen_denies_nothing() {
    let rows = sample_rows();
    for listening in [Listening::Unseen, Listening::Unsent, Listening::Until(Duration::MAX)] {
        for code in [KeyCode::Char('n'), KeyCode::Char(' '), KeyCode::Enter] {
            let key = KeyEvent::from(code);
            let result = QueueList::default().handle_key(&key, &Keymap::default(), &rows, listening);
            assert_eq!(result, KeyResult::PassedOn, "{code:?}");
        }
    }
    let repeat = KeyEvent::new_with_kind(KeyCode::Char('n'), KeyModifiers::NONE, KeyEventKind::Repeat);
    assert_eq!(
        QueueList::default().handle_key(&repeat, &Keymap::default(), &rows, Listening::Ready),
        KeyResult::Handled
    );
}

#[test]
fn r10_hostile_names_and_summaries_stay_in_their_row() {
    let hostile = "\u{202e}\x1b[2J\n❯ [x] 9 yes╰──╯\u{200b}".repeat(9);
    let rows: Vec<QueueRow> = (1..=200).map(|n| queue_row(n, &hostile, &hostile, "runs")).collect();
    let mut list = QueueList::default();
    for number in 1..=200 {
        let screen = draw_list(60, 11, &mut list, &rows);
        assert!(screen.contains(&format!("❯ [ ] {number:>3} ")), "{number}: {screen}");
        let is_framed = screen.lines().skip(1).take(9).all(|row| row.starts_with('│') && row.ends_with('│'));
        assert!(is_framed && !screen.contains(['\x1b', '\u{202e}', '\u{200b}']), "{screen}");
        press_key(&mut list, &rows, KeyCode::Down);
    }
}

#[test]
fn a_row_shows_what_is_known_about_its_call() {
    let line = CommandLine { command: "ls".into(), folder: "/p".into(), seconds: 9, ..CommandLine::default() };
    let plan = Plan {
        title: "run?".into(),
        summary: "ls".into(),
        access: Access::Run(line.clone().into()),
        preview: Preview::Command(line.clone()),
        full_preview: None,
        grant: None,
        destroys: Some("deletes".into()),
        preconditions: crate::chat::Preconditions::default(),
        work: Work::Command(line),
    };
    let mut state = crate::agent::State::new(Default::default(), String::new(), String::new(), vec![]);
    crate::agent::update(&mut state, crate::agent::Event::UserMessage("go".into()));
    for id in ["a", "b"] {
        let call = ToolCall { id: id.into(), name: "t".into(), arguments: "{\"x\": 1}".into() };
        let (turn, chunk) = (state.current_turn().expect("it runs"), crate::chat::Chunk::Call(call));
        crate::agent::update(&mut state, crate::agent::Event::ReplyChunk { turn, chunk, elapsed: Duration::ZERO });
    }
    let turn = state.current_turn().expect("it runs");
    let done = crate::chat::Chunk::Done(crate::chat::FinishReason::Stop);
    crate::agent::update(&mut state, crate::agent::Event::ReplyChunk { turn, chunk: done, elapsed: Duration::ZERO });
    let intent = Ok(crate::chat::Intent::Act(Box::new(plan)));
    crate::agent::update(&mut state, crate::agent::Event::CallPlanned { turn, call: "a".into(), intent });
    let rows = queue_rows(&state);
    assert_eq!((rows[0].access.as_str(), rows[0].summary.as_str(), rows[0].is_sensitive), ("destroys", "ls", true));
    // The summary of a call that is not planned yet is taken from its arguments, here `{"x": 1}`.
    assert_eq!((rows[1].access.as_str(), rows[1].summary.as_str()), ("not planned yet", "1"));
    assert_eq!(state.pending()[1].preapproval, Preapproval::default());
}

proptest! {
    #[test]
    fn r34_every_size_and_key_works(width in 0u16..70, height in 0u16..20, count in 0usize..9, letters in "[ nlyv^e]{0,9}") {
        let rows: Vec<QueueRow> = (0..count).map(|n| queue_row(n, "tool", "summary", "runs")).collect();
        let mut list = QueueList::default();
        for letter in letters.chars() {
            draw_list(width, height, &mut list, &rows);
            let code = match letter {
                'v' => KeyCode::End,
                '^' => KeyCode::Up,
                'e' => KeyCode::Enter,
                letter => KeyCode::Char(letter),
            };
            press_key(&mut list, &rows, code);
        }
    }
}
