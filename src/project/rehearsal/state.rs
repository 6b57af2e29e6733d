//! What tells one state of a layer from another.

use super::layer::{self, Above};
use super::{UPPER, fingerprint};
use crate::chat::Digest;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Bytes of all files together that are read; those after them are told by their size and their time.
const READ: u64 = 64 << 20;
/// The folder beside the project's layer that holds those of other places.
const PLACES: &str = "places";

/// Of everything that a layer holds, and of the layers over other places: paths, kinds, modes and contents. No times, so
/// that a copy is in the same state; but a large layer's, once too much was read.
pub fn of(layer: &Path) -> Digest {
    let mut state = String::new();
    let mut left = READ;
    let mut waiting = vec![layer.join(UPPER)];
    let mut places: Vec<PathBuf> = listed(&layer.join(PLACES));
    places.sort();
    waiting.extend(places.into_iter().map(|place| place.join(UPPER)));
    while let Some(folder) = waiting.pop() {
        let mut names: Vec<OsString> = layer::names(&folder);
        names.sort();
        for name in names {
            let path = folder.join(&name);
            let of = path.strip_prefix(layer).unwrap_or(&path);
            let _ = write!(state, "{} ", Digest::of(of.as_os_str().as_bytes()));
            match layer::look(&path) {
                Above::Unsaid => {}
                Above::Gone => state.push_str("gone"),
                Above::Folder { hides, meta } => {
                    let _ = write!(state, "folder {:o} {hides}", meta.mode());
                    waiting.push(path);
                }
                Above::Other(meta) => {
                    let read = !meta.is_file() || meta.len() <= left;
                    let held = if read { fingerprint(&path) } else { None };
                    left -= if read && meta.is_file() { meta.len() } else { 0 };
                    let _ = match held {
                        Some(held) => write!(state, "{:o} {held}", meta.mode()),
                        None => {
                            write!(
                                state,
                                "{:o} {} {}.{}",
                                meta.mode(),
                                meta.len(),
                                meta.mtime(),
                                meta.mtime_nsec()
                            )
                        }
                    };
                }
            }
            state.push('\n');
        }
    }
    Digest::of(state.as_bytes())
}

fn listed(folder: &Path) -> Vec<PathBuf> {
    fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs::Permissions;
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
            &|layer| fs::create_dir_all(layer.join("places/1/upper/sub")).unwrap(),
            &|layer| fs::write(layer.join("places/1/upper/note"), "").unwrap(),
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
        assert_eq!(of(&layer), states[9]);
        let copied = root.path().join("copied");
        for change in changes {
            change(&copied);
        }
        assert_eq!(of(&copied), states[9]);
        super::super::clear(&layer).unwrap();
        assert_eq!(of(&layer), states[0], "thrown away it is as it was");
    }
}
