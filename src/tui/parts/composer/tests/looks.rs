//! Tests of drawing the composer and clicking in it.

use super::*;

#[test]
fn the_composer_grows_with_its_text() {
    assert_snapshot!(shows(&holding("|"), 40, 5), @r"
    ❯ █rite a message
    ");
    let mut composer = holding("why does the retry test flake? look at @tests/retry.rs|");
    assert_snapshot!(shows(&composer, 80, 5), @r"
    ❯ why does the retry test flake? look at @tests/retry.rs█
    ");
    assert_snapshot!(shows(&composer, 40, 5), @r"
    ❯ why does the retry test flake? look
      at @tests/retry.rs█
    ");
    composer.paste(&lines(120));
    composer.insert("\n漢字 👩\u{200d}👧");
    assert_snapshot!(shows(&composer, 40, 5), @r"
    ❯ why does the retry test flake? look
      at @tests/retry.rs[pasted 120 lines]
      漢字 👩‍👧█
    ");
    assert_snapshot!(shows(&composer, 8, 3), @r"
    [pasted…

    漢字 👩‍👧█
    ");
}

#[test]
fn the_view_scrolls_only_when_the_cursor_leaves_it() {
    let mut composer = holding("|");
    composer.insert(&lines(9));
    assert!(shows(&composer, 40, 3).starts_with("❯ line 7"));
    press(&mut composer, "up up");
    assert!(shows(&composer, 40, 3).starts_with("❯ line 7█"), "{}", shows(&composer, 40, 3));
    press(&mut composer, "up");
    assert!(shows(&composer, 40, 3).starts_with("❯ line 6█"));
    press(&mut composer, "down");
    assert!(shows(&composer, 40, 3).starts_with("❯ line 6"));
}

#[test]
fn hidden_rows_above_and_below_are_marked() {
    let mut composer = holding("|");
    composer.insert(&lines(5));
    shows(&composer, 12, 3);
    press(&mut composer, "up");
    let edges = |composer: &Composer| {
        let shown = shows(composer, 12, 3);
        shown.lines().map(|line| line.trim_end().chars().last().unwrap_or(' ')).collect::<String>()
    };
    let before = edges(&composer);
    assert!(before.starts_with('↑') && !before.contains('↓'), "{before}");
    press(&mut composer, "up up");
    assert_eq!(edges(&composer).matches(['↑', '↓']).count(), 2, "{}", shows(&composer, 12, 3));
    press(&mut composer, "up up");
    let after = edges(&composer);
    assert!(after.ends_with('↓') && !after.contains('↑'), "{after}");
}

#[test]
fn a_click_moves_the_cursor() {
    let mut composer = holding("漢字 text\nmore|");
    let area = Rect::new(0, 0, 40, 2);
    drawn(&composer, 40, 2);
    composer.click(area, 2 + 4, 0);
    assert_eq!(held(&composer), "漢字| text\nmore");
    composer.click(area, 39, 1);
    assert_eq!(held(&composer), "漢字 text\nmore|");
    composer.click(area, 0, 1);
    assert_eq!(held(&composer), "漢字 text\n|more");
}

#[test]
fn a_full_row_moves_the_cursor_to_the_next_row() {
    let mut composer = holding("|");
    composer.insert(&"x".repeat(37));
    let (_, cursor) = drawn(&composer, 40, 1);
    assert_eq!(cursor.unwrap().x, 39);
    press(&mut composer, "space");
    assert_eq!(composer.height(40, 5), 2);
    assert_eq!(drawn(&composer, 40, 2).1.unwrap(), ratatui::layout::Position::new(2, 1));
}
