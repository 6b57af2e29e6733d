//! The patch of a dry run whose commands ran in its overlay sandbox, applied by git.

use crate::overlay_sandbox_escapes::has_overlay_sandbox;
use crate::support::folder::Folder;
use crate::support::program::Setup;
use crate::support::service::Service;
use crate::support::terminal_session::{command_answer, text_answer};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

/// Runs git in a folder with this input. Returns its output; `None` if git is not installed.
fn run_git(folder: &Path, arguments: &[&str], input: &str) -> Option<String> {
    let mut command = Command::new("git");
    command.args(arguments).current_dir(folder).env_clear().env("HOME", folder);
    command.env("PATH", std::env::var_os("PATH")?).env("GIT_CONFIG_NOSYSTEM", "1");
    let child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = child.ok()?;
    child.stdin.take()?.write_all(input.as_bytes()).ok();
    let output = child.wait_with_output().ok()?;
    assert!(output.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8_lossy(&output.stdout).into_owned())
}

#[test]
fn r30_git_applies_a_patch_with_a_commit_a_move_a_mode_and_a_binary_file() {
    if !has_overlay_sandbox() {
        return;
    }
    let root = Folder::new();
    if run_git(root.path(), &["init", "-q", "probe"], "").is_none() {
        writeln!(std::io::stderr(), "LEFT OUT: the patch of a dry run; git is missing").unwrap();
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let service = runtime.block_on(Service::start(vec![
        command_answer("mv a.txt 'moved to.txt'; chmod +x run.sh; printf '\\000\\001\\377' > image.bin; printf 'a\\rb\\r\\n' > ends; rm gone.bin; rm link; mkdir link; echo in > link/file"),
        command_answer("git add -A && git -c user.name=n -c user.email=e@e commit -qm all && git status --short"),
        command_answer("echo more >> run.sh; mkdir empty"),
        text_answer("Done."),
    ]));
    let arguments = ["-p", "--dry-run", "--base-url", &service.base_url, "--model", "m", "go"];
    let setup = Setup::new(&arguments)
        .with_file("a.txt", "one\ntwo\n")
        .with_file("run.sh", "#!/bin/sh\n")
        .with_file("gone.bin", "\0\u{1}");
    let (root, project) = (setup.root.clone(), setup.root.path().join("project"));
    std::os::unix::fs::symlink("a.txt", project.join("link")).unwrap();
    run_git(&project, &["init", "-q"], "");
    run_git(&project, &["add", "-A"], "");
    run_git(&project, &["-c", "user.name=n", "-c", "user.email=e@e", "commit", "-qm", "first"], "");
    let head = run_git(&project, &["rev-parse", "HEAD"], "");
    let (out, err, code) = setup.run_piped("");
    assert_eq!(code, 0, "{out}{err}");
    let (patch, err, code) = Setup::with_home(&root, &["rehearsal", "diff"]).run_piped("");
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("changes are not in this patch; its first lines list them"), "{err}");
    assert!(patch.contains("#   empty: an empty folder, which git does not store\n"), "{patch}");
    assert!(patch.contains("of the repository's own state, such as commits\n"), "{patch}");
    assert!(patch.contains("rename from a.txt\nrename to moved to.txt\n"), "{patch}");
    run_git(&project, &["apply"], &patch);
    let read = |path: &str| std::fs::read(project.join(path)).unwrap();
    assert_eq!(read("moved to.txt"), b"one\ntwo\n");
    assert_eq!(read("run.sh"), b"#!/bin/sh\nmore\n");
    assert_eq!(read("image.bin"), b"\0\x01\xff");
    assert_eq!(read("ends"), b"a\rb\r\n");
    assert_eq!(read("link/file"), b"in\n");
    assert!(!project.join("a.txt").exists() && !project.join("gone.bin").exists());
    use std::os::unix::fs::PermissionsExt;
    assert_eq!(project.join("run.sh").metadata().unwrap().permissions().mode() & 0o111, 0o111);
    assert_eq!(run_git(&project, &["rev-parse", "HEAD"], ""), head);
    // Only the changes that the patch listed are left.
    let (rest, _, _) = Setup::with_home(&root, &["rehearsal", "diff"]).run_piped("");
    assert!(!rest.contains("diff --git"), "{rest}");
}
