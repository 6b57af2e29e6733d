//! Settings and rules files: any content is read, and problems are reported with their line.

use aye::config::{self, Overrides, Settings, rules};
use aye::policy::RuleScope;
use aye::tui::keys::Keymap;

/// Checks these bytes as a settings file, with its key bindings, and as a rules file.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let layer = config::settings_parser::parse_settings(&text, "config.toml");
    let count = layer.problems.len();
    let settings = Settings::from_layers([layer], &|_| None, &Overrides::default());
    assert!(settings.problems.len() >= count, "a problem is no longer reported");
    for problem in &settings.problems {
        assert!(problem.to_string().chars().count() < 2000, "a very long problem of {}", problem.origin);
    }
    Keymap::with_overrides(&settings.config.keys);
    rules::rules_parser::parse_rules(&text, "rules.toml", &["bash_exec".to_owned()], &RuleScope::EveryProject);
}
