//! Watches over one command, as a process of its own: nothing the command started outlives it, or aye.
//!
//! aye starts itself again as `aye guard -- PROGRAM ARGUMENTS…`, in the folder the command runs in, its output going to a
//! pipe, and its stdin being a lifeline: a socket whose other end only aye holds. When that end closes, for whatever
//! reason, aye is gone or wants no more of the command, and the guard ends everything. Over the same socket aye may
//! send [`STOP`], and the guard reports how the command ended.
//!
//! Between `guard` and `--` may stand the walls that hold the command back ([`super::sandbox`]). They are raised around
//! the one thread that starts the command: the guard itself stays outside, where the command cannot reach it.
//!
//! A command that was not approved gets the read-only sandbox instead ([`super::sandbox::read_only`]): `--read-only`, its
//! folders; the paths that it opens come over the lifeline. Its private temporary folder is made and removed here.
//!
//! With `--input=BYTES` there too, so many bytes come over the lifeline first: what the command reads on its stdin, which
//! is empty otherwise.
//!
//! On Linux the guard adopts what its descendants leave behind (it is their subreaper), so a process that made itself a
//! session of its own is found too. Elsewhere only the command's process group is.

mod watch;

#[cfg(target_os = "linux")]
use super::sandbox::read_only::{READ_ONLY, ReadOnly};
use super::sandbox::{Confines, Refused, probe};
use super::stage::{self, Unstaged};
use rustix::io::Errno;
use rustix::process::{Pid, WaitOptions, WaitStatus, getpid, setsid, wait};
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::process::CommandExt;
#[cfg(target_os = "linux")]
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};
use std::sync::mpsc::{Sender, channel};
use std::thread;
use std::time::Duration;
use watch::Watch;

/// What says how many bytes of the command's stdin come first.
pub const INPUT: &str = "--input=";
/// The byte that asks for the command's end: TERM to all of it, KILL to what is left [`PATIENCE`] later.
pub const STOP: u8 = b'T';
/// From TERM to KILL when the command's time is up.
pub const PATIENCE: Duration = Duration::from_millis(1500);

/// How a command ended, as a few bytes on the lifeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Report {
    /// By itself, with this status.
    Exit(u8),
    /// By this signal.
    Signal(u8),
    /// It could not be started; the system's error number.
    Failed(u8),
    /// It was not started, since its walls could not be raised; the byte of [`Refused`].
    Unwalled(u8),
    /// It was not started, since there is no stage for it.
    Unstaged(Unstaged),
}

impl Report {
    /// The bytes.
    fn bytes(self) -> Vec<u8> {
        match self {
            Self::Exit(status) => vec![b'E', status],
            Self::Signal(signal) => vec![b'S', signal],
            Self::Failed(errno) => vec![b'F', errno],
            Self::Unwalled(refused) => vec![b'W', refused],
            Self::Unstaged(why) => [b"X", &why.bytes()[..]].concat(),
        }
    }

    /// Reads the bytes; `None` when the guard was ended before it could report.
    pub fn read(bytes: &[u8]) -> Option<Self> {
        match *bytes {
            [b'E', status] => Some(Self::Exit(status)),
            [b'S', signal] => Some(Self::Signal(signal)),
            [b'F', errno] => Some(Self::Failed(errno)),
            [b'W', refused] => Some(Self::Unwalled(refused)),
            [b'X', step, errno] => Some(Self::Unstaged(Unstaged::of(step, errno))),
            _ => None,
        }
    }
}

/// What the guard hears of.
enum News {
    /// The command itself ended.
    Ended(Report),
    /// No child is left.
    Gone,
    /// aye asks for the end.
    Stop,
    /// The lifeline is cut.
    Cut,
}

/// The whole life of `aye guard`. Does not return before everything the command started is gone.
pub fn run() -> ExitCode {
    let mut words = std::env::args_os().skip(2).peekable();
    if words.next_if(|word| word == probe::PROBE).is_some() {
        return probe::run(words);
    }
    #[cfg(target_os = "linux")]
    if words.next_if(|word| word == stage::STAGE).is_some() {
        return stage::usher::run(words);
    }
    let report = match watch() {
        Ok(report) => report,
        Err(error) => {
            Report::Failed(error.raw_os_error().and_then(|code| u8::try_from(code).ok()).unwrap_or(0))
        }
    };
    tell(report);
    match report {
        Report::Exit(status) => status.into(),
        Report::Signal(signal) => signal.saturating_add(128).into(),
        Report::Failed(_) | Report::Unwalled(_) | Report::Unstaged(_) => 127.into(),
    }
}

/// Says on the lifeline how it ended.
pub(super) fn tell(report: Report) {
    if let Ok(mut lifeline) = lifeline() {
        // Nobody may be there to read it.
        let _ = lifeline.write_all(&report.bytes());
    }
}

/// What holds the command back.
enum Held {
    /// Nothing does.
    Free,
    /// Walls.
    Walls(Confines),
    /// A stage, walls within it, and the bytes of memory that it may take.
    OnStage(Confines, Option<u64>),
    /// The read-only sandbox, and the private temporary folder, if one could be made.
    #[cfg(target_os = "linux")]
    ReadOnly(ReadOnly, Option<PathBuf>),
}

impl Held {
    /// What stands between `guard` and `--`, done as far as it is done in this process. A stage is set by this.
    fn read() -> Result<Self, Report> {
        let is_input = |word: &OsString| word.to_str().is_some_and(|word| word.starts_with(INPUT));
        let mut words = before().filter(|word| !is_input(word)).peekable();
        if words.next_if(|word| word == stage::ON_STAGE || word == stage::STAGE).is_some() {
            let setting = stage::Setting::read(words, bytes_of_lifeline).map_err(Report::Unstaged)?;
            let memory = setting.memory;
            return stage::set(&setting)
                .map(|confines| Self::OnStage(confines, memory))
                .map_err(Report::Unstaged);
        }
        #[cfg(target_os = "linux")]
        if words.next_if(|word| word == READ_ONLY).is_some() {
            let read = ReadOnly::read(words, bytes_of_lifeline)
                .map_err(|refused| Report::Unwalled(refused.byte()))?;
            return Ok(Self::ReadOnly(read, None));
        }
        match Confines::read(words) {
            Ok(confines) => Ok(confines.map_or(Self::Free, Self::Walls)),
            Err(refused) => Err(Report::Unwalled(refused.byte())),
        }
    }
}

#[cfg(target_os = "linux")]
impl Held {
    /// Makes the private temporary folder of a command that gets one, and tells the command of it. Without one it runs too,
    /// and writes nowhere.
    fn give_private_folder(&mut self, command: &mut Command) -> Option<tempfile::TempDir> {
        let Self::ReadOnly(read_only, private) = self else { return None };
        // Made for its owner alone, under a name that cannot be guessed.
        let alone = std::os::unix::fs::PermissionsExt::from_mode(0o700);
        let folder =
            tempfile::Builder::new().prefix("aye-").permissions(alone).tempdir_in(&read_only.temporary).ok();
        *private = folder.as_ref().and_then(|folder| folder.path().canonicalize().ok());
        let named = private.as_deref().unwrap_or(Path::new("/nonexistent"));
        command.envs(["TMPDIR", "XDG_CONFIG_HOME", "XDG_CACHE_HOME"].map(|name| (name, named)));
        folder
    }
}

/// Starts the command and waits until nothing of it is left.
fn watch() -> io::Result<Report> {
    #[cfg_attr(not(target_os = "linux"), expect(unused_mut, reason = "nothing is added elsewhere"))]
    let mut held = match Held::read() {
        Ok(held) => held,
        Err(report) => return Ok(report),
    };
    let mut words = std::env::args_os().skip_while(|word| word != "--").skip(1);
    let program: OsString = words.next().ok_or(Errno::INVAL)?;
    setsid()?;
    #[cfg(target_os = "linux")]
    rustix::process::set_child_subreaper(Some(getpid()))?;
    let mut line = lifeline()?;
    let input = given(&mut line)?;
    let mut command = Command::new(program);
    let stdin = if input.is_some() { Stdio::piped() } else { Stdio::null() };
    command.args(words).stdin(stdin).process_group(0);
    // Removed when this returns: by then nothing of the command is left.
    #[cfg(target_os = "linux")]
    let _private = held.give_private_folder(&mut command);
    if let Held::OnStage(confines, memory) = &held {
        stage::bound(confines.folder.clone(), *memory);
    }
    let mut child = match start(command, held)? {
        Ok(child) => child,
        Err(refused) => return Ok(Report::Unwalled(refused.byte())),
    };
    let shell = Pid::from_child(&child);
    if let (Some(input), Some(mut stdin)) = (input, child.stdin.take()) {
        // A command that does not read must not hold anything up, and may close its end.
        thread::spawn(move || stdin.write_all(&input));
    }
    let (sender, news) = channel();
    let heard = sender.clone();
    thread::spawn(move || listen(&mut line, &heard));
    thread::spawn(move || reap(shell, &sender));
    Ok(Watch::new(shell).until_gone(&news))
}

/// What stands between `guard` and `--`.
fn before() -> impl Iterator<Item = OsString> {
    std::env::args_os().skip(2).take_while(|word| word != "--")
}

/// What the command is to read, where it is given anything.
fn given(lifeline: &mut File) -> io::Result<Option<Vec<u8>>> {
    let count = before().filter_map(|word| word.to_str()?.strip_prefix(INPUT)?.parse().ok()).next();
    let Some(count): Option<usize> = count else { return Ok(None) };
    let mut input = vec![0; count];
    lifeline.read_exact(&mut input)?;
    Ok(Some(input))
}

/// Starts the command within its walls, or not at all.
fn start(mut command: Command, held: Held) -> io::Result<Result<Child, Refused>> {
    let raise = match held {
        Held::Free => return command.spawn().map(Ok),
        Held::Walls(confines) => thread::Builder::new().spawn(move || confined(command, confines.raise()))?,
        Held::OnStage(confines, _) => {
            thread::Builder::new().spawn(move || confined(command, stage::raise(&confines)))?
        }
        #[cfg(target_os = "linux")]
        Held::ReadOnly(read_only, private) => {
            thread::Builder::new().spawn(move || confined(command, read_only.raise(private.as_deref())))?
        }
    };
    // A thread that broke down started nothing.
    raise.join().unwrap_or(Ok(Err(Refused::Files)))
}

fn confined(mut command: Command, walls: Result<(), Refused>) -> io::Result<Result<Child, Refused>> {
    match walls {
        Ok(()) => command.spawn().map(Ok),
        Err(refused) => Ok(Err(refused)),
    }
}

/// Stdin once more, to read from and to write to.
fn lifeline() -> io::Result<File> {
    Ok(File::from(io::stdin().as_fd().try_clone_to_owned()?))
}

/// The next bytes that come over it.
fn bytes_of_lifeline(count: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; count];
    lifeline()?.read_exact(&mut bytes).map(|()| bytes)
}

/// Passes on what aye says.
fn listen(lifeline: &mut File, news: &Sender<News>) {
    let mut byte = [0];
    loop {
        let heard = match lifeline.read(&mut byte) {
            Ok(1) if byte == [STOP] => News::Stop,
            Ok(1) => continue,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Ok(_) | Err(_) => News::Cut,
        };
        let last = matches!(heard, News::Cut);
        if news.send(heard).is_err() || last {
            return;
        }
    }
}

/// Passes on the end of the command, and of the last child: the command's own and those adopted.
fn reap(shell: Pid, news: &Sender<News>) {
    loop {
        let heard = match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid == shell => News::Ended(report(status)),
            Ok(_) | Err(Errno::INTR) => continue,
            Err(_) => News::Gone,
        };
        let last = matches!(heard, News::Gone);
        if news.send(heard).is_err() || last {
            return;
        }
    }
}

/// The system's word for an end in ours.
fn report(status: WaitStatus) -> Report {
    let byte = |number: i32| u8::try_from(number).unwrap_or(u8::MAX);
    match (status.exit_status(), status.terminating_signal()) {
        (Some(code), _) => Report::Exit(byte(code)),
        (None, Some(signal)) => Report::Signal(byte(signal)),
        (None, None) => Report::Exit(u8::MAX),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_reads_as_it_was_written_and_half_of_one_is_none() {
        for report in [
            Report::Exit(0),
            Report::Exit(137),
            Report::Signal(9),
            Report::Failed(2),
            Report::Unwalled(b'f'),
            Report::Unstaged(Unstaged::of(3, 1)),
        ] {
            assert_eq!(Report::read(&report.bytes()), Some(report));
        }
        assert_eq!(Report::read(b""), None);
        assert_eq!(Report::read(b"E"), None);
        assert_eq!(Report::read(b"X1"), None);
    }
}
