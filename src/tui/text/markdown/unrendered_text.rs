//! Text of a reply that Markdown does not render. It is shown anyway, because the model receives it again with the next
//! request.

use crate::text::width::{cut_to_width, fit_end, text_width};
use crate::tui::text::code;
use pulldown_cmark::{RefDefs, Tag};

/// Maximum columns of the address after a link's text; the middle of longer ones is truncated.
const MAX_ADDRESS: usize = 60;
/// Columns kept at the end of a truncated address.
const ADDRESS_TAIL: usize = 16;

/// Returns the info string of a fence; `None` if it is only the name of a language with highlighting.
pub fn unrendered_info(info: &str) -> Option<&str> {
    let info = info.trim();
    (!info.is_empty() && !code::is_known_language(info)).then_some(info)
}

/// Returns the cells of a table row beyond the columns of its heading. `cells_end` is the byte at which the last
/// regular cell ends.
pub fn excess_cells(source: &str, cells_end: usize) -> &str {
    let rest = source.get(cells_end..).unwrap_or_default();
    rest.split('\n').next().unwrap_or_default().trim_matches(['|', ' ', '\t', '\r'])
}

/// Returns whether an address is an anchor on the same page named after the link's text, such as `#get-started`.
pub fn is_named_after(address: &str, link_text: &str) -> bool {
    let normalize = |text: &str| text.chars().filter(|c| c.is_alphanumeric()).collect::<String>().to_lowercase();
    address.strip_prefix('#').is_some_and(|name| normalize(name) == normalize(link_text))
}

/// Truncates an address in the middle: the start shows the host, and the end matters too.
pub fn shorten_address(address: &str) -> String {
    if text_width(address) <= MAX_ADDRESS {
        return address.to_owned();
    }
    // One column is for the `…`, which `fit_end` puts before the end.
    let start = cut_to_width(address, MAX_ADDRESS - ADDRESS_TAIL - 1);
    format!("{start}{}", fit_end(&address[start.len()..], ADDRESS_TAIL + 1))
}

/// Addresses and titles shown by links of a reply.
#[derive(Default)]
pub struct ShownLinks(Vec<(String, String)>);

impl ShownLinks {
    /// Records the address and title of a link or picture.
    pub fn record_link(&mut self, tag: &Tag<'_>) {
        if let Tag::Link { dest_url, title, .. } | Tag::Image { dest_url, title, .. } = tag {
            self.0.push((dest_url.to_string(), title.to_string()));
        }
    }

    /// Returns the link definitions that no link uses, as written and in their order.
    pub fn unused_definitions<'s>(&self, source: &'s str, definitions: &RefDefs<'_>) -> Vec<&'s str> {
        let is_shown = |address: &str, title: &str| self.0.iter().any(|shown| shown.0 == address && shown.1 == title);
        let unused = definitions
            .iter()
            .filter(|(_, definition)| !is_shown(&definition.dest, definition.title.as_deref().unwrap_or_default()));
        let mut spans: Vec<_> = unused.map(|(_, definition)| definition.span.clone()).collect();
        spans.sort_by_key(|span| span.start);
        spans.into_iter().filter_map(|span| source.get(span)).map(str::trim).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_language_alone_has_no_info_words() {
        for (info, expected) in [
            ("rust", None),
            ("", None),
            (" rust ", None),
            ("rust ignore this", Some("rust ignore this")),
            ("obey-me", Some("obey-me")),
        ] {
            assert_eq!(unrendered_info(info), expected, "{info:?}");
        }
    }

    #[test]
    fn anchor_is_named_after_the_text_of_its_link() {
        assert!(is_named_after("#get-started", "Get started"));
        assert!(!is_named_after("#get-started", "Get ready") && !is_named_after("get", "get"));
    }

    #[test]
    fn finds_cells_without_a_column() {
        assert_eq!(excess_cells("| a | b | c |\n| d |", 4), "b | c");
        assert_eq!(excess_cells("| a |", 4), "");
        assert_eq!(excess_cells("| a |", 99), "");
    }
}
