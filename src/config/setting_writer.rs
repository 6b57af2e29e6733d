//! Changes one setting in the user's config file and leaves the rest of the file unchanged.

use super::schema;
use super::settings_file;
use std::io;
use std::path::Path;
use toml_edit::{DocumentMut, Item, Table, Value};

/// Writes one setting, such as `screen.theme`, to the user's config file and creates the file if necessary. Comments
/// and order are kept. Fails without touching the file if it is not valid TOML.
pub fn write_setting(path: &Path, setting: &[&str], value: impl Into<Value>) -> io::Result<()> {
    let text = settings_file::read_or_empty(path)?;
    let new_text = apply_setting(&text, setting, value.into()).map_err(io::Error::other)?;
    if new_text == text { Ok(()) } else { settings_file::replace_file(path, &new_text) }
}

/// Saves the profile that aye starts with, and the model of that profile unless `model` is empty.
pub fn save_default_model(path: &Path, profile: &str, model: &str) -> io::Result<()> {
    if !model.is_empty() {
        write_setting(path, &["profiles", profile, "model"], model)?;
    }
    write_setting(path, &["model", "profile"], profile)
}

fn apply_setting(text: &str, setting: &[&str], value: Value) -> Result<String, String> {
    let mut document: DocumentMut =
        text.parse().map_err(|_| "the settings file is not valid TOML; nothing was changed".to_owned())?;
    let (name, sections) = setting.split_last().ok_or("the name of the setting is missing")?;
    let section = match sections {
        ["profiles", _] => "profiles.*".to_owned(),
        path => path.join("."),
    };
    if schema::find_setting(&section, name).is_none() {
        return Err(format!("{} is not a setting", setting.join(".")));
    }
    let mut table: &mut dyn toml_edit::TableLike = document.as_table_mut();
    for (depth, section) in sections.iter().enumerate() {
        let new_section = || {
            let mut section = Table::new();
            // `[profiles]` is not written as a section of its own above `[profiles.mine]`.
            section.set_implicit(depth + 1 < sections.len());
            Item::Table(section)
        };
        let subtable = table.entry(section).or_insert_with(new_section);
        table =
            subtable.as_table_like_mut().ok_or_else(|| format!("{section} is not a section in the settings file"))?;
    }
    match table.get_mut(name).and_then(Item::as_value_mut) {
        Some(old) => {
            let decor = old.decor().clone();
            *old = value;
            *old.decor_mut() = decor;
        }
        None => drop(table.insert(name, Item::Value(value))),
    }
    Ok(document.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_setting(old_text: &str, setting: &[&str], value: &str, new_text: &str) {
        assert_eq!(apply_setting(old_text, setting, value.into()).as_deref(), Ok(new_text));
    }

    const THEME: &[&str] = &["screen", "theme"];

    #[test]
    fn changing_one_setting_keeps_comments() {
        check_setting(
            "# mine\n[screen]\nmouse = false # no\ntheme = \"old\"  # soon another\n\n[shell]\n",
            THEME,
            "new",
            "# mine\n[screen]\nmouse = false # no\ntheme = \"new\"  # soon another\n\n[shell]\n",
        );
        check_setting("", THEME, "new", "[screen]\ntheme = \"new\"\n");
        check_setting("# mine\n", THEME, "new", "[screen]\ntheme = \"new\"\n# mine\n");
        check_setting("screen = { mouse = true }\n", THEME, "new", "screen = { mouse = true , theme = \"new\" }\n");
        check_setting("", &["profiles", "mine", "model"], "m", "[profiles.mine]\nmodel = \"m\"\n");
    }

    #[test]
    fn an_invalid_change_is_an_error() {
        let setting_error = |text, setting: &[&str]| apply_setting(text, setting, "x".into()).unwrap_err();
        assert_eq!(setting_error("[screen", THEME), "the settings file is not valid TOML; nothing was changed");
        assert_eq!(setting_error("screen = 3", THEME), "screen is not a section in the settings file");
        assert_eq!(setting_error("", &["screen", "them"]), "screen.them is not a setting");
    }

    #[test]
    fn r69_an_invalid_file_stays_unchanged() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("config.toml");
        std::fs::write(&path, "[screen\nmine").unwrap();
        assert!(write_setting(&path, THEME, "new").is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "[screen\nmine");
    }
}
