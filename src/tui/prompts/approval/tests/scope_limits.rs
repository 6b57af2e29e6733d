//! Tests of the widest scopes that are offered.

use super::*;

#[test]
fn r11_the_scope_explains_its_limit_and_never_offers_a_whole_tool_or_host() {
    let exact_grant = |network, scripts: Vec<crate::chat::Script>| {
        let scope = GrantScope::Command { command: "x".into(), folder: "/p".into(), network };
        Grant::new("bash_exec", scope).with_scripts(scripts)
    };
    let script = crate::chat::Script { path: "x.sh".into(), sha256: None };
    let prefix_scope = GrantScope::Prefix { words: vec!["cargo".into()], folder: "/p".into() };
    for (grant, part) in [
        (exact_grant(true, Vec::new()), "other hosts than it names"),
        (exact_grant(false, vec![script]), "while that file is unchanged"),
        (exact_grant(false, Vec::new()), "not a simple command"),
        (Grant::new("bash_exec", prefix_scope), "allowing any command would allow anything"),
        (Grant::new("write_file", GrantScope::Folder("".into())), "This is the widest scope"),
    ] {
        let keys = Keymap::default();
        let options = vec![GrantOption { grant, can_be_rule: true, earlier_calls: Vec::new(), example: None }];
        let mut choice = ScopeChoice::new(options, Path::new("/p"), &keys, ms(0)).unwrap();
        let message = choice.change_scope(Action::WidenScope, &keys).expect_err("no wider scope");
        assert!(message.contains(part), "{message}");
    }
    // A command that names a host can be granted only exactly.
    let curl = command_plan("curl https://api.example.com/v1");
    let scopes: Vec<GrantScope> =
        crate::policy::grant_scopes("bash_exec", &curl).into_iter().map(|grant| grant.scope).collect();
    assert!(matches!(scopes.as_slice(), [GrantScope::Command { .. }]), "{scopes:?}");
}
