//! What a dry run changed, as a patch that other programs read.

use super::Mistake;
use crate::project::rehearsal::{Change, Node, Rehearsal};
use crate::tui::text::reveal;
use anyhow::Result;
use similar::TextDiff;
use std::io::{self, IsTerminal, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

/// Writes the patch of everything, or of what is at or below a path. To a terminal nothing goes that it would obey.
pub(super) fn write(rehearsal: &Rehearsal, below: Option<&str>, out: &mut dyn Write) -> Result<()> {
    let below = below.map(|below| Path::new(below.trim_start_matches("./").trim_end_matches('/')));
    let mut touched = rehearsal.touched()?;
    if let Some(below) = below.filter(|below| *below != Path::new(".")) {
        touched.retain(|path| path.starts_with(below));
        if touched.is_empty() {
            return Err(Mistake(format!("nothing was rehearsed at {}", below.display())).into());
        }
    }
    for path in touched {
        let Some(change) = rehearsal.change(&path)? else { continue };
        let patch = of(&change);
        match io::stdout().is_terminal() {
            true => {
                for line in String::from_utf8_lossy(&patch).split_inclusive('\n') {
                    writeln!(out, "{}", reveal::words(line.trim_end_matches('\n')))?;
                }
            }
            false => out.write_all(&patch)?,
        }
    }
    out.flush()?;
    Ok(())
}

/// The patch of one change, in the form that git writes.
fn of(change: &Change) -> Vec<u8> {
    if let Some(told) = unheld(change) {
        return told;
    }
    let (before, after) = (file(&change.before), file(&change.after));
    if before.is_none() && after.is_none() {
        // A folder, which such a patch has no word for.
        return Vec::new();
    }
    let (old, new) = (named("a/", &change.path), named("b/", &change.path));
    let mut patch = Vec::new();
    let mut say = |parts: &[&[u8]]| {
        parts.iter().for_each(|part| patch.extend_from_slice(part));
        patch.push(b'\n');
    };
    say(&[b"diff --git ", &old, b" ", &new]);
    match (&before, &after) {
        (None, Some((mode, _))) => say(&[format!("new file mode {mode}").as_bytes()]),
        (Some((mode, _)), None) => say(&[format!("deleted file mode {mode}").as_bytes()]),
        (Some((was, _)), Some((is, _))) if was != is => {
            say(&[format!("old mode {was}").as_bytes()]);
            say(&[format!("new mode {is}").as_bytes()]);
        }
        (_, _) => {}
    }
    let bytes =
        |side: &Option<(String, Vec<u8>)>| side.as_ref().map(|(_, bytes)| bytes.clone()).unwrap_or_default();
    let (from, to) = (bytes(&before), bytes(&after));
    if from == to {
        return patch;
    }
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).ok().filter(|text| !text.contains('\0'));
    let none: &[u8] = b"/dev/null";
    let (old, new) = (if before.is_none() { none } else { &old }, if after.is_none() { none } else { &new });
    match (text(&from), text(&to)) {
        (Some(from), Some(to)) => {
            say(&[b"--- ", old]);
            say(&[b"+++ ", new]);
            patch.extend(TextDiff::from_lines(&from, &to).unified_diff().to_string().into_bytes());
        }
        (_, _) => say(&[b"Binary files ", old, b" and ", new, b" differ"]),
    }
    patch
}

/// What is said instead of a patch where one side is not held whole: a large file, one that cannot be read, a pipe. Programs
/// that read a patch pass over it.
fn unheld(change: &Change) -> Option<Vec<u8>> {
    let words = match (&change.before, &change.after) {
        (_, Node::Other(words)) => format!("would be {words}"),
        (Node::Other(words), _) => format!("is {words}"),
        (_, _) => return None,
    };
    let words = format!(": {words}, which is not in this patch\n");
    Some([b"# ".as_slice(), &named("", &change.path), words.as_bytes()].concat())
}

/// Its mode and bytes; `None` where it is no file. A link's bytes are where it leads.
fn file(node: &Node) -> Option<(String, Vec<u8>)> {
    match node {
        Node::File { bytes, mode } => {
            let mode = if mode & 0o100 == 0 { "100644" } else { "100755" };
            Some((mode.to_owned(), bytes.clone()))
        }
        Node::Link(to) => Some(("120000".to_owned(), to.as_os_str().as_bytes().to_vec())),
        Node::Nothing | Node::Folder { .. } | Node::Other(_) => None,
    }
}

/// A name as git writes it: in quotes where it holds what would end a line or is no ASCII.
fn named(side: &str, path: &Path) -> Vec<u8> {
    let bytes = path.as_os_str().as_bytes();
    if bytes.iter().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\')) {
        return [side.as_bytes(), bytes].concat();
    }
    let mut quoted = format!("\"{side}").into_bytes();
    for byte in bytes {
        match byte {
            b'"' | b'\\' => quoted.extend([b'\\', *byte]),
            b' '..=b'~' => quoted.push(*byte),
            other => quoted.extend(format!("\\{other:03o}").into_bytes()),
        }
    }
    quoted.push(b'"');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_held_whole_is_neither_deleted_nor_made_by_a_patch() {
        let file = || Node::File { bytes: b"one\n".to_vec(), mode: 0o644 };
        let shut = || Node::Other("a file that cannot be read (Permission denied)".to_owned());
        let patch = |path: &str, before, after| {
            String::from_utf8(of(&Change { path: path.into(), before, after })).unwrap()
        };
        let words = "a file that cannot be read (Permission denied), which is not in this patch\n";
        assert_eq!(patch("a", file(), shut()), format!("# a: would be {words}"));
        assert_eq!(patch("a\nb", shut(), file()), format!("# \"a\\012b\": is {words}"));
        assert_eq!(patch("a", shut(), Node::Nothing), format!("# a: is {words}"));
        assert!(patch("a", file(), Node::Nothing).contains("deleted file mode 100644"));
    }
}
