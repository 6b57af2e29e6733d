//! Programs that look for files and for what stands in them.

use super::How;
use super::options::{self, Given, NONE, Options};
use super::programs::Touched;
use super::unknown;
use crate::policy::shell::Word;

fn here() -> Word {
    Word::Known(".".to_owned())
}

/// Takes the pattern off, unless an option holds it.
fn after_pattern(program: &str, mut given: Given, holds: bool) -> Result<Given, String> {
    if !holds {
        match given.operands.first() {
            Some(Word::Known(_)) => drop(given.operands.remove(0)),
            Some(word) => return Err(unknown(word)),
            None => return Err(format!("{program} is given no pattern")),
        }
    }
    Ok(given)
}

fn each(given: Given, how: &How) -> Vec<(Word, How)> {
    given
        .operands
        .into_iter()
        .filter(|word| word.known() != Some("-"))
        .map(|word| (word, how.clone()))
        .collect()
}

/// `grep`. With `-R` it follows links, so that is not on the list.
pub(super) fn grep(name: &str, words: &[Word]) -> Touched {
    const GREP: Options = Options {
        flags: "abcEFGhHiIlLnoPqrsTuvwxyZz",
        taking: "ABCmefdD",
        long: &[
            "line-number",
            "ignore-case",
            "recursive",
            "count",
            "files-with-matches",
            "files-without-match",
            "only-matching",
            "word-regexp",
            "invert-match",
            "extended-regexp",
            "fixed-strings",
            "perl-regexp",
            "no-filename",
            "with-filename",
            "quiet",
            "silent",
            "no-messages",
            "text",
            "null",
            "line-buffered",
            "line-regexp",
            "basic-regexp",
            "color",
            "colour",
            "color=",
            "colour=",
            "binary-files=",
            "byte-offset",
            "initial-tab",
            "no-ignore-case",
        ],
        long_taking: &[
            "include",
            "exclude",
            "exclude-dir",
            "max-count",
            "context",
            "after-context",
            "before-context",
            "regexp",
            "file",
        ],
        numbers: true,
    };
    let given = options::read(name, &GREP, words)?;
    let recursive = given.has(&["-r", "--recursive"]) || given.words(&["-d"]).any(|how| how == "recurse");
    let without: Vec<String> = given.words(&["--exclude-dir"]).map(str::to_owned).collect();
    let lists: Vec<Word> = given.words(&["-f", "--file"]).map(|file| Word::Known(file.to_owned())).collect();
    let holds = given.has(&["-e", "--regexp", "-f", "--file"]);
    let mut given = after_pattern(name, given, holds)?;
    let mut touched: Vec<(Word, How)> = lists.into_iter().map(|file| (file, How::Contents)).collect();
    if recursive && given.operands.is_empty() {
        given.operands.push(here());
    }
    let how = if recursive { How::Below { hidden: true, without, links: false } } else { How::Contents };
    touched.extend(given.unmatched.iter().map(|word| (word.clone(), How::Unmatched)));
    touched.extend(each(given, &how));
    Ok(touched)
}

/// `rg`, without what starts another program or follows links.
pub(super) fn rg(words: &[Word]) -> Touched {
    const RG: Options = Options {
        flags: "aceFHhiIlnNopPqsSuUvwxX0.",
        taking: "ABCegmtTjMrdE",
        long: &[
            "files",
            "hidden",
            "heading",
            "no-heading",
            "line-number",
            "no-line-number",
            "ignore-case",
            "smart-case",
            "case-sensitive",
            "count",
            "count-matches",
            "files-with-matches",
            "files-without-match",
            "json",
            "column",
            "multiline",
            "fixed-strings",
            "word-regexp",
            "line-regexp",
            "invert-match",
            "no-ignore",
            "no-ignore-vcs",
            "stats",
            "trim",
            "vimgrep",
            "only-matching",
            "with-filename",
            "no-filename",
            "pcre2",
            "text",
            "null",
            "quiet",
            "pretty",
            "passthru",
            "no-messages",
            "no-config",
            "unrestricted",
        ],
        long_taking: &[
            "glob",
            "iglob",
            "type",
            "type-not",
            "max-count",
            "context",
            "after-context",
            "before-context",
            "max-depth",
            "color",
            "colors",
            "sort",
            "sortr",
            "regexp",
            "replace",
            "max-columns",
            "threads",
            "encoding",
        ],
        numbers: false,
    };
    let given = options::read("rg", &RG, words)?;
    // What a pattern or a kind of file names is read though it is hidden.
    let globs: Vec<&str> =
        given.words(&["-g", "--glob", "--iglob"]).filter(|glob| !glob.starts_with('!')).collect();
    let named = !globs.is_empty() || given.has(&["-t", "--type"]);
    let asked = given.has(&["-.", "--hidden", "-u", "--unrestricted"]);
    // A kind of file is no name of a folder, so `.git` stays closed.
    let ending = |glob: &&str| {
        let ending = glob.strip_prefix("*.").unwrap_or_default();
        !ending.is_empty() && ending != "git" && ending.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    let without =
        if named && !asked && globs.iter().all(ending) { vec![".git".to_owned()] } else { Vec::new() };
    let hidden = named || asked;
    let names = given.has(&["--files"]);
    let holds = names || given.has(&["-e", "--regexp"]);
    let mut given = after_pattern("rg", given, holds)?;
    if given.operands.is_empty() {
        given.operands.push(here());
    }
    let how = if names { How::Names } else { How::Below { hidden, without, links: false } };
    Ok(each(given, &how))
}

/// `fd`, without what runs something for each file.
pub(super) fn fd(words: &[Word]) -> Touched {
    const FD: Options = Options {
        flags: "HIsigap0uF",
        taking: "deEtSc",
        long: &[
            "hidden",
            "no-ignore",
            "absolute-path",
            "full-path",
            "glob",
            "ignore-case",
            "case-sensitive",
            "print0",
        ],
        long_taking: &[
            "max-depth",
            "min-depth",
            "type",
            "extension",
            "exclude",
            "color",
            "size",
            "changed-within",
            "max-results",
        ],
        ..NONE
    };
    let mut given = options::read("fd", &FD, words)?;
    match given.operands.first() {
        Some(Word::Known(_)) => drop(given.operands.remove(0)),
        Some(word) => return Err(unknown(word)),
        None => {}
    }
    Ok(each(given, &How::Names))
}

/// Tests of `find` that stand alone, …
#[rustfmt::skip]
const ALONE: &[&str] = &[
    "-print", "-print0", "-ls", "-not", "!", "-a", "-and", "-o", "-or", "(", ")", ",", "-prune", "-xdev", "-mount",
    "-depth", "-quit", "-readable", "-writable", "-executable", "-true", "-false", "-daystart", "-nouser", "-nogroup",
    "-empty", "-noleaf", "-ignore_readdir_race",
];
/// … and those that take a word.
#[rustfmt::skip]
const TAKING: &[&str] = &[
    "-name", "-iname", "-path", "-ipath", "-wholename", "-iwholename", "-regex", "-iregex", "-regextype", "-type",
    "-xtype", "-maxdepth", "-mindepth", "-size", "-mtime", "-mmin", "-atime", "-amin", "-ctime", "-cmin", "-perm",
    "-user", "-group", "-uid", "-gid", "-links", "-inum", "-printf", "-lname", "-fstype", "-newermt", "-newerct",
];

/// `find`, without what runs, deletes or writes.
pub(super) fn find(words: &[Word]) -> Touched {
    let mut places = Vec::new();
    let mut words = words.iter().skip_while(|word| matches!(word.known(), Some("-H" | "-P"))).peekable();
    while let Some(word) =
        words.next_if(|word| !word.known().is_some_and(|text| text.starts_with(['-', '(', ')', '!', ','])))
    {
        match word {
            Word::Unknown(_) => return Err(unknown(word)),
            Word::Known(_) | Word::Home(_) | Word::Pattern(_) => places.push((word.clone(), How::Names)),
        }
    }
    let mut runs = false;
    while let Some(word) = words.next() {
        let Some(text) = word.known() else { return Err(unknown(word)) };
        if text == "-exec" {
            // What runs is a command of its own; with what it finds.
            runs = true;
            words.by_ref().find(|word| matches!(word.known(), Some(";" | "+")));
            continue;
        }
        if TAKING.contains(&text) {
            match words.next() {
                Some(Word::Known(_)) => {}
                Some(word) => return Err(unknown(word)),
                None => return Err(format!("find lacks a word behind {text}")),
            }
        } else if text == "-newer" {
            places.extend(words.next().map(|word| (word.clone(), How::Names)));
        } else if !ALONE.contains(&text) {
            let shown: String = text.chars().take(40).collect();
            return Err(format!("find with {} may do more than look", shown.escape_debug()));
        }
    }
    if places.is_empty() {
        places.push((here(), How::Names));
    }
    if runs {
        for (_, how) in &mut places {
            *how = How::Below { hidden: true, without: Vec::new(), links: true };
        }
    }
    match places.iter().find(|(word, _)| matches!(word, Word::Unknown(_))) {
        Some((word, _)) => Err(unknown(word)),
        None => Ok(places),
    }
}
