//! Reads the files that a user message names, to attach their text to it.

use super::session_builder::SessionBuilder;
use crate::chat::SessionId;
use crate::chat::attachments::{Attachment, Content, MAX_BYTES, MAX_FILES};
use crate::chat::image::is_image_path;
use crate::chat::mention::{Mention, find_mentions};
use crate::documents::reader_process::{DocumentFormat, read_document};
use crate::project::{self, FileKind, Location, Reader};
use crate::text::byte_size::format_bytes;
use crate::text::workspace_address::{SCHEME, WorkspaceAddress};
use crate::workspace::{Workspace, is_text};
use std::ops::{ControlFlow, RangeInclusive};

/// Maximum number of names in the listing of a folder.
const MAX_LISTED: usize = 400;
/// Names up to which the files and folders of a folder are counted.
const MAX_COUNTED: usize = 20_000;
/// Maximum bytes of a file of a workspace that is read.
const MAX_WORKSPACE_BYTES: u64 = project::READ_LIMIT;

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
    let secrets = builder.credentials.known_secrets();
    let mut attachments = read_mentioned_files(&*project, &workspace, message, max_bytes);
    for attachment in &mut attachments {
        if let Content::File { text, .. } = &mut attachment.content {
            *text = secrets.mask(text).into_owned();
        }
    }
    attachments
}

/// Reads the files and folders that a message names, except pictures, which are sent with each request. At most `max_bytes`
/// are attached in total. Names of nothing are left alone: they are words of the user. Blocks.
fn read_mentioned_files(
    project: &dyn Reader,
    workspace: &Workspace,
    message: &str,
    max_bytes: usize,
) -> Vec<Attachment> {
    let mut attachments: Vec<Attachment> = Vec::new();
    let mut remaining_bytes = max_bytes;
    for mention in find_mentions(message) {
        let Some(found) = read_mention(project, workspace, &mention) else { continue };
        let content = match found {
            Err(reason) => Content::Missing(reason),
            Ok(_) if attachments.len() >= MAX_FILES => {
                Content::Missing(format!("at most {MAX_FILES} files are attached to a message"))
            }
            Ok(found) => cut_text(found, remaining_bytes.min(MAX_BYTES)),
        };
        if let Content::File { text, .. } = &content {
            remaining_bytes = remaining_bytes.saturating_sub(text.len() + 1);
        }
        attachments.push(Attachment { source: mention.text.to_owned(), content });
    }
    attachments
}

/// Reads what a mention names. `None` if it names nothing or a picture.
fn read_mention(
    project: &dyn Reader,
    workspace: &Workspace,
    mention: &Mention<'_>,
) -> Option<Result<MentionedContent, String>> {
    if is_image_path(mention.name) {
        return None;
    }
    if mention.name.starts_with(SCHEME) {
        let found = read_workspace_file(workspace, mention.name)?;
        return Some(found.map(|found| MentionedContent { lines: mention.lines.clone(), ..found }));
    }
    // The longer name wins: a name may end in a number.
    let (location, lines) = match locate_existing(project, mention.text) {
        Some(location) => (location, None),
        None => (locate_existing(project, mention.name)?, mention.lines.clone()),
    };
    if !location.is_inside {
        return Some(Err("it is outside the project. Read it with a tool, which asks the user".to_owned()));
    }
    if location.is_sensitive || project.unknown_hard_link_check()(&location) {
        return Some(Err("it may hold secrets. Read it with a tool, which asks the user".to_owned()));
    }
    Some(match project.file_kind(&location)? {
        FileKind::Folder => list_folder(project, &location),
        FileKind::File(_) => read_file(project, &location).map(|found| MentionedContent { lines, ..found }),
        FileKind::Other => Err("it is neither a file nor a folder".to_owned()),
    })
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

/// Reads a file in the workspace of the session.
fn read_workspace_file(workspace: &Workspace, address: &str) -> Option<Result<MentionedContent, String>> {
    let target = address.parse::<WorkspaceAddress>().ok()?.target;
    if target.session().is_some() {
        return Some(Err("it is in the workspace of another session. Read it with a tool".to_owned()));
    }
    let file = workspace.find(&target).ok()?;
    if file.size > MAX_WORKSPACE_BYTES {
        let limit = format_bytes(MAX_WORKSPACE_BYTES);
        return Some(Err(format!("it has {}; the limit is {limit}", format_bytes(file.size))));
    }
    let bytes = workspace.read(&file).map_err(|error| error.to_string());
    Some(bytes.and_then(|bytes| extract_text(bytes, file.origin.untrusted_source.clone())))
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
fn cut_text(found: MentionedContent, max_bytes: usize) -> Content {
    let MentionedContent { text, kind, untrusted_source, lines } = found;
    let total = text.lines().count();
    let (first, last) = lines.map_or((1, total), |lines| (*lines.start(), (*lines.end()).min(total)));
    if first > total && total > 0 {
        return Content::Missing(format!("the file has only {total} lines"));
    }
    let wanted: Vec<&str> = text.split_inclusive('\n').skip(first - 1).take((last + 1).saturating_sub(first)).collect();
    let wanted_bytes: usize = wanted.iter().map(|line| line.len()).sum();
    let mut attached = String::new();
    let mut count = 0;
    for line in wanted {
        if attached.len() + line.len() > max_bytes {
            // A single line that does not fit is cut.
            if attached.is_empty() {
                attached.push_str(&line[..line.floor_char_boundary(max_bytes)]);
                count = 1;
            }
            break;
        }
        attached.push_str(line);
        count += 1;
    }
    if attached.is_empty() && wanted_bytes > 0 {
        return Content::Missing("the files before it reach the limit of the message".to_owned());
    }
    let is_whole = attached.len() == text.len();
    let shown_lines = match (is_whole, total) {
        (true, 1) => "1 line".to_owned(),
        (true, total) => format!("{total} lines"),
        (false, _) if count == 1 => format!("line {first} of {total}"),
        (false, _) => format!("lines {first}-{} of {total}", first + count - 1),
    };
    let cut = (attached.len() < wanted_bytes).then(|| {
        let (shown, whole) = (format_bytes(attached.len() as u64), format_bytes(wanted_bytes as u64));
        format!("only {shown} of {whole} fit, read the rest with a tool")
    });
    let kind = Some(kind.to_owned()).filter(|kind| !kind.is_empty());
    let facts = [kind, Some(shown_lines), cut].into_iter().flatten().collect::<Vec<_>>().join(", ");
    let text = attached.strip_suffix('\n').map(str::to_owned).unwrap_or(attached);
    Content::File { text, facts, untrusted_source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::disk::Disk;
    use crate::store::Places;
    use crate::text::workspace_address::WorkspacePath;
    use crate::workspace::{Limits, NewFile, Origin};
    use std::path::Path;

    struct Setup {
        home: tempfile::TempDir,
        project: tempfile::TempDir,
    }

    impl Setup {
        fn new() -> Self {
            Self { home: tempfile::tempdir().unwrap(), project: tempfile::tempdir().unwrap() }
        }

        fn write(&self, name: &str, bytes: &[u8]) {
            let path = self.project.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, bytes).unwrap();
        }

        fn workspace(&self) -> Workspace {
            Workspace::new(&Places::within(self.home.path()), SessionId("01A".into()), Limits::default())
        }

        /// Returns for each attachment: the source, its facts or the reason, and its text.
        fn read(&self, message: &str, max_bytes: usize) -> Vec<(String, String, String)> {
            let disk = Disk::new(self.project.path()).unwrap();
            let attachments = read_mentioned_files(&disk, &self.workspace(), message, max_bytes);
            let describe = |Attachment { source, content }| match content {
                Content::File { text, facts, .. } => (source, facts, text),
                Content::Missing(reason) => (source, reason, String::new()),
                Content::Resource(text) => (source, String::new(), text),
            };
            attachments.into_iter().map(describe).collect()
        }
    }

    fn row(source: &str, facts: &str, text: &str) -> (String, String, String) {
        (source.into(), facts.into(), text.into())
    }

    #[test]
    fn attaches_files_and_exactly_the_named_lines() {
        let setup = Setup::new();
        setup.write("src/a.rs", b"one\ntwo\nthree\nfour");
        setup.write("odd:2", b"a name with a number\n");
        setup.write("empty", b"");
        let read = |message: &str| setup.read(message, MAX_BYTES);
        assert_eq!(read("see @src/a.rs"), [row("src/a.rs", "4 lines", "one\ntwo\nthree\nfour")]);
        assert_eq!(read("@src/a.rs:2-3"), [row("src/a.rs:2-3", "lines 2-3 of 4", "two\nthree")]);
        assert_eq!(read("@src/a.rs:4"), [row("src/a.rs:4", "line 4 of 4", "four")]);
        assert_eq!(read("@src/a.rs:3-99"), [row("src/a.rs:3-99", "lines 3-4 of 4", "three\nfour")]);
        assert_eq!(read("@src/a.rs:9"), [row("src/a.rs:9", "the file has only 4 lines", "")]);
        assert_eq!(read("@odd:2"), [row("odd:2", "1 line", "a name with a number")]);
        assert_eq!(read("@empty"), [row("empty", "0 lines", "")]);
        assert_eq!(read("@nobody and me@src/a.rs and @missing.rs:3"), []);
    }

    #[test]
    fn says_how_much_of_a_large_text_is_attached() {
        let setup = Setup::new();
        setup.write("long.txt", "0123456789\n".repeat(10).as_bytes());
        setup.write("line.txt", "é".repeat(100).as_bytes());
        let rest = ", read the rest with a tool";
        let text = "0123456789\n".repeat(3).trim_end().to_owned();
        let facts = format!("lines 1-3 of 10, only 33 bytes of 110 bytes fit{rest}");
        assert_eq!(setup.read("@long.txt", 40), [row("long.txt", &facts, &text)]);
        let facts = format!("line 1 of 1, only 10 bytes of 200 bytes fit{rest}");
        assert_eq!(setup.read("@line.txt", 11), [row("line.txt", &facts, "ééééé")]);
        let rows = setup.read("@long.txt @line.txt @long.txt:1", 110);
        assert_eq!(rows[1], row("line.txt", "the files before it reach the limit of the message", ""));
        assert!(rows[2].1.contains("the limit of the message"), "{rows:?}");
        setup.write("big", &vec![b'x'; project::READ_LIMIT as usize + 1]);
        assert_eq!(setup.read("@big", 10)[0].1, "it has 10.5 MB; the limit is 10.5 MB");
    }

    #[test]
    fn refuses_files_outside_secrets_and_data() {
        let setup = Setup::new();
        setup.write(".env", b"KEY=1");
        setup.write("data.bin", b"a\0b");
        setup.write("shot.png", b"\x89PNG");
        let outside = setup.home.path().join("notes.txt");
        std::fs::write(&outside, "private").unwrap();
        std::fs::hard_link(setup.project.path().join(".env"), setup.project.path().join("linked")).unwrap();
        let rows = setup.read(&format!("@.env @data.bin @shot.png @{} @linked", outside.display()), MAX_BYTES);
        let reasons: Vec<_> = rows.iter().map(|(_, reason, text)| (reason.as_str(), text.as_str())).collect();
        let secrets = "it may hold secrets. Read it with a tool, which asks the user";
        assert_eq!(
            reasons,
            [
                (secrets, ""),
                ("it is not text (3 bytes)", ""),
                ("it is outside the project. Read it with a tool, which asks the user", ""),
                (secrets, ""),
            ]
        );
    }

    #[test]
    fn lists_a_folder_up_to_a_limit() {
        let setup = Setup::new();
        setup.write("src/a.rs", b"");
        setup.write("src/sub/b.rs", b"");
        setup.write("src/.hidden", b"");
        let listing = "src/a.rs\nsrc/sub/\nsrc/sub/b.rs";
        assert_eq!(setup.read("@src/", MAX_BYTES), [row("src/", "listing of a folder, 3 lines", listing)]);
        for number in 0..MAX_LISTED {
            setup.write(&format!("many/f{number:03}"), b"");
        }
        setup.write("many/z", b"");
        let (_, facts, text) = setup.read("@many", MAX_BYTES).remove(0);
        assert_eq!(facts, "listing of a folder, 401 lines");
        assert!(text.ends_with("many/f399\n[1 files and folders are not listed]"), "{text}");
    }

    #[test]
    fn attaches_files_of_the_workspace_with_their_source() {
        let setup = Setup::new();
        let path = WorkspacePath::parse("page.md").unwrap();
        let origin = Origin { untrusted_source: Some("a page of docs.rs".into()), ..Origin::default() };
        setup.workspace().write(&NewFile { path: &path, bytes: b"one\ntwo\n", origin, overwrite: false }).unwrap();
        let disk = Disk::new(Path::new(setup.project.path())).unwrap();
        let read = |message: &str| read_mentioned_files(&disk, &setup.workspace(), message, MAX_BYTES);
        let [Attachment { source, content }] = &read("@workspace:///page.md:2 @workspace:///none.md")[..] else {
            panic!()
        };
        assert_eq!(source, "workspace:///page.md:2");
        assert_eq!(
            *content,
            Content::File {
                text: "two".into(),
                facts: "line 2 of 2".into(),
                untrusted_source: Some("a page of docs.rs".into())
            }
        );
        let other = read("@workspace:///sessions/01JDXA0000000000000000000Z/a.md");
        assert!(matches!(&other[0].content, Content::Missing(reason) if reason.contains("another session")));
    }
}
