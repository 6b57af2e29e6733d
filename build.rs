//! Asks the linker for compact relocations, if this machine can load them, records what `aye --version --verbose`
//! prints, and takes the built-in profiles from the example of the settings.
//!
//! Compact relocations have 24 KB instead of 1.9 MB, a twentieth of the executable, and less of the file is read at
//! start. They are enabled only for native builds with glibc 2.36 or later; older loaders refuse the file.

use std::path::Path;
use std::process::Command;

/// First version of glibc that loads compact relocations.
const FIRST_GLIBC: (u32, u32) = (2, 36);

/// Environment variable that names the commit of the source, for builds outside a repository.
const COMMIT_VARIABLE: &str = "AYE_COMMIT";

/// File that contains the built-in profiles, among comments and other settings.
const EXAMPLE: &str = "config.example.toml";

/// File that cargo adds to a published package. It names the commit that was packaged.
const PACKAGED_COMMIT: &str = ".cargo_vcs_info.json";

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed={EXAMPLE}");
    let example = std::fs::read_to_string(EXAMPLE).expect("the example of the settings is here");
    let profiles = Path::new(&variable("OUT_DIR")).join("profiles.toml");
    std::fs::write(profiles, extract_profiles(&example)).expect("cargo's folder can be written");
    let is_native = variable("TARGET") == variable("HOST");
    let is_glibc = variable("CARGO_CFG_TARGET_OS") == "linux" && variable("CARGO_CFG_TARGET_ENV") == "gnu";
    if is_native && is_glibc && glibc_version().is_some_and(|version| version >= FIRST_GLIBC) {
        println!("cargo::rustc-link-arg-bins=-Wl,-z,pack-relative-relocs");
    }
    println!("cargo::rustc-env=AYE_BUILD_COMMIT={}", find_commit().as_deref().unwrap_or("unknown"));
    println!("cargo::rustc-env=AYE_BUILD_TARGET={}", variable("TARGET"));
    println!("cargo::rustc-env=AYE_BUILD_PROFILE={}", variable("PROFILE"));
}

/// Returns the tables of profiles without comments: each start of the program reads them.
fn extract_profiles(example: &str) -> String {
    let mut is_profile = false;
    let mut profiles = String::new();
    for line in example.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
        if line.starts_with('[') {
            is_profile = line.starts_with("[profiles.");
        }
        if is_profile {
            profiles.push_str(line);
            profiles.push('\n');
        }
    }
    profiles
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

/// Returns the version of this machine's glibc; `None` if it is unknown.
fn glibc_version() -> Option<(u32, u32)> {
    let output = Command::new("getconf").arg("GNU_LIBC_VERSION").output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let (major, minor) = text.trim().strip_prefix("glibc ")?.split_once('.')?;
    let minor = minor.split('.').next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// Returns the commit of the source: named by the environment, by the package, or by git.
///
/// Git is asked in release builds only: a change of the commit compiles the whole program again, which would cost a
/// developer minutes after each commit.
fn find_commit() -> Option<String> {
    println!("cargo::rerun-if-env-changed={COMMIT_VARIABLE}");
    let named = variable(COMMIT_VARIABLE);
    if !named.is_empty() {
        return parse_commit(&named);
    }
    if let Ok(package) = std::fs::read_to_string(PACKAGED_COMMIT) {
        let (_, after) = package.split_once("\"sha1\"")?;
        return parse_commit(after.split('"').nth(1)?);
    }
    if variable("PROFILE") != "release" {
        return None;
    }
    // A repository around the package, such as one of settings files, is not its own.
    let root = ask_git(&["rev-parse", "--show-toplevel"])?;
    let is_own =
        Path::new(&root).canonicalize().ok()? == Path::new(&variable("CARGO_MANIFEST_DIR")).canonicalize().ok()?;
    if !is_own {
        return None;
    }
    // Each commit and each checkout changes one of these. A missing file would run this script in every build.
    for file in ["HEAD", "logs/HEAD"] {
        let path = ask_git(&["rev-parse", "--git-path", file]);
        if let Some(path) = path.filter(|path| Path::new(path).exists()) {
            println!("cargo::rerun-if-changed={path}");
        }
    }
    parse_commit(&ask_git(&["rev-parse", "HEAD"])?)
}

/// Returns what git prints, if it succeeds.
fn ask_git(arguments: &[&str]) -> Option<String> {
    let output = Command::new("git").args(arguments).output().ok().filter(|output| output.status.success())?;
    Some(String::from_utf8(output.stdout).ok()?.trim().to_owned())
}

/// Returns a commit if it looks like one: any word without special characters is accepted from packagers.
fn parse_commit(text: &str) -> Option<String> {
    let text = text.trim();
    let is_word = text.len() <= 64 && text.chars().all(|c| c.is_ascii_alphanumeric() || ".-_+".contains(c));
    (is_word && !text.is_empty()).then(|| text.to_owned())
}
