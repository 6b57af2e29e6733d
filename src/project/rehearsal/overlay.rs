//! On-disk format of the overlay, which is that of the kernel's overlay file system: whiteouts for deleted paths, and
//! an attribute on folders that hide the project's content.

use super::removal;
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

/// Folder of the overlay that holds the changes.
pub const UPPER: &str = "upper";
/// The project root as a relative path.
pub(super) const ROOT_PATH: &str = ".";
/// Folder of the second overlay inside the first.
pub const OUTSIDE_FOLDER: &str = "outside";

/// Folder in which a write is prepared before it is moved into the overlay.
const PREPARED_FOLDER: &str = "unfinished";
/// Name in that folder of the file, or of the outermost new folder, that is moved into the overlay.
const PREPARED_NAME: &str = "0";

/// Attribute of a folder that hides the content of the project's folder.
pub(super) const OPAQUE_ATTRIBUTE: &str = "user.overlay.opaque";
/// Attribute that makes an empty file a whiteout, used if no whiteout device can be created.
#[cfg(target_os = "linux")]
const WHITEOUT_ATTRIBUTE: &str = "user.overlay.whiteout";

/// Entry of the overlay at a path.
#[derive(Debug)]
pub enum OverlayEntry {
    /// No entry: the project's content is visible.
    Absent,
    /// Deleted: nothing is visible, whatever the project has.
    Deleted,
    /// A folder. `hides_project` is true if the content of the project's folder is not visible; for an unreadable
    /// folder it is an error.
    Folder { hides_project: io::Result<bool>, meta: Metadata },
    /// Anything else: a file, a link, a pipe.
    Other(Metadata),
}

/// Source of the visible content at a path.
#[derive(Debug)]
pub struct ContentSource {
    /// The overlay's entry, if any.
    pub overlay_entry: Option<(PathBuf, Metadata)>,
    /// True if the project's content is visible, either directly or merged with the overlay's folder.
    pub shows_project: bool,
}

impl ContentSource {
    const NOTHING: Self = Self { overlay_entry: None, shows_project: false };
}

/// Returns the overlay's entry at `path`, which lies in the overlay.
///
/// # Errors
/// If the entry cannot be determined, for example below a folder without permission. The project's content is not
/// visible then in any case.
pub fn read_entry(path: &Path) -> io::Result<OverlayEntry> {
    #[cfg(test)]
    super::nested_folder_tests::LOOKED_UP.set(super::nested_folder_tests::LOOKED_UP.get() + 1);
    Ok(metadata_if_exists(path)?.map_or(OverlayEntry::Absent, |meta| interpret_entry(meta, || path.to_owned())))
}

/// Interprets the file found at a path of the overlay.
fn interpret_entry(meta: Metadata, path: impl Fn() -> PathBuf) -> OverlayEntry {
    if meta.is_dir() {
        return OverlayEntry::Folder {
            hides_project: read_attribute(&path(), OPAQUE_ATTRIBUTE).map(|value| value == Some(b'y')),
            meta,
        };
    }
    let is_whiteout = (meta.file_type().is_char_device() && meta.rdev() == 0) || is_empty_whiteout(path, &meta);
    if is_whiteout { OverlayEntry::Deleted } else { OverlayEntry::Other(meta) }
}

/// Returns the entries of a folder of the overlay, unsorted, and an empty list if the folder does not exist. Reading
/// them one by one would look up each path from the root of the disk.
pub fn read_entries(folder: &Path) -> io::Result<Vec<(OsString, io::Result<OverlayEntry>)>> {
    #[cfg(test)]
    super::nested_folder_tests::LISTED.set(super::nested_folder_tests::LISTED.get() + 1);
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let convert = |entry: io::Result<fs::DirEntry>| {
        let entry = entry?;
        let interpreted = match entry.metadata() {
            Ok(meta) => Ok(interpret_entry(meta, || entry.path())),
            Err(error) if is_absent(&error) => Ok(OverlayEntry::Absent),
            Err(error) => Err(error),
        };
        Ok((entry.file_name(), interpreted))
    };
    entries.map(convert).collect()
}

/// Returns the metadata at a path, if anything exists. Links are not followed.
fn metadata_if_exists(path: &Path) -> io::Result<Option<Metadata>> {
    match path.symlink_metadata() {
        Ok(meta) => Ok(Some(meta)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Returns whether the error means that nothing exists.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(target_os = "linux")]
fn is_empty_whiteout(path: impl Fn() -> PathBuf, meta: &Metadata) -> bool {
    // If the attribute is unreadable, a command created the file: it is an ordinary one.
    meta.is_file() && meta.len() == 0 && matches!(read_attribute(&path(), WHITEOUT_ATTRIBUTE), Ok(Some(_)))
}

#[cfg(not(target_os = "linux"))]
fn is_empty_whiteout(_: impl Fn() -> PathBuf, _: &Metadata) -> bool {
    false
}

/// Returns the first byte of an attribute, 0 if its value is empty; `None` if there is no such attribute. Some file
/// systems have no attributes.
fn read_attribute(path: &Path, name: &str) -> io::Result<Option<u8>> {
    let mut value = [0; 8];
    match rustix::fs::lgetxattr(path, name, &mut value[..]) {
        Ok(bytes) => Ok(Some(if bytes == 0 { 0 } else { value[0] })),
        Err(errno @ (Errno::ACCESS | Errno::IO)) => Err(errno.into()),
        Err(_) => Ok(None),
    }
}

/// Returns the source of the visible content at `relative`, a path of the project without links.
///
/// # Errors
/// If the overlay's entry at the path or at a folder on the way cannot be read.
pub fn find_source(upper: &Path, root: &Path, relative: &Path) -> io::Result<ContentSource> {
    find_source_with_trail(upper, root, relative, &mut Trail::default())
}

/// Folders of the overlay on the way to the last requested path, outermost first: each with its relative path, its
/// metadata, and whether the content of the project's folder is visible in it.
#[derive(Default)]
pub struct Trail(Vec<(PathBuf, Metadata, bool)>);

/// Like `find_source`, and keeps the folders on the way in `trail`: for many paths in sorted order each folder is read
/// once. The overlay must not change in the meantime.
pub fn find_source_with_trail(
    upper: &Path,
    root: &Path,
    relative: &Path,
    trail: &mut Trail,
) -> io::Result<ContentSource> {
    while trail.0.last().is_some_and(|(folder, ..)| !relative.starts_with(folder) || folder == relative) {
        trail.0.pop();
    }
    let (mut path, mut real) = (upper.to_owned(), root.to_owned());
    let mut visited = PathBuf::new();
    let mut content = match trail.0.last() {
        None => ContentSource {
            overlay_entry: metadata_if_exists(upper)?.map(|meta| (path.clone(), meta)),
            shows_project: true,
        },
        Some((folder, meta, shows_project)) => {
            (path, real, visited) = (upper.join(folder), root.join(folder), folder.clone());
            ContentSource { overlay_entry: Some((path.clone(), meta.clone())), shows_project: *shows_project }
        }
    };
    let remaining = relative.strip_prefix(&visited).unwrap_or(relative).to_owned();
    // Error while determining whether the project's folder is visible.
    let mut visibility_error = None;
    for part in remaining.components().filter(|part| matches!(part, Component::Normal(_))) {
        // Only a folder has entries.
        if content.overlay_entry.as_ref().is_some_and(|(_, meta)| !meta.is_dir()) {
            return Ok(ContentSource::NOTHING);
        }
        real.push(part);
        visited.push(part);
        if content.overlay_entry.is_none() {
            continue;
        }
        path.push(part);
        let earlier_error = visibility_error.take();
        content = match read_entry(&path)? {
            OverlayEntry::Absent => match earlier_error {
                Some(error) => return Err(error),
                None => ContentSource { overlay_entry: None, shows_project: content.shows_project },
            },
            OverlayEntry::Deleted => return Ok(ContentSource::NOTHING),
            OverlayEntry::Folder { hides_project, meta } => {
                // After an error the project's folder counts as hidden, but it may be visible.
                let shows_project = content.shows_project || earlier_error.is_some();
                let shows_project = shows_project && real.symlink_metadata().is_ok_and(|real| real.is_dir());
                let (hides_project, attribute_error) =
                    hides_project.map_or_else(|error| (false, Some(error)), |hides_project| (hides_project, None));
                visibility_error = earlier_error.or(attribute_error).filter(|_| shows_project && !hides_project);
                if visibility_error.is_none() && visited != relative {
                    trail.0.push((visited.clone(), meta.clone(), shows_project && !hides_project));
                }
                ContentSource {
                    overlay_entry: Some((path.clone(), meta)),
                    shows_project: shows_project && !hides_project && visibility_error.is_none(),
                }
            }
            OverlayEntry::Other(meta) => {
                ContentSource { overlay_entry: Some((path.clone(), meta)), shows_project: false }
            }
        };
        if content.overlay_entry.is_none() && !content.shows_project {
            return Ok(ContentSource::NOTHING);
        }
    }
    Ok(content)
}

/// Creates the folder of the changes with the attributes of the project's own folder.
pub fn create_upper(upper: &Path, root: &Path) -> io::Result<()> {
    fs::create_dir_all(upper)?;
    copy_attributes(upper, &root.metadata()?)
}

/// Writes a file into the overlay, replacing anything there except a folder, and creates missing parent folders with
/// the attributes of the project's folders. A folder that replaces a deleted one hides the project's content. The file
/// is prepared next to `upper` and moved in atomically, so that no reader sees a part of it. It gets mode and owner
/// from `old`.
pub fn write_file(
    overlay_folder: &Path,
    root: &Path,
    relative: &Path,
    bytes: &[u8],
    old: Option<&Metadata>,
) -> io::Result<()> {
    let (upper, unfinished) = (overlay_folder.join(UPPER), overlay_folder.join(PREPARED_FOLDER));
    // Remove the remains of an interrupted write.
    removal::remove_folder(&unfinished)?;
    fs::create_dir(&unfinished)?;
    let write = || {
        let (existing_depth, replaces_entry) = find_missing_depth(&upper, relative)?;
        let names: Vec<Component<'_>> = relative.components().skip(existing_depth).collect();
        let top = unfinished.join(PREPARED_NAME);
        let mut prepared = unfinished.clone();
        let mut current: PathBuf = relative.components().take(existing_depth).collect();
        let mut created: Vec<(PathBuf, Metadata)> = Vec::new();
        for (depth, name) in names.iter().enumerate() {
            prepared.push(if depth == 0 { OsStr::new(PREPARED_NAME) } else { name.as_os_str() });
            current.push(name);
            if depth + 1 == names.len() {
                create_file(&prepared, bytes, old)?;
                continue;
            }
            let real = root.join(&current).symlink_metadata().ok().filter(Metadata::is_dir);
            let real = real.filter(|_| {
                !replaces_entry && find_source(&upper, root, &current).is_ok_and(|content| content.shows_project)
            });
            // The mode is set last, because it may forbid creating entries.
            fs::DirBuilder::new().mode(if real.is_some() { 0o700 } else { 0o777 }).create(&prepared)?;
            if depth == 0 && replaces_entry {
                rustix::fs::lsetxattr(&prepared, OPAQUE_ATTRIBUTE, b"y", rustix::fs::XattrFlags::empty())?;
            }
            created.extend(real.map(|real| (prepared.clone(), real)));
        }
        let target: PathBuf = upper.join(relative.components().take(existing_depth + 1).collect::<PathBuf>());
        let mut inner_folders = created.iter().rev().filter(|(folder, _)| *folder != top);
        inner_folders.try_for_each(|(folder, real)| copy_attributes(folder, real))?;
        with_write_access(target.parent().unwrap_or(&upper), || {
            move_into_place(&top, &target, replaces_entry && names.len() > 1)
        })?;
        // A folder without write permission could not have been moved, so its mode is set after the move.
        created.first().filter(|(folder, _)| *folder == top).map_or(Ok(()), |(_, real)| copy_attributes(&target, real))
    };
    let result = write();
    let _ = removal::remove_folder(&unfinished);
    result
}

/// Runs `change` while the owner has write permission on the folder. A write below a read-only folder may be permitted,
/// but needs a new entry in this folder if the overlay has no copy of the subfolder yet.
fn with_write_access(folder: &Path, change: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let meta = folder.symlink_metadata()?;
    let is_writable = meta.mode() & 0o300 == 0o300;
    let set_mode = |mode: u32| fs::set_permissions(folder, fs::Permissions::from_mode(mode & 0o7777));
    if !is_writable {
        set_mode(meta.mode() | 0o300)?;
    }
    let result = change();
    if is_writable { result } else { result.and(set_mode(meta.mode())) }
}

/// Returns how many leading folders of a path exist in the overlay, and whether an entry after them has to be replaced:
/// a deletion, or the old file at the path itself.
fn find_missing_depth(upper: &Path, relative: &Path) -> io::Result<(usize, bool)> {
    let mut path = upper.to_owned();
    let last = relative.components().count().checked_sub(1).ok_or(io::ErrorKind::IsADirectory)?;
    for (depth, name) in relative.components().enumerate() {
        path.push(name);
        match read_entry(&path)? {
            OverlayEntry::Folder { .. } if depth == last => return Err(io::ErrorKind::IsADirectory.into()),
            OverlayEntry::Folder { .. } => {}
            OverlayEntry::Absent => return Ok((depth, false)),
            OverlayEntry::Other(_) if depth < last => return Err(io::ErrorKind::NotADirectory.into()),
            OverlayEntry::Deleted | OverlayEntry::Other(_) => return Ok((depth, true)),
        }
    }
    Ok((last, true))
}

/// Moves a prepared entry into place. A folder cannot atomically replace another entry, so the two are exchanged.
fn move_into_place(prepared: &Path, target: &Path, exchange: bool) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    if exchange {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        if renameat_with(CWD, prepared, CWD, target, RenameFlags::EXCHANGE).is_ok() {
            return Ok(());
        }
    }
    // Some file systems do not support the exchange.
    if exchange {
        fs::remove_file(target)?;
    }
    fs::rename(prepared, target)
}

fn create_file(path: &Path, bytes: &[u8], old: Option<&Metadata>) -> io::Result<()> {
    let mode = if old.is_some() { 0o600 } else { 0o666 };
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(bytes)?;
    if let Some(old) = old {
        copy_attributes(path, old)?;
    }
    file.sync_all()
}

/// Copies the mode of a file or folder, and its owner if permitted.
fn copy_attributes(path: &Path, metadata: &Metadata) -> io::Result<()> {
    // An unprivileged user cannot change the owner and does not need to: the file is already theirs. The group is not
    // changed to another one of theirs either: commands run in a namespace that has only one group and could not change
    // the file.
    if keeps_owners() {
        let _ = std::os::unix::fs::lchown(path, Some(metadata.uid()), Some(metadata.gid()));
    }
    fs::set_permissions(path, fs::Permissions::from_mode(metadata.mode() & 0o7777))
}

/// Returns whether commands see all users and groups, which is the case if the overlay sandbox needs no user namespace.
#[cfg(target_os = "linux")]
fn keeps_owners() -> bool {
    use rustix::thread::{CapabilitySet, capabilities};
    capabilities(None).is_ok_and(|sets| sets.effective.contains(CapabilitySet::SYS_ADMIN))
}

#[cfg(not(target_os = "linux"))]
fn keeps_owners() -> bool {
    true
}

/// Returns whether the overlay lies inside the project, which happens if the project is the home. The kernel cannot
/// mount an overlay over a folder that contains its upper folder, so commands write in `upper` directly, and their
/// changes are found by comparing snapshots (`Snapshot`).
pub fn is_inside(project: &Path, overlay_folder: &Path) -> bool {
    overlay_folder.starts_with(project)
}
