//! Lists: keys and rendering.

use super::*;
use crate::tui::tests::{buffer_text, key};
use crate::tui::theme::Theme;
use insta::assert_snapshot;
use proptest::prelude::*;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Modifier;
use rustix::time::{ClockId, clock_gettime};

fn session_picker() -> Picker {
    let rows = vec![
        Row::new("fix the flaky retry test").with_secondary("gpt-5-mini · dry run").with_detail("14:02"),
        Row::new("rename the config section").with_secondary("gpt-5-mini").with_detail("yesterday"),
        Row::new("漢字 in file names").with_secondary("qwen3").with_detail("3 March"),
        Row::new("retry policy").with_detail("2 March"),
    ];
    Picker::new("sessions", "no sessions yet", rows)
}

fn draw_buffer(picker: &Picker, width: u16, height: u16) -> Buffer {
    let area = Rect::new(0, 0, width, height);
    let mut buffer = Buffer::empty(area);
    let cursor = picker.draw(area, &mut buffer, &Theme::without_colours());
    assert!(cursor.is_none_or(|cursor| area.contains(cursor)));
    buffer
}

fn screen_text(picker: &Picker, width: u16, height: u16) -> String {
    buffer_text(&draw_buffer(picker, width, height))
}

/// Presses keys given as chords separated by blanks. Returns the result of the last one.
fn press_keys(picker: &mut Picker, chords: &str) -> Pick {
    let keys = Keymap::default();
    let mut result = Pick::Handled;
    for chord in chords.split(' ') {
        result = picker.handle_key(&key(chord), &keys);
    }
    result
}

#[test]
fn a_list_shows_its_columns() {
    assert_snapshot!(screen_text(&session_picker(), 80, 14), @r"
    ╭─ sessions ────────────────────────────────────────────────────────── 4 of 4 ─╮
    │ ❯ Type to filter                                                             │
    │ ❯ fix the flaky retry test   gpt-5-mini · dry run                      14:02 │
    │   rename the config section  gpt-5-mini                            yesterday │
    │   漢字 in file names         qwen3                                   3 March │
    │   retry policy                                                       2 March │
    │                                                                              │
    ╰─ ↑↓ move · enter select · type to filter · esc back ─────────────────────────╯
    ");
}

#[test]
fn an_empty_list_offers_only_what_can_be_done() {
    let mut picker = Picker::new("jobs", "None", Vec::new()).with_action_hint("enter output · x stop".to_owned());
    assert_snapshot!(screen_text(&picker, 50, 6), @r"
    ╭─ jobs ─────────────────────────────────────────╮
    │ None                                           │
    │                                                │
    │                                                │
    │                                                │
    ╰─ esc back ─────────────────────────────────────╯
    ");
    picker.set_rows(vec![Row::new("make")]);
    picker.set_count_text("1 job".to_owned());
    let screen = screen_text(&picker, 50, 6);
    assert!(screen.contains("─ 1 job ─") && screen.contains("x stop") && screen.contains("Type to filter"), "{screen}");
    press_keys(&mut picker, "m");
    assert!(screen_text(&picker, 50, 6).contains("1 of 1"), "what matches is counted");
}

#[test]
fn a_long_title_does_not_cut_the_second_column() {
    let rows = vec![
        Row::new("run echo x >/tmp/one; echo y >/tmp/two; echo z >/tmp/three").with_detail("07:51"),
        Row::new(&"a long title ".repeat(9)).with_secondary("dry run, waiting for you").with_detail("07:46"),
        Row::new("Tidy the build").with_secondary("copy, waiting for you").with_detail("07:44"),
    ];
    let screen = screen_text(&Picker::new("sessions", "none", rows), 80, 14);
    for text in ["dry run, waiting for you", "copy, waiting for you", "echo z >/tmp/three  ", "07:46"] {
        assert!(screen.contains(text), "{text}: {screen}");
    }
}

#[test]
fn a_small_screen_is_filled_completely() {
    assert_snapshot!(screen_text(&session_picker(), 40, 8), @r"
    ╭─ sessions ────────────────── 4 of 4 ─╮
    │ ❯ Type to filter                     │
    │ ❯ fix the flaky retry test     14:02 │
    │   rename the config section  gpt-5-… │
    │   漢字 in file names         3 March │
    │   retry policy               2 March │
    │                                      │
    ╰─ enter select · esc back ────────────╯
    ");
}

#[test]
fn typed_text_filters_rows_and_is_highlighted() {
    let mut picker = session_picker();
    press_keys(&mut picker, "r e t");
    assert_snapshot!(screen_text(&picker, 60, 12), @r"
    ╭─ sessions ────────────────────────────────────── 3 of 4 ─╮
    │ ❯ ret                                                    │
    │ ❯ fix the flaky retry test  gpt-5-mini · dry run   14:02 │
    │   retry policy                                   2 March │
    │   rename the config section  gpt-5-mini        yesterday │
    │                                                          │
    │                                                          │
    ╰─ ↑↓ move · enter select · type to filter · esc back ─────╯
    ");
    let buffer = draw_buffer(&picker, 60, 12);
    let marked: String = buffer
        .content
        .chunks(60)
        .flat_map(|row| row.iter())
        .filter(|cell| cell.modifier.contains(Modifier::REVERSED))
        .map(|cell| cell.symbol())
        .collect();
    assert!(marked.contains("ret"), "{marked}");
}

#[track_caller]
fn check_pick(chords: &str, expected: Pick, expected_row: Option<usize>) {
    let mut picker = session_picker();
    assert_eq!(press_keys(&mut picker, chords), expected, "{chords}");
    assert_eq!(picker.selected_row(), expected_row, "{chords}");
}

#[test]
fn keys_move_pick_and_close() {
    check_pick("down", Pick::Moved(1), Some(1));
    check_pick("up", Pick::Moved(3), Some(3));
    check_pick("down down down down", Pick::Moved(0), Some(0));
    check_pick("page-down", Pick::Moved(3), Some(3));
    check_pick("page-down page-up", Pick::Moved(0), Some(0));
    check_pick("end", Pick::Moved(3), Some(3));
    check_pick("end home", Pick::Moved(0), Some(0));
    check_pick("ctrl-end", Pick::Moved(3), Some(3));
    check_pick("down enter", Pick::Row { row: 1, save: false }, Some(1));
    check_pick("esc", Pick::Close, Some(0));
    check_pick("n a m e s enter", Pick::Row { row: 2, save: false }, Some(2));
    check_pick("r e n", Pick::Moved(1), Some(1));
    check_pick("z z z", Pick::Handled, None);
    check_pick("z z z enter", Pick::Handled, None);
    check_pick("z backspace", Pick::Moved(0), Some(0));
}

#[test]
fn the_cursor_stays_on_its_row_when_the_rows_change() {
    let mut picker = Picker::new("models", "none", vec![Row::new("a"), Row::new("b").with_key("second")]);
    press_keys(&mut picker, "down");
    picker.set_rows(vec![Row::new("new"), Row::new("a"), Row::new("b, renamed").with_key("second")]);
    assert_eq!(picker.selected_row(), Some(2));
    picker.set_rows(vec![Row::new("new")]);
    assert_eq!(picker.selected_row(), Some(0));
    picker.set_rows(vec![]);
    assert_eq!(picker.selected_row(), None);
    assert_snapshot!(screen_text(&picker, 20, 4), @r"
    ╭─ models ─────────╮
    │ none             │
    │                  │
    ╰─ esc back ───────╯
    ");
}

#[test]
fn the_list_scrolls_only_when_the_cursor_leaves_it() {
    let rows = (0..50).map(|number| Row::new(&format!("row {number}"))).collect();
    let mut picker = Picker::new("rows", "none", rows);
    assert!(screen_text(&picker, 30, 8).contains("row 4") && !screen_text(&picker, 30, 8).contains("row 5"));
    press_keys(&mut picker, "down down down down down");
    // The character after the number excludes the rows 10 to 19.
    assert!(screen_text(&picker, 30, 8).contains("row 1\n") || screen_text(&picker, 30, 8).contains("row 1 "));
    press_keys(&mut picker, "up");
    assert!(!screen_text(&picker, 30, 8).contains("row 0"), "scrolled although the cursor was visible");
    press_keys(&mut picker, "page-down page-down end");
    assert!(screen_text(&picker, 30, 8).contains("❯ row 49"));
}

#[test]
fn r32_outside_text_is_sanitized() {
    let rows = vec![Row::new("a\x1b[2J\nb\u{202e}").with_secondary("\x07c").with_detail("\x1b]0;x\x07d")];
    let picker = Picker::new("files", "none", rows);
    let screen = screen_text(&picker, 40, 6);
    assert!(screen.contains("a<U+001B>[2J b<U+202E>") && !screen.contains(['\x1b', '\u{202e}', '\x07']), "{screen}");
}

#[test]
fn twenty_thousand_rows_are_matched_only_when_the_filter_changes() {
    let rows = (0..20_000).map(|number| Row::new(&format!("src/part/{number}/main.rs"))).collect();
    let mut picker = Picker::new("files", "none", rows);
    press_keys(&mut picker, "1 9 9 9 9");
    assert_eq!(picker.selected_row(), Some(19_999));
    let cpu_time = || clock_gettime(ClockId::ThreadCPUTime);
    let start = cpu_time();
    for _ in 0..50 {
        press_keys(&mut picker, "down");
        draw_buffer(&picker, 80, 24);
    }
    assert!((cpu_time() - start).tv_sec < 5, "{:?}", cpu_time() - start);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn r34_every_text_key_and_size_works(
        texts in prop::collection::vec(("\\PC{0,12}", "\\PC{0,12}", "\\PC{0,6}"), 0..6),
        pressed in prop::collection::vec("[a-c漢]|up|down|page-up|page-down|home|end|backspace|enter", 0..8),
        width in 1u16..70,
        height in 1u16..16,
    ) {
        let rows = texts.iter().map(|(text, more, detail)| Row::new(text).with_secondary(more).with_detail(detail));
        let mut picker = Picker::new("list", "nothing here", rows.collect());
        for chord in &pressed {
            press_keys(&mut picker, chord);
            draw_buffer(&picker, width, height);
            picker.scroll(if width % 2 == 0 { 1 } else { -9 });
        }
        draw_buffer(&picker, width, height);
        prop_assert!(picker.selected_row().is_none_or(|row| row < texts.len()));
    }
}

fn tree_picker() -> Picker {
    let rows = vec![
        Row::new("a.txt"),
        Row::folder("src/", 0, "src/").with_hidden_contents("2 files"),
        Row::new("src/b.rs").in_tree(1, "b.rs"),
        Row::folder("src/deep/", 1, "deep/").with_hidden_contents("1 file"),
        Row::new("src/deep/c.rs").in_tree(2, "c.rs"),
    ];
    Picker::new("files", "", rows).with_fold_keys(&Keymap::default())
}

#[test]
fn a_collapsed_folder_hides_its_rows_until_a_filter_searches_in_it() {
    let mut picker = tree_picker();
    assert_eq!(picker.matches, [0, 1, 2, 3, 4]);
    // Nothing contains the first row.
    picker.run_fold_action(Action::Collapse);
    assert_eq!(picker.selected_row(), Some(0));
    picker.select(4);
    for (action, selected, shown) in [
        (Action::Collapse, 3, &[0, 1, 2, 3, 4][..]),
        (Action::Collapse, 3, &[0, 1, 2, 3]),
        (Action::Collapse, 1, &[0, 1, 2, 3]),
        (Action::Collapse, 1, &[0, 1]),
        (Action::Expand, 1, &[0, 1, 2, 3]),
        (Action::Expand, 2, &[0, 1, 2, 3]),
        (Action::ExpandAll, 2, &[0, 1, 2, 3, 4]),
        (Action::ExpandAll, 1, &[0, 1]),
    ] {
        picker.run_fold_action(action);
        assert_eq!((picker.selected_row(), &*picker.matches), (Some(selected), shown), "{action:?}");
    }
    let screen = screen_text(&picker, 60, 12);
    assert!(screen.contains("❯ ▸ src/  2 files") && !screen.contains("b.rs"), "{screen}");
    // Folders stay collapsed when rows are replaced.
    let mut rows = tree_picker().rows;
    rows.push(Row::new("src/deep/d.rs").in_tree(2, "d.rs"));
    picker.set_rows(rows);
    assert_eq!((picker.selected_row(), &*picker.matches), (Some(1), &[0, 1][..]));
    press_keys(&mut picker, "d . r s");
    let screen = screen_text(&picker, 60, 12);
    assert!(screen.contains("❯ src/deep/d.rs") && screen.contains("2 of 4"), "{screen}");
    // The keys move in the filter now.
    picker.run_fold_action(Action::ExpandAll);
    press_keys(&mut picker, "ctrl-u");
    assert_eq!(picker.matches, [0, 1]);
}

#[test]
fn a_list_without_rows_has_no_filter() {
    let mut picker = Picker::new("files", "No files yet.", Vec::new());
    let screen = screen_text(&picker, 60, 12);
    assert!(screen.contains("No files yet.") && !screen.contains('❯') && !screen.contains("filter"), "{screen}");
    // What is typed before the rows arrive is kept.
    press_keys(&mut picker, "b");
    assert!(screen_text(&picker, 60, 12).contains("❯ b"));
    picker.set_rows(vec![Row::new("a"), Row::new("b")]);
    assert_eq!(picker.selected_row(), Some(1));
}

#[test]
fn a_filtered_file_keeps_its_name_in_a_narrow_list_and_no_ellipsis_is_highlighted() {
    let path = "reports/quarterly/2026/north/summary-of-costs.md";
    let rows = vec![
        Row::folder("reports/", 0, "reports/"),
        Row::new(path).with_secondary("1.2 kB").searched_by_text().in_tree(1, "summary-of-costs.md"),
    ];
    let theme = crate::tui::theme::Themes::bundled().all()[0].clone();
    for typed in ["costs", "north", "reports"] {
        let mut picker = Picker::new("files", "", rows.clone());
        typed.chars().for_each(|c| _ = press_keys(&mut picker, &c.to_string()));
        let mut buffer = Buffer::empty(Rect::new(0, 0, 44, 10));
        picker.draw(buffer.area, &mut buffer, &theme);
        let text = buffer_text(&buffer);
        assert!(text.contains("reports/…") && text.contains("summary-of-costs.md"), "{text}");
        let styles_of =
            |symbol| buffer.content.iter().filter(move |cell| cell.symbol() == symbol).map(|cell| cell.style());
        // No word that is typed has a `y`.
        let plain = styles_of("y").next_back().unwrap();
        assert!(styles_of("…").all(|style| style == plain), "{typed}");
    }
}

#[test]
fn a_filtered_tree_row_shows_its_full_name_with_the_match_highlighted() {
    let rows = vec![
        Row::new("src/").in_tree(0, "src/").with_sign(),
        Row::new("~ src/retry.rs").with_detail("+3 −1").in_tree(1, "~ retry.rs").with_sign(),
    ];
    let mut picker = Picker::new("rehearsed", "", rows);
    let screen = screen_text(&picker, 60, 12);
    assert!(screen.contains("❯ src/") && screen.contains("    ~ retry.rs"), "{screen}");
    let theme = crate::tui::theme::Themes::bundled().all()[0].clone();
    let draw_themed = |picker: &Picker| {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 60, 12));
        picker.draw(buffer.area, &mut buffer, &theme);
        buffer
    };
    let symbol_colour = |picker: &Picker, text: &str| {
        let buffer = draw_themed(picker);
        let cell = buffer.content.iter().find(|cell| cell.symbol() == text).unwrap();
        Some(cell.fg)
    };
    assert_eq!(symbol_colour(&picker, "+"), theme.added.fg);
    assert_eq!(symbol_colour(&picker, "−"), theme.removed.fg);
    assert_eq!(symbol_colour(&picker, "~"), theme.accent.fg);
    press_keys(&mut picker, "r e t r y");
    let screen = screen_text(&picker, 60, 12);
    assert!(screen.contains("❯ ~ src/retry.rs") && !screen.contains("❯ src/"), "{screen}");
    let is_match = |cell: &&ratatui::buffer::Cell| Some(cell.fg) == theme.search_match.fg;
    let marked: String = draw_themed(&picker).content.iter().filter(is_match).map(|cell| cell.symbol()).collect();
    assert_eq!(marked, "retry");
    press_keys(&mut picker, "backspace backspace backspace backspace backspace");
    assert!(screen_text(&picker, 60, 12).contains("    ~ retry.rs"), "the tree is shown again");
}

#[test]
fn hidden_rows_are_counted_even_with_a_long_title() {
    for title in ["files", "Rehearsed: 6 files changed, +47 −2, 3 folders, 2 commands"] {
        let rows = (0..16).map(|n| Row::new(&format!("row {n}"))).collect();
        let mut picker = Picker::new(title, "", rows);
        let screen = screen_text(&picker, 60, 15);
        assert!(screen.contains("↓ 4 more") && screen.contains(&title[..5]), "{screen}");
        press_keys(&mut picker, "end");
        assert!(screen_text(&picker, 60, 15).contains("↑ 4 more"));
        // If all rows fit, no count of hidden rows is shown.
        let screen = screen_text(&picker, 80, 19);
        assert!((0..16).all(|n| screen.contains(&format!("row {n}"))) && !screen.contains("more"), "{screen}");
    }
}

/// The text below the list has all of the selected row, and the rows stay in place when the selection moves.
#[test]
fn the_whole_text_of_the_selected_row_is_below_a_list_that_cuts_rows() {
    let long = "allow bash_exec exactly: cargo test --workspace --all-features retry (run.sh unchanged)";
    let rows = |count: usize| {
        let short = (1..count).map(|number| Row::new(&format!("rule {number}")).with_secondary("no calls"));
        std::iter::once(Row::new(long).with_secondary("2 calls here · every project")).chain(short).collect::<Vec<_>>()
    };
    for (size, count, has_text) in
        [((60, 15), 4, true), ((60, 15), 30, true), ((80, 24), 4, true), ((60, 9), 4, false), ((160, 24), 4, true)]
    {
        let mut picker = Picker::new("Rules", "", rows(count)).with_selected_text();
        let text_of = |screen: &str| {
            let rows: Vec<&str> = screen.lines().map(|row| row.trim_matches(['│', ' '])).collect();
            let line = rows.iter().rposition(|row| row.len() > 3 && row.chars().all(|c| c == '─'));
            line.map(|line| rows[line + 1..].iter().take(3).copied().collect::<String>().replace([' ', '↪'], ""))
        };
        let screen = screen_text(&picker, size.0, size.1);
        // The text breaks at blanks, and each row that goes on is marked.
        let whole = format!("{long} · 2 calls here · every project").replace(' ', "");
        assert_eq!(text_of(&screen), has_text.then_some(whole), "{size:?}, {count}: {screen}");
        press_keys(&mut picker, "down");
        let moved = screen_text(&picker, size.0, size.1);
        assert_eq!(text_of(&moved), has_text.then(|| "rule1·nocalls".to_owned()), "{size:?}, {count}: {moved}");
        let row_of = |screen: &str| screen.lines().position(|row| row.contains(" rule 2 "));
        assert_eq!(row_of(&screen), row_of(&moved), "{screen}\n{moved}");
        assert!(row_of(&screen).is_some(), "{screen}");
    }
}
