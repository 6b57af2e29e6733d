//! Limits the nesting depth of Markdown before it is parsed, so that a hostile reply takes time linear in its length.

use std::borrow::Cow;

/// Maximum nesting of quotes and lists on one line.
const MAX_CONTAINERS: usize = 24;
/// Maximum number of open brackets, or of markers in a row, within a paragraph.
const MAX_OPEN: usize = 48;

/// Returns the text with too deep nesting escaped, so that it is parsed as text.
pub(super) fn bound_nesting(source: &str) -> Cow<'_, str> {
    if !source.split('\n').any(|line| find_too_deep(line).is_some()) {
        return Cow::Borrowed(source);
    }
    let mut out = String::with_capacity(source.len() + 64);
    for line in source.split_inclusive('\n') {
        match find_too_deep(line) {
            None => out.push_str(line),
            Some(at) => {
                out.push_str(&line[..at]);
                for c in line[at..].chars() {
                    if "[]>*_~!-+`|<&".contains(c) {
                        out.push('\\');
                    }
                    out.push(c);
                }
            }
        }
    }
    Cow::Owned(out)
}

/// Returns the byte at which a line is nested too deeply.
fn find_too_deep(line: &str) -> Option<usize> {
    let (mut containers, mut leading, mut open, mut row) = (0, true, 0, 0);
    let mut last = ' ';
    for (at, c) in line.char_indices() {
        let mark = matches!(c, '>' | '-' | '+' | '*' | '.' | ')') && leading;
        leading &= mark || c == ' ' || c.is_ascii_digit();
        containers += usize::from(mark);
        open = match c {
            '[' => open + 1,
            ']' => usize::saturating_sub(open, 1),
            _ => open,
        };
        row = if c == last && "*_~`<!".contains(c) { row + 1 } else { 0 };
        last = c;
        if open > MAX_OPEN || row > MAX_OPEN || (containers > MAX_CONTAINERS && has_nesting_markers(line)) {
            return Some(at);
        }
    }
    None
}

/// Returns whether the markers at the start of a line nest; those of a horizontal rule (`-----`) do not.
fn has_nesting_markers(line: &str) -> bool {
    let marks = line.trim_end();
    marks.contains('>') || !marks.bytes().all(|byte| byte == marks.as_bytes()[0])
}
