//! Commands refused in every mode: those that change what only the user may decide, and irreversible ones. If a line
//! is unclear, the parts of it that could be parsed are checked.

use super::ask_reasons;
use super::folder_options::FILE_CHANGERS;
use super::path_access::join_path;
use super::working_directories::working_directories;
use crate::policy::command_line::{
    Nesting, ParsedLine, Redirect, SimpleCommand, Word, WordPosition, is_interpreter, is_shell, program_base_name,
};
use crate::policy::grammar::{Role, parse_arguments, program_named};

/// Programs that give a command more privileges than the user has.
#[rustfmt::skip]
const PRIVILEGE_PROGRAMS: &[&str] = &[
    "sudo", "sudoedit", "sudo-rs", "su", "doas", "pkexec", "run0", "runuser", "gksudo", "gksu", "kdesudo", "kdesu",
    "dzdo", "pfexec",
];

/// Programs that download data.
#[rustfmt::skip]
const DOWNLOAD_PROGRAMS: &[&str] = &[
    "curl", "wget", "wget2", "fetch", "aria2c", "http", "https", "xh", "lynx", "w3m", "links", "elinks", "nc", "ncat",
    "netcat", "socat", "telnet", "lwp-request", "GET", "ftp", "tnftp", "axel",
];

/// Branches that others build on.
const PROTECTED_BRANCHES: &[&str] = &["main", "master"];

/// Returns why the line is refused.
pub(super) fn refusal_reason(parsed_line: &ParsedLine) -> Option<String> {
    let mut commands = parsed_line.commands.iter().zip(working_directories(parsed_line));
    let refused_command =
        commands.find_map(|(simple, folders)| folders.iter().find_map(|folder| refuse_command(simple, folder)));
    refused_command.or_else(|| refuse_run_download(parsed_line)).or_else(|| {
        // A part that could not be parsed may run too: bash runs each line before it parses the next one.
        let is_unclear = parsed_line.unclear.is_some();
        let program_word = parsed_line.file_words.iter().find(|word| {
            is_unclear
                && word.position == WordPosition::Program
                && PRIVILEGE_PROGRAMS.contains(&program_base_name(&word.text))
        })?;
        Some(privilege_reason(program_base_name(&program_word.text)))
    })
}

fn privilege_reason(name: &str) -> String {
    format!("higher privileges through {name}")
}

/// Returns why one command is refused in this working directory.
fn refuse_command(simple: &SimpleCommand, folder: &str) -> Option<String> {
    for redirect in &simple.redirects {
        if let Redirect::Write(word) | Redirect::Append(word) = redirect
            && let Some(why) = refuse_write(&join_word(folder, word))
        {
            return Some(why);
        }
    }
    let program = simple.program()?;
    if PRIVILEGE_PROGRAMS.contains(&program) {
        return Some(privilege_reason(program));
    }
    let sets_mode = |word: &Word| word.known_text().is_some_and(|text| text == "--mode" || text.starts_with("--mode="));
    if program == "aye" && simple.arguments().iter().any(sets_mode) {
        return Some("permission mode set by a command; only the user may set it".to_owned());
    }
    if program == "aye" && simple.arguments().iter().any(|word| matches!(word.known_text(), Some("trust" | "untrust")))
    {
        return Some("trust set by a command; only the user may set it".to_owned());
    }
    if FILE_CHANGERS.contains(&program) || program.starts_with("mkfs") {
        let only_reads = program == "find" && !deletes_found_files(simple);
        for word in simple.arguments().iter().filter(|_| !only_reads) {
            let word = match word.known_text().and_then(|text| text.strip_prefix("of=")) {
                Some(target) => Word::Known(target.to_owned()),
                // `dd` writes only to `of=`; whether it may read a file is checked elsewhere.
                None if program == "dd" => continue,
                None => word.clone(),
            };
            if let Some(why) = refuse_write(&join_word(folder, &word)) {
                return Some(why);
            }
        }
    }
    match program {
        "rm" => refuse_removal(simple, folder),
        "find" if deletes_found_files(simple) => {
            let arguments = parse_arguments(program_named("find")?, simple.arguments());
            let deletes_everything = arguments.operands.iter().any(|word| is_system_or_home(&join_word(folder, word)));
            deletes_everything.then(|| "deletion of the system or of your home folder".to_owned())
        }
        "git" => refuse_push(simple.arguments()),
        _ => None,
    }
}

fn deletes_found_files(find: &SimpleCommand) -> bool {
    program_named("find").is_some_and(|grammar| parse_arguments(grammar, find.arguments()).has_option(&["-delete"]))
}

/// Joins a word to the working directory.
fn join_word(folder: &str, word: &Word) -> Word {
    match word {
        Word::Known(text) => Word::Known(join_path(folder, text)),
        Word::Pattern(text) => Word::Pattern(join_path(folder, text)),
        Word::Home(_) | Word::Unknown(_) => word.clone(),
    }
}

/// Returns why this path may not be written.
fn refuse_write(word: &Word) -> Option<String> {
    let path = normalize_text_path(word.display_text());
    if path.starts_with("/dev/") && !matches!(word, Word::Unknown(_)) && is_device(&path) {
        return Some(format!("write to a device: {}", path.escape_debug()));
    }
    refuse_own_path(&path)
}

/// Returns why this path may not be written if it belongs to aye.
pub(in crate::policy) fn refuse_own_path(path: &str) -> Option<String> {
    let parts: Vec<String> = path.split('/').map(str::to_lowercase).collect();
    let is_own = parts.iter().any(|part| part == ".aye")
        || parts.windows(2).any(|pair| {
            pair[1] == "aye" && matches!(pair[0].as_str(), ".config" | "share" | "state" | "application support")
        });
    is_own.then(|| format!("{} belongs to aye's own settings and sessions", path.escape_debug()))
}

/// Returns whether a write to this path below `/dev/` may damage a device.
fn is_device(path: &str) -> bool {
    let name = &path["/dev/".len()..];
    let is_harmless = ["null", "stdout", "stderr", "stdin", "tty", "zero", "full"].contains(&name)
        || ["fd/", "shm/", "pts/", "tcp/", "udp/", "mqueue/"].iter().any(|folder| name.starts_with(folder));
    !is_harmless
}

/// Normalizes a path: removes `.`, `//`, `..` and quotes, and replaces `$HOME` with `~`. The folder above `~` is `/home`,
/// wherever it really is.
fn normalize_text_path(path: &str) -> String {
    let path = path.replace(['"', '\''], "").replace("${HOME}", "~").replace("$HOME", "~");
    let mut parts: Vec<&str> = Vec::new();
    let mut prefix = if path.starts_with('/') { "/" } else { "" };
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part != ".." {
            parts.push(part);
        } else if parts.pop() == Some("~") && parts.is_empty() && prefix.is_empty() {
            (prefix, parts) = ("/", vec!["home"]);
        }
    }
    format!("{prefix}{}", parts.join("/"))
}

/// Returns whether the path is the system or a whole home folder.
fn is_system_or_home(word: &Word) -> bool {
    let path = normalize_text_path(word.display_text());
    let path = path.strip_suffix('*').unwrap_or(&path);
    let path = if path == "/" { path } else { path.trim_end_matches('/') };
    let home_path = path.strip_prefix("/home/").or_else(|| path.strip_prefix("/Users/"));
    // `~name`: the home folder of another user. In quotes it is the name of a file.
    let home_path = home_path.or_else(|| path.strip_prefix('~').filter(|_| matches!(word, Word::Unknown(_))));
    matches!(
        path,
        "/" | "~" | "/home" | "/Users" | "/root" | "/usr" | "/etc" | "/var" | "/bin" | "/lib" | "/boot" | "/opt"
    ) || home_path.is_some_and(|rest| !rest.contains('/'))
}

fn refuse_removal(simple: &SimpleCommand, folder: &str) -> Option<String> {
    let arguments = parse_arguments(program_named("rm")?, simple.arguments());
    let removes_everything = arguments.has_role(Role::Recursive)
        && simple.arguments().iter().any(|word| is_system_or_home(&join_word(folder, word)));
    let is_refused = removes_everything || arguments.has_option(&["--no-preserve-root"]);
    is_refused.then(|| "deletion of the system or of your home folder".to_owned())
}

/// Returns why a push is refused: it replaces or deletes a branch that others build on.
fn refuse_push(arguments: &[Word]) -> Option<String> {
    let git = program_named("git")?;
    let git_arguments = parse_arguments(git, arguments);
    let (_, push_words) = git_arguments.operands.split_first().filter(|(name, _)| name.display_text() == "push")?;
    let push_arguments = parse_arguments(git.subcommand("push")?, push_words);
    let is_forced = push_arguments.has_option(&["--force", "--force-with-lease"]);
    let is_deletion = push_arguments.has_option(&["--delete"]);
    if push_arguments.has_option(&["--mirror"]) || (is_forced && push_arguments.has_option(&["--all", "--branches"])) {
        return Some("replacement of every branch of the remote repository".to_owned());
    }
    let names: Vec<&str> = push_arguments.operands.iter().map(Word::display_text).collect();
    names.iter().skip(1).find_map(|name| {
        let (source, target) =
            name.trim_start_matches('+').split_once(':').unwrap_or(("", name.trim_start_matches('+')));
        let is_replacement =
            is_forced || is_deletion || name.starts_with('+') || (source.is_empty() && name.contains(':'));
        let branch = target.strip_prefix("refs/heads/").or_else(|| target.strip_prefix("heads/")).unwrap_or(target);
        (is_replacement && PROTECTED_BRANCHES.contains(&branch))
            .then(|| format!("replacement of the shared branch {branch} in the remote repository"))
    })
}

/// Returns why a line is refused that runs a download with an interpreter.
fn refuse_run_download(parsed_line: &ParsedLine) -> Option<String> {
    let commands = &parsed_line.commands;
    for (index, simple) in commands.iter().enumerate() {
        let Some(program) =
            simple.program().filter(|program| DOWNLOAD_PROGRAMS.contains(program)).or_else(|| network_device(simple))
        else {
            continue;
        };
        let receivers = commands.iter().filter(|candidate| {
            let is_later_stage = |(number, stage): &(usize, usize)| {
                candidate
                    .pipelines
                    .iter()
                    .any(|(candidate_number, candidate_stage)| candidate_number == number && candidate_stage > stage)
            };
            simple.pipelines.iter().any(is_later_stage)
        });
        // The download may also be substituted into the words of a command, or passed to the command as a file.
        let substitution_depths = (0..simple.nesting.len())
            .filter(|depth| matches!(simple.nesting[*depth], Nesting::Substitution | Nesting::ProcessSubstitution));
        let enclosing = substitution_depths.filter_map(|depth| {
            commands[index + 1..].iter().find(|candidate| candidate.nesting == simple.nesting[..depth])
        });
        let runner = receivers
            .filter(|candidate| runs_stdin(candidate))
            .chain(enclosing.filter(|candidate| runs_unknown(candidate)))
            .next();
        if let Some(runner) = runner.map(|runner| runner.program().unwrap_or("the shell")) {
            return Some(format!("download by {program} run unseen by {runner}"));
        }
    }
    None
}

/// Returns `/dev/tcp` or `/dev/udp` if a redirection reads from it: bash opens a connection.
fn network_device(simple: &SimpleCommand) -> Option<&'static str> {
    let reads_from = |device: &str| {
        simple.redirects.iter().any(|redirect| {
            matches!(redirect, Redirect::Read(word) if word.display_text().strip_prefix(device).is_some_and(|rest| rest.starts_with('/')))
        })
    };
    ["/dev/tcp", "/dev/udp"].into_iter().find(|device| reads_from(device))
}

/// Returns whether the command runs its input.
fn runs_stdin(simple: &SimpleCommand) -> bool {
    let Some(program) = simple.program().filter(|program| is_interpreter(program)) else { return false };
    let has_argument = |text: &str| simple.arguments().iter().any(|word| word.known_text() == Some(text));
    match (&simple.inline_code, &simple.script) {
        (Some(word), _) => is_shell(program) && word.known_text().is_none(),
        (None, Some(word)) => {
            matches!(word.known_text(), Some("-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"))
                || (is_shell(program) && ask_reasons::has_stdin_option(simple))
        }
        // A shell without code and script runs its input, unless it is asked for its version or help.
        (None, None) if is_shell(program) => !ask_reasons::asks_version_or_help(simple),
        (None, None) => {
            !has_argument("-m") && !has_argument("--version") && !has_argument("-V") && !has_argument("--help")
        }
    }
}

/// Returns whether the command runs code that is unknown before it runs.
fn runs_unknown(simple: &SimpleCommand) -> bool {
    let is_unknown = |word: &Option<Word>| matches!(word, Some(Word::Unknown(_)));
    let has_unknown_input = simple
        .redirects
        .iter()
        .any(|redirect| matches!(redirect, Redirect::Text(Word::Unknown(_)) | Redirect::Read(Word::Unknown(_))));
    let has_unknown_program = matches!(simple.words.first(), Some(Word::Unknown(_)));
    has_unknown_program
        || (simple.program().is_some_and(is_interpreter)
            && (is_unknown(&simple.inline_code)
                || is_unknown(&simple.script)
                || (has_unknown_input && runs_stdin(simple))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::command_line;

    #[test]
    fn refuses_irreversible_commands_with_any_option_spelling() {
        for (line, is_refused) in [
            ("rm -rf /", true),
            ("rm -fR ~", true),
            ("rm -v -r /usr/", true),
            ("rm --recursive /etc", true),
            ("rm --recurs /etc", true),
            ("rm -Zr /*", true),
            ("rm /home/a -r", true),
            ("rm --no-preserve-root x", true),
            ("cd / && rm -r .", true),
            ("rm -r x", false),
            ("rm -f /", false),
            ("find / -delete", true),
            ("find -L x ~ -name y -o -delete", true),
            ("find / -exec true ';' -delete", true),
            ("find / -name -delete", false),
            ("find x -name / -delete", false),
            ("git push -f origin main", true),
            ("git push origin main -qf", true),
            ("git push --force-with-lease=main:1 origin main", true),
            ("git -C x -c a.b=c push -d origin master", true),
            ("git push --del origin main", true),
            ("git push -o ci.skip -f origin HEAD:refs/heads/main", true),
            ("git push origin +main", true),
            ("git push origin :main", true),
            ("git push --mirror", true),
            ("git push --mir", true),
            ("git push --all -f", true),
            ("git push --all", false),
            ("git push -u origin main", false),
            ("git push -of origin main", false),
            ("git push -f origin topic", false),
            ("git commit -m push -f origin main", false),
        ] {
            assert_eq!(refusal_reason(&command_line::parse_command_line(line)).is_some(), is_refused, "{line}");
        }
    }
}
