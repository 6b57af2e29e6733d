//! A test in a separate process, with its own home, folder for temporary files and environment variables.

use super::folder::Folder;
use super::program::program;
use super::stored_files::share_program;
use super::{print_uncaptured, report_skipped};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Environment variable with the folder of the test in that process.
const FOLDER: &str = "AYE_TEST_OWN_PROCESS";

/// A user who is not root.
pub const NOBODY: u32 = 65534;

/// Returns the folder with `home`, `project` and `elsewhere` if this process was started for the test with this name.
/// Otherwise starts that process, as the current user and, for root, as an ordinary user too, and checks that the test
/// passes.
pub fn own_process(test: &str) -> Option<PathBuf> {
    if let Some(root) = folder_of_process() {
        return Some(root);
    }
    start_process(test, None, &[]);
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let unshared = Command::new("unshare").args(["-Ur", "true"]).uid(NOBODY).gid(NOBODY).output();
    match unshared.is_ok_and(|output| output.status.success()) {
        true => start_process(test, Some(NOBODY), &[]),
        false => report_skipped("an ordinary user may make no namespaces here"),
    }
    None
}

/// Returns the folder of the test if [`start_process`] started this process.
pub fn folder_of_process() -> Option<PathBuf> {
    std::env::var_os(FOLDER).map(PathBuf::from)
}

/// Runs the test in a separate process and checks that it passes: as this user, or the current one for `None`, and
/// through a wrapper command, if any. `ROOT` in the wrapper's arguments is replaced by the folder of the test.
pub fn start_process(test: &str, user: Option<u32>, wrapper: &[&str]) {
    // Not in `/tmp`, because commands in the sandbox see another `/tmp`.
    let temporary = Folder::within(Path::new("/var/tmp"));
    let root = temporary.path().canonicalize().unwrap();
    let make_accessible = |path: &Path| std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    make_accessible(&root);
    for folder in ["programs", "home", "project", "elsewhere", "layers"] {
        std::fs::create_dir(root.join(folder)).unwrap();
        make_accessible(&root.join(folder));
        std::os::unix::fs::chown(root.join(folder), user, user).unwrap();
    }
    // Another user may not be able to enter the folder where the suite was built.
    let programs = [("aye", program()), ("suite", std::env::current_exe().unwrap())];
    let [aye, suite] = programs.map(|(name, source)| {
        let target = root.join("programs").join(name);
        share_program(&source, &target);
        target
    });
    let wrapper: Vec<String> = wrapper.iter().map(|word| word.replace("ROOT", root.to_str().unwrap())).collect();
    let mut arguments = wrapper.into_iter().chain([suite.display().to_string()]);
    let mut command = Command::new(arguments.next().unwrap());
    command.args(arguments).args(["--exact", test, "--nocapture"]).current_dir(root.join("project"));
    command.env(FOLDER, &root).env("AYE_TEST_PROGRAM", aye).env("HOME", root.join("home"));
    command.env("AYE_TEST_VARIABLE", "zq8-hunter-27xw").env_remove("TMPDIR");
    if let Some(user) = user {
        command.uid(user).gid(user);
    }
    let result = command.output().unwrap();
    let output = String::from_utf8_lossy(&result.stdout);
    assert!(result.status.success(), "user {user:?}: {output}\n{}", String::from_utf8_lossy(&result.stderr));
    assert!(output.contains("1 passed"), "no test is called {test}:\n{output}");
    // Reports of `report_skipped` in that process.
    for line in output.lines().filter(|line| line.starts_with("LEFT OUT")) {
        print_uncaptured(line);
    }
}
