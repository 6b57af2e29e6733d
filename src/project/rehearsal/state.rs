//! Digest of an overlay's state.

use super::layer::{self, Above};
use super::{Fingerprint, OUTSIDE, UPPER, node};
use crate::chat::Digest;
use crate::project::whole::READING;
use rustix::fs::{CWD, Mode, openat};
use std::fmt::Write as _;
use std::fs::{File, Metadata};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Total number of file bytes that are read. Further files are identified by size and time.
const READ: u64 = 64 << 20;
/// Bytes that are hashed at a time.
const PART: u64 = 1 << 20;

/// Returns the digest of an overlay, including changes outside the project: paths, types, modes and contents. Times are
/// left out, so that a copy has the same state, except for content that is not read: files beyond the limit, and
/// unreadable files.
pub fn of(layer: &Path) -> Digest {
    let mut state = String::new();
    let mut left = READ;
    let mut waiting = vec![layer.join(UPPER)];
    waiting.push(layer.join(OUTSIDE).join(UPPER));
    while let Some(folder) = waiting.pop() {
        let Ok(mut all) = layer::all_said(&folder) else {
            let closed = folder.symlink_metadata().map(|meta| unread(&meta)).unwrap_or_default();
            let _ = writeln!(state, "closed {closed}");
            continue;
        };
        all.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (name, said) in all {
            let path = folder.join(&name);
            let of = path.strip_prefix(layer).unwrap_or(&path);
            let _ = write!(state, "{} ", Digest::of(of.as_os_str().as_bytes()));
            let _ = match said {
                Ok(Above::Unsaid) => Ok(()),
                Ok(Above::Gone) => write!(state, "gone"),
                Ok(Above::Folder { hides, meta }) => {
                    waiting.push(path);
                    write!(state, "folder {:o} {}", meta.mode(), matches!(hides, Ok(true)))
                }
                Ok(Above::Other(meta)) => match held(&path, &meta, &mut left) {
                    Some(held) => write!(state, "{:o} {held}", meta.mode()),
                    None => write!(state, "{:o} {}", meta.mode(), unread(&meta)),
                },
                Err(error) => write!(state, "closed {:?}", error.kind()),
            };
            state.push('\n');
        }
    }
    Digest::of(state.as_bytes())
}

/// Returns the digest of a file's bytes, or of any other entry that is not a folder. `None` if it is not read.
fn held(path: &Path, meta: &Metadata, left: &mut u64) -> Option<Digest> {
    if !meta.is_file() {
        return Fingerprint::of(&node(path)).held;
    }
    *left = left.checked_sub(meta.len())?;
    // The path may have been replaced by a pipe in the meantime.
    let file = File::from(openat(CWD, path, READING, Mode::empty()).ok()?);
    let (mut file, mut parts, mut part) = (file.take(meta.len()), String::new(), Vec::new());
    loop {
        part.clear();
        (&mut file).take(PART).read_to_end(&mut part).ok()?;
        if part.is_empty() {
            return Some(Digest::of(parts.as_bytes()));
        }
        let _ = write!(parts, "{}", Digest::of(&part));
    }
}

/// Returns text that identifies unread content. A change always updates the change time, which programs cannot set.
fn unread(meta: &Metadata) -> String {
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
        let mut states = vec![of(&layer)];
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
            let state = of(&layer);
            assert!(!states.contains(&state), "change {at}");
            assert_eq!(of(&layer), state);
            states.push(state);
        }
        // Files next to the overlay's changes do not count.
        fs::write(layer.join("origins"), "x").unwrap();
        fs::create_dir_all(layer.join("work/work")).unwrap();
        fs::create_dir_all(layer.join("outside/work/1")).unwrap();
        assert_eq!(of(&layer), states[9]);
        let copied = root.path().join("copied");
        for change in changes {
            change(&copied);
        }
        assert_eq!(of(&copied), states[9]);
        super::super::clear(&layer).unwrap();
        assert_eq!(of(&layer), states[0], "a removed overlay is in the initial state");
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
        let time = |layer: &Path, name: &str| unread(&layer.join(name).symlink_metadata().unwrap());
        for name in ["upper/large", "upper/pipe", "upper/socket"] {
            while time(&copied, name) == time(&layer, name) {
                let as_it_is = copied.join(name).symlink_metadata().unwrap().permissions();
                fs::set_permissions(copied.join(name), as_it_is).unwrap();
            }
        }
        assert_eq!(of(&copied), of(&layer));
        let large = copied.join("upper/large");
        let times = large.metadata().unwrap().modified().unwrap();
        let file = File::options().write(true).open(&large).unwrap();
        std::os::unix::fs::FileExt::write_at(&file, b"x", 10 << 20).unwrap();
        file.set_modified(times).unwrap();
        assert_ne!(of(&copied), of(&layer));
        // Beyond the limit files are compared by time, and their bytes are not read.
        for layer in [&layer, &copied] {
            File::create(layer.join("upper/zz")).unwrap().set_len(READ).unwrap();
        }
        let before = of(&layer);
        File::options().write(true).open(layer.join("upper/zz")).unwrap().set_len(READ + 1).unwrap();
        assert_ne!(of(&layer), before);
    }
}
