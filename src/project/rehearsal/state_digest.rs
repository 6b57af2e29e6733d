//! Digest of an overlay's state.

use super::overlay::{self, OverlayEntry};
use super::{Fingerprint, OUTSIDE_FOLDER, UPPER, read_node};
use crate::chat::Digest;
use crate::project::atomic_file::READ_FLAGS;
use rustix::fs::{CWD, Mode, openat};
use std::fmt::Write as _;
use std::fs::{File, Metadata};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Total number of file bytes that are read. Further files are identified by size and time.
const HASHED_BYTES_LIMIT: u64 = 64 << 20;
/// Bytes that are hashed at a time.
const CHUNK: u64 = 1 << 20;

/// Returns the digest of an overlay, including changes outside the project: paths, types, modes and contents. Times are
/// left out, so that a copy has the same state, except for content that is not read: files beyond the limit, and
/// unreadable files.
pub fn digest_overlay(layer: &Path) -> Digest {
    let mut state = String::new();
    let mut left = HASHED_BYTES_LIMIT;
    let mut waiting = vec![layer.join(UPPER)];
    waiting.push(layer.join(OUTSIDE_FOLDER).join(UPPER));
    while let Some(folder) = waiting.pop() {
        let Ok(mut all) = overlay::read_entries(&folder) else {
            let closed = folder.symlink_metadata().map(|meta| identify_unread(&meta)).unwrap_or_default();
            let _ = writeln!(state, "closed {closed}");
            continue;
        };
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (name, said) in all {
            let path = folder.join(&name);
            let of = path.strip_prefix(layer).unwrap_or(&path);
            let _ = write!(state, "{} ", Digest::of_bytes(of.as_os_str().as_bytes()));
            let _ = match said {
                Ok(OverlayEntry::Absent) => Ok(()),
                Ok(OverlayEntry::Deleted) => write!(state, "gone"),
                Ok(OverlayEntry::Folder { hides, meta }) => {
                    waiting.push(path);
                    write!(state, "folder {:o} {}", meta.mode(), matches!(hides, Ok(true)))
                }
                Ok(OverlayEntry::Other(meta)) => match digest_content(&path, &meta, &mut left) {
                    Some(held) => write!(state, "{:o} {held}", meta.mode()),
                    None => write!(state, "{:o} {}", meta.mode(), identify_unread(&meta)),
                },
                Err(error) => write!(state, "closed {:?}", error.kind()),
            };
            state.push('\n');
        }
    }
    Digest::of_bytes(state.as_bytes())
}

/// Returns the digest of a file's bytes, or of any other entry that is not a folder. `None` if it is not read.
fn digest_content(path: &Path, meta: &Metadata, left: &mut u64) -> Option<Digest> {
    if !meta.is_file() {
        return Fingerprint::from_node(&read_node(path)).digest;
    }
    *left = left.checked_sub(meta.len())?;
    // The path may have been replaced by a pipe in the meantime.
    let file = File::from(openat(CWD, path, READ_FLAGS, Mode::empty()).ok()?);
    let (mut file, mut parts, mut part) = (file.take(meta.len()), String::new(), Vec::new());
    loop {
        part.clear();
        (&mut file).take(CHUNK).read_to_end(&mut part).ok()?;
        if part.is_empty() {
            return Some(Digest::of_bytes(parts.as_bytes()));
        }
        let _ = write!(parts, "{}", Digest::of_bytes(&part));
    }
}

/// Returns text that identifies unread content. A change always updates the change time, which programs cannot set.
fn identify_unread(meta: &Metadata) -> String {
    format!("{} {}.{}", meta.len(), meta.ctime(), meta.ctime_nsec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn r30_every_change_gives_a_new_state_and_a_copy_the_same() {
        let root = tempfile::tempdir().unwrap();
        let layer = root.path().join("layer");
        let mut states = vec![digest_overlay(&layer)];
        let changes: [&dyn Fn(&Path); 9] = [
            &|layer| fs::create_dir_all(layer.join("upper/a")).unwrap(),
            &|layer| fs::write(layer.join("upper/a/x"), "one").unwrap(),
            &|layer| fs::write(layer.join("upper/a/x"), "two").unwrap(),
            &|layer| fs::rename(layer.join("upper/a/x"), layer.join("upper/a/y")).unwrap(),
            &|layer| fs::set_permissions(layer.join("upper/a/y"), Permissions::from_mode(0o751)).unwrap(),
            &|layer| std::os::unix::fs::symlink("y", layer.join("upper/a/link")).unwrap(),
            &|layer| fs::create_dir_all(layer.join("outside/upper/tmp/sub")).unwrap(),
            &|layer| fs::write(layer.join("outside/upper/tmp/note"), "").unwrap(),
            &|layer| fs::remove_file(layer.join("upper/a/y")).unwrap(),
        ];
        for (at, change) in changes.iter().enumerate() {
            change(&layer);
            let state = digest_overlay(&layer);
            assert!(!states.contains(&state), "change {at}");
            assert_eq!(digest_overlay(&layer), state);
            states.push(state);
        }
        // Files next to the overlay's changes do not count.
        fs::write(layer.join("origins"), "x").unwrap();
        fs::create_dir_all(layer.join("work/work")).unwrap();
        fs::create_dir_all(layer.join("outside/work/1")).unwrap();
        assert_eq!(digest_overlay(&layer), states[9]);
        let copied = root.path().join("copied");
        for change in changes {
            change(&copied);
        }
        assert_eq!(digest_overlay(&copied), states[9]);
        super::super::remove_overlay(&layer).unwrap();
        assert_eq!(digest_overlay(&layer), states[0], "a removed overlay is in the initial state");
    }

    #[test]
    fn copy_has_the_same_state_and_one_changed_byte_of_a_large_file_another() {
        let root = tempfile::tempdir().unwrap();
        let make = |name: &str| {
            let layer = root.path().join(name);
            fs::create_dir_all(layer.join("upper")).unwrap();
            File::create(layer.join("upper/large")).unwrap().set_len(11 << 20).unwrap();
            rustix::fs::mkfifoat(CWD, layer.join("upper/pipe"), 0o600.into()).unwrap();
            std::os::unix::net::UnixListener::bind(layer.join("upper/socket")).unwrap();
            layer
        };
        let (layer, copied) = (make("layer"), make("copied"));
        let time = |layer: &Path, name: &str| identify_unread(&layer.join(name).symlink_metadata().unwrap());
        for name in ["upper/large", "upper/pipe", "upper/socket"] {
            while time(&copied, name) == time(&layer, name) {
                let as_it_is = copied.join(name).symlink_metadata().unwrap().permissions();
                fs::set_permissions(copied.join(name), as_it_is).unwrap();
            }
        }
        assert_eq!(digest_overlay(&copied), digest_overlay(&layer));
        let large = copied.join("upper/large");
        let times = large.metadata().unwrap().modified().unwrap();
        let file = File::options().write(true).open(&large).unwrap();
        std::os::unix::fs::FileExt::write_at(&file, b"x", 10 << 20).unwrap();
        file.set_modified(times).unwrap();
        assert_ne!(digest_overlay(&copied), digest_overlay(&layer));
        // Beyond the limit files are compared by time, and their bytes are not read.
        for layer in [&layer, &copied] {
            File::create(layer.join("upper/zz")).unwrap().set_len(HASHED_BYTES_LIMIT).unwrap();
        }
        let before = digest_overlay(&layer);
        File::options().write(true).open(layer.join("upper/zz")).unwrap().set_len(HASHED_BYTES_LIMIT + 1).unwrap();
        assert_ne!(digest_overlay(&layer), before);
    }
}
