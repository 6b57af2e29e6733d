//! Files of a session's workspace that an export includes, and where each of them is in it.

use super::portable_paths::PortablePaths;
use crate::chat::SessionId;
use crate::store::StoredSession;
use crate::text::link::find_workspace_addresses;
use crate::text::percent_encoding::percent_encode;
use crate::text::workspace_address::{AddressTarget, PathPrefix, SCHEME, WorkspaceAddress};
use crate::workspace::{self, StoredFile, Workspace};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::ops::Range;

/// Folder of the latest versions in an exported folder.
const FILES_FOLDER: &str = "files";
/// Folder of the earlier versions in an exported folder.
const VERSIONS_FOLDER: &str = "versions";
/// Media types of pictures without scripts.
const PICTURE_TYPES: [&str; 4] = ["image/png", "image/jpeg", "image/gif", "image/webp"];

/// The files that an export includes. The default includes none.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::commands) struct IncludedFiles {
    session: String,
    files: Vec<IncludedFile>,
    /// Index of the latest version of each file, by its path.
    by_path: HashMap<String, usize>,
    /// Index of each version, by ID and number; of the latest one also without a number.
    by_id: HashMap<(String, Option<u64>), usize>,
}

/// A version of a file.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::commands) struct IncludedFile {
    pub(in crate::commands) stored: StoredFile,
    /// Path in the exported folder, with slashes; it cannot leave the folder.
    pub(in crate::commands) location: String,
    /// Content to embed; empty if the file becomes one of a folder.
    pub(super) content: Vec<u8>,
}

impl IncludedFiles {
    /// Finds the latest versions of all files, and the kept earlier versions whose addresses occur in the session.
    ///
    /// # Errors
    /// If the workspace cannot be read.
    pub(in crate::commands) fn find(workspace: &Workspace, stored: &StoredSession) -> Result<Self, workspace::Error> {
        let mut files = workspace.list(&PathPrefix::default())?;
        files.sort_by(|a, b| a.path.cmp(&b.path));
        for target in find_versions(stored) {
            // An address may name anything: a file of another session, or a version that is no longer kept.
            let Ok(file) = workspace.find(&target) else { continue };
            if !files.contains(&file) {
                files.push(file);
            }
        }
        Ok(Self::new(workspace.session(), files))
    }

    /// Chooses the locations of these files.
    pub(super) fn new(session: &SessionId, files: Vec<StoredFile>) -> Self {
        let mut paths = PortablePaths::default();
        let mut included = Self { session: session.0.clone(), ..Self::default() };
        for (index, stored) in files.into_iter().enumerate() {
            let folder = match stored.is_latest {
                true => FILES_FOLDER.to_owned(),
                false => format!("{VERSIONS_FOLDER}/{}", stored.version),
            };
            let location = paths.choose(&folder, &stored.path);
            included.by_id.insert((stored.id.clone(), Some(stored.version)), index);
            if stored.is_latest {
                included.by_id.insert((stored.id.clone(), None), index);
                included.by_path.insert(stored.path.to_string(), index);
            }
            included.files.push(IncludedFile { stored, location, content: Vec::new() });
        }
        included
    }

    /// Reads the content of every file, to embed it.
    ///
    /// # Errors
    /// If a content is damaged or cannot be read.
    pub(in crate::commands) fn load_contents(&mut self, workspace: &Workspace) -> Result<(), workspace::Error> {
        self.files.iter_mut().try_for_each(|file| {
            file.content = workspace.read(&file.stored)?;
            Ok(())
        })
    }

    pub(in crate::commands) fn is_empty(&self) -> bool {
        self.files.is_empty()
    }

    /// Returns the files: the latest versions by path, then the earlier ones.
    pub(in crate::commands) fn iter(&self) -> impl ExactSizeIterator<Item = &IncludedFile> {
        self.files.iter()
    }

    /// Returns the bytes of all files.
    pub(in crate::commands) fn total_bytes(&self) -> u64 {
        self.files.iter().map(|file| file.stored.size).sum()
    }

    /// Returns the file that an address names, if it is included. A file of another session never is.
    pub(super) fn find_address(&self, address: &str) -> Option<&IncludedFile> {
        let index = match address.parse::<WorkspaceAddress>().ok()?.target {
            AddressTarget::Id(id, version) => self.by_id.get(&(id, version)),
            AddressTarget::Path(scoped) if scoped.session.as_ref().is_none_or(|session| *session == self.session) => {
                self.by_path.get(scoped.path.as_str())
            }
            AddressTarget::Path(_) => None,
        };
        self.files.get(*index?)
    }

    /// Finds the addresses of included files in a text, in order, with their ranges.
    pub(super) fn find_in_text(&self, text: &str) -> Vec<(Range<usize>, &IncludedFile)> {
        if self.is_empty() {
            return Vec::new();
        }
        let addresses = find_workspace_addresses(text);
        addresses.filter_map(|(range, address)| Some((range, self.find_address(&address)?))).collect()
    }

    /// Describes the files in JSON.
    pub(super) fn to_json(&self) -> Value {
        let describe = |file: &IncludedFile| {
            let StoredFile { id, path, version, size, sha256, media_type, time, is_latest, .. } = &file.stored;
            json!({
                "id": id, "path": path.as_str(), "version": version, "latest": is_latest, "size": size, "type": media_type,
                "sha256": sha256, "time": time, "file": file.location,
            })
        };
        self.files.iter().map(describe).collect()
    }
}

impl IncludedFile {
    /// Returns the ID of the file in a page.
    pub(super) fn anchor(&self) -> String {
        format!("file-{}-{}", self.stored.id, self.stored.version)
    }

    /// Returns the location as a relative address.
    pub(super) fn relative_url(&self) -> String {
        let names: Vec<String> = self.location.split('/').map(percent_encode).collect();
        names.join("/")
    }

    /// Returns its media type if it is a picture in a format without scripts.
    pub(super) fn picture_type(&self) -> Option<&'static str> {
        PICTURE_TYPES.into_iter().find(|media_type| *media_type == self.stored.media_type)
    }

    /// Returns the address of the file, or of this version if it is not the latest.
    pub(super) fn address(&self) -> String {
        let StoredFile { id, version, is_latest, .. } = &self.stored;
        format!("{SCHEME}{id}{}", if *is_latest { String::new() } else { format!("@{version}") })
    }

    /// Returns the path, and the version if it is not the latest.
    pub(super) fn label(&self) -> String {
        let StoredFile { path, version, is_latest, .. } = &self.stored;
        format!("{path}{}", if *is_latest { String::new() } else { format!(", version {version}") })
    }

    /// Returns whether it has another path in a folder than in the workspace.
    pub(in crate::commands) fn is_renamed(&self) -> bool {
        !self.location.strip_suffix(self.stored.path.as_str()).is_some_and(|folder| folder.ends_with('/'))
    }
}

/// Returns the versions that addresses in the session name, each once.
fn find_versions(stored: &StoredSession) -> Vec<AddressTarget> {
    let mut targets = Vec::new();
    for entry in &stored.entries {
        let text = serde_json::to_string(entry).unwrap_or_default();
        for (_, address) in find_workspace_addresses(&text) {
            let address = address.parse::<WorkspaceAddress>();
            if let Ok(WorkspaceAddress { target: target @ AddressTarget::Id(_, Some(_)), .. }) = address
                && !targets.contains(&target)
            {
                targets.push(target);
            }
        }
    }
    targets
}
