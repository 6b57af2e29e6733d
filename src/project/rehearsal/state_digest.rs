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

/// Returns the digest of an overlay, including changes outside the project: paths, types, modes and contents. Times
/// count only for content that is not read (files beyond the limit, unreadable files and folders), so a copy usually
/// has the same digest.
pub fn digest_overlay(overlay_folder: &Path) -> Digest {
    let mut state = String::new();
    let mut remaining_bytes = HASHED_BYTES_LIMIT;
    let mut pending = vec![overlay_folder.join(UPPER)];
    pending.push(overlay_folder.join(OUTSIDE_FOLDER).join(UPPER));
    while let Some(folder) = pending.pop() {
        let Ok(mut entries) = overlay::read_entries(&folder) else {
            let stamp = folder.symlink_metadata().map(|meta| identify_unread(&meta)).unwrap_or_default();
            let _ = writeln!(state, "closed {stamp}");
            continue;
        };
        entries.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (name, entry) in entries {
            let path = folder.join(&name);
            let relative = path.strip_prefix(overlay_folder).unwrap_or(&path);
            let _ = write!(state, "{} ", Digest::of_bytes(relative.as_os_str().as_bytes()));
            let _ = match entry {
                Ok(OverlayEntry::Absent) => Ok(()),
                Ok(OverlayEntry::Deleted) => write!(state, "gone"),
                Ok(OverlayEntry::Folder { hides_project, meta }) => {
                    pending.push(path);
                    write!(state, "folder {:o} {}", meta.mode(), matches!(hides_project, Ok(true)))
                }
                Ok(OverlayEntry::Other(meta)) => match digest_content(&path, &meta, &mut remaining_bytes) {
                    Some(digest) => write!(state, "{:o} {digest}", meta.mode()),
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
fn digest_content(path: &Path, meta: &Metadata, remaining_bytes: &mut u64) -> Option<Digest> {
    if !meta.is_file() {
        return Fingerprint::from_node(&read_node(path)).digest;
    }
    *remaining_bytes = remaining_bytes.checked_sub(meta.len())?;
    // The path may have been replaced by a pipe in the meantime.
    let file = File::from(openat(CWD, path, READ_FLAGS, Mode::empty()).ok()?);
    let (mut file, mut digests, mut chunk) = (file.take(meta.len()), String::new(), Vec::new());
    loop {
        chunk.clear();
        (&mut file).take(CHUNK).read_to_end(&mut chunk).ok()?;
        if chunk.is_empty() {
            return Some(Digest::of_bytes(digests.as_bytes()));
        }
        let _ = write!(digests, "{}", Digest::of_bytes(&chunk));
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
        let overlay_folder = root.path().join("layer");
        let mut states = vec![digest_overlay(&overlay_folder)];
        let changes: [&dyn Fn(&Path); 9] = [
            &|overlay| fs::create_dir_all(overlay.join("upper/a")).unwrap(),
            &|overlay| fs::write(overlay.join("upper/a/x"), "one").unwrap(),
            &|overlay| fs::write(overlay.join("upper/a/x"), "two").unwrap(),
            &|overlay| fs::rename(overlay.join("upper/a/x"), overlay.join("upper/a/y")).unwrap(),
            &|overlay| fs::set_permissions(overlay.join("upper/a/y"), Permissions::from_mode(0o751)).unwrap(),
            &|overlay| std::os::unix::fs::symlink("y", overlay.join("upper/a/link")).unwrap(),
            &|overlay| fs::create_dir_all(overlay.join("outside/upper/tmp/sub")).unwrap(),
            &|overlay| fs::write(overlay.join("outside/upper/tmp/note"), "").unwrap(),
            &|overlay| fs::remove_file(overlay.join("upper/a/y")).unwrap(),
        ];
        for (index, change) in changes.iter().enumerate() {
            change(&overlay_folder);
            let state = digest_overlay(&overlay_folder);
            assert!(!states.contains(&state), "change {index}");
            assert_eq!(digest_overlay(&overlay_folder), state);
            states.push(state);
        }
        // Files next to the overlay's changes do not count.
        fs::write(overlay_folder.join("origins"), "x").unwrap();
        fs::create_dir_all(overlay_folder.join("work/work")).unwrap();
        fs::create_dir_all(overlay_folder.join("outside/work/1")).unwrap();
        let last_state = states.last().unwrap();
        assert_eq!(digest_overlay(&overlay_folder), *last_state);
        let copy = root.path().join("copied");
        for change in changes {
            change(&copy);
        }
        assert_eq!(digest_overlay(&copy), *last_state);
        super::super::remove_overlay(&overlay_folder).unwrap();
        assert_eq!(digest_overlay(&overlay_folder), states[0], "a removed overlay is in the initial state");
    }

    #[test]
    fn copy_has_the_same_state_and_one_changed_byte_of_a_large_file_another() {
        let root = tempfile::tempdir().unwrap();
        let create_overlay = |name: &str| {
            let overlay_folder = root.path().join(name);
            fs::create_dir_all(overlay_folder.join("upper")).unwrap();
            File::create(overlay_folder.join("upper/large")).unwrap().set_len(11 << 20).unwrap();
            rustix::fs::mkfifoat(CWD, overlay_folder.join("upper/pipe"), 0o600.into()).unwrap();
            std::os::unix::net::UnixListener::bind(overlay_folder.join("upper/socket")).unwrap();
            overlay_folder
        };
        let (original, copy) = (create_overlay("layer"), create_overlay("copied"));
        let state_of = |folder: &Path, name: &str| identify_unread(&folder.join(name).symlink_metadata().unwrap());
        // Gives the entries of the copy other change times.
        for name in ["upper/large", "upper/pipe", "upper/socket"] {
            while state_of(&copy, name) == state_of(&original, name) {
                let permissions = copy.join(name).symlink_metadata().unwrap().permissions();
                fs::set_permissions(copy.join(name), permissions).unwrap();
            }
        }
        assert_eq!(digest_overlay(&copy), digest_overlay(&original));
        let large = copy.join("upper/large");
        let times = large.metadata().unwrap().modified().unwrap();
        let file = File::options().write(true).open(&large).unwrap();
        std::os::unix::fs::FileExt::write_at(&file, b"x", 10 << 20).unwrap();
        file.set_modified(times).unwrap();
        assert_ne!(digest_overlay(&copy), digest_overlay(&original));
        // Beyond the limit files are compared by time, and their bytes are not read.
        for folder in [&original, &copy] {
            File::create(folder.join("upper/zz")).unwrap().set_len(HASHED_BYTES_LIMIT).unwrap();
        }
        let before = digest_overlay(&original);
        File::options().write(true).open(original.join("upper/zz")).unwrap().set_len(HASHED_BYTES_LIMIT + 1).unwrap();
        assert_ne!(digest_overlay(&original), before);
    }
}
