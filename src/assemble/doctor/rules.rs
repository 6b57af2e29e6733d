//! Who says what goes ahead: the rules, the hooks and the second reader.

use super::finding::Finding;
use crate::assemble::{Mistake, folder, rules};
use crate::cli::Cli;
use crate::config::rules::{Loaded, OF_PROJECT, Own, text};
use crate::config::{self, Credentials, Hook, Overrides, Settings};
use crate::policy::{Holds, Rule, Says};
use crate::store::Places;
use crate::tools::Toolbox;
use anyhow::Result;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// The rules that hold in the folder, and those that do not.
pub(super) fn rules(named: Option<&Path>, places: &Places) -> Vec<Finding> {
    let area = "rules";
    // Where the folder is none, that is said of the project.
    let Ok(folder) = folder(named) else { return Vec::new() };
    let tools = Toolbox::builtin(crate::tools::toolbox::Settings::default());
    let book = rules::book(places, &folder, &tools);
    let today = rules::today();
    let loaded = book.load(&today);
    let mut found = Vec::new();
    let of_person = |rule: &&Rule| rule.holds != Holds::Trusted;
    let file = book.file.display();
    found.push(match text(&book.file) {
        Ok(None) => {
            Finding::well(area, format!("{file}, which does not exist: only the mode says what goes ahead"))
        }
        Ok(Some(_)) => {
            let counted = counted(loaded.rules.list.iter().filter(of_person));
            Finding::well(area, format!("{file}: {counted}"))
        }
        // Why is among the problems.
        Err(_) => Finding::note(area, format!("{file} holds nothing that can be read"), "see below"),
    });
    found.extend(own(&loaded));
    let broken = loaded.rules.broken.is_some();
    found.extend(loaded.problems.iter().map(|problem| {
        let all = if broken { "correct that line; until then everything asks" } else { "correct that line" };
        Finding::wrong(area, problem.to_string(), all)
    }));
    found.extend(loaded.expired.iter().map(|rule| {
        let words = format!("off since its time is over: {}", rule.told());
        Finding::note(area, words, "take it out of the file, or write a later day behind expires")
    }));
    found.extend(trusted(&book.trusted));
    found
}

fn counted<'a>(rules: impl Iterator<Item = &'a Rule>) -> String {
    let rules: Vec<&Rule> = rules.collect();
    let kinds = [Says::Allow, Says::Ask, Says::Deny];
    let said: Vec<String> = kinds
        .iter()
        .map(|says| (rules.iter().filter(|rule| rule.says == *says).count(), says.word()))
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    match rules.len() {
        0 => "no rule of it holds here".to_owned(),
        1 => format!("1 rule holds here ({})", said.join(", ")),
        many => format!("{many} rules hold here ({})", said.join(", ")),
    }
}

/// The project's own.
fn own(loaded: &Loaded) -> Option<Finding> {
    let area = "rules";
    match &loaded.own {
        Own::None => None,
        Own::Trusted => {
            let mine = loaded.rules.list.iter().filter(|rule| rule.holds == Holds::Trusted);
            Some(Finding::well(
                area,
                format!("{OF_PROJECT} of this project, which you trust: {}", counted(mine)),
            ))
        }
        Own::Untrusted { sheet, changed, .. } => {
            let what = if *changed { "has changed since you trusted it" } else { "is not trusted" };
            let words =
                format!("{OF_PROJECT} of this project ({}) {what}: nothing in it holds", sheet.counted());
            Some(Finding::note(
                area,
                words,
                "aye rules trust shows it and asks you; without that it says nothing",
            ))
        }
    }
}

/// Whether what was trusted can be read: where it cannot, nothing is.
fn trusted(file: &Path) -> Option<Finding> {
    let why = match text(file) {
        Ok(None) => return None,
        Ok(Some(text)) => {
            text.parse::<toml_edit::DocumentMut>().err().map(|_| "this is not TOML".to_owned())?
        }
        Err(why) => why,
    };
    let words = format!("{}: {why}; no project's own rules hold", file.display());
    Some(Finding::wrong("rules", words, "mend it, or move it away and trust the projects again"))
}

/// Who else is asked about calls.
pub(super) fn advisers(
    cli: &Cli,
    settings: &Settings,
    credentials: &Credentials,
    flags: &Overrides,
) -> Vec<Finding> {
    let hooks = &settings.config.hooks;
    let mut found: Vec<Finding> = hooks.iter().map(|(name, hook)| self::hook(name, hook)).collect();
    if hooks.is_empty() {
        found.push(Finding::well("hooks", "off: no program is asked about calls"));
    }
    let set = &settings.config.second_reader;
    let area = "second";
    found.push(match &set.profile {
        None => Finding::well(area, "the second reader is off: no model is asked about calls"),
        Some(_) if cli.tour => Finding::well(area, "the second reader is not asked in the tour"),
        Some(profile) => match reader(settings, credentials, flags, profile, set.model.as_deref()) {
            Ok(words) => {
                Finding::well(area, format!("the second reader: {words}, for at most {} s", set.seconds))
            }
            Err(why) => {
                let words = format!("the second reader cannot be asked, so everything asks: {why:#}");
                Finding::wrong(area, words, "correct it under [second_reader], or leave that out")
            }
        },
    });
    found
}

/// A hook. Its arguments may hold secrets and are not told.
fn hook(name: &str, hook: &Hook) -> Finding {
    let area = "hooks";
    let Some(program) = hook.command.first().filter(|program| !program.is_empty()) else {
        let words = format!("{name} names no program, so whatever it is to be asked about asks you");
        return Finding::wrong(area, words, "give it a command, or take it out");
    };
    let arguments = match hook.command.len() - 1 {
        0 => String::new(),
        1 => " and an argument".to_owned(),
        many => format!(" and {many} arguments"),
    };
    let about = match &hook.tools {
        Some(tools) => format!("calls of {}", tools.join(", ")),
        None => "every call that does more than read inside the project".to_owned(),
    };
    let dry = if hook.dry_run { ", in a dry run too" } else { "" };
    match runs(program) {
        Ok(()) => {
            let words = format!(
                "{name} ({program}{arguments}) is asked about {about}, for at most {} s{dry}",
                hook.seconds
            );
            Finding::well(area, words)
        }
        Err(why) => Finding::wrong(
            area,
            format!("{name} cannot be asked, so {about} asks you: {program} {why}"),
            "put the program there, or correct its command",
        ),
    }
}

/// Whether such a program can be started from the person's home folder.
fn runs(program: &str) -> Result<(), &'static str> {
    let home = std::env::var_os("HOME").map(PathBuf::from).unwrap_or_default();
    let places: Vec<PathBuf> = match (program.strip_prefix("~/"), program.contains('/')) {
        (Some(inside), _) => vec![home.join(inside)],
        (None, true) => vec![home.join(program)],
        (None, false) => {
            let path = std::env::var_os("PATH").unwrap_or_default();
            std::env::split_paths(&path).map(|folder| folder.join(program)).collect()
        }
    };
    let there: Vec<_> = places.iter().filter_map(|place| place.metadata().ok()).collect();
    match there.iter().any(|found| found.is_file() && found.permissions().mode() & 0o111 != 0) {
        true => Ok(()),
        false if there.is_empty() => Err("is not there"),
        false => Err("may not be run"),
    }
}

/// A model that is asked beside the talk.
pub(super) fn reader(
    settings: &Settings,
    credentials: &Credentials,
    flags: &Overrides,
    profile: &str,
    model: Option<&str>,
) -> Result<String> {
    if profile.is_empty() {
        return Err(Mistake("its settings are wrong".to_owned()).into());
    }
    let flags = Overrides {
        profile: Some(profile.to_owned()),
        base_url: None,
        model: model.map(str::to_owned),
        ..flags.clone()
    };
    let mut settings = settings.clone();
    settings.config.model.profile = Some(profile.to_owned());
    let environment = |name: &str| if name == "AYE_MODEL" { None } else { std::env::var(name).ok() };
    let found = config::connect(&settings, &environment, &flags, credentials);
    let connection = found.map_err(|problem| Mistake(problem.words))?;
    match connection {
        Some(connection) if connection.lacks_key => {
            Err(Mistake(format!("the profile {profile} has no key; {} is not set", connection.key_from))
                .into())
        }
        Some(connection) => Ok(connection.words()),
        None => Err(Mistake("no model is there".to_owned()).into()),
    }
}
