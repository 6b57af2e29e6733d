//! Approval with a rule: the call runs once the rule is written, and no other call does.

use super::*;
use crate::tui::host::{Reply, Wish};

fn asked() -> Screen {
    let mut screen = Screen::new();
    screen.says("go");
    let Intent::Act(mut plan) = command("cargo test") else { unreachable!() };
    let scope = Scope::Command { command: "cargo test".into(), folder: "/project".into(), network: false };
    plan.always = Some(Grant::new("bash_exec", scope));
    screen.calls("a", "bash_exec", Intent::Act(plan));
    screen.waits(600);
    screen
}

/// Approves the call with a rule for the project. Returns the reply that the rule was written.
fn keeping() -> (Screen, Event) {
    let mut screen = asked();
    for chord in ["a", "down", "end", "enter"] {
        screen.presses(chord);
        screen.waits(600);
    }
    let wish = screen.effects.iter().find_map(|effect| match effect {
        Effect::Ask(Wish::KeepRule { call, grant, by }) => Some((call.clone(), grant.clone(), by.clone())),
        _ => None,
    });
    let (call, grant, by) = wish.expect("a rule is to be written");
    (screen, Event::Host(Reply::RuleKept { call, grant, by, failed: None }))
}

#[test]
fn r11_the_call_runs_once_its_rule_is_written() {
    let (mut screen, written) = keeping();
    assert_eq!(screen.decided(), 0);
    screen.happens(written);
    assert_eq!(screen.decided(), 1);
}

#[test]
fn r08_a_rule_written_late_does_not_approve_another_call_with_the_same_id() {
    let (mut screen, written) = keeping();
    // Another session is opened in the meantime, in which a call with the same id waits.
    let mut other = asked();
    std::mem::swap(&mut screen.state.agent, &mut other.state.agent);
    screen.state.prompt = None;
    screen.waits(600);
    assert!(screen.shows().contains("run a command?"));
    screen.happens(written);
    assert_eq!(screen.decided(), 0);
    screen.waits(600);
    screen.presses("y");
    assert_eq!(screen.decided(), 1, "the other call has a prompt of its own");
}
