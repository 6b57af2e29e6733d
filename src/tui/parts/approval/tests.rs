//! Tests of keys and drawing of the approval prompt.

mod long_prompts;

use super::*;
use crate::agent::GrantOption;
use crate::chat::{Access, CommandLine, Grant, GrantScope as Wide, Preconditions, Preview, Work};
use crate::tui::parts::frame::PromptContext;
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
        title: "Run a command?".into(),
        summary: command.into(),
        access: Access::Run(line.clone().into()),
        preview: Preview::Command(line.clone()),
        grant: Some(Grant::new("bash_exec", scope)),
        destroys: None,
        preconditions: Preconditions::default(),
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
    let shown = ApprovalContent {
        sub_agent: None,
        plan,
        call: &call,
        reason: "project code run by cargo",
        sandbox_note: "network off",
        position: (1, 3),
        home: Some(Path::new("/home/ada")),
    };
    let (keys, theme) = (Keymap::default(), Theme::without_colours());
    let says = match listening {
        Listening::Unsent => "keys go to the composer · tab to answer",
        Listening::Ready | Listening::Unseen | Listening::Until(_) => "",
    };
    let sight = PromptContext { listening, keys: &keys, theme: &theme, message: says };
    let seen = card.draw(&shown, &sight, area, &mut buffer);
    card.record_frame(ms(now), seen);
    buffer
}

pub(super) fn screen_text(buffer: &Buffer) -> String {
    let rows = buffer.content.chunks(usize::from(buffer.area.width.max(1)));
    let rows = rows.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>());
    rows.collect::<Vec<_>>().join("\n")
}

pub(super) fn press(card: &mut Approval, plan: &Plan, code: KeyCode, now: u64) -> KeyResult {
    let key = KeyEvent::new(code, KeyModifiers::NONE);
    let reply = card.handle_key(&key, &Keymap::default(), plan, Listening::Ready, ms(now));
    if reply != KeyResult::OpenScope {
        return reply;
    }
    let grant = plan.grant.clone().expect("only a plan that can become a rule opens the scope");
    let widths = vec![GrantOption { grant, can_be_rule: true, earlier_calls: vec!["cargo check".into()] }];
    card.open_scope(
        ScopeChoice::open(widths, Path::new("/home/ada/src/app"), &Keymap::default(), ms(now)).expect("there is one"),
    );
    KeyResult::Handled
}

pub(super) fn decision_of(reply: KeyResult) -> Option<Decision> {
    match reply {
        KeyResult::Decided { decision, .. } => Some(decision),
        KeyResult::Handled
        | KeyResult::Explained(_)
        | KeyResult::PassedOn
        | KeyResult::OpenForm
        | KeyResult::OpenQueue
        | KeyResult::OpenScope
        | KeyResult::OpenEditor(_) => None,
    }
}

pub(super) fn drawn_prompt(plan: &Plan, size: (u16, u16)) -> Approval {
    let mut card = Approval::new("1".into());
    draw(&mut card, plan, size, Listening::Ready, 0);
    card
}

#[test]
fn the_prompt_shows_command_directory_reason_and_keys() {
    let mut card = Approval::new("1".into());
    let plan = plan("cargo test retry -- --nocapture");
    draw(&mut card, &plan, (90, 6), Listening::Ready, 0);
    insta::assert_snapshot!(screen_text(&draw(&mut card, &plan, (90, 6), Listening::Ready, 0)), @r#"
╭─ Run a command? ────────────────────────────────────────────────────────────── 1 of 3 ─╮
│ $ cargo test retry -- --nocapture                                                      │
│                                                                                        │
│ in ~/src/app · timeout 30 s · network off                                              │
│ reason: project code run by cargo                                                      │
╰─ y approve · a always… · e edit · n deny · m deny with message… · d more · l list ─────╯
"#);
    insta::assert_snapshot!(screen_text(&draw(&mut card, &plan, (60, 6), Listening::Ready, 0)), @r#"
╭─ Run a command? ──────────────────────────────── 1 of 3 ─╮
│ $ cargo test retry -- --nocapture                        │
│                                                          │
│ in ~/src/app · timeout 30 s · network off                │
│ reason: project code run by cargo                        │
╰─ y approve · a always… · n deny · m message · l list ────╯
"#);
    insta::assert_snapshot!(screen_text(&draw(&mut card, &plan, (40, 8), Listening::Unsent, 0)), @r#"
╭─ Run a command? ──────────── 1 of 3 ─╮
│ $ cargo test retry -- --nocapture    │
│                                      │
│ in ~/src/app · timeout 30 s ·        │
│ network off                          │
│ reason: project code run by cargo    │
│                                      │
╰─ tab to answer ──────────────────────╯
"#);
}

#[test]
fn r07_approval_needs_the_end_on_screen_also_at_60_by_15() {
    let plan = plan(&(1..40).map(|n| format!("echo {n}\n")).collect::<String>());
    let mut card = drawn_prompt(&plan, (60, 15));
    let says = |reply| matches!(reply, KeyResult::Explained(words) if words.starts_with("Read to the end first"));
    assert!(says(press(&mut card, &plan, KeyCode::Char('y'), 1_000)));
    assert!(screen_text(&draw(&mut card, &plan, (60, 15), Listening::Ready, 0)).contains("more lines"));
    press(&mut card, &plan, KeyCode::End, 1_000);
    // Scrolled but not drawn yet: the end was not on the screen.
    assert!(says(press(&mut card, &plan, KeyCode::Char('y'), 1_000)));
    assert!(!screen_text(&draw(&mut card, &plan, (60, 15), Listening::Ready, 0)).contains("more lines"));
    assert_eq!(decision_of(press(&mut card, &plan, KeyCode::Char('y'), 1_001)), Some(Decision::Once));
}

#[test]
fn r02_only_the_approve_key_approves() {
    let plan = plan("ls");
    for code in [KeyCode::Enter, KeyCode::Esc, KeyCode::Tab, KeyCode::Char(' '), KeyCode::Char('Y')] {
        assert_eq!(decision_of(press(&mut drawn_prompt(&plan, (60, 15)), &plan, code, 1_000)), None, "{code:?}");
    }
    let denied = decision_of(press(&mut drawn_prompt(&plan, (60, 15)), &plan, KeyCode::Char('n'), 1_000));
    assert_eq!(denied, Some(Decision::Deny(String::new())));
}

#[test]
fn r03_a_prompt_that_does_not_listen_passes_every_character_on() {
    let plan = plan("ls");
    for listening in [Listening::Unseen, Listening::Unsent, Listening::Until(ms(9_000))] {
        for letter in ['y', 'a', 'n', 'm', 'd', 'q'] {
            let key = KeyEvent::new(KeyCode::Char(letter), KeyModifiers::NONE);
            let mut card = drawn_prompt(&plan, (60, 15));
            let reply = card.handle_key(&key, &Keymap::default(), &plan, listening, ms(1_000));
            assert_eq!(reply, KeyResult::PassedOn, "{letter} {listening:?}");
        }
    }
}

#[test]
fn r04_a_repeated_key_decides_nothing() {
    let plan = plan("ls");
    let key = KeyEvent::new_with_kind(KeyCode::Char('y'), KeyModifiers::NONE, KeyEventKind::Repeat);
    let reply = drawn_prompt(&plan, (60, 15)).handle_key(&key, &Keymap::default(), &plan, Listening::Ready, ms(1_000));
    assert_eq!(reply, KeyResult::Handled);
}

#[test]
fn r11_always_shows_its_scope_and_needs_a_second_confirmation() {
    let plan = plan("ls");
    let mut card = drawn_prompt(&plan, (60, 15));
    assert_eq!(press(&mut card, &plan, KeyCode::Char('a'), 1_000), KeyResult::Handled);
    assert!(screen_text(&draw(&mut card, &plan, (60, 15), Listening::Ready, 0)).contains("exactly this command"));
    // Keys typed right after the one that opened the scope are ignored; the prompt's approve key has no effect here.
    for code in [KeyCode::Char('y'), KeyCode::Char('n'), KeyCode::Enter] {
        assert_eq!(press(&mut card, &plan, code, 1_499), KeyResult::PassedOn);
    }
    for code in [KeyCode::Char('y'), KeyCode::Char('a')] {
        let reply = press(&mut card, &plan, code, 1_500);
        assert!(
            matches!(&reply, KeyResult::Explained(words) if words.starts_with("enter to grant and approve")),
            "{reply:?}"
        );
    }
    let grant = plan.grant.clone().unwrap();
    assert_eq!(
        decision_of(press(&mut card.clone(), &plan, KeyCode::Enter, 1_500)),
        Some(Decision::Always(grant.clone()))
    );
    // A different scope must be on the screen before it can be confirmed.
    press(&mut card, &plan, KeyCode::Down, 1_500);
    assert_eq!(decision_of(press(&mut card.clone(), &plan, KeyCode::Enter, 1_500)), None);
    let shown = screen_text(&draw(&mut card, &plan, (60, 24), Listening::Ready, 0));
    for part in [
        "verdict = \"allow\"",
        "command = \"ls\"",
        "project = \"/home/ada/src/app\"",
        "1 call of this session: cargo check",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let kept = Grant { span: crate::chat::GrantSpan::Project, ..grant };
    assert_eq!(decision_of(press(&mut card.clone(), &plan, KeyCode::Enter, 1_500)), Some(Decision::Always(kept)));
    assert_eq!(
        decision_of(press(&mut card.clone(), &plan, KeyCode::Char('n'), 1_500)),
        Some(Decision::Deny(String::new()))
    );
    press(&mut card, &plan, KeyCode::Esc, 1_500);
    assert_eq!(decision_of(press(&mut card, &plan, KeyCode::Char('y'), 1_600)), Some(Decision::Once));
    let plan = Plan { grant: None, ..plan };
    let mut card = drawn_prompt(&plan, (60, 15));
    press(&mut card, &plan, KeyCode::Char('a'), 1_000);
    assert!(!screen_text(&draw(&mut card, &plan, (60, 15), Listening::Ready, 0)).contains("always"));
}

#[test]
fn a_destructive_call_shows_its_effect_and_needs_a_capital_y() {
    let plan = Plan { destroys: Some("deletes the folder build".into()), ..plan("rm -rf build") };
    let mut card = drawn_prompt(&plan, (60, 15));
    assert!(
        screen_text(&draw(&mut card, &plan, (60, 15), Listening::Ready, 0))
            .contains("warning: this deletes the folder build")
    );
    for (key, why) in [('y', "is not enough"), ('a', "need approval each time")] {
        let reply = press(&mut card, &plan, KeyCode::Char(key), 1_000);
        assert!(matches!(&reply, KeyResult::Explained(words) if words.contains(why)), "{reply:?}");
    }
    assert_eq!(decision_of(press(&mut card, &plan, KeyCode::Char('Y'), 1_000)), Some(Decision::Once));
}

#[test]
fn r15_a_denial_can_carry_a_message_for_the_model() {
    let plan = plan("ls");
    let mut card = drawn_prompt(&plan, (60, 15));
    for code in [KeyCode::Char('m'), KeyCode::Char('y'), KeyCode::Char('n')] {
        assert_eq!(press(&mut card, &plan, code, 1_000), KeyResult::Handled);
    }
    assert!(card.insert_paste("o\n"));
    draw(&mut card, &plan, (60, 15), Listening::Ready, 0);
    assert_eq!(decision_of(press(&mut card, &plan, KeyCode::Enter, 1_000)), Some(Decision::Deny("yno".into())));
}

#[test]
fn r09_model_text_stays_inside_and_r10_hides_nothing() {
    let plan = plan("ls\u{202e}\x1b[2J╰─ y yes ─╯\nrm -rf /");
    let shown = screen_text(&draw(&mut drawn_prompt(&plan, (60, 15)), &plan, (60, 15), Listening::Ready, 0));
    assert!(shown.contains("<U+202E><U+001B>[2J") && shown.contains("rm -rf /"), "{shown}");
    let rows: Vec<&str> = shown.lines().collect();
    assert!(rows[1..14].iter().all(|row| row.starts_with('│') && row.ends_with('│')), "{shown}");
}

#[test]
fn a_prompt_too_small_to_read_does_not_count_as_drawn() {
    let plan = plan("ls");
    for size in [(1, 1), (12, 8), (60, 0)] {
        assert_eq!(drawn_prompt(&plan, size).first_drawn(), None, "{size:?}");
    }
    assert_eq!(drawn_prompt(&plan, (60, 3)).first_drawn(), Some(ms(0)));
}

proptest! {
    #[test]
    fn r34_no_size_and_no_key_causes_a_panic(width in 0u16..70, height in 0u16..20, command in "\\PC{0,80}", codes in "[yanmdY\t ]{0,6}") {
        let plan = plan(&command);
        let mut card = drawn_prompt(&plan, (width, height));
        for letter in codes.chars() {
            press(&mut card, &plan, KeyCode::Char(letter), 1_000);
            draw(&mut card, &plan, (width, height), Listening::Ready, 1_000);
        }
    }
}

#[test]
fn r21_access_beyond_the_sandbox_is_highlighted() {
    use crate::chat::{CommandSandbox, SandboxAccess};
    let of = |network: bool| {
        let mut plan = plan("cargo fetch");
        let Access::Run(run) = &mut plan.access else { panic!("it runs") };
        run.line.sandbox = CommandSandbox::enforced(SandboxAccess { write: Vec::new(), network, sockets: network });
        run.line.network = network.then(|| "to fetch crates".into());
        plan
    };
    let styles = |plan: &Plan, words: &str| {
        let mut card = Approval::new("1".into());
        let buffer = draw(&mut card, plan, (120, 12), Listening::Ready, 0);
        let row = screen_text(&buffer).lines().position(|line| line.contains(words)).expect("it is shown");
        let line = screen_text(&buffer).lines().nth(row).unwrap().to_owned();
        let from = line[..line.find(words).unwrap()].chars().count();
        let cells = &buffer.content[row * 120 + from..][..words.chars().count()];
        cells.iter().map(|cell| (cell.fg, cell.modifier)).collect::<Vec<_>>()
    };
    let theme = Theme::without_colours();
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
        Grant::new("bash_exec", scope).with_scripts(scripts)
    };
    let script = crate::chat::Script { path: "x.sh".into(), sha256: None };
    let words = Wide::Prefix { words: vec!["cargo".into()], folder: "/p".into() };
    for (grant, part) in [
        (exact(true, Vec::new()), "other hosts than it names"),
        (exact(false, vec![script]), "while that file is unchanged"),
        (exact(false, Vec::new()), "not a simple command"),
        (Grant::new("bash_exec", words), "allowing any command would allow anything"),
        (Grant::new("write_file", Wide::Folder("".into())), "This is the widest scope"),
    ] {
        let keys = Keymap::default();
        let widths = vec![GrantOption { grant, can_be_rule: true, earlier_calls: Vec::new() }];
        let mut choosing = ScopeChoice::open(widths, Path::new("/p"), &keys, ms(0)).unwrap();
        let said = choosing.handle_action(Action::WidenScope, &keys, true, ms(5000));
        let scope_choice::KeyResult::Explained(words) = said else { panic!("{said:?}") };
        assert!(words.contains(part), "{words}");
    }
    // A command that names a host can be granted only exactly.
    let curl = plan("curl https://api.example.com/v1");
    let offered: Vec<Wide> =
        crate::policy::grant_scopes("bash_exec", &curl).into_iter().map(|grant| grant.scope).collect();
    assert!(matches!(offered.as_slice(), [Wide::Command { .. }]), "{offered:?}");
}
