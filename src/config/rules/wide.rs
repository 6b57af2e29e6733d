//! Broad matching for rules that ask or deny: a rule for one name of a path also applies to its other names.

use crate::policy::{About, Holds, Rule, Says, glob};
use std::path::{Path, PathBuf};

/// Returns whether a rule applies in this directory, whose symlinks are resolved. An asking or denying rule also
/// applies if it names the directory through a symlink.
pub(super) fn holds_in(rule: &Rule, folder: &Path) -> bool {
    match &rule.holds {
        Holds::Everywhere | Holds::Trusted => true,
        Holds::Project(project) => {
            let by_a_link = || project.canonicalize().is_ok_and(|real| real == folder);
            project == folder || (rule.says != Says::Allow && by_a_link())
        }
    }
}

/// Returns the project of a rule for another project, if the rule asks or denies.
pub(super) fn elsewhere(rule: Rule) -> Option<PathBuf> {
    match rule.holds {
        Holds::Project(project) if rule.says != Says::Allow => Some(project),
        Holds::Project(_) | Holds::Everywhere | Holds::Trusted => None,
    }
}

/// Derives rules for the other names of the path: inside the project a full path also has a relative name, and a path
/// through a symlink also has the name of its target. Returns nothing for a rule that allows.
pub(super) fn also(rule: &Rule, folder: &Path) -> Vec<Rule> {
    let About::Path(written) = &rule.about else { return Vec::new() };
    if rule.says == Says::Allow {
        return Vec::new();
    }
    let full = folder.join(written);
    let mut names = Vec::new();
    for path in [real(&full), full].iter().filter_map(|path| path.to_str()) {
        names.push(path.to_owned());
        names.extend(inside(path, folder));
    }
    names.sort();
    names.dedup();
    names.retain(|name| name != written && Path::new(name) != folder.join(written));
    names.into_iter().map(|name| Rule { about: About::Path(name), ..rule.clone() }).collect()
}

/// Resolves the symlinks in the part of a pattern before its first wildcard, as far as that part exists.
fn real(pattern: &Path) -> PathBuf {
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
fn inside(pattern: &str, folder: &Path) -> Vec<String> {
    let Some(folder) = folder.to_str() else { return Vec::new() };
    let parts: Vec<&str> = pattern.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
    let mut left = Vec::new();
    for at in 0..=parts.len() {
        if !glob::path(&parts[..at].join("/"), folder) {
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
    use crate::policy::At;
    use std::fs;
    use std::os::unix::fs::symlink;

    fn rule(says: Says, path: &str, holds: Holds) -> Rule {
        Rule {
            says,
            tool: None,
            about: About::Path(path.to_owned()),
            holds,
            created: String::new(),
            expires: String::new(),
            scripts: Vec::new(),
            key: String::new(),
            at: At::default(),
        }
    }

    fn names(says: Says, path: &str, folder: &Path) -> Vec<String> {
        let also = also(&rule(says, path, Holds::Everywhere), folder);
        let name = |rule: Rule| match rule.about {
            About::Path(name) => name,
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
            assert_eq!(names(Says::Deny, path, folder), expected, "{path}");
            assert_eq!(names(Says::Ask, path, folder), expected, "{path}");
            assert_eq!(names(Says::Allow, path, folder), [""; 0], "{path}");
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
        let found = names(Says::Deny, "current/**", &folder);
        assert!(found.contains(&"releases/3/**".to_owned()), "{found:?}");
        let found = names(Says::Deny, base.join("link/new/*.key").to_str().unwrap(), &folder);
        assert!(found.contains(&"new/*.key".to_owned()), "{found:?}");
        let by_link = |says| holds_in(&rule(says, "x", Holds::Project(base.join("link"))), &folder);
        assert!(by_link(Says::Deny) && by_link(Says::Ask) && !by_link(Says::Allow));
        let elsewhere = Holds::Project(base.join("app/releases"));
        assert!(!holds_in(&rule(Says::Deny, "x", elsewhere), &folder));
    }
}
