//! Commands refused in every mode: those that take decisions away from the user, and those that are irreversible. Also
//! checks the parts of a line that could be found if the line is unclear.

use super::ask_reasons;
use super::folder_options::{self, CHANGERS};
use super::path_access::join_path;
use super::working_directories::WorkingDirectories;
use crate::policy::command_line::{
    Nesting, ParsedLine, Redirect, SimpleCommand, Word, WordPosition, is_interpreter, is_shell, program_base_name,
};
use crate::policy::grammar::{Role, parse_arguments, program_named};

/// Programs that give a command more privileges than the user has.
#[rustfmt::skip]
const PRIVILEGE: &[&str] = &[
    "sudo", "sudoedit", "sudo-rs", "su", "doas", "pkexec", "run0", "runuser", "gksudo", "gksu", "kdesudo", "kdesu",
    "dzdo", "pfexec",
];

/// Programs that download data.
#[rustfmt::skip]
const DOWNLOADS: &[&str] = &[
    "curl", "wget", "wget2", "fetch", "aria2c", "http", "https", "xh", "lynx", "w3m", "links", "elinks", "nc", "ncat",
    "netcat", "socat", "telnet", "lwp-request", "GET", "ftp", "tnftp", "axel",
];

/// Branches that others build on.
const PROTECTED: &[&str] = &["main", "master"];

/// Returns why the line is refused.
pub(super) fn refusal_reason(reading: &ParsedLine) -> Option<String> {
    let mut folders = WorkingDirectories::default();
    let of_one = reading.commands.iter().find_map(|simple| {
        let at = folders.directories_of(simple);
        let refused = at.iter().find_map(|folder| refuse_command(simple, folder));
        folders.apply_cd(simple);
        refused
    });
    of_one.or_else(|| refuse_run_download(reading)).or_else(|| {
        // A part that could not be parsed may run all the same, line by line.
        let lost = reading.unclear.is_some();
        let name = reading.file_words.iter().find(|named| {
            lost && named.position == WordPosition::Program && PRIVILEGE.contains(&program_base_name(&named.text))
        })?;
        Some(privilege_reason(program_base_name(&name.text)))
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
    if PRIVILEGE.contains(&program) {
        return Some(privilege_reason(program));
    }
    let mode = |word: &Word| word.known_text().is_some_and(|text| text == "--mode" || text.starts_with("--mode="));
    if program == "aye" && simple.arguments().iter().any(mode) {
        return Some("permission mode set by a command; only the user may set it".to_owned());
    }
    if program == "aye" && simple.arguments().iter().any(|word| matches!(word.known_text(), Some("trust" | "untrust")))
    {
        return Some("trust set by a command; only the user may set it".to_owned());
    }
    if CHANGERS.contains(&program) || program.starts_with("mkfs") {
        let only_reads =
            program == "find" && !simple.arguments().iter().any(|word| word.known_text() == Some("-delete"));
        for word in simple.arguments().iter().filter(|_| !only_reads) {
            let word = match word.known_text().and_then(|text| text.strip_prefix("of=")) {
                Some(target) => Word::Known(target.to_owned()),
                // Reading any file is fine here.
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
        "find" if simple.arguments().iter().any(|word| word.known_text() == Some("-delete")) => {
            let everything = simple
                .arguments()
                .iter()
                .skip_while(|word| folder_options::is_leading_find_option(word.display_text()))
                .take_while(|word| !word.display_text().starts_with('-'))
                .any(|word| is_system_or_home(&join_word(folder, word)));
            everything.then(|| "deletion of the system or of your home folder".to_owned())
        }
        "git" => refuse_push(simple.arguments()),
        _ => None,
    }
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
    let own = parts.iter().any(|part| part == ".aye")
        || parts.windows(2).any(|pair| {
            pair[1] == "aye" && matches!(pair[0].as_str(), ".config" | "share" | "state" | "application support")
        });
    own.then(|| format!("{} belongs to aye's own settings and sessions", path.escape_debug()))
}

fn is_device(path: &str) -> bool {
    let name = &path["/dev/".len()..];
    let harmless = ["null", "stdout", "stderr", "stdin", "tty", "zero", "full"].contains(&name)
        || ["fd/", "shm/", "pts/", "tcp/", "udp/", "mqueue/"].iter().any(|folder| name.starts_with(folder));
    !harmless
}

/// Normalizes a path: removes `.`, `//`, `..` and quotes.
fn normalize_text_path(path: &str) -> String {
    let path = path.replace(['"', '\''], "").replace("${HOME}", "~").replace("$HOME", "~");
    let mut parts: Vec<&str> = Vec::new();
    for part in path.split('/').filter(|part| !part.is_empty() && *part != ".") {
        if part == ".." {
            parts.pop();
        } else {
            parts.push(part);
        }
    }
    let start = if path.starts_with('/') { "/" } else { "" };
    format!("{start}{}", parts.join("/"))
}

/// Returns whether the path is the system or a whole home folder.
fn is_system_or_home(word: &Word) -> bool {
    let path = normalize_text_path(word.display_text());
    let path = path.strip_suffix('*').unwrap_or(&path);
    let path = if path == "/" { path } else { path.trim_end_matches('/') };
    let of_home = path.strip_prefix("/home/").or_else(|| path.strip_prefix("/Users/"));
    matches!(
        path,
        "/" | "~" | "/home" | "/Users" | "/root" | "/usr" | "/etc" | "/var" | "/bin" | "/lib" | "/boot" | "/opt"
    ) || of_home.is_some_and(|rest| !rest.contains('/'))
}

fn refuse_removal(simple: &SimpleCommand, folder: &str) -> Option<String> {
    let given = parse_arguments(program_named("rm")?, simple.arguments());
    let all = given.has_role(Role::Recursive)
        && simple.arguments().iter().any(|word| is_system_or_home(&join_word(folder, word)));
    let is_refused = all || given.has_option(&["--no-preserve-root"]);
    is_refused.then(|| "deletion of the system or of your home folder".to_owned())
}

/// Returns why a push is refused: it replaces or deletes a branch that others build on.
fn refuse_push(arguments: &[Word]) -> Option<String> {
    let git = program_named("git")?;
    let outer = parse_arguments(git, arguments);
    let (_, rest) = outer.operands.split_first().filter(|(name, _)| name.display_text() == "push")?;
    let given = parse_arguments(git.subcommand("push")?, rest);
    let forces = given.has_option(&["--force", "--force-with-lease"]);
    let deletes = given.has_option(&["--delete"]);
    if given.has_option(&["--mirror"]) || (forces && given.has_option(&["--all", "--branches"])) {
        return Some("replacement of every branch of the remote repository".to_owned());
    }
    let names: Vec<&str> = given.operands.iter().map(Word::display_text).collect();
    names.iter().skip(1).find_map(|name| {
        let (from, to) = name.trim_start_matches('+').split_once(':').unwrap_or(("", name.trim_start_matches('+')));
        let replaces = forces || deletes || name.starts_with('+') || (from.is_empty() && name.contains(':'));
        let branch = to.strip_prefix("refs/heads/").or_else(|| to.strip_prefix("heads/")).unwrap_or(to);
        (replaces && PROTECTED.contains(&branch))
            .then(|| format!("replacement of the shared branch {branch} in the remote repository"))
    })
}

/// Returns why a line is refused that runs a download with an interpreter.
fn refuse_run_download(reading: &ParsedLine) -> Option<String> {
    let commands = &reading.commands;
    for (at, simple) in commands.iter().enumerate() {
        let Some(program) =
            simple.program().filter(|program| DOWNLOADS.contains(program)).or_else(|| network_device(simple))
        else {
            continue;
        };
        let piped = commands.iter().filter(|other| {
            let later = |(number, stage): &(usize, usize)| {
                other.pipes.iter().any(|(its, its_stage)| its == number && its_stage > stage)
            };
            simple.pipes.iter().any(later)
        });
        // Downloads substituted into the words of a command, or passed to it as a file.
        let holders = (0..simple.nesting.len())
            .filter(|depth| matches!(simple.nesting[*depth], Nesting::Substitution | Nesting::ProcessSubstitution));
        let holding = holders
            .filter_map(|depth| commands[at + 1..].iter().find(|other| other.nesting == simple.nesting[..depth]));
        let runner = piped.filter(|other| runs_stdin(other)).chain(holding.filter(|other| runs_unknown(other))).next();
        if let Some(runner) = runner.map(|runner| runner.program().unwrap_or("the shell")) {
            return Some(format!("download by {program} run unseen by {runner}"));
        }
    }
    None
}

/// Returns `/dev/tcp` if a redirection reads from it: bash opens a connection.
fn network_device(simple: &SimpleCommand) -> Option<&'static str> {
    let reads =
        |redirect: &Redirect| matches!(redirect, Redirect::Read(word) if word.display_text().starts_with("/dev/tcp/"));
    simple.redirects.iter().any(reads).then_some("/dev/tcp")
}

/// Returns whether the command runs its input.
fn runs_stdin(simple: &SimpleCommand) -> bool {
    let Some(program) = simple.program().filter(|program| is_interpreter(program)) else { return false };
    let known = |text: &str| simple.arguments().iter().any(|word| word.known_text() == Some(text));
    match (&simple.inline_code, &simple.script) {
        (Some(word), _) => is_shell(program) && word.known_text().is_none(),
        (None, Some(word)) => {
            matches!(word.known_text(), Some("-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"))
                || (is_shell(program) && ask_reasons::has_stdin_option(simple))
        }
        // A shell with any other option than these runs its input.
        (None, None) if is_shell(program) => !ask_reasons::asks_version_or_help(simple),
        (None, None) => !known("-m") && !known("--version") && !known("-V") && !known("--help"),
    }
}

/// Returns whether the command runs code that is unknown before it runs.
fn runs_unknown(simple: &SimpleCommand) -> bool {
    let is = |word: &Option<Word>| matches!(word, Some(Word::Unknown(_)));
    let given = simple
        .redirects
        .iter()
        .any(|redirect| matches!(redirect, Redirect::Text(Word::Unknown(_)) | Redirect::Read(Word::Unknown(_))));
    let unknown_program = matches!(simple.words.first(), Some(Word::Unknown(_)));
    unknown_program
        || (simple.program().is_some_and(is_interpreter)
            && (is(&simple.inline_code) || is(&simple.script) || (given && runs_stdin(simple))))
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
