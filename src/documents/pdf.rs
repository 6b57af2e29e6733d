//! Text of a PDF. Its characters are joined to words and lines by their positions on the page, in the order of the file.

use hayro_interpret::font::GlyphRun;
use hayro_interpret::hayro_cmap::BfString;
use hayro_interpret::hayro_syntax::{LoadPdfError, Pdf};
use hayro_interpret::kurbo::{Affine, BezPath, Point, Rect, Vec2};
use hayro_interpret::{
    BlendMode, ClipPath, Context, Device, DrawMode, DrawProps, Image, ImageDrawProps, InterpreterCache,
    InterpreterSettings, SoftMask, interpret_page,
};

/// Bytes of text after which nothing more is read, about.
pub(super) const MAX_TEXT: usize = 4 << 20;
/// Units of a font's coordinates in one em, as the interpreter scales them.
const UNITS_PER_EM: f64 = 1000.0;
/// Width of a gap that separates two words, in em.
const WORD_GAP: f64 = 0.17;
/// Distance across the line after which another line begins, in em.
const LINE_SHIFT: f64 = 0.4;
/// Distance across the line after which another paragraph begins, in em.
const PARAGRAPH_SHIFT: f64 = 1.9;

/// Returns the text of a PDF, with a line before each page.
///
/// # Errors
/// Why there is none, worded to follow a colon.
pub(super) fn extract_text(bytes: Vec<u8>) -> Result<String, String> {
    let pdf = Pdf::new(bytes).map_err(|error| match error {
        LoadPdfError::Decryption(_) => "it is encrypted with a password".to_owned(),
        LoadPdfError::Invalid => "it is damaged or no PDF".to_owned(),
    })?;
    let count = pdf.pages().len();
    let cache = InterpreterCache::new();
    let (mut text, mut has_text, mut unreadable) = (String::new(), false, 0);
    for (index, page) in pdf.pages().iter().enumerate() {
        let extent = Rect::new(0.0, 0.0, 1.0, 1.0);
        let mut context = Context::new(Affine::IDENTITY, extent, &cache, pdf.xref(), InterpreterSettings::default());
        let mut lines = PageLines::default();
        interpret_page(page, &mut context, &mut lines);
        unreadable += lines.unreadable;
        let page_text = lines.text.trim();
        has_text |= !page_text.is_empty();
        text.push_str(&format!("[page {} of {count}]\n{page_text}\n\n", index + 1));
        if text.len() > MAX_TEXT {
            text.push_str(&format!("[the text after the first {MAX_TEXT} bytes is missing]\n"));
            break;
        }
    }
    if !has_text {
        return Err(match unreadable {
            0 => "it has no text; its pages may be pictures".to_owned(),
            _ => "it does not say which characters its glyphs are".to_owned(),
        });
    }
    if unreadable > 0 {
        text.push_str(&format!(
            "[missing, because the PDF does not say which characters they are: {unreadable} glyphs]\n"
        ));
    }
    Ok(text)
}

/// Collects the characters of a page.
#[derive(Default)]
struct PageLines {
    text: String,
    /// Where the last character ended, its direction of writing, and its size.
    last: Option<(Point, Vec2, f64)>,
    /// Number of glyphs whose character is not known.
    unreadable: usize,
}

impl PageLines {
    /// Adds a character that begins and ends at these points, unless there is too much text already.
    fn add(&mut self, character: &str, start: Point, end: Point, size: f64) {
        if self.text.len() > MAX_TEXT {
            return;
        }
        let direction = match end - start {
            vector if vector.hypot() > f64::EPSILON => vector.normalize(),
            _ => self.last.map_or(Vec2::new(1.0, 0.0), |(_, direction, _)| direction),
        };
        if let Some((last_end, last_direction, last_size)) = self.last {
            let em = size.max(last_size).max(f64::MIN_POSITIVE);
            let shift = start - last_end;
            let (along, across) = (shift.dot(last_direction) / em, shift.cross(last_direction).abs() / em);
            let separator = if across > PARAGRAPH_SHIFT {
                "\n\n"
            } else if across > LINE_SHIFT || along < -2.0 {
                "\n"
            } else if along > WORD_GAP {
                " "
            } else {
                ""
            };
            let is_separated = self.text.ends_with(char::is_whitespace) || character.starts_with(char::is_whitespace);
            if separator.starts_with('\n') {
                self.text.truncate(self.text.trim_end_matches(' ').len());
                self.text.push_str(separator);
            } else if !is_separated {
                self.text.push_str(separator);
            }
        }
        self.text.push_str(character);
        self.last = Some((end, direction, size));
    }
}

impl Device<'_> for PageLines {
    fn draw_glyph_run(&mut self, run: &GlyphRun<'_, '_>, props: DrawProps<'_>, _: &DrawMode) {
        use hayro_interpret::font::Glyph;
        for glyph in run.glyphs() {
            let place = props.transform * glyph.transform();
            let start = place * Point::ZERO;
            let size = (place * Point::new(0.0, UNITS_PER_EM) - start).hypot();
            let advance = match &**glyph {
                Glyph::Outline(outline) => outline.advance_width(),
                Glyph::Type3(drawn) => drawn.advance_width(),
            };
            let end = place * Point::new(advance.map_or(UNITS_PER_EM / 2.0, f64::from), 0.0);
            match glyph.as_unicode() {
                Some(BfString::Char(character)) => self.add(character.encode_utf8(&mut [0; 4]), start, end, size),
                Some(BfString::String(characters)) => self.add(&characters, start, end, size),
                None => self.unreadable += 1,
            }
        }
    }

    fn draw_path(&mut self, _: &BezPath, _: DrawProps<'_>, _: &DrawMode) {}
    fn push_clip_path(&mut self, _: &ClipPath) {}
    fn push_transparency_group(&mut self, _: f32, _: Option<SoftMask<'_>>, _: BlendMode) {}
    fn draw_image(&mut self, _: Image<'_, '_>, _: ImageDrawProps<'_>) {}
    fn pop_clip(&mut self) {}
    fn pop_transparency_group(&mut self) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Makes a PDF of one page in Helvetica whose content is this.
    fn make_pdf(content: &str) -> Vec<u8> {
        format!(
            "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n\
             3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents 4 0 R/Resources<</Font<</F 5 0 R>>>>>>endobj\n\
             4 0 obj<</Length {}>>stream\n{content}\nendstream endobj\n\
             5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\ntrailer<</Root 1 0 R>>\n",
            content.len()
        )
        .into_bytes()
    }

    fn text_of(content: &str) -> String {
        extract_text(make_pdf(content)).unwrap()
    }

    #[test]
    fn joins_characters_to_words_lines_and_paragraphs() {
        let text = text_of(
            "BT /F 12 Tf 50 700 Td (Hello world) Tj 0 -14 Td [(ker) -20 (ned ) 10 (words) -400 (apart)] TJ \
             0 -40 Td (A paragraph) Tj ET",
        );
        assert_eq!(text, "[page 1 of 1]\nHello world\nkerned words apart\n\nA paragraph\n\n");
    }

    #[test]
    fn text_that_is_scaled_or_rotated_is_read() {
        let text = text_of("BT /F 1 Tf 0 20 -20 0 300 100 Tm (Turned text) Tj ET");
        assert_eq!(text, "[page 1 of 1]\nTurned text\n\n");
    }

    #[test]
    fn says_why_there_is_no_text() {
        let none = extract_text(make_pdf("0 0 10 10 re f")).unwrap_err();
        assert_eq!(none, "it has no text; its pages may be pictures");
        assert_eq!(extract_text(b"%PDF-1.4 nothing".to_vec()).unwrap_err(), "it is damaged or no PDF");
    }

    #[test]
    fn text_without_end_is_cut_and_that_is_said() {
        let line = format!("({}) Tj ", "a".repeat(1000));
        let text = text_of(&format!("BT /F 12 Tf {} ET", line.repeat(MAX_TEXT / 1000 + 100)));
        assert!(text.len() < MAX_TEXT + 1000 && text.ends_with(" bytes is missing]\n"), "{}", text.len());
    }

    proptest! {
        #[test]
        fn damaged_pdfs_do_no_harm(at in 0..600_usize, length in 0..40_usize, noise in proptest::collection::vec(any::<u8>(), 0..12)) {
            let whole = make_pdf("BT /F 12 Tf 50 700 Td (Hello world) Tj ET");
            let at = at.min(whole.len());
            let end = (at + length).min(whole.len());
            let _ = extract_text([&whole[..at], &noise, &whole[end..]].concat());
        }
    }
}
