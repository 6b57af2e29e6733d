//! Tests that run in a process of an ordinary user, because root is not subject to file permissions.

use super::folder::Folder;
use super::print_uncaptured;
use super::program::program;
use super::stored_files::share_program;
use std::os::unix::fs::{PermissionsExt, chown};
use std::os::unix::process::CommandExt;
use std::process::Command;

/// The user `nobody`, which exists on every system.
const NOBODY: u32 = 65534;
/// Environment variable with the name of the test that runs in this process.
const ORDINARY: &str = "AYE_TEST_ORDINARY";

/// Returns true if this process belongs to an ordinary user. For root, runs the test with this name as an ordinary user
/// instead, checks that it passes, and returns false.
pub fn continue_as_ordinary_user(test: &str) -> bool {
    if !rustix::process::geteuid().is_root() {
        return true;
    }
    assert!(std::env::var_os(ORDINARY).is_none(), "cannot switch to an ordinary user");
    let root = Folder::new();
    std::fs::set_permissions(root.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    let tmp = root.path().join("tmp");
    std::fs::create_dir(&tmp).unwrap();
    chown(&tmp, Some(NOBODY), Some(NOBODY)).unwrap();
    // An ordinary user may not be able to enter the folder where the suite was built.
    let [aye, suite] = [("aye", program()), ("suite", std::env::current_exe().unwrap())].map(|(name, source)| {
        let target = root.path().join(name);
        share_program(&source, &target);
        target
    });
    let mut command = Command::new(suite);
    command.args(["--exact", test, "--nocapture"]).current_dir(&tmp).env("TMPDIR", &tmp).env("HOME", &tmp);
    command.env("AYE_TEST_PROGRAM", aye).env(ORDINARY, test).uid(NOBODY).gid(NOBODY);
    let result = command.output().unwrap();
    let output = String::from_utf8_lossy(&result.stdout);
    assert!(result.status.success(), "{output}\n{}", String::from_utf8_lossy(&result.stderr));
    assert!(output.contains("1 passed"), "no test is called {test}:\n{output}");
    output.lines().filter(|line| line.contains("LEFT OUT")).for_each(print_uncaptured);
    false
}
