//! Parses SGR sequences, the escape sequences that set colours and style.

use ratatui::style::{Color, Modifier, Style};

/// Applies an SGR sequence to the requested style. Its colours are either RGB or numbers of the palette.
pub fn apply_sgr(requested: &mut Style, sequence: &str) {
    let numbers = sequence.trim_start_matches("\x1b[").trim_end_matches('m');
    let mut numbers = numbers.split(';');
    while let Some(number) = numbers.next() {
        let (number, mut parts) = match number.split_once(':') {
            Some((number, parts)) => (number, Some(split_parts(parts))),
            None => (number, None),
        };
        let mut next_colour = || match &mut parts {
            Some(parts) => parse_colour(parts.by_ref()),
            None => parse_colour(numbers.by_ref()),
        };
        // An empty parameter is 0. A parameter that is not a known number changes nothing.
        let Ok(number) = (if number.is_empty() { "0" } else { number }).parse::<u8>() else { continue };
        let modifiers = &mut requested.add_modifier;
        match number {
            0 => *requested = Style::new(),
            1 => *modifiers = (*modifiers - Modifier::DIM) | Modifier::BOLD,
            2 => *modifiers = (*modifiers - Modifier::BOLD) | Modifier::DIM,
            3 => modifiers.insert(Modifier::ITALIC),
            4 => modifiers.set(Modifier::UNDERLINED, parts.is_none_or(|mut parts| parts.next() != Some("0"))),
            7 => modifiers.insert(Modifier::REVERSED),
            22 => modifiers.remove(Modifier::BOLD | Modifier::DIM),
            23 => modifiers.remove(Modifier::ITALIC),
            24 => modifiers.remove(Modifier::UNDERLINED),
            27 => modifiers.remove(Modifier::REVERSED),
            30..=37 => requested.fg = Some(Color::Indexed(number - 30)),
            38 => requested.fg = next_colour(),
            39 => requested.fg = None,
            40..=47 => requested.bg = Some(Color::Indexed(number - 40)),
            48 => requested.bg = next_colour(),
            49 => requested.bg = None,
            // The colour of the underline is not shown, but its parameters belong to it.
            58 => drop(next_colour()),
            90..=97 => requested.fg = Some(Color::Indexed(number - 90 + 8)),
            100..=107 => requested.bg = Some(Color::Indexed(number - 100 + 8)),
            _ => {}
        }
    }
}

/// Splits the parts of one parameter, such as those of the colour `38:2::1:2:3`: without empty ones, and without the
/// colour space after the `2`, which older programs do not write.
fn split_parts(parts: &str) -> impl Iterator<Item = &str> {
    let has_colour_space = parts.starts_with("2:") && parts.split(':').count() >= 5;
    let parts = parts.split(':').enumerate().filter(move |(index, _)| !(has_colour_space && *index == 1));
    parts.map(|(_, part)| part).filter(|part| !part.is_empty())
}

fn parse_colour<'a>(numbers: impl Iterator<Item = &'a str>) -> Option<Color> {
    let mut numbers = numbers.map(|number| number.parse().unwrap_or(0));
    let mut next = || numbers.next().unwrap_or(0);
    match next() {
        5 => Some(Color::Indexed(next())),
        2 => Some(Color::Rgb(next(), next(), next())),
        _ => None,
    }
}
