//! Small C libraries that stand between the program and the system (`LD_PRELOAD`).

use std::path::{Path, PathBuf};
use std::process::Command;

/// Builds a shared library from this source and returns its path; `None` if no C compiler can build it here.
///
/// It is built again in each run, in the folder that cargo keeps for the files of tests.
pub fn build(name: &str, source: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("preload");
    std::fs::create_dir_all(&folder).ok()?;
    // Another user's run may have left its own file, which this one cannot replace.
    let library = folder.join(format!("{name}-{}.so", rustix::process::geteuid().as_raw()));
    let text = library.with_extension("c");
    std::fs::write(&text, source).ok()?;
    let built = Command::new("cc").args(["-shared", "-fPIC", "-O1", "-o"]).arg(&library).arg(&text).status();
    built.is_ok_and(|status| status.success()).then_some(library)
}
