//! What a program writes over that is there: `cp a b` where there is a b.

use super::options::long;
use super::{Ground, There, behind, flag, flags, operands, told};
use crate::policy::shell::base;

/// Options of `cp`, `mv` and `ln` that take a word.
const TAKING: &[&str] = &["-t", "--target-directory", "-S", "--suffix"];
/// The same of `install`.
const OF_INSTALL: &[&str] =
    &["-t", "--target-directory", "-S", "--suffix", "-m", "--mode", "-o", "--owner", "-g", "--group"];
/// Of programs that bring or sort something, those that may stand before where it is written.
#[rustfmt::skip]
const OF_CURL: &[&str] = &[
    "-o", "--output", "-A", "-b", "-c", "-C", "-d", "-D", "-e", "-E", "-F", "-h", "-H", "-K", "-m", "-P", "-Q", "-r",
    "-t", "-T", "-u", "-U", "-w", "-x", "-X", "-y", "-Y", "-z",
];
#[rustfmt::skip]
const OF_WGET: &[&str] = &[
    "-O", "--output-document", "-a", "-A", "-B", "-D", "-e", "-i", "-I", "-l", "-o", "-P", "-Q", "-R", "-t", "-T", "-U",
    "-w", "-X",
];
const OF_SORT: &[&str] = &["-o", "--output", "-k", "-S", "-t", "-T"];

/// What is lost by a program with its words.
pub(super) fn by(words: &[&str], ground: &Ground<'_>) -> Option<String> {
    let (program, rest) = words.split_first()?;
    let program = base(program);
    let lost: Vec<String> = match program {
        "cp" | "mv" | "install" | "ln" => copied(program, rest, ground),
        "tee" if !flag(rest, "--append", 'a') => held(operands(rest, &[]), ground),
        "sponge" if !flag(rest, "--append", 'a') => held(operands(rest, &[]), ground),
        "curl" => held(behind(rest, OF_CURL, 'o', "--output"), ground),
        "wget" => held(behind(rest, OF_WGET, 'O', "--output-document"), ground),
        "sort" => held(behind(rest, OF_SORT, 'o', "--output"), ground),
        "unzip" if flag(rest, "--overwrite", 'o') => {
            return Some("writes over what it finds in its way (unzip -o)".to_owned());
        }
        "rsync"
            if rest.iter().any(|word| *word == "--del" || word.starts_with("--delete"))
                || long(rest, &["--remove-source-files"]) =>
        {
            return Some("deletes what is on one side only (rsync --delete)".to_owned());
        }
        _ => return None,
    };
    let names: Vec<&str> = lost.iter().map(String::as_str).collect();
    (!names.is_empty()).then(|| format!("writes over {} ({program})", told(&names)))
}

fn held(names: Vec<&str>, ground: &Ground<'_>) -> Vec<String> {
    names.into_iter().filter(|name| ground.holds(name)).map(str::to_owned).collect()
}

/// What `cp` and its like put something in the place of.
fn copied(program: &str, rest: &[&str], ground: &Ground<'_>) -> Vec<String> {
    let taking = if program == "install" { OF_INSTALL } else { TAKING };
    let flag = |long: &str, short: char| flags(rest, taking, long, short);
    // What is asked for first may be taken back by what follows.
    let goes_on = flag("--force", 'f') || flag("--interactive", 'i');
    let kinds = ["--backup=none", "--backup=off"];
    let backs_up = flag("--backup", 'b') && !rest.iter().any(|word| kinds.contains(word));
    // These leave what is there, or keep a copy of it.
    let keeps = backs_up
        || rest.contains(&"--update=none")
        || long(rest, &["--version", "--help"])
        || match program {
            "install" => flag("--directory", 'd'),
            "ln" => !flag("--force", 'f'),
            _ => flag("--no-clobber", 'n') && !goes_on,
        };
    if keeps {
        return Vec::new();
    }
    let mut sources = operands(rest, taking);
    let into = behind(rest, taking, 't', "--target-directory").first().copied();
    let Some(target) = into.or_else(|| if sources.len() > 1 { sources.pop() } else { None }) else {
        return Vec::new();
    };
    match ground.there(target) {
        There::Nothing | There::Unknown => Vec::new(),
        There::File => vec![target.to_owned()],
        There::Folder => {
            let inside = |source: &&str| {
                let name = source.trim_end_matches('/').rsplit('/').next().unwrap_or_default();
                format!("{}/{name}", target.trim_end_matches('/'))
            };
            let lost = |name: &String| match ground.there(name) {
                There::File => true,
                // A folder that is copied onto one of its name goes into it.
                There::Folder => program == "cp",
                There::Nothing | There::Unknown => false,
            };
            sources.iter().map(inside).filter(lost).collect()
        }
    }
}
