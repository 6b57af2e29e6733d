//! The process between the guard and Firefox: enters a network of its own, starts Firefox in it, and passes two sockets of that
//! network to aye. One listens where Firefox expects its proxy, the other is connected to Firefox.

use super::profile::{DEBUGGING_PORT, PROXY_PORT, write_profile};
use crate::project::network_namespace::enter_own_network;
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};
use std::ffi::OsString;
use std::io::{self, IoSlice, Write};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::thread::sleep;
use std::time::Duration;

/// First argument of aye for this process. The program of Firefox follows; without it, only the network is tried.
pub const ARGUMENT: &str = "firefox-launcher";

/// Time between two attempts to connect to Firefox.
const CONNECT_INTERVAL: Duration = Duration::from_millis(20);

/// Returns why Firefox cannot have a network of its own, as part of a sentence. Starts a process that tries it, which takes a
/// few milliseconds.
///
/// # Errors
/// The reason.
pub fn test_network(aye_path: &Path) -> Result<(), String> {
    let output =
        Command::new(aye_path).arg(ARGUMENT).stdin(Stdio::null()).output().map_err(|error| error.to_string())?;
    match output.status.success() {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}

/// Runs `aye firefox-launcher`.
pub fn run_launcher() -> ExitCode {
    let program = std::env::args_os().nth(2);
    if let Err(error) = enter_own_network() {
        return fail(&error.to_string());
    }
    let Some(program) = program else { return ExitCode::SUCCESS };
    match run_firefox(program) {
        Ok(code) => code,
        Err(error) => fail(&error.to_string()),
    }
}

fn fail(reason: &str) -> ExitCode {
    let _ = writeln!(io::stderr(), "{reason}");
    ExitCode::FAILURE
}

fn run_firefox(program: OsString) -> io::Result<ExitCode> {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, PROXY_PORT))?;
    let profile = PathBuf::from(std::env::var_os("TMPDIR").unwrap_or_default()).join("profile");
    write_profile(&profile)?;
    let mut command = Command::new(program);
    command.args(["--headless", "--no-remote", "--new-instance", "--profile"]).arg(profile);
    command.arg("--remote-debugging-port").arg(DEBUGGING_PORT.to_string()).arg("about:blank");
    // Firefox heeds the setting of this server, which is none, with the variable only.
    command.env("MOZ_REMOTE_SETTINGS_DEVTOOLS", "1").env("MOZ_CRASHREPORTER_DISABLE", "1");
    let mut firefox = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
    let status = loop {
        if let Some(status) = firefox.try_wait()? {
            break status;
        }
        if let Ok(connection) = TcpStream::connect((Ipv4Addr::LOCALHOST, DEBUGGING_PORT)) {
            send_sockets(&listener, &connection)?;
            drop((listener, connection));
            break firefox.wait()?;
        }
        sleep(CONNECT_INTERVAL);
    };
    let code = status.code().or(status.signal().map(|signal| 128 + signal));
    Ok(ExitCode::from(code.and_then(|code| u8::try_from(code).ok()).unwrap_or(u8::MAX)))
}

/// Sends the two sockets over the socket at stdin.
fn send_sockets(listener: &TcpListener, connection: &TcpStream) -> io::Result<()> {
    let sockets = [listener.as_fd(), connection.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(2))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    ancillary.push(SendAncillaryMessage::ScmRights(&sockets));
    sendmsg(io::stdin().as_fd(), &[IoSlice::new(&[0])], &mut ancillary, SendFlags::empty())?;
    Ok(())
}
