//! Contents of an approval prompt.

use crate::agent::Trial;
use crate::chat::{Access, Plan, ToolCall};
use crate::text::link::{Existence, LinkTarget};
use crate::tui::parts::link_lookups::LinkLookups;
use std::path::Path;
use std::time::Duration;

/// Contents of an approval prompt, built for every frame.
#[derive(Debug, Clone, Copy)]
pub struct ApprovalContent<'a> {
    pub plan: &'a Plan,
    /// The call as the model sent it.
    pub call: &'a ToolCall,
    /// Reason the policy asks, without a leading "because".
    pub reason: &'a str,
    /// Name of the sub-agent that made the call; `None` for the main session.
    pub sub_agent: Option<&'a str>,
    /// Sandbox summary for a command whose plan has none. Written by aye, never by the model; may be empty.
    pub sandbox_note: &'a str,
    /// Position of the call in the queue, from 1.
    pub position: usize,
    /// Number of calls in the queue.
    pub queue_length: usize,
    /// Home directory of the user, displayed as `~`.
    pub home: Option<&'a Path>,
    pub trial: &'a Trial,
    /// True if the command can be tried.
    pub offers_trial: bool,
    /// Reason why it cannot, if this prompt explains it.
    pub missing_trial_reason: Option<&'a str>,
    pub now: Duration,
    /// Project folder, to which the paths of links are relative; absolute.
    pub folder: &'a Path,
    pub lookups: &'a LinkLookups,
}

impl ApprovalContent<'_> {
    /// Returns what is known about the target of a possible link in the prompt. A relative path of a command that runs in
    /// another folder is not one of the project.
    pub fn check_target(&self, target: &LinkTarget) -> Existence {
        let runs_elsewhere = matches!(&self.plan.access, Access::Run(line) if line.folder != self.folder);
        match target {
            LinkTarget::File { path, .. } if runs_elsewhere && !path.starts_with(['/', '~']) => Existence::Unknown,
            LinkTarget::File { .. } | LinkTarget::Web(_) | LinkTarget::Workspace(_) => {
                self.lookups.check_target(target)
            }
        }
    }
}
