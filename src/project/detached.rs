//! Runs one of the user's own programs, such as one that prints a key, detached from aye's terminal.
//!
//! aye starts itself as `aye alone -- PROGRAM ARGUMENTS…` and becomes that program in a new session: the program cannot
//! read the keyboard or write on the screen, and its processes can be killed together. As `aye terminal -- …` it also
//! makes its stdin, a pseudo-terminal, the terminal of that session.

use rustix::io::Errno;
use rustix::process::setsid;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Replaces this process with the program, whose terminal becomes stdin. Returns only on failure.
pub fn exec_in_terminal() -> io::Error {
    exec_in_session(|| rustix::process::ioctl_tiocsctty(io::stdin()))
}

/// Replaces this process with the program. Returns only on failure.
pub fn exec_detached() -> io::Error {
    exec_in_session(|| Ok(()))
}

/// Replaces this process with the program in a new session, which `prepare` changes first. Returns only on failure.
fn exec_in_session(prepare: impl FnOnce() -> Result<(), Errno>) -> io::Error {
    let mut arguments = std::env::args_os().skip_while(|argument| argument != "--").skip(1);
    let Some(program) = arguments.next() else { return Errno::INVAL.into() };
    if let Err(error) = setsid().and_then(|_| prepare()) {
        return error.into();
    }
    // The program must not keep asking for a passphrase after aye has exited.
    super::parent_exit::end_with_parent();
    Command::new(program).args(arguments).exec()
}
