//! Files of the session's workspace: requests of the screen and the replies to them.

pub mod preview;

use crate::chat::SessionId;
use crate::text::json_outline::JsonOutline;
use crate::text::workspace_address::AddressTarget;
use std::ops::RangeInclusive;
use std::path::PathBuf;
use std::sync::Arc;

/// Request for files of the open session's workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorkspaceRequest {
    /// List the files, unless the index still has this length. Reply: `Listed`.
    List { seen_length: Option<u64> },
    /// List the versions of the file with this id. Reply: `Versions`.
    ListVersions(String),
    /// Read the beginning of a file. Reply: `Previewed`.
    Preview(AddressTarget),
    /// Copy the file with this address of a workspace, to be opened. Reply: `Copied`, or a notice.
    Copy(String),
    /// Store what other programs saved in opened copies. Reply: `Done` or `Notice`, or none if nothing was saved.
    StoreChangedCopies,
}

/// Result of a [`WorkspaceRequest`]. An error is one sentence for the user.
#[derive(Debug, Clone, PartialEq)]
pub enum WorkspaceReply {
    Listed {
        session: SessionId,
        /// Length of the index, which changes with every change of a file.
        index_length: u64,
        /// Most recently changed first.
        files: Result<Vec<ListedFile>, String>,
    },
    Versions {
        /// Id of the file.
        id: String,
        /// Newest first.
        versions: Result<Vec<ListedVersion>, String>,
    },
    /// A copy of a file, for a program that opens it.
    Copied(PathBuf),
    Previewed {
        target: AddressTarget,
        preview: Result<FilePreview, String>,
    },
}

/// A file of the workspace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedFile {
    pub id: String,
    pub path: String,
    /// Number of the latest version, from 1.
    pub version: u64,
    /// Bytes.
    pub size: u64,
    /// Formatted time of the last change.
    pub time: String,
}

/// A version of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedVersion {
    /// Number of the version, from 1.
    pub number: u64,
    /// Bytes.
    pub size: u64,
    /// Formatted time of the change.
    pub time: String,
    /// Name of the tool, or of the command of the user, that wrote it; empty if unknown.
    pub tool: String,
    /// True if no later version replaced or deleted it.
    pub is_latest: bool,
    /// False if its content is no longer kept.
    pub is_kept: bool,
}

/// The beginning of a file, ready to be laid out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FilePreview {
    /// Type, size, version, origin and address, each a short phrase.
    pub facts: Vec<String>,
    pub content: PreviewContent,
    /// What of the content is not shown, as one sentence; empty if all of it is.
    pub omission: String,
}

/// Lines of a text file around those that a link names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberedLines {
    /// Name of the file, which decides its language.
    pub name: String,
    pub text: String,
    /// Number of the first line, from 1.
    pub first: usize,
    /// Numbers of the lines that the link names.
    pub marked: RangeInclusive<usize>,
    /// Number of lines of the whole file, if all of it was read.
    pub total: Option<usize>,
}

/// Content of a preview.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PreviewContent {
    Markdown(String),
    /// Text, with the name of a file in the same language.
    Text {
        name: String,
        text: String,
    },
    /// JSON that can be collapsed.
    Json(Arc<JsonOutline>),
    Lines(NumberedLines),
    /// Rows of cells, of which the first is the heading.
    Table(Vec<Vec<String>>),
    /// Content that is not text: what it is, as one sentence.
    NoText(&'static str),
}
