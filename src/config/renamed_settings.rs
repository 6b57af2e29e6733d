//! Settings that have a new name. The old names work in this release.

/// Section, old name and new name of each renamed setting. The section of a renamed section is empty.
pub const RENAMED_SETTINGS: &[(&str, &str, &str)] = &[
    ("", "second_reader", "model_reviewer"),
    ("profiles.*", "leave_out", "omit_parameters"),
    ("profiles.*", "max_tokens_name", "max_tokens_parameter"),
    ("profiles.*", "reasoning_back", "send_reasoning"),
    ("dry_run", "stage", "overlay_sandbox"),
];

/// Returns the new name of a setting, or `None` if its name did not change. The section of a section is empty.
pub fn find_new_name(section: &str, old: &str) -> Option<&'static str> {
    let old = normalize_name(section, old);
    let renamed = RENAMED_SETTINGS.iter().find(|(of, name, _)| *of == section && *name == old);
    renamed.map(|(.., new)| *new)
}

/// Returns whether two names mean the same setting of a section. Names of key actions may contain dashes.
pub fn is_same_name(section: &str, one: &str, other: &str) -> bool {
    normalize_name(section, one) == normalize_name(section, other)
}

fn normalize_name(section: &str, name: &str) -> String {
    if section == "keys" { name.replace('-', "_") } else { name.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::schema::{SECTIONS, settings_in_section};

    #[test]
    fn old_names_are_free_and_new_names_exist() {
        for (section, old, new) in RENAMED_SETTINGS.iter().filter(|(section, ..)| *section != "keys") {
            let names: Vec<&str> = match *section {
                "" => SECTIONS.to_vec(),
                section => settings_in_section(section).map(|(name, _)| name).collect(),
            };
            assert!(names.contains(new) && !names.contains(old), "{section} {old}");
        }
    }
}
