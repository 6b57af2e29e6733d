//! Compares the parser with bash: if the parser reports every word of a line as known, bash must split the line into
//! exactly these commands and words. No line can run a program: the words name none, and there is no folder in which
//! bash would search. A function of the test prints each command instead of running it.

use super::super::{Connector, ParsedLine, Redirect, Word, parse_command_line};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// Pieces from which lines are generated.
#[rustfmt::skip]
const PIECES: &[&str] = &[
    "a", "b", "ab", "c1", "1", "22", " ", " ", " ", "  ", "\t", "\n", " \\\n ", "\\\n", "'", "\"", "\\", "'a b'",
    "\"a b\"", "\"a\\\"b\"", "\"a\\$b\\`\"", "'a\"b'", "\"a'b\"", "a\\ b", "\\;", "\\'", "\\\"", "\"a$\"", "a$", "\"$ \"",
    "; ", ";", " && ", "&&", " | ", "|", " & ", "&", " |& ", "\n\n", " #a", "#", "a#b", "{ ", "; }", "}", "{", "( ",
    " )", "(", ")", "! ", "!", "A=b ", "A='c d' ", "B=", "=", ",", "..", "@", "%", "+", "^", "-", "--a", "-1", ":a",
    "*", "?", "[", "]", "~", ">b", "> c", ">>a", "2>b", "2>&1", ">&2", " 1>&-", ">|a", "&>b", "<<'E'\na b\nE\n",
    "<<E\na\nE\n", "<<-E\n\ta\n\tE\n", "<<E", "\nE\n", "E", "<<<a", "<<< 'a b'", "\r", "\u{a0}", "é", "'é'", "$a", "$'a'",
    "$\"a\"", "`a`", "$(a)", "{a,b}", "{}", "a{1}", "${a}", "$((1))", "\u{b}", "\u{3000}", "a=b", "1>a", "a2>b", "\\a",
    "if ", "do ", "in ", "[[ ", " ]]", "then ",
];

/// Deterministic pseudo-random numbers.
struct RandomNumbers(u64);

impl RandomNumbers {
    fn next_below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or(0) % end
    }

    fn next_line(&mut self) -> String {
        let count = 1 + self.next_below(12);
        (0..count).map(|_| PIECES[self.next_below(PIECES.len())]).collect()
    }
}

/// Returns the commands with their words. `None` if a word is unknown to the parser, or if bash may not run or not
/// report one of the commands.
fn fully_known_commands(parsed_line: &ParsedLine) -> Option<Vec<Vec<String>>> {
    if parsed_line.unclear.is_some() {
        return None;
    }
    let mut commands = Vec::new();
    for simple in &parsed_line.commands {
        let is_comparable = simple.assignments.iter().all(|(_, value)| value.known_text().is_some())
            // Every command succeeds, so bash does not run a command after `||`.
            && simple.connector != Connector::Or
            // A background command may outlive bash and the end of the output.
            && !simple.is_background
            && simple.redirects.iter().all(|redirect| match redirect {
                Redirect::Descriptor | Redirect::Text(_) => true,
                Redirect::Write(word) | Redirect::Append(word) => {
                    word.known_text().is_some_and(|name| !name.is_empty())
                }
                Redirect::Read(_) => false,
            });
        let words: Option<Vec<String>> = simple.words.iter().map(|word| word.known_text().map(str::to_owned)).collect();
        let words = words.filter(|_| is_comparable)?;
        if !words.is_empty() {
            commands.push(words);
        }
    }
    // Bash runs these builtins and job names (`%1`) itself, so they never reach the function that reports a command.
    let can_report = |words: &Vec<String>| !matches!(words[0].as_str(), ":" | "." | "[") && !words[0].starts_with('%');
    commands.iter().all(can_report).then_some(commands)
}

/// Returns the commands as bash runs them. `None` if bash rejects the line, or skips a command because of its
/// redirections.
fn commands_from_bash(bash: &Path, line: &str, folder: &Path) -> Option<Vec<Vec<String>>> {
    let directory = folder.join("in");
    let _ = std::fs::remove_dir_all(&directory);
    std::fs::create_dir(&directory).unwrap();
    let output_file = folder.join("out");
    std::fs::write(&output_file, "").unwrap();
    let report_function = "() { printf '%s\\0' \"$#\" \"$@\" >>\"$OUT\"; }";
    let result = Command::new(bash)
        .args(["--norc", "--noprofile", "-c", line])
        .current_dir(&directory)
        .env_clear()
        .env("PATH", "/nowhere")
        .env("OUT", &output_file)
        .env("LC_ALL", "C.UTF-8")
        .env("BASH_FUNC_command_not_found_handle%%", report_function)
        .stdin(Stdio::null())
        .output();
    assert!(result.is_ok(), "{result:?}");
    let has_error =
        |message: &str| result.as_ref().is_ok_and(|output| String::from_utf8_lossy(&output.stderr).contains(message));
    // A command with an unusable redirection is not run, however it was parsed.
    let unrun_errors = ["Bad file descriptor", "ambiguous redirect", "bad substitution"];
    if unrun_errors.iter().any(|message| has_error(message)) {
        return None;
    }
    let is_syntax_error = has_error("syntax error");
    let text = String::from_utf8(std::fs::read(&output_file).unwrap()).unwrap();
    let mut words = text.split('\0');
    let mut commands = Vec::new();
    while let Some(count) = words.next().and_then(|count| count.parse::<usize>().ok()) {
        commands.push(words.by_ref().take(count).map(str::to_owned).collect());
    }
    // A line that bash rejects runs nothing, whatever was parsed.
    if is_syntax_error && commands.is_empty() { None } else { Some(commands) }
}

/// Returns the path of bash. The test compares with bash itself, so it is skipped without it.
fn find_bash() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join("bash")).find(|bash| bash.is_file())
}

/// Compares the commands of a line with those that bash runs. `None` if they cannot be compared; an error describes the
/// difference.
fn compare_with_bash(bash: &Path, line: &str, folder: &Path) -> Option<Result<(), String>> {
    // Every command succeeds here, so a command after `! a &&` does not run, and bash would not report it.
    if line.contains('!') && line.contains("&&") {
        return None;
    }
    let mut parsed = fully_known_commands(&parse_command_line(line)).filter(|commands| !commands.is_empty())?;
    let mut expected = commands_from_bash(bash, line, folder)?;
    // The stages of a pipeline run in any order.
    parsed.sort();
    expected.sort();
    Some(if parsed == expected { Ok(()) } else { Err(format!("{line:?} is {expected:?} and was read as {parsed:?}")) })
}

#[test]
fn r12_bash_splits_known_lines_into_the_same_words() {
    let Some(bash) = find_bash() else { return };
    let folder = tempfile::tempdir().unwrap();
    let thorough = std::env::var_os("AYE_TEST_THOROUGH").is_some();
    let env_number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    // `AYE_TEST_SECONDS` sets the duration, and `AYE_TEST_SEED` the seed.
    let seconds = env_number("AYE_TEST_SECONDS").map(Duration::from_secs);
    let min_compared = if thorough { 3000 } else { 100 };
    let (mut compared, mut generated, mut words) = (0, 0, 0);
    let mut failures = Vec::new();
    let started = Instant::now();
    let mut random = RandomNumbers(env_number("AYE_TEST_SEED").unwrap_or(0x2545_f491_4f6c_dd1d) | 1);
    while compared < min_compared || seconds.is_some_and(|seconds| started.elapsed() < seconds) {
        let line = random.next_line();
        generated += 1;
        if let Some(comparison) = compare_with_bash(&bash, &line, folder.path()) {
            compared += 1;
            words += parse_command_line(&line).commands.iter().map(|simple| simple.words.len()).sum::<usize>();
            failures.extend(comparison.err());
            assert!(failures.len() < 20, "{failures:#?}");
        }
    }
    assert!(failures.is_empty(), "of {compared} compared, {generated} made: {failures:#?}");
    // Most lines must have several words, or little is compared.
    assert!(words > compared, "only {words} words in {compared} of {generated} lines");
}

#[test]
fn r12_bash_agrees_on_former_parser_bugs() {
    let Some(bash) = find_bash() else { return };
    let folder = tempfile::tempdir().unwrap();
    for line in [
        "a >>b -1<<E\na\nE\n",
        "! \t'a'>>a\"a$\"if -1<<E\na\nE\n",
        "a \\;\\\n1",
        "a! -<<E\na\nE\n1b ",
        "a -o1<<E\na\nE\n",
        ">|a>b c=b",
        " c1do \nE\n\"a b\"\n\n\\\n|-",
        "a\n|b",
        "a\n\\\n&&b",
        ">&2\"a\\$b\"in 22",
        "a >&'$(b)'",
        "a >&2'`b`'",
        "a <&\"0\\$(b)\"",
        "a | ! b",
        "a 'b c' \"d\" e\\ f",
        "a\\\nb",
        "a \\\n b",
        "a;b\nab",
        "a &&\\\nb",
        "a\tb",
        "a 2>&1 b",
        "a >b c",
        "a#b #c\nb",
        "a <<'E'\nb\nE\nc1",
        "a <<-E\n\tb\n\tE\nc1",
        "{ a; }; ( b )",
        "! a",
        "A=b a",
        "a | b |& ab",
        "a & b",
        "a\\;b",
        "a '' b",
        "a \"\" b",
        "a\\\\ b",
        "\"a\\\nb\" a",
    ] {
        let comparison = compare_with_bash(&bash, line, folder.path());
        assert!(comparison.is_none_or(|result| result == Ok(())), "{line:?}");
    }
    let is_known = |line: &str| fully_known_commands(&parse_command_line(line)).is_some();
    assert!(
        is_known("a 'b c'; b")
            && !is_known("a $b")
            // Bash runs b here.
            && !is_known("a >&'$(b)'")
            && !is_known("a >&'b'")
            && is_known("a >&b")
            && !is_known("a\n|b")
            && !matches!(parse_command_line("a *").commands[0].words[1], Word::Known(_))
    );
}
