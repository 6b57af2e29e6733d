//! The trust file: a TOML file of the user. It lists each project by its real path, with the names of its trusted files
//! and the digests of their trusted content. A copy of each trusted file is kept to show later changes.

use super::rules::rules_file::{PROJECT_RULES_FILE, lock_file, read_rules_text};
use super::settings_file;
use crate::chat::Digest;
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use toml_edit::{ArrayOfTables, DocumentMut, Item, Table, value};

/// Header of a new trust file.
const FILE_HEADER: &str =
    "# The files of projects that you trust, as they were when you read them. Written by aye.\n\n";

/// Trust state of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TrustState {
    /// The current version is trusted.
    Trusted,
    /// An earlier version is trusted.
    Changed,
    /// No version is trusted.
    Unknown,
}

/// Trusted files of one project.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TrustedProject {
    pub folder: PathBuf,
    /// Date of the last trust decision, such as `2026-11-22`.
    pub trusted_on: String,
    /// SHA-256 of each trusted file by its name in the project.
    pub files: BTreeMap<String, String>,
}

impl TrustedProject {
    /// Looks up a project. Returns a value without files if nothing in it is trusted or the trust file cannot be read.
    pub fn find_project(trust_file: &Path, folder: &Path) -> Self {
        let project = list_trusted_projects(trust_file).into_iter().find(|project| project.folder == folder);
        project.unwrap_or_default()
    }

    /// Returns the trust state of a project file with this content.
    pub fn trust_state(&self, name: &str, text: &str) -> TrustState {
        match self.files.get(name) {
            None => TrustState::Unknown,
            Some(sha256) if *sha256 == Digest::of_bytes(text.as_bytes()).as_str() => TrustState::Trusted,
            Some(_) => TrustState::Changed,
        }
    }
}

/// Lists every project with trusted files.
pub fn list_trusted_projects(trust_file: &Path) -> Vec<TrustedProject> {
    let text = read_rules_text(trust_file).ok().flatten().unwrap_or_default();
    let Ok(document) = text.parse::<DocumentMut>() else { return Vec::new() };
    let tables = document.get("project").and_then(Item::as_array_of_tables);
    tables.into_iter().flatten().filter_map(parse_project).collect()
}

fn parse_project(table: &Table) -> Option<TrustedProject> {
    let text_of = |name: &str| table.get(name).and_then(Item::as_str);
    let mut files = BTreeMap::new();
    // Old format, from when only rules could be trusted.
    files.extend(text_of("sha256").map(|sha256| (PROJECT_RULES_FILE.to_owned(), sha256.to_owned())));
    for (name, sha256) in table.get("files").and_then(Item::as_table_like).into_iter().flat_map(|table| table.iter()) {
        files.extend(sha256.as_str().map(|sha256| (name.to_owned(), sha256.to_owned())));
    }
    Some(TrustedProject {
        folder: text_of("path")?.into(),
        trusted_on: text_of("trusted").unwrap_or_default().to_owned(),
        files,
    })
}

/// Returns the trusted content of a file if its copy still exists.
pub fn read_trusted_text(trust_file: &Path, sha256: &str) -> Option<String> {
    let text = read_rules_text(&copies_directory(trust_file).join(sha256)).ok().flatten()?;
    (Digest::of_bytes(text.as_bytes()).as_str() == sha256).then_some(text)
}

/// Trusts the given files of the project (name and text), replacing earlier versions.
pub fn trust_files(trust_file: &Path, folder: &Path, files: &[(&str, &str)], today: &str) -> io::Result<()> {
    update_project(trust_file, folder, |project| {
        today.clone_into(&mut project.trusted_on);
        for (name, text) in files {
            let sha256 = Digest::of_bytes(text.as_bytes()).to_string();
            settings_file::replace_file(&copies_directory(trust_file).join(&sha256), text)?;
            project.files.insert((*name).to_owned(), sha256);
        }
        Ok(())
    })
}

/// Revokes the trust in one file of the project, or in all of them if `name` is `None`.
pub fn revoke_trust(trust_file: &Path, folder: &Path, name: Option<&str>) -> io::Result<()> {
    update_project(trust_file, folder, |project| {
        project.files.retain(|file, _| name.is_some_and(|name| file != name));
        Ok(())
    })
}

fn update_project(
    trust_file: &Path,
    folder: &Path,
    change: impl FnOnce(&mut TrustedProject) -> io::Result<()>,
) -> io::Result<()> {
    let path = folder
        .to_str()
        .ok_or_else(|| io::Error::other("the directory's path is not valid UTF-8, so it cannot be saved"))?;
    let _lock = lock_file(trust_file)?;
    let old_text = read_rules_text(trust_file).map_err(io::Error::other)?.unwrap_or_default();
    let invalid_file = |_| io::Error::other("the trust file is not valid TOML and was left unchanged");
    let mut document: DocumentMut = old_text.parse().map_err(invalid_file)?;
    let mut tables = ArrayOfTables::new();
    let mut updated = TrustedProject { folder: folder.to_owned(), ..TrustedProject::default() };
    let old_tables = document.get("project").and_then(Item::as_array_of_tables);
    for table in old_tables.into_iter().flatten() {
        match parse_project(table).filter(|project| project.folder == folder) {
            Some(project) => updated = project,
            None => tables.push(table.clone()),
        }
    }
    change(&mut updated)?;
    if !updated.files.is_empty() {
        let (mut table, mut files) = (Table::new(), Table::new());
        table.insert("path", value(path));
        table.insert("trusted", value(updated.trusted_on));
        for (name, sha256) in updated.files {
            files.insert(&name, value(sha256));
        }
        table.insert("files", Item::Table(files));
        tables.push(table);
    }
    document.insert("project", Item::ArrayOfTables(tables));
    let new_text = document.to_string();
    let header = if old_text.trim().is_empty() { FILE_HEADER } else { "" };
    settings_file::replace_file(trust_file, &format!("{header}{new_text}"))?;
    remove_unused_copies(trust_file);
    Ok(())
}

/// Directory for the copies of trusted files.
fn copies_directory(trust_file: &Path) -> PathBuf {
    trust_file.with_extension("d")
}

/// Removes copies that are no longer trusted. Failures are ignored because a leftover copy has no effect.
fn remove_unused_copies(trust_file: &Path) {
    let projects = list_trusted_projects(trust_file);
    let is_used = |name: &str| projects.iter().any(|project| project.files.values().any(|sha256| sha256 == name));
    for entry in fs::read_dir(copies_directory(trust_file)).into_iter().flatten().flatten() {
        if !entry.file_name().to_str().is_some_and(is_used) {
            let _ = fs::remove_file(entry.path());
        }
    }
}
