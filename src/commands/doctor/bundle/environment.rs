//! Lines about the build and the environment variables that affect the terminal and the connection.

use std::env;

/// Variables whose values are shown: those of the terminal and the language, and the chosen profile and model. They
/// reveal nothing personal.
#[rustfmt::skip]
const SHOWN_VARIABLES: [&str; 13] = [
    "TERM", "COLORTERM", "TERM_PROGRAM", "TERM_PROGRAM_VERSION", "VTE_VERSION", "KONSOLE_VERSION", "COLORFGBG",
    "NO_COLOR", "LANG", "LC_ALL", "LC_CTYPE", "AYE_PROFILE", "AYE_MODEL",
];
/// Variables of which only the name is shown if they are set.
#[rustfmt::skip]
const HIDDEN_VARIABLES: [&str; 23] = [
    "TMUX", "STY", "ZELLIJ", "SSH_CONNECTION", "SSH_TTY", "DISPLAY", "WAYLAND_DISPLAY", "WT_SESSION",
    "WSL_DISTRO_NAME", "CI", "AYE_HOME", "AYE_THEME", "AYE_MODE", "OPENAI_BASE_URL", "HTTP_PROXY", "HTTPS_PROXY",
    "ALL_PROXY", "NO_PROXY", "http_proxy", "https_proxy", "XDG_CONFIG_HOME", "XDG_DATA_HOME", "TMPDIR",
];
/// Characters shown of a value.
const MAX_VALUE_CHARS: usize = 80;

/// Returns lines about the build and the environment.
pub(super) fn environment_lines() -> Vec<String> {
    let build_kind = if cfg!(debug_assertions) { "debug build" } else { "release build" };
    let library = if cfg!(target_env = "musl") { "musl" } else { "system C library" };
    let mut lines = vec![format!(
        "aye {} · {build_kind} · {} {} · {library}",
        env!("CARGO_PKG_VERSION"),
        env::consts::OS,
        env::consts::ARCH
    )];
    if let Ok(program) = env::current_exe() {
        let bytes = std::fs::metadata(&program).map_or(0, |metadata| metadata.len());
        lines.push(format!("{} ({bytes} bytes)", program.display()));
    }
    for name in SHOWN_VARIABLES {
        if let Some(value) = env::var_os(name) {
            let value: String = value.to_string_lossy().chars().take(MAX_VALUE_CHARS).collect();
            lines.push(format!("{name} {value}"));
        }
    }
    let set_variables: Vec<&str> = HIDDEN_VARIABLES.into_iter().filter(|name| env::var_os(name).is_some()).collect();
    if !set_variables.is_empty() {
        lines.push(format!("set, values not shown: {}", set_variables.join(", ")));
    }
    lines
}
