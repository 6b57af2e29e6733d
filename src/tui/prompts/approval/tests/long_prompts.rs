//! Tests of prompts that are longer than the screen: warnings come first, approval needs the end.

use super::*;
use crate::chat::Edit;

/// A prompt in which the choice of scope is open. Down was pressed once, so a rule is selected instead of a grant.
fn prompt_with_scope(options: Vec<GrantOption>) -> Approval {
    let keys = Keymap::default();
    let mut prompt = Approval::new("1".into());
    let mut choice = ScopeChoice::new(options, Path::new("/home/ada/src/app"), &keys, ms(0)).unwrap();
    choice.change_scope(Action::Down, &keys).unwrap();
    prompt.show_view(ApprovalView::Scope(Box::new(choice)));
    prompt
}

/// The only scope offered for a command that runs a script.
fn script_scopes() -> Vec<GrantOption> {
    let scope =
        GrantScope::Command { command: "sh check.sh".into(), folder: "/home/ada/src/app".into(), network: false };
    let script = crate::chat::Script { path: "check.sh".into(), sha256: None };
    vec![GrantOption {
        grant: Grant::new("bash_exec", scope).with_scripts(vec![script]),
        can_be_rule: true,
        earlier_calls: Vec::new(),
    }]
}

#[test]
fn the_scope_explains_a_rule_before_showing_it_and_offers_enter_at_the_end() {
    let plan = command_plan("sh check.sh");
    for size in [(80, 16), (60, 12)] {
        let mut prompt = prompt_with_scope(script_scopes());
        let screen = screen_text(&draw_prompt(&mut prompt, &plan, size, Listening::Ready, 6000));
        let position_of = |text: &str| screen.find(text);
        assert!(position_of("90 days") < position_of("[[rule]]") || position_of("[[rule]]").is_none(), "{screen}");
        assert!(position_of("90 days").is_some() && position_of("would have covered").is_some(), "{screen}");
        assert!(screen.contains("end jump to the end, then enter"), "{screen}");
        assert!(!screen.contains("╰─ enter"), "{screen}");
        press_key(&mut prompt, &plan, KeyCode::End, 7000);
        let screen = screen_text(&draw_prompt(&mut prompt, &plan, size, Listening::Ready, 8000));
        assert!(screen.contains("╰─ enter approve and grant") || screen.contains("╰─ enter grant"), "{screen}");
    }
}

#[test]
fn a_long_prompt_shows_its_warning_at_the_top() {
    let long = vec!["echo one of many"; 40].join("\n");
    let mut plan = command_plan(&long);
    plan.destroys = Some("deletes old.txt".into());
    let warning_row = |plan: &Plan, size| {
        let mut prompt = Approval::new("1".into());
        let screen = screen_text(&draw_prompt(&mut prompt, plan, size, Listening::Ready, 0));
        let row = screen.lines().position(|line| line.contains("warning: this"));
        (row, screen)
    };
    let (position, screen) = warning_row(&plan, (60, 12));
    assert_eq!(position, Some(1), "{screen}");
    let old: String = (0..60).map(|n| format!("line {n}\n")).collect();
    let edit = Edit { path: "src/retry.rs".into(), before: Some(old), after: "all of it is new\n".into() };
    plan.preview = Preview::Edit(edit.diff());
    plan.destroys = Some("replaces all 60 lines".into());
    let (position, screen) = warning_row(&plan, (60, 12));
    assert_eq!(position, Some(2), "{screen}");
    // A short prompt shows it below the working directory.
    let mut short = command_plan("rm old.txt");
    short.destroys = Some("deletes old.txt".into());
    let (position, screen) = warning_row(&short, (60, 12));
    assert!(position > screen.lines().position(|line| line.contains("in ~/src/app")), "{screen}");
}

#[test]
fn every_hint_has_a_key_and_a_label() {
    let plan = command_plan("cargo test");
    for width in 30..130 {
        let mut prompt = Approval::new("1".into());
        let screen = screen_text(&draw_prompt(&mut prompt, &plan, (width, 10), Listening::Ready, 0));
        let hints = screen.lines().next_back().unwrap_or_default();
        let hints = hints.trim_matches(['╰', '╯', '─', ' ']);
        assert!(hints.split(" · ").all(|hint| hint.contains(' ')), "{width}: {screen}");
    }
}
