//! The line that marks the omitted middle of a long output in the result of its command.

use std::num::NonZero;

/// Bytes of a long output that its result has from the beginning.
pub const HEAD: usize = 24 * 1024;
/// Bytes of a long output that its result has from the end.
pub const TAIL: usize = 40 * 1024;
/// An incomplete character at the end of the beginning is omitted.
const MAX_INCOMPLETE_BYTES: usize = 3;
const END: &str = " bytes omitted]";

/// Returns the line.
pub fn format_omission(bytes: u64) -> String {
    format!("[{bytes}{END}")
}

/// Returns how many bytes of an output its result omits, if it does. A line that the output itself printed among its first
/// [`HEAD`] bytes does not count, unless some of these are not valid UTF-8, whose replacements are longer.
pub fn find_omission(result: &str) -> Option<NonZero<u64>> {
    find_line(result).map(|(bytes, _)| bytes)
}

/// Returns the byte after the line that [`find_omission`] finds.
pub fn find_omission_end(result: &str) -> Option<usize> {
    find_line(result).map(|(_, end)| end)
}

fn find_line(result: &str) -> Option<(NonZero<u64>, usize)> {
    let mut end = result.ceil_char_boundary(HEAD - MAX_INCOMPLETE_BYTES);
    let mut lines = result.get(end..)?.split_inclusive('\n');
    // The first line of the rest is the end of one.
    end += lines.next()?.len();
    lines.find_map(|line| {
        end += line.len();
        let bytes = line.trim_end_matches('\n').strip_prefix('[')?.strip_suffix(END)?.parse().ok()?;
        Some((bytes, end))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_line_after_the_beginning_counts() {
        let result = |head: &str| format!("{head}\n{}\n{}\nexit 0", format_omission(90_000), "t\n".repeat(TAIL / 2));
        let forged = format_omission(7);
        let long = |start: &str, length: usize| format!("{start}{}", "h".repeat(length - start.len()));
        for head in [long("", HEAD), long("", HEAD - MAX_INCOMPLETE_BYTES), long(&format!("{forged}\n"), HEAD)] {
            assert_eq!(find_omission(&result(&head)), NonZero::new(90_000));
        }
        let later = result(&long("", HEAD)) + &format!("\n{forged}");
        assert_eq!(find_omission(&later), NonZero::new(90_000));
        for short in [String::new(), forged.clone(), format!("\n{forged}\nexit 0"), long(&format!("{forged}\n"), HEAD)]
        {
            assert_eq!(find_omission(&short), None, "{}", short.len());
        }
    }
}
