//! The README, the manual in `docs` and `config.example.toml` agree with the program.

use crate::support::folder::Folder;
use aye::cli::{Cli, parse_arguments};
use aye::config::{Config, Overrides, Settings};
use aye::print::Exit;
use aye::store::Places;
use aye::tools::Toolbox;
use aye::tui::keys::{Chord, Keymap, Scope};
use aye::tui::theme::catalog::Themes;
use clap::CommandFactory;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// Pages that the tests write when `AYE_BLESS` is set.
const GENERATED: [&str; 2] = ["docs/keys.md", "docs/settings.md"];

const KEYS: &str = "# Keys

Every key can be changed in the settings by the name of its action:

```toml
[keys]
palette = [\"ctrl-p\", \"f2\"]
approve_always = []                # an empty list removes the key
```

An action that occurs in several tables changes in all of them. A renamed action keeps its old name for one release; a notice
shows the new one. In a question prompt digits pick an option. A prompt ignores keys for half a second after it appears and
after the last key typed elsewhere.

<!-- written by `AYE_BLESS=1 cargo test --test suite manual` -->
";

const SETTINGS: &str = "# Settings

The settings are in `config.toml` in the settings folder (see [Sessions](sessions.md#where-files-are-stored)). No file is
needed. A wrong setting is reported with its line, and the rest applies; a file that is not valid TOML is ignored as a
whole. Flags win over environment variables, and those over the file. Files of a project set nothing but rules, and those
only once you trust them. A renamed setting keeps its old name for one release; a notice at the start and in `aye doctor`
shows the new one.
[config.example.toml](../config.example.toml) holds the same keys as a file to copy from.

<!-- written by `AYE_BLESS=1 cargo test --test suite manual` -->
";

/// The path of a file of the repository.
fn file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn text(name: &str) -> String {
    std::fs::read_to_string(file(name)).unwrap()
}

/// Paths of the README and of every page of the manual, relative to the root of the repository.
fn pages() -> Vec<String> {
    let names = std::fs::read_dir(file("docs")).unwrap().map(|entry| entry.unwrap().file_name());
    let mut pages: Vec<String> =
        names.map(|name| format!("docs/{}", name.to_str().unwrap())).filter(|name| name.ends_with(".md")).collect();
    pages.push("README.md".to_owned());
    pages.sort();
    assert!(pages.len() > 15, "{pages:?}");
    pages
}

/// The text of all pages that were written by hand.
fn prose() -> String {
    let pages = pages().into_iter().filter(|page| !GENERATED.contains(&page.as_str()));
    pages.map(|page| text(&page) + "\n").collect()
}

/// Every text in backticks on one line, code blocks excluded.
fn code(text: &str) -> Vec<&str> {
    text.lines().filter(|line| !line.starts_with("```")).flat_map(|line| line.split('`').skip(1).step_by(2)).collect()
}

/// The contents of the code blocks of this language.
fn blocks(text: &str, kind: &str) -> Vec<String> {
    let blocks = text.split("\n```").skip(1).step_by(2);
    blocks.filter_map(|block| block.strip_prefix(&format!("{kind}\n"))).map(str::to_owned).collect()
}

/// The problems of a settings file with this text, its key bindings included.
fn problems(text: &str) -> Vec<String> {
    let root = Folder::new();
    let file = root.path().join("config.toml");
    std::fs::write(&file, text).unwrap();
    let settings = Settings::load(&file, &|_| None, &Overrides::default());
    let (_, keys) = Keymap::with_overrides(&settings.config.keys);
    settings.problems.iter().map(ToString::to_string).chain(keys).collect()
}

/// Compares a generated page with its file, or writes it if `AYE_BLESS` is set.
fn assert_generated(name: &str, expected: &str) {
    if std::env::var_os("AYE_BLESS").is_some() {
        std::fs::write(file(name), expected).unwrap();
        return;
    }
    assert!(
        text(name) == expected,
        "{name} is out of date; AYE_BLESS=1 cargo test --test suite manual writes it again"
    );
}

/// One section of `config.example.toml`.
struct Section {
    name: String,
    about: String,
    /// Name, default and meaning of each key.
    keys: Vec<(String, String, String)>,
}

/// Reads the sections, keys, defaults and comments of `config.example.toml`. A key without a default is written there as a comment.
fn sections(example: &str) -> Vec<Section> {
    let mut sections: Vec<Section> = Vec::new();
    let mut comment = String::new();
    for line in example.lines() {
        let setting = line.strip_prefix("# ").unwrap_or(line);
        let is_set = !line.starts_with('#');
        let name = setting.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        let key = setting
            .split_once(" = ")
            .filter(|(key, _)| !key.is_empty() && key.chars().all(|c| c.is_ascii_lowercase() || c == '_'));
        if let Some(name) = name {
            let about = std::mem::take(&mut comment);
            sections.push(Section { name: name.to_owned(), about, keys: Vec::new() });
        } else if let (Some((key, value)), Some(section)) = (key, sections.last_mut()) {
            let default = if is_set { format!("`{value}`") } else { format!("unset; e.g. `{value}`") };
            section.keys.push((key.to_owned(), default, std::mem::take(&mut comment)));
        } else if let Some(text) = line.strip_prefix("# ") {
            comment.push_str(if comment.is_empty() { "" } else { " " });
            comment.push_str(text);
        } else {
            comment.clear();
        }
    }
    sections
}

fn settings_page() -> String {
    let mut page = SETTINGS.to_owned();
    for section in sections(&text("config.example.toml")) {
        // The built-in profiles repeat keys of the first one, without a description.
        let is_repeated = section.keys.iter().all(|(_, _, about)| about.is_empty());
        if section.name.starts_with("profiles.") && is_repeated {
            continue;
        }
        page.push_str(&format!("\n## `[{}]`\n", section.name));
        if !section.about.is_empty() {
            page.push_str(&format!("\n{}\n", section.about));
        }
        page.push_str("\n| key | default | meaning |\n|---|---|---|\n");
        for (key, default, about) in section.keys {
            let cell = |text: &str| text.replace('|', "\\|");
            page.push_str(&format!("| `{key}` | {} | {} |\n", cell(&default), cell(&about)));
        }
    }
    page
}

fn keys_page() -> String {
    let mut page = KEYS.to_owned();
    for scope in Scope::ALL {
        page.push_str(&format!("\n**{}**\n\n| Key | Action | Setting |\n|---|---|---|\n", scope.heading()));
        for row in Keymap::default().help_rows(&[*scope]) {
            let chords: Vec<String> = row.chords.iter().map(|chord| format!("`{chord}`")).collect();
            let (help, name) = (row.label(), row.action.name());
            page.push_str(&format!("| {} | {help} | `{name}` |\n", chords.join(" ")));
        }
    }
    page
}

#[test]
fn the_key_reference_is_generated() {
    assert_generated("docs/keys.md", &keys_page());
}

#[test]
fn the_settings_reference_is_generated_and_complete() {
    let page = settings_page();
    for key in ["`fallback`", "`simulator`", "`reasoning_effort`", "`editor`", "`palette`", "`timeout`"] {
        assert!(page.contains(&format!("\n| {key} | ")), "{key} is missing");
    }
    assert_generated("docs/settings.md", &page);
}

#[test]
fn the_readme_is_short() {
    let lines = text("README.md").lines().count();
    assert!(lines <= 200, "README.md has {lines} lines; expected at most 200");
}

#[test]
fn every_key_in_the_manual_is_bound() {
    let (prose, table) = (prose(), text("docs/keys.md"));
    let mut seen = 0;
    for word in code(&prose) {
        let is_chord = ["ctrl-", "alt-", "shift-", "f1"].iter().any(|start| word.starts_with(start))
            || ["enter", "esc", "?", "y", "n", "m", "a"].contains(&word);
        if is_chord {
            seen += 1;
            assert!(word.parse::<Chord>().is_ok(), "{word}");
            assert!(table.contains(&format!("`{word}`")), "{word} is not bound");
        }
    }
    assert!(seen > 10, "{seen}");
}

#[test]
fn every_flag_and_command_line_in_the_manual_is_accepted() {
    let program = Cli::command();
    let flags: BTreeSet<String> = std::iter::once(&program)
        .chain(program.get_subcommands())
        .chain(program.get_subcommands().flat_map(|command| command.get_subcommands()))
        .flat_map(|command| command.get_arguments())
        .filter_map(|flag| flag.get_long())
        .map(|name| format!("--{name}"))
        .collect();
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
        let call = call.split(" #").next().unwrap_or_default();
        let words = shlex::split(call).unwrap_or_else(|| call.split_whitespace().map(str::to_owned).collect());
        seen += 1;
        assert!(parse_arguments(words.iter().map(Into::into)).is_ok(), "{line}");
    }
    assert!(seen > 6, "{seen}");
    for word in code(&prose).iter().filter(|word| word.starts_with("--") && word.len() > 2) {
        let name = word.split(['=', ' ']).next().unwrap();
        assert!(flags.contains(name), "{word} is not a flag");
    }
}

#[test]
fn every_slash_command_in_the_manual_exists() {
    let prose = prose();
    let commands: BTreeSet<&str> = code(&prose)
        .into_iter()
        .filter(|word| word.len() > 1 && word.starts_with('/') && !word[1..].contains('/'))
        .collect();
    assert!(commands.len() > 8, "{commands:?}");
    // The example of a command that a file defines.
    let is_example = |command: &&str| command.split(' ').next() == Some("/review");
    for command in commands.into_iter().filter(|command| !is_example(command)) {
        assert!(aye::tui::update::slash_commands::parse(command).is_some(), "{command} is not a command");
    }
}

#[test]
fn the_exit_codes_in_the_manual_are_those_of_the_program() {
    let page = text("docs/headless.md");
    for (code, words) in [
        (Exit::Done.code(), "the reply is complete"),
        (Exit::Failed.code(), "cut short"),
        (Exit::Waiting.code(), "waits for a user"),
    ] {
        let row = page.lines().find(|row| row.starts_with(&format!("| {code} |"))).unwrap();
        assert!(row.contains(words), "{row}");
    }
}

#[test]
fn every_example_of_settings_loads_without_a_problem() {
    let examples: Vec<String> = pages().iter().flat_map(|page| blocks(&text(page), "toml")).collect();
    assert!(examples.len() > 5, "{examples:?}");
    for example in examples {
        assert_eq!(problems(&example), [""; 0], "{example}");
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
    assert!(all.contains("\npalette = "), "keys without a default are read too");
    assert_eq!(problems(&all), [""; 0]);
    assert_eq!(problems("[keys]\nno_such_action = \"f2\"\n").len(), 1);
}

#[test]
fn the_demo_scripts_of_the_manual_are_scripts() {
    let examples: Vec<String> = pages().iter().flat_map(|page| blocks(&text(page), "toml demo")).collect();
    assert!(!examples.is_empty());
    for example in examples {
        let parsed = aye::demo::parse_script("example", &example);
        assert!(parsed.is_ok(), "{parsed:?}: {example}");
    }
}

#[test]
fn the_tool_files_of_the_manual_define_tools() {
    let examples: Vec<String> = pages().iter().flat_map(|page| blocks(&text(page), "toml tool")).collect();
    assert!(examples.len() >= 5, "{examples:?}");
    use aye::tools::tool_file::{FileKind, starter_file};
    let starters = FileKind::ALL.map(|kind| starter_file(kind).replacen("NAME", "weather", 1));
    for example in examples.into_iter().chain(starters) {
        let parsed = aye::tools::tool_file::parse_tool("example.toml", &example);
        assert!(parsed.definition.is_some() && parsed.problems.is_empty(), "{:?}: {example}", parsed.problems);
    }
}

#[test]
fn the_manual_lists_every_theme_profile_and_tool() {
    let (themes, providers, tools) = (text("docs/themes.md"), text("docs/providers.md"), text("docs/tools.md"));
    for theme in Themes::bundled().all() {
        assert!(code(&themes).contains(&theme.name.as_str()), "the theme {}", theme.name);
    }
    for profile in Config::default().profiles.keys() {
        assert!(providers.contains(&format!("\n| `{profile}` | ")), "the profile {profile}");
    }
    assert_eq!(providers.matches("\n| `").count(), Config::default().profiles.len());
    let specs = Toolbox::with_builtin_tools(aye::tools::ToolSettings::default()).tool_specs().into_iter();
    let specs = specs.chain(Toolbox::background_specs()).chain(Toolbox::search_specs());
    let specs = specs.chain(Toolbox::browser_specs()).chain(Toolbox::workspace_specs());
    let specs: Vec<_> = specs.chain([aye::tools::load_skill::tool_spec()]).chain(Toolbox::doc_specs()).collect();
    for tool in &specs {
        assert!(tools.contains(&format!("\n| `{}` | ", tool.name)), "the tool {}", tool.name);
    }
    // Offered only if the settings choose a service.
    assert!(tools.contains("\n| `web_search` | "));
    assert_eq!(tools.matches("\n| `").count(), specs.len() + 1);
}

#[test]
fn the_folders_in_the_manual_are_those_of_the_program() {
    let page = text("docs/sessions.md");
    let places = Places::within(Path::new("$AYE_HOME"));
    for place in [places.settings(), places.themes(), places.sessions(), places.history(), places.drafts()] {
        let folder: PathBuf = place.components().take(2).collect();
        assert!(page.contains(&format!("`{}`", folder.display())), "{}", folder.display());
    }
}

/// The anchor that hosts of Markdown give to a heading.
fn anchor(heading: &str) -> String {
    let kept = heading.trim().to_lowercase();
    kept.chars()
        .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'))
        .map(|c| if c == ' ' { '-' } else { c })
        .collect()
}

#[test]
fn every_relative_link_leads_to_a_file_and_a_heading() {
    let mut seen = 0;
    for page in pages() {
        let content = text(&page);
        let links = content.split("](").skip(1).filter_map(|rest| rest.split_once(')')).map(|(link, _)| link);
        for link in links.filter(|link| !link.contains("://")) {
            let (path, heading) = link.split_once('#').unwrap_or((link, ""));
            let target = if path.is_empty() { file(&page) } else { file(&page).parent().unwrap().join(path) };
            assert!(target.exists(), "{page}: {link}");
            if !heading.is_empty() {
                let found = std::fs::read_to_string(target).unwrap();
                let mut headings = found.lines().filter_map(|line| line.strip_prefix('#'));
                assert!(headings.any(|line| anchor(line.trim_start_matches('#')) == heading), "{page}: {link}");
            }
            seen += 1;
        }
    }
    assert!(seen > 40, "{seen}");
}
