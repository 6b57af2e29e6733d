//! What the project held at each path when the layer first changed it, kept beside the layer: what tells a conflict.

use super::change::{Node, node};
use super::layer::{self, Above};
use super::{ROOT, Rehearsal};
use crate::chat::Digest;
use crate::project::Reader;
use serde::{Deserialize, Serialize};
use std::collections::{HashMap, HashSet};
use std::fs::{self, Metadata};
use std::io::{self, Write};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{MutexGuard, PoisonError};

/// The file's name, beside `upper`.
const FILE: &str = "origins";

/// What stood at a path, as far as it is kept to tell whether it is another by now.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fingerprint {
    /// The hash of a file's bytes, or of where a link leads; of what is not read whole, of its size and time.
    pub held: Option<Digest>,
    /// What it was. An older version kept none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    kind: Option<Kind>,
    /// The permissions of a file or folder. An older version kept none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mode: Option<u32>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Nothing,
    File,
    Folder,
    Link,
    Other,
    /// It had changed before it could be noted.
    Unknown,
}

/// One line of the file.
#[derive(Serialize, Deserialize)]
struct Line {
    /// The bytes of the path: it may be no Unicode.
    path: Vec<u8>,
    #[serde(flatten)]
    held: Fingerprint,
}

impl Fingerprint {
    /// Of this.
    pub fn of(node: &Node) -> Self {
        let (kind, mode, held) = match node {
            Node::Nothing => (Kind::Nothing, None, None),
            Node::Folder { mode } => (Kind::Folder, Some(*mode), None),
            Node::File { bytes, mode } => (Kind::File, Some(*mode), Some(Digest::of(bytes))),
            Node::Link(to) => (Kind::Link, None, Some(Digest::of(to.as_os_str().as_bytes()))),
            Node::Other(words) => (Kind::Other, None, Some(Digest::of(words.as_bytes()))),
        };
        Self { held, kind: Some(kind), mode }
    }

    /// Of something of which an older version kept the hash alone.
    pub fn of_hash(held: Option<Digest>) -> Self {
        Self { held, ..Self::default() }
    }

    /// Of what stands at a path of the disk, where this was found.
    fn on_disk(path: &Path, node: &Node) -> Self {
        let print = Self::of(node);
        match node {
            Node::Other(words) => {
                let time = path.symlink_metadata().map(|meta| (meta.mtime(), meta.mtime_nsec()));
                let (seconds, part) = time.unwrap_or_default();
                Self { held: Some(Digest::of(format!("{words} {seconds} {part}").as_bytes())), ..print }
            }
            Node::Nothing | Node::Folder { .. } | Node::File { .. } | Node::Link(_) => print,
        }
    }

    /// Whether what stands there now is the same, as far as this says.
    pub fn is(&self, now: &Self) -> bool {
        self.held == now.held
            && (self.kind.is_none() || self.kind == now.kind)
            && (self.mode.is_none() || self.mode == now.mode)
    }

    /// Whether it says that there was nothing.
    pub fn is_nothing(&self) -> bool {
        self.kind == Some(Kind::Nothing)
    }

    /// The hash of the bytes of a file; `None` if it was anything else.
    pub fn file(&self) -> Option<&Digest> {
        self.held.as_ref().filter(|_| self.kind == Some(Kind::File))
    }

    /// Whether it says that there was a folder.
    pub fn is_folder(&self) -> bool {
        self.kind == Some(Kind::Folder)
    }
}

impl Rehearsal {
    /// What the project held at this path when the layer first changed it; `None` where it was not noted.
    pub fn origin(&self, path: &Path) -> Option<Fingerprint> {
        let mut known = self.known();
        known.get_or_insert_with(|| read(&self.layer)).get(path).cloned()
    }

    /// What the project really holds at a path.
    pub fn print(&self, path: &Path) -> Fingerprint {
        Fingerprint::on_disk(&self.root().join(path), &self.real(path))
    }

    /// What the project really holds at a path; no link on the way is followed.
    pub fn real(&self, path: &Path) -> Node {
        if path == Path::new(ROOT) {
            return node(self.root());
        }
        let there = path.parent().is_some_and(|folder| self.has_folder(folder));
        if there { node(&self.root().join(path)) } else { Node::Nothing }
    }

    /// Whether the project really holds a folder at a path, and no link leads there.
    pub fn has_folder(&self, path: &Path) -> bool {
        #[cfg(target_os = "linux")]
        {
            use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat2};
            use rustix::io::Errno;
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let top = rustix::fs::openat(CWD, self.root(), flags, Mode::empty());
            let path = if path.as_os_str().is_empty() { Path::new(ROOT) } else { path };
            // One system call walks the whole way.
            match top.and_then(|top| openat2(top, path, flags, Mode::empty(), ResolveFlags::NO_SYMLINKS)) {
                Ok(_) => return true,
                Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP | Errno::ACCESS | Errno::NAMETOOLONG) => {
                    return false;
                }
                // Older kernels and some sandboxes do not have it.
                Err(_) => {}
            }
        }
        let mut way = path.ancestors().filter(|folder| !folder.as_os_str().is_empty());
        way.all(|folder| self.root().join(folder).symlink_metadata().is_ok_and(|meta| meta.is_dir()))
    }

    /// What was read or noted so far; forgotten where the layer was thrown away since.
    fn known(&self) -> MutexGuard<'_, Option<HashMap<PathBuf, Fingerprint>>> {
        let mut known = self.origins.lock().unwrap_or_else(PoisonError::into_inner);
        known.take_if(|_| !self.layer.join(FILE).exists());
        known
    }

    /// Notes what the project holds at every path that the layer changed and that was not noted yet. To be called
    /// whenever something else than this program may have written in the layer. What became another in the project since
    /// the layer changed it cannot be known any more, and is a conflict.
    pub fn note_origins(&self) -> io::Result<()> {
        let touched = self.said_of().map_err(io::Error::other)?;
        self.note_touched(&touched, &self.upper)
    }

    /// The same for what a command changed that wrote in this folder, which is not merged yet.
    pub(super) fn note_in(&self, fresh: &Path) -> io::Result<()> {
        let touched = self.said_in(fresh).map_err(io::Error::other)?;
        self.note_touched(&touched, fresh)
    }

    fn note_touched(&self, touched: &HashSet<PathBuf>, upper: &Path) -> io::Result<()> {
        let print = |path: &Path| match self.is_late(path, upper) {
            true => Fingerprint { kind: Some(Kind::Unknown), ..Fingerprint::default() },
            false => self.print(path),
        };
        self.note_where(touched.iter().map(PathBuf::as_path), |_| false, print)
    }

    /// Notes what the project holds at these paths, which are about to be changed. What was noted before counts only where
    /// the layer still has something to say: a write that failed, or was taken back, changed nothing.
    pub(super) fn note_anew<'a>(&self, paths: impl Iterator<Item = &'a Path>) -> io::Result<()> {
        self.note_where(paths, |path| self.says_nothing(path), |path| self.print(path))
    }

    /// Forgets what was noted of paths of which the layer has nothing to say: the change that it was noted for was not made.
    pub(super) fn forget<'a>(&self, paths: impl Iterator<Item = &'a Path>) {
        let mut known = self.known();
        let known = known.get_or_insert_with(|| read(&self.layer));
        paths.filter(|path| self.says_nothing(path)).for_each(|path| drop(known.remove(path)));
    }

    /// Whether what the project holds there is what is seen.
    fn says_nothing(&self, path: &Path) -> bool {
        self.spot(path).is_ok_and(|spot| spot.above.is_none() && spot.below)
    }

    /// Notes each path that was not noted yet, and each that is noted anew.
    fn note_where<'a>(
        &self,
        paths: impl Iterator<Item = &'a Path>,
        anew: impl Fn(&Path) -> bool,
        print: impl Fn(&Path) -> Fingerprint,
    ) -> io::Result<()> {
        let mut known = self.known();
        let known = known.get_or_insert_with(|| read(&self.layer));
        let (mut lines, mut fresh) = (Vec::new(), Vec::new());
        for path in paths {
            let before = known.get(path);
            if before.is_some() && !anew(path) {
                continue;
            }
            let held = print(path);
            if before == Some(&held) {
                continue;
            }
            // One that was cut short by a full disk ends here.
            lines.push(b'\n');
            let line = Line { path: path.as_os_str().as_bytes().to_vec(), held: held.clone() };
            serde_json::to_writer(&mut lines, &line)?;
            fresh.push((path.to_owned(), held));
        }
        if fresh.is_empty() {
            return Ok(());
        }
        lines.push(b'\n');
        fs::create_dir_all(&self.layer)?;
        let mut file = fs::OpenOptions::new().create(true).append(true).open(self.layer.join(FILE))?;
        file.write_all(&lines)?;
        known.extend(fresh);
        Ok(())
    }

    /// Whether the project's own changed after the layer did in its folder `upper`. The layer's entry, or that of the nearest folder which it has,
    /// is as old as what it says; a folder that both have is as old as the last change in it.
    fn is_late(&self, path: &Path, upper: &Path) -> bool {
        let Ok(real) = self.root().join(path).symlink_metadata() else { return false };
        let upper = |path: &Path| upper.join(path);
        if real.is_dir()
            && matches!(layer::look(&upper(path)), Ok(Above::Folder { hides, .. }) if !matches!(hides, Ok(true)))
        {
            return false;
        }
        let said = path.ancestors().find_map(|path| upper(path).symlink_metadata().ok());
        let changed = |meta: &Metadata| (meta.ctime(), meta.ctime_nsec());
        said.is_some_and(|said| changed(&real) > changed(&said))
    }
}

/// Reads the file; a line that was cut short is left out, and of two for a path the last one counts.
fn read(folder: &Path) -> HashMap<PathBuf, Fingerprint> {
    let bytes = fs::read(folder.join(FILE)).unwrap_or_default();
    let lines =
        bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice::<Line>(line).ok());
    let mut known = HashMap::new();
    for line in lines {
        known.insert(PathBuf::from(std::ffi::OsString::from_vec(line.path)), line.held);
    }
    known
}
