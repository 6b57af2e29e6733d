//! Runs commands without approval: in the read-only sandbox, with few of the user's variables.

use super::{CommandOutcome, Shell};
use crate::chat::{CommandLine, CommandSandbox};
use crate::project::Error;
use crate::project::environment::read_only_environment;
use crate::project::output::CommandProgress;
#[cfg(target_os = "linux")]
use crate::project::sandbox::read_only_sandbox::{ReadOnlySpec, program_folders};
use crate::project::sensitive_files::{Listing, SensitiveFiles};
#[cfg(target_os = "linux")]
use crate::project::sensitive_files::{Reason, WithheldPath, is_only_name};
use std::collections::HashMap;
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
        progress: &(dyn Fn(CommandProgress<'_>) + Send + Sync),
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
        #[cfg(target_os = "linux")]
        {
            let sandbox = shell.read_only_spec(line);
            let (arguments, mut used_listing) = (sandbox.to_arguments(), None);
            let paths = async {
                let listing = listing.await.map_err(io::Error::other)?;
                let openable = shell.openable_named_files(&line.folder, named_files, &listing);
                let bytes = sandbox.with_open_paths(&listing, runs_git, openable).encode_paths();
                used_listing = Some(listing);
                Ok(bytes)
            };
            let outcome = shell.run_guarded(line, arguments, paths, progress).await?;
            Ok((outcome, used_listing.unwrap_or_default()))
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (runs_git, named_files, listing, shell);
            Err(Error::SandboxFailed(crate::project::sandbox::SandboxError::FileRules))
        }
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
    #[cfg(target_os = "linux")]
    fn openable_named_files(&self, folder: &Path, named_files: &[PathBuf], listing: &Listing) -> Vec<PathBuf> {
        let is_own = |path: &Path| self.own_paths().any(|own_path| path.starts_with(own_path));
        let is_listed = |path: &Path| {
            let entry = WithheldPath { path: path.to_owned(), reason: Reason::Sensitive };
            listing.withheld.contains(&entry)
        };
        let paths = named_files.iter().map(|name| folder.join(name));
        paths.filter(|path| is_listed(path) && is_only_name(path) && !is_own(path)).collect()
    }

    #[cfg(target_os = "linux")]
    fn read_only_spec(&self, line: &CommandLine) -> ReadOnlySpec {
        let value = |name: &str| self.environment.iter().find(|(variable, _)| variable == name).map(|(_, value)| value);
        let home = value("HOME").and_then(|home| Path::new(home).canonicalize().ok());
        let temporary = std::env::temp_dir();
        let temporary = temporary.canonicalize().unwrap_or(temporary);
        let closed: Vec<PathBuf> = [&line.folder].into_iter().chain(self.own_paths()).cloned().collect();
        let private_folders: Vec<PathBuf> = home.into_iter().chain([temporary.clone()]).collect();
        let programs = value("PATH").map(|path| program_folders(path, &closed, &private_folders)).unwrap_or_default();
        ReadOnlySpec {
            folder: line.folder.clone(),
            open_paths: Vec::new(),
            programs,
            closed: closed.into_iter().chain(private_folders).collect(),
            temporary,
        }
    }
}

#[cfg(target_os = "linux")]
impl ReadOnlySpec {
    /// Opens the listed open paths and `named_files`, and the project's `.git` only for git.
    fn with_open_paths(mut self, listing: &Listing, runs_git: bool, named_files: Vec<PathBuf>) -> Self {
        let repository = if runs_git { listing.repository.as_slice() } else { &[] };
        self.open_paths = listing.open_paths.iter().chain(repository).cloned().chain(named_files).collect();
        self
    }
}
