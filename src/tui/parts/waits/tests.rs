//! The queue list: keys and rendering.

use super::*;
use crate::agent::Ahead;
use crate::chat::{CommandLine, Plan, Preview, ToolCall, Work};
use crate::tui::parts::frame::Sight;
use crate::tui::theme::Theme;
use crossterm::event::{KeyCode, KeyModifiers};
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

fn list(width: u16, height: u16, list: &mut Waits, rows: &[Row]) -> String {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    let (keys, theme) = (Keymap::default(), Theme::plain());
    let sight = Sight { listening: Listening::Yes, keys: &keys, theme: &theme, says: "" };
    let seen = list.view(rows, &sight, area, &mut buffer);
    list.drawn(Duration::ZERO, seen);
    let lines = buffer.content.chunks(usize::from(width.max(1)));
    lines.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>()).collect::<Vec<_>>().join("\n")
}

fn press(list: &mut Waits, rows: &[Row], code: KeyCode) -> Reply {
    list.key(&KeyEvent::new(code, KeyModifiers::NONE), &Keymap::default(), rows, Listening::Yes)
}

/// A denial without a message.
fn refused(calls: Vec<CallId>) -> Reply {
    Reply::Refused(calls, String::new())
}

fn one(number: usize, tool: &str, summary: &str, reach: &str) -> Row {
    let (opens, refusable) = (!["needs no approval", "approved"].contains(&reach), reach != "question");
    Row {
        call: CallId(format!("c{number}")),
        number,
        tool: tool.into(),
        summary: summary.into(),
        arguments: String::new(),
        reach: reach.into(),
        careful: reach == "destroys",
        destroys: reach == "destroys",
        opens,
        refusable,
        has_yes: reach == "approved",
    }
}

fn some() -> Vec<Row> {
    vec![
        one(1, "bash_exec", "cargo test retry -- --nocapture", "runs"),
        one(2, "bash_exec", "rm -rf target", "destroys"),
        one(3, "read_file", "src/retry.rs", "needs no approval"),
        one(4, "ask_question", "Which clock?", "question"),
        one(5, "write_file", "{\"path\":\"a.txt\"}", "not planned yet"),
    ]
}

#[test]
fn the_list_shows_tool_summary_and_access_of_each_call() {
    let (mut waits, rows) = (Waits::default(), some());
    press(&mut waits, &rows, KeyCode::Char(' '));
    insta::assert_snapshot!(list(60, 12, &mut waits, &rows), @r#"
╭─ Queue ────────────────────────────── 1 ticked · 2 of 5 ─╮
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
╰─ enter open · n deny ticked · m message · esc back ──────╯
"#);
    insta::assert_snapshot!(list(100, 11, &mut waits, &rows), @r#"
╭─ Queue ────────────────────────────────────────────────────────────────────── 1 ticked · 2 of 5 ─╮
│   [x]   1 bash_exec    cargo test retry -- --nocapture                         runs              │
│ ❯ [ ]   2 bash_exec    rm -rf target                                           destroys          │
│   [ ]   3 read_file    src/retry.rs                                            needs no approval │
│         4 ask_question Which clock?                                            question          │
│   [ ]   5 write_file   {"path":"a.txt"}                                        not planned yet   │
│ ──────────────────────────────────────────────────────────────────────────────────────────────── │
│ rm -rf target                                                                                    │
│                                                                                                  │
│                                                                                                  │
╰─ ↑↓ move · enter open prompt · space tick · t all · n deny ticked · m message · esc back ────────╯
"#);
}

#[test]
fn r18_calls_cannot_be_approved_from_the_list() {
    let rows = some();
    for code in ['y', 'Y', 'a', 'e', 'd'].map(KeyCode::Char) {
        assert!(matches!(press(&mut Waits::default(), &rows, code), Reply::Says(_)), "{code:?}");
    }
    for code in ['q', '1', '?'].map(KeyCode::Char) {
        assert_eq!(press(&mut Waits::default(), &rows, code), Reply::Passed, "{code:?}");
    }
    let mut waits = Waits::default();
    press(&mut waits, &rows, KeyCode::Down);
    assert_eq!(press(&mut waits, &rows, KeyCode::Enter), Reply::Brought("c2".into()));
    press(&mut waits, &rows, KeyCode::Down);
    assert!(matches!(press(&mut waits, &rows, KeyCode::Enter), Reply::Says(_)));
    press(&mut waits, &rows, KeyCode::Down);
    assert_eq!(press(&mut waits, &rows, KeyCode::Enter), Reply::Brought("c4".into()), "a question");
}

#[test]
fn r15_a_denial_message_is_for_ticked_calls_or_the_selected_one() {
    let (mut waits, rows) = (Waits::default(), some());
    assert_eq!(press(&mut waits, &rows, KeyCode::Char('m')), Reply::Nothing);
    assert!(waits.is_writing() && waits.pasted("n\no"));
    for code in [KeyCode::Char('y'), KeyCode::Char(' '), KeyCode::Esc] {
        assert_eq!(press(&mut waits, &rows, code), Reply::Nothing, "{code:?}");
    }
    assert!(!waits.is_writing(), "back in the list, nothing was denied");
    press(&mut waits, &rows, KeyCode::Char(' '));
    press(&mut waits, &rows, KeyCode::Char(' '));
    press(&mut waits, &rows, KeyCode::Char('m'));
    for letter in "not now".chars() {
        press(&mut waits, &rows, KeyCode::Char(letter));
    }
    let shown = list(60, 12, &mut waits, &rows);
    assert!(shown.contains("deny 2 because not now"), "{shown}");
    let enter = KeyEvent::new(KeyCode::Enter, KeyModifiers::NONE);
    let pasted = waits.key(&enter, &Keymap::default(), &rows, Listening::Until(Duration::MAX));
    assert_eq!(pasted, Reply::Says(AT_ONCE), "an enter that came with a paste ends nothing");
    // The first of them has started in the meantime.
    let reply = press(&mut waits, &rows[1..], KeyCode::Enter);
    assert_eq!(reply, Reply::Refused(vec!["c2".into()], "not now".into()));
}

#[test]
fn destructive_calls_keep_their_colour_in_the_selected_row() {
    for name in ["dark", "light", "colour-blind", "high-contrast", "terminal"] {
        let theme = crate::tui::theme::Themes::bundled().choose(name, None);
        let (mut waits, rows, keys) = (Waits::default(), some(), Keymap::default());
        let sight = Sight { listening: Listening::Yes, keys: &keys, theme: &theme, says: "" };
        for _ in 0..2 {
            let mut buffer = Buffer::empty(Rect::new(0, 0, 80, 14));
            waits.view(&rows, &sight, buffer.area, &mut buffer);
            let row: String = (0..80).map(|x| buffer[(x, 2)].symbol()).collect();
            let at = row[..row.find("destroys").unwrap()].chars().count() as u16;
            let cell = &buffer[(at, 2)];
            assert_eq!(
                (Some(cell.fg), cell.modifier),
                (theme.danger.fg, theme.danger.add_modifier),
                "{name} {row}"
            );
            press(&mut waits, &rows, KeyCode::Down);
        }
    }
}

#[test]
fn a_denial_is_for_ticked_calls_or_the_selected_one() {
    let (mut waits, rows) = (Waits::default(), some());
    assert_eq!(press(&mut waits, &rows, KeyCode::Char('n')), refused(vec!["c1".into()]));
    press(&mut waits, &rows, KeyCode::Char(' '));
    press(&mut waits, &rows, KeyCode::Down);
    press(&mut waits, &rows, KeyCode::Char(' '));
    assert!(matches!(press(&mut waits, &rows, KeyCode::Char(' ')), Reply::Says(_)), "a question");
    assert_eq!(press(&mut waits, &rows, KeyCode::Char('n')), refused(vec!["c1".into(), "c3".into()]));
    assert!(matches!(press(&mut waits, &rows, KeyCode::Char('n')), Reply::Says(_)), "a question");
    press(&mut waits, &rows, KeyCode::Home);
    press(&mut waits, &rows, KeyCode::Char(' '));
    press(&mut waits, &rows, KeyCode::Home);
    press(&mut waits, &rows, KeyCode::Char(' '));
    press(&mut waits, &rows, KeyCode::End);
    assert_eq!(press(&mut waits, &rows, KeyCode::Char('n')), refused(vec!["c5".into()]), "unticked");
}

#[test]
fn tick_all_skips_approved_calls() {
    let mut rows = some();
    rows.push(one(6, "bash_exec", "ls", "approved"));
    let mut waits = Waits::default();
    press(&mut waits, &rows, KeyCode::Char('t'));
    press(&mut waits, &rows, KeyCode::Char('t'));
    assert_eq!(press(&mut waits, &rows, KeyCode::Char('n')), refused(vec!["c1".into()]), "none");
    press(&mut waits, &rows, KeyCode::Char('t'));
    let all = ["c1", "c2", "c3", "c5"].map(CallId::from).to_vec();
    assert_eq!(press(&mut waits, &rows, KeyCode::Char('n')), refused(all));
    press(&mut waits, &rows, KeyCode::End);
    assert!(matches!(press(&mut waits, &rows, KeyCode::Enter), Reply::Says(_)));
    assert_eq!(
        press(&mut waits, &rows, KeyCode::Char('n')),
        refused(vec!["c6".into()]),
        "the approval is revoked"
    );
}

#[test]
fn r03_a_list_that_does_not_listen_denies_nothing() {
    let rows = some();
    for listening in [Listening::Unseen, Listening::Unsent, Listening::Until(Duration::MAX)] {
        for code in [KeyCode::Char('n'), KeyCode::Char(' '), KeyCode::Enter] {
            let key = KeyEvent::new(code, KeyModifiers::NONE);
            let reply = Waits::default().key(&key, &Keymap::default(), &rows, listening);
            assert_eq!(reply, Reply::Passed, "{code:?}");
        }
    }
    let held = KeyEvent::new_with_kind(KeyCode::Char('n'), KeyModifiers::NONE, KeyEventKind::Repeat);
    assert_eq!(Waits::default().key(&held, &Keymap::default(), &rows, Listening::Yes), Reply::Nothing);
}

#[test]
fn r10_hostile_names_and_summaries_stay_in_their_row() {
    let hostile = "\u{202e}\x1b[2J\n❯ [x] 9 yes╰──╯\u{200b}".repeat(9);
    let rows: Vec<Row> = (1..=200).map(|n| one(n, &hostile, &hostile, "runs")).collect();
    let mut waits = Waits::default();
    for at in 1..=200 {
        let shown = list(60, 11, &mut waits, &rows);
        assert!(shown.contains(&format!("❯ [ ] {at:>3} ")), "{at}: {shown}");
        let framed = shown.lines().skip(1).take(9).all(|row| row.starts_with('│') && row.ends_with('│'));
        assert!(framed && !shown.contains(['\x1b', '\u{202e}', '\u{200b}']), "{shown}");
        press(&mut waits, &rows, KeyCode::Down);
    }
}

#[test]
fn a_row_shows_what_is_known_about_its_call() {
    let line =
        CommandLine { command: "ls".into(), folder: "/p".into(), seconds: 9, ..CommandLine::default() };
    let plan = Plan {
        title: "run?".into(),
        summary: "ls".into(),
        access: Access::Run(line.clone().into()),
        preview: Preview::Command(line.clone()),
        always: None,
        destroys: Some("deletes".into()),
        basis: crate::chat::Basis::default(),
        work: Work::Command(line),
    };
    let mut state = crate::agent::State::new(Default::default(), String::new(), String::new(), vec![]);
    crate::agent::update(&mut state, crate::agent::Event::Said("go".into()));
    for id in ["a", "b"] {
        let call = ToolCall { id: id.into(), name: "t".into(), arguments: "{\"x\": 1}".into() };
        let (turn, chunk) = (state.turn().expect("it runs"), crate::chat::Chunk::Call(call));
        crate::agent::update(&mut state, crate::agent::Event::Chunk { turn, chunk, after: Duration::ZERO });
    }
    let turn = state.turn().expect("it runs");
    let done = crate::chat::Chunk::Done(crate::chat::Finish::Stop);
    crate::agent::update(&mut state, crate::agent::Event::Chunk { turn, chunk: done, after: Duration::ZERO });
    let intent = Ok(crate::chat::Intent::Act(Box::new(plan)));
    crate::agent::update(&mut state, crate::agent::Event::Planned { turn, call: "a".into(), intent });
    let rows = rows(&state);
    assert_eq!((rows[0].reach.as_str(), rows[0].summary.as_str(), rows[0].careful), ("destroys", "ls", true));
    assert_eq!((rows[1].reach.as_str(), rows[1].summary.as_str()), ("not planned yet", "1"));
    assert_eq!(state.pending()[1].ahead, Ahead::default());
}

proptest! {
    #[test]
    fn r34_every_size_and_key_works(width in 0u16..70, height in 0u16..20, count in 0usize..9, letters in "[ nlyv^e]{0,9}") {
        let rows: Vec<Row> = (0..count).map(|n| one(n, "tool", "summary", "runs")).collect();
        let mut waits = Waits::default();
        for letter in letters.chars() {
            list(width, height, &mut waits, &rows);
            let code = match letter {
                'v' => KeyCode::End,
                '^' => KeyCode::Up,
                'e' => KeyCode::Enter,
                letter => KeyCode::Char(letter),
            };
            press(&mut waits, &rows, code);
        }
    }
}
