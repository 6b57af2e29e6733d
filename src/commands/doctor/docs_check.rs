//! Checks the folders of documents.

use super::finding::Finding;
use crate::assemble::tool_files::doc_folders;
use crate::chat::pluralize;
use crate::cli::resolve_folder;
use crate::config::Docs;
use crate::project::disk::Disk;
use std::path::Path;

/// Checks the folders of the settings. If the tools for documents are off, there is nothing to report.
pub(super) fn check_docs(docs: &Docs, requested: Option<&Path>) -> Vec<Finding> {
    let area = "docs";
    // A missing folder of the project is reported by the check of the project.
    let disk = resolve_folder(requested).ok().and_then(|folder| Disk::new(&folder).ok());
    let Some(disk) = disk.filter(|_| docs.enabled) else { return Vec::new() };
    let folders = doc_folders(docs);
    let problems: Vec<Finding> = folders
        .iter()
        .filter_map(|folder| Some(format!("docs.folders: {}: {}", folder.shown, folder.find_problem(&disk)?)))
        .map(|message| Finding::problem(area, message, "correct docs.folders in the settings, or create the folder"))
        .collect();
    let readable = folders.len() - problems.len();
    let count = match folders.len() {
        0 => "the project and the manual of aye".to_owned(),
        count => format!("the project, the manual of aye and {readable} of {}", pluralize(count, "folder")),
    };
    std::iter::once(Finding::ok(area, format!("search_docs searches {count}"))).chain(problems).collect()
}
