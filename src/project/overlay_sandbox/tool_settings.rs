//! Tool settings in a project. They count as sensitive because other programs read them, but commands of a dry run see
//! those that contain nothing like a credential: without them, builds and commits that succeed live would fail.

use crate::chat::sensitive_paths::is_sensitive;
use crate::text::redaction::redact;
use std::fs;
use std::path::{Path, PathBuf};

/// Files and folders of settings. Any other sensitive path stays masked, whatever its content.
const SETTING_PATHS: [&str; 10] = [
    ".cargo/config",
    ".cargo/config.toml",
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    ".gitmodules",
    ".husky",
    ".githooks",
    ".vscode",
    ".devcontainer",
];
/// Words that occur next to credentials in such settings, in lower case.
const CREDENTIAL_WORDS: [&str; 7] = ["token", "pass", "secret", "auth", "cookie", "credential", "key"];
/// Length of an alphanumeric run that may be a key.
const KEY_LENGTH: usize = 32;
/// Maximum size of an examined file, in bytes.
const SIZE_LIMIT: u64 = 64 << 10;
/// Maximum number of files in a folder. A folder with more is not examined.
const FILE_LIMIT: usize = 100;

/// Returns whether a path of the project (absolute, without links) is or lies in one of `SETTING_PATHS` and
/// contains nothing like a credential. Blocks while the files are read.
pub fn is_visible_setting(project: &Path, path: &Path) -> bool {
    let Ok(relative) = path.strip_prefix(project) else { return false };
    // The setting may lie anywhere in the project except in another sensitive folder.
    let setting = relative.ancestors().find(|ancestor| SETTING_PATHS.iter().any(|setting| ancestor.ends_with(setting)));
    let Some(setting) = setting else { return false };
    let parent = setting.parent().unwrap_or(Path::new(""));
    let outer_folder = if parent.ends_with(".cargo") { parent.parent().unwrap_or(parent) } else { parent };
    !is_sensitive(outer_folder) && is_harmless(path)
}

fn is_harmless(path: &Path) -> bool {
    let mut pending = vec![path.to_owned()];
    let mut files: Vec<PathBuf> = Vec::new();
    while let Some(path) = pending.pop() {
        let Ok(metadata) = path.symlink_metadata() else { return false };
        if metadata.is_dir() {
            let Ok(entries) = fs::read_dir(&path) else { return false };
            for entry in entries {
                let Ok(entry) = entry else { return false };
                // A file with a sensitive name may hold a secret that its content does not reveal as one.
                if is_sensitive(Path::new(&entry.file_name())) {
                    return false;
                }
                pending.push(entry.path());
            }
        } else if metadata.is_file()
            && metadata.len() <= SIZE_LIMIT
            && std::os::unix::fs::MetadataExt::nlink(&metadata) == 1
        {
            files.push(path);
        } else {
            return false;
        }
        if files.len() + pending.len() > FILE_LIMIT {
            return false;
        }
    }
    files.iter().all(|file| holds_no_credential(file))
}

fn holds_no_credential(file: &Path) -> bool {
    let Ok(text) = fs::read_to_string(file) else { return false };
    let lower = text.to_lowercase();
    let has_long_run = lower.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| word.len() >= KEY_LENGTH);
    let (_, secret_count) = redact(&text);
    !has_long_run && !CREDENTIAL_WORDS.iter().any(|word| lower.contains(word)) && secret_count == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_settings_without_credentials_are_shown() {
        let temporary = tempfile::tempdir().unwrap();
        let project = temporary.path().canonicalize().unwrap();
        let write = |path: &str, text: &str| {
            let path = project.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(".cargo/config.toml", "[build]\nrustflags = [\"-Dwarnings\"]\n");
        write("a/.cargo/config.toml", "[alias]\nt = \"test\"\n");
        write("b/.cargo/config.toml", "[registries.x]\ntoken = \"abc\"\n");
        write("c/.npmrc", "save-exact=true\n");
        write("d/.npmrc", "//registry.example.com/:_authToken=npm_abc\n");
        write("e/.npmrc", "registry=https://user:hunter2@example.com/\n");
        write(".husky/pre-commit", "npm test\n");
        write(".vscode/settings.json", "{ \"editor.tabSize\": 2 }\n");
        write("f/.vscode/settings.json", "{ \"db.password\": \"x\" }\n");
        write("g/.vscode/.env", "A=1\n");
        write("i/.vscode/settings.json", "{ \"openai.key\": \"abc\" }\n");
        write("j/.vscode/settings.json", &format!("{{ \"x\": \"{}\" }}\n", "0a".repeat(32)));
        write("h/.githooks/x", "\u{0}");
        write(".ssh/.npmrc", "save-exact=true\n");
        write(".cargo/.ssh/.npmrc", "save-exact=true\n");
        write(".env", "A=1\n");
        write("big/.npmrc", &"a=1\n".repeat(20_000));
        fs::write(project.join("h/.githooks/y"), [0xff]).unwrap();
        std::os::unix::fs::symlink(project.join(".env"), project.join("c/.yarnrc")).unwrap();
        fs::hard_link(project.join(".env"), project.join("c/.gitmodules")).unwrap();
        for (path, expected) in [
            (".cargo/config.toml", true),
            ("a/.cargo/config.toml", true),
            ("b/.cargo/config.toml", false),
            ("c/.npmrc", true),
            ("d/.npmrc", false),
            ("e/.npmrc", false),
            (".husky", true),
            (".husky/pre-commit", true),
            (".vscode", true),
            ("f/.vscode", false),
            ("f/.vscode/settings.json", false),
            ("g/.vscode", false),
            ("i/.vscode", false),
            ("j/.vscode", false),
            ("h/.githooks", false),
            (".ssh/.npmrc", false),
            (".cargo/.ssh/.npmrc", false),
            (".env", false),
            (".cargo/credentials.toml", false),
            ("big/.npmrc", false),
            ("c/.yarnrc", false),
            ("c/.gitmodules", false),
            ("none/.npmrc", false),
        ] {
            assert_eq!(is_visible_setting(&project, &project.join(path)), expected, "{path}");
        }
        assert!(!is_visible_setting(&project.join("a"), &project.join(".cargo/config.toml")));
    }
}
