//! What is refused in every mode and whatever was allowed: what takes the decision out of the person's hands, and what
//! cannot be taken back by anyone. It looks at what could be made out even of a line that is not followed.

use super::{Folders, below, danger, place};
use crate::policy::grammar::{Role, program_named, read};
use crate::policy::shell::{Place, Reading, Redirect, Simple, Within, Word, base, is_interpreter, is_shell};

/// They give a command more rights than the person's own.
#[rustfmt::skip]
const PRIVILEGE: &[&str] = &[
    "sudo", "sudoedit", "sudo-rs", "su", "doas", "pkexec", "run0", "runuser", "gksudo", "gksu", "kdesudo", "kdesu",
    "dzdo", "pfexec",
];

/// They bring something from elsewhere.
#[rustfmt::skip]
const DOWNLOADS: &[&str] = &[
    "curl", "wget", "wget2", "fetch", "aria2c", "http", "https", "xh", "lynx", "w3m", "links", "elinks", "nc", "ncat",
    "netcat", "socat", "telnet", "lwp-request", "GET", "ftp", "tnftp", "axel",
];

/// They change the files they are given.
#[rustfmt::skip]
pub(super) const CHANGERS: &[&str] = &[
    "rm", "rmdir", "unlink", "mv", "cp", "ln", "tee", "touch", "mkdir", "install", "truncate", "dd", "sed", "perl",
    "chmod", "chown", "rsync", "shred", "sponge", "ed", "ex", "vi", "vim", "nano", "patch", "tar", "unzip", "wipefs",
    "fdisk", "parted", "sgdisk", "blkdiscard", "mkswap", "find",
];

/// Branches that others build on.
const PROTECTED: &[&str] = &["main", "master"];

/// Why the line is refused, in words that follow “because”.
pub(super) fn refused(reading: &Reading) -> Option<String> {
    let mut folders = Folders::default();
    let of_one = reading.commands.iter().find_map(|simple| {
        let at = folders.at(simple);
        let refused = at.iter().find_map(|folder| one(simple, folder));
        folders.after(simple);
        refused
    });
    of_one.or_else(|| downloaded(reading)).or_else(|| {
        // What could not be parsed may be run all the same, line by line.
        let lost = reading.unclear.is_some();
        let name = reading
            .named
            .iter()
            .find(|named| lost && named.place == Place::First && PRIVILEGE.contains(&base(&named.text)))?;
        Some(privilege(base(&name.text)))
    })
}

fn privilege(name: &str) -> String {
    format!("{name} gives a command more rights than yours")
}

/// Why one part is refused, where relative names begin in this folder.
fn one(simple: &Simple, folder: &str) -> Option<String> {
    for redirect in &simple.redirects {
        if let Redirect::Write(word) | Redirect::Append(word) = redirect
            && let Some(why) = written(&seen_from(folder, word))
        {
            return Some(why);
        }
    }
    let program = simple.program()?;
    if PRIVILEGE.contains(&program) {
        return Some(privilege(program));
    }
    let mode = |word: &Word| word.known().is_some_and(|text| text == "--mode" || text.starts_with("--mode="));
    if program == "aye" && simple.arguments().iter().any(mode) {
        return Some("how much runs without asking is set by you alone".to_owned());
    }
    if program == "aye"
        && simple.arguments().iter().any(|word| matches!(word.known(), Some("trust" | "untrust")))
    {
        return Some("what is trusted is said by you alone".to_owned());
    }
    if CHANGERS.contains(&program) || program.starts_with("mkfs") {
        let only_reads =
            program == "find" && !simple.arguments().iter().any(|word| word.known() == Some("-delete"));
        for word in simple.arguments().iter().filter(|_| !only_reads) {
            let word = match word.known().and_then(|text| text.strip_prefix("of=")) {
                Some(target) => Word::Known(target.to_owned()),
                // What is read there is no matter.
                None if program == "dd" => continue,
                None => word.clone(),
            };
            if let Some(why) = written(&seen_from(folder, &word)) {
                return Some(why);
            }
        }
    }
    match program {
        "rm" => removes(simple, folder),
        "find" if simple.arguments().iter().any(|word| word.known() == Some("-delete")) => {
            let everything = simple
                .arguments()
                .iter()
                .skip_while(|word| place::is_before_places(word.shown()))
                .take_while(|word| !word.shown().starts_with('-'))
                .any(|word| everything(&seen_from(folder, word)));
            everything.then(|| "it deletes all of the system or of your home".to_owned())
        }
        "git" => pushes(simple.arguments()),
        _ => None,
    }
}

/// A name as it is seen from `folder`.
fn seen_from(folder: &str, word: &Word) -> Word {
    match word {
        Word::Known(text) => Word::Known(below(folder, text)),
        Word::Pattern(text) => Word::Pattern(below(folder, text)),
        Word::Home(_) | Word::Unknown(_) => word.clone(),
    }
}

/// Why nothing may be written there.
fn written(word: &Word) -> Option<String> {
    let path = plain(word.shown());
    if path.starts_with("/dev/") && !matches!(word, Word::Unknown(_)) && is_device(&path) {
        return Some(format!("{} is a device", path.escape_debug()));
    }
    is_own(&path)
}

/// Why nothing may be written to this path, where it belongs to aye itself.
pub(in crate::policy) fn is_own(path: &str) -> Option<String> {
    let parts: Vec<String> = path.split('/').map(str::to_lowercase).collect();
    let own = parts.iter().any(|part| part == ".aye")
        || parts.windows(2).any(|pair| {
            pair[1] == "aye"
                && matches!(pair[0].as_str(), ".config" | "share" | "state" | "application support")
        });
    own.then(|| format!("{} belongs to aye's own settings and sessions", path.escape_debug()))
}

fn is_device(path: &str) -> bool {
    let name = &path["/dev/".len()..];
    let harmless = ["null", "stdout", "stderr", "stdin", "tty", "zero", "full"].contains(&name)
        || ["fd/", "shm/", "pts/", "tcp/", "udp/", "mqueue/"].iter().any(|folder| name.starts_with(folder));
    !harmless
}

/// A path without `.`, `//` and what `..` takes back, and without quotes.
fn plain(path: &str) -> String {
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

/// Whether this is all of the system, or all of a home.
fn everything(word: &Word) -> bool {
    let path = plain(word.shown());
    let path = path.strip_suffix('*').unwrap_or(&path);
    let path = if path == "/" { path } else { path.trim_end_matches('/') };
    let of_home = path.strip_prefix("/home/").or_else(|| path.strip_prefix("/Users/"));
    matches!(
        path,
        "/" | "~"
            | "/home"
            | "/Users"
            | "/root"
            | "/usr"
            | "/etc"
            | "/var"
            | "/bin"
            | "/lib"
            | "/boot"
            | "/opt"
    ) || of_home.is_some_and(|rest| !rest.contains('/'))
}

fn removes(simple: &Simple, folder: &str) -> Option<String> {
    let given = read(program_named("rm")?, simple.arguments());
    let all = given.has_role(Role::Recursive)
        && simple.arguments().iter().any(|word| everything(&seen_from(folder, word)));
    let is_refused = all || given.has(&["--no-preserve-root"]);
    is_refused.then(|| "it deletes all of the system or of your home".to_owned())
}

/// A push that replaces or deletes a branch that others build on.
fn pushes(arguments: &[Word]) -> Option<String> {
    let git = program_named("git")?;
    let outer = read(git, arguments);
    let (_, rest) = outer.operands.split_first().filter(|(name, _)| name.shown() == "push")?;
    let given = read(git.subcommand("push")?, rest);
    let forces = given.has(&["--force", "--force-with-lease"]);
    let deletes = given.has(&["--delete"]);
    if given.has(&["--mirror"]) || (forces && given.has(&["--all", "--branches"])) {
        return Some("it replaces every branch of the repository elsewhere".to_owned());
    }
    let names: Vec<&str> = given.operands.iter().map(Word::shown).collect();
    names.iter().skip(1).find_map(|name| {
        let (from, to) =
            name.trim_start_matches('+').split_once(':').unwrap_or(("", name.trim_start_matches('+')));
        let replaces = forces || deletes || name.starts_with('+') || (from.is_empty() && name.contains(':'));
        let branch = to.strip_prefix("refs/heads/").or_else(|| to.strip_prefix("heads/")).unwrap_or(to);
        (replaces && PROTECTED.contains(&branch))
            .then(|| format!("it replaces {branch}, which others build on, in the repository elsewhere"))
    })
}

/// A download that an interpreter runs.
fn downloaded(reading: &Reading) -> Option<String> {
    let commands = &reading.commands;
    for (at, simple) in commands.iter().enumerate() {
        let Some(program) =
            simple.program().filter(|program| DOWNLOADS.contains(program)).or_else(|| from_net(simple))
        else {
            continue;
        };
        let piped = commands.iter().filter(|other| {
            let later = |(number, stage): &(usize, usize)| {
                other.pipes.iter().any(|(its, its_stage)| its == number && its_stage > stage)
            };
            simple.pipes.iter().any(later)
        });
        // What is substituted into the words of a command, or handed to it as a file.
        let holders = (0..simple.within.len())
            .filter(|depth| matches!(simple.within[*depth], Within::Substitution | Within::Process));
        let holding = holders.filter_map(|depth| {
            commands[at + 1..].iter().find(|other| other.within == simple.within[..depth])
        });
        let runner =
            piped.filter(|other| runs_stdin(other)).chain(holding.filter(|other| runs_unknown(other))).next();
        if let Some(runner) = runner.map(|runner| runner.program().unwrap_or("the shell")) {
            return Some(format!("what {program} brings would be run by {runner} unseen"));
        }
    }
    None
}

/// Bash connects where it reads from `/dev/tcp`.
fn from_net(simple: &Simple) -> Option<&'static str> {
    let reads = |redirect: &Redirect| matches!(redirect, Redirect::Read(word) if word.shown().starts_with("/dev/tcp/"));
    simple.redirects.iter().any(reads).then_some("/dev/tcp")
}

/// Whether it runs what comes in.
fn runs_stdin(simple: &Simple) -> bool {
    let Some(program) = simple.program().filter(|program| is_interpreter(program)) else { return false };
    let known = |text: &str| simple.arguments().iter().any(|word| word.known() == Some(text));
    match (&simple.inline, &simple.script) {
        (Some(word), _) => is_shell(program) && word.known().is_none(),
        (None, Some(word)) => {
            matches!(word.known(), Some("-" | "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0"))
                || (is_shell(program) && danger::takes_input(simple))
        }
        // A shell asked for more than what it is runs what comes in all the same.
        (None, None) if is_shell(program) => !danger::asks_about_itself(simple),
        (None, None) => !known("-m") && !known("--version") && !known("-V") && !known("--help"),
    }
}

/// Whether it runs what nobody can know before.
fn runs_unknown(simple: &Simple) -> bool {
    let is = |word: &Option<Word>| matches!(word, Some(Word::Unknown(_)));
    let given = simple.redirects.iter().any(|redirect| {
        matches!(redirect, Redirect::Text(Word::Unknown(_)) | Redirect::Read(Word::Unknown(_)))
    });
    let unknown_program = matches!(simple.words.first(), Some(Word::Unknown(_)));
    unknown_program
        || (simple.program().is_some_and(is_interpreter)
            && (is(&simple.inline) || is(&simple.script) || (given && runs_stdin(simple))))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::shell;

    #[test]
    fn what_cannot_be_taken_back_is_refused_however_its_options_are_written() {
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
            assert_eq!(refused(&shell::read(line)).is_some(), is_refused, "{line}");
        }
    }
}
