//! Random commands over the kernel's overlay: after merging, the result is the same as in a plain copy, wherever the
//! merge was interrupted.

use super::super::pending_changes::{MERGING_FOLDER, PENDING_FOLDER};
use super::super::{Rehearsal, UPPER, create_pending};
use super::journal::JOURNAL_FILE;
use super::*;
use crate::project::disk::Disk;
use crate::project::unprivileged;
use std::cell::Cell;
use std::io::{ErrorKind, Write};
use std::process::Command;
use std::sync::Arc;

thread_local! {
    /// Number of steps until the merge is interrupted.
    static STEPS: Cell<usize> = const { Cell::new(usize::MAX) };
}

/// Sets the number of steps until the merge is interrupted.
pub(in super::super) fn set_steps(steps: usize) {
    STEPS.set(steps);
}

/// Fails if the merge is to be interrupted now. Called before each step of a merge.
pub(in super::super) fn check_interruption() -> io::Result<()> {
    match STEPS.get().checked_sub(1) {
        None => Err(ErrorKind::Interrupted.into()),
        Some(remaining) => {
            STEPS.set(remaining);
            Ok(())
        }
    }
}

/// Deterministic random numbers for a seed.
pub(in super::super) struct RandomNumbers(u64);

impl RandomNumbers {
    pub(in super::super) fn new(seed: u64) -> Self {
        Self(seed)
    }

    pub(in super::super) fn next_below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }

    fn random_path(&mut self) -> String {
        let names: Vec<&str> = (0..=self.next_below(3)).map(|_| ["a", "b", "c"][self.next_below(3)]).collect();
        names.join("/")
    }

    pub(in super::super) fn random_change(&mut self) -> String {
        let (one, other, number) = (self.random_path(), self.random_path(), self.next_below(1000));
        match self.next_below(17) {
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
            9 | 10 => {
                format!("chmod {} {one}", ["000", "600", "755", "711", "1777", "500"][self.next_below(6)])
            }
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
const LIST_SCRIPT: &str = "find . -printf '%P|%y|%m|%l|%T@\\n' | sed 's/|[0-9]\\{9,\\}\\.[0-9]*$/|/' | sort; \
    find . -type f -exec sha256sum {} + | sort -k 2";

pub(in super::super) struct MergeFixture {
    base: PathBuf,
}

impl MergeFixture {
    pub(in super::super) fn new(base: &Path) -> Self {
        for folder in ["project/a/b/c", "project/b/a", "project/c", "seen", "work"] {
            fs::create_dir_all(base.join(folder)).unwrap();
        }
        for file in ["a/a", "a/b/a", "a/b/c/c", "b/b", "b/a/a"] {
            fs::write(base.join("project").join(file), file).unwrap();
        }
        std::os::unix::fs::symlink("../a", base.join("project/c/a")).unwrap();
        let fixture = Self { base: base.to_owned() };
        let status = Command::new("cp").args(["-a", "project", "plain"]).current_dir(base).status().unwrap();
        assert!(status.success());
        fixture.open_rehearsal().prepare_overlay().unwrap();
        fixture
    }

    pub(in super::super) fn path_of(&self, path: &str) -> PathBuf {
        self.base.join(path)
    }

    fn overlay_path(&self, name: &str) -> PathBuf {
        self.path_of("layer").join(name)
    }

    pub(in super::super) fn open_rehearsal(&self) -> Rehearsal {
        Rehearsal::new(Arc::new(Disk::new(&self.path_of("project")).unwrap()), self.path_of("layer"))
    }

    /// Runs a script as root of a user namespace, or as root. `None` if that is not possible here.
    fn run_script(&self, script: &str) -> Option<String> {
        let user_option = if rustix::thread::capabilities(None)
            .is_ok_and(|sets| sets.effective.contains(rustix::thread::CapabilitySet::SYS_ADMIN))
        {
            "-m"
        } else {
            "-rm"
        };
        let mut command = Command::new("unshare");
        let output = command.args([user_option, "sh", "-c", script]).current_dir(&self.base).output().ok()?;
        output.status.success().then(|| String::from_utf8(output.stdout).unwrap())
    }

    /// Runs a script over the overlay, like a command of a dry run.
    pub(in super::super) fn run_over_overlay(&self, script: &str) -> Option<()> {
        removal::remove_folder(&self.path_of("work")).unwrap();
        fs::create_dir(self.path_of("work")).unwrap();
        create_pending(&self.path_of("project"), &self.path_of("layer")).unwrap();
        let mount = format!(
            "mount -t overlay o -o lowerdir=layer/{UPPER}:project,upperdir=layer/{PENDING_FOLDER},workdir=work,userxattr seen"
        );
        self.run_script(&format!("{mount} && cd seen && {{ {script}\n}} 2>/dev/null; true")).map(drop)
    }

    /// Runs a script in the plain copy of the project.
    pub(in super::super) fn run_in_plain_copy(&self, script: &str) {
        self.run_script(&format!("cd plain && {{ {script}\n}} 2>/dev/null; true")).unwrap();
    }

    /// Lists everything in a folder of the fixture.
    pub(in super::super) fn list_folder(&self, folder: &str) -> String {
        self.run_script(&format!("cd {folder} && {{ {LIST_SCRIPT}; }}")).unwrap()
    }

    /// Lists the merged overlay as mounted by the kernel.
    fn list_merged(&self) -> String {
        let mount = format!("mount -t overlay o -o lowerdir=layer/{UPPER}:project,userxattr seen");
        self.run_script(&format!("{mount} && cd seen && {{ {LIST_SCRIPT}; }}")).unwrap()
    }
}

/// Returns whether this machine lets the test mount an overlay.
pub(in super::super) fn can_mount(base: &Path) -> bool {
    let probe = base.join("probe");
    fs::create_dir(&probe).unwrap();
    let fixture = MergeFixture::new(&probe);
    let is_mounted = fixture.run_over_overlay("echo x > probe").is_some()
        && fixture.overlay_path(PENDING_FOLDER).join("probe").exists();
    if !is_mounted {
        let _ = writeln!(io::stderr(), "LEFT OUT: merges compared with the kernel: no overlay can be mounted here");
    }
    is_mounted
}

fn assert_merge_matches(base: &Path, seed: u64) {
    let mut random = RandomNumbers::new(seed.wrapping_mul(7919));
    let fixture = MergeFixture::new(base);
    let mut log = format!("seed {seed}\n");
    for _ in 0..5 {
        let script: Vec<String> = (0..6).map(|_| random.random_change()).collect();
        let script = script.join("\n");
        log.push_str(&format!("{script}\n--\n"));
        fixture.run_over_overlay(&script).unwrap();
        fixture.run_in_plain_copy(&script);
        let max_steps = 1 + random.next_below(9);
        let mut tries = 0;
        loop {
            // A merge interrupted after every single step would repeat the first steps of finishing a folder forever.
            STEPS.set(4 + random.next_below(max_steps));
            let result = fixture.open_rehearsal().prepare_overlay();
            STEPS.set(usize::MAX);
            match result {
                Ok(()) => break,
                Err(error) => assert_eq!(error.kind(), ErrorKind::Interrupted, "{log}{error}"),
            }
            tries += 1;
            assert!(tries < 1000, "{log}");
        }
        for name in [PENDING_FOLDER, MERGING_FOLDER, JOURNAL_FILE, REPLACED_FOLDER] {
            assert!(!fixture.overlay_path(name).exists(), "{log}{name}");
        }
        assert_eq!(fixture.list_merged(), fixture.list_folder("plain"), "{log}");
    }
}

fn assert_all_seeds_match(base: &Path) {
    if !can_mount(base) {
        return;
    }
    let seed = std::env::var("AYE_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
    let count = std::env::var("PROPTEST_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(24).min(64);
    for seed in seed.map_or(1..count + 1, |seed| seed..seed + 1) {
        let folder = base.join(seed.to_string());
        fs::create_dir(&folder).unwrap();
        assert_merge_matches(&folder, seed);
    }
}

#[test]
fn r30_merged_changes_match_the_commands_after_any_interruption() {
    let temporary = crate::test_folder::Folder::new();
    assert_all_seeds_match(&temporary.path().canonicalize().unwrap());
}

#[test]
fn r30_merged_changes_match_the_commands_for_an_unprivileged_user() {
    unprivileged::run_unprivileged(assert_all_seeds_match);
}
