//! Tests of keys and drawing of the approval prompt.

mod long_prompts;
mod reference_lines;
mod scope_limits;

use super::*;
use crate::agent::GrantOption;
use crate::chat::{Access, CommandLine, Grant, GrantScope, Preconditions, Preview, Work};
use crate::tui::keys::Keymap;
use crate::tui::parts::frame::PromptContext;
use crate::tui::parts::link_lookups::LinkLookups;
use crate::tui::prompts::prompt::Prompt;
pub(super) use crate::tui::tests::buffer_text as screen_text;
use crate::tui::tests::with_prompt_facts;
use crate::tui::theme::Theme;
use crossterm::event::{KeyCode, KeyModifiers};
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use std::path::Path;

fn ms(n: u64) -> Duration {
    Duration::from_millis(n)
}

pub(super) fn command_plan(command: &str) -> Plan {
    let line = CommandLine {
        command: command.into(),
        folder: "/home/ada/src/app".into(),
        seconds: 30,
        ..CommandLine::default()
    };
    let scope = GrantScope::Command { command: command.into(), folder: line.folder.clone(), network: false };
    Plan {
        title: "Run a command?".into(),
        summary: command.into(),
        access: Access::Run(line.clone().into()),
        preview: Preview::Command(line.clone()),
        full_preview: None,
        grant: Some(Grant::new("bash_exec", scope)),
        destroys: None,
        preconditions: Preconditions::default(),
        work: Work::Command(line),
    }
}

/// Draws the prompt at `now` milliseconds and records the frame as the event loop does. Returns the screen.
pub(super) fn draw_prompt(
    prompt: &mut Approval,
    plan: &Plan,
    (width, height): (u16, u16),
    listening: Listening,
    now: u64,
) -> Buffer {
    let call = ToolCall { id: "1".into(), name: "bash_exec".into(), arguments: "{\"command\":\"x\"}".into() };
    draw_call(prompt, plan, &call, (width, height), listening, now)
}

/// Draws the prompt of this call, as [`draw_prompt`] does.
pub(super) fn draw_call(
    prompt: &mut Approval,
    plan: &Plan,
    call: &ToolCall,
    (width, height): (u16, u16),
    listening: Listening,
    now: u64,
) -> Buffer {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    let content = ApprovalContent {
        sub_agent: None,
        plan,
        call,
        reason: "cargo runs project code",
        sandbox_note: "network off",
        position: 1,
        queue_length: 3,
        home: Some(Path::new("/home/ada")),
        trial: &Trial::None,
        offers_trial: false,
        missing_trial_reason: None,
        now: Duration::ZERO,
        folder: Path::new("/home/ada/src/app"),
        lookups: &LinkLookups::default(),
    };
    let (keys, theme) = (Keymap::default(), Theme::without_colours());
    let message = match listening {
        Listening::Unsent => "keys go to the composer · tab to answer",
        Listening::Ready | Listening::Unseen | Listening::Until(_) | Listening::AfterFastInput(_) => "",
    };
    let context = PromptContext { listening, keys: &keys, theme: &theme, message };
    let drawn = prompt.draw(&content, &context, area, &mut buffer);
    prompt.record_frame(ms(now), drawn);
    buffer
}

/// Passes a key to the prompt. If it would open the choice of scope, opens one for the grant of the plan.
fn pass_key(prompt: &mut Approval, plan: &Plan, key: KeyEvent, listening: Listening, now: u64) -> KeyResult {
    let call = ToolCall { id: "1".into(), name: "bash_exec".into(), arguments: "{\"command\":\"x\"}".into() };
    let result =
        with_prompt_facts(listening, ms(now), |facts| prompt.handle_call_key(&key, &call, (plan, &Trial::None), facts));
    // The agent of the test has no waiting call and thus nothing to grant.
    if !matches!(&result, KeyResult::Explained(message) if message == "This call always asks") {
        return result;
    }
    let grant = plan.grant.clone().expect("only a plan that can become a rule opens the scope");
    let options =
        vec![GrantOption { grant, can_be_rule: true, earlier_calls: vec!["cargo check".into()], example: None }];
    let choice = ScopeChoice::new(options, Path::new("/home/ada/src/app"), &Keymap::default(), ms(now));
    prompt.show_view(ApprovalView::Scope(Box::new(choice.expect("there is one"))))
}

/// Presses a key at `now` milliseconds. If the key asks for the choice of scope, opens it and returns
/// [`KeyResult::Handled`].
pub(super) fn press_key(prompt: &mut Approval, plan: &Plan, code: KeyCode, now: u64) -> KeyResult {
    pass_key(prompt, plan, KeyEvent::from(code), Listening::Ready, now)
}

/// Returns the decision that a key made; `None` if it made none.
pub(super) fn extract_decision(result: KeyResult) -> Option<Decision> {
    let KeyResult::Run(commands) = result else { return None };
    commands.into_iter().find_map(|command| match command {
        PromptCommand::Decide(_, decision) => Some(decision),
        PromptCommand::SaveRule(_, grant) => Some(Decision::Always(grant)),
        _ => None,
    })
}

/// Returns a prompt that was drawn once, at 0 ms.
pub(super) fn drawn_prompt(plan: &Plan, size: (u16, u16)) -> Approval {
    let mut prompt = Approval::new("1".into());
    draw_prompt(&mut prompt, plan, size, Listening::Ready, 0);
    prompt
}

#[test]
fn a_line_break_at_the_end_of_a_preview_takes_no_row() {
    let shown = [Preview::Text("one\ntwo".into()), Preview::Text("one\ntwo\n".into())].map(|preview| {
        let plan = Plan { preview, ..command_plan("x") };
        let mut prompt = Approval::new("1".into());
        screen_text(&draw_prompt(&mut prompt, &plan, (60, 15), Listening::Ready, 0))
    });
    assert_eq!(shown[0], shown[1]);
}

#[test]
fn edits_an_argument_in_the_external_editor() {
    let plan = command_plan("x");
    let mut prompt = drawn_prompt(&plan, (90, 6));
    press_key(&mut prompt, &plan, KeyCode::Char('e'), 1_000);
    let editor_key = KeyEvent::new(KeyCode::Char('g'), KeyModifiers::CONTROL);
    let result = pass_key(&mut prompt, &plan, editor_key, Listening::Ready, 2_000);
    assert_eq!(result, KeyResult::Run(vec![PromptCommand::Effect(Effect::EditText("\"x\"".into()))]));
    assert!(prompt.apply_editor_text("[1,\n2]"));
    let decision = extract_decision(press_key(&mut prompt, &plan, KeyCode::Enter, 3_000));
    assert_eq!(decision, Some(Decision::Edited(serde_json::json!({ "command": [1, 2] }))));
}

#[test]
fn the_prompt_shows_command_directory_reason_and_keys() {
    let mut prompt = Approval::new("1".into());
    let plan = command_plan("cargo test retry -- --nocapture");
    draw_prompt(&mut prompt, &plan, (90, 6), Listening::Ready, 0);
    insta::assert_snapshot!(screen_text(&draw_prompt(&mut prompt, &plan, (90, 6), Listening::Ready, 0)), @r#"
╭─ Run a command? ────────────────────────────────────────────────────────────── 1 of 3 ─╮
│ $ cargo test retry -- --nocapture                                                      │
│                                                                                        │
│ in ~/src/app · timeout 30 s · network off                                              │
│ reason: cargo runs project code                                                        │
╰─ y approve · a always… · e edit · n deny · m message · d details · l list ─────────────╯
"#);
    insta::assert_snapshot!(screen_text(&draw_prompt(&mut prompt, &plan, (60, 6), Listening::Ready, 0)), @r#"
╭─ Run a command? ──────────────────────────────── 1 of 3 ─╮
│ $ cargo test retry -- --nocapture                        │
│                                                          │
│ in ~/src/app · timeout 30 s · network off                │
│ reason: cargo runs project code                          │
╰─ y approve · a always… · n deny · m message · l list ────╯
"#);
    insta::assert_snapshot!(screen_text(&draw_prompt(&mut prompt, &plan, (40, 8), Listening::Unsent, 0)), @r#"
╭─ Run a command? ──────────── 1 of 3 ─╮
│ $ cargo test retry -- --nocapture    │
│                                      │
│ in ~/src/app · timeout 30 s ·        │
│ network off                          │
│ reason: cargo runs project code      │
│                                      │
╰─ tab to answer ──────────────────────╯
"#);
}

#[test]
fn r07_approval_needs_the_end_on_screen_also_at_60_by_15() {
    let plan = command_plan(&(1..40).map(|n| format!("echo {n}\n")).collect::<String>());
    let mut prompt = drawn_prompt(&plan, (60, 15));
    let is_read_hint = |result| matches!(result, KeyResult::Explained(message) if message.starts_with("The end has not been shown yet"));
    assert!(is_read_hint(press_key(&mut prompt, &plan, KeyCode::Char('y'), 1_000)));
    assert!(screen_text(&draw_prompt(&mut prompt, &plan, (60, 15), Listening::Ready, 0)).contains("lines below"));
    press_key(&mut prompt, &plan, KeyCode::End, 1_000);
    // Scrolled but not drawn yet: the end was not on the screen.
    assert!(is_read_hint(press_key(&mut prompt, &plan, KeyCode::Char('y'), 1_000)));
    assert!(!screen_text(&draw_prompt(&mut prompt, &plan, (60, 15), Listening::Ready, 0)).contains("lines below"));
    assert_eq!(extract_decision(press_key(&mut prompt, &plan, KeyCode::Char('y'), 1_001)), Some(Decision::Once));
}

#[test]
fn r02_only_the_approve_key_approves() {
    let plan = command_plan("ls");
    for code in [KeyCode::Enter, KeyCode::Esc, KeyCode::Tab, KeyCode::Char(' '), KeyCode::Char('Y')] {
        assert_eq!(
            extract_decision(press_key(&mut drawn_prompt(&plan, (60, 15)), &plan, code, 1_000)),
            None,
            "{code:?}"
        );
    }
    let denied = extract_decision(press_key(&mut drawn_prompt(&plan, (60, 15)), &plan, KeyCode::Char('n'), 1_000));
    assert_eq!(denied, Some(Decision::Deny(String::new())));
}

#[test]
fn r03_a_prompt_that_does_not_listen_passes_every_character_on() {
    let plan = command_plan("ls");
    for listening in [Listening::Unseen, Listening::Unsent, Listening::Until(ms(9_000))] {
        for character in ['y', 'a', 'n', 'm', 'd', 'q'] {
            let key = KeyEvent::from(KeyCode::Char(character));
            let mut prompt = drawn_prompt(&plan, (60, 15));
            let result = pass_key(&mut prompt, &plan, key, listening, 1_000);
            assert_eq!(result, KeyResult::PassedOn, "{character} {listening:?}");
        }
    }
}

#[test]
fn r04_a_repeated_key_decides_nothing() {
    let plan = command_plan("ls");
    let key = KeyEvent::new_with_kind(KeyCode::Char('y'), KeyModifiers::NONE, KeyEventKind::Repeat);
    let result = pass_key(&mut drawn_prompt(&plan, (60, 15)), &plan, key, Listening::Ready, 1_000);
    assert_eq!(result, KeyResult::Handled);
}

#[test]
fn r11_always_shows_its_scope_and_needs_a_second_confirmation() {
    let plan = command_plan("ls");
    let mut prompt = drawn_prompt(&plan, (60, 15));
    assert_eq!(press_key(&mut prompt, &plan, KeyCode::Char('a'), 1_000), KeyResult::Handled);
    assert!(
        screen_text(&draw_prompt(&mut prompt, &plan, (60, 15), Listening::Ready, 0)).contains("exactly this command")
    );
    // Keys typed right after the one that opened the scope are ignored; the prompt's approve key has no effect here.
    for code in [KeyCode::Char('y'), KeyCode::Char('n'), KeyCode::Enter] {
        assert_eq!(press_key(&mut prompt, &plan, code, 1_499), KeyResult::PassedOn);
    }
    for code in [KeyCode::Char('y'), KeyCode::Char('a')] {
        let result = press_key(&mut prompt, &plan, code, 1_500);
        assert!(
            matches!(&result, KeyResult::Explained(message) if message.starts_with("enter to grant and approve")),
            "{result:?}"
        );
    }
    let grant = plan.grant.clone().unwrap();
    assert_eq!(
        extract_decision(press_key(&mut prompt.clone(), &plan, KeyCode::Enter, 1_500)),
        Some(Decision::Always(grant.clone()))
    );
    // A different scope must be on the screen before it can be confirmed.
    press_key(&mut prompt, &plan, KeyCode::Down, 1_500);
    assert_eq!(extract_decision(press_key(&mut prompt.clone(), &plan, KeyCode::Enter, 1_500)), None);
    let screen = screen_text(&draw_prompt(&mut prompt, &plan, (60, 24), Listening::Ready, 0));
    for part in [
        "verdict = \"allow\"",
        "command = \"ls\"",
        "project = \"/home/ada/src/app\"",
        "1 call of this session: cargo check",
    ] {
        assert!(screen.contains(part), "{part}: {screen}");
    }
    let project_grant = Grant { span: crate::chat::GrantSpan::Project, ..grant };
    assert_eq!(
        extract_decision(press_key(&mut prompt.clone(), &plan, KeyCode::Enter, 1_500)),
        Some(Decision::Always(project_grant))
    );
    assert_eq!(
        extract_decision(press_key(&mut prompt.clone(), &plan, KeyCode::Char('n'), 1_500)),
        Some(Decision::Deny(String::new()))
    );
    press_key(&mut prompt, &plan, KeyCode::Esc, 1_500);
    assert_eq!(extract_decision(press_key(&mut prompt, &plan, KeyCode::Char('y'), 1_600)), Some(Decision::Once));
    let plan = Plan { grant: None, ..plan };
    let mut prompt = drawn_prompt(&plan, (60, 15));
    press_key(&mut prompt, &plan, KeyCode::Char('a'), 1_000);
    assert!(!screen_text(&draw_prompt(&mut prompt, &plan, (60, 15), Listening::Ready, 0)).contains("always"));
}

#[test]
fn a_destructive_call_shows_its_effect_and_needs_a_capital_y() {
    let plan = Plan { destroys: Some("deletes the folder build".into()), ..command_plan("rm -rf build") };
    let mut prompt = drawn_prompt(&plan, (60, 15));
    assert!(
        screen_text(&draw_prompt(&mut prompt, &plan, (60, 15), Listening::Ready, 0))
            .contains("warning: this deletes the folder build")
    );
    for (key, reason) in [('y', "is not enough"), ('a', "needs approval each time")] {
        let result = press_key(&mut prompt, &plan, KeyCode::Char(key), 1_000);
        assert!(matches!(&result, KeyResult::Explained(message) if message.contains(reason)), "{result:?}");
    }
    assert_eq!(extract_decision(press_key(&mut prompt, &plan, KeyCode::Char('Y'), 1_000)), Some(Decision::Once));
}

#[test]
fn r15_a_denial_can_carry_a_message_for_the_model() {
    let plan = command_plan("ls");
    let mut prompt = drawn_prompt(&plan, (60, 15));
    for code in [KeyCode::Char('m'), KeyCode::Char('y'), KeyCode::Char('n')] {
        assert_eq!(press_key(&mut prompt, &plan, code, 1_000), KeyResult::Handled);
    }
    assert!(prompt.insert_paste("o\n"));
    draw_prompt(&mut prompt, &plan, (60, 15), Listening::Ready, 0);
    assert_eq!(
        extract_decision(press_key(&mut prompt, &plan, KeyCode::Enter, 1_000)),
        Some(Decision::Deny("yno".into()))
    );
}

#[test]
fn r09_model_text_stays_inside_and_r10_hides_nothing() {
    let plan = command_plan("ls\u{202e}\x1b[2J╰─ y yes ─╯\nrm -rf /");
    let screen = screen_text(&draw_prompt(&mut drawn_prompt(&plan, (60, 15)), &plan, (60, 15), Listening::Ready, 0));
    assert!(screen.contains("<U+202E><U+001B>[2J") && screen.contains("rm -rf /"), "{screen}");
    let rows: Vec<&str> = screen.lines().collect();
    assert!(rows[1..14].iter().all(|row| row.starts_with('│') && row.ends_with('│')), "{screen}");
}

#[test]
fn a_prompt_too_small_to_read_does_not_count_as_drawn() {
    let plan = command_plan("ls");
    for size in [(1, 1), (12, 8), (60, 0)] {
        assert_eq!(drawn_prompt(&plan, size).first_drawn(), None, "{size:?}");
    }
    assert_eq!(drawn_prompt(&plan, (60, 3)).first_drawn(), Some(ms(0)));
}

proptest! {
    #[test]
    fn r34_no_size_and_no_key_causes_a_panic(width in 0u16..70, height in 0u16..20, command in "\\PC{0,80}", codes in "[yanmdY\t ]{0,6}") {
        let plan = command_plan(&command);
        let mut prompt = drawn_prompt(&plan, (width, height));
        for letter in codes.chars() {
            press_key(&mut prompt, &plan, KeyCode::Char(letter), 1_000);
            draw_prompt(&mut prompt, &plan, (width, height), Listening::Ready, 1_000);
        }
    }
}

#[test]
fn r21_access_beyond_the_sandbox_is_highlighted() {
    use crate::chat::{CommandSandbox, SandboxAccess};
    let plan_with_network = |network: bool| {
        let mut plan = command_plan("cargo fetch");
        let Access::Run(run) = &mut plan.access else { panic!("the plan runs no command") };
        run.line.sandbox = CommandSandbox::enforced(SandboxAccess { write: Vec::new(), network, sockets: network });
        run.line.network = network.then(|| "to fetch crates".into());
        plan
    };
    let text_styles = |plan: &Plan, text: &str| {
        let mut prompt = Approval::new("1".into());
        let buffer = draw_prompt(&mut prompt, plan, (120, 12), Listening::Ready, 0);
        let row = screen_text(&buffer).lines().position(|line| line.contains(text)).expect("it is shown");
        let line = screen_text(&buffer).lines().nth(row).unwrap().to_owned();
        let first_cell = line[..line.find(text).unwrap()].chars().count();
        let cells = &buffer.content[row * 120 + first_cell..][..text.chars().count()];
        cells.iter().map(|cell| (cell.fg, cell.modifier)).collect::<Vec<_>>()
    };
    let theme = Theme::without_colours();
    let cell_style = |style: Style| (style.fg.unwrap_or_default(), style.add_modifier);
    for text in ["network ON (“to fetch crates”)", "sockets of other programs ON"] {
        assert!(
            text_styles(&plan_with_network(true), text).iter().all(|cell| *cell == cell_style(theme.warning)),
            "{text}"
        );
    }
    for (plan, text) in [(plan_with_network(false), "network off"), (plan_with_network(true), "may write here")] {
        assert!(text_styles(&plan, text).iter().all(|cell| *cell == cell_style(theme.dim)), "{text}");
    }
    assert_ne!(cell_style(theme.warning), cell_style(theme.dim));
}
