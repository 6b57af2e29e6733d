//! Instruction files of the folders that the model has read in, so that `/trust` lists them.

use crate::chat::folder_instructions::FoundInstructions;
use crate::config::folder_instructions::find_folder_instructions;
use crate::config::rules::ProjectSource;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of files per project. The model may read in thousands of folders.
const MAX_FILES: usize = 32;

/// The files by the folder of their project.
#[derive(Debug, Clone, Default)]
pub(crate) struct ReadFolders(Arc<Mutex<HashMap<PathBuf, BTreeSet<String>>>>);

impl ReadFolders {
    fn record(&self, project: &Path, found: &FoundInstructions) {
        let mut projects = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let names = projects.entry(project.to_owned()).or_default();
        for folder in found.folders.iter().filter(|folder| folder.trusted.is_none()) {
            if names.len() < MAX_FILES {
                names.insert(folder.file.clone());
            }
        }
    }

    /// Returns the files of a project that were not trusted when they were found.
    pub(super) fn file_names(&self, project: &Path) -> Vec<String> {
        let projects = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        projects.get(project).into_iter().flatten().cloned().collect()
    }

    /// Returns what finds the instructions of the folders of a file that was read.
    pub(super) fn folder_lookup(&self, source: ProjectSource) -> impl Fn(&Path) -> FoundInstructions + use<> {
        let read_folders = self.clone();
        move |file: &Path| {
            let found = find_folder_instructions(&source, file);
            read_folders.record(&source.folder, &found);
            found
        }
    }
}
