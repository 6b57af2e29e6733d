//! Reads the files that a user message names, to attach their text to it.

use super::session_builder::SessionBuilder;
use crate::chat::attachments::{Attachment, Content, MAX_BYTES, MAX_FILES, READ_THE_REST, READ_WITH_TOOL};
use crate::chat::image::is_image_path;
use crate::chat::mention::{Mention, find_mentions};
use crate::chat::{Access, SessionId};
use crate::documents::reader_process::{DocumentFormat, read_document};
use crate::project::{self, FileKind, Location, Reader};
use crate::text::byte_size::format_bytes;
use crate::text::file_reference::LineRange;
use crate::text::known_secrets::KnownSecrets;
use crate::text::truncation::truncate_at_line;
use crate::text::workspace_address::{SCHEME, WorkspaceAddress};
use crate::tools::planned_path::read_access;
use crate::workspace::{StoredFile, Workspace, is_text};
use std::ops::{ControlFlow, RangeInclusive};

/// Maximum number of names in the listing of a folder.
const MAX_LISTED: usize = 400;
/// Maximum number of attachments of a message, with those that only say why a file is not attached.
const MAX_ATTACHMENTS: usize = 2 * MAX_FILES;
/// Names up to which the files and folders of a folder are counted.
const MAX_COUNTED: usize = 20_000;
/// Maximum bytes of a file of a workspace that is read.
const MAX_WORKSPACE_BYTES: u64 = project::READ_LIMIT;

/// A file or folder that a mention names.
enum MentionedFile {
    Folder(Location),
    File(Location, Option<RangeInclusive<usize>>),
    /// A file in the workspace of the session.
    Stored(Box<StoredFile>, Option<RangeInclusive<usize>>),
}

/// Reasons why a file is not attached.
const NO_SPACE: &str = "the files before it reach the limit of the message";
const PICTURE_LINES: &str = "it is a picture, which has no lines";

/// Content of a file or folder before it is cut.
struct MentionedContent {
    text: String,
    /// What the text is, if it is not the file itself: `text of a PDF`.
    kind: &'static str,
    untrusted_source: Option<String>,
    /// Lines that are wanted; `None` for all.
    lines: Option<RangeInclusive<usize>>,
}

/// Reads the files and folders that a message of a session names. Known secrets in them are masked. Blocks.
pub(crate) fn read_session_files(
    builder: &SessionBuilder,
    session: &SessionId,
    message: &str,
    max_bytes: usize,
) -> Vec<Attachment> {
    let Some(project) = builder.project_of_session(session) else { return Vec::new() };
    let workspace = Workspace::new(&builder.places, session.clone(), builder.workspace_limits);
    read_mentioned_files(&*project, &workspace, &builder.credentials.known_secrets(), message, max_bytes)
}

/// Reads the files and folders that a message names, except pictures, which are sent with each request. At most `max_bytes`
/// are attached in total, and no file is read beyond that. Names of nothing are left alone: they are words of the user.
/// Known secrets in the texts are masked, before they are cut. Blocks.
fn read_mentioned_files(
    project: &dyn Reader,
    workspace: &Workspace,
    secrets: &KnownSecrets,
    message: &str,
    max_bytes: usize,
) -> Vec<Attachment> {
    let mut attachments: Vec<Attachment> = Vec::new();
    let (mut remaining_bytes, mut files) = (max_bytes, 0);
    for mention in find_mentions(message) {
        let Some(found) = find_mentioned_file(project, workspace, &mention) else { continue };
        let is_last = attachments.len() + 1 == MAX_ATTACHMENTS;
        let content = match found {
            _ if is_last => Err("the message names too many files; the rest of them are not attached".to_owned()),
            Ok(_) if files == MAX_FILES => Err(format!("at most {MAX_FILES} files are attached to a message")),
            Ok(_) if remaining_bytes == 0 => Err(NO_SPACE.to_owned()),
            found => found.and_then(|file| file.read(project, workspace)).and_then(|content| {
                let text = secrets.mask(&content.text).into_owned();
                cut_text(MentionedContent { text, ..content }, remaining_bytes.min(MAX_BYTES))
            }),
        };
        let content = content.unwrap_or_else(Content::Missing);
        if let Content::File { text, .. } = &content {
            files += 1;
            remaining_bytes = remaining_bytes.saturating_sub(text.len() + 1);
        }
        attachments.push(Attachment { source: mention.text.into_owned(), content });
        if is_last {
            break;
        }
    }
    attachments
}

/// Finds what a mention names. `None` if it names nothing or a picture.
///
/// # Errors
/// Why it is not attached.
fn find_mentioned_file(
    project: &dyn Reader,
    workspace: &Workspace,
    mention: &Mention<'_>,
) -> Option<Result<MentionedFile, String>> {
    let is_picture = is_image_path(mention.name);
    if is_picture && mention.lines.is_none() {
        return None;
    }
    if mention.name.starts_with(SCHEME) {
        let found = find_workspace_file(workspace, mention.name)?;
        if is_picture {
            return Some(Err(PICTURE_LINES.to_owned()));
        }
        return Some(found.map(|file| MentionedFile::Stored(Box::new(file), mention.lines.clone())));
    }
    // The longer name wins: a name may end in a number.
    let (location, lines) = match locate_existing(project, &mention.text) {
        Some(location) => (location, None),
        None => (locate_existing(project, mention.name)?, mention.lines.clone()),
    };
    if !location.is_inside {
        return Some(Err(format!("it is outside the project{READ_WITH_TOOL}, which asks the user")));
    }
    if !matches!(read_access(project, &location), Access::Read(_)) {
        return Some(Err(format!("it may hold secrets{READ_WITH_TOOL}, which asks the user")));
    }
    Some(match project.file_kind(&location)? {
        FileKind::Folder if lines.is_some() => Err("it is a folder, which has no lines".to_owned()),
        FileKind::Folder => Ok(MentionedFile::Folder(location)),
        FileKind::File(_) if is_picture && lines.is_some() => Err(PICTURE_LINES.to_owned()),
        FileKind::File(_) => Ok(MentionedFile::File(location, lines)),
        FileKind::Other => Err("it is neither a file nor a folder".to_owned()),
    })
}

impl MentionedFile {
    fn read(self, project: &dyn Reader, workspace: &Workspace) -> Result<MentionedContent, String> {
        let (content, lines) = match self {
            Self::Folder(location) => (list_folder(project, &location)?, None),
            Self::File(location, lines) => (read_file(project, &location)?, lines),
            Self::Stored(file, lines) => (read_workspace_file(workspace, &file)?, lines),
        };
        Ok(MentionedContent { lines, ..content })
    }
}

fn locate_existing(project: &dyn Reader, name: &str) -> Option<Location> {
    project.locate(name).ok().filter(|location| project.exists(location))
}

fn read_file(project: &dyn Reader, location: &Location) -> Result<MentionedContent, String> {
    let bytes = project.read(location).map_err(|error| match error {
        project::Error::TooLarge { size, .. } => {
            format!("it has {}; the limit is {}", format_bytes(size), format_bytes(project::READ_LIMIT))
        }
        error => error.to_string(),
    })?;
    extract_text(bytes, None)
}

/// Finds a file in the workspace of the session.
fn find_workspace_file(workspace: &Workspace, address: &str) -> Option<Result<StoredFile, String>> {
    let target = address.parse::<WorkspaceAddress>().ok()?.target;
    if target.session().is_some() {
        return Some(Err(format!("it is in the workspace of another session{READ_WITH_TOOL}")));
    }
    let file = workspace.find(&target).ok()?;
    if file.origin.needs_approval(true) {
        return Some(Err(format!("it may hold secrets{READ_WITH_TOOL}, which asks the user")));
    }
    if file.size > MAX_WORKSPACE_BYTES {
        let limit = format_bytes(MAX_WORKSPACE_BYTES);
        return Some(Err(format!("it has {}; the limit is {limit}", format_bytes(file.size))));
    }
    Some(Ok(file))
}

fn read_workspace_file(workspace: &Workspace, file: &StoredFile) -> Result<MentionedContent, String> {
    let bytes = workspace.read(file).map_err(|error| error.to_string())?;
    extract_text(bytes, file.origin.untrusted_source.clone())
}

fn extract_text(bytes: Vec<u8>, untrusted_source: Option<String>) -> Result<MentionedContent, String> {
    if bytes.starts_with(b"%PDF-") {
        let text = read_document(DocumentFormat::Pdf, &bytes)
            .map_err(|reason| format!("the PDF cannot be read ({reason})"))?;
        return Ok(MentionedContent { text, kind: "text of a PDF", untrusted_source, lines: None });
    }
    if !is_text(&bytes) {
        return Err(format!("it is not text ({})", format_bytes(bytes.len() as u64)));
    }
    let text = String::from_utf8(bytes).map_err(|error| error.to_string())?;
    Ok(MentionedContent { text, kind: "", untrusted_source, lines: None })
}

/// Lists a folder as the model would see it: without hidden and ignored files.
fn list_folder(project: &dyn Reader, location: &Location) -> Result<MentionedContent, String> {
    let (mut names, mut count) = (Vec::new(), 0);
    let include_hidden = false;
    let result = project.walk(location, include_hidden, &mut |entry| {
        count += 1;
        if names.len() < MAX_LISTED {
            let slash = if entry.is_folder { "/" } else { "" };
            names.push(format!("{}{slash}", entry.location.display_path.display()));
        }
        if count < MAX_COUNTED { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    });
    result.map_err(|error| error.to_string())?;
    let omitted = count - names.len();
    if omitted > 0 {
        let more = if count == MAX_COUNTED { "or more " } else { "" };
        names.push(format!("[{omitted} {more}files and folders are not listed]"));
    }
    Ok(MentionedContent { text: names.join("\n"), kind: "listing of a folder", untrusted_source: None, lines: None })
}

/// Returns the wanted lines of a text, as many as fit into `max_bytes`, and says how many of how many.
///
/// # Errors
/// Why nothing is attached.
fn cut_text(found: MentionedContent, max_bytes: usize) -> Result<Content, String> {
    let MentionedContent { text, kind, untrusted_source, lines } = found;
    let total = text.lines().count();
    let (first, last) = lines.map_or((1, total), |lines| (*lines.start(), (*lines.end()).min(total)));
    if first > total && total > 0 {
        return Err(format!("the file has only {total} lines"));
    }
    let wanted = LineRange::Lines(first as u64, last as u64).select(&text).unwrap_or_default();
    let attached = truncate_at_line(wanted, max_bytes);
    if attached.is_empty() && !wanted.is_empty() {
        return Err(NO_SPACE.to_owned());
    }
    let count = attached.lines().count();
    let is_whole = attached.len() == text.len();
    let shown_lines = match (is_whole, total) {
        (true, 1) => "1 line".to_owned(),
        (true, total) => format!("{total} lines"),
        (false, _) if count == 1 => format!("line {first} of {total}"),
        (false, _) => format!("lines {first}-{} of {total}", first + count - 1),
    };
    let size = format_bytes(attached.len() as u64);
    let size = match attached.len() < wanted.len() {
        true => format!("only {size} of {} fit{READ_THE_REST}", format_bytes(wanted.len() as u64)),
        false => size,
    };
    let kind = Some(kind.to_owned()).filter(|kind| !kind.is_empty());
    let facts = [kind, Some(shown_lines), Some(size)].into_iter().flatten().collect::<Vec<_>>().join(", ");
    let text = attached.strip_suffix('\n').unwrap_or(attached).to_owned();
    Ok(Content::File { text, facts, untrusted_source })
}

#[cfg(test)]
mod tests;
