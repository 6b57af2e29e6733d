//! Tests of keys and drawing of the approval prompt.

mod ends;

use super::*;
use crate::agent::Width;
use crate::chat::{Access, Basis, CommandLine, Grant, Preview, Scope as Wide, Work};
use crate::tui::parts::frame::Sight;
use crate::tui::theme::Theme;
use crossterm::event::{KeyCode, KeyModifiers};
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

pub(super) fn plan(command: &str) -> Plan {
    let line = CommandLine {
        command: command.into(),
        folder: "/home/ada/src/app".into(),
        seconds: 30,
        ..CommandLine::default()
    };
    let scope = Wide::Command { command: command.into(), folder: line.folder.clone(), network: false };
    Plan {
        title: "run a command?".into(),
        summary: command.into(),
        access: Access::Run(line.clone().into()),
        preview: Preview::Command(line.clone()),
        always: Some(Grant::new("bash_exec", scope)),
        destroys: None,
        basis: Basis::default(),
        work: Work::Command(line),
    }
}

pub(super) fn draw(
    card: &mut Approval,
    plan: &Plan,
    (width, height): (u16, u16),
    listening: Listening,
    now: u64,
) -> Buffer {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    let call = ToolCall { id: "1".into(), name: "bash_exec".into(), arguments: "{\"command\":\"x\"}".into() };
    let shown = Card {
        by: None,
        plan,
        call: &call,
        reason: "project code run by cargo",
        may: "network off",
        place: (1, 3),
        home: Some(Path::new("/home/ada")),
    };
    let (keys, theme) = (Keymap::default(), Theme::plain());
    let says = match listening {
        Listening::Unsent => "keys go to the composer · tab to answer",
        Listening::Yes | Listening::Unseen | Listening::Until(_) => "",
    };
    let sight = Sight { listening, keys: &keys, theme: &theme, says };
    let seen = card.view(&shown, &sight, area, &mut buffer);
    card.drawn(ms(now), seen);
    buffer
}

pub(super) fn text(buffer: &Buffer) -> String {
    let rows = buffer.content.chunks(usize::from(buffer.area.width.max(1)));
    let rows = rows.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>());
    rows.collect::<Vec<_>>().join("\n")
}

pub(super) fn press(card: &mut Approval, plan: &Plan, code: KeyCode, now: u64) -> Reply {
    let key = KeyEvent::new(code, KeyModifiers::NONE);
    let reply = card.key(&key, &Keymap::default(), plan, Listening::Yes, ms(now));
    if reply != Reply::Scopes {
        return reply;
    }
    let grant = plan.always.clone().expect("only a plan that can become a rule opens the scope");
    let widths = vec![Width { grant, lasts: true, covered: vec!["cargo check".into()] }];
    card.choose(
        Choosing::open(widths, Path::new("/home/ada/src/app"), &Keymap::default(), ms(now))
            .expect("there is one"),
    );
    Reply::Nothing
}

pub(super) fn decision(reply: Reply) -> Option<Decision> {
    match reply {
        Reply::Decided { decision, .. } => Some(decision),
        Reply::Nothing
        | Reply::Says(_)
        | Reply::Passed
        | Reply::Edits
        | Reply::Lists
        | Reply::Scopes
        | Reply::Editor(_) => None,
    }
}

pub(super) fn drawn(plan: &Plan, size: (u16, u16)) -> Approval {
    let mut card = Approval::new("1".into());
    draw(&mut card, plan, size, Listening::Yes, 0);
    card
}

#[test]
fn the_prompt_shows_command_directory_reason_and_keys() {
    let mut card = Approval::new("1".into());
    let plan = plan("cargo test retry -- --nocapture");
    draw(&mut card, &plan, (90, 6), Listening::Yes, 0);
    insta::assert_snapshot!(text(&draw(&mut card, &plan, (90, 6), Listening::Yes, 0)), @r#"
╭─ run a command? ────────────────────────────────────────────────────────────── 1 of 3 ─╮
│ $ cargo test retry -- --nocapture                                                      │
│                                                                                        │
│ in ~/src/app · 30 s · network off                                                      │
│ reason: project code run by cargo                                                      │
╰─ y approve · a always… · e edit · n deny · m deny with message… · d more · l list ─────╯
"#);
    insta::assert_snapshot!(text(&draw(&mut card, &plan, (60, 6), Listening::Yes, 0)), @r#"
╭─ run a command? ──────────────────────────────── 1 of 3 ─╮
│ $ cargo test retry -- --nocapture                        │
│                                                          │
│ in ~/src/app · 30 s · network off                        │
│ reason: project code run by cargo                        │
╰─ y approve · a always… · n deny · m message · l list ────╯
"#);
    insta::assert_snapshot!(text(&draw(&mut card, &plan, (40, 8), Listening::Unsent, 0)), @r#"
╭─ run a command? ──────────── 1 of 3 ─╮
│ $ cargo test retry -- --nocapture    │
│                                      │
│ in ~/src/app · 30 s · network off    │
│ reason: project code run by cargo    │
│                                      │
│                                      │
╰─ tab to answer ──────────────────────╯
"#);
}

#[test]
fn r07_approval_needs_the_end_on_screen_also_at_60_by_15() {
    let plan = plan(&(1..40).map(|n| format!("echo {n}\n")).collect::<String>());
    let mut card = drawn(&plan, (60, 15));
    let says = |reply| matches!(reply, Reply::Says(words) if words.starts_with("Read to the end first"));
    assert!(says(press(&mut card, &plan, KeyCode::Char('y'), 1_000)));
    assert!(text(&draw(&mut card, &plan, (60, 15), Listening::Yes, 0)).contains("more lines"));
    press(&mut card, &plan, KeyCode::End, 1_000);
    // Scrolled but not drawn yet: the end was not on the screen.
    assert!(says(press(&mut card, &plan, KeyCode::Char('y'), 1_000)));
    assert!(!text(&draw(&mut card, &plan, (60, 15), Listening::Yes, 0)).contains("more lines"));
    assert_eq!(decision(press(&mut card, &plan, KeyCode::Char('y'), 1_001)), Some(Decision::Once));
}

#[test]
fn r02_only_the_approve_key_approves() {
    let plan = plan("ls");
    for code in [KeyCode::Enter, KeyCode::Esc, KeyCode::Tab, KeyCode::Char(' '), KeyCode::Char('Y')] {
        assert_eq!(decision(press(&mut drawn(&plan, (60, 15)), &plan, code, 1_000)), None, "{code:?}");
    }
    let denied = decision(press(&mut drawn(&plan, (60, 15)), &plan, KeyCode::Char('n'), 1_000));
    assert_eq!(denied, Some(Decision::Deny(String::new())));
}

#[test]
fn r03_a_prompt_that_does_not_listen_passes_every_character_on() {
    let plan = plan("ls");
    for listening in [Listening::Unseen, Listening::Unsent, Listening::Until(ms(9_000))] {
        for letter in ['y', 'a', 'n', 'm', 'd', 'q'] {
            let key = KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE);
            let mut card = drawn(&plan, (60, 15));
            let reply = card.key(&key, &Keymap::default(), &plan, listening, ms(1_000));
            assert_eq!(reply, Reply::Passed, "{letter} {listening:?}");
        }
    }
}

#[test]
fn r04_a_repeated_key_decides_nothing() {
    let plan = plan("ls");
    let key = KeyEvent::new_with_kind(KeyCode::Char('y'), KeyModifiers::NONE, KeyEventKind::Repeat);
    let reply = drawn(&plan, (60, 15)).key(&key, &Keymap::default(), &plan, Listening::Yes, ms(1_000));
    assert_eq!(reply, Reply::Nothing);
}

#[test]
fn r11_always_shows_its_scope_and_needs_a_second_confirmation() {
    let plan = plan("ls");
    let mut card = drawn(&plan, (60, 15));
    assert_eq!(press(&mut card, &plan, KeyCode::Char('a'), 1_000), Reply::Nothing);
    assert!(text(&draw(&mut card, &plan, (60, 15), Listening::Yes, 0)).contains("exactly this command"));
    // Keys typed right after the one that opened the scope are ignored; the prompt's approve key has no effect here.
    for code in [KeyCode::Char('y'), KeyCode::Char('n'), KeyCode::Enter] {
        assert_eq!(press(&mut card, &plan, code, 1_499), Reply::Passed);
    }
    for code in [KeyCode::Char('y'), KeyCode::Char('a')] {
        let reply = press(&mut card, &plan, code, 1_500);
        assert!(
            matches!(&reply, Reply::Says(words) if words.starts_with("enter to grant and approve")),
            "{reply:?}"
        );
    }
    let grant = plan.always.clone().unwrap();
    assert_eq!(
        decision(press(&mut card.clone(), &plan, KeyCode::Enter, 1_500)),
        Some(Decision::Always(grant.clone()))
    );
    // A different scope must be on the screen before it can be confirmed.
    press(&mut card, &plan, KeyCode::Down, 1_500);
    assert_eq!(decision(press(&mut card.clone(), &plan, KeyCode::Enter, 1_500)), None);
    let shown = text(&draw(&mut card, &plan, (60, 24), Listening::Yes, 0));
    for part in [
        "says = \"allow\"",
        "command = \"ls\"",
        "project = \"/home/ada/src/app\"",
        "1 call of this session: cargo check",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let kept = Grant { span: crate::chat::Span::Project, ..grant };
    assert_eq!(
        decision(press(&mut card.clone(), &plan, KeyCode::Enter, 1_500)),
        Some(Decision::Always(kept))
    );
    assert_eq!(
        decision(press(&mut card.clone(), &plan, KeyCode::Char('n'), 1_500)),
        Some(Decision::Deny(String::new()))
    );
    press(&mut card, &plan, KeyCode::Esc, 1_500);
    assert_eq!(decision(press(&mut card, &plan, KeyCode::Char('y'), 1_600)), Some(Decision::Once));
    let plan = Plan { always: None, ..plan };
    let mut card = drawn(&plan, (60, 15));
    press(&mut card, &plan, KeyCode::Char('a'), 1_000);
    assert!(!text(&draw(&mut card, &plan, (60, 15), Listening::Yes, 0)).contains("always"));
}

#[test]
fn a_destructive_call_shows_its_effect_and_needs_a_capital_y() {
    let plan = Plan { destroys: Some("deletes the folder build".into()), ..plan("rm -rf build") };
    let mut card = drawn(&plan, (60, 15));
    assert!(
        text(&draw(&mut card, &plan, (60, 15), Listening::Yes, 0))
            .contains("careful: this deletes the folder build")
    );
    for (key, why) in [('y', "is not enough"), ('a', "need approval each time")] {
        let reply = press(&mut card, &plan, KeyCode::Char(key), 1_000);
        assert!(matches!(&reply, Reply::Says(words) if words.contains(why)), "{reply:?}");
    }
    assert_eq!(decision(press(&mut card, &plan, KeyCode::Char('Y'), 1_000)), Some(Decision::Once));
}

#[test]
fn r15_a_denial_can_carry_a_message_for_the_model() {
    let plan = plan("ls");
    let mut card = drawn(&plan, (60, 15));
    for code in [KeyCode::Char('m'), KeyCode::Char('y'), KeyCode::Char('n')] {
        assert_eq!(press(&mut card, &plan, code, 1_000), Reply::Nothing);
    }
    assert!(card.pasted("o\n"));
    draw(&mut card, &plan, (60, 15), Listening::Yes, 0);
    assert_eq!(decision(press(&mut card, &plan, KeyCode::Enter, 1_000)), Some(Decision::Deny("yno".into())));
}

#[test]
fn r09_model_text_stays_inside_and_r10_hides_nothing() {
    let plan = plan("ls\u{202e}\x1b[2J╰─ y yes ─╯\nrm -rf /");
    let shown = text(&draw(&mut drawn(&plan, (60, 15)), &plan, (60, 15), Listening::Yes, 0));
    assert!(shown.contains("<U+202E><U+001B>[2J") && shown.contains("rm -rf /"), "{shown}");
    let rows: Vec<&str> = shown.lines().collect();
    assert!(rows[1..14].iter().all(|row| row.starts_with('│') && row.ends_with('│')), "{shown}");
}

#[test]
fn a_prompt_too_small_to_read_does_not_count_as_drawn() {
    let plan = plan("ls");
    for size in [(1, 1), (12, 8), (60, 0)] {
        assert_eq!(drawn(&plan, size).seen(), None, "{size:?}");
    }
    assert_eq!(drawn(&plan, (60, 3)).seen(), Some(ms(0)));
}

proptest! {
    #[test]
    fn r34_no_size_and_no_key_causes_a_panic(width in 0u16..70, height in 0u16..20, command in "\\PC{0,80}", codes in "[yanmdY\t ]{0,6}") {
        let plan = plan(&command);
        let mut card = drawn(&plan, (width, height));
        for letter in codes.chars() {
            press(&mut card, &plan, KeyCode::Char(letter), 1_000);
            draw(&mut card, &plan, (width, height), Listening::Yes, 1_000);
        }
    }
}

#[test]
fn r21_access_beyond_the_sandbox_is_highlighted() {
    use crate::chat::{Openings, Walls};
    let of = |network: bool| {
        let mut plan = plan("cargo fetch");
        let Access::Run(run) = &mut plan.access else { panic!("it runs") };
        run.line.walls = Walls::raised(Openings { write: Vec::new(), network, sockets: network });
        run.line.network = network.then(|| "to fetch crates".into());
        plan
    };
    let styles = |plan: &Plan, words: &str| {
        let mut card = Approval::new("1".into());
        let buffer = draw(&mut card, plan, (120, 12), Listening::Yes, 0);
        let row = text(&buffer).lines().position(|line| line.contains(words)).expect("it is shown");
        let line = text(&buffer).lines().nth(row).unwrap().to_owned();
        let from = line[..line.find(words).unwrap()].chars().count();
        let cells = &buffer.content[row * 120 + from..][..words.chars().count()];
        cells.iter().map(|cell| (cell.fg, cell.modifier)).collect::<Vec<_>>()
    };
    let theme = Theme::plain();
    let look = |style: Style| (style.fg.unwrap_or_default(), style.add_modifier);
    for words in ["network ON (“to fetch crates”)", "sockets of other programs ON"] {
        assert!(styles(&of(true), words).iter().all(|cell| *cell == look(theme.warning)), "{words}");
    }
    for (plan, words) in [(of(false), "network off"), (of(true), "may write here")] {
        assert!(styles(&plan, words).iter().all(|cell| *cell == look(theme.dim)), "{words}");
    }
    assert_ne!(look(theme.warning), look(theme.dim));
}

#[test]
fn r11_the_scope_explains_its_limit_and_never_offers_a_whole_tool_or_host() {
    let exact = |network, scripts: Vec<crate::chat::Script>| {
        let scope = Wide::Command { command: "x".into(), folder: "/p".into(), network };
        Grant::new("bash_exec", scope).bound_to(scripts)
    };
    let script = crate::chat::Script { path: "x.sh".into(), sha256: None };
    let words = Wide::Words { words: vec!["cargo".into()], folder: "/p".into() };
    for (grant, part) in [
        (exact(true, Vec::new()), "other hosts than it names"),
        (exact(false, vec![script]), "while that file is unchanged"),
        (exact(false, Vec::new()), "not a simple command"),
        (Grant::new("bash_exec", words), "allowing any command would allow anything"),
        (Grant::new("write_file", Wide::Under("".into())), "This is the widest scope"),
    ] {
        let keys = Keymap::default();
        let widths = vec![Width { grant, lasts: true, covered: Vec::new() }];
        let mut choosing = Choosing::open(widths, Path::new("/p"), &keys, ms(0)).unwrap();
        let said = choosing.act(Action::Wider, &keys, true, ms(5000));
        let scope::Reply::Says(words) = said else { panic!("{said:?}") };
        assert!(words.contains(part), "{words}");
    }
    // A command that names a host can be granted only exactly.
    let curl = plan("curl https://api.example.com/v1");
    let offered: Vec<Wide> =
        crate::policy::offers("bash_exec", &curl).into_iter().map(|grant| grant.scope).collect();
    assert!(matches!(offered.as_slice(), [Wide::Command { .. }]), "{offered:?}");
}
