//! Dry runs on the screen: marks, the summary of a turn, and the footer under every popup.

use super::*;
use crate::tui::host::HostRequest;
use crate::tui::update::slash_commands::COMMANDS;

/// Receives a call that runs `command`, and its rehearsed outcome with this text and origin.
fn finish_rehearsed_call(screen: &mut Screen, id: &str, command: &str, origin: Option<ResultOrigin>, text: &str) {
    screen.receive_call(id, "bash_exec", command_intent(command));
    let turn = screen.state.agent.current_turn().expect("a turn runs");
    let (outcome, duration) = (Outcome::Rehearsed(text.into()), Duration::from_millis(12));
    screen.handle_event(Event::Agent(agent::Event::CallFinished {
        turn,
        call: id.into(),
        outcome,
        result_source: origin,
        duration,
    }));
}

#[test]
fn r30_the_origin_of_a_result_is_visible_for_long_calls() {
    let mut screen = Screen::dry_run();
    screen.send_text("go");
    let long = "make deploy CONFIRM=yes TARGET=eu-west-1 ".repeat(3);
    let reused = SimulatedResult {
        model: "sim-7b".into(),
        is_reused: true,
        ..SimulatedResult::from_source(SimulationSource::Model)
    };
    let failed = SimulatedResult {
        failure: "it did not answer within 30 s".into(),
        ..SimulatedResult::from_source(SimulationSource::Sample)
    };
    finish_rehearsed_call(&mut screen, "a", &long, Some(ResultOrigin::Simulated(Box::new(reused))), "x");
    finish_rehearsed_call(&mut screen, "b", &long, Some(ResultOrigin::Simulated(Box::new(failed.clone()))), "x");
    finish_rehearsed_call(&mut screen, "c", "make", Some(ResultOrigin::Simulated(Box::new(failed))), "x");
    for (width, height) in [(120, 36), (80, 24), (60, 15)] {
        screen.resize_screen(width, height);
        let text = screen.screen_text();
        assert!(text.contains("… · simulated by sim-7b, reused"), "{text}");
        assert!(text.contains("… · sample, not run"), "{text}");
        assert!(text.contains("make · sample, not run; the simul"), "{text}");
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

       ◆ Run make · ran in the overlay sandbox                               12 ms
       ✗ Run make test · ran in the overlay sandbox                 exit 2 · 12 ms
         no rule
       ◇ Run mail · sample, not run                                          12 ms
       ◌ Run deploy · simulated by a model                                   12 ms

     Done.

     — 4 calls rehearsed (2 in the overlay sandbox); nothing changed on disk ·
       /rehearsal to review or apply
    ────────────────────────────────────────────────────────────────────────────────
     ❯ Write a message, / for commands, @ for files
     DRY RUN · 4 rehearsed · would have asked: 4 · ask mode                  ? help
    ");
}

#[test]
fn r30_the_footer_counts_skipped_prompts_and_calls_name_skipped_hooks() {
    let mut screen = Screen::dry_run();
    let hook = agent::HookReviewer { name: "guard".into(), ..agent::HookReviewer::default() };
    screen.state.agent.config.reviewers.hooks = vec![hook];
    screen.send_text("go");
    let Intent::Act(mut secret) = command_intent(".env") else { unreachable!() };
    (secret.access, secret.preview) = (Access::ReadSensitive(".env".into()), Preview::Text(".env".into()));
    screen.receive_call("a", "read_file", Intent::Act(secret));
    finish_rehearsed_call(&mut screen, "b", "make", Some(ResultOrigin::ran()), "done\nexit 0");
    screen.receive_reply("Done.");
    for (width, height) in [(120, 36), (80, 24), (60, 15)] {
        screen.resize_screen(width, height);
        let text = screen.screen_text();
        let footer = text.lines().last().unwrap_or_default();
        assert!(footer.trim_start().starts_with("DRY RUN ·") && footer.contains("would have asked: 2"), "{text}");
        assert!(text.contains("⊘ Read .env · withheld, not run"), "{text}");
        assert_eq!(text.matches("hook “guard” was not run in this dry run").count(), 2, "{text}");
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
fn r30_the_footer_shows_dry_run_at_every_size_under_every_popup() {
    let sizes = [(120, 36), (80, 24), (60, 15), (40, 10), (20, 5), (12, 3), (9, 2)];
    let theme = Themes::bundled().all()[0].clone();
    // Every size if `AYE_TEST_THOROUGH` is set, otherwise every third one from the first on.
    for &(width, height) in select_cases(&sizes, 3, 0) {
        let check_footer = |screen: &mut Screen, part: &str| {
            screen.resize_screen(width, height);
            let (footer, is_danger) = footer_style(screen);
            assert!(footer.starts_with("DRY RUN") && is_danger, "{part} at {width}x{height}: {footer:?}");
        };
        for row in COMMANDS {
            let mut screen = Screen::dry_run();
            screen.state.theme = theme.clone();
            screen.send_text("go");
            screen.receive_reply("Done: src/lib.rs:1 and https://example.com/");
            let popup_count = screen.state.viewport.popups.len();
            screen.send_text(&format!("/{}", row.names[0]));
            check_footer(&mut screen, row.names[0]);
            if screen.state.viewport.popups.len() > popup_count {
                screen.press_key("down");
                check_footer(&mut screen, row.names[0]);
            }
        }
        for intent in [command_intent("rm -r build"), question_intent()] {
            let mut screen = Screen::dry_run();
            screen.state.theme = theme.clone();
            // Only a live session opens approval prompts, so the session is live until the prompt is open.
            screen.state.agent.policy.dry_run = false;
            screen.send_text("go");
            screen.receive_call("a", "bash_exec", intent);
            screen.state.agent.policy.dry_run = true;
            check_footer(&mut screen, "a prompt");
            screen.handle_event(Event::Key(key("f1")));
            check_footer(&mut screen, "help over a prompt");
        }
        let mut screen = Screen::dry_run();
        screen.state.theme = theme.clone();
        screen.send_text("go");
        screen.receive_reply("see src/lib.rs:1");
        screen.press_key("ctrl-o");
        check_footer(&mut screen, "links");
        screen.type_text("/");
        check_footer(&mut screen, "the commands of the composer");
    }
}

#[test]
fn the_window_title_and_header_mark_a_dry_run() {
    let mut screen = Screen::dry_run();
    screen.send_text("fix it");
    let is_dry_run_title =
        |effect: &Effect| matches!(effect, Effect::SetTitle(title) if title.ends_with("[dry run] fix it"));
    assert!(screen.effects.iter().any(is_dry_run_title), "{:?}", screen.effects);
    assert!(screen.screen_text().starts_with(" aye · [dry run] fix it"));
    let mut screen = Screen::new();
    screen.send_text("fix it");
    assert!(!screen.screen_text().contains("dry run"));
}

#[test]
fn r30_fork_parses_its_options_and_reports_invalid_ones() {
    for (is_dry_run, command, expected) in [
        (true, "/fork", Some(ForkMode::Unchanged)),
        (true, "/fork live", Some(ForkMode::Live)),
        (false, "/fork dry", Some(ForkMode::DryRun)),
        (false, "/fork live", None),
        (true, "/fork dry", None),
        (true, "/fork for real", None),
    ] {
        let mut screen = if is_dry_run { Screen::dry_run() } else { Screen::new() };
        screen.send_text("go");
        screen.receive_reply("Done.");
        screen.send_text(command);
        let fork_mode = screen.effects.iter().find_map(|effect| match effect {
            Effect::Request(HostRequest::ForkSession(_, mode)) => Some(*mode),
            _ => None,
        });
        assert_eq!(fork_mode, expected, "{command}");
        let text = screen.screen_text();
        let has_notice = ["already", "Unknown option"].iter().any(|part| text.contains(part));
        assert_eq!(has_notice, expected.is_none(), "{text}");
    }
}

#[test]
fn the_welcome_screen_of_a_dry_run_promises_no_prompts() {
    let text = Screen::dry_run().screen_text();
    assert!(text.contains("Send message; tool calls are only rehearsed"), "{text}");
    assert!(!text.contains("without your approval"), "{text}");
}

#[test]
fn the_welcome_screen_describes_the_mode_and_warns_in_full_mode() {
    for (mode, expected) in [
        (Mode::Plan, "nothing is changed or run"),
        (Mode::Ask, "only reads run without your approval"),
        (Mode::Auto, "commands ask unless a trial was harmless"),
        (Mode::Full, "almost every tool call runs without asking"),
    ] {
        let mut screen = Screen::new();
        screen.state.theme = Themes::bundled().all()[0].clone();
        screen.state.agent.policy.mode = mode;
        let text = screen.screen_text();
        assert!(text.contains(expected), "{text}");
        assert_eq!(text.contains("without your approval"), mode == Mode::Ask, "{text}");
        let buffer = screen.draw_frame();
        let row = text.lines().position(|line| line.contains(expected)).unwrap() as u16;
        let is_danger = (0..80).any(|x| buffer[(x, row)].fg == screen.state.theme.danger.fg.unwrap());
        assert_eq!(is_danger, mode == Mode::Full, "{mode:?}");
    }
}

#[test]
fn the_welcome_screen_recommends_the_mode_auto_only_where_commands_can_be_tried() {
    use crate::agent::TrialSupport;
    let unavailable = TrialSupport::Unavailable { reason: "old kernel".into(), call: "a".into() };
    for (support, is_recommended) in [
        (TrialSupport::Unknown, false),
        (TrialSupport::Requested, false),
        (unavailable, false),
        (TrialSupport::Available, true),
    ] {
        let mut screen = Screen::new();
        screen.state.agent.trial_support = support;
        let text = screen.screen_text();
        let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let advice = "Recommended here: /mode auto. Edits run; each command is tried in a throwaway sandbox and asks unless \
            its effects are harmless.";
        assert_eq!(words.contains(advice), is_recommended, "{text}");
    }
}

#[test]
fn line_counts_are_never_cut_by_long_paths() {
    for (width, height) in [(120, 36), (80, 24), (60, 15), (40, 15)] {
        for (path, lines) in [("docs/guide/intro/two.md", 39), ("src/a/b/c/d/e/f/g/h/i/a-rather-long-name.rs", 1234)] {
            for outcome in [Outcome::Rehearsed("x".into()), Outcome::Done("x".into())] {
                let origin = matches!(outcome, Outcome::Rehearsed(_)).then(ResultOrigin::ran);
                let mut screen = if origin.is_some() { Screen::dry_run() } else { Screen::new() };
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
                let duration = Duration::from_millis(8);
                screen.handle_event(Event::Agent(agent::Event::CallFinished {
                    turn,
                    call: "a".into(),
                    outcome,
                    result_source: origin,
                    duration,
                }));
                screen.receive_reply("Done.");
                let text = screen.screen_text();
                let name = path.rsplit('/').next().unwrap();
                // The end of the path is always shown.
                let end = &name[name.len() - 6..];
                assert!(text.contains(&format!("{end} +{lines} −0")), "{width}: {text}");
            }
        }
    }
}

#[test]
fn r30_a_live_copy_is_marked_in_the_transcript_and_while_applying() {
    let mut screen = Screen::new();
    screen.state.theme = Themes::bundled().all()[0].clone();
    screen.send_text("go");
    screen.receive_reply("Would do.");
    screen.handle_event(Event::Agent(agent::Event::SessionCopied { source: SessionId("01DRY".into()) }));
    assert!(!footer_style(&mut screen).0.contains("LIVE RUN"));
    let call = crate::chat::LiveCall {
        tool: "bash_exec".into(),
        arguments: serde_json::json!({}),
        changed_paths: vec!["a.txt".into()],
    };
    let request = agent::ApplyRequest { message: "Apply it.".into(), calls: vec![call] };
    screen.handle_event(Event::Agent(agent::Event::ApplyRequested(request)));
    let turn = screen.state.agent.current_turn().unwrap();
    let intent = Ok(command_intent("make"));
    // The calls of an apply request get the ids `offered_1`, `offered_2` and so on.
    screen.handle_event(Event::Agent(agent::Event::CallPlanned { turn, call: "offered_1".into(), intent }));
    for (width, height) in [(120, 36), (80, 24), (60, 15), (40, 12)] {
        screen.resize_screen(width, height);
        let (footer, is_danger) = footer_style(&mut screen);
        assert!(footer.starts_with("LIVE RUN") && is_danger, "{width}x{height}: {footer}");
    }
    screen.resize_screen(120, 36);
    let text = screen.screen_text();
    assert!(text.contains("— Live from here on, in a copy. The dry run is kept: aye --resume 01DRY"), "{text}");
    assert!(text.contains("warning: this repeats applied changes: a.txt"), "{text}");
    assert!(text.contains("Y approve") && !text.contains(" y approve"), "{text}");
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
    assert!(screen.screen_text().contains("0 calls rehearsed; nothing changed on disk"));
}

#[test]
fn live_turns_before_a_dry_run_have_no_summary() {
    let mut screen = Screen::dry_run();
    screen.send_text("go");
    screen.receive_call("a", "read_file", read_intent("src/lib.rs"));
    screen.finish_call("a", Outcome::Done("x".into()));
    screen.receive_reply("Read.");
    screen.handle_event(Event::Agent(agent::Event::SessionCopied { source: SessionId("01LIVE".into()) }));
    screen.resize_screen(90, 30);
    let text = screen.screen_text();
    assert!(text.contains("Dry run from here on") && !text.contains("calls rehearsed"), "{text}");
    screen.send_text("go");
    finish_rehearsed_call(&mut screen, "b", "make", Some(ResultOrigin::ran()), "done\nexit 0");
    screen.receive_reply("Made.");
    assert_eq!(screen.screen_text().matches("call rehearsed (1 in").count(), 1, "{}", screen.screen_text());
}
