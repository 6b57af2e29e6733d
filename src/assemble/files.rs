//! Collects the project's file names for `@`, and sends them in batches if that takes long.

use crate::project::Reader;
use crate::tui::host::{Gathered, Reply};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::Sender;

/// Files offered: more than a user scrolls through, few enough to filter at once.
const FILES: usize = 50_000;
/// Interval between batches. Most projects are collected before the first.
const EVERY: Duration = Duration::from_millis(250);

/// Number of the latest request; an older one stops.
#[derive(Debug, Clone, Default)]
pub(super) struct Wanted(Arc<AtomicU64>);

impl Wanted {
    /// Starts a new request and returns its number.
    pub(super) fn anew(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Returns whether this is the latest request.
    pub(super) fn is_last(&self, number: u64) -> bool {
        self.0.load(Ordering::Relaxed) == number
    }
}

/// Collects the files and folders of a project, relative to it, and sends them. Blocks until done. Sends none if the
/// project cannot be read.
pub(super) fn gather(
    project: Option<Box<dyn Reader>>,
    wanted: &Wanted,
    number: u64,
    replies: &Sender<Reply>,
) {
    gather_most(project.as_deref(), FILES, wanted, number, replies);
}

fn gather_most(
    project: Option<&dyn Reader>,
    most: usize,
    wanted: &Wanted,
    number: u64,
    replies: &Sender<Reply>,
) {
    // The screen may be closed.
    let tell = |names: &[String], gathered| {
        let names = names.to_vec();
        let _ = replies.blocking_send(Reply::Files { names, gathered });
    };
    let (mut names, mut told, mut gathered) = (Vec::new(), Instant::now(), Gathered::Whole);
    if let Some(project) = project
        && let Ok(root) = project.locate(".")
    {
        let walked = project.walk(&root, false, &mut |found| {
            if !wanted.is_last(number) {
                return ControlFlow::Break(());
            }
            if names.len() == most {
                gathered = Gathered::Cut;
                return ControlFlow::Break(());
            }
            let shown = found.at.shown.display();
            names.push(if found.folder { format!("{shown}/") } else { shown.to_string() });
            if told.elapsed() > EVERY {
                tell(&names, Gathered::Growing);
                told = Instant::now();
            }
            ControlFlow::Continue(())
        });
        // The files found before an unreadable folder are still offered.
        drop(walked);
    }
    if wanted.is_last(number) {
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

    fn last(mut replies: Receiver<Reply>) -> Option<(usize, Gathered)> {
        let mut last = None;
        while let Ok(reply) = replies.try_recv() {
            let Reply::Files { names, gathered } = reply else { panic!("files were asked for") };
            last = Some((names.len(), gathered));
        }
        last
    }

    #[test]
    fn sends_all_files_up_to_the_limit() {
        for (count, expected) in
            [(0, Gathered::Whole), (9, Gathered::Whole), (10, Gathered::Whole), (11, Gathered::Cut)]
        {
            let (folder, wanted) = (files(count), Wanted::default());
            let (tell, told) = channel(64);
            let disk = Disk::new(folder.path()).unwrap();
            gather_most(Some(&disk), 10, &wanted, wanted.anew(), &tell);
            assert_eq!(last(told), Some((count.min(10), expected)), "{count}");
        }
    }

    #[test]
    fn outdated_request_stops_and_sends_nothing() {
        let (folder, wanted) = (files(3), Wanted::default());
        let (tell, told) = channel(64);
        let before = wanted.anew();
        wanted.anew();
        gather(Some(Box::new(Disk::new(folder.path()).unwrap())), &wanted, before, &tell);
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
        let gone = play.folder().join("upper/f00000");
        rustix::fs::mknodat(rustix::fs::CWD, &gone, rustix::fs::FileType::CharacterDevice, 0o600.into(), 0)
            .unwrap();
        let (wanted, (tell, mut told)) = (Wanted::default(), channel(64));
        gather(Some(Box::new(play)), &wanted, wanted.anew(), &tell);
        // A slow machine sends partial results first.
        let mut whole = None;
        while let Ok(Reply::Files { names, gathered }) = told.try_recv() {
            whole = (gathered == Gathered::Whole).then_some(names);
        }
        assert_eq!(whole.unwrap(), ["f00001", "new/", "new/made"]);
    }
}
