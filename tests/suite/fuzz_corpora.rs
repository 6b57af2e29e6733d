//! The checks of the fuzz targets, run over every file of the stored corpora.

#[path = "../../fuzz/checks/mod.rs"]
mod checks;

use crate::support::pick_count;
use std::path::Path;

/// The files of one corpus, with their names.
fn read_corpus(name: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(name);
    let files = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let read = |file: std::fs::DirEntry| {
        (file.file_name().to_string_lossy().into_owned(), std::fs::read(file.path()).unwrap())
    };
    files.map(Result::unwrap).map(read).collect()
}

#[test]
fn r64_all_stored_fuzz_inputs_pass() {
    for (name, check) in checks::ALL {
        let corpus = read_corpus(name);
        assert!(corpus.len() > 2, "the corpus of {name} is empty");
        for (file, bytes) in corpus {
            assert!(bytes.len() < 8 << 10, "{name}/{file} is too large");
            // The whole file, and truncated at several places.
            let step = bytes.len() / pick_count(16, 3) + 1;
            for end in (0..bytes.len()).step_by(step).chain([bytes.len()]) {
                let result = std::panic::catch_unwind(|| check(&bytes[..end]));
                assert!(result.is_ok(), "{name}/{file} fails on its first {end} bytes");
            }
        }
    }
}

#[test]
fn every_fuzz_target_is_built_and_calls_its_check() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz");
    let manifest = std::fs::read_to_string(folder.join("Cargo.toml")).unwrap();
    let targets = std::fs::read_dir(folder.join("targets")).unwrap();
    assert_eq!(targets.count(), checks::ALL.len());
    for (name, _) in checks::ALL {
        let target = std::fs::read_to_string(folder.join(format!("targets/{name}.rs"))).unwrap();
        assert!(target.contains(&format!("checks::{name}::check(bytes)")), "{name}");
        assert!(manifest.contains(&format!("path = \"targets/{name}.rs\"")), "{name}");
    }
}
