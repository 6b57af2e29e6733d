//! Options that set the folder in which a program works or writes: `-C x`, `-Cx`, `--directory=x`, `cp -rtx`.

use crate::policy::grammar::{ANY_FOLDER, ValueKind, possible_options, program_named};

/// Programs that change the files they are given.
#[rustfmt::skip]
pub(super) const FILE_CHANGERS: &[&str] = &[
    "rm", "rmdir", "unlink", "mv", "cp", "ln", "tee", "touch", "mkdir", "install", "truncate", "dd", "sed", "perl",
    "chmod", "chown", "rsync", "shred", "sponge", "ed", "ex", "vi", "vim", "nano", "patch", "tar", "unzip", "wipefs",
    "fdisk", "parted", "sgdisk", "blkdiscard", "mkswap", "find",
];

/// Values that the program does not change.
const VALUES_LEFT_ALONE: &[ValueKind] = &[
    ValueKind::Word,
    ValueKind::Number,
    ValueKind::Pattern,
    ValueKind::Script,
    ValueKind::Names,
    ValueKind::Read,
    ValueKind::List,
];

/// Returns the folder that an option of this program sets, or the file that it writes; empty if that is the next word.
/// `None` for any other option.
pub(super) fn folder_in_option<'a>(program: &str, word: &'a str) -> Option<&'a str> {
    if !word.starts_with('-') {
        return None;
    }
    let grammar = program_named(program);
    if word.starts_with("--") {
        let sets_folder = !possible_options(&ANY_FOLDER, word).is_empty();
        let Some((_, value)) = word.split_once('=') else { return sets_folder.then_some("") };
        // The value of an option that the grammar does not know may be a file to change.
        let options = grammar.map(|grammar| possible_options(grammar, word)).unwrap_or_default();
        let names_changed_file = FILE_CHANGERS.contains(&program)
            && (options.is_empty() || options.iter().any(|(option, _)| !option.value.is_kind(VALUES_LEFT_ALONE)));
        return (sets_folder || names_changed_file).then_some(value);
    }
    let options = grammar.map(|grammar| possible_options(grammar, word)).unwrap_or_default();
    if options.is_empty() && !grammar.is_some_and(|grammar| grammar.is_complete) {
        // In an unknown program, `-C` is taken for a folder, as in make, git and tar.
        return word.strip_prefix("-C");
    }
    let folder_option = options.iter().find(|(option, _)| option.value.is_kind(&[ValueKind::Folder, ValueKind::Write]));
    folder_option.map(|(_, value)| value.unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_folder_in_any_option_spelling() {
        for (program, word, expected) in [
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
            ("tar", "--transform=s/a/b/", None),
            ("sed", "--expression=s/a/b/", None),
            ("touch", "--date=/x", None),
            ("touch", "--dat=/x", None),
            ("touch", "--new=/x", Some("/x")),
            ("mkdir", "--mode=0/7", None),
            ("x", "--new=/x", None),
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
        ] {
            assert_eq!(folder_in_option(program, word), expected, "{program} {word}");
        }
    }
}
