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
        let place = tempfile::tempdir().expect("a folder");
        for file in 0..files {
            let folder = place.path().join(format!("project/{}", file / 100));
            std::fs::create_dir_all(&folder).expect("a folder");
            std::fs::write(folder.join(format!("{file}.txt")), "x\n").expect("a file");
        }
        place
    }

    fn stage(c: &mut Criterion) {
        let runtime = tokio::runtime::Runtime::new().expect("a runtime");
        let (small, large) = (project(2), project(100_000));
        let line = |place: &Path| CommandLine {
            command: "true".into(),
            folder: place.join("project").canonicalize().expect("it is there"),
            seconds: 60,
            ..CommandLine::default()
        };
        if let Err(why) = test_overlay_sandbox(Path::new(AYE), &small.path().join("project"), small.path()) {
            say(&why);
            return;
        }
        let plain = Arc::new(Shell::new(AYE.into()));
        let mut group = c.benchmark_group("a command");
        group.bench_function("plain", |b| {
            let line = line(small.path());
            b.iter(|| runtime.block_on(plain.run_command(&line, &|_| {})).expect("it runs"));
        });
        for (name, place) in [("on the stage, 2 files", &small), ("on the stage, 100,000 files", &large)] {
            let line = line(place.path());
            let disk = Arc::new(Disk::new(&line.folder).expect("a project"));
            let play = Arc::new(Rehearsal::new(disk, place.path().join("layer")));
            let shell = OverlayShell::new(plain.clone(), play);
            group.bench_function(name, |b| {
                b.iter(|| runtime.block_on(shell.run_in_overlay(&line, View::Hidden, &|_| {})).expect("it runs"));
            });
        }
        // Fill the overlay by a command, as an installation would.
        let many = |folders: usize| {
            format!(
                "for d in $(seq {folders}); do mkdir d$d; (cd d$d; for f in $(seq 100); do echo x > f$f; done); done"
            )
        };
        let nested = "for d in $(seq 500); do mkdir d && cd d && echo x > f; done".to_owned();
        for (name, fills) in [
            ("on the stage, 5,000 files in its layer", many(50)),
            ("on the stage, 20,000 files in its layer", many(200)),
            ("on the stage, 100,000 files in its layer", many(1000)),
            ("on the stage, 500 nested folders in its layer", nested),
        ] {
            let disk = Arc::new(Disk::new(&small.path().join("project")).expect("a project"));
            let layer = large.path().join(name);
            let shell = OverlayShell::new(plain.clone(), Arc::new(Rehearsal::new(disk, layer)));
            let fills = CommandLine { command: fills, seconds: 600, ..line(small.path()) };
            runtime.block_on(shell.run_in_overlay(&fills, View::Hidden, &|_| {})).expect("it runs");
            group.bench_function(name, |b| {
                let line = line(small.path());
                b.iter(|| runtime.block_on(shell.run_in_overlay(&line, View::Hidden, &|_| {})).expect("it runs"));
            });
        }
        group.finish();
        let mut group = c.benchmark_group("opening a stage");
        for (name, place) in [("2 files", &small), ("100,000 files", &large)] {
            let folder = place.path().join("project");
            group.bench_function(name, |b| {
                b.iter(|| test_overlay_sandbox(Path::new(AYE), &folder, place.path()).expect("there is a stage"));
            });
        }
        group.finish();
    }

    /// Explains why nothing is measured.
    fn say(why: &str) {
        use std::io::Write;
        let _ = writeln!(std::io::stderr(), "nothing to measure: no overlay sandbox on this system: {why}");
    }

    criterion_group!(benches, stage);
    pub fn main() {
        benches();
        Criterion::default().configure_from_args().final_summary();
    }
}
