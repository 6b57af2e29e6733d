//! Commands of a dry run that try to touch something real, by the real program, as root and as an ordinary person: the
//! project, the home, the folders for temporary files, aye's own, everybody's sockets and the list of processes are the
//! same before and after.

use crate::support::folder::Folder;
use crate::support::program::program;
use crate::support::stored_files::share_program;
use crate::support::{pick_samples, print_uncaptured, report_skipped};
use aye::chat::{CommandLine, CommandSandbox, SandboxAccess};
use aye::project::disk::Disk;
use aye::project::overlay_sandbox::{DisclosedPaths, OverlayShell, View, test_overlay_sandbox};
use aye::project::rehearsal::Rehearsal;
use aye::project::shell::{CommandOutcome, Shell};
use aye::project::{Error, Reader};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socket_with};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::os::unix::net::{SocketAddr, UnixListener, UnixStream};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Whether there is a stage to try here; a machine without one says so aloud.
pub fn is_there() -> bool {
    let place = Folder::new();
    std::fs::create_dir(place.path().join("project")).unwrap();
    match test_overlay_sandbox(&program(), &place.path().join("project"), &place.path().join("beside")) {
        Ok(()) => true,
        Err(why) => {
            report_skipped(&format!("no overlay sandbox here: {why}"));
            false
        }
    }
}

/// Of the nasty calls this many are tried in one, while a person waits: other ones as root than as an ordinary person.
const EACH: usize = 6;

/// Each tries to touch something real. `@` stands for the folder that everything is in, `#` for a port that somebody
/// listens on, `%` for this suite's own program.
#[rustfmt::skip]
const NASTY: &[&str] = &[
    // Writes outside, plainly
    "echo x > @/outside/new", "echo x > @/outside/file", ": > @/outside/file", "cp mine @/outside/file", "truncate -s 0 @/outside/file",
    "sed -i s/before/after/ @/outside/file", "dd if=/dev/zero of=@/outside/file count=1", "chmod 777 @/outside/file", "touch -d 2001-01-01 @/outside/file",
    "echo x > /etc/aye-was-here; echo x > /usr/aye-was-here; echo x > /aye-was-here; echo x > /var/lib/aye-was-here",
    "echo x > /tmp/aye-was-here; echo x > /var/tmp/aye-was-here; echo x > /dev/shm/aye-was-here", "mkdir -p /opt/aye-was-here/deep",
    "echo x >> /etc/passwd; echo x >> /etc/shadow; useradd aye-was-here", "echo x > $HOME/.bashrc; echo x >> $HOME/.profile; rm -rf $HOME/.ssh",
    // What is the project's
    "echo changed > mine", "rm -rf .", "rm -rf ./* .[a-z]*", "git init -q . && git config user.name me && git add -A && git -c user.email=a@b commit -qm x",
    "mv deep moved && chmod -R 000 moved", "find . -type f -exec sh -c 'echo x > \"$1\"' _ {} ';'", "tar -cf t . && tar -xf t --overwrite",
    "chown -R 1:1 . ; chattr +i mine; setfattr -n user.x -v y mine", "ln -f mine hard && echo x > hard", "ln -f @/outside/file hard2 && echo x >> hard2",
    "mkfifo p; mknod n c 1 3; mknod d b 254 0 && dd if=/dev/zero of=d count=1", "cat /dev/zero | head -c 5000000 > big",
    // Everything that can be reached
    "timeout 5 rm -rf --no-preserve-root /", "rm -rf @", "timeout 10 rm -rf $HOME /tmp/* @/outside @/own", "timeout 5 find / -xdev -newermt 2001-01-01 -name 'aye-*' -delete",
    "mv @/project @/elsewhere; mv @/outside @/project2", "rm -rf @/layer; rm -rf @/own/data", "echo x > @/own/config/config.toml; ls -a @/own/config",
    "echo x > @/layer/upper/planted; mkdir -p @/layer/upper/x", "cat @/own/config/credentials.toml; grep -r hunter2 @ /proc/1/environ",
    // By links and other names
    "ln -s @/outside out; echo x > out/new; rm -rf out/", "ln -s / root; echo x > root/aye-was-here", "echo x > /proc/self/root@/outside/new",
    "echo x > /proc/1/root@/outside/new; echo x > /proc/1/cwd/../outside/new", "echo x > /proc/self/cwd/../outside/file", "ls -l /proc/1/fd /proc/$PPID/fd; for f in /proc/[0-9]*/fd/*; do echo x > $f; done 2>/dev/null",
    "for n in 3 4 5 6 7 8 9 10 11 12; do eval \"echo x >&$n\"; cd /proc/self/fd/$n && echo x > new; done 2>/dev/null",
    // By another view of the disk
    "mkdir -p b; mount --bind @/outside b && echo x > b/new", "mount -o remount,rw / && echo x > /aye-was-here", "mount -t tmpfs none @/outside; umount -l @/project; umount -l /; echo x > mine",
    "unshare -Urm sh -c 'mount -o remount,rw,bind / ; umount @/project; echo x > @/project/mine; echo x > @/outside/new'",
    "nsenter -t 1 -a sh -c 'echo x > @/outside/new'; nsenter -t $PPID -m touch @/outside/new", "chroot /proc/1/root sh -c 'echo x > @/outside/new'", "pivot_root . .; mount -t proc proc /proc",
    "debugfs -w -R 'rm @/outside/file' /dev/vda; dd if=/dev/zero of=/dev/sda count=1; losetup -f mine",
    // The system's own
    "echo 1 > /proc/sys/kernel/sysrq; echo b > /proc/sysrq-trigger", "echo '|@/project/mine' > /proc/sys/kernel/core_pattern; sysctl -w kernel.pid_max=400", "echo 800 > /proc/1/oom_score_adj; echo x > /proc/self/mem; echo x > /proc/1/mem",
    "echo x > /sys/kernel/uevent_helper; echo $$ > /sys/fs/cgroup/cgroup.procs", "hostname aye-was-here; date -s 2001-01-01; hwclock -w; dmesg -c; swapoff -a; modprobe dummy; insmod mine; kexec -l mine; reboot -f",
    "chmod 000 /dev/null; chown 1 /dev/zero; rm -f /dev/null /dev/full; mv /dev/zero /dev/z; chmod 777 /proc /sys /etc /dev/random",
    "ipcmk -M 64; ipcmk -Q; ipcrm -a", "renice -n -20 -p 1; ionice -c1 -p 1; prlimit --pid 1 --nofile=1", "cat < /dev/tty; echo x > /dev/tty; echo x > /dev/console; cat /dev/kmsg", "for t in /dev/pts/[0-9]* /dev/tty[0-9]*; do echo x > $t; done; script -c true t",
    // By somebody else, and later
    "(setsid sh -c 'sleep 600' &)", "nohup sleep 600 > /dev/null 2>&1 &", "sleep 600 & disown; kill -9 $PPID", "(trap '' TERM HUP INT; while :; do sleep 1; done) & (setsid setsid sh -c 'trap \"\" TERM; sleep 600; touch @/outside/new' &)",
    "echo 'touch @/outside/new' | at now; echo '* * * * * touch @/outside/new' | crontab -; crontab -r", "systemd-run --user touch @/outside/new; systemd-run touch @/outside/new; systemctl restart ssh; loginctl enable-linger",
    "sudo -n touch @/outside/new; su -c 'touch @/outside/new'; pkexec touch @/outside/new; doas touch @/outside/new", "screen -dm sleep 600; tmux new -d sleep 600; start-stop-daemon --start --background --exec /bin/sleep -- 600", "kill -9 -1; pkill -9 aye; killall5 -9; kill -9 $(seq 2 400) 2>/dev/null",
    "gdb -p 1 -batch -ex 'call (int)system(\"touch @/outside/new\")'; strace -p 1 -o t & sleep 0.1", ":(){ :|:& };: ; sleep 1",
    // The network and other programs
    "exec 3<>/dev/tcp/127.0.0.1/#; echo x >&3", "echo x > /dev/udp/127.0.0.1/#", "curl -sS -m 3 http://127.0.0.1:#/", "curl -sS -m 3 http://1.1.1.1/; wget -T 3 -t 1 http://1.1.1.1/; ping -c 1 -W 1 1.1.1.1; nslookup example.com; ssh -o ConnectTimeout=2 127.0.0.1",
    "curl -sS -m 3 --unix-socket @/run/socket http://x/; curl -sS -m 3 --abstract-unix-socket @/run/socket http://x/", "docker run --rm -v /:/h alpine touch /h/aye-was-here; DBUS_SESSION_BUS_ADDRESS=unix:path=@/run/socket dbus-send --session / a.b",
    "nc -U @/run/socket < mine; nc -z 127.0.0.1 #; python3 -c 'import socket; socket.create_connection((\"127.0.0.1\", #))'", "ip link set lo down; ip link add d type dummy; iptables -F; ip netns add aye-was-here; nsenter --net=/proc/1/ns/net curl -m 2 http://127.0.0.1:#/",
    "AYE_TEST_REACH='# @/run/socket' '%' --exact stage_escapes::reach --nocapture", "git clone http://127.0.0.1:#/x; cargo install aye-was-here; npm i x; pip install x",
];

/// A project, a home, folders for temporary files, aye's own, and everything else, below one folder.
struct Place {
    root: PathBuf,
    shell: OverlayShell,
    play: Arc<Rehearsal>,
}

impl Place {
    fn new(root: &Path) -> Self {
        let at = |path: &str| root.join(path);
        for folder in
            ["project/deep/er", "home/.ssh", "tmp", "own/config", "own/data/sessions", "outside/deep", "run", "layer"]
        {
            std::fs::create_dir_all(at(folder)).unwrap();
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
            std::fs::write(at(file), "before").unwrap();
        }
        std::fs::write(at("own/config/credentials.toml"), "hunter2").unwrap();
        let shell = Shell::new(program()).with_closed_paths(vec![at("own")], vec![at("own/config/credentials.toml")]);
        let play = Arc::new(Rehearsal::new(Arc::new(Disk::new(&at("project")).unwrap()), at("layer")));
        let read = vec![std::env::current_exe().unwrap()];
        let disclosed = DisclosedPaths { read, is_writable: true };
        let shell = OverlayShell::new(Arc::new(shell), play.clone()).with_disclosed(disclosed);
        Self { root: root.to_owned(), shell, play }
    }

    async fn runs(&self, command: &str, seconds: u64) -> Result<CommandOutcome, Error> {
        let reach = SandboxAccess { write: vec![self.root.join("tmp")], ..SandboxAccess::default() };
        let line = CommandLine {
            command: command.to_owned(),
            folder: self.root.join("project"),
            seconds,
            sandbox: CommandSandbox::enforced(reach),
            ..CommandLine::default()
        };
        self.shell.run_in_overlay(&line, View::Hidden, &|_| {}).await
    }

    /// Everything but the layer: every path with what it is, whose, since when, and what it holds.
    fn picture(&self) -> BTreeMap<PathBuf, String> {
        let mut all = BTreeMap::new();
        for path in ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/etc", "/proc", "/sys"].map(PathBuf::from) {
            let about = path.metadata().unwrap();
            all.insert(path, format!("{:o} {}:{}", about.mode(), about.uid(), about.gid()));
        }
        let mut folders = vec![self.root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path == self.root.join("layer") {
                    continue;
                }
                let about = path.symlink_metadata().unwrap();
                let held = if about.is_file() { std::fs::read(&path).unwrap() } else { Vec::new() };
                let told = format!(
                    "{:o} {} {}:{} {}.{} {:x}",
                    about.mode(),
                    about.nlink(),
                    about.uid(),
                    about.gid(),
                    about.mtime(),
                    about.mtime_nsec(),
                    Sha256::digest(&held)
                );
                all.insert(path.clone(), told);
                if about.is_dir() {
                    folders.push(path);
                }
            }
        }
        all
    }
}

/// What a command may have left elsewhere on this machine.
fn left_elsewhere() -> Vec<PathBuf> {
    let folders = ["/etc", "/usr", "/", "/var/lib", "/tmp", "/var/tmp", "/dev/shm", "/opt", "/run/netns"];
    let left = folders.map(|folder| Path::new(folder).join("aye-was-here"));
    left.into_iter().filter(|path| path.symlink_metadata().is_ok()).collect()
}

/// Processes that know this mark, but for this one and the one that started it.
fn marked(mark: &str) -> Vec<String> {
    let own = [std::process::id().to_string(), std::os::unix::process::parent_id().to_string()];
    let mut found = Vec::new();
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        let knows = || std::fs::read(entry.path().join("environ")).is_ok_and(|all| contains(&all, mark.as_bytes()));
        if name.parse::<u32>().is_ok() && !own.contains(&name) && knows() {
            let said = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
            found.push(format!("{name} {}", String::from_utf8_lossy(&said)));
        }
    }
    found
}

fn contains(all: &[u8], part: &[u8]) -> bool {
    all.windows(part.len()).any(|window| window == part)
}

/// The whole trial, in a process of its own whose home and environment are the trial's.
#[tokio::test]
async fn whoever_this_is() {
    let (Some(root), Some(mark)) = (std::env::var_os("AYE_TEST_STAGE"), std::env::var("AYE_TEST_STAGE_MARK").ok())
    else {
        return;
    };
    let place = Place::new(Path::new(&root));
    let tcp = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = tcp.local_addr().unwrap().port();
    let udp = UdpSocket::bind(("127.0.0.1", port)).unwrap();
    let path = place.root.join("run/socket");
    let named = UnixListener::bind(&path).unwrap();
    let hidden = SocketAddr::from_abstract_name(path.to_str().unwrap().as_bytes()).unwrap();
    let hidden = UnixListener::bind_addr(&hidden).unwrap();
    tcp.set_nonblocking(true).unwrap();
    udp.set_nonblocking(true).unwrap();
    named.set_nonblocking(true).unwrap();
    hidden.set_nonblocking(true).unwrap();
    let heard = || {
        let mut letter = [0; 8];
        tcp.accept().is_ok() || udp.recv(&mut letter).is_ok() || named.accept().is_ok() || hidden.accept().is_ok()
    };
    let suite = std::env::current_exe().unwrap();
    let (before, host) = (place.picture(), rustix::system::uname().nodename().to_owned());

    // They do run, and a later one sees what an earlier one did.
    let ran = place
        .runs("echo ran > made; echo there > ~/made; echo t > /tmp/aye-was-here; mv deep/er gone; cat mine made", 60)
        .await;
    assert_eq!(ran.unwrap().output, "beforeran\n");
    let ran =
        place.runs("cat made ~/made /tmp/aye-was-here gone/file; ls deep; rm /tmp/aye-was-here", 60).await.unwrap();
    assert_eq!((ran.output.as_str(), ran.exit), ("ran\nthere\nt\nbefore", Some(0)));
    assert_eq!(place.play.read(&place.play.locate("made").unwrap()).unwrap(), b"ran\n");
    assert_eq!(place.picture(), before);

    let (of_suite, others): (Vec<&str>, Vec<&str>) = NASTY.iter().partition(|nasty| nasty.contains('%'));
    let from = if rustix::process::geteuid().is_root() { 3 } else { 0 };
    let tried: Vec<&str> = of_suite.into_iter().chain(pick_samples(&others, EACH, from).copied()).collect();
    for nasty in &tried {
        let command = nasty
            .replace('@', place.root.to_str().unwrap())
            .replace('#', &port.to_string())
            .replace('%', suite.to_str().unwrap());
        // What has to come to its end is given the time that it takes on the busiest machine.
        let seconds = if nasty.contains('%') { 120 } else { 10 };
        let ran = place.runs(&command, seconds).await.unwrap_or_else(|error| panic!("{command}: {error}"));
        assert_eq!(place.picture(), before, "{command}\n{}", ran.output);
        assert_eq!(left_elsewhere(), Vec::<PathBuf>::new(), "{command}\n{}", ran.output);
        assert!(!heard(), "{command} reached somebody\n{}", ran.output);
        assert!(!ran.output.contains("hunter2"), "{command}\n{}", ran.output);
        assert!(!ran.output.contains("reached: [\""), "{command}\n{}", ran.output);
        if command.contains("stage_escapes::reach") {
            assert!(ran.output.contains("reached: []"), "{command}\n{}", ran.output);
        }
        // A process that was ended may take a moment to be gone from the list.
        let began = Instant::now();
        while !marked(&mark).is_empty() && began.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(marked(&mark), [""; 0], "{command}\n{}", ran.output);
    }
    assert!(rustix::system::uname().nodename() == host.as_c_str());
    assert!(TcpStream::connect(("127.0.0.1", port)).is_ok() && heard(), "outside they are there");
    assert!(NASTY.len() >= 60, "{}", NASTY.len());
    print_uncaptured(&format!(
        "{} nasty calls by user {}: nothing real was touched",
        tried.len(),
        rustix::process::geteuid().as_raw()
    ));
}

/// What is tried on the stage, by this suite as a command of itself: each line says what was reached.
#[test]
fn reach() {
    let Some(asked) = std::env::var_os("AYE_TEST_REACH") else { return };
    let asked = asked.into_string().unwrap();
    let (port, path) = asked.split_once(' ').unwrap();
    let port: u16 = port.parse().unwrap();
    let mut reached = Vec::new();
    let mut tries = |what: &str, is: bool| {
        if is {
            reached.push(what.to_owned());
        }
    };
    tries("TCP", TcpStream::connect(("127.0.0.1", port)).is_ok());
    tries("a socket", UnixStream::connect(path).is_ok());
    let hidden = SocketAddr::from_abstract_name(path.as_bytes()).unwrap();
    tries("a nameless socket", UnixStream::connect_addr(&hidden).is_ok());
    let families = [AddressFamily::PACKET, AddressFamily::VSOCK, AddressFamily::BLUETOOTH, AddressFamily::UNIX];
    for family in families {
        for kind in [SocketType::STREAM, SocketType::DGRAM, SocketType::RAW] {
            tries("a socket of another family", socket_with(family, kind, SocketFlags::empty(), None).is_ok());
        }
    }
    let raw = Some(rustix::net::ipproto::ICMP);
    tries("a raw socket", socket_with(AddressFamily::INET, SocketType::RAW, SocketFlags::empty(), raw).is_ok());
    // Its own loopback is there, and is its own.
    let own = TcpListener::bind("127.0.0.1:0").and_then(|own| TcpStream::connect(own.local_addr()?).map(|_| own));
    tries("not even itself", own.is_err());
    print_uncaptured(&format!("reached: {reached:?}"));
}

/// Starts the trial in a process of its own, as this user where one is given.
fn trial(user: Option<u32>) {
    let root = Folder::new();
    let root = root.path().canonicalize().unwrap();
    std::fs::set_permissions(&root, std::fs::Permissions::from_mode(0o755)).unwrap();
    let at = |path: &str| root.join(path);
    for folder in ["programs", "trial", "trial/home", "trial/tmp"] {
        std::fs::create_dir(at(folder)).unwrap();
        std::fs::set_permissions(at(folder), std::fs::Permissions::from_mode(0o755)).unwrap();
    }
    // Where this suite was built another user may not be let in, and nobody may be on the stage.
    let [aye, suite] = [("aye", program()), ("suite", std::env::current_exe().unwrap())].map(|(name, from)| {
        let to = at("programs").join(name);
        share_program(&from, &to);
        to
    });
    if let Some(user) = user {
        for folder in ["trial", "trial/home", "trial/tmp"] {
            std::os::unix::fs::chown(at(folder), Some(user), Some(user)).unwrap();
        }
    }
    let mark = format!("mark-{}-{}", std::process::id(), user.unwrap_or(0));
    let mut command = std::process::Command::new(suite);
    command.args(["--exact", "stage_escapes::whoever_this_is", "--nocapture"]).current_dir(at("trial"));
    command.env("AYE_TEST_STAGE", at("trial")).env("AYE_TEST_STAGE_MARK", &mark).env("AYE_TEST_PROGRAM", aye);
    command.env("HOME", at("trial/home")).env("TMPDIR", at("trial/tmp"));
    if let Some(user) = user {
        command.uid(user).gid(user);
    }
    let done = command.output().unwrap();
    let said = String::from_utf8_lossy(&done.stdout);
    assert!(done.status.success(), "{said}\n{}", String::from_utf8_lossy(&done.stderr));
    let last = said.lines().find(|line| line.contains("nothing real was touched")).expect("the trial ran");
    print_uncaptured(last);
}

#[test]
fn r30_no_command_of_a_dry_run_touches_anything_real() {
    if is_there() {
        trial(None);
    }
}

#[test]
fn r30_nor_does_one_of_an_ordinary_person() {
    if !rustix::process::geteuid().is_root() {
        return report_skipped("these tests are an ordinary user's already");
    }
    let unshared = std::process::Command::new("unshare").args(["-Ur", "true"]).uid(65534).gid(65534).output();
    if !unshared.is_ok_and(|done| done.status.success()) {
        return report_skipped("an ordinary user may make no namespaces here");
    }
    trial(Some(65534));
}
