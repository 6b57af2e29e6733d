//! What git only shows. It obeys the settings of the repository, which can start programs; so every use of it also touches
//! the repository, and whoever knows the folder looks whether its settings are plain.

use super::How;
use super::options::{self, Given, NONE, Options};
use super::programs::Touched;
use super::unknown;
use crate::policy::shell::Word;

/// Options of `log`, `show` and `diff`.
const SHOWS: Options = Options {
    flags: "psbwizEFPMCqt",
    taking: "nSGUL",
    long: &[
        "patch",
        "no-patch",
        "stat",
        "stat=",
        "shortstat",
        "numstat",
        "name-only",
        "name-status",
        "oneline",
        "graph",
        "all",
        "decorate",
        "decorate=",
        "no-decorate",
        "pretty",
        "pretty=",
        "format=",
        "abbrev-commit",
        "abbrev=",
        "max-count=",
        "since=",
        "until=",
        "after=",
        "before=",
        "author=",
        "committer=",
        "grep=",
        "follow",
        "merges",
        "no-merges",
        "first-parent",
        "reverse",
        "cached",
        "staged",
        "color",
        "color=",
        "no-color",
        "ignore-all-space",
        "ignore-space-change",
        "word-diff",
        "word-diff=",
        "unified=",
        "summary",
        "date=",
        "topo-order",
        "date-order",
        "branches",
        "tags",
        "remotes",
        "left-right",
        "cherry-pick",
        "no-ext-diff",
        "no-textconv",
        "raw",
        "find-renames",
        "find-renames=",
        "diff-filter=",
        "quiet",
        "exit-code",
        "check",
        "minimal",
        "histogram",
        "patience",
        "relative",
        "full-index",
        "binary",
        "regexp-ignore-case",
        "skip=",
        "boundary",
        "full-history",
        "source",
        "no-notes",
        "merge-base",
        "dirstat",
        "no-renames",
        "no-prefix",
        "color-words",
        "compact-summary",
        "numbered",
        "email",
        "count",
        "objects",
    ],
    long_taking: &[],
    numbers: true,
};

const fn only(flags: &'static str, taking: &'static str, long: &'static [&'static str]) -> Options {
    Options { flags, taking, long, long_taking: &[], numbers: false }
}

const STATUS: Options = only(
    "sbzv",
    "u",
    &[
        "short",
        "branch",
        "porcelain",
        "porcelain=",
        "untracked-files",
        "untracked-files=",
        "ignored",
        "long",
        "no-renames",
    ],
);
const BRANCH: Options = only(
    "arvl",
    "",
    &[
        "all",
        "remotes",
        "list",
        "show-current",
        "merged",
        "no-merged",
        "sort=",
        "format=",
        "verbose",
        "no-color",
        "color=",
    ],
);
const REV_PARSE: Options = only(
    "q",
    "",
    &[
        "abbrev-ref",
        "short",
        "short=",
        "show-toplevel",
        "git-dir",
        "is-inside-work-tree",
        "verify",
        "symbolic-full-name",
        "show-prefix",
        "quiet",
        "is-shallow-repository",
        "absolute-git-dir",
    ],
);
const LS_FILES: Options = only(
    "cmodsztkiu",
    "",
    &[
        "others",
        "cached",
        "modified",
        "exclude-standard",
        "stage",
        "deleted",
        "full-name",
        "error-unmatch",
        "ignored",
        "unmerged",
    ],
);
const LS_TREE: Options = only("rtdlz", "", &["name-only", "full-tree", "long", "abbrev="]);
const BLAME: Options =
    only("wselftncb", "LMC", &["porcelain", "line-porcelain", "date=", "show-email", "abbrev="]);
const DESCRIBE: Options =
    only("", "", &["tags", "always", "long", "all", "abbrev=", "exact-match", "match="]);
const SHORTLOG: Options =
    only("sne", "", &["summary", "numbered", "email", "all", "no-merges", "since=", "until="]);
const CAT_FILE: Options = only("pts", "", &[]);

const GREP: Options = only(
    "nilLcwEFGPhHIqvop",
    "eABCm",
    &[
        "line-number",
        "ignore-case",
        "name-only",
        "files-with-matches",
        "count",
        "word-regexp",
        "heading",
        "break",
        "color",
        "color=",
        "show-function",
        "untracked",
    ],
);

/// What git touches, where it only shows.
pub(super) fn git(words: &[Word]) -> Touched {
    let mut words = words;
    while let Some(Word::Known(option)) = words.first() {
        match option.as_str() {
            "--no-pager" | "--no-optional-locks" => words = &words[1..],
            "--version" | "version" if words.len() == 1 => return Ok(Vec::new()),
            "-C" if words.get(1).is_some_and(|folder| folder.known() == Some(".")) => words = &words[2..],
            option if option.starts_with('-') => {
                let shown: String = option.chars().take(40).collect();
                return Err(format!("git with {} may run other programs", shown.escape_debug()));
            }
            _ => break,
        }
    }
    let (name, words) = match words.split_first() {
        Some((Word::Known(name), words)) => (name.as_str(), words),
        Some((word, _)) => return Err(unknown(word)),
        None => return Ok(Vec::new()),
    };
    let called = format!("git {name}");
    let read = |options: &Options| options::read(&called, options, words);
    let given = match name {
        "log" | "diff" | "show" | "rev-list" | "whatchanged" => read(&SHOWS)?,
        "status" => read(&STATUS)?,
        "rev-parse" => read(&REV_PARSE)?,
        "ls-files" => read(&LS_FILES)?,
        "ls-tree" => read(&LS_TREE)?,
        "blame" => read(&BLAME)?,
        "describe" => read(&DESCRIBE)?,
        "shortlog" => read(&SHORTLOG)?,
        "cat-file" => read(&CAT_FILE)?,
        "grep" => {
            let mut given = read(&GREP)?;
            if !given.has(&["-e"]) && !given.operands.is_empty() {
                given.operands.remove(0);
            }
            given
        }
        "merge-base" => read(&NONE)?,
        "branch" => lists(&called, read(&BRANCH)?, &["-l", "--list"])?,
        "tag" => lists(
            &called,
            read(&only("l", "n", &["list", "sort=", "merged", "no-merged"]))?,
            &["-l", "--list"],
        )?,
        "stash" | "reflog" | "worktree" => match words {
            [Word::Known(what)] if what == "list" => Given::default(),
            [] if name == "reflog" => Given::default(),
            [Word::Known(what), rest @ ..] if name == "reflog" && what == "show" => {
                options::read(&called, &SHOWS, rest)?
            }
            [Word::Known(option), ..] if name == "reflog" && option.starts_with('-') => read(&SHOWS)?,
            _ => return Err(format!("{called} may change the repository")),
        },
        _ => return Err(changes(name)),
    };
    if let Some(format) =
        given.words(&["--format", "--pretty", "--sort"]).find(|format| checks_signatures(format))
    {
        let shown: String = format.chars().take(40).collect();
        return Err(format!("“{}” lets git run gpg", shown.escape_debug()));
    }
    let mut touched = vec![(Word::Known(".".to_owned()), How::Repository)];
    if name == "grep" {
        // It reads whatever of the project is not ignored.
        let how = How::Below { hidden: true, without: vec![".git".to_owned()], links: false };
        touched.push((Word::Known(".".to_owned()), how));
    }
    for word in given.operands {
        let Some(text) = word.known() else { return Err(unknown(&word)) };
        // `HEAD:.env`, `:0:.env` and `:(top).env` name a file too.
        for (at, _) in text.match_indices([':', ')']) {
            touched.push((Word::Known(text[at + 1..].to_owned()), How::Names));
        }
        for end in
            text.split("..").filter(|end| !end.is_empty() && !text.contains("../") && !text.contains("/.."))
        {
            touched.push((Word::Known(end.trim_start_matches('.').to_owned()), How::Names));
        }
        touched.push((word, How::Names));
    }
    touched.retain(|(word, _)| word.known() != Some(""));
    Ok(touched)
}

/// Whether git looks at signatures for this, by running gpg: `%G?`, with a sign between too, and `%(signature)`.
fn checks_signatures(format: &str) -> bool {
    let starts = |piece: &str| piece.strip_prefix(['+', '-', ' ']).unwrap_or(piece).starts_with('G');
    format.split('%').skip(1).any(starts) || format.contains("signature")
}

/// Names behind these make or move something, unless a list is asked for.
fn lists(called: &str, given: Given, list: &[&str]) -> Result<Given, String> {
    if given.operands.is_empty() || given.has(list) {
        return Ok(given);
    }
    Err(format!("{called} with a name may change the repository"))
}

fn changes(name: &str) -> String {
    let shown: String = name.chars().take(40).collect();
    match name {
        "push" => "git push changes the repository elsewhere".to_owned(),
        "fetch" | "pull" | "clone" | "remote" | "ls-remote" | "submodule" => {
            format!("git {name} reaches the network or tells where from")
        }
        _ => format!("git {} may change the repository", shown.escape_debug()),
    }
}
