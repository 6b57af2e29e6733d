//! What the fuzz targets are held to, of everything that is kept of what they were given or found.

#[path = "../../fuzz/checks/mod.rs"]
mod checks;

use crate::support::often;
use std::path::Path;

/// The files of one corpus.
fn corpus(name: &str) -> Vec<(String, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/corpus").join(name);
    let files = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let read = |file: std::fs::DirEntry| {
        (file.file_name().to_string_lossy().into_owned(), std::fs::read(file.path()).unwrap())
    };
    files.map(Result::unwrap).map(read).collect()
}

#[test]
fn r64_everything_that_is_kept_of_fuzzing_holds() {
    for (name, check) in checks::ALL {
        let corpus = corpus(name);
        assert!(corpus.len() > 2, "there is a corpus of {name}");
        for (file, bytes) in corpus {
            assert!(bytes.len() < 8 << 10, "{name}/{file} is too large to be kept");
            // Whole, and broken off anywhere.
            let step = bytes.len() / often(16, 3) + 1;
            for end in (0..bytes.len()).step_by(step).chain([bytes.len()]) {
                let held = std::panic::catch_unwind(|| check(&bytes[..end]));
                assert!(held.is_ok(), "{name}/{file}, its first {end} bytes");
            }
        }
    }
}

#[test]
fn every_target_is_built_and_called_by_its_name() {
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
