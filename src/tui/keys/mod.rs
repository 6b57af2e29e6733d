//! The keys of the screen: one table, changed by the settings, read by the parts, the help and the README.

mod action;
mod chord;
mod table;

pub use action::{Action, Scope};
pub use chord::{BadChord, Chord};

use crossterm::event::{KeyEvent, KeyEventKind};
use std::collections::BTreeMap;

/// Which key does what, where.
#[derive(Debug, Clone, PartialEq)]
pub struct Keymap {
    /// In the order of the table.
    rows: Vec<Row>,
}

/// One line of the table.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    scope: Scope,
    action: Action,
    chords: Vec<Chord>,
}

/// One line of the help.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HelpRow {
    /// Where the keys work.
    pub scope: Scope,
    /// The keys, as they are written in the settings.
    pub chords: Vec<String>,
    /// What they do.
    pub words: &'static str,
}

impl Default for Keymap {
    fn default() -> Self {
        let row = |(scope, action, chords): &(Scope, Action, &[&str])| Row {
            scope: *scope,
            action: *action,
            chords: chords.iter().filter_map(|chord| chord.parse().ok()).collect(),
        };
        Self { rows: table::DEFAULTS.iter().map(row).collect() }
    }
}

impl Keymap {
    /// What a key does in a scope; nothing where it is not bound there. A key that is let go does nothing.
    pub fn lookup(&self, scope: Scope, key: &KeyEvent) -> Option<Action> {
        if key.kind == KeyEventKind::Release {
            return None;
        }
        let chord = Chord::from(key);
        let row = self.rows.iter().find(|row| row.scope == scope && row.chords.contains(&chord));
        row.map(|row| row.action)
    }

    /// The default keys with those of the settings in their place, by the name of the action; an empty list takes
    /// an action its keys. What is wrong is said, one sentence each, and the default holds in its place.
    pub fn with(overrides: &BTreeMap<String, Vec<String>>) -> (Self, Vec<String>) {
        let (mut keys, mut warnings) = (Self::default(), Vec::new());
        for (name, chords) in overrides {
            match Action::ALL.iter().find(|action| action.name() == name.replace('-', "_")) {
                Some(action) => keys.change(*action, chords, &mut warnings),
                None => {
                    let nearest = nearest(name);
                    warnings.push(format!("keys: there is no “{name}”; did you mean {nearest}?"));
                }
            }
        }
        keys.drop_doubled(overrides, &mut warnings);
        (keys, warnings)
    }

    fn change(&mut self, action: Action, chords: &[String], warnings: &mut Vec<String>) {
        let name = action.name();
        let mut read = Vec::new();
        for text in chords {
            match text.parse::<Chord>() {
                Err(bad) => return warnings.push(format!("keys.{name}: {bad}; the default holds")),
                Ok(chord) => {
                    if let Some(why) = self.forbidden(action, chord) {
                        return warnings.push(format!("keys.{name}: {chord} {why}; the default holds"));
                    }
                    read.push(chord);
                }
            }
        }
        for row in self.rows.iter_mut().filter(|row| row.action == action) {
            row.chords.clone_from(&read);
        }
    }

    /// Why a chord may not do this, where it may not.
    fn forbidden(&self, action: Action, chord: Chord) -> Option<&'static str> {
        let approves = matches!(
            action,
            Action::ApproveOnce | Action::ApproveDestroying | Action::ApproveAlways | Action::Trust
        );
        if approves && ["enter", "esc", "ctrl-c", "space"].contains(&chord.to_string().as_str()) {
            return Some("may not approve");
        }
        let typing = |row: &Row| {
            row.action == action
                && matches!(
                    row.scope,
                    Scope::Composer | Scope::Anywhere | Scope::Again | Scope::Line | Scope::List
                )
        };
        let shadows = chord.typed().is_some() && action != Action::HelpWhenEmpty;
        (shadows && self.rows.iter().any(typing)).then_some("is a letter, which is typed here")
    }

    /// A chord that two actions of a scope have stays with the one the person gave it to.
    fn drop_doubled(&mut self, overrides: &BTreeMap<String, Vec<String>>, warnings: &mut Vec<String>) {
        let own = |action: Action| overrides.keys().any(|name| name.replace('-', "_") == action.name());
        for at in 0..self.rows.len() {
            for chord in self.rows[at].chords.clone() {
                let (scope, action) = (self.rows[at].scope, self.rows[at].action);
                let Some(other) = self.rows.iter().enumerate().position(|(other, row)| {
                    other != at && row.scope == scope && row.chords.contains(&chord)
                }) else {
                    continue;
                };
                let lost = match (own(action), own(self.rows[other].action)) {
                    (true, false) => other,
                    (false, true) => at,
                    (true, true) | (false, false) => at.max(other),
                };
                let kept = if lost == at { other } else { at };
                let (loses, keeps) = (self.rows[lost].action.name(), self.rows[kept].action.name());
                self.rows[lost].chords.retain(|held| *held != chord);
                warnings.push(format!(
                    "keys: {chord} is both {keeps} and {loses} in {}; it stays {keeps}",
                    scope.words()
                ));
            }
        }
    }

    /// The keys of an action in a scope, as they are written in the settings; empty where it has none.
    pub fn chords_of(&self, scope: Scope, action: Action) -> Vec<String> {
        let rows = self.rows.iter().filter(|row| row.scope == scope && row.action == action);
        rows.flat_map(|row| row.chords.iter().map(Chord::to_string)).collect()
    }

    /// The first key of an action in a scope, for hints; empty where it has none.
    pub fn hint(&self, scope: Scope, action: Action) -> String {
        self.chords_of(scope, action).into_iter().next().unwrap_or_default()
    }

    /// The help for these scopes, in their order. Actions without a key are left out.
    pub fn help(&self, scopes: &[Scope]) -> Vec<HelpRow> {
        let rows = scopes.iter().flat_map(|scope| self.rows.iter().filter(move |row| row.scope == *scope));
        rows.filter(|row| !row.chords.is_empty())
            .map(|row| HelpRow {
                scope: row.scope,
                chords: row.chords.iter().map(Chord::to_string).collect(),
                words: row.action.help(),
            })
            .collect()
    }

    /// All keys as a table for the README: key, what it does, its name in the settings.
    pub fn markdown(&self) -> String {
        let mut text = String::new();
        for scope in Scope::ALL {
            text.push_str(&format!(
                "**{}**\n\n| key | what it does | name |\n|---|---|---|\n",
                scope.words()
            ));
            for row in self.rows.iter().filter(|row| row.scope == scope) {
                let chords: Vec<String> = row.chords.iter().map(|chord| format!("`{chord}`")).collect();
                let (help, name) = (row.action.help(), row.action.name());
                text.push_str(&format!("| {} | {help} | `{name}` |\n", chords.join(" ")));
            }
            text.push('\n');
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    }
}

/// The action whose name is most like this one.
fn nearest(name: &str) -> &'static str {
    let like = |action: &&Action| {
        let ratio = similar::TextDiff::from_chars(name, action.name()).ratio();
        (ratio * 1000.0) as u32
    };
    Action::ALL.iter().max_by_key(like).map_or("", |action| action.name())
}

#[cfg(test)]
mod tests;
