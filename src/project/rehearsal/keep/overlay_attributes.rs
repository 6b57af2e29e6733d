//! Attributes of the kernel's overlay on the files that it wrote.

use crate::project::rehearsal::overlay::OPAQUE_ATTRIBUTE;
use rustix::io::Errno;
use std::fs;
use std::io;
use std::path::Path;

/// Removes the attributes that the kernel's overlay sets, from an entry and everything below it.
pub fn strip_overlay_attributes(entry: &Path) -> io::Result<()> {
    let mut entries = vec![entry.to_owned()];
    while let Some(entry) = entries.pop() {
        let metadata = entry.symlink_metadata()?;
        if metadata.is_symlink() {
            continue;
        }
        let attributes: &[&str] = if may_have_attributes(&entry) { &OVERLAY_ATTRIBUTES } else { &[] };
        for attribute in attributes {
            match rustix::fs::lremovexattr(&entry, *attribute) {
                // No file system has it, or no attributes at all.
                Ok(()) | Err(Errno::NODATA | Errno::OPNOTSUPP) => {}
                Err(errno) => return Err(errno.into()),
            }
        }
        if metadata.is_dir() {
            for inner in fs::read_dir(&entry)? {
                entries.push(inner?.path());
            }
        }
    }
    Ok(())
}

/// Returns false if an entry has no attribute at all, as most new files: one system call instead of one for each.
fn may_have_attributes(entry: &Path) -> bool {
    rustix::fs::llistxattr_query(entry) != Ok(0)
}

/// Attributes that the kernel's overlay sets on its entries.
const OVERLAY_ATTRIBUTES: [&str; 5] =
    [OPAQUE_ATTRIBUTE, "user.overlay.origin", "user.overlay.impure", "user.overlay.nlink", "user.overlay.uuid"];
