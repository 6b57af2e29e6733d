//! Paths excluded by the user's rules from calls that read everything below a folder.

use super::cover;
use super::rule::{About, Rules, Says};
use crate::chat::Access;

/// Paths that rules deny or ask about, for one tool. Rules are matched against the paths that a call names; the files
/// found below them are checked one by one here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut {
    denied: Vec<String>,
    asked: Vec<String>,
}

impl LeftOut {
    /// Collects the paths from the rules for a tool.
    pub fn of(rules: &Rules, tool: &str) -> Self {
        let all = || rules.list.iter().chain(rules.also.iter().map(|(_, rule)| rule));
        let about = |says| {
            let spoken =
                all().filter(move |rule| rule.says == says && rule.tool.as_ref().is_none_or(|of| of == tool));
            let patterns = spoken.filter_map(|rule| match &rule.about {
                About::Path(pattern) => Some(pattern.clone()),
                About::Anything | About::Command(_) | About::Words(_) | About::Host(_) => None,
            });
            patterns.collect()
        };
        Self { denied: about(Says::Deny), asked: about(Says::Ask) }
    }

    /// Returns whether a call that may read below `under` must skip a file: a rule denies it, or asks about it and did
    /// not ask about the folder.
    pub fn holds(&self, file: &Access, under: &Access) -> bool {
        let speaks = |pattern: &&String| cover::reaches(pattern, file);
        self.denied.iter().any(|pattern| speaks(&pattern))
            || self.asked.iter().filter(speaks).any(|pattern| !cover::reaches(pattern, under))
    }
}

#[cfg(test)]
mod tests {
    use super::super::rule::Rule;
    use super::super::rules_tests::rule;
    use super::*;

    fn check(says: Says, tool: Option<&str>, pattern: &str, file: &str, under: &str, held: bool) {
        let rules = |list, also| Rules { list, also, ..Rules::default() };
        let path = About::Path(pattern.to_owned());
        let one = Rule { tool: tool.map(str::to_owned), ..rule(says, path) };
        let other = rule(Says::Deny, About::Words(vec![file.to_owned()]));
        let of = |path: &str| match path.starts_with('/') {
            true => Access::ReadSensitive(path.into()),
            false => Access::Read(vec![path.into()]),
        };
        for rules in [rules(vec![other.clone(), one.clone()], vec![]), rules(vec![other], vec![(0, one)])] {
            let left_out = LeftOut::of(&rules, "search_text");
            assert_eq!(
                left_out.holds(&of(file), &of(under)),
                held,
                "{says:?} {tool:?} {pattern} {file} {under}"
            );
        }
    }

    #[test]
    fn r12_skips_denied_files_below_a_readable_folder() {
        check(Says::Deny, None, "keys/**", "keys/a", "", true);
        check(Says::Deny, None, "keys/**", "key", "", false);
        check(Says::Deny, None, "**/*.pem", "deep/er/a.pem", "deep", true);
        check(Says::Deny, Some("search_text"), "keys/**", "keys/a", "", true);
        check(Says::Deny, Some("read_file"), "keys/**", "keys/a", "", false);
        check(Says::Deny, None, "/else/keys/**", "/else/keys/a", "/else", true);
        check(Says::Deny, None, "/else/keys/**", "else/keys/a", "else", false);
        check(Says::Allow, None, "keys/**", "keys/a", "", false);
    }

    #[test]
    fn reads_files_that_the_folder_was_approved_for() {
        check(Says::Ask, None, "keys/**", "keys/a", "", true);
        check(Says::Ask, None, "keys/**", "keys/a", "keys", false);
        check(Says::Ask, None, "keys/*.pem", "keys/a.pem", "keys", true);
        // An approval does not lift a denial.
        check(Says::Deny, None, "keys/**", "keys/a", "keys", true);
    }
}
