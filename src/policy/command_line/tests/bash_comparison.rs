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
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or(0) % end
    }

    fn line(&mut self) -> String {
        let count = 1 + self.below(12);
        (0..count).map(|_| PIECES[self.below(PIECES.len())]).collect()
    }
}

/// Returns the commands with their words if the parser reports all of them as known and run.
fn known(reading: &ParsedLine) -> Option<Vec<Vec<String>>> {
    if reading.unclear.is_some() {
        return None;
    }
    let mut commands = Vec::new();
    for simple in &reading.commands {
        let plain = simple.assignments.iter().all(|(_, value)| value.known_text().is_some())
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
        let words = words.filter(|_| plain)?;
        if !words.is_empty() {
            commands.push(words);
        }
    }
    // Commands with redirected output cannot report themselves.
    let told = |words: &Vec<String>| !matches!(words[0].as_str(), ":" | "." | "[") && !words[0].starts_with('%');
    commands.iter().all(told).then_some(commands)
}

/// Returns the commands as bash runs them; `None` if bash rejects the line.
fn of_bash(bash: &Path, line: &str, folder: &Path) -> Option<Vec<Vec<String>>> {
    let place = folder.join("in");
    let _ = std::fs::remove_dir_all(&place);
    std::fs::create_dir(&place).unwrap();
    let out = folder.join("out");
    std::fs::write(&out, "").unwrap();
    let told = "() { printf '%s\\0' \"$#\" \"$@\" >>\"$OUT\"; }";
    let ran = Command::new(bash)
        .args(["--norc", "--noprofile", "-c", line])
        .current_dir(&place)
        .env_clear()
        .env("PATH", "/nowhere")
        .env("OUT", &out)
        .env("LC_ALL", "C.UTF-8")
        .env("BASH_FUNC_command_not_found_handle%%", told)
        .stdin(Stdio::null())
        .output();
    assert!(ran.is_ok(), "{ran:?}");
    let complains = |words: &str| ran.as_ref().is_ok_and(|ran| String::from_utf8_lossy(&ran.stderr).contains(words));
    // A command with an unusable redirection is not run, however it was parsed.
    let unrun = ["Bad file descriptor", "ambiguous redirect", "bad substitution"];
    if unrun.iter().any(|words| complains(words)) {
        return None;
    }
    let is_none = complains("syntax error");
    let text = String::from_utf8(std::fs::read(&out).unwrap()).unwrap();
    let mut words = text.split('\0');
    let mut commands = Vec::new();
    while let Some(count) = words.next().and_then(|count| count.parse::<usize>().ok()) {
        commands.push(words.by_ref().take(count).map(str::to_owned).collect());
    }
    // A line that bash rejects runs nothing, whatever was parsed.
    if is_none && commands.is_empty() { None } else { Some(commands) }
}

/// Returns the path of bash. The test compares with bash itself, so it is skipped without it.
fn bash() -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).map(|folder| folder.join("bash")).find(|bash| bash.is_file())
}

fn compare(bash: &Path, line: &str, folder: &Path) -> Option<Result<(), String>> {
    // Commands after `!` and `&&` may not run here, where every command succeeds.
    if line.contains('!') && line.contains("&&") {
        return None;
    }
    let mut ours = known(&parse_command_line(line)).filter(|ours| !ours.is_empty())?;
    let mut its = of_bash(bash, line, folder)?;
    // The stages of a pipeline run in any order.
    ours.sort();
    its.sort();
    Some(if ours == its { Ok(()) } else { Err(format!("{line:?} is {its:?} and was read as {ours:?}")) })
}

#[test]
fn r12_bash_splits_known_lines_into_the_same_words() {
    let Some(bash) = bash() else { return };
    let place = tempfile::tempdir().unwrap();
    let thorough = std::env::var_os("AYE_TEST_THOROUGH").is_some();
    let number = |name: &str| std::env::var(name).ok().and_then(|text| text.parse::<u64>().ok());
    // `AYE_TEST_SECONDS` sets the duration, and `AYE_TEST_SEED` the seed.
    let seconds = number("AYE_TEST_SECONDS").map(Duration::from_secs);
    let least = if thorough { 3000 } else { 100 };
    let (mut compared, mut made, mut words) = (0, 0, 0);
    let mut wrong = Vec::new();
    let began = Instant::now();
    let mut numbers = Numbers(number("AYE_TEST_SEED").unwrap_or(0x2545_f491_4f6c_dd1d) | 1);
    while compared < least || seconds.is_some_and(|seconds| began.elapsed() < seconds) {
        let line = numbers.line();
        made += 1;
        if let Some(found) = compare(&bash, &line, place.path()) {
            compared += 1;
            words += parse_command_line(&line).commands.iter().map(|simple| simple.words.len()).sum::<usize>();
            wrong.extend(found.err());
            assert!(wrong.len() < 20, "{wrong:#?}");
        }
    }
    assert!(wrong.is_empty(), "of {compared} compared, {made} made: {wrong:#?}");
    assert!(words > compared, "only {words} words in {compared} of {made} lines");
}

#[test]
fn r12_bash_agrees_on_former_parser_bugs() {
    let Some(bash) = bash() else { return };
    let place = tempfile::tempdir().unwrap();
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
        let found = compare(&bash, line, place.path());
        assert!(found.is_none_or(|found| found == Ok(())), "{line:?}");
    }
    let is_known = |line: &str| known(&parse_command_line(line)).is_some();
    assert!(
        is_known("a 'b c'; b")
            && !is_known("a $b")
            // The first of these runs b.
            && !is_known("a >&'$(b)'")
            && !is_known("a >&'b'")
            && is_known("a >&b")
            && !is_known("a\n|b")
            && !matches!(parse_command_line("a *").commands[0].words[1], Word::Known(_))
    );
}
