//! Examples at the end of each command's help.

use clap::Command;

/// A command line and what it does.
type Example = (&'static str, &'static str);

/// Examples of each command, named by its path.
const EXAMPLES: &[(&str, &[Example])] = &[
    (
        "sessions",
        &[
            ("aye sessions", "List the sessions of this folder"),
            ("aye sessions search retry test", "Find sessions by their text"),
            ("aye sessions export > session.md", "Export the last session"),
        ],
    ),
    (
        "sessions list",
        &[
            ("aye sessions list --all", "List the sessions of all folders"),
            ("aye sessions list --json", "Print JSON for other programs"),
        ],
    ),
    (
        "sessions show",
        &[
            ("aye sessions show", "Print the last session of this folder"),
            ("aye sessions show 01J9 | less", "Read a session in a pager"),
        ],
    ),
    (
        "sessions search",
        &[
            ("aye sessions search retry test", "Find sessions with both words"),
            ("aye sessions search --here 'two words'", "Find a phrase, only in this folder"),
        ],
    ),
    ("sessions rename", &[("aye sessions rename 01J9 the flaky test", "Set the title of a session")]),
    (
        "sessions rm",
        &[
            ("aye sessions rm 01J9", "Delete a session after confirmation"),
            ("aye sessions rm --yes 01J9 01JA", "Delete two without confirmation"),
        ],
    ),
    ("sessions fork", &[("aye sessions fork 01J9", "Copy a session and print its ID")]),
    (
        "sessions export",
        &[
            ("aye sessions export > session.md", "Export the last session"),
            ("aye sessions export 01J9 --format html --output session.html", "Write one HTML page"),
        ],
    ),
    (
        "rehearsal",
        &[
            ("aye --dry-run", "Start a dry run"),
            ("aye rehearsal", "Show what it changed"),
            ("aye rehearsal apply", "Apply it, with approval prompts"),
        ],
    ),
    (
        "rehearsal show",
        &[
            ("aye rehearsal show", "Show the last dry run of this folder"),
            ("aye rehearsal show 01J9 --json", "Print JSON for other programs"),
        ],
    ),
    (
        "rehearsal diff",
        &[
            ("aye rehearsal diff | git apply", "Apply the changes without prompts"),
            ("aye rehearsal diff 01J9 src/", "Print the changes of one folder"),
        ],
    ),
    (
        "rehearsal apply",
        &[
            ("aye rehearsal apply", "Apply the last dry run of this folder"),
            ("aye rehearsal apply 01J9 --hunks", "Decide about each hunk"),
        ],
    ),
    ("rehearsal drop", &[("aye rehearsal drop 01J9", "Discard the changes after confirmation")]),
    (
        "rules",
        &[
            ("aye rules", "List the rules in effect in this folder"),
            ("aye rules check", "Check the files of rules for errors"),
            ("aye rules explain 'cargo test'", "Explain how a command is judged"),
        ],
    ),
    ("rules list", &[("aye rules list --json", "Print one JSON object per rule")]),
    ("rules check", &[("aye rules check -C ~/src/app", "Check the rules of another folder")]),
    (
        "rules explain",
        &[
            ("aye rules explain 'cargo test'", "Explain how a command is judged"),
            ("aye rules explain --mode auto 'rm -r target'", "In another mode"),
        ],
    ),
    ("rules trust", &[("aye rules trust", "Review the files of this project")]),
    ("rules untrust", &[("aye rules untrust", "Revoke trust in this project")]),
    (
        "audit",
        &[
            ("aye audit", "List the calls of the last session"),
            ("aye audit 01J9 --json", "Print one JSON object per call"),
        ],
    ),
    (
        "trust",
        &[
            ("aye trust", "Review the files of this project"),
            ("aye trust list", "List the trusted files of all projects"),
        ],
    ),
    ("trust list", &[("aye trust list --json", "Print one JSON object per file")]),
    ("untrust", &[("aye untrust -C ~/src/app", "Revoke trust in another folder")]),
    (
        "models",
        &[
            ("aye models", "List the models of the provider in use"),
            ("aye models --profile openai", "List those of another profile"),
        ],
    ),
    (
        "doctor",
        &[
            ("aye doctor", "Check everything"),
            ("aye doctor --profile openai", "Check another profile"),
            ("aye doctor --bundle report.txt", "Write a bug report"),
        ],
    ),
    (
        "help",
        &[
            ("aye help", "List commands and topics"),
            ("aye help sandbox", "Read a page of the manual"),
            ("aye help sessions export", "Show the options of a command"),
        ],
    ),
];

/// Adds its examples to each command of the tree.
pub(super) fn add_examples(tree: Command) -> Command {
    add_to_subcommands(tree, "")
}

fn add_to_subcommands(command: Command, path: &str) -> Command {
    command.mut_subcommands(|command| {
        let path = format!("{path} {}", command.get_name()).trim_start().to_owned();
        let examples = EXAMPLES.iter().find(|(known, _)| *known == path);
        let command = add_to_subcommands(command, &path);
        match examples {
            Some((_, examples)) => command.after_help(format_examples(examples)),
            None => command,
        }
    })
}

/// Formats the examples with their explanations in a column, or below a line that is too long.
fn format_examples(examples: &[Example]) -> String {
    let column = examples.iter().map(|(line, _)| line.len()).filter(|length| *length <= MAX_COLUMN).max().unwrap_or(0);
    let rows = examples.iter().map(|(line, about)| match line.len() > MAX_COLUMN {
        true => format!("  {line}\n  {:column$}  {about}", ""),
        false => format!("  {line:column$}  {about}"),
    });
    format!("Examples:\n{}", rows.collect::<Vec<_>>().join("\n"))
}

/// Maximum length of a command line that shares its row with its explanation.
const MAX_COLUMN: usize = 40;

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
        let known: Vec<&str> = EXAMPLES.iter().map(|(path, _)| *path).collect();
        assert!(paths.iter().all(|path| known.contains(&path.as_str())), "{paths:?}");
        assert!(known.iter().all(|path| paths.iter().any(|known| known == path)), "{known:?}");
        for (path, examples) in EXAMPLES {
            assert!(format_examples(examples).lines().all(|line| line.len() <= 80), "{path}");
            for (line, _) in *examples {
                let call = line.split(['|', '>']).next().unwrap();
                let words = shlex::split(call).unwrap();
                assert!(parse_arguments(words[1..].iter().map(Into::into)).is_ok(), "{line}");
            }
        }
    }
}
