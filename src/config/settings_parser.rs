//! Reads one settings file: valid settings with their lines, and errors for the rest.

use super::base_address::UNUSABLE_ADDRESS;
use super::problem::find_nearest;
use super::schema::{self, ANY_NAME, NAMED_SECTIONS, SECTIONS, ValueKind};
use super::{Origin, Problem, command_words, renamed_settings, repeated_profiles};
use std::collections::BTreeMap;
use toml::{Table, Value};
use toml_edit::{Document, Item};

/// Maximum characters of an invalid value that are shown.
const MAX_SHOWN_CHARS: usize = 40;

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
    let (whole, twice) = remove_repeated_profiles(text);
    let text = whole.as_str();
    let mut reading =
        SettingsParser { text, file, document: None, written_names: BTreeMap::new(), layer: Layer::default() };
    for (name, first, line) in twice {
        let at = Origin::File { file: file.to_owned(), line };
        let words = format!(
            "profile {name} is already defined on line {first}. That definition is used and this one is ignored"
        );
        reading.layer.problems.push(Problem { origin: at, message: words });
    }
    match (text.parse::<Table>(), Document::parse(text)) {
        (Ok(table), Ok(document)) => {
            reading.document = Some(document);
            reading.parse_sections(table);
        }
        (Err(error), _) => reading.report_syntax_error(error.message(), error.span().map_or(0, |span| span.start)),
        (_, Err(error)) => reading.report_syntax_error(error.message(), error.span().map_or(0, |span| span.start)),
    }
    let line = |problem: &Problem| match problem.origin {
        Origin::File { line, .. } => line,
        Origin::Default | Origin::Environment(_) | Origin::Flag(_) | Origin::Entered | Origin::Command(_) => 0,
    };
    reading.layer.problems.sort_by_key(line);
    reading.layer.notices.sort_by_key(line);
    reading.layer
}

/// Removes repeated profile sections. Returns the remaining text and, for each removed section, its name and both
/// lines. A text that is invalid TOML for another reason is returned unchanged.
fn remove_repeated_profiles(text: &str) -> (String, Vec<(String, usize, usize)>) {
    let (mut without, mut found) = (text.to_owned(), Vec::new());
    while without.parse::<Table>().is_err() {
        match repeated_profiles::find_repeated_profile(&without) {
            Some(twice) => {
                found.push((twice.name, twice.first, twice.repeated));
                without = twice.remaining_text;
            }
            None => return (text.to_owned(), Vec::new()),
        }
    }
    (without, found)
}

/// State while reading one file.
struct SettingsParser<'a> {
    text: &'a str,
    file: &'a str,
    document: Option<Document<&'a str>>,
    /// Old names in the file, by the path with the new name.
    written_names: BTreeMap<String, String>,
    layer: Layer,
}

impl SettingsParser<'_> {
    fn report_syntax_error(&mut self, message: &str, byte: usize) {
        let mut message = message.lines().next().unwrap_or("syntax error");
        let line = self.text.as_bytes()[..byte.min(self.text.len())].iter().filter(|&&byte| byte == b'\n').count();
        let value = self.text.lines().nth(line).and_then(|line| line.split_once('='));
        if value.is_some_and(|(_, value)| ["null", "nil", "None", "none"].contains(&value.trim())) {
            message = "TOML has no null: remove the line";
        }
        let words = format!("this is not TOML ({message}); the whole file is ignored");
        self.layer.problems.push(Problem { origin: self.origin_at(byte), message: words });
    }

    fn parse_sections(&mut self, mut table: Table) {
        self.replace_old_names(&[], "", &mut table);
        for (section, value) in table {
            if !SECTIONS.contains(&section.as_str()) {
                self.report_problem(
                    &[&section],
                    describe_unknown_name(&section, "section", "", SECTIONS.iter().copied()),
                );
                continue;
            }
            match value {
                Value::Table(table) if NAMED_SECTIONS.contains(&section.as_str()) => {
                    self.parse_named_sections(&section, table)
                }
                Value::Table(table) => self.parse_section(&[&section], &section, table),
                other => {
                    let words = format!("{section} is {}; expected a section [{section}]", format_value(&other));
                    self.report_problem(&[&section], words);
                }
            }
        }
    }

    fn parse_named_sections(&mut self, section: &str, named: Table) {
        for (name, value) in named {
            if section == "hooks" {
                // A hook must exist even if its settings are invalid, so that calls ask.
                self.section_table(&[section, &name]);
            }
            match value {
                Value::Table(table) => self.parse_section(&[section, &name], &format!("{section}.*"), table),
                other => {
                    let found = format_value(&other);
                    let words = format!("{section}.{name} is {found}; expected a section [{section}.{name}]");
                    self.report_problem(&[section, &name], words);
                }
            }
        }
    }

    /// Returns the table of valid settings for a section, creating it if necessary.
    fn section_table(&mut self, sections: &[&str]) -> &mut Table {
        let mut table = &mut self.layer.table;
        for section in sections {
            let below = table.entry(*section).or_insert_with(|| Value::Table(Table::new()));
            table = below.as_table_mut().expect("only sections are put here");
        }
        table
    }

    /// Replaces the old names in a section and adds a notice for each. If both names are given, the new one counts.
    fn replace_old_names(&mut self, above: &[&str], section: &str, table: &mut Table) {
        let names: Vec<String> = table.keys().cloned().collect();
        for old in names {
            let Some(new) = renamed_settings::find_new_name(section, &old) else { continue };
            let path: Vec<&str> = above.iter().copied().chain([old.as_str()]).collect();
            let location = self.locate_setting(&path);
            let Some(value) = table.remove(&old) else { continue };
            let has_both = table.keys().any(|name| renamed_settings::is_same_name(section, name, new));
            let effect = match has_both {
                true => "both are given and only the new name counts",
                false => "the old name works in this release",
            };
            let message = match section {
                "" => format!("`[{old}]` is now `[{new}]`; {effect}"),
                _ => format!("`{}` is now `{new}`; {effect}", path.join(".")),
            };
            if !has_both {
                let path: Vec<&str> = above.iter().copied().chain([new]).collect();
                self.written_names.insert(path.join("."), old);
                table.insert(new.to_owned(), value);
            }
            self.layer.notices.push(Problem { origin: location, message });
        }
    }

    fn parse_section(&mut self, above: &[&str], section: &str, mut table: Table) {
        self.replace_old_names(above, section, &mut table);
        for (name, value) in table {
            let path: Vec<&str> = above.iter().copied().chain([name.as_str()]).collect();
            let takes = schema::settings_in_section(section).find(|(known, _)| *known == name || *known == ANY_NAME);
            if let Some((_, takes @ (ValueKind::Address | ValueKind::Proxy))) = takes
                && takes.find_error(&value).is_some()
            {
                // The built-in address, or no proxy, would lead elsewhere: the profile must be unusable instead.
                self.store_setting(&path, Value::String(UNUSABLE_ADDRESS.to_owned()), takes);
            }
            match takes {
                Some((_, takes)) => match takes.find_error(&value) {
                    None => self.store_setting(&path, value, takes),
                    Some(_) if matches!(path[..], ["model_reviewer", "profile"] | ["dry_run", "simulator"]) => {
                        // A reviewer or simulator is wanted but unknown, which is not the same as none.
                        self.section_table(above).insert(name.clone(), Value::String(String::new()));
                        let (setting, found) = (path.join("."), describe_found(takes, &value));
                        self.report_problem(&path, format!("{setting} {found}; expected the name of a profile"));
                    }
                    Some(particular) if particular.is_empty() => {
                        let (setting, found) = (path.join("."), describe_found(takes, &value));
                        self.report_problem(
                            &path,
                            format!("{setting} {found}; expected {}", takes.describe_expected()),
                        );
                    }
                    Some(particular) => self.report_problem(&path, format!("{} {particular}", path.join("."))),
                },
                None => {
                    let names = schema::settings_in_section(section).map(|(name, _)| name);
                    let within = format!("{}.", above.join("."));
                    self.report_problem(&path, describe_unknown_name(&name, "setting", &within, names));
                }
            }
        }
    }

    fn store_setting(&mut self, path: &[&str], value: Value, takes: &ValueKind) {
        let value = match (value, takes) {
            // A single chord becomes a list of one.
            (Value::String(chord), ValueKind::Chords) => Value::Array(vec![Value::String(chord)]),
            (Value::String(text), ValueKind::Command) => {
                let words = command_words::split_command(&text).unwrap_or_default();
                Value::Array(words.into_iter().map(Value::String).collect())
            }
            (value, _) => value,
        };
        let (name, above) = path.split_last().expect("a setting has a name");
        self.section_table(above).insert((*name).to_owned(), value);
        let origin = self.locate_setting(path);
        self.layer.origins.insert(path.join("."), origin);
    }

    fn report_problem(&mut self, path: &[&str], words: String) {
        self.layer.problems.push(Problem { origin: self.locate_setting(path), message: words });
    }

    /// Returns the location of a setting's name in the file.
    fn locate_setting(&self, path: &[&str]) -> Origin {
        let mut item = self.document.as_ref().map(Document::as_item);
        let mut byte = 0;
        for (depth, name) in path.iter().enumerate() {
            let table = item.and_then(Item::as_table_like);
            let written = self.written_names.get(&path[..=depth].join(".")).map_or(*name, String::as_str);
            let Some((key, below)) = table.and_then(|table| table.get_key_value(written)) else { break };
            byte = key.span().map_or(byte, |span| span.start);
            item = Some(below);
        }
        self.origin_at(byte)
    }

    fn origin_at(&self, byte: usize) -> Origin {
        let before = &self.text.as_bytes()[..byte.min(self.text.len())];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        Origin::File { file: self.file.to_owned(), line }
    }
}

fn describe_unknown_name<'a>(name: &str, what: &str, within: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.collect();
    let near = find_nearest(name, known.iter().copied());
    let may_be_a_key = near.is_none_or(|near| near == "key_env");
    let called_so = ["key", "token", "secret"].iter().any(|word| name.contains(word));
    if known.contains(&"key_env") && called_so && may_be_a_key {
        let hint = "keys are not stored in this file; key_env names the variable that holds the key";
        return format!("{within}{} is not a {what}; {hint}", truncate_value(name));
    }
    let hint = match near {
        Some(near) => format!("did you mean {within}{near}?"),
        None => format!("available: {}", known.join(", ")),
    };
    format!("{within}{} is not a {what}; {hint}", truncate_value(name))
}

fn describe_found(takes: &ValueKind, value: &Value) -> String {
    if takes.is_displayable() { format!("is {}", format_value(value)) } else { "has an invalid value".to_owned() }
}

/// Formats an invalid value on one line.
fn format_value(value: &Value) -> String {
    match value {
        Value::Table(_) => "a table".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::String(text) => format!("{:?}", truncate_value(text)),
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) => value.to_string(),
    }
}

fn truncate_value(text: &str) -> String {
    let mut short: String = text.chars().take(MAX_SHOWN_CHARS).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests;
