//! Commands that print nothing on success, so that their result is known without running them.

use crate::policy::command_line::{self, Redirect, SimpleCommand, Word};

/// Programs that print nothing on success, unless an option asks for it.
const SILENT_PROGRAMS: &[&str] = &[
    "touch", "mkdir", "rmdir", "rm", "mv", "cp", "ln", "chmod", "chown", "chgrp", "install", "truncate", "sleep",
    "true", ":", "cd", "export", "unset", "mkfifo", "sync",
];
/// Programs that print only their input or arguments, for output redirected to a file.
const SILENT_IF_REDIRECTED: &[&str] = &["echo", "printf", "cat"];

/// Returns whether a command line prints nothing and exits with 0 on success.
pub fn is_silent(command: &str) -> bool {
    let parsed_line = command_line::parse_command_line(command);
    // After a number (`2>`), it is unknown what goes into the file.
    let has_numbered_redirect = command.as_bytes().windows(2).any(|pair| pair[0].is_ascii_digit() && pair[1] == b'>');
    parsed_line.unclear.is_none()
        && !has_numbered_redirect
        && !parsed_line.commands.is_empty()
        && parsed_line.commands.iter().all(is_silent_command)
}

fn is_silent_command(simple: &SimpleCommand) -> bool {
    // Only assignments or redirections.
    if simple.words.is_empty() {
        return simple.inline_code.is_none() && simple.wrappers.is_empty();
    }
    // A background command may still print; a wrapper may print something itself.
    if simple.is_background || !simple.wrappers.is_empty() || !simple.nesting.is_empty() {
        return false;
    }
    // The last redirection of the output decides.
    let output_target = simple.redirects.iter().rev().find_map(|redirect| match redirect {
        Redirect::Write(word) | Redirect::Append(word) => Some(word.display_text()),
        Redirect::Read(_) | Redirect::Descriptor | Redirect::Text(_) => None,
    });
    let writes_file = output_target.is_some_and(|target| !target.starts_with("/dev/"));
    let duplicates_descriptor = simple.redirects.contains(&Redirect::Descriptor);
    // A program given by its path may be anything, whatever its name.
    let program = simple.words.first().and_then(Word::known_text).unwrap_or_default();
    let is_redirected_to_file = SILENT_IF_REDIRECTED.contains(&program) && writes_file && !duplicates_descriptor;
    let subcommand = simple.words.get(1).and_then(Word::known_text);
    let words = || simple.words.iter().skip(1).map(Word::display_text);
    let has_short_option = |options: &[char]| {
        words().any(|word| word.starts_with('-') && !word.starts_with("--") && word.contains(options))
    };
    let is_git_add = program == "git" && subcommand == Some("add") && !has_short_option(&['p', 'e']);
    // Alone, `export` prints every variable, and `-` makes `cd` print the directory.
    let prints_output = match program {
        "export" => has_short_option(&['p']) || !words().any(|word| word.contains('=')),
        "cd" => words().any(|word| word == "-"),
        _ => false,
    };
    // Any long option that is not known to be silent, and short ones that may print or ask.
    let is_verbose_option = |word: &Word| {
        let word = word.display_text();
        word.starts_with("--") && word != "--" && word != "--parents" && word != "--recursive" && word != "--force"
            || word.starts_with('-') && !word.starts_with("--") && word.contains(['v', 'i', 'n', 'c'])
    };
    is_redirected_to_file
        || (SILENT_PROGRAMS.contains(&program) || is_git_add)
            && !prints_output
            && !simple.words.iter().skip(1).any(is_verbose_option)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_is_silent_only_if_every_part_is() {
        for command in [
            "touch made",
            "mkdir -p a/b && cp -r x a/b; rm -rf y",
            "echo hi > a.txt",
            "printf '%s' x >> a.txt",
            "git add -A",
            "A=b",
            "cd x && chmod 644 y",
            "export A=b C",
            "unset A",
            "cd -P x",
            "cat a > b",
            "echo hi > /dev/stdout > a",
        ] {
            assert!(is_silent(command), "{command}");
        }
        for command in [
            "",
            "make",
            "echo hi",
            "cat a",
            "rm -v x",
            "rm -i x",
            "mkdir --verbose x",
            "touch --help",
            "cp --version",
            "touch a; ls",
            "touch $(make)",
            "touch a && ./b",
            "sleep 1 &",
            "git status",
            "git commit -m x",
            "sudo touch a",
            "bash -c 'touch a'",
            "for f in *; do touch $f; done",
            "touch 'a",
            "cargo test > log",
            "echo hi 2> log",
            "cat a > b 2>&1",
            "echo hi > a > /dev/stdout",
            "echo hi >&2",
            "echo hi > /dev/stdout",
            "./touch a",
            "git add -p",
            "git add -Ap",
            "git add -e",
            "export",
            "export -p",
            "export -p A=b",
            "export A",
            "cd -",
            "cd -P -",
        ] {
            assert!(!is_silent(command), "{command}");
        }
    }
}
