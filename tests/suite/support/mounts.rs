//! Trials in a process of their own that may mount what they like: nobody else sees it, and nothing of it stays.

use super::leave_out;
use rustix::mount::{MountFlags, mount};
use std::ffi::CString;
use std::path::Path;
use std::process::Command;

/// The test that may mount in this process.
const ALONE: &str = "AYE_TEST_MOUNTS";

/// Whether this process is the one in which the test of this name may mount. Where it is not, that process is started and
/// must end well; where there can be none it is said aloud.
pub fn may_mount(test: &str) -> bool {
    if std::env::var_os(ALONE).is_some_and(|own| own == test) {
        return true;
    }
    let alone = if rustix::process::geteuid().is_root() { "-m" } else { "-Urm" };
    let unshare = |words: &[&str]| {
        let mut command = Command::new("unshare");
        command.args([alone, "--propagation", "private", "--"]).args(words);
        command
    };
    if !unshare(&["mount", "-t", "tmpfs", "none", "/mnt"]).output().is_ok_and(|tried| tried.status.success()) {
        leave_out("nothing can be mounted here");
        return false;
    }
    let suite = std::env::current_exe().unwrap();
    let done = unshare(&[suite.to_str().unwrap(), "--exact", test, "--nocapture"]).env(ALONE, test).output();
    let done = done.unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}\n{}", String::from_utf8_lossy(&done.stderr));
    assert!(said.contains("1 passed"), "no test is called {test}:\n{said}");
    false
}

/// Mounts a disk in memory, such as one of `size=512k`. The folder is made.
pub fn small_disk(at: &Path, options: &str) {
    std::fs::create_dir_all(at).unwrap();
    let options = CString::new(options).unwrap();
    mount("small", at, "tmpfs", MountFlags::empty(), options.as_c_str()).unwrap();
}

/// Lays an empty layer over a folder, at the same place, with what the kernel wants kept in `beside`.
pub fn overlay(folder: &Path, beside: &Path) {
    for name in ["upper", "work"] {
        std::fs::create_dir_all(beside.join(name)).unwrap();
    }
    let options = format!(
        "lowerdir={},upperdir={},workdir={},userxattr",
        folder.display(),
        beside.join("upper").display(),
        beside.join("work").display()
    );
    let options = CString::new(options).unwrap();
    mount("layer", folder, "overlay", MountFlags::empty(), options.as_c_str()).unwrap();
}

/// Where file systems are mounted, as this process sees it.
pub fn mounted() -> String {
    std::fs::read_to_string("/proc/self/mountinfo").unwrap()
}
