//! Limits that the kernel enforces on this process and its children.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::io;

/// Lowers a limit, so that nothing can raise it again. A lower one stays.
///
/// # Errors
/// If the kernel refuses it.
pub fn lower_limit(resource: Resource, limit: u64) -> io::Result<()> {
    let limit = getrlimit(resource).maximum.map_or(limit, |current| current.min(limit));
    setrlimit(resource, Rlimit { current: Some(limit), maximum: Some(limit) })?;
    Ok(())
}
