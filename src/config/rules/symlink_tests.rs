//! Rules that deny follow symlinks and are displayed as written.

use super::*;
use crate::chat::{Access, Preconditions, Preview};
use crate::policy::{RuleEffect, Subject};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

const TODAY: &str = "2026-11-22";

fn book(place: &Path) -> RulesSource {
    let at = |name: &str| place.canonicalize().unwrap().join(name);
    fs::create_dir_all(at("app")).unwrap();
    let tools = vec!["read_file".to_owned()];
    RulesSource { rules_file: at("rules.toml"), trust_file: at("trusted.toml"), folder: at("app"), tools, home: None }
}

#[test]
fn r12_a_path_denied_through_a_symlink_is_denied_at_its_current_target() {
    let place = tempfile::tempdir().unwrap();
    let folder = place.path().canonicalize().unwrap().join("app");
    let book = book(place.path());
    for release in ["releases/3", "releases/4"] {
        fs::create_dir_all(folder.join(release)).unwrap();
    }
    let rule = |rest: &str| format!("[[rule]]\nverdict = \"deny\"\n{rest}\n");
    let there = place.path().canonicalize().unwrap().join("link");
    let text = format!(
        "{}{}",
        rule("path = \"current/**\""),
        rule(&format!("path = \"x\"\nproject = {:?}", there.to_str().unwrap()))
    );
    fs::write(&book.rules_file, &text).unwrap();
    let denies = |loaded: &LoadedRules, path: &str| {
        let access = Access::Read(vec![path.into()]);
        let (preview, basis) = (Preview::Text(String::new()), Preconditions::default());
        let of = Subject::new("read_file", &access, &preview, false, &basis);
        loaded.rules.first_matching(RuleEffect::Deny, &of).is_some()
    };
    // Without the symlink, with the symlink, and with a changed target.
    let mut loaded = book.load(TODAY);
    for release in ["releases/3", "releases/4"] {
        assert!(!denies(&loaded, &format!("{release}/secret")));
        assert!(book.has_same_targets(&loaded));
        let _ = fs::remove_file(folder.join("current"));
        symlink(release, folder.join("current")).unwrap();
        assert!(!book.has_same_targets(&loaded), "{release}");
        loaded = book.load(TODAY);
        assert!(denies(&loaded, &format!("{release}/secret")) && denies(&loaded, "current/secret"));
        assert!(book.has_same_targets(&loaded));
    }
    assert!(!denies(&loaded, "x"));
    symlink(&folder, &there).unwrap();
    assert!(!book.has_same_targets(&loaded), "the project path is a symlink to this directory now");
    loaded = book.load(TODAY);
    assert!(denies(&loaded, "x") && book.has_same_targets(&loaded));
}

#[test]
fn derived_rules_are_not_listed() {
    let place = tempfile::tempdir().unwrap();
    let above = place.path().to_str().unwrap().to_owned();
    let book = book(place.path());
    fs::write(&book.rules_file, format!("[[rule]]\nverdict = \"deny\"\npath = \"{above}/**\"\n")).unwrap();
    let loaded = book.load(TODAY);
    assert_eq!(loaded.rules.list.len(), 1);
    assert!(!loaded.rules.aliases.is_empty());
    let access = Access::Read(vec!["src/main.rs".into()]);
    let (preview, basis) = (Preview::Text(String::new()), Preconditions::default());
    let of = Subject::new("read_file", &access, &preview, false, &basis);
    let found = loaded.rules.first_matching(RuleEffect::Deny, &of).map(Rule::describe);
    assert_eq!(found, Some(format!("deny {above}/**")), "it is displayed as written");
}
