//! Help pages of the program and of each command.

use super::Cli;
use super::commands::{COMMANDS, Command};
use clap::{Arg, ArgAction, CommandFactory, Parser};
use std::ffi::OsString;
use std::io;

/// A page of help.
pub struct Help {
    page: clap::Command,
    long: bool,
}

impl Help {
    /// Writes the page to standard output.
    ///
    /// # Errors
    /// If standard output cannot be written.
    pub fn print(mut self) -> io::Result<()> {
        if self.long { self.page.print_long_help() } else { self.page.print_help() }
    }
}

/// Returns the page requested by `--help` or `-h` among these arguments, of which the first is the program's name: that
/// of the command they name, or of the program.
pub fn requested_help(arguments: impl Iterator<Item = OsString>) -> Help {
    let (mut before, mut long, mut literal) = (Vec::new(), false, false);
    for argument in arguments {
        literal |= argument == "--";
        match argument.to_str() {
            Some("--help") if !literal => long = true,
            Some("-h") if !literal => {}
            _ => before.push(argument),
        }
    }
    let words = Cli::try_parse_from(before).map(|cli| cli.command_words().to_vec()).unwrap_or_default();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    command_help(&words).unwrap_or(Help { page: build_tree(), long })
}

impl Cli {
    /// Parses `aye help` and `aye help COMMAND`; `None` if the words are a prompt.
    pub fn help(&self) -> Option<Help> {
        match self.all_words().as_slice() {
            ["help"] if !self.command_words().is_empty() => Some(Help { page: build_tree(), long: true }),
            ["help", of @ ..] if !self.command_words().is_empty() && is_command(of) => self::command_help(of),
            _ => None,
        }
    }
}

fn is_command(words: &[&str]) -> bool {
    COMMANDS.iter().any(|command| command.name == words)
}

/// Returns the page of the command that these words begin with.
fn command_help(words: &[&str]) -> Option<Help> {
    let length = (1..=words.len().min(2)).rev().find(|length| is_command(&words[..*length]))?;
    let mut page = build_tree();
    for name in &words[..length] {
        page = page.find_subcommand(name)?.clone();
    }
    Some(Help { page, long: false })
}

/// Builds the program with all its commands, only to print help from it.
fn build_tree() -> clap::Command {
    let cli = Cli::command();
    let mut tree = cli.clone().disable_help_subcommand(true).subcommand_value_name("COMMAND");
    for top in COMMANDS.iter().filter(|command| command.name.len() == 1) {
        let mut one = command_page(&cli, top);
        for below in COMMANDS.iter().filter(|below| below.name.len() == 2 && below.name[0] == top.name[0]) {
            one = one.subcommand(command_page(&cli, below));
        }
        tree = tree.subcommand(one);
    }
    tree.build();
    tree
}

fn command_page(cli: &clap::Command, command: &Command) -> clap::Command {
    let name = command.name.last().copied().unwrap_or_default();
    let verbs = COMMANDS.iter().any(|other| other.name.len() > command.name.len() && other.name[0] == name);
    let behind = if verbs { "[COMMAND]" } else { command.arguments };
    let usage = format!("aye {} {behind} [OPTIONS]", command.name.join(" ")).replace("  ", " ");
    let page = clap::Command::new(name)
        .about(command.about)
        .override_usage(usage)
        .max_term_width(100)
        .disable_help_subcommand(true);
    command.options.iter().fold(page, |page, (long, help)| match command_option(cli, long, help) {
        Some(option) => page.arg(option),
        None => page,
    })
}

/// Copies an option of the program, with the description it has for one command.
fn command_option(cli: &clap::Command, long: &'static str, help: &'static str) -> Option<Arg> {
    let of = cli.get_arguments().find(|argument| argument.get_long() == Some(long))?;
    let mut option = Arg::new(long).long(long).help(help);
    if let Some(letter) = of.get_short() {
        option = option.short(letter);
    }
    let named = of.get_value_names().and_then(|names| names.first());
    Some(match named.filter(|_| of.get_action().takes_values()) {
        Some(name) => match of.get_num_args() {
            Some(count) => option.value_name(name.clone()).num_args(count),
            None => option.value_name(name.clone()),
        },
        None => option.action(ArgAction::SetTrue),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(arguments: &[&str]) -> String {
        let arguments = ["aye"].iter().chain(arguments).map(OsString::from);
        requested_help(arguments).page.render_help().to_string()
    }

    #[test]
    fn lists_every_command_and_gives_each_a_page_with_only_its_options() {
        let all = told(&["--help"]);
        assert!(all.contains("Commands:") && all.contains("--print"), "{all}");
        assert!(!all.contains("--hunks") && !all.contains("--all"), "options of a command are only on its page: {all}");
        for command in COMMANDS {
            let mut words = command.name.to_vec();
            words.push("--help");
            let page = told(&words);
            assert!(page.contains(&format!("Usage: aye {}", command.name.join(" "))), "{page}");
            assert!(!page.contains("--theme"), "{page}");
            if let [name] = command.name {
                assert!(all.contains(&format!("\n  {name} ")), "{name}: {all}");
            }
            for (long, help) in command.options {
                let flat = page.split_whitespace().collect::<Vec<_>>().join(" ");
                assert!(flat.contains(&format!("--{long} ")) && flat.contains(help), "{long}: {page}");
            }
        }
    }

    #[test]
    fn help_flag_works_anywhere_after_or_before_a_command() {
        for arguments in [
            &["sessions", "list", "--help"][..],
            &["--help", "sessions", "list"],
            &["-C", "/tmp", "sessions", "-h", "list"],
            &["sessions", "list", "more", "-h"],
        ] {
            assert!(told(arguments).contains("Usage: aye sessions list"), "{arguments:?}");
        }
        for arguments in [&["what", "is", "this", "-h"][..], &["-p", "doctor", "-h"], &["-h", "--", "doctor"]] {
            assert!(told(arguments).contains("Commands:\n  sessions"), "{arguments:?}");
        }
        let list = told(&["sessions", "list", "-h"]);
        assert!(list.contains("--folder <FOLDER>") && !list.contains("<ALL>"), "only --folder takes a value: {list}");
        assert!(told(&["sessions", "bogus", "-h"]).contains("Usage: aye sessions [COMMAND]"));
    }
}
