//! The list of grants and rules.

use crate::policy::{DisabledRule, Rule, RuleEffect, RuleLocation, RuleTarget, Rules};
use crate::tui::effect::Effect;
use crate::tui::host::HostRequest;
use crate::tui::tests::Screen;

fn command_rules(commands: &[&str]) -> Rules {
    let rule = |command: &&str| Rule::new(RuleEffect::Allow, RuleTarget::Command((*command).to_owned()));
    Rules { list: commands.iter().map(rule).collect(), ..Rules::default() }
}

fn prefix_rule(effect: RuleEffect, words: &str) -> Rule {
    Rule::new(effect, RuleTarget::Prefix(words.split(' ').map(str::to_owned).collect()))
}

/// A screen of this size with the open list of these rules.
fn open_list(size: (u16, u16), rules: Rules) -> Screen {
    let mut screen = Screen::new();
    screen.resize_screen(size.0, size.1);
    screen.state.agent.rules = rules.into();
    screen.send_text("/grants");
    screen
}

fn three_effects() -> Rules {
    let list = vec![
        prefix_rule(RuleEffect::Deny, "rm -rf"),
        prefix_rule(RuleEffect::Ask, "git push"),
        prefix_rule(RuleEffect::Allow, "make check"),
    ];
    Rules { list, ..Rules::default() }
}

#[test]
fn rules_that_ask_and_deny_are_listed_edited_and_revoked() {
    let mut screen = open_list((80, 24), three_effects());
    let text = screen.screen_text();
    let place = |part: &str| text.find(part).unwrap_or_else(|| panic!("{part}: {text}"));
    assert!(place("allow make check …") < place("ask git push …"), "{text}");
    assert!(place("ask git push …") < place("deny rm -rf …") && text.contains("3 in force"), "{text}");
    // Calls are counted only for the rule that allows.
    assert_eq!(text.matches("no calls here yet").count(), 1, "{text}");
    screen.press_key("down");
    screen.press_key("down");
    screen.press_key("enter");
    assert!(screen.screen_text().contains("deny rm -rf"), "{}", screen.screen_text());
    screen.press_key("esc");
    screen.press_key("x");
    let text = screen.screen_text();
    assert!(text.contains("Revoke this rule?") && text.contains("deny rm -rf …"), "{text}");
    assert!(text.contains("such calls are then no longer denied"), "{text}");
    screen.advance_ms(2000);
    assert!(screen.screen_text().contains("╰─ y revoke · n keep ─"), "{}", screen.screen_text());
    screen.press_key("y");
    screen.advance_ms(2000);
    let revoked = screen.effects.iter().find_map(|effect| match effect {
        Effect::Request(HostRequest::RevokeRule { rule, .. }) => Some(rule.describe()),
        _ => None,
    });
    assert_eq!(revoked.as_deref(), Some("deny rm -rf …"));
}

#[test]
fn a_rule_with_an_error_is_listed_as_disabled_with_its_reason() {
    let reason = "\"npx tsc\" is too broad to allow: npx runs its arguments";
    let location = RuleLocation { file: "~/rules.toml".into(), line: 8 };
    let disabled = DisabledRule { description: "allow npx tsc".into(), reason: reason.into(), location };
    let mut screen = open_list((80, 24), Rules { disabled: vec![disabled], ..three_effects() });
    let text = screen.screen_text();
    assert!(text.contains("3 in force · 1 disabled") && text.contains("disabled: allow npx tsc"), "{text}");
    for _ in 0..3 {
        screen.press_key("down");
    }
    screen.press_key("x");
    let text = screen.screen_text();
    assert!(text.contains("correct or remove it in ~/rules.toml:8"), "{text}");
    screen.press_key("enter");
    let text = screen.screen_text();
    assert!(text.contains("npx runs its arguments.") && text.contains("~/rules.toml:8"), "{text}");
}

#[test]
fn a_reason_why_every_call_asks_is_above_the_rules() {
    let mut screen = open_list((80, 24), Rules { read_error: Some("rules.toml:3: a typo".into()), ..three_effects() });
    let text = screen.screen_text();
    assert!(text.contains("Every call asks until this is corrected: rules.toml:3: a typo"), "{text}");
}

/// The end of a command decides what it does, so the text below the list grows to show all of it.
#[test]
fn the_end_of_a_long_command_is_below_the_list_and_in_the_pager() {
    let command = format!("{}cargo doc && echo finished", "cargo test --workspace --all-features && ".repeat(9));
    for (size, fits) in [((120, 36), true), ((80, 24), true), ((60, 15), false)] {
        let mut screen = open_list(size, command_rules(&[&command, "make", "make check", "make all"]));
        let text = screen.screen_text();
        assert_eq!(text.contains("echo finished"), fits, "{size:?}: {text}");
        assert!(["make", "make check", "make all"].iter().all(|rule| text.contains(rule)), "{size:?}: {text}");
        assert_eq!(text.contains("alt-o opens all"), !fits, "{size:?}: {text}");
        screen.press_key("alt-o");
        screen.press_key("end");
        assert!(screen.screen_text().contains("echo finished"), "{size:?}: {}", screen.screen_text());
        screen.press_key("esc");
        assert!(screen.screen_text().contains("Grants and rules"), "{}", screen.screen_text());
    }
}

/// A break within a word, also one after a hyphen, cannot pass for a space.
#[test]
fn a_row_that_goes_on_with_a_rule_is_marked() {
    let command = format!("make {}-target && {}", ["long"; 14].join("-"), "cargo test --no-fail-fast && ".repeat(3));
    let mut screen = open_list((60, 24), command_rules(&[&command, "true"]));
    for place in ["below the list", "in the pager"] {
        let text = screen.screen_text();
        let rows: Vec<&str> = text.lines().map(|row| row.trim_matches(['│', ' '])).collect();
        let start = rows.iter().rposition(|row| row.ends_with(" make")).unwrap();
        assert!(rows[start + 1].starts_with("↪ ") && rows[start + 2].starts_with("↪ "), "{place}: {text}");
        assert!(!rows.iter().any(|row| row.starts_with("target") || row.starts_with("fast")), "{place}: {text}");
        screen.press_key("alt-o");
    }
}

#[test]
fn a_line_break_of_a_command_is_a_sign_in_its_row_and_a_line_below_the_list() {
    let mut screen = open_list((80, 24), command_rules(&["make one\nmake two", "true"]));
    let text = screen.screen_text();
    assert!(text.contains("allow exactly: make one ⏎ make two"), "{text}");
    let rows: Vec<&str> = text.lines().map(|row| row.trim_matches(['│', ' '])).collect();
    assert!(rows.windows(2).any(|pair| pair == ["allow exactly: make one", "make two"]), "{text}");
    screen.state.settings.is_ascii = true;
    assert!(screen.screen_text().contains("make one $ make two"), "{}", screen.screen_text());
}

/// Few rules do not wrap on a small screen, and what is right of them is shown only if enough of it fits.
#[test]
fn each_rule_has_one_row_on_a_small_screen() {
    let mut screen = open_list((60, 15), command_rules(&["make check", "cargo test --workspace --all", "ls"]));
    let text = screen.screen_text();
    let rows: Vec<&str> = text.lines().map(|row| row.trim_matches(['│', ' ', '❯'])).collect();
    let first = rows.iter().position(|row| row.starts_with("allow exactly: make check")).unwrap();
    assert!(rows[first + 1].starts_with("allow exactly: cargo test --workspace --all"), "{text}");
    assert!(rows[first + 2].starts_with("allow exactly: ls"), "{text}");
    assert!(text.contains("no calls here yet"), "the text below has it: {text}");
    for row in &rows[first..first + 3] {
        let secondary = row.split_once("  ").map_or("", |(_, rest)| rest.trim());
        assert!(secondary.is_empty() || secondary.chars().count() >= 12, "{row:?}: {text}");
    }
}

#[test]
fn the_filter_and_the_key_hints_are_about_the_selected_rule() {
    let everything = Rule { tool: Some("write_file".into()), ..Rule::new(RuleEffect::Ask, RuleTarget::EveryCall) };
    let mut rules = command_rules(&["make check", "np"]);
    rules.list.push(everything);
    let mut screen = open_list((80, 24), rules);
    assert!(screen.screen_text().contains("enter edit · x revoke"), "{}", screen.screen_text());
    screen.type_text("np");
    let text = screen.screen_text();
    // "no calls here yet · every project" contains the two letters.
    assert!(text.contains("exactly: np") && text.contains("1 of 3"), "{text}");
    assert!(text.contains("enter edit") && !text.contains("x revoke"), "{text}");
    screen.press_key("backspace");
    screen.press_key("backspace");
    screen.press_key("ctrl-end");
    let text = screen.screen_text();
    let has_hint = |hint: &str| text.contains(&format!("╰─ {hint}"));
    assert!(has_hint("↑↓ move · x revoke · type to filter"), "a rule for every call has no text: {text}");
}
