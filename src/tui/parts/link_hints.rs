//! Hints for the links on the screen: the letters to type for each.

use crate::text::link::LinkTarget;
use std::sync::Arc;

/// Letters of hints, home row first. No digits: digits answer questions. No `p`, which is the key for previews.
const LETTERS: &str = "asdfghjklqwertyuiozxcvbnm";

/// Links on the screen, each with its hint.
#[derive(Debug, Clone, Default)]
pub struct LinkHints {
    /// Links in reading order.
    pub links: Vec<HintedLink>,
    /// Rows covered by toasts when the hints were assigned.
    pub toast_rows: u16,
    /// First letter of a hint of two, once it is typed.
    pub typed: Option<char>,
    /// True if the hint shows the target in a page instead of opening it.
    pub is_preview: bool,
    /// True once a letter was typed with shift: the target is copied.
    pub is_copy: bool,
    /// The chosen web address, shown for confirmation before it is opened.
    pub pending_address: Option<String>,
}

/// A link with its hint.
#[derive(Debug, Clone)]
pub struct HintedLink {
    /// Keys to press, one or two letters.
    pub hint: String,
    /// Column and row of its first cell.
    pub position: (u16, u16),
    /// Target of the link.
    pub target: Arc<LinkTarget>,
}

/// What a letter does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TypedHint {
    /// It is the last letter of the hint of this link.
    Chosen(Arc<LinkTarget>),
    /// It is the first of two.
    Begun,
    /// No hint goes on with it.
    Unknown,
}

impl LinkHints {
    /// Gives each link a hint. Links beyond the number of hints have none.
    pub fn new(targets: Vec<((u16, u16), Arc<LinkTarget>)>, toast_rows: u16) -> Self {
        let hints = make_hints(targets.len());
        let with_hint = |(hint, (position, target))| HintedLink { hint, position, target };
        let links = hints.into_iter().zip(targets).map(with_hint).collect();
        Self { links, toast_rows, ..Self::default() }
    }

    /// Returns the links whose hints go on with what was typed.
    pub fn matching_links(&self) -> impl Iterator<Item = &HintedLink> {
        self.links.iter().filter(|link| self.typed.is_none_or(|typed| link.hint.starts_with(typed)))
    }

    /// Handles a letter in lower case.
    pub fn type_letter(&mut self, letter: char) -> TypedHint {
        let typed: String = self.typed.into_iter().chain([letter]).collect();
        if let Some(link) = self.links.iter().find(|link| link.hint == typed) {
            return TypedHint::Chosen(link.target.clone());
        }
        match self.typed.is_none() && self.links.iter().any(|link| link.hint.starts_with(letter)) {
            true => {
                self.typed = Some(letter);
                TypedHint::Begun
            }
            false => TypedHint::Unknown,
        }
    }
}

/// Returns this many hints: single letters as long as they suffice. Otherwise the last letters begin hints of two. No hint begins
/// with another one.
fn make_hints(count: usize) -> Vec<String> {
    let letters: Vec<char> = LETTERS.chars().collect();
    let capacity = |beginnings: usize| letters.len() - beginnings + beginnings * letters.len();
    let beginnings = (0..letters.len()).find(|beginnings| capacity(*beginnings) >= count).unwrap_or(letters.len());
    let (single, first) = letters.split_at(letters.len() - beginnings);
    let pairs = first.iter().flat_map(|first| letters.iter().map(move |second| format!("{first}{second}")));
    single.iter().map(char::to_string).chain(pairs).take(count).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hints_are_different_and_none_begins_with_another() {
        for count in 0..=700 {
            let hints = make_hints(count);
            assert_eq!(hints.len(), count.min(LETTERS.len() * LETTERS.len()));
            for (index, hint) in hints.iter().enumerate() {
                assert!(matches!(hint.len(), 1 | 2) && !hint.contains('p'), "{hint}");
                assert!(hints.iter().skip(index + 1).all(|other| !other.starts_with(hint.as_str())), "{count}: {hint}");
            }
        }
        assert_eq!(make_hints(25), LETTERS.chars().map(String::from).collect::<Vec<_>>());
        assert_eq!(make_hints(26)[23..], ["n", "ma", "ms"]);
    }

    #[test]
    fn a_hint_of_two_letters_is_typed_letter_by_letter() {
        let targets = (0..30).map(|index| ((0, index), Arc::new(LinkTarget::Web(format!("https://{index}")))));
        let mut hints = LinkHints::new(targets.collect(), 0);
        assert!(matches!(hints.type_letter('a'), TypedHint::Chosen(_)));
        assert_eq!(hints.type_letter('7'), TypedHint::Unknown);
        assert_eq!(hints.type_letter('m'), TypedHint::Begun);
        assert_eq!(hints.matching_links().count(), 6);
        assert_eq!(hints.type_letter('m'), TypedHint::Unknown);
        assert_eq!(hints.type_letter('s'), TypedHint::Chosen(Arc::new(LinkTarget::Web("https://25".into()))));
    }
}
