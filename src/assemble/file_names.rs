//! Collects the project's file names for `@`, and sends them in batches if that takes long.

use crate::project::Reader;
use crate::tui::host::{HostReply, ListState};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::Sender;

/// Files offered: more than a user scrolls through, few enough to filter at once.
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

/// Collects the files and folders of a project, relative to it, and sends them. Blocks until done. Sends none if the
/// project cannot be read.
pub(super) fn collect_files(
    project: Option<Box<dyn Reader>>,
    wanted: &LatestRequest,
    number: u64,
    replies: &Sender<HostReply>,
) {
    collect_up_to(project.as_deref(), MAX_FILES, wanted, number, replies);
}

fn collect_up_to(
    project: Option<&dyn Reader>,
    most: usize,
    wanted: &LatestRequest,
    number: u64,
    replies: &Sender<HostReply>,
) {
    // The screen may be closed.
    let tell = |names: &[String], gathered| {
        let names = names.to_vec();
        let _ = replies.blocking_send(HostReply::Files { names, gathered });
    };
    let (mut names, mut told, mut gathered) = (Vec::new(), Instant::now(), ListState::Complete);
    if let Some(project) = project
        && let Ok(root) = project.locate(".")
    {
        let walked = project.walk(&root, false, &mut |found| {
            if !wanted.is_latest(number) {
                return ControlFlow::Break(());
            }
            if names.len() == most {
                gathered = ListState::Truncated;
                return ControlFlow::Break(());
            }
            let shown = found.location.display_path.display();
            names.push(if found.is_folder { format!("{shown}/") } else { shown.to_string() });
            if told.elapsed() > INTERVAL {
                tell(&names, ListState::Scanning);
                told = Instant::now();
            }
            ControlFlow::Continue(())
        });
        // The files found before an unreadable folder are still offered.
        drop(walked);
    }
    if wanted.is_latest(number) {
        tell(&names, gathered);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::project::disk::Disk;
    use crate::project::rehearsal::Rehearsal;
    use tokio::sync::mpsc::{Receiver, channel};

    fn files(count: usize) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..count {
            std::fs::write(folder.path().join(format!("f{number:05}")), "").unwrap();
        }
        folder
    }

    fn last(mut replies: Receiver<HostReply>) -> Option<(usize, ListState)> {
        let mut last = None;
        while let Ok(reply) = replies.try_recv() {
            let HostReply::Files { names, gathered } = reply else { panic!("files were asked for") };
            last = Some((names.len(), gathered));
        }
        last
    }

    #[test]
    fn sends_all_files_up_to_the_limit() {
        for (count, expected) in
            [(0, ListState::Complete), (9, ListState::Complete), (10, ListState::Complete), (11, ListState::Truncated)]
        {
            let (folder, wanted) = (files(count), LatestRequest::default());
            let (tell, told) = channel(64);
            let disk = Disk::new(folder.path()).unwrap();
            collect_up_to(Some(&disk), 10, &wanted, wanted.start_request(), &tell);
            assert_eq!(last(told), Some((count.min(10), expected)), "{count}");
        }
    }

    #[test]
    fn outdated_request_stops_and_sends_nothing() {
        let (folder, wanted) = (files(3), LatestRequest::default());
        let (tell, told) = channel(64);
        let before = wanted.start_request();
        wanted.start_request();
        collect_files(Some(Box::new(Disk::new(folder.path()).unwrap())), &wanted, before, &tell);
        assert_eq!(last(told), None);
    }

    #[test]
    fn r30_offers_files_created_in_a_dry_run_and_not_deleted_ones() {
        use crate::project::Writer;
        let (folder, layer) = (files(2), tempfile::tempdir().unwrap());
        let disk = Arc::new(Disk::new(folder.path()).unwrap());
        let play = Rehearsal::new(disk, layer.path().join("layer"));
        let new = play.locate("new/made").unwrap();
        play.write(&new, None, b"x").unwrap();
        // A file deleted by a command in the overlay.
        let gone = play.overlay_folder().join("upper/f00000");
        rustix::fs::mknodat(rustix::fs::CWD, &gone, rustix::fs::FileType::CharacterDevice, 0o600.into(), 0).unwrap();
        let (wanted, (tell, mut told)) = (LatestRequest::default(), channel(64));
        collect_files(Some(Box::new(play)), &wanted, wanted.start_request(), &tell);
        // A slow machine sends partial results first.
        let mut whole = None;
        while let Ok(HostReply::Files { names, gathered }) = told.try_recv() {
            whole = (gathered == ListState::Complete).then_some(names);
        }
        assert_eq!(whole.unwrap(), ["f00001", "new/", "new/made"]);
    }
}
