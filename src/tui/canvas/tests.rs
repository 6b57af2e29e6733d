//! Sends frames to a terminal emulator and compares every cell.

use super::*;
use proptest::prelude::*;
use ratatui::style::{Color, Modifier, Style};
use unicode_width::UnicodeWidthStr;

/// Two terminal emulators that receive the same frames. The emulator does not support links, so `links` shows each link
/// as a colour.
struct TestTerminal {
    styled: vt100::Parser,
    links: vt100::Parser,
}

impl TestTerminal {
    fn new(width: u16, height: u16) -> Self {
        let non_zero = |count| std::num::NonZeroU16::new(count).unwrap();
        let parser = || vt100::Parser::new(non_zero(height), non_zero(width), 0);
        Self { styled: parser(), links: parser() }
    }

    /// Sends a frame to both emulators. `links` receives no styles, but a colour for each link: the number after `/n`
    /// in its address.
    fn process_frame(&mut self, bytes: &[u8]) {
        self.styled.process(bytes);
        let text = std::str::from_utf8(bytes).unwrap();
        let mut remaining = text;
        while let Some(escape_start) = remaining.find('\x1b') {
            self.links.process(&remaining.as_bytes()[..escape_start]);
            remaining = &remaining[escape_start..];
            let end = match remaining.as_bytes()[1] {
                b']' => remaining.find("\x1b\\").unwrap() + 2,
                _ => remaining[2..].find(|c: char| c.is_ascii_alphabetic()).unwrap() + 3,
            };
            let sequence = &remaining[..end];
            remaining = &remaining[end..];
            match sequence.strip_prefix("\x1b]8;") {
                Some(";\x1b\\") => self.links.process(b"\x1b[m"),
                Some(link_sequence) => {
                    let number: u32 =
                        link_sequence.rsplit_once("/n").unwrap().1.trim_end_matches("\x1b\\").parse().unwrap();
                    self.links.process(format!("\x1b[38;5;{number}m").as_bytes());
                }
                None if sequence.ends_with('m') => {}
                None => self.links.process(sequence.as_bytes()),
            }
        }
        self.links.process(remaining.as_bytes());
    }

    /// Compares every cell with the buffer.
    fn check_cells(&self, expected: &Buffer, linked: &[LinkedCells], cursor: Option<Position>) {
        let screen = self.styled.screen();
        let width = usize::from(expected.area.width);
        for y in 0..expected.area.height {
            let cells = &expected.content[usize::from(y) * width..][..width];
            let mut covers_next_cell = false;
            for x in 0..expected.area.width {
                let (index, cell) = (usize::from(x), screen.cell(y, x).unwrap());
                let describe_place = || format!("{x},{y}\n{expected:?}\n{:?}", screen.contents());
                if covers_next_cell {
                    covers_next_cell = false;
                    assert!(cell.is_wide_continuation(), "{}", describe_place());
                    continue;
                }
                // A wide glyph without a blank cell after it is shown as a space.
                let is_wide = UnicodeWidthStr::width(cells[index].symbol()) == 2;
                covers_next_cell = is_wide && cells.get(index + 1).is_some_and(|next| next.symbol() == " ");
                let symbol = if is_wide && !covers_next_cell { " " } else { cells[index].symbol() };
                assert_eq!(cell.is_wide(), covers_next_cell, "{}", describe_place());
                let shown_symbol = if cell.has_contents() { cell.contents() } else { " " };
                assert_eq!(shown_symbol, symbol, "{}", describe_place());
                let link_here = linked.iter().rev().find(|link| link.area.contains(Position::new(x, y)));
                let expected_colour = link_here.map_or(vt100::Color::Default, |link| {
                    vt100::Color::Idx(link.address.rsplit_once("/n").unwrap().1.parse().unwrap())
                });
                assert_eq!(
                    self.links.screen().cell(y, x).unwrap().fgcolor(),
                    expected_colour,
                    "the link at {}",
                    describe_place()
                );
                let shown_style = CellStyle {
                    fg: convert_colour(cell.fgcolor()),
                    bg: convert_colour(cell.bgcolor()),
                    modifier: [
                        (cell.bold(), Modifier::BOLD),
                        (cell.dim(), Modifier::DIM),
                        (cell.italic(), Modifier::ITALIC),
                        (cell.underline(), Modifier::UNDERLINED),
                        (cell.inverse(), Modifier::REVERSED),
                    ]
                    .into_iter()
                    .filter(|(is_set, _)| *is_set)
                    .fold(Modifier::empty(), |modifiers, (_, modifier)| modifiers | modifier),
                };
                let style = cells[index].style();
                let visible = Modifier::UNDERLINED | Modifier::REVERSED;
                let is_plain_space = symbol == " " && !style.add_modifier.intersects(visible);
                let is_correct = match is_plain_space {
                    true => Some(shown_style.bg) == style.bg && !shown_style.modifier.intersects(visible),
                    false => {
                        (Some(shown_style.fg), Some(shown_style.bg), shown_style.modifier)
                            == (style.fg, style.bg, style.add_modifier)
                    }
                };
                assert!(is_correct, "{shown_style:?} instead of {style:?} at {}", describe_place());
            }
        }
        assert_eq!(screen.hide_cursor(), cursor.is_none());
        if let Some(position) = cursor {
            assert_eq!(screen.cursor_position(), (position.y, position.x));
        }
    }
}

fn convert_colour(colour: vt100::Color) -> Color {
    match colour {
        vt100::Color::Default => Color::Reset,
        vt100::Color::Idx(index) => Color::Indexed(index),
        vt100::Color::Rgb(red, green, blue) => Color::Rgb(red, green, blue),
    }
}

fn any_style() -> impl Strategy<Value = Style> {
    let colour = prop_oneof![
        3 => Just(Color::Reset),
        1 => Just(Color::Indexed(3)),
        1 => Just(Color::Indexed(200)),
        1 => Just(Color::Rgb(1, 22, 133)),
    ];
    let modifiers = [
        Modifier::empty(),
        Modifier::BOLD,
        Modifier::ITALIC,
        Modifier::UNDERLINED | Modifier::ITALIC,
        Modifier::REVERSED,
        Modifier::DIM,
    ];
    (colour.clone(), colour, prop::sample::select(modifiers.to_vec()))
        // The emulator supports bold or dim, but not both: one removes the other.
        .prop_map(|(fg, bg, modifier)| {
            Style::new().fg(fg).bg(bg).remove_modifier(Modifier::all()).add_modifier(modifier)
        })
}

/// A change of the buffer. A position is given as column and row.
#[derive(Debug, Clone)]
enum Change {
    /// Writes a text from a position on.
    Text(u16, u16, &'static str, Style),
    Background(Rect, Style),
    /// Links cells: position of the first cell, number of cells, and number at the end of the address.
    Link(u16, u16, u16, u8),
    /// Removes all links.
    Unlink,
    /// Rotates rows: first row, number of rows, and number of rows by which they move up (down if negative).
    Move(u16, u16, i16),
    /// Writes a symbol at a position.
    Cell(u16, u16, &'static str),
    /// Fills each row with its own text, numbered from this number on.
    FillRows(usize),
    Invalidate,
}

const TEXTS: [&str; 9] = [
    "the quick brown fox jumps over the lazy dog",
    "漢字かな交じり文",
    "a漢b",
    "e\u{301}a\u{302}",
    "    ",
    "                                        ",
    "x",
    "──────│",
    "│ ש\u{5b8}לום │ مرحبا 12 │",
];

fn any_change() -> impl Strategy<Value = Change> {
    let (x, y) = (0u16..44, 0u16..14);
    prop_oneof![
        6 => (x.clone(), y.clone(), prop::sample::select(TEXTS.to_vec()), any_style())
            .prop_map(|(x, y, text, style)| Change::Text(x, y, text, style)),
        2 => (x.clone(), y.clone(), 1u16..44, 1u16..14, any_style())
            .prop_map(|(x, y, w, h, style)| Change::Background(Rect::new(x, y, w, h), style)),
        2 => (x.clone(), y.clone(), 1u16..12, 1u8..5)
            .prop_map(|(x, y, cells, number)| Change::Link(x, y, cells, number)),
        1 => Just(Change::Unlink),
        4 => (y.clone(), 2u16..14, -3i16..4).prop_map(|(top, height, shift)| Change::Move(top, height, shift)),
        2 => (x, y, prop::sample::select(vec!["漢", "a", " "])).prop_map(|(x, y, symbol)| Change::Cell(x, y, symbol)),
        2 => (0usize..30).prop_map(Change::FillRows),
        1 => Just(Change::Invalidate),
    ]
}

#[derive(Clone)]
struct TestFrame {
    buffer: Buffer,
    links: Vec<LinkedCells>,
}

impl TestFrame {
    fn new(width: u16, height: u16) -> Self {
        Self { buffer: Buffer::empty(Rect::new(0, 0, width, height)), links: Vec::new() }
    }

    fn apply_change(&mut self, change: &Change) {
        let area = self.buffer.area;
        match change {
            Change::Text(x, y, text, style) if *x < area.width && *y < area.height => {
                self.buffer.set_string(*x, *y, text, *style);
            }
            Change::Cell(x, y, symbol) if *x < area.width && *y < area.height => {
                self.buffer[(*x, *y)].set_symbol(symbol);
            }
            Change::Background(rect, style) => self.buffer.set_style(rect.intersection(area), *style),
            Change::Link(x, y, cells, number) => {
                let link_area = Rect::new(*x, *y, *cells, 1).intersection(area);
                // A glyph is in a link completely or not at all: no link contains or follows the start of a wide glyph.
                let is_wide_start = |x: u16| x < area.width && self.buffer[(x, *y)].symbol() == "漢";
                if !link_area.is_empty()
                    && !(link_area.left()..=link_area.right()).any(|x| x > 0 && is_wide_start(x - 1))
                {
                    self.links.retain(|link| !link.area.intersects(link_area));
                    self.links.push(LinkedCells { area: link_area, address: format!("https://e.x/n{number}") });
                }
            }
            Change::Unlink => self.links.clear(),
            Change::Move(top, height, shift) => {
                let (top, bottom) = ((*top).min(area.height), (top + height).min(area.height));
                let width = usize::from(area.width);
                let rows = usize::from(bottom - top);
                let shift = isize::from(*shift).rem_euclid(rows.max(1) as isize) as usize;
                for link in &mut self.links {
                    let y = usize::from(link.area.y);
                    if (usize::from(top)..usize::from(bottom)).contains(&y) {
                        link.area.y = top + ((y - usize::from(top) + rows - shift) % rows) as u16;
                    }
                }
                self.buffer.content[usize::from(top) * width..usize::from(bottom) * width].rotate_left(shift * width);
            }
            Change::FillRows(first_number) => {
                for y in 0..area.height {
                    let text =
                        format!("{:<44}", format!("row {} of words, 漢 and more", first_number + usize::from(y)));
                    self.buffer.set_string(0, y, text, Style::new());
                }
            }
            Change::Text(..) | Change::Cell(..) | Change::Invalidate => {}
        }
    }
}

proptest! {
    #[test]
    fn terminal_shows_every_frame_exactly(
        (width, height) in prop_oneof![Just((1, 1)), Just((2, 1)), Just((1, 3)), Just((44, 14)), (1u16..6, 1u16..5), (1u16..44, 1u16..14)],
        frames in prop::collection::vec(
            (prop::collection::vec(any_change(), 0..12), prop::option::of((0u16..44, 0u16..14))), 1..8),
        erase_uses_background in any::<bool>(),
    ) {
        let mut canvas = Canvas::new(erase_uses_background);
        let mut terminal = TestTerminal::new(width, height);
        let mut frame = TestFrame::new(width, height);
        for (changes, cursor) in &frames {
            for change in changes {
                frame.apply_change(change);
                if matches!(change, Change::Invalidate) {
                    canvas.invalidate();
                    // Leftovers of another program.
                    terminal.process_frame(b"\x1b[2;3r\x1b[7mrubbish\x1b[?25l");
                }
            }
            let cursor = cursor.map(|(x, y)| Position::new(x.min(width - 1), y.min(height - 1)));
            terminal.process_frame(canvas.encode_frame(frame.buffer.clone(), &frame.links, cursor));
            terminal.check_cells(&frame.buffer, &frame.links, cursor);
            prop_assert!(canvas.encode_frame(frame.buffer.clone(), &frame.links, cursor).is_empty());
        }
    }
}

/// Draws lines of text from the top. Returns the bytes that are sent to the terminal.
fn draw_lines(canvas: &mut Canvas, lines: &[String]) -> String {
    let mut buffer = canvas.empty_buffer(40, 12);
    for (y, line) in (0..).zip(lines) {
        buffer.set_string(1, y, line, Style::new().fg(Color::Rgb(214, 217, 222)));
    }
    let bytes = canvas.encode_frame(buffer, &[], Some(Position::new(3, 11)));
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn numbered_lines(first: usize) -> Vec<String> {
    (first..first + 10).map(|number| format!("line {number} of some reply that is long enough")).collect()
}

#[test]
fn r61_unchanged_frame_sends_nothing() {
    let mut canvas = Canvas::new(true);
    assert!(draw_lines(&mut canvas, &numbered_lines(0)).contains("line 3"));
    assert_eq!(draw_lines(&mut canvas, &numbered_lines(0)), "");
}

#[test]
fn one_character_takes_few_bytes_and_does_not_flicker() {
    let mut canvas = Canvas::new(true);
    let mut text = numbered_lines(0);
    draw_lines(&mut canvas, &text);
    text[4].replace_range(5..6, "x");
    let bytes = draw_lines(&mut canvas, &text);
    assert_eq!(bytes, "\x1b[5;7H\x1b[38;2;214;217;222mx\x1b[m\x1b[12;4H");
}

#[test]
fn terminal_scrolls_rows_that_move() {
    let mut canvas = Canvas::new(true);
    draw_lines(&mut canvas, &numbered_lines(0));
    let bytes = draw_lines(&mut canvas, &numbered_lines(2));
    assert!(bytes.contains("\x1b[1;10r\x1b[H\x1b[2M\x1b[r"), "{bytes:?}");
    assert!(bytes.contains("line 11") && !bytes.contains("line 9"), "{bytes:?}");
    let back = draw_lines(&mut canvas, &numbered_lines(1));
    assert!(back.contains("\x1b[L") && back.contains("line 1 ") && !back.contains("line 2 "), "{back:?}");
}

#[test]
fn large_frame_is_a_synchronized_update_with_a_hidden_cursor() {
    let mut canvas = Canvas::new(true);
    draw_lines(&mut canvas, &numbered_lines(0));
    let bytes = draw_lines(&mut canvas, &numbered_lines(50));
    assert!(bytes.starts_with("\x1b[?2026h\x1b[?25l"), "{bytes:?}");
    assert!(bytes.ends_with("\x1b[12;4H\x1b[?25h\x1b[?2026l"), "{bytes:?}");
}

#[test]
fn redraws_everything_after_a_suspension() {
    let mut canvas = Canvas::new(true);
    draw_lines(&mut canvas, &numbered_lines(0));
    canvas.invalidate();
    let bytes = draw_lines(&mut canvas, &numbered_lines(0));
    assert!(bytes.contains("\x1b[2J") && bytes.contains("line 9"), "{bytes:?}");
}

#[test]
fn link_is_opened_once_for_all_its_cells() {
    let mut canvas = Canvas::new(true);
    let mut buffer = canvas.empty_buffer(20, 2);
    buffer.set_string(0, 0, "see src/main.rs now", Style::new());
    let link = LinkedCells { area: Rect::new(4, 0, 11, 1), address: "file:///src/main.rs".into() };
    let bytes = String::from_utf8(canvas.encode_frame(buffer, &[link], None).to_vec()).unwrap();
    let link = "\x1b]8;id=1;file:///src/main.rs\x1b\\src/main.rs\x1b";
    assert!(bytes.contains(link), "{bytes:?}");
    assert_eq!(bytes.matches("\x1b]8;").count(), 2, "{bytes:?}");
}

#[test]
fn r34_text_after_a_glyph_of_ambiguous_width_is_at_its_place() {
    for glyph in ["❤\u{fe0f}", "👩\u{200d}👩\u{200d}👧", "1\u{fe0f}\u{20e3}", "👍🏽"] {
        let mut canvas = Canvas::new(true);
        let mut terminal = TestTerminal::new(20, 1);
        for previous_text in ["", "xxxxxxxxxxxxxxxxxxxx"] {
            let mut buffer = canvas.empty_buffer(20, 1);
            buffer.set_string(0, 0, previous_text, Style::new());
            terminal.process_frame(canvas.encode_frame(buffer, &[], None));
            let mut buffer = canvas.empty_buffer(20, 1);
            let (next_x, _) = buffer.set_stringn(0, 0, glyph, 20, Style::new());
            buffer.set_string(next_x, 0, "│ after", Style::new());
            terminal.process_frame(canvas.encode_frame(buffer, &[], None));
            for (x, expected) in (next_x..).zip(["│", " ", "a", "f"]) {
                let shown_symbol = terminal.styled.screen().cell(0, x).unwrap().contents();
                let shown_symbol = if shown_symbol.is_empty() { " " } else { shown_symbol };
                assert_eq!(
                    shown_symbol,
                    expected,
                    "{glyph} over {previous_text:?}: {:?}",
                    terminal.styled.screen().contents()
                );
            }
        }
    }
}

#[test]
fn links_stay_correct_when_numbering_restarts() {
    let mut canvas = Canvas::new(true);
    let mut last = String::new();
    for number in 0..MAX_ADDRESSES + 10 {
        let mut buffer = canvas.empty_buffer(4, 1);
        buffer.set_string(0, 0, "here", Style::new());
        let link = LinkedCells { area: Rect::new(0, 0, 4, 1), address: format!("https://e.x/{number}") };
        last = String::from_utf8(canvas.encode_frame(buffer, &[link], None).to_vec()).unwrap();
        assert!(last.contains(&format!("https://e.x/{number}\x1b\\here")), "{last:?}");
    }
    assert!(canvas.addresses_by_number.len() <= MAX_ADDRESSES, "{last:?}");
}

/// A screen keeps two frames. The feature `underline-color`, which a crate may turn on for all, makes cells larger.
#[test]
fn a_cell_takes_40_bytes() {
    assert_eq!(size_of::<ratatui::buffer::Cell>(), 40);
}
