//! Approval with a rule: the call runs once the rule is written, and no other call does.

use super::*;
use crate::tui::host::{HostReply, HostRequest};

fn screen_with_approval() -> Screen {
    let mut screen = Screen::with_turn();
    let Intent::Act(mut plan) = command_intent("cargo test") else { unreachable!() };
    let scope = GrantScope::Command { command: "cargo test".into(), folder: "/project".into(), network: false };
    plan.grant = Some(Grant::new("bash_exec", scope));
    screen.receive_call("a", "bash_exec", Intent::Act(plan));
    screen.advance_ms(600);
    screen
}

/// Approves the call with a rule for the project. Returns the screen, and the host's reply that the rule was written,
/// which the screen has not received yet.
fn approve_with_rule() -> (Screen, Event) {
    let mut screen = screen_with_approval();
    for chord in ["a", "down", "end", "enter"] {
        screen.press_key(chord);
        screen.advance_ms(600);
    }
    let saved_rule = screen.effects.iter().find_map(|effect| match effect {
        Effect::Request(HostRequest::SaveRule { call, grant, by }) => Some((call.clone(), grant.clone(), by.clone())),
        _ => None,
    });
    let (call, grant, by) = saved_rule.expect("a rule is to be written");
    (screen, Event::Host(HostReply::RuleSaved { call, grant, by, error: None }))
}

#[test]
fn r11_the_call_runs_once_its_rule_is_written() {
    let (mut screen, rule_saved) = approve_with_rule();
    assert_eq!(screen.count_decisions(), 0);
    screen.handle_event(rule_saved);
    assert_eq!(screen.count_decisions(), 1);
    // It is said once, by the row of the decision.
    let text = screen.screen_text();
    let words = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let row = "granted: exactly this command · kept in your rules for this project, /grants revokes it";
    assert!(words.contains(row) && !words.contains("Stored:"), "{text}");
}

/// A rule names no folder, so only a grant of the session says that it is for this one.
#[test]
fn a_scope_is_named_as_it_is_kept() {
    let mut screen = screen_with_approval();
    screen.press_key("a");
    screen.advance_ms(600);
    for (span, has_folder) in
        [("[for this session]", true), ("[in this project]", false), ("[in every project]", false)]
    {
        let text = screen.screen_text();
        assert!(text.contains(span) && text.contains("› 1  exactly this command"), "{text}");
        assert_eq!(text.contains("exactly this command, in this folder"), has_folder, "{text}");
        screen.press_key("down");
    }
}

#[test]
fn r08_a_rule_written_late_does_not_approve_another_call_with_the_same_id() {
    let (mut screen, rule_saved) = approve_with_rule();
    // Another session is opened in the meantime, in which a call with the same id waits.
    let mut other_screen = screen_with_approval();
    std::mem::swap(&mut screen.state.agent, &mut other_screen.state.agent);
    screen.state.prompts.current = None;
    screen.advance_ms(600);
    assert!(screen.screen_text().contains("Run a command?"));
    screen.handle_event(rule_saved);
    assert_eq!(screen.count_decisions(), 0);
    assert!(screen.screen_text().contains("Stored: exactly this command, in this project."), "no row says it");
    screen.advance_ms(600);
    screen.press_key("y");
    assert_eq!(screen.count_decisions(), 1, "the other call has a prompt of its own");
}
