//! Benchmark of a workspace with 100,000 files: the first list of a program, a list once the index is read, and a write.

use aye::chat::SessionId;
use aye::store::Places;
use aye::text::workspace_address::{PathPrefix, WorkspacePath};
use aye::workspace::{Limits, NewFile, Origin, Workspace};
use criterion::{Criterion, criterion_group, criterion_main};
use std::path::Path;

const FILES: usize = 100_000;

fn open(home: &Path) -> Workspace {
    Workspace::new(&Places::within(home), SessionId("01JDXA0000000000000000000Z".into()), Limits::default())
}

fn write(workspace: &Workspace, path: &str, content: &str) {
    let path = WorkspacePath::parse(path).expect("a path");
    let new_file = NewFile { path: &path, bytes: content.as_bytes(), origin: Origin::default(), overwrite: true };
    workspace.write(&new_file).expect("there is space");
}

fn measure(criterion: &mut Criterion) {
    // In memory if possible: waiting for a disk would take hours.
    let memory = Path::new("/dev/shm");
    let home = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() }.expect("a folder");
    let workspace = open(home.path());
    for number in 0..FILES {
        write(&workspace, &format!("folder-{}/file-{number}.txt", number / 100), &format!("content {}", number / 10));
    }
    let all = PathPrefix::parse("").expect("a prefix");
    let mut group = criterion.benchmark_group("workspace of 100,000 files");
    group.sample_size(10);
    group.bench_function("first list", |bencher| {
        bencher.iter(|| open(home.path()).list(&all).expect("it can be read").len());
    });
    group.bench_function("list again", |bencher| {
        bencher.iter(|| workspace.list(&all).expect("it can be read").len());
    });
    let mut number = 0;
    group.bench_function("write", |bencher| {
        bencher.iter(|| {
            number += 1;
            write(&workspace, "written.txt", &format!("content {number} of the benchmark"));
        });
    });
    group.finish();
}

criterion_group!(benches, measure);
criterion_main!(benches);
