//! `aye man`: the man pages, made from the parser, as `aye help` is.

use super::output::print_notice;
use crate::cli::EXAMPLES_HEADING;
use crate::cli::help::{command_tree, overview_examples};
use crate::cli::man::Man;
use crate::manual;
use anyhow::{Context, Result};
use clap::Command;
use clap_mangen::roff::{Roff, bold, roman};
use std::fs;
use std::io::{self, Write};
use std::path::Path;
use std::process::ExitCode;

/// Exit codes of the program.
const EXIT_CODES: [(&str, &str); 5] = [
    ("0", "Done."),
    ("1", "The provider or the system failed."),
    ("2", "The command line or a setting is wrong."),
    ("3", "With -p: a call was denied, or something waits for the user."),
    ("130", "Stopped with ctrl-c."),
];

/// Environment variables of the program.
const VARIABLES: [(&str, &str); 4] = [
    ("AYE_PROFILE", "Profile to use, unless --profile names one."),
    ("AYE_MODEL", "Model to use, unless --model names one."),
    ("AYE_HOME", "Folder for settings, sessions and everything else that aye stores, instead of the system's folders."),
    ("NO_COLOR", "If set, the screen has no colours."),
];

/// Prints the page of the program, or writes the pages of all commands to a folder.
pub(super) fn run(arguments: &Man) -> Result<ExitCode> {
    let tree = command_tree();
    match &arguments.dir {
        None => {
            let mut out = io::stdout().lock();
            out.write_all(render_page(&tree)?.as_bytes())?;
            out.flush()?;
        }
        Some(folder) => {
            fs::create_dir_all(folder).with_context(|| format!("Cannot create the folder {}", folder.display()))?;
            let count = write_pages(&tree, folder)?;
            print_notice(&format!("wrote {count} pages to {}", folder.display()))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the page of a command and those of its subcommands; returns their number.
fn write_pages(command: &Command, folder: &Path) -> Result<usize> {
    let file = folder.join(format!("{}.1", page_name(command)));
    fs::write(&file, render_page(command)?).with_context(|| format!("Cannot write {}", file.display()))?;
    let mut count = 1;
    for subcommand in visible_subcommands(command) {
        count += write_pages(subcommand, folder)?;
    }
    Ok(count)
}

fn visible_subcommands(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|command| !command.is_hide_set())
}

/// Returns the name of a page, such as `aye-sessions-list`.
fn page_name(command: &Command) -> &str {
    command.get_display_name().unwrap_or_else(|| command.get_name())
}

/// Renders the page of a command of the built tree, in ASCII: other characters are written as escapes.
fn render_page(command: &Command) -> io::Result<String> {
    let page = clap_mangen::Man::new(command.clone());
    let mut out = Vec::new();
    page.render_name_section(&mut out)?;
    page.render_synopsis_section(&mut out)?;
    page.render_description_section(&mut out)?;
    page.render_options_section(&mut out)?;
    if visible_subcommands(command).next().is_some() {
        page.render_subcommands_section(&mut out)?;
    }
    let mut roff = Roff::new();
    let is_program = page_name(command) == "aye";
    let footer = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    match is_program {
        true => add_examples(&mut roff, overview_examples()),
        false => add_examples(&mut roff, footer.strip_prefix(EXAMPLES_HEADING).unwrap_or_default()),
    }
    if is_program {
        add_list(&mut roff, "EXIT STATUS", &EXIT_CODES);
        add_list(&mut roff, "ENVIRONMENT", &VARIABLES);
    }
    add_references(&mut roff, command);
    roff.to_writer(&mut out)?;
    // Each section begins with the preamble. The title is not that of clap_mangen, which leaves out an empty date.
    let preamble = Roff::new().render();
    let body = String::from_utf8_lossy(&out).replace(&preamble, "");
    let title = format!(".TH {} 1 \"\" \"aye {}\" \"User Commands\"", page_name(command), env!("CARGO_PKG_VERSION"));
    // Empty lines are no text.
    let body = body.replace(".br\n\n.br\n", ".sp\n").replace("\n\n", "\n.sp\n");
    Ok(format!("{preamble}{title}\n{}", escape_non_ascii(&body)))
}

/// Adds examples, one per line, as they are.
fn add_examples(roff: &mut Roff, examples: &str) {
    if examples.trim().is_empty() {
        return;
    }
    roff.control("SH", ["EXAMPLES"]).control("nf", []);
    for line in examples.trim_end().lines() {
        roff.text([roman(line.strip_prefix("  ").unwrap_or(line))]);
    }
    roff.control("fi", []);
}

fn add_list(roff: &mut Roff, heading: &str, rows: &[(&str, &str)]) {
    roff.control("SH", [heading]);
    for (name, text) in rows {
        roff.control("TP", []).text([bold(*name)]).text([roman(*text)]);
    }
}

/// Adds where to read on: the page of the command above, and the manual.
fn add_references(roff: &mut Roff, command: &Command) {
    roff.control("SH", ["SEE ALSO"]);
    if let Some((parent, _)) = page_name(command).rsplit_once('-') {
        roff.text([bold(parent), roman("(1)")]).control("PP", []);
    }
    let topics: Vec<&str> = manual::topic_names().collect();
    let text = format!("prints a page of the manual. The topics are: {}.", topics.join(", "));
    roff.text([bold("aye help "), roman("TOPIC "), roman(text)]);
}

/// Replaces characters outside ASCII by escapes of roff, which every program reads, whatever the locale.
fn escape_non_ascii(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c.is_ascii() {
            true => escaped.push(c),
            false => escaped.push_str(&format!("\\[u{:04X}]", u32::from(c))),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(words: &[&str]) -> String {
        let tree = command_tree();
        let command = words.iter().fold(&tree, |command, word| command.find_subcommand(word).unwrap());
        render_page(command).unwrap()
    }

    #[test]
    fn the_page_of_the_program_has_options_commands_and_examples() {
        let page = render(&[]);
        for part in [
            "\\-\\-print",
            "aye\\-sessions(1)",
            ".SH EXAMPLES\n.nf\naye ",
            ".SH \"EXIT STATUS\"",
            ".TH aye 1 \"\" \"aye ",
            "AYE_HOME",
            "sandbox",
        ] {
            assert!(page.contains(part), "{part}: {page}");
        }
        assert!(!page.contains("\\-\\-hunks") && page.is_ascii(), "{page}");
    }

    #[test]
    fn a_page_of_a_command_has_its_examples_unfilled() {
        let page = render(&["files", "cat"]);
        assert!(page.contains(".SH EXAMPLES\n.nf\naye files cat reports/q1.md "), "{page}");
        assert!(page.contains("01J9\\[u2026]@2") && page.contains("aye\\-files"), "{page}");
    }

    #[test]
    fn each_command_has_a_page() {
        let folder = tempfile::tempdir().unwrap();
        let tree = command_tree();
        let count = write_pages(&tree, folder.path()).unwrap();
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), count);
        assert!(count > 60 && folder.path().join("aye-sessions-list.1").exists());
        assert!(render_page(&tree).unwrap() == fs::read_to_string(folder.path().join("aye.1")).unwrap());
    }
}
