//! The folder that holds what was rehearsed, in the form that the kernel's overlay has: whiteouts for what is gone, a mark
//! on folders that hide what the project holds there.

use super::super::whole;
use std::ffi::OsStr;
use std::fs::{self, Metadata};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

/// The mark of a folder that hides what is below it in the project.
const OPAQUE: &str = "user.overlay.opaque";
/// The mark of an empty file that stands for nothing, where no device can.
#[cfg(target_os = "linux")]
const WHITEOUT: &str = "user.overlay.whiteout";

/// What the layer itself says of a path.
#[derive(Debug)]
pub enum Above {
    /// Nothing: what the project holds is seen.
    Unsaid,
    /// That there is nothing, whatever the project holds.
    Gone,
    /// That there is a folder; `hides` where what the project holds below it is not seen.
    Folder { hides: bool, meta: Metadata },
    /// That there is something else: a file, a link, a pipe.
    Other(Metadata),
}

/// Where what is seen at a path comes from.
#[derive(Debug)]
pub struct Spot {
    /// The layer's own, where it has something there.
    pub above: Option<(PathBuf, Metadata)>,
    /// Whether what the project holds there is seen, or is merged with the layer's folder.
    pub below: bool,
}

impl Spot {
    const NOTHING: Self = Self { above: None, below: false };
}

/// What the layer says of `path`, which lies in it.
pub fn look(path: &Path) -> Above {
    let Ok(meta) = path.symlink_metadata() else { return Above::Unsaid };
    if meta.is_dir() {
        return Above::Folder { hides: marked(path, OPAQUE) == Some(b'y'), meta };
    }
    let stands_for_nothing =
        (meta.file_type().is_char_device() && meta.rdev() == 0) || empty_mark(path, &meta);
    if stands_for_nothing { Above::Gone } else { Above::Other(meta) }
}

#[cfg(target_os = "linux")]
fn empty_mark(path: &Path, meta: &Metadata) -> bool {
    meta.is_file() && meta.len() == 0 && marked(path, WHITEOUT).is_some()
}

#[cfg(not(target_os = "linux"))]
fn empty_mark(_: &Path, _: &Metadata) -> bool {
    false
}

/// The first byte of a mark; some systems know none.
fn marked(path: &Path, mark: &str) -> Option<u8> {
    let mut value = [0; 8];
    let bytes = rustix::fs::lgetxattr(path, mark, &mut value[..]).ok()?;
    Some(if bytes == 0 { 0 } else { value[0] })
}

/// Where what is seen at `below`, a path in the project without links, comes from.
pub fn spot(upper: &Path, root: &Path, below: &Path) -> Spot {
    let (mut path, mut real) = (upper.to_owned(), root.to_owned());
    let mut spot =
        Spot { above: upper.symlink_metadata().ok().map(|meta| (path.clone(), meta)), below: true };
    for part in below.components() {
        // Only a folder has something below it.
        if spot.above.as_ref().is_some_and(|(_, meta)| !meta.is_dir()) {
            return Spot::NOTHING;
        }
        real.push(part);
        if spot.above.is_none() {
            continue;
        }
        path.push(part);
        spot = match look(&path) {
            Above::Unsaid => Spot { above: None, below: spot.below },
            Above::Gone => return Spot::NOTHING,
            Above::Folder { hides, meta } => {
                let merged = spot.below && !hides && real.symlink_metadata().is_ok_and(|real| real.is_dir());
                Spot { above: Some((path.clone(), meta)), below: merged }
            }
            Above::Other(meta) => Spot { above: Some((path.clone(), meta)), below: false },
        };
        if spot.above.is_none() && !spot.below {
            return Spot::NOTHING;
        }
    }
    spot
}

/// The names in a folder of the layer. What a write that was cut short left there is not among them.
pub fn names(folder: &Path) -> Vec<std::ffi::OsString> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let names = entries.flatten().map(|entry| entry.file_name());
    names.filter(|name| !is_unfinished(name)).collect()
}

/// Whether a write that was cut short left it.
pub fn is_unfinished(name: &OsStr) -> bool {
    name.as_encoded_bytes().starts_with(whole::BESIDE.as_bytes())
}

/// Makes the folders of the layer on the way to `below`, each like the project's own; one that takes the place of what
/// is gone, or was something else, hides what the project holds there.
pub fn make_way(upper: &Path, root: &Path, below: &Path) -> io::Result<()> {
    fs::create_dir_all(upper)?;
    let (mut path, mut real) = (upper.to_owned(), root.to_owned());
    for part in below.components() {
        path.push(part);
        real.push(part);
        match look(&path) {
            Above::Folder { .. } => {}
            Above::Unsaid => {
                fs::create_dir(&path)?;
                if let Some(meta) = real.symlink_metadata().ok().filter(Metadata::is_dir) {
                    like(&path, &meta)?;
                }
            }
            Above::Gone => {
                fs::remove_file(&path)?;
                fs::create_dir(&path)?;
                rustix::fs::lsetxattr(&path, OPAQUE, b"y", rustix::fs::XattrFlags::empty())?;
            }
            Above::Other(_) => return Err(io::ErrorKind::NotADirectory.into()),
        }
    }
    Ok(())
}

/// Puts a file into the layer, in the place of whatever the layer has there but a folder. It is whole at every moment, and
/// takes mode and owner from `old`.
pub fn put(path: &Path, bytes: &[u8], old: Option<&Metadata>) -> io::Result<()> {
    let folder = path.parent().ok_or(io::ErrorKind::InvalidInput)?;
    let beside = folder.join(format!("{}{}", whole::BESIDE, ulid::Ulid::new()));
    let write = || {
        let mode = if old.is_some() { 0o600 } else { 0o666 };
        let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(&beside)?;
        file.write_all(bytes)?;
        if let Some(old) = old {
            like(&beside, old)?;
        }
        file.sync_all()?;
        fs::rename(&beside, path)
    };
    let done = write();
    if done.is_err() {
        let _ = fs::remove_file(&beside);
    }
    done
}

/// Gives a file or folder the mode of another, and its owner where that may be.
fn like(path: &Path, old: &Metadata) -> io::Result<()> {
    // An ordinary person cannot, and need not: the file is theirs then.
    let _ = std::os::unix::fs::lchown(path, Some(old.uid()), Some(old.gid()));
    fs::set_permissions(path, fs::Permissions::from_mode(old.mode() & 0o7777))
}

/// Takes a layer away, with everything in it. Commands may have left folders that nobody may look into.
pub fn clear(folder: &Path) -> io::Result<()> {
    let mut waiting = vec![folder.to_owned()];
    while let Some(folder) = waiting.pop() {
        let Ok(meta) = folder.symlink_metadata() else { continue };
        if meta.mode() & 0o700 != 0o700 {
            fs::set_permissions(&folder, fs::Permissions::from_mode(0o700))?;
        }
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            if entry.file_type()?.is_dir() {
                waiting.push(entry.path());
            }
        }
    }
    match fs::remove_dir_all(folder) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}
