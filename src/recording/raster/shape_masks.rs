//! Characters that are drawn as shapes, so that they join their neighbours: lines, blocks, shades, quadrants, sextants and braille.

use super::canvas::GlyphMask;

/// Weights of the left, right, upper and lower arm of the lines from U+2500 on: 0 none, 1 light, 2 heavy. `-` is a character
/// of another kind.
const ARMS: &[&str] = &[
    "1100", "2200", "0011", "0022", "-", "-", "-", "-", "-", "-", "-", "-", "0101", "0201", "0102",
    "0202", // U+2500
    "1001", "2001", "1002", "2002", "0110", "0210", "0120", "0220", "1010", "2010", "1020", "2020", "0111", "0211",
    "0121", "0112", // U+2510
    "0122", "0221", "0212", "0222", "1011", "2011", "1021", "1012", "1022", "2021", "2012", "2022", "1101", "2101",
    "1201", "2201", // U+2520
    "1102", "2102", "1202", "2202", "1110", "2110", "1210", "2210", "1120", "2120", "1220", "2220", "1111", "2111",
    "1211", "2211", // U+2530
    "1121", "1112", "1122", "2121", "1221", "2112", "1212", "2221", "2212", "2122", "1222", "2222", "-", "-", "-",
    "-", // U+2540
];
/// The same from U+2574 on.
const HALF_ARMS: &[&str] =
    &["1000", "0010", "0100", "0001", "2000", "0020", "0200", "0002", "1200", "0012", "2100", "0021"];

/// Size of a cell and thickness of its lines, in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct CellGeometry {
    pub width: usize,
    pub height: usize,
    /// Thickness of a light line.
    pub line: usize,
}

/// Returns the mask of a character that has a shape; `None` if a font draws it.
pub(super) fn draw_shape(c: char, cell: CellGeometry) -> Option<GlyphMask> {
    line_mask(c, cell).or_else(|| block_mask(c, cell))
}

/// Returns first and last pixel (exclusive) of a line of this thickness in the middle of this length.
fn middle_band(length: usize, thickness: usize) -> (usize, usize) {
    let start = (length - thickness.min(length)) / 2;
    (start, start + thickness)
}

fn line_mask(c: char, cell: CellGeometry) -> Option<GlyphMask> {
    let code = u32::from(c);
    let arms = match code {
        0x2500..=0x254f => ARMS.get((code - 0x2500) as usize),
        0x2574..=0x257f => HALF_ARMS.get((code - 0x2574) as usize),
        _ => None,
    };
    match (arms, code) {
        (Some(arms), _) if *arms != "-" => Some(arms_mask(arms, cell)),
        (_, 0x2504..=0x250b | 0x254c..=0x254f) => Some(dashes_mask(code, cell)),
        (_, 0x2550 | 0x2551) => Some(double_mask(code == 0x2550, cell)),
        (_, 0x256d..=0x2570) => Some(corner_mask(c, cell)),
        (_, 0x2571..=0x2573) => Some(diagonal_mask(c, cell)),
        _ => None,
    }
}

fn arms_mask(arms: &str, cell: CellGeometry) -> GlyphMask {
    let weights: Vec<usize> =
        arms.bytes().map(|weight| [0, cell.line, 3 * cell.line][usize::from(weight - b'0')]).collect();
    let [left, right, up, down] = [weights[0], weights[1], weights[2], weights[3]];
    // An arm ends at the far side of the line that it meets.
    let horizontal = middle_band(cell.height, left.max(right).max(cell.line));
    let vertical = middle_band(cell.width, up.max(down).max(cell.line));
    let is_in = |at: usize, length, thickness: usize| {
        let (start, end) = middle_band(length, thickness);
        thickness > 0 && (start..end).contains(&at)
    };
    GlyphMask::from_fn((cell.width, cell.height), |x, y| {
        let is_covered = is_in(y, cell.height, left) && x < vertical.1
            || is_in(y, cell.height, right) && x >= vertical.0
            || is_in(x, cell.width, up) && y < horizontal.1
            || is_in(x, cell.width, down) && y >= horizontal.0;
        f32::from(u8::from(is_covered))
    })
}

fn dashes_mask(code: u32, cell: CellGeometry) -> GlyphMask {
    let count = match code {
        0x2504..=0x2507 => 3,
        0x2508..=0x250b => 4,
        _ => 2,
    };
    let (is_heavy, is_vertical) = (code % 2 == 1, matches!(code, 0x2506 | 0x2507 | 0x250a | 0x250b | 0x254e | 0x254f));
    let thickness = if is_heavy { 3 * cell.line } else { cell.line };
    GlyphMask::from_fn((cell.width, cell.height), |x, y| {
        let (along, length, across, breadth) =
            if is_vertical { (y, cell.height, x, cell.width) } else { (x, cell.width, y, cell.height) };
        let (start, end) = middle_band(breadth, thickness);
        // A gap of a third ends each dash.
        let is_gap = along * count % length * 3 >= length * 2;
        f32::from(u8::from((start..end).contains(&across) && !is_gap))
    })
}

fn double_mask(is_horizontal: bool, cell: CellGeometry) -> GlyphMask {
    GlyphMask::from_fn((cell.width, cell.height), |x, y| {
        let (at, length) = if is_horizontal { (y, cell.height) } else { (x, cell.width) };
        let ((start, end), (inner_start, inner_end)) =
            (middle_band(length, 3 * cell.line), middle_band(length, cell.line));
        f32::from(u8::from((start..end).contains(&at) && !(inner_start..inner_end).contains(&at)))
    })
}

/// Returns the middle of a light line.
fn line_middle(length: usize, cell: CellGeometry) -> f32 {
    middle_band(length, cell.line).0 as f32 + cell.line as f32 / 2.0
}

fn corner_mask(c: char, cell: CellGeometry) -> GlyphMask {
    let radius = (cell.width - cell.line) as f32 / 2.0;
    let (right, down) = (matches!(c, '╭' | '╰'), matches!(c, '╭' | '╮'));
    let [sign_x, sign_y] = [right, down].map(|is_positive| if is_positive { 1.0 } else { -1.0 });
    let (middle_x, middle_y) = (line_middle(cell.width, cell), line_middle(cell.height, cell));
    GlyphMask::from_fn((cell.width, cell.height), |x, y| {
        // Distances from the centre of the arc, towards the ends of the line.
        let along_x = (x as f32 + 0.5 - middle_x) * sign_x - radius;
        let along_y = (y as f32 + 0.5 - middle_y) * sign_y - radius;
        let distance = match (along_x >= 0.0, along_y >= 0.0) {
            (true, true) => return 0.0,
            (true, false) => along_y + radius,
            (false, true) => along_x + radius,
            (false, false) => along_x.hypot(along_y) - radius,
        };
        cell.line as f32 / 2.0 + 0.5 - distance.abs()
    })
}

fn diagonal_mask(c: char, cell: CellGeometry) -> GlyphMask {
    let (width, height) = (cell.width as f32, cell.height as f32);
    GlyphMask::from_fn((cell.width, cell.height), |x, y| {
        let (x, y) = (x as f32 + 0.5, y as f32 + 0.5);
        let distance = |x: f32| (x * height - y * width).abs() / width.hypot(height);
        let (falling, rising) = (distance(x), distance(width - x));
        let nearest = match c {
            '╱' => rising,
            '╲' => falling,
            _ => rising.min(falling),
        };
        cell.line as f32 / 2.0 + 0.5 - nearest
    })
}

/// Returns the mask of a character that divides its cell.
fn block_mask(c: char, cell: CellGeometry) -> Option<GlyphMask> {
    let code = u32::from(c);
    let eighths = match c {
        '▀' => [0, 0, 8, 4],
        '\u{2581}'..='\u{2588}' => [0, 8 - (code - 0x2580), 8, 8],
        '\u{2589}'..='\u{258f}' => [0, 0, 8 - (code - 0x2588), 8],
        '▐' => [4, 0, 8, 8],
        '▔' => [0, 0, 8, 1],
        '▕' => [7, 0, 8, 8],
        '░' | '▒' | '▓' => {
            let shade = (code - 0x2590) as f32 / 4.0;
            return Some(GlyphMask::from_fn((cell.width, cell.height), |_, _| shade));
        }
        '\u{2596}'..='\u{259f}' => {
            // Bits: upper left, upper right, lower left, lower right.
            let bits = [4, 8, 1, 13, 9, 7, 11, 2, 6, 14][(code - 0x2596) as usize];
            return Some(grid_mask(bits, (2, 2), cell));
        }
        '\u{1fb00}'..='\u{1fb3b}' => {
            // All patterns in order, without the two that are half blocks.
            let bits = code - 0x1fb00 + 1;
            let bits = if bits >= 21 { bits + 1 } else { bits };
            return Some(grid_mask(if bits >= 42 { bits + 1 } else { bits }, (2, 3), cell));
        }
        '\u{2800}'..='\u{28ff}' => return Some(braille_mask(code - 0x2800, cell)),
        _ => return None,
    };
    let pixels = |eighths: u32, length: usize| (eighths as usize * length + 4) / 8;
    let [left, right] = [eighths[0], eighths[2]].map(|eighths| pixels(eighths, cell.width));
    let [top, bottom] = [eighths[1], eighths[3]].map(|eighths| pixels(eighths, cell.height));
    Some(GlyphMask::from_fn((cell.width, cell.height), |x, y| {
        f32::from(u8::from((left..right).contains(&x) && (top..bottom).contains(&y)))
    }))
}

/// Fills parts of a cell that is divided into columns and rows; the lowest bit is the upper left part.
fn grid_mask(bits: u32, (columns, rows): (usize, usize), cell: CellGeometry) -> GlyphMask {
    GlyphMask::from_fn((cell.width, cell.height), |x, y| {
        let part = y * rows / cell.height * columns + x * columns / cell.width;
        f32::from(u8::from(bits >> part & 1 == 1))
    })
}

fn braille_mask(bits: u32, cell: CellGeometry) -> GlyphMask {
    let dot = (cell.width / 4).max(1);
    GlyphMask::from_fn((cell.width, cell.height), |x, y| {
        let (column, row) = (x * 2 / cell.width, y * 4 / cell.height);
        // Bits of the left and the right column, from the top.
        let bit = [[0, 1, 2, 6], [3, 4, 5, 7]][column.min(1)][row.min(3)];
        let is_in = |at: usize, index: usize, count: usize, length: usize| {
            let start = (2 * index + 1) * length / (2 * count) - dot / 2;
            (start..start + dot).contains(&at)
        };
        let is_dot = is_in(x, column, 2, cell.width) && is_in(y, row, 4, cell.height);
        f32::from(u8::from(is_dot && bits >> bit & 1 == 1))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELL: CellGeometry = CellGeometry { width: 9, height: 18, line: 1 };

    fn covers(c: char, x: usize, y: usize) -> bool {
        draw_shape(c, CELL).unwrap().coverage[y * CELL.width + x] > 0
    }

    /// Whether the shape reaches the left, right, upper and lower edge of its cell.
    fn edges(c: char) -> [bool; 4] {
        let columns = |x| (0..CELL.height).any(|y| covers(c, x, y));
        let rows = |y| (0..CELL.width).any(|x| covers(c, x, y));
        [columns(0), columns(CELL.width - 1), rows(0), rows(CELL.height - 1)]
    }

    #[test]
    fn lines_reach_the_edges_that_their_names_say() {
        for (c, reached) in [
            ('─', [true, true, false, false]),
            ('│', [false, false, true, true]),
            ('┌', [false, true, false, true]),
            ('┘', [true, false, true, false]),
            ('├', [false, true, true, true]),
            ('┳', [true, true, false, true]),
            ('╀', [true; 4]),
            ('╭', [false, true, false, true]),
            ('╯', [true, false, true, false]),
            ('╴', [true, false, false, false]),
            ('╿', [false, false, true, true]),
            ('═', [true, true, false, false]),
            ('╳', [true; 4]),
        ] {
            assert_eq!(edges(c), reached, "{c}");
        }
        // All light lines meet in the same row and column.
        assert!(
            covers('─', 0, 8) && covers('╭', 8, 8) && covers('┤', 0, 8) && !covers('╭', 8, 7) && !covers('╭', 8, 9)
        );
        assert!(covers('│', 4, 0) && covers('╭', 4, 17) && covers('┴', 4, 0) && !covers('╭', 3, 17));
    }

    #[test]
    fn blocks_fill_their_part_of_the_cell() {
        let covered = |c| draw_shape(c, CELL).unwrap().coverage.iter().filter(|coverage| **coverage > 0).count();
        assert_eq!((covered('█'), covered('▀'), covered('▄'), covered('▌') + covered('▐')), (162, 81, 81, 162));
        for (left, right) in [('▘', '▟'), ('▝', '▙'), ('▖', '▜'), ('▗', '▛'), ('▚', '▞'), ('\u{1fb00}', '\u{1fb3b}')]
        {
            let [left, right] = [left, right].map(|c| draw_shape(c, CELL).unwrap().coverage);
            assert!(left.iter().zip(&right).all(|(left, right)| left != right), "each pixel is in one of both");
        }
        assert!(covers('▘', 0, 0) && covers('▝', 8, 0) && covers('▖', 0, 17) && covers('▗', 8, 17));
        assert_eq!((covered('\u{2800}'), covered('\u{28ff}'), covered('\u{2801}')), (0, 32, 4));
        assert_eq!([draw_shape('░', CELL).unwrap().coverage[0], draw_shape('▓', CELL).unwrap().coverage[0]], [68, 187]);
        assert_eq!(
            [draw_shape('a', CELL), draw_shape('╬', CELL), draw_shape('\u{2580}', CELL).map(|_| GlyphMask::default())],
            [None, None, Some(GlyphMask::default())]
        );
    }

    #[test]
    fn every_shape_fits_into_its_cell_at_each_scale() {
        for scale in 1..=3 {
            let cell = CellGeometry { width: 9 * scale, height: 18 * scale, line: scale };
            for c in ('\u{2500}'..='\u{259f}').chain('\u{2800}'..='\u{28ff}').chain('\u{1fb00}'..='\u{1fb3b}') {
                if let Some(mask) = draw_shape(c, cell) {
                    assert_eq!((mask.width, mask.coverage.len()), (cell.width, cell.width * cell.height));
                    assert!(mask.coverage.iter().any(|coverage| *coverage > 0) || c == '\u{2800}', "{c}");
                }
            }
        }
    }
}
