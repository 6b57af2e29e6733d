//! Which files below a folder a call may read without a further approval.

use super::planned_path::{read_access, walk_access};
use crate::chat::Access;
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
}

impl<'a> WalkFilter<'a> {
    /// Creates the filter of a call whose plan has the access to read this folder.
    pub(super) fn new(files: &'a dyn Reader, root: Location, excluded: &'a ExcludedPaths) -> Self {
        let (approved, has_unknown_hard_links) = (read_access(files, &root), files.unknown_hard_link_check());
        Self { files, root, approved, excluded, has_unknown_hard_links }
    }

    /// Returns why a file must not be read; `None` if it may be.
    pub(super) fn find_exclusion(&self, file: &Location) -> Option<Exclusion> {
        let root = &self.root;
        let is_sensitive = (file.is_sensitive && !root.is_sensitive)
            || (!file.is_inside && root.is_inside)
            || file.own_file == Some(OwnFile::Credentials)
            || (root.is_inside && !root.is_sensitive && (self.has_unknown_hard_links)(file));
        if is_sensitive {
            return Some(Exclusion::Sensitive);
        }
        let accesses = walk_access(self.files, file);
        accesses.iter().any(|access| self.excluded.excludes(access, &self.approved)).then_some(Exclusion::Rule)
    }
}
