//! Commands that try to get out of the sandbox, run by the real program: nothing outside changes, and no process
//! outside is reached.

use crate::support::folder::Folder;
use crate::support::pick_samples;
use crate::support::program::{program, unique_sleep_seconds, wait_until_none_sleeps};
use crate::support::report_skipped;
use crate::support::stored_files::copy_program;
use aye::chat::{CommandLine, CommandSandbox, SandboxAccess};
use aye::project::sandbox::{SandboxSupport, kernel_support, probe};
use aye::project::shell::{CommandOutcome, Shell};
use std::collections::BTreeMap;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

mod sockets;

/// An ordinary user that exists on every system.
const NOBODY: u32 = 65534;

/// Returns whether a sandbox is available; reports the skipped test otherwise.
pub fn has_sandbox() -> bool {
    match kernel_support() {
        SandboxSupport::Supported { .. } => true,
        SandboxSupport::Unsupported(why) => {
            report_skipped(&format!("no sandbox to try on this machine: {why}"));
            false
        }
    }
}

/// Returns whether the sandbox also blocks signals.
fn blocks_signals() -> bool {
    matches!(kernel_support(), SandboxSupport::Supported { signals: true, .. })
}

/// A project, a folder for temporary files that contains aye's own folder, and a folder outside.
struct EscapeFixture {
    root: Folder,
    shell: Shell,
}

impl EscapeFixture {
    fn new() -> Self {
        let root = Folder::new();
        let path_of = |path: &str| root.path().canonicalize().unwrap().join(path);
        for folder in ["project", "tmp/own/config", "outside/empty", "outside/deep/er"] {
            std::fs::create_dir_all(path_of(folder)).unwrap();
        }
        for file in ["outside/file", "outside/deep/er/file", "tmp/own/config/config.toml", "project/mine"] {
            std::fs::write(path_of(file), "before").unwrap();
        }
        std::fs::write(path_of("tmp/own/config/credentials.toml"), "hunter2").unwrap();
        let keep = vec![path_of("tmp/own")];
        let shell = Shell::new(program()).with_closed_paths(keep, vec![path_of("tmp/own/config/credentials.toml")]);
        Self { root, shell }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(path)
    }

    /// Runs a command in the project; `@` stands for the fixture's root folder.
    async fn run(&self, command: &str, network: bool) -> CommandOutcome {
        self.run_with(command, SandboxAccess { write: vec![self.path("tmp")], network, sockets: false }).await.unwrap()
    }

    async fn run_with(&self, command: &str, access: SandboxAccess) -> Result<CommandOutcome, aye::project::Error> {
        let root = self.path("");
        let command = command.replace('@', root.to_str().unwrap().trim_end_matches('/'));
        let sandbox = CommandSandbox::enforced(access);
        let line =
            CommandLine { command, folder: self.path("project"), seconds: 60, sandbox, ..CommandLine::default() };
        self.shell.run_command(&line, &|_| {}).await
    }

    /// Everything that must not change: each path with its mode, link count and content.
    fn protected_files(&self) -> BTreeMap<PathBuf, String> {
        let mut collected = BTreeMap::new();
        let mut folders = vec![self.path("outside"), self.path("tmp/own")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                let metadata = path.symlink_metadata().unwrap();
                let content = std::fs::read_to_string(&path).unwrap_or_default();
                collected.insert(path.clone(), format!("{:o} {} {content}", metadata.mode(), metadata.nlink()));
                if metadata.is_dir() {
                    folders.push(path);
                }
            }
        }
        collected
    }
}

/// Each command tries to change a file outside, or in aye's own folder, which lies in a writable folder.
#[rustfmt::skip]
const WRITES: &[&str] = &[
    // Directly
    "echo x > @/outside/new", "echo x > @/outside/file", "echo x >> @/outside/file", ": > @/outside/file",
    "echo x > ../outside/new", "cd ../outside && echo x > new", "echo x > '@/project/../outside/new'",
    "echo x | tee @/outside/file", "dd if=/dev/zero of=@/outside/file count=1", "cp mine @/outside/", "cp mine @/outside/file",
    "touch @/outside/new", "truncate -s 0 @/outside/file", "truncate -s 99 @/outside/deep/er/file",
    "sed -i s/before/after/ @/outside/file", "install mine @/outside/new", "tar -cf t mine; tar -xf t -C @/outside",
    "git init -q @/outside/repository", "bash -c 'exec 5<>@/outside/file; echo x >&5'", "rm -f @/outside/file",
    "rm -rf @/outside/deep", "rmdir @/outside/empty", "mkdir @/outside/folder", "mkfifo @/outside/pipe",
    "mknod @/outside/null c 1 3", "mknod null c 1 3; mknod disk b 7 0; echo x > null", "unlink @/outside/file",
    // Through links and other names
    "ln -s ../outside out; echo x > out/new", "ln -s @/outside/file l; echo x > l", "ln -s @/outside/none n; echo x > n",
    "ln @/outside/file hard; echo x > hard", "ln mine @/outside/hard", "cp -l @/outside/file hard2; echo x > hard2",
    "ln -s @/outside/empty @/outside/link", "ln -sfn @/outside ../tmp/t; TMPDIR=@/tmp/t mktemp",
    "echo x > /proc/self/cwd/../outside/new", "echo x > /proc/self/root@/outside/new", "echo x > /proc/$PPID/root@/outside/new",
    "echo x > /proc/$PPID/cwd/../outside/new", "exec 3< @/outside/file; echo x > /proc/self/fd/3",
    "exec 3< ../outside; echo x > /proc/self/fd/3/new", "exec 3< @/outside/file; echo x > /dev/fd/3",
    // By moving
    "mv mine @/outside/", "mv @/outside/file .", "mv @/outside/file @/outside/renamed", "mv @/outside/deep .",
    "mv -f mine @/outside/file", "mv ../outside ../gone", "mkdir e; mv -T e @/outside/empty", "mv ../project ../outside/",
    // Through another view of the file system
    "mkdir b; mount --bind ../outside b; echo x > b/new", "mount -t tmpfs none @/outside", "umount -l /proc; umount -l /",
    "unshare -m sh -c 'mount --bind ../outside . && echo x > ../outside/new'",
    "unshare -Ur sh -c 'mkdir -p u; mount --bind ../outside u; echo x > u/new; echo x > @/outside/new'",
    "unshare -Urm --map-root-user sh -c 'echo x > @/outside/new'", "chroot / sh -c 'echo x > @/outside/new'",
    "nsenter -t 1 -m sh -c 'echo x > @/outside/new'", "nsenter -t $PPID -a sh -c 'echo x > @/outside/new'",
    // Through another process
    "(setsid sh -c 'sleep 0.2; echo x > @/outside/new' &); sleep 0.6", "nohup sh -c 'echo x > @/outside/new' &  wait",
    "sudo -n sh -c 'echo x > @/outside/new'", "su -c 'echo x > @/outside/new'", "echo 'touch @/outside/new' | at now",
    "systemd-run --user touch @/outside/new", "crontab -l > c; echo '* * * * * touch @/outside/new' | crontab -",
    "env -i /bin/sh -c 'echo x > @/outside/new'", "xargs -I{} sh -c 'echo x > {}' <<< @/outside/new",
    "find . -maxdepth 0 -exec sh -c 'echo x > @/outside/new' ';'", "awk 'BEGIN { print \"x\" > \"@/outside/new\" }'",
    // aye's own files in a writable folder
    "echo x > @/tmp/own/config/config.toml", "echo x > @/tmp/own/config/rules.toml", "rm -rf @/tmp/own",
    "mv @/tmp/own @/tmp/other", "ln @/tmp/own/config/config.toml s; echo x > s", "mkdir @/tmp/own/data",
    "ln -s @/tmp/own o; echo x > o/config/new", "cd @/tmp; rm -rf *", "mv -f mine @/tmp/own/config/config.toml",
];

#[tokio::test]
async fn r25_commands_change_nothing_outside() {
    if !has_sandbox() {
        return;
    }
    let fixture = EscapeFixture::new();
    let before = fixture.protected_files();
    // Root and an ordinary user try different commands.
    let (step, start) = (4, if rustix::process::geteuid().is_root() { 0 } else { 2 });
    for command in pick_samples(WRITES, step, start) {
        let outcome = fixture.run(command, false).await;
        assert_eq!(fixture.protected_files(), before, "{command}\n{}", outcome.output);
        assert!(fixture.path("project").is_dir(), "{command}");
    }
    assert!(WRITES.len() > 70, "{}", WRITES.len());
}

#[tokio::test]
async fn r25_commands_with_network_change_nothing_outside() {
    if !has_sandbox() {
        return;
    }
    let fixture = EscapeFixture::new();
    let before = fixture.protected_files();
    let (step, start) = (3, 1);
    for command in pick_samples(WRITES, step, start).step_by(5) {
        let outcome = fixture.run(command, true).await;
        assert_eq!(fixture.protected_files(), before, "{command}\n{}", outcome.output);
    }
}

#[tokio::test]
async fn ordinary_commands_work_in_the_sandbox() {
    if !has_sandbox() {
        return;
    }
    let fixture = EscapeFixture::new();
    for (command, output) in [
        (
            "echo a > a; echo b >> a; mkdir -p d/e; mv a d/e/; ln d/e/a h; ln -s h s; cat s; rm s; truncate -s 1 h; cat h",
            "a\nb\na",
        ),
        ("mkdir x; for n in 1 2 3; do echo $n > x/$n; done; cp -r x y; rm -r x; cat y/*", "1\n2\n3\n"),
        ("echo t > @/project/t; cat ../project/t ../outside/file", "t\nbefore"),
        ("echo x > /dev/null; echo y > /dev/stdout; head -c 1 /dev/urandom | wc -c", "y\n1\n"),
        ("mkfifo p; (echo through > p &); cat p", "through\n"),
        ("cat <<< here | tr a-z A-Z", "HERE\n"),
        (
            "git init -q . && git -c user.name=a -c user.email=b commit -q --allow-empty -m x && git log --format=%s",
            "x\n",
        ),
        ("sleep 5 & kill $!; wait $!; echo $?", "143\n"),
        ("timeout 5 sh -c 'exit 3'; echo $?", "3\n"),
        ("ulimit -n 64; ulimit -n", "64\n"),
    ] {
        let outcome = fixture.run(command, false).await;
        assert_eq!((outcome.output.as_str(), outcome.exit), (output, Some(0)), "{command}");
    }
    let access = SandboxAccess { write: vec![fixture.path("outside")], ..SandboxAccess::default() };
    let outcome = fixture.run_with("echo x > @/outside/new && cat @/outside/new", access).await.unwrap();
    assert_eq!(outcome.output, "x\n", "a folder from the settings is not writable");
}

#[tokio::test]
async fn r57_commands_cannot_read_ayes_keys() {
    if !has_sandbox() {
        return;
    }
    let fixture = EscapeFixture::new();
    let file = "@/tmp/own/config/credentials.toml";
    for command in [
        format!("cat {file}"),
        format!("ln -s {file} k; cat k"),
        format!("cp {file} k2; cat k2"),
        format!("ln {file} k3; cat k3"),
        format!("cat /proc/self/root{file}"),
        "cat < /proc/self/cwd/../tmp/own/config/credentials.toml".to_owned(),
        "grep -r . @/tmp @/tmp/own".to_owned(),
        "tar -cf - @ 2>/dev/null | strings".to_owned(),
    ] {
        for network in [false, true] {
            let outcome = fixture.run(&command, network).await;
            assert!(!outcome.output.contains("hunter2"), "{command}\n{}", outcome.output);
        }
    }
}

/// Every command must fail without printing what it tried to read.
#[tokio::test]
async fn r22_commands_cannot_signal_trace_or_inspect_other_processes() {
    if !has_sandbox() {
        return;
    }
    let fixture = EscapeFixture::new();
    let own_pid = std::process::id();
    let mut commands = vec![
        format!("head -c 1 /proc/{own_pid}/environ"),
        format!("head -c 1 /proc/{own_pid}/mem"),
        format!("echo x > /proc/{own_pid}/mem"),
        format!("ls -l /proc/{own_pid}/fd/0"),
        format!("cat /proc/{own_pid}/fd/0 < /dev/null"),
        format!("echo 1 > /proc/{own_pid}/oom_score_adj"),
        "head -c 1 /proc/$PPID/environ".to_owned(),
        "echo x > /proc/$PPID/mem".to_owned(),
        "cat /proc/sys/vm/overcommit_memory > /proc/sys/vm/overcommit_memory".to_owned(),
        "echo core > /proc/sys/kernel/core_pattern".to_owned(),
        "echo x > /sys/kernel/uevent_helper".to_owned(),
        "echo $$ > /sys/fs/cgroup/cgroup.procs".to_owned(),
        "date -s 2001-01-01".to_owned(),
        "hostname changed-by-a-command".to_owned(),
        "echo x > /dev/shm/aye-was-here".to_owned(),
        "echo x > /dev/kmsg".to_owned(),
        "dmesg -c".to_owned(),
        "swapoff -a && false".to_owned(),
        ": < /dev/tty".to_owned(),
        ": > /dev/tty".to_owned(),
        ": < /dev/ptmx".to_owned(),
        "for t in /dev/pts/[0-9]* /dev/tty[0-9]* /dev/console; do (: < $t) && exit; (: > $t) && exit; done; false"
            .to_owned(),
    ];
    if blocks_signals() {
        commands.push(format!("kill -0 {own_pid}"));
        commands.push("kill -0 $PPID".to_owned());
        commands.push("kill -9 $PPID".to_owned());
        commands.push("kill -STOP $PPID".to_owned());
        commands.push("kill -0 1".to_owned());
    }
    for command in commands {
        let outcome = fixture.run(&command, false).await;
        assert_ne!(outcome.exit, Some(0), "{command}\n{}", outcome.output);
        assert!(!Path::new("/dev/shm/aye-was-here").exists(), "{command}");
    }
}

#[tokio::test]
async fn r22_background_processes_of_a_sandboxed_command_end_with_it() {
    if !has_sandbox() {
        return;
    }
    let (fixture, seconds) = (EscapeFixture::new(), unique_sleep_seconds());
    let command = format!(
        "sleep {seconds} & nohup sleep {seconds} > /dev/null 2>&1 & setsid sleep {seconds} & (setsid sh -c 'sleep {seconds}' &); \
         kill -9 $PPID; echo done; exit 4"
    );
    let outcome = fixture.run(&command, false).await;
    if blocks_signals() {
        assert!(outcome.output.ends_with("done\n"), "{}", outcome.output);
        assert_eq!(outcome.exit, Some(4));
    }
    wait_until_none_sleeps(seconds);
}

#[tokio::test]
async fn does_not_run_a_command_if_its_sandbox_cannot_be_set_up() {
    let fixture = EscapeFixture::new();
    let swapped = fixture.path("swapped");
    std::os::unix::fs::symlink(fixture.path("outside"), &swapped).unwrap();
    for write in [fixture.path("gone"), swapped, "not/absolute".into()] {
        let access = SandboxAccess { write: vec![write], ..SandboxAccess::default() };
        let error = fixture.run_with("echo ran > ran", access).await.unwrap_err().to_string();
        assert!(error.starts_with("the command was not run: its sandbox could not be set up"), "{error}");
        assert!(!fixture.path("project/ran").exists());
    }
    if !has_sandbox() {
        let error = fixture.run_with("echo ran > ran", SandboxAccess::default()).await.unwrap_err().to_string();
        assert!(error.starts_with("the command was not run"), "{error}");
        assert!(!fixture.path("project/ran").exists());
    }
}

#[test]
fn probe_reports_what_the_sandbox_allows() {
    let fixture = EscapeFixture::new();
    let gaps = probe::test_sandbox(&program(), &fixture.path("project"), &fixture.path("outside"));
    let expected = match kernel_support() {
        SandboxSupport::Supported { signals: true, .. } => Some(vec![]),
        SandboxSupport::Supported { signals: false, .. } => Some(vec![probe::TestedOperation::SendSignal]),
        SandboxSupport::Unsupported(_) => None,
    };
    assert_eq!(gaps, expected);
}

/// Runs these tests once more as an ordinary user if the suite runs as root.
#[test]
fn r25_sandbox_also_holds_for_an_ordinary_user() {
    if !has_sandbox() || !rustix::process::geteuid().is_root() {
        return;
    }
    let test_folder = Folder::new();
    let [suite, aye] = ["suite", "aye"].map(|name| test_folder.path().join(name));
    copy_program(&std::env::current_exe().unwrap(), &suite);
    copy_program(&program(), &aye);
    let home = test_folder.path().join("home");
    std::fs::create_dir(&home).unwrap();
    for path in [test_folder.path(), &home] {
        std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
    let ids = [format!("--reuid={NOBODY}"), format!("--regid={NOBODY}"), "--clear-groups".to_owned()];
    // `overlay` is skipped because the filter also matches `overlay_sandbox_escapes`. Ten tests remain.
    let outcome = std::process::Command::new("setpriv")
        .args(ids)
        .arg(&suite)
        .args(["sandbox_escapes::", "--skip", "an_ordinary_user", "--skip", "overlay", "--test-threads", "1"])
        .current_dir(&home)
        .env("AYE_TEST_PROGRAM", &aye)
        .envs([("HOME", &home), ("TMPDIR", &home)])
        .output();
    let Ok(ran) = outcome else {
        report_skipped("no setpriv on this machine: tried as root alone");
        return;
    };
    let output = String::from_utf8_lossy(&ran.stdout).into_owned() + &String::from_utf8_lossy(&ran.stderr);
    assert!(ran.status.success() && output.contains("test result: ok. 10 passed"), "{output}");
}
