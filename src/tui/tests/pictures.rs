//! Snapshots of the whole screen.

use super::*;

#[test]
fn key_descriptions_wrap_next_to_their_key_on_a_narrow_screen() {
    let mut screen = Screen::new();
    screen.resized(60, 15);
    let shows = screen.shows();
    assert!(
        shows.contains(
            "\n enter    Send message; nothing is changed or run without\n          your approval\n"
        ),
        "{shows}"
    );
}

#[test]
fn the_first_screen() {
    let mut screen = Screen::new();
    insta::assert_snapshot!(screen.shows(), @r"
     aye                                              gpt-5-mini · ~/project ⎇ main
    ────────────────────────────────────────────────────────────────────────────────



       aye  the terminal copilot that asks first

       Connected to gpt-5-mini, from your settings.
       ask mode: reads run, everything else asks

       enter    Send message; nothing is changed or run without your approval
       ctrl-p   Command palette
       alt-s    Continue another session
       alt-c    Switch provider
       f1       Key help






    ────────────────────────────────────────────────────────────────────────────────
     ❯ Write a message, / for commands, @ for files
     ask mode                                                                ? help
    ");
}

#[test]
fn a_conversation_with_calls() {
    let mut screen = Screen::new();
    screen.says("why does it flake?");
    screen.chunk(Chunk::Text("Let me look.".into()));
    screen.calls("a", "read_file", read("tests/retry.rs:1-80"));
    screen.finished("a", Outcome::Done("1\tlet x = 1;\n2\tlet y = [2]\n[lines 1-2 of 90]\n".into()));
    screen.replies("It **waits** on the real clock.\n\n- `sleep(50)`\n- jitter");
    screen.waits(10_000);
    insta::assert_snapshot!(screen.shows(), @r"
     aye · why does it flake?                         gpt-5-mini · ~/project ⎇ main
    ────────────────────────────────────────────────────────────────────────────────
     ▌ why does it flake?

     Let me look.

       ✓ read_file    tests/retry.rs:1-80                           2 lines · 12 ms

     It waits on the real clock.

     • sleep(50)
     • jitter









    ────────────────────────────────────────────────────────────────────────────────
     ❯ Write a message, / for commands, @ for files
     ask mode · first after 0 ms · took 0 ms                                 ? help
    ");
}

#[test]
fn an_approval_in_a_small_terminal() {
    let mut screen = Screen::dry();
    screen.resized(60, 15);
    screen.state.agent.policy.dry_run = false;
    screen.says("go");
    screen.calls("a", "bash_exec", command("cargo test retry"));
    screen.waits(10_000);
    insta::assert_snapshot!(screen.shows(), @r"
     aye · go                     gpt-5-mini · ~/project ⎇ main
    ────────────────────────────────────────────────────────────
     ▌ go

       ? bash_exec    cargo test retry



    ╭─ run a command? ─────────────────────────────────────────╮
    │ $ cargo test retry                                       │
    │                                                          │
    │ in /project · 30 s                                       │
    │ reason: command                                          │
    ╰─ y approve · e edit · n deny · m message · d more ───────╯
     waiting for you · ask mode                         f1 help
    ");
}

#[test]
fn a_dry_run_is_marked_on_every_screen() {
    let mut screen = Screen::dry();
    screen.says("go");
    screen.calls("a", "bash_exec", command("rm -r build"));
    screen.finished("a", Outcome::Rehearsed("It would have run.".into()));
    screen.chunk(Chunk::Text("Done that".into()));
    screen.waits(10_000);
    insta::assert_snapshot!(screen.shows(), @r"
     aye · [dry run] go                               gpt-5-mini · ~/project ⎇ main
    ────────────────────────────────────────────────────────────────────────────────
     ▌ go

       ◇ bash_exec    rm -r build · rehearsed, nothing changed                12 ms

     Done that














    ────────────────────────────────────────────────────────────────────────────────
     ❯ Write a message, / for commands, @ for files
     DRY RUN · would have asked: 1 · ⠋ replying · 10 s · ask mode            ? help
    ");
}

#[test]
fn a_failure_shows_what_was_kept() {
    let mut screen = Screen::new();
    screen.says("go");
    screen.chunk(Chunk::Text("Half a".into()));
    let turn = screen.state.agent.turn().expect("a turn runs");
    screen.happens(Event::Agent(agent::Event::Failed {
        turn,
        why: "the connection was lost".into(),
        too_long: false,
    }));
    screen.waits(10_000);
    let shows = screen.shows();
    assert!(shows.contains("Half a") && shows.contains("… cut short: the connection was lost"), "{shows}");
    assert!(shows.contains("Partial results are kept"), "{shows}");
}

#[test]
fn a_failure_before_any_text_mentions_no_partial_reply() {
    let mut screen = Screen::new();
    screen.says("before");
    screen.replies("An answer of the turn before.");
    screen.says("go");
    let turn = screen.state.agent.turn().expect("a turn runs");
    let why = "the service refused the key".into();
    screen.happens(Event::Agent(agent::Event::Failed { turn, why, too_long: false }));
    screen.waits(10_000);
    let shows = screen.shows();
    assert!(shows.contains("No reply received. Your message is kept"), "{shows}");
    assert!(!shows.contains("Partial results"), "{shows}");
}

#[test]
fn new_text_does_not_scroll_while_reading_back() {
    let mut screen = Screen::with((0..50).map(|n| replied(&format!("answer {n}"))).chain([ended()]));
    screen.says("go");
    screen.presses("page-up");
    screen.waits(10_000);
    let before: Vec<String> = screen.shows().lines().skip(2).take(12).map(str::to_owned).collect();
    for n in 0..30 {
        screen.chunk(Chunk::Text(format!("new {n}\n\n")));
        screen.frame();
    }
    screen.chunk(Chunk::Done(Finish::Stop));
    let after: Vec<String> = screen.shows().lines().skip(2).take(12).map(str::to_owned).collect();
    assert_eq!(before, after);
    assert!(screen.shows().contains("new lines ↓"), "{}", screen.shows());
    screen.presses("ctrl-end");
    assert!(screen.shows().contains("new 29"));
}

#[test]
fn a_search_shows_its_match() {
    let mut screen = Screen::with((0..500).map(|n| replied(&format!("answer {n}"))).chain([ended()]));
    screen.presses("ctrl-f");
    screen.types("answer 123");
    assert!(screen.shows().contains("answer 123"), "{}", screen.shows());
    screen.presses("esc");
    assert!(screen.shows().contains("answer 123"));
}

#[test]
fn a_selected_call_opens_in_place() {
    let mut screen = Screen::new();
    screen.says("go");
    screen.calls("a", "read_file", read("src/a.rs"));
    screen.finished("a", Outcome::Done("the whole\nof it".into()));
    screen.replies("Done.");
    assert!(!screen.shows().contains("the whole"));
    screen.presses("alt-up");
    screen.presses("enter");
    assert!(screen.shows().contains("the whole"), "{}", screen.shows());
    screen.presses("enter");
    assert!(!screen.shows().contains("the whole"));
}
