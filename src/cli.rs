//! Command-line arguments.

pub mod commands;
pub mod help;
mod mistyped_command;
pub mod sessions;

use crate::chat::{ApplyOptions, ForkMode};
use clap::{ArgAction, Parser};
use std::path::PathBuf;

/// A terminal copilot that asks before tool calls run
///
/// Without any configuration the tour starts: a scripted model that plays a short session with real tools, to try every
/// prompt and key.
#[derive(Debug, Clone, Default, Parser)]
#[command(
    name = "aye",
    version,
    max_term_width = 100,
    override_usage = "aye [OPTIONS] [PROMPT]...\n       aye [OPTIONS] COMMAND",
    after_help = "Run 'aye COMMAND --help' for the options of a command.\n\n\
        Examples:\n  \
          aye                              Open the screen in this folder\n  \
          aye explain src/main.rs          Open the screen and send a message\n  \
          aye -p 'any bugs?' < main.rs     Print one reply and exit\n  \
          aye --continue                   Continue the last session of this folder\n  \
          aye -- doctor who                Send words that begin with a command name"
)]
pub struct Cli {
    /// Message to send at once. With -p, a pipe on standard input is appended to it
    #[arg(value_name = "PROMPT")]
    pub prompt_words: Vec<String>,

    /// Words after --: always sent to the model, never taken for a command
    #[arg(value_name = "PROMPT", last = true, hide = true)]
    pub literal_prompt: Vec<String>,

    /// Print the reply and exit, without a screen
    ///
    /// Calls that need approval are denied. Exit codes: 0 done, 1 the provider failed, 2 usage error, 3 waiting for the
    /// user, 130 stopped with ctrl-c.
    #[arg(short, long)]
    pub print: bool,

    /// With -p: print one JSON entry per line instead of text
    ///
    /// Some commands also accept it.
    #[arg(long)]
    pub json: bool,

    /// With -p: print the reply byte for byte
    ///
    /// By default, control characters except line feed and tab are removed, and other invisible characters are shown as
    /// marks such as <U+202E>, whether the output is a terminal, a pipe or a file.
    #[arg(long, requires = "print", conflicts_with = "json")]
    pub raw: bool,

    /// Continue the last session of this folder
    #[arg(short = 'c', long = "continue", conflicts_with = "resume")]
    pub continue_last: bool,

    /// Continue a session by id or id prefix; without ID, choose from a list
    #[arg(short, long, value_name = "ID", num_args = 0..=1, default_missing_value = "")]
    pub resume: Option<String>,

    /// With --resume or --continue: continue in a copy
    #[arg(long)]
    pub fork: bool,

    /// With --fork: continue the copy of a dry run live
    ///
    /// Rehearsed changes stay in the dry run.
    #[arg(long, requires = "fork", conflicts_with = "dry_run")]
    pub live: bool,

    /// Read answers to the model's questions from this JSON file
    ///
    /// If FILE is -, they are read from standard input.
    /// With -p they answer any question of the run; with --resume, the question that is waiting.
    #[arg(long, value_name = "FILE")]
    pub answers: Option<PathBuf>,

    /// Rehearse: change nothing outside an overlay
    ///
    /// This holds for the whole session; with --fork, for the copy.
    #[arg(long)]
    pub dry_run: bool,

    /// With rehearsal apply: one prompt for each hunk of each file
    #[arg(long, hide = true)]
    pub hunks: bool,

    /// With rehearsal apply: include files ignored by git
    #[arg(long, hide = true)]
    pub ignored: bool,

    /// With rehearsal apply: run the commands of the overlay sandbox again
    #[arg(long, hide = true)]
    pub commands: bool,

    /// Model to use
    #[arg(short, long, value_name = "NAME")]
    pub model: Option<String>,

    /// Provider address, such as http://127.0.0.1:8080/v1
    ///
    /// It is sent the key of the profile in use, without --profile that in OPENAI_API_KEY.
    #[arg(long, value_name = "URL")]
    pub base_url: Option<String>,

    /// Profile of the settings to use
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,

    /// Approval mode: plan, ask, auto or full
    ///
    /// plan: read only, everything else is denied. ask: read inside the project. auto: also change files inside the
    /// project. full: everything except calls that may read secrets, use the network or cannot be undone.
    #[arg(long, value_name = "MODE")]
    pub mode: Option<String>,

    /// Theme to use
    #[arg(long, value_name = "NAME")]
    pub theme: Option<String>,

    /// Folder to work in [default: the current one]
    #[arg(short = 'C', long, value_name = "FOLDER")]
    pub folder: Option<PathBuf>,

    /// Write message content to the journal too, with secrets redacted
    #[arg(long)]
    pub debug_content: bool,

    /// With doctor: write a bug report to this file, without keys and message content. Without FILE, to a new file in
    /// this folder
    #[arg(long, hide = true, value_name = "FILE", num_args = 0..=1, default_missing_value = ".", conflicts_with = "json")]
    pub bundle: Option<PathBuf>,

    /// Start the tour, whatever is configured
    #[arg(long, action = ArgAction::SetTrue)]
    pub tour: bool,

    /// Options of `aye sessions`.
    #[command(flatten)]
    pub sessions: sessions::SessionsOptions,
}

impl Cli {
    /// Returns the words that may name a command; none if all of them are for the model.
    fn command_words(&self) -> &[String] {
        let is_prompt = self.print || (self.prompt_words.is_empty() && !self.literal_prompt.is_empty());
        if is_prompt { &[] } else { &self.prompt_words }
    }

    /// Returns everything that was typed, including the words after `--`.
    fn all_words(&self) -> Vec<&str> {
        self.command_words().iter().chain(&self.literal_prompt).map(String::as_str).collect()
    }

    /// Returns whether the command is `aye models`.
    pub fn is_models(&self) -> bool {
        self.command_words() == ["models"]
    }

    /// Parses `aye audit [ID]`.
    pub fn audit_arguments(&self) -> Option<Option<&str>> {
        match self.command_words() {
            [audit] if audit == "audit" => Some(None),
            [audit, id] if audit == "audit" => Some(Some(id)),
            _ => None,
        }
    }

    /// Returns the words after a command that has subcommands; `None` if the next word is not one of them.
    fn subcommand_words(&self, command: &str) -> Option<Vec<&str>> {
        let first = self.command_words().first()?;
        let words = self.all_words().split_off(1);
        let known = words.first().is_none_or(|word| commands::subcommand_names(command).any(|verb| verb == *word));
        (first == command && known).then_some(words)
    }

    /// Returns the words after `aye rules`.
    pub fn rules_arguments(&self) -> Option<Vec<&str>> {
        self.subcommand_words("rules")
    }

    /// Returns the words after `aye rehearsal`, the subcommand first; it defaults to `show`.
    pub fn rehearsal_arguments(&self) -> Option<Vec<&str>> {
        let words = self.subcommand_words("rehearsal")?;
        Some(if words.is_empty() { vec!["show"] } else { words })
    }

    /// Parses `aye rehearsal apply [ID]`.
    pub fn apply_arguments(&self) -> Option<Option<&str>> {
        match self.rehearsal_arguments()?.as_slice() {
            ["apply", rest @ ..] => Some(rest.first().copied()),
            _ => None,
        }
    }

    /// Returns the options of `rehearsal apply`.
    pub fn apply_options(&self) -> ApplyOptions {
        ApplyOptions { hunks: self.hunks, ignored: self.ignored, commands: self.commands }
    }

    /// Returns all words if the command is `aye trust`, `aye trust list` or `aye untrust`.
    pub fn trust_arguments(&self) -> Option<Vec<&str>> {
        let words: Vec<&str> = self.command_words().iter().map(String::as_str).collect();
        let asks = matches!(words.as_slice(), ["trust"] | ["trust", "list"] | ["untrust"]);
        asks.then_some(words)
    }

    /// Returns the words after `aye sessions`.
    pub fn sessions_arguments(&self) -> Option<Vec<&str>> {
        self.subcommand_words("sessions")
    }

    /// Returns whether the command is `aye doctor`.
    pub fn is_doctor(&self) -> bool {
        self.command_words() == ["doctor"]
    }

    /// Explains that these words look like a mistyped command and how to send them to the model; `None` if they are a
    /// prompt. Call it only if they are no command.
    pub fn explain_mistyped(&self) -> Option<String> {
        mistyped_command::explain_mistyped(self.command_words())
    }

    /// Returns whether a fork changes between live and dry run.
    pub fn fork_mode(&self) -> ForkMode {
        match (self.live, self.dry_run) {
            (true, _) => ForkMode::Live,
            (false, true) => ForkMode::DryRun,
            (false, false) => ForkMode::Unchanged,
        }
    }

    /// Returns the first message; empty if there is none.
    pub fn prompt(&self) -> String {
        let words: Vec<&str> = self.prompt_words.iter().chain(&self.literal_prompt).map(String::as_str).collect();
        words.join(" ")
    }
}
