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
    press(&mut composer, "up up");
    assert!(screen_text(&composer, 40, 3).starts_with("❯ line 7█"), "{}", screen_text(&composer, 40, 3));
    press(&mut composer, "up");
    assert!(screen_text(&composer, 40, 3).starts_with("❯ line 6█"));
    press(&mut composer, "down");
    assert!(screen_text(&composer, 40, 3).starts_with("❯ line 6"));
}

#[test]
fn hidden_rows_above_and_below_are_marked() {
    let mut composer = composer_with("|");
    composer.insert(&numbered_lines(5));
    screen_text(&composer, 12, 3);
    press(&mut composer, "up");
    let edges = |composer: &Composer| {
        let shown = screen_text(composer, 12, 3);
        shown.lines().map(|line| line.trim_end().chars().last().unwrap_or(' ')).collect::<String>()
    };
    let before = edges(&composer);
    assert!(before.starts_with('↑') && !before.contains('↓'), "{before}");
    press(&mut composer, "up up");
    assert_eq!(edges(&composer).matches(['↑', '↓']).count(), 2, "{}", screen_text(&composer, 12, 3));
    press(&mut composer, "up up");
    let after = edges(&composer);
    assert!(after.ends_with('↓') && !after.contains('↑'), "{after}");
}

#[test]
fn a_click_moves_the_cursor() {
    let mut composer = composer_with("漢字 text\nmore|");
    let area = Rect::new(0, 0, 40, 2);
    draw_composer(&composer, 40, 2);
    composer.move_cursor_to_click(area, 2 + 4, 0);
    assert_eq!(text_with_cursor(&composer), "漢字| text\nmore");
    composer.move_cursor_to_click(area, 39, 1);
    assert_eq!(text_with_cursor(&composer), "漢字 text\nmore|");
    composer.move_cursor_to_click(area, 0, 1);
    assert_eq!(text_with_cursor(&composer), "漢字 text\n|more");
}

#[test]
fn a_full_row_moves_the_cursor_to_the_next_row() {
    let mut composer = composer_with("|");
    composer.insert(&"x".repeat(37));
    let (_, cursor) = draw_composer(&composer, 40, 1);
    assert_eq!(cursor.unwrap().x, 39);
    press(&mut composer, "space");
    assert_eq!(composer.preferred_height(40, 5), 2);
    assert_eq!(draw_composer(&composer, 40, 2).1.unwrap(), ratatui::layout::Position::new(2, 1));
}
