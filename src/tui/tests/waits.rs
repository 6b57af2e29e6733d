//! The queue list: opened over a prompt, decided from, and closed.

use super::*;

/// A reply with `count` commands; the first waits for approval.
fn waiting(count: usize) -> Screen {
    let mut screen = Screen::new();
    screen.says("go");
    for n in 0..count {
        let arguments = format!(r#"{{"command":"echo {n}"}}"#);
        let call = ToolCall { id: format!("c{n}").as_str().into(), name: "bash_exec".into(), arguments };
        screen.chunk(Chunk::Call(call));
    }
    screen.chunk(Chunk::Done(Finish::Stop));
    screen.planned("c0", command("echo 0"));
    screen.waits(600);
    screen
}

/// Returns the calls that tools were asked to plan since the last check.
fn looked_at(screen: &mut Screen) -> Vec<String> {
    let looks = |effect| match effect {
        Effect::Agent(effects) => effects,
        _ => Vec::new(),
    };
    let all = std::mem::take(&mut screen.effects).into_iter().flat_map(looks);
    let plan = |effect| if let agent::Effect::Plan { call, .. } = effect { Some(call.id.0) } else { None };
    all.filter_map(plan).collect()
}

#[test]
fn r18_one_of_three_calls_is_opened_and_approved_first() {
    let mut screen = waiting(3);
    looked_at(&mut screen);
    screen.presses("l");
    assert_eq!(looked_at(&mut screen), ["c1"]);
    screen.planned("c1", command("echo 1"));
    screen.planned("c2", command("echo 2"));
    insta::assert_snapshot!(screen.shows(), @r#"
 aye · go                                         gpt-5-mini · ~/project ⎇ main
────────────────────────────────────────────────────────────────────────────────
 ▌ go

   ? bash_exec    echo 0
   · bash_exec    queued: echo 1
   · bash_exec    queued: echo 2







╭─ Queue ───────────────────────────────────────────────────────────── 1 of 3 ─╮
│ ❯ [ ]   1 bash_exec echo 0                                              runs │
│   [ ]   2 bash_exec echo 1                                              runs │
│   [ ]   3 bash_exec echo 2                                              runs │
│ ──────────────────────────────────────────────────────────────────────────── │
│ echo 0                                                                       │
│                                                                              │
│                                                                              │
╰─ ↑↓ move · enter open · space tick · t all · n deny · m message · esc back ──╯
 waiting for you · 1 of 3 · ask mode                                    f1 help
"#);
    screen.waits(600);
    screen.presses("down");
    screen.presses("down");
    looked_at(&mut screen);
    screen.presses("enter");
    assert_eq!((looked_at(&mut screen), screen.state.prompt.is_none()), (vec!["c2".to_owned()], true));
    screen.presses("y");
    assert_eq!(screen.decided(), 0, "its prompt is not open yet");
    screen.presses("backspace");
    screen.planned("c2", command("echo 2"));
    assert!(screen.shows().contains("3 of 3") && screen.shows().contains("$ echo 2"), "{}", screen.shows());
    screen.waits(100);
    screen.presses("y");
    assert_eq!(screen.decided(), 0, "it cannot have been read yet");
    screen.presses("backspace");
    screen.waits(600);
    screen.presses("y");
    assert_eq!(screen.decided(), 1);
    let shows = screen.shows();
    assert!(
        shows.contains("1 of 3") && shows.contains("$ echo 0") && shows.contains("approved, queued"),
        "{shows}"
    );
    screen.presses("y");
    assert_eq!(screen.decided(), 1, "the same key, still held");
    screen.presses("backspace");
    screen.waits(1200);
    screen.presses("l");
    let shows = screen.shows();
    let row = shows.lines().rfind(|line| line.contains("approved")).unwrap_or_default();
    assert!(row.contains("echo 2") && !row.contains('{'), "{shows}");
}

#[test]
fn r07_a_call_opened_from_the_list_needs_its_end_to_be_seen() {
    let mut screen = waiting(2);
    screen.presses("l");
    screen.waits(600);
    screen.presses("down");
    screen.planned("c1", command(&"true\n".repeat(60)));
    screen.presses("enter");
    screen.planned("c1", command(&format!("{}touch made", "true\n".repeat(60))));
    screen.waits(600);
    screen.presses("y");
    assert_eq!(screen.decided(), 0);
    screen.presses("end");
    screen.waits(600);
    screen.presses("y");
    assert_eq!(screen.decided(), 1);
}

#[test]
fn r15_ticked_calls_are_denied_and_the_others_keep_waiting() {
    let mut screen = waiting(5);
    screen.presses("l");
    screen.waits(600);
    for chord in ["down", " ", " ", "up", "up", "up", "n"] {
        screen.presses(chord);
    }
    assert_eq!(screen.decided(), 2);
    let denied = |screen: &Screen| {
        let of = |entry: &Entry| match entry {
            Entry::Decided { call, decision: Decision::Deny(_), by: By::Person { key, .. }, .. } => {
                Some(format!("{call} {key}"))
            }
            _ => None,
        };
        screen.state.agent.session.entries().iter().filter_map(of).collect::<Vec<_>>()
    };
    assert_eq!(denied(&screen), ["c2 n", "c1 n"]);
    assert!(screen.shows().contains("─ Queue ─"), "{}", screen.shows());
    for _ in 0..40 {
        screen.presses("n");
        screen.waits(30);
    }
    assert_eq!(screen.decided(), 2, "a held key is one answer");
    screen.waits(600);
    screen.presses("n");
    assert_eq!(denied(&screen)[2], "c0 n", "the selected row");
    assert!(screen.state.waits.is_none() && screen.state.prompt.is_none(), "the next call is being planned");
}

#[test]
fn closing_the_list_requires_the_prompt_to_be_seen_again() {
    for leaves in ["l", "esc"] {
        let mut screen = waiting(2);
        screen.presses("l");
        screen.waits(600);
        screen.presses(leaves);
        screen.presses(leaves);
        assert!(screen.shows().contains("$ echo 0") && !screen.state.agent.is_idle(), "{leaves}");
        screen.presses("y");
        assert_eq!(screen.decided(), 0, "{leaves}");
        screen.presses("backspace");
        screen.waits(600);
        screen.presses("y");
        assert_eq!(screen.decided(), 1, "{leaves}");
    }
}

#[test]
fn r03_text_typed_while_the_list_opens_is_written() {
    let mut screen = waiting(2);
    screen.presses("l");
    screen.waits(100);
    screen.presses("n");
    screen.types("o, wait");
    screen.waits(2000);
    screen.presses("n");
    assert_eq!((screen.decided(), screen.state.composer.text().as_str()), (0, "no, waitn"));
}

#[test]
fn two_hundred_calls_can_be_reached_in_a_small_terminal() {
    let mut screen = waiting(200);
    screen.resized(60, 15);
    screen.waits(600);
    assert!(screen.shows().contains("1 of 200"), "{}", screen.shows());
    screen.presses("l");
    for n in 1..200 {
        screen.planned(&format!("c{n}"), command(&format!("echo {n}")));
    }
    assert!(looked_at(&mut screen).len() >= 199, "each was planned");
    screen.waits(600);
    screen.presses("end");
    insta::assert_snapshot!(screen.shows(), @r#"
 aye · go                     gpt-5-mini · ~/project ⎇ main
────────────────────────────────────────────────────────────
╭─ Queue ──────────────────────── 200 of 200 · ↑ 194 more ─╮
│   [ ] 195 bash_exec echo 194                        runs │
│   [ ] 196 bash_exec echo 195                        runs │
│   [ ] 197 bash_exec echo 196                        runs │
│   [ ] 198 bash_exec echo 197                        runs │
│   [ ] 199 bash_exec echo 198                        runs │
│ ❯ [ ] 200 bash_exec echo 199                        runs │
│ ──────────────────────────────────────────────────────── │
│ echo 199                                                 │
│                                                          │
│                                                          │
╰─ enter open prompt · n deny · m message · esc back ──────╯
 waiting for you · 1 of 200 · ask mode              f1 help
"#);
    screen.presses("enter");
    screen.planned("c199", command("echo 199"));
    screen.waits(600);
    assert!(screen.shows().contains("200 of 200"), "{}", screen.shows());
    screen.presses("n");
    assert_eq!(screen.decided(), 1);
    assert!(screen.shows().contains("1 of 200"), "{}", screen.shows());
}

#[test]
fn help_shows_the_keys_of_the_list() {
    let mut screen = waiting(2);
    screen.resized(80, 60);
    screen.presses("l");
    screen.presses("f1");
    assert!(screen.shows().contains("Queue"), "{}", screen.shows());
}

/// A command, a question and another command. The first waits for approval, and the list is open over its prompt.
fn question_between() -> Screen {
    let mut screen = Screen::new();
    screen.says("go");
    for (id, name) in [("c0", "bash_exec"), ("q", "ask_question"), ("c2", "bash_exec")] {
        let arguments = format!(r#"{{"of":"{id}"}}"#);
        screen.chunk(Chunk::Call(ToolCall { id: id.into(), name: name.into(), arguments }));
    }
    screen.chunk(Chunk::Done(Finish::Stop));
    screen.planned("c0", command("echo 0"));
    screen.waits(600);
    screen.presses("l");
    screen.planned("q", which());
    screen.planned("c2", command("echo 2"));
    screen.waits(600);
    screen
}

fn which() -> Intent {
    let question = Question {
        keyword: "clock".into(),
        text: "Which clock?".into(),
        options: ["paused", "a trait"].map(Choice::new).to_vec(),
        multi: false,
        allow_text: true,
        recommended: None,
    };
    Intent::Ask(Questions { list: vec![question], dropped: Dropped::default() })
}

/// Opens the prompt of the question from the list.
fn bring_question(screen: &mut Screen) {
    screen.presses("down");
    screen.presses("enter");
    if screen.state.prompt.is_none() {
        screen.planned("q", which());
    }
    screen.waits(600);
}

#[test]
fn a_question_can_be_answered_before_its_turn() {
    let mut screen = question_between();
    let shows = screen.shows();
    assert!(shows.contains("queued: Which clock?") && shows.contains("queued: echo 2"), "{shows}");
    bring_question(&mut screen);
    let shows = screen.shows();
    assert!(shows.contains("─ question · clock ") && shows.contains("a trait"), "{shows}");
    screen.presses("2");
    screen.presses("enter");
    assert_eq!(screen.decided(), 1);
    let shows = screen.shows();
    assert!(shows.contains("1 of 3") && shows.contains("$ echo 0"), "the call whose turn it is: {shows}");
    screen.waits(600);
    screen.presses("n");
    screen.planned("c2", command("echo 2"));
    screen.waits(600);
    screen.presses("n");
    let settled = |id: &str| {
        let of = |entry: &&Entry| matches!(entry, Entry::Settled { call, .. } if call.0 == id);
        screen.state.agent.session.entries().iter().filter(of).count()
    };
    assert_eq!(["c0", "q", "c2"].map(settled), [1, 1, 1]);
}

#[test]
fn a_parked_question_hides_no_prompt_and_keeps_its_choices() {
    for early in [false, true] {
        let mut screen = question_between();
        bring_question(&mut screen);
        screen.presses("3");
        screen.types("half a word");
        screen.waits(1000);
        screen.presses("esc");
        if early {
            // After a key pressed elsewhere the prompt does not listen, but Esc still parks it.
            screen.presses("backspace");
        }
        screen.presses("esc");
        let shows = screen.shows();
        assert!(shows.contains("$ echo 0") && shows.contains("1 of 3"), "{shows}");
        assert!(shows.contains("waiting for your answer: Which clock?"), "{shows}");
        screen.waits(1200);
        screen.presses("l");
        screen.waits(600);
        assert!(screen.shows().contains("question"), "{}", screen.shows());
        bring_question(&mut screen);
        assert!(screen.shows().contains("half a word"), "{}", screen.shows());
        assert_eq!(screen.decided(), 0);
    }
}

#[test]
fn choices_of_a_parked_question_are_saved() {
    let mut screen = question_between();
    bring_question(&mut screen);
    screen.presses("2");
    screen.presses("esc");
    screen.waits(1000);
    assert!(screen.shows().contains("$ echo 0"), "{}", screen.shows());
    let kept = screen.effects.iter().rev().find_map(|effect| match effect {
        Effect::Ask(crate::tui::host::Wish::Keep(_, unsent)) => Some(unsent.questions.concat()),
        _ => None,
    });
    assert!(kept.is_some_and(|text| text.contains(r#""picks":[1]"#)));
}

#[test]
fn the_list_counts_its_hidden_rows() {
    let mut screen = waiting(30);
    screen.presses("l");
    assert!(screen.shows().contains("1 of 30 · ↓ 2"), "{}", screen.shows());
    screen.presses("end");
    assert!(screen.shows().contains("30 of 30 · ↑ 2"), "{}", screen.shows());
    let mut few = waiting(7);
    few.resized(60, 15);
    few.presses("l");
    let shows = few.shows();
    assert!(
        (1..=7).all(|n| shows.contains(&format!("[ ]   {n} bash_exec"))) && !shows.contains("more"),
        "{shows}"
    );
}
