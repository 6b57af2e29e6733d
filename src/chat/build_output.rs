//! Build output by the names of its folders and files: what a build tool or a package manager makes again.

use std::ffi::OsStr;
use std::path::Path;

/// Folders that build tools, package managers and test runners fill.
#[rustfmt::skip]
const FOLDERS: [&str; 30] = [
    "target", "build", "dist", "out", "obj", "_build", "cmake-build-debug", "cmake-build-release", "zig-out", "zig-cache",
    ".zig-cache", "deriveddata", ".build", ".gradle", ".next", ".nuxt", ".svelte-kit", ".turbo", ".parcel-cache",
    // Packages
    "node_modules", "site-packages", ".pnpm-store", ".venv", "venv", ".tox",
    // Caches
    "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache", "coverage",
];
/// Extensions of files that compilers write next to their sources.
const EXTENSIONS: [&str; 5] = ["o", "obj", "pyc", "class", "rlib"];

/// Returns whether a path that git ignores is build output by its name. Git ignores other files too, such as settings and
/// local databases, which nothing makes again.
pub fn is_build_output(path: &Path) -> bool {
    let is_one_of = |name: &OsStr, names: &[&str]| names.iter().any(|listed| name.eq_ignore_ascii_case(listed));
    path.iter().any(|name| is_one_of(name, &FOLDERS))
        || path.extension().is_some_and(|extension| is_one_of(extension, &EXTENSIONS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_is_built_is_build_output() {
        for path in ["target", "target/debug/aye", "web/node_modules/a/b.js", "src/a.o", "a/__pycache__/b", "Build/x"] {
            assert!(is_build_output(Path::new(path)), "{path}");
        }
        for path in [".env.local", "data/app.sqlite", "app.log", "notes", "targets/x", "build.env", "o"] {
            assert!(!is_build_output(Path::new(path)), "{path}");
        }
    }
}
