//! Detects a light or dark terminal from the colours it reports.

use super::output_colours::luminance;

/// Relative luminance halfway between black and white as perceived.
const MID_LUMINANCE: f64 = 0.184;

/// Returns whether a terminal with this background and text colour is light; the colours are in the terminal's format
/// `rgb:1616/1818/1c1c`. `None` if the background cannot be parsed.
pub fn is_light(background: &str, foreground: Option<&str>) -> Option<bool> {
    let background = luminance(parse_reported_colour(background)?);
    Some(match foreground.and_then(parse_reported_colour).map(luminance) {
        Some(foreground) if foreground != background => background > foreground,
        Some(_) | None => background > MID_LUMINANCE,
    })
}

/// Parses a colour that the terminal reported. Each component has one to four hexadecimal digits and is scaled by
/// their maximum.
fn parse_reported_colour(report: &str) -> Option<[u8; 3]> {
    let parts = report.strip_prefix("rgb:").or_else(|| report.strip_prefix("rgba:"))?;
    let mut parts = parts.split('/').map(|digits| {
        let max_value = (1u32 << (4 * digits.len().min(4))) - 1;
        let part = u32::from_str_radix(digits, 16).ok().filter(|part| *part <= max_value)?;
        u8::try_from(part * 255 / max_value).ok()
    });
    let mut part = || parts.next().flatten();
    Some([part()?, part()?, part()?])
}
