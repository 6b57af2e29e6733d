//! Commands of a dry run that try to change something real, in the real program, as root and as an ordinary user: the
//! project, the home, temporary folders, aye's own files, shared sockets and the process list are the same before and
//! after.

use crate::support::folder::Folder;
use crate::support::processes::read_process_files;
use crate::support::program::program;
use crate::support::stored_files::share_program;
use crate::support::{pick_samples, print_uncaptured, report_skipped};
use aye::chat::{CommandLine, CommandSandbox, Digest, SandboxAccess};
use aye::project::disk::Disk;
use aye::project::overlay_sandbox::{DisclosedPaths, OverlayShell, View, test_overlay_sandbox};
use aye::project::rehearsal::Rehearsal;
use aye::project::shell::{CommandOutcome, Shell};
use aye::project::{Error, Reader};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use std::collections::BTreeMap;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Returns whether the overlay sandbox works here; otherwise the test output says that tests were left out.
pub fn has_overlay_sandbox() -> bool {
    let root = Folder::new();
    std::fs::create_dir(root.path().join("project")).unwrap();
    match test_overlay_sandbox(&program(), &root.path().join("project"), &root.path().join("beside")) {
        Ok(()) => true,
        Err(why) => {
            report_skipped(&format!("no overlay sandbox here: {why}"));
            false
        }
    }
}

/// A quick run tries every sixth of the hostile commands; root and an ordinary user try different ones.
const QUICK_STEP: usize = 6;

/// Each tries to change something real. `@` stands for the root of the fixture, `#` for a port that is listened on, `%`
/// for the executable of this suite.
#[rustfmt::skip]
const HOSTILE: &[&str] = &[
    // Plain writes outside
    "echo x > @/outside/new", "echo x > @/outside/file", ": > @/outside/file", "cp mine @/outside/file", "truncate -s 0 @/outside/file",
    "sed -i s/before/after/ @/outside/file", "dd if=/dev/zero of=@/outside/file count=1", "chmod 777 @/outside/file", "touch -d 2001-01-01 @/outside/file",
    "echo x > /etc/aye-was-here; echo x > /usr/aye-was-here; echo x > /aye-was-here; echo x > /var/lib/aye-was-here",
    "echo x > /tmp/aye-was-here; echo x > /var/tmp/aye-was-here; echo x > /dev/shm/aye-was-here", "mkdir -p /opt/aye-was-here/deep",
    "echo x >> /etc/passwd; echo x >> /etc/shadow; useradd aye-was-here", "echo x > $HOME/.bashrc; echo x >> $HOME/.profile; rm -rf $HOME/.ssh",
    // Files of the project
    "echo changed > mine", "rm -rf .", "rm -rf ./* .[a-z]*", "git init -q . && git config user.name me && git add -A && git -c user.email=a@b commit -qm x",
    "mv deep moved && chmod -R 000 moved", "find . -type f -exec sh -c 'echo x > \"$1\"' _ {} ';'", "tar -cf t . && tar -xf t --overwrite",
    "chown -R 1:1 . ; chattr +i mine; setfattr -n user.x -v y mine", "ln -f mine hard && echo x > hard", "ln -f @/outside/file hard2 && echo x >> hard2",
    "mkfifo p; mknod n c 1 3; mknod d b 254 0 && dd if=/dev/zero of=d count=1", "cat /dev/zero | head -c 5000000 > big",
    // Everything reachable
    "timeout 5 rm -rf --no-preserve-root /", "rm -rf @", "timeout 10 rm -rf $HOME /tmp/* @/outside @/own", "timeout 5 find / -xdev -newermt 2001-01-01 -name 'aye-*' -delete",
    "mv @/project @/elsewhere; mv @/outside @/project2", "rm -rf @/layer; rm -rf @/own/data", "echo x > @/own/config/config.toml; ls -a @/own/config",
    "echo x > @/layer/upper/planted; mkdir -p @/layer/upper/x", "cat @/own/config/credentials.toml; grep -r hunter2 @ /proc/1/environ",
    // Through links and other names
    "ln -s @/outside out; echo x > out/new; rm -rf out/", "ln -s / root; echo x > root/aye-was-here", "echo x > /proc/self/root@/outside/new",
    "echo x > /proc/1/root@/outside/new; echo x > /proc/1/cwd/../outside/new", "echo x > /proc/self/cwd/../outside/file", "ls -l /proc/1/fd /proc/$PPID/fd; for f in /proc/[0-9]*/fd/*; do echo x > $f; done 2>/dev/null",
    "for n in 3 4 5 6 7 8 9 10 11 12; do eval \"echo x >&$n\"; cd /proc/self/fd/$n && echo x > new; done 2>/dev/null",
    // Through another view of the file systems
    "mkdir -p b; mount --bind @/outside b && echo x > b/new", "mount -o remount,rw / && echo x > /aye-was-here", "mount -t tmpfs none @/outside; umount -l @/project; umount -l /; echo x > mine",
    "unshare -Urm sh -c 'mount -o remount,rw,bind / ; umount @/project; echo x > @/project/mine; echo x > @/outside/new'",
    "nsenter -t 1 -a sh -c 'echo x > @/outside/new'; nsenter -t $PPID -m touch @/outside/new", "chroot /proc/1/root sh -c 'echo x > @/outside/new'", "pivot_root . .; mount -t proc proc /proc",
    "debugfs -w -R 'rm @/outside/file' /dev/vda; dd if=/dev/zero of=/dev/sda count=1; losetup -f mine",
    // System settings and devices
    "echo 1 > /proc/sys/kernel/sysrq; echo b > /proc/sysrq-trigger", "echo '|@/project/mine' > /proc/sys/kernel/core_pattern; sysctl -w kernel.pid_max=400", "echo 800 > /proc/1/oom_score_adj; echo x > /proc/self/mem; echo x > /proc/1/mem",
    "echo x > /sys/kernel/uevent_helper; echo $$ > /sys/fs/cgroup/cgroup.procs", "hostname aye-was-here; date -s 2001-01-01; hwclock -w; dmesg -c; swapoff -a; modprobe dummy; insmod mine; kexec -l mine; reboot -f",
    "chmod 000 /dev/null; chown 1 /dev/zero; rm -f /dev/null /dev/full; mv /dev/zero /dev/z; chmod 777 /proc /sys /etc /dev/random",
    "ipcmk -M 64; ipcmk -Q; ipcrm -a", "renice -n -20 -p 1; ionice -c1 -p 1; prlimit --pid 1 --nofile=1", "cat < /dev/tty; echo x > /dev/tty; echo x > /dev/console; cat /dev/kmsg", "for t in /dev/pts/[0-9]* /dev/tty[0-9]*; do echo x > $t; done; script -c true t",
    // By other processes, also later
    "(setsid sh -c 'sleep 600' &)", "nohup sleep 600 > /dev/null 2>&1 &", "sleep 600 & disown; kill -9 $PPID", "(trap '' TERM HUP INT; while :; do sleep 1; done) & (setsid setsid sh -c 'trap \"\" TERM; sleep 600; touch @/outside/new' &)",
    "echo 'touch @/outside/new' | at now; echo '* * * * * touch @/outside/new' | crontab -; crontab -r", "systemd-run --user touch @/outside/new; systemd-run touch @/outside/new; systemctl restart ssh; loginctl enable-linger",
    "sudo -n touch @/outside/new; su -c 'touch @/outside/new'; pkexec touch @/outside/new; doas touch @/outside/new", "screen -dm sleep 600; tmux new -d sleep 600; start-stop-daemon --start --background --exec /bin/sleep -- 600", "kill -9 -1; pkill -9 aye; killall5 -9; kill -9 $(seq 2 400) 2>/dev/null",
    "gdb -p 1 -batch -ex 'call (int)system(\"touch @/outside/new\")'; strace -p 1 -o t & sleep 0.1", ":(){ :|:& };: ; sleep 1",
    // The network and other programs
    "exec 3<>/dev/tcp/127.0.0.1/#; echo x >&3", "echo x > /dev/udp/127.0.0.1/#", "curl -sS -m 3 http://127.0.0.1:#/", "curl -sS -m 3 http://1.1.1.1/; wget -T 3 -t 1 http://1.1.1.1/; ping -c 1 -W 1 1.1.1.1; nslookup example.com; ssh -o ConnectTimeout=2 127.0.0.1",
    "curl -sS -m 3 --unix-socket @/run/socket http://x/; curl -sS -m 3 --abstract-unix-socket @/run/socket http://x/", "docker run --rm -v /:/h alpine touch /h/aye-was-here; DBUS_SESSION_BUS_ADDRESS=unix:path=@/run/socket dbus-send --session / a.b",
    "nc -U @/run/socket < mine; nc -z 127.0.0.1 #; python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", #))'", "ip link set lo down; ip link add d type dummy; iptables -F; ip netns add aye-was-here; nsenter --net=/proc/1/ns/net curl -m 2 http://127.0.0.1:#/",
    "AYE_TEST_REACH='# @/run/socket' '%' --exact overlay_sandbox_escapes::child_that_tries_to_connect --nocapture", "git clone http://127.0.0.1:#/x; cargo install aye-was-here; npm i x; pip install x",
];

/// A project, a home, a folder for temporary files, aye's own files and other files, all in one root folder.
struct EscapeFixture {
    root: PathBuf,
    shell: OverlayShell,
    rehearsal: Arc<Rehearsal>,
}

impl EscapeFixture {
    fn new(root: &Path) -> Self {
        let path_of = |path: &str| root.join(path);
        for folder in
            ["project/deep/er", "home/.ssh", "tmp", "own/config", "own/data/sessions", "outside/deep", "run", "layer"]
        {
            std::fs::create_dir_all(path_of(folder)).unwrap();
        }
        for file in [
            "project/mine",
            "project/.hidden",
            "project/deep/er/file",
            "home/.bashrc",
            "home/.ssh/id",
            "tmp/file",
            "own/config/config.toml",
            "own/data/sessions/one",
            "outside/file",
            "outside/deep/file",
        ] {
            std::fs::write(path_of(file), "before").unwrap();
        }
        std::fs::write(path_of("own/config/credentials.toml"), "hunter2").unwrap();
        let shell =
            Shell::new(program()).with_closed_paths(vec![path_of("own")], vec![path_of("own/config/credentials.toml")]);
        let rehearsal = Arc::new(Rehearsal::new(Arc::new(Disk::new(&path_of("project")).unwrap()), path_of("layer")));
        let read = vec![std::env::current_exe().unwrap()];
        let disclosed = DisclosedPaths { read, is_writable: true };
        let shell = OverlayShell::new(Arc::new(shell), rehearsal.clone()).with_disclosed(disclosed);
        Self { root: root.to_owned(), shell, rehearsal }
    }

    async fn run(&self, command: &str, seconds: u64) -> Result<CommandOutcome, Error> {
        let reach = SandboxAccess { write: vec![self.root.join("tmp")], ..SandboxAccess::default() };
        let line = CommandLine {
            command: command.to_owned(),
            folder: self.root.join("project"),
            seconds,
            sandbox: CommandSandbox::enforced(reach),
            ..CommandLine::default()
        };
        self.shell.run_in_overlay(&line, View::WithoutSecrets, &|_| {}).await
    }

    /// Every path outside the overlay with its kind, mode, owner, times and content.
    fn snapshot(&self) -> BTreeMap<PathBuf, String> {
        let mut collected = BTreeMap::new();
        for path in ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/etc", "/proc", "/sys"].map(PathBuf::from) {
            let metadata = path.metadata().unwrap();
            collected.insert(path, format!("{:o} {}:{}", metadata.mode(), metadata.uid(), metadata.gid()));
        }
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path == self.root.join("layer") {
                    continue;
                }
                let metadata = path.symlink_metadata().unwrap();
                let content = if metadata.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
                let state = format!(
                    "{:o} {} {}:{} {}.{} {}",
                    metadata.mode(),
                    metadata.nlink(),
                    metadata.uid(),
                    metadata.gid(),
                    metadata.mtime(),
                    metadata.mtime_nsec(),
                    Digest::of_bytes(&content)
                );
                collected.insert(path.clone(), state);
                if metadata.is_dir() {
                    folders.push(path);
                }
            }
        }
        collected
    }
}

/// Files that a command may have left elsewhere on this machine.
fn files_left_elsewhere() -> Vec<PathBuf> {
    let folders = ["/etc", "/usr", "/", "/var/lib", "/tmp", "/var/tmp", "/dev/shm", "/opt", "/run/netns"];
    let marker_files = folders.map(|folder| Path::new(folder).join("aye-was-here"));
    marker_files.into_iter().filter(|path| path.symlink_metadata().is_ok()).collect()
}

/// Processes with this mark in their environment, except this one and its parent.
fn processes_with_mark(mark: &str) -> Vec<String> {
    let own_pids = [std::process::id(), std::os::unix::process::parent_id()];
    let mut environments = read_process_files("environ");
    environments.retain(|(pid, all)| !own_pids.contains(&pid.unsigned_abs()) && contains(all, mark.as_bytes()));
    let describe = |(pid, _): &(i32, Vec<u8>)| {
        let command_line = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        format!("{pid} {}", String::from_utf8_lossy(&command_line))
    };
    environments.iter().map(describe).collect()
}

fn contains(all: &[u8], part: &[u8]) -> bool {
    all.windows(part.len()).any(|window| window == part)
}

/// The whole trial, in a process with its own home and environment.
#[tokio::test]
async fn child_running_the_trial() {
    let (Some(root), Some(mark)) = (std::env::var_os("AYE_TEST_OVERLAY"), std::env::var("AYE_TEST_OVERLAY_MARK").ok())
    else {
        return;
    };
    let fixture = EscapeFixture::new(Path::new(&root));
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    let udp = UdpSocket::bind(("127.0.0.1", port)).unwrap();
    let path = fixture.root.join("run/socket");
    let named = UnixListener::bind(&path).unwrap();
    let abstract_socket = SocketAddr::from_abstract_name(path.to_str().unwrap().as_bytes()).unwrap();
    let abstract_socket = UnixListener::bind_addr(&abstract_socket).unwrap();
    tcp.set_nonblocking(true).unwrap();
    udp.set_nonblocking(true).unwrap();
    named.set_nonblocking(true).unwrap();
    abstract_socket.set_nonblocking(true).unwrap();
    let is_contacted = || {
        let mut byte = [0; 8];
        tcp.accept().is_ok()
            || udp.recv(&mut byte).is_ok()
            || named.accept().is_ok()
            || abstract_socket.accept().is_ok()
    };
    let suite = std::env::current_exe().unwrap();
    let (before, host) = (fixture.snapshot(), rustix::system::uname().nodename().to_owned());

    // Commands do run, and later ones see the changes of earlier ones.
    let outcome = fixture
        .run("echo ran > made; echo there > ~/made; echo t > /tmp/aye-was-here; mv deep/er gone; cat mine made", 60)
        .await;
    assert_eq!(outcome.unwrap().output, "beforeran\n");
    let ran =
        fixture.run("cat made ~/made /tmp/aye-was-here gone/file; ls deep; rm /tmp/aye-was-here", 60).await.unwrap();
    assert_eq!((ran.output.as_str(), ran.exit), ("ran\nthere\nt\nbefore", Some(0)));
    assert_eq!(fixture.rehearsal.read(&fixture.rehearsal.locate("made").unwrap()).unwrap(), b"ran\n");
    assert_eq!(fixture.snapshot(), before);

    let (with_suite, others): (Vec<&str>, Vec<&str>) = HOSTILE.iter().partition(|command| command.contains('%'));
    let from = if rustix::process::geteuid().is_root() { 3 } else { 0 };
    let tried: Vec<&str> = with_suite.into_iter().chain(pick_samples(&others, QUICK_STEP, from).copied()).collect();
    for line in &tried {
        let command = line
            .replace('@', fixture.root.to_str().unwrap())
            .replace('#', &port.to_string())
            .replace('%', suite.to_str().unwrap());
        // Commands that must finish get enough time for the busiest machine.
        let seconds = if line.contains('%') { 120 } else { 10 };
        let outcome = fixture.run(&command, seconds).await.unwrap_or_else(|error| panic!("{command}: {error}"));
        assert_eq!(fixture.snapshot(), before, "{command}\n{}", outcome.output);
        assert_eq!(files_left_elsewhere(), Vec::<PathBuf>::new(), "{command}\n{}", outcome.output);
        assert!(!is_contacted(), "{command} reached another process\n{}", outcome.output);
        assert!(!outcome.output.contains("hunter2"), "{command}\n{}", outcome.output);
        assert!(!outcome.output.contains("reached: [\""), "{command}\n{}", outcome.output);
        if command.contains("overlay_sandbox_escapes::child_that_tries_to_connect") {
            assert!(outcome.output.contains("reached: []"), "{command}\n{}", outcome.output);
        }
        // A killed process may stay in the list for a moment.
        let started = Instant::now();
        while !processes_with_mark(&mark).is_empty() && started.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(processes_with_mark(&mark), [""; 0], "{command}\n{}", outcome.output);
    }
    assert!(rustix::system::uname().nodename() == host.as_c_str());
    assert!(
        TcpStream::connect(("127.0.0.1", port)).is_ok() && is_contacted(),
        "outside the sandbox they can be reached"
    );
    assert!(HOSTILE.len() >= 60, "{}", HOSTILE.len());
    print_uncaptured(&format!(
        "{} hostile commands by user {}: nothing real was changed",
        tried.len(),
        rustix::process::geteuid().as_raw()
    ));
}

/// Runs in the overlay sandbox, as a command of this suite: prints what it could reach.
#[test]
fn child_that_tries_to_connect() {
    let Some(target) = std::env::var_os("AYE_TEST_REACH") else { return };
    let target = target.into_string().unwrap();
    let (port, path) = target.split_once(' ').unwrap();
    let port: u16 = port.parse().unwrap();
    let mut reached = Vec::new();
    let mut check = |description: &str, is_reached: bool| {
        if is_reached {
            reached.push(description.to_owned());
        }
    };
    check("TCP", TcpStream::connect(("127.0.0.1", port)).is_ok());
    check("a socket", UnixStream::connect(path).is_ok());
    let hidden = SocketAddr::from_abstract_name(path.as_bytes()).unwrap();
    check("an abstract socket", UnixStream::connect_addr(&hidden).is_ok());
    let families = [AddressFamily::PACKET, AddressFamily::VSOCK, AddressFamily::BLUETOOTH, AddressFamily::UNIX];
    for family in families {
        for kind in [SocketType::STREAM, SocketType::DGRAM, SocketType::RAW] {
            check("a socket of another family", socket_with(family, kind, SocketFlags::empty(), None).is_ok());
        }
    }
    let raw = Some(rustix::net::ipproto::ICMP);
    check("a raw socket", socket_with(AddressFamily::INET, SocketType::RAW, SocketFlags::empty(), raw).is_ok());
    // The sandbox has its own loopback.
    let own = TcpListener::bind("127.0.0.1:0").and_then(|own| TcpStream::connect(own.local_addr()?).map(|_| own));
    check("its own loopback does not work", own.is_err());
    print_uncaptured(&format!("reached: {reached:?}"));
}

/// Starts the trial in its own process, as this user if one is given.
fn run_trial(user: Option<u32>) {
    let root = Folder::new();
    let root = root.path().canonicalize().unwrap();
    std::fs::set_permissions(&root, std::fs::Permissions::from_mode(0o755)).unwrap();
    let path_of = |path: &str| root.join(path);
    for folder in ["programs", "trial", "trial/home", "trial/tmp"] {
        std::fs::create_dir(path_of(folder)).unwrap();
        std::fs::set_permissions(path_of(folder), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    // The build folder may be closed to other users, and is not visible in the sandbox.
    let [aye, suite] = [("aye", program()), ("suite", std::env::current_exe().unwrap())].map(|(name, from)| {
        let to = path_of("programs").join(name);
        share_program(&from, &to);
        to
    });
    if let Some(user) = user {
        for folder in ["trial", "trial/home", "trial/tmp"] {
            std::os::unix::fs::chown(path_of(folder), Some(user), Some(user)).unwrap();
        }
    }
    let mark = format!("mark-{}-{}", std::process::id(), user.unwrap_or(0));
    let mut command = std::process::Command::new(suite);
    command
        .args(["--exact", "overlay_sandbox_escapes::child_running_the_trial", "--nocapture"])
        .current_dir(path_of("trial"));
    command.env("AYE_TEST_OVERLAY", path_of("trial")).env("AYE_TEST_OVERLAY_MARK", &mark).env("AYE_TEST_PROGRAM", aye);
    command.env("HOME", path_of("trial/home")).env("TMPDIR", path_of("trial/tmp"));
    if let Some(user) = user {
        command.uid(user).gid(user);
    }
    let result = command.output().unwrap();
    let output = String::from_utf8_lossy(&result.stdout);
    assert!(result.status.success(), "{output}\n{}", String::from_utf8_lossy(&result.stderr));
    let last = output.lines().find(|line| line.contains("nothing real was changed")).expect("the trial ran");
    print_uncaptured(last);
}

#[test]
fn r30_no_command_of_a_dry_run_changes_anything_real() {
    if has_overlay_sandbox() {
        run_trial(None);
    }
}

#[test]
fn r30_no_command_of_an_ordinary_users_dry_run_changes_anything_real() {
    if !rustix::process::geteuid().is_root() {
        return report_skipped("the suite already runs as an ordinary user");
    }
    let unshared = std::process::Command::new("unshare").args(["-Ur", "true"]).uid(65534).gid(65534).output();
    if !unshared.is_ok_and(|done| done.status.success()) {
        return report_skipped("an ordinary user may make no namespaces here");
    }
    run_trial(Some(65534));
}
