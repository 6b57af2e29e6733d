//! Tests of prompts that are longer than the screen: warnings come first, approval needs the end.

use super::*;
use crate::chat::Edit;
use crate::tui::tests::buffer_text as picture;

/// A prompt with the choice of scope open and the second scope selected.
fn prompt_with_scope(widths: Vec<GrantOption>) -> Approval {
    let keys = Keymap::default();
    let mut card = Approval::new("1".into());
    let mut choosing = ScopeChoice::open(widths, Path::new("/home/ada/src/app"), &keys, ms(0)).unwrap();
    choosing.handle_action(Action::Down, &keys, true, ms(5000));
    card.open_scope(choosing);
    card
}

fn script_scopes() -> Vec<GrantOption> {
    let scope = Wide::Command { command: "sh check.sh".into(), folder: "/home/ada/src/app".into(), network: false };
    let script = crate::chat::Script { path: "check.sh".into(), sha256: None };
    vec![GrantOption {
        grant: Grant::new("bash_exec", scope).with_scripts(vec![script]),
        can_be_rule: true,
        earlier_calls: Vec::new(),
    }]
}

#[test]
fn the_scope_explains_a_rule_before_showing_it_and_offers_enter_at_the_end() {
    let plan = plan("sh check.sh");
    for size in [(80, 16), (60, 12)] {
        let mut card = prompt_with_scope(script_scopes());
        let shown = picture(&draw(&mut card, &plan, size, Listening::Ready, 6000));
        let at = |words: &str| shown.find(words);
        assert!(at("90 days") < at("[[rule]]") || at("[[rule]]").is_none(), "{shown}");
        assert!(at("90 days").is_some() && at("would have covered").is_some(), "{shown}");
        assert!(shown.contains("end jump to the end, then enter"), "{shown}");
        assert!(!shown.contains("╰─ enter"), "{shown}");
        card.handle_key(
            &KeyEvent::new(KeyCode::End, KeyModifiers::NONE),
            &Keymap::default(),
            &plan,
            Listening::Ready,
            ms(7000),
        );
        let shown = picture(&draw(&mut card, &plan, size, Listening::Ready, 8000));
        assert!(shown.contains("╰─ enter approve and grant") || shown.contains("╰─ enter grant"), "{shown}");
    }
}

#[test]
fn a_long_prompt_shows_its_warning_at_the_top() {
    let long = vec!["echo one of many"; 40].join("\n");
    let mut plan = plan(&long);
    plan.destroys = Some("deletes old.txt".into());
    let row = |plan: &Plan, size| {
        let mut card = Approval::new("1".into());
        let shown = picture(&draw(&mut card, plan, size, Listening::Ready, 0));
        let row = shown.lines().position(|line| line.contains("warning: this"));
        (row, shown)
    };
    let (at, shown) = row(&plan, (60, 12));
    assert_eq!(at, Some(1), "{shown}");
    let old: String = (0..60).map(|n| format!("line {n}\n")).collect();
    let edit = Edit { path: "src/retry.rs".into(), before: Some(old), after: "all of it is new\n".into() };
    plan.preview = Preview::Edit(edit.diff());
    plan.destroys = Some("replaces all 60 lines".into());
    let (at, shown) = row(&plan, (60, 12));
    assert_eq!(at, Some(2), "{shown}");
    // A short prompt shows it next to the working directory.
    let mut short = super::plan("rm old.txt");
    short.destroys = Some("deletes old.txt".into());
    let (at, shown) = row(&short, (60, 12));
    assert!(at > shown.lines().position(|line| line.contains("in ~/src/app")), "{shown}");
}

#[test]
fn every_hint_has_a_key_and_a_label() {
    let plan = plan("cargo test");
    for width in 30..130 {
        let mut card = Approval::new("1".into());
        let shown = picture(&draw(&mut card, &plan, (width, 10), Listening::Ready, 0));
        let hints = shown.lines().next_back().unwrap_or_default();
        let hints = hints.trim_matches(['╰', '╯', '─', ' ']);
        assert!(hints.split(" · ").all(|hint| hint.contains(' ')), "{width}: {shown}");
    }
}
