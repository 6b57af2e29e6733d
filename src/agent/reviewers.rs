//! Reviewers of calls, a review in progress and its context.

use crate::chat::{Plan, Reviewer};
use crate::policy::Verdict;

/// Reviewers named in the settings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Reviewers {
    /// Hooks, in the order in which they are run.
    pub hooks: Vec<HookReviewer>,
    /// True if a model reviews calls that would run.
    pub has_model_reviewer: bool,
}

/// A hook and the calls it reviews.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HookReviewer {
    /// Name in the settings.
    pub name: String,
    /// Tools whose calls it reviews. `None`: every call that does more than read inside the project.
    pub tools: Option<Vec<String>>,
    /// True if it also runs in a dry run.
    pub in_dry_run: bool,
}

/// A call under review.
#[derive(Debug, Clone, PartialEq)]
pub struct PendingReview {
    pub plan: Box<Plan>,
    /// Current reviewer.
    pub reviewer: Reviewer,
    /// Verdict so far.
    pub(super) verdict: Verdict,
    /// Number of hooks skipped or run; one more once the model reviewer was asked.
    pub(super) hooks_done: usize,
    /// True if a hook cannot lift the need for approval.
    pub(super) must_ask: bool,
    /// True if a hook lifted the need for approval.
    pub(super) is_lifted: bool,
    /// Number of this review; unique, so that a late answer to another review is ignored.
    pub(super) round: u64,
}

/// Context for a reviewer, in addition to the call and its plan.
#[derive(Debug, Clone, PartialEq)]
pub struct ReviewContext {
    pub reviewer: Reviewer,
    /// Verdict so far, one word.
    pub verdict: String,
    /// Reason for the verdict.
    pub reason: String,
    /// Permission mode, one word.
    pub mode: &'static str,
    pub dry_run: bool,
    /// Latest user messages, oldest first; only for the model reviewer.
    pub user_messages: Vec<String>,
}

impl HookReviewer {
    /// Returns whether the hook reviews this call in a live run.
    pub(super) fn reviews_call(&self, tool: &str, plan: &Plan) -> bool {
        match &self.tools {
            Some(tools) => tools.iter().any(|name| name == tool),
            None => !plan.access.is_inside_read(),
        }
    }
}

impl Reviewers {
    /// Returns the hooks that review this call only in a live run; empty if the call is denied.
    pub(super) fn list_skipped_hooks(&self, tool: &str, plan: &Plan, verdict: &Verdict) -> Vec<String> {
        if matches!(verdict, Verdict::Deny(_)) {
            return Vec::new();
        }
        let is_skipped = |hook: &&HookReviewer| !hook.in_dry_run && hook.reviews_call(tool, plan);
        self.hooks.iter().filter(is_skipped).map(|hook| hook.name.clone()).collect()
    }
}
