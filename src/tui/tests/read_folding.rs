//! Reads that follow each other are one row, which opens to its calls.

use super::*;
use crate::tui::popup::{List, Popup};

/// Receives a reply with these calls, `(tool, path)`, and settles each as soon as it is planned. The ids are `first`,
/// `first + 1`, and so on.
fn run_reads(screen: &mut Screen, first: usize, reads: &[(&str, &str)]) {
    for (index, (tool, _)) in reads.iter().enumerate() {
        let id = CallId(format!("c{}", first + index));
        screen.receive_chunk(Chunk::Call(ToolCall { id, name: (*tool).into(), arguments: "{}".into() }));
    }
    screen.receive_chunk(Chunk::Done(FinishReason::Stop));
    for (index, (_, path)) in reads.iter().enumerate() {
        let id = format!("c{}", first + index);
        screen.finish_planning(&id, read_intent(path));
        screen.finish_call(&id, Outcome::Done(format!("content of {path}\n")));
    }
}

fn screen_with_reads(reads: &[(&str, &str)]) -> Screen {
    let mut screen = Screen::with_turn();
    run_reads(&mut screen, 0, reads);
    screen.receive_reply("All read.");
    screen
}

const READS: [(&str, &str); 5] = [
    ("read_file", "src/a.rs"),
    ("read_file", "src/b.rs"),
    ("search_text", "needle in src"),
    ("search_text", "hay in src"),
    ("list_files", "tests"),
];

#[test]
fn reads_that_follow_each_other_are_one_row() {
    let text = screen_with_reads(&READS).screen_text();
    assert!(text.contains(" ✓ Read 2 files, searched 2 times, listed 1 folder "), "{text}");
    assert!(text.contains(" 60 ms\n") && !text.contains("src/a.rs") && text.matches('✓').count() == 1, "{text}");
    let text = screen_with_reads(&READS[2..4]).screen_text();
    assert!(text.contains(" ✓ Searched 2 times "), "{text}");
    let text = screen_with_reads(&READS[..1]).screen_text();
    assert!(text.contains(" ✓ Read src/a.rs "), "{text}");
    let text = screen_with_reads(&[("read_file", "a.rs"), ("read_file", "a.rs"), ("search_text", "x")]).screen_text();
    assert!(text.contains(" ✓ Read 1 file, searched once "), "{text}");
}

#[test]
fn a_run_grows_over_replies_without_text_and_ends_at_anything_shown() {
    let mut screen = Screen::with_turn();
    run_reads(&mut screen, 0, &READS[..1]);
    assert!(screen.screen_text().contains(" ✓ Read src/a.rs "), "{}", screen.screen_text());
    run_reads(&mut screen, 1, &READS[1..2]);
    assert!(screen.screen_text().contains(" ✓ Read 2 files "), "{}", screen.screen_text());
    screen.receive_chunk(Chunk::Text("Now the tests.".into()));
    run_reads(&mut screen, 2, &[("read_file", "tests/a.rs"), ("read_file", "tests/b.rs"), ("read_file", "tests/c.rs")]);
    let text = screen.screen_text();
    assert!(text.contains(" ✓ Read 2 files ") && text.contains(" ✓ Read 3 files "), "{text}");
}

#[test]
fn failed_and_sensitive_reads_and_other_calls_keep_their_own_rows() {
    let mut screen = Screen::with_turn();
    run_reads(&mut screen, 0, &READS[..2]);
    screen.receive_call("failed", "read_file", read_intent("missing.rs"));
    screen.finish_call("failed", Outcome::Failed("no such file".into()));
    let Intent::Act(plan) = read_intent(".env") else { panic!("a read is an act") };
    let sensitive = Plan { access: Access::ReadSensitive(".env".into()), ..*plan };
    screen.receive_call("sensitive", "read_file", Intent::Act(Box::new(sensitive)));
    screen.advance_ms(2000);
    screen.press_key("y");
    screen.finish_call("sensitive", Outcome::Done("KEY=1\n".into()));
    screen.receive_call("unknown", "read_mail", read_intent("inbox"));
    screen.finish_call("unknown", Outcome::Done("3 mails\n".into()));
    run_reads(&mut screen, 2, &READS[2..4]);
    screen.receive_reply("Done.");
    let text = screen.screen_text();
    for row in [
        "✓ Read 2 files ",
        "✗ Read missing.rs · no such file",
        "✓ Read .env ",
        "✓ Read a file inbox ",
        "✓ Searched 2 times ",
    ] {
        assert!(text.contains(row), "{row}: {text}");
    }
}

#[test]
fn an_open_run_shows_its_calls_and_each_of_them_opens() {
    let mut screen = screen_with_reads(&READS);
    let before = screen.screen_text();
    screen.press_key("alt-up");
    screen.press_key("enter");
    insta::assert_snapshot!(screen.screen_text(), @r"
     aye · go                                         gpt-5-mini · ~/project ⎇ main
    ────────────────────────────────────────────────────────────────────────────────
     ▌ go

       ✓ Read 2 files, searched 2 times, listed 1 folder                     60 ms
         ✓ Read src/a.rs                                                     12 ms
         ✓ Read src/b.rs                                                     12 ms
         ✓ Search needle in src                                              12 ms
         ✓ Search hay in src                                                 12 ms
         ✓ List tests                                                        12 ms

     All read.









    ────────────────────────────────────────────────────────────────────────────────
     ❯ Write a message, / for commands, @ for files
     ask mode             enter close · ↑↓ move · o open in full · w why · esc back
    ");
    // The calls are selected one by one.
    for (_, path) in READS {
        screen.press_key("alt-down");
        screen.press_key("enter");
        let text = screen.screen_text();
        assert!(text.contains(&format!("content of {path}")) && text.contains("       tool "), "{path}: {text}");
        screen.press_key("enter");
    }
    for _ in READS {
        screen.press_key("alt-up");
    }
    screen.press_key("enter");
    screen.press_key("esc");
    assert_eq!(screen.screen_text(), before);
}

#[test]
fn the_texts_of_a_run_are_opened_and_copied_together() {
    let mut screen = screen_with_reads(&READS);
    screen.press_key("alt-up");
    screen.press_key("o");
    let text = screen.screen_text();
    assert!(text.contains("Read 2 files, searched 2 times, listed 1 folder"), "the title: {text}");
    assert!(text.contains("read_file {}") && text.contains("content of src/a.rs"), "{text}");
    screen.press_key("esc");
    screen.press_key("alt-up");
    screen.press_key("alt-y");
    let Some(Popup::List(_, List::CopyTexts(texts))) = screen.state.viewport.popups.last() else {
        panic!("{}", screen.screen_text())
    };
    assert!(READS.iter().all(|(_, path)| texts[0].contains(&format!("content of {path}"))), "{texts:?}");
}

#[test]
fn a_click_opens_a_run() {
    use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
    let mut screen = screen_with_reads(&READS);
    let row = screen.screen_text().lines().position(|line| line.contains("Read 2 files")).unwrap() as u16;
    let kind = MouseEventKind::Down(MouseButton::Left);
    screen.handle_event(Event::Mouse(MouseEvent { kind, column: 6, row, modifiers: KeyModifiers::NONE }));
    assert!(screen.screen_text().contains("  ✓ Read src/b.rs "), "{}", screen.screen_text());
}

#[test]
fn the_search_opens_the_run_with_the_match() {
    for query in ["content of src/b", "src/b.rs"] {
        let mut screen = screen_with_reads(&READS);
        screen.press_key("ctrl-f");
        screen.type_text(query);
        let text = screen.screen_text();
        assert!(text.contains("  ✓ Read src/b.rs "), "{query}: {text}");
        assert_eq!(text.contains("content of src/b"), query.starts_with("content"), "{query}: {text}");
    }
}

#[test]
fn a_call_that_was_opened_stays_open_when_its_run_begins() {
    let mut screen = Screen::with_turn();
    run_reads(&mut screen, 0, &READS[..1]);
    screen.press_key("alt-up");
    screen.press_key("enter");
    assert!(screen.screen_text().contains("content of src/a.rs"), "{}", screen.screen_text());
    run_reads(&mut screen, 1, &READS[1..3]);
    let text = screen.screen_text();
    assert!(text.contains("✓ Read 2 files, searched once ") && text.contains("content of src/a.rs"), "{text}");
    assert!(!text.contains("src/b.rs"), "{text}");
}

#[test]
fn a_selected_call_that_is_folded_away_leaves_the_selection_on_its_run() {
    let mut screen = Screen::with_turn();
    run_reads(&mut screen, 0, &READS[..1]);
    screen.press_key("alt-up");
    run_reads(&mut screen, 1, &READS[1..2]);
    screen.press_key("enter");
    let text = screen.screen_text();
    assert!(text.contains("✓ Read 2 files ") && text.contains("  ✓ Read src/a.rs "), "{text}");
}

#[test]
fn a_frame_of_a_long_run_lays_out_only_its_row() {
    let reads = |count: usize| {
        let calls = (0..count).flat_map(|number| {
            let call = CallId(format!("c{number}"));
            let Intent::Act(plan) = read_intent(&format!("src/{number}.rs")) else { panic!("a read is an act") };
            let reply = Entry::Replied {
                text: String::new(),
                reasoning: String::new(),
                calls: vec![ToolCall { id: call.clone(), name: "read_file".into(), arguments: "{}".into() }],
                incomplete: None,
                model: "m".into(),
                usage: None,
                thought_ms: 0,
                echo: None,
            };
            let planned = Entry::Planned {
                call: call.clone(),
                title: plan.title,
                summary: plan.summary,
                access: plan.access,
                preview: Box::new(plan.preview),
                destroys: None,
                preconditions: Box::default(),
                verdict: "allow".into(),
                reason: String::new(),
                hooks_not_run: Vec::new(),
                sha256: Digest::default(),
            };
            let settled = Entry::Settled {
                call,
                outcome: Outcome::Done("text".into()),
                took_ms: 1,
                staged: None,
                sha256: Digest::default(),
                usage: None,
            };
            [reply, planned, settled]
        });
        Screen::with_entries([user_message("go")].into_iter().chain(calls).chain([reply_entry("Done."), turn_end()]))
    };
    let mut screen = reads(5_000);
    assert!(screen.screen_text().contains("✓ Read 5000 files "), "{}", screen.screen_text());
    assert!(screen.cache.entries_laid_out < 10, "{} entries laid out", screen.cache.entries_laid_out);
    let measure_frame = |count: usize| {
        let mut screen = reads(count);
        screen.draw_frame();
        allocation_counter::measure(|| drop(screen.draw_frame())).count_total
    };
    assert!(measure_frame(5_000) < measure_frame(50) + 10);
}
