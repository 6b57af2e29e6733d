//! Rules that deny follow symlinks and are displayed as written.

use super::*;
use crate::chat::{Access, Preconditions, Preview};
use crate::policy::{RuleEffect, Subject};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;

const TODAY: &str = "2026-11-22";

fn build_source(base: &Path) -> ProjectSource {
    let base = base.canonicalize().unwrap();
    fs::create_dir_all(base.join("app")).unwrap();
    let tools = vec!["read_file".to_owned()];
    ProjectSource { tools, max_instruction_bytes: 0, ..ProjectSource::within(&base) }
}

#[test]
fn r12_a_path_denied_through_a_symlink_is_denied_at_its_current_target() {
    let base = tempfile::tempdir().unwrap();
    let folder = base.path().canonicalize().unwrap().join("app");
    let source = build_source(base.path());
    for release in ["releases/3", "releases/4"] {
        fs::create_dir_all(folder.join(release)).unwrap();
    }
    let rule = |rest: &str| format!("[[rule]]\nverdict = \"deny\"\n{rest}\n");
    let link = base.path().canonicalize().unwrap().join("link");
    let text = format!(
        "{}{}",
        rule("path = \"current/**\""),
        rule(&format!("path = \"x\"\nproject = {:?}", link.to_str().unwrap()))
    );
    fs::write(&source.rules_file, &text).unwrap();
    let is_denied = |loaded: &LoadedRules, path: &str| {
        let access = Access::Read(vec![path.into()]);
        let (preview, preconditions) = (Preview::Text(String::new()), Preconditions::default());
        let destroys = false;
        let subject = Subject::new("read_file", &access, &preview, destroys, &preconditions);
        loaded.rules.first_matching(RuleEffect::Deny, &subject).is_some()
    };
    // `current` is first missing, then a symlink to the first release, then one to the second.
    let mut loaded = source.load(TODAY);
    for release in ["releases/3", "releases/4"] {
        assert!(!is_denied(&loaded, &format!("{release}/secret")));
        assert!(source.has_same_targets(&loaded));
        let _ = fs::remove_file(folder.join("current"));
        symlink(release, folder.join("current")).unwrap();
        assert!(!source.has_same_targets(&loaded), "{release}");
        loaded = source.load(TODAY);
        assert!(is_denied(&loaded, &format!("{release}/secret")) && is_denied(&loaded, "current/secret"));
        assert!(source.has_same_targets(&loaded));
    }
    assert!(!is_denied(&loaded, "x"));
    symlink(&folder, &link).unwrap();
    assert!(!source.has_same_targets(&loaded), "the project path is a symlink to this directory now");
    loaded = source.load(TODAY);
    assert!(is_denied(&loaded, "x") && source.has_same_targets(&loaded));
}

#[test]
fn derived_rules_are_not_listed() {
    let base = tempfile::tempdir().unwrap();
    let base_path = base.path().to_str().unwrap().to_owned();
    let source = build_source(base.path());
    fs::write(&source.rules_file, format!("[[rule]]\nverdict = \"deny\"\npath = \"{base_path}/**\"\n")).unwrap();
    let loaded = source.load(TODAY);
    assert_eq!(loaded.rules.list.len(), 1);
    assert!(!loaded.rules.aliases.is_empty());
    let access = Access::Read(vec!["src/main.rs".into()]);
    let (preview, preconditions) = (Preview::Text(String::new()), Preconditions::default());
    let destroys = false;
    let subject = Subject::new("read_file", &access, &preview, destroys, &preconditions);
    let description = loaded.rules.first_matching(RuleEffect::Deny, &subject).map(Rule::describe);
    assert_eq!(description, Some(format!("deny {base_path}/**")), "it is displayed as written");
}
