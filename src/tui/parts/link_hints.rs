//! Hints for the links on the screen: the letters to type for each.

use crate::text::link::LinkTarget;
use crate::text::width::text_width;
use crate::tui::text::PlacedLink;
use ratatui::buffer::Buffer;
use ratatui::layout::{Position, Rect};
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
    /// Its cells, one area for each row.
    pub areas: Vec<Rect>,
    /// Target of the link.
    pub target: Arc<LinkTarget>,
}

impl HintedLink {
    fn has_preview(&self) -> bool {
        !matches!(*self.target, LinkTarget::Web(_))
    }
}

/// Returns whether these cells are blank. The second cell of a wide glyph is not.
fn is_blank(buffer: &Buffer, cells: Rect) -> bool {
    let symbol = |x: u16| buffer[(x, cells.y)].symbol();
    let follows_wide = cells.x > buffer.area.x && text_width(symbol(cells.x - 1)) > 1;
    !follows_wide && (cells.left()..cells.right()).all(|x| symbol(x) == " ")
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
    /// Gives each link a hint, in the order of the cells. Cells with the same target (the same `Arc`) are one link. Links beyond
    /// the number of hints have none.
    pub fn new(cells: Vec<PlacedLink>, toast_rows: u16) -> Self {
        let mut targets: Vec<(Vec<Rect>, Arc<LinkTarget>)> = Vec::new();
        // The caption of a picture is its link, unless only the picture is on the screen.
        let is_caption = |link: &&PlacedLink| link.picture.is_none();
        let captions: Vec<Arc<LinkTarget>> = cells.iter().filter(is_caption).map(|link| link.target.clone()).collect();
        let is_hinted = |link: &PlacedLink| is_caption(&link) || !captions.contains(&link.target);
        for link in cells.into_iter().filter(is_hinted) {
            match targets.iter_mut().find(|(_, target)| Arc::ptr_eq(target, &link.target)) {
                Some((areas, _)) => areas.push(link.area),
                None => targets.push((vec![link.area], link.target)),
            }
        }
        let hints = make_hints(targets.len());
        let with_hint = |(hint, (areas, target))| HintedLink { hint, areas, target };
        let links = hints.into_iter().zip(targets).map(with_hint).collect();
        Self { links, toast_rows, ..Self::default() }
    }

    /// Returns the same hints at the cells that their links have now: text may have moved since they were shown. A link that is not on
    /// the screen any more has no cells.
    pub fn relocated(&self, cells: Vec<PlacedLink>) -> Self {
        let mut now: Vec<HintedLink> = Self::new(cells, self.toast_rows).links;
        let mut relocated = self.clone();
        for link in &mut relocated.links {
            let found = now.iter().position(|other| other.target == link.target);
            link.areas = found.map(|index| now.remove(index).areas).unwrap_or_default();
        }
        relocated
    }

    /// Returns the links that can be chosen and whose hints go on with what was typed. A web address has no preview.
    pub fn matching_links(&self) -> impl Iterator<Item = &HintedLink> {
        let links = self.links.iter().filter(|link| !self.is_preview || link.has_preview());
        links.filter(|link| self.typed.is_none_or(|typed| link.hint.starts_with(typed)))
    }

    /// Returns whether a link has a preview.
    pub fn has_previews(&self) -> bool {
        self.links.iter().any(HintedLink::has_preview)
    }

    /// Returns the links that [`Self::matching_links`] returns, each with the cell at which its hint begins: in blank cells before
    /// the link, or after it if a word does not follow at once, otherwise over the text next to it. A hint covers a link only if
    /// there is no other cell. The place does not depend on what was typed.
    pub fn place_hints(&self, buffer: &Buffer) -> Vec<(Position, &HintedLink)> {
        let mut taken: Vec<Rect> = self.links.iter().flat_map(|link| link.areas.iter().copied()).collect();
        let mut places = Vec::new();
        for link in &self.links {
            let Some(area) = link.areas.first() else { continue };
            let length = u16::try_from(link.hint.len()).unwrap_or(u16::MAX);
            let cells = |start: u16, width: u16| Rect { x: start, width, ..*area };
            let is_free = |cells: &Rect| {
                *cells == cells.intersection(buffer.area) && !taken.iter().any(|other| other.intersects(*cells))
            };
            let sides = [area.x.checked_sub(length), Some(area.right())].into_iter().flatten();
            let free: Vec<Rect> = sides.map(|start| cells(start, length)).filter(is_free).collect();
            // Of two letters, one may fit before the link.
            let partly = area.x.saturating_sub(length.saturating_sub(1));
            let covering = if is_free(&cells(partly, area.x - partly)) { partly } else { area.x };
            // After a link and directly before a word, it would look like the hint of that word.
            let is_apart = |cells: &Rect| {
                let next = Rect { x: cells.right(), width: 1, ..*cells };
                cells.x < area.x || next.right() > buffer.area.right() || is_blank(buffer, next)
            };
            let place =
                free.iter().find(|cells| is_blank(buffer, **cells) && is_apart(cells)).or(free.first()).copied();
            let place = place.unwrap_or_else(|| cells(covering, length));
            taken.push(place);
            places.push((place.as_position(), link));
        }
        let is_matching = |link: &HintedLink| self.matching_links().any(|other| other.hint == link.hint);
        places.retain(|(position, link)| buffer.area.contains(*position) && is_matching(link));
        places
    }

    /// Handles a letter in lower case.
    pub fn type_letter(&mut self, letter: char) -> TypedHint {
        let typed: String = self.typed.into_iter().chain([letter]).collect();
        if let Some(link) = self.matching_links().find(|link| link.hint == typed) {
            return TypedHint::Chosen(link.target.clone());
        }
        match self.typed.is_none() && self.matching_links().any(|link| link.hint.starts_with(letter)) {
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

    fn web_link(address: &str, x: u16, y: u16, width: u16) -> PlacedLink {
        let target = Arc::new(LinkTarget::Web(address.to_owned()));
        PlacedLink { area: Rect::new(x, y, width, 1), target, picture: None }
    }

    /// Returns a row with this hint on each link. A run of `l` is a link.
    fn draw_hints(row: &str, hint: &str) -> String {
        let mut buffer = Buffer::with_lines([row]);
        let width = buffer.area.width;
        let is_link = |x: u16| x < width && buffer[(x, 0)].symbol() == "l";
        let starts = (0..width).filter(|x| is_link(*x) && !x.checked_sub(1).is_some_and(is_link));
        let lengths = starts.map(|start| (start, (start..width).take_while(|x| is_link(*x)).count() as u16));
        let links = lengths.map(|(start, length)| web_link(&format!("https://{start}"), start, 0, length)).collect();
        let mut hints = LinkHints::new(links, 0);
        hints.links.iter_mut().for_each(|link| link.hint = hint.to_owned());
        for (position, _) in hints.place_hints(&buffer) {
            buffer.set_string(position.x, position.y, hint, ratatui::style::Style::new());
        }
        buffer.content.iter().map(ratatui::buffer::Cell::symbol).collect()
    }

    #[test]
    fn a_hint_is_in_blank_cells_next_to_its_link_and_covers_it_only_without_another_cell() {
        for (row, hint, expected) in [
            ("see llll, ok", "X", "seeXllll, ok"),
            ("(llll) ok", "X", "Xllll) ok"),
            // Names in a message: the sign before a name, not the blank before the next one.
            ("@llll @llll", "X", "Xllll Xllll"),
            ("@llll  ok", "X", "@llllX ok"),
            ("llll ok", "X", "llllXok"),
            ("llll, ok", "X", "llllX ok"),
            ("llll", "X", "Xlll"),
            ("  llll ok", "XY", "XYllll ok"),
            (" llll  ok", "XY", " llllXYok"),
            (" llll", "XY", "XYlll"),
            // Two hints do not share a cell, and the second covers one letter only.
            ("llll llll", "X", "llllXXlll"),
            ("llll llll", "XY", "XYllXYlll"),
            // The second cell of a wide glyph is not blank.
            ("漢llll  ok", "X", "漢 llllX ok"),
        ] {
            assert_eq!(draw_hints(row, hint), expected, "{row:?}");
        }
    }

    #[test]
    fn web_addresses_have_no_hint_for_a_preview() {
        let file = LinkTarget::File { path: "a.rs".into(), line: None, end: None, column: None };
        let file_link = PlacedLink { area: Rect::new(0, 1, 4, 1), target: Arc::new(file), picture: None };
        let mut hints = LinkHints::new(vec![web_link("https://a.example", 0, 0, 9), file_link], 0);
        hints.is_preview = true;
        assert_eq!(hints.matching_links().map(|link| link.hint.as_str()).collect::<Vec<_>>(), ["s"]);
        assert_eq!(hints.type_letter('a'), TypedHint::Unknown);
        assert!(hints.has_previews() && matches!(hints.type_letter('s'), TypedHint::Chosen(_)));
        assert!(!LinkHints::new(vec![web_link("https://a.example", 0, 0, 9)], 0).has_previews());
    }

    #[test]
    fn a_hint_of_two_letters_is_typed_letter_by_letter() {
        let mut hints =
            LinkHints::new((0..30).map(|index| web_link(&format!("https://{index}"), 0, index, 9)).collect(), 0);
        assert!(matches!(hints.type_letter('a'), TypedHint::Chosen(_)));
        assert_eq!(hints.type_letter('7'), TypedHint::Unknown);
        assert_eq!(hints.type_letter('m'), TypedHint::Begun);
        assert_eq!(hints.matching_links().count(), 6);
        assert_eq!(hints.type_letter('m'), TypedHint::Unknown);
        assert_eq!(hints.type_letter('s'), TypedHint::Chosen(Arc::new(LinkTarget::Web("https://25".into()))));
    }
}
