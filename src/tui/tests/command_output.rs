//! Command output, pictures and right-to-left text on the screen.

mod drawn_pictures;

use super::*;
use crate::chat::image::ImageSize;
use crate::text::link::LinkTarget;
use crate::tui::LinkStatus;
use crate::tui::host::HostReply;
use ratatui::style::Color;

fn coloured_screen() -> Screen {
    let mut screen = Screen::new();
    screen.state.theme = Themes::bundled().choose_theme("dark", None);
    screen.send_text("go");
    screen
}

fn approve_command(screen: &mut Screen) {
    screen.receive_call("a", "bash_exec", command_intent("make"));
    screen.advance_ms(2000);
    screen.press_key("y");
}

/// Returns the colour of the first character of `needle` on the screen.
fn text_colour(screen: &mut Screen, needle: &str) -> Color {
    let buffer = screen.draw_frame();
    let text = buffer_text(&buffer);
    let (row, line) =
        text.lines().enumerate().find(|(_, line)| line.contains(needle)).unwrap_or_else(|| panic!("{text}"));
    let column = line[..line.find(needle).unwrap()].chars().count();
    buffer[(column as u16, row as u16)].fg
}

#[test]
fn a_running_command_shows_colours_and_its_latest_progress() {
    let mut screen = coloured_screen();
    approve_command(&mut screen);
    let turn = screen.state.agent.current_turn().unwrap();
    let output = "\x1b[31merror\x1b[0m: no\n 10% done\r 50% done".to_owned();
    screen.handle_event(Event::Agent(agent::Event::CallProgressed {
        turn,
        call: "a".into(),
        output,
        new_output: String::new(),
    }));
    let text = screen.screen_text();
    assert!(text.contains("    error: no\n") && text.contains("50% done") && !text.contains("10%"), "{text}");
    let danger = screen.state.theme.danger.fg.unwrap();
    assert_eq!(text_colour(&mut screen, "error: no"), danger);
}

#[test]
fn failed_and_successful_commands_look_different() {
    for (output, mark, exit_text) in [
        ("x\nexit 0", "✓", ""),
        ("x\nexit 1", "✗", "exit 1"),
        ("killed by signal 9", "✗", "killed by signal 9"),
        ("x\nstopped after 30 s", "✗", "stopped after 30 s"),
        ("exit 1\nexit 0", "✓", ""),
    ] {
        let mut screen = coloured_screen();
        screen.resize_screen(60, 15);
        approve_command(&mut screen);
        screen.finish_call("a", Outcome::Done(output.into()));
        let text = screen.screen_text();
        let line = text.lines().find(|line| line.contains("Run make")).unwrap_or_default();
        assert!(line.contains(mark) && line.contains(exit_text), "{output:?}: {text}");
        assert_eq!(line.contains("exit"), exit_text.starts_with("exit"), "{output:?}: {text}");
    }
}

#[test]
fn colours_are_shown_but_neither_copied_nor_sent() {
    let mut screen = coloured_screen();
    approve_command(&mut screen);
    let output = "\x1b[1;32mok\x1b[0m 3 tests\n\x1b[38;2;250;250;250mpale\x1b[0m\x1b]0;title\x07\nexit 0";
    screen.finish_call("a", Outcome::Done(output.into()));
    let messages = screen.state.agent.session.messages(0, usize::MAX);
    let Some(Message::Tool { text, .. }) = messages.last() else { panic!("{messages:?}") };
    assert_eq!(text, "ok 3 tests\npale<U+001B>]0;title<U+0007>\nexit 0");
    let entries = screen.state.agent.session.entries().to_vec();
    let records = crate::chat::audit::collect_records(&entries);
    let is_full = true;
    let page = crate::tui::parts::audit_page::audit_page_lines(&records[0], &|_| String::new(), 80, is_full).join("\n");
    assert!(page.contains("ok 3 tests") && !page.contains("<U+001B>[1;32m"), "{page}");
    screen.receive_reply("Done.");
    screen.press_key("alt-up");
    screen.press_key("enter");
    let screen_text = screen.screen_text();
    assert!(screen_text.contains("    ok 3 tests\n     pale<U+001B>]0;title<U+0007>\n     exit 0"), "{screen_text}");
    let success = screen.state.theme.success.fg.unwrap();
    assert_eq!(text_colour(&mut screen, "ok 3 tests"), success);
    assert_eq!(text_colour(&mut screen, "pale"), Color::Rgb(250, 250, 250));
    screen.press_key("o");
    assert!(screen.screen_text().contains("│ $ make"), "the pager is open: {}", screen.screen_text());
    assert_eq!(text_colour(&mut screen, "ok 3 tests"), success);
    screen.press_key("esc");
    screen.state.theme = Themes::bundled().choose_theme("light", None);
    assert_ne!(text_colour(&mut screen, "pale"), Color::Rgb(250, 250, 250), "adjusted to be readable on white");
}

#[test]
fn invisible_characters_are_marked_for_the_user_and_the_model() {
    let mut screen = coloured_screen();
    screen.receive_call("a", "read_file", read_intent("a.txt"));
    screen.finish_call("a", Outcome::Done("a \x1b[31mred\x1b[0m word\nevil\rAll passed.\u{e0041}".into()));
    let messages = screen.state.agent.session.messages(0, usize::MAX);
    let Some(Message::Tool { text, .. }) = messages.last() else { panic!("{messages:?}") };
    let expected = "a <U+001B>[31mred<U+001B>[0m word\nevil<U+000D>All passed.<U+E0041>";
    assert_eq!(text, expected);
    screen.receive_reply("Done.");
    screen.press_key("alt-up");
    screen.press_key("o");
    let screen_text = screen.screen_text();
    assert!(expected.lines().all(|line| screen_text.contains(line)), "{screen_text}");
}

/// Finishes a call with this outcome. Returns everything that `o` shows of the call, and the text sent to the model.
fn open_in_pager(screen: &mut Screen, id: &str, outcome: &str) -> (String, String) {
    screen.finish_call(id, Outcome::Done(outcome.to_owned()));
    let messages = screen.state.agent.session.messages(0, usize::MAX);
    let Some(Message::Tool { text, .. }) = messages.last() else { panic!("{messages:?}") };
    let text = text.clone();
    screen.receive_reply("Done.");
    screen.press_key("alt-up");
    screen.press_key("o");
    let Some(crate::tui::popup::Popup::Reader(reader)) = screen.state.viewport.popups.last() else {
        panic!("{}", screen.screen_text())
    };
    let layout = reader.lay_out_text(100, &screen.state.theme, &screen.state.lookups);
    (layout.page.lines.iter().map(|line| line.to_string() + "\n").collect(), text)
}

proptest::proptest! {
    #![proptest_config(proptest::prelude::ProptestConfig::with_cases(case_count(256, 48) as u32))]
    #[test]
    fn the_pager_shows_everything_the_model_receives(
        bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200),
        text in "([ a-z]{1,9}|\\PC|\r|\n|\t|\x1b\\[[0-9; ]{0,4}[A-Za-z]|\x1b[ -~]|\u{202e}|\u{200d}|\u{e0041}|👩|\u{301}){0,40}",
        is_command in proptest::prelude::any::<bool>(),
    ) {
        let outcome = format!("{text}{}", String::from_utf8_lossy(&bytes));
        let mut screen = Screen::with_turn();
        match is_command {
            true => approve_command(&mut screen),
            false => screen.receive_call("a", "read_file", read_intent("a.txt")),
        }
        let (pager_text, model_text) = open_in_pager(&mut screen, "a", &outcome);
        let without_blanks = |text: &str| text.chars().filter(|c| !c.is_whitespace()).collect::<String>();
        proptest::prop_assert_eq!(crate::text::hidden_chars::find_hidden(&model_text), None);
        proptest::prop_assert!(without_blanks(&pager_text).contains(&without_blanks(&model_text)), "{:?} is not in {:?}", model_text, pager_text);
    }
}

#[test]
fn escape_sequences_in_a_file_hide_nothing() {
    let mut screen = coloured_screen();
    screen.receive_call("a", "read_file", read_intent("a.txt"));
    screen.finish_call("a", Outcome::Done("the first\n\x1b[2J\x1b[Hthe second\nthe third\x1b[2K\n".into()));
    screen.receive_reply("Done.");
    screen.press_key("alt-up");
    screen.press_key("enter");
    let text = screen.screen_text();
    assert!(["the first", "the second", "the third"].iter().all(|line| text.contains(line)), "{text}");
}

#[test]
fn r32_escape_sequences_in_a_reply_are_shown_as_marks() {
    let text = "\x1b[2J\x1b[Hbegin\n\nmiddle\r\x1b[1Aend\u{e0041}\x1b[2K";
    let mut screen = Screen::with_entries([user_message("go"), reply_entry(text), turn_end()]);
    let screen_text = screen.screen_text();
    for part in ["<U+001B>[2J<U+001B>[Hbegin", "middle<U+000D><U+001B>[1Aend<U+E0041><U+001B>[2K"] {
        assert!(screen_text.contains(part), "{part}: {screen_text}");
    }
}

#[test]
fn very_long_output_costs_only_its_visible_lines() {
    let mut screen = coloured_screen();
    approve_command(&mut screen);
    // A line with 8,000 colour changes is drawn too. Nothing is asserted about it; a slow layout makes this test slow.
    let flood: String = (0..8_000).map(|n| format!("\x1b[3{}m{n}", n % 8)).collect();
    screen.finish_call("a", Outcome::Done(flood));
    let lines: String = (0..10_000).map(|n| format!("\x1b[32m{n}\n")).collect();
    screen.receive_reply("Done.");
    screen.press_key("alt-up");
    screen.press_key("enter");
    let mut screen = coloured_screen();
    approve_command(&mut screen);
    screen.finish_call("a", Outcome::Done(lines));
    screen.receive_reply("Done.");
    screen.press_key("alt-up");
    screen.press_key("enter");
    screen.press_key("ctrl-end");
    assert!(screen.screen_text().contains("9800 more lines"), "{}", screen.screen_text());
    assert!(screen.cache.estimated_bytes() < 300_000, "{} bytes are kept", screen.cache.estimated_bytes());
}

fn file_target(path: &str) -> LinkTarget {
    LinkTarget::File { path: path.into(), line: None, end: None, column: None }
}

/// Answers every pending file check: `docs/shot.png` is a picture, every other file is missing.
fn answer_file_checks(screen: &mut Screen) {
    answer_file_checks_with(screen, ImageSize { pixels: (1280, 720), bytes: 84_000 });
}

/// Answers every pending file check as `answer_file_checks`, with a picture of this size.
fn answer_file_checks_with(screen: &mut Screen, size: ImageSize) {
    screen.draw_frame();
    let statuses = screen.state.lookups.take_pending().into_iter().map(|target| {
        let status =
            if target == file_target("docs/shot.png") { LinkStatus::Picture(size) } else { LinkStatus::Missing };
        (target, status)
    });
    let statuses = statuses.collect();
    screen.handle_event(Event::Host(HostReply::LinkStatuses(statuses)));
}

#[test]
fn a_picture_is_shown_as_a_line_with_size_and_key() {
    let text = "Here:\n\n![the start](docs/shot.png)\n\n![](docs/shot.png)\n\n![gone](docs/none.png)\n";
    let mut screen =
        Screen::with_entries([user_message("see @docs/shot.png and @docs/none.png"), reply_entry(text), turn_end()]);
    answer_file_checks(&mut screen);
    insta::assert_snapshot!(screen.screen_text().lines().skip(2).take(10).collect::<Vec<_>>().join("\n"), @r"
     ▌ see @docs/shot.png and @docs/none.png
       docs/shot.png · 1280 × 720 · 84.0 kB · ctrl-o open or copy

     Here:

     the start · docs/shot.png · 1280 × 720 · 84.0 kB · ctrl-o open or copy

     docs/shot.png · 1280 × 720 · 84.0 kB · ctrl-o open or copy

     gone (docs/none.png)
    ");
}

#[cfg(feature = "images")]
#[test]
fn the_line_of_a_large_picture_has_the_size_that_the_model_gets() {
    for (accepts_images, expected) in [
        (true, "docs/shot.png · sent as 1568 × 1176 · 4000 × 3000 · 2.1 MB · ctrl-o"),
        (false, "docs/shot.png · 4000 × 3000 · 2.1 MB · ctrl-o"),
    ] {
        let mut screen = Screen::with_entries([user_message("see @docs/shot.png"), turn_end()]);
        screen.state.session.connection.accepts_images = accepts_images;
        answer_file_checks_with(&mut screen, ImageSize { pixels: (4000, 3000), bytes: 2_100_000 });
        assert!(screen.screen_text().contains(expected), "{}", screen.screen_text());
    }
}

#[test]
fn a_picture_line_that_wraps_later_keeps_the_last_line_visible() {
    let text = format!("{}![the start of it all, as it was](docs/shot.png)\n\nThe end.", "A line.\n\n".repeat(20));
    let mut screen = Screen::with_entries([user_message("go"), reply_entry(&text), turn_end()]);
    assert!(screen.screen_text().contains("The end."));
    answer_file_checks(&mut screen);
    let screen_text = screen.screen_text();
    assert!(screen_text.contains("ctrl-o\n open or copy\n") && screen_text.contains("The end."), "{screen_text}");
}

#[test]
fn the_key_of_a_picture_opens_it() {
    let mut screen = Screen::with_entries([user_message("go"), reply_entry("![the start](docs/shot.png)"), turn_end()]);
    answer_file_checks(&mut screen);
    screen.draw_frame();
    screen.press_key("ctrl-o");
    screen.effects.clear();
    screen.press_key("a");
    let opened = crate::tui::effect::Effect::OpenFile { path: "docs/shot.png".into(), line: None };
    assert_eq!(screen.effects, [opened]);
}

#[test]
fn right_to_left_text_stays_within_its_cells() {
    let text = "שלום עולם, see https://a.example/x\n\n| א | שם |\n|---|---|\n| אבג | 12 |\n";
    let mut screen = Screen::with_entries([user_message("שלום"), reply_entry(text), turn_end()]);
    insta::assert_snapshot!(screen.screen_text().lines().skip(2).take(8).collect::<Vec<_>>().join("\n"), @r"
     ▌ םולש

     see https://a.example/x ,םלוע םולש

     א   │ םש
     ────┼───
     גבא │ 12
    ");
    screen.state.settings.terminal_reorders = true;
    let screen_text = screen.screen_text();
    assert!(screen_text.contains("▌ שלום") && screen_text.contains("אבג │ 12"), "{screen_text}");
}

#[test]
fn r10_a_command_to_approve_is_shown_in_logical_order() {
    let mut screen = Screen::with_turn();
    screen.receive_call("a", "bash_exec", command_intent("rm שלום/a.txt 12"));
    screen.advance_ms(2000);
    let text = screen.screen_text();
    assert!(text.contains("│ rm שלום/a.txt 12 ") || text.contains("│ $ rm שלום/a.txt 12 "), "{text}");
}

#[test]
fn a_link_in_right_to_left_text_is_clicked_where_drawn() {
    let mut screen = Screen::with_entries([user_message("go"), reply_entry("ראה src/main.rs"), turn_end()]);
    screen.draw_frame();
    let statuses = screen.state.lookups.take_pending().into_iter().map(|target| (target, LinkStatus::Exists)).collect();
    screen.handle_event(Event::Host(HostReply::LinkStatuses(statuses)));
    let buffer = screen.draw_frame();
    let text = buffer_text(&buffer);
    let (row, line) = text.lines().enumerate().find(|(_, line)| line.contains("src/main.rs")).expect("it is drawn");
    let column = line[..line.find("src").unwrap()].chars().count();
    assert!(line.find("src") < line.find('ר'), "the path is drawn on the left: {line}");
    screen.effects.clear();
    let kind = crossterm::event::MouseEventKind::Down(crossterm::event::MouseButton::Left);
    let modifiers = KeyModifiers::NONE;
    let event = crossterm::event::MouseEvent { kind, column: column as u16, row: row as u16, modifiers };
    screen.handle_event(Event::Mouse(event));
    let opened = crate::tui::effect::Effect::OpenFile { path: "src/main.rs".into(), line: None };
    assert_eq!(screen.effects, [opened]);
}

#[test]
fn lines_left_out_of_a_failed_command_are_counted() {
    let lines = |count: usize| (1..=count).map(|n| format!("line {n}\n")).collect::<String>();
    let long = format!("{}\n", "x".repeat(90));
    for (output, note) in [
        (lines(5), None),
        (lines(6), None),
        (lines(7), Some("… 2 earlier lines · alt-up, enter opens")),
        (long.clone(), Some("… long lines cut · alt-up, enter opens")),
        (lines(9) + &long, Some("… 5 earlier lines, long lines cut · alt-up, enter opens")),
    ] {
        let mut screen = coloured_screen();
        approve_command(&mut screen);
        screen.finish_call("a", Outcome::Done(format!("{output}exit 1")));
        let text = screen.screen_text();
        let shown = text.lines().map(str::trim).find(|row| row.starts_with("… "));
        assert_eq!(shown, note, "{text}");
        assert_eq!(text.contains("line 1\n"), output.starts_with("line") && note.is_none(), "{text}");
    }
}

/// The pager names a call as its row does, and shows a command as a shell does.
#[test]
fn the_pager_of_a_command_has_the_words_of_its_row() {
    let mut screen = coloured_screen();
    approve_command(&mut screen);
    screen.finish_call("a", Outcome::Done("made".into()));
    screen.receive_reply("Done.");
    screen.press_key("alt-up");
    assert!(screen.footer_text().contains("enter open"), "{}", screen.footer_text());
    screen.press_key("enter");
    assert!(screen.footer_text().contains("enter close"), "{}", screen.footer_text());
    screen.press_key("enter");
    assert!(screen.footer_text().contains("enter open"), "{}", screen.footer_text());
    screen.press_key("o");
    let text = screen.screen_text();
    assert!(text.contains("╭─ Run make ─") && text.contains("│ $ make "), "{text}");
    assert!(!text.contains("bash_exec"), "{text}");
}
