//! Light or dark, from the colours that a terminal tells.

use super::ink::luminance;

/// Halfway between black and white to the eye.
const HALFWAY: f64 = 0.184;

/// Whether a terminal is light whose ground and letters are these, as it tells them: `rgb:1616/1818/1c1c`. Nothing where
/// its ground cannot be read.
pub fn is_light(ground: &str, letters: Option<&str>) -> Option<bool> {
    let ground = luminance(colour(ground)?);
    Some(match letters.and_then(colour).map(luminance) {
        Some(letters) if letters != ground => ground > letters,
        Some(_) | None => ground > HALFWAY,
    })
}

/// Each part has one to four digits, which say how much there is of as much as they can say.
fn colour(told: &str) -> Option<[u8; 3]> {
    let parts = told.strip_prefix("rgb:").or_else(|| told.strip_prefix("rgba:"))?;
    let mut parts = parts.split('/').map(|digits| {
        let most = (1u32 << (4 * digits.len().min(4))) - 1;
        let part = u32::from_str_radix(digits, 16).ok().filter(|part| *part <= most)?;
        u8::try_from(part * 255 / most).ok()
    });
    let mut part = || parts.next().flatten();
    Some([part()?, part()?, part()?])
}
