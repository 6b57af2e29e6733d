//! Sub-agents on the screen: their rows, prompts and details.

use super::*;
use crate::agent::PendingCall;

fn task_intent(name: &str) -> Intent {
    Intent::Act(Box::new(Plan {
        title: "Start a sub-agent?".into(),
        summary: name.into(),
        access: Access::Nothing,
        preview: Preview::Text(format!("do {name}")),
        full_preview: None,
        grant: None,
        destroys: None,
        preconditions: Preconditions::default(),
        work: Work::Task(Task { name: name.into(), instructions: format!("do {name}") }),
    }))
}

/// A turn with sub-agents of these names, whose calls are `h0`, `h1` and so on.
fn screen_with_sub_agents(names: &[&str]) -> Screen {
    let mut screen = Screen::new();
    screen.state.agent.config.sub_agent_prompt = Some(String::new());
    screen.send_text("go");
    for index in 0..names.len() {
        let id = CallId(format!("h{index}"));
        screen.receive_chunk(Chunk::Call(ToolCall { id, name: "sub_agent".into(), arguments: "{}".into() }));
    }
    screen.receive_chunk(Chunk::Done(FinishReason::Stop));
    for (index, name) in names.iter().enumerate() {
        screen.finish_planning(&format!("h{index}"), task_intent(name));
    }
    screen
}

/// Returns the current turn of a sub-agent. `sub_agent` is the id of the call that started it, here and below.
fn sub_agent_turn(screen: &Screen, sub_agent: &str) -> TurnId {
    let mut pending_calls = screen.state.agent.pending().iter().filter(|pending| pending.call.id.0 == sub_agent);
    pending_calls
        .find_map(PendingCall::sub_agent)
        .and_then(|running_agent| running_agent.state.current_turn())
        .expect("the sub-agent works")
}

/// Receives a sub-agent's reply with a tool call, and the tool's plan for it. `sub_agent` is the call that started it.
fn receive_sub_agent_call(screen: &mut Screen, sub_agent: &str, text: &str, (id, name): (&str, &str), intent: Intent) {
    receive_sub_agent_reply(screen, sub_agent, text, Some((id, name)));
    let turn = sub_agent_turn(screen, sub_agent);
    screen.handle_event(Event::Agent(agent::Event::CallPlanned { turn, call: id.into(), intent: Ok(intent) }));
    screen.draw_frame();
}

fn receive_sub_agent_reply(screen: &mut Screen, sub_agent: &str, text: &str, call: Option<(&str, &str)>) {
    let turn = sub_agent_turn(screen, sub_agent);
    let call =
        call.map(|(id, name)| Chunk::Call(ToolCall { id: id.into(), name: name.into(), arguments: "{}".into() }));
    let usage = Usage { input: 1200, cached: 0, output: 30 };
    let chunks = [Chunk::Text(text.into()), Chunk::Usage(usage)];
    for chunk in chunks.into_iter().chain(call).chain([Chunk::Done(FinishReason::Stop)]) {
        let elapsed = Duration::from_secs(2);
        screen.handle_event(Event::Agent(agent::Event::ReplyChunk { turn, chunk, elapsed }));
    }
    screen.draw_frame();
}

fn finish_sub_agent_call(screen: &mut Screen, sub_agent: &str, id: &str) {
    let turn = sub_agent_turn(screen, sub_agent);
    let (outcome, duration) = (Outcome::Done("one\ntwo".into()), Duration::from_millis(12));
    screen.handle_event(Event::Agent(agent::Event::CallFinished {
        turn,
        call: id.into(),
        outcome,
        result_source: None,
        duration,
    }));
    screen.draw_frame();
}

#[test]
fn r17_the_prompt_and_rows_name_the_sub_agent() {
    let mut screen = screen_with_sub_agents(&["find usages", "write notes"]);
    receive_sub_agent_call(&mut screen, "h0", "I look.", ("r", "read_file"), read_intent("src/main.rs"));
    finish_sub_agent_call(&mut screen, "h0", "r");
    receive_sub_agent_call(&mut screen, "h1", "", ("w", "bash_exec"), command_intent("echo done > notes"));
    screen.advance_ms(3000);
    insta::assert_snapshot!(screen.screen_text(), @r#"
 aye · go                                         gpt-5-mini · ~/project ⎇ main
────────────────────────────────────────────────────────────────────────────────
 ▌ go

   ⠹ Sub-agent find usages · thinking                  1 call · 1.2k tok · 3 s
     ✓ Read src/main.rs                                        2 lines · 12 ms
   ? Sub-agent write notes · needs approval: echo don… 1 call · 1.2k tok · 3 s

╭─ Run a command? ─────────────────────────────────────────────────────────────╮
│ asked by sub-agent “write notes”                                             │
│ $ echo done > notes                                                          │
│                                                                              │
│ in /project · timeout 30 s                                                   │
│ reason: command                                                              │
╰─ y approve · e edit · n deny · m deny with message… · d details ─────────────╯








 waiting for you · ask mode · 2.5k tok                                  f1 help
"#);
}

#[test]
fn r17_the_queue_names_the_sub_agent_of_each_call() {
    let mut screen = screen_with_sub_agents(&["one", "two"]);
    receive_sub_agent_call(&mut screen, "h0", "", ("a", "bash_exec"), command_intent("echo a"));
    receive_sub_agent_call(&mut screen, "h1", "", ("b", "bash_exec"), command_intent("echo b"));
    screen.advance_ms(600);
    screen.press_key("l");
    let text = screen.screen_text();
    assert!(text.contains("1 bash_exec sub-agent “one” · echo a"), "{text}");
    assert!(text.contains("2 bash_exec sub-agent “two” · echo b"), "{text}");
    // Calls of any sub-agent can be denied from the list; approving needs the call's own prompt.
    screen.advance_ms(600);
    screen.press_key("down");
    screen.press_key("n");
    assert!(!screen.screen_text().contains("2 bash_exec"), "{}", screen.screen_text());
    let is_decision_of_second = |entry: &&Entry| matches!(entry, Entry::SubAgent { call, entry } if call.0 == "h1" && matches!(**entry, Entry::Decided { .. }));
    assert_eq!(screen.state.agent.session.entries().iter().filter(is_decision_of_second).count(), 1);
}

#[test]
fn the_work_of_a_sub_agent_is_one_row_until_opened() {
    let mut screen = screen_with_sub_agents(&["find usages"]);
    receive_sub_agent_call(&mut screen, "h0", "I look at it.", ("r", "read_file"), read_intent("src/main.rs"));
    finish_sub_agent_call(&mut screen, "h0", "r");
    receive_sub_agent_call(&mut screen, "h0", "", ("q", "ask_question"), question_intent());
    let answer = Answer::from_status(AnswerStatus::Declined);
    let answered = agent::Event::QuestionsAnswered { call: "q".into(), answer, by: Decider::Headless };
    screen.handle_event(Event::Agent(answered));
    receive_sub_agent_reply(&mut screen, "h0", "It is used in **one** place.", None);
    screen.receive_reply("So it is.");
    let closed = screen.screen_text();
    assert!(closed.contains("✓ Sub-agent find usages") && !closed.contains("one place"), "{closed}");
    screen.press_key("alt-up");
    screen.press_key("alt-up");
    screen.press_key("enter");
    insta::assert_snapshot!(screen.screen_text(), @r#"
 aye · go                                         gpt-5-mini · ~/project ⎇ main
────────────────────────────────────────────────────────────────────────────────
 ▌ go

   ✓ Sub-agent find usages                            2 calls · 3.7k tok · 6 s
     ▌ do find usages
     I look at it.
     ✓ Read src/main.rs                                        2 lines · 12 ms
     · Which clock should the test use? → no answer

     It is used in one place.

 So it is.








────────────────────────────────────────────────────────────────────────────────
 ❯ Write a message, / for commands, @ for files
 ask mode             enter close · ↑↓ move · o open in full · w why · esc back
"#);
}

#[test]
fn the_screen_wakes_only_while_a_sub_agent_works() {
    let mut screen = screen_with_sub_agents(&["one", "two"]);
    receive_sub_agent_call(&mut screen, "h0", "", ("a", "bash_exec"), command_intent("echo a"));
    screen.advance_ms(5000);
    assert!(screen.state.next_change().is_some(), "the other one is working");
    receive_sub_agent_call(&mut screen, "h1", "", ("b", "bash_exec"), command_intent("echo b"));
    screen.advance_ms(5000);
    assert_eq!(screen.state.next_change(), None);
}

#[test]
fn alerts_and_parked_questions_name_the_sub_agent() {
    let mut screen = screen_with_sub_agents(&["licence"]);
    screen.handle_event(Event::Focused(false));
    receive_sub_agent_call(&mut screen, "h0", "", ("q", "ask_question"), question_intent());
    let has_notified = screen.effects.iter().any(
        |effect| matches!(effect, Effect::Notify(text) if text == "aye has a question · asked by sub-agent “licence”"),
    );
    assert!(has_notified, "{:?}", screen.effects);
    screen.handle_event(Event::Focused(true));
    screen.advance_ms(600);
    screen.press_key("esc");
    let text = screen.screen_text();
    assert!(text.contains("1 question waiting") && text.contains("alt-x decline  sub-agent “licence”"), "{text}");
}

/// Names may come from a session file, which can be edited by hand, so they are trusted no more than text of the model.
#[test]
fn r09_no_name_draws_outside_its_line_at_any_size() {
    for name in ["x\u{1b}[2J\n\r\u{202e}evil\u{9b}31m", "漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字", ""]
    {
        let mut screen = screen_with_sub_agents(&[name]);
        receive_sub_agent_call(&mut screen, "h0", name, ("a", "bash_exec"), command_intent("echo a"));
        for (width, height) in [(1, 1), (5, 40), (9, 9), (17, 12), (40, 10), (60, 15), (120, 36), (500, 3)] {
            screen.resize_screen(width, height);
            for cell in &screen.draw_frame().content {
                assert!(!cell.symbol().chars().any(|c| c.is_control() || c == '\u{202e}'), "{name:?}");
            }
        }
        screen.resize_screen(60, 15);
        let text = screen.screen_text();
        let row =
            text.lines().find(|line| line.contains("asked by sub-agent “")).expect("the prompt names the sub-agent");
        assert!(row.starts_with("│ asked by") && row.ends_with('│'), "{row}");
        open_sub_agent_at_every_width(&mut screen);
    }
}

/// Denies the call, ends the turn, and opens the sub-agent's row at every width.
fn open_sub_agent_at_every_width(screen: &mut Screen) {
    let denial =
        agent::Event::CallDecided { call: "a".into(), decision: Decision::Deny("no".into()), by: Decider::Headless };
    screen.handle_event(Event::Agent(denial));
    receive_sub_agent_reply(screen, "h0", "a [link](src/main.rs) and 漢字", None);
    screen.receive_reply("done");
    for chord in ["alt-up", "alt-up", "enter"] {
        screen.press_key(chord);
    }
    for width in [1, 2, 5, 8, 9, 16, 17, 30, 80] {
        screen.resize_screen(width, 30);
        let cache = std::mem::take(&mut screen.cache);
        let uncached_text = screen.screen_text();
        screen.cache = cache;
        assert_eq!(screen.screen_text(), uncached_text);
        let context = screen.state.layout_context();
        let index =
            screen.state.agent.session.entries().iter().rposition(|entry| matches!(entry, Entry::Settled { .. }));
        let is_toggled = true;
        let page = crate::tui::parts::transcript::entry_layout::lay_out(&context, index.unwrap(), is_toggled);
        for line in &page.lines {
            assert!(line.width() <= context.width.max(1), "{width}: {line:?}");
        }
    }
}
