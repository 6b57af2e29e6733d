//! A key that a prompt rejects is explained in the prompt, with the keys that work.

use super::*;
use crate::tui::parts::listening::QUIET;

/// A command that has waited for approval for `ms` milliseconds.
fn card(ms: u64) -> Screen {
    let mut screen = Screen::new();
    screen.says("go");
    screen.waits(1000);
    screen.calls("a", "bash_exec", command("ls"));
    screen.waits(10);
    screen.waits(ms);
    screen
}

/// Returns the bottom border of the prompt.
fn border(screen: &mut Screen) -> String {
    let shows = screen.shows();
    let border = shows.lines().rfind(|row| row.starts_with(['╰', '┗'])).unwrap_or_default();
    border.trim_matches(['╰', '┗', '╯', '┛', '─', '━']).trim().to_owned()
}

#[test]
fn a_key_pressed_too_soon_is_reported_as_written_to_the_draft() {
    let mut screen = card(100);
    screen.presses("y");
    assert_eq!(border(&mut screen), "Too soon: y went to your draft · tab to answer");
    assert_eq!((screen.decided(), screen.state.composer.text().as_str()), (0, "y"));
    screen.types("es");
    assert_eq!(border(&mut screen), "keys go to the composer · tab to answer");
    screen.presses("tab");
    screen.waits(600);
    assert!(border(&mut screen).starts_with("y approve · "));
    screen.presses("y");
    assert_eq!((screen.decided(), screen.state.composer.text().as_str()), (1, "yes"));
}

#[test]
fn enter_capitals_and_repeated_keys_are_explained() {
    let mut screen = card(600);
    screen.presses("enter");
    assert_eq!(
        (border(&mut screen).as_str(), screen.decided()),
        ("Enter does not answer · y approve, n deny", 0)
    );
    screen.waits(600);
    screen.presses("Y");
    assert_eq!(border(&mut screen), "Y is for destructive calls only · y to approve");
    screen.presses("y");
    assert_eq!(screen.decided(), 1, "the explanation does not delay an answer");
    let mut screen = Screen::new();
    screen.says("go");
    for id in ["a", "b"] {
        let arguments = format!(r#"{{"command":"echo {id}"}}"#);
        screen.chunk(Chunk::Call(ToolCall { id: id.into(), name: "bash_exec".into(), arguments }));
    }
    screen.chunk(Chunk::Done(Finish::Stop));
    screen.planned("a", command("echo a"));
    screen.waits(600);
    screen.presses("n");
    screen.planned("b", command("echo b"));
    screen.waits(100);
    screen.presses("n");
    assert_eq!(border(&mut screen), "n may still be held · release it, then press it again");
    screen.waits(600);
    screen.presses("n");
    assert_eq!(screen.decided(), 2);
}

#[test]
fn an_explanation_stays_until_the_next_key_without_wake_ups() {
    let mut screen = card(600);
    screen.presses("Y");
    screen.waits(5000);
    let (before, wakes) = (screen.shows(), screen.state.wakes_at());
    assert!(before.contains("Y is for destructive calls only"), "{before}");
    assert_eq!(wakes, None);
    screen.waits(60_000);
    assert_eq!(screen.shows(), before, "it stays as it is");
    screen.presses("d");
    assert!(border(&mut screen).starts_with("d back to prompt"));
}

#[test]
fn r03_what_a_card_says_changes_nothing_of_what_answers_it() {
    // The same keys at the same times, with and without keys before them that were not taken.
    for refused in ["", "Y", "YY", "YdYd"] {
        let mut screen = card(600);
        for letter in refused.chars() {
            screen.presses(&letter.to_string());
            screen.waits(u64::try_from(QUIET.as_millis()).unwrap());
        }
        screen.presses("y");
        assert_eq!(screen.decided(), 1, "{refused}");
    }
    let mut screen = card(100);
    for _ in 0..20 {
        screen.presses("enter");
        screen.waits(100);
    }
    assert_eq!(screen.decided(), 0);
}

#[test]
fn a_question_says_what_there_is_to_pick_and_that_nothing_was_answered() {
    let choice = |label: &str| Choice::new(label);
    let one = |keyword: &str| Question {
        keyword: keyword.into(),
        text: format!("{keyword}?"),
        options: ["a", "b"].map(choice).to_vec(),
        multi: false,
        allow_text: false,
        recommended: None,
    };
    let mut screen = Screen::new();
    screen.says("go");
    let list = vec![one("first"), one("second")];
    screen.calls("q", "ask_question", Intent::Ask(Questions { list, dropped: Dropped::default() }));
    screen.waits(100);
    screen.presses("enter");
    assert_eq!(border(&mut screen), "Too soon, not counted · press it again");
    screen.waits(600);
    screen.presses("7");
    assert_eq!(border(&mut screen), "No option 7 · 1-2 to pick");
    screen.presses("tab");
    screen.presses("tab");
    screen.presses("enter");
    assert_eq!(border(&mut screen), "No answers yet · esc for later, x to decline");
    screen.presses("8");
    assert_eq!(border(&mut screen), "No question 8 · 1-2 to pick");
    assert_eq!((screen.decided(), screen.state.composer.text().as_str()), (0, ""));
}

#[test]
fn r02_what_is_not_a_yes_never_is_one() {
    let acts = |screen: &Screen| {
        let of = |effect: &Effect| match effect {
            Effect::Agent(effects) => {
                effects.iter().any(|effect| matches!(effect, agent::Effect::Act { .. }))
            }
            _ => false,
        };
        let yes = |entry: &Entry| matches!(entry, Entry::Decided { decision: Decision::Once, .. });
        screen.effects.iter().any(of) || screen.state.agent.session.entries().iter().any(yes)
    };
    let happen: [fn(&mut Screen); 9] = [
        |screen| screen.waits(3 * 24 * 3_600_000),
        |screen| screen.resized(20, 5),
        |screen| screen.resized(1, 1),
        |screen| screen.happens(Event::Lost),
        |screen| screen.happens(Event::Pasted("y\ny\n".into())),
        |screen| screen.presses("ctrl-c"),
        |screen| screen.presses("esc"),
        |screen| screen.presses("n"),
        |screen| {
            ["enter", "q", "1", "f5", "tab", " ", "enter"].into_iter().for_each(|key| screen.presses(key))
        },
    ];
    for (at, happens) in happen.into_iter().enumerate() {
        for ms in [0, 600] {
            let mut screen = card(ms);
            happens(&mut screen);
            screen.waits(1000);
            happens(&mut screen);
            assert!(!acts(&screen), "{at}, {ms} ms after it came");
        }
    }
}
