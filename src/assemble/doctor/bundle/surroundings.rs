//! What a run finds around itself: the build, and of the environment what bears on how it looks and talks.

use std::env;

/// Variables whose values say how a terminal behaves, and nothing of a person.
const TOLD: [&str; 13] = [
    "TERM",
    "COLORTERM",
    "TERM_PROGRAM",
    "TERM_PROGRAM_VERSION",
    "VTE_VERSION",
    "KONSOLE_VERSION",
    "COLORFGBG",
    "NO_COLOR",
    "LANG",
    "LC_ALL",
    "LC_CTYPE",
    "AYE_PROFILE",
    "AYE_MODEL",
];
/// Variables of which it is told alone whether they are set.
const SET: [&str; 23] = [
    "TMUX",
    "STY",
    "ZELLIJ",
    "SSH_CONNECTION",
    "SSH_TTY",
    "DISPLAY",
    "WAYLAND_DISPLAY",
    "WT_SESSION",
    "WSL_DISTRO_NAME",
    "CI",
    "AYE_HOME",
    "AYE_THEME",
    "AYE_MODE",
    "OPENAI_BASE_URL",
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "XDG_CONFIG_HOME",
    "XDG_DATA_HOME",
    "TMPDIR",
];
/// Letters of a value.
const WIDEST: usize = 80;

/// The build and the environment, in lines.
pub(super) fn lines() -> Vec<String> {
    let checked = if cfg!(debug_assertions) { "with checks for testing" } else { "a release" };
    let library = if cfg!(target_env = "musl") { "musl" } else { "the system's C library" };
    let mut lines = vec![format!(
        "aye {} · {checked} · {} {} · {library}",
        env!("CARGO_PKG_VERSION"),
        env::consts::OS,
        env::consts::ARCH
    )];
    if let Ok(program) = env::current_exe() {
        let bytes = std::fs::metadata(&program).map_or(0, |about| about.len());
        lines.push(format!("{} ({bytes} bytes)", program.display()));
    }
    for name in TOLD {
        if let Some(value) = env::var_os(name) {
            let value: String = value.to_string_lossy().chars().take(WIDEST).collect();
            lines.push(format!("{name} {value}"));
        }
    }
    let set: Vec<&str> = SET.into_iter().filter(|name| env::var_os(name).is_some()).collect();
    if !set.is_empty() {
        lines.push(format!("set, to what is not told: {}", set.join(", ")));
    }
    lines
}
