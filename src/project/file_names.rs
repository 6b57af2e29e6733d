//! Finds the files that the user can name in a message.

use super::Reader;
use std::ops::ControlFlow;
use std::time::SystemTime;

/// Maximum number of files and folders that are found.
const MAX_FILES: usize = 200_000;

/// A file or a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundFile {
    /// Path relative to the project; that of a folder ends in a slash.
    pub name: String,
    /// Size in bytes; `None` for a folder.
    pub size: Option<u64>,
    /// Time of the last change, if known.
    pub modified: Option<SystemTime>,
}

/// Visits the files and folders of a project, except hidden and ignored ones, at most 200,000. Blocks until done, or until
/// `visit` returns `Break`. Returns true if there are more. Visits nothing if the project cannot be read.
pub fn visit_files(project: &dyn Reader, visit: &mut dyn FnMut(FoundFile) -> ControlFlow<()>) -> bool {
    visit_up_to(project, MAX_FILES, visit)
}

fn visit_up_to(project: &dyn Reader, max_files: usize, visit: &mut dyn FnMut(FoundFile) -> ControlFlow<()>) -> bool {
    let (mut count, mut has_more) = (0, false);
    let Ok(root) = project.locate(".") else { return false };
    let include_hidden = false;
    let result = project.walk(&root, include_hidden, &mut |entry| {
        if count == max_files {
            has_more = true;
            return ControlFlow::Break(());
        }
        count += 1;
        let path = entry.location.display_path.display();
        let name = if entry.is_folder { format!("{path}/") } else { path.to_string() };
        visit(FoundFile { name, size: (!entry.is_folder).then_some(entry.size), modified: entry.modified })
    });
    // The files found before an unreadable folder are still offered.
    drop(result);
    has_more
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::Writer;
    use crate::project::disk::Disk;
    use crate::project::rehearsal::Rehearsal;
    use std::sync::Arc;

    fn folder_with_files(count: usize) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..count {
            std::fs::write(folder.path().join(format!("f{number:05}")), "").unwrap();
        }
        folder
    }

    fn names_up_to(project: &dyn Reader, max_files: usize) -> (Vec<String>, bool) {
        let mut names = Vec::new();
        let has_more = visit_up_to(project, max_files, &mut |file| {
            names.push(file.name);
            ControlFlow::Continue(())
        });
        (names, has_more)
    }

    #[test]
    fn visits_all_files_up_to_the_limit() {
        for (count, has_more) in [(0, false), (9, false), (10, false), (11, true)] {
            let folder = folder_with_files(count);
            let disk = Disk::new(folder.path()).unwrap();
            let (names, truncated) = names_up_to(&disk, 10);
            assert_eq!((names.len(), truncated), (count.min(10), has_more), "{count}");
        }
    }

    #[test]
    fn stops_on_request_and_reports_size_and_time() {
        let folder = folder_with_files(3);
        std::fs::write(folder.path().join("f00000"), "four").unwrap();
        let disk = Disk::new(folder.path()).unwrap();
        let mut found = Vec::new();
        let has_more = visit_files(&disk, &mut |file| {
            found.push(file);
            ControlFlow::Break(())
        });
        let modified = std::fs::metadata(folder.path().join("f00000")).unwrap().modified().ok();
        assert_eq!((found, has_more), (vec![FoundFile { name: "f00000".into(), size: Some(4), modified }], false));
    }

    #[test]
    fn r30_offers_files_created_in_a_dry_run_and_not_deleted_ones() {
        let (folder, overlay_folder) = (folder_with_files(2), tempfile::tempdir().unwrap());
        let disk = Arc::new(Disk::new(folder.path()).unwrap());
        let rehearsal = Rehearsal::new(disk, overlay_folder.path().join("layer"));
        let location = rehearsal.locate("new/made").unwrap();
        rehearsal.write(&location, None, b"x").unwrap();
        // A file deleted by a command in the overlay.
        let whiteout = rehearsal.overlay_folder().join("upper/f00000");
        rustix::fs::mknodat(rustix::fs::CWD, &whiteout, rustix::fs::FileType::CharacterDevice, 0o600.into(), 0)
            .unwrap();
        assert_eq!(names_up_to(&rehearsal, 10).0, ["f00001", "new/", "new/made"]);
    }
}
