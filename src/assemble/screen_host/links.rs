//! Checks, previews and opens what links name.

use super::ScreenHost;
use super::workspace_files::read_preview;
use crate::assemble::sandbox_setup;
use crate::assemble::session_builder::SessionBuilder;
use crate::chat::SessionId;
use crate::chat::image::{self, ImageSize, MAX_SOURCE_BYTES, StripFormat};
use crate::documents::picture::{read_pixels, read_png, read_project_picture, read_strips};
use crate::project::disk::Disk;
use crate::project::{Location, Reader, picture_size};
use crate::text::byte_size::format_bytes;
use crate::text::link::LinkTarget;
use crate::text::workspace_address::{AddressTarget, WorkspaceAddress};
use crate::tui::graphics::{iterm, sixel};
use crate::tui::host::{HostReply, LinkStatus};
use crate::tui::parts::pictures::{PictureData, PictureForm, Pixels};
use crate::tui::text::PictureKey;
use crate::tui::workspace_data::FilePreview;
use crate::tui::workspace_data::preview::{FileBeginning, MAX_PREVIEW_BYTES};
use crate::workspace::{StoredFile, Workspace, detect_media_type};
use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read};
use std::path::PathBuf;
use std::sync::Arc;

/// Bytes of a file in which the line of a link is looked for. A line beyond them counts as missing.
const MAX_LINE_BYTES: u64 = 20_000_000;

impl ScreenHost {
    pub(super) fn check_links(&self, targets: Vec<LinkTarget>) {
        let (session_builder, workspace) = (self.session_builder.clone(), self.workspace());
        self.run_in_background(move || {
            let Ok(disk) = sandbox_setup::open_project(&session_builder.places, &session_builder.folder) else {
                // The screen repeats the lookups, but not before it has an answer.
                return Some(HostReply::LinkStatuses(Vec::new()));
            };
            let mut line_counts = HashMap::new();
            let check = |target: LinkTarget| {
                let status = check_link(&disk, &workspace, &target, &mut line_counts);
                (target, status)
            };
            Some(HostReply::LinkStatuses(targets.into_iter().map(check).collect()))
        });
    }

    /// Reads a picture of the project or a workspace at the size at which it is drawn.
    pub(super) fn read_picture(&self, key: Arc<PictureKey>, form: PictureForm) {
        let (session_builder, workspace) = (self.session_builder.clone(), self.workspace());
        self.run_in_background(move || {
            let bytes = read_picture_file(&session_builder, &workspace, &key.target);
            let data = bytes.and_then(|bytes| match form {
                PictureForm::Pixels(width, height) => read_pixels(&bytes, (width, height))
                    .map(|rgba| PictureData::Pixels(Pixels { width: width as usize, rgba })),
                PictureForm::Png(width, height) => read_png(&bytes, (width, height)).map(PictureData::Png),
                PictureForm::Strips(layout) => {
                    let draw = |strip: &Vec<u8>| match layout.format {
                        StripFormat::Png => iterm::strip_bytes(strip, key.columns),
                        StripFormat::Sixel => sixel::strip_bytes(strip),
                    };
                    read_strips(&bytes, layout).map(|strips| PictureData::Strips(strips.iter().map(draw).collect()))
                }
            });
            Some(HostReply::PictureRead(data))
        });
    }

    /// Reads the file that a link names, around its line.
    pub(super) fn preview_link(&self, target: LinkTarget) {
        let (session_builder, workspace) = (self.session_builder.clone(), self.workspace());
        self.run_in_background(move || {
            let preview = match &target {
                LinkTarget::File { path, line, end, .. } => {
                    let lines = line.map(|line| (line, end.unwrap_or(line)));
                    match sandbox_setup::open_project(&session_builder.places, &session_builder.folder) {
                        Ok(disk) => read_file_preview(&disk, path, lines),
                        Err(error) => Err(format!("Cannot show {path}: {error}.")),
                    }
                }
                LinkTarget::Workspace(address) => find_file(&workspace, address).and_then(|(other, file)| {
                    let target = AddressTarget::Id(file.id, Some(file.version));
                    read_preview(other.as_ref().unwrap_or(&workspace), &target)
                }),
                LinkTarget::Web(_) => Err("Nothing is fetched from the web for a preview.".to_owned()),
            };
            Some(HostReply::LinkPreviewed(target, preview))
        });
    }
}

/// Reads the file of a picture. Of the project only files that hold no secrets are read, and nothing outside it.
fn read_picture_file(builder: &SessionBuilder, workspace: &Workspace, target: &LinkTarget) -> Result<Vec<u8>, String> {
    match target {
        LinkTarget::File { path, .. } => {
            let disk =
                sandbox_setup::open_project(&builder.places, &builder.folder).map_err(|error| error.to_string())?;
            let location = disk.locate(path).map_err(|error| error.to_string())?;
            read_project_picture(&disk, &location)
        }
        LinkTarget::Workspace(address) => {
            let (other, file) = find_file(workspace, address)?;
            if file.size > MAX_SOURCE_BYTES {
                return Err(format!("it has {}", format_bytes(file.size)));
            }
            other.as_ref().unwrap_or(workspace).read(&file).map_err(|error| error.to_string())
        }
        LinkTarget::Web(_) => Err("nothing is fetched from the web".to_owned()),
    }
}

/// Reads the beginning of a file, or what is around these lines.
fn read_file_preview(disk: &Disk, path: &str, lines: Option<(usize, usize)>) -> Result<FilePreview, String> {
    let fail = |reason: String| format!("Cannot show {path}: {reason}.");
    let location = disk.locate(path).map_err(|error| fail(error.to_string()))?;
    if location.is_sensitive {
        return Err(fail("it may hold secrets. Open it in your editor to read it".to_owned()));
    }
    if location.real.is_dir() {
        return Err(fail("it is a folder".to_owned()));
    }
    let max_bytes = if lines.is_some() { MAX_LINE_BYTES } else { MAX_PREVIEW_BYTES };
    let file = disk.open(&location).map_err(|error| fail(error.to_string()))?;
    let mut bytes = Vec::new();
    file.take(max_bytes).read_to_end(&mut bytes).map_err(|error| fail(error.to_string()))?;
    // The size is only shown, and tells whether more follows.
    let size = std::fs::metadata(&location.real).map_or(bytes.len() as u64, |metadata| metadata.len());
    let name = location.real.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let media_type = detect_media_type(name, &bytes);
    let beginning = FileBeginning { name, media_type, size, bytes: &bytes };
    let (content, omission) = match lines {
        Some(lines) => beginning.prepare_lines(lines),
        None => beginning.prepare_content(),
    };
    let pixels = picture_size::parse_size(&bytes).map(|(width, height)| format!("{width} × {height}"));
    let facts = [Some(media_type.to_owned()), pixels, Some(format_bytes(size))];
    Ok(FilePreview { facts: facts.into_iter().flatten().collect(), content, omission })
}

/// Number of lines of files, by real path.
type LineCounts = HashMap<PathBuf, usize>;

/// Returns whether a file may have a line with this number. Only files of the project that hold no secrets are read.
fn has_line(disk: &Disk, location: &Location, number: usize, counts: &mut LineCounts) -> bool {
    if !location.is_inside || location.is_sensitive {
        return disk.exists(location);
    }
    let count = match counts.get(&location.real) {
        Some(count) => *count,
        None => {
            let Ok(file) = disk.open(location) else { return false };
            let mut reader = BufReader::new(file.take(MAX_LINE_BYTES));
            let mut count = 0;
            while reader.skip_until(b'\n').is_ok_and(|read| read > 0) {
                count += 1;
            }
            counts.insert(location.real.clone(), count);
            count
        }
    };
    // An empty file can be opened at its first line.
    number <= count.max(1)
}

/// Finds the file with a `workspace://` address, and the workspace that it is in.
fn find_file(workspace: &Workspace, address: &str) -> Result<(Option<Workspace>, StoredFile), String> {
    let target = address.parse::<WorkspaceAddress>().map_err(|error| error.to_string())?.target;
    let session = target.session().map(|id| SessionId(id.to_owned()));
    let other = session.filter(|session| session != workspace.session());
    let other = other.map(|session| workspace.of_session(&session)).transpose().map_err(|error| error.to_string())?;
    let file = other.as_ref().unwrap_or(workspace).find(&target).map_err(|error| error.to_string())?;
    Ok((other, file))
}

/// Makes the copy of a file of a workspace that the screen opens.
pub(super) fn copy_file(workspace: &Workspace, address: &str) -> Result<PathBuf, String> {
    let (other, file) = find_file(workspace, address)?;
    // Another session's workspace is only read, and an earlier version stays what it was.
    let is_writable = other.is_none() && file.is_latest;
    other.as_ref().unwrap_or(workspace).copy_to_open(&file, is_writable).map_err(|error| error.to_string())
}

/// Returns the size of a picture; `None` for other files and above [`MAX_SOURCE_BYTES`].
fn read_picture_size(workspace: &Workspace, file: &StoredFile) -> Option<ImageSize> {
    if !image::is_image_path(file.path.file_name()) || file.size > MAX_SOURCE_BYTES {
        return None;
    }
    let bytes = workspace.read_beginning(file, picture_size::MAX_HEADER_BYTES).ok()?;
    Some(ImageSize { pixels: picture_size::parse_size(&bytes)?, bytes: file.size })
}

/// Checks the target of a link, also its line. For a picture in the project or a workspace, also reads its size.
fn check_link(disk: &Disk, workspace: &Workspace, target: &LinkTarget, counts: &mut LineCounts) -> LinkStatus {
    let (path, line) = match target {
        LinkTarget::File { path, line, .. } => (path, *line),
        LinkTarget::Web(_) => return LinkStatus::Exists,
        LinkTarget::Workspace(address) => {
            let Ok((other, file)) = find_file(workspace, address) else { return LinkStatus::Missing };
            let size = read_picture_size(other.as_ref().unwrap_or(workspace), &file);
            return size.map_or(LinkStatus::Exists, LinkStatus::Picture);
        }
    };
    match disk.locate(path) {
        Ok(location) if line.is_some_and(|line| !has_line(disk, &location, line, counts)) => LinkStatus::Missing,
        Ok(location) if disk.exists(&location) => {
            picture_size::read_size(path, &location).map_or(LinkStatus::Exists, LinkStatus::Picture)
        }
        Ok(_) | Err(_) => LinkStatus::Missing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::Places;
    use crate::text::workspace_address::WorkspacePath;
    use crate::tui::workspace_data::PreviewContent;
    use crate::workspace::{Limits, NewFile, Origin, Replaces};

    #[test]
    fn web_link_always_exists_and_file_only_if_present() {
        let folder = tempfile::tempdir().unwrap();
        let places = Places::within(&folder.path().join("home"));
        let workspace = Workspace::new(&places, SessionId("01A".into()), Limits::default());
        std::fs::write(folder.path().join("a.rs"), "x").unwrap();
        let disk = Disk::new(folder.path()).unwrap();
        let check = |target: &LinkTarget| check_link(&disk, &workspace, target, &mut LineCounts::new());
        let file_link = |path: &str| LinkTarget::File { path: path.into(), line: None, end: None, column: None };
        assert_eq!(check(&file_link("a.rs")), LinkStatus::Exists);
        assert_eq!(check(&file_link("b.rs")), LinkStatus::Missing);
        assert_eq!(check(&LinkTarget::Web("https://example.com".into())), LinkStatus::Exists);
        let path = WorkspacePath::parse("reports/q1.md").unwrap();
        let new_file = NewFile {
            path: &path,
            bytes: b"x",
            origin: Origin::default(),
            replaces: Replaces::Nothing,
            media_type: None,
        };
        let stored = workspace.write(&new_file).unwrap();
        for (address, expected) in [
            (format!("workspace://{}", stored.id), LinkStatus::Exists),
            (format!("workspace://{}@1#text/markdown", stored.id), LinkStatus::Exists),
            ("workspace:///reports/q1.md".to_owned(), LinkStatus::Exists),
            (format!("workspace://{}@2", stored.id), LinkStatus::Missing),
            ("workspace:///reports".to_owned(), LinkStatus::Missing),
            ("workspace:///sessions/01JDXA0000000000000000000Z/reports/q1.md".to_owned(), LinkStatus::Missing),
        ] {
            assert_eq!(check(&LinkTarget::Workspace(address.clone())), expected, "{address}");
        }
        let copy = copy_file(&workspace, &format!("workspace://{}", stored.id)).unwrap();
        assert_eq!((copy.file_name().unwrap().to_str(), std::fs::read(&copy).unwrap()), (Some("q1.md"), b"x".to_vec()));
        assert_eq!(copy_file(&workspace, &format!("workspace://{}", stored.id)).unwrap(), copy);
    }

    #[test]
    fn a_line_of_a_link_must_exist() {
        let folder = tempfile::tempdir().unwrap();
        let places = Places::within(&folder.path().join("home"));
        let workspace = Workspace::new(&places, SessionId("01A".into()), Limits::default());
        for (name, text) in [("two.rs", "one\ntwo\n"), ("open.rs", "one\ntwo"), ("empty.rs", "")] {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        std::fs::create_dir(folder.path().join("src")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, folder.path().join("pipe"), 0o600.into()).unwrap();
        let disk = Disk::new(folder.path()).unwrap();
        std::fs::write(folder.path().join(".env"), "A=1\n").unwrap();
        let mut counts = LineCounts::new();
        for (path, line, end, exists) in [
            // A file that may hold secrets is not read for a link.
            (".env", 9, None, true),
            ("two.rs", 1, None, true),
            ("two.rs", 2, None, true),
            ("two.rs", 3, None, false),
            ("two.rs", 1, Some(2), true),
            ("two.rs", 2, Some(3), true),
            ("two.rs", 3, Some(9), false),
            ("open.rs", 2, None, true),
            ("open.rs", 3, None, false),
            ("empty.rs", 1, None, true),
            ("empty.rs", 2, None, false),
            ("src", 1, None, false),
            ("pipe", 1, None, false),
            ("missing.rs", 1, None, false),
        ] {
            let target = LinkTarget::File { path: path.into(), line: Some(line), end, column: None };
            let status = if exists { LinkStatus::Exists } else { LinkStatus::Missing };
            assert_eq!(check_link(&disk, &workspace, &target, &mut counts), status, "{target}");
        }
    }

    #[test]
    fn a_file_is_previewed_as_a_whole_or_around_a_line_but_no_secret() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        write("a.rs", "one\ntwo\nthree\n");
        write(".env", "SECRET=1");
        let disk = Disk::new(folder.path()).unwrap();
        let preview = read_file_preview(&disk, "a.rs", Some((2, 3))).unwrap();
        let PreviewContent::Lines(lines) = preview.content else { panic!("{preview:?}") };
        assert_eq!((lines.text.as_str(), lines.first, lines.marked), ("one\ntwo\nthree\n", 1, 2..=3));
        let preview = read_file_preview(&disk, "a.rs", None).unwrap();
        assert!(matches!(preview.content, PreviewContent::Text { .. }), "{preview:?}");
        for (path, reason) in [(".env", "may hold secrets"), (".", "is a folder"), ("missing", "Cannot show missing: ")]
        {
            let error = read_file_preview(&disk, path, None).unwrap_err();
            assert!(error.contains(reason) && !error.contains("SECRET"), "{error}");
        }
    }
}
