//! Commands that run without approval, in the real program, as root and as an ordinary user: even if a policy table
//! allows one by mistake, it changes nothing, reaches no other process and opens no sensitive file. Without the sandbox
//! each hostile line succeeds.

mod outcomes;

use crate::sandbox_escapes::has_sandbox;
use crate::support::folder::Folder;
use crate::support::ordinary_user::continue_as_ordinary_user;
use crate::support::pick_samples;
use crate::support::print_uncaptured;
use crate::support::program::program;
use aye::chat::{CommandLine, CommandSandbox, SandboxAccess};
use aye::project::sandbox::probe;
use aye::project::shell::{CommandOutcome, Shell};
use std::collections::BTreeMap;
use std::net::TcpListener;
use std::os::unix::fs::{MetadataExt, PermissionsExt, symlink};
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Content of every sensitive file.
const SECRET: &str = "hunter2";

/// A project with sensitive files of every kind, its surroundings, and processes to reach.
struct ReadOnlyFixture {
    root: Folder,
    shell: Shell,
    port: TcpListener,
    _socket: UnixListener,
    helper: Child,
}

impl ReadOnlyFixture {
    fn new() -> Self {
        let root = Folder::new();
        let base = root.path().canonicalize().unwrap();
        let path_of = |path: &str| base.join(path);
        for folder in [
            "project/keys",
            "project/src/deep",
            "project/.git/hooks",
            "project/.aws",
            "home/.ssh",
            "tmp",
            "own",
            "run",
            "out",
        ] {
            std::fs::create_dir_all(path_of(folder)).unwrap();
        }
        for secret in [
            "project/.env",
            "project/keys/x.pem",
            "project/.git/config",
            "project/.aws/credentials",
            "home/.ssh/id_rsa",
            "tmp/other",
            "own/credentials.toml",
            "out/secret",
            "out/linked",
        ] {
            let text =
                if secret.ends_with("config") { format!("[a]\n\tb = {SECRET}\n") } else { format!("{SECRET}\n") };
            std::fs::write(path_of(secret), text).unwrap();
        }
        for plain in ["project/mine", "project/src/deep/a.txt", "out/file"] {
            std::fs::write(path_of(plain), "before\n").unwrap();
        }
        std::fs::hard_link(path_of("project/.env"), path_of("project/src/hard")).unwrap();
        std::fs::hard_link(path_of("out/linked"), path_of("project/src/elsewhere")).unwrap();
        symlink("../out/secret", path_of("project/link")).unwrap();
        symlink(".env", path_of("project/env")).unwrap();
        std::fs::write(path_of("project/run"), "#!/bin/sh\nprintf rea%s ched\n").unwrap();
        std::fs::set_permissions(path_of("project/run"), std::fs::Permissions::from_mode(0o755)).unwrap();
        let shell =
            Shell::new(program()).with_closed_paths(vec![path_of("own")], vec![path_of("own/credentials.toml")]);
        let port = TcpListener::bind("127.0.0.1:0").unwrap();
        let socket = UnixListener::bind(path_of("run/socket")).unwrap();
        let helper = Command::new("sh")
            .args(["-c", &format!("read -r x; : {SECRET}")])
            .env("AYE_TEST_SECRET", SECRET)
            .current_dir(path_of("project"))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Self { root, shell, port, _socket: socket, helper }
    }

    fn path(&self, path: &str) -> PathBuf {
        self.root.path().canonicalize().unwrap().join(path)
    }

    /// Builds a command line. `@` stands for the root of the fixture, `&&&` for the port and `%%%` for another process.
    fn line(&self, command: &str, sandbox: CommandSandbox) -> CommandLine {
        let command = command
            .replace('@', self.path("").to_str().unwrap().trim_end_matches('/'))
            .replace("&&&", &self.port.local_addr().unwrap().port().to_string())
            .replace("%%%", &self.helper.id().to_string());
        CommandLine { command, folder: self.path("project"), seconds: 20, sandbox, ..CommandLine::default() }
    }

    async fn run_read_only(&self, command: &str) -> CommandOutcome {
        let line = self.line(command, CommandSandbox::enforced(SandboxAccess::default()));
        self.shell.run_read_only(&line, false, &[], &|_| {}).await.unwrap().0
    }

    async fn run_read_only_with_git(&self, command: &str) -> CommandOutcome {
        let line = self.line(command, CommandSandbox::enforced(SandboxAccess::default()));
        self.shell.run_read_only(&line, true, &[], &|_| {}).await.unwrap().0
    }

    async fn run_unsandboxed(&self, command: &str) -> CommandOutcome {
        self.shell.run_command(&self.line(command, CommandSandbox::Unspecified), &|_| {}).await.unwrap()
    }

    /// Every path with its kind, mode, owner, times and content.
    fn snapshot(&self) -> BTreeMap<PathBuf, String> {
        let mut collected = BTreeMap::new();
        let mut folders = vec![self.path("")];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                let metadata = path.symlink_metadata().unwrap();
                let content = if metadata.is_file() { std::fs::read(&path).unwrap_or_default() } else { Vec::new() };
                let (mode, links, times) =
                    (metadata.mode(), metadata.nlink(), (metadata.mtime(), metadata.mtime_nsec()));
                collected.insert(path.clone(), format!("{mode:o} {links} {times:?} {} {content:?}", metadata.uid()));
                if metadata.is_dir() {
                    folders.push(path);
                }
            }
        }
        collected
    }
}

impl Drop for ReadOnlyFixture {
    fn drop(&mut self) {
        let _ = self.helper.kill();
        let _ = self.helper.wait();
    }
}

/// Each line prints the secret or `reached` if it succeeds, or changes something if it writes.
#[rustfmt::skip]
const HOSTILE: &[&str] = &[
    // Reading sensitive files in the project
    "cat .env", "cat < .env", "cat env", "cat keys/x.pem", "cat .aws/credentials", "cat .git/config", "cat src/hard", "cat src/elsewhere",
    "cat .e??", "cd keys && cat *", "grep -r hunter2 .", "grep -rh hunter2 --include='*.pem' .", "dd if=.env", ". ./.env",
    "printf %s \"$(<.env)\"", "while read -r l; do echo $l; done < .env", "mapfile a < .env; echo ${a[0]}", "cat @/project/../project/.env",
    "exec 3< . ; cat /proc/self/fd/3/.env", "cat /proc/self/cwd/.env", "cat /proc/self/root@/project/.env", "tar -cf - . | strings",
    "find . -name '*.pem' -exec cat {} +", "awk 1 .env", "sed -n p keys/x.pem", "sort .env", "od -c .env | tr -d ' ' | grep -q hunter2 && echo reached",
    "diff .env /dev/null", "xxd -p .env | xxd -r -p", "git diff --no-index /dev/null .env", "perl -pe 1 .env", "paste .env mine",
    "ln .env copy && cat copy", "cp .env $TMPDIR/x && cat $TMPDIR/x", "ln .env $TMPDIR/l && cat $TMPDIR/l", "mv .env $TMPDIR/m && cat $TMPDIR/m",
    "rm -rf $TMPDIR/w; ln -s @/project $TMPDIR/w && cat $TMPDIR/w/.env", "bash -c 'exec 5<>.env; cat <&5'",
    // Reading sensitive files elsewhere
    "cat ../out/secret", "cat link", "cat @/home/.ssh/id_rsa", "cat @/tmp/other", "cat @/own/credentials.toml", "grep -r hunter2 @", "ls @/home/.ssh && echo reached",
    "cat /proc/%%%/cwd/../out/secret", "cat /proc/%%%/root@/out/secret", "cat /proc/$PPID/root@/out/secret", "cat /proc/%%%/cmdline",
    "tr '\\0' '\\n' < /proc/%%%/environ", "cat /proc/%%%/status > /dev/null && echo reached", "readlink /proc/%%%/exe && echo reached",
    "grep -q . /etc/fstab /etc/hosts /etc/resolv.conf /etc/profile && echo reached",
    // Writing
    "echo x > new", "echo x > mine", "echo x >> mine", ": > mine", "echo x > ../out/new", "echo x > @/home/new", "echo x > @/tmp/new", "echo x > @/own/new",
    "touch new", "touch mine", "touch -d 2001-01-01 mine", "touch -d 2001-01-01 .", "chmod 600 mine", "chmod 700 .", "rm -f mine", "rm -rf src", "mv mine moved",
    "mv mine ../out/", "ln mine hard2", "ln -s mine soft", "mkdir folder", "rmdir .git/hooks", "mkfifo pipe", "truncate -s 0 mine", "truncate -s 99 @/out/file",
    "sed -i s/before/after/ mine", "dd if=/dev/zero of=mine count=1", "cp mine copy", "tee copy < mine", "sort -o mine mine run", "tree -o mine .", "xxd mine mine2", "uniq mine out.txt",
    "find . -name mine -delete", "tar -cf t.tar mine", "echo x > /proc/self/cwd/new", "exec 3< mine; echo x > /proc/self/fd/3", "exec 3<>mine; echo x >&3",
    "perl -e 'utime 1, 1, \"mine\"'", "perl -e 'truncate \"mine\", 1'", "perl -e 'link \"mine\", \"l2\"'", "perl -e 'chmod 0600, \"mine\"'", "bash -c 'echo x > src/new'",
    "git config -f new a.b c", "git init -q . && touch done", "install -m 600 mine mine3", "patch -p0 <<< $'--- mine\\n+++ mine\\n@@ -1 +1 @@\\n-before\\n+after'",
    "echo x > @/out/deep.txt", "mknod m p", "perl -e 'open F, \"+<\", \"mine\"; syswrite F, \"zzz\"'", "cd /tmp && d=$(mktemp -p @/tmp) && echo x > $d",
    // Other programs and the network
    "exec 3<>/dev/tcp/127.0.0.1/&&& && echo reached", "echo x > /dev/udp/127.0.0.1/&&& && echo reached", "perl -MIO::Socket::INET -e 'print \"reached\" if IO::Socket::INET->new(Listen => 1)'",
    "perl -MIO::Socket::UNIX -e 'print \"reached\" if IO::Socket::UNIX->new(Peer => \"@/run/socket\")'", "perl -MSocket -e 'print \"reached\" if socketpair(A, B, AF_UNIX, SOCK_DGRAM, 0)'",
    "kill -0 %%% && echo reached", "kill -0 $PPID && echo reached", "kill -URG %%% && echo reached", "perl -e 'print \"reached\" if syscall(434, %%%, 0) >= 0'",
    "perl -e 'print \"reached\" if syscall(129, %%%, 0, \"\\0\" x 128) >= 0 or $! == 1 && 0'", "renice -n 19 -p %%% && echo reached", "prlimit --pid %%% --core=0:0 && echo reached",
    "ionice -c 3 -p %%% && echo reached", "taskset -cp 0 %%% && echo reached", "perl -e 'print \"reached\" if syscall(16, 0, 0x5401, 0) == -1 and syscall(101, 16, %%%, 0, 0) == 0'",
    // Other things that a read-only command does not need
    "./run", "bash ./run < /dev/null; sh run", "perl -e 'my $n = \"x\"; print \"reached\" if syscall(319, $n, 0) >= 0'", "flock -n mine echo reached", "unshare -Ur true && echo reached",
    "cp /bin/true $TMPDIR/t && $TMPDIR/t && echo reached", "perl -e 'print \"reached\" if syscall(157, 36, 1, 0, 0, 0) == 0'", "perl -e 'print \"reached\" if syscall(135, 0x40000) >= 0'",
    "perl -e 'print \"reached\" if syscall(253) >= 0'",
];

/// Lines that fail on some machines even without a sandbox.
#[rustfmt::skip]
const NOT_EVERYWHERE: &[&str] = &[
    "unshare", "ionice", "taskset", "tree", "patch", "syscall(129", "syscall(101", "xxd", "flock", "/proc/$PPID/root", "sh run", "syscall(16",
];

fn has_escaped(ran: &CommandOutcome) -> bool {
    ran.output.contains(SECRET) || ran.output.contains("reached")
}

#[test]
fn hostile_lines_change_nothing_reach_no_process_and_open_no_sensitive_file() {
    if !has_sandbox() {
        return print_uncaptured("LEFT OUT: the sandbox is not available");
    }
    continue_as_ordinary_user(
        "read_only_sandbox::hostile_lines_change_nothing_reach_no_process_and_open_no_sensitive_file",
    );
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let fixture = ReadOnlyFixture::new();
        let before = fixture.snapshot();
        for line in HOSTILE {
            let outcome = fixture.run_read_only(line).await;
            // A shell reads a script like any other file; the script is not executed.
            let is_read = *line == "bash ./run < /dev/null; sh run";
            assert!(!has_escaped(&outcome) || is_read, "{line}\n{}", outcome.output);
            assert_eq!(fixture.snapshot(), before, "{line}\n{}", outcome.output);
        }
        // Without the sandbox each line succeeds. In a quick run root and the ordinary user try different lines.
        let mut ineffective = Vec::new();
        for line in pick_samples(HOSTILE, 4, if rustix::process::geteuid().is_root() { 1 } else { 3 }) {
            let fixture = ReadOnlyFixture::new();
            let before = fixture.snapshot();
            let line = line.replace("$TMPDIR", "@/tmp");
            let outcome = fixture.run_unsandboxed(&line).await;
            if !has_escaped(&outcome) && fixture.snapshot() == before {
                ineffective.push(format!("{line}: {}", outcome.output));
            }
        }
        ineffective.retain(|line| !NOT_EVERYWHERE.iter().any(|part| line.contains(part)));
        assert!(ineffective.is_empty(), "these prove nothing: {ineffective:#?}");
    });
}

#[test]
fn root_reads_no_more_of_the_system_than_an_ordinary_user() {
    if !has_sandbox() || !rustix::process::geteuid().is_root() {
        return;
    }
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let fixture = ReadOnlyFixture::new();
        for line in [
            "cat /etc/shadow && echo reached",
            "echo x > /etc/aye-was-here && echo reached",
            "mount -t tmpfs none @/out && echo reached",
            "chown 1 mine && echo reached",
            "perl -e '$) = 65534; $> = 65534; print \"reached\" if $> == 65534'",
            "mknod n c 1 3 && echo reached",
            "chroot / true && echo reached",
            "head -c 1 /dev/vda /dev/sda /dev/mem && echo reached",
            "cat /proc/1/environ && echo reached",
            "hostname aye-was-here && echo reached",
            "date -s 2001-01-01 && echo reached",
            "cat /root/.bashrc && echo reached",
            "dmesg && echo reached",
        ] {
            let outcome = fixture.run_read_only(line).await;
            assert!(!outcome.output.contains("reached"), "{line}\n{}", outcome.output);
        }
        for line in ["cat /etc/shadow", "chown 1 mine"] {
            assert_eq!(fixture.run_unsandboxed(line).await.exit, Some(0), "{line}");
        }
    });
}

#[tokio::test]
async fn sensitive_file_created_between_two_commands_is_withheld() {
    if !has_sandbox() {
        return;
    }
    let fixture = ReadOnlyFixture::new();
    assert!(fixture.run_read_only("cat src/deep/a.txt").await.output.contains("before"));
    // Now all folders are so old that their modification times are trusted.
    std::thread::sleep(std::time::Duration::from_millis(2200));
    assert!(fixture.run_read_only("cat src/deep/a.txt").await.output.contains("before"));
    let made = format!(
        "echo {SECRET} > src/deep/.env; mkdir -p src/new; echo {SECRET} > src/new/a; mv src/new/a src/new/id_rsa; ln src/deep/.env src/b"
    );
    assert_eq!(fixture.run_unsandboxed(&made).await.exit, Some(0));
    for path in ["src/deep/.env", "src/new/id_rsa", "src/b"] {
        let outcome = fixture.run_read_only(&format!("cat {path}")).await;
        assert!(!outcome.output.contains(SECRET) && outcome.exit != Some(0), "{path}: {}", outcome.output);
        assert!(fixture.run_unsandboxed(&format!("cat {path}")).await.output.contains(SECRET));
    }
    assert!(fixture.run_read_only("cat src/deep/a.txt").await.output.contains("before"));
    fixture.run_unsandboxed("mv src/deep/.env src/deep/plain; rm src/b").await;
    assert!(fixture.run_read_only("cat src/deep/plain").await.output.contains(SECRET), "it is no longer sensitive");
}

#[test]
fn ordinary_read_only_commands_work() {
    if !has_sandbox() {
        return;
    }
    continue_as_ordinary_user("read_only_sandbox::ordinary_read_only_commands_work");
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let fixture = ReadOnlyFixture::new();
        std::fs::remove_dir_all(fixture.path("project/.git")).unwrap();
        let setup_command = "git init -q . && git add mine src/deep && git -c user.name=a -c user.email=b commit -qm first && echo after > mine";
        assert_eq!(fixture.run_unsandboxed(setup_command).await.exit, Some(0));
        for (line, output) in [
            ("cat mine", "after\n"),
            ("cat ./src/deep/a.txt | tr a-z A-Z | rev", "EROFEB\n"),
            ("grep -rn before src/deep", "src/deep/a.txt:1:before\n"),
            ("ls src; ls -a keys | tail -1", "deep\nelsewhere\nhard\nx.pem\n"),
            ("ls -ld mine | wc -l; stat -c %s mine; stat -c %s .env", "1\n6\n8\n"),
            ("find . -name a.txt -type f", "./src/deep/a.txt\n"),
            ("awk '{ print $1 }' mine; sed -n 1p mine", "after\nafter\n"),
            ("diff <(echo a) <(echo a) && cat <<< here", "here\n"),
            ("cat << END\ntext\nEND", "text\n"),
            ("seq 3 | sort -rn | head -1; wc -l < mine", "3\n1\n"),
            ("seq 200000 | sort -S 50k -rn | head -1", "200000\n"),
            ("timeout 5 sh -c 'exit 3'; echo $?", "3\n"),
            ("nice -n 5 true; echo $?", "0\n"),
            ("sleep 5 & kill $!; wait $! 2> /dev/null; echo ended", "ended\n"),
            ("echo x > $TMPDIR/x && cat $TMPDIR/x && mkdir $TMPDIR/d && rm -r $TMPDIR/d", "x\n"),
            ("echo x > /dev/null; head -c 2 /dev/zero | wc -c", "2\n"),
            ("date -u -d 1970-01-01 +%Y; TZ=UTC date -d 1970-01-01 +%H", "1970\n00\n"),
            ("id -u > /dev/null && uname > /dev/null && nproc > /dev/null && which cat > /dev/null && pwd > /dev/null; echo $?", "0\n"),
            ("xargs -n1 echo <<< 'a b'", "a\nb\n"),
        ] {
            let outcome = fixture.run_read_only(line).await;
            // If the kernel cannot keep signals within the sandbox, the sandbox denies `kill`.
            if line.contains("sleep 5") && !restricts_signals() {
                continue;
            }
            assert_eq!((outcome.output.as_str(), outcome.exit), (output, Some(0)), "{line}");
        }
        for (line, part) in [
            ("git status --short", " M mine"),
            ("git log --oneline", "first"),
            ("git diff", "+after"),
            ("git show HEAD:mine", "before"),
            ("git ls-files", "src/deep/a.txt"),
            ("git branch", "*"),
            ("git blame mine", "after"),
        ] {
            let outcome = fixture.run_read_only_with_git(line).await;
            assert!(outcome.output.contains(part) && outcome.exit == Some(0), "{line}: {}", outcome.output);
            assert!(!outcome.output.contains("warning") && !outcome.output.contains("denied"), "{line}: {}", outcome.output);
        }
        for (program, line) in [("rg", "rg before src/deep"), ("jq", "jq -n 1"), ("file", "file mine"), ("tree", "tree src/deep"), ("od", "od -c mine"), ("free", "free"), ("uptime", "uptime")] {
            if Command::new("sh").args(["-c", &format!("command -v {program}")]).stdout(Stdio::null()).status().unwrap().success() {
                let outcome = fixture.run_read_only(line).await;
                assert_eq!(outcome.exit, Some(0), "{line}: {}", outcome.output);
            }
        }
    });
}

fn restricts_signals() -> bool {
    use aye::project::sandbox::{SandboxSupport, kernel_support};
    matches!(kernel_support(), SandboxSupport::Supported { signals: true, .. })
}

#[tokio::test]
async fn temporary_folder_of_a_command_is_private_and_removed_afterwards() {
    if !has_sandbox() {
        return;
    }
    let fixture = ReadOnlyFixture::new();
    let mut folders = Vec::new();
    for line in [
        "stat -c %a $TMPDIR; echo x > $TMPDIR/x; mkdir -p $TMPDIR/a/b; echo $TMPDIR",
        "stat -c %a $TMPDIR; (setsid sh -c 'sleep 60; echo x > $TMPDIR/late' &); echo $TMPDIR",
    ] {
        let outcome = fixture.run_read_only(line).await;
        let (mode, folder) = outcome.output.trim_end().split_once('\n').unwrap();
        assert_eq!(mode, "700", "{}", outcome.output);
        assert!(Path::new(folder).is_absolute() && !Path::new(folder).exists(), "{folder} still exists");
        folders.push(folder.to_owned());
    }
    assert_ne!(folders[0], folders[1]);
}

#[tokio::test]
async fn project_below_usr_keeps_its_secrets() {
    // `/usr` is readable as a whole unless the project is in it; containers often use `/usr/src/app`.
    let Ok(root) = tempfile::tempdir_in("/usr/src") else { return };
    if !has_sandbox() {
        return;
    }
    let root = root.path().canonicalize().unwrap();
    std::fs::write(root.join(".env"), SECRET).unwrap();
    std::fs::write(root.join("mine"), "before").unwrap();
    let line = CommandLine {
        command: "cat mine; cat .env".into(),
        folder: root,
        seconds: 20,
        sandbox: CommandSandbox::enforced(SandboxAccess::default()),
        ..CommandLine::default()
    };
    let shell = Shell::new(program());
    let outcome = shell.run_read_only(&line, false, &[], &|_| {}).await.unwrap().0;
    assert!(outcome.output.contains("before") && !outcome.output.contains(SECRET), "{}", outcome.output);
    assert!(shell.run_command(&line, &|_| {}).await.unwrap().output.contains(SECRET));
}

#[test]
fn read_only_probe_finds_no_gaps() {
    let folder = Folder::new();
    let gaps = probe::test_read_only(&program(), &folder.path().canonicalize().unwrap());
    assert_eq!(gaps, has_sandbox().then(Vec::new));
}

#[tokio::test]
async fn r13_approved_sensitive_file_is_opened_only_under_its_own_name() {
    if !has_sandbox() {
        return;
    }
    let fixture = ReadOnlyFixture::new();
    for name in ["one.env", "two.env", "own.env"] {
        std::fs::write(fixture.path("project").join(name), format!("{SECRET}\n")).unwrap();
    }
    symlink("two.env", fixture.path("project/way.env")).unwrap();
    let shell =
        fixture.shell.clone().with_closed_paths(vec![fixture.path("own"), fixture.path("project/own.env")], Vec::new());
    let sandbox = || CommandSandbox::enforced(SandboxAccess::default());
    let output_of = async |command: &str, named: &[&str]| {
        let named: Vec<PathBuf> = named.iter().map(PathBuf::from).collect();
        shell.run_read_only(&fixture.line(command, sandbox()), false, &named, &|_| {}).await.unwrap().0.output
    };
    assert!(!output_of("cat one.env", &[]).await.contains(SECRET));
    assert_eq!(output_of("cat one.env", &["one.env"]).await, format!("{SECRET}\n"));
    let both = output_of("cat one.env two.env; cat .env; echo x > one.env", &["one.env"]).await;
    assert_eq!(both.matches(SECRET).count(), 1, "{both}");
    assert_eq!(std::fs::read_to_string(fixture.path("project/one.env")).unwrap(), format!("{SECRET}\n"));
    // A file with several names, a link, a folder, a file of aye itself, and files outside.
    for (command, name) in [
        ("cat .env src/hard", ".env"),
        ("cat way.env two.env", "way.env"),
        ("cat own.env", "own.env"),
        ("cat *.env", "."),
        ("cat ../out/secret", "../out/secret"),
        ("cat ../out/secret", "@/out/secret"),
    ] {
        let name = name.replace('@', fixture.path("").to_str().unwrap().trim_end_matches('/'));
        let output = output_of(command, &[&name]).await;
        assert!(!output.contains(SECRET), "{command}: {output}");
    }
    // It was a regular file when the command was planned.
    std::fs::remove_file(fixture.path("project/one.env")).unwrap();
    symlink("../out/secret", fixture.path("project/one.env")).unwrap();
    assert!(!output_of("cat one.env", &["one.env"]).await.contains(SECRET));
    std::fs::remove_file(fixture.path("project/one.env")).unwrap();
    std::fs::hard_link(fixture.path("out/secret"), fixture.path("project/one.env")).unwrap();
    assert!(!output_of("cat one.env", &["one.env"]).await.contains(SECRET));
}
