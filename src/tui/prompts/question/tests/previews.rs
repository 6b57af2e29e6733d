//! Tests of previews of options.

use super::super::option_preview::{MAX_PREVIEW_ROWS, MIN_PREVIEW_ROWS, count_preview_rows, lay_out_preview};
use super::*;
use crate::tui::text::markdown::has_markup;

/// A question whose first option has this preview.
fn question_with_preview(preview: &str) -> Question {
    let mut sample = question("layout", false);
    sample.options[0].preview = preview.into();
    sample
}

/// Returns the rows of a preview in this width.
fn preview_rows(preview: &str, cells: usize) -> Vec<String> {
    let lines = lay_out_preview(&question_with_preview(preview), 0, cells, &Theme::without_colours());
    lines.iter().map(|line| line.to_string().trim_end().to_owned()).collect()
}

/// Removes the characters that are not drawn.
fn remove_blanks(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Asserts that a plain preview is drawn as it is: line by line, and no line next to another.
#[track_caller]
fn assert_verbatim(preview: &str, cells: usize) {
    let lines: Vec<&str> = preview.trim_end().lines().map(str::trim_end).collect();
    assert_eq!(preview_rows(preview, 200), if lines.is_empty() { vec![""] } else { lines.clone() }, "{preview}");
    let mut rows = preview_rows(preview, cells).into_iter();
    for line in lines {
        let mut drawn = remove_blanks(&rows.next().unwrap_or_default());
        while drawn.len() < remove_blanks(line).len() {
            drawn.push_str(&remove_blanks(&rows.next().expect("a row of the rest of the line")));
        }
        assert_eq!(drawn, remove_blanks(line), "{preview}");
    }
    assert_eq!(rows.next(), None, "{preview}");
}

/// Asserts that the prompt asks for as many rows as the preview has.
#[track_caller]
fn assert_counted(preview: &str, cells: usize) {
    let counted = count_preview_rows(&question_with_preview(preview), cells, &Theme::without_colours());
    let rows = preview_rows(preview, cells).len();
    assert_eq!(counted, rows.clamp(MIN_PREVIEW_ROWS, MAX_PREVIEW_ROWS), "{preview}");
}

#[test]
fn a_drawing_is_shown_as_it_is() {
    let drawing = "      __\n+----+      +\n| li | text |\n-------------\n*  *  *\n\n  end";
    assert_verbatim(drawing, 7);
    let question_set = questions(vec![question_with_preview(drawing)]);
    let screen = draw_prompt(&mut QuestionPrompt::new("1".into(), &question_set), &question_set, (100, 14));
    for row in ["│       __ ", "│ +----+      + ", "│ | li | text | ", "│ ------------- ", "│ *  *  * ", "│   end "]
    {
        assert!(screen.contains(row), "{row}: {screen}");
    }
}

#[test]
fn a_markdown_preview_keeps_its_line_breaks() {
    let preview = "**Layout**\nfirst line\nsecond line\n\n- item\n  more\n\n```\na  b\n```";
    assert_eq!(
        preview_rows(preview, 40).iter().map(|row| row.trim()).filter(|row| !row.is_empty()).collect::<Vec<_>>(),
        ["Layout", "first line", "second line", "• item", "more", "a  b"]
    );
    assert_counted(preview, 40);
}

/// Rows that the picker leaves are used, and the whole picker stays.
#[test]
fn a_preview_starts_in_the_rows_below_the_picker() {
    let mut sample = question_with_preview("first\nsecond\nthird\nfourth\nfifth");
    sample.options[1].preview = "only\ntwo".into();
    sample.options[2].description = "widen the window to 200 ms, and hope that it is enough for every machine".into();
    let descriptions: Vec<_> = sample.options.iter().map(|option| option.description.clone()).collect();
    let question_set = questions(vec![sample]);
    let mut prompt = QuestionPrompt::new("1".into(), &question_set);
    let size = (60, 15);
    let assert_whole_picker = |screen: &str| {
        assert!(descriptions[..2].iter().all(|text| screen.contains(text)), "{screen}");
        assert!(screen.contains("Write an answer…"), "{screen}");
    };
    let screen = draw_prompt(&mut prompt, &question_set, size);
    assert_whole_picker(&screen);
    assert!(screen.contains("── preview · shift-down ──") && screen.contains("│ first "), "{screen}");
    assert!(!screen.contains("│ third ") && !screen.contains("↓ shift-down"), "{screen}");
    press_keys(&mut prompt, &question_set, "]");
    assert!(draw_prompt(&mut prompt, &question_set, size).contains("│ third "));
    press_keys(&mut prompt, &question_set, "[v");
    let screen = draw_prompt(&mut prompt, &question_set, size);
    assert_whole_picker(&screen);
    press_keys(&mut prompt, &question_set, "]]");
    let screen = draw_prompt(&mut prompt, &question_set, size);
    assert!(screen.contains("│ only ") && screen.contains("│ two "), "{screen}");
    press_keys(&mut prompt, &question_set, "[[v");
    assert!(draw_prompt(&mut prompt, &question_set, size).contains("every machine"), "the last option is shown whole");
}

#[test]
fn a_preview_below_the_picker_leaves_every_option_in_place() {
    let mut sample = question("clock", false);
    for (index, option) in sample.options.iter_mut().enumerate() {
        option.preview = format!("preview {index}\nsecond\nthird\nfourth");
    }
    let question_set = questions(vec![sample]);
    let mut prompt = QuestionPrompt::new("1".into(), &question_set);
    for index in 0..3 {
        let screen = draw_prompt(&mut prompt, &question_set, (60, 15));
        for text in
            ["takes no time at all", "gets testable", "to 200 ms", "Write an answer…", &format!("preview {index}")]
        {
            assert!(screen.contains(text), "{text}: {screen}");
        }
        press_keys(&mut prompt, &question_set, "v");
    }
}

proptest! {
    #[test]
    fn every_character_of_a_plain_preview_is_on_its_own_row_in_order(
        lines in proptest::collection::vec(prop_oneof!["[ -~]{0,40}", "[-+|=/_.<> *a-z]{0,40}", "[-+|] {0,19}[-+|]"], 1..24),
        cells in 1usize..50,
    ) {
        let preview = lines.join("\n");
        // Of blanks alone nothing is drawn.
        prop_assume!(!preview.trim().is_empty());
        prop_assume!(!has_markup(&preview) && !preview.contains(&" ".repeat(21)));
        assert_verbatim(&preview, cells);
    }

    #[test]
    fn as_many_rows_are_counted_as_are_drawn(
        lines in proptest::collection::vec(
            prop_oneof!["[a-z ]{0,60}", "- [a-z ]{1,30}", "# [a-z]{1,9}", "[*]{2}[a-z]{1,9}[*]{2}", Just(String::new())], 1..40,
        ),
        cells in 1usize..67,
    ) {
        let preview = lines.join("\n");
        prop_assume!(!preview.trim().is_empty());
        assert_counted(&preview, cells);
    }
}
