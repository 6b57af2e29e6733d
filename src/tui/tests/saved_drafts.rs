//! Drafts are saved while they are typed and restored when the session is opened.

use super::*;
use crate::tui::host::{HostReply, HostRequest, Opened};

/// Returns the drafts of any session that the screen has saved, oldest first.
fn saved_drafts(screen: &Screen) -> Vec<UnsentText> {
    let saved_text = |effect: &Effect| match effect {
        Effect::Request(HostRequest::SaveUnsent(_, unsent)) => Some((**unsent).clone()),
        _ => None,
    };
    screen.effects.iter().filter_map(saved_text).collect()
}

fn last_draft(screen: &Screen) -> UnsentText {
    saved_drafts(screen).pop().expect("something is kept")
}

/// Opens the entries of the session again, with the draft saved last. The new session has the id `02`.
fn reopen_session(old_screen: &Screen) -> Screen {
    let mut screen = Screen::new();
    let new_agent = agent::State::new(Policy::default(), "m".into(), String::new(), vec![]);
    let agent = agent::resume_session(
        Session::replay(old_screen.state.agent.session.entries().to_vec()),
        new_agent,
        &Default::default(),
    )
    .0;
    let opened = Opened { agent, unsent: last_draft(old_screen), ..super::fast_typing::opened_session(None) };
    screen.handle_event(Event::Host(HostReply::Opened(Box::new(opened))));
    screen.draw_frame();
    screen
}

fn screen_with_approval() -> Screen {
    let mut screen = Screen::with_turn();
    screen.receive_call("a", "bash_exec", command_intent("make it"));
    screen.advance_ms(600);
    screen
}

#[test]
fn a_draft_is_saved_about_once_a_second_while_typing() {
    let mut screen = Screen::new();
    let text = "a thought that takes a while to be written";
    screen.type_text(text);
    let save_count = saved_drafts(&screen).len();
    assert!((4..=6).contains(&save_count), "{save_count} in 4.2 seconds");
    let saved = last_draft(&screen).text();
    assert!(text.starts_with(&saved) && saved.len() + 10 > text.len(), "less than a second is missing: {saved:?}");
    screen.advance_ms(900);
    assert_eq!(last_draft(&screen).text(), text);
    let save_count = saved_drafts(&screen).len();
    for _ in 0..50 {
        screen.advance_ms(400);
    }
    assert_eq!((saved_drafts(&screen).len(), screen.state.next_change()), (save_count, None), "nothing changes");
    // A key that changes nothing saves nothing.
    screen.press_key("ctrl-a");
    screen.advance_ms(2000);
    assert_eq!(saved_drafts(&screen).len(), save_count);
    screen.press_key("enter");
    assert!(last_draft(&screen).is_empty(), "a sent message is no draft");
}

#[test]
fn a_restored_draft_keeps_its_pastes_folded() {
    let mut screen = Screen::new();
    let paste: String = (0..120).map(|n| format!("line {n}\n")).collect();
    screen.type_text("see ");
    screen.handle_event(Event::Pasted(paste.clone()));
    // The composer uses characters of this plane for folded pastes, so it folds a real one like a paste.
    screen.type_text(" and \u{10_0003}");
    screen.advance_ms(1000);
    let mut reopened = reopen_session(&screen);
    assert_eq!(reopened.state.input.composer.text(), format!("see {paste} and \u{10_0003}"));
    assert!(
        reopened.screen_text().contains("see [pasted 120 lines] and [pasted 1 character]"),
        "{}",
        reopened.screen_text()
    );
    reopened.advance_ms(2000);
    assert!(saved_drafts(&reopened).is_empty(), "nothing changed");
}

#[test]
fn a_stored_draft_cannot_control_the_terminal_or_fake_a_paste() {
    // The composer uses characters of the plane of U+100000 for folded pastes, so it folds a real one like a paste.
    let draft = vec![
        DraftPart::Typed("a\u{1b}[2Jb\u{7}\u{10_0000}".into()),
        DraftPart::Pasted("c\u{1b}]0;title\u{7}d\r\ne".into()),
    ];
    let mut screen = Screen::new();
    let opened =
        Opened { unsent: UnsentText { draft, ..UnsentText::default() }, ..super::fast_typing::opened_session(None) };
    screen.handle_event(Event::Host(HostReply::Opened(Box::new(opened))));
    assert_eq!(screen.state.input.composer.text(), "ab\u{10_0000}cd\ne");
    assert!(screen.screen_text().contains("ab[pasted 1 character][pasted 2 lines]"), "{}", screen.screen_text());
}

#[test]
fn a_queued_message_is_saved_at_once_and_restored() {
    let mut screen = Screen::with_turn();
    screen.send_text("and quickly");
    assert_eq!(last_draft(&screen).queue, ["and quickly"]);
    let mut reopened = reopen_session(&screen);
    assert!(reopened.state.agent.is_idle(), "nothing is sent automatically");
    let screen_text = reopened.screen_text();
    assert!(screen_text.contains("and quickly") && screen_text.contains("not sent · enter send"), "{screen_text}");
    reopened.effects.clear();
    reopened.press_key("enter");
    let is_sent = |entry: &Entry| matches!(entry, Entry::UserMessage { text } if text == "and quickly");
    assert!(reopened.state.agent.session.entries().iter().any(is_sent));
    // A message sent with the next request leaves the queue.
    screen.receive_reply("first");
    assert!(last_draft(&screen).queue.is_empty());
}

#[test]
fn a_sent_message_is_not_restored_as_a_draft() {
    let mut screen = Screen::with_turn();
    screen.send_text("and quickly");
    let old_draft = last_draft(&screen);
    screen.receive_reply("first");
    // The program was killed before the empty queue was saved.
    screen.effects.push(Effect::Request(HostRequest::SaveUnsent(SessionId("01J".into()), Box::new(old_draft))));
    assert!(reopen_session(&screen).state.agent.queued_messages.is_empty());
}

#[test]
fn the_message_of_a_denial_is_saved_and_restored_as_a_draft() {
    let mut screen = screen_with_approval();
    screen.press_key("m");
    screen.type_text("use cargo instead");
    screen.advance_ms(1000);
    assert_eq!(last_draft(&screen).approval, "use cargo instead");
    let mut reopened = reopen_session(&screen);
    assert_eq!(reopened.state.input.composer.text(), "use cargo instead");
    assert!(reopened.screen_text().contains("was not run"), "{}", reopened.screen_text());
    // Once sent or cancelled, it is no longer saved.
    screen.press_key("enter");
    assert!(last_draft(&screen).is_empty() && screen.count_decisions() == 1);
    let mut screen = screen_with_approval();
    screen.press_key("m");
    screen.type_text("no");
    screen.advance_ms(1000);
    screen.press_key("esc");
    assert!(last_draft(&screen).is_empty());
}

#[test]
fn edited_arguments_are_saved_once_changed() {
    let mut screen = screen_with_approval();
    screen.press_key("e");
    screen.advance_ms(2000);
    assert!(saved_drafts(&screen).iter().all(UnsentText::is_empty), "nothing is changed yet");
    screen.type_text("!");
    screen.advance_ms(1000);
    let reopened = reopen_session(&screen);
    let text = reopened.state.input.composer.text();
    assert!(text.starts_with("Call bash_exec with these arguments instead: {") && text.contains('!'), "{text}");
}

#[test]
fn a_denial_message_in_the_queue_list_is_saved() {
    let mut screen = screen_with_approval();
    screen.press_key("l");
    screen.advance_ms(600);
    screen.press_key("m");
    screen.type_text("not now");
    screen.advance_ms(1000);
    assert_eq!(last_draft(&screen).approval, "not now");
}

#[test]
fn a_partial_answer_is_saved_within_half_a_second() {
    let mut screen = Screen::with_turn();
    screen.receive_call("q", "ask_question", question_intent());
    screen.advance_ms(600);
    screen.press_key("4");
    for text in ["in a word ", "or two"] {
        screen.type_text(text);
        screen.advance_ms(500);
        assert!(last_draft(&screen).questions.concat().contains(text), "{text}");
    }
    // Also while the user goes on typing, a key every 100 ms.
    let text = "abcdefghijklmnopqrstuvwxyz";
    for (index, key) in text.char_indices() {
        screen.type_text(&key.to_string());
        let older_keys = &text[..(index + 1).saturating_sub(5)];
        assert!(last_draft(&screen).questions.concat().contains(older_keys), "{older_keys}");
    }
}

#[test]
fn an_unsaved_draft_is_reported_once_and_shown_in_the_footer() {
    let mut screen = Screen::new();
    let report_error = |screen: &mut Screen, error: Option<&str>| {
        screen.handle_event(Event::Host(HostReply::UnsentSaved(error.map(str::to_owned))));
        screen.screen_text()
    };
    let text = report_error(&mut screen, Some("no space left on device"));
    assert!(text.contains("no space left on device") && text.contains("draft not saved"), "{text}");
    screen.advance_ms(60_000);
    report_error(&mut screen, Some("no space left on device"));
    assert_eq!(screen.state.current_warnings().count(), 1);
    screen.handle_event(Event::Host(HostReply::Opened(Box::new(super::fast_typing::opened_session(None)))));
    assert!(screen.screen_text().contains("draft not saved"), "in the next session too");
    assert!(!report_error(&mut screen, None).contains("not saved"));
}
