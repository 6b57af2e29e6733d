//! What the person's rules keep out of a call that reads whatever lies below a folder.

use super::cover;
use super::rule::{About, Rules, Says};
use crate::chat::Access;

/// The paths about which rules deny or ask, for one tool. A rule speaks of what a call names; what such a call only comes
/// upon is asked about here, file by file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LeftOut {
    denied: Vec<String>,
    asked: Vec<String>,
}

impl LeftOut {
    /// Of these rules, for this tool.
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

    /// Whether a file that is reached so must be left out by a call that was allowed to look below `under`: a rule denies
    /// it, or asks about it and did not ask about that folder.
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
    fn r12_what_a_rule_denies_or_asks_about_is_left_out_below_a_folder_that_may_be_read() {
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
    fn what_was_asked_about_already_is_read() {
        check(Says::Ask, None, "keys/**", "keys/a", "", true);
        check(Says::Ask, None, "keys/**", "keys/a", "keys", false);
        check(Says::Ask, None, "keys/*.pem", "keys/a.pem", "keys", true);
        // A yes lifts no deny.
        check(Says::Deny, None, "keys/**", "keys/a", "keys", true);
    }
}
