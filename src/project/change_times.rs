//! Which file systems change the time of the last change of a file or folder with each change. On other systems than Linux
//! that is not known, and no time is trusted.

use std::path::Path;

/// ext, XFS, Btrfs, overlayfs, F2FS, ZFS and bcachefs. Other file systems may be changed from another machine, or store no
/// such time.
#[cfg(target_os = "linux")]
const KNOWN: [u64; 7] = [0xEF53, 0x5846_5342, 0x9123_683E, 0x794C_7630, 0xF2F5_2010, 0x2FC1_2FC1, 0xCA45_1A4E];
/// A file that is mapped into memory changes there without a new time.
#[cfg(target_os = "linux")]
const TMPFS: u64 = 0x0102_1994;

/// Returns whether the change time of a folder tells every change of the names in it.
pub fn tells_names(folder: &Path) -> bool {
    #[cfg(target_os = "linux")]
    return file_system(folder).is_some_and(|kind| kind == TMPFS || KNOWN.contains(&kind));
    #[cfg(not(target_os = "linux"))]
    false
}

/// Returns whether the change time of a file tells every change of its content.
pub fn tells_content(file: &Path) -> bool {
    #[cfg(target_os = "linux")]
    return file_system(file).is_some_and(|kind| KNOWN.contains(&kind));
    #[cfg(not(target_os = "linux"))]
    false
}

/// Returns the number of the file system's kind.
#[cfg(target_os = "linux")]
fn file_system(path: &Path) -> Option<u64> {
    let statistics = rustix::fs::statfs(path).ok()?;
    u64::try_from(statistics.f_type).ok().map(|kind| kind & 0xFFFF_FFFF)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_file_system_tells_nothing() {
        assert!(!tells_names(Path::new("/proc")) && !tells_content(Path::new("/proc")));
        assert!(!tells_names(Path::new("/nonexistent")) && !tells_content(Path::new("/nonexistent")));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn tmpfs_tells_names_only() {
        let place = Path::new("/dev/shm");
        if file_system(place) == Some(TMPFS) {
            assert!(tells_names(place) && !tells_content(place));
        }
    }
}
