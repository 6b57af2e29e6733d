//! View of a command in a dry run: the visible parts of the disk and the environment variables.

use super::new_secret_check::MaskedFiles;
use super::overlay_spec::{OverlaySpec, WritablePlace};
use super::tool_settings;
use super::toolchains::{self, resolve_path};
use super::{git_identity, git_secrets};
use crate::chat::sensitive_paths::is_sensitive;
use crate::chat::{CommandLine, CommandSandbox};
use crate::project::environment;
use crate::project::rehearsal::partly_written;
#[cfg(target_os = "linux")]
use crate::project::sandbox::read_only_sandbox::program_folders;
use crate::project::sensitive_files::{Listing, Reason, Withheld};
use crate::project::shell::Shell;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Visible part of the disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum View {
    /// The project without files that may hold secrets, the system's programs, toolchains, and the paths in
    /// `dry_run.read`.
    Hidden,
    /// The same plus git's stored content, for a command that only reads according to the policy.
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
    pub(super) setting: OverlaySpec,
    pub(super) environment: Vec<(OsString, OsString)>,
    pub(super) withheld: Vec<Withheld>,
    /// The masked part of the project; `None` if nothing is masked.
    pub(super) masked: Option<MaskedFiles>,
}

/// Determines the view of a command. Blocks while folders that may hold secrets are read.
pub(super) fn determine_view(
    shell: &Shell,
    layer: &Path,
    line: &CommandLine,
    view: View,
    disclosed: &DisclosedPaths,
) -> CommandView {
    let setting = create_spec(shell, layer, line, view, disclosed);
    if view == View::Live {
        return CommandView { setting, environment: shell.environment().to_vec(), withheld: Vec::new(), masked: None };
    }
    let named: Vec<PathBuf> = disclosed.read.iter().filter_map(|path| path.canonicalize().ok()).collect();
    let listing = shell.sensitive_files_in(&line.folder).current_listing();
    let withheld = withheld_paths(shell, &setting, view, &named, &listing);
    let temporary =
        setting.places.iter().map(|place| &place.path).find(|path| **path == resolve_path(&std::env::temp_dir()));
    let mut environment = environment::dry_run_environment(shell.environment(), temporary.map(PathBuf::as_path));
    let home = variable_path(shell, "HOME");
    git_identity::add_identity(&mut environment, home.as_deref(), &line.folder);
    let seen = MaskedFiles::new(listing);
    let masked = withheld.iter().map(|one| one.path.clone()).collect();
    CommandView { setting: OverlaySpec { masked, ..setting }, environment, withheld, masked: Some(seen) }
}

/// Determines the view without looking for files that may hold secrets.
pub(super) fn create_spec(
    shell: &Shell,
    layer: &Path,
    line: &CommandLine,
    view: View,
    disclosed: &DisclosedPaths,
) -> OverlaySpec {
    let (keep, hide) = shell.closed_paths();
    let home = variable_path(shell, "HOME").filter(|home| home.is_absolute());
    let setting = OverlaySpec {
        folder: line.folder.clone(),
        overlay_folder: layer.to_owned(),
        own_paths: keep.to_vec(),
        unreadable: hide.to_vec(),
        shows_whole_disk: view == View::Live,
        ..OverlaySpec::default()
    };
    let setting = setting.with_places(writable_places(line, home.as_deref(), disclosed));
    if view == View::Live {
        return setting;
    }
    let outside = |path: &PathBuf| !path.starts_with(&line.folder);
    let tools = toolchains::toolchain_folders(home.as_deref(), shell.environment());
    let programs = program_paths(shell, &setting, home.as_deref());
    // Use the paths as written, so that the links on the way to them are created too.
    let read = disclosed.read.iter().filter(|path| path.is_absolute()).cloned();
    let empty = home.into_iter().chain([PathBuf::from("/var/tmp"), std::env::temp_dir()]);
    OverlaySpec {
        visible: programs.into_iter().chain(tools).chain(read).filter(outside).collect(),
        empty: empty.filter(outside).collect(),
        ..setting
    }
}

/// Returns the folders outside the project that a command writes in.
fn writable_places(line: &CommandLine, home: Option<&Path>, disclosed: &DisclosedPaths) -> Vec<WritablePlace> {
    let temporary = [PathBuf::from("/tmp"), resolve_path(&std::env::temp_dir())];
    let named = match &line.sandbox {
        CommandSandbox::Enforced(reach) => reach.write.as_slice(),
        CommandSandbox::Unavailable(_) | CommandSandbox::Unspecified => &[],
    };
    let named = named.iter().filter(|path| !temporary.contains(path) && !path.starts_with("/dev"));
    let named = named.map(|path| WritablePlace { path: path.clone(), shows_disk: true });
    let more = home.map(Path::to_owned).into_iter().chain([PathBuf::from("/var/tmp")]);
    let more = more.filter(|_| disclosed.is_writable);
    let private = temporary.iter().cloned().chain(more).map(|path| WritablePlace { path, shows_disk: false });
    private.chain(named).collect()
}

/// Returns all visible paths that must not be opened. `named` are the real paths that the settings open.
fn withheld_paths(
    shell: &Shell,
    setting: &OverlaySpec,
    view: View,
    named: &[PathBuf],
    listing: &Listing,
) -> Vec<Withheld> {
    let project = &setting.folder;
    let mut all = listing.withheld.clone();
    all.extend(git_secrets::withheld_git_paths(project, view == View::Repository));
    let outside = |path: &&PathBuf| !path.starts_with(project) && path.parent().is_some();
    let opened = named.iter().filter(outside);
    let places = setting.places.iter().filter(|place| place.shows_disk).map(|place| &place.path);
    for folder in places.chain(opened).filter(|folder| folder.is_dir()) {
        // If a listed folder is itself sensitive, all of it is meant to be open.
        if is_sensitive(folder) {
            continue;
        }
        all.extend(shell.sensitive_files_in(folder).current_listing().withheld.iter().cloned());
        all.push(Withheld { path: folder.join(".git"), reason: Reason::Sensitive });
    }
    // In a toolchain only the entries directly in its folder are examined.
    let is_other = |path: &&PathBuf| !path.starts_with(project);
    let of_tools = setting.visible.iter().filter(is_other).flat_map(|folder| toolchains::sensitive_entries(folder));
    all.extend(of_tools.map(|path| Withheld { path, reason: Reason::Sensitive }));
    let is_named = |one: &Withheld| {
        // Listing `.git` opens all of it.
        let is_git = |above: &Path| above.ends_with(".git") && named.iter().any(|name| name == above);
        named.contains(&one.path) || one.path.ancestors().any(is_git)
    };
    let is_setting =
        |one: &Withheld| one.reason == Reason::Sensitive && tool_settings::is_visible_setting(project, &one.path);
    let is_meant = |one: &Withheld| named.iter().any(|folder| is_sensitive(folder) && one.path.starts_with(folder));
    all.retain(|one| {
        // Entries withheld only because they are near a masked file need no mask here.
        let is_open = matches!(one.reason, Reason::NotAFile | Reason::Crowded);
        !is_open && !is_named(one) && !is_meant(one) && !is_setting(one)
    });
    all.extend(
        partly_written(&setting.overlay_folder).into_iter().map(|path| Withheld { path, reason: Reason::EditedCopy }),
    );
    all
}

/// Returns the folders of `PATH` that lie outside the project and not next to secrets.
#[cfg(target_os = "linux")]
fn program_paths(shell: &Shell, setting: &OverlaySpec, home: Option<&Path>) -> Vec<PathBuf> {
    let closed: Vec<PathBuf> =
        [&setting.folder].into_iter().chain(&setting.own_paths).chain(&setting.unreadable).cloned().collect();
    let around: Vec<PathBuf> =
        home.map(resolve_path).into_iter().chain([resolve_path(&std::env::temp_dir())]).collect();
    let path = variable_path(shell, "PATH").unwrap_or_default();
    program_folders(path.as_os_str(), &closed, &around)
}

#[cfg(not(target_os = "linux"))]
fn program_paths(_: &Shell, _: &OverlaySpec, _: Option<&Path>) -> Vec<PathBuf> {
    Vec::new()
}

fn variable_path(shell: &Shell, name: &str) -> Option<PathBuf> {
    shell.environment().iter().find(|(known, _)| known == name).map(|(_, value)| PathBuf::from(value))
}
