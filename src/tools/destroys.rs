//! Finds what a command plainly destroys: files that it deletes or overwrites, and uncommitted work. It knows common
//! programs by name; a command without findings is not necessarily safe.

mod git;
mod over;
#[cfg(test)]
mod tests;

use crate::chat::shorten::listed;
use crate::policy::grammar::{self, Given, Program, program_named};
use crate::policy::reach::{below, places};
use crate::policy::runs_what_it_is_given;
use crate::policy::shell::{self, Place, Reading, Redirect, Simple, Word, base};
use crate::project::{Kind, Reader};
use std::cell::Cell;

/// Programs that only print their arguments, or whose `rm` is a subcommand.
const TELL: &[&str] =
    &["echo", "printf", "grep", "egrep", "fgrep", "rg", "git", "npm", "man", "which", "type", "apt"];
/// Nesting depth of command lines in arguments: `ssh a "ssh b 'rm -r x'"`.
const DEPTH: usize = 3;
/// Paths looked up per command line. Any further path counts as an existing file.
const LOOKS: usize = 2_000;
/// Names listed per command and losses listed per command line; the rest are counted.
const TOLD: usize = 3;
/// Characters shown of a name.
const NAME: usize = 60;

/// Describes what the command destroys, for the approval prompt. `files` is used to check whether a target exists.
pub fn by(command: &str, files: &dyn Reader) -> Option<String> {
    let mut lost = Vec::new();
    let looks = Looks { files, left: Cell::new(LOOKS) };
    of(&shell::read(command), Some(&looks), DEPTH, &mut lost);
    match lost.len() {
        0 => None,
        all if all <= TOLD => Some(lost.join("; ")),
        all => Some(format!("{}; and {} more", lost[..TOLD].join("; "), all - TOLD)),
    }
}

/// The files, and the number of lookups left.
struct Looks<'a> {
    files: &'a dyn Reader,
    left: Cell<usize>,
}

/// Files and directories that one command can reach.
struct Ground<'a> {
    /// `None` if the command runs on another machine.
    files: Option<&'a Looks<'a>>,
    /// Directories that relative names may start from.
    folders: &'a [String],
}

/// The kind of file at a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum There {
    Nothing,
    /// A file that is not empty.
    File,
    Folder,
    /// It cannot be looked up.
    Unknown,
}

impl Ground<'_> {
    fn there(&self, name: &str) -> There {
        let Some(looks) = self.files else { return There::Unknown };
        let look = |folder: &String| {
            let Some(left) = looks.left.get().checked_sub(1) else { return Some(There::File) };
            looks.left.set(left);
            let at = looks.files.locate(&below(folder, name)).ok()?;
            match looks.files.kind(&at)? {
                Kind::File(0) | Kind::Other => None,
                Kind::File(_) => Some(There::File),
                Kind::Folder => Some(There::Folder),
            }
        };
        self.folders.iter().find_map(look).unwrap_or(There::Nothing)
    }

    /// Returns whether a file that is not empty is known to exist at `name`.
    fn holds(&self, name: &str) -> bool {
        self.there(name) == There::File
    }
}

fn of(reading: &Reading, files: Option<&Looks<'_>>, deep: usize, lost: &mut Vec<String>) {
    let mut made_out = false;
    for (simple, folders) in reading.commands.iter().zip(places(reading)) {
        let ground = Ground { files, folders: &folders };
        redirected(simple, &ground, lost);
        let by_words = one(simple, &ground, deep);
        made_out |= !by_words.is_empty();
        by_words.into_iter().for_each(|loss| add(lost, loss));
    }
    // If the command line could not be parsed to its end, only its words are known.
    let named = reading.named.iter().filter(|_| reading.unclear.is_some());
    let mut parts: Vec<Vec<&str>> = vec![Vec::new()];
    for word in named {
        if word.place == Place::First {
            parts.push(Vec::new());
        }
        let pieces = word.text.split(|letter: char| letter.is_whitespace() || ";|&(){}`".contains(letter));
        if let Some(part) = parts.last_mut() {
            part.extend(pieces.filter(|piece| !piece.is_empty()));
        }
    }
    let ground = Ground { files: None, folders: &[] };
    // Skipped if a loss was found: this would describe it again.
    if let Some(loss) = parts.iter().filter(|_| !made_out).find_map(|words| part(words, true, &ground)) {
        add(lost, loss);
    }
}

fn add(lost: &mut Vec<String>, loss: String) {
    if !lost.contains(&loss) {
        lost.push(loss);
    }
}

/// Adds the files that output redirections overwrite.
fn redirected(simple: &Simple, ground: &Ground<'_>, lost: &mut Vec<String>) {
    for redirect in &simple.redirects {
        let (name, whole) = match redirect {
            Redirect::Write(word) => (word, true),
            Redirect::Append(word) => (word, false),
            Redirect::Read(_) | Redirect::Onto | Redirect::Text(_) => continue,
        };
        // The file that a pattern or a variable names is unknown before the command runs.
        let plain = matches!(name, Word::Known(_) | Word::Home(_));
        if device(name.shown()) {
            add(lost, format!("overwrites a device ({})", told(&[name.shown()])));
        } else if whole && plain && ground.holds(name.shown()) {
            add(lost, format!("overwrites {}", told(&[name.shown()])));
        }
    }
}

/// Returns what one command destroys, judged by its arguments.
fn one(simple: &Simple, ground: &Ground<'_>, deep: usize) -> Vec<String> {
    let words: Vec<&str> = simple.words.iter().map(Word::shown).collect();
    let program = simple.program().unwrap_or_default();
    // The commands that `find` executes were parsed already.
    let anywhere = !TELL.contains(&program) && program != "find";
    let found = over::by(&words, ground).or_else(|| part(&words, anywhere, ground));
    let mut lost: Vec<String> = found.into_iter().collect();
    // Its arguments may hold a command line: `ssh host 'rm -r x'`. Those of a shell were parsed already.
    if runs_what_it_is_given(program) && deep > 0 && lost.is_empty() {
        let here = ground.files.filter(|_| !matches!(program, "ssh" | "mosh"));
        for line in words.iter().filter(|word| word.contains(char::is_whitespace)) {
            of(&shell::read(line), here, deep - 1, &mut lost);
        }
    }
    lost
}

/// Returns what these words destroy. `anywhere` is true if a program name may follow the first word.
fn part(words: &[&str], anywhere: bool, ground: &Ground<'_>) -> Option<String> {
    let starts = words.iter().enumerate().take(if anywhere { words.len() } else { 1 });
    starts.into_iter().find_map(|(at, word)| {
        let rest = &words[at + 1..];
        let before = at.checked_sub(1).map(|at| words[at]);
        // Without a program that runs it, the name is an ordinary word.
        let runs = at == 0 || runs_what_it_is_given(base(words[0])) || words[..at].contains(&"exec");
        let name = base(word);
        let deletes = matches!(name, "rm" | "unlink" | "rmdir" | "shred" | "truncate");
        let grammar = program_named(name).filter(|_| deletes);
        let given = grammar.map(|program| given(program, rest)).unwrap_or_default();
        let has = |option: &str| given.has(&[option]);
        let operands = || given.operands.iter().map(Word::shown).collect::<Vec<&str>>();
        match name {
            "rm" if matches!(before, Some("docker" | "podman")) => None,
            "rm" if has("--recursive") => {
                let folders = operands();
                let them = if folders.len() > 1 { "them" } else { "it" };
                Some(format!("deletes {} and everything in {them} (rm -r)", told(&folders)))
            }
            "rm" if has("--force") => Some(format!("deletes {} without asking (rm -f)", told(&operands()))),
            "rm" | "unlink" if runs && !asks_about_itself(rest) => {
                Some(format!("deletes {}", told(&operands())))
            }
            "rmdir" if runs && !asks_about_itself(rest) => {
                Some(format!("deletes {} if empty (rmdir)", told(&operands())))
            }
            "find" if rest.contains(&"-delete") => {
                Some("deletes the files it finds (find -delete)".to_owned())
            }
            "git" => git::by(rest, ground),
            "dd" => {
                let to = rest.iter().find_map(|word| word.strip_prefix("of="))?;
                let kept = !to.starts_with("/dev/") && ground.there(to) == There::Nothing;
                (!kept && to != "/dev/null").then(|| format!("overwrites {} (dd of=)", told(&[to])))
            }
            "shred" => Some(format!("overwrites {} permanently (shred)", told(&operands()))),
            "truncate" => {
                let names = operands();
                let lost: Vec<&str> =
                    names.into_iter().filter(|name| ground.there(name) != There::Nothing).collect();
                (!lost.is_empty()).then(|| format!("truncates {} (truncate)", told(&lost)))
            }
            name if name == "mkfs" || name.starts_with("mkfs.") => Some("erases a disk (mkfs)".to_owned()),
            _ => None,
        }
    })
}

/// Parses the arguments of a program by its grammar; uncertain words are skipped.
fn given(program: &'static Program, words: &[&str]) -> Given {
    let words: Vec<Word> = words.iter().map(|word| Word::Known((*word).to_owned())).collect();
    grammar::read(program, &words)
}

fn asks_about_itself(words: &[&str]) -> bool {
    matches!(words, ["--help" | "--version"])
}

/// Formats names for the prompt: the first few, shortened and escaped.
fn told(names: &[&str]) -> String {
    let name = |name: &&str| {
        let cut: String = name.chars().take(NAME).collect();
        let more = if cut.len() < name.len() { "…" } else { "" };
        format!("{}{more}", cut.escape_debug())
    };
    let names: Vec<String> = names.iter().map(name).collect();
    if names.is_empty() { "the files it is given".to_owned() } else { listed(&names, TOLD) }
}

/// Returns whether the path is a device that stores what is written to it. Files in a folder of shared memory are
/// ordinary files.
fn device(target: &str) -> bool {
    let harmless = ["null", "stdout", "stderr", "tty", "zero", "full", "random", "urandom"];
    let folders = ["fd/", "pts/", "shm/", "mqueue/", "tcp/", "udp/"];
    let name = target.strip_prefix("/dev/");
    name.is_some_and(|name| {
        !harmless.contains(&name) && !folders.iter().any(|folder| name.starts_with(folder))
    })
}
