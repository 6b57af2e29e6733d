//! Benchmarks of the sandboxes: the same command alternately without a sandbox, in the live and in the read-only one,
//! in projects of 5,000 and 100,000 files with three sensitive ones.
//!
//! `AYE_BENCH_PROGRAM` names another build of the program to measure.

use aye::chat::{CommandLine, CommandSandbox, SandboxAccess};
use aye::project::shell::{CommandOutcome, Shell};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Measured commands per kind.
const RUNS: usize = 200;
/// Commands before the measurement, to fill caches.
const WARM_UP_RUNS: usize = 20;
/// Files per project, and per folder.
const SIZES: [usize; 2] = [5_000, 100_000];
const FILES_PER_FOLDER: usize = 12;
/// Time after which the last change of a folder is old enough to be cached, as in a project in use.
const SETTLING_TIME: Duration = Duration::from_millis(2500);

/// Sandbox of the command.
#[derive(Clone, Copy)]
enum Kind {
    Free,
    Live,
    ReadOnly,
}

const KINDS: [(Kind, &str); 3] =
    [(Kind::Free, "without a sandbox"), (Kind::Live, "live sandbox"), (Kind::ReadOnly, "read-only sandbox")];

fn main() -> io::Result<()> {
    let program = std::env::var_os("AYE_BENCH_PROGRAM");
    let program = program.map_or_else(|| env!("CARGO_BIN_EXE_aye").into(), PathBuf::from);
    let temporary = tempfile::tempdir()?;
    let writable = temporary.path().join("other");
    std::fs::create_dir_all(&writable)?;
    let access = SandboxAccess { write: vec![writable], network: false, sockets: false };
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut out = io::stdout().lock();
    for size in SIZES {
        let project = temporary.path().canonicalize()?.join(size.to_string());
        let folders = fill_project(&project, size)?;
        std::thread::sleep(SETTLING_TIME);
        let shell = Shell::new(program.clone());
        let start = Instant::now();
        runtime.block_on(run_once(&shell, &project, &access, Kind::ReadOnly))?;
        writeln!(
            out,
            "{size} files in {folders} folders; the first command took {:.0} ms",
            milliseconds(start.elapsed())
        )?;
        let mut times = KINDS.map(|_| Vec::new());
        for run in 0..WARM_UP_RUNS + RUNS {
            for ((kind, _), times) in KINDS.iter().zip(&mut times) {
                let time = runtime.block_on(run_once(&shell, &project, &access, *kind))?;
                if run >= WARM_UP_RUNS {
                    times.push(time);
                }
            }
        }
        times.iter_mut().for_each(|times| times.sort());
        let percentile = |times: &[Duration], percent: usize| milliseconds(times[times.len() * percent / 100]);
        for ((_, name), times) in KINDS.iter().zip(&times) {
            writeln!(
                out,
                "  {name:18} median {:.2} ms · quartiles {:.2} to {:.2} ms · 90 % below {:.2} ms · {RUNS} runs",
                percentile(times, 50),
                percentile(times, 25),
                percentile(times, 75),
                percentile(times, 90)
            )?;
        }
        let [free, live, read_only] = &times;
        writeln!(
            out,
            "  cost of the live sandbox {:.2} ms · of the read-only one {:.2} ms, {:+.2} ms against the live one",
            percentile(live, 50) - percentile(free, 50),
            percentile(read_only, 50) - percentile(free, 50),
            percentile(read_only, 50) - percentile(live, 50)
        )?;
    }
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    writeln!(out, "load {}", load.trim())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Creates a project with this many files, three of them sensitive, and returns the number of folders.
fn fill_project(project: &Path, size: usize) -> io::Result<usize> {
    let folders = size / FILES_PER_FOLDER;
    for number in 0..folders {
        let folder = project.join(format!("{}/{}/{number}", number % 20, number / 20 % 20));
        std::fs::create_dir_all(&folder)?;
        for file in 0..FILES_PER_FOLDER {
            std::fs::write(folder.join(format!("file{file}.rs")), "fn main() {}\n")?;
        }
    }
    for secret in [".env", "3/1/server.pem", "7/2/credentials"] {
        std::fs::write(project.join(secret), "secret")?;
    }
    // The folders with files lie in 20 folders with 20 folders each.
    Ok(folders + 20 + 20 * 20)
}

/// Runs `true` in the shell and returns the time it took.
async fn run_once(shell: &Shell, folder: &Path, access: &SandboxAccess, kind: Kind) -> io::Result<Duration> {
    let (runs_git, named_files) = (false, []);
    let sandbox = match kind {
        Kind::Free => CommandSandbox::Unavailable("benchmark without a sandbox".into()),
        Kind::Live | Kind::ReadOnly => CommandSandbox::enforced(access.clone()),
    };
    let line = CommandLine {
        command: "true".to_owned(),
        folder: folder.to_owned(),
        seconds: 30,
        sandbox,
        ..CommandLine::default()
    };
    let to_io_error = |error: aye::project::Error| io::Error::other(error.to_string());
    let start = Instant::now();
    let outcome: CommandOutcome = match kind {
        Kind::Free | Kind::Live => shell.run_command(&line, &|_| {}).await.map_err(to_io_error)?,
        Kind::ReadOnly => shell.run_read_only(&line, runs_git, &named_files, &|_| {}).await.map_err(to_io_error)?.0,
    };
    match outcome.exit {
        Some(0) => Ok(start.elapsed()),
        exit => Err(io::Error::other(format!("it ended with {exit:?}: {}", outcome.output))),
    }
}
