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

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn unusual_files_neither_block_nor_lead_out_of_the_project() {
        let base = tempfile::tempdir().unwrap();
        let (user, project, outside) = (base.path().join("user"), base.path().join("app"), base.path().join("out"));
        for folder in [&user, &outside, &project.join(".aye")] {
            fs::create_dir_all(folder).unwrap();
        }
        assert_eq!(read_user_tools(&base.path().join("none")), []);
        fs::write(outside.join("out.toml"), "outside").unwrap();
        fs::write(user.join("good.toml"), "text").unwrap();
        fs::write(user.join(".hidden.toml"), "").unwrap();
        fs::write(user.join("note.txt"), "").unwrap();
        fs::write(user.join("large.toml"), vec![b' '; 300 << 10]).unwrap();
        fs::write(user.join("binary.toml"), b"\xff\x00").unwrap();
        fs::create_dir(user.join("folder.toml")).unwrap();
        symlink("nowhere", user.join("broken.toml")).unwrap();
        let fifo = std::process::Command::new("mkfifo").arg(user.join("fifo.toml")).status().unwrap();
        assert!(fifo.success());
        let usable: Vec<String> =
            read_user_tools(&user).into_iter().filter(|file| file.text.is_ok()).map(|file| file.name).collect();
        assert_eq!(usable, ["good.toml"]);
        assert_eq!(read_user_tools(&user).len(), 6);
        symlink(&outside, project.join(PROJECT_TOOLS)).unwrap();
        assert_eq!(list_project_tools(&project), [""; 0]);
        fs::remove_file(project.join(PROJECT_TOOLS)).unwrap();
        fs::create_dir(project.join(PROJECT_TOOLS)).unwrap();
        symlink(outside.join("out.toml"), project.join(PROJECT_TOOLS).join("a.toml")).unwrap();
        assert_eq!(list_project_tools(&project), [".aye/tools/a.toml"]);
        assert!(read_project_text(&project, ".aye/tools/a.toml").is_err());
        for name in [".aye/tools/../../x.toml", ".aye/tools/a/b.toml", ".aye/tools/.a.toml", "tools/a.toml"] {
            assert!(!is_project_tool(name), "{name}");
        }
    }
}
