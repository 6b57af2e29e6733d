//! Editing what a grant of the session covers, and the words of a prefix.

use super::coverage::is_plain;
use super::wide_prefixes::explain_too_wide;
use crate::chat::{Grant, GrantScope};
use std::path::{Path, PathBuf};

/// Text for the folder of the project itself.
const PROJECT_FOLDER: &str = ".";
/// Returns the text of a grant's scope, for editing.
///
/// # Errors
/// The reason why the scope is not one text that can be changed on its own.
pub fn editable_scope(grant: &Grant) -> Result<String, String> {
    match &grant.scope {
        GrantScope::Command { command, .. } => Ok(command.clone()),
        GrantScope::Prefix { words, .. } => join_prefix(words),
        GrantScope::Folder(path) if path == Path::new("") => Ok(PROJECT_FOLDER.to_owned()),
        GrantScope::File(path) | GrantScope::Folder(path) => {
            path.to_str().map(str::to_owned).ok_or_else(|| "Its path is not text".to_owned())
        }
        GrantScope::Host(host) => Ok(host.clone()),
        GrantScope::FileChanges => Err("It is for all file changes, and there is no text to edit".to_owned()),
        GrantScope::Workspace => Err("It is for the whole workspace, and there is no text to edit".to_owned()),
        GrantScope::Service(service) => Err(format!("It is for {service} only, and there is no text to edit")),
    }
}

/// Returns the grant with this text as its scope. Tool, folder, network access and bound files stay the same.
///
/// # Errors
/// The reason why the text is no scope of this kind.
pub fn edit_scope(grant: &Grant, text: &str) -> Result<Grant, String> {
    let text = text.trim();
    if text.is_empty() {
        return Err("the text is empty; revoke the grant instead".to_owned());
    }
    let scope = match grant.scope.clone() {
        GrantScope::Command { folder, network, .. } => {
            GrantScope::Command { command: text.to_owned(), folder, network }
        }
        GrantScope::Prefix { folder, .. } => {
            let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
            if words.iter().any(|word| needs_shell(word)) {
                return Err("a prefix has plain words such as cargo test, without shell syntax".to_owned());
            }
            if let Some(reason) = explain_too_wide(&words) {
                return Err(format!("{text:?} is too broad to allow: {reason}"));
            }
            GrantScope::Prefix { words, folder }
        }
        GrantScope::File(_) => GrantScope::File(parse_path(text)?),
        GrantScope::Folder(_) if text == PROJECT_FOLDER => GrantScope::Folder(PathBuf::new()),
        GrantScope::Folder(_) => GrantScope::Folder(parse_path(text)?),
        GrantScope::Host(_) if text.chars().all(|c| c.is_alphanumeric() || ".-_".contains(c)) => {
            GrantScope::Host(text.to_lowercase())
        }
        GrantScope::Host(_) => return Err("a host is a name such as docs.rs, without * and /".to_owned()),
        GrantScope::FileChanges | GrantScope::Service(_) | GrantScope::Workspace => {
            return editable_scope(grant).map(|_| grant.clone());
        }
    };
    Ok(Grant { scope, ..grant.clone() })
}

/// Returns the words of a prefix as one text, which splits at blanks into the same words.
///
/// # Errors
/// The reason why there is none.
pub(super) fn join_prefix(words: &[String]) -> Result<String, String> {
    match words.iter().any(|word| needs_shell(word) || word.contains(char::is_whitespace)) {
        true => Err("One of its words needs quotes".to_owned()),
        false => Ok(words.join(" ")),
    }
}

/// Returns whether a word has characters that mean something to a shell, so that it cannot be one of a prefix.
pub fn needs_shell(word: &str) -> bool {
    word.is_empty() || word.contains(|c: char| "|&;<>()$`\"'\\*?\n".contains(c))
}

/// Parses the path of one file or folder of the project.
fn parse_path(text: &str) -> Result<PathBuf, String> {
    let path = PathBuf::from(text.trim_end_matches('/'));
    if text.contains(['*', '?']) {
        return Err("a grant names one file or folder, without * and ?".to_owned());
    }
    if path.as_os_str().is_empty() || !is_plain(&path) {
        return Err("the path must be inside the project, relative to it and without ..".to_owned());
    }
    Ok(path)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{Digest, Script};

    fn command() -> GrantScope {
        GrantScope::Command { command: "make\ntest".into(), folder: "/p".into(), network: true }
    }

    fn prefix(words: &[&str]) -> GrantScope {
        GrantScope::Prefix { words: words.iter().map(|word| (*word).to_owned()).collect(), folder: "/p".into() }
    }

    /// Compares the text of a scope, and the scope or the error after this text was entered.
    #[track_caller]
    fn check_edit(scope: GrantScope, shown: &str, entered: &str, expected: Result<GrantScope, &str>) {
        let grant = Grant::new("tool", scope);
        assert_eq!(editable_scope(&grant).as_deref(), Ok(shown));
        assert_eq!(edit_scope(&grant, shown), Ok(grant.clone()), "unchanged");
        match (edit_scope(&grant, entered), expected) {
            (Ok(edited), Ok(scope)) => assert_eq!(edited, Grant { scope, ..grant }, "{entered}"),
            (Err(error), Err(part)) => assert!(error.contains(part), "{entered}: {error}"),
            (edited, _) => panic!("{entered}: {edited:?}"),
        }
    }

    #[test]
    fn the_text_of_a_scope_is_edited_and_nothing_else() {
        let edited = GrantScope::Command { command: "make all".into(), folder: "/p".into(), network: true };
        check_edit(command(), "make\ntest", " make all\n", Ok(edited));
        check_edit(prefix(&["cargo", "test"]), "cargo test", "cargo  build", Ok(prefix(&["cargo", "build"])));
        check_edit(GrantScope::File("src/a".into()), "src/a", "src/b", Ok(GrantScope::File("src/b".into())));
        check_edit(GrantScope::Folder("src".into()), "src", "src/b/", Ok(GrantScope::Folder("src/b".into())));
        check_edit(GrantScope::Folder("".into()), ".", "src", Ok(GrantScope::Folder("src".into())));
        check_edit(GrantScope::Folder("src".into()), "src", ".", Ok(GrantScope::Folder("".into())));
        check_edit(
            GrantScope::Host("docs.rs".into()),
            "docs.rs",
            "Crates.io",
            Ok(GrantScope::Host("crates.io".into())),
        );
        let script = Script { path: "run.sh".into(), sha256: Some(Digest::of_bytes(b"x")) };
        let bound = Grant::new("bash_exec", command()).with_scripts(vec![script]);
        assert_eq!(edit_scope(&bound, "./run.sh b").map(|grant| grant.scripts), Ok(bound.scripts));
    }

    #[test]
    fn a_text_that_would_widen_or_mean_something_else_is_rejected() {
        check_edit(prefix(&["cargo", "test"]), "cargo test", "sudo", Err("sudo runs its arguments"));
        check_edit(prefix(&["cargo", "test"]), "cargo test", "git", Err("git without a subcommand"));
        check_edit(prefix(&["cargo", "test"]), "cargo test", "cargo test && ls", Err("without shell syntax"));
        check_edit(prefix(&["cargo", "test"]), "cargo test", "  ", Err("empty"));
        for path in ["../a", "/etc/passwd", "a/../b", "/"] {
            check_edit(GrantScope::File("src/a".into()), "src/a", path, Err("inside the project"));
            check_edit(GrantScope::Folder("src".into()), "src", path, Err("inside the project"));
        }
        check_edit(GrantScope::Folder("src".into()), "src", "src/**", Err("without * and ?"));
        check_edit(GrantScope::Host("docs.rs".into()), "docs.rs", "*.rs", Err("without * and /"));
        for scope in [GrantScope::FileChanges, GrantScope::Service("db".into()), prefix(&["a b"])] {
            let grant = Grant::new("tool", scope);
            assert!(editable_scope(&grant).is_err());
        }
        assert!(edit_scope(&Grant::new("tool", GrantScope::FileChanges), "x").is_err());
    }
}
