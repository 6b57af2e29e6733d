//! Commands of the user on the screen: what starts them, and when the terminal is handed over.

use super::*;

/// A screen on which this command runs.
fn screen_with_command(draft: &str) -> Screen {
    let mut screen = Screen::new();
    screen.send_text(draft);
    assert!(screen.state.agent.user_command().is_some());
    screen
}

fn running_turn(screen: &Screen) -> TurnId {
    screen.state.agent.current_turn().expect("a command runs")
}

fn report_terminal_need(screen: &mut Screen) {
    let turn = running_turn(screen);
    screen.handle_event(Event::Agent(agent::Event::TerminalNeeded { turn }));
}

fn count_handovers(screen: &Screen) -> usize {
    screen.effects.iter().filter(|effect| **effect == Effect::AttachTerminal).count()
}

#[test]
fn the_terminal_is_handed_over_only_while_nothing_else_has_the_keys() {
    let mut screen = screen_with_command("!sudo ls");
    report_terminal_need(&mut screen);
    assert_eq!(count_handovers(&screen), 1);

    let mut screen = screen_with_command("!sudo ls");
    screen.type_text("my draft");
    report_terminal_need(&mut screen);
    let shown = screen.screen_text();
    assert!(count_handovers(&screen) == 0 && shown.contains("Your command waits for keys"), "{shown}");

    for key in ["ctrl-p", "ctrl-f"] {
        let mut screen = screen_with_command("!sudo ls");
        screen.press_key(key);
        report_terminal_need(&mut screen);
        assert_eq!(count_handovers(&screen), 0, "{key}");
    }
    // An event of a command that has ended hands over nothing.
    let mut screen = screen_with_command("!sudo ls");
    let turn = running_turn(&screen);
    screen.press_key("esc");
    screen.handle_event(Event::Agent(agent::Event::TerminalNeeded { turn }));
    assert_eq!(count_handovers(&screen), 0);
}

#[test]
fn a_second_enter_hands_over_nothing_and_a_later_one_does() {
    let mut screen = screen_with_command("!cat");
    screen.advance_ms(300);
    screen.press_key("enter");
    assert_eq!(count_handovers(&screen), 0);
    assert!(!screen.screen_text().contains("attaches the terminal"));
    screen.advance_ms(900);
    assert!(screen.screen_text().contains("enter attaches the terminal"));
    screen.press_key("enter");
    assert_eq!(count_handovers(&screen), 1);
}

#[test]
fn in_a_dry_run_there_is_no_terminal_to_hand_over() {
    let mut screen = Screen::dry_run();
    screen.type_text("!cat");
    assert!(screen.screen_text().contains("Runs in the overlay sandbox · the model gets the output"));
    screen.press_key("enter");
    screen.advance_ms(2_000);
    screen.press_key("enter");
    assert!(count_handovers(&screen) == 0 && !screen.screen_text().contains("attaches the terminal"));
}

/// The editor, a restored draft and a message taken back from the queue are drafts. Only Enter runs one.
#[test]
fn a_draft_from_elsewhere_runs_nothing() {
    let runs_nothing = |screen: &Screen| {
        screen.state.agent.user_command().is_none()
            && !screen.effects.iter().any(|effect| format!("{effect:?}").contains("RunUserCommand"))
    };
    let mut screen = Screen::new();
    screen.handle_event(Event::Edited("!rm x".into()));
    assert!(runs_nothing(&screen) && screen.screen_text().contains("$ !rm x"));
    let mut screen = Screen::new();
    screen.handle_event(Event::TypedEarly("!rm x\n".into()));
    assert!(runs_nothing(&screen) && screen.screen_text().contains("$ !rm x"));
    let mut screen = Screen::with_turn();
    screen.send_text("\\!important");
    screen.press_key("alt-q");
    assert!(runs_nothing(&screen) && screen.screen_text().contains("❯ \\!important"), "{}", screen.screen_text());
}

/// In a command `@` belongs to the shell, and Enter is not needed for a completion.
#[test]
fn a_command_is_not_completed() {
    let mut screen = Screen::new();
    screen.type_text("!git show @");
    assert!(!screen.state.input.completion.is_open());
    screen.press_key("enter");
    assert_eq!(screen.state.agent.user_command().map(|running| running.command.as_str()), Some("git show @"));
}

#[test]
fn a_command_is_copied_opened_and_found() {
    let output = (1..=20).map(|number| format!("line {number}\n")).collect::<String>();
    let command = UserCommand {
        command: "make".into(),
        output,
        status: "exit 2".into(),
        is_shared: true,
        is_rehearsed: false,
        took_ms: 1_500,
    };
    let mut screen = Screen::with_entries([Entry::UserCommand(Box::new(command))]);
    let closed = screen.screen_text();
    assert!(closed.contains("✗ ! make") && closed.contains("exit 2 · 1.5 s"), "{closed}");
    assert!(closed.contains("… 12 earlier lines") && !closed.contains("line 12"), "{closed}");
    screen.press_key("alt-up");
    screen.press_key("enter");
    screen.resize_screen(80, 40);
    let open = screen.screen_text();
    assert!(open.lines().any(|line| line.trim() == "line 1"), "{open}");
    screen.press_key("alt-y");
    let copies = |screen: &Screen| screen.effects.iter().any(|effect| matches!(effect, Effect::CopyText(_)));
    if !copies(&screen) {
        screen.press_key("enter");
    }
    assert!(copies(&screen));
}
