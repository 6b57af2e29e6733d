//! Git commands that only show something. Git follows the settings of the repository, which can start programs; so
//! every command also touches the repository, whose settings are then checked.

use super::path_access::{PathAccess, ProgramPaths, describe_unknown_word};
use super::stated_paths::{MAX_OPTION_CHARS, grammar_of, parse_certain, parse_read_only, take_script};
use crate::policy::command_line::Word;
use crate::policy::grammar::{OptionValue, ParsedArguments, Role};
use crate::text::truncation::escape_beginning;

/// Returns what a git command touches if it only shows something.
pub(super) fn judge_git(words: &[Word]) -> ProgramPaths {
    let program = grammar_of("git")?;
    let outer = parse_certain("git", program, words)?;
    let here = |given: &Option<Word>| given.as_ref().is_some_and(|folder| folder.known_text() == Some("."));
    let odd = outer.options.iter().find(|given| match given.option.role {
        Role::Lists => !outer.operands.is_empty(),
        Role::Plain => given.option.value != OptionValue::None && !(given.word == "-C" && here(&given.value)),
        Role::NeedsApproval
        | Role::Recursive
        | Role::IncludesHidden
        | Role::Selects
        | Role::Excludes
        | Role::HoldsScript
        | Role::ShowsContent
        | Role::Forces
        | Role::Keeps
        | Role::Changes => true,
    });
    if let Some(odd) = odd {
        let shown = escape_beginning(&odd.word, MAX_OPTION_CHARS);
        return Err(format!("possible other programs run by git {shown}"));
    }
    let (name, words) = match outer.operands.split_first() {
        Some((Word::Known(name), words)) => (name.as_str(), words),
        Some((word, _)) => return Err(describe_unknown_word(word)),
        None => return Ok(Vec::new()),
    };
    if name == "version" && words.is_empty() {
        return Ok(Vec::new());
    }
    let called = format!("git {name}");
    let may_change = || format!("possible repository change by {called}");
    let words = match (name, words) {
        ("stash" | "worktree", [Word::Known(what)]) if what == "list" => return Ok(repository_access()),
        ("stash" | "worktree", _) => return Err(may_change()),
        ("reflog", [Word::Known(what), rest @ ..]) if what == "show" => rest,
        ("reflog", [Word::Known(option), ..]) if option.starts_with('-') => words,
        ("reflog", []) => words,
        ("reflog", _) => return Err(may_change()),
        (_, words) => words,
    };
    let Some(grammar) = program.subcommand(name).filter(|grammar| grammar.is_complete) else {
        return Err(git_change_reason(name));
    };
    let mut given = parse_read_only(&called, grammar, words)?;
    if name == "grep" {
        take_script(&called, grammar, &mut given)?;
    }
    if matches!(name, "branch" | "tag") && !given.operands.is_empty() && !given.has_role(Role::Lists) {
        return Err(format!("possible repository change by {called} with a name"));
    }
    let formats = ["--format", "--pretty", "--sort"];
    if let Some(format) = given.option_texts(&formats).find(|format| checks_signatures(format)) {
        return Err(format!("gpg run by git for “{}”", escape_beginning(format, MAX_OPTION_CHARS)));
    }
    let mut touched = repository_access();
    touched.extend(range_files(&given));
    touched.extend(super::stated_paths::option_paths(grammar, &given));
    touched.extend(shown_content(name, &given).map(|how| (current_folder_word(), how)));
    if given.has_option(&["--untracked"]) {
        let how = PathAccess::Recursive { hidden: true, without: vec![".git".to_owned()], links: false };
        touched.push((current_folder_word(), how));
    }
    for word in given.operands {
        let Some(text) = word.known_text() else { return Err(describe_unknown_word(&word)) };
        // `HEAD:.env`, `:0:.env` and `:(top).env` name a file too.
        for (at, _) in text.match_indices([':', ')']) {
            touched.push((Word::Known(text[at + 1..].to_owned()), PathAccess::Names));
        }
        let is_range = text.contains("..") && !text.contains("../") && !text.contains("/..");
        for end in text.split("..").filter(|end| is_range && !end.is_empty()) {
            touched.push((Word::Known(end.trim_start_matches('.').to_owned()), PathAccess::Names));
        }
        touched.push((word, PathAccess::Names));
    }
    touched.retain(|(word, _)| word.known_text() != Some(""));
    Ok(touched)
}

fn current_folder_word() -> Word {
    Word::Known(".".to_owned())
}

fn repository_access() -> Vec<(Word, PathAccess)> {
    vec![(current_folder_word(), PathAccess::Repository)]
}

/// Returns the files that `-L 1,5:file` names. A function name may contain a colon too, so the file may begin after
/// each one.
fn range_files(given: &ParsedArguments) -> Vec<(Word, PathAccess)> {
    let named = given.option_texts(&["-L"]).flat_map(|range| {
        range.match_indices(':').map(|(at, _)| range[at + 1..].to_owned()).filter(|name| !name.is_empty())
    });
    named.map(|name| (Word::Known(name), PathAccess::Names)).collect()
}

/// Returns the content that is printed: commits, differences and the index.
fn shown_content(name: &str, given: &ParsedArguments) -> Option<PathAccess> {
    let texts: Vec<&str> = given.operands.iter().map(Word::display_text).collect();
    // A hash may be a commit or a file's content, which is printed whatever the options are.
    let is_hash = |text: &str| {
        let mut pieces = text.split(|sign: char| !sign.is_ascii_alphanumeric());
        pieces.any(|piece| {
            let bare = piece.strip_prefix('g').unwrap_or(piece);
            bare.len() >= 4 && bare.bytes().all(|byte| byte.is_ascii_hexdigit())
        })
    };
    let is_stash = |text: &str| text.to_lowercase().contains("stash");
    let object = |text: &&str| is_hash(text) || text.contains(':') || text.contains("^{") || is_stash(text);
    let shows = given.has_role(Role::ShowsContent);
    let lists = given.has_role(Role::Lists);
    let prints = match name {
        "diff" => shows || !lists,
        "show" => shows || !lists || texts.iter().any(object),
        "log" | "whatchanged" | "reflog" | "status" => shows,
        // `git cat-file blob 1a2b` prints as well.
        "cat-file" => shows || !given.has_option(&["-t", "-s", "-e"]),
        "grep" => true,
        _ => false,
    };
    // `HEAD:src/main.rs` is exactly this file; its name is checked with the operands.
    let is_name = |commit: &str| {
        !commit.is_empty() && commit.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-~^".contains(&byte))
    };
    let one_file = |text: &&str| text.split_once(':').is_some_and(|(commit, path)| is_name(commit) && is_literal(path));
    if !prints || (matches!(name, "show" | "cat-file") && !texts.is_empty() && texts.iter().all(one_file)) {
        return None;
    }
    let stashed = given.has_option(&["--all"])
        || name == "reflog"
        || texts.iter().any(|text| is_hash(text) || is_stash(text) || text.contains("@{") || text.contains(":/"));
    // `git status -v` prints the difference of everything, whatever paths follow.
    let prints_others = name == "status" || given.has_option(&["-C", "--find-copies-harder", "--follow"]);
    let paths = given.operands_before_end.map_or(&[][..], |before| &texts[before..]);
    let below = if prints_others || !paths.iter().all(|path| is_literal(path)) { &[] } else { paths };
    let below = below.iter().map(|path| path.trim_start_matches("./").trim_end_matches('/').to_owned());
    Some(PathAccess::Tracked { below: below.collect(), stashed })
}

/// Returns whether a path means only itself and what is below it.
fn is_literal(path: &str) -> bool {
    let named = path.trim_start_matches("./").trim_end_matches('/');
    !named.is_empty()
        && !path.starts_with([':', '/'])
        && !path.contains(['*', '?', '[', '\\'])
        && !named.split('/').any(|part| matches!(part, "" | "." | ".."))
}

/// Returns whether git verifies signatures for this format by running gpg: `%G?`, also with a sign between, and
/// `%(signature)`.
fn checks_signatures(format: &str) -> bool {
    let starts = |piece: &str| piece.strip_prefix(['+', '-', ' ']).unwrap_or(piece).starts_with('G');
    format.split('%').skip(1).any(starts) || format.contains("signature")
}

fn git_change_reason(name: &str) -> String {
    match name {
        "push" => "change of the remote repository by git push".to_owned(),
        "fetch" | "pull" | "clone" | "remote" | "ls-remote" | "submodule" => {
            format!("network access or remote addresses through git {name}")
        }
        _ => format!("possible repository change by git {}", escape_beginning(name, MAX_OPTION_CHARS)),
    }
}
