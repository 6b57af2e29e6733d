//! Shapes of light lines, round corners and rectangular blocks, which must reach the edges of their cells. Fonts draw all other
//! characters.

use std::fmt::Write;

/// Width of a light line in pixels.
const LINE_WIDTH: f64 = 1.0;
/// Opacity of dim text.
pub(super) const DIM_OPACITY: f64 = 0.6;
/// Radius of a round corner.
const RADIUS: f64 = 4.0;

/// The shape of a character: the data of a path, filled or drawn as a line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct GlyphShape {
    /// Data of an SVG path.
    pub path: String,
    pub is_filled: bool,
    /// Opacity of the shades; 1 otherwise.
    opacity: f64,
}

impl GlyphShape {
    /// Returns the opacity of normal or dim text.
    pub(super) fn opacity_of(&self, is_dim: bool) -> f64 {
        self.opacity * if is_dim { DIM_OPACITY } else { 1.0 }
    }

    /// Returns the SVG element in this colour.
    pub(super) fn to_element(&self, colour: &str, is_dim: bool) -> String {
        let opacity = self.opacity_of(is_dim);
        let opacity = if opacity < 1.0 { format!(" opacity=\"{opacity:.2}\"") } else { String::new() };
        match self.is_filled {
            true => {
                format!("<path d=\"{}\" fill=\"{colour}\" shape-rendering=\"crispEdges\"{opacity}/>", self.path)
            }
            false => format!(
                "<path d=\"{}\" fill=\"none\" stroke=\"{colour}\" stroke-width=\"{LINE_WIDTH}\"{opacity}/>",
                self.path
            ),
        }
    }
}

/// Returns the shape of a grapheme whose cell begins at `x` and has this width and height; `None` if a font draws it.
pub(super) fn find_shape(grapheme: &str, x: f64, cell: (f64, f64)) -> Option<GlyphShape> {
    let mut chars = grapheme.chars();
    let (c, None) = (chars.next()?, chars.next()) else { return None };
    block_shape(c, x, cell).or_else(|| line_shape(c, x, cell))
}

/// Returns the shape of a block. Each is a rectangle in eighths of the cell: left, top, right, bottom.
fn block_shape(c: char, x: f64, (width, height): (f64, f64)) -> Option<GlyphShape> {
    let code = u32::from(c);
    let (left, top, right, bottom, opacity) = match c {
        '▀' => (0, 0, 8, 4, 1.0),
        '\u{2581}'..='\u{2588}' => (0, 8 - (code - 0x2580), 8, 8, 1.0),
        '\u{2589}'..='\u{258f}' => (0, 0, 8 - (code - 0x2588), 8, 1.0),
        '▐' => (4, 0, 8, 8, 1.0),
        '░' => (0, 0, 8, 8, 0.25),
        '▒' => (0, 0, 8, 8, 0.5),
        '▓' => (0, 0, 8, 8, 0.75),
        '▔' => (0, 0, 8, 1, 1.0),
        '▕' => (7, 0, 8, 8, 1.0),
        _ => return None,
    };
    let [left, right] = [left, right].map(|eighths| x + f64::from(eighths) / 8.0 * width);
    let [top, bottom] = [top, bottom].map(|eighths| f64::from(eighths) / 8.0 * height);
    let path = format!("M{left:.2} {top:.2}H{right:.2}V{bottom:.2}H{left:.2}Z");
    Some(GlyphShape { path, is_filled: true, opacity })
}

/// Returns the shape of a light line.
fn line_shape(c: char, x: f64, (width, height): (f64, f64)) -> Option<GlyphShape> {
    let (middle_x, middle_y, right) = (x + width / 2.0, height / 2.0, x + width);
    // Whether the line reaches the left, right, upper and lower edge.
    let edges = match c {
        '─' => [true, true, false, false],
        '│' => [false, false, true, true],
        '┌' => [false, true, false, true],
        '┐' => [true, false, false, true],
        '└' => [false, true, true, false],
        '┘' => [true, false, true, false],
        '├' => [false, true, true, true],
        '┤' => [true, false, true, true],
        '┬' => [true, true, false, true],
        '┴' => [true, true, true, false],
        '┼' => [true; 4],
        '╭' | '╮' | '╰' | '╯' => {
            let (side, side_x) =
                if matches!(c, '╭' | '╰') { (right, middle_x + RADIUS) } else { (x, middle_x - RADIUS) };
            let (end, end_y) =
                if matches!(c, '╭' | '╮') { (height, middle_y + RADIUS) } else { (0.0, middle_y - RADIUS) };
            let path = format!(
                "M{side:.2} {middle_y:.2}H{side_x:.2}Q{middle_x:.2} {middle_y:.2} {middle_x:.2} {end_y:.2}V{end:.2}"
            );
            return Some(GlyphShape { path, is_filled: false, opacity: 1.0 });
        }
        _ => return None,
    };
    let ends = [(x, middle_y), (right, middle_y), (middle_x, 0.0), (middle_x, height)];
    let mut path = String::new();
    for (end, _) in ends.iter().zip(edges).filter(|(_, is_reached)| *is_reached) {
        let _ = write!(path, "M{middle_x:.2} {middle_y:.2}L{:.2} {:.2}", end.0, end.1);
    }
    Some(GlyphShape { path, is_filled: false, opacity: 1.0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELL: (f64, f64) = (8.0, 16.0);

    #[test]
    fn blocks_reach_the_edges_of_their_cell() {
        for (c, path) in [
            ('█', "M8.00 0.00H16.00V16.00H8.00Z"),
            ('▀', "M8.00 0.00H16.00V8.00H8.00Z"),
            ('▄', "M8.00 8.00H16.00V16.00H8.00Z"),
            ('▁', "M8.00 14.00H16.00V16.00H8.00Z"),
            ('▌', "M8.00 0.00H12.00V16.00H8.00Z"),
            ('▐', "M12.00 0.00H16.00V16.00H12.00Z"),
            ('▏', "M8.00 0.00H9.00V16.00H8.00Z"),
        ] {
            assert_eq!(find_shape(&c.to_string(), 8.0, CELL).unwrap().path, path, "{c}");
        }
        assert_eq!(
            find_shape("▒", 0.0, CELL).unwrap().to_element("#fff", true),
            "<path d=\"M0.00 0.00H8.00V16.00H0.00Z\" fill=\"#fff\" shape-rendering=\"crispEdges\" opacity=\"0.30\"/>"
        );
    }

    #[test]
    fn lines_join_in_the_middle() {
        assert_eq!(find_shape("─", 0.0, CELL).unwrap().path, "M4.00 8.00L0.00 8.00M4.00 8.00L8.00 8.00");
        assert_eq!(find_shape("┌", 0.0, CELL).unwrap().path, "M4.00 8.00L8.00 8.00M4.00 8.00L4.00 16.00");
        assert_eq!(find_shape("╯", 0.0, CELL).unwrap().path, "M0.00 8.00H0.00Q4.00 8.00 4.00 4.00V0.00");
        assert_eq!(
            (find_shape("a", 0.0, CELL), find_shape("日本", 0.0, CELL), find_shape("─\u{301}", 0.0, CELL)),
            (None, None, None)
        );
    }
}
