//! A settings file and a rules file: whatever stands in them, they are read, and what is wrong is told with its line.

use aye::config::{self, Overrides, Settings, rules};
use aye::policy::RuleScope;
use aye::tui::keys::Keymap;

/// Bytes as a file of settings, of keys and of rules.
pub fn check(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let layer = config::settings_parser::parse_settings(&text, "config.toml");
    let told = layer.problems.len();
    let settings = Settings::from_layers([layer], &|_| None, &Overrides::default());
    assert!(settings.problems.len() >= told, "what was wrong is not told any more");
    for problem in &settings.problems {
        assert!(problem.to_string().chars().count() < 2000, "a long word about {}", problem.origin);
    }
    Keymap::with_overrides(&settings.config.keys);
    rules::rules_parser::parse_rules(&text, "rules.toml", &["bash_exec".to_owned()], &RuleScope::EveryProject);
}
