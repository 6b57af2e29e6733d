//! Saves unsent text while it is typed, so that an abrupt end of the program loses less than a second of it.

use super::host::HostRequest;
use super::state::State;
use super::user_input::DraftSaving;
use crate::chat::{DraftPart, UnsentText};
use std::time::Duration;

/// Key presses within this time are saved together.
const DEBOUNCE: Duration = Duration::from_millis(150);
/// Time between two writes: about one per second.
const SAVE_INTERVAL: Duration = Duration::from_millis(900);
/// Time between two writes while a question is answered: at most half a second of an answer can be lost.
const SAVE_INTERVAL_IN_PROMPT: Duration = Duration::from_millis(400);

impl State {
    /// Restores the unsent text of a session that is opened.
    pub(super) fn restore_unsent(&mut self, saved: UnsentText) {
        let mut unsent = saved.clone();
        // Whether files can be written does not depend on the session, so the last error is kept.
        self.input.draft_saving =
            DraftSaving { saved, last_error: self.input.draft_saving.last_error.take(), ..DraftSaving::default() };
        unsent.remove_sent(self.agent.session.entries());
        if !unsent.approval.is_empty() {
            let approval_text = std::mem::take(&mut unsent.approval);
            unsent.add_to_draft(&approval_text);
            let notice = "The call waiting for approval was not run. Text typed in its prompt is now in the composer.";
            self.show_info(notice);
        }
        self.input.composer.restore(&unsent.draft);
        self.agent.restore_queue(unsent.queue);
    }

    /// Saves changes: at once if a message was sent or queued or a prompt was answered, otherwise after a moment.
    /// `is_user_input` means that this event was input of the user.
    pub(super) fn save_unsent_if_due(&mut self, is_user_input: bool) {
        let is_stale = self.is_saved_text_stale();
        if is_user_input && self.may_hold_unsent() || is_stale {
            self.input.draft_saving.changed_at.get_or_insert(self.timing.now);
        }
        if self.next_unsent_save().is_some_and(|due| is_stale || due <= self.timing.now) {
            self.save_unsent_now();
        }
    }

    /// Saves changes now.
    pub(super) fn save_unsent_now(&mut self) {
        let unsent = self.collect_unsent();
        self.input.draft_saving.changed_at = None;
        if unsent.is_same(&self.input.draft_saving.saved) {
            return;
        }
        self.input.draft_saving.saved_at = Some(self.timing.now);
        self.input.draft_saving.saved = unsent.clone();
        self.send_request(HostRequest::SaveUnsent(self.session.id.clone(), Box::new(unsent)));
    }

    /// Returns the time of the next save; `None` without a change.
    pub(super) fn next_unsent_save(&self) -> Option<Duration> {
        let DraftSaving { changed_at, saved_at, .. } = self.input.draft_saving;
        let interval = if self.has_question_prompt() { SAVE_INTERVAL_IN_PROMPT } else { SAVE_INTERVAL };
        let earliest = saved_at.map_or(Duration::ZERO, |saved_at| saved_at + interval);
        Some(earliest.max(changed_at? + DEBOUNCE))
    }

    /// Handles the result of a write. Of several errors in a row the user sees only the first.
    pub(super) fn handle_unsent_saved(&mut self, error: Option<String>) {
        if let (Some(reason), None) = (&error, &self.input.draft_saving.last_error) {
            let notice = format!("Cannot save unsent text: {reason}. It is kept in memory and saving is retried.");
            self.show_warning(&notice);
        }
        self.input.draft_saving.last_error = error;
    }

    /// Collects all unsent text.
    fn collect_unsent(&self) -> UnsentText {
        let mut draft = self.input.composer.to_parts();
        if draft.iter().all(|piece| piece.text().trim().is_empty()) {
            draft.clear();
        }
        // A message from the command line waits until the trust prompt is answered.
        let first_message = &self.session.trust.first_message;
        if !first_message.trim().is_empty() {
            let separator = if draft.is_empty() { "" } else { "\n\n" };
            draft.insert(0, DraftPart::Typed(format!("{first_message}{separator}").into()));
        }
        let drafts = self.prompts.current.iter().chain(&self.prompts.parked).map(|prompt| prompt.to_saved_json());
        UnsentText {
            draft,
            queue: self.agent.queued_messages.clone(),
            questions: drafts.filter(|text| !text.is_empty()).collect(),
            approval: self.prompts.front().and_then(|prompt| prompt.written_reply(&self.agent)).unwrap_or_default(),
            entries: self.agent.session.entries().len(),
        }
    }

    /// Returns whether the current prompt is a question prompt, open or parked. Only such a prompt keeps a draft of its
    /// own.
    pub(super) fn has_question_prompt(&self) -> bool {
        self.prompts.current.as_ref().is_some_and(|prompt| prompt.is_question())
    }

    /// Returns whether input of the user may have changed unsent text: not while the composer is empty and no prompt is
    /// open, so that scrolling through the transcript schedules no save.
    fn may_hold_unsent(&self) -> bool {
        !self.input.composer.is_empty() || self.prompts.current.is_some()
    }

    /// Returns whether the saved text is outdated because a message was sent or queued, or a prompt answered. Such a
    /// change is saved at once.
    fn is_saved_text_stale(&self) -> bool {
        let UnsentText { draft, queue, questions, approval, entries: _ } = &self.input.draft_saving.saved;
        let trust = &self.session.trust;
        let has_new_queue = *queue != self.agent.queued_messages;
        // A message from the command line waits until the trust prompt is answered.
        let has_new_first_message =
            draft.is_empty() && trust.pending.is_some() && !trust.first_message.trim().is_empty();
        let was_draft_sent = !draft.is_empty() && self.input.composer.is_empty() && trust.first_message.is_empty();
        let was_question_answered =
            !questions.is_empty() && self.prompts.parked.is_empty() && !self.has_question_prompt();
        let was_approval_answered = !approval.is_empty() && !self.is_typing_in_prompt();
        has_new_queue || has_new_first_message || was_draft_sent || was_question_answered || was_approval_answered
    }
}
