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
    assert_eq!(prefixes("cargo test 2>&1 | tail -n 20"), [format!("cargo test@{root}")]);
    assert_eq!(prefixes("cd web && npm test && echo ok"), [format!("npm test@{root}/web")]);
    assert_eq!(prefixes("git add -A && git commit -m x"), Vec::<String>::new(), "one prefix does not cover both");
    assert_eq!(prefixes("cargo test && cat .env"), Vec::<String>::new());
}
