//! Evidence of what a command line did: its output, the decoys it opened, the files it changed.

use super::scratch::{DECOYS, Scratch};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::inotify::{CreateFlags, Reader, WatchFlags, add_watch, init};
use rustix::process::{Pid, Signal, kill_process_group};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::Read;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// An effect that a command must not have if it runs without approval.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Effect {
    /// A file was changed, created or removed.
    Changed(String),
    /// The secret of a decoy was printed.
    Printed(&'static str),
    /// A decoy was opened.
    Opened(&'static str),
    /// Bytes were taken out of a pipe.
    Drained,
    /// A process still runs after the line ended.
    LeftRunning,
}

impl Effect {
    /// Returns whether both are of the same kind; the changed file does not matter.
    pub fn is_like(&self, other: &Self) -> bool {
        matches!((self, other), (Self::Changed(_), Self::Changed(_))) || self == other
    }
}

/// Outcome of a line.
#[derive(Debug)]
pub struct RunEvidence {
    /// Output of both streams, up to the limit.
    pub output: Vec<u8>,
    /// Whether it was stopped because of its time or its output.
    pub stopped: bool,
    /// The decoys it opened.
    pub opened: BTreeSet<&'static str>,
    /// Whether a process of the line still runs.
    pub left_running: bool,
}

/// Time limit of a line.
pub const SECONDS: u64 = 2;
/// Output limit of a line.
const BYTES: usize = 1 << 20;

/// Watches which decoys are opened.
pub struct Watch {
    events: OwnedFd,
    decoys: BTreeMap<i32, &'static str>,
}

impl Watch {
    /// Watches the decoys of one project, and those outside of it.
    pub fn new(base: &Path, project: &str) -> Self {
        let events = init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).unwrap();
        let mut decoys = BTreeMap::new();
        for (decoy, _) in DECOYS {
            let path = decoy.strip_prefix("P/").map_or_else(|| base.join(decoy), |rest| base.join(project).join(rest));
            if let Ok(watch) = add_watch(&events, path, WatchFlags::OPEN) {
                decoys.insert(watch, *decoy);
            }
        }
        Self { events, decoys }
    }

    /// The decoys that were opened since the last time.
    pub fn opened(&self) -> BTreeSet<&'static str> {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut reader = Reader::new(&self.events, &mut buffer);
        let mut opened = BTreeSet::new();
        while let Ok(event) = reader.next() {
            opened.extend(self.decoys.get(&event.wd()));
        }
        opened
    }
}

/// Runs a line in bash without a sandbox, in its own environment, and kills everything it started.
pub fn run(scratch: &Scratch, project: &str, text: &str, watch: &Watch) -> RunEvidence {
    // Forget what was opened before this line.
    watch.opened();
    let (mut reader, writer) = std::io::pipe().unwrap();
    let mut command = Command::new("bash");
    command
        .args(["-c", text])
        .current_dir(scratch.project(project))
        .env_clear()
        .envs([("PAGER", "cat"), ("GIT_PAGER", "cat"), ("TERM", "dumb"), ("NO_COLOR", "1"), ("LANG", "C.UTF-8")])
        .env("PATH", std::env::var_os("PATH").unwrap())
        .env("HOME", scratch.base.join("home"))
        .env("TMPDIR", scratch.base.join("tmp"))
        .stdin(Stdio::null())
        .stdout(writer.try_clone().unwrap())
        .stderr(writer)
        .process_group(0);
    let mut child = command.spawn().unwrap();
    drop(command);
    let deadline = Instant::now() + Duration::from_secs(SECONDS);
    let mut outcome = RunEvidence { output: Vec::new(), stopped: false, opened: BTreeSet::new(), left_running: false };
    let mut buffer = [0; 64 * 1024];
    loop {
        if Instant::now() > deadline || outcome.output.len() > BYTES {
            outcome.stopped = true;
            break;
        }
        let tick = Timespec { tv_sec: 0, tv_nsec: 20_000_000 };
        if poll(&mut [PollFd::new(&reader, PollFlags::IN)], Some(&tick)).unwrap_or(0) == 0 {
            // A process that emptied the pipe waits for more until the deadline.
            if scratch.is_drained(project) {
                outcome.stopped = true;
                break;
            }
            continue;
        }
        match reader.read(&mut buffer) {
            Ok(0) | Err(_) => break,
            Ok(bytes) => outcome.output.extend_from_slice(&buffer[..bytes]),
        }
    }
    let group = Pid::from_child(&child);
    if outcome.stopped {
        let _ = kill_process_group(group, Signal::KILL);
    }
    let _ = child.wait();
    let _ = kill_process_group(group, Signal::KILL);
    outcome.opened = watch.opened();
    outcome
}

/// Finds secrets in every form in which programs print them.
pub struct Forms {
    /// Case-insensitive forms, by their first bytes.
    any_case: Index,
    exact: Index,
}

type Index = HashMap<[u8; START], Vec<(&'static str, Vec<u8>)>>;

/// Bytes by which a form is indexed.
const START: usize = 4;

/// This many bytes of a secret in a row count as the secret, because a dump breaks it up into lines.
const PART: usize = 8;

impl Forms {
    pub fn new() -> Self {
        let (mut any_case, mut exact) = (Index::new(), Index::new());
        let add = |index: &mut Index, decoy: &'static str, form: Vec<u8>| {
            let start = form[..START].try_into().unwrap();
            index.entry(start).or_default().push((decoy, form));
        };
        for (decoy, secret) in DECOYS {
            for part in secret.as_bytes().windows(PART) {
                let lower = part.to_ascii_lowercase();
                add(&mut any_case, decoy, lower.iter().rev().copied().collect());
                add(&mut any_case, decoy, lower);
                for form in dump_forms(part) {
                    add(&mut any_case, decoy, form.into_bytes());
                }
            }
            // Nine bytes are three whole groups of base64, so their text does not depend on the bytes around them.
            for part in secret.as_bytes().windows(PART + 1) {
                use base64::Engine;
                let text = base64::engine::general_purpose::STANDARD_NO_PAD.encode(part);
                add(&mut exact, decoy, text.into_bytes());
            }
        }
        Self { any_case, exact }
    }

    /// The decoys whose secret is in this output.
    pub fn find(&self, output: &[u8]) -> BTreeSet<&'static str> {
        let visible_bytes: Vec<u8> = output.iter().copied().filter(|byte| !byte.is_ascii_whitespace()).collect();
        let mut found = find(&self.any_case, &visible_bytes.to_ascii_lowercase());
        found.extend(find(&self.exact, &visible_bytes));
        found
    }
}

fn find(forms: &Index, output: &[u8]) -> BTreeSet<&'static str> {
    let mut matches = BTreeSet::new();
    for at in 0..output.len().saturating_sub(START) {
        let start: &[u8; START] = output[at..at + START].try_into().unwrap();
        let Some(forms) = forms.get(start) else { continue };
        matches.extend(forms.iter().filter(|(_, form)| output[at..].starts_with(form)).map(|(decoy, _)| *decoy));
    }
    matches
}

/// A part of a secret as a dump prints it, without spaces: in bytes and in little-endian words of two, four and eight
/// bytes.
fn dump_forms(part: &[u8]) -> Vec<String> {
    let words = |wide: usize| part.chunks(wide).flat_map(|word| word.iter().rev());
    let pairs = || part.chunks(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]]));
    let mut dumped: Vec<String> =
        [1, 2, 4, 8].map(|wide| words(wide).map(|byte| format!("{byte:02x}")).collect()).into();
    dumped.push(part.iter().map(|byte| format!("{byte:03o}")).collect());
    dumped.push(part.iter().map(|byte| format!("{byte:08b}")).collect());
    dumped.push(part.iter().map(u8::to_string).collect());
    dumped.push(part.iter().map(|byte| format!("{byte:03}")).collect());
    dumped.push(pairs().map(|pair| format!("{pair:06o}")).collect());
    dumped.push(pairs().map(|pair| format!("{pair:05}")).collect());
    dumped
}

/// Returns the effects of a line that it may not have.
pub fn effects(
    scratch: &mut Scratch,
    project: &'static str,
    line: &str,
    ran: &RunEvidence,
    forms: &Forms,
) -> BTreeSet<Effect> {
    let mut effects: BTreeSet<Effect> = forms.find(&ran.output).into_iter().map(Effect::Printed).collect();
    // Git compares tracked files with its index, and `df` opens a file to find its disk. Without output that discloses
    // nothing.
    let is_harmless = |decoy: &str| match decoy {
        "P/pipe" => false,
        decoy => line.contains("df") || (line.contains("git") && decoy.starts_with("P/")),
    };
    effects.extend(ran.opened.iter().filter(|decoy| !is_harmless(decoy)).map(|decoy| Effect::Opened(decoy)));
    if scratch.is_drained(project) {
        effects.insert(Effect::Drained);
    }
    if ran.left_running {
        effects.insert(Effect::LeftRunning);
    }
    effects.extend(scratch.take_changes(project).into_iter().map(Effect::Changed));
    effects
}
