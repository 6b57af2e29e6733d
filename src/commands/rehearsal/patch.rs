//! `aye rehearsal diff`: prints the changes of a dry run as a patch.

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
    let below = below.map(|below| Path::new(below.trim_start_matches("./").trim_end_matches('/')));
    let below = below.filter(|below| *below != Path::new("."));
    let is_selected = |path: &Path| below.is_none_or(|below| path.starts_with(below));
    if let Some(below) = below
        && !rehearsal.overlay_paths()?.iter().any(|path| is_selected(path))
        && !change_summary::list_outside_changes(rehearsal)?.changes.iter().any(|one| is_selected(&one.change.path))
    {
        return Err(UsageError(format!("no rehearsed change at {}", below.display())).into());
    }
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
