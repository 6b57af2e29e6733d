//! Keys of a rule under their old names.

use super::*;

#[test]
fn old_names_of_keys_work_with_one_notice_each() {
    let new = "[[rule]]\nverdict = \"deny\"\nprefix = \"git push\"\nnot_matches = \"git log\"\n\n\
        [[rule]]\nverdict = \"allow\"\nprefix = \"cargo test\"\n";
    let old = new.replace("verdict", "says").replace("prefix", "words").replace("not_matches", "not");
    let (expected, loaded) = (TestProject::new().load_user_rules(new), TestProject::new().load_user_rules(&old));
    assert_eq!((expected.old_names.len(), loaded.notices().len()), (0, 0));
    let without_file = |rules: &Rules| -> Vec<Rule> {
        let location = |line| RuleLocation { line, ..RuleLocation::default() };
        rules.list.iter().map(|rule| Rule { location: location(rule.location.line), ..rule.clone() }).collect()
    };
    assert_eq!(without_file(&loaded.rules), without_file(&expected.rules));
    let notices: Vec<String> =
        loaded.old_names.iter().map(|notice| notice.to_string().split_once(".toml:").unwrap().1.to_owned()).collect();
    assert_eq!(
        notices,
        [
            "2: `says` is now `verdict`; the old name works in this release (2 rules)",
            "3: `words` is now `prefix`; the old name works in this release (2 rules)",
            "4: `not` is now `not_matches`; the old name works in this release",
        ]
    );
    // An error in a rule with old names has the right line.
    let loaded = TestProject::new().load_user_rules("[[rule]]\nsays = \"deny\"\nwords = \"a | b\"\n");
    assert!(loaded.problems[0].to_string().contains("toml:3: prefix must be plain words"), "{:?}", loaded.problems);
}

#[test]
fn a_key_given_with_both_names_fails_closed() {
    for rule in [
        "verdict = \"allow\"\nsays = \"deny\"\nprefix = \"cargo test\"",
        "verdict = \"deny\"\nwords = \"git\"\nprefix = \"git push\"",
    ] {
        let loaded = TestProject::new().load_user_rules(&format!("[[rule]]\n{rule}\n"));
        assert_eq!(loaded.rules.list, [], "{rule}");
        let why = loaded.rules.read_error.unwrap();
        assert!(why.contains("toml:3: the rule has ") && why.contains(" and its old name "), "{why}");
    }
}
