//! Links in prose: `path:line`, `workspace://…` and web addresses.

use std::ops::Range;

/// Target of a link.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum LinkTarget {
    /// A local file or folder, as written: relative to the project, absolute, or from `~`.
    File {
        /// The path as written, without the position.
        path: String,
        /// Line number, from 1.
        line: Option<usize>,
        /// Last line of a range, if any.
        end: Option<usize>,
        /// Column, from 1, if any.
        column: Option<usize>,
    },
    /// A complete `http://` or `https://` address.
    Web(String),
    /// A complete `workspace://` address.
    Workspace(String),
}

/// A link in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundLink {
    /// Byte range of the link in the text.
    pub range: Range<usize>,
    pub target: LinkTarget,
}

/// Finds the links of a text, in order and without overlaps. A candidate is a link only if `exists` returns true. It is
/// also called for web addresses, so that a caller can reject them, and for words that merely look like a path
/// (`and/or`), so the caller should cache its results.
pub fn find_links(text: &str, exists: &dyn Fn(&LinkTarget) -> bool) -> Vec<FoundLink> {
    let mut found = Vec::new();
    let mut from = 0;
    for (range, target) in find_addresses(text) {
        find_paths(text, from..range.start, exists, &mut found);
        from = range.end;
        if exists(&target) {
            found.push(FoundLink { range, target });
        }
    }
    find_paths(text, from..text.len(), exists, &mut found);
    found
}

/// Parses a word that is a link as a whole, such as the target of a Markdown link, without checking that it exists.
/// Only the schemes `http`, `https`, `workspace` and `file` are supported.
pub fn parse_link(word: &str) -> Option<LinkTarget> {
    if let Some(target) = parse_address(word) {
        return Some(target);
    }
    let path = word.strip_prefix("file://").unwrap_or(word);
    let scheme = path.split_once(':').is_some_and(|(scheme, rest)| {
        scheme.len() > 1
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
            && !rest.starts_with(|c: char| c.is_ascii_digit())
    });
    let (target, length) = parse_file(path)?;
    (!scheme && length == path.len()).then_some(target)
}

impl std::fmt::Display for LinkTarget {
    /// Formats the target as it is written in prose.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (path, line, end, column) = match self {
            LinkTarget::File { path, line, end, column } => (path, line, end, column),
            LinkTarget::Web(address) | LinkTarget::Workspace(address) => return f.write_str(address),
        };
        f.write_str(path)?;
        match (line, end, column) {
            (Some(line), Some(end), _) => write!(f, ":{line}-{end}"),
            (Some(line), None, Some(column)) => write!(f, ":{line}:{column}"),
            (Some(line), None, None) => write!(f, ":{line}"),
            (None, ..) => Ok(()),
        }
    }
}

const SCHEMES: [&str; 3] = ["https://", "http://", "workspace://"];
/// Longest path in bytes; longer ones are not links.
const MAX_PATH_BYTES: usize = 1024;

/// Parses a whole word as an address with a scheme.
fn parse_address(word: &str) -> Option<LinkTarget> {
    let scheme = SCHEMES.iter().find(|scheme| starts_with(word, scheme))?;
    if word[scheme.len()..].is_empty() || word.contains(|c: char| c.is_whitespace() || c.is_control()) {
        return None;
    }
    match *scheme {
        "workspace://" => Some(LinkTarget::Workspace(word.to_owned())),
        _ => Some(LinkTarget::Web(word.to_owned())),
    }
}

fn starts_with(text: &str, scheme: &str) -> bool {
    text.as_bytes().get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme.as_bytes()))
}

/// Finds the addresses with a scheme and their ranges.
fn find_addresses(text: &str) -> Vec<(Range<usize>, LinkTarget)> {
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(mark) = text[from..].find("://").map(|at| from + at) {
        let before = text[from..mark].bytes().rev().take_while(u8::is_ascii_alphanumeric).count();
        let start = mark - before;
        from = mark + 3;
        let Some(scheme) = SCHEMES.iter().find(|scheme| starts_with(&text[start..], scheme)) else {
            continue;
        };
        if start + scheme.len() != from {
            continue;
        }
        let web = *scheme != "workspace://";
        let host = text[from..].find(|c: char| !(c.is_ascii_alphanumeric() || ".-:@_[]".contains(c)));
        let host = host.map_or(text.len(), |at| from + at);
        // Host names are ASCII, so text in another script may follow one without a space.
        let rest = match text[host..].chars().next() {
            Some('/' | '?' | '#') => true,
            _ => !web,
        };
        let end = if rest { text[host..].find(ends_address).map_or(text.len(), |at| host + at) } else { host };
        let end = start + trimmed_length(&text[start..end]);
        if let Some(target) = (end > from).then(|| parse_address(&text[start..end])).flatten() {
            found.push((start..end, target));
            from = end;
        }
    }
    found
}

fn ends_address(c: char) -> bool {
    c.is_whitespace() || c.is_control() || "<>\"`{}|\\^".contains(c) || is_wide_punctuation(c)
}

fn is_wide_punctuation(c: char) -> bool {
    matches!(c, '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301F}')
        || matches!(c, '！' | '（' | '）' | '，' | '：' | '；' | '？' | '“' | '”' | '‘' | '’' | '…')
}

/// Returns the length without trailing punctuation and brackets of the surrounding sentence.
fn trimmed_length(word: &str) -> usize {
    let mut end = word.len();
    while let Some(last) = word[..end].chars().next_back() {
        let count = |c: char| word[..end].matches(c).count();
        let drop = match last {
            '.' | ',' | ';' | ':' | '!' | '?' | '\'' | '*' | '_' | '~' | '(' | '[' => true,
            ')' => count('(') < count(')'),
            ']' => count('[') < count(']'),
            _ => false,
        };
        if !drop {
            break;
        }
        end -= last.len_utf8();
    }
    end
}

/// Finds paths in a range of text without addresses.
fn find_paths(text: &str, range: Range<usize>, exists: &dyn Fn(&LinkTarget) -> bool, found: &mut Vec<FoundLink>) {
    let splits = |c: char| c.is_whitespace() || "\"'`<>|,;*=“”‘’…".contains(c) || is_wide_punctuation(c);
    for word in split_ranges(text, range, &splits) {
        if let Some(link) = find_path(text, word.clone(), exists) {
            found.push(link);
            continue;
        }
        // `call(src/a.rs)`: if the whole is no path, try the parts between brackets.
        if text[word.clone()].contains(['(', ')', '[', ']', '{', '}']) {
            let parts = split_ranges(text, word, &|c| "()[]{}".contains(c));
            found.extend(parts.into_iter().filter_map(|part| find_path(text, part, exists)));
        }
    }
}

/// Returns the non-empty ranges between separators.
fn split_ranges(text: &str, range: Range<usize>, splits: &dyn Fn(char) -> bool) -> Vec<Range<usize>> {
    let mut at = range.start;
    let mut found = Vec::new();
    for part in text[range].split_inclusive(splits) {
        let word = part.strip_suffix(splits).unwrap_or(part);
        if !word.is_empty() {
            found.push(at..at + word.len());
        }
        at += part.len();
    }
    found
}

/// Returns the link of a word that is an existing path.
fn find_path(text: &str, word: Range<usize>, exists: &dyn Fn(&LinkTarget) -> bool) -> Option<FoundLink> {
    let all = &text[word.clone()];
    // `@src/a.rs` is how a user mentions a file.
    let start = all.find(|c| !"([{@".contains(c)).unwrap_or(all.len());
    // `(auth)/page.tsx` keeps its bracket.
    let start = if all[start..].contains(')') && !all.ends_with([')', '.', ':']) { 0 } else { start };
    let all = &all[start..];
    let all = &all[..trimmed_length(all)];
    let (target, length) = parse_file(all)?;
    let at = word.start + start;
    exists(&target).then_some(FoundLink { range: at..at + length, target })
}

/// Parses a path and position at the start of a word; returns its length.
fn parse_file(word: &str) -> Option<(LinkTarget, usize)> {
    if word.is_empty() || word.len() > MAX_PATH_BYTES || word.contains("://") || word.contains(char::is_control) {
        return None;
    }
    let (path, place, length) = match find_position(word) {
        Some((at, place, length)) => (&word[..at], place, length),
        None => (word, LinkPosition::default(), word.len()),
    };
    let target = LinkTarget::File { path: path.to_owned(), line: place.line, end: place.end, column: place.column };
    is_path(path, place.line.is_some()).then_some((target, length))
}

#[derive(Default)]
struct LinkPosition {
    line: Option<usize>,
    end: Option<usize>,
    column: Option<usize>,
}

/// Finds a position such as `:10`, `:10-20`, `:10:5`, `#L10` or `#L10-L20`; returns its start, value and end. Text
/// after another colon, as in search results, is not part of it.
fn find_position(word: &str) -> Option<(usize, LinkPosition, usize)> {
    let number = |at: usize| -> Option<(usize, usize)> {
        let digits = word.get(at..)?.bytes().take_while(u8::is_ascii_digit).count();
        let value = word.get(at..at + digits)?.parse().ok()?;
        (value > 0).then_some((value, at + digits))
    };
    for (at, mark) in word.match_indices([':', '#']) {
        let skip = usize::from(mark == "#");
        if skip == 1 && !word[at + 1..].starts_with('L') {
            continue;
        }
        let Some((line, after)) = number(at + 1 + skip) else { continue };
        let mut place = LinkPosition { line: Some(line), ..LinkPosition::default() };
        let mut end = after;
        if word[after..].starts_with(['-', '–']) {
            let dash = word[after..].chars().next().map_or(0, char::len_utf8);
            let letter = usize::from(word[after + dash..].starts_with('L'));
            if let Some((last, after)) = number(after + dash + letter).filter(|(last, _)| *last >= line) {
                (place.end, end) = (Some(last), after);
            }
        } else if let Some((column, after)) = word[after..].starts_with(':').then(|| number(after + 1)).flatten() {
            (place.column, end) = (Some(column), after);
        }
        if word[end..].is_empty() || word[end..].starts_with(':') {
            return Some((at, place, end));
        }
    }
    None
}

/// File names without an extension that are recognised.
const KNOWN_NAMES: [&str; 9] =
    ["Makefile", "Dockerfile", "README", "LICENSE", "CHANGELOG", "Justfile", "justfile", "Gemfile", "Procfile"];

/// Returns whether the text looks like a path. Generous, because existence decides.
fn is_path(path: &str, with_line: bool) -> bool {
    let separated = path.contains(['/', '\\']);
    let letters = path.contains(char::is_alphabetic);
    if path.contains('@') && !separated {
        return false; // an e-mail address
    }
    if separated {
        let only_dots = path.chars().all(|c| matches!(c, '.' | '/' | '~'));
        return letters || (only_dots && path.starts_with(['.', '~']));
    }
    match path.rsplit_once('.') {
        Some((stem, end)) => {
            let plausible = (1..=12).contains(&end.len())
                && end.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                && end.contains(char::is_alphabetic);
            // `e.g`, `i.e`: an abbreviation, unless a line number follows.
            plausible && (with_line || stem.len() != 1 || end.len() > 1)
        }
        None => KNOWN_NAMES.contains(&path),
    }
}

#[cfg(test)]
mod tests;
