//! Wrappers and variables in front of a command that change only how long it runs, or how its output looks. A rule for the
//! command covers it with them: `timeout 60 cargo test`, `NO_COLOR=1 npm test`.

use super::command_line::{SimpleCommand, Word};

/// Wrappers that run the command as it is. Their options are checked when the line is parsed.
const WRAPPERS: &[&str] = &["timeout", "nice", "time"];

/// Variables, and the kind of value that is neutral, before commands that run without approval too. `RUST_LOG` is missing: a
/// program may log secrets.
const VARIABLES: &[(&str, NeutralValue)] = &[
    ("RUST_BACKTRACE", NeutralValue::Flag),
    ("RUST_LIB_BACKTRACE", NeutralValue::Flag),
    ("NO_COLOR", NeutralValue::Flag),
    ("CLICOLOR", NeutralValue::Flag),
    ("CLICOLOR_FORCE", NeutralValue::Flag),
    ("FORCE_COLOR", NeutralValue::Flag),
    ("PYTHONUNBUFFERED", NeutralValue::Flag),
    ("CARGO_TERM_COLOR", NeutralValue::Flag),
    ("TERM", NeutralValue::Dumb),
    ("COLUMNS", NeutralValue::Number),
    ("LC_ALL", NeutralValue::Locale),
    ("LC_COLLATE", NeutralValue::Locale),
    ("LC_CTYPE", NeutralValue::Locale),
    ("LANG", NeutralValue::Locale),
];

/// Kind of a value.
#[derive(Debug, Clone, Copy)]
enum NeutralValue {
    /// One of the usual words of a switch, or a small number.
    Flag,
    /// `dumb`. Other terminals are described by files.
    Dumb,
    /// Digits.
    Number,
    /// `C`, `POSIX`, or a language, with the encoding UTF-8 or without.
    Locale,
}

/// Returns whether everything in front of a command is neutral, or nothing is.
pub(super) fn has_neutral_wrapping(simple: &SimpleCommand) -> bool {
    simple.wrappers.iter().all(|words| is_neutral_wrapper(words))
        && simple
            .assignments
            .iter()
            .all(|(name, value)| value.known_text().is_some_and(|value| is_neutral_variable(name, value)))
}

/// Returns whether a wrapper is neutral. With a slash in its name it may be any program.
fn is_neutral_wrapper(words: &[Word]) -> bool {
    let name = words.first().and_then(Word::known_text);
    name.is_some_and(|name| WRAPPERS.contains(&name)) && words.iter().all(|word| word.known_text().is_some())
}

/// Returns whether setting a variable to this value only changes how output looks.
pub(super) fn is_neutral_variable(name: &str, value: &str) -> bool {
    let Some((_, kind)) = VARIABLES.iter().find(|(known, _)| *known == name) else { return false };
    match kind {
        NeutralValue::Flag => {
            matches!(value, "0" | "1" | "2" | "3" | "true" | "false" | "full" | "always" | "never" | "auto")
        }
        NeutralValue::Dumb => value == "dumb",
        NeutralValue::Number => (1..=4).contains(&value.len()) && value.bytes().all(|byte| byte.is_ascii_digit()),
        NeutralValue::Locale => {
            let (language, encoding) = value.split_once('.').unwrap_or((value, "UTF-8"));
            let is_language = |text: &str| {
                let (language, country) = text.split_once('_').unwrap_or((text, "XX"));
                (2..=3).contains(&language.len())
                    && language.bytes().all(|byte| byte.is_ascii_lowercase())
                    && country.len() == 2
                    && country.bytes().all(|byte| byte.is_ascii_uppercase())
            };
            matches!(encoding, "UTF-8" | "utf8") && (matches!(language, "C" | "POSIX") || is_language(language))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::command_line::parse_command_line;

    fn is_neutral(line: &str) -> bool {
        let parsed_line = parse_command_line(line);
        parsed_line.unclear.is_none() && matches!(&parsed_line.commands[..], [simple] if has_neutral_wrapping(simple))
    }

    #[test]
    fn limits_of_time_and_looks_of_output_are_neutral() {
        for line in [
            "a",
            "timeout 60 a",
            "timeout 1.5m a x",
            "timeout -k 5 -s KILL 60 a",
            "timeout --kill-after=5 --preserve-status 60 a",
            "nice a",
            "nice -n 5 a",
            "time a",
            "time -p timeout 5 nice a",
            "RUST_BACKTRACE=1 a",
            "RUST_BACKTRACE=full NO_COLOR=1 timeout 5 a",
            "NO_COLOR='1' a",
            "CARGO_TERM_COLOR=never a",
            "FORCE_COLOR=0 a",
            "TERM=dumb a",
            "LC_ALL=C a",
            "LC_COLLATE=POSIX LC_CTYPE=de_DE COLUMNS=80 a",
            "LC_ALL=C.UTF-8 LANG=en_US.UTF-8 a",
        ] {
            assert!(is_neutral(line), "{line}");
        }
    }

    #[test]
    fn everything_else_in_front_of_a_command_counts() {
        for line in [
            "env a",
            "env NO_COLOR=1 a",
            "command a",
            "nohup a",
            "exec a",
            "xargs a",
            "stdbuf -oL a",
            "timeout 60 env a",
            "./timeout 60 a",
            "/usr/bin/timeout 60 a",
            "timeout $X a",
            "timeout * a",
            "nice -n $X a",
            "PATH=. a",
            "LD_PRELOAD=x a",
            "NO_COLOR=1 PATH=. a",
            "RUST_LOG=debug a",
            "RUST_BACKTRACE=$X a",
            "RUST_BACKTRACE= a",
            "NO_COLOR=$(id) a",
            "NO_COLOR=x/../y a",
            "TERM=xterm a",
            "TERM=../x a",
            "LC_ALL=../x.UTF-8 a",
            "LC_ALL=. a",
            "LC_ALL=en_us.UTF-8 a",
            "LC_ALL=de_DE.ISO-8859-1 a",
            "COLUMNS=-1 a",
            "COLUMNS= a",
            "LANG=~ a",
            "CI=1 a",
            "RUSTFLAGS=1 a",
            "CARGO_TERM_COLOR+=x a",
            "no_color=1 a",
        ] {
            assert!(!is_neutral(line), "{line}");
        }
    }
}
