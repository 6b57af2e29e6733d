//! The programs that only read, each with the options that keep it so.

use super::How;
use super::options::{self, Given, NONE, Options};
use super::{git, search, text, unknown, versions};
use crate::policy::shell::{FOUND, Simple, Within, Word};

/// What one program touches, or why it is asked about.
pub(super) type Touched = Result<Vec<(Word, How)>, String>;

/// What the operands of a program are.
#[derive(Clone, Copy)]
enum Operands {
    /// Files that are read.
    Contents,
    /// Files that are looked at from outside.
    Names,
    /// Files or folders, and all in them.
    Below,
    /// At most one file that is read: a second one would be written.
    One,
    /// No files.
    Words,
    /// There are none.
    None,
}

/// A program that only reads.
struct Reads {
    name: &'static str,
    options: Options,
    operands: Operands,
}

const fn short(name: &'static str, flags: &'static str, taking: &'static str, operands: Operands) -> Reads {
    long(name, flags, taking, &[], operands)
}

const fn long(
    name: &'static str,
    flags: &'static str,
    taking: &'static str,
    long: &'static [&'static str],
    operands: Operands,
) -> Reads {
    Reads { name, options: Options { flags, taking, long, long_taking: &[], numbers: false }, operands }
}

use Operands::{Below, Contents, Names, One, Words};

#[rustfmt::skip]
const READS: &[Reads] = &[
    // None of these has the option by which it goes where links lead.
    long("ls", "aAbBcCdfFgGhHiklmnNopqQrRsStuUvxXZ1", "IwT", &[
        "all", "almost-all", "human-readable", "recursive", "reverse", "color", "color=", "sort=", "time=", "size",
        "group-directories-first", "classify", "file-type", "full-time", "si", "inode", "directory", "no-group",
        "numeric-uid-gid", "block-size=", "hide=", "ignore=", "time-style=", "format=", "literal", "escape", "zero",
    ], Names),
    long("tree", "adfispughDrtCnqNQFJXUv", "LPI", &["dirsfirst", "noreport", "gitignore", "prune", "du"], Names),
    long("cat", "AbeEnstTuv", "", &["number", "number-nonblank", "show-all", "show-ends", "show-tabs", "squeeze-blank"], Contents),
    Reads { name: "head", options: Options { flags: "qvz", taking: "nc", long: &["lines=", "bytes=", "quiet", "silent", "verbose"],
        long_taking: &["lines", "bytes"], numbers: true }, operands: Contents },
    Reads { name: "tail", options: Options { flags: "qvz", taking: "nc", long: &["lines=", "bytes=", "quiet", "silent", "verbose"],
        long_taking: &["lines", "bytes"], numbers: true }, operands: Contents },
    long("wc", "clmLw", "", &["lines", "words", "bytes", "chars", "max-line-length", "total="], Contents),
    long("sort", "bdfghiMnRrVcCmsuz", "kt", &[
        "reverse", "numeric-sort", "unique", "key=", "field-separator=", "ignore-case", "human-numeric-sort",
        "version-sort", "check", "stable", "general-numeric-sort", "zero-terminated",
    ], Contents),
    long("uniq", "cdDiuz", "fsw", &["count", "repeated", "unique", "ignore-case"], One),
    long("cut", "nsz", "bcdf", &["delimiter=", "fields=", "characters=", "bytes=", "complement", "only-delimited", "output-delimiter="], Contents),
    long("diff", "abBcdeEiNnpqrstTuwyZ", "CUxIW", &[
        "unified", "unified=", "context", "context=", "recursive", "brief", "side-by-side", "ignore-all-space",
        "ignore-space-change", "ignore-blank-lines", "ignore-case", "color", "color=", "new-file", "minimal", "width=",
        "exclude=", "suppress-common-lines", "strip-trailing-cr", "report-identical-files",
    ], Below),
    short("cmp", "bls", "in", Contents),
    short("comm", "123", "", Contents),
    long("file", "bhiLNnprv0", "", &["brief", "mime", "mime-type", "mime-encoding", "dereference", "no-dereference"], Contents),
    long("stat", "Lftx", "c", &["format=", "printf=", "dereference", "terse", "file-system"], Names),
    long("du", "abcDhHklmPsSx0", "dBt", &[
        "max-depth=", "summarize", "human-readable", "all", "apparent-size", "total", "exclude=", "one-file-system",
        "bytes", "si", "block-size=",
    ], Names),
    long("df", "ahHikPTl", "Btx", &["human-readable", "print-type", "total", "inodes", "local", "si"], Names),
    long("nl", "p", "bdfhilnsvw", &[], Contents),
    short("tac", "b", "s", Contents),
    short("rev", "", "", Contents),
    short("fold", "bs", "w", Contents),
    short("paste", "sz", "d", Contents),
    short("expand", "i", "t", Contents),
    short("tr", "cCdst", "", Words),
    short("od", "abcdfiloxsv", "AjNtSw", Contents),
    short("hexdump", "bcCdovx", "ns", Contents),
    short("md5sum", "btz", "", Contents),
    short("sha1sum", "btz", "", Contents),
    short("sha256sum", "btz", "", Contents),
    short("sha512sum", "btz", "", Contents),
    short("cksum", "", "", Contents),
    short("basename", "az", "s", Words),
    short("dirname", "z", "", Words),
    long("realpath", "eLmPqsz", "", &["relative-to="], Names),
    short("readlink", "efmnqsvz", "", Names),
    short("pwd", "LP", "", Operands::None),
    short("which", "as", "", Words),
    short("type", "aftpP", "", Words),
    short("true", "", "", Words),
    short("false", "", "", Words),
    short("uname", "asnrvmpio", "", Operands::None),
    short("arch", "", "", Operands::None),
    short("nproc", "", "", Operands::None),
    short("whoami", "", "", Operands::None),
    short("id", "ugGnr", "", Operands::None),
    short("hostname", "", "", Operands::None),
    short("uptime", "ps", "", Operands::None),
    short("seq", "w", "fs", Words),
    short("zipinfo", "1slm", "", One),
    short("xxd", "abeipu", "cglos", One),
    short("strings", "af", "nt", Contents),
    short("column", "tx", "sco", Contents),
    short("free", "bkmghltvw", "", Operands::None),
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
    if let Some(reads) = READS.iter().find(|reads| reads.name == name) {
        // It takes words from a file that is named behind `@`, wherever that stands.
        if name == "strings"
            && !words.iter().all(|word| word.known().is_some_and(|text| !text.starts_with('@')))
        {
            return Err("strings may be told by a file what else it reads".to_owned());
        }
        let given = options::read(name, &reads.options, words)?;
        return operands(reads, &given);
    }
    match name {
        "echo" | ":" => plain(words),
        "printf" => printf(words),
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
        "unzip" => unzip(words),
        "jq" => jq(words),
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

fn word(text: &str) -> Word {
    if text.starts_with('~') { Word::Home(text.to_owned()) } else { Word::Known(text.to_owned()) }
}

fn operands(reads: &Reads, given: &Given) -> Touched {
    let all = |how: How| {
        Ok(given
            .operands
            .iter()
            .filter(|word| word.known() != Some("-"))
            .map(|word| (word.clone(), how.clone()))
            .collect())
    };
    match reads.operands {
        Operands::Names if given.operands.is_empty() => Ok(vec![(word("."), How::Names)]),
        Operands::Names => all(How::Names),
        Operands::Contents => all(How::Contents),
        Operands::Below => all(How::Below { hidden: true, without: Vec::new(), links: true }),
        Operands::One if given.operands.len() > 1 => Err(format!("{} writes to a second file", reads.name)),
        Operands::One => all(How::Contents),
        Operands::Words => plain(&given.operands),
        Operands::None if given.operands.is_empty() => Ok(Vec::new()),
        Operands::None => Err(format!("{} with words behind it may do more than read", reads.name)),
    }
}

/// Words that name no files. A pattern among them is replaced by names.
fn plain(words: &[Word]) -> Touched {
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

fn date(words: &[Word]) -> Touched {
    const DATE: Options = Options {
        flags: "uR",
        taking: "d",
        long: &["utc", "universal", "iso-8601", "iso-8601=", "rfc-3339=", "rfc-email", "date="],
        long_taking: &["date"],
        numbers: false,
    };
    let iso = |word: &Word| {
        word.known().is_some_and(|text| {
            matches!(text, "-I" | "-Idate" | "-Iseconds" | "-Iminutes" | "-Ihours" | "-Ins")
        })
    };
    let words: Vec<Word> = words.iter().filter(|word| !iso(word)).cloned().collect();
    let given = options::read("date", &DATE, &words)?;
    match given.operands.iter().all(|word| word.known().is_some_and(|text| text.starts_with('+'))) {
        true => Ok(Vec::new()),
        false => Err("date may set the clock".to_owned()),
    }
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

/// `tar -tf x.tar`. A colon in the name would be another machine.
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

fn unzip(words: &[Word]) -> Touched {
    match words {
        [Word::Known(how), archive] if how == "-l" => Ok(vec![(archive.clone(), How::Contents)]),
        _ => Err("unzip writes what it unpacks".to_owned()),
    }
}

/// `jq` reads what its filter includes, too.
fn jq(words: &[Word]) -> Touched {
    const JQ: Options = Options {
        flags: "rcnsSjaeCM",
        taking: "",
        long: &["raw-output", "compact-output", "null-input", "slurp", "sort-keys", "exit-status", "tab"],
        ..NONE
    };
    let mut given = options::read("jq", &JQ, words)?;
    let filter = match given.operands.first() {
        Some(Word::Known(filter)) => filter.clone(),
        Some(word) => return Err(unknown(word)),
        None => return Err("jq is given no filter".to_owned()),
    };
    if ["import", "include", "env", "ENV", "modulemeta"].iter().any(|word| filter.contains(word)) {
        return Err("the filter of jq may read other files".to_owned());
    }
    given.operands.remove(0);
    Ok(given.operands.into_iter().map(|word| (word, How::Contents)).collect())
}

/// `rm`: what it deletes is told, so that whoever knows the folder can say where that is.
fn deletes(name: &str, words: &[Word]) -> Touched {
    const RM: Options = Options {
        flags: "fiIrRdvp",
        taking: "",
        long: &["force", "recursive", "verbose", "dir"],
        long_taking: &[],
        numbers: false,
    };
    let given = options::read(name, &RM, words)?;
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
