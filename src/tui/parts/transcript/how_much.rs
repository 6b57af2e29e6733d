//! How much a call brought: the rows of what was read or printed, without what is only said about them.

use crate::chat::session::Call;
use crate::chat::{Access, Outcome, Preview};

/// `240 lines`; nothing where there is a single one, which says by itself how much it is, and where what came is no text of
/// rows: a change, an answer, a failure.
pub fn how_much(call: &Call, outcome: &Outcome) -> Option<String> {
    let Outcome::Done(text) = outcome else { return None };
    let shown = call.shown.as_ref()?;
    let lines = match &shown.preview {
        // The last line says how it ended.
        Preview::Command(_) => text.lines().count().saturating_sub(1),
        Preview::Text(_) if matches!(shown.access, Access::Read(_) | Access::ReadSensitive(_)) => {
            text.lines().filter(|line| !is_note(line)).count()
        }
        Preview::Text(_) | Preview::Edit(_) => 0,
    };
    (lines > 1).then(|| format!("{lines} lines"))
}

/// Whether a tool says this about what it gives, such as `[lines 1-200 of 900; go on with start_line 201]`.
fn is_note(line: &str) -> bool {
    line.starts_with('[') && line.ends_with(']')
}
