//! What the screen shows.
use crate::tui::state::Settings;

/// A project in `/project` on a machine called `here`.
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
