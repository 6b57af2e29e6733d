//! Asks whether to trust the files of the project and applies the decision. The first message waits until then.

use super::{agent_events, message_attachments, user_messages};
use crate::agent::Event;
use crate::chat::Instructions;
use crate::chat::user_command::escape_message;
use crate::config::project_files::{ProjectFile, ProjectFileKind, ProjectFiles};
use crate::config::rules::PROJECT_RULES_FILE;
use crate::config::trust::TrustState;
use crate::tui::host::{HostRequest, InspectionReason};
use crate::tui::prompts::trust_prompt::describe_file;
use crate::tui::state::State;
use std::path::Path;
use std::sync::Arc;

/// Checks the project's files at the start of a session. `first_message` is sent after the decision about them.
pub fn check_project_files(state: &mut State, first_message: String) {
    state.session.trust.first_message = first_message;
    state.send_request(HostRequest::InspectProject(InspectionReason::SessionStarted));
}

/// Opens the trust prompt for the files that were found, if needed.
pub fn handle_project_files(state: &mut State, project_files: ProjectFiles, reason: InspectionReason) {
    // Files of another folder are ignored: the session has moved since, and its new folder is checked separately.
    if project_files.folder != state.settings.folder {
        return;
    }
    if reason != InspectionReason::FilesChanged {
        project_files.problems.iter().for_each(|problem| state.show_warning(problem));
    }
    state.session.trust.unused_files = project_files.untrusted().map(describe_file).collect();
    let has_untrusted = project_files.untrusted().next().is_some();
    let opens_prompt = match reason {
        InspectionReason::SessionStarted => has_untrusted && !state.session.trust.was_refused(&project_files),
        InspectionReason::UserRequest | InspectionReason::FilesChanged => project_files.usable().next().is_some(),
    };
    if opens_prompt {
        state.session.trust.pending = Some((Arc::new(project_files), reason));
        return;
    }
    for file in &project_files.files {
        // Problems with rules were shown when the rules were read.
        let is_already_shown = reason == InspectionReason::SessionStarted && file.name == PROJECT_RULES_FILE;
        if let (ProjectFileKind::Unusable(problem), false) = (&file.kind, is_already_shown) {
            state.show_warning(&format!("{} of this project is not used: {problem}", file.name));
        }
    }
    let notice = match reason {
        InspectionReason::UserRequest if project_files.files.is_empty() => {
            "This project has no files that change how aye works: no AGENTS.md, nothing in .aye. /init drafts an AGENTS.md"
        }
        InspectionReason::FilesChanged => "Nothing was trusted: the files have changed since you approved them",
        InspectionReason::SessionStarted | InspectionReason::UserRequest => "",
    };
    if !notice.is_empty() {
        state.show_info(notice);
    }
    finish_trust_check(state)
}

/// Closes the trust prompt and continues without its files. Returns false if no trust prompt is open.
pub fn skip_project_files(state: &mut State) -> bool {
    let Some((project_files, _)) = state.session.trust.pending.clone() else { return false };
    let names: Vec<String> = project_files.untrusted().map(|file| file.name.clone()).collect();
    if !names.is_empty() {
        state.session.trust.record_refusal(&project_files);
        state.show_info(&format!("Not used: {} · review with /trust", names.join(", ")));
    }
    finish_trust_check(state);
    true
}

/// Applies a change of trust: instructions and tools reach the model with its next request, and `events` make rules start
/// or stop applying.
pub fn apply_trust_change(state: &mut State, folder: &Path, instructions: Arc<Vec<Instructions>>, events: [Event; 2]) {
    if *folder != state.settings.folder {
        return;
    }
    if let Some((project_files, _)) = state.session.trust.pending.clone() {
        let descriptions: Vec<String> = project_files.usable().map(describe_file).collect();
        // If all files were trusted already, the prompt asked whether to withdraw the trust.
        let was_trusted = project_files.untrusted().next().is_none();
        let change = if was_trusted { "No longer trusted" } else { "Trusted" };
        // Those of files that were trusted before have been shown when the session started.
        let is_new = |file: &&ProjectFile| !was_trusted && file.trust_state != TrustState::Trusted;
        for warning in project_files.files.iter().filter(is_new).flat_map(ProjectFile::import_warnings) {
            state.show_warning(&warning);
        }
        // Shown last, so that no number of warnings hides it.
        state.show_info(&format!("{change}: {}", descriptions.join(", ")));
        state.session.trust.unused_files = if was_trusted { descriptions } else { Vec::new() };
        // Files that are no longer trusted do not open the prompt again at once.
        if was_trusted {
            state.session.trust.record_refusal(&project_files);
        }
    }
    agent_events::handle_agent_event(state, Event::InstructionsChanged(instructions));
    for event in events {
        agent_events::handle_agent_event(state, event);
    }
    finish_trust_check(state);
}

/// Shows that the decision could not be stored.
pub fn report_trust_failure(state: &mut State, error: &str) {
    state.show_warning(error);
    finish_trust_check(state)
}

/// Closes the prompt, if any, and sends the message that waited for it.
fn finish_trust_check(state: &mut State) {
    if state.session.trust.pending.take().is_some() {
        // A key typed ahead must not answer a prompt that becomes visible.
        state.input.recent_keys.record_other_press(state.timing.now);
    }
    match std::mem::take(&mut state.session.trust.first_message) {
        message if message.trim().is_empty() => {}
        // The files that the message names are read first. Until then the message is the draft.
        message if state.input.composer.is_empty() && message_attachments::names_attachment(state, &message) => {
            let draft = escape_message(&message);
            state.input.composer.set(&draft);
            message_attachments::attach_mentioned(state, &draft);
        }
        message => user_messages::send_message(state, message),
    }
}
