//! Detects a light or dark terminal from the colours it reports.

use super::output_ink::luminance;

/// Relative luminance halfway between black and white as perceived.
const MID_LUMINANCE: f64 = 0.184;

/// Returns whether a terminal with this background and text colour is light; the colours are in the terminal's format
/// `rgb:1616/1818/1c1c`. `None` if the background cannot be parsed.
pub fn is_light(ground: &str, letters: Option<&str>) -> Option<bool> {
    let ground = luminance(parse_reported_colour(ground)?);
    Some(match letters.and_then(parse_reported_colour).map(luminance) {
        Some(letters) if letters != ground => ground > letters,
        Some(_) | None => ground > MID_LUMINANCE,
    })
}

/// Parses a colour. Each component has one to four hexadecimal digits and is scaled by their maximum.
fn parse_reported_colour(told: &str) -> Option<[u8; 3]> {
    let parts = told.strip_prefix("rgb:").or_else(|| told.strip_prefix("rgba:"))?;
    let mut parts = parts.split('/').map(|digits| {
        let most = (1u32 << (4 * digits.len().min(4))) - 1;
        let part = u32::from_str_radix(digits, 16).ok().filter(|part| *part <= most)?;
        u8::try_from(part * 255 / most).ok()
    });
    let mut part = || parts.next().flatten();
    Some([part()?, part()?, part()?])
}
