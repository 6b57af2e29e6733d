//! Bytes of small pictures, and pixels of decoded ones.

use super::*;
use image::Rgba;

const RED: Rgba<u8> = Rgba([255, 0, 0, 255]);
const CLEAR: Rgba<u8> = Rgba([255, 0, 0, 127]);

fn encode(picture: &RgbaImage, height: u32) -> Vec<String> {
    let strips = encode_strips(picture, height).unwrap();
    assert!(strips.iter().all(|strip| is_sixels(strip)));
    strips.into_iter().map(|strip| String::from_utf8(strip).unwrap()).collect()
}

#[test]
fn repeated_columns_are_counted_and_transparent_pixels_are_skipped() {
    let picture = RgbaImage::from_fn(12, 8, |x, y| if x < 5 || (x == 11 && y > 0) { RED } else { CLEAR });
    // Each of the five columns has six pixels, and the last one five; the second band has two rows.
    assert_eq!(encode(&picture, 8), ["\"1;1;12;8#0;2;100;0;0#0!5~!6?}-#0!5B!6?B"]);
    let nothing = RgbaImage::from_pixel(3, 20, CLEAR);
    assert_eq!(encode(&nothing, 10), ["\"1;1;3;10", "\"1;1;3;10"]);
    let only_the_top = RgbaImage::from_fn(3, 14, |_, y| if y == 0 { RED } else { CLEAR });
    assert_eq!(encode(&only_the_top, 14), ["\"1;1;3;14#0;2;100;0;0#0@@@"]);
}

#[test]
fn colours_from_left_to_right_share_a_pass() {
    let colour = |x: u32| Rgba([x as u8, 0, 0, 255]);
    let steps = RgbaImage::from_fn(3, 6, |x, _| colour(x));
    assert_eq!(encode(&steps, 6), ["\"1;1;3;6#0;2;0;0;0#1;2;0;0;0#2;2;1;0;0#0~#1~#2~"]);
    let mixed = RgbaImage::from_fn(3, 6, |x, y| colour(if x == 1 { 9 } else { y / 3 }));
    assert_eq!(encode(&mixed, 6), ["\"1;1;3;6#0;2;0;0;0#1;2;0;0;0#2;2;4;0;0#0F?F$#1w?w$#2?~"]);
}

/// Draws sixels: a color for each pixel, if any.
fn decode(sixels: &str, width: usize, height: usize) -> Vec<Option<[u8; 3]>> {
    let mut pixels = vec![None; width * height];
    let (mut colours, mut colour, mut x, mut top, mut repeat) = (HashMap::new(), 0, 0, 0, 1);
    let mut rest = sixels.strip_prefix(&format!("\"1;1;{width};{height}")).unwrap();
    while let Some(command) = rest.chars().next() {
        rest = &rest[1..];
        let length = rest.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(rest.len());
        let numbers: Vec<usize> = rest[..length].split(';').filter_map(|number| number.parse().ok()).collect();
        match (command, &numbers[..]) {
            ('#', [number]) => colour = *number,
            ('#', [number, 2, red, green, blue]) => {
                colours.insert(*number, [red, green, blue].map(|value| (*value * 255 / 100) as u8));
            }
            ('!', [count]) => repeat = *count,
            ('$', []) => x = 0,
            ('-', []) => (x, top) = (0, top + 6),
            (sixel, []) => {
                for _ in 0..std::mem::replace(&mut repeat, 1) {
                    for bit in (0..6).filter(|bit| (sixel as usize - 63) >> bit & 1 == 1) {
                        pixels[(top + bit) * width + x] = Some(colours[&colour]);
                    }
                    x += 1;
                }
            }
            command => panic!("{command:?}"),
        }
        rest = &rest[length..];
    }
    pixels
}

#[test]
fn a_picture_with_many_colours_looks_nearly_the_same() {
    let picture = RgbaImage::from_fn(100, 47, |x, y| {
        let alpha = if (x + y).is_multiple_of(7) { 0 } else { 255 };
        Rgba([(x * 255 / 99) as u8, (y * 255 / 46) as u8, (255 - x) as u8, alpha])
    });
    let sixels = encode(&picture, 47).remove(0);
    let decoded = decode(&sixels, 100, 47);
    let (mut difference, mut largest) = (0, 0);
    for (pixel, shown) in picture.pixels().zip(decoded) {
        assert_eq!(shown.is_some(), pixel.0[3] == 255);
        let distance = |shown: [u8; 3]| shown.iter().zip(pixel.0).map(|(a, b)| u32::from(a.abs_diff(b))).sum::<u32>();
        let distance = shown.map_or(0, distance);
        difference += distance;
        largest = largest.max(distance);
    }
    assert!(largest < 90, "{largest} for one pixel");
    assert!(difference / (100 * 47) < 24, "{} for a pixel", difference / (100 * 47));
}

#[test]
fn a_picture_of_noise_gets_fewer_colours_or_is_refused() {
    let mut state = 1_u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 24) as u8
    };
    let noise = RgbaImage::from_fn(60, 60, |_, _| Rgba([random(), random(), random(), 255]));
    let encode = |max_bytes: usize| {
        encode_within(&noise, 20, max_bytes).map(|strips| strips.iter().map(Vec::len).sum::<usize>())
    };
    let best = encode(usize::MAX).unwrap();
    let fewer = encode(best - 1).unwrap();
    assert!(fewer < best, "{fewer} and {best}");
    assert_eq!(encode(fewer / 10).unwrap_err(), "it has too many details");
}

#[test]
fn control_characters_are_no_sixels() {
    assert!(is_sixels(b"\"1;1;2;2#0;2;0;0;100#0!12@$-~?"));
    for byte in (0..=0x20).chain([b'\'', b'*', b':', 0x7f, 0x80, 0x9c, 0xff]) {
        assert!(!is_sixels(&[b'#', byte]), "{byte}");
    }
}
