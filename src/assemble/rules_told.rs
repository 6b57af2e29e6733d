//! `aye rules`: lists and checks the rules of this folder, and explains the verdict of a command. No model is needed.

use super::sessions::find_continued;
use super::wiring::seen;
use super::{Mistake, folder, rules, trust_told, walls};
use crate::chat::{Intent, Session, SessionId, Standing, ToolCall};
use crate::cli::Cli;
use crate::config::rules::{Book, Loaded, Own};
use crate::config::{self, Overrides};
use crate::policy::{Holds, Policy, Rule, Step, Verdict, explain};
use crate::print::harmless;
use crate::project::Reader;
use crate::store::{Places, Sessions};
use crate::tools::Toolbox;
use crate::tui::text::clean::{clean, one_line};
use anyhow::Result;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// Runs the subcommand.
pub(super) fn run(cli: &Cli, words: &[&str]) -> Result<ExitCode> {
    let places = Places::find(std::env::var_os("AYE_HOME"))?;
    let folder = if cli.tour { places.tour() } else { folder(cli.folder.as_deref())? };
    let flags = Overrides { mode: cli.mode.as_deref().map(super::mode).transpose()?, ..Overrides::default() };
    let settings = config::Settings::load(&places.settings(), &|name| std::env::var(name).ok(), &flags);
    let tools = rules::tools(&settings.config);
    let book = rules::book(&places, &folder, &tools);
    let loaded = book.load(&rules::today());
    let as_live = settings.config.dry_run.ask == config::dry_run::Asks::AsLive;
    let session = session(cli, &places, &folder)?;
    let dry_run = cli.dry_run || session.as_ref().is_some_and(|session| session.dry_run);
    let policy = Policy { mode: settings.config.approval.mode, dry_run, as_live };
    if session.is_some() && !matches!(words, ["explain", _]) {
        let words = "--continue and --resume can only be used with: aye rules explain 'COMMAND'";
        return Err(Mistake(words.to_owned()).into());
    }
    let lines = match words {
        [] | ["list"] => list(&loaded, cli.json),
        ["check"] => return check(&loaded, cli.json),
        ["trust" | "untrust"] => return trust_told::run(cli, words),
        ["explain", command] => {
            let around =
                Around { places: &places, tools: &tools, policy: &policy, session: session.as_ref() };
            explained(&around, &loaded, &book, command, cli.json)?
        }
        ["explain", ..] => {
            let words = "aye rules explain takes one command, in quotes: aye rules explain 'cargo test'";
            return Err(Mistake(words.to_owned()).into());
        }
        [first, ..] => {
            let words = format!("aye rules {first} takes no arguments. To send this to the model, quote it");
            return Err(Mistake(words).into());
        }
    };
    written(&lines)
}

/// Prints the lines. Stops without an error if the pipe was closed.
pub(super) fn written(lines: &[String]) -> Result<ExitCode> {
    let mut out = io::stdout().lock();
    for line in lines {
        match writeln!(out, "{line}") {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(ExitCode::SUCCESS),
            written => written?,
        }
    }
    out.flush()?;
    Ok(ExitCode::SUCCESS)
}

/// Lists every rule that applies here, expired rules, and problems.
fn list(loaded: &Loaded, as_json: bool) -> Vec<String> {
    let expired = loaded.expired.iter().map(|rule| (rule, "expired"));
    let rows = loaded.rules.list.iter().map(|rule| (rule, "holds")).chain(expired);
    let untrusted: Vec<Rule> = match &loaded.own {
        Own::None | Own::Trusted => Vec::new(),
        Own::Untrusted { sheet, .. } => sheet.rules.clone(),
    };
    let rows: Vec<(&Rule, &str)> = rows.chain(untrusted.iter().map(|rule| (rule, "not trusted"))).collect();
    if as_json {
        let mut lines: Vec<String> = rows.iter().map(|(rule, state)| in_json(rule, state)).collect();
        lines
            .extend(loaded.notices().iter().map(|notice| harmless(&json!({ "notice": notice }).to_string())));
        return lines;
    }
    let row = |(rule, state): &(&Rule, &str)| {
        let state = if *state == "holds" { String::new() } else { format!("{state}: ") };
        clean(&one_line(&format!("{state}{} · {}", rule.told(), place(&rule.holds)))).into_owned()
    };
    let mut lines: Vec<String> = rows.iter().map(row).collect();
    if lines.is_empty() {
        lines.push("no rules: reading inside the project needs no approval, everything else asks".to_owned());
    }
    lines.extend(loaded.notices().iter().map(|notice| format!("warning: {}", clean(&one_line(notice)))));
    lines
}

fn place(holds: &Holds) -> &'static str {
    match holds {
        Holds::Everywhere => "everywhere",
        Holds::Project(_) => "in this project",
        Holds::Trusted => "in this project, by its own file",
    }
}

fn in_json(rule: &Rule, state: &str) -> String {
    let object = json!({
        "says": rule.says.word(), "what": rule.words(), "tool": rule.tool, "holds": place(&rule.holds), "state": state,
        "file": rule.at.file, "line": rule.at.line, "created": rule.created, "expires": rule.expires, "key": rule.key,
    });
    harmless(&object.to_string())
}

/// Lists problems; exit code 2 if there are any.
fn check(loaded: &Loaded, as_json: bool) -> Result<ExitCode> {
    let notices = loaded.notices();
    let lines: Vec<String> = match (as_json, notices.is_empty()) {
        (true, _) => {
            notices.iter().map(|notice| harmless(&json!({ "problem": notice }).to_string())).collect()
        }
        (false, true) => vec![match loaded.rules.list.len() {
            0 => "no rules, no problems".to_owned(),
            1 => "1 rule, no problems".to_owned(),
            rules => format!("{rules} rules, no problems"),
        }],
        (false, false) => notices.iter().map(|notice| clean(&one_line(notice)).into_owned()).collect(),
    };
    written(&lines)?;
    Ok(ExitCode::from(if loaded.problems.is_empty() { 0 } else { 2 }))
}

/// A session whose grants apply.
struct Stood {
    id: SessionId,
    granted: Vec<Standing>,
    dry_run: bool,
}

/// Reads the session that the command line names, if any.
fn session(cli: &Cli, places: &Places, folder: &Path) -> Result<Option<Stood>> {
    let sessions = Sessions::new(places.sessions());
    let id = match (cli.resume.as_deref(), cli.go_on) {
        (Some(""), _) => {
            let words =
                "aye rules explain needs a session ID after --resume, or --continue for the newest session";
            return Err(Mistake(words.to_owned()).into());
        }
        (Some(name), _) => sessions.find(name).map_err(Mistake::of)?,
        (None, true) => find_continued(&sessions, folder)?,
        (None, false) => return Ok(None),
    };
    let read = sessions.read(&id).map_err(Mistake::of)?;
    let dry_run = read.header.as_ref().is_some_and(|header| header.dry_run);
    let granted = Session::replay(read.entries).granted().to_vec();
    Ok(Some(Stood { id, granted, dry_run }))
}

/// Inputs of an explanation besides the rules.
struct Around<'a> {
    places: &'a Places,
    tools: &'a Toolbox,
    policy: &'a Policy,
    session: Option<&'a Stood>,
}

/// Explains the verdict of a command, step by step.
fn explained(
    around: &Around<'_>,
    loaded: &Loaded,
    book: &Book,
    command: &str,
    as_json: bool,
) -> Result<Vec<String>> {
    let project: Box<dyn Reader> = match around.session {
        Some(session) => seen(around.places, &book.folder, &session.id)?,
        None => Box::new(walls::disk(around.places, &book.folder)?),
    };
    let arguments = json!({ "command": command }).to_string();
    let call = ToolCall { id: "explained".into(), name: "bash_exec".to_owned(), arguments };
    let plan = match around.tools.plan(&call, &*project) {
        Ok(Intent::Act(plan)) => plan,
        Ok(Intent::Ask(_)) => return Err(Mistake("not a command".to_owned()).into()),
        Err(error) => return Err(Mistake::of(error).into()),
    };
    let granted = around.session.map(|session| session.granted.as_slice()).unwrap_or_default();
    let (mut steps, verdict) = explain(around.policy, granted, &loaded.rules, &call.name, &plan);
    if let Some(session) = around.session {
        let found = match session.granted.len() {
            0 => format!("{}, which has no grants", session.id),
            _ => session.id.to_string(),
        };
        steps.insert(0, Step { name: "the session", found: vec![found] });
    }
    if as_json {
        let step = |step: &Step| json!({ "step": step.name, "found": step.found });
        let mut lines: Vec<Value> = steps.iter().map(step).collect();
        lines.push(json!({ "verdict": verdict.word(), "why": verdict.why() }));
        return Ok(lines.iter().map(|line| harmless(&line.to_string())).collect());
    }
    let mut lines = Vec::new();
    for step in &steps {
        lines.push(step.name.to_owned());
        lines.extend(step.found.iter().map(|found| format!("   {}", clean(&one_line(found)))));
    }
    let word = match &verdict {
        Verdict::Allow(_) => "allow",
        Verdict::Ask(_) => "ask",
        Verdict::Rehearse(_) => "rehearse",
        Verdict::Withhold(_) => "withhold",
        Verdict::Refuse(_) => "refuse",
    };
    lines.push(word.to_owned());
    lines.push(format!("   {}", clean(&one_line(verdict.why()))));
    lines.extend(loaded.notices().iter().map(|notice| format!("warning: {}", clean(&one_line(notice)))));
    Ok(lines)
}
