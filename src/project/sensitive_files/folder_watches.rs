//! Kernel watches (inotify) on the scanned folders of a large project, so that a command need not look at each of them.
//!
//! The kernel queues an event before the system call that changed a folder returns. So if no event is queued, no name in
//! a watched folder was created, renamed, linked or removed since its watch was added, whichever process did it.

use super::scanned_folder::{FolderStamp, ScannedFolder};
use event_queue::EventQueue;
use std::path::{Path, PathBuf};

/// Number of folders from which watching them is cheaper than reading their times for every command: about a
/// microsecond each.
pub(super) const MIN_WATCHED_FOLDERS: usize = 500;

/// Watches on all folders of the last scan.
#[derive(Default)]
pub(super) enum FolderWatches {
    /// The project is small or not scanned yet.
    #[default]
    None,
    /// The system allows no watches, or not so many, or would not report every change.
    Refused,
    /// Every scanned folder has been watched since before it was last read or compared.
    Active {
        queue: EventQueue,
        root: PathBuf,
        /// Device and inode of the root. Its parents are not watched, so its identity is compared instead.
        root_inode: (u64, u64),
        /// True if all folders were compared with the disk after they were watched, and no event has come since.
        is_confirmed: bool,
    },
}

impl FolderWatches {
    /// Returns true only if nothing can have changed since the folders were last compared with the disk. Removes all
    /// events.
    pub(super) fn prove_unchanged(&mut self) -> bool {
        let Self::Active { queue, root, root_inode, is_confirmed } = self else { return false };
        if FolderStamp::from_path(root).is_none_or(|stamp| stamp.inode != *root_inode) {
            *self = Self::None;
            return false;
        }
        *is_confirmed &= !queue.drain_events();
        *is_confirmed
    }

    /// Starts to watch the folders, of which the first is the root, if they are many. They must be compared with the disk
    /// afterwards.
    pub(super) fn start(&mut self, folders: &[ScannedFolder]) {
        let (Self::None, Some(root)) = (&self, folders.first()) else { return };
        if folders.len() < MIN_WATCHED_FOLDERS {
            return;
        }
        let stamp = FolderStamp::from_path(&root.path);
        *self = match (EventQueue::open(&root.path), stamp) {
            (Some(queue), Some(stamp)) if folders.iter().all(|folder| queue.watch_folder(&folder.path)) => {
                Self::Active { queue, root: root.path.clone(), root_inode: stamp.inode, is_confirmed: false }
            }
            _ => Self::Refused,
        };
    }

    /// Watches one more folder, which is read afterwards.
    pub(super) fn add_folder(&mut self, folder: &Path) {
        if let Self::Active { queue, .. } = self
            && !queue.watch_folder(folder)
        {
            *self = Self::Refused;
        }
    }

    /// Records whether a comparison of all folders with the disk found no change.
    pub(super) fn confirm(&mut self, is_unchanged: bool) {
        if let Self::Active { is_confirmed, .. } = self {
            *is_confirmed = is_unchanged;
        }
    }
}

#[cfg(target_os = "linux")]
mod event_queue {
    use rustix::fs::inotify::{self, CreateFlags, WatchFlags};
    use rustix::io::Errno;
    use std::os::fd::OwnedFd;
    use std::path::Path;

    /// Magic number of overlayfs. Its folders may be changed below the mount, which queues no event.
    const OVERLAYFS: u64 = 0x794C_7630;

    /// Events of the watched folders.
    pub(in super::super) struct EventQueue(OwnedFd);

    impl EventQueue {
        /// Opens a queue for folders of this project. Returns `None` if the system refuses or its file system does not
        /// report every change.
        pub(super) fn open(root: &Path) -> Option<Self> {
            let kind = u64::try_from(rustix::fs::statfs(root).ok()?.f_type).ok()?;
            let flags = CreateFlags::CLOEXEC | CreateFlags::NONBLOCK;
            (kind & 0xFFFF_FFFF != OVERLAYFS).then(|| inotify::init(flags).ok()).flatten().map(Self)
        }

        /// Watches a folder, also one that is watched already. Returns whether it is watched now.
        pub(super) fn watch_folder(&self, folder: &Path) -> bool {
            let names = WatchFlags::CREATE | WatchFlags::DELETE | WatchFlags::MOVED_FROM | WatchFlags::MOVED_TO;
            let itself = WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF | WatchFlags::ATTRIB;
            let flags = names | itself | WatchFlags::ONLYDIR | WatchFlags::DONT_FOLLOW;
            inotify::add_watch(&self.0, folder, flags).is_ok()
        }

        /// Removes all events. Returns whether there were any, or the queue cannot be read.
        pub(super) fn drain_events(&self) -> bool {
            let (mut buffer, mut has_events) = ([0; 16 << 10], false);
            loop {
                match rustix::io::read(&self.0, &mut buffer) {
                    Ok(_) => has_events = true,
                    Err(Errno::INTR) => {}
                    Err(Errno::AGAIN) => return has_events,
                    Err(_) => return true,
                }
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod event_queue {
    use std::path::Path;

    /// Folders are not watched on this system.
    pub(in super::super) enum EventQueue {}

    impl EventQueue {
        pub(super) fn open(_: &Path) -> Option<Self> {
            None
        }

        pub(super) fn watch_folder(&self, _: &Path) -> bool {
            match *self {}
        }

        pub(super) fn drain_events(&self) -> bool {
            match *self {}
        }
    }
}
