//! Collects the names of the project's files, and reports them in batches if that takes long.

use super::Reader;
use std::ops::ControlFlow;
use std::time::{Duration, Instant};

/// Maximum number of names in the list for `@`: more than a user scrolls through, few enough to filter on every key
/// press.
const MAX_FILES: usize = 50_000;
/// Interval between batches. Most projects are collected before the first.
const INTERVAL: Duration = Duration::from_millis(250);

/// Names of files and folders, relative to the project; those of folders end in a slash.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct FileNames {
    pub names: Vec<String>,
    /// True if there are more.
    pub is_truncated: bool,
}

/// Collects the files and folders of a project. Blocks until done, or until `is_wanted` returns false. `send_partial`
/// receives the names found so far if it takes long. Returns no names if the project cannot be read.
pub fn collect_file_names(
    project: &dyn Reader,
    is_wanted: &dyn Fn() -> bool,
    send_partial: &mut dyn FnMut(&[String]),
) -> FileNames {
    collect_up_to(project, MAX_FILES, is_wanted, send_partial)
}

fn collect_up_to(
    project: &dyn Reader,
    max_files: usize,
    is_wanted: &dyn Fn() -> bool,
    send_partial: &mut dyn FnMut(&[String]),
) -> FileNames {
    let (mut found, mut last_sent) = (FileNames::default(), Instant::now());
    let Ok(root) = project.locate(".") else { return found };
    let include_hidden = false;
    let result = project.walk(&root, include_hidden, &mut |entry| {
        if !is_wanted() {
            return ControlFlow::Break(());
        }
        if found.names.len() == max_files {
            found.is_truncated = true;
            return ControlFlow::Break(());
        }
        let path = entry.location.display_path.display();
        found.names.push(if entry.is_folder { format!("{path}/") } else { path.to_string() });
        if last_sent.elapsed() > INTERVAL {
            send_partial(&found.names);
            last_sent = Instant::now();
        }
        ControlFlow::Continue(())
    });
    // The files found before an unreadable folder are still offered.
    drop(result);
    found
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

    #[test]
    fn returns_all_files_up_to_the_limit() {
        for (count, is_truncated) in [(0, false), (9, false), (10, false), (11, true)] {
            let folder = folder_with_files(count);
            let disk = Disk::new(folder.path()).unwrap();
            let found = collect_up_to(&disk, 10, &|| true, &mut |_| {});
            assert_eq!((found.names.len(), found.is_truncated), (count.min(10), is_truncated), "{count}");
        }
    }

    #[test]
    fn stops_if_no_longer_wanted() {
        let folder = folder_with_files(3);
        let disk = Disk::new(folder.path()).unwrap();
        assert_eq!(collect_file_names(&disk, &|| false, &mut |_| {}), FileNames::default());
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
        let found = collect_file_names(&rehearsal, &|| true, &mut |_| {});
        assert_eq!(found.names, ["f00001", "new/", "new/made"]);
    }
}
