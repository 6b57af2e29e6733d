//! Finds an installed browser, without starting it.

use super::proxy::upstream;
use crate::project::guard::own_program;
use crate::project::paths_outside;
use std::ffi::{OsStr, OsString};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Names of programs, the best first: the headless shell has no services of its own that send requests.
pub const CHROMIUM_NAMES: [&str; 7] = [
    "chromium-headless-shell",
    "chrome-headless-shell",
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "microsoft-edge",
];

/// Names of Firefox, which is used if there is no Chromium.
pub const FIREFOX_NAMES: [&str; 2] = ["firefox", "firefox-esr"];

/// What every browser of this run needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BrowserProgram {
    pub path: PathBuf,
    /// Path of aye, which guards the browser.
    pub aye_path: PathBuf,
    /// Environment of the browser, without its folders.
    pub environment: Vec<(OsString, OsString)>,
}

/// Variables that the browser gets, besides `LC_…`: none of a desktop, of a proxy or with a secret.
const VARIABLES: [&str; 4] = ["LANG", "LANGUAGE", "TZ", "FONTCONFIG_FILE"];

/// Returns the installed browser for sessions of this project.
///
/// # Errors
/// Why there is none, as part of a sentence.
pub fn find_browser_program(setting: Option<&Path>, project: &Path) -> Result<BrowserProgram, String> {
    let search_path = std::env::var_os("PATH").and_then(|search_path| paths_outside(project, &search_path));
    let path = find_browser(setting, search_path.as_deref()).ok_or_else(|| match setting {
        Some(path) => format!("web.browser_path names no program: {}", path.display()),
        None => "no Chromium, Chrome, Edge or Firefox is on the PATH".to_owned(),
    })?;
    if !upstream::is_supported() {
        return Err("the environment names a proxy that is no http:// one".to_owned());
    }
    if is_firefox(&path) {
        check_firefox_support()?;
    }
    let mut environment: Vec<(OsString, OsString)> =
        std::env::vars_os().filter(|(name, _)| is_passed_on(name)).collect();
    environment.extend(search_path.map(|search_path| ("PATH".into(), search_path)));
    Ok(BrowserProgram { path, aye_path: own_program(), environment })
}

/// Returns whether a program is a Firefox, which only its name tells.
pub fn is_firefox(program: &Path) -> bool {
    program.file_name().is_some_and(|name| name.as_encoded_bytes().starts_with(b"firefox"))
}

/// Checks that Firefox can have a network of its own.
fn check_firefox_support() -> Result<(), String> {
    #[cfg(target_os = "linux")]
    return super::firefox::launcher::test_network(&own_program())
        .map_err(|reason| format!("Firefox cannot be used: {reason}"));
    #[cfg(not(target_os = "linux"))]
    return Err("Firefox can be used on Linux only".to_owned());
}

fn is_passed_on(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| VARIABLES.contains(&name) || name.starts_with("LC_"))
}

/// Returns the browser that the setting names, or the best one in the folders of this `PATH`.
pub fn find_browser(setting: Option<&Path>, search_path: Option<&OsStr>) -> Option<PathBuf> {
    if let Some(program) = setting {
        return Some(program.to_owned()).filter(|program| program.is_absolute() && is_executable(program));
    }
    CHROMIUM_NAMES.iter().chain(&FIREFOX_NAMES).find_map(|name| find_program(name, search_path?))
}

/// Returns the first program of this name in the folders of this `PATH`.
pub fn find_program(name: &str, search_path: &OsStr) -> Option<PathBuf> {
    std::env::split_paths(search_path).map(|folder| folder.join(name)).find(|program| is_executable(program))
}

fn is_executable(program: &Path) -> bool {
    program.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_checks_know_the_same_names() {
        let script = include_str!("../../.ci/run");
        assert!(script.contains(&format!("for name in {}; do", CHROMIUM_NAMES.join(" "))), "{CHROMIUM_NAMES:?}");
    }

    #[test]
    fn few_variables_are_passed_on() {
        let names = ["HOME", "LANG", "DISPLAY", "DBUS_SESSION_BUS_ADDRESS", "HTTPS_PROXY", "A_TOKEN", "LC_ALL"];
        let passed_on: Vec<&str> = names.into_iter().filter(|name| is_passed_on(OsStr::new(name))).collect();
        assert_eq!(passed_on, ["LANG", "LC_ALL"]);
    }

    #[test]
    fn finds_a_browser_outside_the_project_only() {
        let root = tempfile::tempdir().unwrap();
        let root = root.path().canonicalize().unwrap();
        let (project, system) = (root.join("project"), root.join("system"));
        let add_program = |folder: &Path, name: &str, mode: u32| {
            fs::create_dir_all(folder).unwrap();
            fs::write(folder.join(name), "").unwrap();
            fs::set_permissions(folder.join(name), fs::Permissions::from_mode(mode)).unwrap();
        };
        add_program(&project.join("bin"), "chromium-headless-shell", 0o755);
        add_program(&system, "google-chrome", 0o755);
        add_program(&system, "chromium", 0o644);
        let path = std::env::join_paths([project.join("bin"), PathBuf::from("bin"), system.clone()]).unwrap();
        let find = |setting: Option<&Path>, path: Option<&OsString>| {
            find_browser(setting, path.and_then(|path| paths_outside(&project, path)).as_deref())
        };
        assert_eq!(find(None, Some(&path)), Some(system.join("google-chrome")));
        assert_eq!(find(None, None), None);
        add_program(&system.join("fox"), "firefox-esr", 0o755);
        let with_firefox = std::env::join_paths([system.join("fox"), system.clone()]).unwrap();
        assert_eq!(find(None, Some(&with_firefox)), Some(system.join("google-chrome")), "Chromium comes first");
        let firefox = find(None, Some(&system.join("fox").into_os_string()));
        assert!(firefox.is_some_and(|path| is_firefox(&path)) && !is_firefox(&system.join("google-chrome")));
        add_program(&system, "chromium", 0o755);
        assert_eq!(find(None, Some(&path)), Some(system.join("chromium")));
        assert_eq!(find(Some(&system.join("none")), Some(&path)), None, "a setting has no substitute");
        assert_eq!(find(Some(&system.join("google-chrome")), None), Some(system.join("google-chrome")));
        assert_eq!(find(Some(Path::new("chromium")), Some(&path)), None);
    }
}
