//! Texts from outside that the model has read in this turn. They may contain instructions of anybody, so the next call
//! that would send something out asks, even if a rule allows it.

use crate::chat::attachments::list_attachments;
use crate::chat::{Access, Plan, Reach};
use crate::text::clean::clean_line;
use crate::text::truncation::truncate_end;

/// Maximum characters of the name of a source.
const MAX_SOURCE_CHARS: usize = 80;

/// The texts from outside read in a turn.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct UntrustedText {
    /// Source of the last text that was read, if any: `a page of docs.rs`.
    source: Option<String>,
    /// True if the user has approved a call that sends something out since.
    is_confirmed: bool,
}

impl UntrustedText {
    /// Records that a call with this plan returned its result.
    pub(super) fn record_read(&mut self, plan: &Plan) {
        self.source = match &plan.access {
            Access::Fetch(fetch) => Some(format!("a page of {}", fetch.host)),
            Access::External(external) => Some(format!("a result of {}", external.service)),
            Access::Workspace(access) if access.untrusted_source.is_some() => access.untrusted_source.clone(),
            Access::Nothing
            | Access::Read(_)
            | Access::ReadSensitive(_)
            | Access::Write(_)
            | Access::WriteOutside(_)
            | Access::AyeFiles(_)
            | Access::Background(_)
            | Access::Workspace(_)
            | Access::Run(_) => return,
        };
    }

    /// Records the texts from outside that are attached to a user message: resources of servers, and files of the
    /// workspace that hold such a text.
    pub(super) fn record_attachments(&mut self, message: &str) {
        let attached = list_attachments(message);
        let Some((source, attachment)) = attached.iter().find_map(|found| Some((found.untrusted_source?, found)))
        else {
            return;
        };
        let kind = if source == attachment.source { "the resource " } else { "" };
        self.source = Some(format!("{kind}{}", truncate_end(&clean_line(source), MAX_SOURCE_CHARS)));
    }

    /// Adds what a sub-agent read, whose result contains text of it.
    pub(super) fn add_from_sub_agent(&mut self, text: Self) {
        self.source = text.source.or(self.source.take());
    }

    /// Returns why a call must ask: it would send something out after such a text was read. Once approved, the
    /// following calls of the turn do not ask for this reason.
    pub(super) fn ask_reason(&self, plan: &Plan) -> Option<String> {
        let source = self.source.as_ref().filter(|_| !self.is_confirmed && can_send(plan))?;
        Some(format!("the turn has read {source}, which may have led to this request"))
    }

    /// Records that the user approved a call.
    pub(super) fn confirm(&mut self, plan: &Plan) {
        self.is_confirmed |= self.source.is_some() && can_send(plan);
    }
}

/// Returns whether a call can send something to another machine.
pub fn can_send(plan: &Plan) -> bool {
    match &plan.access {
        Access::Fetch(_) | Access::External(_) => true,
        Access::Run(run) => match run.reach {
            Reach::Reads | Reach::Writes => run.network.is_some(),
            Reach::Runs | Reach::Outside | Reach::Unclear | Reach::Denied => !run.sandbox.is_offline(),
        },
        Access::Nothing
        | Access::Read(_)
        | Access::ReadSensitive(_)
        | Access::Write(_)
        | Access::WriteOutside(_)
        | Access::AyeFiles(_)
        | Access::Background(_)
        | Access::Workspace(_) => false,
    }
}
