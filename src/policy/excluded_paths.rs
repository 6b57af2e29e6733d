//! Paths excluded by the user's rules from calls that read everything below a folder.

use super::coverage;
use super::rule::{Rule, RuleEffect, RuleTarget, Rules};
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
        let all_rules = || rules.list.iter().chain(rules.aliases.iter().map(|(_, rule)| rule));
        let patterns_for = |effect| {
            let matching = all_rules().filter(|rule| rule.effect == effect && rule.is_for_tool(tool));
            let pattern_of = |rule: &Rule| match &rule.target {
                RuleTarget::Path(pattern) => Some(pattern.clone()),
                RuleTarget::EveryCall | RuleTarget::Command(_) | RuleTarget::Prefix(_) | RuleTarget::Host(_) => None,
            };
            matching.filter_map(pattern_of).collect()
        };
        Self { denied_patterns: patterns_for(RuleEffect::Deny), asked_patterns: patterns_for(RuleEffect::Ask) }
    }

    /// Returns whether a call that may read below `under` must skip a file: a rule denies the file, or a rule asks
    /// about the file but not about the folder.
    pub fn excludes(&self, file: &Access, under: &Access) -> bool {
        let is_match = |pattern: &&String| coverage::access_matches(pattern, file);
        self.denied_patterns.iter().any(|pattern| is_match(&pattern))
            || self.asked_patterns.iter().filter(is_match).any(|pattern| !coverage::access_matches(pattern, under))
    }
}

#[cfg(test)]
mod tests {
    use super::super::rule_tests::rule;
    use super::*;

    /// Asserts that a rule with this pattern, or an alias with it, excludes `file` from a call of `search_text` that
    /// may read below `under`, exactly if `expected`.
    fn check_exclusion(effect: RuleEffect, tool: Option<&str>, pattern: &str, file: &str, under: &str, expected: bool) {
        let rules = |list, aliases| Rules { list, aliases, ..Rules::default() };
        let path = RuleTarget::Path(pattern.to_owned());
        let path_rule = Rule { tool: tool.map(str::to_owned), ..rule(effect, path) };
        let unrelated_rule = rule(RuleEffect::Deny, RuleTarget::Prefix(vec![file.to_owned()]));
        let access_to = |path: &str| match path.starts_with('/') {
            true => Access::ReadSensitive(path.into()),
            false => Access::Read(vec![path.into()]),
        };
        for rules in [
            rules(vec![unrelated_rule.clone(), path_rule.clone()], vec![]),
            rules(vec![unrelated_rule], vec![(0, path_rule)]),
        ] {
            let excluded = ExcludedPaths::for_tool(&rules, "search_text");
            assert_eq!(
                excluded.excludes(&access_to(file), &access_to(under)),
                expected,
                "{effect:?} {tool:?} {pattern} {file} {under}"
            );
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
