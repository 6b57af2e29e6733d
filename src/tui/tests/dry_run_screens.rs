//! Dry runs on the screen: marks, the summary of a turn, and the footer under every overlay.

use super::*;
use crate::tui::command::COMMANDS;
use crate::tui::host::SessionRequest;
use crate::tui::keys::Keymap;

fn finish_rehearsed_call(screen: &mut Screen, id: &str, line: &str, staged: Option<ResultOrigin>, text: &str) {
    screen.receive_call(id, "bash_exec", command_intent(line));
    let turn = screen.state.agent.current_turn().expect("a turn runs");
    let (outcome, took) = (Outcome::Rehearsed(text.into()), Duration::from_millis(12));
    screen.handle_event(Event::Agent(agent::Event::CallFinished {
        turn,
        call: id.into(),
        outcome,
        result_source: staged,
        duration: took,
    }));
}

#[test]
fn r30_the_origin_of_a_result_is_visible_for_long_calls() {
    let mut screen = Screen::dry_run();
    screen.send_text("go");
    let long = "make deploy CONFIRM=yes TARGET=eu-west-1 ".repeat(3);
    let imagined = SimulatedResult {
        model: "sim-7b".into(),
        is_reused: true,
        ..SimulatedResult::from_source(SimulationSource::Model)
    };
    let failed = SimulatedResult {
        failure: "it did not answer within 30 s".into(),
        ..SimulatedResult::from_source(SimulationSource::Sample)
    };
    finish_rehearsed_call(&mut screen, "a", &long, Some(ResultOrigin::Simulated(Box::new(imagined))), "x");
    finish_rehearsed_call(&mut screen, "b", &long, Some(ResultOrigin::Simulated(Box::new(failed.clone()))), "x");
    finish_rehearsed_call(&mut screen, "c", "make", Some(ResultOrigin::Simulated(Box::new(failed))), "x");
    for (width, height) in [(120, 36), (80, 24), (60, 15)] {
        screen.resize_screen(width, height);
        let shown = screen.screen_text();
        assert!(shown.contains("… · simulated by sim-7b, reused"), "{shown}");
        assert!(shown.contains("… · sample, not run"), "{shown}");
        assert!(shown.contains("make · sample, not run; the simul"), "{shown}");
    }
}

#[test]
fn r30_results_show_their_origin_and_turns_a_summary() {
    let mut screen = Screen::dry_run();
    screen.send_text("go");
    finish_rehearsed_call(&mut screen, "a", "make", Some(ResultOrigin::ran()), "done\nexit 0");
    finish_rehearsed_call(&mut screen, "b", "make test", Some(ResultOrigin::ran()), "no rule\nexit 2");
    finish_rehearsed_call(
        &mut screen,
        "c",
        "mail",
        Some(ResultOrigin::simulated(SimulationSource::Sample)),
        "It would have run.",
    );
    finish_rehearsed_call(
        &mut screen,
        "d",
        "deploy",
        Some(ResultOrigin::simulated(SimulationSource::Model)),
        "deployed",
    );
    screen.receive_reply("Done.");
    screen.resize_screen(80, 17);
    insta::assert_snapshot!(screen.screen_text(), @r"
     aye · [dry run] go                               gpt-5-mini · ~/project ⎇ main
    ────────────────────────────────────────────────────────────────────────────────
     ▌ go

       ◆ bash_exec    make · ran in the overlay sandbox                       12 ms
       ✗ bash_exec    make test · ran in the overlay sandbox         exit 2 · 12 ms
       ◇ bash_exec    mail · sample, not run                                  12 ms
       ◌ bash_exec    deploy · simulated by a model                           12 ms

     Done.

     — 4 calls rehearsed, 2 ran in the overlay sandbox, nothing changed on disk


    ────────────────────────────────────────────────────────────────────────────────
     ❯ Write a message, / for commands, @ for files
     DRY RUN · 4 rehearsed · would have asked: 4 · ask mode                  ? help
    ");
}

#[test]
fn r30_the_footer_counts_skipped_prompts_and_calls_name_skipped_hooks() {
    let mut screen = Screen::dry_run();
    let hook = agent::HookReviewer { name: "guard".into(), ..agent::HookReviewer::default() };
    screen.state.agent.reviewers.hooks = vec![hook];
    screen.send_text("go");
    let Intent::Act(mut secret) = command_intent(".env") else { unreachable!() };
    (secret.access, secret.preview) = (Access::ReadSensitive(".env".into()), Preview::Text(".env".into()));
    screen.receive_call("a", "read_file", Intent::Act(secret));
    finish_rehearsed_call(&mut screen, "b", "make", Some(ResultOrigin::ran()), "done\nexit 0");
    screen.receive_reply("Done.");
    for (width, height) in [(120, 36), (80, 24), (60, 15)] {
        screen.resize_screen(width, height);
        let shown = screen.screen_text();
        let foot = shown.lines().last().unwrap_or_default();
        assert!(foot.trim_start().starts_with("DRY RUN ·") && foot.contains("would have asked: 2"), "{shown}");
        assert!(shown.contains("⊘ read_file    .env · withheld, not run"), "{shown}");
        assert_eq!(shown.matches("hook “guard” was not run in this dry run").count(), 2, "{shown}");
    }
    screen.resize_screen(24, 10);
    assert!(screen.screen_text().contains("DRY RUN"), "{}", screen.screen_text());
}

/// Returns the text of the footer, and whether its start has the danger style.
fn footer_style(screen: &mut Screen) -> (String, bool) {
    let buffer = screen.draw_frame();
    let (width, height) = (buffer.area.width, buffer.area.height);
    let row: String = (0..width).map(|x| buffer[(x, height - 1)].symbol().to_owned()).collect();
    let danger = screen.state.theme.danger;
    let cells = (1..width.min(8)).map(|x| buffer[(x, height - 1)].style());
    (row.trim().to_owned(), cells.into_iter().all(|style| style.fg == danger.fg))
}

#[test]
fn r30_the_footer_shows_dry_run_at_every_size_under_every_overlay() {
    let sizes = [(120, 36), (80, 24), (60, 15), (40, 10), (20, 5), (12, 3), (9, 2)];
    let theme = Themes::bundled().all[0].clone();
    for &(width, height) in select_cases(&sizes, 3, 0) {
        let check = |screen: &mut Screen, what: &str| {
            screen.resize_screen(width, height);
            let (words, danger) = footer_style(screen);
            assert!(words.starts_with("DRY RUN") && danger, "{what} at {width}x{height}: {words:?}");
        };
        for row in COMMANDS {
            let mut screen = Screen::dry_run();
            screen.state.theme = theme.clone();
            screen.send_text("go");
            screen.receive_reply("Done: src/lib.rs:1 and https://example.com/");
            let before = screen.state.viewport.overlays.len();
            screen.send_text(&format!("/{}", row.names[0]));
            check(&mut screen, row.names[0]);
            if screen.state.viewport.overlays.len() > before {
                screen.press_key("down");
                check(&mut screen, row.names[0]);
            }
        }
        for intent in [command_intent("rm -r build"), question_intent()] {
            let mut screen = Screen::dry_run();
            screen.state.theme = theme.clone();
            // A dry run that asks as a live session would.
            screen.state.agent.policy.dry_run = false;
            screen.send_text("go");
            screen.receive_call("a", "bash_exec", intent);
            screen.state.agent.policy.dry_run = true;
            check(&mut screen, "a prompt");
            screen.handle_event(Event::Key(key("f1")));
            check(&mut screen, "help over a prompt");
        }
        let mut screen = Screen::dry_run();
        screen.state.theme = theme.clone();
        screen.send_text("go");
        screen.receive_reply("see src/lib.rs:1");
        screen.press_key("ctrl-o");
        check(&mut screen, "links");
        screen.state.keys = Keymap::default();
        screen.type_text("/");
        check(&mut screen, "the commands of the composer");
    }
}

#[test]
fn the_window_title_and_header_mark_a_dry_run() {
    let mut screen = Screen::dry_run();
    screen.send_text("fix it");
    let named = |effect: &Effect| matches!(effect, Effect::SetTitle(title) if title.ends_with("[dry run] fix it"));
    assert!(screen.effects.iter().any(named), "{:?}", screen.effects);
    assert!(screen.screen_text().starts_with(" aye · [dry run] fix it"));
    let mut screen = Screen::new();
    screen.send_text("fix it");
    assert!(!screen.screen_text().contains("dry run"));
}

#[test]
fn r30_fork_parses_its_options_and_reports_invalid_ones() {
    for (dry, words, becomes) in [
        (true, "/fork", Some(ForkMode::Unchanged)),
        (true, "/fork live", Some(ForkMode::Live)),
        (false, "/fork dry", Some(ForkMode::DryRun)),
        (false, "/fork live", None),
        (true, "/fork dry", None),
        (true, "/fork for real", None),
    ] {
        let mut screen = if dry { Screen::dry_run() } else { Screen::new() };
        screen.send_text("go");
        screen.receive_reply("Done.");
        screen.send_text(words);
        let asked = screen.effects.iter().find_map(|effect| match effect {
            Effect::Request(crate::tui::host::HostRequest::Session(SessionRequest::Fork(_, becomes))) => Some(*becomes),
            _ => None,
        });
        assert_eq!(asked, becomes, "{words}");
        let shown = screen.screen_text();
        let says = ["already", "Unknown option"].iter().any(|words| shown.contains(words));
        assert_eq!(says, becomes.is_none(), "{shown}");
    }
}

#[test]
fn the_first_screen_of_a_dry_run_promises_no_prompts() {
    let shows = Screen::dry_run().screen_text();
    assert!(shows.contains("Send message; tool calls are only rehearsed"), "{shows}");
    assert!(!shows.contains("without your approval"), "{shows}");
}

#[test]
fn the_first_screen_describes_the_mode_and_warns_in_full_mode() {
    for (mode, says) in [
        (Mode::Plan, "nothing is changed or run"),
        (Mode::Ask, "nothing is changed or run without your approval"),
        (Mode::Auto, "file changes are approved automatically"),
        (Mode::Full, "almost every tool call runs without asking"),
    ] {
        let mut screen = Screen::new();
        screen.state.theme = Themes::bundled().all[0].clone();
        screen.state.agent.policy.mode = mode;
        let shows = screen.screen_text();
        assert!(shows.contains(says), "{shows}");
        assert_eq!(shows.contains("without your approval"), mode == Mode::Ask, "{shows}");
        let buffer = screen.draw_frame();
        let row = shows.lines().position(|line| line.contains(says)).unwrap() as u16;
        let danger = (0..80).any(|x| buffer[(x, row)].fg == screen.state.theme.danger.fg.unwrap());
        assert_eq!(danger, mode == Mode::Full, "{mode:?}");
    }
}

#[test]
fn line_counts_are_never_cut_by_long_paths() {
    for (width, height) in [(120, 36), (80, 24), (60, 15), (40, 15)] {
        for (path, lines) in [("docs/guide/intro/two.md", 39), ("src/a/b/c/d/e/f/g/h/i/a-rather-long-name.rs", 1234)] {
            for outcome in [Outcome::Rehearsed("x".into()), Outcome::Done("x".into())] {
                let staged = matches!(outcome, Outcome::Rehearsed(_)).then(ResultOrigin::ran);
                let mut screen = if staged.is_some() { Screen::dry_run() } else { Screen::new() };
                screen.state.agent.policy.mode = Mode::Full;
                screen.resize_screen(width, height);
                screen.send_text("go");
                let edit = crate::chat::Edit { path: path.into(), before: None, after: "x\n".repeat(lines) };
                let Intent::Act(plan) = command_intent("x") else { unreachable!() };
                let access = Access::Write(path.into());
                let preview = Preview::Edit(edit.diff());
                let plan = Plan { summary: path.into(), access, preview, ..*plan };
                screen.receive_call("a", "write_file", Intent::Act(Box::new(plan)));
                let turn = screen.state.agent.current_turn().unwrap();
                let took = Duration::from_millis(8);
                screen.handle_event(Event::Agent(agent::Event::CallFinished {
                    turn,
                    call: "a".into(),
                    outcome,
                    result_source: staged,
                    duration: took,
                }));
                screen.receive_reply("Done.");
                let shows = screen.screen_text();
                let name = path.rsplit('/').next().unwrap();
                let end = &name[name.len() - 6..];
                assert!(shows.contains(&format!("{end} +{lines} −0")), "{width}: {shows}");
            }
        }
    }
}

#[test]
fn r30_a_live_copy_is_marked_in_the_transcript_and_while_applying() {
    let mut screen = Screen::new();
    screen.state.theme = Themes::bundled().all[0].clone();
    screen.send_text("go");
    screen.receive_reply("Would do.");
    screen.handle_event(Event::Agent(agent::Event::SessionCopied { source: SessionId("01DRY".into()) }));
    assert!(!footer_style(&mut screen).0.contains("LIVE RUN"));
    let call = crate::chat::LiveCall {
        tool: "bash_exec".into(),
        arguments: serde_json::json!({}),
        changed_paths: vec!["a.txt".into()],
    };
    let offered = agent::ApplyRequest { message: "Apply it.".into(), calls: vec![call] };
    screen.handle_event(Event::Agent(agent::Event::ApplyRequested(offered)));
    let turn = screen.state.agent.current_turn().unwrap();
    let intent = Ok(command_intent("make"));
    screen.handle_event(Event::Agent(agent::Event::CallPlanned { turn, call: "offered_1".into(), intent }));
    for (width, height) in [(120, 36), (80, 24), (60, 15), (40, 12)] {
        screen.resize_screen(width, height);
        let (words, danger) = footer_style(&mut screen);
        assert!(words.starts_with("LIVE RUN") && danger, "{width}x{height}: {words}");
    }
    screen.resize_screen(120, 36);
    let shows = screen.screen_text();
    assert!(shows.contains("— Live from here on, in a copy. The dry run is kept: aye --resume 01DRY"), "{shows}");
    assert!(shows.contains("warning: this repeats applied changes: a.txt"), "{shows}");
    assert!(shows.contains("Y approve") && !shows.contains(" y approve"), "{shows}");
    screen.advance_ms(2000);
    screen.press_key("n");
    assert!(!footer_style(&mut screen).0.contains("LIVE RUN"));
    assert!(screen.screen_text().contains("Live from here on"));
}

#[test]
fn r30_a_turn_without_calls_has_no_summary() {
    let mut screen = Screen::dry_run();
    screen.send_text("hello");
    screen.receive_reply("Hello.");
    assert!(!screen.screen_text().contains("0 calls rehearsed"), "{}", screen.screen_text());
    screen.send_text("go");
    screen.receive_call("a", "read_file", read_intent("src/lib.rs"));
    screen.finish_call("a", Outcome::Done("x".into()));
    screen.receive_reply("Read.");
    assert!(screen.screen_text().contains("0 calls rehearsed, 0 ran in the overlay sandbox, nothing changed on disk"));
}
