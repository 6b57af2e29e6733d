//! Index of the documents of one call, kept for the next one.

use super::doc_folders::name_folders;
use super::doc_names::is_project_document;
use super::{DocFolder, DocWalk, FoundDocument, FoundDocuments, MANUAL, Omissions, Origin, TIME_LIMIT};
use crate::chat::pluralize;
use crate::doc_index::{DocIndex, DocVersion, Hits, ReadOutcome};
use crate::manual::TOPICS;
use crate::project::{FileKind, Location, Reader};
use crate::text::escaped_path::{escape_path, unescape_path};
use crate::text::search_words::SearchWords;
use crate::tools::Error;
use crate::tools::summary_line::first_line;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Documents returned by a search.
const MAX_HITS: usize = 5;
/// Weight of the manual if the query does not name aye: most questions are about the project.
const MANUAL_WEIGHT: f64 = 0.5;

/// The documents of the settings, the project and the manual, with their index.
#[derive(Default)]
pub(in crate::tools) struct DocLibrary {
    pub(in crate::tools) folders: Vec<DocFolder>,
    state: Mutex<LibraryState>,
}

#[derive(Default)]
struct LibraryState {
    index: DocIndex,
    /// The project whose documents are in the index, and whether they are those of a dry run.
    project: Option<(PathBuf, bool)>,
}

/// Result of a search.
pub(in crate::tools) struct LibrarySearch {
    pub(in crate::tools) hits: Hits,
    /// Number of the documents that were searched, by source: `3 of the project, 48 of aye's manual`.
    pub(in crate::tools) searched: String,
    pub(in crate::tools) omissions: Omissions,
}

/// Location of a requested page.
pub(in crate::tools) struct PageSource<'a> {
    /// The path as a search returns it.
    pub(in crate::tools) path: String,
    pub(in crate::tools) origin: Origin,
    /// The file, if it is in the project.
    pub(in crate::tools) location: Option<Location>,
    /// The folder of the settings that it is in.
    pub(in crate::tools) folder: Option<&'a DocFolder>,
}

impl DocLibrary {
    pub(in crate::tools) fn new(folders: Vec<DocFolder>) -> Self {
        Self { folders, ..Self::default() }
    }

    /// Finds where a page is. `path` is relative; a line number after it is ignored if no file has that name.
    pub(in crate::tools) fn find_page(&self, path: &str, files: &dyn Reader) -> Result<PageSource<'_>, Error> {
        let without_line = path.rsplit_once(':').filter(|(_, line)| line.parse::<u64>().is_ok()).map(|(path, _)| path);
        let spellings = || std::iter::once(path).chain(without_line);
        let names = name_folders(&self.folders, files);
        let found = spellings().find_map(|path| {
            find_in_project(path, files)
                .or_else(|| find_in_manual(path))
                .or_else(|| self.find_in_folders(path, &names, files))
        });
        found.ok_or_else(|| {
            let shown = first_line(path, 100);
            let is_other_file = files.locate(&format!("./{path}")).is_ok_and(|location| files.exists(&location));
            Error::Arguments(match is_other_file {
                true => format!("{shown} is not one of the documents that search_docs searches. Use read_file."),
                false => format!("There is no document {shown}. Find one with search_docs."),
            })
        })
    }

    fn find_in_folders(&self, path: &str, names: &[String], files: &dyn Reader) -> Option<PageSource<'_>> {
        let (name, relative) = path.split_once('/')?;
        let index = names.iter().position(|known| known == name)?;
        let folder = &self.folders[index];
        let spellings = [Some(relative.to_owned()), unescape_path(relative)].into_iter().flatten();
        let mut paths = spellings.filter_map(|relative| Some(folder.path.join(relative).to_str()?.to_owned()));
        let exists = paths.any(|path| files.locate(&path).is_ok_and(|location| is_file(files, &location)));
        let origin = Origin::Folder(index);
        exists.then(|| PageSource { path: path.to_owned(), origin, location: None, folder: Some(folder) })
    }

    /// Searches the documents that the call may read. Reads those that are new or changed. Calls wait for each other.
    pub(in crate::tools) fn search(&self, walk: &DocWalk<'_>, words: &SearchWords) -> Result<LibrarySearch, Error> {
        let FoundDocuments { documents, mut omissions } = walk.find_documents(&self.folders, None)?;
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let project = (walk.files.root().to_owned(), walk.files.is_rehearsal());
        if state.project.as_ref() != Some(&project) {
            *state = LibraryState { project: Some(project), ..LibraryState::default() };
        }
        let index = &mut state.index;
        let versions: Vec<DocVersion> = documents.iter().map(FoundDocument::version).collect();
        let updated = index.update(&versions, &mut |number| {
            // The manual has no files and is complete within a moment.
            let document = &documents[number];
            if document.origin != Origin::Manual && (walk.elapsed)() > TIME_LIMIT {
                omissions.set_timed_out();
                return ReadOutcome::Skip;
            }
            match document.read(walk.files) {
                Ok(Some(text)) => ReadOutcome::Text(text),
                Ok(None) => {
                    omissions.add_binary();
                    ReadOutcome::Skip
                }
                Err(_) => {
                    omissions.add_unreadable();
                    ReadOutcome::Skip
                }
            }
        });
        let to_error = |error| Error::Failed(format!("Cannot index the documents: {error}. Use search_text."));
        updated.map_err(to_error)?;
        let manual: HashSet<&str> = documents
            .iter()
            .filter(|document| document.origin == Origin::Manual)
            .map(|document| document.path.as_str())
            .collect();
        let weigh = |path: &str| match manual.contains(path) && !words.has_word(MANUAL) {
            true => MANUAL_WEIGHT,
            false => 1.0,
        };
        let hits = index.search(words, MAX_HITS, &weigh).map_err(to_error)?;
        let searched = describe_searched(&documents, |document| index.contains(&document.path));
        Ok(LibrarySearch { hits, searched, omissions })
    }
}

fn find_in_project(path: &str, files: &dyn Reader) -> Option<PageSource<'static>> {
    let spellings = [Some(path.to_owned()), unescape_path(path)].into_iter().flatten();
    spellings.into_iter().find_map(|spelling| {
        let location = files.locate(&format!("./{spelling}")).ok().filter(|location| is_file(files, location))?;
        let plain: PathBuf = Path::new(&spelling).components().collect();
        let (path, location) = (escape_path(&plain), Some(location));
        is_project_document(&plain).then_some(PageSource { path, origin: Origin::Project, location, folder: None })
    })
}

fn find_in_manual(path: &str) -> Option<PageSource<'static>> {
    let name = path.strip_prefix(MANUAL)?.strip_prefix('/')?;
    let is_page = TOPICS.iter().any(|topic| topic.name == name);
    is_page.then(|| PageSource { path: path.to_owned(), origin: Origin::Manual, location: None, folder: None })
}

/// Returns whether a regular file is at this place.
fn is_file(files: &dyn Reader, location: &Location) -> bool {
    matches!(files.file_kind(location), Some(FileKind::File(_)))
}

/// Describes how many documents of each source were searched.
fn describe_searched(documents: &[FoundDocument], is_searched: impl Fn(&FoundDocument) -> bool) -> String {
    let count = |has_origin: &dyn Fn(Origin) -> bool| {
        documents.iter().filter(|document| has_origin(document.origin) && is_searched(document)).count()
    };
    let of_folders = count(&|origin| matches!(origin, Origin::Folder(_)));
    let mut parts = vec![
        format!("{} of the project", count(&|origin| origin == Origin::Project)),
        format!("{} of aye's manual", count(&|origin| origin == Origin::Manual)),
    ];
    if of_folders > 0 {
        parts.push(format!("{of_folders} of the user's folders"));
    }
    let total = pluralize(count(&|_| true), "document");
    format!("{total} searched: {}", parts.join(", "))
}
