//! Limits the nesting depth of Markdown before it is parsed, so that a hostile reply takes time linear in its length.

use pulldown_cmark::Event;
use std::borrow::Cow;
use std::ops::Range;

/// Maximum nesting of quotes and lists on one line.
const MAX_CONTAINERS: usize = 24;
/// Maximum number of open brackets, or of equal markers in a row, on one line.
const MAX_OPEN: usize = 48;

/// A text whose nesting is limited by backslashes.
pub(super) struct BoundedText<'a> {
    pub(super) text: Cow<'a, str>,
    /// Offsets of the backslashes in `text` that were not in the original.
    inserted: Vec<usize>,
}

impl BoundedText<'_> {
    /// Removes inserted backslashes from the code, HTML or formula of an event, where the parser keeps them. Some remain in
    /// code that spans lines of a quote or contains `\|` in a table.
    pub(super) fn remove_inserted(&self, event: &mut Event<'_>, range: Range<usize>, is_in_code_block: bool) {
        let code = match event {
            _ if self.inserted.is_empty() => return,
            Event::Text(code) if is_in_code_block => code,
            Event::Code(code)
            | Event::Html(code)
            | Event::InlineHtml(code)
            | Event::InlineMath(code)
            | Event::DisplayMath(code) => code,
            _ => return,
        };
        // The range includes the delimiters of inline code and formulas.
        let source = self.text.get(range.clone()).unwrap_or_default();
        // The parser replaces the line breaks of inline code by blanks.
        let start = source.find(&**code).or_else(|| source.replace('\n', " ").find(&**code));
        let Some(start) = start.map(|start| range.start + start) else { return };
        let is_inserted = |offset: usize| self.inserted.binary_search(&(start + offset)).is_ok();
        let original = code.char_indices().filter(|(offset, _)| !is_inserted(*offset));
        *code = original.map(|(_, c)| c).collect::<String>().into();
    }
}

/// Returns the text with too deep nesting escaped, so that it is parsed as text.
pub(super) fn bound_nesting(source: &str) -> BoundedText<'_> {
    let mut inserted = Vec::new();
    if !source.split('\n').any(|line| find_too_deep(line).is_some()) {
        return BoundedText { text: Cow::Borrowed(source), inserted };
    }
    let mut escaped = String::with_capacity(source.len() + 64);
    for line in source.split_inclusive('\n') {
        match find_too_deep(line) {
            None => escaped.push_str(line),
            Some(offset) => {
                escaped.push_str(&line[..offset]);
                for c in line[offset..].chars() {
                    if "[]>*_~!-+.)`|<&".contains(c) {
                        inserted.push(escaped.len());
                        escaped.push('\\');
                    }
                    escaped.push(c);
                }
            }
        }
    }
    BoundedText { text: Cow::Owned(escaped), inserted }
}

/// Returns the byte at which the nesting of a line gets too deep; `None` if it does not.
fn find_too_deep(line: &str) -> Option<usize> {
    let (mut container_count, mut is_leading, mut open_brackets, mut repeated_markers) = (0, true, 0, 0);
    let mut previous = ' ';
    // Once per line, so that the time stays linear.
    let markers_nest = has_nesting_markers(line);
    for (offset, c) in line.char_indices() {
        let is_marker = matches!(c, '>' | '-' | '+' | '*' | '.' | ')') && is_leading;
        is_leading &= is_marker || c == ' ' || c.is_ascii_digit();
        container_count += usize::from(is_marker);
        open_brackets = match c {
            '[' => open_brackets + 1,
            ']' => usize::saturating_sub(open_brackets, 1),
            _ => open_brackets,
        };
        repeated_markers = if c == previous && "*_~`<!".contains(c) { repeated_markers + 1 } else { 0 };
        previous = c;
        if open_brackets > MAX_OPEN || repeated_markers > MAX_OPEN || (container_count > MAX_CONTAINERS && markers_nest)
        {
            return Some(offset);
        }
    }
    None
}

/// Returns whether the markers at the start of a line nest; those of a horizontal rule (`-----`) do not.
fn has_nesting_markers(line: &str) -> bool {
    let line = line.trim_end();
    line.contains('>') || !line.bytes().all(|byte| byte == line.as_bytes()[0])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn deeply_nested_text_is_escaped_down_to_the_limit() {
        for marker in ["> ", "- ", "1. ", "1) ", "* ", "+ ", "["] {
            let source = marker.repeat(60);
            let bounded = bound_nesting(&source).text;
            let depth = pulldown_cmark::Parser::new(&bounded)
                .scan(0_isize, |depth, event| {
                    match event {
                        pulldown_cmark::Event::Start(_) => *depth += 1,
                        pulldown_cmark::Event::End(_) => *depth -= 1,
                        _ => {}
                    }
                    Some(*depth)
                })
                .max();
            // A list and its item count as two.
            assert!(depth <= Some(2 * MAX_CONTAINERS as isize + 4), "{marker:?}: {depth:?}");
        }
    }
}
