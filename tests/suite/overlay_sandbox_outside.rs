//! Writes of a dry run's commands outside the project, their limits of memory and files, and the machines that have an
//! overlay sandbox.

use crate::overlay_sandbox_escapes::has_overlay_sandbox;
use crate::support::folder::Folder;
use crate::support::mounts::{continue_with_mounts, mount_small_disk};
use crate::support::overlay_project::{EmptyProject, command_line, open_overlay};
use crate::support::own_process::{NOBODY, folder_of_process, own_process, start_process};
use crate::support::program::program;
use crate::support::report_skipped;
use aye::chat::{CommandLine, CommandSandbox, SandboxAccess};
use aye::project::disk::Disk;
use aye::project::overlay_sandbox::{DisclosedPaths, OverlayShell, View, test_overlay_sandbox};
use aye::project::rehearsal::Rehearsal;
use aye::project::shell::Shell;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// An overlay sandbox with this setting for writes outside the project.
fn create_shell(root: &Path, is_writable: bool) -> OverlayShell {
    let disk = Arc::new(Disk::new(&root.join("project")).unwrap());
    let rehearsal = Arc::new(Rehearsal::new(disk, root.join("layers/one")));
    let disclosed = DisclosedPaths { read: Vec::new(), is_writable };
    OverlayShell::new(Arc::new(Shell::new(program())), rehearsal).with_disclosed(disclosed)
}

/// Runs a command in the overlay sandbox and returns its output. `write` are the folders, relative to `root`, that are
/// opened for writing.
async fn command_output(shell: &OverlayShell, root: &Path, write: &[&str], command: &str) -> String {
    let write = write.iter().map(|path| root.join(path)).collect();
    let sandbox = CommandSandbox::enforced(SandboxAccess { write, ..SandboxAccess::default() });
    let line = CommandLine { sandbox, ..command_line(command, &root.join("project")) };
    shell
        .run_in_overlay(&line, View::WithoutSecrets, &|_| {})
        .await
        .unwrap_or_else(|error| panic!("{command}: {error}"))
        .output
}

#[tokio::test]
async fn r30_writes_outside_are_refused_as_live_and_kept_where_allowed() {
    let Some(root) =
        own_process("overlay_sandbox_outside::r30_writes_outside_are_refused_as_live_and_kept_where_allowed")
    else {
        return;
    };
    if !has_overlay_sandbox() {
        return;
    }
    let read_only_shell = create_shell(&root, false);
    let check_refused = async |path: &str| {
        let output = command_output(&read_only_shell, &root, &[], &format!("echo x > {path}; ls {path}")).await;
        let is_refused = output.contains("Permission denied") || output.contains("Read-only file system");
        assert!(is_refused && output.contains("No such file"), "{path}: {output}");
    };
    for path in ["~/new", "/var/tmp/new", "/etc/new", "/usr/new", "/new", "/root/new"] {
        check_refused(path).await;
    }
    let output = command_output(
        &read_only_shell,
        &root,
        &[],
        "mkdir ~/.cache; echo x >> /etc/passwd; rm -rf /usr/bin/env; ls /usr/bin/env",
    )
    .await;
    assert!(output.ends_with("/usr/bin/env\n") && output.contains("ermission denied"), "{output}");

    // Each session has its own `/tmp`.
    let name = format!("aye-test-{}", std::process::id());
    assert_eq!(
        command_output(&read_only_shell, &root, &[], &format!("ls -A /tmp; echo one > /tmp/{name}; stat -c %a /tmp"))
            .await,
        "1777\n"
    );
    assert_eq!(command_output(&read_only_shell, &root, &[], &format!("cat /tmp/{name}")).await, "one\n");
    assert!(!Path::new("/tmp").join(&name).exists());
    let outside = root.join("layers/one/outside/upper");
    assert!(outside.join("tmp").join(&name).exists());

    // A folder opened for writing shows its real content, except secrets.
    for (path, text) in [("elsewhere/open/file", "real\n"), ("elsewhere/open/.env", "hunter2")] {
        fs::create_dir_all(root.join(path).parent().unwrap()).unwrap();
        fs::write(root.join(path), text).unwrap();
    }
    let output = command_output(
        &read_only_shell,
        &root,
        &["elsewhere/open"],
        "cd ../elsewhere/open; cat file; echo x > new; rm file; cat .env; ls ..",
    )
    .await;
    assert!(output.starts_with("real\n") && output.ends_with("open\n") && !output.contains("hunter2"), "{output}");
    assert_eq!(
        command_output(&read_only_shell, &root, &["elsewhere/open"], "cd ../elsewhere/open; ls; cat new").await,
        "new\nx\n"
    );
    assert_eq!(fs::read_to_string(root.join("elsewhere/open/file")).unwrap(), "real\n");
    let kept = outside.join(root.join("elsewhere/open/new").strip_prefix("/").unwrap());
    assert_eq!(fs::read_to_string(kept).unwrap(), "x\n");

    // A file that a file tool wrote outside the project can be read, but not written.
    let noted = outside.join(root.join("home/notes/note").strip_prefix("/").unwrap());
    fs::create_dir_all(noted.parent().unwrap()).unwrap();
    fs::write(&noted, "noted\n").unwrap();
    let output =
        command_output(&read_only_shell, &root, &[], "cat ~/notes/note; echo x > ~/notes/note; cat ~/notes/note").await;
    assert!(output.starts_with("noted\n") && output.ends_with("noted\n"), "{output}");

    // A file that an edit changed in part is not readable, because the rest is real content. Its name is hidden too: it
    // would reveal that the edit found its text.
    let record_write = |whole: bool| {
        let path = root.join("home/notes/note");
        let bytes: Vec<String> = path.as_os_str().as_encoded_bytes().iter().map(u8::to_string).collect();
        let line = format!("\n{{\"path\":[{}],\"sha256\":\"x\",\"whole\":{whole}}}\n", bytes.join(","));
        let file = fs::OpenOptions::new().create(true).append(true).open(root.join("layers/one/outside/written"));
        file.unwrap().write_all(line.as_bytes()).unwrap();
    };
    record_write(false);
    let output = command_output(&read_only_shell, &root, &[], "cat ~/notes/note").await;
    assert!(output.contains("No such file") && !output.contains("noted"), "{output}");
    record_write(true);
    assert_eq!(command_output(&read_only_shell, &root, &[], "cat ~/notes/note").await, "noted\n");

    let writable_shell = create_shell(&root, true);
    fs::write(root.join("home/.netrc"), "hunter2").unwrap();
    let output = command_output(
        &writable_shell,
        &root,
        &[],
        "ls -A ~; cat ~/notes/note; mkdir -p ~/.cache/x && echo kept > ~/.cache/x/y; echo x > ~/.netrc",
    )
    .await;
    assert_eq!(output, "notes\nnoted\n");
    assert_eq!(
        command_output(
            &writable_shell,
            &root,
            &[],
            "cat ~/.cache/x/y ~/.netrc; echo x > /var/tmp/aye-x; cat /var/tmp/aye-x"
        )
        .await,
        "kept\nx\nx\n"
    );
    assert_eq!(fs::read_to_string(root.join("home/.netrc")).unwrap(), "hunter2");
    assert!(!root.join("home/.cache").exists() && !Path::new("/var/tmp/aye-x").exists());
    assert!(outside.join(root.join("home/.cache/x/y").strip_prefix("/").unwrap()).exists());
    assert!(command_output(&writable_shell, &root, &[], "echo x > /etc/new").await.contains("denied"));
}

#[tokio::test]
async fn r30_a_refused_write_fails_in_the_words_of_the_live_sandbox() {
    let Some(root) = own_process("overlay_sandbox_outside::r30_a_refused_write_fails_in_the_words_of_the_live_sandbox")
    else {
        return;
    };
    if !has_overlay_sandbox() || !crate::sandbox_escapes::has_sandbox() {
        return;
    }
    let (live_shell, shell) = (Shell::new(program()), create_shell(&root, false));
    let sandbox = CommandSandbox::enforced(SandboxAccess::default());
    for command in ["echo x > ~/new", "mkdir ~/.cache", "echo x > /var/tmp/aye-new", "echo x > /etc/new", "mkdir /new"]
    {
        let line = CommandLine { sandbox: sandbox.clone(), ..command_line(command, &root.join("project")) };
        let live = live_shell.run_command(&line, &|_| {}).await.unwrap();
        let rehearsed = shell.run_in_overlay(&line, View::WithoutSecrets, &|_| {}).await.unwrap();
        assert!(live.output.contains("Permission denied"), "{command}: {live:?}");
        assert_eq!((rehearsed.output, rehearsed.exit), (live.output, live.exit), "{command}");
    }
}

/// Runs in a process of root or of an ordinary user, after file systems were mounted below `/tmp` and in the home.
#[tokio::test]
async fn child_with_mounts() {
    let Some(root) = folder_of_process() else { return };
    let mounted = fs::read_to_string("/proc/self/mountinfo").unwrap();
    assert!(mounted.contains(" /tmp/aye-mounted ") && mounted.contains("/home/disk "), "{mounted}");
    test_overlay_sandbox(&program(), &root.join("project"), &root.join("layers")).unwrap();
    // A project on its own file system, in the home and in the folder for temporary files.
    for project in [root.join("home/disk"), "/tmp/aye-mounted/project".into()] {
        let (rehearsal, shell) = open_overlay(&project, root.join("layers").join(project.file_name().unwrap()));
        let outcome = shell
            .run_in_overlay(
                &command_line("cat file; echo x > new; ls -A /tmp ~", &project),
                View::WithoutSecrets,
                &|_| {},
            )
            .await;
        assert!(outcome.unwrap().output.starts_with("held\n"));
        assert!(rehearsal.overlay_folder().join("upper/new").exists() && !project.join("new").exists());
        let outcome = shell
            .run_in_overlay(&command_line("cat file new; ls -d /usr", &project), View::Live, &|_| {})
            .await
            .unwrap();
        assert_eq!(outcome.output, "held\nx\n/usr\n");
    }
}

#[test]
fn r30_mounts_below_tmp_and_in_the_home_do_not_matter() {
    if !has_overlay_sandbox()
        || !continue_with_mounts("overlay_sandbox_outside::r30_mounts_below_tmp_and_in_the_home_do_not_matter")
    {
        return;
    }
    // `start_process` replaces `ROOT`. `$0` is the owner of the files, `$@` the command line of the test's process.
    let mounts = "mkdir -p /tmp/aye-mounted ROOT/home/disk && mount -t tmpfs a /tmp/aye-mounted && mount -t tmpfs b ROOT/home/disk \
        && mkdir /tmp/aye-mounted/project && echo held | tee ROOT/home/disk/file > /tmp/aye-mounted/project/file \
        && chown -R $0 ROOT/home/disk /tmp/aye-mounted && ";
    let test = "overlay_sandbox_outside::child_with_mounts";
    let root_owner = "0:0";
    start_process(
        test,
        None,
        &["unshare", "-m", "--propagation", "private", "sh", "-c", &format!("{mounts} exec \"$@\""), root_owner],
    );
    let ordinary = ["--reuid=65534", "--regid=65534", "--clear-groups", "unshare", "-Ur", "true"];
    if !command_succeeds("setpriv", &ordinary) {
        let _ = fs::remove_dir("/tmp/aye-mounted");
        return report_skipped("an ordinary user may make no namespaces here");
    }
    let user = format!("{NOBODY}:{NOBODY}");
    let drop = format!(
        "{mounts} chown -R $0 ROOT/project ROOT/layers ROOT/home && exec setpriv --reuid=65534 --regid=65534 --clear-groups \"$@\""
    );
    start_process(test, None, &["unshare", "-m", "--propagation", "private", "sh", "-c", &drop, &user]);
    // The mounts end with the process, but the folder stays.
    let _ = fs::remove_dir("/tmp/aye-mounted");
}

/// Returns whether a command succeeds.
fn command_succeeds(program: &str, arguments: &[&str]) -> bool {
    Command::new(program).args(arguments).output().is_ok_and(|done| done.status.success())
}

#[tokio::test]
async fn r30_shared_memory_counts_towards_the_limit() {
    if !has_overlay_sandbox() {
        return;
    }
    let EmptyProject { root: _root, project, rehearsal, .. } = EmptyProject::new();
    let shell = OverlayShell::new(Arc::new(Shell::new(program())), rehearsal).with_memory(60 << 20);
    let memfd = "import os, time\nfd = os.memfd_create('x')\nfor _ in range(200): os.write(fd, bytes(1 << 20))\ntime.sleep(600)";
    let mapped = "import mmap, time\nm = mmap.mmap(-1, 200 << 20)\nm.write(bytes(100 << 20))\ntime.sleep(600)";
    // Detached, it belongs to no process and stays allocated.
    let system_v = "import ctypes, time\nc = ctypes.CDLL(None)\nc.shmat.restype = ctypes.c_void_p\nsize = 100 << 20\naddress = c.shmat(c.shmget(0, size, 0o1600), None, 0)\nctypes.memset(address, 1, size)\nassert c.shmdt(ctypes.c_void_p(address)) == 0\ntime.sleep(600)";
    // Python may be one that the sandbox cannot read, for example in the folder of another user.
    let probe = command_line("python3 -c 'import mmap, ctypes'", &project);
    let has_python = shell.run_in_overlay(&probe, View::WithoutSecrets, &|_| {}).await.unwrap().exit == Some(0);
    let mut commands = vec!["head -c 150M /dev/zero > /dev/shm/x; sleep 600".to_owned()];
    match has_python {
        true => commands.extend([memfd, mapped, system_v].map(|program| format!("python3 -c \"{program}\""))),
        false => report_skipped("python3 does not start in the sandbox"),
    }
    for command in commands {
        let outcome =
            shell.run_in_overlay(&command_line(&command, &project), View::WithoutSecrets, &|_| {}).await.unwrap();
        let notice = "[stopped by the limits of the dry run: it used more than 60 MB of memory]";
        assert!(outcome.output.contains(notice) && !outcome.timed_out, "{command}: {outcome:?}");
    }
}

#[tokio::test]
async fn r30_command_creating_very_many_files_is_stopped_before_the_disk_is_full() {
    let name = "overlay_sandbox_outside::r30_command_creating_very_many_files_is_stopped_before_the_disk_is_full";
    if !has_overlay_sandbox() || !continue_with_mounts(name) {
        return;
    }
    let root = Folder::new();
    let path_of = |path: &str| root.path().join(path);
    fs::create_dir(path_of("project")).unwrap();
    mount_small_disk(&path_of("disk"), "size=64m,nr_inodes=20000");
    let (_rehearsal, shell) = open_overlay(&path_of("project"), path_of("disk/layer"));
    let command = "stat -f -c %c /dev/shm; i=0; while :; do i=$((i + 1)); : > f$i || exit 1; [ $((i % 100)) = 0 ] && sleep 0.01; done";
    let outcome =
        shell.run_in_overlay(&command_line(command, &path_of("project")), View::WithoutSecrets, &|_| {}).await.unwrap();
    // The number of inodes of `/dev/shm` is limited too: a size limit does not count empty files.
    assert!(outcome.output.starts_with("65536\n"), "{outcome:?}");
    assert!(outcome.output.contains("more files fit on it]"), "{outcome:?}");
    assert!(rustix::fs::statvfs(path_of("disk")).unwrap().f_favail > 1000);
}

/// Runs in a user namespace that allows no further mount namespaces.
#[test]
fn child_at_the_namespace_limit() {
    let Some(root) = folder_of_process() else { return };
    let why = test_overlay_sandbox(&program(), &root.join("project"), &root.join("layers")).unwrap_err();
    assert!(why.contains("(user.max_mnt_namespaces = 0). Raise it with `sysctl`"), "{why}");
    assert!(!why.contains("No space left"), "{why}");
}

#[test]
fn r30_namespace_limit_is_reported_with_its_setting() {
    let limit = "echo 0 > /proc/sys/user/max_mnt_namespaces";
    if !command_succeeds("unshare", &["-Ur", "sh", "-c", limit]) {
        return report_skipped("no limit of namespaces can be set here");
    }
    let script = format!("{limit} && exec \"$0\" \"$@\"");
    start_process(
        "overlay_sandbox_outside::child_at_the_namespace_limit",
        None,
        &["unshare", "-Ur", "sh", "-c", &script],
    );
}
