//! `aye rehearsal diff`: prints the changes of a dry run as a patch.

use crate::assemble::rehearsal::LoadedRehearsal;
use crate::cli::UsageError;
use crate::project::change_summary;
use crate::project::patch::Patch;
use crate::project::rehearsal::Rehearsal;
use crate::text::reveal;
use anyhow::Result;
use std::io::{self, IsTerminal, Write};
use std::path::Path;

/// Writes the patch of all changes, or of those at or below a path. Control characters are made visible on a terminal.
pub(super) fn print_patch(rehearsal: &Rehearsal, below: Option<&str>, out: &mut dyn Write) -> Result<()> {
    check_path(rehearsal, below)?;
    let below = below.and_then(parse_path);
    let is_selected = |path: &Path| below.is_none_or(|below| path.starts_with(below));
    let patch = Patch::new(rehearsal, is_selected)?;
    if io::stdout().is_terminal() {
        let mut shown = TerminalWriter { out, open: Vec::new() };
        patch.write_patch(&mut shown)?;
        return Ok(shown.out.flush()?);
    }
    // A user who pipes the patch into git does not see its first lines.
    match patch.omissions.len() {
        0 => {}
        1 => writeln!(io::stderr(), "aye: 1 change is not in this patch; its first lines say which")?,
        count => writeln!(io::stderr(), "aye: {count} changes are not in this patch; its first lines list them")?,
    }
    Ok(patch.write_patch(&mut io::BufWriter::new(out))?)
}

/// Limits a rehearsal to the changes at or below a path, and to the calls that made them.
pub(super) fn keep_changes(loaded: &mut LoadedRehearsal, below: Option<&str>) -> Result<()> {
    check_path(&loaded.rehearsal, below)?;
    let Some(below) = below.and_then(parse_path) else { return Ok(()) };
    let summary = &mut loaded.summary;
    summary.changes.retain(|change| change.path.starts_with(below));
    summary.outside.changes.retain(|outside| outside.change.path.starts_with(below));
    summary.outside.temporary_files = 0;
    summary.calls.retain(|call| call.changed_paths.iter().any(|path| Path::new(path).starts_with(below)));
    Ok(())
}

/// Returns whether the rehearsal has a change at or below this path.
pub(super) fn has_changes(rehearsal: &Rehearsal, below: &str) -> Result<bool> {
    let Some(below) = parse_path(below) else { return Ok(true) };
    let is_below = |path: &Path| path.starts_with(below);
    Ok(rehearsal.overlay_paths()?.iter().any(|path| is_below(path))
        || change_summary::list_outside_changes(rehearsal)?.changes.iter().any(|one| is_below(&one.change.path)))
}

fn check_path(rehearsal: &Rehearsal, below: Option<&str>) -> Result<()> {
    match below {
        Some(below) if !has_changes(rehearsal, below)? => {
            let shown = parse_path(below).unwrap_or(Path::new(below));
            Err(UsageError(format!(
                "Cannot show {}: no rehearsed change is there. List the changes with `aye rehearsal`.",
                shown.display()
            ))
            .into())
        }
        Some(_) | None => Ok(()),
    }
}

/// Returns the path as rehearsals name it; `None` for the whole project.
fn parse_path(text: &str) -> Option<&Path> {
    let path = Path::new(text.trim_start_matches("./").trim_end_matches('/'));
    (path != Path::new(".")).then_some(path)
}

/// Writes lines to a terminal with control characters made visible.
struct TerminalWriter<'a> {
    out: &'a mut dyn Write,
    /// The last incomplete line.
    open: Vec<u8>,
}

impl Write for TerminalWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.open.extend_from_slice(bytes);
        while let Some(end) = self.open.iter().position(|byte| *byte == b'\n') {
            let line: Vec<u8> = self.open.drain(..=end).collect();
            writeln!(self.out, "{}", reveal::reveal_to_string(&String::from_utf8_lossy(&line[..end])))?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}
