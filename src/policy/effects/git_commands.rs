//! Git commands that only show something. Git follows the settings of the repository, which can start programs; so
//! every command also touches the repository, whose settings are then checked.

use super::path_access::{PathAccess, ProgramPaths, current_folder, describe_unknown_word};
use super::stated_paths::{MAX_OPTION_CHARS, grammar_of, option_paths, parse_certain, parse_read_only, take_script};
use crate::policy::command_line::Word;
use crate::policy::grammar::{OptionValue, ParsedArguments, Role};
use crate::policy::named_paths::named_parts;
use crate::text::truncation::escape_beginning;

/// Returns what a git command touches if it only shows something.
pub(super) fn judge_git(words: &[Word]) -> ProgramPaths {
    let program = grammar_of("git")?;
    let git_arguments = parse_certain("git", program, words)?;
    let is_current_folder =
        |value: &Option<Word>| value.as_ref().is_some_and(|folder| folder.known_text() == Some("."));
    let unsafe_option = git_arguments.options.iter().find(|option| match option.option.role {
        // `--version` lists only if no subcommand follows it.
        Role::Lists => !git_arguments.operands.is_empty(),
        Role::Plain => {
            option.option.value != OptionValue::None && !(option.word == "-C" && is_current_folder(&option.value))
        }
        _ => true,
    });
    if let Some(unsafe_option) = unsafe_option {
        let displayed = escape_beginning(&unsafe_option.word, MAX_OPTION_CHARS);
        return Err(format!("git {displayed} may start other programs"));
    }
    let (name, words) = match git_arguments.operands.split_first() {
        Some((Word::Known(name), words)) => (name.as_str(), words),
        Some((word, _)) => return Err(describe_unknown_word(word)),
        None => return Ok(Vec::new()),
    };
    if name == "version" && words.is_empty() {
        return Ok(Vec::new());
    }
    let command_name = format!("git {name}");
    let may_change = || format!("{command_name} may change the repository");
    let words = match (name, words) {
        ("stash" | "worktree", [Word::Known(action)]) if action == "list" => return Ok(repository_access()),
        ("stash" | "worktree", _) => return Err(may_change()),
        ("reflog", [Word::Known(action), later_words @ ..]) if action == "show" => later_words,
        ("reflog", [Word::Known(option), ..]) if option.starts_with('-') => words,
        ("reflog", []) => words,
        ("reflog", _) => return Err(may_change()),
        (_, words) => words,
    };
    let Some(grammar) = program.subcommand(name).filter(|grammar| grammar.is_complete) else {
        return Err(git_change_reason(name));
    };
    let mut arguments = parse_read_only(&command_name, grammar, words)?;
    if name == "grep" {
        take_script(&command_name, &mut arguments)?;
    }
    if matches!(name, "branch" | "tag") && !arguments.operands.is_empty() && !arguments.has_role(Role::Lists) {
        return Err(format!("{command_name} with a name may change the repository"));
    }
    let formats = ["--format", "--pretty", "--sort"];
    if let Some(format) = arguments.option_texts(&formats).find(|format| checks_signatures(format)) {
        return Err(format!("gpg run by git for “{}”", escape_beginning(format, MAX_OPTION_CHARS)));
    }
    let mut touched = repository_access();
    touched.extend(range_files(&arguments));
    touched.extend(option_paths(&arguments));
    touched.extend(shown_content(name, &arguments).map(|access| (current_folder(), access)));
    if arguments.has_option(&["--untracked"]) {
        let access = PathAccess::Recursive {
            include_hidden: true,
            skipped_folders: vec![".git".to_owned()],
            follow_links: false,
        };
        touched.push((current_folder(), access));
    }
    for word in arguments.operands {
        let Some(text) = word.known_text() else { return Err(describe_unknown_word(&word)) };
        touched.extend(named_parts(text).map(|part| (Word::Known(part.to_owned()), PathAccess::Names)));
        let is_range = text.contains("..") && !text.contains("../") && !text.contains("/..");
        for revision in text.split("..").filter(|end| is_range && !end.is_empty()) {
            touched.push((Word::Known(revision.trim_start_matches('.').to_owned()), PathAccess::Names));
        }
        touched.push((word, PathAccess::Names));
    }
    touched.retain(|(word, _)| word.known_text() != Some(""));
    Ok(touched)
}

fn repository_access() -> Vec<(Word, PathAccess)> {
    vec![(current_folder(), PathAccess::Repository)]
}

/// Returns the files that `-L 1,5:file` names. A function name may contain a colon too, so the file may begin after
/// each one.
fn range_files(arguments: &ParsedArguments) -> Vec<(Word, PathAccess)> {
    let file_names = arguments.option_texts(&["-L"]).flat_map(|range| {
        range.match_indices(':').map(|(index, _)| range[index + 1..].to_owned()).filter(|name| !name.is_empty())
    });
    file_names.map(|name| (Word::Known(name), PathAccess::Names)).collect()
}

/// Returns the access to content that is printed: commits, differences and the index. `None` if no content is printed,
/// or only that of files named by the operands.
fn shown_content(name: &str, arguments: &ParsedArguments) -> Option<PathAccess> {
    let texts: Vec<&str> = arguments.operands.iter().map(Word::display_text).collect();
    // A hash may be a commit or a file's content, which is printed whatever the options are.
    let may_be_hash = |text: &str| {
        let mut pieces = text.split(|separator: char| !separator.is_ascii_alphanumeric());
        pieces.any(|piece| {
            let hash = piece.strip_prefix('g').unwrap_or(piece);
            hash.len() >= 4 && hash.bytes().all(|byte| byte.is_ascii_hexdigit())
        })
    };
    let is_stash = |text: &str| text.to_lowercase().contains("stash");
    let names_object = |text: &&str| may_be_hash(text) || text.contains(':') || text.contains("^{") || is_stash(text);
    let shows_content = arguments.has_role(Role::ShowsContent);
    let lists_only = arguments.has_role(Role::Lists);
    let prints_content = match name {
        "diff" => shows_content || !lists_only,
        "show" => shows_content || !lists_only || texts.iter().any(names_object),
        "log" | "whatchanged" | "reflog" | "status" => shows_content,
        // `git cat-file blob 1a2b` prints as well.
        "cat-file" => shows_content || !arguments.has_option(&["-t", "-s", "-e"]),
        "grep" => true,
        _ => false,
    };
    // `HEAD:src/main.rs` is exactly this file; its name is checked with the operands.
    let is_name = |commit: &str| {
        !commit.is_empty() && commit.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"/._-~^".contains(&byte))
    };
    let is_single_file =
        |text: &&str| text.split_once(':').is_some_and(|(commit, path)| is_name(commit) && is_literal(path));
    if !prints_content || (matches!(name, "show" | "cat-file") && !texts.is_empty() && texts.iter().all(is_single_file))
    {
        return None;
    }
    let may_show_stash = arguments.has_option(&["--all"])
        || name == "reflog"
        || texts.iter().any(|text| may_be_hash(text) || is_stash(text) || text.contains("@{") || text.contains(":/"));
    // `git status -v` prints the difference of everything, whatever paths follow.
    let prints_other_files = name == "status" || arguments.has_option(&["-C", "--find-copies-harder", "--follow"]);
    // Only the paths after `--` limit what is printed.
    let paths = arguments.operands_before_end.map_or(&[][..], |count| &texts[count..]);
    let limits = if prints_other_files || !paths.iter().all(|path| is_literal(path)) { &[] } else { paths };
    let limits = limits.iter().map(|path| path.trim_start_matches("./").trim_end_matches('/').to_owned());
    Some(PathAccess::Tracked { limited_to: limits.collect(), with_stash: may_show_stash })
}

/// Returns whether a path means only itself and what is below it.
fn is_literal(path: &str) -> bool {
    let trimmed = path.trim_start_matches("./").trim_end_matches('/');
    !trimmed.is_empty()
        && !path.starts_with([':', '/'])
        && !path.contains(['*', '?', '[', '\\'])
        && !trimmed.split('/').any(|part| matches!(part, "" | "." | ".."))
}

/// Returns whether git verifies signatures for this format by running gpg: `%G?`, also with a sign between, and
/// `%(signature)`.
fn checks_signatures(format: &str) -> bool {
    let is_signature = |piece: &str| piece.strip_prefix(['+', '-', ' ']).unwrap_or(piece).starts_with('G');
    format.split('%').skip(1).any(is_signature) || format.contains("signature")
}

fn git_change_reason(name: &str) -> String {
    match name {
        "push" => "git push changes the remote repository".to_owned(),
        "fetch" | "pull" | "clone" | "remote" | "ls-remote" | "submodule" => {
            format!("git {name} may reach the network or show remote addresses")
        }
        _ => format!("git {} may change the repository", escape_beginning(name, MAX_OPTION_CHARS)),
    }
}
