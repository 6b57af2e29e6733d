//! The folder that holds what was rehearsed, in the form that the kernel's overlay has: whiteouts for what is gone, a mark
//! on folders that hide what the project holds there.

use super::clear;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io::{self, Write};
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

/// Where a write is made before it comes into the layer.
const UNFINISHED: &str = "unfinished";

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

/// The names in a folder of the layer.
pub fn names(folder: &Path) -> Vec<OsString> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    entries.flatten().map(|entry| entry.file_name()).collect()
}

/// Puts a file into the layer, in the place of whatever the layer has there but a folder, with the folders on its way: each
/// like the project's own; one that takes the place of what is gone hides what the project holds there. It is made
/// beside `upper` and comes into it in one step, so that nobody ever sees a part of it. It takes mode and owner from `old`.
pub fn put(layer: &Path, root: &Path, below: &Path, bytes: &[u8], old: Option<&Metadata>) -> io::Result<()> {
    let (upper, unfinished) = (layer.join(super::UPPER), layer.join(UNFINISHED));
    fs::create_dir_all(&upper)?;
    // What an end in the middle of another left.
    clear::empty(&unfinished)?;
    fs::create_dir(&unfinished)?;
    let make = || {
        let (at, stands) = beginning(&upper, below)?;
        let names: Vec<Component<'_>> = below.components().skip(at).collect();
        let mut beside = unfinished.clone();
        let mut seen: PathBuf = below.components().take(at).collect();
        for (depth, name) in names.iter().enumerate() {
            beside.push(if depth == 0 { OsStr::new("0") } else { name.as_os_str() });
            seen.push(name);
            if depth + 1 == names.len() {
                file(&beside, bytes, old)?;
                continue;
            }
            fs::create_dir(&beside)?;
            let real = root.join(&seen).symlink_metadata().ok().filter(Metadata::is_dir);
            if depth == 0 && stands {
                rustix::fs::lsetxattr(&beside, OPAQUE, b"y", rustix::fs::XattrFlags::empty())?;
            } else if let Some(real) = real.filter(|_| !stands && spot(&upper, root, &seen).below) {
                like(&beside, &real)?;
            }
        }
        let to: PathBuf = upper.join(below.components().take(at + 1).collect::<PathBuf>());
        take_place(&unfinished.join("0"), &to, stands && names.len() > 1)
    };
    let done = make();
    let _ = clear::empty(&unfinished);
    done
}

/// How many names of a path the layer has folders for, and whether it says of the next that there is something else, or
/// nothing at all.
fn beginning(upper: &Path, below: &Path) -> io::Result<(usize, bool)> {
    let mut path = upper.to_owned();
    let last = below.components().count().checked_sub(1).ok_or(io::ErrorKind::IsADirectory)?;
    for (at, name) in below.components().enumerate() {
        path.push(name);
        match look(&path) {
            Above::Folder { .. } if at == last => return Err(io::ErrorKind::IsADirectory.into()),
            Above::Folder { .. } => {}
            Above::Unsaid => return Ok((at, false)),
            Above::Other(_) if at < last => return Err(io::ErrorKind::NotADirectory.into()),
            Above::Gone | Above::Other(_) => return Ok((at, true)),
        }
    }
    Ok((last, true))
}

/// Puts what was made into its place. A folder does not take that of something else in one step, so the two are exchanged.
fn take_place(made: &Path, to: &Path, exchange: bool) -> io::Result<()> {
    #[cfg(target_os = "linux")]
    if exchange {
        use rustix::fs::{CWD, RenameFlags, renameat_with};
        if renameat_with(CWD, made, CWD, to, RenameFlags::EXCHANGE).is_ok() {
            return Ok(());
        }
    }
    // Some file systems know no exchange.
    if exchange {
        fs::remove_file(to)?;
    }
    fs::rename(made, to)
}

fn file(path: &Path, bytes: &[u8], old: Option<&Metadata>) -> io::Result<()> {
    let mode = if old.is_some() { 0o600 } else { 0o666 };
    let mut file = fs::OpenOptions::new().write(true).create_new(true).mode(mode).open(path)?;
    file.write_all(bytes)?;
    if let Some(old) = old {
        like(path, old)?;
    }
    file.sync_all()
}

/// Gives a file or folder the mode of another, and its owner where that may be.
fn like(path: &Path, old: &Metadata) -> io::Result<()> {
    // An ordinary person cannot, and need not: the file is theirs then.
    let _ = std::os::unix::fs::lchown(path, Some(old.uid()), Some(old.gid()));
    fs::set_permissions(path, fs::Permissions::from_mode(old.mode() & 0o7777))
}
