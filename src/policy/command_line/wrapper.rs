//! Programs that run a program named in their arguments: `timeout 5 ls`, `bash -c 'ls'`, `xargs ls`, `find -exec ls`.

use super::syntax_tree::{self, WalkContext};
use super::{MAX_NESTING, Nesting, ParsedLine, SimpleCommand, Word};
use crate::policy::grammar::{
    ArgumentProblem, Program, SHELL, ValueKind, parse_arguments, program_named, wrapper_named,
};

/// Text of the unknown word that replaces `{}` in a command run by `find`.
pub(in crate::policy) const FOUND_FILES: &str = "files found by find";

/// Interpreters, with the options that take code.
const INTERPRETERS: &[(&[&str], &[&str])] = &[
    (&["python", "python2", "python3", "pypy", "pypy3"], &["-c"]),
    (&["node", "nodejs"], &["-e", "--eval", "-p", "--print"]),
    (&["bun"], &["-e", "--eval"]),
    (&["perl"], &["-e", "-E"]),
    (&["ruby", "lua", "luajit", "Rscript", "osascript"], &["-e"]),
    (&["php"], &["-r"]),
    (&["pwsh"], &["-c", "-Command"]),
    (&["deno", "tclsh"], &[]),
];

/// Programs that run their arguments and are not followed, because their options are not known well enough.
#[rustfmt::skip]
const LAUNCHERS: &[&str] = &[
    "parallel", "watch", "script", "strace", "ltrace", "gdb", "valgrind", "perf", "flock", "entr", "expect", "unshare",
    "nsenter", "chroot", "systemd-run", "systemd-inhibit", "taskset", "chrt", "setarch", "linux32", "linux64", "prlimit",
    "setpriv", "runcon", "fakeroot", "fakechroot", "firejail", "bwrap", "proot", "xvfb-run", "dbus-run-session",
    "dbus-launch", "choom", "numactl", "cgexec", "uclampset", "torsocks", "tsocks", "proxychains", "proxychains4",
    "unbuffer", "chronic", "hyperfine", "rlwrap", "faketime", "eatmydata", "catchsegv", "start-stop-daemon", "run-parts",
    "daemonize", "sshpass", "ssh-agent", "caffeinate", "tmux", "screen",
];

/// Returns whether the program runs its arguments and is not followed.
pub(in crate::policy) fn is_launcher(program: &str) -> bool {
    LAUNCHERS.contains(&program) || program.starts_with("ld-linux")
}

/// Returns whether the program is a shell, another interpreter, or a builtin that runs a script or code.
pub(in crate::policy) fn is_interpreter(program: &str) -> bool {
    is_shell(program) || code_options(program).is_some() || matches!(program, "source" | "." | "eval")
}

/// Returns the options of an interpreter that take code. Its name may have a version, as `python3.12`.
fn code_options(program: &str) -> Option<&'static [&'static str]> {
    let unversioned = program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.');
    let is_named = |(names, _): &&(&[&str], _)| names.contains(&program) || names.contains(&unversioned);
    INTERPRETERS.iter().find(is_named).map(|(_, options)| *options)
}

pub(in crate::policy) fn is_shell(program: &str) -> bool {
    SHELL.names.contains(&program)
}

/// Adds the command, followed by the commands that it runs as far as they can be parsed.
pub(super) fn push_unwrapped(mut simple: SimpleCommand, depth: usize, parsed_line: &mut ParsedLine) {
    while let Some(name) = simple.program().map(str::to_owned) {
        let Some(wrapper) = wrapper_named(&name) else { break };
        // `command -v ls` runs nothing.
        if name == "command" && simple.arguments().first().is_some_and(|word| is_any_word(word, &["-v", "-V"])) {
            break;
        }
        match wrapper_word_count(wrapper, &simple.words) {
            Ok(count) if count < simple.words.len() => {
                let inner_words = simple.words.split_off(count);
                simple.wrappers.push(std::mem::replace(&mut simple.words, inner_words));
                if name == "env" {
                    take_assignments(&mut simple);
                }
                if name == "xargs" {
                    simple.words.push(Word::Unknown("input of xargs".to_owned()));
                }
                if simple.words.first().is_some_and(|word| word.known_text().is_none()) {
                    parsed_line.mark_unclear(format!("program run by {name} unknown before it runs"));
                }
            }
            Ok(_) => break,
            Err(option) => {
                parsed_line.mark_unclear(format!("unsupported option of {name}: {}", option.escape_debug()));
                break;
            }
        }
    }
    let Some(program) = simple.program().map(str::to_owned) else { return parsed_line.commands.push(simple) };
    if program == "alias" && !simple.arguments().is_empty() {
        parsed_line.mark_unclear("alias definition");
    }
    let (mut inner_line, mut exec_commands) = (None, None);
    if is_shell(&program) {
        match parse_shell_arguments(simple.arguments()) {
            ShellInput::CommandLine(word) => {
                simple.inline_code = Some(word.clone());
                inner_line = Some(word);
            }
            ShellInput::Script(word) => simple.script = Some(word),
            ShellInput::Nothing => {}
        }
    } else if program == "eval" || program == "trap" {
        let words = simple.arguments().iter().skip_while(|word| is_any_word(word, &["--"]));
        // Only the first argument of `trap` is code; the others are signals.
        let argument_count = if program == "trap" { 1 } else { usize::MAX };
        let texts: Option<Vec<&str>> = words.take(argument_count).map(Word::known_text).collect();
        let text = texts.map_or_else(|| Word::Unknown(String::new()), |texts| Word::Known(texts.join(" ")));
        simple.inline_code = Some(text.clone());
        inner_line = Some(text);
    } else if matches!(program.as_str(), "source" | ".") {
        simple.script = simple.arguments().first().cloned();
    } else if is_interpreter(&program) {
        parse_interpreter_arguments(&program, &mut simple);
    } else if program == "find" {
        exec_commands = find_exec_commands(&simple, parsed_line);
    } else if simple.words[0].known_text().is_some_and(|name| name.contains('/')) {
        simple.script = simple.words.first().cloned();
    }
    let context = WalkContext {
        nesting: simple.nesting.iter().cloned().chain([Nesting::Arguments(program.clone())]).collect(),
        pipelines: simple.pipelines.clone(),
        shells: parsed_line.enter_shell(&simple.shells),
        ..WalkContext::default()
    };
    let is_too_deep = context.nesting.len() > MAX_NESTING || depth > MAX_NESTING;
    parsed_line.commands.push(simple);
    match inner_line {
        Some(_) if is_too_deep => parsed_line.mark_unclear(format!("nested more than {MAX_NESTING} levels deep")),
        Some(Word::Known(text)) => syntax_tree::parse_into(&text, depth + 1, &context, parsed_line),
        Some(Word::Pattern(_) | Word::Home(_) | Word::Unknown(_)) => {
            parsed_line.mark_unclear(format!("commands run by {program} unknown before it runs"));
        }
        None => {}
    }
    for words in exec_commands.unwrap_or_default() {
        push_unwrapped(SimpleCommand { words, ..syntax_tree::empty_command(&context) }, depth + 1, parsed_line);
    }
}

fn is_any_word(word: &Word, alternatives: &[&str]) -> bool {
    word.known_text().is_some_and(|text| alternatives.contains(&text))
}

/// Returns the number of words that belong to the wrapper, or, as an error, the argument that is not understood.
fn wrapper_word_count(wrapper: &'static Program, words: &[Word]) -> Result<usize, String> {
    let given = parse_arguments(wrapper, words.get(1..).unwrap_or_default());
    if let Some(problem) = given.option_problems().next() {
        return Err(problem.word().to_owned());
    }
    // `env -` is `env -i`, but is parsed as an operand.
    let has_dash = wrapper.name() == "env" && given.operands.first().is_some_and(|word| is_any_word(word, &["-"]));
    // `first` are operands of the wrapper itself, such as the duration of `timeout`.
    Ok(words.len() - given.operands.len() + usize::from(has_dash) + wrapper.operands.first.len())
}

/// Parses `A=b` after `env` as assignments.
fn take_assignments(simple: &mut SimpleCommand) {
    while let Some((name, value)) =
        simple.words.first().and_then(Word::known_text).and_then(|text| text.split_once('='))
    {
        simple.assignments.push((name.to_owned(), Word::Known(value.to_owned())));
        simple.words.remove(0);
    }
}

/// Commands given to a shell.
enum ShellInput {
    CommandLine(Word),
    Script(Word),
    Nothing,
}

/// Finds the command line or the script in the arguments of a shell.
fn parse_shell_arguments(arguments: &[Word]) -> ShellInput {
    let given = parse_arguments(&SHELL, arguments);
    let mut operands = given.operands.as_slice();
    // `bash -` is `bash --`.
    if given.operands_before_end.is_none() && operands.first().is_some_and(|word| is_any_word(word, &["-"])) {
        operands = &operands[1..];
    }
    // A pattern such as `-*` may become an option or the script.
    let unexpanded = given.option_problems().find_map(|problem| match problem {
        ArgumentProblem::Unexpanded(word @ Word::Pattern(text)) => text.starts_with('-').then_some(word),
        ArgumentProblem::Unexpanded(_)
        | ArgumentProblem::Unknown(_)
        | ArgumentProblem::Abbreviated(_)
        | ArgumentProblem::Missing(_) => None,
    });
    match unexpanded.or(operands.first()) {
        Some(word) if given.has_option(&["-c"]) => ShellInput::CommandLine(word.clone()),
        Some(word) => ShellInput::Script(word.clone()),
        None => ShellInput::Nothing,
    }
}

/// Finds the code or the script given to an interpreter. Options before it are skipped. If one of them takes a value,
/// that value is taken for the script, which does no harm: the call needs approval in any case.
fn parse_interpreter_arguments(program: &str, simple: &mut SimpleCommand) {
    let code_options = code_options(program).unwrap_or_default();
    let mut words = simple.arguments().iter();
    while let Some(word) = words.next() {
        let text = word.known_text().unwrap_or_default();
        if code_options.contains(&text) {
            simple.inline_code = words.next().cloned();
            return;
        }
        // The code may be in the same word as a short option: `-e1`.
        if let Some(option) = code_options.iter().find(|option| option.len() == 2 && text.starts_with(**option)) {
            simple.inline_code = Some(Word::Known(text[option.len()..].to_owned()));
            return;
        }
        if text == "-" || !text.starts_with('-') {
            simple.script = Some(word.clone());
            return;
        }
    }
}

/// Returns the words of each command that `find` runs.
fn find_exec_commands(simple: &SimpleCommand, parsed_line: &mut ParsedLine) -> Option<Vec<Vec<Word>>> {
    // `+` ends the command after `{}`. Elsewhere some implementations of `find` treat it as an argument.
    let arguments = simple.arguments();
    if arguments.windows(2).any(|pair| is_any_word(&pair[1], &["+"]) && !is_any_word(&pair[0], &["{}"])) {
        parsed_line.mark_unclear("end of the command run by find unclear");
    }
    let replace_placeholder = |word: Word| match word.known_text() {
        Some("{}") => Word::Unknown(FOUND_FILES.to_owned()),
        Some(text) if text.contains("{}") => Word::Unknown("name made by find".to_owned()),
        _ => word,
    };
    let options = parse_arguments(program_named("find")?, arguments).options;
    let executing = options.into_iter().filter(|option| option.option.value.is_kind(&[ValueKind::Command]));
    Some(executing.map(|option| option.command.into_iter().map(replace_placeholder).collect()).collect())
}
