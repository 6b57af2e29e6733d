//! View of a command in a dry run: the visible parts of the disk and the environment variables.

use super::new_secret_check::MaskedFiles;
use super::overlay_spec::{OverlaySpec, WritablePlace};
use super::tool_settings;
use super::toolchains;
use super::{git_identity, git_secrets};
use crate::chat::sensitive_paths::is_sensitive;
use crate::chat::{CommandLine, CommandSandbox};
use crate::project::environment;
use crate::project::path::resolve_path;
use crate::project::rehearsal::partly_written;
use crate::project::sensitive_files::{Listing, Reason, WithheldPath, is_only_name};
use crate::project::shell::Shell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Visible part of the disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum View {
    /// The project without files that may hold secrets, the system's programs, toolchains, and the paths in
    /// `dry_run.read`.
    WithoutSecrets,
    /// The same plus these files of the project (relative paths), although they may hold secrets. A file that has other
    /// names or is a link stays closed.
    Files(Vec<PathBuf>),
    /// As `WithoutSecrets`, plus git's stored content, for a command that, according to the policy, only reads.
    Repository,
    /// The whole disk, read-only, and all of the project: the user approved the call. aye's own files stay closed.
    Live,
}

/// Paths outside the project that the dry run's settings open.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DisclosedPaths {
    /// Absolute paths that commands may read: `dry_run.read`. A path that may hold secrets is opened only if it is
    /// listed itself.
    pub read: Vec<PathBuf>,
    /// True if commands may also write in the home and in `/var/tmp`, with the changes kept: `dry_run.outside`.
    pub is_writable: bool,
}

/// Everything that one command is given.
pub(super) struct CommandView {
    pub(super) spec: OverlaySpec,
    pub(super) environment: Vec<(OsString, OsString)>,
    pub(super) withheld: Vec<WithheldPath>,
    /// The masked part of the project; `None` if nothing is masked.
    pub(super) masked: Option<MaskedFiles>,
}

/// Determines the view of a command. Blocks while folders that may hold secrets are read.
pub(super) fn determine_view(
    shell: &Shell,
    overlay_folder: &Path,
    line: &CommandLine,
    view: &View,
    disclosed: &DisclosedPaths,
) -> CommandView {
    let spec = create_spec(shell, overlay_folder, line, view, disclosed);
    if *view == View::Live {
        return CommandView { spec, environment: shell.environment.clone(), withheld: Vec::new(), masked: None };
    }
    let files = if let View::Files(files) = view { files.as_slice() } else { &[] };
    let files = files.iter().map(|file| line.folder.join(file)).filter(|file| is_only_name(file));
    let opened = disclosed.read.iter().filter_map(|path| path.canonicalize().ok()).chain(files).collect::<Vec<_>>();
    let listing = shell.sensitive_files_in(&line.folder).current_listing();
    let withheld = withheld_paths(shell, &spec, view, &opened, &listing);
    let temporary =
        spec.places.iter().map(|place| &place.path).find(|path| **path == resolve_path(&std::env::temp_dir()));
    let mut environment = environment::dry_run_environment(&shell.environment, temporary.map(PathBuf::as_path));
    let home = shell.variable("HOME").map(PathBuf::from);
    git_identity::add_identity(&mut environment, home.as_deref(), &line.folder);
    let masked_files = MaskedFiles::new(listing);
    let masked_paths = withheld.iter().map(|entry| entry.path.clone()).collect();
    CommandView {
        spec: OverlaySpec { masked: masked_paths, ..spec },
        environment,
        withheld,
        masked: Some(masked_files),
    }
}

/// Determines the view without looking for files that may hold secrets.
pub(super) fn create_spec(
    shell: &Shell,
    overlay_folder: &Path,
    line: &CommandLine,
    view: &View,
    disclosed: &DisclosedPaths,
) -> OverlaySpec {
    let home = shell.variable("HOME").map(PathBuf::from).filter(|home| home.is_absolute());
    let spec = OverlaySpec {
        folder: line.folder.clone(),
        overlay_folder: overlay_folder.to_owned(),
        own_paths: shell.protected.clone(),
        unreadable: shell.unreadable.clone(),
        shows_whole_disk: *view == View::Live,
        ..OverlaySpec::default()
    };
    let spec = spec.with_places(writable_places(line, home.as_deref(), disclosed));
    if *view == View::Live {
        return spec;
    }
    let is_outside = |path: &PathBuf| !path.starts_with(&line.folder);
    let tool_folders = toolchains::toolchain_folders(home.as_deref(), &shell.environment);
    let programs = shell.read_only_spec(&line.folder).programs;
    // Use the paths as written, so that the links on the way to them are created too.
    let disclosed_paths = disclosed.read.iter().filter(|path| path.is_absolute()).cloned();
    let empty_folders = home.into_iter().chain([PathBuf::from("/var/tmp"), std::env::temp_dir()]);
    OverlaySpec {
        visible: programs.into_iter().chain(tool_folders).chain(disclosed_paths).filter(is_outside).collect(),
        empty: empty_folders.filter(is_outside).collect(),
        ..spec
    }
}

/// Returns the folders outside the project that a command writes in.
fn writable_places(line: &CommandLine, home: Option<&Path>, disclosed: &DisclosedPaths) -> Vec<WritablePlace> {
    let temporary_folders = [PathBuf::from("/tmp"), resolve_path(&std::env::temp_dir())];
    let listed = match &line.sandbox {
        CommandSandbox::Enforced(access) => access.write.as_slice(),
        CommandSandbox::Unavailable(_) | CommandSandbox::Unspecified => &[],
    };
    let listed = listed.iter().filter(|path| !temporary_folders.contains(path) && !path.starts_with("/dev"));
    let listed_places = listed.map(|path| WritablePlace { path: path.clone(), shows_disk: true });
    let home_folders = home.map(Path::to_owned).into_iter().chain([PathBuf::from("/var/tmp")]);
    let home_folders = home_folders.filter(|_| disclosed.is_writable);
    let private_places =
        temporary_folders.iter().cloned().chain(home_folders).map(|path| WritablePlace { path, shows_disk: false });
    private_places.chain(listed_places).collect()
}

/// Returns all visible paths that must not be opened. `opened_paths` are the real paths that the settings and
/// `View::Files` open.
fn withheld_paths(
    shell: &Shell,
    spec: &OverlaySpec,
    view: &View,
    opened_paths: &[PathBuf],
    listing: &Listing,
) -> Vec<WithheldPath> {
    let project = &spec.folder;
    let mut withheld = listing.withheld.clone();
    withheld.extend(git_secrets::withheld_git_paths(project, *view == View::Repository));
    let is_outside = |path: &&PathBuf| !path.starts_with(project) && path.parent().is_some();
    let opened_outside = opened_paths.iter().filter(is_outside);
    let disk_places = spec.places.iter().filter(|place| place.shows_disk).map(|place| &place.path);
    for folder in disk_places.chain(opened_outside).filter(|folder| folder.is_dir()) {
        // If a listed folder is itself sensitive, all of it is meant to be open.
        if is_sensitive(folder) {
            continue;
        }
        withheld.extend(shell.sensitive_files_in(folder).current_listing().withheld.iter().cloned());
        withheld.push(WithheldPath { path: folder.join(".git"), reason: Reason::Sensitive });
    }
    // In a toolchain only the entries directly in its folder are examined.
    let is_outside_project = |path: &&PathBuf| !path.starts_with(project);
    let outside_folders = spec.visible.iter().filter(is_outside_project);
    let in_toolchains = outside_folders.flat_map(|folder| toolchains::sensitive_entries(folder));
    withheld.extend(in_toolchains.map(|path| WithheldPath { path, reason: Reason::Sensitive }));
    let is_opened = |entry: &WithheldPath| {
        // A `.git` that the settings open is opened with everything in it.
        let is_git = |folder: &Path| folder.ends_with(".git") && opened_paths.iter().any(|name| name == folder);
        opened_paths.contains(&entry.path) || entry.path.ancestors().any(is_git)
    };
    let is_setting = |entry: &WithheldPath| {
        entry.reason == Reason::Sensitive && tool_settings::is_visible_setting(project, &entry.path)
    };
    let is_in_opened_secret =
        |entry: &WithheldPath| opened_paths.iter().any(|folder| is_sensitive(folder) && entry.path.starts_with(folder));
    withheld.retain(|entry| {
        // Pipes and devices need no mask. `Crowded` concerns only the read-only sandbox, which must permit the files
        // next to a sensitive one individually.
        let needs_no_mask = matches!(entry.reason, Reason::NotAFile | Reason::Crowded);
        !needs_no_mask && !is_opened(entry) && !is_in_opened_secret(entry) && !is_setting(entry)
    });
    withheld.extend(
        partly_written(&spec.overlay_folder).into_iter().map(|path| WithheldPath { path, reason: Reason::EditedCopy }),
    );
    withheld
}
