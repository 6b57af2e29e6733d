//! Which projects' own rules the person trusts: kept in a file of theirs, by the project's real path and what its rules
//! say, to the byte.

use crate::chat::Digest;
use crate::config::file;
use std::io;
use std::path::Path;
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

/// What stands above the first.
const HEAD: &str =
    "# The projects whose own rules you trust, as they were when you read them. Written by aye.\n\n";

/// What the person thinks of a project's rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Look {
    /// They trust them as they are.
    Trusted,
    /// They trusted other ones.
    Changed,
    /// They never said.
    Unknown,
}

/// Whether this text is trusted as the rules of this project. Where that cannot be read, nothing is.
pub fn look(trusted: &Path, folder: &Path, text: &str) -> Look {
    let Some(folder) = folder.to_str() else { return Look::Unknown };
    let known = super::text(trusted).ok().flatten();
    let Some(Ok(document)) = known.map(|text| text.parse::<DocumentMut>()) else { return Look::Unknown };
    let tables = document.get("project").and_then(Item::as_array_of_tables);
    let mut own = tables.into_iter().flatten().filter(|table| is_of(table, folder)).peekable();
    if own.peek().is_none() {
        return Look::Unknown;
    }
    let sha256 = Digest::of(text.as_bytes()).to_string();
    let same = |table: &Table| table.get("sha256").and_then(Item::as_str) == Some(sha256.as_str());
    if own.any(same) { Look::Trusted } else { Look::Changed }
}

fn is_of(table: &Table, folder: &str) -> bool {
    table.get("path").and_then(Item::as_str) == Some(folder)
}

/// Trusts this text as the rules of this project, in place of any before; without one, none.
pub fn set(trusted: &Path, folder: &Path, text: Option<&str>, today: &str) -> io::Result<()> {
    let folder = folder
        .to_str()
        .ok_or_else(|| io::Error::other("the folder's name is no text, so it cannot be kept"))?;
    let _lock = super::keep::lock(trusted)?;
    let known = super::text(trusted).map_err(io::Error::other)?.unwrap_or_default();
    let broken = |_| io::Error::other("the file is not TOML now; it is left as it is");
    let mut document: DocumentMut = known.parse().map_err(broken)?;
    let mut tables = ArrayOfTables::new();
    let before = document.get("project").and_then(Item::as_array_of_tables);
    for table in before.into_iter().flatten().filter(|table| !is_of(table, folder)) {
        tables.push(table.clone());
    }
    if let Some(text) = text {
        let mut table = Table::new();
        table.insert("path", value(folder));
        table.insert("sha256", value(Digest::of(text.as_bytes()).to_string()));
        table.insert("trusted", value(today));
        tables.push(table);
    }
    document.insert("project", Item::ArrayOfTables(tables));
    let written = document.to_string();
    let head = if known.trim().is_empty() { HEAD } else { "" };
    file::replace(trusted, &format!("{head}{written}"))
}
