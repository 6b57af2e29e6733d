//! What `-h` shows: as much of a page as fits on one screen. `--help` shows all of it.

use clap::Command;
use clap::builder::{Resettable, StyledStr};

/// Rows of a screen, without the one of the next prompt.
const MAX_ROWS: usize = 23;
/// Columns of a screen.
const COLUMNS: usize = 80;

/// Options of the program that `-h` shows.
const MAIN_OPTIONS: [&str; 10] =
    ["tour", "print", "continue_last", "resume", "dry_run", "model", "mode", "record", "help", "version"];

/// Shortens a page of the built tree until it fits on a screen: first the examples are left out, then the arguments of
/// the subcommand that runs if none is given. The page of the program lists its commands without descriptions.
pub(super) fn fit_on_screen(page: Command) -> Command {
    if page.get_name() == "aye" {
        return shorten_overview(page);
    }
    if fits(&page) {
        return page;
    }
    let page = page.after_help(Resettable::<StyledStr>::Reset);
    let page = page.mut_arg("help", |help| help.help("Print help (see examples with '--help')"));
    if fits(&page) || !page.has_subcommands() {
        return page;
    }
    page.mut_args(|argument| if argument.is_positional() { argument.hide_short_help(true) } else { argument })
}

fn fits(page: &Command) -> bool {
    count_rows(page) <= MAX_ROWS
}

fn count_rows(page: &Command) -> usize {
    page.clone().term_width(COLUMNS).render_help().to_string().lines().count()
}

fn shorten_overview(page: Command) -> Command {
    let names = page.get_subcommands().filter(|command| !command.is_hide_set()).map(Command::get_name);
    let commands = wrap_list("Commands:", names);
    page.mut_args(|option| {
        let is_main = MAIN_OPTIONS.contains(&option.get_id().as_str());
        option.hide_short_help(!is_main)
    })
    .help_template("{about-with-newline}\n{usage-heading} {usage}\n\nOptions:\n{options}{after-help}")
    .after_help(format!("{commands}\n\nRun 'aye COMMAND -h' for a command, 'aye --help' for everything."))
}

/// Joins a heading and names with commas, in lines that fit on a screen.
fn wrap_list<'a>(heading: &str, names: impl Iterator<Item = &'a str>) -> String {
    let (mut text, mut columns, mut separator) = (heading.to_owned(), heading.len(), "");
    for name in names {
        text.push_str(separator);
        columns += separator.len();
        if columns + 2 + name.len() > COLUMNS {
            text.push_str("\n ");
            columns = 1;
        }
        text.push(' ');
        text.push_str(name);
        columns += 1 + name.len();
        separator = ",";
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::help::command_tree;

    fn check_pages(page: &Command) {
        let name = page.get_display_name().unwrap_or_else(|| page.get_name());
        let short = fit_on_screen(page.clone()).term_width(COLUMNS).render_help().to_string();
        let columns = short.lines().map(|line| line.chars().count()).max().unwrap_or_default();
        assert!(short.lines().count() <= MAX_ROWS && columns <= COLUMNS, "{name}:\n{short}");
        assert!(short.contains("--help"), "{name}:\n{short}");
        let long = page.clone().term_width(COLUMNS).render_long_help().to_string();
        assert!(long.contains("Examples:\n  "), "{name}:\n{long}");
        page.get_subcommands().for_each(check_pages);
    }

    #[test]
    fn short_help_fits_on_a_screen_and_long_help_has_examples() {
        check_pages(&command_tree());
    }

    #[test]
    fn the_overview_names_every_command() {
        let tree = command_tree();
        let short = fit_on_screen(tree.clone()).render_help().to_string();
        for command in tree.get_subcommands() {
            assert!(short.contains(command.get_name()), "{short}");
        }
        assert!(short.contains("--print") && !short.contains("--debug-content"), "{short}");
    }
}
