//! Encodes pictures as sixel graphics: bands of six rows of pixels, in which each colour is drawn over the ones before.

use color_quant::NeuQuant;
use image::RgbaImage;
use std::collections::{BTreeSet, HashMap};
use std::io::Write as _;

/// Maximum bytes of all strips of a picture. A picture that takes more gets fewer colours.
pub(super) const MAX_BYTES: usize = 4_000_000;
/// Sizes of the palette, tried in this order until the result is small enough. Terminals have 256 colours or more.
const COLOUR_COUNTS: [usize; 3] = [256, 128, 64];
/// One of this many pixels is sampled to find the colours.
const SAMPLED_PIXELS: i32 = 10;
/// Least opacity of a pixel that is drawn: a pixel is drawn or not.
const MIN_ALPHA: u8 = 128;
/// Rows of pixels in a band.
const BAND_ROWS: u32 = 6;
/// Character of a column of a band in which nothing is drawn. Each row adds a bit, the first one the lowest.
const EMPTY_COLUMN: u8 = b'?';
/// Least number of equal characters for which their number and one of them is shorter.
const MIN_REPEATED: usize = 4;

/// Low bits of red, green and blue that are ignored when the nearest colour of the palette is searched.
const IGNORED_BITS: u8 = 2;

/// Colours of a picture, and the number of each.
struct Palette {
    /// Red, green and blue.
    colours: Vec<[u8; 3]>,
    /// By the colours of pixels without their ignored bits.
    numbers: HashMap<[u8; 3], u8>,
    ignored_bits: u8,
}

/// Encodes the strips of a picture, each of this height. All use the same colours.
///
/// # Errors
/// That it is too large.
pub(super) fn encode_strips(picture: &RgbaImage, height: u32) -> Result<Vec<Vec<u8>>, String> {
    encode_within(picture, height, MAX_BYTES)
}

fn encode_within(picture: &RgbaImage, height: u32, max_bytes: usize) -> Result<Vec<Vec<u8>>, String> {
    let distinct = distinct_colours(picture);
    for count in COLOUR_COUNTS {
        let palette = Palette::new(picture, &distinct, count);
        let strips = (0..picture.height()).step_by(height.max(1) as usize);
        let strips: Vec<Vec<u8>> = strips.map(|top| encode_strip(picture, top, height, &palette)).collect();
        if strips.iter().map(Vec::len).sum::<usize>() <= max_bytes {
            return Ok(strips);
        }
    }
    Err("it has too many details".to_owned())
}

/// Returns whether bytes contain only what a control string of sixel graphics may.
pub(super) fn is_sixels(bytes: &[u8]) -> bool {
    bytes.iter().all(|byte| matches!(byte, b'?'..=b'~' | b'0'..=b'9' | b'#' | b';' | b'!' | b'"' | b'$' | b'-'))
}

fn opaque_colour(pixel: [u8; 4]) -> Option<[u8; 3]> {
    let [red, green, blue, alpha] = pixel;
    (alpha >= MIN_ALPHA).then_some([red, green, blue])
}

fn distinct_colours(picture: &RgbaImage) -> BTreeSet<[u8; 3]> {
    let mut previous = None;
    let mut distinct = BTreeSet::new();
    for colour in picture.pixels().filter_map(|pixel| opaque_colour(pixel.0)) {
        // Neighbours are often equal.
        if previous != Some(colour) {
            distinct.insert(colour);
            previous = Some(colour);
        }
    }
    distinct
}

impl Palette {
    /// Finds at most `count` colours for a picture, exactly its own if they are not more.
    fn new(picture: &RgbaImage, distinct: &BTreeSet<[u8; 3]>, count: usize) -> Self {
        if distinct.len() <= count {
            let colours: Vec<_> = distinct.iter().copied().collect();
            let numbers = (0..=u8::MAX).zip(&colours).map(|(number, colour)| (*colour, number)).collect();
            return Self { colours, numbers, ignored_bits: 0 };
        }
        let opaque = picture.pixels().filter_map(|pixel| opaque_colour(pixel.0));
        let samples: Vec<u8> = opaque.flat_map(|[red, green, blue]| [red, green, blue, u8::MAX]).collect();
        let colours = NeuQuant::new(SAMPLED_PIXELS, count, &samples).color_map_rgb().as_chunks().0.to_vec();
        let mut numbers = HashMap::new();
        for colour in distinct {
            // The search of the quantizer itself finds colours that are far away.
            numbers.entry(colour.map(|part| part >> IGNORED_BITS)).or_insert_with(|| find_nearest(*colour, &colours));
        }
        Self { colours, numbers, ignored_bits: IGNORED_BITS }
    }

    /// Returns the number of the colour of a pixel; `None` if it is not drawn.
    fn number(&self, pixel: [u8; 4]) -> Option<u8> {
        self.numbers.get(&opaque_colour(pixel)?.map(|part| part >> self.ignored_bits)).copied()
    }
}

/// Returns the number of the colour, of at most 256, that is nearest to a colour.
fn find_nearest(colour: [u8; 3], colours: &[[u8; 3]]) -> u8 {
    let distance = |other: &[u8; 3]| {
        let [red, green, blue] = [0, 1, 2].map(|part| u32::from(colour[part].abs_diff(other[part])).pow(2));
        2 * red + 4 * green + 3 * blue
    };
    let nearest = (0..=u8::MAX).zip(colours).min_by_key(|(_, other)| distance(other));
    nearest.map_or(0, |(number, _)| number)
}

/// The columns that a colour draws in a band.
#[derive(Clone, Default)]
struct ColourColumns {
    /// Columns and their bits.
    columns: Vec<(u32, u8)>,
}

fn encode_strip(picture: &RgbaImage, top: u32, height: u32, palette: &Palette) -> Vec<u8> {
    let width = picture.width();
    let (mut drawn, mut is_used) = (Vec::new(), [false; 256]);
    let mut band = vec![ColourColumns::default(); 256];
    for (index, band_top) in (top..top + height).step_by(BAND_ROWS as usize).enumerate() {
        let band_bottom = (band_top + BAND_ROWS).min(top + height);
        for x in 0..width {
            for y in band_top..band_bottom {
                let Some(number) = palette.number(picture.get_pixel(x, y).0) else { continue };
                is_used[usize::from(number)] = true;
                let columns = &mut band[usize::from(number)].columns;
                let bit = 1 << (y - band_top);
                match columns.last_mut() {
                    Some((column, bits)) if *column == x => *bits |= bit,
                    Some(_) | None => columns.push((x, bit)),
                }
            }
        }
        if index > 0 {
            drawn.push(b'-');
        }
        write_band(&band, &mut drawn);
        band.iter_mut().for_each(|colour| colour.columns.clear());
    }
    // Bands without pixels at the end are not needed.
    let length = drawn.iter().rposition(|byte| *byte != b'-').map_or(0, |last| last + 1);
    let mut sixels = format!("\"1;1;{width};{height}").into_bytes();
    for (number, colour) in palette.colours.iter().enumerate().filter(|(number, _)| is_used[*number]) {
        let [red, green, blue] = colour.map(|value| (u32::from(value) * 100 + 127) / 255);
        let _ = write!(sixels, "#{number};2;{red};{green};{blue}");
    }
    sixels.extend_from_slice(&drawn[..length]);
    sixels
}

/// Writes what the colours draw in a band. Colours that follow each other from left to right share a pass over the band.
fn write_band(band: &[ColourColumns], sixels: &mut Vec<u8>) {
    let used = band.iter().enumerate().filter_map(|(number, colour)| Some((colour.columns.first()?.0, number)));
    let mut waiting: Vec<(u32, usize)> = used.collect();
    waiting.sort_unstable();
    let mut is_first_pass = true;
    while !waiting.is_empty() {
        if !is_first_pass {
            sixels.push(b'$');
        }
        is_first_pass = false;
        let mut x = 0;
        waiting.retain(|(start, number)| {
            if *start < x {
                return true;
            }
            let _ = write!(sixels, "#{number}");
            x = write_colour(&band[*number].columns, x, sixels);
            false
        });
    }
}

/// Writes the columns of a colour, from column `x` on, and returns the column after the last one.
fn write_colour(columns: &[(u32, u8)], mut x: u32, sixels: &mut Vec<u8>) -> u32 {
    let mut rest = columns;
    while let Some((column, bits)) = rest.first() {
        write_repeated(EMPTY_COLUMN, (column - x) as usize, sixels);
        let is_next = |(offset, next): &(usize, &(u32, u8))| **next == (column + *offset as u32, *bits);
        let count = rest.iter().enumerate().take_while(is_next).count();
        write_repeated(EMPTY_COLUMN + bits, count, sixels);
        x = column + count as u32;
        rest = &rest[count..];
    }
    x
}

fn write_repeated(character: u8, count: usize, sixels: &mut Vec<u8>) {
    match count < MIN_REPEATED {
        true => sixels.extend(std::iter::repeat_n(character, count)),
        false => {
            let _ = write!(sixels, "!{count}{}", char::from(character));
        }
    }
}

#[cfg(test)]
mod tests;
