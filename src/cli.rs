//! What can be typed after the program's name.

pub mod commands;
pub mod help;
pub mod sessions;
mod stray;

use crate::chat::{Becomes, Wanted};
use clap::{ArgAction, Parser};
use std::path::PathBuf;

/// The terminal copilot that asks first.
///
/// With nothing configured it opens the tour: a scripted model that plays a short session against real tools, so that
/// every card and key can be tried.
#[derive(Debug, Clone, Default, Parser)]
#[command(
    name = "aye",
    version,
    max_term_width = 100,
    override_usage = "aye [OPTIONS] [PROMPT]...\n       aye [OPTIONS] COMMAND",
    after_help = "aye COMMAND --help tells of a command. Words that could be taken for one are said to a model behind --: \
        aye -- doctor who"
)]
pub struct Cli {
    /// Say this at once. With -p it is the prompt; a pipe on standard input is added to it
    #[arg(value_name = "PROMPT")]
    pub words: Vec<String>,

    /// Behind --: said to the model as it is, whatever it looks like
    #[arg(value_name = "PROMPT", last = true, hide = true)]
    pub said: Vec<String>,

    /// Print the reply and leave, without a screen
    #[arg(short, long)]
    pub print: bool,

    /// With -p: one JSON entry per line instead of text. Commands that take it say what they print
    #[arg(long)]
    pub json: bool,

    /// With -p: print the reply byte for byte. Without this, control characters other than line feed and tab are removed
    /// from it and other invisible characters are shown as marks, in a terminal, a pipe and a file alike
    #[arg(long, requires = "print", conflicts_with = "json")]
    pub raw: bool,

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
    #[arg(long, hide = true)]
    pub hunks: bool,

    /// With rehearsal apply: also the files that git ignores
    #[arg(long, hide = true)]
    pub ignored: bool,

    /// With rehearsal apply: also run the commands again that ran in the overlay sandbox
    #[arg(long, hide = true)]
    pub commands: bool,

    /// Ask this model
    #[arg(short, long, value_name = "NAME")]
    pub model: Option<String>,

    /// Ask the provider at this address, such as http://127.0.0.1:8080/v1. It is sent the key of the profile in use, without --profile that in OPENAI_API_KEY
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,

    /// Use this profile of the settings
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,

    /// How much runs without asking: "plan" (reading, and nothing else at all), "ask" (reading inside the project), "auto" (changing its files too) or "full" (all but what may hold secrets, can reach the network or cannot be undone)
    #[arg(long, value_name = "MODE")]
    pub mode: Option<String>,

    /// Use this theme
    #[arg(long, value_name = "NAME")]
    pub theme: Option<String>,

    /// Work in this folder
    #[arg(short = 'C', long, value_name = "FOLDER")]
    pub folder: Option<PathBuf>,

    /// Keep what was said in the journal too, with secrets redacted, to look for a fault
    #[arg(long)]
    pub debug_content: bool,

    /// With doctor: write what a bug report needs to this file, without keys and without what was said; without one, to a
    /// new file in this folder
    #[arg(long, hide = true, value_name = "FILE", num_args = 0..=1, default_missing_value = ".", conflicts_with = "json")]
    pub bundle: Option<PathBuf>,

    /// Play the tour, whatever is configured
    #[arg(long, action = ArgAction::SetTrue)]
    pub tour: bool,

    /// What belongs to `aye sessions`
    #[command(flatten)]
    pub kept: sessions::Flags,
}

impl Cli {
    /// The words of a command, where these are none for a model.
    fn asked(&self) -> &[String] {
        let said = self.print || (self.words.is_empty() && !self.said.is_empty());
        if said { &[] } else { &self.words }
    }

    /// Everything that was typed, what stands behind `--` too.
    fn all(&self) -> Vec<&str> {
        self.asked().iter().chain(&self.said).map(String::as_str).collect()
    }

    /// Whether the models of the service are asked for, and nothing is said to one.
    pub fn lists_models(&self) -> bool {
        self.asked() == ["models"]
    }

    /// Whether the calls of a session are asked for, and of which where one is named.
    pub fn audits(&self) -> Option<Option<&str>> {
        match self.asked() {
            [audit] if audit == "audit" => Some(None),
            [audit, id] if audit == "audit" => Some(Some(id)),
            _ => None,
        }
    }

    /// The words behind a command that has others behind it; none where what stands there is none of them.
    fn behind(&self, command: &str) -> Option<Vec<&str>> {
        let first = self.asked().first()?;
        let words = self.all().split_off(1);
        let known = words.first().is_none_or(|word| commands::verbs(command).any(|verb| verb == *word));
        (first == command && known).then_some(words)
    }

    /// Whether the rules are asked for, and what of them: the words behind `rules`.
    pub fn asks_rules(&self) -> Option<Vec<&str>> {
        self.behind("rules")
    }

    /// Whether a dry run is asked about, and what of it: the words behind `rehearsal`, its verb first.
    pub fn asks_rehearsal(&self) -> Option<Vec<&str>> {
        let words = self.behind("rehearsal")?;
        Some(if words.is_empty() { vec!["show"] } else { words })
    }

    /// Whether what was rehearsed is to be put on cards; and of which session, where one is named.
    pub fn applies(&self) -> Option<Option<&str>> {
        match self.asks_rehearsal()?.as_slice() {
            ["apply", rest @ ..] => Some(rest.first().copied()),
            _ => None,
        }
    }

    /// What `rehearsal apply` is to apply.
    pub fn wanted(&self) -> Wanted {
        Wanted { hunks: self.hunks, ignored: self.ignored, commands: self.commands }
    }

    /// Whether trust in this folder is asked for, and how: all that was typed.
    pub fn asks_trust(&self) -> Option<Vec<&str>> {
        let words: Vec<&str> = self.asked().iter().map(String::as_str).collect();
        let asks = matches!(words.as_slice(), ["trust"] | ["trust", "list"] | ["untrust"]);
        asks.then_some(words)
    }

    /// Whether sessions are looked after, and how: the words behind `sessions`.
    pub fn keeps_sessions(&self) -> Option<Vec<&str>> {
        self.behind("sessions")
    }

    /// Whether the machine is looked at, and nothing is said to a model.
    pub fn examines(&self) -> bool {
        self.asked() == ["doctor"]
    }

    /// Why these words are taken for a command that was mistyped, and how they are said to a model; `None` where they are
    /// words for a model. Ask it where they are no command.
    pub fn stray(&self) -> Option<String> {
        stray::of(self.asked())
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
        let words: Vec<&str> = self.words.iter().chain(&self.said).map(String::as_str).collect();
        words.join(" ")
    }
}
