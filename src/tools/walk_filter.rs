//! Which files below a folder a call may read without a further approval.

use super::planned_path::{read_access, walk_access};
use crate::chat::Access;
use crate::chat::sensitive_paths::is_system_file;
use crate::policy::ExcludedPaths;
use crate::project::{Location, OwnFile, Reader, UnknownHardLinkCheck};

/// Why a call must not read a file below a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Exclusion {
    /// It may hold secrets, or it is outside the project: the user was not asked about it.
    Sensitive,
    /// A rule of the user denies it or asks about it.
    Rule,
}

/// Compares the files that a walk of one folder finds with what the user was asked about.
pub(super) struct WalkFilter<'a> {
    files: &'a dyn Reader,
    root: Location,
    /// What the call may read.
    approved: Access,
    excluded: &'a ExcludedPaths,
    has_unknown_hard_links: UnknownHardLinkCheck<'a>,
    /// False if the settings name the folder, so that nothing was asked about it.
    is_asked: bool,
}

impl<'a> WalkFilter<'a> {
    /// Creates the filter of a call whose plan has the access to read this folder.
    pub(super) fn new(files: &'a dyn Reader, root: Location, excluded: &'a ExcludedPaths) -> Self {
        let (approved, has_unknown_hard_links) = (read_access(files, &root), files.unknown_hard_link_check());
        Self { files, root, approved, excluded, has_unknown_hard_links, is_asked: true }
    }

    /// Sets what the call may read, if it names a file and not the folder.
    #[must_use]
    pub(super) fn with_approved(self, approved: Access) -> Self {
        Self { approved, ..self }
    }

    /// Creates the filter for a folder that the user's settings name, inside the project or not. No prompt names it, so files
    /// that may hold secrets are excluded wherever the folder is, and also those that a rule asks about.
    pub(super) fn without_prompt(files: &'a dyn Reader, root: Location, excluded: &'a ExcludedPaths) -> Self {
        Self { approved: Access::Read(Vec::new()), is_asked: false, ..Self::new(files, root, excluded) }
    }

    /// Returns whether one of the other names of a file may be that of a secret. Every user can read the files of the system.
    fn may_be_linked_secret(&self, file: &Location) -> bool {
        (file.is_inside || !is_system_file(&file.real)) && (self.has_unknown_hard_links)(file)
    }

    /// Returns why a file must not be read; `None` if it may be.
    pub(super) fn find_exclusion(&self, file: &Location) -> Option<Exclusion> {
        let root = &self.root;
        let is_asked_sensitive = self.is_asked && root.is_sensitive;
        let is_asked_outside = self.is_asked && !root.is_inside;
        let is_sensitive = (file.is_sensitive && !is_asked_sensitive)
            || (!file.is_inside && root.is_inside)
            || file.own_file == Some(OwnFile::Credentials)
            || (!is_asked_outside && !is_asked_sensitive && self.may_be_linked_secret(file));
        if is_sensitive {
            return Some(Exclusion::Sensitive);
        }
        let accesses = walk_access(self.files, file);
        accesses.iter().any(|access| self.excluded.excludes(access, &self.approved)).then_some(Exclusion::Rule)
    }
}
