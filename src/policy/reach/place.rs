//! Where a program works or writes by one of its options: `-C x`, `-Cx`, `--directory=x`, `cp -rtx`.

use super::refused::CHANGERS;
use crate::policy::letters;

/// Options behind which stands where a program works or writes. An option may be shortened.
#[rustfmt::skip]
const NAMES: &[&str] = &[
    "--directory", "--git-dir", "--work-tree", "--prefix", "--manifest-path", "--cwd", "--chdir", "--target-directory",
    "--project-dir", "--working-directory",
];

/// The same in one letter: for whom, the letters, and those that take some other word, behind which none is an option.
const LETTERS: &[(&[&str], &str, &str)] = &[
    (&["cp", "mv", "ln"], "t", "S"),
    (&["install"], "t", "Sgmo"),
    (&["tar"], "Cfg", "bFHIKLNTVX"),
    (&["make", "gmake"], "C", "fIoWE"),
    (&["ninja"], "C", "dfjkltw"),
    (&["unzip"], "d", "Px"),
    (&["patch"], "dor", "BDFVYgipz"),
    (&["just"], "d", "f"),
    (&["cmake"], "B", "CDGSTUA"),
    (&["sort"], "oT", "Skt"),
];

/// Tests of `find` behind which stands what it writes.
const WRITTEN: &[&str] = &["-fprint", "-fprint0", "-fprintf", "-fls"];

/// Options of those who change files whose words name none that they change.
const NAMELESS: &[&str] =
    &["--exclude", "--expression", "--transform", "--xform", "--suffix", "--mode", "--date"];

/// The place that an option of this program holds; empty where the next word is the place. `None` where it holds none.
pub(super) fn of<'a>(program: &str, word: &'a str) -> Option<&'a str> {
    if !word.starts_with('-') {
        return None;
    }
    if word.starts_with("--") {
        let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
        let is_place = name.len() > 2 && NAMES.iter().any(|place| place.starts_with(name));
        let is_changed = CHANGERS.contains(&program) && !NAMELESS.contains(&name);
        return match value {
            Some(value) => (is_place || is_changed).then_some(value),
            None => is_place.then_some(""),
        };
    }
    if program == "find" {
        return WRITTEN.contains(&word).then_some("");
    }
    let own = LETTERS.iter().find(|(programs, ..)| programs.contains(&program));
    let Some((_, places, others)) = own else { return word.strip_prefix("-C") };
    letters::behind(word, places, others)
}

/// Whether this is an option of `find` that stands before what it looks through.
pub(super) fn is_before_places(word: &str) -> bool {
    matches!(word, "-H" | "-L" | "-P") || word.starts_with("-O") || word.starts_with("-D")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_found_however_its_option_is_written() {
        for (program, word, place) in [
            ("cp", "--target-directory=/x", Some("/x")),
            ("cp", "--targ=/x", Some("/x")),
            ("cp", "--targ", Some("")),
            ("mv", "-t/x", Some("/x")),
            ("cp", "-rt", Some("")),
            ("cp", "-rt/x", Some("/x")),
            ("cp", "-S.t", None),
            ("tar", "-xC/x", Some("/x")),
            ("tar", "-cf/x.tar", Some("/x.tar")),
            ("tar", "--one-top-level=/x", Some("/x")),
            ("tar", "--exclude=/x", None),
            ("make", "-kC/x", Some("/x")),
            ("make", "-kC", Some("")),
            ("make", "-j4", None),
            ("make", "--di=/x", Some("/x")),
            ("make", "--jobs=4", None),
            ("git", "-C", Some("")),
            ("x", "-C/x", Some("/x")),
            ("unzip", "-d/x", Some("/x")),
            ("x", "C", None),
            ("x", "-", None),
            ("x", "--", None),
            ("cp", "-ä", None),
            ("find", "-fprintf", Some("")),
            ("find", "-Lx", None),
        ] {
            assert_eq!(of(program, word), place, "{program} {word}");
        }
    }
}
