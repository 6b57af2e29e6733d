//! Trials in a process of an ordinary person, whom modes stop: root is stopped by none.

use super::aloud;
use super::folder::Folder;
use super::kept::shared;
use super::program::program;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Nobody: an ordinary person who is on every machine.
const NOBODY: u32 = 65534;
/// The test that is tried in this process.
const ORDINARY: &str = "AYE_TEST_ORDINARY";

/// Whether this process is an ordinary person's. Where it is root's, the test of this name is run in one that is, and must
/// end well.
pub fn is_ordinary(test: &str) -> bool {
    if !rustix::process::geteuid().is_root() {
        return true;
    }
    assert!(std::env::var_os(ORDINARY).is_none(), "root cannot become nobody here");
    let root = Folder::new();
    std::fs::set_permissions(root.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let own = root.path().join("tmp");
    std::fs::create_dir(&own).unwrap();
    chown(&own, Some(NOBODY), Some(NOBODY)).unwrap();
    // Where this suite was built another person may not be let in.
    let [aye, suite] = [("aye", program()), ("suite", std::env::current_exe().unwrap())].map(|(name, from)| {
        let to = root.path().join(name);
        shared(&from, &to);
        to
    });
    let mut command = Command::new(suite);
    command.args(["--exact", test, "--nocapture"]).current_dir(&own).env("TMPDIR", &own).env("HOME", &own);
    command.env("AYE_TEST_PROGRAM", aye).env(ORDINARY, test).uid(NOBODY).gid(NOBODY);
    let done = command.output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}\n{}", String::from_utf8_lossy(&done.stderr));
    assert!(said.contains("1 passed"), "no test is called {test}:\n{said}");
    said.lines().filter(|line| line.contains("LEFT OUT")).for_each(aloud);
    false
}
