//! Benchmarks of the overlay sandbox: a command in it and without it, in projects of 2 and 100,000 files, with overlays
//! of 5,000, 20,000 and 100,000 files and of 500 nested folders; and the check whether the sandbox is available.

#[cfg(target_os = "linux")]
fn main() {
    linux::main();
}

#[cfg(not(target_os = "linux"))]
fn main() {}

#[cfg(target_os = "linux")]
mod linux {
    use aye::chat::CommandLine;
    use aye::project::disk::Disk;
    use aye::project::overlay_sandbox::{OverlayShell, View, test_overlay_sandbox};
    use aye::project::rehearsal::Rehearsal;
    use aye::project::shell::Shell;
    use criterion::{Criterion, criterion_group};
    use std::path::Path;
    use std::sync::Arc;

    const AYE: &str = env!("CARGO_BIN_EXE_aye");

    /// Creates a project with this many files, 100 per folder.
    fn project(files: usize) -> tempfile::TempDir {
        let temporary = tempfile::tempdir().expect("a folder");
        for file in 0..files {
            let folder = temporary.path().join(format!("project/{}", file / 100));
            std::fs::create_dir_all(&folder).expect("a folder");
            std::fs::write(folder.join(format!("{file}.txt")), "x\n").expect("a file");
        }
        temporary
    }

    fn measure_commands(c: &mut Criterion) {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let (small, large) = (project(2), project(100_000));
        let line = |temporary: &Path| CommandLine {
            command: "true".into(),
            folder: temporary.join("project").canonicalize().expect("it exists"),
            seconds: 60,
            ..CommandLine::default()
        };
        if let Err(reason) = test_overlay_sandbox(Path::new(AYE), &small.path().join("project"), small.path()) {
            report_unavailable(&reason);
            return;
        }
        let shell = Arc::new(Shell::new(AYE.into()));
        let mut group = c.benchmark_group("a command");
        group.bench_function("plain", |b| {
            let line = line(small.path());
            b.iter(|| runtime.block_on(shell.run_command(&line, &|_| {})).expect("it runs"));
        });
        for (name, temporary) in
            [("in the overlay sandbox, 2 files", &small), ("in the overlay sandbox, 100,000 files", &large)]
        {
            let line = line(temporary.path());
            let disk = Arc::new(Disk::new(&line.folder).expect("a project"));
            let rehearsal = Arc::new(Rehearsal::new(disk, temporary.path().join("overlay")));
            let overlay_shell = OverlayShell::new(shell.clone(), rehearsal);
            group.bench_function(name, |b| {
                b.iter(|| {
                    runtime
                        .block_on(overlay_shell.run_in_overlay(&line, View::WithoutSecrets, &|_| {}))
                        .expect("it runs")
                });
            });
        }
        // Fill the overlay by a command, as an installation would.
        let folders_of_100 = |folders: usize| {
            format!(
                "for d in $(seq {folders}); do mkdir d$d; (cd d$d; for f in $(seq 100); do echo x > f$f; done); done"
            )
        };
        let nested = "for d in $(seq 500); do mkdir d && cd d && echo x > f; done".to_owned();
        for (name, script) in [
            ("in the overlay sandbox, 5,000 files in the overlay", folders_of_100(50)),
            ("in the overlay sandbox, 20,000 files in the overlay", folders_of_100(200)),
            ("in the overlay sandbox, 100,000 files in the overlay", folders_of_100(1000)),
            ("in the overlay sandbox, 500 nested folders in the overlay", nested),
        ] {
            let disk = Arc::new(Disk::new(&small.path().join("project")).expect("a project"));
            let overlay = large.path().join(name);
            let overlay_shell = OverlayShell::new(shell.clone(), Arc::new(Rehearsal::new(disk, overlay)));
            let fill_line = CommandLine { command: script, seconds: 600, ..line(small.path()) };
            runtime.block_on(overlay_shell.run_in_overlay(&fill_line, View::WithoutSecrets, &|_| {})).expect("it runs");
            group.bench_function(name, |b| {
                let line = line(small.path());
                b.iter(|| {
                    runtime
                        .block_on(overlay_shell.run_in_overlay(&line, View::WithoutSecrets, &|_| {}))
                        .expect("it runs")
                });
            });
        }
        group.finish();
        let mut group = c.benchmark_group("checking whether the overlay sandbox is available");
        for (name, temporary) in [("2 files", &small), ("100,000 files", &large)] {
            let folder = temporary.path().join("project");
            group.bench_function(name, |b| {
                b.iter(|| test_overlay_sandbox(Path::new(AYE), &folder, temporary.path()).expect("it is available"));
            });
        }
        group.finish();
    }

    /// Explains why nothing is measured.
    fn report_unavailable(reason: &str) {
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "nothing to measure: no overlay sandbox on this system: {reason}");
    }

    criterion_group!(benches, measure_commands);
    pub fn main() {
        benches();
        Criterion::default().configure_from_args().final_summary();
    }
}
