//! Opening a path for its identity only, without access to its content.
//!
//! Linux needs no permission to read for that (`O_PATH`). On other systems the path is opened for reading, so a file or folder
//! that the user may not read cannot be opened.

use rustix::fs::OFlags;

/// Flag for opening a path without access to its content, if the system supports it.
#[cfg(target_os = "linux")]
pub(super) const PATH_ONLY: OFlags = OFlags::PATH;
#[cfg(not(target_os = "linux"))]
pub(super) const PATH_ONLY: OFlags = OFlags::RDONLY;
