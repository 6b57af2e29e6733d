//! Programs that only read. Most do what their grammar states; some have a language of their own.

use super::{How, git, operands, search, text, unknown, versions};
use crate::policy::grammar::{self, Program, Role};
use crate::policy::shell::{FOUND, Simple, Within, Word};

/// Paths that a program touches, or the reason for asking.
pub(super) type Touched = Result<Vec<(Word, How)>, String>;

/// Programs that do only what their grammar states: they read or look at what their operands and options name.
#[rustfmt::skip]
const DO_AS_STATED: &[&str] = &[
    "ls", "tree", "cat", "head", "tail", "wc", "sort", "uniq", "cut", "diff", "cmp", "comm", "file", "stat", "du", "df",
    "nl", "tac", "rev", "fold", "paste", "expand", "tr", "od", "hexdump", "md5sum", "cksum", "basename", "dirname",
    "realpath", "readlink", "pwd", "which", "type", "true", "false", "uname", "arch", "nproc", "whoami", "id",
    "hostname", "uptime", "seq", "xxd", "column", "free",
];

/// Programs that only read the names that `find` passes to them.
const OF_FOUND: &[&str] = &[
    "wc",
    "grep",
    "egrep",
    "fgrep",
    "head",
    "tail",
    "cat",
    "ls",
    "stat",
    "file",
    "md5sum",
    "sha256sum",
    "du",
];

/// Returns the paths that a program touches if it only reads or deletes; deletions are marked.
pub(super) fn touched(simple: &Simple) -> Touched {
    let Some(named) = simple.words.first().and_then(Word::known) else {
        return Err("program unknown before it runs".to_owned());
    };
    let name = ["/bin/", "/usr/bin/"].iter().find_map(|folder| named.strip_prefix(folder)).unwrap_or(named);
    let found;
    let mut words = simple.arguments();
    if simple.within.last() == Some(&Within::Words("find".to_owned())) && OF_FOUND.contains(&name) {
        // Files found by `find` are checked with `find` itself.
        let of = |word: &Word| if word.shown() == FOUND { Word::Known(".".to_owned()) } else { word.clone() };
        found = words.iter().map(of).collect::<Vec<_>>();
        words = &found;
    }
    let program = grammar::program_named(name);
    if name == "tail" && words.iter().any(follows) {
        return Err("endless tail: an operand like +f follows a file".to_owned());
    }
    if let Some(program) = program.filter(|program| DO_AS_STATED.contains(&program.name())) {
        return operands::touched(name, program, words);
    }
    match name {
        "echo" | ":" => plain(words),
        "printf" => printf(words),
        "strings" => strings(words),
        "date" => date(words),
        "test" => test(words),
        "cd" => goes_to(simple).map_or_else(
            || Err("target of cd unknown before it runs".to_owned()),
            |to| Ok(vec![(word(to), How::Names)]),
        ),
        "command" => match words {
            [Word::Known(how), rest @ ..] if how == "-v" || how == "-V" => plain(rest),
            _ => Err("command run through `command`".to_owned()),
        },
        "sed" => text::sed(words),
        "awk" | "gawk" | "mawk" | "nawk" => text::awk(name, words),
        "printenv" => versions::printenv(words),
        "tar" => tar(words),
        "unzip" | "zipinfo" => archive(name, words),
        "jq" => text::jq(words),
        "find" => search::find(words),
        "fd" | "fdfind" => search::fd(words),
        "grep" | "egrep" | "fgrep" => search::grep(name, words),
        "rg" => search::rg(words),
        "git" => git::git(words),
        "rm" | "rmdir" => deletes(name, words),
        // The argument of `-c` has been parsed and is judged with the other commands.
        _ if versions::is_asked(name, words) => Ok(versions::asked(name)),
        "bash" | "sh" if simple.inline.is_some() => match words {
            [Word::Known(option), Word::Known(_)] if option == "-c" => Ok(Vec::new()),
            _ => Err(format!("{name} with more arguments than -c and a command")),
        },
        _ => Err(super::danger::why(simple, name)),
    }
}

/// Returns whether a word is the old form of an option of `tail` and more than a number: `+5f` is `-n +5 -f`.
fn follows(word: &Word) -> bool {
    let old = word.shown().strip_prefix('+');
    old.is_some_and(|old| !old.bytes().all(|byte| byte.is_ascii_digit()))
}

fn word(text: &str) -> Word {
    if text.starts_with('~') { Word::Home(text.to_owned()) } else { Word::Known(text.to_owned()) }
}

/// Handles words that name no files. A pattern among them is expanded to names.
pub(super) fn plain(words: &[Word]) -> Touched {
    let mut names = Vec::new();
    for word in words {
        match word {
            Word::Known(_) | Word::Home(_) => {}
            // Files are not opened: only names are shown.
            Word::Pattern(pattern) => {
                let folder = pattern.rsplit_once('/').map_or(".", |(folder, _)| folder);
                let word = if folder.contains(['*', '?', '[']) {
                    word.clone()
                } else {
                    Word::Known(folder.to_owned())
                };
                names.push((word, How::Names));
            }
            Word::Unknown(text) if versions::is_plain_variable(text) => {}
            Word::Unknown(_) => return Err(unknown(word)),
        }
    }
    Ok(names)
}

/// Judges `printf`, which can set a variable with `-v` and with `%n`.
fn printf(words: &[Word]) -> Touched {
    let Some(Word::Known(format)) = words.first() else {
        return Err("printf format unknown before it runs".to_owned());
    };
    let mut pieces = format.replace("%%", "").split('%').map(str::to_owned).collect::<Vec<_>>().into_iter();
    pieces.next();
    let harmless = pieces.all(|piece| {
        let conversion = piece.trim_start_matches(|letter: char| "-+ #0123456789.*'".contains(letter));
        conversion.starts_with(|letter: char| "diouxXcsbqfeEgG".contains(letter))
    });
    if format.starts_with('-') || !harmless {
        return Err("possible variable assignment by printf".to_owned());
    }
    plain(&words[1..])
}

/// Returns the grammar of a program; a program without one asks.
pub(super) fn grammar_of(name: &str) -> Result<&'static Program, String> {
    grammar::program_named(name).ok_or_else(|| format!("unknown options of {name}"))
}

/// Judges `date`: an operand without a leading `+` sets the clock.
fn date(words: &[Word]) -> Touched {
    let program = grammar_of("date")?;
    let given = operands::read("date", program, words)?;
    match given.operands.iter().all(|word| word.known().is_some_and(|text| text.starts_with('+'))) {
        true => Ok(operands::of_options(program, &given)),
        false => Err("possible change of the clock by date".to_owned()),
    }
}

/// Judges `strings`, which reads options from a file named after `@`, wherever that is written.
fn strings(words: &[Word]) -> Touched {
    if !words.iter().all(|word| word.known().is_some_and(|text| !text.starts_with('@'))) {
        return Err("options of strings read from a file".to_owned());
    }
    operands::touched("strings", grammar_of("strings")?, words)
}

/// Judges `test`, which can evaluate the subscript of a variable: only simple tests are followed.
fn test(words: &[Word]) -> Touched {
    let known: Vec<&str> = words.iter().filter_map(Word::known).collect();
    let known = if known.len() == words.len() { known } else { Vec::new() };
    let known = known.strip_prefix(&["!"]).unwrap_or(&known);
    match known {
        ["-n" | "-z", _] | [_, "=" | "!=", _] => Ok(Vec::new()),
        ["-f" | "-d" | "-e" | "-s" | "-r" | "-w" | "-x" | "-L" | "-h", path] => {
            Ok(vec![(Word::Known((*path).to_owned()), How::Names)])
        }
        _ => Err("complex test expression".to_owned()),
    }
}

/// Judges `tar -tf x.tar`. A colon in the name would be another machine. These characters are the old option bundle of
/// tar, with or without a dash. No other form runs without approval, so the grammar for tar commands is not used.
fn tar(words: &[Word]) -> Touched {
    match words {
        [Word::Known(how), Word::Known(archive)] => {
            let letters = how.trim_start_matches('-');
            let lists = letters.contains('t')
                && letters.ends_with('f')
                && letters.chars().all(|letter| "tvzjJf".contains(letter));
            if lists && !archive.contains(':') && archive != "-" {
                return Ok(vec![(Word::Known(archive.clone()), How::Contents)]);
            }
            Err("possible writes and commands by tar".to_owned())
        }
        _ => Err("possible writes and commands by tar".to_owned()),
    }
}

/// Judges `unzip -l x.zip` and `zipinfo x.zip`. Both treat the name as a pattern.
fn archive(name: &str, words: &[Word]) -> Touched {
    let program = grammar_of(name)?;
    let given = operands::read(name, program, words)?;
    if name == "unzip" && !given.has_role(Role::Lists) {
        return Err("files written by unzip".to_owned());
    }
    if let Some(word) = given.operands.iter().find(|word| word.shown().contains(['*', '?', '[', '\\'])) {
        return Err(unknown(word));
    }
    operands::touched(name, program, words)
}

/// Returns the files that `rm` deletes, to be checked against the project folder.
fn deletes(name: &str, words: &[Word]) -> Touched {
    let given = operands::read_known(name, grammar_of(name)?, words)?;
    if let Some(option) = given.options.iter().find(|given| given.option.role == Role::Asks) {
        return Err(format!("possible deletion of everything by {name} {}", option.word));
    }
    Ok(given.operands.into_iter().map(|word| (word, How::Delete)).collect())
}

/// Returns the target of a `cd`.
pub(super) fn goes_to(simple: &Simple) -> Option<&str> {
    if simple.program() != Some("cd") {
        return None;
    }
    match simple.arguments() {
        [Word::Home(to)] => Some(to),
        [Word::Known(to)] if !to.is_empty() && !to.starts_with(['-', '~']) => Some(to),
        [] => Some("~"),
        _ => None,
    }
}

/// Checks that a wrapper only changes how a program runs.
pub(super) fn wraps_only(words: &[Word]) -> Result<(), String> {
    let name = words.first().and_then(Word::known).map(super::super::shell::base).unwrap_or_default();
    if let Some(word) = words.iter().find(|word| word.known().is_none()) {
        return Err(unknown(word));
    }
    match name {
        "env" | "time" | "timeout" | "nice" | "stdbuf" | "command" | "builtin" => Ok(()),
        name => Err(format!("wrapper {name}")),
    }
}

/// Returns whether setting a variable only changes how output looks.
pub(super) fn is_harmless(name: &str, value: &str) -> bool {
    let plain = value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
    plain
        && matches!(name, "LC_ALL" | "LANG" | "LC_COLLATE" | "LC_CTYPE" | "NO_COLOR" | "CLICOLOR" | "COLUMNS")
}
