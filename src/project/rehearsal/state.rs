//! What tells one state of a layer from another.

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

/// Bytes of all files together that are read; those after them are told by their size and their time.
const READ: u64 = 64 << 20;
/// Bytes that are hashed at a time.
const PART: u64 = 1 << 20;

/// Of everything that a layer holds, and of what was written outside the project: paths, kinds, modes and contents. No times, so
/// that a copy is in the same state; but of what is not read: files once too much was, and what a command closed.
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

/// What stands for a file's bytes, or for anything else that is no folder; `None` where it is not read.
fn held(path: &Path, meta: &Metadata, left: &mut u64) -> Option<Digest> {
    if !meta.is_file() {
        return Fingerprint::of(&node(path)).held;
    }
    *left = left.checked_sub(meta.len())?;
    // Something else may stand there by now, and be a pipe.
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

/// What tells apart what is not read. A change of it has another time, whatever its own times were set to.
fn unread(meta: &Metadata) -> String {
    format!("{} {}.{}", meta.len(), meta.ctime(), meta.ctime_nsec())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    #[test]
    fn r30_every_change_of_a_layer_is_another_state_and_a_copy_is_the_same() {
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
        // What is beside the layer is none of it.
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
        assert_eq!(of(&layer), states[0], "thrown away it is as it was");
    }

    #[test]
    fn a_copy_is_the_same_whatever_is_in_it_and_a_large_file_is_another_by_one_byte() {
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
        // After what is read of all files together they are told by their times, without waiting for their bytes.
        for layer in [&layer, &copied] {
            File::create(layer.join("upper/zz")).unwrap().set_len(READ).unwrap();
        }
        let before = of(&layer);
        File::options().write(true).open(layer.join("upper/zz")).unwrap().set_len(READ + 1).unwrap();
        assert_ne!(of(&layer), before);
    }
}
