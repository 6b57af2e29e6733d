//! Tool files: those of the user, next to their settings, and those of a project in `.aye/tools` once they are trusted.

use super::project_text::{read_project_text, resolve_in_project};
use super::rules::ProjectSource;
use super::settings_file;
use super::trust::{TrustState, TrustedProject};
use std::fs;
use std::path::Path;

/// Folder of a project's tool files.
pub const PROJECT_TOOLS: &str = ".aye/tools";
/// Maximum number of tool files in a folder; the others are ignored.
const MAX_FILES: usize = 100;
/// Maximum size of a tool file of the user in bytes.
const MAX_FILE_BYTES: u64 = 256 << 10;

/// Describes what a tool file with this name and text does, one fact per line, or says why it cannot be used.
pub type DescribeTool = fn(&str, &str) -> Result<Vec<String>, String>;

/// A tool file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolFile {
    /// Name of a file of the user; relative to the project for one of a project.
    pub name: String,
    /// Its text, or why it cannot be read.
    pub text: Result<String, String>,
}

/// Reads the tool files of the user, sorted by name. A missing folder has none.
pub fn read_user_tools(folder: &Path) -> Vec<ToolFile> {
    let read_file = |name: String| {
        let text = settings_file::read_bounded_text(&folder.join(&name), MAX_FILE_BYTES);
        let text = text.and_then(|text| text.ok_or_else(|| "the file is missing".to_owned()));
        ToolFile { name, text }
    };
    list_tool_files(folder).into_iter().map(read_file).collect()
}

/// Returns the names of a project's tool files, relative to it. None are found through a link out of the project.
pub(super) fn list_project_tools(project: &Path) -> Vec<String> {
    match resolve_in_project(project, PROJECT_TOOLS) {
        Ok(Some(folder)) => {
            list_tool_files(&folder).into_iter().map(|name| format!("{PROJECT_TOOLS}/{name}")).collect()
        }
        Ok(None) | Err(_) => Vec::new(),
    }
}

/// Reads the tool files of the project that the user trusts in their current version. Reads no project file if the user
/// never trusted one of this project.
pub fn trusted_project_tools(source: &ProjectSource) -> Vec<ToolFile> {
    let trusted = TrustedProject::find_project(&source.trust_file, &source.folder);
    let names = trusted.files.keys().filter(|name| is_project_tool(name));
    let read_file = |name: &String| {
        let text = read_project_text(&source.folder, name).ok()??;
        let is_trusted = trusted.trust_state(name, &text) == TrustState::Trusted;
        is_trusted.then(|| ToolFile { name: name.clone(), text: Ok(text) })
    };
    names.filter_map(read_file).collect()
}

/// Reads all tool files of the project, each with whether the user trusts its current version.
pub fn read_project_tools(source: &ProjectSource) -> Vec<(ToolFile, bool)> {
    let trusted = TrustedProject::find_project(&source.trust_file, &source.folder);
    let read_file = |name: String| {
        let text = read_project_text(&source.folder, &name);
        let text = text.and_then(|text| text.ok_or_else(|| "the file is missing".to_owned()));
        let is_trusted = text.as_ref().is_ok_and(|text| trusted.trust_state(&name, text) == TrustState::Trusted);
        (ToolFile { name, text }, is_trusted)
    };
    list_project_tools(&source.folder).into_iter().map(read_file).collect()
}

/// Returns whether a name is that of a tool file of a project.
pub(super) fn is_project_tool(name: &str) -> bool {
    let file = name.strip_prefix(PROJECT_TOOLS).and_then(|rest| rest.strip_prefix('/'));
    file.is_some_and(is_tool_file)
}

fn is_tool_file(name: &str) -> bool {
    name.ends_with(".toml") && !name.starts_with('.') && !name.contains('/')
}

fn list_tool_files(folder: &Path) -> Vec<String> {
    let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
    let names = entries.flatten().take(10 * MAX_FILES).filter_map(|entry| entry.file_name().into_string().ok());
    let mut names: Vec<String> = names.filter(|name| is_tool_file(name)).collect();
    names.sort();
    names.truncate(MAX_FILES);
    names
}
