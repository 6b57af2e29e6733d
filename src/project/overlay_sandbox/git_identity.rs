//! Author of commits in a dry run. The user's git settings may hold credentials, so commands see only the name and the
//! address.

use crate::project::branch::{common_folder, git_folder};
use std::ffi::OsString;
use std::fs;
use std::path::Path;

/// Adds the name and address from the user's git settings to the environment, unless the project's git settings contain
/// their own.
pub fn add_identity(environment: &mut Vec<(OsString, OsString)>, home: Option<&Path>, project: &Path) {
    let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
    let Some(home) = home else { return };
    if let Some(git) = git_folder(project.join(".git")) {
        let project_settings = read(&common_folder(&git).join("config")) + &read(&git.join("config.worktree"));
        let project_settings = project_settings.to_lowercase();
        if project_settings.contains("[user") || project_settings.contains("[include") {
            return;
        }
    }
    let user_settings = [read(&home.join(".gitconfig")), read(&home.join(".config/git/config"))];
    for (key, variables) in
        [("name", ["GIT_AUTHOR_NAME", "GIT_COMMITTER_NAME"]), ("email", ["GIT_AUTHOR_EMAIL", "GIT_COMMITTER_EMAIL"])]
    {
        let Some(value) = user_settings.iter().find_map(|text| user_value(text, key)) else { continue };
        for variable in variables {
            if !environment.iter().any(|(name, _)| name == variable) {
                environment.push((variable.into(), value.as_str().into()));
            }
        }
    }
}

/// Returns the last value of a key in the section `[user]`. Values with escapes or comments are skipped.
fn user_value(text: &str, key: &str) -> Option<String> {
    let (mut is_user, mut last_value) = (false, None);
    for line in text.lines().map(str::trim) {
        if line.starts_with('[') {
            is_user = line.eq_ignore_ascii_case("[user]");
        } else if let (true, Some((name, value))) = (is_user, line.split_once('=')) {
            let value = value.trim().trim_matches('"');
            let is_plain = !value.is_empty() && !value.contains(['\\', '"', '#', ';', '<', '>']);
            if name.trim().eq_ignore_ascii_case(key) && is_plain {
                last_value = Some(value.to_owned());
            }
        }
    }
    last_value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_name_and_address_are_taken_from_user_settings() {
        let temporary = tempfile::tempdir().unwrap();
        let (home, project) = (temporary.path().join("home"), temporary.path().join("project"));
        fs::create_dir_all(home.join(".config/git")).unwrap();
        fs::create_dir_all(project.join(".git")).unwrap();
        let text = "[core]\n\tname = x\n[user]\n\temail = a@b.c\n\tname = \"A B\"\n\tsigningkey = K\n[url \"https://t@h\"]\n\tinsteadOf = x\n";
        fs::write(home.join(".gitconfig"), text).unwrap();
        let identity_with = |variables: &[(&str, &str)]| {
            let mut environment = variables.iter().map(|(name, value)| (name.into(), value.into())).collect();
            add_identity(&mut environment, Some(&home), &project);
            environment
                .into_iter()
                .map(|(name, value)| format!("{}={}", name.display(), value.display()))
                .collect::<Vec<_>>()
        };
        let expected =
            ["GIT_AUTHOR_NAME=A B", "GIT_COMMITTER_NAME=A B", "GIT_AUTHOR_EMAIL=a@b.c", "GIT_COMMITTER_EMAIL=a@b.c"];
        assert_eq!(identity_with(&[]), expected);
        assert_eq!(identity_with(&[("GIT_AUTHOR_NAME", "C")])[..2], ["GIT_AUTHOR_NAME=C", "GIT_COMMITTER_NAME=A B"]);
        fs::write(project.join(".git/config"), "[user]\n\tname = D\n").unwrap();
        assert_eq!(identity_with(&[]), [""; 0]);
    }

    #[test]
    fn own_identity_of_a_linked_worktree_is_kept() {
        let temporary = tempfile::tempdir().unwrap();
        let (home, project) = (temporary.path().join("home"), temporary.path().join("linked"));
        let (common, git) = (temporary.path().join("main/.git"), temporary.path().join("main/.git/worktrees/linked"));
        for folder in [&home, &project, &git] {
            fs::create_dir_all(folder).unwrap();
        }
        fs::write(home.join(".gitconfig"), "[user]\n\tname = A\n").unwrap();
        fs::write(project.join(".git"), format!("gitdir: {}\n", git.display())).unwrap();
        fs::write(git.join("commondir"), "../..\n").unwrap();
        let count_variables = || {
            let mut environment = Vec::new();
            add_identity(&mut environment, Some(&home), &project);
            environment.len()
        };
        assert_eq!(count_variables(), 2);
        for own_file in [common.join("config"), git.join("config.worktree")] {
            fs::write(&own_file, "[user]\n\tname = B\n").unwrap();
            assert_eq!(count_variables(), 0, "{own_file:?}");
            fs::remove_file(own_file).unwrap();
        }
    }
}
