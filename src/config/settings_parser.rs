//! Reads one settings file: valid settings with their lines, and errors for the rest.

use super::base_address::UNUSABLE_ADDRESS;
use super::problem::{find_nearest, line_at};
use super::schema::{self, ValueKind};
use super::{Origin, Problem, command_words, renamed_settings, repeated_profiles};
use crate::text::truncation::truncate_end;
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::de::{DeTable, DeValue, ValueDeserializer};
use toml::{Spanned, Table, Value};

/// Section name passed to `read_entries` for the names of profiles and hooks. No renamed setting has this section, so
/// these names are never replaced.
const USER_CHOSEN_NAMES: &str = "*";

/// Maximum characters of an invalid value that are shown.
const MAX_SHOWN_CHARS: usize = 40;

/// End of the message about a file that is not TOML.
pub const WHOLE_FILE_IGNORED: &str = "Correct it: until then the whole file is ignored";

/// Valid settings of one file. Later layers override earlier ones.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Layer {
    pub table: Table,
    /// Line of each setting by its path, such as `screen.theme`.
    pub origins: BTreeMap<String, Origin>,
    /// Errors in file order.
    pub problems: Vec<Problem>,
    /// Old names of settings, in file order. Their values apply.
    pub notices: Vec<Problem>,
}

/// Reads the text of a settings file; `file` is its name as displayed. Never fails: a text that is not TOML gives one
/// problem and no settings.
pub fn parse_settings(text: &str, file: &str) -> Layer {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (text, repeated) = remove_repeated_profiles(text);
    let mut parser = SettingsParser { text: &text, file, layer: Layer::default() };
    for (name, first, line) in repeated {
        let message = format!(
            "profile {name} is already defined on line {first}. Remove this definition: only the first one is used"
        );
        parser.layer.problems.push(Problem::in_file(file, line, message));
    }
    match DeTable::parse(&text) {
        Ok(table) => parser.parse_sections(table.into_inner()),
        Err(error) => parser.report_syntax_error(error.message(), error.span().map_or(0, |span| span.start)),
    }
    parser.layer.problems.sort_by_key(|problem| problem.origin.line());
    parser.layer.notices.sort_by_key(|notice| notice.origin.line());
    parser.layer
}

/// Removes repeated profile sections. Returns the remaining text and, for each removed section, its name, the line of
/// the first section with that name and its own line. A text that is invalid TOML for another reason is returned
/// unchanged.
fn remove_repeated_profiles(text: &str) -> (String, Vec<(String, usize, usize)>) {
    let (mut remaining_text, mut removed) = (text.to_owned(), Vec::new());
    while remaining_text.parse::<Table>().is_err() {
        match repeated_profiles::find_repeated_profile(&remaining_text) {
            Some(repeated) => {
                removed.push((repeated.name, repeated.first_line, repeated.repeated_line));
                remaining_text = repeated.remaining_text;
            }
            None => return (text.to_owned(), Vec::new()),
        }
    }
    (remaining_text, removed)
}

/// State while reading one file.
struct SettingsParser<'a> {
    text: &'a str,
    file: &'a str,
    layer: Layer,
}

/// A setting or a section of the file.
struct Entry<'a> {
    /// Name. A renamed setting has its new name.
    name: String,
    location: Origin,
    value: Spanned<DeValue<'a>>,
}

impl SettingsParser<'_> {
    fn report_syntax_error(&mut self, message: &str, offset: usize) {
        let mut message = message.lines().next().unwrap_or("syntax error");
        let line = self.text.lines().nth(line_at(self.text.as_bytes(), offset) - 1);
        let value = line.and_then(|line| line.split_once('='));
        if value.is_some_and(|(_, value)| ["null", "nil", "None", "none"].contains(&value.trim())) {
            message = "TOML has no null: remove the line";
        }
        self.report(self.origin_at(offset), format!("this is not TOML ({message}). {WHOLE_FILE_IGNORED}"));
    }

    fn parse_sections(&mut self, table: DeTable<'_>) {
        for Entry { name, location, value } in self.read_entries(&[], "", table) {
            if !schema::section_names().any(|section| section == name) {
                self.report(location, describe_unknown_name(&name, "section", "", schema::section_names()));
                continue;
            }
            let Some(table) = self.read_section(&[&name], &location, value) else { continue };
            let subsections = format!("{name}.*");
            if schema::settings_in_section(&subsections).is_empty() {
                self.parse_section(&[&name], &name, table);
                continue;
            }
            // The names of profiles and hooks are the user's own: none of them is an old name.
            for entry in self.read_entries(&[&name], USER_CHOSEN_NAMES, table) {
                let path = [name.as_str(), entry.name.as_str()];
                if name == "hooks" {
                    // A hook must exist even if its settings are invalid, so that the calls it would review ask.
                    self.section_table(&path);
                }
                if let Some(table) = self.read_section(&path, &entry.location, entry.value) {
                    self.parse_section(&path, &subsections, table);
                }
            }
        }
    }

    /// Returns the table of a section. Reports any other value.
    fn read_section<'a>(
        &mut self,
        path: &[&str],
        location: &Origin,
        value: Spanned<DeValue<'a>>,
    ) -> Option<DeTable<'a>> {
        match value.into_inner() {
            DeValue::Table(table) => Some(table),
            other => {
                let name = path.join(".");
                // `read_value` does not use the span.
                let found = self.read_value(&name, location, Spanned::new(0..0, other))?;
                self.report(location.clone(), format!("{name} is {}. Use a section [{name}]", format_value(&found)));
                None
            }
        }
    }

    /// Reads a value. Reports a number that is out of range.
    fn read_value(&mut self, setting: &str, location: &Origin, value: Spanned<DeValue<'_>>) -> Option<Value> {
        match Value::deserialize(ValueDeserializer::from(value)) {
            Ok(value) => Some(value),
            Err(_) => {
                self.report(
                    location.clone(),
                    format!("{setting} has a number that is out of range. Use a smaller one"),
                );
                None
            }
        }
    }

    /// Returns the table of valid settings for a section, creating it if necessary.
    fn section_table(&mut self, sections: &[&str]) -> &mut Table {
        let mut table = &mut self.layer.table;
        for section in sections {
            let subtable = table.entry(*section).or_insert_with(|| Value::Table(Table::new()));
            table = subtable.as_table_mut().expect("only sections are put here");
        }
        table
    }

    /// Reads the names in a table. An old name is replaced, with a notice; if both names are given, the new one counts.
    fn read_entries<'a>(&mut self, parents: &[&str], section: &str, table: DeTable<'a>) -> Vec<Entry<'a>> {
        let mut names: Vec<String> = table.keys().map(|key| key.get_ref().to_string()).collect();
        let mut entries = Vec::new();
        for (key, value) in table {
            let (old, location) = (key.get_ref().to_string(), self.origin_at(key.span().start));
            let Some(new) = renamed_settings::find_new_name(section, &old) else {
                entries.push(Entry { name: old, location, value });
                continue;
            };
            let has_both = names.iter().any(|name| renamed_settings::is_same_name(section, name, new));
            let effect = match has_both {
                true => "both are given and only the new name counts",
                false => "the old name works in this release",
            };
            let message = match section {
                "" => format!("`[{old}]` is now `[{new}]`; {effect}"),
                _ => format!("`{}.{old}` is now `{new}`; {effect}", parents.join(".")),
            };
            self.layer.notices.push(Problem { origin: location.clone(), message });
            if !has_both {
                names.push(new.to_owned());
                entries.push(Entry { name: new.to_owned(), location, value });
            }
        }
        entries
    }

    fn parse_section(&mut self, parents: &[&str], section: &str, table: DeTable<'_>) {
        for Entry { name, location, value } in self.read_entries(parents, section, table) {
            let prefix = format!("{}.", parents.join("."));
            let setting = format!("{prefix}{name}");
            let Some(setting_kind) = schema::find_setting(section, &name) else {
                let names = schema::settings_in_section(section).iter().map(|(name, _)| *name);
                self.report(location, describe_unknown_name(&name, "setting", &prefix, names));
                continue;
            };
            let Some(value) = self.read_value(&setting, &location, value) else { continue };
            let path: Vec<&str> = parents.iter().copied().chain([name.as_str()]).collect();
            let Some(specific_error) = setting_kind.find_error(&value) else {
                self.store_setting(&path, value, setting_kind, location);
                continue;
            };
            if matches!(setting_kind, ValueKind::Address | ValueKind::Proxy) {
                // If the value were dropped, requests would go to the built-in address or without the proxy. An
                // unusable value makes them fail instead.
                self.store_setting(&path, Value::String(UNUSABLE_ADDRESS.to_owned()), setting_kind, location.clone());
            }
            let found = describe_found(setting_kind, &value);
            let message = if matches!(path[..], ["model_reviewer", "profile"] | ["dry_run", "simulator"]) {
                // An empty name means that a reviewer or simulator is configured but unusable, not that there is none.
                self.section_table(parents).insert(name.clone(), Value::String(String::new()));
                format!("{setting} {found}. Use the name of a profile")
            } else if specific_error.is_empty() {
                format!("{setting} {found}. Use {}", setting_kind.describe_expected())
            } else {
                format!("{setting} {specific_error}")
            };
            self.report(location, message);
        }
    }

    fn store_setting(&mut self, path: &[&str], value: Value, kind: &ValueKind, location: Origin) {
        let value = match (value, kind) {
            // A single chord becomes a list of one.
            (Value::String(chord), ValueKind::Chords) => Value::Array(vec![Value::String(chord)]),
            (Value::String(text), ValueKind::Command) => {
                let words = command_words::split_command(&text).unwrap_or_default();
                Value::Array(words.into_iter().map(Value::String).collect())
            }
            (value, _) => value,
        };
        let (name, parents) = path.split_last().expect("a setting has a name");
        self.section_table(parents).insert((*name).to_owned(), value);
        self.layer.origins.insert(path.join("."), location);
    }

    fn report(&mut self, origin: Origin, message: String) {
        self.layer.problems.push(Problem { origin, message });
    }

    fn origin_at(&self, offset: usize) -> Origin {
        Origin::File { file: self.file.to_owned(), line: line_at(self.text.as_bytes(), offset) }
    }
}

fn describe_unknown_name<'a>(name: &str, noun: &str, prefix: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.collect();
    let nearest = find_nearest(name, known.iter().copied());
    let is_possibly_key = nearest.is_none_or(|suggestion| suggestion == "key_env");
    let is_named_like_key = ["key", "token", "secret"].iter().any(|word| name.contains(word));
    let hint = match nearest {
        _ if known.contains(&"key_env") && is_named_like_key && is_possibly_key => {
            "Keys are not stored in this file: use key_env, which names the variable that holds the key".to_owned()
        }
        Some(nearest) => format!("Did you mean {prefix}{nearest}?"),
        None => format!("Use one of: {}", known.join(", ")),
    };
    format!("{prefix}{} is not a {noun}. {hint}", truncate_end(name, MAX_SHOWN_CHARS))
}

fn describe_found(kind: &ValueKind, value: &Value) -> String {
    if kind.is_displayable() { format!("is {}", format_value(value)) } else { "has an invalid value".to_owned() }
}

/// Formats an invalid value on one line.
fn format_value(value: &Value) -> String {
    match value {
        Value::Table(_) => "a table".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::String(text) => format!("{:?}", truncate_end(text, MAX_SHOWN_CHARS)),
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) => value.to_string(),
    }
}

#[cfg(test)]
mod tests;
