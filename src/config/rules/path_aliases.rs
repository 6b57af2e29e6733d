//! Broad matching for rules that ask or deny: a rule for one name of a path also applies to its other names.

use crate::policy::{Rule, RuleEffect, RuleScope, RuleTarget, glob};
use std::path::{Path, PathBuf};

/// Returns whether a rule applies in this directory, whose symlinks are resolved. An asking or denying rule also
/// applies if it names the directory through a symlink.
pub(super) fn applies_in(rule: &Rule, folder: &Path) -> bool {
    match &rule.scope {
        RuleScope::EveryProject | RuleScope::TrustedProject => true,
        RuleScope::Project(project) => {
            let by_a_link = || project.canonicalize().is_ok_and(|real| real == folder);
            project == folder || (rule.effect != RuleEffect::Allow && by_a_link())
        }
    }
}

/// Returns the project of a rule for another project, if the rule asks or denies.
pub(super) fn other_project(rule: Rule) -> Option<PathBuf> {
    match rule.scope {
        RuleScope::Project(project) if rule.effect != RuleEffect::Allow => Some(project),
        RuleScope::Project(_) | RuleScope::EveryProject | RuleScope::TrustedProject => None,
    }
}

/// Derives rules for the other names of the path: inside the project a full path also has a relative name, and a path
/// through a symlink also has the name of its target. Returns nothing for a rule that allows.
pub(super) fn derive_aliases(rule: &Rule, folder: &Path) -> Vec<Rule> {
    let RuleTarget::Path(written) = &rule.target else { return Vec::new() };
    if rule.effect == RuleEffect::Allow {
        return Vec::new();
    }
    let full = folder.join(written);
    let mut names = Vec::new();
    for path in [resolve_prefix(&full), full].iter().filter_map(|path| path.to_str()) {
        names.push(path.to_owned());
        names.extend(relative_patterns(path, folder));
    }
    names.sort();
    names.dedup();
    names.retain(|name| name != written && Path::new(name) != folder.join(written));
    names.into_iter().map(|name| Rule { target: RuleTarget::Path(name), ..rule.clone() }).collect()
}

/// Resolves the symlinks in the part of a pattern before its first wildcard, as far as that part exists.
fn resolve_prefix(pattern: &Path) -> PathBuf {
    let is_plain = |part: &std::path::Component<'_>| !part.as_os_str().to_string_lossy().contains(['*', '?']);
    let plain: PathBuf = pattern.components().take_while(is_plain).collect();
    for known in plain.ancestors() {
        if let (Ok(real), Ok(rest)) = (known.canonicalize(), pattern.strip_prefix(known)) {
            return real.join(rest);
        }
    }
    pattern.to_owned()
}

/// Returns the part of a full pattern that remains inside the directory. `**` may match in several ways, so there can
/// be more than one.
fn relative_patterns(pattern: &str, folder: &Path) -> Vec<String> {
    let Some(folder) = folder.to_str() else { return Vec::new() };
    let parts: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let mut left = Vec::new();
    for at in 0..=parts.len() {
        if !glob::matches_path(&parts[..at].join("/"), folder) {
            continue;
        }
        let goes_on = at > 0 && parts[at - 1] == "**";
        for from in [Some(at), goes_on.then(|| at - 1)].into_iter().flatten() {
            let rest = parts[from..].join("/");
            left.push(if rest.is_empty() { ".".to_owned() } else { rest });
        }
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::RuleLocation;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn rule(says: RuleEffect, path: &str, holds: RuleScope) -> Rule {
        Rule {
            effect: says,
            tool: None,
            target: RuleTarget::Path(path.to_owned()),
            scope: holds,
            created: String::new(),
            expires: String::new(),
            scripts: Vec::new(),
            saved_with_key: String::new(),
            location: RuleLocation::default(),
        }
    }

    fn names(says: RuleEffect, path: &str, folder: &Path) -> Vec<String> {
        let also = derive_aliases(&rule(says, path, RuleScope::EveryProject), folder);
        let name = |rule: Rule| match rule.target {
            RuleTarget::Path(name) => name,
            other => panic!("{other:?}"),
        };
        also.into_iter().map(name).collect()
    }

    #[test]
    fn r12_a_path_denied_by_full_name_is_denied_by_relative_name() {
        let folder = Path::new("/nowhere/code/app");
        for (path, expected) in [
            ("/nowhere/code/app/secrets/**", &["secrets/**"][..]),
            ("/nowhere/code/*/secrets/**", &["secrets/**"]),
            ("/nowhere/code/app", &["."]),
            ("/nowhere/code/app/**", &["**", "."]),
            ("/nowhere/**", &["**", "."]),
            ("/nowhere/**/secrets", &["**/secrets", "secrets"]),
            ("/elsewhere/**", &[]),
            ("/nowhere/code/application/x", &[]),
            ("secrets/**", &[]),
        ] {
            assert_eq!(names(RuleEffect::Deny, path, folder), expected, "{path}");
            assert_eq!(names(RuleEffect::Ask, path, folder), expected, "{path}");
            assert_eq!(names(RuleEffect::Allow, path, folder), [""; 0], "{path}");
        }
    }

    #[test]
    fn r12_a_path_denied_through_a_symlink_is_denied_at_its_target() {
        let place = tempfile::tempdir().unwrap();
        let base = place.path().canonicalize().unwrap();
        let folder = base.join("app");
        fs::create_dir_all(folder.join("releases/3")).unwrap();
        symlink("releases/3", folder.join("current")).unwrap();
        symlink(&folder, base.join("link")).unwrap();
        let found = names(RuleEffect::Deny, "current/**", &folder);
        assert!(found.contains(&"releases/3/**".to_owned()), "{found:?}");
        let found = names(RuleEffect::Deny, base.join("link/new/*.key").to_str().unwrap(), &folder);
        assert!(found.contains(&"new/*.key".to_owned()), "{found:?}");
        let by_link = |says| applies_in(&rule(says, "x", RuleScope::Project(base.join("link"))), &folder);
        assert!(by_link(RuleEffect::Deny) && by_link(RuleEffect::Ask) && !by_link(RuleEffect::Allow));
        let elsewhere = RuleScope::Project(base.join("app/releases"));
        assert!(!applies_in(&rule(RuleEffect::Deny, "x", elsewhere), &folder));
    }
}
