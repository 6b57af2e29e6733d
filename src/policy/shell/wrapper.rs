//! What a program runs that is named in its words: `timeout 5 ls`, `bash -c 'ls'`, `xargs ls`, `find -exec ls`.

use super::tree::{self, Context};
use super::{DEPTH, Joint, Reading, Simple, Within, Word};

/// A wrapper, and which of its options take a word of their own. Any other option is not followed.
struct Wrapper {
    name: &'static str,
    /// Options that stand alone.
    alone: &'static [&'static str],
    /// Options whose word is the next one.
    taking: &'static [&'static str],
    /// Beginnings of options that hold their word: `--signal=`, `-n5`.
    holding: &'static [&'static str],
    /// Words of its own before the program: how long, for `timeout`.
    own: usize,
}

#[rustfmt::skip]
const WRAPPERS: &[Wrapper] = &[
    Wrapper { name: "env", alone: &["-", "-i", "--ignore-environment", "-0", "--null"], taking: &["-u", "--unset"],
        holding: &["--unset="], own: 0 },
    Wrapper { name: "time", alone: &["-p"], taking: &[], holding: &[], own: 0 },
    Wrapper { name: "nohup", alone: &[], taking: &[], holding: &[], own: 0 },
    Wrapper { name: "setsid", alone: &["-w", "--wait"], taking: &[], holding: &[], own: 0 },
    Wrapper { name: "timeout", alone: &["--foreground", "--preserve-status", "-v", "--verbose"],
        taking: &["-k", "-s", "--kill-after", "--signal"], holding: &["--kill-after=", "--signal="], own: 1 },
    Wrapper { name: "nice", alone: &[], taking: &["-n", "--adjustment"], holding: &["-n", "--adjustment="], own: 0 },
    Wrapper { name: "ionice", alone: &["-t"], taking: &["-c", "-n"], holding: &["-c", "-n"], own: 0 },
    Wrapper { name: "stdbuf", alone: &[], taking: &["-i", "-o", "-e"], holding: &["-i", "-o", "-e"], own: 0 },
    Wrapper { name: "command", alone: &["-p"], taking: &[], holding: &[], own: 0 },
    Wrapper { name: "builtin", alone: &[], taking: &[], holding: &[], own: 0 },
    Wrapper { name: "exec", alone: &["-c", "-l", "-cl"], taking: &["-a"], holding: &[], own: 0 },
    Wrapper { name: "busybox", alone: &[], taking: &[], holding: &[], own: 0 },
    Wrapper { name: "toybox", alone: &[], taking: &[], holding: &[], own: 0 },
    Wrapper { name: "xargs", alone: &["-0", "--null", "-r", "--no-run-if-empty", "-t", "-x", "-0r", "-r0"],
        taking: &["-n", "-P", "-I", "-L", "-d", "-s", "-a", "--max-args", "--max-procs", "--delimiter"],
        holding: &["-n", "-P", "-I", "-L", "-d", "-s", "--max-args=", "--max-procs=", "--delimiter="], own: 0 },
];

/// Stands for the name that `find` hands on.
pub(in crate::policy) const FOUND: &str = "what find finds";

/// Shells: `-c` takes a line, and a word that is no option is a script.
const SHELLS: &[&str] = &["bash", "sh", "dash", "zsh", "ksh", "mksh", "ash", "fish", "rbash"];

/// Interpreters, with the options that take code.
const INTERPRETERS: &[(&str, &[&str])] = &[
    ("python", &["-c"]),
    ("python2", &["-c"]),
    ("python3", &["-c"]),
    ("pypy", &["-c"]),
    ("pypy3", &["-c"]),
    ("node", &["-e", "--eval", "-p", "--print"]),
    ("nodejs", &["-e", "--eval", "-p", "--print"]),
    ("bun", &["-e", "--eval"]),
    ("deno", &[]),
    ("perl", &["-e", "-E"]),
    ("ruby", &["-e"]),
    ("php", &["-r"]),
    ("lua", &["-e"]),
    ("luajit", &["-e"]),
    ("Rscript", &["-e"]),
    ("osascript", &["-e"]),
    ("tclsh", &[]),
    ("pwsh", &["-c", "-Command"]),
];

/// Programs that run what stands in their words and are not followed, since their options are not known well enough.
#[rustfmt::skip]
const LAUNCHERS: &[&str] = &[
    "parallel", "watch", "script", "strace", "ltrace", "gdb", "valgrind", "perf", "flock", "entr", "expect", "unshare",
    "nsenter", "chroot", "systemd-run", "systemd-inhibit", "taskset", "chrt", "setarch", "linux32", "linux64", "prlimit",
    "setpriv", "runcon", "fakeroot", "fakechroot", "firejail", "bwrap", "proot", "xvfb-run", "dbus-run-session",
    "dbus-launch", "choom", "numactl", "cgexec", "uclampset", "torsocks", "tsocks", "proxychains", "proxychains4",
    "unbuffer", "chronic", "hyperfine", "rlwrap", "faketime", "eatmydata", "catchsegv", "start-stop-daemon", "run-parts",
    "daemonize", "sshpass", "ssh-agent", "caffeinate", "tmux", "screen",
];

/// Whether the program runs what stands in its words, and is not followed.
pub(in crate::policy) fn is_launcher(program: &str) -> bool {
    LAUNCHERS.contains(&program) || program.starts_with("ld-linux")
}

/// Whether the program runs what it is given or what comes in: a shell or another interpreter.
pub(in crate::policy) fn is_interpreter(program: &str) -> bool {
    let plain = program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    SHELLS.contains(&program)
        || INTERPRETERS.iter().any(|(name, _)| *name == program || *name == plain)
        || matches!(program, "source" | "." | "eval")
}

/// Whether the program is a shell.
pub(in crate::policy) fn is_shell(program: &str) -> bool {
    SHELLS.contains(&program)
}

/// Adds the command, and behind it what it runs that can be read.
pub(super) fn unwrap(mut simple: Simple, depth: usize, reading: &mut Reading) {
    while let Some(name) = simple.program().map(str::to_owned) {
        let Some(wrapper) = WRAPPERS.iter().find(|wrapper| wrapper.name == name) else { break };
        // `command -v ls` runs nothing.
        if name == "command" && simple.arguments().first().is_some_and(|word| is(word, &["-v", "-V"])) {
            break;
        }
        match taken(wrapper, &simple.words) {
            Ok(from) if from < simple.words.len() => {
                let rest = simple.words.split_off(from);
                simple.wrappers.push(std::mem::replace(&mut simple.words, rest));
                if name == "env" {
                    assignments(&mut simple);
                }
                if name == "xargs" {
                    simple.words.push(Word::Unknown("what xargs reads".to_owned()));
                }
                if simple.words.first().is_some_and(|word| word.known().is_none()) {
                    reading.unclear(format!("which program {name} runs cannot be known before it runs"));
                }
            }
            Ok(_) => break,
            Err(option) => {
                reading.unclear(format!("{name} is not followed with {}", option.escape_debug()));
                break;
            }
        }
    }
    let Some(program) = simple.program().map(str::to_owned) else { return reading.commands.push(simple) };
    if program == "alias" && !simple.arguments().is_empty() {
        reading.unclear("it gives a command another name");
    }
    let (mut line, mut inner) = (None, None);
    if is_shell(&program) {
        match shell(simple.arguments()) {
            Given::Line(word) => {
                simple.inline = Some(word.clone());
                line = Some(word);
            }
            Given::Script(word) => simple.script = Some(word),
            Given::Nothing => {}
        }
    } else if program == "eval" || program == "trap" {
        let words = simple.arguments().iter().skip_while(|word| is(word, &["--"]));
        let count = if program == "trap" { 1 } else { usize::MAX };
        let texts: Option<Vec<&str>> = words.take(count).map(Word::known).collect();
        let text = texts.map_or_else(|| Word::Unknown(String::new()), |texts| Word::Known(texts.join(" ")));
        simple.inline = Some(text.clone());
        line = Some(text);
    } else if matches!(program.as_str(), "source" | ".") {
        simple.script = simple.arguments().first().cloned();
    } else if is_interpreter(&program) {
        interpreter(&program, &mut simple);
    } else if program == "find" {
        inner = executed(&simple, reading);
    } else if simple.words[0].known().is_some_and(|name| name.contains('/')) {
        simple.script = simple.words.first().cloned();
    }
    let context = Context {
        within: simple.within.iter().cloned().chain([Within::Words(program.clone())]).collect(),
        pipes: simple.pipes.clone(),
        joint: Joint::First,
    };
    let deep = context.within.len() > DEPTH || depth > DEPTH;
    reading.commands.push(simple);
    match line {
        Some(_) if deep => reading.unclear(format!("it is nested more than {DEPTH} deep")),
        Some(Word::Known(text)) => tree::inner(&text, depth + 1, &context, reading),
        Some(Word::Pattern(_) | Word::Home(_) | Word::Unknown(_)) => {
            reading.unclear(format!("what {program} runs cannot be known before it runs"));
        }
        None => {}
    }
    for words in inner.unwrap_or_default() {
        let within = context.within.clone();
        unwrap(
            Simple { within, pipes: context.pipes.clone(), words, ..Simple::default() },
            depth + 1,
            reading,
        );
    }
}

fn is(word: &Word, any: &[&str]) -> bool {
    word.known().is_some_and(|text| any.contains(&text))
}

/// How many of the words belong to the wrapper; the option that is not followed, where there is one.
fn taken(wrapper: &Wrapper, words: &[Word]) -> Result<usize, String> {
    let mut at = 1;
    while let Some(word) = words.get(at) {
        let Some(text) = word.known() else { break };
        if text == "--" {
            at += 1;
            break;
        }
        if wrapper.taking.contains(&text) {
            at += 2;
        } else if wrapper.alone.contains(&text)
            || wrapper.holding.iter().any(|start| text.starts_with(start) && text.len() > start.len())
            || (wrapper.name == "nice"
                && text.starts_with('-')
                && text[1..].bytes().all(|b| b.is_ascii_digit()))
        {
            at += 1;
        } else if text.starts_with('-') {
            return Err(text.to_owned());
        } else {
            break;
        }
    }
    Ok(at + wrapper.own)
}

/// Takes `A=b` behind `env` for what it is.
fn assignments(simple: &mut Simple) {
    while let Some((name, value)) =
        simple.words.first().and_then(Word::known).and_then(|text| text.split_once('='))
    {
        simple.prefix.push((name.to_owned(), Word::Known(value.to_owned())));
        simple.words.remove(0);
    }
}

/// What a shell is given to run.
enum Given {
    Line(Word),
    Script(Word),
    Nothing,
}

fn shell(arguments: &[Word]) -> Given {
    let mut takes_line = false;
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        let Some(text) = word.known() else {
            return if takes_line { Given::Line(word.clone()) } else { Given::Script(word.clone()) };
        };
        match text {
            "-o" | "+o" | "-O" | "+O" | "--rcfile" | "--init-file" => {
                words.next();
            }
            "--" | "-" => {
                let next = words.next().cloned();
                return match (takes_line, next) {
                    (true, Some(word)) => Given::Line(word),
                    (false, Some(word)) => Given::Script(word),
                    (_, None) => Given::Nothing,
                };
            }
            _ if text.starts_with("--") => {}
            _ if text.starts_with(['-', '+']) => {
                takes_line |= text.starts_with('-') && text.contains('c');
                // `-eo pipefail`
                if text.ends_with(['o', 'O']) {
                    words.next();
                }
            }
            _ if takes_line => return Given::Line(word.clone()),
            _ => return Given::Script(word.clone()),
        }
    }
    Given::Nothing
}

/// The code or the script that an interpreter is given. Options before it are passed over: where one takes a word, that
/// word is taken for the script, and the call asks as it would anyway.
fn interpreter(program: &str, simple: &mut Simple) {
    let plain = program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    let code = INTERPRETERS.iter().find(|(name, _)| *name == program || *name == plain);
    let code = code.map_or(&[][..], |(_, code)| code);
    let mut words = simple.arguments().iter();
    while let Some(word) = words.next() {
        let text = word.known().unwrap_or_default();
        if code.contains(&text) {
            simple.inline = words.next().cloned();
            return;
        }
        if let Some(start) = code.iter().find(|start| start.len() == 2 && text.starts_with(**start)) {
            simple.inline = Some(Word::Known(text[start.len()..].to_owned()));
            return;
        }
        if text == "-" || !text.starts_with('-') {
            simple.script = Some(word.clone());
            return;
        }
    }
}

/// What `find` runs.
fn executed(simple: &Simple, reading: &mut Reading) -> Option<Vec<Vec<Word>>> {
    let mut found = Vec::new();
    // A `+` ends it behind `{}`; elsewhere it is one more word to one `find`, and the end to another.
    let arguments = simple.arguments();
    if arguments.windows(2).any(|pair| is(&pair[1], &["+"]) && !is(&pair[0], &["{}"])) {
        reading.unclear("it is not plain where what find runs ends");
    }
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if is(word, &["-exec", "-execdir", "-ok", "-okdir"]) {
            let inner = words.by_ref().take_while(|word| !is(word, &[";", "+"]));
            let names = |word: &Word| match word.known() {
                Some("{}") => Word::Unknown(FOUND.to_owned()),
                Some(text) if text.contains("{}") => Word::Unknown("what find makes of a name".to_owned()),
                _ => word.clone(),
            };
            found.push(inner.map(names).collect());
        }
    }
    Some(found)
}
