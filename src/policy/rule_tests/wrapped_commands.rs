//! Tests: a rule covers its command with a limit of time and with variables that only change how output looks.

use super::*;

#[test]
fn r11_rule_covers_neutral_wrappers_and_variables() {
    let allow = rules_from(vec![rule(RuleEffect::Allow, prefix_target("cargo test"))]);
    for (command, expected) in [
        ("timeout 60 cargo test", "allow"),
        ("timeout -k 5 60 cargo test --lib", "allow"),
        ("nice -n 5 cargo test", "allow"),
        ("time cargo test", "allow"),
        ("RUST_BACKTRACE=1 cargo test", "allow"),
        ("NO_COLOR=1 TERM=dumb timeout 60 cargo test", "allow"),
        ("timeout 60 cargo build", "ask"),
        ("timeout 60 cargo test --config x", "ask"),
        ("timeout 60 ./cargo test", "ask"),
        ("timeout 60 env cargo test", "ask"),
        ("timeout 60 bash -c 'cargo test'", "ask"),
        ("timeout 60 timeout cargo test", "ask"),
        ("timeout cargo test", "ask"),
        ("timeout --no-such cargo test", "ask"),
        ("timeout 60 PATH=. cargo test", "ask"),
        ("timeout 60 ! cargo test", "ask"),
        ("time ! cargo test", "ask"),
        ("timeout $(id) cargo test", "ask"),
        ("./timeout 60 cargo test", "ask"),
        ("RUST_BACKTRACE=1 PATH=. cargo test", "ask"),
        ("RUST_BACKTRACE=$(id) cargo test", "ask"),
        ("RUST_LOG=trace cargo test", "ask"),
        ("RUST_BACKTRACE=1; cargo test", "ask"),
    ] {
        assert_eq!(judge(&allow, &command_plan(command)), expected, "{command}");
    }
}

/// A wrapper does not hide a command from a rule that asks or denies.
#[test]
fn r11_restriction_of_one_command_holds_for_it_with_a_wrapper() {
    for (effect, expected) in [(RuleEffect::Ask, "ask"), (RuleEffect::Deny, "refuse")] {
        for target in [RuleTarget::Command("cargo test --lib".into()), prefix_target("cargo test")] {
            let rules = rules_from(vec![rule(RuleEffect::Allow, prefix_target("cargo")), rule(effect, target)]);
            for command in ["timeout 60 cargo test --lib", "NO_COLOR=1 cargo test --lib", "'cargo' test --lib"] {
                assert_eq!(judge(&rules, &command_plan(command)), expected, "{command}");
            }
        }
    }
}

#[test]
fn explains_what_in_front_of_a_command_is_not_covered() {
    let allow = rules_from(vec![rule(RuleEffect::Allow, prefix_target("cargo test"))]);
    for (command, why) in [
        ("A=1 cargo test", "a variable is set before the command"),
        ("env cargo test", "another program runs the command"),
        ("timeout 5 cargo build", "\"build\" instead of \"test\""),
    ] {
        let (checks, _) = explain_verdict(&Policy::default(), &[], &allow, "tool", &command_plan(command));
        assert!(checks.iter().any(|check| check.results.iter().any(|result| result.contains(why))), "{command}");
    }
}
