//! Path names in git's format, names that git refuses, and the umask.
//! Only Linux tells the umask without changing it. On other systems it is assumed to be 022.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// Quotes a name like git: in quotes with C escapes if it contains a control character, a quote, a backslash or a
/// non-ASCII byte. `side` is the prefix: `a/`, `b/`, or empty.
pub fn quote_name(side: &str, path: &Path) -> Vec<u8> {
    let bytes = path.as_os_str().as_bytes();
    if bytes.iter().all(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\')) {
        return [side.as_bytes(), bytes].concat();
    }
    let mut quoted = format!("\"{side}").into_bytes();
    for byte in bytes {
        match byte {
            b'"' | b'\\' => quoted.extend([b'\\', *byte]),
            b' '..=b'~' => quoted.push(*byte),
            0x07..=0x0d => quoted.extend([b'\\', b"abtnvfr"[usize::from(*byte - 7)]]),
            other => quoted.extend(format!("\\{other:03o}").into_bytes()),
        }
    }
    quoted.push(b'"');
    quoted
}

/// Returns the `.git` folder that a path is or lies in.
pub fn enclosing_git_folder(path: &Path) -> Option<PathBuf> {
    let mut folder = PathBuf::new();
    for part in path.components() {
        folder.push(part);
        if part.as_os_str() == ".git" {
            return Some(folder);
        }
    }
    None
}

/// Returns whether `git apply` refuses a name, and with it the whole patch: names that other systems treat as `.git`,
/// and a link named `.gitmodules`. Unknown variants count as refused.
pub fn is_refused(path: &Path, is_link: bool) -> bool {
    let parts = path.as_os_str().as_bytes().split(|byte| matches!(byte, b'/' | b'\\'));
    parts.into_iter().any(|part| {
        // HFS ignores certain non-ASCII characters; NTFS ignores trailing dots and spaces and the text after a colon.
        let ascii: Vec<u8> = part.iter().filter(|byte| byte.is_ascii()).map(u8::to_ascii_lowercase).collect();
        let name = ascii.split(|byte| *byte == b':').next().unwrap_or_default();
        let name = name.trim_ascii_end();
        let end = name.iter().rposition(|byte| !matches!(byte, b'.' | b' ')).map_or(0, |at| at + 1);
        let name = &name[..end];
        // `git~1`, `gitmod~…` and `gi7eb…` are short names that NTFS gives to `.git` and `.gitmodules`.
        matches!(name, b".git" | b"git~1")
            || (is_link && [&b".gitmodules"[..], b"gitmod~", b"gi7eb"].iter().any(|prefix| name.starts_with(prefix)))
    })
}

/// Returns the permissions that the umask removes from new files.
pub fn current_umask() -> u32 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("Umask:"));
    mask.and_then(|mask| u32::from_str_radix(mask.trim(), 8).ok()).unwrap_or(0o022)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    #[test]
    fn r30_quotes_names_like_git() {
        for (name, expected) in [
            (&b"a b"[..], &b"b/a b"[..]),
            (b"tab\there", br#""b/tab\there""#),
            (b"line\nend\r", br#""b/line\nend\r""#),
            (b"bell\x07\x01\x7f", br#""b/bell\a\001\177""#),
            (b"quote\"back\\", br#""b/quote\"back\\""#),
            ("\u{e9}".as_bytes(), br#""b/\303\251""#),
            (b"\xff", br#""b/\377""#),
        ] {
            let quoted = quote_name("b/", Path::new(OsStr::from_bytes(name)));
            assert_eq!(String::from_utf8_lossy(&quoted), String::from_utf8_lossy(expected));
        }
    }

    #[test]
    fn r30_recognises_the_names_that_git_refuses() {
        let is_refused_file = |name: &str| is_refused(Path::new(name), false);
        let is_refused_link = |name: &str| is_refused(Path::new(name), true);
        for name in
            [".git", ".GIT", "a/.Git/b", "git~1", ".git ", ".git...", ".git::$DATA", "a\\.git\\b", ".g\u{200c}it"]
        {
            assert!(is_refused_file(name), "{name}");
        }
        for name in [".gitignore", "git", "x.git", ".github/x", "git~2", ".gitmodules"] {
            assert!(!is_refused_file(name), "{name}");
        }
        assert!(is_refused_link(".gitmodules") && is_refused_link("GITMOD~1"));
        assert_eq!(enclosing_git_folder(Path::new("sub/.git/HEAD")), Some(PathBuf::from("sub/.git")));
        assert_eq!(enclosing_git_folder(Path::new("sub/.gitignore")), None);
    }
}
