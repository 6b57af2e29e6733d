//! Random commands over the kernel's overlay: after merging, the result is the same as in a plain copy, wherever the
//! merge was interrupted.

use super::super::pending::{MERGING, PENDING};
use super::super::{Rehearsal, UPPER, prepare};
use super::journal::JOURNAL;
use super::*;
use crate::project::disk::Disk;
use crate::project::ordinary;
use std::cell::Cell;
use std::io::{ErrorKind, Write};
use std::process::Command;
use std::sync::Arc;

thread_local! {
    /// Number of steps until the merge is interrupted.
    static STEPS: Cell<usize> = const { Cell::new(usize::MAX) };
}

pub(super) fn step() -> io::Result<()> {
    match STEPS.get().checked_sub(1) {
        None => Err(ErrorKind::Interrupted.into()),
        Some(left) => {
            STEPS.set(left);
            Ok(())
        }
    }
}

/// Deterministic random numbers for a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % most
    }

    fn path(&mut self) -> String {
        let names: Vec<&str> = (0..=self.below(3)).map(|_| ["a", "b", "c"][self.below(3)]).collect();
        names.join("/")
    }

    fn change(&mut self) -> String {
        let (one, other, number) = (self.path(), self.path(), self.below(1000));
        match self.below(17) {
            0 | 1 => format!("echo {number} > {one}"),
            2 => format!("mkdir -p {one}"),
            3 => format!("rm -rf {one}"),
            4 => format!("rm -rf {one}; mkdir -p {one}; echo {number} > {one}/c"),
            // mv(1) copies a folder, which does not preserve everything.
            5 => format!("test -d {one} || mv -T {one} {other}"),
            6 => format!("test -d {one} || mv {one} {other}"),
            7 => format!("ln -sfn {other} {one}"),
            // Between two commands hard links are not preserved: see `pending_changes`.
            8 => format!("ln -fT {one} {other} && cp -p {other} .t && mv -fT .t {other}"),
            9 | 10 => format!("chmod {} {one}", ["000", "600", "755", "711", "1777", "500"][self.below(6)]),
            // When copying a folder into itself, the result of cp(1) depends on the order of entries on disk.
            11 => format!("test -d {one} || cp -T {one} {other}"),
            12 => format!("test -f {one} && echo {number} >> {one}"),
            13 => format!("rmdir {one}"),
            14 => format!("touch -hd @{number} {one}"),
            15 => format!("rm -rf {one}; echo {number} > {one}"),
            _ => format!("mkdir -p n/{one}; echo {number} > n/{one}/x; rm -rf {other}; mv n/{one} {other}"),
        }
    }
}

/// Lists everything in a folder; times only if a test set them.
const LOOK: &str = "find . -printf '%P|%y|%m|%l|%T@\\n' | sed 's/|[0-9]\\{9,\\}\\.[0-9]*$/|/' | sort; \
    find . -type f -exec sha256sum {} + | sort -k 2";

struct Scene {
    base: PathBuf,
}

impl Scene {
    fn new(base: &Path) -> Self {
        for folder in ["project/a/b/c", "project/b/a", "project/c", "seen", "work"] {
            fs::create_dir_all(base.join(folder)).unwrap();
        }
        for file in ["a/a", "a/b/a", "a/b/c/c", "b/b", "b/a/a"] {
            fs::write(base.join("project").join(file), file).unwrap();
        }
        std::os::unix::fs::symlink("../a", base.join("project/c/a")).unwrap();
        let scene = Self { base: base.to_owned() };
        let copied = Command::new("cp").args(["-a", "project", "plain"]).current_dir(base).status().unwrap();
        assert!(copied.success());
        scene.open().begin().unwrap();
        scene
    }

    fn at(&self, path: &str) -> PathBuf {
        self.base.join(path)
    }

    fn layer(&self, name: &str) -> PathBuf {
        self.at("layer").join(name)
    }

    fn open(&self) -> Rehearsal {
        Rehearsal::new(Arc::new(Disk::new(&self.at("project")).unwrap()), self.at("layer"))
    }

    /// Runs a script as root of a user namespace, or as root. `None` if that is not possible here.
    fn shell(&self, script: &str) -> Option<String> {
        let own = if rustix::thread::capabilities(None)
            .is_ok_and(|has| has.effective.contains(rustix::thread::CapabilitySet::SYS_ADMIN))
        {
            "-m"
        } else {
            "-rm"
        };
        let mut command = Command::new("unshare");
        let done = command.args([own, "sh", "-c", script]).current_dir(&self.base).output().ok()?;
        done.status.success().then(|| String::from_utf8(done.stdout).unwrap())
    }

    /// Runs a script over the overlay, like a command of a dry run.
    fn runs(&self, script: &str) -> Option<()> {
        clear::empty(&self.at("work")).unwrap();
        fs::create_dir(self.at("work")).unwrap();
        prepare(&self.at("project"), &self.at("layer")).unwrap();
        let mount = format!(
            "mount -t overlay o -o lowerdir=layer/{UPPER}:project,upperdir=layer/{PENDING},workdir=work,userxattr seen"
        );
        self.shell(&format!("{mount} && cd seen && {{ {script}\n}} 2>/dev/null; true")).map(drop)
    }

    /// Lists the merged overlay as mounted by the kernel.
    fn seen(&self) -> String {
        let mount = format!("mount -t overlay o -o lowerdir=layer/{UPPER}:project,userxattr seen");
        self.shell(&format!("{mount} && cd seen && {{ {LOOK}; }}")).unwrap()
    }
}

/// Returns whether this machine lets the test mount an overlay.
fn can_mount(base: &Path) -> bool {
    let probe = base.join("probe");
    fs::create_dir(&probe).unwrap();
    let scene = Scene::new(&probe);
    let can = scene.runs("echo x > probe").is_some() && scene.layer(PENDING).join("probe").exists();
    if !can {
        let _ = writeln!(io::stderr(), "left out: cannot mount an overlay here");
    }
    can
}

fn agrees(base: &Path, seed: u64) {
    let mut dice = Dice(seed.wrapping_mul(7919));
    let scene = Scene::new(base);
    let mut log = format!("seed {seed}\n");
    for _ in 0..5 {
        let script: Vec<String> = (0..6).map(|_| dice.change()).collect();
        let script = script.join("\n");
        log.push_str(&format!("{script}\n--\n"));
        scene.runs(&script).unwrap();
        scene.shell(&format!("cd plain && {{ {script}\n}} 2>/dev/null; true")).unwrap();
        let most = 1 + dice.below(9);
        let mut tries = 0;
        loop {
            // A merge interrupted after every single step would repeat the first steps of finishing a folder forever.
            STEPS.set(4 + dice.below(most));
            let done = scene.open().begin();
            STEPS.set(usize::MAX);
            match done {
                Ok(()) => break,
                Err(error) => assert_eq!(error.kind(), ErrorKind::Interrupted, "{log}{error}"),
            }
            tries += 1;
            assert!(tries < 1000, "{log}");
        }
        for name in [PENDING, MERGING, JOURNAL, REPLACED] {
            assert!(!scene.layer(name).exists(), "{log}{name}");
        }
        let plain = scene.shell(&format!("cd plain && {{ {LOOK}; }}")).unwrap();
        assert_eq!(scene.seen(), plain, "{log}");
    }
}

fn all_agree(base: &Path) {
    if !can_mount(base) {
        return;
    }
    let seed = std::env::var("AYE_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
    let most =
        std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(24).min(64);
    for seed in seed.map_or(1..most + 1, |seed| seed..seed + 1) {
        let place = base.join(seed.to_string());
        fs::create_dir(&place).unwrap();
        agrees(&place, seed);
    }
}

#[test]
fn r30_merged_changes_match_the_commands_after_any_interruption() {
    let place = crate::test_folder::Folder::new();
    all_agree(&place.path().canonicalize().unwrap());
}

#[test]
fn r30_merged_changes_match_the_commands_for_an_unprivileged_user() {
    ordinary::does(all_agree);
}
