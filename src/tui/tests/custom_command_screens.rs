//! Custom commands in the composer.

use super::*;
use crate::chat::custom_command::{CommandFiles, CustomCommand};
use crate::tui::host::{HostReply, HostRequest};

fn files(commands: &[(&str, &str)]) -> CommandFiles {
    let command = |(name, text): &(&str, &str)| CustomCommand::parse(name, &format!("{name}.md"), text).unwrap();
    CommandFiles { commands: commands.iter().map(command).collect(), ..CommandFiles::default() }
}

fn receive(screen: &mut Screen, files: CommandFiles) {
    screen.handle_event(Event::Host(HostReply::Offers(Vec::new(), files)));
}

/// The last message of the session.
fn last_message(screen: &Screen) -> String {
    let mut messages = screen.state.agent.session.entries().iter().filter_map(|entry| match entry {
        Entry::UserMessage { text } => Some(text.clone()),
        _ => None,
    });
    messages.next_back().unwrap_or_default()
}

#[test]
fn a_command_is_completed_and_its_message_is_sent() {
    let mut screen = Screen::new();
    screen.type_text("/re");
    let review =
        "---\ndescription: Review a file\nargument-hint: FILE\n---\nReview $1 carefully.\n\n/quit is no command here.";
    receive(&mut screen, files(&[("review", review)]));
    let text = screen.screen_text();
    assert!(text.contains("review") && text.contains("FILE · Review a file"), "{text}");
    screen.type_text("view 'a b.rs'");
    screen.press_key("enter");
    assert_eq!(last_message(&screen), "Review a b.rs carefully.\n\n/quit is no command here.");
    assert!(screen.state.input.composer.is_empty());
}

#[test]
fn a_message_that_looks_like_a_command_is_a_message() {
    for (text, sent) in
        [("/quit now", "/quit now"), ("!rm -rf x", "!rm -rf x"), ("$ARGUMENTS", "!ls"), ("/own", "/own")]
    {
        let mut screen = Screen::new();
        screen.type_text("/");
        receive(&mut screen, files(&[("own", text)]));
        screen.type_text(if text.starts_with('$') { "own !ls" } else { "own" });
        screen.press_key("enter");
        assert!(!screen.state.agent.is_idle(), "{text} is sent");
        assert_eq!(last_message(&screen), sent);
    }
}

#[test]
fn an_early_enter_waits_for_the_files_and_sends_once() {
    let mut screen = Screen::new();
    screen.send_text("/own a");
    assert!(screen.state.agent.is_idle());
    assert_eq!(screen.state.input.composer.text(), "/own a");
    receive(&mut screen, files(&[("own", "Do $1.")]));
    assert_eq!(last_message(&screen), "Do a.");
    receive(&mut screen, files(&[("own", "Do $1.")]));
    assert_eq!(screen.state.agent.session.entries().len(), 1);
    // The same draft, typed again, waits for its own Enter.
    screen.receive_reply("Done.");
    screen.type_text("/own a");
    receive(&mut screen, files(&[("own", "Do $1.")]));
    assert_eq!(screen.state.input.composer.text(), "/own a");
    assert!(screen.state.agent.is_idle());
    screen.press_key("enter");
    assert!(!screen.state.agent.is_idle());
    // A draft that was changed meanwhile is not sent.
    let mut screen = Screen::new();
    screen.send_text("/own a");
    screen.type_text("b");
    receive(&mut screen, files(&[("own", "Do $1.")]));
    assert!(screen.state.agent.is_idle());
    assert_eq!(screen.state.input.composer.text(), "/own ab");
}

#[test]
fn an_unknown_command_is_looked_up_once_for_each_enter() {
    let mut screen = Screen::new();
    screen.handle_event(Event::Pasted("/own a".into()));
    screen.press_key("enter");
    let asks = |effects: &[Effect]| {
        effects.iter().filter(|effect| matches!(effect, Effect::Request(HostRequest::ListOffers))).count()
    };
    let effects = screen.effects.drain(..).collect::<Vec<_>>();
    assert_eq!(asks(&effects), 1, "{effects:?}");
    receive(&mut screen, CommandFiles::default());
    assert!(screen.screen_text().contains("Unknown command /own"), "{}", screen.screen_text());
    assert_eq!(asks(&screen.effects), 0);
    screen.press_key("enter");
    assert_eq!(asks(&screen.effects), 1, "the file may exist now");
    receive(&mut screen, files(&[("own", "Do it.")]));
    assert_eq!(last_message(&screen), "Do it.\n\na");
}

#[test]
fn files_that_cannot_be_used_are_named_once() {
    let mut screen = Screen::new();
    screen.type_text("/");
    let found = CommandFiles {
        problems: vec!["Cannot use x.md: it has no text to send. Write the message into it.".into()],
        ..files(&[("quit", "x")])
    };
    receive(&mut screen, found.clone());
    let text = screen.screen_text();
    assert!(text.contains("it has no text to send") && text.contains("/quit is a command of aye"), "{text}");
    let count = screen.state.notices.warnings.len();
    receive(&mut screen, found);
    assert_eq!((count, screen.state.notices.warnings.len()), (2, 2));
    screen.press_key("ctrl-u");
    screen.send_text("/quit");
    assert!(screen.state.agent.session.entries().is_empty(), "the command of aye runs");
}

#[test]
fn a_command_without_the_arguments_that_it_needs_is_not_sent() {
    let mut screen = Screen::new();
    screen.type_text("/");
    let review = "---\nargument-hint: FILE [FOCUS]\n---\nReview $1, look for $2.";
    let found = files(&[("own", "---\nargument-hint: [FOCUS]\n---\nReview all for $1."), ("review", review)]);
    receive(&mut screen, found.clone());
    screen.type_text("review");
    assert!(screen.screen_text().contains("enter add arguments"), "{}", screen.screen_text());
    screen.press_key("enter");
    assert!(
        screen.screen_text().contains("Not sent: an argument is missing. Usage: /review FILE [FOCUS]"),
        "{}",
        screen.screen_text()
    );
    assert_eq!(screen.state.input.composer.text(), "/review ", "the arguments can be typed at once");
    assert!(screen.screen_text().contains("❯ /review FILE [FOCUS]"), "{}", screen.screen_text());
    screen.press_key("left");
    assert!(!screen.screen_text().contains("❯ /review FILE"), "{}", screen.screen_text());
    // The files are read again for the word at the cursor.
    receive(&mut screen, found.clone());
    screen.press_key("right");
    screen.press_key("enter");
    assert!(screen.state.agent.is_idle());
    assert_eq!(screen.state.input.composer.text(), "/review ");
    screen.type_text("a.rs");
    screen.press_key("enter");
    assert_eq!(last_message(&screen), "Review a.rs, look for .");
    assert!(!screen.screen_text().contains("Not sent"), "{}", screen.screen_text());
    screen.receive_reply("Done.");
    screen.send_text("/own");
    receive(&mut screen, found);
    assert_eq!(last_message(&screen), "Review all for .");
    screen.receive_reply("Done.");
    screen.type_text("/context");
    assert!(screen.screen_text().contains("enter run"), "{}", screen.screen_text());
}

#[test]
fn a_message_that_is_too_long_is_not_sent() {
    let mut screen = Screen::new();
    screen.type_text("/");
    receive(&mut screen, files(&[("own", &"$ARGUMENTS".repeat(20_000))]));
    screen.type_text(&format!("own {}", "x".repeat(50)));
    screen.press_key("enter");
    assert!(screen.state.agent.is_idle());
    assert!(
        screen.screen_text().contains("Not sent: /own: its message has more than 256 KiB"),
        "{}",
        screen.screen_text()
    );
}

#[test]
fn a_command_of_the_project_says_so_and_one_that_is_not_trusted_is_not_called_unknown() {
    let mut screen = Screen::new();
    screen.type_text("/");
    let mut found = files(&[("own-notes", "Do it.")]);
    found.commands[0].is_of_project = true;
    found.untrusted = vec!["release".to_owned()];
    receive(&mut screen, found.clone());
    screen.type_text("own");
    assert!(screen.screen_text().contains("Do it. · of this project"), "{}", screen.screen_text());
    screen.press_key("ctrl-u");
    screen.send_text("/release 1.0");
    receive(&mut screen, found);
    let text = screen.screen_text();
    assert!(text.contains("you do not trust /release") && !text.contains("Unknown command"), "{text}");
    assert!(screen.state.agent.is_idle());
}
