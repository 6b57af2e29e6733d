//! The scroll bar: position, cost and dragging.

use super::*;
use crossterm::event::{MouseButton, MouseEvent, MouseEventKind};
use ratatui::style::Modifier;

/// A session of `count` questions, each with a reply.
fn long_session(count: usize) -> Screen {
    let entries =
        (0..count).flat_map(|n| [user_message(&format!("question {n}")), reply_entry(&format!("answer {n}\n\nmore"))]);
    Screen::with_entries(entries.chain([turn_end()]))
}

/// Returns the rows of the thumb; empty if there is none. The bar is between the header (2 rows) and the lowest 3 rows.
fn thumb_rows(screen: &mut Screen) -> Vec<u16> {
    let buffer = screen.draw_frame();
    let x = buffer.area.width - 1;
    let is_thumb = |y: &u16| buffer[(x, *y)].modifier.contains(Modifier::REVERSED);
    (2..buffer.area.height - 3).filter(is_thumb).collect()
}

fn send_mouse(screen: &mut Screen, kind: MouseEventKind, column: u16, row: u16) {
    let modifiers = crossterm::event::KeyModifiers::NONE;
    screen.handle_event(Event::Mouse(MouseEvent { kind, column, row, modifiers }));
}

const DOWN: MouseEventKind = MouseEventKind::Down(MouseButton::Left);
const DRAG: MouseEventKind = MouseEventKind::Drag(MouseButton::Left);
const UP: MouseEventKind = MouseEventKind::Up(MouseButton::Left);

#[test]
fn a_bar_is_shown_only_if_there_is_something_to_scroll() {
    assert!(thumb_rows(&mut Screen::with_entries([user_message("a"), reply_entry("b"), turn_end()])).is_empty());
    let mut screen = long_session(20);
    let rows = thumb_rows(&mut screen);
    let last_row = *rows.last().expect("there is a bar");
    assert_eq!(rows, (rows[0]..=last_row).collect::<Vec<_>>(), "it is in one piece");
    assert_eq!(last_row, 20, "at the end of the session it is at the bottom");
    assert!(rows.len() > 1 && rows.len() < 10, "{rows:?}");
    screen.press_key("ctrl-home");
    assert_eq!(thumb_rows(&mut screen)[0], 2, "at the start of the session it is at the top");
    screen.press_key("page-down");
    assert!(thumb_rows(&mut screen)[0] > 2);
}

#[test]
fn the_bar_is_drawn_with_blanks_that_copy_as_nothing() {
    let mut screen = long_session(50);
    let buffer = screen.draw_frame();
    let x = buffer.area.width - 1;
    assert!((2..21).all(|y| buffer[(x, y)].symbol() == " "));
}

#[test]
fn dragging_the_bar_scrolls_through_everything_in_order() {
    let mut screen = long_session(500);
    let rows = thumb_rows(&mut screen);
    send_mouse(&mut screen, DOWN, 79, rows[0]);
    let mut numbers = Vec::new();
    for row in (0..rows[0]).rev() {
        send_mouse(&mut screen, DRAG, 79, row);
        let text = screen.screen_text();
        let number = text.lines().find_map(|line| line.split_once("question ")?.1.trim().parse::<usize>().ok());
        numbers.push(number.expect("a question can be seen"));
        let thumb_top = thumb_rows(&mut screen)[0];
        assert!(thumb_top.abs_diff(row.max(2)) <= 1, "the thumb is at {thumb_top}, the mouse at {row}");
    }
    assert!(numbers.windows(2).all(|pair| pair[1] <= pair[0]), "{numbers:?}");
    assert_eq!(*numbers.last().unwrap(), 0);
    assert!(numbers[0] > 420 && numbers.iter().any(|number| (200..300).contains(number)), "{numbers:?}");
    send_mouse(&mut screen, DRAG, 79, 23);
    assert!(screen.state.viewport.transcript.is_following() && screen.screen_text().contains("answer 499"));
    send_mouse(&mut screen, UP, 79, 23);
    send_mouse(&mut screen, DRAG, 79, 2);
    assert!(screen.state.viewport.transcript.is_following(), "a bar that was released does not move");
}

#[test]
fn a_click_outside_the_thumb_moves_it_and_lays_out_only_visible_entries() {
    let mut screen = long_session(5_000);
    let laid_out_before = screen.cache.entries_laid_out;
    send_mouse(&mut screen, DOWN, 79, 11);
    let text = screen.screen_text();
    let number = text.lines().find_map(|line| line.split_once("question ")?.1.trim().parse::<usize>().ok());
    assert!((2_000..3_000).contains(&number.expect("a question can be seen")), "{text}");
    send_mouse(&mut screen, DRAG, 79, 5);
    screen.draw_frame();
    assert!(
        screen.cache.entries_laid_out - laid_out_before < 80,
        "{} entries laid out",
        screen.cache.entries_laid_out - laid_out_before
    );
}

#[test]
fn the_bar_scrolls_within_a_very_long_entry() {
    let text: String = (0..3_000).map(|n| format!("row {n}\n\n")).collect();
    let mut screen = Screen::with_entries([user_message("go"), reply_entry(&text), turn_end()]);
    send_mouse(&mut screen, DOWN, 79, 10);
    let screen_text = screen.screen_text();
    let number = screen_text.lines().find_map(|line| line.split_once("row ")?.1.trim().parse::<usize>().ok());
    assert!((1_000..2_000).contains(&number.expect("a row can be seen")), "{screen_text}");
}

#[test]
fn the_bar_is_hidden_while_following_a_streamed_reply() {
    let mut screen = long_session(50);
    screen.send_text("go");
    screen.receive_chunk(Chunk::Text("words\n\n".repeat(30)));
    assert!(thumb_rows(&mut screen).is_empty());
    screen.press_key("page-up");
    assert!(!thumb_rows(&mut screen).is_empty());
    screen.receive_chunk(Chunk::Done(FinishReason::Stop));
    screen.press_key("ctrl-end");
    assert!(!thumb_rows(&mut screen).is_empty());
}

#[test]
fn the_bar_can_be_dragged_at_every_size() {
    let mut screen = long_session(30);
    for (width, height) in [(1, 1), (2, 5), (3, 3), (3, 8), (20, 9), (500, 200)] {
        screen.resize_screen(width, height);
        for row in [0, 1, height / 2, height.saturating_sub(1), 999] {
            send_mouse(&mut screen, DOWN, width.saturating_sub(1), row.min(height - 1));
            send_mouse(&mut screen, DRAG, 0, row);
            screen.draw_frame();
            send_mouse(&mut screen, UP, 0, row);
        }
    }
}

#[test]
fn on_a_low_screen_the_thumb_is_one_visible_row() {
    let mut screen = long_session(500);
    screen.resize_screen(80, 10);
    let thumb = |screen: &mut Screen| {
        let buffer = screen.draw_frame();
        let is_thumb = |y: &u16| buffer[(79, *y)].modifier.contains(Modifier::REVERSED);
        (0..10).filter(is_thumb).collect::<Vec<u16>>()
    };
    let bottom = thumb(&mut screen);
    assert_eq!(bottom.len(), 1, "{bottom:?}\n{}", screen.screen_text());
    screen.press_key("page-up");
    assert_eq!(thumb(&mut screen).len(), 1);
}

#[test]
fn a_wheel_step_sends_only_new_rows_and_the_ends_of_the_thumb() {
    let text = "some words of a reply that are long enough to fill a row of the screen and then some more\n\n";
    let mut screen = Screen::with_entries([user_message("go"), reply_entry(&text.repeat(300)), turn_end()]);
    screen.state.theme = Themes::bundled().choose_theme("dark", None);
    screen.resize_screen(120, 40);
    let erase_uses_background = true;
    let mut canvas = crate::tui::canvas::Canvas::new(erase_uses_background);
    // Draws the next frame and returns its size in bytes.
    let frame_size = |screen: &mut Screen, canvas: &mut crate::tui::canvas::Canvas| {
        let mut buffer = canvas.empty_buffer(120, 40);
        let drawn = view::draw_screen(&screen.state, &mut screen.cache, &mut buffer);
        canvas.encode_frame(buffer, &drawn.links, drawn.cursor).len()
    };
    send_mouse(&mut screen, DOWN, 119, 15);
    send_mouse(&mut screen, UP, 119, 15);
    frame_size(&mut screen, &mut canvas);
    let mut max_bytes = 0;
    for _ in 0..20 {
        send_mouse(&mut screen, MouseEventKind::ScrollUp, 40, 15);
        max_bytes = max_bytes.max(frame_size(&mut screen, &mut canvas));
    }
    assert!(max_bytes < 800, "{max_bytes} bytes for three rows");
}
