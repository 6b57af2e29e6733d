//! Key bindings: one table, changed by the settings, used by all parts of the screen, key help and the manual.

mod chord;
mod table;

pub use chord::{Chord, ParseChordError};
pub use table::{Action, Scope};

use crossterm::event::{KeyEvent, KeyEventKind};
use std::collections::BTreeMap;

/// Key bindings of all scopes.
#[derive(Debug, Clone, PartialEq)]
pub struct Keymap {
    /// In the order of the default table.
    rows: Vec<KeyBinding>,
}

/// The chords of one action in one scope.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyBinding {
    /// Scope of the keys.
    pub scope: Scope,
    /// What the keys do there.
    pub action: Action,
    /// The keys; empty if the settings unbind the action.
    pub chords: Vec<Chord>,
}

impl KeyBinding {
    /// Returns the label for key help.
    pub fn label(&self) -> &'static str {
        match (self.scope, self.action) {
            (Scope::Approval, Action::Close) => "Close details, or stop turn (twice)",
            (Scope::List, Action::Accept) => "Choose the selected row",
            _ => self.action.help(),
        }
    }
}

impl Default for Keymap {
    fn default() -> Self {
        let build_binding = |(scope, action, chords): (Scope, Action, &[&str])| {
            let chords = chords.iter().filter_map(|chord| chord.parse().ok()).collect();
            KeyBinding { scope, action, chords }
        };
        Self { rows: table::default_bindings().map(build_binding).collect() }
    }
}

impl Keymap {
    /// Returns the action of a key in a scope. Key releases have no action.
    pub fn lookup(&self, scope: Scope, key: &KeyEvent) -> Option<Action> {
        if key.kind == KeyEventKind::Release {
            return None;
        }
        let chord = Chord::from(key);
        let row = self.rows.iter().find(|row| row.scope == scope && row.chords.contains(&chord));
        row.map(|row| row.action)
    }

    /// Applies the settings to the default keys, by name of the action; an empty list unbinds an action. Returns a
    /// warning of one sentence for each invalid entry, whose action keeps its default keys.
    pub fn with_overrides(overrides: &BTreeMap<String, Vec<String>>) -> (Self, Vec<String>) {
        let (mut keys, mut warnings) = (Self::default(), Vec::new());
        for (name, chords) in overrides {
            match Action::ALL.iter().find(|action| action.name() == name.replace('-', "_")) {
                Some(action) => keys.rebind_action(*action, chords, &mut warnings),
                None => {
                    let nearest = find_similar_action(name);
                    warnings.push(format!("keys: unknown action “{name}”. Did you mean {nearest}?"));
                }
            }
        }
        // The default keys have no duplicates.
        if !overrides.is_empty() {
            keys.remove_duplicates(overrides, &mut warnings);
        }
        (keys, warnings)
    }

    /// Replaces the keys of an action in all its scopes. Keeps its default keys if one of the new ones is invalid.
    fn rebind_action(&mut self, action: Action, chords: &[String], warnings: &mut Vec<String>) {
        let parse_chord = |text: &String| match text.parse::<Chord>() {
            Ok(chord) => match self.explain_forbidden(action, chord) {
                Some(reason) => Err(format!("{chord} {reason}")),
                None => Ok(chord),
            },
            Err(error) => Err(error.to_string()),
        };
        match chords.iter().map(parse_chord).collect::<Result<Vec<Chord>, String>>() {
            Ok(chords) => {
                for row in self.rows.iter_mut().filter(|row| row.action == action) {
                    row.chords.clone_from(&chords);
                }
            }
            Err(problem) => warnings.push(format!("keys.{}: {problem}. Using the default", action.name())),
        }
    }

    /// Explains why a chord cannot be bound to this action; `None` if it can.
    fn explain_forbidden(&self, action: Action, chord: Chord) -> Option<&'static str> {
        let is_approval = matches!(
            action,
            Action::ApproveOnce
                | Action::ApproveDestructive
                | Action::ApproveAlways
                | Action::KeepTrial
                | Action::KeepDestructive
                | Action::Trust
        );
        if is_approval && ["enter", "esc", "ctrl-c", "space"].contains(&chord.to_string().as_str()) {
            return Some("cannot be used to approve");
        }
        let accepts_text = |row: &KeyBinding| {
            row.action == action
                && matches!(
                    row.scope,
                    Scope::Composer | Scope::Anywhere | Scope::FailedRequest | Scope::TextField | Scope::List
                )
        };
        // A character can open key help, because it does so only while the composer is empty.
        let is_character = chord.typed_character().is_some() && action != Action::HelpWhenEmpty;
        (is_character && self.rows.iter().any(accepts_text)).then_some("is a character that is typed as text there")
    }

    /// Removes chords bound to two actions of a scope. The action bound in the settings keeps the chord.
    fn remove_duplicates(&mut self, overrides: &BTreeMap<String, Vec<String>>, warnings: &mut Vec<String>) {
        let is_configured = |action: Action| overrides.keys().any(|name| name.replace('-', "_") == action.name());
        for index in 0..self.rows.len() {
            for chord in self.rows[index].chords.clone() {
                let (scope, action) = (self.rows[index].scope, self.rows[index].action);
                let Some(duplicate) = self
                    .rows
                    .iter()
                    .enumerate()
                    .position(|(i, row)| i != index && row.scope == scope && row.chords.contains(&chord))
                else {
                    continue;
                };
                let losing = match (is_configured(action), is_configured(self.rows[duplicate].action)) {
                    (true, false) => duplicate,
                    (false, true) => index,
                    (true, true) | (false, false) => index.max(duplicate),
                };
                let keeping = if losing == index { duplicate } else { index };
                let (losing_name, keeping_name) = (self.rows[losing].action.name(), self.rows[keeping].action.name());
                self.rows[losing].chords.retain(|existing| *existing != chord);
                warnings.push(format!(
                    "keys: {chord} is bound to both {keeping_name} and {losing_name} ({}); keeping {keeping_name}",
                    scope.heading()
                ));
            }
        }
    }

    /// Returns the keys of an action in a scope, as written in the settings; empty if it has none.
    pub fn chords_for(&self, scope: Scope, action: Action) -> Vec<String> {
        let rows = self.rows.iter().filter(|row| row.scope == scope && row.action == action);
        rows.flat_map(|row| row.chords.iter().map(Chord::to_string)).collect()
    }

    /// Returns the first key of an action in a scope, for hints; empty if it has none.
    pub fn first_chord(&self, scope: Scope, action: Action) -> String {
        self.chords_for(scope, action).into_iter().next().unwrap_or_default()
    }

    /// Returns the rows of key help for these scopes, in their order. Actions without a key are omitted.
    pub fn help_rows(&self, scopes: &[Scope]) -> impl Iterator<Item = &KeyBinding> {
        let rows = scopes.iter().flat_map(|scope| self.rows.iter().filter(move |row| row.scope == *scope));
        rows.filter(|row| !row.chords.is_empty())
    }
}

/// Returns the name of the action that is most similar to this name.
fn find_similar_action(name: &str) -> &'static str {
    let similarity = |action: &&Action| {
        let ratio = similar::TextDiff::from_chars(name, action.name()).ratio();
        (ratio * 1000.0) as u32
    };
    Action::ALL.iter().max_by_key(similarity).map_or("", |action| action.name())
}

#[cfg(test)]
mod tests;
