//! What a program writes over that is there: `cp a b` where there is a b.

use super::{Ground, There, flag, operands, told};
use crate::policy::shell::base;

/// Options of `cp` and its like that take a word behind them.
const TAKING: &[&str] =
    &["-t", "--target-directory", "-S", "--suffix", "-m", "--mode", "-o", "--owner", "-g", "--group"];

/// What is lost by a program with its words.
pub(super) fn by(words: &[&str], ground: &Ground<'_>) -> Option<String> {
    let (program, rest) = words.split_first()?;
    let has = |wanted: &str| rest.iter().any(|word| word.split('=').next() == Some(wanted));
    let program = base(program);
    let lost: Vec<String> = match program {
        "cp" | "mv" | "install" | "ln" => copied(program, rest, ground),
        "tee" if !flag(rest, "--append", 'a') => held(operands(rest, &[]), ground),
        "sponge" if !flag(rest, "--append", 'a') => held(operands(rest, &[]), ground),
        "curl" => held(behind(rest, "-o", "--output"), ground),
        "wget" => held(behind(rest, "-O", "--output-document"), ground),
        "sort" => held(behind(rest, "-o", "--output"), ground),
        "unzip" if flag(rest, "--overwrite", 'o') => {
            return Some("writes over what it finds in its way (unzip -o)".to_owned());
        }
        "rsync"
            if rest.iter().any(|word| *word == "--del" || word.starts_with("--delete"))
                || has("--remove-source-files") =>
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

/// What stands behind an option: `-o x`, `-ox`, `--output x`, `--output=x`.
fn behind<'a>(words: &[&'a str], short: &str, long: &str) -> Vec<&'a str> {
    let mut found = Vec::new();
    for (at, word) in words.iter().enumerate() {
        let cluster = word.starts_with('-') && !word.starts_with("--") && word.ends_with(&short[1..]);
        if cluster || *word == long {
            found.extend(words.get(at + 1));
        } else if let Some(value) = word.strip_prefix(long).and_then(|value| value.strip_prefix('=')) {
            found.push(value);
        } else if let Some(value) = word.strip_prefix(short) {
            found.push(value);
        }
    }
    found
}

/// What `cp` and its like put something in the place of.
fn copied(program: &str, rest: &[&str], ground: &Ground<'_>) -> Vec<String> {
    let has = |wanted: &[&str]| rest.iter().any(|word| wanted.contains(word));
    // These leave what is there, or keep a copy of it.
    let keeps = has(&["-n", "--no-clobber", "--update=none", "-b", "--backup", "--version", "--help"])
        || rest.iter().any(|word| word.starts_with("--backup="))
        || (program == "install" && flag(rest, "--directory", 'd'))
        || (program == "ln" && !flag(rest, "--force", 'f'))
        || (program != "install" && program != "ln" && flag(rest, "--no-clobber", 'n'));
    if keeps {
        return Vec::new();
    }
    let mut sources = operands(rest, TAKING);
    let into = behind(rest, "-t", "--target-directory").first().copied();
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
