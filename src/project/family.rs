//! Which processes come from which: how a command's whole family is found, and signalled.

use rustix::process::{Pid, Signal, kill_process};
use std::collections::HashSet;
use std::path::Path;

/// How often the family is looked at again while it still grows under the eyes of who ends it.
const PASSES: usize = 64;

/// A process as the system lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Process {
    pid: i32,
    parent: i32,
    session: i32,
}

/// Which processes are meant.
#[derive(Debug, Clone, Copy)]
pub enum Family {
    /// Everything that descends from this process, without itself.
    Of(Pid),
    /// Everything in the session that this process began, whether or not it still lives.
    Session(Pid),
}

impl Family {
    /// Sends the signal to each one, once.
    pub fn signal(self, signal: Signal) {
        for pid in self.members() {
            // One that ended in between, or that belongs to somebody else, is not ours to end.
            let _ = kill_process(pid, signal);
        }
    }

    /// Kills them all. They are stopped first, so that none has children while the others are being killed.
    pub fn kill(self) {
        let mut stopped = HashSet::new();
        for _ in 0..PASSES {
            let fresh: Vec<_> = self.members().into_iter().filter(|pid| stopped.insert(*pid)).collect();
            if fresh.is_empty() {
                break;
            }
            for pid in fresh {
                let _ = kill_process(pid, Signal::STOP);
            }
        }
        self.signal(Signal::KILL);
    }

    /// Those that live now. Empty where the system has no `/proc`.
    fn members(self) -> Vec<Pid> {
        let all = processes(Path::new("/proc"));
        let found = match self {
            Self::Of(pid) => descendants(&all, pid.as_raw_nonzero().get()),
            Self::Session(pid) => {
                let session = pid.as_raw_nonzero().get();
                all.iter().filter(|process| process.session == session).map(|process| process.pid).collect()
            }
        };
        found.into_iter().filter_map(Pid::from_raw).collect()
    }
}

/// Every process below this one, parents before their children.
fn descendants(all: &[Process], root: i32) -> Vec<i32> {
    let mut found = vec![root];
    let mut known = HashSet::from([root]);
    let mut next = 0;
    while let Some(&parent) = found.get(next) {
        let children = all.iter().filter(|process| process.parent == parent).map(|process| process.pid);
        found.extend(children.filter(|pid| known.insert(*pid)));
        next += 1;
    }
    found.remove(0);
    found
}

/// Every process there is.
fn processes(proc: &Path) -> Vec<Process> {
    let Ok(entries) = std::fs::read_dir(proc) else { return Vec::new() };
    entries
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().bytes().all(|byte| byte.is_ascii_digit()))
        .filter_map(|entry| parse(&std::fs::read(entry.path().join("stat")).ok()?))
        .collect()
}

/// Reads one line of `/proc/PID/stat`.
fn parse(stat: &[u8]) -> Option<Process> {
    // The name between the brackets is the process's own choice: it may hold anything, brackets and spaces too.
    let open = stat.iter().position(|byte| *byte == b'(')?;
    let close = stat.iter().rposition(|byte| *byte == b')')?;
    let pid = std::str::from_utf8(&stat[..open]).ok()?.trim().parse().ok()?;
    let rest = std::str::from_utf8(stat.get(close + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace().skip(1);
    let parent = fields.next()?.parse().ok()?;
    let session = fields.nth(1)?.parse().ok()?;
    Some(Process { pid, parent, session })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_made_to_mislead_does_not() {
        let process = parse(b"42 (a) S 1 (b)) R 7 42 9 0 -1 4194304").unwrap();
        assert_eq!(process, Process { pid: 42, parent: 7, session: 9 });
        assert_eq!(parse(b"42 (cut"), None);
        assert_eq!(parse(b""), None);
    }

    #[test]
    fn children_of_children_belong_to_the_family_and_the_neighbours_do_not() {
        let process = |pid, parent| Process { pid, parent, session: 1 };
        let all = [process(5, 3), process(3, 2), process(2, 1), process(4, 2), process(9, 1), process(2, 5)];
        assert_eq!(descendants(&all, 2), [3, 4, 5]);
        assert!(descendants(&all, 9).is_empty());
    }
}
