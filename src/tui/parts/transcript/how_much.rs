//! How much a call brought: the rows of what was read or printed, without what is only said about them.

use crate::chat::batch::APPLY_GROUP;
use crate::chat::session::Call;
use crate::chat::{Access, Diff, Outcome, Preview};

/// A difference this short is shown without being asked for.
const SHORT: usize = 12;

/// `240 lines`, of a batch `3 of 4 applied`; nothing where there is a single one, which says by itself how much it is, and where what came is no text of
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
        Preview::Batch(_) => {
            let applied = text.lines().next().and_then(|line| line.rsplit(": ").next());
            return applied.map(|applied| applied.trim_end_matches('.').to_owned());
        }
        Preview::Text(_) | Preview::Edit(_) => 0,
    };
    (lines > 1).then(|| format!("{lines} lines"))
}

/// Whether a difference is shown without opening its call.
pub fn is_short(diff: &Diff) -> bool {
    diff.hunks.iter().map(|hunk| hunk.lines.len()).sum::<usize>() <= SHORT
}

/// What of a batch was not applied, by name and with the reason; the text from there on.
pub fn not_applied<'a>(call: &Call, outcome: &'a Outcome) -> Option<&'a str> {
    let is_group = call.call.name == APPLY_GROUP;
    let text = outcome.text();
    if let (Outcome::Failed(why), true) = (outcome, is_group) {
        return Some(why);
    }
    let from = ["\nNot applied: ", "\nFailed: "].iter().filter_map(|words| text.find(words)).min()?;
    is_group.then(|| text[from..].trim())
}

/// Whether a tool says this about what it gives, such as `[lines 1-200 of 900; go on with start_line 201]`.
fn is_note(line: &str) -> bool {
    line.starts_with('[') && line.ends_with(']')
}
