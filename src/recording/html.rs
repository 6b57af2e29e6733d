//! Draws a recording as one HTML page with a small player. The page loads nothing, and runs only its own script.

use super::cast::hex_colour;
use super::cast_reader::Recording;
use super::frames::{Frames, Run, RunStyle, parse_colour};
use super::glyph_shapes::find_shape;
use super::svg::{CELL, escape, is_drawable};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use sha2::{Digest, Sha256};
use std::collections::HashMap;

const SCRIPT: &str = include_str!("html/player.js");
const STYLE: &str = include_str!("html/player.css");

/// Flags of a style; the script has the same ones.
const BOLD: u8 = 1;
const ITALIC: u8 = 2;
const UNDERLINED: u8 = 4;
const DIM: u8 = 8;
/// The text is drawn as shapes; only a selection needs it.
const SHAPE: u8 = 16;

/// Colour, background and flags.
type PieceStyle = (String, Option<String>, u8);
/// Column, width in cells, text and number of the style.
type Piece = (u16, u16, String, usize);
/// Data of a path, colour, whether it is filled, and opacity.
type Shape = (String, String, bool, f64);
/// Pieces and shapes.
type Line = (Vec<Piece>, Vec<Shape>);
/// Time in milliseconds, column and row of the cursor, and pairs of a row and the number of its line.
type PageFrame = (u64, Option<(u16, u16)>, Vec<usize>);

/// How a page is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct HtmlOptions {
    /// Draws a window with a title around the terminal.
    pub has_window: bool,
    /// Pixels around the terminal; `None` for the usual ones, which are fewer below the title.
    pub padding: Option<u16>,
}

impl Default for HtmlOptions {
    fn default() -> Self {
        Self { has_window: true, padding: None }
    }
}

/// What the script reads.
#[derive(Serialize)]
struct PageData {
    columns: u16,
    rows: u16,
    /// Width and height of a cell in the units of the shapes.
    cell: (f64, f64),
    text: String,
    background: String,
    padding: Option<u16>,
    /// Milliseconds.
    duration: u64,
    styles: Vec<PieceStyle>,
    lines: Vec<Line>,
    frames: Vec<PageFrame>,
    chapters: Vec<(u64, String)>,
}

/// Returns the page.
///
/// # Errors
/// If the recording is too long for a page, worded to follow the name of the file.
pub fn draw_html(recording: &Recording, options: HtmlOptions) -> Result<String, String> {
    let data = collect_data(recording, &Frames::play(recording)?, options.padding);
    let json = serde_json::to_string(&data).map_err(|error| error.to_string())?;
    // No text of the recording can end the element.
    let json = json.replace('&', "\\u0026").replace('<', "\\u003c").replace('>', "\\u003e");
    let [script, style] = [SCRIPT, STYLE].map(|text| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text))));
    let title = escape(recording.title.as_deref().unwrap_or("aye"));
    let (class, heading) = match options.has_window {
        true => ("", format!("<h1>{title}</h1>\n")),
        false => (" class=\"bare\"", String::new()),
    };
    let speeds: String = ["0.25", "0.5", "1", "1.5", "2", "4", "8", "16"]
        .map(|speed| {
            let selected = if speed == "1" { " selected" } else { "" };
            format!("<option value=\"{speed}\"{selected}>{speed}×</option>")
        })
        .concat();
    Ok(format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src {script}; \
         style-src {style}; base-uri 'none'; form-action 'none'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<title>{title}</title>\n<style>{STYLE}</style>\n</head>\n<body{class}>\n\
         <main>\n{heading}<div id=\"screen\"></div>\n<div id=\"controls\">\n\
         <button id=\"play\" type=\"button\">Play</button>\n\
         <input id=\"seek\" type=\"range\" min=\"0\" value=\"0\" step=\"any\" aria-label=\"Position\">\n\
         <span id=\"time\"></span>\n<select id=\"speed\" aria-label=\"Speed\">{speeds}</select>\n\
         <select id=\"chapters\" aria-label=\"Chapter\"><option value=\"-1\">Start</option></select>\n</div>\n\
         <noscript>This player needs JavaScript. The page runs no script from elsewhere.</noscript>\n</main>\n\
         <script type=\"application/json\" id=\"recording\">{json}</script>\n<script>{SCRIPT}</script>\n</body>\n</html>\n"
    ))
}

fn collect_data(recording: &Recording, played: &Frames, padding: Option<u16>) -> PageData {
    let mut styles = Styles::default();
    let mut lines = Vec::new();
    let mut line_ids: HashMap<&[Run], usize> = HashMap::new();
    let mut shown: Vec<Option<usize>> = vec![None; usize::from(played.size.1)];
    let mut frames = Vec::new();
    for frame in &played.frames {
        let mut changes = Vec::new();
        for (row, shown) in shown.iter_mut().enumerate() {
            let runs = frame.rows.get(row).map(|runs| runs.as_slice()).unwrap_or_default();
            let id = *line_ids.entry(runs).or_insert_with(|| {
                lines.push(make_line(runs, &mut styles));
                lines.len() - 1
            });
            if *shown != Some(id) {
                *shown = Some(id);
                changes.extend([row, id]);
            }
        }
        frames.push((frame.time.as_millis() as u64, frame.cursor, changes));
    }
    let chapters = played.chapters.iter().map(|(time, name)| (time.as_millis() as u64, clean(name)));
    PageData {
        columns: played.size.0,
        rows: played.size.1,
        cell: CELL,
        text: hex_colour(parse_colour(&recording.theme.text)),
        background: hex_colour(parse_colour(&recording.theme.background)),
        padding,
        duration: played.duration.as_millis() as u64,
        styles: styles.list,
        lines,
        frames,
        chapters: chapters.collect(),
    }
}

/// Styles of pieces, each once.
#[derive(Default)]
struct Styles {
    list: Vec<PieceStyle>,
    ids: HashMap<(RunStyle, u8), usize>,
}

impl Styles {
    fn find(&mut self, style: RunStyle, is_shape: bool) -> usize {
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        let flags = flag(style.is_bold, BOLD)
            | flag(style.is_italic, ITALIC)
            | flag(style.is_underlined, UNDERLINED)
            | flag(style.is_dim, DIM)
            | flag(is_shape, SHAPE);
        *self.ids.entry((style, flags)).or_insert_with(|| {
            self.list.push((hex_colour(style.colour), style.background.map(hex_colour), flags));
            self.list.len() - 1
        })
    }
}

/// How a grapheme is drawn.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PieceKind {
    /// Text of the width that each monospace font has.
    Ascii,
    /// Lines and blocks.
    Shapes,
    /// A grapheme that a font may draw wider or narrower.
    Single,
}

/// Divides a row into pieces, each of which keeps its place whatever the font.
fn make_line(runs: &[Run], styles: &mut Styles) -> Line {
    let (mut pieces, mut shapes): Line = Default::default();
    for run in runs {
        let mut last_kind = PieceKind::Single;
        for (column, width, grapheme) in run.glyphs() {
            let (x, cells) = (f64::from(column) * CELL.0, f64::from(width) * CELL.0);
            let shape = find_shape(grapheme, x, (cells, CELL.1));
            let kind = match () {
                () if shape.is_some() => PieceKind::Shapes,
                () if grapheme.is_ascii() => PieceKind::Ascii,
                () => PieceKind::Single,
            };
            if let Some(shape) = shape {
                shapes.push((
                    shape.path.clone(),
                    hex_colour(run.style.colour),
                    shape.is_filled,
                    shape.opacity_of(run.style.is_dim),
                ));
            }
            match pieces.last_mut() {
                Some(piece) if kind != PieceKind::Single && kind == last_kind => {
                    piece.2.push_str(&clean(grapheme));
                    piece.1 += width;
                }
                _ => pieces.push((column, width, clean(grapheme), styles.find(run.style, kind == PieceKind::Shapes))),
            }
            last_kind = kind;
        }
    }
    (pieces, shapes)
}

/// Removes what would reorder or hide text.
fn clean(text: &str) -> String {
    text.chars().filter(|c| is_drawable(*c)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(lines: &str) -> String {
        let header = r#"{"version":2,"width":20,"height":3,"title":"A <demo>"}"#;
        draw_html(&Recording::parse(&format!("{header}\n{lines}\n")).unwrap(), HtmlOptions::default()).unwrap()
    }

    fn data(page: &str) -> serde_json::Value {
        let start = page.find("id=\"recording\">").unwrap() + "id=\"recording\">".len();
        serde_json::from_str(page[start..].split("</script>").next().unwrap()).unwrap()
    }

    #[test]
    fn lines_are_kept_once_and_frames_hold_what_changed() {
        let data = data(&page(
            "[0, \"o\", \"\\u001b[?25lone\"]\n[1, \"m\", \"Chapter\"]\n[1.5, \"o\", \"\\r\\n\\u001b[1mtwo\"]\n[2, \"o\", \"\\u001b[2J\\u001b[H\\u001b[0mone\"]",
        ));
        assert_eq!(data["lines"].as_array().unwrap().len(), 3, "{data:#}");
        assert_eq!(data["lines"][0][0], serde_json::json!([[0, 3, "one", 0]]));
        assert_eq!(
            data["frames"],
            serde_json::json!([[0, null, [0, 0, 1, 1, 2, 1]], [1500, null, [1, 2]], [2000, null, [1, 1]]])
        );
        assert_eq!((&data["chapters"], &data["duration"]), (&serde_json::json!([[1000, "Chapter"]]), &2000.into()));
        assert_eq!(data["styles"][1], serde_json::json!(["#e5e5e5", null, 1]));
    }

    #[test]
    fn pieces_keep_their_columns() {
        let data = data(&page("[0, \"o\", \"ab─█日é \\u001b[44mx\\u001b[0m  end\"]"));
        let pieces: Vec<(u16, u16, String, usize)> = serde_json::from_value(data["lines"][0][0].clone()).unwrap();
        let placed: Vec<(u16, u16, &str)> =
            pieces.iter().map(|(column, width, text, _)| (*column, *width, text.as_str())).collect();
        assert_eq!(placed, [(0, 2, "ab"), (2, 2, "─█"), (4, 2, "日"), (6, 1, "é"), (8, 1, "x"), (11, 3, "end")]);
        assert_eq!(data["lines"][0][1].as_array().unwrap().len(), 2);
    }

    #[test]
    fn text_of_a_recording_is_no_html_and_no_script() {
        let hostile = "</script><script>alert(1)</script><!--<img src=x onerror=alert(1)>\u{2028}\u{202e}";
        let marker = serde_json::json!([0, "m", hostile]);
        let output = serde_json::json!([0, "o", hostile]);
        let page = page(&format!("{output}\n{marker}"));
        assert_eq!(page.matches("<script").count(), 2, "{page}");
        assert_eq!(page.matches("</script>").count(), 2);
        assert!(!page.contains("<img") && !page.contains("<!--") && !page.contains('\u{202e}'));
        assert!(page.contains("<title>A &lt;demo&gt;</title>"));
        assert!(data(&page)["chapters"][0][1].as_str().unwrap().starts_with("</script>"));
        for external in ["http:", "https:", "src=", "@import", "url("] {
            let found = page.replace("http://www.w3.org/2000/svg", "");
            assert!(!found.replace("src=x", "").contains(external), "{external}");
        }
    }

    #[test]
    fn the_policy_allows_the_script_and_the_style_of_the_page() {
        let page = page("[0, \"o\", \"a\"]");
        for (start, end) in [("<script>", "</script>"), ("<style>", "</style>")] {
            let text = page.split(start).nth(1).unwrap().split(end).next().unwrap();
            assert!(page.contains(&format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))), "{start}");
        }
        assert!(page.contains("default-src 'none'") && !page.contains("unsafe") && !page.contains(" style="));
    }
}
