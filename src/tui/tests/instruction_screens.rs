//! Instructions on the screen: those that are sent, their problems, and the draft of `/init`.

use super::*;
use crate::agent::ContextKind;
use crate::chat::Instructions;
use crate::config::ProjectFiles;
use crate::tui::host::{HostReply, InspectionReason};
use std::sync::Arc;

fn run_init(screen: &mut Screen, command: &str) -> String {
    screen.type_text(command);
    screen.press_key("enter");
    screen.state.input.composer.text()
}

#[test]
fn the_welcome_screen_tells_instructions_of_the_user_from_those_of_the_project() {
    let mut screen = Screen::new();
    let mut files = Instructions::from_files([("~/.config/aye/AGENTS.md", "Mine."), ("AGENTS.md", "Theirs.")], 100);
    files[0] = files[0].clone().into_user_instructions();
    screen.state.agent.set_instructions(Arc::new(files));
    let text = screen.screen_text().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Your instructions, sent with every request: ~/.config/aye/AGENTS.md (5 bytes"), "{text}");
    assert!(text.contains("Project instructions, trusted and sent with every request: AGENTS.md (7 bytes"), "{text}");
}

#[test]
fn problems_of_instructions_are_warnings_whether_or_not_a_prompt_opens() {
    let mut screen = Screen::new();
    let problem =
        "Cannot import a file in line 3 of AGENTS.md: @x.md: there is no such file. The line is sent as it is.";
    let files = ProjectFiles {
        folder: screen.state.settings.folder.clone(),
        problems: vec![problem.into()],
        ..ProjectFiles::default()
    };
    let reply = HostReply::ProjectFiles { files: Box::new(files), reason: InspectionReason::SessionStarted };
    screen.handle_event(Event::Host(reply));
    assert_eq!(screen.state.current_warnings().collect::<Vec<_>>(), [problem]);
}

#[test]
fn the_context_page_counts_a_file_as_the_welcome_screen_does() {
    let mut screen = Screen::new();
    let text = "Always run the tests before you say that something works.\n".repeat(20);
    let files = Instructions::from_files([("AGENTS.md", text.as_str()), ("empty.md", " ")], 10_000);
    let tokens = files[0].tokens;
    screen.state.agent.set_instructions(Arc::new(files));
    let parts = screen.state.agent.context_parts();
    let of_instructions: Vec<_> = parts.iter().filter(|part| part.kind == ContextKind::Instructions).collect();
    let names: Vec<&str> = of_instructions.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(names, ["AGENTS.md", "introduction"]);
    assert!(of_instructions[0].tokens.abs_diff(tokens) <= 1 && tokens > 100, "{of_instructions:?} {tokens}");
    assert!((30..100).contains(&of_instructions[1].tokens), "{of_instructions:?}");
}

#[test]
fn init_drafts_a_message_that_is_not_sent_before_it_could_be_read() {
    let mut screen = Screen::new();
    let draft = run_init(&mut screen, "/init answer in French");
    assert!(
        draft.starts_with("Write an AGENTS.md for this project") && draft.ends_with("\n\nanswer in French"),
        "{draft}"
    );
    assert!(draft.contains("If the project has one, improve it instead") && draft.contains("write_file"), "{draft}");
    assert!(draft.lines().all(|line| !line.starts_with(' ') && !line.contains("  ")), "{draft}");
    assert!(screen.state.agent.session.entries().is_empty());
    screen.press_key("enter");
    assert!(screen.state.agent.session.entries().is_empty(), "a key typed ahead sends nothing");
    screen.state.timing.now += Duration::from_secs(2);
    assert!(screen.screen_text().contains("Not sent yet"), "{}", screen.screen_text());
    screen.press_key("enter");
    assert_eq!(screen.state.agent.session.entries()[0], Entry::UserMessage { text: draft });
    assert!(!screen.screen_text().contains("Not sent yet"), "{}", screen.screen_text());
}

#[test]
fn init_keeps_the_draft() {
    let mut screen = Screen::new();
    screen.type_text("my words");
    screen.press_key("ctrl-p");
    screen.type_text("init");
    screen.press_key("enter");
    let draft = screen.state.input.composer.text();
    assert!(draft.starts_with("my words\n\nWrite an AGENTS.md"), "{draft}");
}
