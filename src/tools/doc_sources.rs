//! The documents that `search_docs` and `get_doc_page` read: those of the project, the manual of aye and folders of the user.

mod doc_folders;
mod doc_library;
mod doc_names;

pub use doc_folders::DocFolder;
pub(super) use doc_library::DocLibrary;

use super::walk_filter::{Exclusion, WalkFilter};
use super::{Error, planned_path};
use crate::chat::{Access, pluralize};
use crate::doc_index::{DocText, DocVersion};
use crate::manual::TOPICS;
use crate::policy::ExcludedPaths;
use crate::project::{Location, Reader, WalkEntry};
use crate::text::byte_size::format_bytes;
use crate::text::escaped_path::escape_path;
use crate::text::passages::Markup;
use doc_folders::name_folders;
use doc_names::{find_markup, is_project_document};
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt::Write as _;
use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// First part of the paths of the manual's pages.
const MANUAL: &str = "aye";
/// Maximum number of files of the project and of the folders together.
const MAX_FILES: usize = 2_000;
/// Bytes of a file that are read.
const MAX_FILE_BYTES: u64 = 1 << 20;
/// Maximum bytes that are read of all files together.
const MAX_TOTAL_BYTES: u64 = 32 << 20;
/// Files and folders visited in one source before the walk stops.
const MAX_VISITED: usize = 200_000;
/// Time limit for finding and reading documents. The outcome reports that some were left out.
const TIME_LIMIT: Duration = Duration::from_secs(10);
/// Time limit for finding them, so that a large folder leaves time to read those of the project.
const WALK_TIME_LIMIT: Duration = Duration::from_secs(5);
/// A file that changed more recently may change again without another time or length, so it is read again.
const UNSETTLED_TIME: Duration = Duration::from_secs(2);

/// Source of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Origin {
    Project,
    Manual,
    /// A folder of the settings, by its position.
    Folder(usize),
}

/// A document that the call may read.
#[derive(Debug, Clone)]
pub(super) struct FoundDocument {
    /// The path for the model: escaped, in one line.
    pub path: String,
    pub origin: Origin,
    /// The file; `None` for a page of the manual.
    location: Option<Location>,
    size: u64,
    modified: Option<SystemTime>,
}

/// Files that were not searched, by reason.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Omissions {
    sensitive: usize,
    excluded: usize,
    unreadable: usize,
    binary: usize,
    /// Beyond the limits of files and bytes.
    beyond_limits: usize,
    /// Files of which only the beginning was read.
    truncated: usize,
    /// Folders of the settings that could not be read, with the reason.
    folders: Vec<(String, String)>,
    is_timed_out: bool,
    has_unvisited: bool,
}

/// The documents of a call.
pub(super) struct FoundDocuments {
    pub documents: Vec<FoundDocument>,
    pub omissions: Omissions,
}

/// Scope of a call: the project, the rules and the time.
pub(super) struct DocWalk<'a> {
    pub files: &'a dyn Reader,
    /// The folder of the project, as it was planned.
    pub root: Location,
    pub excluded: &'a ExcludedPaths,
    /// Access of the plan, if it names one document of the project and not all.
    pub page_access: Option<Access>,
    /// Returns the time since the call began.
    pub elapsed: &'a dyn Fn() -> Duration,
}

/// Files of one source.
struct Source<'a> {
    origin: Origin,
    root: &'a Location,
    include_hidden: bool,
    filter: WalkFilter<'a>,
    is_document: &'a dyn Fn(&Location) -> bool,
    /// Returns the path for the model.
    path_of: &'a dyn Fn(&Location) -> String,
}

impl DocWalk<'_> {
    /// Finds the documents of all sources within the limits, or of one source without limits.
    pub(super) fn find_documents(&self, folders: &[DocFolder], only: Option<Origin>) -> Result<FoundDocuments, Error> {
        let is_wanted = |origin: Origin| only.is_none_or(|only| only == origin);
        let mut found = FoundDocuments { documents: Vec::new(), omissions: Omissions::default() };
        if is_wanted(Origin::Project) {
            self.add_project(&mut found)?;
        }
        for (index, (name, folder)) in name_folders(folders, self.files).into_iter().zip(folders).enumerate() {
            if is_wanted(Origin::Folder(index))
                && let Err(reason) = self.add_folder(Origin::Folder(index), &name, folder, &mut found)
            {
                found.omissions.folders.push((folder.shown.clone(), reason));
            }
        }
        if only.is_none() {
            found.apply_limits();
        }
        if is_wanted(Origin::Manual) {
            found.documents.extend(TOPICS.iter().map(|topic| FoundDocument {
                path: format!("{MANUAL}/{}", topic.name),
                origin: Origin::Manual,
                location: None,
                size: topic.text.len() as u64,
                modified: Some(SystemTime::UNIX_EPOCH),
            }));
        }
        Ok(found)
    }

    /// Adds the documents of the project, excluding the same files as `search_text` does.
    fn add_project(&self, found: &mut FoundDocuments) -> Result<(), Error> {
        let filter = WalkFilter::new(self.files, self.root.clone(), self.excluded);
        let filter = match &self.page_access {
            Some(access) => filter.with_approved(access.clone()),
            None => filter,
        };
        let source = Source {
            origin: Origin::Project,
            root: &self.root,
            include_hidden: true,
            filter,
            is_document: &|location| is_project_document(&location.display_path),
            path_of: &planned_path::display_path,
        };
        self.walk(&source, found)
    }

    /// Adds the documents of a folder of the settings. Fails with the reason if it cannot be read.
    fn add_folder(
        &self,
        origin: Origin,
        name: &str,
        folder: &DocFolder,
        found: &mut FoundDocuments,
    ) -> Result<(), String> {
        let root = folder.locate(self.files)?;
        let source = Source {
            origin,
            root: &root,
            include_hidden: false,
            filter: WalkFilter::without_prompt(self.files, root.clone(), self.excluded),
            // Files of the project are found there.
            is_document: &|location| {
                location.is_inside == root.is_inside && find_markup(&location.display_path).is_some()
            },
            path_of: &|location| {
                let relative = location.display_path.strip_prefix(&root.display_path).unwrap_or(&location.display_path);
                escape_path(&Path::new(name).join(relative))
            },
        };
        self.walk(&source, found).map_err(|error| error.to_string())
    }

    fn walk(&self, source: &Source<'_>, found: &mut FoundDocuments) -> Result<(), Error> {
        let mut visited = 0;
        self.files.walk(source.root, source.include_hidden, &mut |entry| {
            visited += 1;
            if (self.elapsed)() > WALK_TIME_LIMIT {
                found.omissions.is_timed_out = true;
                return ControlFlow::Break(());
            }
            if visited > MAX_VISITED {
                found.omissions.has_unvisited = true;
                return ControlFlow::Break(());
            }
            let WalkEntry { location, is_folder, size, modified } = entry;
            if is_folder || !(source.is_document)(&location) {
                return ControlFlow::Continue(());
            }
            match source.filter.find_exclusion(&location) {
                Some(Exclusion::Sensitive) => found.omissions.sensitive += 1,
                Some(Exclusion::Rule) => found.omissions.excluded += 1,
                None => {
                    let (path, origin) = ((source.path_of)(&location), source.origin);
                    let location = Some(location);
                    found.documents.push(FoundDocument { path, origin, location, size, modified });
                }
            }
            ControlFlow::Continue(())
        })?;
        Ok(())
    }
}

impl FoundDocuments {
    /// Removes files that were found twice, and those beyond the limits: of each source, the files in the deepest folders.
    fn apply_limits(&mut self) {
        let depth = |document: &FoundDocument| document.path.matches('/').count();
        self.documents.sort_by_cached_key(|document| {
            let is_folder = matches!(document.origin, Origin::Folder(_));
            // The path of a link is not the end of the path that it leads to.
            let is_link =
                document.location.as_ref().is_some_and(|location| !location.real.ends_with(&location.display_path));
            (is_folder, is_link, depth(document), document.path.clone())
        });
        let (mut known, mut files, mut bytes) = (HashSet::new(), 0, 0);
        let beyond_limits = &mut self.omissions.beyond_limits;
        self.documents.retain(|document| {
            let Some(location) = &document.location else { return true };
            if !known.insert(location.real.clone()) {
                return false;
            }
            let size = document.size.min(MAX_FILE_BYTES);
            let fits = files < MAX_FILES && bytes + size <= MAX_TOTAL_BYTES;
            match fits {
                true => (files, bytes) = (files + 1, bytes + size),
                false => *beyond_limits += 1,
            }
            fits
        });
        self.omissions.truncated = self.documents.iter().filter(|document| document.is_truncated()).count();
    }
}

impl FoundDocument {
    /// Returns the name and the stamp for the index.
    pub(super) fn version(&self) -> DocVersion {
        let now = SystemTime::now();
        let is_settled = |modified: &SystemTime| now.duration_since(*modified).is_ok_and(|age| age >= UNSETTLED_TIME);
        let stamp = self.modified.filter(is_settled).map(|modified| (self.size, modified));
        DocVersion { path: self.path.clone(), stamp }
    }

    /// Returns whether only the beginning is read.
    fn is_truncated(&self) -> bool {
        self.location.is_some() && self.size > MAX_FILE_BYTES
    }

    /// Reads the text. `Ok(None)` if the file is not text.
    pub(super) fn read(&self, files: &dyn Reader) -> Result<Option<DocText>, Error> {
        let Some(location) = &self.location else { return Ok(self.read_manual()) };
        let mut bytes = Vec::new();
        let read = files.open(location)?.take(MAX_FILE_BYTES).read_to_end(&mut bytes);
        read.map_err(|error| Error::Failed(format!("Cannot read {}: {error}.", self.path)))?;
        if bytes.contains(&0) {
            return Ok(None);
        }
        let text = match String::from_utf8(bytes) {
            Ok(text) => text,
            Err(error) => String::from_utf8_lossy(error.as_bytes()).into_owned(),
        };
        let markup = find_markup(&location.display_path).unwrap_or(Markup::Underlined);
        let fallback_title = self.path.rsplit('/').next().unwrap_or(&self.path).to_owned();
        Ok(Some(DocText { text, markup, fallback_title }))
    }

    fn read_manual(&self) -> Option<DocText> {
        let name = self.path.strip_prefix(MANUAL)?.strip_prefix('/')?;
        let topic = TOPICS.iter().find(|topic| topic.name == name)?;
        let (text, fallback_title) = (topic.terminal_text(), topic.title().to_owned());
        Some(DocText { text, markup: Markup::Markdown, fallback_title })
    }

    /// Returns the note about a file of which only the beginning is read.
    pub(super) fn describe_truncation(&self) -> Option<String> {
        let (limit, size) = (format_bytes(MAX_FILE_BYTES), format_bytes(self.size));
        self.is_truncated().then(|| format!("[only the first {limit} of {size} were read]"))
    }
}

impl Omissions {
    pub(super) fn add_binary(&mut self) {
        self.binary += 1;
    }

    pub(super) fn add_unreadable(&mut self) {
        self.unreadable += 1;
    }

    pub(super) fn set_timed_out(&mut self) {
        self.is_timed_out = true;
    }

    /// Returns whether the walk ended before it had seen every folder.
    pub(super) fn is_incomplete(&self) -> bool {
        self.is_timed_out || self.has_unvisited
    }

    /// Describes what was left out, one line for each reason.
    pub(super) fn describe(&self) -> String {
        let mut text = String::new();
        let limits = format!(
            "[not searched, beyond {MAX_FILES} files or {} together: {}]",
            format_bytes(MAX_TOTAL_BYTES),
            self.beyond_limits
        );
        let truncated =
            format!("[searched only up to {}: {}]", format_bytes(MAX_FILE_BYTES), pluralize(self.truncated, "file"));
        for (count, line) in [
            (self.sensitive, format!("[skipped, may hold secrets: {}]", self.sensitive)),
            (self.excluded, format!("[skipped by rules of the user: {}]", self.excluded)),
            (self.binary, format!("[skipped, binary: {}]", self.binary)),
            (self.unreadable, format!("[not searched, read error: {}]", self.unreadable)),
            (self.beyond_limits, limits),
            (self.truncated, truncated),
            (usize::from(self.has_unvisited), format!("[stopped after {MAX_VISITED} files and folders]")),
            (usize::from(self.is_timed_out), "[stopped at the time limit; not every document was searched]".to_owned()),
        ] {
            if count > 0 {
                // Cannot fail: it writes into a string.
                let _ = writeln!(text, "{line}");
            }
        }
        for (folder, reason) in &self.folders {
            let _ = writeln!(text, "[folder {folder} of the user's settings was not searched: {reason}]");
        }
        text
    }
}

#[cfg(test)]
mod tests;
