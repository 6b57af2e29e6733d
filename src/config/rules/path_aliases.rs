//! Broad matching for rules that ask or deny: a rule for one name of a path also applies to its other names.

use crate::policy::{Rule, RuleEffect, RuleScope, RuleTarget, glob};
use std::path::{Path, PathBuf};

/// Returns whether a rule applies in this directory, whose symlinks are resolved. An asking or denying rule also
/// applies if it names the directory through a symlink.
pub(super) fn applies_in(rule: &Rule, folder: &Path) -> bool {
    match &rule.scope {
        RuleScope::EveryProject | RuleScope::TrustedProject => true,
        RuleScope::Project(project) => {
            let is_named_by_symlink = || project.canonicalize().is_ok_and(|real| real == folder);
            project == folder || (rule.effect != RuleEffect::Allow && is_named_by_symlink())
        }
    }
}

/// Returns the project that the rule is limited to, if the rule asks or denies.
pub(super) fn restricted_project(rule: Rule) -> Option<PathBuf> {
    match rule.scope {
        RuleScope::Project(project) if rule.effect != RuleEffect::Allow => Some(project),
        RuleScope::Project(_) | RuleScope::EveryProject | RuleScope::TrustedProject => None,
    }
}

/// Derives rules for the other names of the path: inside the project a full path also has a relative name, and a path
/// through a symlink also has the name of its target. Returns nothing for a rule that allows.
pub(super) fn derive_aliases(rule: &Rule, folder: &Path) -> Vec<Rule> {
    let RuleTarget::Path(pattern) = &rule.target else { return Vec::new() };
    if rule.effect == RuleEffect::Allow {
        return Vec::new();
    }
    let full = folder.join(pattern);
    let mut names = Vec::new();
    for path in [resolve_prefix(&full), full].iter().filter_map(|path| path.to_str()) {
        names.push(path.to_owned());
        names.extend(relative_patterns(path, folder));
    }
    names.sort();
    names.dedup();
    names.retain(|name| name != pattern && Path::new(name) != folder.join(pattern));
    names.into_iter().map(|name| Rule { target: RuleTarget::Path(name), ..rule.clone() }).collect()
}

/// Resolves the symlinks in the part of a pattern before its first wildcard, as far as that part exists.
fn resolve_prefix(pattern: &Path) -> PathBuf {
    let has_no_wildcard = |part: &std::path::Component<'_>| !part.as_os_str().to_string_lossy().contains(['*', '?']);
    let literal_prefix: PathBuf = pattern.components().take_while(has_no_wildcard).collect();
    for ancestor in literal_prefix.ancestors() {
        if let (Ok(real), Ok(rest)) = (ancestor.canonicalize(), pattern.strip_prefix(ancestor)) {
            return real.join(rest);
        }
    }
    pattern.to_owned()
}

/// Returns the patterns, relative to the directory, for the paths inside it that a full pattern matches: `b/*` for the
/// pattern `/a/b/*` and the directory `/a`. `**` may match in several ways, so there can be more than one.
fn relative_patterns(pattern: &str, folder: &Path) -> Vec<String> {
    let Some(folder) = folder.to_str() else { return Vec::new() };
    let parts: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let mut relative = Vec::new();
    for index in 0..=parts.len() {
        if !glob::matches_path(&parts[..index].join("/"), folder) {
            continue;
        }
        // A `**` that ends the matched part may also match names inside the directory, so it also begins a result.
        let may_continue = index > 0 && parts[index - 1] == "**";
        for start in [Some(index), may_continue.then(|| index - 1)].into_iter().flatten() {
            let rest = parts[start..].join("/");
            relative.push(if rest.is_empty() { ".".to_owned() } else { rest });
        }
    }
    relative
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn rule(effect: RuleEffect, path: &str, scope: RuleScope) -> Rule {
        Rule { scope, ..Rule::new(effect, RuleTarget::Path(path.to_owned())) }
    }

    fn alias_names(effect: RuleEffect, path: &str, folder: &Path) -> Vec<String> {
        let aliases = derive_aliases(&rule(effect, path, RuleScope::EveryProject), folder);
        let path_of = |rule: Rule| match rule.target {
            RuleTarget::Path(name) => name,
            target => panic!("{target:?}"),
        };
        aliases.into_iter().map(path_of).collect()
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
            assert_eq!(alias_names(RuleEffect::Deny, path, folder), expected, "{path}");
            assert_eq!(alias_names(RuleEffect::Ask, path, folder), expected, "{path}");
            assert_eq!(alias_names(RuleEffect::Allow, path, folder), [""; 0], "{path}");
        }
    }

    #[test]
    fn r12_a_path_denied_through_a_symlink_is_denied_at_its_target() {
        let temporary = tempfile::tempdir().unwrap();
        let base = temporary.path().canonicalize().unwrap();
        let folder = base.join("app");
        fs::create_dir_all(folder.join("releases/3")).unwrap();
        symlink("releases/3", folder.join("current")).unwrap();
        symlink(&folder, base.join("link")).unwrap();
        let aliases = alias_names(RuleEffect::Deny, "current/**", &folder);
        assert!(aliases.contains(&"releases/3/**".to_owned()), "{aliases:?}");
        let aliases = alias_names(RuleEffect::Deny, base.join("link/new/*.key").to_str().unwrap(), &folder);
        assert!(aliases.contains(&"new/*.key".to_owned()), "{aliases:?}");
        let applies_by_symlink =
            |effect| applies_in(&rule(effect, "x", RuleScope::Project(base.join("link"))), &folder);
        assert!(
            applies_by_symlink(RuleEffect::Deny)
                && applies_by_symlink(RuleEffect::Ask)
                && !applies_by_symlink(RuleEffect::Allow)
        );
        let other_scope = RuleScope::Project(base.join("app/releases"));
        assert!(!applies_in(&rule(RuleEffect::Deny, "x", other_scope), &folder));
    }
}
