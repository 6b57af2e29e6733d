//! Frames of a recording: what a terminal shows after its events.

use super::cast_reader::{RecordedEvent, Recording, RecordingTheme};
use crate::text::clean::clean_line;
use crate::text::terminal_palette::palette_rgb;
use ratatui::buffer::CellWidth;
use std::collections::HashMap;
use std::num::NonZeroU16;
use std::sync::Arc;
use std::time::Duration;
use unicode_segmentation::UnicodeSegmentation;
use vt100::{Cell, Color};

/// Time between two frames. Events within it make one frame.
const FRAME_TIME: Duration = Duration::from_millis(33);
/// Time for which a picture that plays again and again shows its last frame.
pub(super) const END_TIME: Duration = Duration::from_secs(3);
/// Maximum frames of a recording, more than ten minutes without a pause.
const MAX_FRAMES: usize = 20_000;
/// Maximum bytes of the rows that differ from those of the frame before.
const MAX_ROW_BYTES: usize = 128 << 20;

/// Pixels around the terminal, unless an export is given another number.
pub const STANDARD_PADDING: u16 = 14;

/// The frames of a recording.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frames {
    /// The largest columns and rows of the terminal.
    pub size: (u16, u16),
    /// At least one; the first one at the time 0.
    pub frames: Vec<Frame>,
    /// Time of the last event.
    pub duration: Duration,
    /// Markers: their times and names.
    pub chapters: Vec<(Duration, String)>,
}

/// One frame. It differs from the one before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// Time at which it appears.
    pub time: Duration,
    pub rows: Vec<Arc<Vec<Run>>>,
    /// Column and row of the cursor, if it is visible.
    pub cursor: Option<(u16, u16)>,
}

/// Neighbouring cells of one style. Blank cells on the default background are in no run, unless they are between other cells of a run
/// without a background or an underline.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Run {
    pub column: u16,
    /// Number of cells.
    pub width: u16,
    pub text: String,
    /// Whether the text is that of one cell, whatever its characters.
    pub is_one_glyph: bool,
    pub style: RunStyle,
}

/// Style of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct RunStyle {
    pub colour: [u8; 3],
    /// `None` for the background of the terminal.
    pub background: Option<[u8; 3]>,
    pub is_bold: bool,
    pub is_italic: bool,
    pub is_underlined: bool,
    pub is_dim: bool,
}

impl Frames {
    /// Plays a recording, with pauses shortened to its limit.
    ///
    /// # Errors
    /// If it has too many frames, or they have too much text, worded to follow the name of the file.
    pub fn play(recording: &Recording) -> Result<Self, String> {
        let colours = Colours::new(&recording.theme);
        let mut terminal = vt100::Parser::new(cell_count(recording.size.1), column_count(recording.size.0), 0);
        let mut size = recording.size;
        let mut frames: Vec<Frame> = Vec::new();
        let events = recording.shortened_events();
        let mut chapters = Vec::new();
        let (mut start, mut row_bytes) = (Duration::ZERO, 0);
        for (index, (time, event)) in events.iter().enumerate() {
            if index == 0 || *time >= start + FRAME_TIME {
                start = *time;
            }
            match event {
                RecordedEvent::Output(text) => terminal.process(text.as_bytes()),
                RecordedEvent::Resized(columns, rows) => {
                    size = (size.0.max(*columns), size.1.max(*rows));
                    terminal.screen_mut().set_size(cell_count(*rows), column_count(*columns));
                }
                RecordedEvent::Marker(name) => chapters.push((*time, clean_line(name).into_owned())),
            }
            if events.get(index + 1).is_none_or(|(next, _)| *next >= start + FRAME_TIME) {
                let mut frame = read_frame(terminal.screen(), &colours, start, frames.last(), &mut row_bytes);
                frame.cursor = frame.cursor.filter(|_| recording.shows_cursor);
                if frames.last().is_none_or(|last| (&last.rows, last.cursor) != (&frame.rows, frame.cursor)) {
                    frames.push(frame);
                }
                if frames.len() > MAX_FRAMES || row_bytes > MAX_ROW_BYTES {
                    return Err("it has too many frames or too much text; record a shorter part".to_owned());
                }
            }
        }
        match frames.first_mut() {
            Some(first) => first.time = Duration::ZERO,
            None => frames.push(read_frame(terminal.screen(), &colours, Duration::ZERO, None, &mut row_bytes)),
        }
        let end = events.last().map_or(Duration::ZERO, |(time, _)| *time);
        Ok(Self { size, frames, duration: end, chapters })
    }

    /// Returns the index of the frame that is shown at a time.
    pub fn index_at(&self, time: Duration) -> usize {
        self.frames.partition_point(|frame| frame.time <= time).saturating_sub(1)
    }
}

impl Run {
    /// Returns the column, the width in cells and the text of each glyph.
    pub fn glyphs(&self) -> impl Iterator<Item = (u16, u16, &str)> {
        let whole = self.is_one_glyph.then_some((self.column, self.width, self.text.as_str()));
        let text = if self.is_one_glyph { "" } else { self.text.as_str() };
        let mut column = self.column;
        whole.into_iter().chain(text.graphemes(true).map(move |grapheme| {
            let (start, width) = (column, CellWidth::cell_width(grapheme));
            column += width;
            (start, width, grapheme)
        }))
    }
}

/// Returns whether a cell of this width has one character whose width is certain and that joins no other: the text of such cells can
/// be divided into them again.
fn is_divisible(text: &str, width: u16) -> bool {
    let mut chars = text.chars();
    let (Some(c), None) = (chars.next(), chars.next()) else { return false };
    // Regional indicators and parts of Korean syllables join their neighbours.
    let joins = matches!(c, '\u{1f1e6}'..='\u{1f1ff}' | '\u{1100}'..='\u{11ff}' | '\u{a960}'..='\u{a97f}' | '\u{d7b0}'..='\u{d7ff}');
    c.is_ascii() || !joins && CellWidth::cell_width(text) == width && text.graphemes(true).count() == 1
}

/// Returns the columns of the terminal. One column has no room for a wide glyph.
fn column_count(columns: u16) -> NonZeroU16 {
    cell_count(columns.max(2))
}

fn cell_count(count: u16) -> NonZeroU16 {
    NonZeroU16::new(count).unwrap_or(NonZeroU16::MIN)
}

/// Reads a frame. Rows that are those of the frame before are shared with it; the others are added to `row_bytes`.
fn read_frame(
    screen: &vt100::Screen,
    colours: &Colours<'_>,
    time: Duration,
    before: Option<&Frame>,
    row_bytes: &mut usize,
) -> Frame {
    let (rows, columns) = screen.size();
    let cells = |row| (0..columns.get()).filter_map(move |column| Some((column, screen.cell(row, column)?)));
    let mut share_row = |row: u16| {
        let runs = read_row(cells(row), colours);
        let same = before.and_then(|before| before.rows.get(usize::from(row))).filter(|same| ***same == runs);
        same.cloned().unwrap_or_else(|| {
            *row_bytes += runs.iter().map(|run| size_of::<Run>() + run.text.len()).sum::<usize>();
            Arc::new(runs)
        })
    };
    let rows = (0..rows.get()).map(&mut share_row).collect();
    let (row, column) = screen.cursor_position();
    // After the last column was written, the column is that of the edge.
    let cursor = (column.min(columns.get() - 1), row);
    Frame { time, rows, cursor: (!screen.hide_cursor()).then_some(cursor) }
}

fn read_row<'a>(cells: impl Iterator<Item = (u16, &'a Cell)>, colours: &Colours<'_>) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    // Blank cells since the last run. They become part of it if the text goes on in its style.
    let mut blanks = 0;
    for (column, cell) in cells {
        if cell.is_wide_continuation() {
            continue;
        }
        let style = colours.style(cell);
        let text = if cell.has_contents() { cell.contents() } else { " " };
        if text == " " && style.background.is_none() && !style.is_underlined {
            blanks += 1;
            continue;
        }
        let width = if cell.is_wide() { 2 } else { 1 };
        let is_one_glyph = !is_divisible(text, width);
        match runs.last_mut() {
            Some(run)
                if run.style == style
                    && !is_one_glyph
                    && !run.is_one_glyph
                    && run.column + run.width + blanks == column
                    // Blanks would get the background of the cells around them.
                    && (blanks == 0 || style.background.is_none() && !style.is_underlined) =>
            {
                run.text.push_str(&" ".repeat(usize::from(blanks)));
                run.text.push_str(text);
                run.width += blanks + width;
            }
            _ => runs.push(Run { column, width, text: text.to_owned(), is_one_glyph, style }),
        }
        blanks = 0;
    }
    runs
}

/// Colours of the terminal.
struct Colours<'a> {
    theme: &'a RecordingTheme,
    text: [u8; 3],
    background: [u8; 3],
    palette: Vec<[u8; 3]>,
}

impl<'a> Colours<'a> {
    fn new(theme: &'a RecordingTheme) -> Self {
        let palette = theme.palette.iter().map(|colour| parse_colour(colour)).collect();
        Self { theme, text: parse_colour(&theme.text), background: parse_colour(&theme.background), palette }
    }

    fn style(&self, cell: &Cell) -> RunStyle {
        let (mut colour, mut background) = (
            self.resolve(cell.fgcolor(), &self.theme.replaced_text),
            self.resolve(cell.bgcolor(), &self.theme.replaced_backgrounds),
        );
        if cell.inverse() {
            (colour, background) = (Some(background.unwrap_or(self.background)), Some(colour.unwrap_or(self.text)));
        }
        RunStyle {
            colour: colour.unwrap_or(self.text),
            background,
            is_bold: cell.bold(),
            is_italic: cell.italic(),
            is_underlined: cell.underline(),
            is_dim: cell.dim(),
        }
    }

    /// Returns a colour; `None` for the default one.
    fn resolve(&self, colour: Color, replaced: &HashMap<[u8; 3], [u8; 3]>) -> Option<[u8; 3]> {
        match colour {
            Color::Default => None,
            Color::Rgb(red, green, blue) => {
                let exact = [red, green, blue];
                Some(replaced.get(&exact).copied().unwrap_or(exact))
            }
            Color::Idx(index @ 0..16) => self.palette.get(usize::from(index)).copied(),
            Color::Idx(index) => Some(palette_rgb(index)),
        }
    }
}

/// Reads `#rrggbb`; black if it is something else.
pub fn parse_colour(text: &str) -> [u8; 3] {
    let value = text.strip_prefix('#').and_then(|hex| u32::from_str_radix(hex, 16).ok()).unwrap_or_default();
    let [_, red, green, blue] = value.to_be_bytes();
    [red, green, blue]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn play(events: &[(u64, &str)]) -> Frames {
        let mut text = r#"{"version":2,"width":10,"height":3,"idle_time_limit":2}"#.to_owned();
        for (millis, output) in events {
            text += &format!("\n[{}, \"o\", {}]", *millis as f64 / 1000.0, serde_json::Value::from(*output));
        }
        Frames::play(&Recording::parse(&(text + "\n")).unwrap()).unwrap()
    }

    fn row_text(frame: &Frame, row: usize) -> String {
        frame.rows[row].iter().map(|run| run.text.as_str()).collect::<Vec<_>>().join("|")
    }

    #[test]
    fn events_close_together_make_one_frame_and_pauses_are_shortened() {
        let played = play(&[(100, "a"), (110, "b"), (500, "c"), (501, "\r"), (20_000, "\u{1b}[31mx")]);
        let shown: Vec<(u128, String)> =
            played.frames.iter().map(|frame| (frame.time.as_millis(), row_text(frame, 0))).collect();
        assert_eq!(shown, [(0, "ab".into()), (500, "abc".into()), (2_501, "x|bc".into())]);
        assert_eq!((played.duration.as_millis(), played.size), (2_501, (10, 3)));
    }

    #[test]
    fn runs_have_the_style_of_their_cells() {
        let played = play(&[(
            0,
            "\u{1b}[1;32mok\u{1b}[0m  日本\u{1b}[7mv\u{1b}[0m\r\n\u{1b}[48;5;196m  \u{1b}[0m\u{1b}[38;5;244mg",
        )]);
        let frame = &played.frames[0];
        let runs: Vec<(u16, u16, &str)> =
            frame.rows[0].iter().map(|run| (run.column, run.width, run.text.as_str())).collect();
        assert_eq!(runs, [(0, 2, "ok"), (4, 4, "日本"), (8, 1, "v")]);
        assert_eq!((frame.rows[0][0].style.colour, frame.rows[0][0].style.is_bold), ([0, 0xcd, 0], true));
        let inverse = frame.rows[0][2].style;
        assert_eq!((inverse.colour, inverse.background), ([0, 0, 0], Some([0xe5; 3])));
        assert_eq!((frame.rows[1][0].style.background, frame.rows[1][1].style.colour), (Some([255, 0, 0]), [128; 3]));
        assert_eq!(frame.cursor, Some((3, 1)));
    }

    #[test]
    fn blanks_between_highlighted_cells_are_not_highlighted() {
        for style in ["7", "41", "4"] {
            let played = play(&[(0, &format!("\u{1b}[{style}ma\u{1b}[0m \u{1b}[{style}mb c\u{1b}[0m d"))]);
            let runs: Vec<(u16, &str)> =
                played.frames[0].rows[0].iter().map(|run| (run.column, run.text.as_str())).collect();
            assert_eq!(runs, [(0, "a"), (2, "b c"), (6, "d")], "{style}");
        }
    }

    #[test]
    fn glyphs_keep_their_columns_whatever_their_characters() {
        for (text, expected) in [
            ("a日b", &[(0, 1, "a"), (1, 2, "日"), (3, 1, "b")][..]),
            ("e\u{301}x", &[(0, 1, "e\u{301}"), (1, 1, "x")]),
            ("a\u{202e}b", &[(0, 1, "a\u{202e}"), (1, 1, "b")]),
            ("\u{1100}\u{1161}", &[(0, 2, "\u{1100}\u{1161}")]),
        ] {
            let played = play(&[(0, text)]);
            let glyphs: Vec<_> = played.frames[0].rows[0].iter().flat_map(Run::glyphs).collect();
            assert_eq!(glyphs, expected, "{text:?}");
        }
        // The terminal decides which columns these have; nothing after them moves.
        for text in ["⚠\u{fe0f}", "👩\u{200d}🚀", "🇩🇪", "e\u{200d}"] {
            let played = play(&[(0, &format!("{text}\u{1b}[1;8Hend"))]);
            let glyphs: Vec<_> = played.frames[0].rows[0].iter().flat_map(Run::glyphs).collect();
            assert_eq!(glyphs[glyphs.len() - 3..], [(7, 1, "e"), (8, 1, "n"), (9, 1, "d")], "{text:?}");
            let adjacent = play(&[(0, &format!("{text}end\r\n{text}"))]);
            let end = adjacent.frames[0].cursor.unwrap().0;
            let glyphs: Vec<_> = adjacent.frames[0].rows[0].iter().flat_map(Run::glyphs).collect();
            assert_eq!(glyphs[glyphs.len() - 3..], [(end, 1, "e"), (end + 1, 1, "n"), (end + 2, 1, "d")], "{text:?}");
        }
    }

    #[test]
    fn a_recording_without_output_has_an_empty_frame() {
        let played = play(&[]);
        assert_eq!((played.frames.len(), played.duration), (1, Duration::ZERO));
        assert!(played.frames[0].rows.iter().all(|row| row.is_empty()));
    }

    #[test]
    fn a_marker_does_not_hide_the_frame_before_it() {
        let header = r#"{"version":2,"width":10,"height":3}"#;
        let lines = "[0, \"o\", \"a\"]\n[1, \"o\", \"b\"]\n[1.01, \"m\", \"chapter\"]\n[3, \"o\", \"c\"]";
        let played = Frames::play(&Recording::parse(&format!("{header}\n{lines}\n")).unwrap()).unwrap();
        let times: Vec<u128> = played.frames.iter().map(|frame| frame.time.as_millis()).collect();
        assert_eq!(times, [0, 1_000, 3_000]);
        assert_eq!(played.chapters, [(Duration::from_millis(1_010), "chapter".to_owned())]);
        assert_eq!(
            [0, 999, 1_000, 2_999, 9_000].map(|millis| played.index_at(Duration::from_millis(millis))),
            [0, 0, 1, 1, 2]
        );
        assert!(Arc::ptr_eq(&played.frames[0].rows[1], &played.frames[2].rows[1]), "equal rows are kept once");
    }

    #[test]
    fn the_cursor_stays_on_the_screen_and_hostile_recordings_end() {
        assert_eq!(play(&[(0, "0123456789")]).frames[0].cursor, Some((9, 0)));
        let header = r#"{"version":2,"width":1,"height":1}"#;
        let narrow = format!("{header}\n[0, \"o\", \"\u{26a0}\u{fe0f}日本\"]\n");
        assert!(Frames::play(&Recording::parse(&narrow).unwrap()).is_ok());
        let header = r#"{"version":2,"width":1000,"height":500}"#;
        let row = "\\u001b[31ma\\u001b[32mb".repeat(500);
        let full = format!("[0, \"o\", \"{}\"]", row.repeat(500));
        let scrolled: String = (1..200).map(|second| format!("[{second}, \"o\", \"{second}{row}\"]\n")).collect();
        let recording = Recording::parse(&format!("{header}\n{full}\n{scrolled}")).unwrap();
        assert!(Frames::play(&recording).unwrap_err().contains("too much text"));
    }
}
