//! Git repository of a project, as far as a patch depends on it.

use super::object_id::Algorithm;
use crate::project::branch::{common_folder, git_folder};
use std::fs;
use std::path::{Path, PathBuf};

/// Properties of a repository that a patch depends on.
#[derive(Debug, PartialEq, Eq)]
pub struct Repository {
    /// Path of the project in the repository. `git apply` resolves the paths of a patch from the top folder of the
    /// repository, in whatever subfolder it runs, and silently skips those outside the current folder.
    pub prefix: PathBuf,
    /// Hash algorithm of object ids.
    pub algorithm: Algorithm,
}

impl Repository {
    /// Finds the repository of this folder, as git does. Without one, returns default properties.
    pub fn detect(project: &Path) -> Self {
        let repository = project.ancestors().find_map(|top| Some((top, resolve_git_folder(top)?)));
        match repository {
            None => Self { prefix: PathBuf::new(), algorithm: Algorithm::Sha1 },
            Some((top, git)) => Self {
                prefix: project.strip_prefix(top).map(Path::to_owned).unwrap_or_default(),
                algorithm: read_algorithm(&git),
            },
        }
    }
}

/// Returns the git folder of the work tree with this top folder.
fn resolve_git_folder(top: &Path) -> Option<PathBuf> {
    git_folder(top.join(".git")).filter(|git| git.join("HEAD").symlink_metadata().is_ok())
}

fn read_algorithm(git: &Path) -> Algorithm {
    // A worktree shares the configuration of its repository.
    let text = fs::read(common_folder(git).join("config")).unwrap_or_default();
    let mut in_extensions = false;
    for line in String::from_utf8_lossy(&text).to_lowercase().lines() {
        let line = line.trim();
        if let Some(section) = line.strip_prefix('[') {
            in_extensions = section.trim_start().starts_with("extensions");
        }
        let value = line.split_once('=').filter(|(key, _)| key.trim().ends_with("objectformat"));
        if in_extensions && value.is_some_and(|(_, value)| value.trim().trim_matches('"') == "sha256") {
            return Algorithm::Sha256;
        }
    }
    Algorithm::Sha1
}
