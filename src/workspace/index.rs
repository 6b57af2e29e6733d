//! The files of a workspace and their versions: the fold of the lines of the index.

use super::Limits;
use super::index_line::{Change, Content, IndexLine, Origin};
use crate::chat::Digest;
use crate::text::workspace_address::{WorkspacePath, is_id};
use std::collections::{HashMap, HashSet};

/// Files and contents.
#[derive(Debug, Default)]
pub(super) struct Index {
    files: HashMap<String, FileRecord>,
    /// Id of the file with each path, also after it was deleted.
    ids: HashMap<WorkspacePath, String>,
    contents: HashMap<Digest, ContentUse>,
    /// Bytes of the contents that are the latest version of a file.
    pub latest_bytes: u64,
    /// Bytes of the other contents.
    pub old_bytes: u64,
    /// True if two lines give a version different contents, one of which must be wrong.
    pub has_conflict: bool,
}

/// A file and its versions in order.
#[derive(Debug)]
pub(super) struct FileRecord {
    pub path: WorkspacePath,
    pub versions: Vec<Version>,
}

/// A version of a file.
#[derive(Debug, Clone)]
pub(super) struct Version {
    pub number: u64,
    /// Milliseconds since 1970.
    pub time: u64,
    /// `None` for a deletion.
    pub content: Option<Content>,
    /// True if the content is no longer kept.
    pub is_dropped: bool,
    pub origin: Origin,
}

/// How often a content is used.
#[derive(Debug, Default)]
struct ContentUse {
    size: u64,
    latest: u32,
    old: u32,
}

/// A version of a file, with its content.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredFile {
    /// Id of the file: a ULID, which it keeps when it is overwritten.
    pub id: String,
    pub path: WorkspacePath,
    /// Number of the version, from 1.
    pub version: u64,
    /// Bytes.
    pub size: u64,
    pub sha256: Digest,
    pub media_type: String,
    /// Milliseconds since 1970.
    pub time: u64,
    pub origin: Origin,
    /// True if no later version replaced or deleted it.
    pub is_latest: bool,
}

impl FileRecord {
    /// Returns the content that a reader gets; `None` if the file is deleted.
    pub fn latest(&self) -> Option<&Version> {
        self.versions.last().filter(|version| version.content.is_some() && !version.is_dropped)
    }

    /// Returns the kept earlier versions, oldest first.
    fn old_versions(&self) -> impl Iterator<Item = (&Version, &Content)> {
        let latest = self.latest().map(|latest| latest.number);
        let kept = self.versions.iter().filter(move |version| !version.is_dropped && Some(version.number) != latest);
        kept.filter_map(|version| Some((version, version.content.as_ref()?)))
    }

    /// Returns the kept earlier versions that may be dropped, oldest first: not the last one before changes that are all
    /// rehearsed, because it is the latest one of a live copy.
    fn droppable_versions(&self) -> impl Iterator<Item = (&Version, &Content)> {
        let last_real = self.versions.iter().rfind(|version| !version.origin.rehearsed).map(|version| version.number);
        self.old_versions().filter(move |(version, _)| Some(version.number) != last_real)
    }

    /// Describes a version with a content.
    pub fn stored_file(&self, id: &str, version: &Version) -> Option<StoredFile> {
        let content = version.content.as_ref()?;
        Some(StoredFile {
            id: id.to_owned(),
            path: self.path.clone(),
            version: version.number,
            size: content.size,
            sha256: content.sha256.clone(),
            media_type: content.media_type.clone(),
            time: version.time,
            origin: version.origin.clone(),
            is_latest: self.latest().is_some_and(|latest| latest.number == version.number),
        })
    }
}

impl Index {
    /// Applies a line. One that was applied before changes nothing, and neither does an invalid one.
    pub fn apply(&mut self, line: &IndexLine) {
        let Ok(path) = WorkspacePath::parse(&line.path) else { return };
        // Both are names of files.
        let has_digest = |content: &Content| Digest::parse(content.sha256.as_str()).is_some();
        if !is_id(&line.id) || !line.content.as_ref().is_none_or(has_digest) {
            return;
        }
        let is_new_file = !self.files.contains_key(&line.id);
        // A live copy has lines about versions that were rehearsed, but not these.
        if is_new_file && line.change == Change::Dropped {
            return;
        }
        if is_new_file {
            self.ids.insert(path.clone(), line.id.clone());
        }
        let mut record = self.files.remove(&line.id).unwrap_or_else(|| FileRecord { path, versions: Vec::new() });
        self.count(&record, false);
        let position = record.versions.binary_search_by_key(&line.version, |version| version.number);
        match (line.change, position) {
            (Change::Dropped, Ok(position)) => record.versions[position].is_dropped = true,
            (Change::Stored, Ok(position)) => self.has_conflict |= record.versions[position].content != line.content,
            (Change::Dropped, Err(_)) | (Change::Deleted, Ok(_)) => {}
            (Change::Stored | Change::Deleted, Err(position)) => {
                let content = line.content.clone().filter(|_| line.change == Change::Stored);
                let (number, time, origin) = (line.version, line.time, line.origin.clone());
                record.versions.insert(position, Version { number, time, content, is_dropped: false, origin });
            }
        }
        self.count(&record, true);
        self.files.insert(line.id.clone(), record);
    }

    /// Adds the contents of a file to the counts, or subtracts them.
    fn count(&mut self, record: &FileRecord, adds: bool) {
        if let Some(content) = record.latest().and_then(|latest| latest.content.as_ref()) {
            self.count_content(content, (1, 0), adds);
        }
        for (_, content) in record.old_versions() {
            self.count_content(content, (0, 1), adds);
        }
    }

    fn count_content(&mut self, content: &Content, (latest, old): (u32, u32), adds: bool) {
        let used = self.contents.entry(content.sha256.clone()).or_default();
        self.latest_bytes -= used.latest_bytes();
        self.old_bytes -= used.old_bytes();
        used.size = content.size;
        match adds {
            true => (used.latest, used.old) = (used.latest + latest, used.old + old),
            false => (used.latest, used.old) = (used.latest - latest, used.old - old),
        }
        self.latest_bytes += used.latest_bytes();
        self.old_bytes += used.old_bytes();
        if used.latest == 0 && used.old == 0 {
            self.contents.remove(&content.sha256);
        }
    }

    /// Returns a file with its own id, which outlives the given text.
    pub fn file_with_id(&self, id: &str) -> Option<(&String, &FileRecord)> {
        self.files.get_key_value(id)
    }

    pub fn file(&self, id: &str) -> Option<&FileRecord> {
        self.files.get(id)
    }

    /// Returns the id of the file with this path, which may be deleted.
    pub fn id(&self, path: &WorkspacePath) -> Option<&String> {
        self.ids.get(path)
    }

    pub fn files(&self) -> impl Iterator<Item = (&String, &FileRecord)> {
        self.files.iter()
    }

    /// Returns the contents that are kept.
    pub fn kept_contents(&self) -> HashSet<&Digest> {
        self.contents.keys().collect()
    }

    pub fn keeps_content(&self, digest: &Digest) -> bool {
        self.contents.contains_key(digest)
    }

    /// Returns whether a content is the latest version of a file, so that another file with it takes no more space.
    pub fn is_latest_content(&self, digest: &Digest) -> bool {
        self.contents.get(digest).is_some_and(|used| used.latest > 0)
    }

    /// Returns the bytes of a content if exactly one file has it as its latest version, otherwise 0.
    pub fn bytes_of_only_use(&self, digest: &Digest) -> u64 {
        self.contents.get(digest).filter(|used| used.latest == 1).map_or(0, |used| used.size)
    }

    /// Returns the earlier versions of all files that may be dropped, in any order.
    pub fn all_droppable_versions(&self) -> Vec<(String, Version)> {
        let old_versions = |(id, record): (&String, &FileRecord)| {
            record.droppable_versions().map(|(version, _)| (id.clone(), version.clone())).collect::<Vec<_>>()
        };
        self.files.iter().flat_map(old_versions).collect()
    }

    /// Returns the earlier versions that exceed the limits after a change of the file, oldest first.
    pub fn excess_versions(&self, changed: &str, limits: &Limits) -> Vec<(String, Version)> {
        let mut excess = Vec::new();
        if let Some(record) = self.files.get(changed) {
            let count = record.droppable_versions().count().saturating_sub(limits.old_versions);
            excess.extend(
                record.droppable_versions().take(count).map(|(version, _)| (changed.to_owned(), version.clone())),
            );
        }
        if self.old_bytes <= limits.old_bytes {
            return excess;
        }
        let is_excess = |id: &str, number: u64, excess: &[(String, Version)]| {
            excess.iter().any(|(excess_id, version)| excess_id == id && version.number == number)
        };
        let mut others: Vec<(&String, &Version, &Content)> = self
            .files
            .iter()
            .flat_map(|(id, record)| record.droppable_versions().map(move |(version, content)| (id, version, content)))
            .collect();
        others.retain(|(id, version, _)| !is_excess(id, version.number, &excess));
        others.sort_by_key(|(id, version, _)| (version.time, *id, version.number));
        // A content goes with its last use.
        let mut uses: HashMap<&Digest, u32> = HashMap::new();
        for (_, _, content) in &others {
            *uses.entry(&content.sha256).or_default() += 1;
        }
        let is_old = |digest: &Digest| self.contents.get(digest).is_some_and(|used| used.latest == 0);
        let mut left: u64 = uses.keys().filter(|digest| is_old(digest)).map(|digest| self.contents[*digest].size).sum();
        for (id, version, content) in others {
            if left <= limits.old_bytes {
                break;
            }
            if let Some(count) = uses.get_mut(&content.sha256) {
                *count -= 1;
                if *count == 0 && is_old(&content.sha256) {
                    left -= content.size;
                }
            }
            excess.push((id.clone(), version.clone()));
        }
        excess
    }
}

impl ContentUse {
    fn latest_bytes(&self) -> u64 {
        if self.latest > 0 { self.size } else { 0 }
    }

    fn old_bytes(&self) -> u64 {
        if self.latest == 0 && self.old > 0 { self.size } else { 0 }
    }
}
