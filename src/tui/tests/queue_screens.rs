//! The queue list: opened over a prompt, decided from, and closed.

use super::*;
use crate::tui::host::HostRequest;

/// A reply with `count` commands; the first waits for approval.
fn screen_with_queue(count: usize) -> Screen {
    let mut screen = Screen::with_turn();
    for n in 0..count {
        let arguments = format!(r#"{{"command":"echo {n}"}}"#);
        let call = ToolCall { id: format!("c{n}").as_str().into(), name: "bash_exec".into(), arguments };
        screen.receive_chunk(Chunk::Call(call));
    }
    screen.receive_chunk(Chunk::Done(FinishReason::Stop));
    screen.finish_planning("c0", command_intent("echo 0"));
    screen.advance_ms(600);
    screen
}

/// Returns the calls that tools were asked to plan since the last check.
fn take_planned_calls(screen: &mut Screen) -> Vec<String> {
    let agent_effects = |effect| match effect {
        Effect::Agent(effects) => effects,
        _ => Vec::new(),
    };
    let effects = std::mem::take(&mut screen.effects).into_iter().flat_map(agent_effects);
    let planned_call = |effect| if let agent::Effect::PlanCall { call, .. } = effect { Some(call.id.0) } else { None };
    effects.filter_map(planned_call).collect()
}

#[test]
fn r18_one_of_three_calls_is_opened_and_approved_first() {
    let mut screen = screen_with_queue(3);
    take_planned_calls(&mut screen);
    screen.press_key("l");
    assert_eq!(take_planned_calls(&mut screen), ["c1"]);
    screen.finish_planning("c1", command_intent("echo 1"));
    screen.finish_planning("c2", command_intent("echo 2"));
    insta::assert_snapshot!(screen.screen_text(), @r#"
 aye · go                                         gpt-5-mini · ~/project ⎇ main
────────────────────────────────────────────────────────────────────────────────
 ▌ go

   ? Run echo 0
   · Run echo 1                                                         queued
   · Run echo 2                                                         queued

╭─ Queue ───────────────────────────────────────────────────────────── 1 of 3 ─╮
│ ❯ [ ]   1 bash_exec echo 0                                              runs │
│   [ ]   2 bash_exec echo 1                                              runs │
│   [ ]   3 bash_exec echo 2                                              runs │
│ ──────────────────────────────────────────────────────────────────────────── │
│ echo 0                                                                       │
│                                                                              │
│                                                                              │
╰─ enter open prompt · space select · t all · n deny · m message · esc back ───╯






 waiting for you · 1 of 3 · ask mode                                    f1 help
"#);
    screen.advance_ms(600);
    screen.press_key("down");
    screen.press_key("down");
    take_planned_calls(&mut screen);
    screen.press_key("enter");
    assert_eq!(
        (take_planned_calls(&mut screen), screen.state.prompts.current.is_none()),
        (vec!["c2".to_owned()], true)
    );
    screen.press_key("y");
    assert_eq!(screen.count_decisions(), 0, "its prompt is not open yet");
    // The `y` went to the composer; it is removed again, here and below.
    screen.press_key("backspace");
    screen.finish_planning("c2", command_intent("echo 2"));
    assert!(
        screen.screen_text().contains("3 of 3") && screen.screen_text().contains("$ echo 2"),
        "{}",
        screen.screen_text()
    );
    screen.advance_ms(100);
    screen.press_key("y");
    assert_eq!(screen.count_decisions(), 0, "it cannot have been read yet");
    screen.press_key("backspace");
    screen.advance_ms(600);
    screen.press_key("y");
    assert_eq!(screen.count_decisions(), 1);
    let text = screen.screen_text();
    assert!(text.contains("1 of 3") && text.contains("$ echo 0") && text.contains("approved, queued"), "{text}");
    screen.press_key("y");
    assert_eq!(screen.count_decisions(), 1, "the same key, still held");
    screen.press_key("backspace");
    screen.advance_ms(1200);
    screen.press_key("l");
    let text = screen.screen_text();
    let row = text.lines().rfind(|line| line.contains("approved")).unwrap_or_default();
    assert!(row.contains("echo 2") && !row.contains('{'), "{text}");
}

#[test]
fn r07_a_call_opened_from_the_list_needs_its_end_to_be_seen() {
    let mut screen = screen_with_queue(2);
    screen.press_key("l");
    screen.advance_ms(600);
    screen.press_key("down");
    screen.finish_planning("c1", command_intent(&"true\n".repeat(60)));
    screen.press_key("enter");
    screen.finish_planning("c1", command_intent(&format!("{}touch made", "true\n".repeat(60))));
    screen.advance_ms(600);
    screen.press_key("y");
    assert_eq!(screen.count_decisions(), 0);
    screen.press_key("end");
    screen.advance_ms(600);
    screen.press_key("y");
    assert_eq!(screen.count_decisions(), 1);
}

#[test]
fn r15_ticked_calls_are_denied_and_the_others_keep_waiting() {
    let mut screen = screen_with_queue(5);
    screen.press_key("l");
    screen.advance_ms(600);
    for chord in ["down", " ", " ", "up", "up", "up", "n"] {
        screen.press_key(chord);
    }
    assert_eq!(screen.count_decisions(), 2);
    let denials = |screen: &Screen| {
        let describe_denial = |entry: &Entry| match entry {
            Entry::Decided { call, decision: Decision::Deny(_), by: Decider::User { key, .. }, .. } => {
                Some(format!("{call} {key}"))
            }
            _ => None,
        };
        screen.state.agent.session.entries().iter().filter_map(describe_denial).collect::<Vec<_>>()
    };
    // The last call is denied first, so that no call is planned just before it is denied.
    assert_eq!(denials(&screen), ["c2 n", "c1 n"]);
    assert!(screen.screen_text().contains("─ Queue ─"), "{}", screen.screen_text());
    for _ in 0..40 {
        screen.press_key("n");
        screen.advance_ms(30);
    }
    assert_eq!(screen.count_decisions(), 2, "a held key is one answer");
    screen.advance_ms(600);
    screen.press_key("n");
    assert_eq!(denials(&screen)[2], "c0 n", "the selected row");
    assert!(
        screen.state.prompts.open_queue.is_none() && screen.state.prompts.current.is_none(),
        "the next call is being planned"
    );
}

#[test]
fn closing_the_list_requires_the_prompt_to_be_seen_again() {
    for close_chord in ["l", "esc"] {
        let mut screen = screen_with_queue(2);
        screen.press_key("l");
        screen.advance_ms(600);
        screen.press_key(close_chord);
        screen.press_key(close_chord);
        assert!(screen.screen_text().contains("$ echo 0") && !screen.state.agent.is_idle(), "{close_chord}");
        screen.press_key("y");
        assert_eq!(screen.count_decisions(), 0, "{close_chord}");
        screen.press_key("backspace");
        screen.advance_ms(600);
        screen.press_key("y");
        assert_eq!(screen.count_decisions(), 1, "{close_chord}");
    }
}

#[test]
fn r03_text_typed_while_the_list_opens_is_written() {
    let mut screen = screen_with_queue(2);
    screen.press_key("l");
    screen.advance_ms(100);
    screen.press_key("n");
    screen.type_text("o, wait");
    screen.advance_ms(2000);
    screen.press_key("n");
    assert_eq!((screen.count_decisions(), screen.state.input.composer.text().as_str()), (0, "no, waitn"));
}

#[test]
fn two_hundred_calls_can_be_reached_in_a_small_terminal() {
    let mut screen = screen_with_queue(200);
    screen.resize_screen(60, 15);
    screen.advance_ms(600);
    assert!(screen.screen_text().contains("1 of 200"), "{}", screen.screen_text());
    screen.press_key("l");
    for n in 1..200 {
        screen.finish_planning(&format!("c{n}"), command_intent(&format!("echo {n}")));
    }
    assert!(take_planned_calls(&mut screen).len() >= 199, "each was planned");
    screen.advance_ms(600);
    screen.press_key("end");
    insta::assert_snapshot!(screen.screen_text(), @r#"
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
    screen.press_key("enter");
    screen.finish_planning("c199", command_intent("echo 199"));
    screen.advance_ms(600);
    assert!(screen.screen_text().contains("200 of 200"), "{}", screen.screen_text());
    screen.press_key("n");
    assert_eq!(screen.count_decisions(), 1);
    assert!(screen.screen_text().contains("1 of 200"), "{}", screen.screen_text());
}

#[test]
fn help_shows_the_keys_of_the_list() {
    let mut screen = screen_with_queue(2);
    screen.resize_screen(80, 60);
    screen.press_key("l");
    screen.press_key("f1");
    assert!(screen.screen_text().contains("Queue"), "{}", screen.screen_text());
}

/// A command, a question and another command. The first waits for approval, and the list is open over its prompt.
fn screen_with_question_in_queue() -> Screen {
    let mut screen = Screen::with_turn();
    for (id, name) in [("c0", "bash_exec"), ("q", "ask_question"), ("c2", "bash_exec")] {
        let arguments = format!(r#"{{"of":"{id}"}}"#);
        screen.receive_chunk(Chunk::Call(ToolCall { id: id.into(), name: name.into(), arguments }));
    }
    screen.receive_chunk(Chunk::Done(FinishReason::Stop));
    screen.finish_planning("c0", command_intent("echo 0"));
    screen.advance_ms(600);
    screen.press_key("l");
    screen.finish_planning("q", clock_question());
    screen.finish_planning("c2", command_intent("echo 2"));
    screen.advance_ms(600);
    screen
}

fn clock_question() -> Intent {
    let question = Question {
        keyword: "clock".into(),
        text: "Which clock?".into(),
        options: ["paused", "a trait"].map(QuestionOption::new).to_vec(),
        is_multiple: false,
        allow_text: true,
        text_description: String::new(),
        recommended: None,
    };
    Intent::Ask(Questions { list: vec![question], dropped: Dropped::default() })
}

/// Opens the prompt of the question from the list.
fn open_question(screen: &mut Screen) {
    screen.press_key("down");
    screen.press_key("enter");
    if screen.state.prompts.current.is_none() {
        screen.finish_planning("q", clock_question());
    }
    screen.advance_ms(600);
}

#[test]
fn a_question_can_be_answered_before_its_turn() {
    let mut screen = screen_with_question_in_queue();
    let text = screen.screen_text();
    assert!(
        text.contains("· Ask Which clock? ") && text.contains("· Run echo 2 ") && text.matches(" queued").count() == 2,
        "{text}"
    );
    open_question(&mut screen);
    let text = screen.screen_text();
    assert!(text.contains("─ Question · clock ") && text.contains("a trait"), "{text}");
    screen.press_key("2");
    screen.press_key("enter");
    assert_eq!(screen.count_decisions(), 1);
    let text = screen.screen_text();
    assert!(text.contains("1 of 3") && text.contains("$ echo 0"), "the call whose turn it is: {text}");
    screen.advance_ms(600);
    screen.press_key("n");
    screen.finish_planning("c2", command_intent("echo 2"));
    screen.advance_ms(600);
    screen.press_key("n");
    let count_results = |id: &str| {
        let is_result = |entry: &&Entry| matches!(entry, Entry::Settled { call, .. } if call.0 == id);
        screen.state.agent.session.entries().iter().filter(is_result).count()
    };
    assert_eq!(["c0", "q", "c2"].map(count_results), [1, 1, 1]);
}

#[test]
fn a_parked_question_hides_no_prompt_and_keeps_its_choices() {
    for presses_other_key in [false, true] {
        let mut screen = screen_with_question_in_queue();
        open_question(&mut screen);
        screen.press_key("3");
        screen.type_text("half a word");
        screen.advance_ms(1000);
        screen.press_key("esc");
        if presses_other_key {
            // After a key pressed elsewhere the prompt does not listen, but Esc still parks it.
            screen.press_key("backspace");
        }
        screen.press_key("esc");
        let text = screen.screen_text();
        assert!(text.contains("$ echo 0") && text.contains("1 of 3"), "{text}");
        assert!(text.contains("? Ask Which clock? ") && text.contains(" waiting for your answer\n"), "{text}");
        screen.advance_ms(1200);
        screen.press_key("l");
        screen.advance_ms(600);
        assert!(screen.screen_text().contains("question"), "{}", screen.screen_text());
        open_question(&mut screen);
        assert!(screen.screen_text().contains("half a word"), "{}", screen.screen_text());
        assert_eq!(screen.count_decisions(), 0);
    }
}

#[test]
fn choices_of_a_parked_question_are_saved() {
    let mut screen = screen_with_question_in_queue();
    open_question(&mut screen);
    screen.press_key("2");
    screen.press_key("esc");
    screen.advance_ms(1000);
    assert!(screen.screen_text().contains("$ echo 0"), "{}", screen.screen_text());
    let saved = screen.effects.iter().rev().find_map(|effect| match effect {
        Effect::Request(HostRequest::SaveUnsent(_, unsent)) => Some(unsent.questions.concat()),
        _ => None,
    });
    assert!(saved.is_some_and(|text| text.contains(r#""picks":[1]"#)));
}

#[test]
fn the_list_counts_its_hidden_rows() {
    let mut screen = screen_with_queue(30);
    screen.press_key("l");
    // The `2` is the first of two digits: 20 to 29 rows are hidden.
    assert!(screen.screen_text().contains("1 of 30 · ↓ 2"), "{}", screen.screen_text());
    screen.press_key("end");
    assert!(screen.screen_text().contains("30 of 30 · ↑ 2"), "{}", screen.screen_text());
    let mut low_screen = screen_with_queue(7);
    low_screen.resize_screen(60, 15);
    low_screen.press_key("l");
    let text = low_screen.screen_text();
    assert!((1..=7).all(|n| text.contains(&format!("[ ]   {n} bash_exec"))) && !text.contains("more"), "{text}");
}
