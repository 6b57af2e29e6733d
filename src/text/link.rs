//! Links in prose: `path:line`, `workspace://…` and web addresses.

mod link_ends;

use link_ends::{ends_address, is_wide_punctuation, trimmed_length};
use memchr::memmem::Finder;
use std::ops::Range;
use std::sync::LazyLock;

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

impl LinkTarget {
    /// Returns whether both name the same file, maybe at different positions.
    pub fn is_same_file(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::File { path, .. }, Self::File { path: other, .. }) => {
                path.trim_start_matches("./") == other.trim_start_matches("./")
            }
            _ => self == other,
        }
    }
}

/// What is known about the target of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Existence {
    /// It exists: the candidate is a link.
    Exists,
    /// It certainly named a file that does not exist now: the candidate is a missing link.
    Missing,
    /// Anything else: the candidate is an ordinary word.
    Unknown,
}

/// Returns what is known about the target of a candidate.
pub type CheckTarget<'a> = &'a dyn Fn(&LinkTarget) -> Existence;

/// A link in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundLink {
    /// Byte range of the link in the text.
    pub range: Range<usize>,
    pub target: LinkTarget,
    /// True if the target does not exist any more.
    pub is_missing: bool,
}

/// Finds the links of a text, in order and without overlaps. `check` decides which candidates are links. It is also called
/// for web addresses, so that a caller can reject them, and for words that merely look like a path (`and/or`), so the
/// caller should cache its results.
pub fn find_links(text: &str, check: CheckTarget<'_>) -> Vec<FoundLink> {
    let mut links = Vec::new();
    let mut position = 0;
    for (range, target) in find_addresses(text) {
        find_paths(text, position..range.start, check, &mut links);
        position = range.end;
        match check(&target) {
            Existence::Exists => links.push(FoundLink { range, target, is_missing: false }),
            Existence::Missing => links.push(FoundLink { range, target, is_missing: true }),
            Existence::Unknown => {}
        }
    }
    find_paths(text, position..text.len(), check, &mut links);
    links
}

/// Finds only the `workspace://` addresses of a text, in order, each with its range.
pub fn find_workspace_addresses(text: &str) -> impl Iterator<Item = (Range<usize>, String)> {
    find_addresses(text).into_iter().filter_map(|(range, target)| match target {
        LinkTarget::Workspace(address) => Some((range, address)),
        LinkTarget::Web(_) | LinkTarget::File { .. } => None,
    })
}

/// Parses a word that is a link as a whole, such as the target of a Markdown link, without checking that it exists.
/// Only the schemes `http`, `https`, `workspace` and `file` are supported.
pub fn parse_link(word: &str) -> Option<LinkTarget> {
    if let Some(target) = parse_address(word) {
        return Some(target);
    }
    let path = word.strip_prefix("file://").unwrap_or(word);
    let has_other_scheme = path.split_once(':').is_some_and(|(scheme, following)| {
        scheme.len() > 1
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
            && !following.starts_with(|c: char| c.is_ascii_digit())
    });
    let (target, length) = parse_file(path)?;
    (!has_other_scheme && length == path.len()).then_some(target)
}

/// Returns the target of a word that [`parse_link`] accepts, and whether it is missing; `None` if nothing shows that it is a
/// link. A line that the file does not have is left out.
pub fn resolve_link(word: &str, check: CheckTarget<'_>) -> Option<(LinkTarget, bool)> {
    choose_target(parse_link(word)?, check)
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
/// Bytes of an address after its scheme from which on it is no link.
const MAX_ADDRESS_BYTES: usize = 8192;
/// Maximum length of a path in bytes. A longer one is not a link.
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

/// Returns whether a text starts with a scheme, ignoring case.
fn starts_with(text: &str, scheme: &str) -> bool {
    text.as_bytes().get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme.as_bytes()))
}

static SCHEME_END: LazyLock<Finder<'static>> = LazyLock::new(|| Finder::new("://"));

/// Finds the addresses with a scheme and their ranges.
fn find_addresses(text: &str) -> Vec<(Range<usize>, LinkTarget)> {
    let mut addresses = Vec::new();
    let mut position = 0;
    while let Some(separator) = SCHEME_END.find(&text.as_bytes()[position..]).map(|offset| position + offset) {
        // What follows is looked at only that far, so that a long text without white space takes no longer than another.
        let text = &text[..text.floor_char_boundary(separator.saturating_add(MAX_ADDRESS_BYTES))];
        let scheme_length = text[position..separator].bytes().rev().take_while(u8::is_ascii_alphanumeric).count();
        let start = separator - scheme_length;
        position = separator + 3;
        let Some(scheme) = SCHEMES.iter().find(|scheme| starts_with(&text[start..], scheme)) else {
            continue;
        };
        if start + scheme.len() != position {
            continue;
        }
        let is_web = *scheme != "workspace://";
        let host_length = text[position..].find(|c: char| !(c.is_ascii_alphanumeric() || ".-:@_[]".contains(c)));
        let host_end = host_length.map_or(text.len(), |offset| position + offset);
        // Host names are ASCII, so text in another script may follow one without a space.
        let has_path = !is_web || text[host_end..].starts_with(['/', '?', '#']);
        let end = if has_path {
            text[host_end..].find(ends_address).map_or(text.len(), |offset| host_end + offset)
        } else {
            host_end
        };
        // The last character may be one that was cut off.
        if end - separator >= MAX_ADDRESS_BYTES - 4 {
            position = end;
            continue;
        }
        let end = start + trimmed_length(&text[start..end]);
        if let Some(target) = (end > position).then(|| parse_address(&text[start..end])).flatten() {
            addresses.push((start..end, target));
            position = end;
        }
    }
    addresses
}

/// Finds paths in a range of text without addresses.
fn find_paths(text: &str, range: Range<usize>, check: CheckTarget<'_>, links: &mut Vec<FoundLink>) {
    for word in path_words(text, range) {
        if let Some(link) = find_path(text, word.clone(), check) {
            links.push(link);
            continue;
        }
        // `call(src/a.rs)`: if the whole is no path, try the parts between brackets.
        if text[word.clone()].contains(['(', ')', '[', ']', '{', '}']) {
            let parts = split_ranges(text, word, &|c| "()[]{}".contains(c));
            links.extend(parts.into_iter().filter_map(|part| find_path(text, part, check)));
        }
    }
}

/// Parts of [`KNOWN_NAMES`]: each name has one of them.
static NAME_PARTS: LazyLock<[Finder<'static>; 4]> =
    LazyLock::new(|| ["file", "README", "LICENSE", "CHANGELOG"].map(Finder::new));

/// Returns the words of a range that may have a path in them, in order. Only the bytes that a path must have are searched
/// for: most words of prose are never looked at.
fn path_words(text: &str, range: Range<usize>) -> impl Iterator<Item = Range<usize>> {
    let bytes = &text.as_bytes()[..range.end];
    let mut position = range.start;
    // The next place of each part of a name at or after the position, once searched.
    let mut name_places = [None; 4];
    std::iter::from_fn(move || {
        let mut place = find_separator_or_extension(bytes, position).unwrap_or(range.end);
        for (name_place, part) in name_places.iter_mut().zip(&*NAME_PARTS) {
            if name_place.is_none_or(|found| found < position) {
                *name_place = Some(part.find(&bytes[position..]).map_or(range.end, |offset| position + offset));
            }
            place = place.min(name_place.unwrap_or(range.end));
        }
        if place == range.end {
            return None;
        }
        let end = text[place..range.end].find(ends_path).map_or(range.end, |offset| place + offset);
        let before = text[position..place].char_indices().rev().find(|(_, c)| ends_path(*c));
        let start = before.map_or(position, |(offset, c)| position + offset + c.len_utf8());
        position = end;
        Some(start..end)
    })
}

/// Finds the next separator of folders, or dot before an extension.
fn find_separator_or_extension(bytes: &[u8], start: usize) -> Option<usize> {
    let begins_extension = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'_';
    memchr::memchr3_iter(b'/', b'\\', b'.', &bytes[start..])
        .map(|offset| start + offset)
        .find(|place| bytes[*place] != b'.' || bytes.get(place + 1).is_some_and(begins_extension))
}

/// Returns whether a path ends before this character of a sentence.
fn ends_path(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '"' | '\'' | '`' | '<' | '>' | '|' | ',' | ';' | '*' | '=')
        || !c.is_ascii() && is_wide_punctuation(c)
}

/// Returns the non-empty ranges between separators.
fn split_ranges(text: &str, range: Range<usize>, is_separator: &dyn Fn(char) -> bool) -> Vec<Range<usize>> {
    let mut position = range.start;
    let mut ranges = Vec::new();
    for part in text[range].split_inclusive(is_separator) {
        let word = part.strip_suffix(is_separator).unwrap_or(part);
        if !word.is_empty() {
            ranges.push(position..position + word.len());
        }
        position += part.len();
    }
    ranges
}

/// Returns the link of a word that is a path.
fn find_path(text: &str, word: Range<usize>, check: CheckTarget<'_>) -> Option<FoundLink> {
    let candidate = &text[word.clone()];
    // `@src/a.rs` is how a user mentions a file.
    let start = candidate.find(|c| !"([{@".contains(c)).unwrap_or(candidate.len());
    // `(auth)/page.tsx` keeps its bracket; those of `(src/a.rs).` only enclose the path.
    let start = if candidate[start..].contains(')') && !candidate.ends_with([')', '.', ':']) { 0 } else { start };
    let candidate = &candidate[start..];
    let candidate = &candidate[..trimmed_length(candidate)];
    let (target, length) = parse_file(candidate)?;
    let position = word.start + start;
    let has_position = |target: &LinkTarget| matches!(target, LinkTarget::File { line: Some(_), .. });
    let had_position = has_position(&target);
    let (target, is_missing) = choose_target(target, check)?;
    let length = match &target {
        LinkTarget::File { path, .. } if had_position && !has_position(&target) => path.len(),
        _ => length,
    };
    Some(FoundLink { range: position..position + length, target, is_missing })
}

/// Returns the target, or without a line that the file does not have, the file; and whether it is missing. Returns `None`
/// for an ordinary word.
fn choose_target(target: LinkTarget, check: CheckTarget<'_>) -> Option<(LinkTarget, bool)> {
    let existence = check(&target);
    let whole_file = match &target {
        LinkTarget::File { path, line: Some(_), .. } if existence != Existence::Exists => {
            let whole_file = file_without_position(path.clone());
            let existence = check(&whole_file);
            Some((whole_file, existence))
        }
        _ => None,
    };
    match (existence, whole_file) {
        (Existence::Exists, _) => Some((target, false)),
        (_, Some((whole_file, Existence::Exists))) => Some((whole_file, false)),
        (Existence::Missing, _) => Some((target, true)),
        (Existence::Unknown, Some((whole_file, Existence::Missing))) => Some((whole_file, true)),
        (Existence::Unknown, _) => None,
    }
}

/// Parses a path and position at the start of a word; returns its length.
fn parse_file(word: &str) -> Option<(LinkTarget, usize)> {
    if word.is_empty() || word.len() > MAX_PATH_BYTES || word.contains("://") || word.contains(char::is_control) {
        return None;
    }
    let whole_word = || (file_without_position(word.to_owned()), word.len());
    let (target, length) = find_position(word).unwrap_or_else(whole_word);
    let LinkTarget::File { path, line, .. } = &target else { return None };
    is_path(path, line.is_some()).then_some((target, length))
}

fn file_without_position(path: String) -> LinkTarget {
    LinkTarget::File { path, line: None, end: None, column: None }
}

/// Finds a position such as `:10`, `:10-20`, `:10:5`, `#L10` or `#L10-L20`; returns the file with this position, and the end of
/// the position. Text after another colon, as in search results, is not part of it.
fn find_position(word: &str) -> Option<(LinkTarget, usize)> {
    // Returns a number from 1 and the offset after it.
    let parse_number = |position: usize| -> Option<(usize, usize)> {
        let digits = word.get(position..)?.bytes().take_while(u8::is_ascii_digit).count();
        let value = word.get(position..position + digits)?.parse().ok()?;
        (value > 0).then_some((value, position + digits))
    };
    for (mark_start, mark) in word.match_indices([':', '#']) {
        let is_fragment = mark == "#";
        if is_fragment && !word[mark_start + 1..].starts_with('L') {
            continue;
        }
        let line_start = mark_start + 1 + usize::from(is_fragment);
        let Some((line, after_line)) = parse_number(line_start) else { continue };
        let (mut end, mut column, mut position_end) = (None, None, after_line);
        if word[after_line..].starts_with(['-', '–']) {
            let dash_length = word[after_line..].chars().next().map_or(0, char::len_utf8);
            let letter_length = usize::from(word[after_line + dash_length..].starts_with('L'));
            if let Some((last_line, after_range)) =
                parse_number(after_line + dash_length + letter_length).filter(|(last, _)| *last >= line)
            {
                (end, position_end) = (Some(last_line), after_range);
            }
        } else if let Some((column_number, after_column)) =
            word[after_line..].starts_with(':').then(|| parse_number(after_line + 1)).flatten()
        {
            (column, position_end) = (Some(column_number), after_column);
        }
        if word[position_end..].is_empty() || word[position_end..].starts_with(':') {
            let path = word[..mark_start].to_owned();
            return Some((LinkTarget::File { path, line: Some(line), end, column }, position_end));
        }
    }
    None
}

/// File names without an extension that are recognised.
const KNOWN_NAMES: [&str; 9] =
    ["Makefile", "Dockerfile", "README", "LICENSE", "CHANGELOG", "Justfile", "justfile", "Gemfile", "Procfile"];

/// Returns whether the text may be a path. Accepts many other words too: [`find_links`] checks whether a path exists.
fn is_path(path: &str, has_line: bool) -> bool {
    let has_separator = path.contains(['/', '\\']);
    let has_letters = path.contains(char::is_alphabetic);
    if path.contains('@') && !has_separator {
        return false; // an e-mail address
    }
    if has_separator {
        let is_only_dots = path.chars().all(|c| matches!(c, '.' | '/' | '~'));
        return has_letters || (is_only_dots && path.starts_with(['.', '~']));
    }
    match path.rsplit_once('.') {
        Some((stem, extension)) => {
            let is_extension = (1..=12).contains(&extension.len())
                && extension.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                && extension.contains(char::is_alphabetic);
            // `e.g`, `i.e`: an abbreviation, unless a line number follows.
            is_extension && (has_line || stem.len() != 1 || extension.len() > 1)
        }
        None => KNOWN_NAMES.contains(&path),
    }
}

#[cfg(test)]
mod tests;
