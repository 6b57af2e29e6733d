//! For tests: a person whom the modes of files stop, though the tests may run as root, whom none stops.

use crate::test_folder::Folder;
use std::path::Path;

/// Does this in a folder that is the person's own and gone afterwards. Where the tests run as root it is done in a thread
/// that is nobody's any more; else whoever runs them is such a person.
pub fn does(what: impl FnOnce(&Path) + Send) {
    let place = Folder::new();
    let folder = place.path().canonicalize().unwrap();
    if !rustix::process::geteuid().is_root() {
        return what(&folder);
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::thread::{Gid, Uid, set_thread_gid, set_thread_groups, set_thread_uid};
        const NOBODY: u32 = 65534;
        std::os::unix::fs::chown(&folder, Some(NOBODY), Some(NOBODY)).unwrap();
        let done = std::thread::scope(|scope| {
            let nobody = scope.spawn(|| {
                set_thread_groups(&[]).unwrap();
                set_thread_gid(Gid::from_raw(NOBODY)).unwrap();
                set_thread_uid(Uid::from_raw(NOBODY)).unwrap();
                what(&folder);
            });
            nobody.join()
        });
        done.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    }
}
