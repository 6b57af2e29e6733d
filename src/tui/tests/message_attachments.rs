//! Files that are attached to a message.

mod clipboard_pastes;

use super::*;
use crate::chat::attachments::{Attachment, Content, READ_WITH_TOOL, attach};
use crate::config::ProjectFiles;
use crate::tui::file_index::IndexBuilder;
use crate::tui::host::{InspectionReason, ListState};
use crate::tui::{HostReply, HostRequest};
use std::sync::Arc;

/// Returns the message whose files the host was asked to attach.
fn find_message_to_attach(effects: &[Effect]) -> Option<String> {
    effects.iter().find_map(|effect| match effect {
        Effect::Request(HostRequest::AttachToMessage { message, .. }) => Some(message.clone()),
        _ => None,
    })
}

impl Screen {
    /// Records effects. A message that names files is sent without them, as if no file existed.
    pub(super) fn record_effects(&mut self, effects: Vec<Effect>) {
        let message = find_message_to_attach(&effects);
        self.effects.extend(effects);
        if let Some(message) = message {
            self.attach_to_message(&message, &[]);
        }
    }

    /// Sends the host's reply.
    pub fn attach_to_message(&mut self, message: &str, attachments: &[Attachment]) {
        let result = Ok(attach(message, attachments));
        self.handle_event(Event::Host(HostReply::MessageAttached { message: message.to_owned(), result }));
    }
}

#[test]
fn only_a_message_that_names_a_file_waits_for_its_text() {
    let mut screen = Screen::new();
    screen.effects.clear();
    screen.send_text("look at @src/main.rs:3");
    assert_eq!(find_message_to_attach(&screen.effects).as_deref(), Some("look at @src/main.rs:3"));
    assert!(!screen.state.agent.is_idle() && screen.state.input.composer.is_empty());
    screen.receive_reply("Seen.");
    screen.effects.clear();
    screen.send_text("look at @shot.png, me@example.com");
    assert_eq!(find_message_to_attach(&screen.effects), None);
    assert!(!screen.state.agent.is_idle(), "it was sent at once");
}

#[test]
fn the_file_list_closes_when_the_message_is_sent_and_when_the_draft_loses_the_word() {
    let mut screen = Screen::new();
    let mut builder = IndexBuilder::new(Vec::new(), std::time::SystemTime::UNIX_EPOCH);
    builder.add("src/a.rs", None, None);
    let index = Arc::new(builder.index());
    let files = || Event::Host(HostReply::Files { index: index.clone(), completeness: ListState::Complete });
    screen.type_text("see @src/a.rs");
    screen.handle_event(files());
    assert!(screen.state.input.completion.is_open());
    // The reply of the host comes later.
    update::update(&mut screen.state, &mut screen.cache, Event::Key(key("enter")));
    assert!(!screen.state.input.completion.is_open(), "while the file is read");
    screen.attach_to_message("see @src/a.rs", &[]);
    assert!(screen.state.input.composer.is_empty() && !screen.state.input.completion.is_open());
    assert!(!screen.state.input.completion.has_word());
    screen.receive_reply("Seen.");
    screen.type_text("@src");
    screen.handle_event(files());
    assert!(screen.state.input.completion.is_open());
    screen.handle_event(Event::Edited("from the editor".into()));
    assert!(!screen.state.input.completion.is_open(), "the editor replaced the draft");
}

#[test]
fn the_transcript_names_what_is_attached_and_what_is_not() {
    let content =
        Content::File { text: "fn a() {}".into(), facts: "line 3 of 9, 10 bytes".into(), untrusted_source: None };
    let attached = Attachment { source: "src/a.rs:3".into(), content };
    let missing =
        Attachment { source: ".env".into(), content: Content::Missing(format!("it may hold secrets{READ_WITH_TOOL}")) };
    let text = attach("compare @src/a.rs:3 with @.env", &[attached, missing]);
    let mut screen = Screen::with_entries([Entry::UserMessage { text }, Entry::Ended { ending: Ending::Finished }]);
    screen.draw_frame();
    let screen_text = screen.screen_text();
    for row in [
        "▌ compare @src/a.rs:3 with @.env",
        "▌ attached src/a.rs:3 · line 3 of 9, 10 bytes",
        "▌ not attached .env · it may hold secrets",
    ] {
        assert!(screen_text.lines().any(|line| line.trim() == row), "{screen_text}");
    }
    let buffer = screen.draw_frame();
    let row_of = |text: &str| screen_text.lines().position(|line| line.contains(text)).unwrap() as u16;
    let modifiers_of = |text: &str| {
        let row = row_of(text);
        (0..buffer.area.width).map(|x| &buffer[(x, row)]).find(|cell| cell.symbol() == "▌").unwrap().modifier
    };
    let theme = &screen.state.theme;
    let (attached, refused) = (modifiers_of("▌ attached src"), modifiers_of("▌ not attached"));
    assert_eq!((attached, refused), (theme.dim.add_modifier, theme.warning.add_modifier));
    assert_ne!(attached, refused);
    assert!(!screen_text.contains("fn a()"), "{screen_text}");
}

#[test]
fn the_message_of_the_command_line_waits_for_its_files_as_the_draft() {
    let mut screen = Screen::new();
    screen.state.session.trust.first_message = "!look at @src/main.rs".into();
    screen.effects.clear();
    let files = ProjectFiles { folder: screen.state.settings.folder.clone(), ..ProjectFiles::default() };
    let reply = HostReply::ProjectFiles { files: Box::new(files), reason: InspectionReason::SessionStarted };
    let effects = update::update(&mut screen.state, &mut screen.cache, Event::Host(reply));
    let draft = find_message_to_attach(&effects).expect("the file is read");
    assert_eq!(screen.state.input.composer.text(), draft);
    assert!(screen.state.agent.is_idle(), "not yet sent");
    screen.attach_to_message(&draft, &[]);
    let entries = screen.state.agent.session.entries();
    assert_eq!(entries[0], Entry::UserMessage { text: "!look at @src/main.rs".into() });
    assert!(screen.state.input.composer.is_empty());
}

/// Pastes, and returns the paths that the host was asked to find.
fn paste(screen: &mut Screen, text: &str) -> Option<Vec<Vec<String>>> {
    screen.effects.clear();
    screen.handle_event(Event::Pasted(text.into()));
    screen.effects.iter().find_map(|effect| match effect {
        Effect::Request(HostRequest::FindPastedFiles(readings)) => Some(readings.clone()),
        _ => None,
    })
}

fn find_pasted(screen: &mut Screen, readings: Vec<Vec<String>>, mentions: &[&str]) {
    let mentions = (!mentions.is_empty()).then(|| mentions.iter().map(|&mention| mention.to_owned()).collect());
    screen.handle_event(Event::Host(HostReply::PastedFilesFound(readings, mentions)));
}

#[test]
fn pasted_paths_of_files_become_their_names_and_one_undo_brings_the_text_back() {
    let mut screen = Screen::new();
    screen.type_text("see ");
    let readings = paste(&mut screen, "'/project/a b.rs' /project/c.png").expect("they may be paths");
    assert_eq!(screen.state.input.composer.text(), "see '/project/a b.rs' /project/c.png", "until they are found");
    assert_eq!(readings[0], ["/project/a b.rs", "/project/c.png"]);
    find_pasted(&mut screen, readings, &["@\"a b.rs\"", "@c.png"]);
    assert_eq!(screen.state.input.composer.text(), "see @\"a b.rs\" @c.png ");
    screen.press_key("ctrl-_");
    assert_eq!(screen.state.input.composer.text(), "see '/project/a b.rs' /project/c.png");
}

#[test]
fn an_undo_of_later_typing_takes_one_step_although_the_text_is_that_after_the_paste() {
    let mut screen = Screen::new();
    screen.type_text("see ");
    let readings = paste(&mut screen, "/project/a.rs").expect("it may be a path");
    find_pasted(&mut screen, readings, &["@a.rs"]);
    screen.type_text("xy");
    screen.press_key("backspace");
    screen.press_key("backspace");
    assert_eq!(screen.state.input.composer.text(), "see @a.rs ");
    screen.press_key("ctrl-_");
    assert_eq!(screen.state.input.composer.text(), "see @a.rs x");
}

#[test]
fn a_paste_stays_text_if_it_names_no_files_or_was_changed() {
    let mut screen = Screen::new();
    let readings = paste(&mut screen, "/no/file").expect("it may be a path");
    find_pasted(&mut screen, readings, &[]);
    assert_eq!(screen.state.input.composer.text(), "/no/file");
    let mut screen = Screen::new();
    let readings = paste(&mut screen, "/a/b").expect("it may be a path");
    screen.press_key("backspace");
    find_pasted(&mut screen, readings.clone(), &["@b"]);
    assert_eq!(screen.state.input.composer.text(), "/a/");
    find_pasted(&mut screen, readings, &["@b"]);
    assert_eq!(screen.state.input.composer.text(), "/a/", "a late reply");
    // Part of a word, or of a command.
    let mut screen = Screen::new();
    screen.type_text("path=");
    assert_eq!(paste(&mut screen, "/a/b"), None);
    let mut screen = Screen::new();
    screen.type_text("!cat ");
    assert_eq!(paste(&mut screen, "/a/b"), None);
    assert_eq!(screen.state.input.composer.text(), "!cat /a/b");
    let mut screen = Screen::new();
    assert_eq!(paste(&mut screen, "some words"), None);
}

#[test]
fn a_draft_that_changed_meanwhile_is_not_sent() {
    let mut screen = Screen::new();
    screen.type_text("see @a.rs");
    let enter = Event::Key(key("enter"));
    // The reply of the host comes later.
    let effects = update::update(&mut screen.state, &mut screen.cache, enter);
    assert_eq!(find_message_to_attach(&effects).as_deref(), Some("see @a.rs"));
    screen.type_text(" and");
    screen.attach_to_message("see @a.rs", &[]);
    assert!(screen.state.agent.is_idle());
    assert_eq!(screen.state.input.composer.text(), "see @a.rs and");
}
