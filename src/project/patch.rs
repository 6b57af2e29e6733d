//! Changes of a rehearsal as a patch for `git apply`, with a list of the changes that a patch cannot contain.
//!
//! A patch contains paths, contents, an executable bit and links. All other changes (`.git`, empty folders, other
//! modes, pipes, very large files) are listed with a reason in comment lines before the first file, which git skips.

mod binary;
mod git_names;
mod hunks;
mod item;
pub(super) mod object_id;
mod plan;
mod repository;
#[cfg(test)]
mod tests;

use super::rehearsal::Rehearsal;
use super::{Error, Reader, change_summary};
use crate::chat::dry_run_summary::{BY_COMMAND_NOTE, OutsideChange};
use hunks::write_line;
use item::{PatchItem, PathState};
pub use plan::Omission;
use repository::Repository;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

/// The planned patch of a rehearsal, without contents.
pub struct Patch {
    repository: Repository,
    items: Vec<PatchItem>,
    /// Changes that the patch does not contain, sorted by path.
    pub omissions: Vec<Omission>,
}

impl Patch {
    /// Plans the patch of all paths that `includes` accepts. Reads every changed file of up to 10 MB once, and larger
    /// ones only to find renames. Contents are not kept.
    ///
    /// # Errors
    /// If the overlay cannot be read.
    pub fn new(rehearsal: &Rehearsal, includes: impl Fn(&Path) -> bool) -> Result<Self, Error> {
        let mut items = Vec::new();
        for path in rehearsal.overlay_paths()?.into_iter().filter(|path| includes(path)) {
            if let Some(change) = rehearsal.change_at(&path)? {
                items.push(PatchItem::new(rehearsal, change));
            }
        }
        let mut omissions = plan::plan_items(rehearsal, &mut items);
        omissions.extend(list_outside_omissions(rehearsal, includes)?);
        Ok(Self { repository: Repository::detect(rehearsal.root()), items, omissions })
    }

    /// Writes the list of omissions and the patch. At most one pair of text files is in memory at a time; binary files
    /// are streamed.
    ///
    /// # Errors
    /// If a file cannot be read or changed since the patch was planned, or if `out` fails.
    pub fn write_patch(&self, out: &mut dyn Write) -> io::Result<()> {
        if !self.omissions.is_empty() {
            writeln!(out, "# Not in this patch:")?;
        }
        for Omission { path, reason } in &self.omissions {
            out.write_all(b"#   ")?;
            out.write_all(&git_names::quote_name("", path))?;
            writeln!(out, ": {reason}")?;
        }
        for item in self.items.iter().filter(|item| item.is_patched()) {
            let result = self.write_item(item, out);
            result.map_err(|error| io::Error::new(error.kind(), format!("{}: {error}", item.path.display())))?;
        }
        out.flush()
    }

    fn write_item(&self, item: &PatchItem, out: &mut dyn Write) -> io::Result<()> {
        if let Some(from) = &item.renamed_from {
            let (old, new) = (self.quote_name("a/", from), self.quote_name("b/", &item.path));
            write_line(out, &[b"diff --git ", &old, b" ", &new])?;
            write_line(out, &[b"similarity index 100%"])?;
            write_line(out, &[b"rename from ", &self.quote_name("", from)])?;
            return write_line(out, &[b"rename to ", &self.quote_name("", &item.path)]);
        }
        let nothing = &PathState::Nothing;
        // Without an old side the patch deletes nothing at this path; without a new side it creates nothing.
        let before = if item.has_old_side { &item.before } else { nothing };
        let after = if item.has_new_side { &item.after } else { nothing };
        // Like git, writes a file that becomes a link as a deletion and a creation.
        match (before.is_stored(), after.is_stored()) {
            (true, true) if before.is_link() != after.is_link() => {
                self.write_file(item, before, nothing, out)?;
                self.write_file(item, nothing, after, out)
            }
            (false, false) => Ok(()),
            (_, _) => self.write_file(item, before, after, out),
        }
    }

    fn write_file(
        &self,
        item: &PatchItem,
        before: &PathState,
        after: &PathState,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        let (old, new) = (self.quote_name("a/", &item.path), self.quote_name("b/", &item.path));
        write_line(out, &[b"diff --git ", &old, b" ", &new])?;
        let same_mode = match (before.git_mode(), after.git_mode()) {
            (None, Some(mode)) => write_line(out, &[b"new file mode ", mode.as_bytes()]).map(|()| None)?,
            (Some(mode), None) => write_line(out, &[b"deleted file mode ", mode.as_bytes()]).map(|()| None)?,
            (Some(old_mode), Some(new_mode)) if old_mode != new_mode => {
                write_line(out, &[b"old mode ", old_mode.as_bytes()])?;
                write_line(out, &[b"new mode ", new_mode.as_bytes()])?;
                None
            }
            (_, mode) => mode,
        };
        let object_id = |side: &PathState| -> io::Result<String> {
            match side.size() {
                None => Ok(self.repository.algorithm.null_id()),
                Some(size) => self.repository.algorithm.hash_blob(side.open_content()?, size),
            }
        };
        let (old_id, new_id) = (object_id(before)?, object_id(after)?);
        if old_id == new_id {
            return Ok(());
        }
        let mode = same_mode.map(|mode| format!(" {mode}")).unwrap_or_default();
        write_line(out, &[format!("index {old_id}..{new_id}{mode}").as_bytes()])?;
        if before.is_text() && after.is_text() {
            let (old_content, new_content) = (before.read_content()?, after.read_content()?);
            if old_content.is_empty() && new_content.is_empty() {
                return Ok(());
            }
            // Like git, ends a name that contains a space with a tab, so that no time is parsed after it.
            let tab: &[u8] = if item.path.as_os_str().as_bytes().contains(&b' ') { b"\t" } else { b"" };
            let name = |side: &PathState, name: &[u8]| match side.git_mode() {
                Some(_) => [name, tab].concat(),
                None => b"/dev/null".to_vec(),
            };
            write_line(out, &[b"--- ", &name(before, &old)])?;
            write_line(out, &[b"+++ ", &name(after, &new)])?;
            return hunks::write_hunks(&old_content, &new_content, out);
        }
        write_line(out, &[b"GIT binary patch"])?;
        binary::write_literal(after.open_content()?, after.size().unwrap_or(0), out)?;
        // Needed by `git apply --reverse`.
        binary::write_literal(before.open_content()?, before.size().unwrap_or(0), out)
    }

    fn quote_name(&self, side: &str, path: &Path) -> Vec<u8> {
        git_names::quote_name(side, &self.repository.prefix.join(path))
    }
}

/// Lists changes outside the project, which `git apply` cannot make.
fn list_outside_omissions(rehearsal: &Rehearsal, includes: impl Fn(&Path) -> bool) -> Result<Vec<Omission>, Error> {
    let outside = change_summary::list_outside_changes(rehearsal)?;
    let describe = |change: &OutsideChange| {
        let origin = if change.is_by_tool { "applied with its own approval prompt" } else { BY_COMMAND_NOTE };
        format!("outside the project, {}; {origin}", change.change.kind.as_str())
    };
    let included = outside.changes.iter().filter(|change| includes(&change.change.path));
    let mut omissions: Vec<Omission> =
        included.map(|change| Omission { path: change.change.path.clone(), reason: describe(change) }).collect();
    let temporary = outside.describe_temporary().filter(|_| includes(Path::new("/tmp")));
    let tmp = || PathBuf::from("/tmp");
    omissions.extend(temporary.map(|note| Omission { path: tmp(), reason: format!("outside the project, {note}") }));
    Ok(omissions)
}
