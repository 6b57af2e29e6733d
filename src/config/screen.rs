//! `[screen]`: appearance and input of the terminal UI.

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Screen {
    /// Theme name, or `auto` to choose by the terminal's background.
    pub theme: String,
    /// Theme used by `auto` in a light terminal.
    pub theme_light: String,
    /// Theme used by `auto` in a dark terminal.
    pub theme_dark: String,
    /// Use colors. `NO_COLOR` in the environment turns them off too.
    pub color: bool,
    /// Scroll and click with the mouse.
    pub mouse: bool,
    /// Draw boxes and marks in ASCII. `None`: only if the locale is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ascii: Option<bool>,
    /// Write terminal hyperlinks.
    pub links: Links,
    /// Ring the bell when a prompt is waiting.
    pub bell: bool,
    /// Command that opens a file. `None`: `$VISUAL`, then `$EDITOR`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub editor: Option<String>,
}

/// Use of terminal hyperlinks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Links {
    /// If the terminal is known to support them.
    #[default]
    Auto,
    /// Always.
    On,
    /// Never.
    Off,
}

impl Default for Screen {
    fn default() -> Self {
        Self {
            theme: "auto".to_owned(),
            theme_light: "light".to_owned(),
            theme_dark: "dark".to_owned(),
            color: true,
            mouse: true,
            ascii: None,
            links: Links::Auto,
            bell: true,
            editor: None,
        }
    }
}
