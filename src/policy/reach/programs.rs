//! The programs that only read: most do what their grammar says, some have a language of their own.

use super::{How, git, operands, search, text, unknown, versions};
use crate::policy::grammar::{self, Program, Role};
use crate::policy::shell::{FOUND, Simple, Within, Word};

/// What one program touches, or why it is asked about.
pub(super) type Touched = Result<Vec<(Word, How)>, String>;

/// Programs that do nothing but what their grammar says: they read or look at what their operands and options name.
#[rustfmt::skip]
const DO_AS_STATED: &[&str] = &[
    "ls", "tree", "cat", "head", "tail", "wc", "sort", "uniq", "cut", "diff", "cmp", "comm", "file", "stat", "du", "df",
    "nl", "tac", "rev", "fold", "paste", "expand", "tr", "od", "hexdump", "md5sum", "cksum", "basename", "dirname",
    "realpath", "readlink", "pwd", "which", "type", "true", "false", "uname", "arch", "nproc", "whoami", "id",
    "hostname", "uptime", "seq", "xxd", "column", "free",
];

/// Programs that only read what `find` hands them.
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

/// What a program touches, where it only reads (or deletes, which is told apart).
pub(super) fn touched(simple: &Simple) -> Touched {
    let Some(named) = simple.words.first().and_then(Word::known) else {
        return Err("which program it runs cannot be known before it runs".to_owned());
    };
    let name = ["/bin/", "/usr/bin/"].iter().find_map(|folder| named.strip_prefix(folder)).unwrap_or(named);
    let found;
    let mut words = simple.arguments();
    if simple.within.last() == Some(&Within::Words("find".to_owned())) && OF_FOUND.contains(&name) {
        // What `find` finds is looked at with `find` itself.
        let of = |word: &Word| if word.shown() == FOUND { Word::Known(".".to_owned()) } else { word.clone() };
        found = words.iter().map(of).collect::<Vec<_>>();
        words = &found;
    }
    let program = grammar::program_named(name);
    if name == "tail" && words.iter().any(follows) {
        return Err("tail with an operand like +f follows a file for ever".to_owned());
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
            || Err("where it goes to is not known before it runs".to_owned()),
            |to| Ok(vec![(word(to), How::Names)]),
        ),
        "command" => match words {
            [Word::Known(how), rest @ ..] if how == "-v" || how == "-V" => plain(rest),
            _ => Err("it runs a command by another way".to_owned()),
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
        // What stands behind `-c` was read, and is judged with the rest.
        _ if versions::is_asked(name, words) => Ok(versions::asked(name)),
        "bash" | "sh" if simple.inline.is_some() => match words {
            [Word::Known(option), Word::Known(_)] if option == "-c" => Ok(Vec::new()),
            _ => Err(format!("it runs {name} with more than a line")),
        },
        _ => Err(super::danger::why(simple, name)),
    }
}

/// Whether this is the old form of an option of `tail`, and more than a number: `+5f` is `-n +5 -f`.
fn follows(word: &Word) -> bool {
    let old = word.shown().strip_prefix('+');
    old.is_some_and(|old| !old.bytes().all(|byte| byte.is_ascii_digit()))
}

fn word(text: &str) -> Word {
    if text.starts_with('~') { Word::Home(text.to_owned()) } else { Word::Known(text.to_owned()) }
}

/// Words that name no files. A pattern among them is replaced by names.
pub(super) fn plain(words: &[Word]) -> Touched {
    let mut names = Vec::new();
    for word in words {
        match word {
            Word::Known(_) | Word::Home(_) => {}
            // Nothing is looked into: only the names are told.
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

/// `printf` can set a variable, with `-v` and with `%n`.
fn printf(words: &[Word]) -> Touched {
    let Some(Word::Known(format)) = words.first() else {
        return Err("what printf does is not known before it runs".to_owned());
    };
    let mut pieces = format.replace("%%", "").split('%').map(str::to_owned).collect::<Vec<_>>().into_iter();
    pieces.next();
    let harmless = pieces.all(|piece| {
        let conversion = piece.trim_start_matches(|letter: char| "-+ #0123456789.*'".contains(letter));
        conversion.starts_with(|letter: char| "diouxXcsbqfeEgG".contains(letter))
    });
    if format.starts_with('-') || !harmless {
        return Err("printf may set a variable".to_owned());
    }
    plain(&words[1..])
}

/// The grammar of one of the programs below; a program without one is asked about.
pub(super) fn grammar_of(name: &str) -> Result<&'static Program, String> {
    grammar::program_named(name).ok_or_else(|| format!("which options {name} has is not known"))
}

/// An operand without a `+` in front sets the clock.
fn date(words: &[Word]) -> Touched {
    let program = grammar_of("date")?;
    let given = operands::read("date", program, words)?;
    match given.operands.iter().all(|word| word.known().is_some_and(|text| text.starts_with('+'))) {
        true => Ok(operands::of_options(program, &given)),
        false => Err("date may set the clock".to_owned()),
    }
}

/// It takes options from a file that is named after `@`, wherever that stands.
fn strings(words: &[Word]) -> Touched {
    if !words.iter().all(|word| word.known().is_some_and(|text| !text.starts_with('@'))) {
        return Err("strings may be told by a file what else it reads".to_owned());
    }
    operands::touched("strings", grammar_of("strings")?, words)
}

/// `test` can look into a variable, whose subscript is run: only plain tests are followed.
fn test(words: &[Word]) -> Touched {
    let known: Vec<&str> = words.iter().filter_map(Word::known).collect();
    let known = if known.len() == words.len() { known } else { Vec::new() };
    let known = known.strip_prefix(&["!"]).unwrap_or(&known);
    match known {
        ["-n" | "-z", _] | [_, "=" | "!=", _] => Ok(Vec::new()),
        ["-f" | "-d" | "-e" | "-s" | "-r" | "-w" | "-x" | "-L" | "-h", path] => {
            Ok(vec![(Word::Known((*path).to_owned()), How::Names)])
        }
        _ => Err("test is followed only where it is plain".to_owned()),
    }
}

/// `tar -tf x.tar`. A colon in the name would be another machine. These letters are tar's old bundle, with or without a dash: no
/// other form runs unasked, so its grammar, which is that of any tar command, is not asked.
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
            Err("tar may write and run".to_owned())
        }
        _ => Err("tar may write and run".to_owned()),
    }
}

/// `unzip -l x.zip`, `zipinfo x.zip`. Both take the name for a pattern of their own.
fn archive(name: &str, words: &[Word]) -> Touched {
    let program = grammar_of(name)?;
    let given = operands::read(name, program, words)?;
    if name == "unzip" && !given.has_role(Role::Lists) {
        return Err("unzip writes what it unpacks".to_owned());
    }
    if let Some(word) = given.operands.iter().find(|word| word.shown().contains(['*', '?', '[', '\\'])) {
        return Err(unknown(word));
    }
    operands::touched(name, program, words)
}

/// `rm`: what it deletes is told, so that whoever knows the folder can say where that is.
fn deletes(name: &str, words: &[Word]) -> Touched {
    let given = operands::read_known(name, grammar_of(name)?, words)?;
    if let Some(option) = given.options.iter().find(|given| given.option.role == Role::Asks) {
        return Err(format!("{name} with {} may delete everything", option.word));
    }
    Ok(given.operands.into_iter().map(|word| (word, How::Delete)).collect())
}

/// Where a `cd` goes to.
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

/// Whether a wrapper only changes how something runs.
pub(super) fn wraps_only(words: &[Word]) -> Result<(), String> {
    let name = words.first().and_then(Word::known).map(super::super::shell::base).unwrap_or_default();
    if let Some(word) = words.iter().find(|word| word.known().is_none()) {
        return Err(unknown(word));
    }
    match name {
        "env" | "time" | "timeout" | "nice" | "stdbuf" | "command" | "builtin" => Ok(()),
        name => Err(format!("{name} is in front of it")),
    }
}

/// Whether setting a variable changes nothing but how something looks.
pub(super) fn is_harmless(name: &str, value: &str) -> bool {
    let plain = value.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b'-'));
    plain
        && matches!(name, "LC_ALL" | "LANG" | "LC_COLLATE" | "LC_CTYPE" | "NO_COLOR" | "CLICOLOR" | "COLUMNS")
}
