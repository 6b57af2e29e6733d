//! Ends this process when the one that started it exits, however that happens.
//!
//! Only Linux can do that. On other systems the process continues until it is done, or until its closed input or output
//! ends it.

/// Lets the kernel kill this process when its parent exits. Stays in force if this process becomes another program.
pub fn end_with_parent() {
    #[cfg(target_os = "linux")]
    let _ = rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL));
}
