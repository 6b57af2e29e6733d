//! Reads folders of definition files (tools, custom commands, skills) of the user and of a project. Those of a project have an
//! effect once they are trusted. A definition may be a folder with a main file.

use super::project_text::{read_project_text, resolve_in_project};
use super::rules::ProjectSource;
use super::settings_file;
use super::trust::{TrustState, TrustedProject};
use crate::chat::skill::MAIN_FILE;
use std::fs;
use std::path::Path;

/// Files that define tools.
pub const TOOL_FILES: DefinitionFolder =
    DefinitionFolder { in_project: ".aye/tools", layout: Layout::FilesWithExtension(".toml") };
/// Files that define custom commands.
pub const COMMAND_FILES: DefinitionFolder =
    DefinitionFolder { in_project: ".aye/commands", layout: Layout::FilesWithExtension(".md") };
/// Main files of skills.
pub const SKILL_FILES: DefinitionFolder =
    DefinitionFolder { in_project: ".aye/skills", layout: Layout::FoldersWithFile(MAIN_FILE) };

/// Maximum number of files in a folder; the others are ignored.
const MAX_FILES: usize = 100;
/// Maximum size of a file of the user in bytes.
const MAX_FILE_BYTES: u64 = 256 << 10;

/// Describes what a tool file with this name and text does, one fact per line, or says why it cannot be used.
pub type DescribeTool = fn(&str, &str) -> Result<Vec<String>, String>;

/// The folders of one kind of such files.
#[derive(Debug, Clone, Copy)]
pub struct DefinitionFolder {
    /// Folder in a project.
    pub in_project: &'static str,
    /// Where the files are in that folder.
    pub layout: Layout,
}

/// Where the files are in their folder.
#[derive(Debug, Clone, Copy)]
pub enum Layout {
    /// In the folder itself, with this end of the name: `.toml`.
    FilesWithExtension(&'static str),
    /// Each in a folder of its own, with this name: `NAME/SKILL.md`.
    FoldersWithFile(&'static str),
}

/// A file that defines something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DefinitionFile {
    /// Path relative to the folder of the user, or to the project.
    pub name: String,
    /// Its text, or why it cannot be read.
    pub text: Result<String, String>,
}

impl DefinitionFolder {
    /// Reads the files in a folder of the user, sorted by name. A missing folder has none.
    pub fn read_user(self, folder: &Path) -> Vec<DefinitionFile> {
        let read_file = |name: String| {
            let text = settings_file::read_bounded_text(&folder.join(&name), MAX_FILE_BYTES);
            let text = text.and_then(|text| text.ok_or_else(|| "the file is missing".to_owned()));
            DefinitionFile { name, text }
        };
        self.list(folder).into_iter().map(read_file).collect()
    }

    /// Returns the names of a project's files, relative to it. None are found through a link out of the project.
    pub(super) fn list_in_project(self, project: &Path) -> Vec<String> {
        match resolve_in_project(project, self.in_project) {
            Ok(Some(folder)) => {
                self.list(&folder).into_iter().map(|name| format!("{}/{name}", self.in_project)).collect()
            }
            Ok(None) | Err(_) => Vec::new(),
        }
    }

    /// Reads the files of the project that the user trusts in their current version. Reads no project file if the user never
    /// trusted one of this project.
    pub fn read_trusted(self, source: &ProjectSource) -> Vec<DefinitionFile> {
        self.read_trusted_by(&TrustedProject::find_project(&source.trust_file, &source.folder), source)
    }

    /// Like [`Self::read_trusted`], with the list of trusted files of this project.
    pub fn read_trusted_by(self, trusted: &TrustedProject, source: &ProjectSource) -> Vec<DefinitionFile> {
        let names = trusted.files.keys().filter(|name| self.is_of_project(name));
        let read_file = |name: &String| {
            let text = read_project_text(&source.folder, name).ok()??;
            let is_trusted = trusted.trust_state(name, &text) == TrustState::Trusted;
            is_trusted.then(|| DefinitionFile { name: name.clone(), text: Ok(text) })
        };
        names.filter_map(read_file).collect()
    }

    /// Reads all files of the project, each with whether the user trusts its current version.
    pub fn read_project(self, source: &ProjectSource) -> Vec<(DefinitionFile, bool)> {
        let trusted = TrustedProject::find_project(&source.trust_file, &source.folder);
        let read_file = |name: String| {
            let text = read_project_text(&source.folder, &name);
            let text = text.and_then(|text| text.ok_or_else(|| "the file is missing".to_owned()));
            let is_trusted = text.as_ref().is_ok_and(|text| trusted.trust_state(&name, text) == TrustState::Trusted);
            (DefinitionFile { name, text }, is_trusted)
        };
        self.list_in_project(&source.folder).into_iter().map(read_file).collect()
    }

    /// Returns whether a name, relative to a project, is that of such a file.
    pub(super) fn is_of_project(self, name: &str) -> bool {
        let file = name.strip_prefix(self.in_project).and_then(|rest| rest.strip_prefix('/'));
        file.is_some_and(|file| self.is_file(file))
    }

    /// Returns whether a name, relative to the folder, is that of such a file.
    fn is_file(self, name: &str) -> bool {
        !name.starts_with('.')
            && match self.layout {
                Layout::FilesWithExtension(extension) => name.ends_with(extension) && !name.contains('/'),
                Layout::FoldersWithFile(file) => name.split_once('/').is_some_and(|(_, rest)| rest == file),
            }
    }

    /// Lists the files by their names relative to the folder. A folder without the main file is left out.
    fn list(self, folder: &Path) -> Vec<String> {
        let Ok(entries) = fs::read_dir(folder) else { return Vec::new() };
        let names = entries.flatten().take(10 * MAX_FILES).filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> = match self.layout {
            Layout::FilesWithExtension(_) => names.filter(|name| self.is_file(name)).collect(),
            Layout::FoldersWithFile(file) => {
                let names = names.map(|name| format!("{name}/{file}")).filter(|name| self.is_file(name));
                names.filter(|name| folder.join(name).symlink_metadata().is_ok()).collect()
            }
        };
        names.sort();
        names.truncate(MAX_FILES);
        names
    }
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
        assert_eq!(TOOL_FILES.read_user(&base.path().join("none")), []);
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
            TOOL_FILES.read_user(&user).into_iter().filter(|file| file.text.is_ok()).map(|file| file.name).collect();
        assert_eq!(usable, ["good.toml"]);
        assert_eq!(TOOL_FILES.read_user(&user).len(), 6);
        symlink(&outside, project.join(TOOL_FILES.in_project)).unwrap();
        assert_eq!(TOOL_FILES.list_in_project(&project), [""; 0]);
        fs::remove_file(project.join(TOOL_FILES.in_project)).unwrap();
        fs::create_dir(project.join(TOOL_FILES.in_project)).unwrap();
        symlink(outside.join("out.toml"), project.join(TOOL_FILES.in_project).join("a.toml")).unwrap();
        assert_eq!(TOOL_FILES.list_in_project(&project), [".aye/tools/a.toml"]);
        assert!(read_project_text(&project, ".aye/tools/a.toml").is_err());
        for name in [".aye/tools/../../x.toml", ".aye/tools/a/b.toml", ".aye/tools/.a.toml", "tools/a.toml"] {
            assert!(!TOOL_FILES.is_of_project(name), "{name}");
        }
    }

    #[test]
    fn a_definition_may_be_a_folder_with_a_main_file() {
        let base = tempfile::tempdir().unwrap();
        let (user, project, outside) = (base.path().join("user"), base.path().join("app"), base.path().join("out"));
        let in_project = project.join(SKILL_FILES.in_project);
        for folder in ["a", "b", ".hidden", "empty", "pipe", "twice/deep"] {
            fs::create_dir_all(user.join(folder)).unwrap();
        }
        for folder in ["a", "Upper", "linked"] {
            fs::create_dir_all(in_project.join(folder)).unwrap();
        }
        fs::create_dir_all(outside.join("whole")).unwrap();
        for file in ["a/SKILL.md", "b/SKILL.md", ".hidden/SKILL.md", "twice/deep/SKILL.md", "SKILL.md", "a/other.md"] {
            fs::write(user.join(file), "text").unwrap();
        }
        let fifo = std::process::Command::new("mkfifo").arg(user.join("pipe/SKILL.md")).status().unwrap();
        assert!(fifo.success());
        let read = SKILL_FILES.read_user(&user);
        let names: Vec<(&str, bool)> = read.iter().map(|file| (file.name.as_str(), file.text.is_ok())).collect();
        assert_eq!(names, [("a/SKILL.md", true), ("b/SKILL.md", true), ("pipe/SKILL.md", false)]);
        for file in ["whole/SKILL.md", "x.md"] {
            fs::write(outside.join(file), "outside").unwrap();
        }
        fs::write(in_project.join("a/SKILL.md"), "text").unwrap();
        fs::write(in_project.join("Upper/SKILL.md"), "text").unwrap();
        symlink(outside.join("x.md"), in_project.join("linked/SKILL.md")).unwrap();
        symlink(outside.join("whole"), in_project.join("whole")).unwrap();
        let names = SKILL_FILES.list_in_project(&project);
        let (usable, refused): (Vec<&String>, Vec<&String>) =
            names.iter().partition(|name| read_project_text(&project, name).is_ok());
        assert_eq!(usable, [".aye/skills/Upper/SKILL.md", ".aye/skills/a/SKILL.md"]);
        assert_eq!(refused, [".aye/skills/linked/SKILL.md", ".aye/skills/whole/SKILL.md"]);
        assert!(SKILL_FILES.is_of_project(".aye/skills/a/SKILL.md"));
        for name in
            [".aye/skills/SKILL.md", ".aye/skills/a/b/SKILL.md", ".aye/skills/../SKILL.md", ".aye/skills/a/x.md"]
        {
            assert!(!SKILL_FILES.is_of_project(name), "{name}");
        }
    }
}
