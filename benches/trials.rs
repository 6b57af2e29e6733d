//! Benchmark of a command that the mode `auto` keeps: a trial with its effects, kept, alternately with the same command
//! live in its sandbox, with and without the record for undo, in a repository of 5,000 files.

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod linux {
    use aye::chat::{CommandLine, CommandSandbox, SandboxAccess, SessionId};
    use aye::project::checkpoints::{Checkpoints, CommandSnapshot, SessionCheckpoints};
    use aye::project::disk::Disk;
    use aye::project::overlay_sandbox::{DisclosedPaths, View};
    use aye::project::shell::Shell;
    use aye::project::trial::TrialRunner;
    use std::io::Write;
    use std::path::Path;
    use std::sync::Arc;
    use std::time::{Duration, Instant};

    const AYE: &str = env!("CARGO_BIN_EXE_aye");
    const FILES: usize = 5_000;
    /// Measured commands per way to run them.
    const RUNS: usize = 200;
    /// Commands before the measurement, to fill caches.
    const WARM_UP_RUNS: usize = 20;

    pub fn main() {
        let mut out = std::io::stdout().lock();
        let temporary = tempfile::tempdir().expect("a folder");
        let project = temporary.path().join("project");
        for file in 0..FILES {
            let folder = project.join(format!("{}", file / 100));
            std::fs::create_dir_all(&folder).expect("a folder");
            std::fs::write(folder.join(format!("{file}.txt")), "x\n").expect("a file");
        }
        let project = project.canonicalize().expect("it exists");
        for arguments in
            [&["init", "-q"][..], &["add", "."], &["-c", "user.name=x", "-c", "user.email=x@y", "commit", "-qm", "x"]]
        {
            let status = std::process::Command::new("git").current_dir(&project).args(arguments).status();
            assert!(status.expect("git is installed").success());
        }
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let shell = Arc::new(Shell::new(AYE.into()));
        let disk = Arc::new(Disk::new(&project).expect("a project"));
        let trials = temporary.path().join("trials");
        let access = DisclosedPaths::default();
        let runner = Arc::new(TrialRunner::new(disk, shell.clone(), access, AYE.into(), trials));
        if let Err(reason) = runner.check_support() {
            let _ = writeln!(out, "nothing to measure: no overlay sandbox on this system: {reason}");
            return;
        }
        let sandbox = CommandSandbox::enforced(SandboxAccess::default());
        let line = |folder: &Path| CommandLine {
            // Changes one file and creates another, as a formatter or a build does.
            command: "date +%N > changed.txt; date +%N > $$.new; rm -f *.new".into(),
            folder: folder.to_owned(),
            seconds: 60,
            sandbox: sandbox.clone(),
            ..CommandLine::default()
        };
        let line = line(&project);
        // What is changed is recorded too, as in a session.
        let checkpoints = Arc::new(Checkpoints::new(temporary.path().join("checkpoints"), 500 << 20));
        let session = SessionCheckpoints { checkpoints, session: SessionId("01J".into()), root: project.clone() };
        let run_live = || {
            runtime.block_on(shell.run_command(&line, &|_| {})).expect("it runs");
        };
        // As a session runs an approved command, so that it can be undone.
        let run_recorded = || {
            let recorder = Arc::new(session.recorder(&"a".into(), "bash_exec"));
            let snapshot = CommandSnapshot::take(recorder, &line).expect("it can be recorded");
            run_live();
            snapshot.finish();
        };
        let run_trial = || {
            let trial = runtime.block_on(runner.run_trial(&line, View::WithoutSecrets, &|_| {})).expect("it runs");
            assert_eq!(trial.effects.changes.len(), 1, "{:?}", trial.effects);
            trial.keep(&session.recorder(&"a".into(), "bash_exec")).expect("it is kept");
        };
        let ways: [(&str, &dyn Fn()); 3] = [
            ("live in its sandbox", &run_live),
            ("live in its sandbox, recorded", &run_recorded),
            ("on trial, kept", &run_trial),
        ];
        let mut times = ways.map(|_| Vec::new());
        for run in 0..WARM_UP_RUNS + RUNS {
            for ((_, run_command), times) in ways.iter().zip(&mut times) {
                let start = Instant::now();
                run_command();
                if run >= WARM_UP_RUNS {
                    times.push(start.elapsed());
                }
            }
        }
        times.iter_mut().for_each(|times| times.sort());
        let percentile = |times: &[Duration], percent: usize| times[times.len() * percent / 100].as_secs_f64() * 1000.0;
        let _ = writeln!(out, "a command that changes a file among {FILES}, {RUNS} runs");
        for ((name, _), times) in ways.iter().zip(&times) {
            let [lower, median, upper] = [25, 50, 75].map(|percent| percentile(times, percent));
            let _ = writeln!(out, "  {name:29} median {median:.2} ms · quartiles {lower:.2} to {upper:.2} ms");
        }
        let [live, recorded, trial] = times.each_ref().map(|times| percentile(times, 50));
        let _ = writeln!(
            out,
            "  the trial against the recorded command {:+.2} ms · against the one without a record {:+.2} ms",
            trial - recorded,
            trial - live
        );
        let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
        let _ = writeln!(out, "load {}", load.trim());
    }
}
