//! Benchmarks of a workspace with 100,000 files: the first list of a program, lists once the index is read, a file found by its
//! path, and a write; and of the search for links in a reply.

use aye::chat::SessionId;
use aye::store::Places;
use aye::text::link::{self, Existence, LinkTarget};
use aye::text::workspace_address::{AddressTarget, PathPrefix, ScopedPath, WorkspacePath};
use aye::workspace::{Limits, NewFile, Origin, Replaces, Workspace};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use std::hint::black_box;
use std::path::Path;

const FILES: usize = 100_000;

fn open(home: &Path) -> Workspace {
    Workspace::new(&Places::within(home), SessionId("01JDXA0000000000000000000Z".into()), Limits::default())
}

fn write(workspace: &Workspace, path: &str, content: &str) {
    let path = WorkspacePath::parse(path).expect("a path");
    let new_file = NewFile {
        path: &path,
        bytes: content.as_bytes(),
        origin: Origin::default(),
        replaces: Replaces::Any,
        media_type: None,
    };
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
    let folder = PathPrefix::parse("folder-500").expect("a prefix");
    group.bench_function("list a folder", |bencher| {
        bencher.iter(|| workspace.list(&folder).expect("it can be read").len());
    });
    let path = ScopedPath::parse("folder-500/file-50050.txt").expect("a path");
    let target = AddressTarget::Path(path);
    group.bench_function("find by path", |bencher| {
        bencher.iter(|| workspace.find(&target).expect("it is there").size);
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

/// Searches replies of about 35 kB for links: one of prose, and one with five links, a list and code in each kilobyte.
fn measure_links(criterion: &mut Criterion) {
    let prose = "The retry loop waits for the first answer of the provider, and then reads what follows, line by line, until \
        the reply is complete. If the connection ends before, it starts again after a second, and the user sees a note. ";
    let with_links = "Some **prose** with `code`, a path src/retry.rs:41 and 漢字 in it, long enough to be wrapped at the usual \
        widths of a terminal.\n\n- one\n- two\n  - nested\n\n| a | b |\n|---|---|\n| 1 | 2 |\n\n";
    let mut group = criterion.benchmark_group("links of a reply");
    for (name, part) in [("prose", prose), ("five in each kilobyte", with_links)] {
        let text = part.repeat(35_000 / part.len());
        group.throughput(Throughput::Bytes(text.len() as u64));
        let exists = |_: &LinkTarget| Existence::Exists;
        group.bench_function(name, |bencher| bencher.iter(|| link::find_links(black_box(&text), &exists).len()));
        // The layout passes each run of one style.
        let pieces: Vec<&str> = text.split_inclusive(". ").collect();
        group.bench_function(format!("{name}, by sentence"), |bencher| {
            bencher
                .iter(|| pieces.iter().map(|piece| link::find_links(black_box(piece), &exists).len()).sum::<usize>());
        });
    }
    group.finish();
}

criterion_group!(benches, measure_links, measure);
criterion_main!(benches);
