//! Drafts are saved while they are typed and restored when the session is opened.

use super::*;
use crate::tui::host::{Opened, Reply, Wish};

/// Returns the drafts that the screen has saved, oldest first.
fn kept(screen: &Screen) -> Vec<Unsent> {
    let kept = |effect: &Effect| match effect {
        Effect::Ask(Wish::Keep(session, unsent)) if session.0 == "01J" => Some((**unsent).clone()),
        _ => None,
    };
    screen.effects.iter().filter_map(kept).collect()
}

fn last(screen: &Screen) -> Unsent {
    kept(screen).pop().expect("something is kept")
}

/// Reopens the session with the draft saved last.
fn opened_again(before: &Screen) -> Screen {
    let mut screen = Screen::new();
    let blank = agent::State::new(Policy::default(), "m".into(), String::new(), vec![]);
    let agent = agent::resume(Session::replay(before.state.agent.session.entries().to_vec()), blank).0;
    let opened = Opened { agent, unsent: last(before), ..super::hands::opened(None) };
    screen.happens(Event::Host(Reply::Opened(Box::new(opened))));
    screen.frame();
    screen
}

fn approval() -> Screen {
    let mut screen = Screen::new();
    screen.says("go");
    screen.calls("a", "bash_exec", command("make it"));
    screen.waits(600);
    screen
}

#[test]
fn a_draft_is_saved_about_once_a_second_while_typing() {
    let mut screen = Screen::new();
    let text = "a thought that takes a while to be written";
    screen.types(text);
    let writes = kept(&screen).len();
    assert!((4..=6).contains(&writes), "{writes} in 4.2 seconds");
    let held = last(&screen).text();
    assert!(
        text.starts_with(&held) && held.len() + 10 > text.len(),
        "less than a second is missing: {held:?}"
    );
    screen.waits(900);
    assert_eq!(last(&screen).text(), text);
    let writes = kept(&screen).len();
    for _ in 0..50 {
        screen.waits(400);
    }
    assert_eq!((kept(&screen).len(), screen.state.wakes_at()), (writes, None), "nothing changes");
    // A key that changes nothing saves nothing.
    screen.presses("ctrl-a");
    screen.waits(2000);
    assert_eq!(kept(&screen).len(), writes);
    screen.presses("enter");
    assert!(last(&screen).is_empty(), "a sent message is no draft");
}

#[test]
fn a_restored_draft_keeps_its_pastes_folded() {
    let mut screen = Screen::new();
    let paste: String = (0..120).map(|n| format!("line {n}\n")).collect();
    screen.types("see ");
    screen.happens(Event::Pasted(paste.clone()));
    screen.types(" and \u{10_0003}");
    screen.waits(1000);
    let again = opened_again(&screen);
    assert_eq!(again.state.composer.text(), format!("see {paste} and \u{10_0003}"));
    let mut again = again;
    assert!(again.shows().contains("see [pasted 120 lines] and [pasted 1 character]"), "{}", again.shows());
    again.waits(2000);
    assert!(kept(&again).is_empty(), "nothing changed");
}

#[test]
fn a_stored_draft_cannot_control_the_terminal_or_fake_a_paste() {
    let draft = vec![
        Piece::Typed("a\u{1b}[2Jb\u{7}\u{10_0000}".into()),
        Piece::Pasted("c\u{1b}]0;title\u{7}d\r\ne".into()),
    ];
    let mut screen = Screen::new();
    let opened = Opened { unsent: Unsent { draft, ..Unsent::default() }, ..super::hands::opened(None) };
    screen.happens(Event::Host(Reply::Opened(Box::new(opened))));
    assert_eq!(screen.state.composer.text(), "ab\u{10_0000}cd\ne");
    assert!(screen.shows().contains("ab[pasted 1 character][pasted 2 lines]"), "{}", screen.shows());
}

#[test]
fn a_queued_message_is_saved_at_once_and_restored() {
    let mut screen = Screen::new();
    screen.says("go");
    screen.says("and quickly");
    assert_eq!(last(&screen).queue, ["and quickly"]);
    let mut again = opened_again(&screen);
    assert!(again.state.agent.is_idle(), "nothing is sent automatically");
    let shows = again.shows();
    assert!(shows.contains("and quickly") && shows.contains("not sent · enter send"), "{shows}");
    again.effects.clear();
    again.presses("enter");
    let said = |entry: &Entry| matches!(entry, Entry::Said { text } if text == "and quickly");
    assert!(again.state.agent.session.entries().iter().any(said));
    // A message sent with the next request leaves the queue.
    screen.replies("first");
    assert!(last(&screen).queue.is_empty());
}

#[test]
fn a_sent_message_is_not_restored_as_a_draft() {
    let mut screen = Screen::new();
    screen.says("go");
    screen.says("and quickly");
    let before = last(&screen);
    screen.replies("first");
    // The program was killed before the empty queue was saved.
    screen.effects.push(Effect::Ask(Wish::Keep(SessionId("01J".into()), Box::new(before))));
    assert!(opened_again(&screen).state.agent.queue.is_empty());
}

#[test]
fn the_message_of_a_denial_is_saved_and_restored_as_a_draft() {
    let mut screen = approval();
    screen.presses("m");
    screen.types("use cargo instead");
    screen.waits(1000);
    assert_eq!(last(&screen).approval, "use cargo instead");
    let mut again = opened_again(&screen);
    assert_eq!(again.state.composer.text(), "use cargo instead");
    assert!(again.shows().contains("was not run"), "{}", again.shows());
    again.waits(1000);
    // Once sent or cancelled, it is no longer saved.
    screen.presses("enter");
    assert!(last(&screen).is_empty() && screen.decided() == 1);
    let mut screen = approval();
    screen.presses("m");
    screen.types("no");
    screen.waits(1000);
    screen.presses("esc");
    assert!(last(&screen).is_empty());
}

#[test]
fn edited_arguments_are_saved_once_changed() {
    let mut screen = approval();
    screen.presses("e");
    screen.waits(2000);
    assert!(kept(&screen).iter().all(Unsent::is_empty), "nothing is changed yet");
    screen.types("!");
    screen.waits(1000);
    let again = opened_again(&screen);
    let text = again.state.composer.text();
    assert!(
        text.starts_with("Call bash_exec with these arguments instead: {") && text.contains('!'),
        "{text}"
    );
}

#[test]
fn a_denial_message_in_the_queue_list_is_saved() {
    let mut screen = approval();
    screen.presses("l");
    screen.waits(600);
    screen.presses("m");
    screen.types("not now");
    screen.waits(1000);
    assert_eq!(last(&screen).approval, "not now");
}

#[test]
fn a_partial_answer_is_saved_within_half_a_second() {
    let mut screen = Screen::new();
    screen.says("go");
    screen.calls("q", "ask_question", question());
    screen.waits(600);
    screen.presses("4");
    for text in ["in a word ", "or two"] {
        screen.types(text);
        screen.waits(500);
        assert!(last(&screen).questions.concat().contains(text), "{text}");
    }
}

#[test]
fn an_unsaved_draft_is_reported_once_and_shown_in_the_footer() {
    let mut screen = Screen::new();
    let trouble = |screen: &mut Screen, why: Option<&str>| {
        screen.happens(Event::Host(Reply::Kept(why.map(str::to_owned))));
        screen.shows()
    };
    let shows = trouble(&mut screen, Some("no space left on device"));
    assert!(shows.contains("no space left on device") && shows.contains("draft not saved"), "{shows}");
    screen.waits(60_000);
    trouble(&mut screen, Some("no space left on device"));
    assert_eq!(screen.state.warned_here().count(), 1);
    screen.happens(Event::Host(Reply::Opened(Box::new(super::hands::opened(None)))));
    assert!(screen.shows().contains("draft not saved"), "in the next session too");
    assert!(!trouble(&mut screen, None).contains("not saved"));
}
