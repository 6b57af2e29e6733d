//! Reads one settings file: valid settings with their lines, and errors for the rest.

use super::base_address::UNUSABLE;
use super::known::{self, ANY, NAMED, SECTIONS, Takes};
use super::problem::nearest;
use super::{Origin, Problem, twice, words};
use std::collections::BTreeMap;
use toml::{Table, Value};
use toml_edit::{Document, Item};

/// Maximum characters of an invalid value that are shown.
const SHOWN: usize = 40;

/// Valid settings of one file. Later layers override earlier ones.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Layer {
    pub table: Table,
    /// Line of each setting by its path, such as `screen.theme`.
    pub origins: BTreeMap<String, Origin>,
    /// Errors in file order.
    pub problems: Vec<Problem>,
}

/// Reads the text of a settings file; `file` is its name as displayed. Never fails: a text that is not TOML gives one
/// problem and no settings.
pub fn read(text: &str, file: &str) -> Layer {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (whole, twice) = without_seconds(text);
    let text = whole.as_str();
    let mut reading = Reading { text, file, document: None, layer: Layer::default() };
    for (name, first, line) in twice {
        let at = Origin::File { file: file.to_owned(), line };
        let words = format!(
            "profile {name} is already defined on line {first}. That definition is used and this one is ignored"
        );
        reading.layer.problems.push(Problem { at, words });
    }
    match (text.parse::<Table>(), Document::parse(text)) {
        (Ok(table), Ok(document)) => {
            reading.document = Some(document);
            reading.sections(table);
        }
        (Err(error), _) => reading.syntax(error.message(), error.span().map_or(0, |span| span.start)),
        (_, Err(error)) => reading.syntax(error.message(), error.span().map_or(0, |span| span.start)),
    }
    let line = |problem: &Problem| match problem.at {
        Origin::File { line, .. } => line,
        Origin::Default | Origin::Environment(_) | Origin::Flag(_) | Origin::Entered | Origin::Command(_) => {
            0
        }
    };
    reading.layer.problems.sort_by_key(line);
    reading.layer
}

/// Removes repeated profile sections. Returns the remaining text and, for each removed section, its name and both
/// lines. A text that is invalid TOML for another reason is returned unchanged.
fn without_seconds(text: &str) -> (String, Vec<(String, usize, usize)>) {
    let (mut without, mut found) = (text.to_owned(), Vec::new());
    while without.parse::<Table>().is_err() {
        match twice::find(&without) {
            Some(twice) => {
                found.push((twice.name, twice.first, twice.again));
                without = twice.without;
            }
            None => return (text.to_owned(), Vec::new()),
        }
    }
    (without, found)
}

/// State while reading one file.
struct Reading<'a> {
    text: &'a str,
    file: &'a str,
    document: Option<Document<&'a str>>,
    layer: Layer,
}

impl Reading<'_> {
    fn syntax(&mut self, message: &str, byte: usize) {
        let mut message = message.lines().next().unwrap_or("syntax error");
        let line =
            self.text.as_bytes()[..byte.min(self.text.len())].iter().filter(|&&byte| byte == b'\n').count();
        let value = self.text.lines().nth(line).and_then(|line| line.split_once('='));
        if value.is_some_and(|(_, value)| ["null", "nil", "None", "none"].contains(&value.trim())) {
            message = "TOML has no null: remove the line";
        }
        let words = format!("this is not TOML ({message}); the whole file is ignored");
        self.layer.problems.push(Problem { at: self.line(byte), words });
    }

    fn sections(&mut self, table: Table) {
        for (section, value) in table {
            if !SECTIONS.contains(&section.as_str()) {
                self.wrong(&[&section], unknown(&section, "section", "", SECTIONS.iter().copied()));
                continue;
            }
            match value {
                Value::Table(table) if NAMED.contains(&section.as_str()) => self.named(&section, table),
                Value::Table(table) => self.settings(&[&section], &section, table),
                other => {
                    let words = format!("{section} is {}; expected a section [{section}]", shown(&other));
                    self.wrong(&[&section], words);
                }
            }
        }
    }

    fn named(&mut self, section: &str, named: Table) {
        for (name, value) in named {
            if section == "hooks" {
                // A hook must exist even if its settings are invalid, so that calls ask.
                self.below(&[section, &name]);
            }
            match value {
                Value::Table(table) => self.settings(&[section, &name], &format!("{section}.*"), table),
                other => {
                    let found = shown(&other);
                    let words = format!("{section}.{name} is {found}; expected a section [{section}.{name}]");
                    self.wrong(&[section, &name], words);
                }
            }
        }
    }

    /// Returns the table of valid settings for a section, creating it if necessary.
    fn below(&mut self, sections: &[&str]) -> &mut Table {
        let mut table = &mut self.layer.table;
        for section in sections {
            let below = table.entry(*section).or_insert_with(|| Value::Table(Table::new()));
            table = below.as_table_mut().expect("only sections are put here");
        }
        table
    }

    fn settings(&mut self, above: &[&str], section: &str, table: Table) {
        for (name, value) in table {
            let path: Vec<&str> = above.iter().copied().chain([name.as_str()]).collect();
            let takes = known::in_section(section).find(|(known, _)| *known == name || *known == ANY);
            if let Some((_, takes @ (Takes::Address | Takes::Proxy))) = takes
                && takes.wrong(&value).is_some()
            {
                // The built-in address, or no proxy, would lead elsewhere: the profile must be unusable instead.
                self.right(&path, Value::String(UNUSABLE.to_owned()), takes);
            }
            match takes {
                Some((_, takes)) => match takes.wrong(&value) {
                    None => self.right(&path, value, takes),
                    Some(_)
                        if matches!(path[..], ["second_reader", "profile"] | ["dry_run", "simulator"]) =>
                    {
                        // A reviewer or simulator is wanted but unknown, which is not the same as none.
                        self.below(above).insert(name.clone(), Value::String(String::new()));
                        let (setting, found) = (path.join("."), found(takes, &value));
                        self.wrong(&path, format!("{setting} {found}; expected the name of a profile"));
                    }
                    Some(particular) if particular.is_empty() => {
                        let (setting, found) = (path.join("."), found(takes, &value));
                        self.wrong(&path, format!("{setting} {found}; expected {}", takes.words()));
                    }
                    Some(particular) => self.wrong(&path, format!("{} {particular}", path.join("."))),
                },
                None => {
                    let names = known::in_section(section).map(|(name, _)| name);
                    let within = format!("{}.", above.join("."));
                    self.wrong(&path, unknown(&name, "setting", &within, names));
                }
            }
        }
    }

    fn right(&mut self, path: &[&str], value: Value, takes: &Takes) {
        let value = match (value, takes) {
            // A single chord becomes a list of one.
            (Value::String(chord), Takes::Chords) => Value::Array(vec![Value::String(chord)]),
            (Value::String(text), Takes::Command) => {
                let words = words::split(&text).unwrap_or_default();
                Value::Array(words.into_iter().map(Value::String).collect())
            }
            (value, _) => value,
        };
        let (name, above) = path.split_last().expect("a setting has a name");
        self.below(above).insert((*name).to_owned(), value);
        let origin = self.place(path);
        self.layer.origins.insert(path.join("."), origin);
    }

    fn wrong(&mut self, path: &[&str], words: String) {
        self.layer.problems.push(Problem { at: self.place(path), words });
    }

    /// Returns the location of a setting's name in the file.
    fn place(&self, path: &[&str]) -> Origin {
        let mut item = self.document.as_ref().map(Document::as_item);
        let mut byte = 0;
        for name in path {
            let table = item.and_then(Item::as_table_like);
            let Some((key, below)) = table.and_then(|table| table.get_key_value(name)) else { break };
            byte = key.span().map_or(byte, |span| span.start);
            item = Some(below);
        }
        self.line(byte)
    }

    fn line(&self, byte: usize) -> Origin {
        let before = &self.text.as_bytes()[..byte.min(self.text.len())];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        Origin::File { file: self.file.to_owned(), line }
    }
}

fn unknown<'a>(name: &str, what: &str, within: &str, known: impl Iterator<Item = &'a str>) -> String {
    let known: Vec<&str> = known.collect();
    let near = nearest(name, known.iter().copied());
    let may_be_a_key = near.is_none_or(|near| near == "key_env");
    let called_so = ["key", "token", "secret"].iter().any(|word| name.contains(word));
    if known.contains(&"key_env") && called_so && may_be_a_key {
        let hint = "keys are not stored in this file; key_env names the variable that holds the key";
        return format!("{within}{} is not a {what}; {hint}", shorten(name));
    }
    let hint = match near {
        Some(near) => format!("did you mean {within}{near}?"),
        None => format!("available: {}", known.join(", ")),
    };
    format!("{within}{} is not a {what}; {hint}", shorten(name))
}

fn found(takes: &Takes, value: &Value) -> String {
    if takes.may_be_shown() { format!("is {}", shown(value)) } else { "has an invalid value".to_owned() }
}

/// Formats an invalid value on one line.
fn shown(value: &Value) -> String {
    match value {
        Value::Table(_) => "a table".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::String(text) => format!("{:?}", shorten(text)),
        Value::Integer(_) | Value::Float(_) | Value::Boolean(_) | Value::Datetime(_) => value.to_string(),
    }
}

fn shorten(text: &str) -> String {
    let mut short: String = text.chars().take(SHOWN).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    short
}

#[cfg(test)]
mod tests;
