//! Commands that only print a version, or harmless environment variables.

use super::path_access::{PathAccess, ProgramPaths};
use crate::policy::command_line::Word;

/// Project files, each with the words in it that matter.
type Files = &'static [(&'static str, &'static [&'static str])];

/// Programs asked for their version, the arguments that ask, and the project files that may select another program than
/// the one in `PATH`, each with the words that do so (none: the file alone).
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
/// Files of version managers, which may provide any of these programs.
const MANAGER_FILES: &[&str] = &[".tool-versions", "mise.toml", ".mise.toml", ".mise", "mise", ".config"];

/// Returns whether a program is asked only for its version.
pub(super) fn is_version_query(name: &str, words: &[Word]) -> bool {
    let [Word::Known(word)] = words else { return false };
    VERSIONS.iter().any(|(program, arguments, _)| *program == name && arguments.contains(&word.as_str()))
}

/// Returns the files that must not exist in the folder, or must not contain certain words, because they may select
/// which program answers. None for bash, which version managers do not provide.
pub(super) fn version_override_files(name: &str) -> Vec<(Word, PathAccess)> {
    let entries = VERSIONS.iter().filter(|(program, ..)| *program == name && *program != "bash");
    let managers = MANAGER_FILES.iter().map(|file| (*file, &[][..]));
    let files = entries.flat_map(|(_, _, files)| files.iter().copied().chain(managers.clone()));
    files.map(|(file, words)| (Word::Known(file.to_owned()), PathAccess::MustNotSelectProgram(words))).collect()
}

/// Variables with values that the model may know.
const HARMLESS_VARIABLES: &[&str] = &["HOME", "PWD", "USER", "SHELL", "LANG", "PATH", "OLDPWD", "HOSTNAME", "TERM"];

/// Returns whether a word, as written, is only the expansion of one of [`HARMLESS_VARIABLES`]: `$HOME`, `"${HOME}"`.
pub(super) fn is_plain_variable(text: &str) -> bool {
    let unquoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"')).unwrap_or(text);
    let name =
        unquoted.strip_prefix("${").and_then(|name| name.strip_suffix('}')).or_else(|| unquoted.strip_prefix('$'));
    name.is_some_and(|name| HARMLESS_VARIABLES.contains(&name))
}

/// Judges `printenv PATH`.
pub(super) fn judge_printenv(words: &[Word]) -> ProgramPaths {
    let is_harmless = |word: &Word| word.known_text().is_some_and(|name| HARMLESS_VARIABLES.contains(&name));
    match !words.is_empty() && words.iter().all(is_harmless) {
        true => Ok(Vec::new()),
        false => Err("printenv shows all environment variables".to_owned()),
    }
}
