//! Root file system of the overlay sandbox: an empty in-memory folder that receives only the paths that commands may
//! see.
//!
//! Only the visible paths are cloned, each read-only and with the mounts below it, so no other mount of the disk is in
//! the new root. The old root is unmounted before any process starts, so no path leads back to it.

use super::mount_calls::{attach, clone_read_only, mount_empty, restrict_mount};
use super::overlay_mounts::{OverlayFolders, ROOT_FOLDER, mount_memory, open_overlay_folders};
use super::overlay_spec::OverlaySpec;
use super::setup_error::{AtStep, SetupError, SetupStep};
use crate::project::path::{link_target, resolve_links};
use crate::project::sandbox::namespaces::MountRestriction;
use crate::project::sandbox::system_paths::{BUILD_PATHS, CLOSED_SUBFOLDERS, FILES, HARDWARE_PATHS, PROGRAMS};
use crate::project::sandbox::{SandboxSupport, kernel_support};
use rustix::mount::{UnmountFlags, unmount};
use rustix::process::pivot_root;
use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};

/// Size of the root file system in bytes. It holds only names.
const ROOT_SIZE: u64 = 16 << 20;
/// Path of the old root until it is unmounted.
const OLD_ROOT: &str = "/.aye-old";
/// Maximum number of files written outside the project that are mounted in the root.
const MAX_WRITTEN: usize = 1000;

/// Entry to be mounted or created at a path.
enum RootEntry {
    /// A link, copied from the disk.
    Link(PathBuf),
    /// An empty folder, in which further entries may be mounted.
    Folder,
    /// Read-only tree of the disk; true if it is a folder.
    Tree(OwnedFd, bool),
    /// A folder that commands write in; true if it shows the content of the disk, false if it starts empty.
    Overlay(OverlayFolders, bool),
    /// The project with its overlay.
    Project(OwnedFd),
    /// A path that stays hidden even if a folder around it is shown: one of aye, or one of [`CLOSED_SUBFOLDERS`].
    Closed,
}

/// Builds the root and makes it the root of this process. `project` is the project with its overlay, `processes` the
/// `/proc` of the new namespace; both are detached mounts.
pub fn build_root(spec: &OverlaySpec, project: OwnedFd, processes: &OwnedFd) -> Result<(), SetupError> {
    let entries = gather_entries(spec, project).at_step(SetupStep::OtherOverlays)?;
    enter_root(&spec.overlay_folder.join(ROOT_FOLDER)).at_step(SetupStep::Root)?;
    fs::create_dir("/proc").and_then(|()| attach(processes, Path::new("/proc"))).at_step(SetupStep::Processes)?;
    let mut builder =
        RootBuilder { root_device: device_of(Path::new("/")).at_step(SetupStep::Root)?, closed: Vec::new() };
    // Mount points inside a folder that starts empty must exist before the overlay is mounted over it.
    let is_in_empty_overlay = |entry: &(PathBuf, RootEntry)| {
        let is_empty_overlay_around = |(path, kind): &(PathBuf, RootEntry)| {
            matches!(kind, RootEntry::Overlay(_, false)) && entry.0.starts_with(path)
        };
        entries.iter().any(is_empty_overlay_around)
    };
    for (path, kind) in entries.iter().filter(|entry| is_in_empty_overlay(entry)) {
        create_mount_point(path, kind).at_step(SetupStep::OtherOverlays)?;
    }
    for (path, kind) in &entries {
        builder.put_entry(path, kind).at_step(SetupStep::OtherOverlays)?;
    }
    let leave_old_root = || {
        unmount(OLD_ROOT, UnmountFlags::DETACH)?;
        fs::remove_dir(OLD_ROOT)?;
        builder.close_empty_folders()
    };
    leave_old_root().at_step(SetupStep::Root)
}

/// Makes an empty folder the root of this process. The old root stays reachable in a subfolder.
fn enter_root(new_root: &Path) -> io::Result<()> {
    // Stop mount events in both directions between this namespace and the system's.
    let is_recursive = true;
    restrict_mount(Path::new("/"), is_recursive, MountRestriction::Private)?;
    attach(&mount_memory(ROOT_SIZE, 0o755)?, new_root)?;
    let old_root = new_root.join(OLD_ROOT.trim_start_matches('/'));
    fs::create_dir(&old_root)?;
    pivot_root(new_root, &old_root)?;
    std::env::set_current_dir("/")
}

/// Collects all entries of the root, outer folders first.
fn gather_entries(spec: &OverlaySpec, project: OwnedFd) -> io::Result<Vec<(PathBuf, RootEntry)>> {
    let mut entries: Vec<(PathBuf, RootEntry)> = Vec::new();
    // Keep the top-level folders, so that a forbidden write fails with "permission denied" and not with "no such
    // folder".
    for entry in fs::read_dir("/")?.flatten() {
        match entry.file_type() {
            Ok(kind) if kind.is_dir() && entry.file_name() != "proc" => entries.push((entry.path(), RootEntry::Folder)),
            Ok(kind) if kind.is_symlink() => {
                entries.push((entry.path(), RootEntry::Link(fs::read_link(entry.path())?)))
            }
            Ok(_) | Err(_) => {}
        }
    }
    let system = [&PROGRAMS[..], &FILES, &BUILD_PATHS, &HARDWARE_PATHS].concat().into_iter().map(PathBuf::from);
    let is_outside_proc = |path: &PathBuf| !path.starts_with("/proc");
    for path in system.chain(java_settings()).filter(is_outside_proc).chain(spec.visible.iter().cloned()) {
        add_visible_path(&path, spec, &mut entries);
    }
    let closed_system_paths = CLOSED_SUBFOLDERS.iter().map(PathBuf::from);
    let closed = closed_system_paths.chain(spec.own_paths.iter().cloned());
    entries.extend(closed.map(|path| (path, RootEntry::Closed)));
    let is_place = |path: &&PathBuf| spec.places.iter().any(|place| place.path == **path);
    for path in spec.empty.iter().filter(|path| !is_place(path)) {
        let _ = follow_links(path, &mut entries);
    }
    for place in spec.overlay_places() {
        let folders = open_overlay_folders(&spec.overlay_folder, &place.path)?;
        entries.push((place.path.clone(), RootEntry::Overlay(folders, place.shows_disk)));
    }
    add_written_files(&OverlaySpec::outside_upper(&spec.overlay_folder), spec, &mut entries);
    entries.push((spec.folder.clone(), RootEntry::Project(project)));
    // If a path has several entries, the writable ones and the closed ones take precedence.
    let rank = |kind: &RootEntry| match kind {
        RootEntry::Project(_) => 0,
        RootEntry::Overlay(..) => 1,
        RootEntry::Closed => 2,
        RootEntry::Link(_) => 3,
        RootEntry::Tree(..) => 4,
        RootEntry::Folder => 5,
    };
    entries.retain(|(path, _)| path.parent().is_some());
    entries.sort_by(|one, other| one.0.cmp(&other.0).then(rank(&one.1).cmp(&rank(&other.1))));
    entries.dedup_by(|later, earlier| later.0 == earlier.0);
    Ok(entries)
}

/// Returns the configuration files of all Java versions, except those for remote management, which contain passwords.
fn java_settings() -> impl Iterator<Item = PathBuf> {
    let entries = |folder: &Path| fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let has_prefix = |path: &PathBuf, prefix: &str| {
        path.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(prefix.as_bytes()))
    };
    let folders = entries(Path::new("/etc")).filter(move |path| has_prefix(path, "java"));
    folders.flat_map(move |folder| entries(&folder)).filter(move |path| !has_prefix(path, "management"))
}

/// Adds the disk's entry at a path and the links on the way to it. Missing paths and aye's own files are skipped.
fn add_visible_path(path: &Path, spec: &OverlaySpec, entries: &mut Vec<(PathBuf, RootEntry)>) {
    let Some(real) = follow_links(path, entries) else { return };
    if spec.own_paths.iter().chain(&spec.unreadable).any(|own_path| real.starts_with(own_path)) {
        return;
    }
    let Ok(metadata) = real.symlink_metadata() else { return };
    if !metadata.is_dir() && !metadata.is_file() {
        return;
    }
    // A folder that this user may not enter stays hidden.
    if let Ok(tree) = clone_read_only(&real) {
        entries.push((real, RootEntry::Tree(tree, metadata.is_dir())));
    }
}

/// Adds the links on the way to a path, and an empty folder at its target if that is a folder. Returns the target;
/// `None` if it does not exist or too many links lead to it.
fn follow_links(path: &Path, entries: &mut Vec<(PathBuf, RootEntry)>) -> Option<PathBuf> {
    let real = resolve_links(path, &mut |link| {
        let target = link_target(link)?;
        entries.push((link.to_owned(), RootEntry::Link(target.clone())));
        Some(target)
    })
    .ok()?;
    // Unlike the kernel, `resolve_links` accepts `..` after a missing folder.
    if path.metadata().ok()?.is_dir() {
        entries.push((real.clone(), RootEntry::Folder));
    }
    Some(real)
}

/// Adds files that file tools wrote outside the project, read-only, unless they lie in a folder that commands write in.
fn add_written_files(upper: &Path, spec: &OverlaySpec, entries: &mut Vec<(PathBuf, RootEntry)>) {
    let mut folders = vec![upper.to_owned()];
    let mut count = 0;
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let Some(disk_path) = entry.path().strip_prefix(upper).ok().map(|relative| Path::new("/").join(relative))
            else {
                continue;
            };
            let is_in = |folder: &PathBuf| disk_path.starts_with(folder);
            if spec.places.iter().map(|place| &place.path).chain([&spec.folder]).any(is_in) {
                continue;
            }
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => folders.push(entry.path()),
                // A masked file is skipped: showing its copy would reveal that `edit_file` found the old text in it.
                Ok(kind) if kind.is_file() && spec.masked.contains(&disk_path) => {}
                Ok(kind) if kind.is_file() && count < MAX_WRITTEN => {
                    count += 1;
                    // It replaces the disk's entry at this path.
                    entries.retain(|(path, kind)| *path != disk_path || matches!(kind, RootEntry::Closed));
                    if let Ok(tree) = clone_read_only(&entry.path()) {
                        entries.push((disk_path, RootEntry::Tree(tree, false)));
                    }
                }
                // Deletion markers, files beyond `MAX_WRITTEN`, and entries that cannot be read.
                Ok(_) | Err(_) => {}
            }
        }
    }
}

fn device_of(path: &Path) -> io::Result<u64> {
    Ok(path.symlink_metadata()?.dev())
}

/// Creates a link, or the file or folder that a mount is attached to. Anything already there is kept.
fn create_mount_point(path: &Path, kind: &RootEntry) -> io::Result<()> {
    let parent = path.parent().unwrap_or(path);
    let is_folder = match kind {
        RootEntry::Closed => return Ok(()),
        RootEntry::Link(_) if path.symlink_metadata().is_ok() => return Ok(()),
        RootEntry::Link(target) => return fs::create_dir_all(parent).and_then(|()| symlink(target, path)),
        RootEntry::Tree(_, is_folder) => *is_folder,
        RootEntry::Folder | RootEntry::Overlay(..) | RootEntry::Project(_) => true,
    };
    match is_folder {
        true => fs::create_dir_all(path),
        false if path.symlink_metadata().is_ok() => Ok(()),
        false => fs::create_dir_all(parent).and_then(|()| fs::write(path, "")),
    }
}

/// The root while entries are mounted in it.
struct RootBuilder {
    /// Device number of the root.
    root_device: u64,
    /// Empty in-memory folders below the root, which become read-only at the end.
    closed: Vec<PathBuf>,
}

impl RootBuilder {
    fn put_entry(&mut self, path: &Path, kind: &RootEntry) -> io::Result<()> {
        match kind {
            // In a tree of the disk the link exists already, or its folder is hidden.
            RootEntry::Link(_) => create_mount_point(path, kind).or_else(ignore_unless_full),
            // If the mount point cannot be created, it lies in a visible folder that does not contain it.
            RootEntry::Tree(tree, _) => match create_mount_point(path, kind) {
                Ok(()) => attach(tree, path),
                Err(error) => ignore_unless_full(error),
            },
            RootEntry::Folder => {
                // In a mount, such as a tree of the disk, the folder would show its content: an empty one covers it.
                if create_mount_point(path, kind).is_ok() && device_of(path)? != self.root_device {
                    self.mount_empty_at(path)?;
                }
                Ok(())
            }
            RootEntry::Closed => match path.symlink_metadata() {
                Ok(metadata) if metadata.is_dir() => self.mount_empty_at(path),
                // Files are masked later.
                Ok(_) | Err(_) => Ok(()),
            },
            RootEntry::Overlay(folders, shows_disk) => {
                create_mount_point(path, kind)?;
                if !shows_disk {
                    return attach(&folders.mount_over(path)?, path);
                }
                let disk = Path::new(OLD_ROOT).join(path.strip_prefix("/").unwrap_or(path));
                // If no overlay can be mounted here, the folder is read-only.
                let overlay = folders.mount_over(&disk).or_else(|_| clone_read_only(&disk))?;
                attach(&overlay, path)
            }
            RootEntry::Project(project) => {
                create_mount_point(path, kind)?;
                attach(project, path)
            }
        }
    }

    fn mount_empty_at(&mut self, path: &Path) -> io::Result<()> {
        mount_empty(path, 0o755)?;
        self.closed.push(path.to_owned());
        Ok(())
    }

    /// Makes the folders in `closed` read-only, and also the root if the kernel has no Landlock. With Landlock the
    /// mount of the root stays writable, so that a command gets the same error as outside a dry run: “Permission
    /// denied”.
    fn close_empty_folders(&self) -> io::Result<()> {
        let root = matches!(kernel_support(), SandboxSupport::Unsupported(_)).then_some(Path::new("/"));
        let mut folders = self.closed.iter().map(PathBuf::as_path).chain(root);
        let is_recursive = false;
        folders.try_for_each(|path| restrict_mount(path, is_recursive, MountRestriction::ReadOnly))
    }
}

/// Returns the error only if it means a full disk.
fn ignore_unless_full(error: io::Error) -> io::Result<()> {
    if crate::project::is_disk_full(&error) { Err(error) } else { Ok(()) }
}
