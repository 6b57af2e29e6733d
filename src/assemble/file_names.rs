//! Collects the project's file names for `@`, and sends them in batches if that takes long.

use crate::project::Reader;
use crate::tui::host::{HostReply, ListState};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::Sender;

/// Maximum number of files offered: more than a user scrolls through, few enough to filter on every key press.
const MAX_FILES: usize = 50_000;
/// Interval between batches. Most projects are collected before the first.
const INTERVAL: Duration = Duration::from_millis(250);

/// Number of the latest request; an older one stops.
#[derive(Debug, Clone, Default)]
pub(super) struct LatestRequest(Arc<AtomicU64>);

impl LatestRequest {
    /// Starts a new request and returns its number.
    pub(super) fn start_request(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Returns whether this is the latest request.
    pub(super) fn is_latest(&self, number: u64) -> bool {
        self.0.load(Ordering::Relaxed) == number
    }
}

/// Collects the files and folders of a project, relative to it, and sends them. Blocks until done, or until `number` is
/// no longer the latest request. Sends an empty list if the project cannot be read.
pub(super) fn collect_files(
    project: Option<Box<dyn Reader>>,
    latest: &LatestRequest,
    number: u64,
    replies: &Sender<HostReply>,
) {
    collect_up_to(project.as_deref(), MAX_FILES, latest, number, replies);
}

fn collect_up_to(
    project: Option<&dyn Reader>,
    max_files: usize,
    latest: &LatestRequest,
    number: u64,
    replies: &Sender<HostReply>,
) {
    // The screen may be closed.
    let send_names = |names: &[String], completeness| {
        let names = names.to_vec();
        let _ = replies.blocking_send(HostReply::Files { names, completeness });
    };
    let (mut names, mut last_sent, mut completeness) = (Vec::new(), Instant::now(), ListState::Complete);
    if let Some(project) = project
        && let Ok(root) = project.locate(".")
    {
        let result = project.walk(&root, false, &mut |entry| {
            if !latest.is_latest(number) {
                return ControlFlow::Break(());
            }
            if names.len() == max_files {
                completeness = ListState::Truncated;
                return ControlFlow::Break(());
            }
            let path = entry.location.display_path.display();
            names.push(if entry.is_folder { format!("{path}/") } else { path.to_string() });
            if last_sent.elapsed() > INTERVAL {
                send_names(&names, ListState::Scanning);
                last_sent = Instant::now();
            }
            ControlFlow::Continue(())
        });
        // The files found before an unreadable folder are still offered.
        drop(result);
    }
    if latest.is_latest(number) {
        send_names(&names, completeness);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::disk::Disk;
    use crate::project::rehearsal::Rehearsal;
    use tokio::sync::mpsc::{Receiver, channel};

    fn folder_with_files(count: usize) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..count {
            std::fs::write(folder.path().join(format!("f{number:05}")), "").unwrap();
        }
        folder
    }

    fn last_reply(mut replies: Receiver<HostReply>) -> Option<(usize, ListState)> {
        let mut last = None;
        while let Ok(reply) = replies.try_recv() {
            let HostReply::Files { names, completeness } = reply else { panic!("files were asked for") };
            last = Some((names.len(), completeness));
        }
        last
    }

    #[test]
    fn sends_all_files_up_to_the_limit() {
        for (count, expected) in
            [(0, ListState::Complete), (9, ListState::Complete), (10, ListState::Complete), (11, ListState::Truncated)]
        {
            let (folder, latest) = (folder_with_files(count), LatestRequest::default());
            let (sender, receiver) = channel(64);
            let disk = Disk::new(folder.path()).unwrap();
            collect_up_to(Some(&disk), 10, &latest, latest.start_request(), &sender);
            assert_eq!(last_reply(receiver), Some((count.min(10), expected)), "{count}");
        }
    }

    #[test]
    fn outdated_request_stops_and_sends_nothing() {
        let (folder, latest) = (folder_with_files(3), LatestRequest::default());
        let (sender, receiver) = channel(64);
        let outdated = latest.start_request();
        latest.start_request();
        collect_files(Some(Box::new(Disk::new(folder.path()).unwrap())), &latest, outdated, &sender);
        assert_eq!(last_reply(receiver), None);
    }

    #[test]
    fn r30_offers_files_created_in_a_dry_run_and_not_deleted_ones() {
        use crate::project::Writer;
        let (folder, overlay_folder) = (folder_with_files(2), tempfile::tempdir().unwrap());
        let disk = Arc::new(Disk::new(folder.path()).unwrap());
        let rehearsal = Rehearsal::new(disk, overlay_folder.path().join("layer"));
        let location = rehearsal.locate("new/made").unwrap();
        rehearsal.write(&location, None, b"x").unwrap();
        // A file deleted by a command in the overlay.
        let whiteout = rehearsal.overlay_folder().join("upper/f00000");
        rustix::fs::mknodat(rustix::fs::CWD, &whiteout, rustix::fs::FileType::CharacterDevice, 0o600.into(), 0)
            .unwrap();
        let (latest, (sender, mut receiver)) = (LatestRequest::default(), channel(64));
        collect_files(Some(Box::new(rehearsal)), &latest, latest.start_request(), &sender);
        // A slow machine sends partial results first.
        let mut complete_list = None;
        while let Ok(HostReply::Files { names, completeness }) = receiver.try_recv() {
            complete_list = (completeness == ListState::Complete).then_some(names);
        }
        assert_eq!(complete_list.unwrap(), ["f00001", "new/", "new/made"]);
    }
}
