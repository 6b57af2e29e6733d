//! Tests that mount file systems, in a process with a private mount namespace, so that nothing stays mounted.

use super::report_skipped;
use rustix::mount::{MountFlags, mount};
use std::ffi::CString;
use std::path::Path;
use std::process::Command;

/// Environment variable with the name of the test that may mount in this process.
const MOUNTING_TEST: &str = "AYE_TEST_MOUNTS";

/// Returns true if the test with this name may mount in this process. Otherwise runs the test in a process that may,
/// checks that it passes, and returns false; reports the skipped test if there can be no such process.
pub fn continue_with_mounts(test: &str) -> bool {
    if std::env::var_os(MOUNTING_TEST).is_some_and(|name| name == test) {
        return true;
    }
    let flags = if rustix::process::geteuid().is_root() { "-m" } else { "-Urm" };
    let unshare = |arguments: &[&str]| {
        let mut command = Command::new("unshare");
        command.args([flags, "--propagation", "private", "--"]).args(arguments);
        command
    };
    if !unshare(&["mount", "-t", "tmpfs", "none", "/mnt"]).output().is_ok_and(|output| output.status.success()) {
        report_skipped("nothing can be mounted here");
        return false;
    }
    let suite = std::env::current_exe().unwrap();
    let result = unshare(&[suite.to_str().unwrap(), "--exact", test, "--nocapture"]).env(MOUNTING_TEST, test).output();
    let result = result.unwrap();
    let output = String::from_utf8_lossy(&result.stdout);
    assert!(result.status.success(), "{output}\n{}", String::from_utf8_lossy(&result.stderr));
    assert!(output.contains("1 passed"), "no test is called {test}:\n{output}");
    false
}

/// Mounts a file system in memory with these options, such as `size=512k`. Creates the folder.
pub fn mount_small_disk(folder: &Path, options: &str) {
    std::fs::create_dir_all(folder).unwrap();
    let options = CString::new(options).unwrap();
    mount("small", folder, "tmpfs", MountFlags::empty(), options.as_c_str()).unwrap();
}

/// Mounts an empty overlay over a folder, with the internal folders of overlayfs in `overlayfs_folder`.
pub fn mount_overlay(folder: &Path, overlayfs_folder: &Path) {
    for name in ["upper", "work"] {
        std::fs::create_dir_all(overlayfs_folder.join(name)).unwrap();
    }
    let options = format!(
        "lowerdir={},upperdir={},workdir={},userxattr",
        folder.display(),
        overlayfs_folder.join("upper").display(),
        overlayfs_folder.join("work").display()
    );
    let options = CString::new(options).unwrap();
    mount("layer", folder, "overlay", MountFlags::empty(), options.as_c_str()).unwrap();
}

/// The mounts that this process sees.
pub fn read_mounts() -> String {
    std::fs::read_to_string("/proc/self/mountinfo").unwrap()
}
