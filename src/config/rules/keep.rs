//! Adds rules to the user's rules file and removes them, leaving the rest of the file unchanged.

use super::one::bound::MISSING;
use super::{read, text};
use crate::chat::{Digest, Grant, Span};
use crate::config::file;
use crate::policy::{About, At, Holds, Rule, Says};
use std::fs::{self, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use toml_edit::{Array, ArrayOfTables, DocumentMut, InlineTable, Item, Table, Value, value};

/// Header of a new rules file.
const HEAD: &str = "# Rules: which calls run, which ask and which are denied. `aye rules check` checks this file;\n# rules.example.toml in the repository shows every key.\n\n";

/// Locks the file until the returned guard is dropped, so that concurrent processes change it one after the other.
pub(crate) fn lock(path: &Path) -> io::Result<File> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    let name = path.file_name().map(|name| format!(".{}.lock", name.to_string_lossy())).unwrap_or_default();
    let file =
        File::options().create(true).truncate(false).write(true).mode(0o600).open(folder.join(name))?;
    file.lock()?;
    Ok(file)
}

/// Appends the rule to the file and creates the file if necessary.
///
/// # Errors
/// Fails and leaves the file unchanged if it cannot be read or written, or if it is read-only.
pub fn add(path: &Path, rule: &Rule, tools: &[String]) -> io::Result<()> {
    let _lock = lock(path)?;
    let (known, mut document) = opened(path)?;
    let tables = document.entry("rule").or_insert_with(|| Item::ArrayOfTables(ArrayOfTables::new()));
    let tables = tables
        .as_array_of_tables_mut()
        .ok_or_else(|| io::Error::other("its rules are not [[rule]] sections; add the rule by hand"))?;
    let mut table = written(rule)?;
    if known.trim().is_empty() {
        table.decor_mut().set_prefix("");
    } else {
        table.decor_mut().set_prefix("\n");
    }
    tables.push(table);
    let head = if known.trim().is_empty() { HEAD } else { "" };
    let text = format!("{head}{document}");
    // The file must contain the rule that was shown, so it is read back before it is written.
    let sheet = read::read(&text, "", tools, &Holds::Everywhere);
    let kept = sheet.rules.last().is_some_and(|kept| is_same(kept, rule));
    if !kept {
        let why = sheet.problems.last().map(|problem| problem.words.clone()).unwrap_or_default();
        return Err(io::Error::other(format!("the rule could not be read back: {why}")));
    }
    file::replace(path, &text)
}

/// Removes the rule. Returns whether it was in the file.
pub fn remove(path: &Path, rule: &Rule, tools: &[String]) -> io::Result<bool> {
    let _lock = lock(path)?;
    let (known, mut document) = opened(path)?;
    let sheet = read::read(&known, "", tools, &Holds::Everywhere);
    let Some(tables) = document.get_mut("rule").and_then(Item::as_array_of_tables_mut) else {
        return Ok(false);
    };
    let alone = |table: &Table| {
        let mut alone = ArrayOfTables::new();
        alone.push(table.clone());
        let mut document = DocumentMut::new();
        document.insert("rule", Item::ArrayOfTables(alone));
        let read = read::read(&document.to_string(), "", tools, &Holds::Everywhere);
        read.rules.first().is_some_and(|one| is_same(one, rule))
    };
    if !sheet.rules.iter().any(|one| is_same(one, rule)) {
        return Ok(false);
    }
    let Some(at) = tables.iter().position(alone) else { return Ok(false) };
    let above = tables.get(at).and_then(|table| table.decor().prefix()).and_then(|text| text.as_str());
    // A comment at the head of the file belongs to the whole file, so it is kept.
    let head = above.filter(|_| at == 0).map(str::to_owned).unwrap_or_default();
    tables.remove(at);
    match tables.get_mut(0).filter(|_| at == 0) {
        Some(next) => {
            let own = next.decor().prefix().and_then(|text| text.as_str()).unwrap_or_default().to_owned();
            next.decor_mut().set_prefix(format!("{}\n{}", head.trim_end(), own.trim_start_matches('\n')));
        }
        None if at == 0 => {
            document.remove("rule");
            let rest = document.trailing().as_str().unwrap_or_default().to_owned();
            document.set_trailing(format!("{head}{rest}"));
        }
        None => {}
    }
    file::replace(path, &document.to_string())?;
    Ok(true)
}

/// Returns whether two rules are the same apart from their location.
fn is_same(a: &Rule, b: &Rule) -> bool {
    Rule { at: b.at.clone(), ..a.clone() } == *b
}

/// Returns the text of the file and an editable document of it.
fn opened(path: &Path) -> io::Result<(String, DocumentMut)> {
    if let Ok(metadata) = fs::metadata(path)
        && metadata.permissions().mode() & 0o200 == 0
    {
        return Err(io::Error::new(io::ErrorKind::PermissionDenied, "the file is read-only"));
    }
    let known = text(path).map_err(io::Error::other)?.unwrap_or_default();
    let bare = known.strip_prefix('\u{feff}').unwrap_or(&known).to_owned();
    let document =
        bare.parse().map_err(|_| io::Error::other("the file is not valid TOML; nothing was changed"))?;
    Ok((bare, document))
}

/// Returns the rule that makes a grant permanent, limited to the project unless the grant applies everywhere.
pub fn rule(grant: &Grant, folder: &Path, key: &str) -> Rule {
    let holds = match grant.span {
        Span::Session | Span::Project => Holds::Project(folder.to_owned()),
        Span::Everywhere => Holds::Everywhere,
    };
    Rule {
        says: Says::Allow,
        tool: Some(grant.tool.clone()),
        about: Rule::about(&grant.scope),
        holds,
        created: String::new(),
        expires: String::new(),
        scripts: grant.scripts.clone(),
        key: key.to_owned(),
        at: At::default(),
    }
}

/// Formats the rule as it is written to the file, for the approval prompt.
pub fn shown(rule: &Rule) -> String {
    written(rule).map(|table| format!("[[rule]]\n{table}")).unwrap_or_default()
}

fn written(rule: &Rule) -> io::Result<Table> {
    let mut table = Table::new();
    table.insert("says", value(rule.says.word()));
    if let Some(tool) = &rule.tool {
        table.insert("tool", value(tool));
    }
    match &rule.about {
        About::Anything => {}
        About::Command(command) => drop(table.insert("command", value(command))),
        About::Words(words) => {
            let words: Array = words.iter().map(String::as_str).collect();
            table.insert("words", value(words));
        }
        About::Path(path) => drop(table.insert("path", value(path))),
        About::Host(host) => drop(table.insert("host", value(host))),
    }
    if !rule.scripts.is_empty() {
        let mut scripts = InlineTable::new();
        for script in &rule.scripts {
            let name = script.path.to_str().ok_or_else(|| {
                io::Error::other("the script's path is not valid UTF-8, so no rule can name it")
            })?;
            scripts.insert(name, script.sha256.as_ref().map_or(MISSING, Digest::as_str).into());
        }
        table.insert("scripts", value(scripts));
    }
    if let Holds::Project(project) = &rule.holds {
        let project = project.to_str().ok_or_else(|| {
            io::Error::other("the project's path is not valid UTF-8, so no rule can name it")
        })?;
        table.insert("project", value(project));
    }
    for (key, day) in [("created", &rule.created), ("expires", &rule.expires)] {
        if !day.is_empty() {
            let day =
                day.parse().map_or_else(|_| Value::from(day.as_str()), |day: toml_edit::Datetime| day.into());
            table.insert(key, value(day));
        }
    }
    if !rule.key.is_empty() {
        table.insert("key", value(&rule.key));
    }
    Ok(table)
}
