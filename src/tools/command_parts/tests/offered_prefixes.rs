//! The prefixes that are offered on the prompt of a command line of several parts.

use super::*;

#[test]
fn offers_the_prefix_of_the_part_that_needs_approval() {
    let (_folder, disk) = project();
    let prefixes = |command: &str| -> Vec<String> {
        let grants = grant_scopes("bash_exec", &plan(&disk, command));
        let words = grants.iter().filter_map(|grant| match &grant.scope {
            GrantScope::Prefix { words, folder } => Some(format!("{}@{}", words.join(" "), folder.display())),
            _ => None,
        });
        words.collect()
    };
    let root = crate::project::Reader::root(&disk).display().to_string();
    let cargo = [format!("cargo test@{root}"), format!("cargo@{root}")];
    assert_eq!(prefixes("cargo test 2>&1 | tail -n 20"), cargo);
    assert_eq!(prefixes("RUST_BACKTRACE=1 timeout 60 cargo test 2>&1 | tail -n 20"), cargo);
    let npm = [format!("npm test@{root}/web"), format!("npm@{root}/web")];
    assert_eq!(prefixes("cd web && npm test && echo ok"), npm);
    assert_eq!(prefixes("git add -A && git commit -m x"), Vec::<String>::new(), "one prefix does not cover both");
    assert_eq!(prefixes("cargo test && cat .env"), Vec::<String>::new());
}

/// Each offered prefix allows the line; the same without input would not.
#[test]
fn offers_the_prefix_with_input_of_a_part_that_reads_the_output_of_another() {
    let (_folder, disk) = project();
    let offered = |command: &str| -> Vec<Grant> {
        let mut scopes = grant_scopes("bash_exec", &plan(&disk, command));
        scopes.retain(|grant| matches!(grant.scope, GrantScope::Prefix { .. }));
        scopes
    };
    for (command, count) in [("cat a.txt | cargo test", 2), ("cat a.txt | mytool | tail", 1), ("cargo test | tail", 2)]
    {
        let scopes = offered(command);
        assert_eq!(scopes.len(), count, "{command}");
        for grant in scopes {
            let has_input = !command.starts_with("cargo");
            assert_eq!(grant.takes_input, has_input, "{command}");
            let narrower = session_grant(grant.clone().with_input(false));
            let plan = plan(&disk, command);
            assert_eq!(verdict(&[session_grant(grant)], &Rules::default(), &plan), "allow", "{command}");
            assert_eq!(verdict(&[narrower], &Rules::default(), &plan) == "allow", !has_input, "{command}");
        }
    }
    assert_eq!(offered("cat a.txt | python3"), []);
    assert_eq!(offered("cat a.txt | sh -s"), []);
}

#[test]
fn offers_the_prefix_of_the_only_part_that_is_not_allowed_yet() {
    let (_folder, disk) = project();
    let prefixes = |rules: &Rules, command: &str| -> Vec<String> {
        let grants = grant_scopes_beside(&[], rules, "bash_exec", &plan(&disk, command));
        let words = grants.iter().filter_map(|grant| match &grant.scope {
            GrantScope::Prefix { words, .. } => Some(words.join(" ")),
            _ => None,
        });
        words.collect()
    };
    let rules = allowing(&["git add"]);
    assert_eq!(prefixes(&rules, "git add -A && git commit -m x | tail"), ["git commit"]);
    assert_eq!(prefixes(&rules, "git commit -m x && git add -A"), ["git commit"]);
    assert_eq!(prefixes(&rules, "git add -A && git commit -m x && cargo test"), Vec::<String>::new());
    assert_eq!(prefixes(&rules, "git add -A && git checkout x"), ["git checkout x", "git checkout"]);
    assert_eq!(prefixes(&rules, "git add -A && rm a.txt"), Vec::<String>::new());
    let mut asking = allowing(&["git add"]);
    asking.list.push(Rule::new(RuleEffect::Ask, RuleTarget::Command("git commit -m x".into())));
    assert_eq!(prefixes(&asking, "git add -A && git commit -m x"), Vec::<String>::new());
}
