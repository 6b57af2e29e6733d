//! Random trees of files, links and folders: created on disk, read from disk, and written as an overlay like the kernel
//! does.

use crate::project::patch::names::umask;
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
pub struct Tree(pub BTreeMap<PathBuf, Kind>);

#[derive(Clone, PartialEq, Eq)]
pub enum Kind {
    Folder(u32),
    File(Vec<u8>, u32),
    Link(PathBuf),
    Pipe,
}

impl Kind {
    /// Creates a file with the default mode.
    pub fn file(bytes: &[u8]) -> Self {
        Self::File(bytes.to_vec(), 0o666 & !umask())
    }

    pub fn program(bytes: &[u8]) -> Self {
        Self::File(bytes.to_vec(), 0o777 & !umask())
    }

    fn folder() -> Self {
        Self::Folder(0o777 & !umask())
    }
}

impl std::fmt::Debug for Tree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_map().entries(&self.0).finish()
    }
}

impl std::fmt::Debug for Kind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Folder(mode) => write!(f, "folder {mode:o}"),
            Self::File(bytes, mode) => {
                let shown = bytes[..bytes.len().min(60)].escape_ascii();
                write!(f, "file {mode:o} {} \"{shown}\"", bytes.len())
            }
            Self::Link(to) => write!(f, "link {to:?}"),
            Self::Pipe => write!(f, "pipe"),
        }
    }
}

impl Tree {
    /// Puts an entry at a path and replaces everything in its way.
    pub fn put(&mut self, path: &Path, kind: Kind) {
        for folder in path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty()) {
            if !matches!(self.0.get(folder), Some(Kind::Folder(_))) {
                self.0.insert(folder.to_owned(), Kind::folder());
            }
        }
        self.remove(path);
        self.0.insert(path.to_owned(), kind);
    }

    fn remove(&mut self, path: &Path) {
        self.0.retain(|other, _| !other.starts_with(path));
    }

    fn change(&mut self, change: &Step) {
        match change {
            Step::Put(path, kind) => self.put(path, kind.clone()),
            Step::Remove(path) => self.remove(path),
            Step::Move(from, to) if !to.starts_with(from) && !from.starts_with(to) => {
                let moved: Vec<(PathBuf, Kind)> = self
                    .0
                    .iter()
                    .filter(|(path, _)| path.starts_with(from))
                    .map(|(path, kind)| (path.clone(), kind.clone()))
                    .collect();
                self.remove(from);
                for (path, kind) in moved {
                    let below = path.strip_prefix(from).unwrap();
                    let at = if below.as_os_str().is_empty() { to.clone() } else { to.join(below) };
                    self.put(&at, kind);
                }
            }
            Step::Move(_, _) => {}
            Step::Mode(path, to) => match self.0.get_mut(path) {
                Some(Kind::File(_, mode)) => *mode = *to & !umask(),
                Some(Kind::Folder(mode)) => *mode = (*to | 0o700) & !umask(),
                Some(Kind::Link(_) | Kind::Pipe) | None => {}
            },
        }
    }

    /// Returns whether git can represent the path: absent, a file or a link, with a default mode, and only in folders.
    pub fn is_plain(&self, path: &Path) -> bool {
        let folders = path.ancestors().skip(1).all(|folder| {
            folder.as_os_str().is_empty()
                || match self.0.get(folder) {
                    None => true,
                    Some(Kind::Folder(mode)) => *mode == 0o777 & !umask(),
                    Some(_) => false,
                }
        });
        let usual = [0o666, 0o777].map(|mode| mode & !umask());
        folders
            && match self.0.get(path) {
                None | Some(Kind::Link(_)) => true,
                Some(Kind::File(_, mode)) => usual.contains(mode),
                Some(Kind::Folder(_) | Kind::Pipe) => false,
            }
    }

    /// Creates the tree on disk.
    pub fn make(&self, root: &Path) {
        fs::create_dir_all(root).unwrap();
        self.0.iter().for_each(|(path, kind)| make(&root.join(path), kind));
    }

    /// Reads a tree from disk, without its `.git`.
    pub fn read(root: &Path) -> Self {
        let (mut tree, mut folders) = (Self::default(), vec![PathBuf::new()]);
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(root.join(&folder)).unwrap().flatten() {
                let (path, meta) = (folder.join(entry.file_name()), entry.metadata().unwrap());
                let mode = meta.permissions().mode() & 0o7777;
                let kind = match meta.file_type() {
                    _ if path == Path::new(".git") => continue,
                    kind if kind.is_dir() => Kind::Folder(mode),
                    kind if kind.is_symlink() => Kind::Link(fs::read_link(root.join(&path)).unwrap()),
                    kind if kind.is_fifo() => Kind::Pipe,
                    _ => Kind::File(fs::read(root.join(&path)).unwrap(), mode),
                };
                if matches!(kind, Kind::Folder(_)) {
                    folders.push(path.clone());
                }
                tree.0.insert(path, kind);
            }
        }
        tree
    }

    /// Fills an empty upper folder so that it shows this tree over `before`. The bits of `seed` choose between
    /// equivalent forms of the kernel's overlay.
    pub fn lay_over(&self, before: &Self, upper: &Path, mut seed: u64) {
        let mut is_chosen = || {
            seed = seed.rotate_left(1);
            seed & 1 == 1
        };
        // Folders whose whole content is in the upper folder.
        let mut whole: Vec<PathBuf> = Vec::new();
        for (path, kind) in &self.0 {
            let at = upper.join(path);
            let is_whole = whole.iter().any(|folder| path.starts_with(folder));
            let was = before.0.get(path);
            match (was, kind) {
                (Some(Kind::Folder(_)), Kind::Folder(_)) if !is_whole => {
                    // A merged folder exists only because of its entries.
                    make(&at, kind);
                    if is_chosen() {
                        lsetxattr(&at, "user.overlay.opaque", b"y", XattrFlags::empty()).unwrap();
                        whole.push(path.clone());
                    }
                }
                (was, kind) if !is_whole && was == Some(kind) && !is_chosen() => {}
                (was, kind) => {
                    make(&at, kind);
                    if matches!(kind, Kind::Folder(_)) && (was.is_some() || is_chosen()) && !is_whole {
                        lsetxattr(&at, "user.overlay.opaque", b"y", XattrFlags::empty()).unwrap();
                        whole.push(path.clone());
                    }
                }
            }
        }
        for path in before.0.keys().filter(|path| !self.0.contains_key(*path)) {
            let parent = path.parent().unwrap();
            let is_hidden = whole.iter().any(|folder| path.starts_with(folder));
            let has_folder =
                parent.as_os_str().is_empty() || matches!(self.0.get(parent), Some(Kind::Folder(_)));
            if has_folder && !is_hidden {
                mknodat(CWD, upper.join(path), FileType::CharacterDevice, 0o600.into(), 0).unwrap();
            }
        }
    }
}

fn make(at: &Path, kind: &Kind) {
    let set = |mode: u32| fs::set_permissions(at, fs::Permissions::from_mode(mode)).unwrap();
    match kind {
        Kind::Folder(mode) => {
            fs::create_dir(at).unwrap();
            set(*mode);
        }
        Kind::File(bytes, mode) => {
            fs::write(at, bytes).unwrap();
            set(*mode);
        }
        Kind::Link(to) => symlink(to, at).unwrap(),
        Kind::Pipe => mknodat(CWD, at, FileType::Fifo, 0o600.into(), 0).unwrap(),
    }
}

#[derive(Debug, Clone)]
enum Step {
    Put(PathBuf, Kind),
    Remove(PathBuf),
    Move(PathBuf, PathBuf),
    Mode(PathBuf, u32),
}

/// Generates two trees; the second is derived from the first by a few steps.
pub fn trees() -> impl Strategy<Value = (Tree, Tree)> {
    let step = prop_oneof![
        4 => (path(), kind()).prop_map(|(path, kind)| Step::Put(path, kind)),
        2 => path().prop_map(Step::Remove),
        2 => (path(), path()).prop_map(|(from, to)| Step::Move(from, to)),
        1 => (path(), prop_oneof![Just(0o777), Just(0o666), Just(0o640), Just(0o755)]).prop_map(|(path, mode)| Step::Mode(path, mode)),
    ];
    (vec((path(), kind()), 0..10), vec(step, 0..8)).prop_map(|(all, steps)| {
        let mut before = Tree::default();
        all.into_iter().for_each(|(path, kind)| before.put(&path, kind));
        let mut after = before.clone();
        steps.iter().for_each(|step| after.change(step));
        (before, after)
    })
}

fn path() -> impl Strategy<Value = PathBuf> {
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
    vec(proptest::sample::select(names), 1..4)
        .prop_map(|parts| parts.into_iter().map(OsStr::from_bytes).collect())
}

fn kind() -> impl Strategy<Value = Kind> {
    let bytes = || {
        const LINES: [&str; 10] = [
            "",
            "one\n",
            "two\n",
            "two\r\n",
            "a\rb\n",
            "\n",
            " \n",
            "-x\n",
            "@@ -1 +1 @@\n",
            "diff --git a/a b/a\n",
        ];
        prop_oneof![
            3 => (vec(proptest::sample::select(&LINES[..]), 0..12), "[a-z\r]{0,3}").prop_map(|(lines, end)| [lines.concat(), end].concat().into_bytes()),
            1 => vec(any::<u8>(), 0..200),
            1 => Just(vec![0; 70_000]),
            1 => vec(128..255u8, 0..20),
        ]
    };
    let link = prop_oneof![
        Just(b"a".to_vec()),
        Just(b"../b\n".to_vec()),
        Just(b"\xff none".to_vec()),
        Just(b".".to_vec())
    ];
    prop_oneof![
        6 => bytes().prop_map(|bytes| Kind::file(&bytes)),
        2 => bytes().prop_map(|bytes| Kind::program(&bytes)),
        1 => (bytes(), prop_oneof![Just(0o600), Just(0o4755), Just(0o444)]).prop_map(|(bytes, mode)| Kind::File(bytes, mode)),
        2 => link.prop_map(|to| Kind::Link(std::ffi::OsString::from_vec(to).into())),
        1 => Just(Kind::folder()),
        1 => Just(Kind::Folder(0o700)),
        1 => Just(Kind::Pipe),
    ]
}
