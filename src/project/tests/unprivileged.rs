//! Test helper: runs code as a user without privileges, because file permissions do not apply to root.

use crate::test_folder::Folder;
use std::path::Path;

/// Runs `action` as a user without privileges and passes it a temporary folder that this user owns. If the tests run as
/// root, it runs in a thread that has become user 65534; on systems other than Linux it then does not run at all.
/// Otherwise it runs as the current user.
pub fn run_unprivileged(action: impl FnOnce(&Path) + Send) {
    let temporary = Folder::new();
    let folder = temporary.path().canonicalize().unwrap();
    if !rustix::process::geteuid().is_root() {
        return action(&folder);
    }
    #[cfg(target_os = "linux")]
    {
        use rustix::thread::{Gid, Uid, set_thread_gid, set_thread_groups, set_thread_uid};
        const NOBODY: u32 = 65534;
        std::os::unix::fs::chown(&folder, Some(NOBODY), Some(NOBODY)).unwrap();
        let result = std::thread::scope(|scope| {
            let nobody = scope.spawn(|| {
                set_thread_groups(&[]).unwrap();
                set_thread_gid(Gid::from_raw(NOBODY)).unwrap();
                set_thread_uid(Uid::from_raw(NOBODY)).unwrap();
                action(&folder);
            });
            nobody.join()
        });
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic));
    }
}
