//! Runs commands without approval: in the read-only sandbox, with few of the user's variables.

use super::{CommandOutcome, Shell};
use crate::chat::sensitive_paths::is_sensitive;
use crate::chat::{CommandLine, CommandSandbox};
use crate::project::Error;
use crate::project::environment::read_only_environment;
use crate::project::output::OnProgress;
use crate::project::path::resolve_path;
use crate::project::sandbox::system_paths::PROGRAMS;
use crate::project::sandbox::{READ_ONLY_ARGUMENT, ReadOnlySpec};
use crate::project::sensitive_files::{Listing, Reason, SensitiveFiles, WithheldPath, is_only_name};
use crate::project::spec_encoding::to_frame;
use std::collections::HashMap;
use std::ffi::OsStr;
use std::future::ready;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Cached scans for sensitive files, by folder.
pub(super) type SensitiveFileCaches = Arc<Mutex<HashMap<PathBuf, Arc<SensitiveFiles>>>>;

impl Shell {
    /// Runs a command without approval to completion, like `Shell::run_command`, but in the read-only sandbox: it reads
    /// the project except for the files that [`SensitiveFiles`] lists, and changes nothing. `runs_git` also opens the
    /// project's `.git`. `named_files` are project files (relative paths) that the command may read although they
    /// are listed, except links, files with other hard links and aye's own files. On a machine without a sandbox (the
    /// approval prompt says so) only the environment is restricted. Also returns the withheld files.
    pub async fn run_read_only(
        &self,
        line: &CommandLine,
        runs_git: bool,
        named_files: &[PathBuf],
        progress: OnProgress<'_>,
    ) -> Result<(CommandOutcome, Arc<Listing>), Error> {
        let environment = read_only_environment(&line.folder, &self.environment);
        let shell = Self { environment, ..self.clone() };
        let CommandSandbox::Enforced(_) = &line.sandbox else {
            let outcome = shell.run_guarded(line, Vec::new(), ready(Ok(Vec::new())), progress).await?;
            return Ok((outcome, Arc::default()));
        };
        let files = self.sensitive_files_in(&line.folder);
        // Scan while the guard starts.
        let listing = tokio::task::spawn_blocking(move || files.current_listing());
        let (spec, mut used_listing) = (shell.read_only_spec(&line.folder), None);
        let paths = async {
            let listing = used_listing.insert(listing.await.map_err(io::Error::other)?);
            let repository = if runs_git { listing.repository.as_slice() } else { &[] };
            let named = shell.openable_named_files(&line.folder, named_files, listing);
            let open_paths = listing.open_paths.iter().chain(repository).cloned().chain(named).collect();
            Ok(to_frame(&ReadOnlySpec { open_paths, ..spec }))
        };
        let outcome = shell.run_guarded(line, vec![READ_ONLY_ARGUMENT.into()], paths, progress).await?;
        Ok((outcome, used_listing.unwrap_or_default()))
    }

    /// Returns all of aye's own paths.
    fn own_paths(&self) -> impl Iterator<Item = &PathBuf> {
        self.protected.iter().chain(&self.unreadable)
    }

    /// Returns the cached scan of one folder.
    pub(in crate::project) fn sensitive_files_in(&self, folder: &Path) -> Arc<SensitiveFiles> {
        let mut scans = self.scans.lock().unwrap_or_else(PoisonError::into_inner);
        let own_paths = || self.own_paths().cloned().collect();
        let new_scan = || Arc::new(SensitiveFiles::new(folder.to_owned(), own_paths()));
        scans.entry(folder.to_owned()).or_insert_with(new_scan).clone()
    }

    /// Returns the named files that are withheld only because of their own names, so that the command may open them.
    fn openable_named_files(&self, folder: &Path, named_files: &[PathBuf], listing: &Listing) -> Vec<PathBuf> {
        let is_own = |path: &Path| self.own_paths().any(|own_path| path.starts_with(own_path));
        let is_listed = |path: &Path| {
            let entry = WithheldPath { path: path.to_owned(), reason: Reason::Sensitive };
            listing.withheld.contains(&entry)
        };
        let paths = named_files.iter().map(|name| folder.join(name));
        paths.filter(|path| is_listed(path) && is_only_name(path) && !is_own(path)).collect()
    }

    /// Returns the specification of the read-only sandbox in a project folder, without the open paths.
    pub(in crate::project) fn read_only_spec(&self, folder: &Path) -> ReadOnlySpec {
        let home = self.variable("HOME").map(|home| resolve_path(Path::new(home))).filter(|home| home.is_absolute());
        let temporary = resolve_path(&std::env::temp_dir());
        let private_folders: Vec<PathBuf> = home.into_iter().chain([temporary.clone()]).collect();
        let closed: Vec<PathBuf> = [folder.to_owned()].into_iter().chain(self.own_paths().cloned()).collect();
        let programs = program_folders(self.variable("PATH").unwrap_or_default(), &closed, &private_folders);
        let closed = closed.into_iter().chain(private_folders).collect();
        ReadOnlySpec { folder: folder.to_owned(), open_paths: Vec::new(), programs, closed, temporary }
    }
}

/// Returns the folders of `PATH` in which a command without approval may find programs. Excludes closed and sensitive
/// folders, folders that contain a closed one, and the system's folders, which are open already. `private_folders` (the
/// home and the temporary folder) are excluded, and folders that contain one of them; folders inside them are not.
fn program_folders(path: &OsStr, closed: &[PathBuf], private_folders: &[PathBuf]) -> Vec<PathBuf> {
    let real = |folder: PathBuf| folder.canonicalize().ok();
    let folders = std::env::split_paths(path).filter(|folder| folder.is_absolute()).filter_map(real);
    let is_usable = |folder: &PathBuf| {
        let is_closed = closed.iter().any(|closed| folder.starts_with(closed));
        let contains_private = closed.iter().chain(private_folders).any(|closed| closed.starts_with(folder));
        let is_system = PROGRAMS.iter().any(|system_folder| folder.starts_with(system_folder));
        folder.is_dir() && !is_closed && !contains_private && !is_system && !is_sensitive(folder)
    };
    let mut folders: Vec<PathBuf> = folders.filter(is_usable).collect();
    folders.sort();
    folders.dedup();
    folders
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_in_the_home_or_next_to_keys_are_not_used() {
        let temporary = tempfile::tempdir().unwrap();
        let home = temporary.path().canonicalize().unwrap();
        for folder in [".cargo/bin", ".ssh", "bin", "app/bin"] {
            std::fs::create_dir_all(home.join(folder)).unwrap();
        }
        let folders = [".cargo/bin", ".ssh", "", "bin", "none", "app/bin", "app"].map(|name| home.join(name));
        let path = std::env::join_paths(folders.into_iter().chain(["/usr/bin".into(), "/".into()])).unwrap();
        let usable_folders = program_folders(&path, &[home.join("app")], std::slice::from_ref(&home));
        assert_eq!(usable_folders, [home.join(".cargo/bin"), home.join("bin")]);
    }
}
