//! Random trees of files, links and folders: created on disk, read from disk, and written as an overlay like the kernel
//! does.

use crate::project::patch::git_names::current_umask;
use proptest::collection::vec;
use proptest::prelude::*;
use rustix::fs::{CWD, FileType, XattrFlags, lsetxattr, mknodat};
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};

/// Entries by path; a folder comes before its entries.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Tree(pub BTreeMap<PathBuf, TreeEntry>);

#[derive(Clone, PartialEq, Eq)]
pub enum TreeEntry {
    /// A folder and its mode.
    Folder(u32),
    /// The content of a file, and its mode.
    File(Vec<u8>, u32),
    /// A link and its target.
    Link(PathBuf),
    Pipe,
}

impl TreeEntry {
    /// Creates a file with the default mode.
    pub fn new_file(bytes: &[u8]) -> Self {
        Self::File(bytes.to_vec(), 0o666 & !current_umask())
    }

    pub fn new_program(bytes: &[u8]) -> Self {
        Self::File(bytes.to_vec(), 0o777 & !current_umask())
    }

    fn new_folder() -> Self {
        Self::Folder(0o777 & !current_umask())
    }
}

impl std::fmt::Debug for Tree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(&self.0).finish()
    }
}

impl std::fmt::Debug for TreeEntry {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Folder(mode) => write!(f, "folder {mode:o}"),
            Self::File(bytes, mode) => {
                let preview = bytes[..bytes.len().min(60)].escape_ascii();
                write!(f, "file {mode:o} {} \"{preview}\"", bytes.len())
            }
            Self::Link(target) => write!(f, "link {target:?}"),
            Self::Pipe => write!(f, "pipe"),
        }
    }
}

impl Tree {
    /// Puts an entry at a path and replaces everything in its way.
    pub fn put_entry(&mut self, path: &Path, kind: TreeEntry) {
        for folder in path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()) {
            if !matches!(self.0.get(folder), Some(TreeEntry::Folder(_))) {
                self.0.insert(folder.to_owned(), TreeEntry::new_folder());
            }
        }
        self.remove_path(path);
        self.0.insert(path.to_owned(), kind);
    }

    fn remove_path(&mut self, path: &Path) {
        self.0.retain(|other, _| !other.starts_with(path));
    }

    fn apply_step(&mut self, change: &TreeStep) {
        match change {
            TreeStep::Put(path, kind) => self.put_entry(path, kind.clone()),
            TreeStep::Remove(path) => self.remove_path(path),
            TreeStep::Move(source, target) if !target.starts_with(source) && !source.starts_with(target) => {
                let moved: Vec<(PathBuf, TreeEntry)> = self
                    .0
                    .iter()
                    .filter(|(path, _)| path.starts_with(source))
                    .map(|(path, kind)| (path.clone(), kind.clone()))
                    .collect();
                self.remove_path(source);
                for (path, kind) in moved {
                    let relative = path.strip_prefix(source).unwrap();
                    let new_path = if relative.as_os_str().is_empty() { target.clone() } else { target.join(relative) };
                    self.put_entry(&new_path, kind);
                }
            }
            TreeStep::Move(_, _) => {}
            TreeStep::Mode(path, new_mode) => match self.0.get_mut(path) {
                Some(TreeEntry::File(_, mode)) => *mode = *new_mode & !current_umask(),
                Some(TreeEntry::Folder(mode)) => *mode = (*new_mode | 0o700) & !current_umask(),
                Some(TreeEntry::Link(_) | TreeEntry::Pipe) | None => {}
            },
        }
    }

    /// Returns whether git can represent the path: it is absent, a link, or a file with a default mode, and all folders
    /// above it have the default mode or are absent.
    pub fn is_plain(&self, path: &Path) -> bool {
        let has_default_folders = path.ancestors().skip(1).all(|folder| {
            folder.as_os_str().is_empty()
                || match self.0.get(folder) {
                    None => true,
                    Some(TreeEntry::Folder(mode)) => *mode == 0o777 & !current_umask(),
                    Some(_) => false,
                }
        });
        let default_modes = [0o666, 0o777].map(|mode| mode & !current_umask());
        has_default_folders
            && match self.0.get(path) {
                None | Some(TreeEntry::Link(_)) => true,
                Some(TreeEntry::File(_, mode)) => default_modes.contains(mode),
                Some(TreeEntry::Folder(_) | TreeEntry::Pipe) => false,
            }
    }

    /// Creates the tree on disk.
    pub fn create_on_disk(&self, root: &Path) {
        fs::create_dir_all(root).unwrap();
        self.0.iter().for_each(|(path, kind)| create_entry(&root.join(path), kind));
    }

    /// Reads a tree from disk, without its `.git`.
    pub fn read_from_disk(root: &Path) -> Self {
        let (mut tree, mut folders) = (Self::default(), vec![PathBuf::new()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(root.join(&folder)).unwrap().flatten() {
                let (path, meta) = (folder.join(entry.file_name()), entry.metadata().unwrap());
                let mode = meta.permissions().mode() & 0o7777;
                let kind = match meta.file_type() {
                    _ if path == Path::new(".git") => continue,
                    kind if kind.is_dir() => TreeEntry::Folder(mode),
                    kind if kind.is_symlink() => TreeEntry::Link(fs::read_link(root.join(&path)).unwrap()),
                    kind if kind.is_fifo() => TreeEntry::Pipe,
                    _ => TreeEntry::File(fs::read(root.join(&path)).unwrap(), mode),
                };
                if matches!(kind, TreeEntry::Folder(_)) {
                    folders.push(path.clone());
                }
                tree.0.insert(path, kind);
            }
        }
        tree
    }

    /// Fills an empty upper folder so that it shows this tree over `before`. The bits of `seed` choose between
    /// equivalent forms of the kernel's overlay.
    pub fn write_as_overlay(&self, before: &Self, upper: &Path, mut seed: u64) {
        let mut is_chosen = || {
            seed = seed.rotate_left(1);
            seed & 1 == 1
        };
        // Folders whose whole content is in the upper folder.
        let mut opaque_folders: Vec<PathBuf> = Vec::new();
        for (path, kind) in &self.0 {
            let upper_path = upper.join(path);
            let is_in_opaque = opaque_folders.iter().any(|folder| path.starts_with(folder));
            let old = before.0.get(path);
            match (old, kind) {
                (Some(TreeEntry::Folder(_)), TreeEntry::Folder(_)) if !is_in_opaque => {
                    // Both trees have this folder. The overlay either shows the old entries in it or hides them.
                    create_entry(&upper_path, kind);
                    if is_chosen() {
                        lsetxattr(&upper_path, "user.overlay.opaque", b"y", XattrFlags::empty()).unwrap();
                        opaque_folders.push(path.clone());
                    }
                }
                (old, kind) if !is_in_opaque && old == Some(kind) && !is_chosen() => {}
                (old, kind) => {
                    create_entry(&upper_path, kind);
                    if matches!(kind, TreeEntry::Folder(_)) && (old.is_some() || is_chosen()) && !is_in_opaque {
                        lsetxattr(&upper_path, "user.overlay.opaque", b"y", XattrFlags::empty()).unwrap();
                        opaque_folders.push(path.clone());
                    }
                }
            }
        }
        for path in before.0.keys().filter(|path| !self.0.contains_key(*path)) {
            let parent = path.parent().unwrap();
            let is_hidden = opaque_folders.iter().any(|folder| path.starts_with(folder));
            let has_folder = parent.as_os_str().is_empty() || matches!(self.0.get(parent), Some(TreeEntry::Folder(_)));
            if has_folder && !is_hidden {
                mknodat(CWD, upper.join(path), FileType::CharacterDevice, 0o600.into(), 0).unwrap();
            }
        }
    }
}

fn create_entry(path: &Path, kind: &TreeEntry) {
    let set_mode = |mode: u32| fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    match kind {
        TreeEntry::Folder(mode) => {
            fs::create_dir(path).unwrap();
            set_mode(*mode);
        }
        TreeEntry::File(bytes, mode) => {
            fs::write(path, bytes).unwrap();
            set_mode(*mode);
        }
        TreeEntry::Link(target) => symlink(target, path).unwrap(),
        TreeEntry::Pipe => mknodat(CWD, path, FileType::Fifo, 0o600.into(), 0).unwrap(),
    }
}

#[derive(Debug, Clone)]
enum TreeStep {
    Put(PathBuf, TreeEntry),
    Remove(PathBuf),
    /// Moves the first path to the second.
    Move(PathBuf, PathBuf),
    /// Sets the mode of a file or folder.
    Mode(PathBuf, u32),
}

/// Generates two trees; the second is derived from the first by a few steps.
pub fn tree_pairs() -> impl Strategy<Value = (Tree, Tree)> {
    let step = prop_oneof![
        4 => (any_path(), any_entry()).prop_map(|(path, kind)| TreeStep::Put(path, kind)),
        2 => any_path().prop_map(TreeStep::Remove),
        2 => (any_path(), any_path()).prop_map(|(from, to)| TreeStep::Move(from, to)),
        1 => (any_path(), prop_oneof![Just(0o777), Just(0o666), Just(0o640), Just(0o755)]).prop_map(|(path, mode)| TreeStep::Mode(path, mode)),
    ];
    (vec((any_path(), any_entry()), 0..10), vec(step, 0..8)).prop_map(|(entries, steps)| {
        let mut before = Tree::default();
        entries.into_iter().for_each(|(path, kind)| before.put_entry(&path, kind));
        let mut after = before.clone();
        steps.iter().for_each(|step| after.apply_step(step));
        (before, after)
    })
}

fn any_path() -> impl Strategy<Value = PathBuf> {
    // Few names, so that steps affect the same paths.
    let names: &[&[u8]] = &[
        b"a",
        b"b",
        b"a",
        b"b",
        b"c d",
        b" ",
        b"tab\t",
        b"line\nend",
        b"\"quote\\",
        b"caf\xc3\xa9",
        b"\xff\xfe",
        b"-x",
        b"#",
        b"a\r",
    ];
    vec(proptest::sample::select(names), 1..4).prop_map(|parts| parts.into_iter().map(OsStr::from_bytes).collect())
}

fn any_entry() -> impl Strategy<Value = TreeEntry> {
    let bytes = || {
        const LINES: [&str; 10] =
            ["", "one\n", "two\n", "two\r\n", "a\rb\n", "\n", " \n", "-x\n", "@@ -1 +1 @@\n", "diff --git a/a b/a\n"];
        prop_oneof![
            3 => (vec(proptest::sample::select(&LINES[..]), 0..12), "[a-z\r]{0,3}").prop_map(|(lines, end)| [lines.concat(), end].concat().into_bytes()),
            1 => vec(any::<u8>(), 0..200),
            1 => Just(vec![0; 70_000]),
            1 => vec(128..255u8, 0..20),
        ]
    };
    let link =
        prop_oneof![Just(b"a".to_vec()), Just(b"../b\n".to_vec()), Just(b"\xff none".to_vec()), Just(b".".to_vec())];
    prop_oneof![
        6 => bytes().prop_map(|bytes| TreeEntry::new_file(&bytes)),
        2 => bytes().prop_map(|bytes| TreeEntry::new_program(&bytes)),
        1 => (bytes(), prop_oneof![Just(0o600), Just(0o4755), Just(0o444)]).prop_map(|(bytes, mode)| TreeEntry::File(bytes, mode)),
        2 => link.prop_map(|to| TreeEntry::Link(std::ffi::OsString::from_vec(to).into())),
        1 => Just(TreeEntry::new_folder()),
        1 => Just(TreeEntry::Folder(0o700)),
        1 => Just(TreeEntry::Pipe),
    ]
}
