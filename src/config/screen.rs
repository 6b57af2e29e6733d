//! `[screen]`: how it looks.

use serde::{Deserialize, Serialize};

/// How it looks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Screen {
    /// A theme's name, or `auto`: the terminal is asked whether it is light or dark.
    pub theme: String,
    /// The theme `auto` takes in a light terminal.
    pub theme_light: String,
    /// The theme `auto` takes in a dark one.
    pub theme_dark: String,
    /// Whether there are colours. `NO_COLOR` in the environment takes them away.
    pub color: bool,
    /// Whether the mouse scrolls and clicks.
    pub mouse: bool,
    /// Whether frames and marks are drawn in ASCII. `None`: where the terminal has no others.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ascii: Option<bool>,
    /// Whether links are made for the terminal.
    pub links: Links,
    /// Whether the bell rings when a card waits.
    pub bell: bool,
    /// The command that opens a file. `None`: `$VISUAL`, then `$EDITOR`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub editor: Option<String>,
}

/// Whether links are made for the terminal.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Links {
    /// Where the terminal is known to understand them.
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
