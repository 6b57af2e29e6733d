//! Permissions of a sub-agent: the rules, grants and mode of the turn, and no wider ones.

use super::sub_agents::{beneath, handed, looked, ran, says};
use super::*;

#[test]
fn r17_sub_agent_has_the_rules_of_the_turn() {
    let read = |list, broken: Option<&str>| {
        let rules = std::sync::Arc::new(Rules { list, read_error: broken.map(str::to_owned), ..Rules::default() });
        Event::RulesLoaded { rules, notices: Vec::new() }
    };
    for (says_, broken, mode, expected) in [
        (None, None, Mode::Ask, "ask"),
        (Some(RuleEffect::Allow), None, Mode::Ask, "allow"),
        (Some(RuleEffect::Ask), None, Mode::Full, "ask"),
        (Some(RuleEffect::Deny), None, Mode::Full, "refuse"),
        (Some(RuleEffect::Allow), Some("rules.toml:1"), Mode::Full, "ask"),
        (Some(RuleEffect::Allow), None, Mode::Plan, "refuse"),
        (None, None, Mode::Auto, "allow"),
    ] {
        let mut state = handed(&["one"]);
        // Changes to rules and mode while it works apply to its later calls.
        says(&mut state, "one", "", &[("a", "write")]);
        update(&mut state, read(says_.map(|says| rule(says, "write")).into_iter().collect(), broken));
        update(&mut state, Event::ModeChanged(mode));
        let shown = shape(&looked(&mut state, "one", "a", write()));
        assert_eq!(shown[0], format!("one: {expected} a"), "{says_:?} {broken:?} {mode:?}");
        assert_eq!(beneath(&state, "one").session.grants(), [], "grants belong to the session");
    }
    // A revoked grant is revoked for sub-agents too.
    let mut state = handed(&["one"]);
    says(&mut state, "one", "", &[("a", "write")]);
    looked(&mut state, "one", "a", write());
    decided(&mut state, "a", Decision::Always(Grant::new("write", GrantScope::File("a".into()))));
    ran(&mut state, "one", "a");
    let by = Decider::Headless;
    update(&mut state, Event::GrantRevoked { given_on: Some("a".into()), what: "it".into(), by });
    says(&mut state, "one", "", &[("b", "write")]);
    assert_eq!(shape(&looked(&mut state, "one", "b", write()))[0], "one: ask b");
}
