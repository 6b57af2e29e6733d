//! Line differences between two texts in patch format. Only a line feed ends a line; a carriage return is an ordinary
//! character.

use similar::{Algorithm, DiffTag, capture_diff_slices_deadline, group_diff_ops};
use std::io::{self, Write};
use std::ops::Range;
use std::time::{Duration, Instant};

/// Unchanged lines shown around a change.
const CONTEXT_LINES: usize = 3;
/// Time limit after which the difference becomes coarser, but not wrong.
const TIME_LIMIT: Duration = Duration::from_secs(2);

/// Writes all hunks.
pub fn write_hunks(old_content: &[u8], new_content: &[u8], out: &mut dyn Write) -> io::Result<()> {
    let split_lines = |text| <[u8]>::split_inclusive(text, |byte| *byte == b'\n').collect::<Vec<&[u8]>>();
    let (old, new) = (split_lines(old_content), split_lines(new_content));
    let ops = capture_diff_slices_deadline(Algorithm::Myers, &old, &new, Some(Instant::now() + TIME_LIMIT));
    for group in group_diff_ops(ops, CONTEXT_LINES) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        let removed = first.old_range().start..last.old_range().end;
        let added = first.new_range().start..last.new_range().end;
        write_line(out, &[format!("@@ -{} +{} @@", format_range(&removed), format_range(&added)).as_bytes()])?;
        for op in group {
            if op.tag() == DiffTag::Equal {
                write_lines(b" ", &old[op.old_range()], out)?;
                continue;
            }
            write_lines(b"-", &old[op.old_range()], out)?;
            write_lines(b"+", &new[op.new_range()], out)?;
        }
    }
    Ok(())
}

fn write_lines(prefix: &[u8], lines: &[&[u8]], out: &mut dyn Write) -> io::Result<()> {
    for line in lines {
        out.write_all(prefix)?;
        out.write_all(line)?;
        if !line.ends_with(b"\n") {
            out.write_all(b"\n\\ No newline at end of file\n")?;
        }
    }
    Ok(())
}

/// Formats a range as `first,count`, counted from 1. The count is omitted if it is 1; for an empty range `first` is the
/// line before it.
fn format_range(lines: &Range<usize>) -> String {
    match lines.len() {
        0 => format!("{},0", lines.start),
        1 => format!("{}", lines.start + 1),
        count => format!("{},{count}", lines.start + 1),
    }
}

pub(super) fn write_line(out: &mut dyn Write, parts: &[&[u8]]) -> io::Result<()> {
    parts.iter().try_for_each(|part| out.write_all(part))?;
    out.write_all(b"\n")
}
