//! Features of the terminal that only environment variables show. `variable` returns the value of a variable.

/// Returns whether the terminal is known to lack box-drawing characters: it is not UTF-8, or it is the Linux console.
/// Without a locale UTF-8 is assumed.
pub fn needs_ascii(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    let set_value = |name: &&str| variable(name).filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(set_value).map(|locale| locale.to_ascii_lowercase());
    let is_utf8 = locale.is_none_or(|locale| locale.contains("utf-8") || locale.contains("utf8"));
    !is_utf8 || variable("TERM").is_some_and(|term| term == "linux")
}

/// Returns whether the terminal is known to reorder right-to-left text by itself.
pub fn reorders_text(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    let is_apple = variable("TERM_PROGRAM").is_some_and(|program| program == "Apple_Terminal");
    is_apple || ["KONSOLE_VERSION", "MLTERM"].iter().any(|name| variable(name).is_some())
}

/// Returns the name of the terminal multiplexer that the program runs in, also if only `TERM` shows it, as after `su -`.
pub fn find_multiplexer(variable: &dyn Fn(&str) -> Option<String>) -> Option<&'static str> {
    let by_variable = [("TMUX", "tmux"), ("STY", "screen"), ("ZELLIJ", "zellij")];
    let by_type = [("tmux", "tmux"), ("screen", "screen or tmux")];
    let term = variable("TERM").unwrap_or_default();
    let is_set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
    let named = by_variable.iter().find(|(name, _)| is_set(name));
    named.or_else(|| by_type.iter().find(|(prefix, _)| term.starts_with(prefix))).map(|(_, name)| *name)
}

/// Returns whether the terminal sends what is on its clipboard: kitty, whose type also arrives over SSH. A terminal multiplexer
/// has another type.
pub fn has_clipboard(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    variable("TERM").is_some_and(|term| term == "xterm-kitty") && find_multiplexer(variable).is_none()
}

/// Returns whether the terminal is on another machine: programs that are opened would run on this one.
pub fn is_remote(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    ["SSH_CONNECTION", "SSH_TTY"].iter().any(|name| variable(name).is_some_and(|value| !value.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_ascii_if_the_terminal_is_not_utf8() {
        for (variables, expected) in [
            (&[("LANG", "en_US.UTF-8")][..], false),
            (&[("LC_ALL", "C"), ("LANG", "en_US.UTF-8")], true),
            (&[("LC_ALL", ""), ("LC_CTYPE", "C.utf8")], false),
            (&[("LANG", "de_DE.ISO-8859-1")], true),
            (&[("LANG", "en_US.UTF-8"), ("TERM", "linux")], true),
            (&[], false),
        ] {
            let variable =
                |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            assert_eq!(needs_ascii(&variable), expected, "{variables:?}");
        }
    }

    #[test]
    fn a_multiplexer_is_recognised_by_its_variable_or_its_type() {
        for (name, value, expected) in [
            ("TMUX", "/tmp/tmux-0/default,1,0", Some("tmux")),
            ("ZELLIJ", "0", Some("zellij")),
            ("TERM", "tmux-256color", Some("tmux")),
            ("TERM", "screen.xterm-256color", Some("screen or tmux")),
            ("TERM", "xterm-kitty", None),
            ("HOME", "/root", None),
        ] {
            let variable = |asked: &str| (asked == name).then(|| value.to_owned());
            assert_eq!(find_multiplexer(&variable), expected, "{name}={value}");
        }
    }
}
