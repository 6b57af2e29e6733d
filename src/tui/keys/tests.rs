//! Chords, the table of keys, and what settings may change of it.

use super::*;
use crossterm::event::{KeyCode, KeyModifiers};

fn press(text: &str) -> KeyEvent {
    let (code, modifiers) = match text {
        "ctrl-a" => (KeyCode::Char('a'), KeyModifiers::CONTROL),
        "enter" => (KeyCode::Enter, KeyModifiers::NONE),
        letter => (KeyCode::Char(letter.chars().next().unwrap_or(' ')), KeyModifiers::NONE),
    };
    KeyEvent::new(code, modifiers)
}

fn with(name: &str, chords: &[&str]) -> (Keymap, Vec<String>) {
    let chords = chords.iter().map(|chord| (*chord).to_owned()).collect();
    Keymap::with(&BTreeMap::from([(name.to_owned(), chords)]))
}

#[test]
fn every_default_chord_reads_and_none_is_bound_twice_in_a_scope() {
    let mut seen = std::collections::HashSet::new();
    for (scope, action, chords) in table::DEFAULTS {
        for text in *chords {
            let chord: Chord = text.parse().unwrap();
            assert_eq!(chord.to_string(), *text);
            assert!(seen.insert((*scope, chord)), "{text} twice in {scope:?}, at {action:?}");
        }
    }
}

#[test]
fn every_action_has_a_name_of_its_own_help_and_a_place_in_the_table() {
    let mut names = std::collections::HashSet::new();
    for action in Action::ALL {
        assert!(names.insert(action.name()), "{action:?}");
        assert!(!action.help().is_empty(), "{action:?}");
        assert!(table::DEFAULTS.iter().any(|(_, bound, _)| bound == action), "{action:?}");
    }
}

#[test]
fn no_letter_typed_in_the_composer_is_shadowed() {
    for (scope, action, chords) in table::DEFAULTS {
        let typing = matches!(scope, Scope::Composer | Scope::Anywhere | Scope::Line | Scope::List);
        for chord in chords.iter().filter(|_| typing && *action != Action::HelpWhenEmpty) {
            assert_eq!(chord.parse::<Chord>().unwrap().typed(), None, "{chord} in {scope:?}");
        }
    }
}

#[test]
fn a_key_means_what_its_scope_says() {
    let keys = Keymap::default();
    assert_eq!(keys.lookup(Scope::Approval, &press("y")), Some(Action::ApproveOnce));
    assert_eq!(keys.lookup(Scope::Approval, &press("Y")), Some(Action::ApproveDestroying));
    assert_eq!(keys.lookup(Scope::Composer, &press("y")), None);
    assert_eq!(keys.lookup(Scope::Composer, &press("ctrl-a")), Some(Action::LineStart));
    assert_eq!(keys.lookup(Scope::Approval, &press("enter")), None);
}

#[test]
fn the_settings_change_a_key_and_what_is_wrong_is_said() {
    let (keys, warnings) = with("approve-once", &["j"]);
    assert_eq!((keys.lookup(Scope::Approval, &press("j")), warnings), (Some(Action::ApproveOnce), vec![]));
    assert_eq!(keys.lookup(Scope::Approval, &press("y")), None);
    check("aprove_once", &["j"], "did you mean approve_once?");
    check("send", &["hyper-x"], "“hyper-x” is no key");
    check("send", &["s"], "is a letter, which is typed here");
    let kept = "y is both refuse_because and approve_once in an approval card; it stays refuse_because";
    check("refuse_because", &["y"], kept);
}

#[track_caller]
fn check(name: &str, chords: &[&str], expected: &str) {
    let (_, warnings) = with(name, chords);
    assert!(warnings.len() == 1 && warnings[0].contains(expected), "{warnings:?}");
}

#[test]
fn r02_no_setting_makes_enter_approve() {
    for name in ["approve_once", "approve_destroying", "approve_always", "trust"] {
        let (keys, warnings) = with(name, &["enter"]);
        assert_eq!(keys.lookup(Scope::Approval, &press("enter")), None);
        assert!(warnings[0].contains("may not approve"), "{warnings:?}");
    }
}

#[test]
fn help_and_the_readme_show_the_changed_key() {
    let (keys, _) = with("themes", &["f2"]);
    let row = keys.help(&[Scope::Anywhere]).into_iter().find(|row| row.words == "themes").unwrap();
    assert_eq!(row.chords, ["f2"]);
    assert!(keys.markdown().contains("| `f2` | themes | `themes` |"));
    assert_eq!(keys.hint(Scope::Anywhere, Action::Themes), "f2");
}
