//! Changes one setting in the person's file and leaves everything else in it alone.

use super::file;
use super::known::{self, ANY};
use std::io;
use std::path::Path;
use toml_edit::{DocumentMut, Item, Table, Value};

/// Writes one setting, such as `screen.theme`, into the person's file, which is made where it is missing. Comments
/// and order stay. A file that is no TOML is not touched: an error, for the person.
pub fn set(path: &Path, setting: &[&str], value: impl Into<Value>) -> io::Result<()> {
    let text = file::read(path)?;
    let changed = changed(&text, setting, value.into()).map_err(io::Error::other)?;
    if changed == text { Ok(()) } else { file::replace(path, &changed) }
}

fn changed(text: &str, setting: &[&str], value: Value) -> Result<String, String> {
    let mut document: DocumentMut = text
        .parse()
        .map_err(|_| "the settings are not TOML now, so nothing was changed in them".to_owned())?;
    let (name, above) = setting.split_last().ok_or("there is no setting without a name")?;
    let section = match above {
        ["profiles", _] => "profiles.*".to_owned(),
        above => above.join("."),
    };
    if !known::in_section(&section).any(|(known, _)| known == *name || known == ANY) {
        return Err(format!("{} is no setting", setting.join(".")));
    }
    let mut table: &mut dyn toml_edit::TableLike = document.as_table_mut();
    for (depth, section) in above.iter().enumerate() {
        let missing = || {
            let mut made = Table::new();
            // `[profiles]` alone says nothing above `[profiles.mine]`.
            made.set_implicit(depth + 1 < above.len());
            Item::Table(made)
        };
        let below = table.entry(section).or_insert_with(missing);
        table =
            below.as_table_like_mut().ok_or_else(|| format!("{section} is no section in the settings"))?;
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
    fn check(before: &str, setting: &[&str], value: &str, after: &str) {
        assert_eq!(changed(before, setting, value.into()).as_deref(), Ok(after));
    }

    const THEME: &[&str] = &["screen", "theme"];

    #[test]
    fn one_setting_changes_and_comments_stay() {
        check(
            "# mine\n[screen]\nmouse = false # no\ntheme = \"old\"  # soon another\n\n[shell]\n",
            THEME,
            "new",
            "# mine\n[screen]\nmouse = false # no\ntheme = \"new\"  # soon another\n\n[shell]\n",
        );
        check("", THEME, "new", "[screen]\ntheme = \"new\"\n");
        check("# mine\n", THEME, "new", "[screen]\ntheme = \"new\"\n# mine\n");
        check("screen = { mouse = true }\n", THEME, "new", "screen = { mouse = true , theme = \"new\" }\n");
        check("", &["profiles", "mine", "model"], "m", "[profiles.mine]\nmodel = \"m\"\n");
    }

    #[test]
    fn what_cannot_be_changed_is_left_as_it_is() {
        let wrong = |text, setting: &[&str]| changed(text, setting, "x".into()).unwrap_err();
        assert_eq!(wrong("[screen", THEME), "the settings are not TOML now, so nothing was changed in them");
        assert_eq!(wrong("screen = 3", THEME), "screen is no section in the settings");
        assert_eq!(wrong("", &["screen", "them"]), "screen.them is no setting");
    }

    #[test]
    fn r69_a_broken_file_stays_byte_for_byte() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("config.toml");
        std::fs::write(&path, "[screen\nmine").unwrap();
        assert!(set(&path, THEME, "new").is_err());
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "[screen\nmine");
    }
}
