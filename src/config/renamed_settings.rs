//! Settings that have a new name. The old names work in this release.

/// Section, old name and new name of each renamed setting. If a section itself is renamed, the first field is empty.
pub const RENAMED_SETTINGS: &[(&str, &str, &str)] = &[
    ("", "second_reader", "model_reviewer"),
    ("profiles.*", "leave_out", "omit_parameters"),
    ("profiles.*", "max_tokens_name", "max_tokens_parameter"),
    ("profiles.*", "reasoning_back", "send_reasoning"),
    ("dry_run", "stage", "overlay_sandbox"),
    ("keys", "approve_destroying", "approve_destructive"),
    ("keys", "narrower", "narrow_scope"),
    ("keys", "wider", "widen_scope"),
    ("keys", "refuse", "deny"),
    ("keys", "refuse_because", "deny_with_message"),
    ("keys", "list_waiting", "open_queue"),
    ("keys", "switch_keyboard", "switch_focus"),
    ("keys", "tick", "select"),
    ("keys", "tick_all", "select_all"),
    ("keys", "keep", "accept_and_save"),
    ("keys", "park", "answer_later"),
    ("keys", "read_up", "scroll_text_up"),
    ("keys", "read_down", "scroll_text_down"),
    ("keys", "break_line", "insert_line_break"),
    ("keys", "take_back", "edit_queued"),
    ("keys", "read_whole", "open_full"),
    ("keys", "previous_said", "previous_message"),
    ("keys", "next_said", "next_message"),
    ("keys", "bring_question", "open_question"),
];

/// Returns the new name of a setting, or of a section if `section` is empty; `None` if the name did not change.
pub fn find_new_name(section: &str, old: &str) -> Option<&'static str> {
    let old = normalize_name(section, old);
    let renamed =
        RENAMED_SETTINGS.iter().find(|(renamed_section, name, _)| *renamed_section == section && *name == old);
    renamed.map(|(.., new)| *new)
}

/// Returns whether two names mean the same setting of a section. Names of key actions may contain dashes.
pub fn is_same_name(section: &str, first: &str, second: &str) -> bool {
    normalize_name(section, first) == normalize_name(section, second)
}

fn normalize_name(section: &str, name: &str) -> String {
    if section == "keys" { name.replace('-', "_") } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::schema::{section_names, settings_in_section};

    #[test]
    fn old_names_are_free_and_new_names_exist() {
        // The names of key actions are tested in `tui::keys`.
        for (section, old, new) in RENAMED_SETTINGS.iter().filter(|(section, ..)| *section != "keys") {
            let names: Vec<&str> = match *section {
                "" => section_names().collect(),
                section => settings_in_section(section).iter().map(|(name, _)| *name).collect(),
            };
            assert!(names.contains(new) && !names.contains(old), "{section} {old}");
        }
    }
}
