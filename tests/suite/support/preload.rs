//! Small C libraries that replace system calls of the program (`LD_PRELOAD`).

use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds a shared library from this source and returns its path; `None` if no C compiler can build it here.
///
/// The library is built again in each run, in cargo's folder for temporary test files.
pub fn build_library(name: &str, source: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("preload");
    std::fs::create_dir_all(&folder).ok()?;
    // Another user's run may have left a file that this user cannot replace.
    let library = folder.join(format!("{name}-{}.so", rustix::process::geteuid().as_raw()));
    let source_file = library.with_extension("c");
    std::fs::write(&source_file, source).ok()?;
    let built = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(&source_file).status();
    built.is_ok_and(|status| status.success()).then_some(library)
}
