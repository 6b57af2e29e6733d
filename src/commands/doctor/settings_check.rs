//! Checks the settings, and lists what is set and where each value comes from.

use super::finding::Finding;
use crate::chat::pluralize;
use crate::config::schema::{SECTIONS, find_setting};
use crate::config::settings_parser::WHOLE_FILE_IGNORED;
use crate::config::{Origin, Settings};
use crate::store::Places;
use crate::text::truncation::truncate_end;
use crate::tui::keys::Keymap;
use crate::tui::theme::catalog::Themes;
use std::collections::BTreeSet;
use toml::{Table, Value};

/// Characters shown of a value.
const MAX_VALUE_CHARS: usize = 60;

pub(super) fn check_settings(settings: &Settings, places: &Places) -> Vec<Finding> {
    let area = "settings";
    let mut findings = Vec::new();
    for problem in &settings.problems {
        let advice = match problem.message.ends_with(WHOLE_FILE_IGNORED) {
            true => "correct that line; until then no setting of this file applies",
            false => "correct that line; all valid settings apply",
        };
        findings.push(Finding::problem(area, problem.to_string(), advice));
    }
    for notice in &settings.notices {
        findings.push(Finding::note(area, notice.to_string(), "use the new name"));
    }
    let (_, key_problems) = Keymap::with_overrides(&settings.config.keys);
    findings.extend(key_problems.into_iter().map(|problem| Finding::problem(area, problem, "correct it under [keys]")));
    let themes = Themes::with_folder(&places.themes());
    for warning in &themes.warnings {
        findings.push(match warning.is_old_name {
            true => Finding::note("theme", warning.to_string(), "use the new name"),
            false => Finding::problem("theme", warning.to_string(), "correct that line of the theme"),
        });
    }
    let theme = &settings.config.screen.theme;
    if theme != "auto" && !themes.has(theme) {
        let names = themes.names();
        let advice = format!("available: auto, {}", names.join(", "));
        findings.push(Finding::problem("theme", format!("unknown theme {theme:?}"), advice));
    }
    let file = places.settings();
    let missing_label = if file.exists() { "" } else { " (does not exist)" };
    let set_values: Vec<(String, Origin)> =
        settings.origins().map(|(path, origin)| (path.to_owned(), origin.clone())).collect();
    let count = match set_values.len() {
        0 => "nothing is set, all defaults apply".to_owned(),
        count => pluralize(count, "setting"),
    };
    findings.push(Finding::ok(area, format!("{}{missing_label}: {count}", file.display())));
    let values = Table::try_from(&settings.config).unwrap_or_default();
    findings.extend(
        set_values
            .iter()
            .map(|(path, origin)| Finding::ok(area, format!("{path} = {} from {origin}", shown_value(&values, path)))),
    );
    findings
}

/// Lists every setting with its effective value, one per line, including defaults, but not unset profiles and hooks.
pub(super) fn effective_settings(settings: &Settings) -> Vec<String> {
    let values = Table::try_from(&settings.config).unwrap_or_default();
    let fixed_sections = SECTIONS.iter().filter(|(section, _)| !section.ends_with(".*") && *section != "keys");
    let path = |section: &'static str| move |(name, _): &(&str, _)| format!("{section}.{name}");
    let mut paths: BTreeSet<String> =
        fixed_sections.flat_map(|(section, settings)| settings.iter().map(path(section))).collect();
    paths.extend(settings.origins().map(|(path, _)| path.to_owned()));
    let format_line =
        |path: String| format!("{path} = {} from {}", shown_value(&values, &path), settings.origin(&path));
    paths.into_iter().map(format_line).collect()
}

/// Returns a setting's value as TOML, or `(not shown)` if it may hold a secret.
fn shown_value(values: &Table, path: &str) -> String {
    // The name of a profile or a hook may contain dots.
    let collection = ["profiles", "hooks", "mcp"].into_iter().find(|section| path.split('.').next() == Some(section));
    let Some((parent, name)) = path.rsplit_once('.') else { return "…".to_owned() };
    let section = collection.map_or(parent.to_owned(), |section| format!("{section}.*"));
    // Variable names and valid addresses hold no secrets.
    let is_public = ["base_url", "key_env", "key_header"].contains(&name);
    if !find_setting(&section, name).is_some_and(|accepted| accepted.is_displayable() || is_public) {
        return "(not shown)".to_owned();
    }
    let table = match collection.and_then(|section| Some((section, parent.strip_prefix(section)?.strip_prefix('.')?))) {
        Some((section, entry)) => values.get(section).and_then(|entries| entries.get(entry)),
        None => values.get(parent),
    };
    let value = table.and_then(|table| table.get(name)).map(Value::to_string).unwrap_or_else(|| "nothing".to_owned());
    truncate_end(&value, MAX_VALUE_CHARS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r57_possible_secrets_are_not_shown() {
        let text = "[screen]\ntheme = \"dark\"\n[profiles.\"a.b\"]\nbase_url = \"https://h/v1\"\nheaders = { X = \"sk-1\" }\n\
            key_command = [\"pass\", \"sk-2\"]\nproxy = \"http://u:sk-3@p:1\"\nidle_seconds = 7\n[hooks.\"a.b\"]\ncommand = \"x sk-4\"\nseconds = 3\n\
            [mcp.a]\nurl = \"https://h/?key=sk-5\"\nheaders = { X = \"sk-6\" }\ntrusted = true\n[mcp.b]\ncommand = \"x sk-7\"\nenv = { A = \"sk-8\" }\n[keys]\nquit = \"f10\"\n";
        let settings = Settings::from_layers(
            [crate::config::settings_parser::parse_settings(text, "f")],
            &|_| None,
            &crate::config::Overrides::default(),
        );
        assert_eq!(settings.problems, []);
        let values = Table::try_from(&settings.config).unwrap();
        for (path, expected) in [
            ("screen.theme", "\"dark\""),
            ("profiles.a.b.base_url", "\"https://h/v1\""),
            ("profiles.a.b.headers", "(not shown)"),
            ("profiles.a.b.key_command", "(not shown)"),
            ("profiles.a.b.proxy", "(not shown)"),
            ("profiles.a.b.idle_seconds", "7"),
            ("hooks.a.b.seconds", "3"),
            ("hooks.a.b.command", "(not shown)"),
            ("mcp.a.url", "(not shown)"),
            ("mcp.a.headers", "(not shown)"),
            ("mcp.a.trusted", "true"),
            ("mcp.b.env", "(not shown)"),
            ("keys.quit", "[\"f10\"]"),
            ("nothing.at_all", "(not shown)"),
        ] {
            assert_eq!(shown_value(&values, path), expected, "{path}");
        }
        let all = effective_settings(&settings);
        assert!(all.contains(&"screen.theme = \"dark\" from f:2".to_owned()), "{all:#?}");
        assert!(all.contains(&"screen.mouse = true from the default".to_owned()), "{all:#?}");
        assert!(all.iter().all(|line| !line.contains("sk-")), "{all:#?}");
    }
}
