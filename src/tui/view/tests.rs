//! Helpers for tests of the view.
use crate::tui::state::Settings;

/// Returns the settings of a project in `/project` on a host called `here`.
pub fn settings() -> Settings {
    Settings {
        folder: "/project".into(),
        place: "~/project ⎇ main".into(),
        home: None,
        may: String::new(),
        machine: "here".into(),
        mouse: true,
        ascii: false,
        terminal_turns: false,
        links: false,
        bell: true,
        theme: "auto".into(),
        auto_theme: "dark".into(),
        editor: None,
    }
}
