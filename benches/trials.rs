//! Benchmark of a command that the mode `auto` keeps: a trial with its effects, kept, next to the same command live in
//! its sandbox, with and without the record for undo, in a repository of 5,000 files.

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
    use criterion::{Criterion, criterion_group};
    use std::path::Path;
    use std::sync::Arc;

    const AYE: &str = env!("CARGO_BIN_EXE_aye");
    const FILES: usize = 5_000;

    fn measure_trials(c: &mut Criterion) {
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
            use std::io::Write;
            let _ = writeln!(std::io::stderr(), "nothing to measure: no overlay sandbox on this system: {reason}");
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
        let mut group = c.benchmark_group("a command that changes a file among 5,000");
        group.sample_size(200);
        group.bench_function("live in its sandbox", |b| {
            b.iter(|| runtime.block_on(shell.run_command(&line, &|_| {})).expect("it runs"));
        });
        // As a session runs an approved command, so that it can be undone.
        group.bench_function("live in its sandbox, recorded", |b| {
            b.iter(|| {
                let recorder = Arc::new(session.recorder(&"a".into(), "bash_exec"));
                let snapshot = CommandSnapshot::take(recorder, &line).expect("it can be recorded");
                runtime.block_on(shell.run_command(&line, &|_| {})).expect("it runs");
                snapshot.finish();
            });
        });
        group.bench_function("on trial, kept", |b| {
            b.iter(|| {
                let trial = runtime.block_on(runner.run_trial(&line, View::WithoutSecrets, &|_| {})).expect("it runs");
                assert_eq!(trial.effects.changes.len(), 1, "{:?}", trial.effects);
                trial.keep(&session.recorder(&"a".into(), "bash_exec")).expect("it is kept");
            });
        });
        group.finish();
    }

    criterion_group!(benches, measure_trials);
    pub fn main() {
        benches();
        Criterion::default().configure_from_args().final_summary();
    }
}
