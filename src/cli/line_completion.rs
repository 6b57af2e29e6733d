//! Completes an unfinished command line: commands, options and fixed values. Names that are known only at run time, such as
//! session IDs, are added by the caller.

use super::Cli;
use crate::manual;
use clap::builder::PossibleValue;
use clap::{Arg, Command, CommandFactory, ValueHint};

/// Values that an argument takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Values {
    /// None that are known.
    Unknown,
    /// Paths of files, which the shell completes.
    Files,
    /// Paths of folders, which the shell completes.
    Folders,
    /// IDs of sessions.
    Sessions,
    /// IDs of dry runs.
    DryRuns,
    /// Names of profiles.
    Profiles,
    /// Models named by profiles.
    Models,
    /// Names of themes.
    Themes,
    /// Names of all tools.
    Tools,
    /// Names of tools that files define.
    FileTools,
    /// Names of skills.
    Skills,
    /// Names of MCP servers.
    McpServers,
    /// Names of the credentials of tools.
    Credentials,
}

/// A possible completion. The description may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    pub value: String,
    pub description: String,
}

impl Candidate {
    /// Creates a candidate.
    pub fn new(value: impl Into<String>, description: impl Into<String>) -> Self {
        Self { value: value.into(), description: description.into() }
    }
}

/// Possible completions of the word at the cursor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Completion {
    /// Start of the word that is not part of the value: `--profile=`, otherwise empty.
    pub prefix: String,
    /// The value as typed so far.
    pub typed: String,
    /// Commands, options and fixed values that begin with what was typed.
    pub candidates: Vec<Candidate>,
    /// Values known only at run time.
    pub values: Values,
    /// The value of `--profile`, if given.
    pub profile: Option<String>,
}

/// Fixed values of options that the parser takes as text: the option and each value with its description.
const FIXED_VALUES: &[(&str, &[(&str, &str)])] = &[
    (
        "mode",
        &[
            ("plan", "Read only, everything else is denied"),
            ("ask", "Read inside the project"),
            ("auto", "Also change files inside the project"),
            ("full", "Everything except risky calls"),
        ],
    ),
    (
        "kind",
        &[
            ("http_api", "Sends a request"),
            ("command", "Runs a program"),
            ("end_conversation", "Ends the conversation"),
            ("transfer", "Hands the session over"),
            ("prompt", "Asks a model"),
        ],
    ),
];

/// Completes the last of these words, which follow the name of the program.
pub fn complete_words(before: &[String], current: &str) -> Completion {
    let mut tree = Cli::command();
    tree.build();
    let mut line = Line::new(&tree);
    before.iter().for_each(|word| line.read_word(word));
    let completion = line.complete(current);
    Completion { profile: line.profile, ..completion }
}

/// The words before the cursor, read as the parser reads them.
struct Line<'a> {
    tree: &'a Command,
    /// The program, then the command and the subcommand, if any.
    commands: Vec<&'a Command>,
    /// The option whose value is the next word.
    pending: Option<&'a Arg>,
    /// Positional arguments of the command so far.
    positionals: Vec<String>,
    /// Whether `--print` was given, so that words are the prompt.
    is_prompt: bool,
    /// Whether `--` was given, so that words are no commands or options.
    is_escaped: bool,
    profile: Option<String>,
}

impl<'a> Line<'a> {
    fn new(tree: &'a Command) -> Self {
        let (positionals, profile) = (Vec::new(), None);
        Self { tree, commands: vec![tree], pending: None, positionals, is_prompt: false, is_escaped: false, profile }
    }

    fn command(&self) -> &'a Command {
        self.commands.last().copied().unwrap_or(self.tree)
    }

    fn read_word(&mut self, word: &str) {
        if let Some(option) = self.pending.take()
            && !word.starts_with('-')
        {
            self.apply_value(option, word);
            return;
        }
        match word {
            _ if self.is_escaped => self.positionals.push(word.to_owned()),
            "--" => self.is_escaped = true,
            _ if word.starts_with("--") => {
                let (name, value) = word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value)));
                let option = self.find_option(|option| option.get_long() == name.strip_prefix("--"));
                self.apply_option(option, value);
            }
            _ if word.len() > 1 && word.starts_with('-') => self.read_short_options(&word[1..]),
            _ => match self.find_subcommand(word) {
                Some(command) => self.commands.push(command),
                None => self.positionals.push(word.to_owned()),
            },
        }
    }

    fn read_short_options(&mut self, options: &str) {
        for (index, short) in options.char_indices() {
            let option = self.find_option(|option| option.get_short() == Some(short));
            let value = &options[index + short.len_utf8()..];
            let value = (!value.is_empty()).then_some(value);
            if option.is_some_and(|option| option.get_action().takes_values()) {
                return self.apply_option(option, value);
            }
            self.apply_option(option, None);
        }
    }

    fn apply_option(&mut self, option: Option<&'a Arg>, value: Option<&str>) {
        let Some(option) = option else { return };
        self.is_prompt |= option.get_id() == "print";
        match value {
            Some(value) => self.apply_value(option, value),
            None if option.get_action().takes_values() => self.pending = Some(option),
            None => {}
        }
    }

    fn apply_value(&mut self, option: &Arg, value: &str) {
        if option.get_id() == "profile" {
            self.profile = Some(value.to_owned());
        }
    }

    /// Finds an option, first in the command, then in all commands: it may precede the command it belongs to.
    fn find_option(&self, is_wanted: impl Fn(&Arg) -> bool) -> Option<&'a Arg> {
        let mut pending = vec![self.tree, self.command()];
        while let Some(command) = pending.pop() {
            if let Some(option) = command.get_arguments().find(|option| is_wanted(option)) {
                return Some(option);
            }
            pending.splice(0..0, command.get_subcommands());
        }
        None
    }

    fn find_subcommand(&self, word: &str) -> Option<&'a Command> {
        let is_possible = self.positionals.is_empty() && !self.is_prompt && !self.is_escaped;
        self.command().find_subcommand(word).filter(|_| is_possible)
    }

    fn complete(&self, current: &str) -> Completion {
        let mut completion = Completion {
            prefix: String::new(),
            typed: current.to_owned(),
            candidates: Vec::new(),
            values: Values::Unknown,
            profile: None,
        };
        if let Some(option) = self.pending.filter(|_| !current.starts_with('-')) {
            self.add_values(option, &mut completion);
        } else if self.is_escaped || !current.starts_with('-') {
            self.add_words(&mut completion);
        } else if let Some((name, value)) = current.split_once('=') {
            let option = self.find_option(|option| option.get_long() == name.strip_prefix("--"));
            if let Some(option) = option.filter(|option| option.get_action().takes_values()) {
                completion.prefix = format!("{name}=");
                completion.typed = value.to_owned();
                self.add_values(option, &mut completion);
            }
        } else {
            completion.candidates = visible_options(self.command());
        }
        let typed = completion.typed.clone();
        completion.candidates.retain(|candidate| candidate.value.starts_with(&typed));
        completion
    }

    /// Adds subcommands and values of the positional argument at the cursor.
    fn add_words(&self, completion: &mut Completion) {
        let command = self.command();
        if self.positionals.is_empty() && !self.is_prompt && !self.is_escaped {
            completion.candidates = visible_subcommands(command);
        }
        if command.get_name() == "help" && self.commands.len() == 2 {
            completion.candidates = self.list_pages();
            return;
        }
        let positionals: Vec<&Arg> = command.get_positionals().filter(|argument| !argument.is_hide_set()).collect();
        let repeated =
            positionals.last().filter(|last| last.get_num_args().is_some_and(|count| count.max_values() > 1));
        if let Some(argument) = positionals.get(self.positionals.len()).or(repeated) {
            self.add_values(argument, completion);
        }
    }

    /// Lists the pages of `aye help`: commands and topics, or the subcommands of a command.
    fn list_pages(&self) -> Vec<Candidate> {
        match self.positionals.as_slice() {
            [] => {
                let topics = manual::TOPICS.iter().map(|topic| Candidate::new(topic.name, topic.title()));
                let is_topic = |name: &str| manual::TOPICS.iter().any(|topic| topic.name == name);
                let commands = visible_subcommands(self.tree).into_iter().filter(|command| !is_topic(&command.value));
                topics.chain(commands).collect()
            }
            [name] => self.tree.find_subcommand(name).map(visible_subcommands).unwrap_or_default(),
            _ => Vec::new(),
        }
    }

    fn add_values(&self, argument: &Arg, completion: &mut Completion) {
        let id = argument.get_id().as_str();
        let fixed = FIXED_VALUES.iter().find(|(option, _)| *option == id);
        let possible = argument.get_possible_values();
        match fixed {
            _ if !possible.is_empty() => {
                completion.candidates.extend(possible.iter().filter(|value| !value.is_hide_set()).map(describe_value));
            }
            Some((_, values)) => {
                completion.candidates.extend(values.iter().map(|(value, about)| Candidate::new(*value, *about)));
            }
            None => completion.values = self.values_of(argument),
        }
    }

    /// Returns the values of an argument of the command.
    fn values_of(&self, argument: &Arg) -> Values {
        let path: Vec<&str> = self.commands.iter().skip(1).map(|command| command.get_name()).collect();
        match (argument.get_id().as_str(), path.as_slice()) {
            ("id", ["rehearsal", ..]) => Values::DryRuns,
            ("id" | "ids", ["sessions" | "audit", ..]) | ("resume" | "session", _) => Values::Sessions,
            ("profile", _) => Values::Profiles,
            ("model", _) => Values::Models,
            ("theme", _) => Values::Themes,
            ("name", ["tools", "show"]) => Values::Tools,
            ("name", ["skills", "show"]) => Values::Skills,
            ("name", ["tools", "test" | "enable" | "disable"]) => Values::FileTools,
            ("name", ["mcp", "show" | "remove" | "check" | "login" | "logout"]) => Values::McpServers,
            ("name", ["credentials", "rotate" | "remove"]) => Values::Credentials,
            ("folder" | "dir", _) => Values::Folders,
            // Messages name files of the project.
            ("prompt_words", _) | ("target", ["open"]) => Values::Files,
            _ => match argument.get_value_hint() {
                ValueHint::AnyPath | ValueHint::FilePath => Values::Files,
                _ => Values::Unknown,
            },
        }
    }
}

fn visible_subcommands(command: &Command) -> Vec<Candidate> {
    let commands = command.get_subcommands().filter(|command| !command.is_hide_set());
    commands.map(|command| Candidate::new(command.get_name(), describe(command.get_about()))).collect()
}

/// Lists the long options of a command, and the short ones that have no long form.
fn visible_options(command: &Command) -> Vec<Candidate> {
    let options = command.get_arguments().filter(|option| !option.is_hide_set() && !option.is_positional());
    let describe_option = |option: &Arg| {
        let long = option.get_long().map(|long| format!("--{long}"));
        let name = long.or_else(|| option.get_short().map(|short| format!("-{short}")))?;
        Some(Candidate::new(name, describe(option.get_help())))
    };
    options.filter_map(describe_option).collect()
}

fn describe_value(value: &PossibleValue) -> Candidate {
    Candidate::new(value.get_name(), describe(value.get_help()))
}

fn describe(text: Option<&clap::builder::StyledStr>) -> String {
    text.map(ToString::to_string).unwrap_or_default()
}

#[cfg(test)]
mod tests;
