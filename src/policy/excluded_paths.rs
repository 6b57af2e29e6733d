//! Paths excluded by the user's rules from calls that read everything below a folder.

use super::coverage;
use super::rule::{RuleEffect, RuleTarget, Rules};
use crate::chat::Access;

/// Paths that rules deny or ask about, for one tool. Rules are matched against the paths that a call names; the files
/// found below them are checked one by one here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ExcludedPaths {
    denied_patterns: Vec<String>,
    asked_patterns: Vec<String>,
}

impl ExcludedPaths {
    /// Collects the paths from the rules for a tool.
    pub fn for_tool(rules: &Rules, tool: &str) -> Self {
        let all = || rules.list.iter().chain(rules.aliases.iter().map(|(_, rule)| rule));
        let about = |says| {
            let spoken =
                all().filter(move |rule| rule.effect == says && rule.tool.as_ref().is_none_or(|of| of == tool));
            let patterns = spoken.filter_map(|rule| match &rule.target {
                RuleTarget::Path(pattern) => Some(pattern.clone()),
                RuleTarget::EveryCall | RuleTarget::Command(_) | RuleTarget::Prefix(_) | RuleTarget::Host(_) => None,
            });
            patterns.collect()
        };
        Self { denied_patterns: about(RuleEffect::Deny), asked_patterns: about(RuleEffect::Ask) }
    }

    /// Returns whether a call that may read below `under` must skip a file: a rule denies it, or asks about it and did
    /// not ask about the folder.
    pub fn excludes(&self, file: &Access, under: &Access) -> bool {
        let speaks = |pattern: &&String| coverage::access_matches(pattern, file);
        self.denied_patterns.iter().any(|pattern| speaks(&pattern))
            || self.asked_patterns.iter().filter(speaks).any(|pattern| !coverage::access_matches(pattern, under))
    }
}

#[cfg(test)]
mod tests {
    use super::super::rule::Rule;
    use super::super::rule_tests::rule;
    use super::*;

    fn check_exclusion(says: RuleEffect, tool: Option<&str>, pattern: &str, file: &str, under: &str, held: bool) {
        let rules = |list, also| Rules { list, aliases: also, ..Rules::default() };
        let path = RuleTarget::Path(pattern.to_owned());
        let one = Rule { tool: tool.map(str::to_owned), ..rule(says, path) };
        let other = rule(RuleEffect::Deny, RuleTarget::Prefix(vec![file.to_owned()]));
        let of = |path: &str| match path.starts_with('/') {
            true => Access::ReadSensitive(path.into()),
            false => Access::Read(vec![path.into()]),
        };
        for rules in [rules(vec![other.clone(), one.clone()], vec![]), rules(vec![other], vec![(0, one)])] {
            let left_out = ExcludedPaths::for_tool(&rules, "search_text");
            assert_eq!(left_out.excludes(&of(file), &of(under)), held, "{says:?} {tool:?} {pattern} {file} {under}");
        }
    }

    #[test]
    fn r12_skips_denied_files_below_a_readable_folder() {
        check_exclusion(RuleEffect::Deny, None, "keys/**", "keys/a", "", true);
        check_exclusion(RuleEffect::Deny, None, "keys/**", "key", "", false);
        check_exclusion(RuleEffect::Deny, None, "**/*.pem", "deep/er/a.pem", "deep", true);
        check_exclusion(RuleEffect::Deny, Some("search_text"), "keys/**", "keys/a", "", true);
        check_exclusion(RuleEffect::Deny, Some("read_file"), "keys/**", "keys/a", "", false);
        check_exclusion(RuleEffect::Deny, None, "/else/keys/**", "/else/keys/a", "/else", true);
        check_exclusion(RuleEffect::Deny, None, "/else/keys/**", "else/keys/a", "else", false);
        check_exclusion(RuleEffect::Allow, None, "keys/**", "keys/a", "", false);
    }

    #[test]
    fn reads_files_that_the_folder_was_approved_for() {
        check_exclusion(RuleEffect::Ask, None, "keys/**", "keys/a", "", true);
        check_exclusion(RuleEffect::Ask, None, "keys/**", "keys/a", "keys", false);
        check_exclusion(RuleEffect::Ask, None, "keys/*.pem", "keys/a.pem", "keys", true);
        // An approval does not lift a denial.
        check_exclusion(RuleEffect::Deny, None, "keys/**", "keys/a", "keys", true);
    }
}
