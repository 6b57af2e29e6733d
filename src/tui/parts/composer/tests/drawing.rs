//! Tests of drawing the composer and clicking in it.

use super::*;

#[test]
fn the_composer_grows_with_its_text() {
    assert_snapshot!(screen_text(&composer_with("|"), 40, 5), @r"
    ❯ █rite a message
    ");
    let mut composer = composer_with("why does the retry test flake? look at @tests/retry.rs|");
    assert_snapshot!(screen_text(&composer, 80, 5), @r"
    ❯ why does the retry test flake? look at @tests/retry.rs█
    ");
    assert_snapshot!(screen_text(&composer, 40, 5), @r"
    ❯ why does the retry test flake? look
      at @tests/retry.rs█
    ");
    composer.paste(&numbered_lines(120));
    composer.insert("\n漢字 👩\u{200d}👧");
    assert_snapshot!(screen_text(&composer, 40, 5), @r"
    ❯ why does the retry test flake? look
      at @tests/retry.rs[pasted 120 lines]
      漢字 👩‍👧█
    ");
    assert_snapshot!(screen_text(&composer, 8, 3), @r"
    [pasted…

    漢字 👩‍👧█
    ");
}

#[test]
fn the_view_scrolls_only_when_the_cursor_leaves_it() {
    let mut composer = composer_with("|");
    composer.insert(&numbered_lines(9));
    assert!(screen_text(&composer, 40, 3).starts_with("❯ line 7"));
    press_keys(&mut composer, "up up");
    assert!(screen_text(&composer, 40, 3).starts_with("❯ line 7█"), "{}", screen_text(&composer, 40, 3));
    press_keys(&mut composer, "up");
    assert!(screen_text(&composer, 40, 3).starts_with("❯ line 6█"));
    press_keys(&mut composer, "down");
    assert!(screen_text(&composer, 40, 3).starts_with("❯ line 6"));
}

#[test]
fn hidden_rows_above_and_below_are_marked() {
    let mut composer = composer_with("|");
    composer.insert(&numbered_lines(5));
    // Drawing sets the scroll position.
    screen_text(&composer, 12, 3);
    press_keys(&mut composer, "up");
    let edge_marks = |composer: &Composer| {
        let screen = screen_text(composer, 12, 3);
        screen.lines().map(|line| line.trim_end().chars().last().unwrap_or(' ')).collect::<String>()
    };
    let marks_at_end = edge_marks(&composer);
    assert!(marks_at_end.starts_with('↑') && !marks_at_end.contains('↓'), "{marks_at_end}");
    press_keys(&mut composer, "up up");
    assert_eq!(edge_marks(&composer).matches(['↑', '↓']).count(), 2, "{}", screen_text(&composer, 12, 3));
    press_keys(&mut composer, "up up");
    let marks_at_top = edge_marks(&composer);
    assert!(marks_at_top.ends_with('↓') && !marks_at_top.contains('↑'), "{marks_at_top}");
}

#[test]
fn a_full_row_moves_the_cursor_to_the_next_row() {
    let mut composer = composer_with("|");
    // As many cells as a row of 40 cells has without the sign `❯ ` and the cell of the cursor.
    composer.insert(&"x".repeat(37));
    let (_, cursor) = draw_composer(&composer, 40, 1);
    assert_eq!(cursor.unwrap().x, 39);
    press_keys(&mut composer, "space");
    assert_eq!(composer.preferred_height(40, 5), 2);
    assert_eq!(draw_composer(&composer, 40, 2).1.unwrap(), ratatui::layout::Position::new(2, 1));
}
