//! Programs that only read. Most do what their grammar states; some have a language of their own.

use super::path_access::{PathAccess, ProgramPaths, current_folder, describe_unknown_word, word_from_path};
use super::stated_paths::{grammar_of, judge_plain_words};
use super::working_directories::cd_target;
use super::{ask_reasons, git_commands, script_languages, search_programs, stated_paths, version_queries};
use crate::policy::command_line::{FOUND_FILES, Nesting, SimpleCommand, Word, program_base_name};
use crate::policy::grammar::{self, ParsedOption, Role};

/// Programs that do only what their grammar states: they read or look at what their operands and options name.
#[rustfmt::skip]
const STATED_PROGRAMS: &[&str] = &[
    "ls", "tree", "cat", "head", "tail", "wc", "sort", "uniq", "cut", "diff", "cmp", "comm", "file", "stat", "du", "df",
    "nl", "tac", "rev", "fold", "paste", "expand", "tr", "od", "hexdump", "md5sum", "cksum", "basename", "dirname",
    "realpath", "readlink", "pwd", "which", "type", "true", "false", "uname", "arch", "nproc", "whoami", "id",
    "hostname", "uptime", "seq", "xxd", "column", "free",
];

/// Programs that only read the files whose names `find` passes to them.
const FOUND_FILE_READERS: &[&str] =
    &["wc", "grep", "egrep", "fgrep", "head", "tail", "cat", "ls", "stat", "file", "md5sum", "sha256sum", "du"];

/// Returns the paths that a program touches if it only reads or deletes; deletions are marked.
pub(super) fn judge_program(simple: &SimpleCommand) -> ProgramPaths {
    let Some(written_name) = simple.words.first().and_then(Word::known_text) else {
        return Err("program unknown before it runs".to_owned());
    };
    let name =
        ["/bin/", "/usr/bin/"].iter().find_map(|folder| written_name.strip_prefix(folder)).unwrap_or(written_name);
    let substituted;
    let mut words = simple.arguments();
    if simple.nesting.last() == Some(&Nesting::Arguments("find".to_owned())) && FOUND_FILE_READERS.contains(&name) {
        // The files that `find` passes are checked with `find` itself, so a placeholder takes their place here.
        let substitute_folder = |word: &Word| match word {
            Word::Unknown(text) if text == FOUND_FILES => current_folder(),
            // A known word is kept even if it has the same text: a file may have that name.
            word => word.clone(),
        };
        substituted = words.iter().map(substitute_folder).collect::<Vec<_>>();
        words = &substituted;
    }
    let program = grammar::program_named(name);
    if name == "tail" && words.iter().any(is_follow_operand) {
        return Err("endless tail: an operand like +f follows a file".to_owned());
    }
    if let Some(program) = program.filter(|program| STATED_PROGRAMS.contains(&program.name())) {
        return stated_paths::stated_paths(name, program, words);
    }
    match name {
        "echo" => judge_plain_words(&fill_exit_status(words)),
        ":" => judge_plain_words(words),
        "printf" => judge_printf(&fill_exit_status(words)),
        "strings" => judge_strings(words),
        "date" => judge_date(words),
        "test" => judge_test(words),
        "cd" => cd_target(simple).map_or_else(
            || Err("target of cd unknown before it runs".to_owned()),
            |target| Ok(vec![(word_from_path(target), PathAccess::Names)]),
        ),
        "command" => match words {
            [Word::Known(option), later_words @ ..] if option == "-v" || option == "-V" => {
                judge_plain_words(later_words)
            }
            _ => Err("`command` runs another command".to_owned()),
        },
        "sed" => script_languages::judge_sed(words),
        "awk" | "gawk" | "mawk" | "nawk" => script_languages::judge_awk(name, words),
        "printenv" => version_queries::judge_printenv(words),
        "tar" => judge_tar(words),
        "unzip" | "zipinfo" => judge_archive(name, words),
        "jq" => script_languages::judge_jq(words),
        "find" => search_programs::judge_find(words),
        "fd" | "fdfind" => search_programs::judge_fd(words),
        "grep" | "egrep" | "fgrep" => search_programs::judge_grep(name, words),
        "rg" => search_programs::judge_rg(words),
        "git" => git_commands::judge_git(words),
        "rm" | "rmdir" => judge_deletion(name, words),
        _ if version_queries::is_version_query(name, words) => Ok(version_queries::version_override_files(name)),
        // The argument of `-c` has been parsed and is judged with the other commands.
        "bash" | "sh" if simple.inline_code.is_some() => match words {
            [Word::Known(option), Word::Known(_)] if option == "-c" => Ok(Vec::new()),
            _ => Err(format!("{name} with more arguments than -c and a command")),
        },
        _ => Err(ask_reasons::ask_reason(simple, name)),
    }
}

/// Returns whether a word is the old form of an option of `tail` and more than a number: `+5f` is `-n +5 -f`.
fn is_follow_operand(word: &Word) -> bool {
    let old_option = word.display_text().strip_prefix('+');
    old_option.is_some_and(|old_option| !old_option.bytes().all(|byte| byte.is_ascii_digit()))
}

/// Returns the words with a number in place of each `$?`.
fn fill_exit_status(words: &[Word]) -> Vec<Word> {
    words.iter().map(|word| word.with_zero_status().unwrap_or_else(|| word.clone())).collect()
}

/// Judges `printf`, which can set a variable with `-v` and with `%n`.
fn judge_printf(words: &[Word]) -> ProgramPaths {
    let Some(Word::Known(format)) = words.first() else {
        return Err("printf format unknown before it runs".to_owned());
    };
    let is_harmless = format.replace("%%", "").split('%').skip(1).all(|piece| {
        let conversion = piece.trim_start_matches(|c: char| "-+ #0123456789.*'".contains(c));
        conversion.starts_with(|c: char| "diouxXcsbqfeEgG".contains(c))
    });
    if format.starts_with('-') || !is_harmless {
        return Err("printf may set a variable".to_owned());
    }
    judge_plain_words(&words[1..])
}

/// Judges `date`: an operand without a leading `+` sets the clock.
fn judge_date(words: &[Word]) -> ProgramPaths {
    let arguments = stated_paths::parse_read_only("date", grammar_of("date")?, words)?;
    match arguments.operands.iter().all(|word| word.known_text().is_some_and(|text| text.starts_with('+'))) {
        true => Ok(stated_paths::option_paths(&arguments)),
        false => Err("date may set the clock".to_owned()),
    }
}

/// Judges `strings`, which reads options from the file `x` if any argument is `@x`.
fn judge_strings(words: &[Word]) -> ProgramPaths {
    if !words.iter().all(|word| word.known_text().is_some_and(|text| !text.starts_with('@'))) {
        return Err("strings reads options from a file".to_owned());
    }
    stated_paths::stated_paths("strings", grammar_of("strings")?, words)
}

/// Judges `test`, which can evaluate the subscript of a variable: only simple tests are followed.
fn judge_test(words: &[Word]) -> ProgramPaths {
    let texts: Vec<&str> = words.iter().filter_map(Word::known_text).collect();
    let texts = if texts.len() == words.len() { texts } else { Vec::new() };
    let texts = texts.strip_prefix(&["!"]).unwrap_or(&texts);
    match texts {
        ["-n" | "-z", _] | [_, "=" | "!=", _] => Ok(Vec::new()),
        ["-f" | "-d" | "-e" | "-s" | "-r" | "-w" | "-x" | "-L" | "-h", path] => {
            Ok(vec![(Word::Known((*path).to_owned()), PathAccess::Names)])
        }
        _ => Err("complex test expression".to_owned()),
    }
}

/// Judges `tar -tf x.tar`, which only lists. With a colon in the name, tar would connect to another machine.
fn judge_tar(words: &[Word]) -> ProgramPaths {
    let arguments = stated_paths::parse_certain("tar", grammar_of("tar")?, words);
    let listing = arguments.ok().filter(|arguments| arguments.has_role(Role::Lists) && arguments.operands.is_empty());
    let (archives, other_options): (Vec<ParsedOption>, Vec<ParsedOption>) =
        listing.into_iter().flat_map(|listing| listing.options).partition(|option| option.is_named("-f"));
    let only_lists = other_options.iter().all(|option| option.value.is_none() && option.only_reads());
    match archives.as_slice() {
        [ParsedOption { value: Some(Word::Known(archive)), .. }]
            if only_lists && !archive.contains(':') && archive != "-" =>
        {
            Ok(vec![(Word::Known(archive.clone()), PathAccess::Contents)])
        }
        _ => Err("tar may write files or run commands".to_owned()),
    }
}

/// Judges `unzip -l x.zip` and `zipinfo x.zip`. Both treat the name as a pattern.
fn judge_archive(name: &str, words: &[Word]) -> ProgramPaths {
    let program = grammar_of(name)?;
    let arguments = stated_paths::parse_read_only(name, program, words)?;
    if name == "unzip" && !arguments.has_role(Role::Lists) {
        return Err("unzip writes files".to_owned());
    }
    if let Some(word) = arguments.operands.iter().find(|word| word.display_text().contains(['*', '?', '[', '\\'])) {
        return Err(describe_unknown_word(word));
    }
    stated_paths::stated_paths(name, program, words)
}

/// Returns the files that `rm` deletes, to be checked against the project folder.
fn judge_deletion(name: &str, words: &[Word]) -> ProgramPaths {
    let arguments = stated_paths::parse_certain(name, grammar_of(name)?, words)?;
    if let Some(option) = arguments.options.iter().find(|option| option.option.role == Role::NeedsApproval) {
        return Err(format!("{name} {} may delete everything", option.word));
    }
    Ok(arguments.operands.into_iter().map(|word| (word, PathAccess::Delete)).collect())
}

/// Checks that a wrapper only changes how a program runs.
pub(super) fn check_wrapper(words: &[Word]) -> Result<(), String> {
    let name = words.first().and_then(Word::known_text).map(program_base_name).unwrap_or_default();
    if let Some(word) = words.iter().find(|word| word.known_text().is_none()) {
        return Err(describe_unknown_word(word));
    }
    match name {
        "env" | "time" | "timeout" | "nice" | "stdbuf" | "command" | "builtin" => Ok(()),
        name => Err(format!("{name} runs another command")),
    }
}
