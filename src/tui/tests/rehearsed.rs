//! Dry runs on the screen: marks, the summary of a turn, and the footer under every overlay.

use super::*;
use crate::tui::command::COMMANDS;
use crate::tui::keys::Keymap;

fn rehearsed(screen: &mut Screen, id: &str, line: &str, staged: Option<Staged>, text: &str) {
    screen.calls(id, "bash_exec", command(line));
    let turn = screen.state.agent.turn().expect("a turn runs");
    let (outcome, took) = (Outcome::Rehearsed(text.into()), Duration::from_millis(12));
    screen.happens(Event::Agent(agent::Event::Finished { turn, call: id.into(), outcome, staged, took }));
}

#[test]
fn r30_the_origin_of_a_result_is_visible_for_long_calls() {
    let mut screen = Screen::dry();
    screen.says("go");
    let long = "make deploy CONFIRM=yes TARGET=eu-west-1 ".repeat(3);
    let imagined = Simulated { by: "sim-7b".into(), again: true, ..Simulated::of(How::Imagined) };
    let failed = Simulated { instead: "it did not answer within 30 s".into(), ..Simulated::of(How::Sampled) };
    rehearsed(&mut screen, "a", &long, Some(Staged::Simulated(Box::new(imagined))), "x");
    rehearsed(&mut screen, "b", &long, Some(Staged::Simulated(Box::new(failed.clone()))), "x");
    rehearsed(&mut screen, "c", "make", Some(Staged::Simulated(Box::new(failed))), "x");
    for (width, height) in [(120, 36), (80, 24), (60, 15)] {
        screen.resized(width, height);
        let shown = screen.shows();
        assert!(shown.contains("… · simulated by sim-7b, reused"), "{shown}");
        assert!(shown.contains("… · sample, not run"), "{shown}");
        assert!(shown.contains("make · sample, not run; the simul"), "{shown}");
    }
}

#[test]
fn r30_results_show_their_origin_and_turns_a_summary() {
    let mut screen = Screen::dry();
    screen.says("go");
    rehearsed(&mut screen, "a", "make", Some(Staged::ran()), "done\nexit 0");
    rehearsed(&mut screen, "b", "make test", Some(Staged::ran()), "no rule\nexit 2");
    rehearsed(&mut screen, "c", "mail", Some(Staged::simulated(How::Sampled)), "It would have run.");
    rehearsed(&mut screen, "d", "deploy", Some(Staged::simulated(How::Imagined)), "deployed");
    screen.replies("Done.");
    screen.resized(80, 17);
    insta::assert_snapshot!(screen.shows(), @r"
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
    let mut screen = Screen::dry();
    let hook = agent::Hook { name: "guard".into(), ..agent::Hook::default() };
    screen.state.agent.advisers.hooks = vec![hook];
    screen.says("go");
    let Intent::Act(mut secret) = command(".env") else { unreachable!() };
    (secret.access, secret.preview) = (Access::ReadSensitive(".env".into()), Preview::Text(".env".into()));
    screen.calls("a", "read_file", Intent::Act(secret));
    rehearsed(&mut screen, "b", "make", Some(Staged::ran()), "done\nexit 0");
    screen.replies("Done.");
    for (width, height) in [(120, 36), (80, 24), (60, 15)] {
        screen.resized(width, height);
        let shown = screen.shows();
        let foot = shown.lines().last().unwrap_or_default();
        assert!(
            foot.trim_start().starts_with("DRY RUN ·") && foot.contains("would have asked: 2"),
            "{shown}"
        );
        assert!(shown.contains("⊘ read_file    .env · withheld, not run"), "{shown}");
        assert_eq!(shown.matches("hook “guard” was not run in this dry run").count(), 2, "{shown}");
    }
    screen.resized(24, 10);
    assert!(screen.shows().contains("DRY RUN"), "{}", screen.shows());
}

/// Returns the text of the footer, and whether its start has the danger style.
fn foot(screen: &mut Screen) -> (String, bool) {
    let buffer = screen.frame();
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
    for &(width, height) in part_of(&sizes, 3, 0) {
        let check = |screen: &mut Screen, what: &str| {
            screen.resized(width, height);
            let (words, danger) = foot(screen);
            assert!(words.starts_with("DRY RUN") && danger, "{what} at {width}x{height}: {words:?}");
        };
        for row in COMMANDS {
            let mut screen = Screen::dry();
            screen.state.theme = theme.clone();
            screen.says("go");
            screen.replies("Done: src/lib.rs:1 and https://example.com/");
            let before = screen.state.overlays.len();
            screen.says(&format!("/{}", row.names[0]));
            check(&mut screen, row.names[0]);
            if screen.state.overlays.len() > before {
                screen.presses("down");
                check(&mut screen, row.names[0]);
            }
        }
        for intent in [command("rm -r build"), question()] {
            let mut screen = Screen::dry();
            screen.state.theme = theme.clone();
            // A dry run that asks as a live session would.
            screen.state.agent.policy.dry_run = false;
            screen.says("go");
            screen.calls("a", "bash_exec", intent);
            screen.state.agent.policy.dry_run = true;
            check(&mut screen, "a prompt");
            screen.happens(Event::Key(key("f1")));
            check(&mut screen, "help over a prompt");
        }
        let mut screen = Screen::dry();
        screen.state.theme = theme.clone();
        screen.says("go");
        screen.replies("see src/lib.rs:1");
        screen.presses("ctrl-o");
        check(&mut screen, "links");
        screen.state.keys = Keymap::default();
        screen.types("/");
        check(&mut screen, "the commands of the composer");
    }
}

#[test]
fn the_window_title_and_header_mark_a_dry_run() {
    let mut screen = Screen::dry();
    screen.says("fix it");
    let named =
        |effect: &Effect| matches!(effect, Effect::Title(title) if title.ends_with("[dry run] fix it"));
    assert!(screen.effects.iter().any(named), "{:?}", screen.effects);
    assert!(screen.shows().starts_with(" aye · [dry run] fix it"));
    let mut screen = Screen::new();
    screen.says("fix it");
    assert!(!screen.shows().contains("dry run"));
}

#[test]
fn r30_fork_parses_its_options_and_reports_invalid_ones() {
    for (dry, words, becomes) in [
        (true, "/fork", Some(Becomes::AsItWas)),
        (true, "/fork live", Some(Becomes::Live)),
        (false, "/fork dry", Some(Becomes::DryRun)),
        (false, "/fork live", None),
        (true, "/fork dry", None),
        (true, "/fork for real", None),
    ] {
        let mut screen = if dry { Screen::dry() } else { Screen::new() };
        screen.says("go");
        screen.replies("Done.");
        screen.says(words);
        let asked = screen.effects.iter().find_map(|effect| match effect {
            Effect::Ask(crate::tui::host::Wish::Fork(_, becomes)) => Some(*becomes),
            _ => None,
        });
        assert_eq!(asked, becomes, "{words}");
        let shown = screen.shows();
        let says = ["already", "Unknown option"].iter().any(|words| shown.contains(words));
        assert_eq!(says, becomes.is_none(), "{shown}");
    }
}

#[test]
fn the_first_screen_of_a_dry_run_promises_no_prompts() {
    let shows = Screen::dry().shows();
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
        let shows = screen.shows();
        assert!(shows.contains(says), "{shows}");
        assert_eq!(shows.contains("without your approval"), mode == Mode::Ask, "{shows}");
        let buffer = screen.frame();
        let row = shows.lines().position(|line| line.contains(says)).unwrap() as u16;
        let danger = (0..80).any(|x| buffer[(x, row)].fg == screen.state.theme.danger.fg.unwrap());
        assert_eq!(danger, mode == Mode::Full, "{mode:?}");
    }
}

#[test]
fn line_counts_are_never_cut_by_long_paths() {
    for (width, height) in [(120, 36), (80, 24), (60, 15), (40, 15)] {
        for (path, lines) in
            [("docs/guide/intro/two.md", 39), ("src/a/b/c/d/e/f/g/h/i/a-rather-long-name.rs", 1234)]
        {
            for outcome in [Outcome::Rehearsed("x".into()), Outcome::Done("x".into())] {
                let staged = matches!(outcome, Outcome::Rehearsed(_)).then(Staged::ran);
                let mut screen = if staged.is_some() { Screen::dry() } else { Screen::new() };
                screen.state.agent.policy.mode = Mode::Full;
                screen.resized(width, height);
                screen.says("go");
                let edit = crate::chat::Edit { path: path.into(), before: None, after: "x\n".repeat(lines) };
                let Intent::Act(plan) = command("x") else { unreachable!() };
                let access = Access::Write(path.into());
                let preview = Preview::Edit(edit.diff());
                let plan = Plan { summary: path.into(), access, preview, ..*plan };
                screen.calls("a", "write_file", Intent::Act(Box::new(plan)));
                let turn = screen.state.agent.turn().unwrap();
                let took = Duration::from_millis(8);
                screen.happens(Event::Agent(agent::Event::Finished {
                    turn,
                    call: "a".into(),
                    outcome,
                    staged,
                    took,
                }));
                screen.replies("Done.");
                let shows = screen.shows();
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
    screen.says("go");
    screen.replies("Would do.");
    screen.happens(Event::Agent(agent::Event::Became { of: SessionId("01DRY".into()) }));
    assert!(!foot(&mut screen).0.contains("LIVE RUN"));
    let call = crate::chat::ForReal {
        tool: "bash_exec".into(),
        arguments: serde_json::json!({}),
        changed: vec!["a.txt".into()],
    };
    let offered = agent::Offered { said: "Apply it.".into(), calls: vec![call] };
    screen.happens(Event::Agent(agent::Event::Offered(offered)));
    let turn = screen.state.agent.turn().unwrap();
    let intent = Ok(command("make"));
    screen.happens(Event::Agent(agent::Event::Planned { turn, call: "offered_1".into(), intent }));
    for (width, height) in [(120, 36), (80, 24), (60, 15), (40, 12)] {
        screen.resized(width, height);
        let (words, danger) = foot(&mut screen);
        assert!(words.starts_with("LIVE RUN") && danger, "{width}x{height}: {words}");
    }
    screen.resized(120, 36);
    let shows = screen.shows();
    assert!(
        shows.contains("— Live from here on, in a copy. The dry run is kept: aye --resume 01DRY"),
        "{shows}"
    );
    assert!(shows.contains("careful: this repeats applied changes: a.txt"), "{shows}");
    assert!(shows.contains("Y approve") && !shows.contains(" y approve"), "{shows}");
    screen.waits(2000);
    screen.presses("n");
    assert!(!foot(&mut screen).0.contains("LIVE RUN"));
    assert!(screen.shows().contains("Live from here on"));
}

#[test]
fn r30_a_turn_without_calls_has_no_summary() {
    let mut screen = Screen::dry();
    screen.says("hello");
    screen.replies("Hello.");
    assert!(!screen.shows().contains("0 calls rehearsed"), "{}", screen.shows());
    screen.says("go");
    screen.calls("a", "read_file", read("src/lib.rs"));
    screen.finished("a", Outcome::Done("x".into()));
    screen.replies("Read.");
    assert!(
        screen.shows().contains("0 calls rehearsed, 0 ran in the overlay sandbox, nothing changed on disk")
    );
}
