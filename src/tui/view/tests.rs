//! Helpers for tests of the view.
use crate::tui::state::Settings;

/// Returns the settings of a project in `/project` on a host called `here`.
pub fn settings() -> Settings {
    Settings {
        folder: "/project".into(),
        location: "~/project ⎇ main".into(),
        home: None,
        sandbox_note: String::new(),
        host_name: "here".into(),
        has_mouse: true,
        is_ascii: false,
        terminal_reorders: false,
        has_links: false,
        reads_terminal_clipboard: false,
        link_scheme: crate::config::LinkScheme::File,
        is_remote: false,
        pictures: None,
        has_bell: true,
        theme: "auto".into(),
        auto_theme: "dark".into(),
        editor: None,
    }
}
