//! Runs one of the user's own programs, such as one that prints a key, detached from aye's terminal.
//!
//! aye starts itself as `aye alone -- PROGRAM ARGUMENTS…` and becomes that program in a new session: the program cannot
//! read the keyboard or write on the screen, and its processes can be killed together.

use rustix::io::Errno;
use rustix::process::setsid;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Replaces this process with the program. Returns only on failure.
pub fn exec_detached() -> io::Error {
    let mut arguments = std::env::args_os().skip_while(|argument| argument != "--").skip(1);
    let Some(program) = arguments.next() else { return Errno::INVAL.into() };
    if let Err(error) = setsid() {
        return error.into();
    }
    // The program must not keep asking for a passphrase after aye has exited.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    Command::new(program).args(arguments).exec()
}
