//! What only says which version it is, or what a harmless variable holds.

use super::How;
use super::programs::Touched;
use crate::policy::shell::Word;

/// Files of a project, each with the words in it that matter.
type Files = &'static [(&'static str, &'static [&'static str])];

/// Programs that are asked for their version; the words that ask; and the files of a project by which another program
/// than the one on the PATH may answer, each with the words in it that do so (none: the file alone).
#[rustfmt::skip]
const VERSIONS: &[(&str, &[&str], Files)] = &[
    ("bash", &["--version"], &[]),
    ("cargo", &["--version", "-V"], &[("rust-toolchain", &[]), ("rust-toolchain.toml", &[])]),
    ("rustc", &["--version", "-V"], &[("rust-toolchain", &[]), ("rust-toolchain.toml", &[])]),
    ("python", &["--version", "-V"], &[(".python-version", &[])]),
    ("python3", &["--version", "-V"], &[(".python-version", &[])]),
    ("node", &["--version", "-v"], &[(".node-version", &[]), (".nvmrc", &[]), ("package.json", &["volta", "packageManager"])]),
    ("npm", &["--version", "-v"], &[(".npmrc", &[]), (".node-version", &[]), (".nvmrc", &[]), ("package.json", &["volta", "packageManager"])]),
    ("go", &["version"], &[("go.mod", &[]), ("go.work", &[])]),
];
/// Managers of versions that any of them may be a stand-in of.
const MANAGERS: &[&str] = &[".tool-versions", "mise.toml", ".mise.toml", ".mise", "mise", ".config"];

/// Whether a program is asked for its version and nothing else.
pub(super) fn is_asked(name: &str, words: &[Word]) -> bool {
    let [Word::Known(word)] = words else { return false };
    VERSIONS.iter().any(|(program, asks, _)| *program == name && asks.contains(&word.as_str()))
}

/// What must not stand in the folder for that to be plain.
pub(super) fn asked(name: &str) -> Vec<(Word, How)> {
    let of = VERSIONS.iter().filter(|(program, ..)| *program == name && *program != "bash");
    let managers = MANAGERS.iter().map(|file| (*file, &[][..]));
    let files = of.flat_map(|(_, _, files)| files.iter().copied().chain(managers.clone()));
    files.map(|(file, words)| (Word::Known(file.to_owned()), How::Silent(words))).collect()
}

/// Variables that hold nothing which the model is not told anyway.
const PLAIN: &[&str] = &["HOME", "PWD", "USER", "SHELL", "LANG", "PATH", "OLDPWD", "HOSTNAME", "TERM"];

/// Whether a word is nothing but the value of one of them, which is only told.
pub(super) fn is_plain_variable(text: &str) -> bool {
    let bare = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    let name =
        bare.strip_prefix("${").and_then(|name| name.strip_suffix('}')).or_else(|| bare.strip_prefix('$'));
    name.is_some_and(|name| PLAIN.contains(&name))
}

/// `printenv PATH`.
pub(super) fn printenv(words: &[Word]) -> Touched {
    let plain = |word: &Word| word.known().is_some_and(|name| PLAIN.contains(&name));
    match !words.is_empty() && words.iter().all(plain) {
        true => Ok(Vec::new()),
        false => Err("printenv tells what every variable holds".to_owned()),
    }
}
