//! What the walls of the sandbox cost a command: the same command with and without them, by turns.
//!
//! `AYE_BENCH_PROGRAM` names another build of the program than the one that was built for this.

use aye::chat::{CommandLine, Openings, Walls};
use aye::project::shell::Shell;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Commands of each kind that count.
const RUNS: usize = 200;
/// And before them, so that everything is in memory.
const WARM: usize = 20;

fn main() -> io::Result<()> {
    let program = std::env::var_os("AYE_BENCH_PROGRAM");
    let program = program.map_or_else(|| env!("CARGO_BIN_EXE_aye").into(), PathBuf::from);
    let place = tempfile::tempdir()?;
    let (project, other) = (place.path().join("project"), place.path().join("other"));
    std::fs::create_dir_all(&project)?;
    std::fs::create_dir_all(&other)?;
    let shell = Shell::new(program);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let openings = Openings { write: vec![other], network: false, sockets: false };
    let kinds = [Walls::raised(openings), Walls::Absent("the bench does without".into())];
    let mut took = [Vec::new(), Vec::new()];
    for run in 0..WARM + RUNS {
        for (walls, took) in kinds.iter().zip(&mut took) {
            let time = runtime.block_on(one(&shell, &project, walls))?;
            if run >= WARM {
                took.push(time);
            }
        }
    }
    let mut out = io::stdout().lock();
    for (name, took) in ["with walls", "without"].into_iter().zip(&mut took) {
        took.sort();
        let at = |part: usize| took[took.len() * part / 100].as_secs_f64() * 1000.0;
        writeln!(
            out,
            "{name:12} median {:.2} ms · nine of ten below {:.2} ms · {RUNS} runs",
            at(50),
            at(90)
        )?;
    }
    let middle = |took: &[Duration]| took[took.len() / 2].as_secs_f64() * 1000.0;
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    writeln!(
        out,
        "cost         {:.2} ms a command · load {}",
        middle(&took[0]) - middle(&took[1]),
        load.trim()
    )
}

/// Runs `true` in the shell, and says how long that took.
async fn one(shell: &Shell, folder: &Path, walls: &Walls) -> io::Result<Duration> {
    let line = CommandLine {
        command: "true".to_owned(),
        folder: folder.to_owned(),
        seconds: 30,
        walls: walls.clone(),
        ..CommandLine::default()
    };
    let began = Instant::now();
    let ran = shell.run(&line, &|_| {}).await.map_err(|error| io::Error::other(error.to_string()))?;
    match ran.exit {
        Some(0) => Ok(began.elapsed()),
        other => Err(io::Error::other(format!("it ended with {other:?}: {}", ran.output))),
    }
}
