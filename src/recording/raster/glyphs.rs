//! Masks of glyphs: shapes of lines and blocks, outlines of the bundled font and of fonts of the system.

use super::canvas::{GlyphMask, quantize_coverage};
use super::shape_masks::{CellGeometry, draw_shape};
use super::system_fonts::SystemFonts;
use crate::text::hidden_chars::{CharClass, classify_char};
use ab_glyph_rasterizer::{Point, Rasterizer, point};
use skrifa::instance::{LocationRef, Size};
use skrifa::outline::{DrawSettings, OutlinePen};
use skrifa::raw::FileRef;
use skrifa::{FontRef, GlyphId, MetadataProvider};
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;
use unicode_normalization::UnicodeNormalization;

/// A part of DejaVu Sans Mono. Its licence is next to it.
const REGULAR: &[u8] = include_bytes!("fonts/DejaVuSansMono.ttf");
const BOLD: &[u8] = include_bytes!("fonts/DejaVuSansMono-Bold.ttf");
/// Width of a glyph of the bundled font in parts of its size.
const ADVANCE: f32 = 1233.0 / 2048.0;
/// Distance from the top of a cell to the baseline, in parts of its height.
const BASELINE: f32 = 14.0 / 18.0;
/// Slope of italic text.
const SLANT: f32 = 0.2;
/// Maximum number of glyphs of each style that are kept.
const MAX_GLYPHS: usize = 20_000;

/// How a glyph is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct GlyphStyle {
    pub is_bold: bool,
    pub is_italic: bool,
    /// Width in cells.
    pub cells: u16,
}

/// Draws glyphs for cells of one size, each once.
pub(super) struct GlyphSource {
    cell: CellGeometry,
    /// Fonts that were read, in the order in which they are searched after the bundled ones.
    fonts: Vec<Vec<u8>>,
    /// `None` until a character needs them.
    system_fonts: Option<SystemFonts>,
    folders: Vec<PathBuf>,
    masks: HashMap<GlyphStyle, HashMap<String, Arc<GlyphMask>>>,
}

impl GlyphSource {
    /// Uses the fonts in these folders for characters that the bundled font does not have.
    pub fn new(cell: CellGeometry, folders: Vec<PathBuf>) -> Self {
        Self { cell, fonts: Vec::new(), system_fonts: None, folders, masks: HashMap::new() }
    }

    /// Returns the mask of a grapheme.
    pub fn draw(&mut self, grapheme: &str, style: GlyphStyle) -> Arc<GlyphMask> {
        if let Some(mask) = self.masks.get(&style).and_then(|masks| masks.get(grapheme)) {
            return mask.clone();
        }
        let mask = Arc::new(self.draw_uncached(grapheme, style));
        let masks = self.masks.entry(style).or_default();
        if masks.len() < MAX_GLYPHS {
            masks.insert(grapheme.to_owned(), mask.clone());
        }
        mask
    }

    fn draw_uncached(&mut self, grapheme: &str, style: GlyphStyle) -> GlyphMask {
        // The others have no glyph: they only change or join characters.
        let is_drawn = |c: &char| {
            !matches!(
                classify_char(*c),
                CharClass::Control | CharClass::Separator | CharClass::Hidden | CharClass::Joiner
            )
        };
        // A sequence of emoji is drawn as its first one.
        let is_sequence = grapheme.contains(['\u{200d}', '\u{fe0f}'])
            || grapheme.chars().any(|c| matches!(c, '\u{1f3fb}'..='\u{1f3ff}' | '\u{1f1e6}'..='\u{1f1ff}'));
        let composed: Vec<char> = grapheme.nfc().filter(is_drawn).take(if is_sequence { 1 } else { 8 }).collect();
        let (Some(first), shaped) = (composed.first(), composed.len() == 1) else { return GlyphMask::default() };
        if first.is_whitespace() && shaped {
            return GlyphMask::default();
        }
        if let Some(mask) = draw_shape(*first, self.cell).filter(|_| shaped) {
            return mask;
        }
        let mut path = Vec::new();
        for (index, c) in composed.iter().enumerate() {
            match self.outline(*c, style) {
                Some(outline) => path.extend(outline),
                None if index == 0 => return self.missing_glyph(style),
                None => {}
            }
        }
        rasterize(&path)
    }

    /// Returns the outline in pixels from the top left of the cell; `None` if no font has it.
    fn outline(&mut self, c: char, style: GlyphStyle) -> Option<Vec<PathSegment>> {
        let bundled = if style.is_bold { [BOLD, REGULAR] } else { [REGULAR, REGULAR] };
        for (index, bytes) in bundled.into_iter().enumerate() {
            let Ok(font) = FontRef::new(bytes) else { continue };
            if let Some(glyph) = find_glyph(&font, c) {
                return outline_glyph(
                    &font,
                    glyph,
                    GlyphStyle { is_bold: style.is_bold && index == 1, ..style },
                    self.cell,
                );
            }
        }
        let mut index = 0;
        loop {
            if index == self.fonts.len() {
                let folders = &self.folders;
                let bytes = self.system_fonts.get_or_insert_with(|| SystemFonts::list(folders)).read_next()?;
                self.fonts.push(bytes);
            }
            let file = FileRef::new(&self.fonts[index]).ok();
            let found = file.iter().flat_map(|file| file.fonts()).flatten().find_map(|font| {
                let glyph = find_glyph(&font, c)?;
                outline_glyph(&font, glyph, style, self.cell).filter(|path| !path.is_empty())
            });
            if found.is_some() {
                return found;
            }
            index += 1;
        }
    }

    /// Returns a box.
    fn missing_glyph(&self, style: GlyphStyle) -> GlyphMask {
        let line = self.cell.line;
        let (width, height) = (self.cell.width * usize::from(style.cells.max(1)), self.cell.height);
        let (left, right, top, bottom) = (line, width - line, 3 * line, height - 3 * line);
        GlyphMask::from_fn((width, height), |x, y| {
            let is_inside =
                |inset: usize| (left + inset..right - inset).contains(&x) && (top + inset..bottom - inset).contains(&y);
            f32::from(u8::from(is_inside(0) && !is_inside(line)))
        })
    }
}

fn find_glyph(font: &FontRef<'_>, c: char) -> Option<GlyphId> {
    font.charmap().map(c).filter(|glyph| glyph.to_u32() != 0)
}

/// Returns the outline of a glyph that is placed in its cell. A glyph that is wider than its cells is made smaller.
fn outline_glyph(
    font: &FontRef<'_>,
    glyph: GlyphId,
    style: GlyphStyle,
    cell: CellGeometry,
) -> Option<Vec<PathSegment>> {
    let size = cell.width as f32 / ADVANCE;
    let available = (usize::from(style.cells.max(1)) * cell.width) as f32;
    let advance = font.glyph_metrics(Size::new(size), LocationRef::default()).advance_width(glyph)?;
    let scale = if advance > available { available / advance } else { 1.0 };
    let outline = font.outline_glyphs().get(glyph)?;
    let x = ((available - advance * scale) / 2.0).max(0.0);
    let mut pen = PathPen {
        origin: (x, (BASELINE * cell.height as f32).round()),
        slant: if style.is_italic { SLANT } else { 0.0 },
        ..PathPen::default()
    };
    outline.draw(DrawSettings::unhinted(Size::new(size * scale), LocationRef::default()), &mut pen).ok()?;
    pen.close();
    let mut path = pen.path;
    if style.is_bold {
        // No bold font has it: the same outline again, a little to the right.
        let offset = cell.line as f32 * 0.6;
        path.extend(path.clone().iter().map(|segment| segment.map(|place| point(place.x + offset, place.y))));
    }
    Some(path)
}

/// A part of an outline.
#[derive(Debug, Clone, Copy)]
enum PathSegment {
    Line(Point, Point),
    Quadratic(Point, Point, Point),
    Cubic(Point, Point, Point, Point),
}

impl PathSegment {
    fn map(&self, change: impl Fn(Point) -> Point) -> Self {
        match *self {
            Self::Line(a, b) => Self::Line(change(a), change(b)),
            Self::Quadratic(a, b, c) => Self::Quadratic(change(a), change(b), change(c)),
            Self::Cubic(a, b, c, d) => Self::Cubic(change(a), change(b), change(c), change(d)),
        }
    }

    fn points(&self) -> Vec<Point> {
        match *self {
            Self::Line(a, b) => vec![a, b],
            Self::Quadratic(a, b, c) => vec![a, b, c],
            Self::Cubic(a, b, c, d) => vec![a, b, c, d],
        }
    }
}

/// Collects an outline in pixels.
#[derive(Default)]
struct PathPen {
    origin: (f32, f32),
    slant: f32,
    start: Point,
    last: Point,
    path: Vec<PathSegment>,
}

impl PathPen {
    fn place(&self, x: f32, y: f32) -> Point {
        point(self.origin.0 + x + y * self.slant, self.origin.1 - y)
    }
}

impl OutlinePen for PathPen {
    fn move_to(&mut self, x: f32, y: f32) {
        self.close();
        self.start = self.place(x, y);
        self.last = self.start;
    }

    fn line_to(&mut self, x: f32, y: f32) {
        let end = self.place(x, y);
        self.path.push(PathSegment::Line(self.last, end));
        self.last = end;
    }

    fn quad_to(&mut self, control_x: f32, control_y: f32, x: f32, y: f32) {
        let (control, end) = (self.place(control_x, control_y), self.place(x, y));
        self.path.push(PathSegment::Quadratic(self.last, control, end));
        self.last = end;
    }

    fn curve_to(&mut self, first_x: f32, first_y: f32, second_x: f32, second_y: f32, x: f32, y: f32) {
        let (first, second, end) = (self.place(first_x, first_y), self.place(second_x, second_y), self.place(x, y));
        self.path.push(PathSegment::Cubic(self.last, first, second, end));
        self.last = end;
    }

    fn close(&mut self) {
        if self.last != self.start {
            self.path.push(PathSegment::Line(self.last, self.start));
            self.last = self.start;
        }
    }
}

/// Returns the coverage of an outline. One of an unusual size is left out.
fn rasterize(path: &[PathSegment]) -> GlyphMask {
    /// Maximum distance of an outline from its cell, in pixels.
    const MAX_EXTENT: f32 = 500.0;
    let points: Vec<Point> = path.iter().flat_map(PathSegment::points).collect();
    let fold = |value: fn(&Point) -> f32, choose: fn(f32, f32) -> f32, start: f32| {
        points.iter().map(value).fold(start, choose)
    };
    let (left, right) = (fold(|p| p.x, f32::min, MAX_EXTENT).floor(), fold(|p| p.x, f32::max, -MAX_EXTENT).ceil());
    let (top, bottom) = (fold(|p| p.y, f32::min, MAX_EXTENT).floor(), fold(|p| p.y, f32::max, -MAX_EXTENT).ceil());
    let is_usual = points.iter().all(|p| p.x.abs() < MAX_EXTENT && p.y.abs() < MAX_EXTENT);
    if left >= right || top >= bottom || !is_usual {
        return GlyphMask::default();
    }
    let (width, height) = ((right - left) as usize, (bottom - top) as usize);
    let mut rasterizer = Rasterizer::new(width, height);
    for segment in path {
        match segment.map(|p| point(p.x - left, p.y - top)) {
            PathSegment::Line(a, b) => rasterizer.draw_line(a, b),
            PathSegment::Quadratic(a, b, c) => rasterizer.draw_quad(a, b, c),
            PathSegment::Cubic(a, b, c, d) => rasterizer.draw_cubic(a, b, c, d),
        }
    }
    let mut coverage = vec![0; width * height];
    rasterizer.for_each_pixel(|index, covered| coverage[index] = quantize_coverage(covered));
    GlyphMask { left: left as i32, top: top as i32, width, coverage }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELL: CellGeometry = CellGeometry { width: 9, height: 18, line: 1 };
    const PLAIN: GlyphStyle = GlyphStyle { is_bold: false, is_italic: false, cells: 1 };

    fn ink(mask: &GlyphMask) -> u32 {
        mask.coverage.iter().map(|coverage| u32::from(*coverage)).sum()
    }

    #[test]
    fn text_symbols_and_accents_come_from_the_bundled_font() {
        let mut source = GlyphSource::new(CELL, Vec::new());
        let missing = source.missing_glyph(PLAIN);
        for text in ["a", "W", "ß", "Ω", "Ж", "é", "e\u{301}", "…", "→", "✓", "●", "★", "▸", "⏎", "≤", "€"]
        {
            let mask = source.draw(text, PLAIN);
            assert!(ink(&mask) > 255 && *mask != missing, "{text}");
            let bottom = mask.top + (mask.coverage.len() / mask.width) as i32;
            assert!(
                mask.top >= 0 && bottom <= 18 && mask.left >= -3 && mask.left + mask.width as i32 <= 12,
                "{text}: {mask:?}"
            );
        }
        assert_eq!(source.draw("e\u{301}", PLAIN), source.draw("é", PLAIN));
        let bold = source.draw("a", GlyphStyle { is_bold: true, ..PLAIN });
        assert!(ink(&bold) > ink(&source.draw("a", PLAIN)) * 11 / 10);
        let italic = source.draw("l", GlyphStyle { is_italic: true, ..PLAIN });
        assert_ne!(italic, source.draw("l", PLAIN));
        // The bundled font has no bold form of this one.
        assert!(ink(&source.draw("✓", GlyphStyle { is_bold: true, ..PLAIN })) > ink(&source.draw("✓", PLAIN)));
    }

    #[test]
    fn a_character_without_a_font_is_a_box_of_its_width() {
        let mut source = GlyphSource::new(CELL, Vec::new());
        for text in ["😀", "日", "👩\u{200d}🚀", "🇩🇪"] {
            let mask = source.draw(text, GlyphStyle { cells: 2, ..PLAIN });
            assert_eq!((mask.width, mask.coverage.len()), (18, 18 * 18), "{text}");
            let covered = |x: usize, y: usize| mask.coverage[y * 18 + x] > 0;
            assert!(covered(1, 3) && covered(16, 14) && !covered(9, 9) && !covered(0, 0), "{text}");
        }
        for text in [" ", "", "\u{200b}", "\u{a0}", "\u{7}"] {
            assert_eq!(ink(&source.draw(text, PLAIN)), 0, "{text:?}");
        }
    }

    #[test]
    fn fonts_of_the_system_are_used_and_damaged_ones_are_skipped() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.ttf"), b"OTTOnonsense").unwrap();
        for (index, byte) in (0..REGULAR.len()).step_by(REGULAR.len() / 40).enumerate() {
            let mut damaged = REGULAR.to_vec();
            damaged[byte..].iter_mut().take(64).for_each(|byte| *byte = byte.wrapping_mul(31).wrapping_add(7));
            std::fs::write(folder.path().join(format!("b{index}.ttf")), damaged).unwrap();
        }
        let mut source = GlyphSource::new(CELL, vec![folder.path().to_owned()]);
        let wide = GlyphStyle { cells: 2, ..PLAIN };
        assert_eq!(*source.draw("語", wide), source.missing_glyph(wide));
        assert!(source.fonts.len() > 40, "all were read");
    }
}
