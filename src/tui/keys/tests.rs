//! Chords, default keys, and keys from the settings.

use super::*;
use crate::config::renamed_settings::RENAMED_SETTINGS;
use crossterm::event::{KeyCode, KeyModifiers};

fn press(text: &str) -> KeyEvent {
    let (code, modifiers) = match text {
        "ctrl-a" => (KeyCode::Char('a'), KeyModifiers::CONTROL),
        "enter" => (KeyCode::Enter, KeyModifiers::NONE),
        name => (KeyCode::Char(name.chars().next().unwrap_or(' ')), KeyModifiers::NONE),
    };
    KeyEvent::new(code, modifiers)
}

/// Returns the key bindings with these chords for one action, and the warnings.
fn override_keys(name: &str, chords: &[&str]) -> (Keymap, Vec<String>) {
    let chords = chords.iter().map(|chord| (*chord).to_owned()).collect();
    Keymap::with_overrides(&BTreeMap::from([(name.to_owned(), chords)]))
}

#[test]
fn default_chords_are_valid_and_unique_in_their_scope() {
    let mut seen_chords = std::collections::HashSet::new();
    for (scope, action, chords) in table::default_bindings() {
        for text in chords {
            let chord: Chord = text.parse().unwrap();
            assert_eq!(chord.to_string(), *text);
            assert!(seen_chords.insert((scope, chord)), "{text} twice in {scope:?}, at {action:?}");
        }
    }
}

#[test]
fn every_action_has_a_unique_name_a_short_label_and_a_row_in_the_table() {
    let mut names = std::collections::HashSet::new();
    for action in Action::ALL {
        assert!(names.insert(action.name()), "{action:?}");
        let label = action.help();
        assert!((1..=40).contains(&label.chars().count()) && !label.ends_with('.'), "{action:?}: {label}");
        assert!(label.starts_with(char::is_uppercase), "{action:?}: {label}");
        assert!(table::default_bindings().any(|(_, bound, _)| bound == *action), "{action:?}");
    }
}

#[test]
fn no_default_key_shadows_typed_text() {
    for (scope, action, chords) in table::default_bindings() {
        let accepts_text = matches!(scope, Scope::Composer | Scope::Anywhere | Scope::TextField | Scope::List);
        for chord in chords.iter().filter(|_| accepts_text && action != Action::HelpWhenEmpty) {
            assert_eq!(chord.parse::<Chord>().unwrap().typed_character(), None, "{chord} in {scope:?}");
        }
    }
}

#[test]
fn keys_depend_on_their_scope() {
    let keys = Keymap::default();
    assert_eq!(keys.lookup(Scope::Approval, &press("y")), Some(Action::ApproveOnce));
    assert_eq!(keys.lookup(Scope::Approval, &press("Y")), Some(Action::ApproveDestructive));
    assert_eq!(keys.lookup(Scope::Composer, &press("y")), None);
    assert_eq!(keys.lookup(Scope::Composer, &press("ctrl-a")), Some(Action::LineStart));
    assert_eq!(keys.lookup(Scope::Approval, &press("enter")), None);
}

#[test]
fn settings_change_keys_and_invalid_ones_cause_warnings() {
    let (keys, warnings) = override_keys("approve-once", &["j"]);
    assert_eq!((keys.lookup(Scope::Approval, &press("j")), warnings), (Some(Action::ApproveOnce), vec![]));
    assert_eq!(keys.lookup(Scope::Approval, &press("y")), None);
    check_warning("aprove_once", &["j"], "Did you mean approve_once?");
    check_warning("send", &["command-x"], "“command-x” is not a key");
    check_warning("send", &["s"], "is a character that is typed as text there");
    let expected = "y is bound to both deny_with_message and approve_once (Approval prompt); keeping deny_with_message";
    check_warning("deny_with_message", &["y"], expected);
}

#[test]
fn renamed_actions_have_their_new_names() {
    let renamed = RENAMED_SETTINGS.iter().filter(|(section, ..)| *section == "keys");
    let names: Vec<&str> = Action::ALL.iter().map(|action| action.name()).collect();
    // All renamed actions were found, so the loop checks each of them.
    assert_eq!(renamed.clone().count(), 19);
    for (_, old, new) in renamed {
        assert!(names.contains(new) && !names.contains(old), "{old}");
    }
}

#[track_caller]
fn check_warning(name: &str, chords: &[&str], expected: &str) {
    let (_, warnings) = override_keys(name, chords);
    assert!(warnings.len() == 1 && warnings[0].contains(expected), "{warnings:?}");
}

#[test]
fn r02_no_setting_makes_enter_approve() {
    for name in ["approve_once", "approve_destructive", "approve_always", "trust"] {
        let (keys, warnings) = override_keys(name, &["enter"]);
        for scope in [Scope::Approval, Scope::Trust, Scope::Request] {
            assert_eq!(keys.lookup(scope, &press("enter")), None);
        }
        assert!(warnings[0].contains("cannot be used to approve"), "{warnings:?}");
    }
}

#[test]
fn key_help_shows_changed_keys() {
    let (keys, _) = override_keys("themes", &["f2"]);
    let row = keys.help_rows(&[Scope::Anywhere]).find(|row| row.action == Action::Themes).unwrap();
    assert_eq!(row.chords, ["f2".parse().unwrap()]);
    assert_eq!(keys.first_chord(Scope::Anywhere, Action::Themes), "f2");
}

#[test]
fn the_label_of_a_key_says_more_than_the_key_itself() {
    for row in Keymap::default().help_rows(Scope::ALL) {
        let label = row.label().to_lowercase().replace(' ', "-");
        assert!(row.chords.iter().all(|chord| chord.to_string() != label), "{:?}: {label}", row.scope);
        assert!(row.label().chars().count() <= 40, "{}", row.label());
    }
}

#[test]
fn the_key_that_closes_details_of_a_prompt_is_labelled_with_what_it_stops() {
    let keys = Keymap::default();
    let labels = |scope| -> Vec<&str> {
        let rows = keys.help_rows(&[scope]).filter(|row| row.action == Action::Close).collect::<Vec<_>>();
        rows.into_iter().map(KeyBinding::label).collect()
    };
    assert_eq!(labels(Scope::Approval), ["Close details, or stop turn (twice)"]);
    assert_eq!(labels(Scope::Page), ["Close"]);
}
