//! Gathers the project's files for `@`: shown as they are met where that takes a while.

use crate::project::Reader;
use crate::tui::host::{Gathered, Reply};
use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};
use tokio::sync::mpsc::Sender;

/// Files offered: more than anybody scrolls through, few enough to filter at once.
const FILES: usize = 50_000;
/// So often what was met is told while more is looked for. Most projects are through long before the first.
const EVERY: Duration = Duration::from_millis(250);

/// Which gathering is the last that was wanted: one before it stops.
#[derive(Debug, Clone, Default)]
pub(super) struct Wanted(Arc<AtomicU64>);

impl Wanted {
    /// One more is wanted; its number.
    pub(super) fn anew(&self) -> u64 {
        self.0.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Whether none was wanted since.
    pub(super) fn is_last(&self, number: u64) -> bool {
        self.0.load(Ordering::Relaxed) == number
    }
}

/// Gathers the files and folders of a project, relative to it, and tells of them; blocks until it is through. None where the
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
    // The screen may be gone by now.
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
        // What was found before a folder that cannot be read is still worth offering.
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
    fn what_is_there_is_told_to_its_end_or_its_limit() {
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
    fn one_that_nobody_waits_for_any_more_stops_and_tells_nothing() {
        let (folder, wanted) = (files(3), Wanted::default());
        let (tell, told) = channel(64);
        let before = wanted.anew();
        wanted.anew();
        gather(Some(Box::new(Disk::new(folder.path()).unwrap())), &wanted, before, &tell);
        assert_eq!(last(told), None);
    }

    #[test]
    fn r30_what_a_dry_run_made_is_offered_and_what_it_deleted_is_not() {
        use crate::project::Writer;
        let (folder, layer) = (files(2), tempfile::tempdir().unwrap());
        let disk = Arc::new(Disk::new(folder.path()).unwrap());
        let play = Rehearsal::new(disk, layer.path().join("layer"));
        let new = play.locate("new/made").unwrap();
        play.write(&new, None, b"x").unwrap();
        // What a command deleted on the stage.
        let gone = play.folder().join("upper/f00000");
        rustix::fs::mknodat(rustix::fs::CWD, &gone, rustix::fs::FileType::CharacterDevice, 0o600.into(), 0)
            .unwrap();
        let (wanted, (tell, mut told)) = (Wanted::default(), channel(64));
        gather(Some(Box::new(play)), &wanted, wanted.anew(), &tell);
        // What was met on the way is told before, where the machine stands still for a while.
        let mut whole = None;
        while let Ok(Reply::Files { names, gathered }) = told.try_recv() {
            whole = (gathered == Gathered::Whole).then_some(names);
        }
        assert_eq!(whole.unwrap(), ["f00001", "new/", "new/made"]);
    }
}
