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

/// Removes a section, such as `mcp.files`, from the user's config file. Comments and order are kept. Returns whether the
/// file had it. Fails without touching the file if it is not valid TOML.
pub fn remove_section(path: &Path, section: &[&str]) -> io::Result<bool> {
    let text = settings_file::read_or_empty(path)?;
    let invalid = |_| io::Error::other("the settings file is not valid TOML; nothing was changed");
    let mut document: DocumentMut = text.parse().map_err(invalid)?;
    let Some((name, parents)) = section.split_last() else { return Ok(false) };
    let mut table: &mut dyn toml_edit::TableLike = document.as_table_mut();
    for parent in parents {
        let Some(subtable) = table.get_mut(parent).and_then(Item::as_table_like_mut) else { return Ok(false) };
        table = subtable;
    }
    if table.remove(name).is_none() {
        return Ok(false);
    }
    settings_file::replace_file(path, &document.to_string())?;
    Ok(true)
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
        [section @ ("profiles" | "mcp"), _] => format!("{section}.*"),
        path => path.join("."),
    };
    if schema::find_setting(&section, name).is_none() {
        return Err(format!("{} is not a setting", setting.join(".")));
    }
    let end_comments = document.trailing().as_str().unwrap_or_default().to_owned();
    let (mut is_appended, mut is_in_section) = (false, true);
    let mut table: &mut dyn toml_edit::TableLike = document.as_table_mut();
    for (depth, section) in sections.iter().enumerate() {
        let is_last = depth + 1 == sections.len();
        let new_section = || {
            let mut section = Table::new();
            // `[profiles]` is not written as a section of its own above `[profiles.mine]`.
            section.set_implicit(!is_last);
            if is_last && is_in_section && !text.is_empty() {
                // A new section is the last one, after the comments at the end of the file.
                section.set_position(Some(isize::MAX));
                section.decor_mut().set_prefix(format!("{end_comments}\n"));
                is_appended = true;
            }
            Item::Table(section)
        };
        let subtable = table.entry(section).or_insert_with(new_section);
        is_in_section = subtable.is_table();
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
    if is_appended {
        document.set_trailing("");
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
        check_setting("# mine\n", THEME, "new", "# mine\n\n[screen]\ntheme = \"new\"\n");
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
    fn a_section_is_removed_and_the_rest_stays() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("config.toml");
        let rest = "# mine\n[screen]\nmouse = false # no\n";
        std::fs::write(&path, format!("{rest}\n[mcp.a]\nurl = \"x\"\n")).unwrap();
        assert!(!remove_section(&path, &["mcp", "b"]).unwrap());
        assert!(!remove_section(&path, &["keys", "a"]).unwrap());
        assert!(remove_section(&path, &["mcp", "a"]).unwrap());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), rest);
    }

    #[test]
    fn r69_an_invalid_file_stays_unchanged() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("config.toml");
        std::fs::write(&path, "[screen\nmine").unwrap();
        assert!(write_setting(&path, THEME, "new").is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "[screen\nmine");
    }

    #[test]
    fn a_new_section_leaves_comments_at_their_place() {
        let own = "# mine\n\n[model]\nprofile = \"a\"\n\n# about the shell\n[shell]\ntimeout = 9\n# the end\n";
        check_setting(own, THEME, "new", &format!("{own}\n[screen]\ntheme = \"new\"\n"));
        let profiles = "[profiles.a]\nmodel = \"x\"\n\n# about the shell\n[shell]\ntimeout = 9\n";
        check_setting(
            profiles,
            &["profiles", "mine", "model"],
            "m",
            &format!("{profiles}\n[profiles.mine]\nmodel = \"m\"\n"),
        );
        check_setting(
            "# [screen]\n# theme = \"x\"\n",
            THEME,
            "new",
            "# [screen]\n# theme = \"x\"\n\n[screen]\ntheme = \"new\"\n",
        );
        let inline = "profiles = { a = { model = \"x\" } }\n# the end\n";
        let new_inline = inline.replace("} }", "} , mine.model = \"m\" }");
        check_setting(inline, &["profiles", "mine", "model"], "m", &new_inline);
    }
}
