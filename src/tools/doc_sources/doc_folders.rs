//! Folders of the settings: their names in paths for the model, and whether they can be read.

use super::MANUAL;
use crate::project::{FileKind, Location, Reader};
use crate::text::escaped_path::escape_path;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Name of a folder without one, such as `/`.
const UNNAMED: &str = "folder";

/// A folder of the settings.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocFolder {
    /// Absolute path.
    pub path: PathBuf,
    /// Path as the settings have it.
    pub shown: String,
}

impl DocFolder {
    /// Returns why the folder cannot be read; `None` if it can.
    pub fn find_problem(&self, files: &dyn Reader) -> Option<String> {
        match self.locate(files) {
            Ok(location) if location.is_sensitive => Some("it may hold secrets, so no file in it is read".to_owned()),
            Ok(location) => {
                files.walk(&location, false, &mut |_| ControlFlow::Break(())).err().map(|error| error.to_string())
            }
            Err(reason) => Some(reason),
        }
    }

    /// Locates the folder. Fails with the reason if it does not exist.
    pub(in crate::tools) fn locate(&self, files: &dyn Reader) -> Result<Location, String> {
        let path = self.path.to_str().ok_or_else(|| "its name is not Unicode".to_owned())?;
        let location = files.locate(path).map_err(|error| error.to_string())?;
        // A command or a commit may have put a link there; the user has named a folder of the project.
        if self.path.starts_with(files.root()) && !location.is_inside {
            return Err("it is in the project and leads out of it".to_owned());
        }
        match files.file_kind(&location) {
            Some(FileKind::Folder) => Ok(location),
            Some(FileKind::File(_) | FileKind::Other) => Err("it is not a folder".to_owned()),
            None => Err("it does not exist or cannot be read".to_owned()),
        }
    }
}

/// Names the folders, each by the last part of its path. The name of a file or folder of the project, of the manual or of an
/// earlier folder gets a number: `notes-2`.
pub(in crate::tools) fn name_folders(folders: &[DocFolder], files: &dyn Reader) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for folder in folders {
        let name = folder.path.file_name().map_or_else(|| UNNAMED.to_owned(), |name| escape_path(Path::new(name)));
        let is_taken = |name: &String| {
            let in_project = files.locate(&format!("./{name}")).is_ok_and(|location| files.exists(&location));
            name == MANUAL || names.contains(name) || in_project
        };
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        let unique = std::iter::once(name.clone()).chain(numbered).find(|name| !is_taken(name));
        names.push(unique.unwrap_or(name));
    }
    names
}
