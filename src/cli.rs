//! What can be typed after the program's name.

pub mod sessions;

use crate::chat::Becomes;
use clap::{ArgAction, Parser};
use std::path::PathBuf;

/// What may follow `rules`.
const RULES: &[&str] = &["list", "check", "explain", "trust", "untrust"];

/// What may follow `rehearsal`.
const REHEARSAL: &[&str] = &["show", "diff", "apply", "drop"];

/// The terminal copilot that asks first.
///
/// With nothing configured it opens the tour: a scripted model that plays a short session against real tools, so that
/// every card and key can be tried.
#[derive(Debug, Clone, Default, Parser)]
#[command(
    name = "aye",
    version,
    max_term_width = 100,
    after_help = "aye models [--json] lists the models of the service instead of talking to one.\naye audit [ID] [--json] \
        tells of every call of a session who allowed it, when, and what became of it.\naye rules [list|check|explain 'COMMAND'] \
        [--json] tells which rules hold here, what is wrong with them, and what comes of a command and why; explain with --continue or \
        --resume ID counts what was allowed in that session.\n\
        aye rehearsal [show|diff|apply|drop] [ID] [--json] tells what a dry run came to, does it for real on cards, or throws it \
        away.\n\
        aye trust shows what the project in this folder would change, an AGENTS.md and rules of its own, and lets you trust \
        it; aye trust list [--json] tells what is trusted, and aye untrust takes it back.\n\
        aye sessions [list|show|search|rename|rm|fork|export] looks after the sessions: lists them, shows one, finds \
        what was said, names, removes, copies, and writes one as markdown, HTML or JSON.\n\
        aye doctor [--json] looks at \
        settings, keys, the model, the terminal and the sandbox, and says what is wrong and what to do about it; with \
        --bundle it writes what a bug report needs to a file."
)]
pub struct Cli {
    /// Say this at once. With -p it is the prompt; a pipe on standard input is added to it
    #[arg(value_name = "PROMPT")]
    pub words: Vec<String>,

    /// Print the reply and leave, without a screen
    #[arg(short, long)]
    pub print: bool,

    /// With -p: one JSON entry per line instead of text; with models: one model per line; with audit: one call per line;
    /// with rules: one rule or step per line; with trust list: one file per line; with doctor: one finding per line; with
    /// sessions list and search: one per line; with rehearsal: one object
    #[arg(long)]
    pub json: bool,

    /// Go on with the last session of this folder
    #[arg(short = 'c', long = "continue", conflicts_with = "resume")]
    pub go_on: bool,

    /// Go on with a session, by its id or the beginning of it; without one, pick from a list
    #[arg(short, long, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    pub resume: Option<String>,

    /// With --resume or --continue: go on with a copy, and leave the session itself as it is
    #[arg(long)]
    pub fork: bool,

    /// With --fork: the copy of a dry run goes on for real. What was rehearsed stays with the dry run
    #[arg(long, requires = "fork", conflicts_with = "dry_run")]
    pub live: bool,

    /// Answer the model's questions with this file of JSON, - for standard input: with -p whatever is asked, with
    /// --resume the question that waits
    #[arg(long, value_name = "FILE")]
    pub answers: Option<PathBuf>,

    /// Rehearse: nothing real is touched, in the whole session. With --fork: in the copy
    #[arg(long)]
    pub dry_run: bool,

    /// With rehearsal apply: each place of a file that changes is on a card of its own
    #[arg(long)]
    pub hunks: bool,

    /// Ask this model
    #[arg(short, long, value_name = "NAME")]
    pub model: Option<String>,

    /// Ask the service at this address, such as http://127.0.0.1:8080/v1
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,

    /// Use this profile of the settings
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,

    /// How much runs without asking: "plan" (reading, and nothing else at all), "ask" (reading inside the project), "auto" (changing its files too) or "full" (all but what cannot be taken back)
    #[arg(long, value_name = "MODE")]
    pub mode: Option<String>,

    /// Use this theme
    #[arg(long, value_name = "NAME")]
    pub theme: Option<String>,

    /// Work in this folder
    #[arg(short = 'C', long, value_name = "FOLDER")]
    pub folder: Option<PathBuf>,

    /// Keep what was said in the journal too, with keys masked, to look for a fault
    #[arg(long)]
    pub debug_content: bool,

    /// With doctor: write what a bug report needs to this file, without keys and without what was said; without one, to a
    /// new file in this folder
    #[arg(long, value_name = "FILE", num_args = 0..=1, default_missing_value = ".", conflicts_with = "json")]
    pub bundle: Option<PathBuf>,

    /// Play the tour, whatever is configured
    #[arg(long, action = ArgAction::SetTrue)]
    pub tour: bool,

    /// What belongs to `aye sessions`
    #[command(flatten)]
    pub kept: sessions::Flags,
}

impl Cli {
    /// Whether the models of the service are asked for, and nothing is said to one.
    pub fn lists_models(&self) -> bool {
        !self.print && self.words == ["models"]
    }

    /// Whether the calls of a session are asked for, and of which where one is named.
    pub fn audits(&self) -> Option<Option<&str>> {
        match self.words.as_slice() {
            [audit] if audit == "audit" && !self.print => Some(None),
            [audit, id] if audit == "audit" && !self.print => Some(Some(id)),
            _ => None,
        }
    }

    /// Whether the rules are asked for, and what of them: the words behind `rules`.
    pub fn asks_rules(&self) -> Option<Vec<&str>> {
        let (first, rest) = self.words.split_first()?;
        let asks = !self.print && first == "rules";
        let known = rest.first().is_none_or(|word| RULES.contains(&word.as_str()));
        (asks && known).then(|| rest.iter().map(String::as_str).collect())
    }

    /// Whether a dry run is asked about, and what of it: the words behind `rehearsal`, its verb first.
    pub fn asks_rehearsal(&self) -> Option<Vec<&str>> {
        let (first, rest) = self.words.split_first()?;
        if self.print || first != "rehearsal" {
            return None;
        }
        match rest.first() {
            None => Some(vec!["show"]),
            Some(verb) => {
                REHEARSAL.contains(&verb.as_str()).then(|| rest.iter().map(String::as_str).collect())
            }
        }
    }

    /// Whether what was rehearsed is to be put on cards; and of which session, where one is named.
    pub fn applies(&self) -> Option<Option<&str>> {
        match self.asks_rehearsal()?.as_slice() {
            ["apply", rest @ ..] => Some(rest.first().copied()),
            _ => None,
        }
    }

    /// Whether trust in this folder is asked for, and how: all that was typed.
    pub fn asks_trust(&self) -> Option<Vec<&str>> {
        let words: Vec<&str> = self.words.iter().map(String::as_str).collect();
        let asks = !self.print && matches!(words.as_slice(), ["trust"] | ["trust", "list"] | ["untrust"]);
        asks.then_some(words)
    }

    /// Whether sessions are looked after, and how: the words behind `sessions`.
    pub fn keeps_sessions(&self) -> Option<Vec<&str>> {
        let (first, rest) = self.words.split_first()?;
        let asks = !self.print && first == "sessions";
        let known = rest.first().is_none_or(|word| sessions::DOES.contains(&word.as_str()));
        (asks && known).then(|| rest.iter().map(String::as_str).collect())
    }

    /// Whether the machine is looked at, and nothing is said to a model.
    pub fn examines(&self) -> bool {
        !self.print && self.words == ["doctor"]
    }

    /// What a copy is to be.
    pub fn becomes(&self) -> Becomes {
        match (self.live, self.dry_run) {
            (true, _) => Becomes::Live,
            (false, true) => Becomes::DryRun,
            (false, false) => Becomes::AsItWas,
        }
    }

    /// What is said at once; empty where nothing is.
    pub fn prompt(&self) -> String {
        self.words.join(" ")
    }
}
