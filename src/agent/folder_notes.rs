//! Notes with the instructions of folders on the results of calls that read there: once for each version, and again
//! after a summary has replaced the result that carried it.

use super::state::State;
use crate::chat::folder_instructions::{FolderInstructions, FoundInstructions, READING_TOOL, count_note_bytes};
use crate::chat::{Entry, Outcome};

/// Appends the notes to a result that the next request would not contain yet. All instructions together keep the limit.
pub(super) fn append_notes(state: &State, outcome: Outcome, found: &FoundInstructions) -> Outcome {
    // Another program that called the tool did not ask for instructions.
    let has_model = !state.turn.has_no_model();
    if found.folders.is_empty() || !has_model || !matches!(outcome, Outcome::Done(_) | Outcome::Rehearsed(_)) {
        return outcome;
    }
    let results = sent_results(state);
    let base: usize = state.config.instructions.iter().map(|file| file.text.len()).sum();
    let noted: usize = results.iter().map(|result| count_note_bytes(result)).sum();
    let mut remaining = found.max_bytes.saturating_sub(base + noted);
    let mut notes = String::new();
    for folder in found.folders.iter().filter(|folder| !results.iter().any(|result| folder.is_noted_in(result))) {
        let trusted = folder.trusted.clone().map(|instructions| instructions.truncated(remaining));
        remaining -= trusted.as_ref().map_or(0, |instructions| instructions.text.len());
        notes.push_str(&FolderInstructions { trusted, ..folder.clone() }.to_note());
    }
    outcome.map_text(|text| text + &notes)
}

/// Returns the results of reading calls that the next request contains.
fn sent_results(state: &State) -> Vec<&str> {
    let session = &state.session;
    let entries = session.entries().iter().skip(session.first_sent_entry());
    let mut results = Vec::new();
    for entry in entries {
        if let Entry::Settled { call, outcome, .. } = entry
            && session.find_call(call).is_some_and(|state| state.call.name == READING_TOOL)
        {
            results.push(outcome.text());
        }
    }
    results
}
