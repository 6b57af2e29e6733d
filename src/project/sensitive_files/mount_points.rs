//! Mount points inside a project. A mount makes a file visible at another path without changing any of its timestamps,
//! so a scan that reads only changed folders does not find it.

use crate::chat::sensitive_paths::is_sensitive;
use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

/// File in which the kernel lists the mounts visible to this process.
const MOUNT_LIST: &str = "/proc/self/mountinfo";

/// Returns the sorted mount points below `root` that must stay closed: every mounted file, and mounted folders whose
/// path in their own file system is sensitive.
pub(super) fn foreign_mount_points(root: &Path) -> Vec<PathBuf> {
    let mut mount_points: Vec<PathBuf> = read_mounts()
        .unwrap_or_default()
        .into_iter()
        .filter(|(_, target)| target.starts_with(root) && target != root)
        .filter(|(source, target)| is_sensitive(source) || !target.is_dir())
        .map(|(_, target)| target)
        .collect();
    mount_points.sort();
    mount_points.dedup();
    mount_points
}

/// Returns the folder in the mounted file system and the mount point of every mount.
pub(in crate::project) fn read_mounts() -> io::Result<Vec<(PathBuf, PathBuf)>> {
    Ok(std::fs::read(MOUNT_LIST)?.split(|byte| *byte == b'\n').filter_map(parse_mount_line).collect())
}

/// Returns a line's folder in the mounted file system, and its mount point.
fn parse_mount_line(line: &[u8]) -> Option<(PathBuf, PathBuf)> {
    let mut fields = line.split(|byte| *byte == b' ').skip(3);
    Some((decode_mount_path(fields.next()?), decode_mount_path(fields.next()?)))
}

/// Decodes a path in which the kernel writes spaces, tabs, line feeds and backslashes as `\` and three octal digits.
fn decode_mount_path(field: &[u8]) -> PathBuf {
    let mut bytes = Vec::with_capacity(field.len());
    let mut remaining = field;
    while let Some((first, tail)) = remaining.split_first() {
        let code = (*first == b'\\').then(|| tail.get(..3)).flatten();
        let code = code.and_then(|digits| u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok());
        bytes.push(code.unwrap_or(*first));
        remaining = tail.get(if code.is_some() { 3 } else { 0 }..).unwrap_or_default();
    }
    OsString::from_vec(bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parses_the_lines_of_the_kernel() {
        let line = br"36 35 98:0 /home/a/.ssh /p/with\040blank\134x rw,noatime master:1 - ext3 /dev/root rw";
        assert_eq!(parse_mount_line(line), Some(("/home/a/.ssh".into(), r"/p/with blank\x".into())));
        assert_eq!(parse_mount_line(b""), None);
        assert_eq!(decode_mount_path(br"a\9z\"), PathBuf::from(r"a\9z\"));
        assert_eq!(decode_mount_path(br"/a\04"), PathBuf::from(r"/a\04"));
        assert_eq!(decode_mount_path(b"/b\\012\xff"), PathBuf::from(OsString::from_vec(b"/b\n\xff".to_vec())));
    }
}
