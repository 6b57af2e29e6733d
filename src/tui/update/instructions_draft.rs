//! `/init`: a draft of a message that asks the model for an `AGENTS.md`. The user reads, edits and sends it.

use crate::tui::parts::toast::Kind;
use crate::tui::state::State;

/// The request.
const REQUEST: &str = "Write an AGENTS.md for this project: instructions for coding agents that work here. If the project \
    has one, improve it instead: read it first, keep what is still true, correct what is not, and add what is missing.";

/// What the file should contain, and how it is proposed.
const CONTENT: &str = "Before you write, read the README, the files of the build, the tests and the CI, a sample of the \
    sources, and other instructions for agents (such as CLAUDE.md). State only what you have seen in the project, and copy \
    no secrets.\n\
    \n\
    Contents:\n\
    - commands: build, run, test, one single test, format and lint\n\
    - where things are: the important folders and files, and what depends on what\n\
    - conventions of code, tests and commits that cannot be guessed from one file\n\
    - mistakes that are easily made here\n\
    \n\
    Keep it short: every request carries it. Then propose the file with one call of write_file or edit_file, so that I can \
    review the difference.";

/// Puts the message into the composer, after the draft if there is one. `wishes` of the user are added to it.
pub(super) fn insert_draft(state: &mut State, wishes: &str) {
    let mut text = format!("{REQUEST}\n\n{CONTENT}");
    if !wishes.is_empty() {
        text.push_str(&format!("\n\n{wishes}"));
    }
    let draft = state.input.composer.text();
    let draft = if draft.trim().is_empty() { text } else { format!("{draft}\n\n{text}") };
    state.input.composer.set(&draft);
    state.input.inserted_at = Some(state.timing.now);
    state.show_notice("Not sent yet: edit the message as you like, then send it", Kind::Draft);
}
