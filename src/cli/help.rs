//! Help of the program and of each command, and the topics of the manual.

mod short_help;

use super::Cli;
use super::examples::{EXAMPLES_HEADING, add_examples};
use super::mistyped_command::find_closest;
use crate::manual::{self, Topic};
use clap::CommandFactory;
use std::io;

/// A page of help.
#[derive(Debug)]
pub enum HelpPage {
    /// Usage of the program or a command, with all descriptions in full if the bool is true.
    Usage(Box<clap::Command>, bool),
    /// A page of the manual.
    Topic(&'static Topic),
}

impl HelpPage {
    /// Prints a usage page in clap's layout; nothing for a topic.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub fn print_usage(self) -> io::Result<()> {
        match self {
            Self::Usage(mut page, true) => page.print_long_help(),
            Self::Usage(mut page, false) => page.print_help(),
            Self::Topic(_) => Ok(()),
        }
    }
}

/// Returns the examples of the program.
pub(crate) fn overview_examples() -> &'static str {
    "  aye                              Open the screen in this folder\n  \
       aye explain src/main.rs          Open the screen and send a message\n  \
       aye -p 'any bugs?' < main.rs     Print one reply and exit\n  \
       aye --continue                   Continue the last session of this folder\n  \
       aye -- doctor who                Send words that begin with a command name"
}

/// Returns the text below the options of the program.
pub(super) fn overview_footer() -> String {
    let topics: Vec<&str> = manual::topic_names().collect();
    format!(
        "Run 'aye COMMAND --help' for the options of a command.\n\n\
        {EXAMPLES_HEADING}{}\n\n\
        Topics, for aye help TOPIC:\n  {}",
        overview_examples(),
        topics.chunks(6).map(|row| row.join(", ")).collect::<Vec<_>>().join(",\n  ")
    )
}

/// Builds the program with all its commands.
pub(crate) fn command_tree() -> clap::Command {
    let mut tree = add_examples(Cli::command());
    tree.build();
    tree
}

/// Returns the usage of the command or subcommand that these words begin with, otherwise of the program. `long`: with
/// all descriptions in full.
pub(super) fn command_help(words: &[&str], long: bool) -> HelpPage {
    let mut page = command_tree();
    for word in words {
        match page.find_subcommand(word).cloned() {
            Some(next) => page = next,
            None => break,
        }
    }
    let page = if long { page } else { short_help::fit_on_screen(page) };
    HelpPage::Usage(Box::new(page), long)
}

/// Returns the page that `aye help` shows for these words: of the program if there are none, of the manual, or of a
/// command. `None` if there is no such page.
pub fn find_page(words: &[&str]) -> Option<HelpPage> {
    // If a topic and a command have the same name, the topic is shown because it says more than the command's usage.
    if let [name] = words
        && let Some(topic) = manual::TOPICS.iter().find(|topic| topic.name == *name)
    {
        return Some(HelpPage::Topic(topic));
    }
    let tree = command_tree();
    let mut page = Some(&tree);
    for word in words {
        page = page.and_then(|page| page.find_subcommand(word));
    }
    match (page, words) {
        (Some(page), _) => Some(HelpPage::Usage(Box::new(page.clone()), true)),
        (None, [name]) => manual::find_topic(name).map(HelpPage::Topic),
        (None, _) => None,
    }
}

/// Explains that these words after `aye help` look like a mistyped command or topic; `None` if they resemble none and
/// are therefore a prompt.
pub(super) fn explain_unknown_page(words: &[&str]) -> Option<String> {
    let (first, other_words) = words.split_first()?;
    let tree = command_tree();
    let commands: Vec<&str> = tree.get_subcommands().map(clap::Command::get_name).collect();
    let suggestion = match tree.find_subcommand(first) {
        Some(command) => {
            let verb = find_closest(other_words.first()?, command.get_subcommands().map(clap::Command::get_name))?;
            format!("{first} {verb}")
        }
        None if other_words.is_empty() => {
            let mut names: Vec<&str> = commands.clone();
            for name in manual::all_names() {
                names.push(name);
            }
            // A shorter word may be the beginning of many names by chance.
            let find_by_prefix = || names.iter().copied().find(|name| first.len() >= 4 && name.starts_with(first));
            find_closest(first, names.iter().copied()).or_else(find_by_prefix)?.to_owned()
        }
        None => return None,
    };
    let words = words.join(" ");
    Some(format!(
        "Cannot show help for {words}: there is no such page. Did you mean `aye help {suggestion}`? Topics: {}. Commands: {}. \
         To send this to the model, put it after --: aye -- help {words}",
        manual::topic_names().collect::<Vec<_>>().join(", "),
        commands.join(", "),
    ))
}
