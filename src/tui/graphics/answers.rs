//! Detects the picture protocol of a terminal from its answers to the queries at the start.

use memchr::memmem;

/// Asks whether the terminal stores pictures, with one of a pixel that it does not keep, and for its name and version.
pub const QUERY: &[u8] = b"\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\\x1b[>0q";
/// Answer of a terminal that stores pictures.
const GRAPHICS_ANSWER: &[u8] = b"\x1b_Gi=31;OK\x1b\\";
/// Start of the answer with its name.
const NAME_ANSWER: &[u8] = b"\x1bP>|";
/// Start of the answer with its attributes.
const ATTRIBUTES_ANSWER: &[u8] = b"\x1b[?";
/// Attribute of a terminal that draws sixel graphics.
const SIXEL_ATTRIBUTE: &[u8] = b"4";
/// Terminals that draw pictures at placeholders, with the first version of each that does. Others that store pictures would
/// show the placeholders as unknown characters.
const PLACEHOLDER_TERMINALS: [(&[u8], [u32; 2]); 2] = [(b"kitty(", [0, 28]), (b"ghostty ", [1, 0])];
/// Terminals that draw pictures in iTerm2's protocol, with the first version of each that does not move the cursor if it is
/// told so.
const ITERM_TERMINALS: [(&[u8], [u32; 2]); 2] = [(b"iTerm2 ", [3, 5]), (b"WezTerm ", [20_220_319, 0])];

/// The best protocol of pictures that a terminal has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum PictureSupport {
    #[default]
    None,
    /// It draws stored pictures at placeholders.
    Placeholders,
    /// It draws pictures in iTerm2's protocol.
    Iterm,
    /// It draws sixel graphics.
    Sixel,
}

impl PictureSupport {
    /// Returns what a terminal with these answers draws.
    pub fn from_answers(answers: &[u8]) -> Self {
        let name = memmem::find(answers, NAME_ANSWER).map(|start| &answers[start + NAME_ANSWER.len()..]);
        let is_one_of = |terminals: &[(&[u8], [u32; 2])]| name.is_some_and(|name| is_new_enough(name, terminals));
        if memmem::find(answers, GRAPHICS_ANSWER).is_some() && is_one_of(&PLACEHOLDER_TERMINALS) {
            return Self::Placeholders;
        }
        if is_one_of(&ITERM_TERMINALS) {
            return Self::Iterm;
        }
        // The first attribute is the class of the terminal, which may be 4 too.
        let mut attributes = find_attributes(answers).unwrap_or_default().split(|byte| *byte == b';').skip(1);
        if attributes.any(|attribute| attribute == SIXEL_ATTRIBUTE) { Self::Sixel } else { Self::None }
    }
}

/// Returns the attributes of the terminal, numbers with semicolons between them, if they are complete.
pub fn find_attributes(answers: &[u8]) -> Option<&[u8]> {
    memmem::find_iter(answers, ATTRIBUTES_ANSWER).find_map(|start| {
        let rest = &answers[start + ATTRIBUTES_ANSWER.len()..];
        let length = rest.iter().take_while(|byte| byte.is_ascii_digit() || **byte == b';').count();
        (rest.get(length) == Some(&b'c')).then(|| &rest[..length])
    })
}

/// Returns whether a text begins with one of these names and at least its version.
fn is_new_enough(text: &[u8], terminals: &[(&[u8], [u32; 2])]) -> bool {
    let first_version = |(terminal, first): &(&[u8], [u32; 2])| Some((text.strip_prefix(*terminal)?, *first));
    terminals.iter().find_map(first_version).is_some_and(|(version, first)| parse_version(version) >= Some(first))
}

/// Parses the first two numbers of a version.
fn parse_version(text: &[u8]) -> Option<[u32; 2]> {
    let length = text.iter().take_while(|byte| byte.is_ascii_digit() || matches!(byte, b'.' | b'-')).count();
    let mut numbers = std::str::from_utf8(&text[..length]).ok()?.split(['.', '-']).map(str::parse);
    Some([numbers.next()?.ok()?, numbers.next()?.ok()?])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_answers_of_a_terminal_decide_how_it_draws_pictures() {
        use PictureSupport::{Iterm, None, Placeholders, Sixel};
        let ok = "\x1b_Gi=31;OK\x1b\\";
        for (answers, expected) in [
            (format!("{ok}\x1bP>|kitty(0.36.4)\x1b\\\x1b[?62c"), Placeholders),
            (format!("x\x1bP>|kitty(0.28.0)\x1b\\{ok}\x1b[?62c"), Placeholders),
            (format!("{ok}\x1bP>|ghostty 1.1.3\x1b\\"), Placeholders),
            (format!("{ok}\x1bP>|kitty(0.27.1)\x1b\\\x1b[?62c"), None),
            (format!("{ok}\x1bP>|kitty(\x1b\\"), None),
            (ok.to_owned(), None),
            ("\x1b_Gi=31;ENOTSUPPORTED:x\x1b\\\x1bP>|kitty(0.36.4)\x1b\\".to_owned(), None),
            ("\x1bP>|kitty(0.36.4)\x1b\\\x1b[?62c".to_owned(), None),
            (String::new(), None),
            // Both protocols.
            (format!("{ok}\x1bP>|WezTerm 20240203-110809-5046fc22\x1b\\\x1b[?65;4;6;18;22c"), Iterm),
            ("\x1bP>|WezTerm 20210814-124438-54e29167\x1b\\\x1b[?65;4;6;18;22c".to_owned(), Sixel),
            ("\x1bP>|iTerm2 3.5.0\x1b\\\x1b[?62;4c".to_owned(), Iterm),
            ("\x1bP>|iTerm2 3.10.1\x1b\\\x1b[?62;4c".to_owned(), Iterm),
            ("\x1bP>|iTerm2 3.4.23\x1b\\\x1b[?62;4c".to_owned(), Sixel),
            ("\x1bP>|iTerm2 x\x1b\\\x1b[?62c".to_owned(), None),
            // xterm, foot, Konsole.
            ("\x1bP>|XTerm(379)\x1b\\\x1b[?63;1;2;4;6;9;15;16;22;28c".to_owned(), Sixel),
            ("\x1bP>|foot(1.16.2)\x1b\\\x1b[?62;4;22c".to_owned(), Sixel),
            (format!("{ok}\x1bP>|Konsole 24.02\x1b\\\x1b[?62;1;4c"), Sixel),
            // A VT132, and other numbers with a 4.
            ("\x1b[?4;6c".to_owned(), None),
            ("\x1b[?62;14;42;22c".to_owned(), None),
            ("\x1b[?62;4;22".to_owned(), None),
            ("\x1b[?62;4h\x1b[?62;22c".to_owned(), None),
        ] {
            assert_eq!(PictureSupport::from_answers(answers.as_bytes()), expected, "{answers:?}");
        }
    }

    #[test]
    fn attributes_are_found_after_other_answers() {
        assert_eq!(find_attributes(b"a\x1b[?1;2h\x1b[?62;22c!"), Some(&b"62;22"[..]));
        assert_eq!(find_attributes(b"c\x1b[?62;2"), None);
        assert_eq!(find_attributes(b"\x1b[A?c"), None);
    }
}
