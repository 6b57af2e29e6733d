//! What stands in README.md and config.example.toml is so.

use crate::support::folder::Folder;
use aye::cli::Cli;
use aye::config::{Config, Overrides, Settings};
use aye::print::Exit;
use aye::store::Places;
use aye::tools::Toolbox;
use aye::tui::keys::{Chord, Keymap};
use aye::tui::theme::load::Themes;
use clap::CommandFactory;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What stands before and behind the table of keys.
const KEYS: &str = "<!-- keys: written by `AYE_BLESS=1 cargo test --test suite table_of_keys` -->\n";
const END: &str = "<!-- end of keys -->\n";

fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(file(name)).unwrap()
}

/// The README without its table of keys, which is checked whole.
fn prose() -> String {
    let readme = text("README.md");
    let (before, rest) = readme.split_once(KEYS).unwrap();
    format!("{before}{}", rest.split_once(END).unwrap().1)
}

/// What stands in backticks on one line.
fn code(text: &str) -> Vec<&str> {
    text.lines()
        .filter(|line| !line.starts_with("```"))
        .flat_map(|line| line.split('`').skip(1).step_by(2))
        .collect()
}

/// The inside of the blocks that are marked as this.
fn blocks(text: &str, kind: &str) -> Vec<String> {
    let blocks = text.split("\n```").skip(1).step_by(2);
    blocks.filter_map(|block| block.strip_prefix(&format!("{kind}\n"))).map(str::to_owned).collect()
}

/// What a settings file with this text has wrong, the keys in it among it.
fn wrong(text: &str) -> Vec<String> {
    let place = Folder::new();
    let file = place.path().join("config.toml");
    std::fs::write(&file, text).unwrap();
    let settings = Settings::load(&file, &|_| None, &Overrides::default());
    let (_, keys) = Keymap::with(&settings.config.keys);
    settings.problems.iter().map(ToString::to_string).chain(keys).collect()
}

#[test]
fn the_table_of_keys_is_the_one_of_the_program() {
    let readme = text("README.md");
    let (before, rest) = readme.split_once(KEYS).expect("the README has a place for the keys");
    let (table, after) = rest.split_once(END).expect("the place for the keys ends");
    let expected = format!("\n{}\n", Keymap::default().markdown());
    if std::env::var_os("AYE_BLESS").is_some() {
        std::fs::write(file("README.md"), format!("{before}{KEYS}{expected}{END}{after}")).unwrap();
        return;
    }
    assert!(
        table == expected,
        "the keys have changed; AYE_BLESS=1 cargo test --test suite table_of_keys writes them anew"
    );
}

#[test]
fn every_key_that_the_readme_speaks_of_is_bound() {
    let readme = text("README.md");
    let prose = prose();
    let mut seen = 0;
    for word in code(&prose) {
        let is_chord = ["ctrl-", "alt-", "shift-", "f1"].iter().any(|start| word.starts_with(start))
            || ["enter", "esc", "?", "y", "n", "m", "a"].contains(&word);
        if is_chord {
            seen += 1;
            assert!(word.parse::<Chord>().is_ok(), "{word}");
            let (_, table) = readme.split_once(KEYS).unwrap();
            assert!(table.contains(&format!("`{word}`")), "{word} does nothing");
        }
    }
    assert!(seen > 10, "{seen}");
}

#[test]
fn every_flag_in_the_readme_is_one_and_every_command_line_in_it_reads() {
    let command = Cli::command();
    let flags: BTreeSet<String> =
        command.get_arguments().filter_map(|flag| flag.get_long()).map(|name| format!("--{name}")).collect();
    let prose = prose();
    let lines: Vec<&str> = prose.lines().chain(code(&prose)).collect();
    let mut seen = 0;
    for line in lines {
        let Some((_, call)) = line
            .split_once("aye ")
            .filter(|(before, _)| before.is_empty() || before.ends_with("| ") || before.ends_with("… "))
        else {
            continue;
        };
        let call = call.split('#').next().unwrap_or_default();
        let words: Vec<&str> = call.split_whitespace().collect();
        seen += 1;
        assert!(Cli::command().try_get_matches_from(["aye"].iter().chain(&words)).is_ok(), "{line}");
    }
    assert!(seen > 6, "{seen}");
    for word in code(&prose).iter().filter(|word| word.starts_with("--")) {
        assert!(flags.contains(*word), "{word} is no flag");
    }
}

#[test]
fn every_command_that_the_readme_speaks_of_is_one() {
    let prose = prose();
    let commands: Vec<&str> =
        code(&prose).into_iter().filter(|word| word.len() > 1 && word.starts_with('/')).collect();
    assert!(!commands.is_empty());
    for command in commands {
        assert!(aye::tui::command::parse(command).is_some(), "{command} is no command");
    }
}

#[test]
fn the_exit_codes_in_the_readme_are_those_of_the_program() {
    let prose = prose();
    let rows: Vec<&str> = prose.lines().filter(|line| line.starts_with("| ")).collect();
    for (code, words) in [
        (Exit::Done.code(), "the reply is whole"),
        (Exit::Failed.code(), "cut short"),
        (Exit::Waits.code(), "waits for a person"),
    ] {
        let row = rows.iter().find(|row| row.starts_with(&format!("| {code} |"))).unwrap();
        assert!(row.contains(words), "{row}");
    }
}

#[test]
fn every_example_of_settings_loads_without_a_word() {
    let readme = text("README.md");
    let examples = blocks(&readme, "toml");
    assert!(!examples.is_empty());
    for example in examples {
        assert_eq!(wrong(&example), [""; 0], "{example}");
    }
    let example = text("config.example.toml");
    let all: String = example
        .lines()
        .map(|line| {
            let setting = |line: &&str| line.contains(" = ") || line.starts_with('[');
            line.strip_prefix("# ").filter(setting).unwrap_or(line)
        })
        .flat_map(|line| [line, "\n"])
        .collect();
    assert!(all.contains("\npalette = "), "the examples are read too");
    assert_eq!(wrong(&all), [""; 0]);
    assert_eq!(wrong("[keys]\nno_such_action = \"f2\"\n").len(), 1, "what is wrong is seen");
}

#[test]
fn what_the_readme_counts_is_there() {
    let prose = prose();
    let code = code(&prose);
    for theme in Themes::bundled().all {
        assert!(code.contains(&theme.name.as_str()), "the theme {}", theme.name);
    }
    assert_eq!(Themes::bundled().all.len(), 5);
    for profile in Config::default().profiles.keys() {
        assert!(code.contains(&profile.as_str()), "the profile {profile}");
    }
    assert_eq!(Config::default().profiles.len(), 21);
    let tools = Toolbox::builtin(aye::tools::Settings::default()).specs();
    for tool in &tools {
        assert!(code.contains(&tool.name.as_str()), "the tool {}", tool.name);
    }
    assert_eq!(tools.len(), 8);
}

#[test]
fn the_places_in_the_readme_are_those_of_the_program() {
    let prose = prose();
    let places = Places::under(Path::new("$AYE_HOME"));
    for place in [places.settings(), places.themes(), places.sessions(), places.history(), places.drafts()] {
        let folder: PathBuf = place.components().take(2).collect();
        assert!(prose.contains(&format!("`{}`", folder.display())), "{}", folder.display());
    }
}

#[test]
fn every_file_that_the_readme_links_to_is_there() {
    let readme = text("README.md");
    let links: Vec<&str> =
        readme.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link).collect();
    assert!(links.len() > 4, "{links:?}");
    for link in links.iter().filter(|link| !link.contains("://")) {
        assert!(file(link).exists(), "{link}");
    }
}
