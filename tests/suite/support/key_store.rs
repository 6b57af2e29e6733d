//! A key store of a test: GNOME Keyring on a message bus of its own.

use super::folder::Folder;
use super::program::Setup;
use super::report_skipped;
use rustix::process::{Pid, Signal, kill_process};
use std::fs;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

const LOGIN: &str = "/org/freedesktop/secrets/collection/login";

/// An unlocked key store without secrets. It ends when it is dropped.
pub struct TestKeyStore {
    bus: Child,
    daemon: Child,
    folder: Folder,
}

impl TestKeyStore {
    /// Starts a key store. Reports that the test is skipped if none can run here.
    pub fn start() -> Option<Self> {
        let folder = Folder::new();
        let bus_file = bus_file(&folder);
        let rules = "<allow send_destination='*' eavesdrop='true'/><allow eavesdrop='true'/><allow own='*'/>";
        // No program is started by this bus, such as one that asks the user to unlock the key store.
        let settings = format!(
            "<busconfig><type>session</type><listen>unix:path={}</listen><auth>EXTERNAL</auth>\
            <policy context='default'>{rules}</policy></busconfig>",
            bus_file.display()
        );
        fs::write(folder.path().join("bus.conf"), settings).unwrap();
        let bus = start_quietly(folder.path(), "dbus-daemon", &["--nofork", "--config-file=bus.conf"])?;
        wait_until(|| bus_file.exists());
        let arguments = ["--foreground", "--components=secrets", "--unlock"];
        let daemon = start_quietly(folder.path(), "gnome-keyring-daemon", &arguments)?;
        let mut store = Self { bus, daemon, folder };
        // Its end is the end of the password.
        store.daemon.stdin.take().unwrap().write_all(b"password of the test").unwrap();
        let started = Instant::now();
        while !call(&bus_file, "ReadAlias", "string:default").contains(LOGIN) {
            if store.daemon.try_wait().unwrap().is_some() || started.elapsed() > Duration::from_secs(60) {
                report_skipped(&format!("no key store can run here: {}", store.log()));
                return None;
            }
        }
        Some(store)
    }

    /// Lets the program use this key store.
    pub fn connect(&self, setup: Setup) -> Setup {
        setup.env("DBUS_SESSION_BUS_ADDRESS", &format!("unix:path={}", bus_file(&self.folder).display()))
    }

    /// Lets the program use this key store, with a function that runs before a message from the program is passed on. The
    /// function gets the data of the message.
    pub fn connect_through(&self, setup: Setup, before_message: impl Fn(&[u8]) + Send + Sync + 'static) -> Setup {
        let (bus, proxy) = (bus_file(&self.folder), self.folder.path().join("proxy"));
        let _ = fs::remove_file(&proxy);
        let listener = UnixListener::bind(&proxy).unwrap();
        let before_message = Arc::new(before_message);
        thread::spawn(move || {
            for client in listener.incoming().flatten() {
                // The test may have ended.
                let Ok(bus) = UnixStream::connect(&bus) else { return };
                let (from_bus, to_client) = (bus.try_clone().unwrap(), client.try_clone().unwrap());
                thread::spawn(move || pass_on(from_bus, to_client, &|_| {}));
                let before_message = before_message.clone();
                thread::spawn(move || pass_on(client, bus, &*before_message));
            }
        });
        setup.env("DBUS_SESSION_BUS_ADDRESS", &format!("unix:path={}", proxy.display()))
    }

    /// The folder with the files of the key store.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Number of the secrets of aye.
    pub fn count_secrets(&self) -> usize {
        let found = call(&bus_file(&self.folder), "SearchItems", "dict:string:string:service,aye");
        found.matches("object path").count()
    }

    /// Locks the key store. Only the user could unlock it.
    pub fn lock(&self) {
        self.locker()();
    }

    /// Returns a function that locks the key store.
    pub fn locker(&self) -> impl Fn() + Send + Sync + 'static {
        let bus = bus_file(&self.folder);
        move || assert!(call(&bus, "Lock", &format!("array:objpath:{LOGIN}")).contains(LOGIN), "it cannot be locked")
    }

    /// Lets the key store hang.
    pub fn suspend(&self) {
        self.signal(Signal::STOP);
    }

    /// Lets the key store answer again.
    pub fn resume(&self) {
        self.signal(Signal::CONT);
    }

    /// Messages of the key store, such as that it cannot show a prompt.
    pub fn log(&self) -> String {
        fs::read_to_string(self.folder.path().join("gnome-keyring-daemon.log")).unwrap()
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.daemon), signal).unwrap();
    }
}

impl Drop for TestKeyStore {
    fn drop(&mut self) {
        for child in [&mut self.daemon, &mut self.bus] {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn bus_file(folder: &Folder) -> PathBuf {
    folder.path().join("bus")
}

/// Calls a method of the key store on this bus. Returns the answer, which is empty if it failed.
fn call(bus: &Path, method: &str, argument: &str) -> String {
    let (target, method) = ("--dest=org.freedesktop.secrets", format!("org.freedesktop.Secret.Service.{method}"));
    let output = Command::new("dbus-send")
        .arg(format!("--bus=unix:path={}", bus.display()))
        .args(["--print-reply", target, "/org/freedesktop/secrets", &method, argument])
        .output()
        .unwrap();
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Passes on data until one side ends.
fn pass_on(mut from: UnixStream, mut to: UnixStream, before: &dyn Fn(&[u8])) {
    let mut buffer = [0; 65_536];
    while let Ok(count @ 1..) = from.read(&mut buffer) {
        before(&buffer[..count]);
        if to.write_all(&buffer[..count]).is_err() {
            break;
        }
    }
    let _ = to.shutdown(Shutdown::Both);
}

/// Starts a program that uses only this folder, with its messages in a file. Reports if it is not installed.
fn start_quietly(folder: &Path, program: &str, arguments: &[&str]) -> Option<Child> {
    let log = || fs::File::options().append(true).create(true).open(folder.join(format!("{program}.log"))).unwrap();
    let mut command = Command::new(program);
    command.args(arguments).current_dir(folder).env_clear().env("PATH", std::env::var_os("PATH").unwrap_or_default());
    command.env("HOME", folder).env("XDG_RUNTIME_DIR", folder);
    command.env("DBUS_SESSION_BUS_ADDRESS", format!("unix:path={}", folder.join("bus").display()));
    match command.stdin(Stdio::piped()).stdout(log()).stderr(log()).spawn() {
        Ok(child) => Some(child),
        Err(error) => {
            report_skipped(&format!("{program} cannot be started: {error}"));
            None
        }
    }
}

fn wait_until(mut condition: impl FnMut() -> bool) {
    let started = Instant::now();
    while !condition() {
        assert!(started.elapsed() < Duration::from_secs(60), "it did not start");
        std::thread::yield_now();
    }
}
