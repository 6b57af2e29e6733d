//! Examples at the end of each command's help.

use clap::Command;

/// First line of the examples at the end of a page.
pub(crate) const EXAMPLES_HEADING: &str = "Examples:\n";

/// Blocks separated by an empty line: the path of a command, then its examples as its help shows them.
const EXAMPLES: &str = include_str!("examples.txt");

/// Adds examples to the help of each command and subcommand in the tree.
pub(super) fn add_examples(tree: Command) -> Command {
    add_to_subcommands(tree, "")
}

fn add_to_subcommands(command: Command, path: &str) -> Command {
    command.mut_subcommands(|command| {
        let path = format!("{path} {}", command.get_name()).trim_start().to_owned();
        let command = add_to_subcommands(command, &path);
        match all_examples().find(|(known, _)| *known == path) {
            Some((_, examples)) => command.after_help(format!("{EXAMPLES_HEADING}{examples}")),
            None => command,
        }
    })
}

/// Iterates over the paths of the commands, each with its examples.
fn all_examples() -> impl Iterator<Item = (&'static str, &'static str)> {
    EXAMPLES.trim_end().split("\n\n").filter_map(|block| block.split_once('\n'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::{Cli, parse_arguments};
    use clap::CommandFactory;

    #[test]
    fn every_command_has_examples_that_parse_and_fit() {
        let tree = add_examples(Cli::command());
        let mut paths = Vec::new();
        for command in tree.get_subcommands() {
            paths.push(command.get_name().to_owned());
            paths.extend(command.get_subcommands().map(|verb| format!("{} {}", command.get_name(), verb.get_name())));
        }
        let known: Vec<&str> = all_examples().map(|(path, _)| path).collect();
        assert!(paths.iter().all(|path| known.contains(&path.as_str())), "{paths:?}");
        assert!(known.iter().all(|example_path| paths.iter().any(|path| path == example_path)), "{known:?}");
        for line in all_examples().flat_map(|(_, examples)| examples.lines()) {
            assert!(line.len() <= 80, "{line}");
            // A line without a command explains the command above it.
            if let Some(command) = line.strip_prefix("  aye ") {
                let command = command.split("  ").next().unwrap();
                let call = command.split(['|', '>']).next().unwrap();
                let words = shlex::split(call).unwrap();
                assert!(parse_arguments(words.iter().map(Into::into)).is_ok(), "{line}");
            }
        }
    }
}
