//! Sub-agents on the screen: their rows, prompts and details.

use super::*;
use crate::agent::{Offer, Pending};

fn task(name: &str) -> Intent {
    Intent::Act(Box::new(Plan {
        title: "hand a task to a sub-agent?".into(),
        summary: name.into(),
        access: Access::Nothing,
        preview: Preview::Text(format!("do {name}")),
        always: None,
        destroys: None,
        basis: Basis::default(),
        work: Work::Task(Task { name: name.into(), words: format!("do {name}") }),
    }))
}

/// A turn with sub-agents of these names, whose calls are `h0`, `h1` and so on.
fn handed(names: &[&str]) -> Screen {
    let mut screen = Screen::new();
    screen.state.agent.offer = Some(Offer { system: String::new(), tools: vec![] });
    screen.says("go");
    for at in 0..names.len() {
        let id = CallId(format!("h{at}"));
        screen.chunk(Chunk::Call(ToolCall { id, name: "sub_agent".into(), arguments: "{}".into() }));
    }
    screen.chunk(Chunk::Done(Finish::Stop));
    for (at, name) in names.iter().enumerate() {
        screen.planned(&format!("h{at}"), task(name));
    }
    screen
}

fn beneath(screen: &Screen, of: &str) -> TurnId {
    let mut all = screen.state.agent.pending().iter().filter(|pending| pending.call.id.0 == of);
    all.find_map(Pending::sub_agent).and_then(|it| it.state.turn()).expect("it works")
}

/// Lets a sub-agent reply with this text and call a tool, which has planned the call.
fn calls(screen: &mut Screen, of: &str, text: &str, (id, name): (&str, &str), intent: Intent) {
    says(screen, of, text, Some((id, name)));
    let turn = beneath(screen, of);
    screen.happens(Event::Agent(agent::Event::Planned { turn, call: id.into(), intent: Ok(intent) }));
    screen.frame();
}

fn says(screen: &mut Screen, of: &str, text: &str, call: Option<(&str, &str)>) {
    let turn = beneath(screen, of);
    let call = call
        .map(|(id, name)| Chunk::Call(ToolCall { id: id.into(), name: name.into(), arguments: "{}".into() }));
    let usage = Usage { input: 1200, cached: 0, output: 30 };
    let words = [Chunk::Text(text.into()), Chunk::Usage(usage)];
    for chunk in words.into_iter().chain(call).chain([Chunk::Done(Finish::Stop)]) {
        let after = Duration::from_secs(2);
        screen.happens(Event::Agent(agent::Event::Chunk { turn, chunk, after }));
    }
    screen.frame();
}

fn ran(screen: &mut Screen, of: &str, id: &str) {
    let turn = beneath(screen, of);
    let (outcome, took) = (Outcome::Done("one\ntwo".into()), Duration::from_millis(12));
    screen.happens(Event::Agent(agent::Event::Finished {
        turn,
        call: id.into(),
        outcome,
        staged: None,
        took,
    }));
    screen.frame();
}

#[test]
fn r17_the_prompt_and_rows_name_the_sub_agent() {
    let mut screen = handed(&["find usages", "write notes"]);
    calls(&mut screen, "h0", "I look.", ("r", "read_file"), read("src/main.rs"));
    ran(&mut screen, "h0", "r");
    calls(&mut screen, "h1", "", ("w", "bash_exec"), command("echo done > notes"));
    screen.waits(3000);
    insta::assert_snapshot!(screen.shows(), @r#"
 aye · go                                         gpt-5-mini · ~/project ⎇ main
────────────────────────────────────────────────────────────────────────────────
 ▌ go

   ⠹ sub_agent    find usages · thinking                1 call · 1.2k tok · 3 s
     ✓ read_file    src/main.rs                                 2 lines · 12 ms
   ? sub_agent    write notes · needs approval: echo d… 1 call · 1.2k tok · 3 s









╭─ run a command? ─────────────────────────────────────────────────────────────╮
│ asked by sub-agent “write notes”                                             │
│ $ echo done > notes                                                          │
│                                                                              │
│ in /project · 30 s                                                           │
│ reason: command                                                              │
╰─ y approve · e edit · n deny · m deny with message… · d details ─────────────╯
 waiting for you · ask mode · 2.5k tok                                  f1 help
"#);
}

#[test]
fn r17_the_queue_names_the_sub_agent_of_each_call() {
    let mut screen = handed(&["one", "two"]);
    calls(&mut screen, "h0", "", ("a", "bash_exec"), command("echo a"));
    calls(&mut screen, "h1", "", ("b", "bash_exec"), command("echo b"));
    screen.waits(600);
    screen.presses("l");
    let shown = screen.shows();
    assert!(shown.contains("1 bash_exec sub-agent “one” · echo a"), "{shown}");
    assert!(shown.contains("2 bash_exec sub-agent “two” · echo b"), "{shown}");
    // Calls of any sub-agent can be denied from the list; approving needs the call's own prompt.
    screen.waits(600);
    screen.presses("down");
    screen.presses("n");
    assert!(!screen.shows().contains("2 bash_exec"), "{}", screen.shows());
    let by = |entry: &&Entry| matches!(entry, Entry::Beneath { call, entry } if call.0 == "h1" && matches!(**entry, Entry::Decided { .. }));
    assert_eq!(screen.state.agent.session.entries().iter().filter(by).count(), 1);
}

#[test]
fn the_work_of_a_sub_agent_is_one_row_until_opened() {
    let mut screen = handed(&["find usages"]);
    calls(&mut screen, "h0", "I look at it.", ("r", "read_file"), read("src/main.rs"));
    ran(&mut screen, "h0", "r");
    calls(&mut screen, "h0", "", ("q", "ask_question"), question());
    let answer = Answer::without(Status::Declined);
    let answered = agent::Event::Answered { call: "q".into(), answer, by: By::Nobody };
    screen.happens(Event::Agent(answered));
    says(&mut screen, "h0", "It is used in **one** place.", None);
    screen.replies("So it is.");
    let closed = screen.shows();
    assert!(closed.contains("✓ sub_agent    find usages") && !closed.contains("one place"), "{closed}");
    screen.presses("alt-up");
    screen.presses("alt-up");
    screen.presses("enter");
    insta::assert_snapshot!(screen.shows(), @r#"
 aye · go                                         gpt-5-mini · ~/project ⎇ main
────────────────────────────────────────────────────────────────────────────────
 ▌ go

   ✓ sub_agent    find usages                          2 calls · 3.7k tok · 6 s
     ▌ do find usages
     I look at it.
     ✓ read_file    src/main.rs                                 2 lines · 12 ms
     ? Which clock should the test use? → no answer

     It is used in one place.

 So it is.








────────────────────────────────────────────────────────────────────────────────
 ❯ Write a message, / for commands, @ for files
 ask mode                      enter open · ↑↓ move · o open in full · esc back
"#);
}

#[test]
fn the_screen_wakes_only_while_a_sub_agent_works() {
    let mut screen = handed(&["one", "two"]);
    calls(&mut screen, "h0", "", ("a", "bash_exec"), command("echo a"));
    screen.waits(5000);
    assert!(screen.state.wakes_at().is_some(), "the other one is working");
    calls(&mut screen, "h1", "", ("b", "bash_exec"), command("echo b"));
    screen.waits(5000);
    assert_eq!(screen.state.wakes_at(), None);
}

#[test]
fn alerts_and_parked_questions_name_the_sub_agent() {
    let mut screen = handed(&["licence"]);
    screen.happens(Event::Focused(false));
    calls(&mut screen, "h0", "", ("q", "ask_question"), question());
    let alerted = screen.effects.iter().any(|effect| {
        matches!(effect, Effect::Alert(words) if words == "aye has a question · asked by sub-agent “licence”")
    });
    assert!(alerted, "{:?}", screen.effects);
    screen.happens(Event::Focused(true));
    screen.waits(600);
    screen.presses("esc");
    let shown = screen.shows();
    assert!(
        shown.contains("1 question waiting") && shown.contains("asked by sub-agent “licence”"),
        "{shown}"
    );
}

/// A session file can be edited by hand, so its contents are trusted no more than the model.
#[test]
fn r09_no_name_draws_outside_its_line_at_any_size() {
    for name in ["x\u{1b}[2J\n\r\u{202e}evil\u{9b}31m", "漢字漢字漢字漢字漢字漢字漢字漢字漢字漢字", ""]
    {
        let mut screen = handed(&[name]);
        calls(&mut screen, "h0", name, ("a", "bash_exec"), command("echo a"));
        for (width, height) in [(1, 1), (5, 40), (9, 9), (17, 12), (40, 10), (60, 15), (120, 36), (500, 3)] {
            screen.resized(width, height);
            for cell in &screen.frame().content {
                assert!(!cell.symbol().chars().any(|c| c.is_control() || c == '\u{202e}'), "{name:?}");
            }
        }
        screen.resized(60, 15);
        let shown = screen.shows();
        let row = shown
            .lines()
            .find(|line| line.contains("asked by sub-agent “"))
            .expect("the prompt names the sub-agent");
        assert!(row.starts_with("│ asked by") && row.ends_with('│'), "{row}");
        says_through(&mut screen);
    }
}

/// Denies the call, ends the turn, and opens the sub-agent's row at every width.
fn says_through(screen: &mut Screen) {
    let no =
        agent::Event::Decided { call: "a".into(), decision: Decision::Deny("no".into()), by: By::Nobody };
    screen.happens(Event::Agent(no));
    says(screen, "h0", "a [link](src/main.rs) and 漢字", None);
    screen.replies("done");
    for chord in ["alt-up", "alt-up", "enter"] {
        screen.presses(chord);
    }
    for width in [1, 2, 5, 8, 9, 16, 17, 30, 80] {
        screen.resized(width, 30);
        let kept = std::mem::take(&mut screen.cache);
        let without = screen.shows();
        screen.cache = kept;
        assert_eq!(screen.shows(), without);
        let ground = screen.state.ground();
        let item = screen
            .state
            .agent
            .session
            .entries()
            .iter()
            .rposition(|entry| matches!(entry, Entry::Settled { .. }));
        let outside = &crate::tui::parts::transcript::cache::Outsides::default();
        let page = crate::tui::parts::transcript::entry::lay_out(&ground, item.unwrap(), true, outside);
        for line in &page.lines {
            assert!(line.width() <= ground.width.max(1), "{width}: {line:?}");
        }
    }
}
