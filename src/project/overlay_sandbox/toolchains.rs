//! Folders of the user's toolchains that commands of a dry run see: programs, libraries and caches, but none that hold
//! credentials or settings.

use crate::chat::sensitive_paths::is_sensitive;
use crate::project::path::resolve_path;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

/// Folders relative to the home.
const HOME_FOLDERS: [&str; 38] = [
    ".cargo/bin",
    ".cargo/registry",
    ".cargo/git",
    ".rustup",
    ".local/bin",
    ".local/lib",
    ".local/share/uv/python",
    ".local/share/uv/tools",
    ".local/share/virtualenvs",
    ".nvm",
    ".volta/bin",
    ".volta/tools",
    ".bun/bin",
    ".deno/bin",
    ".npm/_cacache",
    ".pyenv",
    ".rbenv",
    ".gem/ruby",
    ".asdf/installs",
    ".asdf/shims",
    ".sdkman/candidates",
    ".jdks",
    ".gradle/caches",
    ".gradle/wrapper",
    ".m2/repository",
    ".m2/wrapper",
    ".dotnet/dotnet",
    ".dotnet/host",
    ".dotnet/packs",
    ".dotnet/sdk",
    ".dotnet/shared",
    ".dotnet/tools",
    ".nuget/packages",
    ".ghcup/bin",
    ".ghcup/ghc",
    ".cache/go-build",
    "go/bin",
    "go/pkg",
];

/// Environment variables that name the folder of a toolchain, the visible parts of the folder, and a path that must
/// exist in it. A variable that names any other folder is ignored.
const VARIABLE_FOLDERS: [(&str, &[&str], &str); 20] = [
    ("CARGO_HOME", &["bin", "registry", "git"], ""),
    ("RUSTUP_HOME", &[""], "toolchains"),
    ("GOPATH", &["bin", "pkg"], ""),
    ("GOROOT", &[""], "bin/go"),
    ("GOMODCACHE", &[""], "cache/download"),
    ("GOCACHE", &[""], "README"),
    ("JAVA_HOME", &[""], "bin/java"),
    ("JDK_HOME", &[""], "bin/java"),
    ("MAVEN_HOME", &["bin", "boot", "lib"], "bin/mvn"),
    ("M2_HOME", &["bin", "boot", "lib"], "bin/mvn"),
    ("GRADLE_HOME", &["bin", "lib"], "bin/gradle"),
    ("GRADLE_USER_HOME", &["caches", "wrapper"], ""),
    ("ANDROID_HOME", &["build-tools", "platforms", "platform-tools", "ndk"], "platforms"),
    ("VIRTUAL_ENV", &[""], "pyvenv.cfg"),
    ("CONDA_PREFIX", &["bin", "lib", "include", "share"], "conda-meta"),
    ("NVM_DIR", &["versions", "nvm.sh"], "nvm.sh"),
    ("PYENV_ROOT", &[""], "versions"),
    ("RBENV_ROOT", &[""], "versions"),
    ("DOTNET_ROOT", &["dotnet", "host", "packs", "sdk", "shared"], "dotnet"),
    ("VOLTA_HOME", &["bin", "tools"], ""),
];

/// Returns the existing toolchain folders for this home and this environment.
pub fn toolchain_folders(home: Option<&Path>, environment: &[(OsString, OsString)]) -> Vec<PathBuf> {
    let in_home = home.into_iter().flat_map(|home| HOME_FOLDERS.map(|folder| home.join(folder)));
    let value =
        |name: &str| environment.iter().find(|(variable, _)| variable == name).map(|(_, value)| PathBuf::from(value));
    let from_variables = VARIABLE_FOLDERS.iter().flat_map(|(name, parts, marker)| {
        let folder = value(name).filter(|folder| folder.is_absolute() && folder.join(marker).exists());
        // A folder that contains the home, or lies directly below the root, is not a toolchain.
        let folder = folder.filter(|folder| !contains_home(folder, home) && folder.components().count() > 2);
        folder.into_iter().flat_map(|folder| parts.iter().map(move |part| folder.join(part)))
    });
    let from_opt = value("PATH").into_iter().flat_map(|path| opt_folders(path.as_os_str()));
    let from_opt = from_opt.filter(|folder| !contains_home(folder, home));
    let from_variables = from_variables.filter(|folder| sensitive_entries(folder).is_empty());
    let is_toolchain =
        |folder: &PathBuf| folder.exists() && !is_sensitive(folder) && !is_sensitive(&resolve_path(folder));
    in_home.chain(from_variables).chain(from_opt).filter(is_toolchain).collect()
}

/// Returns the paths directly in a toolchain's folder that may hold secrets. A folder named by a variable is then not
/// shown at all; a known folder is shown without them.
pub fn sensitive_entries(folder: &Path) -> Vec<PathBuf> {
    let folder = resolve_path(folder);
    let names = std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
    names.filter(|name| is_sensitive(Path::new(name))).map(|name| folder.join(name)).collect()
}

/// Returns the folders of programs in `/opt`: `/opt/NAME` for each folder of `PATH` that lies inside `/opt/NAME`.
/// Folders with `..` are ignored, because they may lead elsewhere.
fn opt_folders(path: &OsStr) -> Vec<PathBuf> {
    let opt_folder = |folder: PathBuf| {
        let inside = folder.strip_prefix("/opt").ok()?;
        let has_plain_names = inside.components().all(|part| matches!(part, Component::Normal(_)));
        has_plain_names.then(|| inside.components().next().map(|name| Path::new("/opt").join(name)))?
    };
    std::env::split_paths(path).filter_map(opt_folder).collect()
}

fn contains_home(folder: &Path, home: Option<&Path>) -> bool {
    home.is_some_and(|home| resolve_path(home).starts_with(resolve_path(folder)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn only_known_folders_without_credentials_are_shown() {
        let temporary = tempfile::tempdir().unwrap();
        let home = temporary.path().canonicalize().unwrap().join("home");
        for folder in
            [".cargo/bin", ".cargo/registry", ".rustup/toolchains", ".ssh", "go/pkg", ".m2/repository", "work/bin"]
        {
            fs::create_dir_all(home.join(folder)).unwrap();
        }
        for file in [".cargo/credentials.toml", "work/bin/java", ".m2/repository/.env"] {
            fs::write(home.join(file), "").unwrap();
        }
        let find_folders = |variables: &[(&str, PathBuf)]| {
            let variables: Vec<_> =
                variables.iter().map(|(name, value)| (OsString::from(name), value.clone().into())).collect();
            toolchain_folders(Some(&home), &variables)
        };
        let expected =
            [".cargo/bin", ".cargo/registry", ".rustup", ".m2/repository", "go/pkg"].map(|folder| home.join(folder));
        assert_eq!(sensitive_entries(&home.join(".m2/repository")), [home.join(".m2/repository/.env")]);
        assert_eq!(find_folders(&[]), expected);
        // A variable that names something else than one toolchain is ignored.
        for (name, value) in [
            ("RUSTUP_HOME", home.join(".ssh")),
            ("VIRTUAL_ENV", home.join("work")),
            ("CARGO_HOME", home.clone()),
            ("JAVA_HOME", home.clone()),
            ("JAVA_HOME", "relative".into()),
            ("UNKNOWN", home.join("work")),
        ] {
            assert_eq!(find_folders(&[(name, value)]), expected, "{name}");
        }
        assert!(find_folders(&[("JAVA_HOME", home.join("work"))]).contains(&home.join("work/")));
        fs::write(home.join("work/.env"), "").unwrap();
        assert_eq!(find_folders(&[("JAVA_HOME", home.join("work"))]), expected);
        assert_eq!(
            opt_folders(OsStr::new("/opt/jdk/bin:/usr/bin:/opt:/optional/bin:/opt/../usr/bin:/opt/jdk/../../etc")),
            [PathBuf::from("/opt/jdk")]
        );
    }
}
