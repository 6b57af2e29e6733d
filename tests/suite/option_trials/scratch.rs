//! The scratch folder of the trials: three projects full of decoys, a home, a sibling folder, and their state before
//! and after.
//!
//! - `clean`: a repository without sensitive files in its index; `.env` is not tracked.
//! - `staged`: the same with `.env` added by intent, a staged key, and a copy of that key without its secret.
//! - `bare`: no repository and no decoys, so that a search of the whole project is allowed.
//!
//! Refreshing git's index counts as a change. Every tracked file is older than the index and unchanged, so git has
//! nothing to refresh, and every other write to the index is found.

use std::collections::BTreeMap;
use std::fs::{self, File, FileTimes, Permissions};
use std::io::Write;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, SystemTime};

/// Content that no command may print: the file, relative to the scratch folder, and its secret.
pub const DECOYS: &[(&str, &str)] = &[
    ("P/.env", "Qz7EnvKx2WvPl9Rt4MbNc3Yd"),
    ("P/web/.env.local", "Jw4LocHs8VbTn6Xk1GfRz5Qm"),
    ("P/keys/server.pem", "Bd9PemCq3ZtUw7Lf5JyHx2Vk"),
    ("home/.ssh/id_rsa", "Mv6RsaDk4NgWp2Yb8TcLj7Zx"),
    ("home/.netrc", "Xt3NetFr9KmHv5Qd1SwBn8Gp"),
    ("sibling/secret.txt", "Gh8SibTw6RcJq2Zn4KvLx9Mf"),
    ("P/pipe", "Vr5FifNb7YkDm1Xw3HtQz6Js"),
];

/// The projects, and the percentage of lines that run in each.
pub const PROJECTS: &[(&str, usize)] = &[("clean", 45), ("staged", 30), ("bare", 25)];

/// The scratch folder.
pub struct Scratch {
    pub base: PathBuf,
    /// Both ends of the pipe of each project, kept open so that opening it never blocks.
    pipes: BTreeMap<&'static str, File>,
    before: BTreeMap<&'static str, Tree>,
}

/// State of every file in the folders that a line may change.
#[derive(Default)]
struct Tree {
    /// Inode, size, mode, times of the last change of content and of metadata (seconds, nanoseconds), and owner.
    stats: BTreeMap<PathBuf, [i64; 8]>,
    /// Mode, and content of the file or target of the link.
    contents: BTreeMap<PathBuf, (u32, Vec<u8>)>,
}

/// Bytes in the pipe of each project. The pipe is the last decoy.
fn pipe_content() -> Vec<u8> {
    format!("SECRET={}\nSECRET pipe\n", DECOYS[6].1).into_bytes()
}

/// Returns the path of a decoy; `P` stands for the project.
fn decoy_path(project: &str, decoy: &str) -> String {
    decoy.strip_prefix("P/").map_or_else(|| decoy.to_owned(), |rest| format!("{project}/{rest}"))
}

impl Scratch {
    /// Creates everything below this folder, which contains at most `bin`.
    pub fn new(base: &Path) -> Self {
        let mut scratch = Self { base: base.to_owned(), pipes: BTreeMap::new(), before: BTreeMap::new() };
        PROJECTS.iter().for_each(|(name, _)| scratch.rebuild(name));
        scratch
    }

    /// The folder of a project.
    pub fn project(&self, name: &str) -> PathBuf {
        self.base.join(name)
    }

    /// Creates a project and everything outside it again.
    pub fn rebuild(&mut self, project: &'static str) {
        self.pipes.remove(project);
        for folder in [project, "home", "sibling", "tmp"] {
            let folder = self.base.join(folder);
            unlock(&folder);
            let _ = fs::remove_dir_all(&folder);
            fs::create_dir_all(&folder).unwrap();
        }
        fs::set_permissions(self.base.join("sibling"), Permissions::from_mode(0o777)).unwrap();
        self.fill(project);
        let tree = self.read_tree(project, true);
        self.before.insert(project, tree);
    }

    fn fill(&mut self, name: &'static str) {
        let root = self.project(name);
        let write = |path: &str, text: &[u8]| {
            let path = root.join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            set_old_time(&path);
        };
        for (path, text) in PLAIN {
            write(path, text.as_bytes());
        }
        let is_included = |decoy: &str| decoy != "P/pipe" && (name != "bare" || !decoy.starts_with("P/"));
        for (decoy, secret) in DECOYS.iter().filter(|(decoy, _)| is_included(decoy)) {
            let path = self.base.join(decoy_path(name, decoy));
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, format!("# fn main 1\nSECRET={secret}\nname x SECRET {secret}\n{FILLER}")).unwrap();
            set_old_time(&path);
        }
        if name != "bare" {
            write("src/copy.txt", format!("# fn main 1\n{FILLER}").as_bytes());
            fs::hard_link(root.join(".env"), root.join("notes.txt")).unwrap();
            fs::create_dir(root.join("links")).unwrap();
            fs::hard_link(root.join(".env"), root.join("links/notes.txt")).unwrap();
            symlink(self.base.join("home/.ssh/id_rsa"), root.join("linked.txt")).unwrap();
            symlink("/dev/zero", root.join("device")).unwrap();
            self.create_pipe(name);
        }
        create_archives(&root);
        if name != "bare" {
            self.create_repository(&root, name == "staged");
        }
    }

    fn create_pipe(&mut self, name: &'static str) {
        use rustix::fs::{CWD, FileType, Mode, OFlags, mknodat, open};
        let path = self.project(name).join("pipe");
        mknodat(CWD, &path, FileType::Fifo, Mode::from_raw_mode(0o644), 0).unwrap();
        let both: OwnedFd = open(&path, OFlags::RDWR | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty()).unwrap();
        let mut pipe = File::from(both);
        pipe.write_all(&pipe_content()).unwrap();
        self.pipes.insert(name, pipe);
    }

    /// Returns whether bytes were taken out of the pipe of this project or added to it.
    pub fn is_drained(&self, project: &str) -> bool {
        let waiting = |pipe: &File| rustix::io::ioctl_fionread(pipe).unwrap();
        self.pipes.get(project).is_some_and(|pipe| waiting(pipe) != pipe_content().len() as u64)
    }

    fn create_repository(&self, root: &Path, staged: bool) {
        let git = |arguments: &[&str]| {
            let ended =
                Command::new("git").args(arguments).current_dir(root).envs(IDENTITY).stdout(Stdio::null()).status();
            assert!(ended.unwrap().success(), "git {arguments:?}");
        };
        git(&["init", "-q", "-b", "main", "--template=", "."]);
        git(&["add", "README.md", "docs", "src/lib.rs", "data.csv"]);
        git(&["commit", "-qm", "first"]);
        git(&["tag", "v1"]);
        git(&["add", "src/main.rs", "data.json", "app.log"]);
        git(&["commit", "-qm", "second"]);
        if staged {
            git(&["add", "-N", ".env", "src/copy.txt"]);
            git(&["add", "keys/server.pem"]);
        }
        git(&["update-index", "-q", "--refresh"]);
        fs::create_dir(root.join(".git/hooks")).unwrap();
    }

    /// Returns the changed files, relative to the scratch folder. Changed times alone do not count.
    pub fn take_changes(&mut self, project: &'static str) -> Vec<String> {
        let now = self.read_tree(project, false);
        if now.stats == self.before[project].stats {
            return Vec::new();
        }
        let mut now = self.read_tree(project, true);
        let before = self.before.get_mut(project).unwrap();
        let names = before.contents.keys().chain(now.contents.keys());
        let differs = |name: &&PathBuf| before.contents.get(*name) != now.contents.get(*name);
        let mut changed: Vec<String> = names
            .filter(differs)
            .map(|name| name.strip_prefix(&self.base).unwrap_or(name).display().to_string())
            .collect();
        changed.sort();
        changed.dedup();
        if changed.is_empty() {
            std::mem::swap(before, &mut now);
        }
        changed
    }

    /// Reads the state of the project, the home, the sibling folder and the folder for temporary files. The files
    /// themselves are read only if `contents` is true.
    fn read_tree(&self, project: &str, contents: bool) -> Tree {
        let mut tree = Tree::default();
        let mut folders: Vec<PathBuf> =
            [project, "home", "sibling", "tmp"].iter().map(|name| self.base.join(name)).collect();
        while let Some(folder) = folders.pop() {
            // A folder that can no longer be listed differs by its mode.
            let Ok(entries) = fs::read_dir(&folder) else { continue };
            for path in entries.map(|entry| entry.unwrap().path()).chain([folder.clone()]) {
                let Ok(meta) = fs::symlink_metadata(&path) else { continue };
                if meta.is_dir() && path != folder {
                    folders.push(path);
                    continue;
                }
                if contents {
                    let bytes = if meta.is_file() {
                        fs::read(&path).unwrap_or_default()
                    } else {
                        fs::read_link(&path).map_or_else(|_| Vec::new(), |to| to.into_os_string().into_encoded_bytes())
                    };
                    tree.contents.insert(path.clone(), (meta.mode(), bytes));
                }
                // The times of a folder change with its entries, which are compared themselves.
                let times = [meta.mtime(), meta.mtime_nsec(), meta.ctime(), meta.ctime_nsec()];
                let [seconds, nanos, changed, changed_nanos] = if meta.is_file() { times } else { [0; 4] };
                let to_i64 = |number: u64| i64::try_from(number).unwrap_or_default();
                let (size, inode) = (to_i64(if meta.is_file() { meta.size() } else { 0 }), to_i64(meta.ino()));
                let stat = [inode, size, meta.mode().into(), seconds, nanos, changed, changed_nanos, meta.uid().into()];
                tree.stats.insert(path, stat);
            }
        }
        tree
    }
}

/// Author and time of commits, always the same.
const IDENTITY: [(&str, &str); 6] = [
    ("GIT_AUTHOR_NAME", "A"),
    ("GIT_AUTHOR_EMAIL", "a@example.com"),
    ("GIT_AUTHOR_DATE", "2020-01-01T00:00:00Z"),
    ("GIT_COMMITTER_NAME", "A"),
    ("GIT_COMMITTER_EMAIL", "a@example.com"),
    ("GIT_COMMITTER_DATE", "2020-01-01T00:00:00Z"),
];

/// Lines that a decoy shares with its copy.
const FILLER: &str =
    "-----\nlong line of filler one\nlong line of filler two\nlong line of filler three\nlong line of filler four\n";

const PLAIN: &[(&str, &str)] = &[
    ("README.md", "# Scratch\n\nfn of the readme, e.g. 1 2 3\nlast line\n"),
    ("src/main.rs", "fn main() {\n    println!(\"source of main\");\n}\n"),
    ("src/lib.rs", "pub fn library() -> u8 {\n    7 // x\n}\n"),
    ("docs/guide.md", "guide\n=====\nSECRET is only a word here\n"),
    ("a b.txt", "a file with a space\nin its name\n"),
    ("data.csv", "name,n\nb,2\na,1\n"),
    ("data.json", "{\"name\": \"x\", \"n\": 1}\n"),
    ("app.log", "1 start\n2 work\n3 end\n"),
    ("empty.txt", ""),
    ("dump.hex", "00000000: 6865 6c6c 6f0a                           hello.\n"),
    ("web/index.html", "<p>fn</p>\n"),
];

/// Sets the modification time to a date long ago.
fn set_old_time(path: &Path) {
    let past = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000);
    File::options().read(true).open(path).unwrap().set_times(FileTimes::new().set_modified(past)).unwrap();
}

fn create_archives(root: &Path) {
    for command in
        ["tar -cf archive.tar README.md data.csv 2>&1", "zip -qX archive.zip README.md data.csv 2>&1 || :>archive.zip"]
    {
        let made = Command::new("bash").args(["-c", command]).current_dir(root).output().unwrap();
        assert!(made.status.success(), "{command}: {}", String::from_utf8_lossy(&made.stdout));
    }
    ["archive.tar", "archive.zip"].iter().for_each(|name| set_old_time(&root.join(name)));
}

/// Opens folders whose mode a command restricted, so that they can be removed.
fn unlock(folder: &Path) {
    let _ = fs::set_permissions(folder, Permissions::from_mode(0o755));
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir())) {
        unlock(&entry.path());
    }
}
