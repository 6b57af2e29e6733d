//! Programs with a script language that can also write and run: `sed`, `awk` and `jq`. Only scripts that clearly just
//! print are followed.

use super::path_access::{PathAccess, ProgramPaths, describe_unknown_word};
use super::stated_paths::{argument_paths, grammar_of, parse_read_only, take_script};
use crate::policy::command_line::Word;

/// Judges `sed -n 1,20p`, `sed s/a/b/`.
pub(super) fn judge_sed(words: &[Word]) -> ProgramPaths {
    let mut arguments = parse_read_only("sed", grammar_of("sed")?, words)?;
    let script = take_script("sed", &mut arguments)?;
    let mut scripts = arguments.option_texts(&["-e"]).chain(script.as_deref());
    if !scripts.all(is_printing_sed) {
        return Err("the sed script may write files or run commands".to_owned());
    }
    Ok(argument_paths(&arguments, &PathAccess::Contents))
}

/// Returns whether every command of a sed script is an address with `p`, `d`, `q` or `=`, or a replacement that neither
/// writes nor runs.
fn is_printing_sed(script: &str) -> bool {
    let mut remaining = script;
    loop {
        remaining = remaining.trim_start_matches([' ', '\t', '\n', ';']);
        if remaining.is_empty() {
            return true;
        }
        let Some(next) = skip_sed_command(remaining) else { return false };
        remaining = next.trim_start_matches([' ', '\t']);
        if !remaining.is_empty() && !remaining.starts_with([';', '\n']) {
            return false;
        }
    }
}

/// Returns the text after one command; `None` if it is not a command that [`is_printing_sed`] accepts.
fn skip_sed_command(text: &str) -> Option<&str> {
    let mut remaining = skip_sed_address(text)?;
    if let Some(second_address) = remaining.strip_prefix(',') {
        let second_address = second_address.trim_start_matches([' ', '+']);
        let next = skip_sed_address(second_address)?;
        // The second address is missing.
        if next.len() == second_address.len() {
            return None;
        }
        remaining = next;
    }
    remaining = remaining.trim_start_matches([' ', '!']);
    if let Some(next) = remaining.strip_prefix(['p', 'd', 'q', '=']) {
        return Some(next);
    }
    let pattern = remaining.strip_prefix('s')?;
    let delimiter = pattern.chars().next().filter(|delimiter| "/|#,:@!_%".contains(*delimiter))?;
    let replacement = skip_sed_part(&pattern[1..], delimiter)?;
    let flags = skip_sed_part(replacement, delimiter)?;
    // The flag `e` runs the result, `w` writes it.
    Some(flags.trim_start_matches(|flag: char| "gIip0123456789".contains(flag)))
}

/// Returns the text after an address, which may be empty.
fn skip_sed_address(text: &str) -> Option<&str> {
    if let Some(rest) = text.strip_prefix('/') {
        return skip_sed_part(rest, '/');
    }
    Some(text.strip_prefix('$').unwrap_or_else(|| text.trim_start_matches(|c: char| c.is_ascii_digit())))
}

/// Returns the text after the next `delimiter`. `None` if there is none, or if it is inside brackets, where only some
/// implementations count it.
fn skip_sed_part(text: &str, delimiter: char) -> Option<&str> {
    let mut is_in_brackets = false;
    let mut chars = text.char_indices();
    while let Some((index, c)) = chars.next() {
        match c {
            '\n' => return None,
            // `[:alpha:]` inside brackets does not close them.
            '[' if is_in_brackets && text[index + 1..].starts_with([':', '.', '=']) => {
                let class_marker = &text[index + 1..index + 2];
                let class_length = text[index + 2..].find(&format!("{class_marker}]"))?;
                let end = index + 2 + class_length + 1;
                // Implementations disagree on a delimiter inside a class too.
                if text[index..end].contains([delimiter, '\\', '\n']) {
                    return None;
                }
                while chars.next().is_some_and(|(next, _)| next < end) {}
            }
            '\\' => drop(chars.next().filter(|(_, next)| *next != '\n')?),
            '[' => {
                is_in_brackets = true;
                // A `]` right after the bracket is one of its characters.
                let bracket_content = text[index + 1..].strip_prefix('^').unwrap_or(&text[index + 1..]);
                if bracket_content.starts_with(']') {
                    return None;
                }
            }
            ']' => is_in_brackets = false,
            c if c == delimiter => return (!is_in_brackets).then(|| &text[index + 1..]),
            _ => {}
        }
    }
    None
}

/// Words with which an awk program may run, write, or read other files.
#[rustfmt::skip]
const UNSAFE_AWK_WORDS: &[&str] = &[
    "system", "getline", "close", "fflush", "@", "ENVIRON", "ARGV", "ARGC", "PROCINFO", "SYMTAB", "FUNCTAB", "func",
    "\\\n", "/inet",
];

/// Judges `awk '{ print $1 }'`.
pub(super) fn judge_awk(name: &str, words: &[Word]) -> ProgramPaths {
    let mut arguments = parse_read_only(name, grammar_of("awk")?, words)?;
    let program = take_script(name, &mut arguments)?.unwrap_or_default();
    if !is_printing_awk(&program) {
        return Err(format!("the {name} program may write files or run commands"));
    }
    // `a=b` among the files sets a variable.
    if let Some(word) = arguments.operands.iter().find(|word| word.display_text().contains('=')) {
        return Err(describe_unknown_word(word));
    }
    Ok(argument_paths(&arguments, &PathAccess::Contents))
}

/// Judges `jq`, which also reads what its filter includes.
pub(super) fn judge_jq(words: &[Word]) -> ProgramPaths {
    let mut arguments = parse_read_only("jq", grammar_of("jq")?, words)?;
    let filter = take_script("jq", &mut arguments)?.unwrap_or_default();
    if ["import", "include", "env", "ENV", "modulemeta"].iter().any(|word| filter.contains(word)) {
        return Err("the jq filter may read other files".to_owned());
    }
    Ok(argument_paths(&arguments, &PathAccess::Contents))
}

fn is_printing_awk(program: &str) -> bool {
    let has_control = program.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t'));
    // `||` is no pipe.
    let has_pipe = program.replace("||", "").contains('|');
    if has_control || has_pipe || UNSAFE_AWK_WORDS.iter().any(|word| program.contains(word)) {
        return false;
    }
    // `>` compares before the first `{` and writes a file after it. If a string or a regular expression comes first, it
    // may contain that `{`, so the whole program is checked.
    let pattern = program.split('{').next().unwrap_or_default();
    let is_plain_pattern = !pattern.contains(['"', '/', '\\']);
    let actions = if is_plain_pattern { &program[pattern.len()..] } else { program };
    !actions.replace(">=", "").contains('>') && !actions.contains(">>")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::process::Command;

    #[test]
    fn r12_follows_only_printing_sed_scripts() {
        for script in [
            "p",
            "1p",
            "1,5p",
            "$p",
            "1,$p",
            "5q",
            "/a/p",
            "/a/,/b/p",
            "/a\\/b/d",
            "s/a/b/",
            "s/a/b/g",
            "s|a/b|c|gI",
            "s/a/b/p;1d",
            "1,5s/x/y/2",
            "/a/!d",
            "1,+3p",
            " 1p ; 2p\n3p",
            "s/[a-z]/x/",
            "s/[[:space:]]*$//",
            "s/^[[:blank:]a-z]//;s|/[[=a=]x]*|/|g",
            "s/\\/x/\\/y/",
        ] {
            assert!(is_printing_sed(script), "{script}");
        }
        for script in [
            "s/a/b/e",
            "s/a/b/w out",
            "s/a/b/ge",
            "1e",
            "e id",
            "w out",
            "1w out",
            "1,5w out",
            "r /etc/passwd",
            "R x",
            "W x",
            "1!e id",
            "s/a/b/;e id",
            "s/a/b/\ne id",
            "{p}",
            "p e",
            "s/[/]e/x/",
            "s/[/]/b/e",
            "a\\x",
            "i x",
            "c x",
            "y/a/b/w",
            "/a/e",
            "/a/,e",
            "s\\a\\b\\e",
            "sea e",
            "s/a\n/b/",
            "s/a/b\\\n/e",
            "\\,a,e",
            "p}",
            "F",
            "n",
            "1~2e",
            "sxaxbxe",
            // Some implementations read the second delimiter as a character inside the brackets.
            "s|[[:alpha:]|]|1;s|w out|x|",
            "s/[[:a:]/]/1;s/e;/x/p",
            "s/[[.a.]/]/1;s/e;/x/p",
            "s|[[:a|b:]]|1|",
        ] {
            assert!(!is_printing_sed(script), "{script}");
        }
    }

    fn sed_strategy() -> impl Strategy<Value = String> {
        let address = "(|1|\\$|1,5|/a/|/a/,/b/|/[/]x/|/[[:a:]]/|\\\\,a,|1~2|0,/x/|1!| )";
        let command = "(p|d|q|=|s/a/b/|s/[/]x/b/|s,a\\\\,b,c,|s|a|b|g|s/a/b/w|s/a/b/e|s/a/b/2p|s/\\[/]/x/|s/a/;e id/|y/a/b/|w x|e id|r x|n|\\{p\\}|a x|#n)";
        let end = "(;|\n| ;|\\}| |e id|w x|/|\\[|\\]|\\\\)";
        let part = [address, command, end].map(|pattern| proptest::string::string_regex(pattern).unwrap());
        prop::collection::vec(part, 1..4).prop_map(|parts| parts.concat().concat())
    }

    proptest! {
        /// GNU sed knows the commands that read, write and run, and refuses them with `--sandbox`.
        #[test]
        fn r12_sed_runs_only_printing_commands_of_a_script(script in sed_strategy()) {
            let output = Command::new("sed").args(["--sandbox", "--", &script, "/dev/null"]).output();
            let Ok(output) = output else { return Ok(()) };
            let error = String::from_utf8_lossy(&output.stderr).into_owned();
            prop_assume!(!error.contains("option"));
            prop_assert!(!is_printing_sed(&script) || !error.contains("sandbox"), "{script:?}: {error}");
        }
    }

    #[test]
    fn r12_follows_only_printing_awk_programs() {
        for program in [
            "{print $1}",
            "NR>=10 && NR<=20",
            "$3 > 5 { print $1 }",
            "END{print NR}",
            "/fn main/{found=1} found",
            "NR==1 || NR==3",
            "{sum += $1} END {printf \"%d\\n\", sum}",
            "!seen[$0]++",
            "{ print length($0) }",
        ] {
            assert!(is_printing_awk(program), "{program}");
        }
        for program in [
            "{system(\"id\")}",
            "{print > \"out\"}",
            "{print >> \"out\"}",
            "{print | \"sh\"}",
            "{\"id\" | getline x}",
            "{print >\"out\"}",
            "BEGIN{while((getline l < \"/etc/passwd\")>0) print l}",
            "BEGIN{ARGV[1]=\"/etc/passwd\"}",
            "BEGIN{print ENVIRON[\"K\"]}",
            "@load \"filefuncs\"",
            "@include \"x\"",
            "{f=\"system\"; @f(\"id\")}",
            "{print \"a\" |& \"sh\"}",
            "/{/ > \"x\" {print}",
            "\"{\" > 5 {print > \"x\"}",
            "{print>=1>\"x\"}",
            "{print || 1 | \"sh\"}",
            "{print >>= \"x\"}",
            "BEGIN{printf \"x\" > \"/dev/tcp/a/1\"}",
            "func f(){}",
            "{sys\\\ntem(\"id\")}",
        ] {
            assert!(!is_printing_awk(program), "{program}");
        }
    }
}
