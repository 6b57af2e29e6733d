//! The folder that holds what was rehearsed, in the form that the kernel's overlay has: whiteouts for what is gone, a mark
//! on folders that hide what the project holds there.

use super::clear;
use rustix::io::Errno;
use std::ffi::{OsStr, OsString};
use std::fs::{self, Metadata};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Component, Path, PathBuf};

/// Where a write is made before it comes into the layer.
const UNFINISHED: &str = "unfinished";

/// The mark of a folder that hides what is below it in the project.
pub(super) const OPAQUE: &str = "user.overlay.opaque";
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
    /// That there is a folder; `hides` where what the project holds below it is not seen. Of one that may not be read it
    /// cannot be told.
    Folder { hides: io::Result<bool>, meta: Metadata },
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
///
/// # Errors
/// Where that cannot be known: below a folder that may not be entered, for one. Whatever stands there, it is not what the
/// project holds.
pub fn look(path: &Path) -> io::Result<Above> {
    Ok(there(path)?.map_or(Above::Unsaid, |meta| said_by(meta, || path.to_owned())))
}

/// What that which stands at a path of the layer says.
fn said_by(meta: Metadata, path: impl Fn() -> PathBuf) -> Above {
    if meta.is_dir() {
        return Above::Folder { hides: marked(&path(), OPAQUE).map(|mark| mark == Some(b'y')), meta };
    }
    let stands_for_nothing =
        (meta.file_type().is_char_device() && meta.rdev() == 0) || empty_mark(path, &meta);
    if stands_for_nothing { Above::Gone } else { Above::Other(meta) }
}

/// What the layer says of each name in a folder of it, in no order; nothing where the folder is not there. One by one they
/// would each be looked up from the root of the disk.
pub fn all_said(folder: &Path) -> io::Result<Vec<(OsString, io::Result<Above>)>> {
    #[cfg(test)]
    super::nested::LISTED.set(super::nested::LISTED.get() + 1);
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if is_absent(&error) => return Ok(Vec::new()),
        Err(error) => return Err(error),
    };
    let said = |entry: io::Result<fs::DirEntry>| {
        let entry = entry?;
        let said = match entry.metadata() {
            Ok(meta) => Ok(said_by(meta, || entry.path())),
            Err(error) if is_absent(&error) => Ok(Above::Unsaid),
            Err(error) => Err(error),
        };
        Ok((entry.file_name(), said))
    };
    entries.map(said).collect()
}

/// What stands at a path, where anything does; links are not followed.
fn there(path: &Path) -> io::Result<Option<Metadata>> {
    match path.symlink_metadata() {
        Ok(meta) => Ok(Some(meta)),
        Err(error) if is_absent(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Whether the error says that nothing is there.
fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(target_os = "linux")]
fn empty_mark(path: impl Fn() -> PathBuf, meta: &Metadata) -> bool {
    // One that may not be read was made by a command: it is a file like any other.
    meta.is_file() && meta.len() == 0 && matches!(marked(&path(), WHITEOUT), Ok(Some(_)))
}

#[cfg(not(target_os = "linux"))]
fn empty_mark(_: impl Fn() -> PathBuf, _: &Metadata) -> bool {
    false
}

/// The first byte of a mark; some systems know none.
fn marked(path: &Path, mark: &str) -> io::Result<Option<u8>> {
    let mut value = [0; 8];
    match rustix::fs::lgetxattr(path, mark, &mut value[..]) {
        Ok(bytes) => Ok(Some(if bytes == 0 { 0 } else { value[0] })),
        Err(errno @ (Errno::ACCESS | Errno::IO)) => Err(errno.into()),
        Err(_) => Ok(None),
    }
}

/// Where what is seen at `below`, a path in the project without links, comes from.
///
/// # Errors
/// Where the layer has something there or on the way that may not be looked at.
pub fn spot(upper: &Path, root: &Path, below: &Path) -> io::Result<Spot> {
    spot_along(upper, root, below, &mut Trail::default())
}

/// Folders of the layer on the way to the last path that was asked for, from the outermost on.
#[derive(Default)]
pub struct Trail(Vec<(PathBuf, Metadata, bool)>);

/// The same as [`spot`], and keeps the folders on the way in `trail`: of many paths in sorted order each folder is looked at
/// once. Nothing may change in the layer meanwhile.
pub fn spot_along(upper: &Path, root: &Path, below: &Path, trail: &mut Trail) -> io::Result<Spot> {
    while trail.0.last().is_some_and(|(folder, ..)| !below.starts_with(folder) || folder == below) {
        trail.0.pop();
    }
    let (mut path, mut real) = (upper.to_owned(), root.to_owned());
    let mut at = PathBuf::new();
    let mut spot = match trail.0.last() {
        None => Spot { above: there(upper)?.map(|meta| (path.clone(), meta)), below: true },
        Some((folder, meta, both)) => {
            (path, real, at) = (upper.join(folder), root.join(folder), folder.clone());
            Spot { above: Some((path.clone(), meta.clone())), below: *both }
        }
    };
    let rest = below.strip_prefix(&at).unwrap_or(below).to_owned();
    // Why it cannot be known whether what the project holds in a folder is seen.
    let mut unknown = None;
    for part in rest.components().filter(|part| matches!(part, Component::Normal(_))) {
        // Only a folder has something below it.
        if spot.above.as_ref().is_some_and(|(_, meta)| !meta.is_dir()) {
            return Ok(Spot::NOTHING);
        }
        real.push(part);
        at.push(part);
        if spot.above.is_none() {
            continue;
        }
        path.push(part);
        let before = unknown.take();
        spot = match look(&path)? {
            Above::Unsaid => match before {
                Some(error) => return Err(error),
                None => Spot { above: None, below: spot.below },
            },
            Above::Gone => return Ok(Spot::NOTHING),
            Above::Folder { hides, meta } => {
                let both = spot.below || before.is_some();
                let both = both && real.symlink_metadata().is_ok_and(|real| real.is_dir());
                let (hides, not_known) =
                    hides.map_or_else(|error| (false, Some(error)), |hides| (hides, None));
                unknown = before.or(not_known).filter(|_| both && !hides);
                if unknown.is_none() && at != below {
                    trail.0.push((at.clone(), meta.clone(), both && !hides));
                }
                Spot { above: Some((path.clone(), meta)), below: both && !hides && unknown.is_none() }
            }
            Above::Other(meta) => Spot { above: Some((path.clone(), meta)), below: false },
        };
        if spot.above.is_none() && !spot.below {
            return Ok(Spot::NOTHING);
        }
    }
    Ok(spot)
}

/// Makes the folder of what changed, like the project's own.
pub fn begin(upper: &Path, root: &Path) -> io::Result<()> {
    fs::create_dir_all(upper)?;
    like(upper, &root.metadata()?)
}

/// Puts a file into the layer, in the place of whatever the layer has there but a folder, with the folders on its way: each
/// like the project's own; one that takes the place of what is gone hides what the project holds there. It is made
/// beside `upper` and comes into it in one step, so that nobody ever sees a part of it. It takes mode and owner from `old`.
pub fn put(layer: &Path, root: &Path, below: &Path, bytes: &[u8], old: Option<&Metadata>) -> io::Result<()> {
    let (upper, unfinished) = (layer.join(super::UPPER), layer.join(UNFINISHED));
    // What an end in the middle of another left.
    clear::empty(&unfinished)?;
    fs::create_dir(&unfinished)?;
    let make = || {
        let (at, stands) = beginning(&upper, below)?;
        let names: Vec<Component<'_>> = below.components().skip(at).collect();
        let top = unfinished.join("0");
        let mut beside = unfinished.clone();
        let mut seen: PathBuf = below.components().take(at).collect();
        let mut made: Vec<(PathBuf, Metadata)> = Vec::new();
        for (depth, name) in names.iter().enumerate() {
            beside.push(if depth == 0 { OsStr::new("0") } else { name.as_os_str() });
            seen.push(name);
            if depth + 1 == names.len() {
                file(&beside, bytes, old)?;
                continue;
            }
            let real = root.join(&seen).symlink_metadata().ok().filter(Metadata::is_dir);
            let real = real.filter(|_| !stands && spot(&upper, root, &seen).is_ok_and(|spot| spot.below));
            // Its mode comes last: one may allow nothing to be made in it.
            fs::DirBuilder::new().mode(if real.is_some() { 0o700 } else { 0o777 }).create(&beside)?;
            if depth == 0 && stands {
                rustix::fs::lsetxattr(&beside, OPAQUE, b"y", rustix::fs::XattrFlags::empty())?;
            }
            made.extend(real.map(|real| (beside.clone(), real)));
        }
        let to: PathBuf = upper.join(below.components().take(at + 1).collect::<PathBuf>());
        let mut within = made.iter().rev().filter(|(folder, _)| *folder != top);
        within.try_for_each(|(folder, real)| like(folder, real))?;
        opened(to.parent().unwrap_or(&upper), || take_place(&top, &to, stands && names.len() > 1))?;
        // Of a folder that nobody may write in none could have been moved here.
        made.first().filter(|(folder, _)| *folder == top).map_or(Ok(()), |(_, real)| like(&to, real))
    };
    let done = make();
    let _ = clear::empty(&unfinished);
    done
}

/// Does something in a folder that its mode may keep from being written in: who makes a change below it may have every right
/// to, but the layer has no folder of this name yet.
fn opened(folder: &Path, change: impl FnOnce() -> io::Result<()>) -> io::Result<()> {
    let meta = folder.symlink_metadata()?;
    let open = meta.mode() & 0o300 == 0o300;
    let set = |mode: u32| fs::set_permissions(folder, fs::Permissions::from_mode(mode & 0o7777));
    if !open {
        set(meta.mode() | 0o300)?;
    }
    let done = change();
    if open { done } else { done.and(set(meta.mode())) }
}

/// How many names of a path the layer has folders for, and whether it says of the next that there is something else, or
/// nothing at all.
fn beginning(upper: &Path, below: &Path) -> io::Result<(usize, bool)> {
    let mut path = upper.to_owned();
    let last = below.components().count().checked_sub(1).ok_or(io::ErrorKind::IsADirectory)?;
    for (at, name) in below.components().enumerate() {
        path.push(name);
        match look(&path)? {
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
    // An ordinary user cannot, and need not: the file is theirs then. Nor is it given to another of their groups, because their
    // namespace knows one group alone, and commands could not change it.
    if keeps_owners() {
        let _ = std::os::unix::fs::lchown(path, Some(old.uid()), Some(old.gid()));
    }
    fs::set_permissions(path, fs::Permissions::from_mode(old.mode() & 0o7777))
}

/// Whether commands know every user and group: if the overlay sandbox needs no user namespace.
#[cfg(target_os = "linux")]
fn keeps_owners() -> bool {
    use rustix::thread::{CapabilitySet, capabilities};
    capabilities(None).is_ok_and(|has| has.effective.contains(CapabilitySet::SYS_ADMIN))
}

#[cfg(not(target_os = "linux"))]
fn keeps_owners() -> bool {
    true
}
