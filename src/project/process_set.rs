//! Finds and signals all processes that belong to a command, with what `/proc` tells about them.
//!
//! On other systems none are found here, and the process group of the command is signalled instead ([`super::guard`]).

use rustix::process::{Pid, Signal, kill_process};
use std::collections::HashSet;
use std::path::Path;

/// Maximum number of passes over the process list while new processes keep appearing.
const MAX_PASSES: usize = 64;

/// A process in the system's list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Process {
    pid: i32,
    parent: i32,
    session: i32,
}

/// A set of processes.
#[derive(Debug, Clone, Copy)]
pub enum ProcessSet {
    /// All descendants of this process, without the process itself.
    DescendantsOf(Pid),
    /// All processes in the session that this process started, whether or not it still runs.
    InSession(Pid),
}

impl ProcessSet {
    /// Sends the signal to each process once.
    pub fn send_signal(self, signal: Signal) {
        for pid in self.list_members() {
            // Fails for a process that has ended or belongs to another user.
            let _ = kill_process(pid, signal);
        }
    }

    /// Kills all processes. They are stopped first, so that none starts children while the others are killed.
    pub fn kill_all(self) {
        let mut stopped = HashSet::new();
        for _ in 0..MAX_PASSES {
            let new_pids: Vec<_> = self.list_members().into_iter().filter(|pid| stopped.insert(*pid)).collect();
            if new_pids.is_empty() {
                break;
            }
            for pid in new_pids {
                let _ = kill_process(pid, Signal::STOP);
            }
        }
        self.send_signal(Signal::KILL);
    }

    /// Returns the running processes. Empty on systems without `/proc`.
    fn list_members(self) -> Vec<Pid> {
        let processes = list_processes(Path::new("/proc"));
        let pids = match self {
            Self::DescendantsOf(pid) => descendants(&processes, pid.as_raw_nonzero().get()),
            Self::InSession(pid) => {
                let session = pid.as_raw_nonzero().get();
                processes.iter().filter(|process| process.session == session).map(|process| process.pid).collect()
            }
        };
        pids.into_iter().filter_map(Pid::from_raw).collect()
    }
}

/// Returns all descendants of a process, parents before their children.
fn descendants(processes: &[Process], root: i32) -> Vec<i32> {
    let mut pids = vec![root];
    let mut known = HashSet::from([root]);
    let mut next = 0;
    while let Some(&parent) = pids.get(next) {
        let children = processes.iter().filter(|process| process.parent == parent).map(|process| process.pid);
        pids.extend(children.filter(|pid| known.insert(*pid)));
        next += 1;
    }
    pids.remove(0);
    pids
}

/// Lists all processes.
fn list_processes(proc: &Path) -> Vec<Process> {
    let Ok(entries) = std::fs::read_dir(proc) else { return Vec::new() };
    entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()))
        .filter_map(|entry| parse_stat(&std::fs::read(entry.path().join("stat")).ok()?))
        .collect()
}

/// Parses a line of `/proc/PID/stat`.
fn parse_stat(stat: &[u8]) -> Option<Process> {
    // A process chooses its own name, which may contain brackets and spaces.
    let open = stat.iter().position(|byte| *byte == b'(')?;
    let close = stat.iter().rposition(|byte| *byte == b')')?;
    let pid = std::str::from_utf8(&stat[..open]).ok()?.trim().parse().ok()?;
    let after_name = std::str::from_utf8(stat.get(close + 1..)?).ok()?;
    // The fields after the name: state, parent, process group, session.
    let mut fields = after_name.split_ascii_whitespace().skip(1);
    let parent = fields.next()?.parse().ok()?;
    let session = fields.nth(1)?.parse().ok()?;
    Some(Process { pid, parent, session })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn misleading_process_names_are_parsed_correctly() {
        let process = parse_stat(b"42 (a) S 1 (b)) R 7 42 9 0 -1 4194304").unwrap();
        assert_eq!(process, Process { pid: 42, parent: 7, session: 9 });
        assert_eq!(parse_stat(b"42 (cut"), None);
        assert_eq!(parse_stat(b""), None);
    }

    #[test]
    fn indirect_children_are_descendants_and_siblings_are_not() {
        let process = |pid, parent| Process { pid, parent, session: 1 };
        let processes = [process(5, 3), process(3, 2), process(2, 1), process(4, 2), process(9, 1), process(2, 5)];
        assert_eq!(descendants(&processes, 2), [3, 4, 5]);
        assert!(descendants(&processes, 9).is_empty());
    }
}
