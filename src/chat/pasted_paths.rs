//! Paths in a paste. A terminal pastes the paths of files that are dropped on it, each in its own way: with backslashes before
//! blanks, in quotes, as `file://` addresses, one per line, or as they are.

use url::Url;

/// Maximum number of paths in a paste.
const MAX_PATHS: usize = 20;
/// Maximum bytes of a paste of paths.
const MAX_BYTES: usize = 8 << 10;

/// Returns the lists of paths that a paste may be, the likeliest first; empty if it is no list of paths. Whether the paths
/// exist is not known. A name without a slash is no path, because it is more likely a word.
pub fn parse_pasted_paths(paste: &str) -> Vec<Vec<String>> {
    let paste = paste.trim();
    if paste.is_empty() || paste.len() > MAX_BYTES {
        return Vec::new();
    }
    let lines = paste.lines().map(|line| line.trim().to_owned()).filter(|line| !line.is_empty()).collect();
    let mut readings: Vec<Vec<String>> = Vec::new();
    for words in shlex::split(paste).into_iter().chain([lines]) {
        if words.is_empty() || words.len() > MAX_PATHS {
            continue;
        }
        let paths: Option<Vec<String>> = words.iter().map(|word| parse_path(word)).collect();
        readings.extend(paths.filter(|paths| !readings.contains(paths)));
    }
    readings
}

/// Parses a path or a `file:` address.
fn parse_path(word: &str) -> Option<String> {
    if word.starts_with("file:") {
        let url = Url::parse(word).ok()?;
        // The host is ignored: it is assumed to be this machine.
        let path = Url::parse(&format!("file://{}", url.path())).ok()?.to_file_path().ok()?;
        return path.into_os_string().into_string().ok();
    }
    let is_path = word.contains('/') && !word.contains("://") && !word.chars().any(char::is_control);
    is_path.then(|| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_paths(paste: &str, expected: &[&[&str]]) {
        assert_eq!(parse_pasted_paths(paste), expected, "{paste}");
    }

    #[test]
    fn reads_paths_as_terminals_write_them() {
        check_paths("/tmp/a.png", &[&["/tmp/a.png"]]);
        check_paths("'/tmp/a b.png' ", &[&["/tmp/a b.png"], &["'/tmp/a b.png'"]]);
        check_paths("/tmp/a\\ b.png", &[&["/tmp/a b.png"], &["/tmp/a\\ b.png"]]);
        check_paths("/tmp/a b.png", &[&["/tmp/a b.png"]]);
        check_paths("~/a/x ./y\n", &[&["~/a/x", "./y"], &["~/a/x ./y"]]);
        check_paths("file:///tmp/a%20b%C3%A9.png", &[&["/tmp/a bé.png"]]);
        check_paths("file://machine/tmp/a\nfile:///tmp/b", &[&["/tmp/a", "/tmp/b"]]);
        check_paths("\"/tmp/it's\" '/tmp/b'", &[&["/tmp/it's", "/tmp/b"], &["\"/tmp/it's\" '/tmp/b'"]]);
        check_paths("/tmp/it's", &[&["/tmp/it's"]]);
    }

    #[test]
    fn other_pastes_are_no_paths() {
        let many = "/a ".repeat(MAX_PATHS + 1);
        for paste in ["", " ", "word", "two words", "https://example.com/a", "see /tmp/a for more", "a/b\u{1b}[0m"] {
            let readings = parse_pasted_paths(paste);
            // A line with a slash may be the name of one file with blanks.
            assert!(readings.iter().all(|paths| paths.len() == 1 && paths[0] == paste), "{paste}: {readings:?}");
        }
        assert_eq!(parse_pasted_paths("two words"), Vec::<Vec<String>>::new());
        assert!(parse_pasted_paths(&many).iter().all(|paths| paths.len() == 1));
        assert_eq!(parse_pasted_paths(&"/a".repeat(MAX_BYTES)), Vec::<Vec<String>>::new());
        assert_eq!(parse_pasted_paths("file:///a%FF"), Vec::<Vec<String>>::new());
    }
}
