//! Runs a program of the person's own, such as one that prints a key, without the terminal that aye runs in.
//!
//! aye starts itself again as `aye alone -- PROGRAM ARGUMENTS…` and becomes that program, in a session of its own: it
//! cannot read the keyboard or write on the screen, and its processes can be ended together.

use rustix::io::Errno;
use rustix::process::setsid;
use std::io;
use std::os::unix::process::CommandExt;
use std::process::Command;

/// Becomes the program; returns only where that cannot be, with why.
pub fn become_it() -> io::Error {
    let mut words = std::env::args_os().skip_while(|word| word != "--").skip(1);
    let Some(program) = words.next() else { return Errno::INVAL.into() };
    if let Err(error) = setsid() {
        return error.into();
    }
    // However aye ends, it does not go on asking for a passphrase.
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
    Command::new(program).args(words).exec()
}
