//! The request for a decision on a call. It contains all that the approval prompt of the screen shows.

use super::call_facts::{absolute_path, describe_effect, diff_to_text, kind_of_call, locate_files};
use super::outgoing_text::{escape_markdown, to_code_block, to_safe_text, to_title};
use crate::chat::{Access, Decider, Decision, Grant, GrantSpan, Plan, Preview, ToolCall, Work};
use crate::text::hidden_chars::find_hidden;
use crate::text::known_secrets::KnownSecrets;
use crate::text::truncation::abbreviate_home;
use agent_client_protocol_schema::v1::{
    Diff, PermissionOption, PermissionOptionKind, RequestPermissionOutcome, RequestPermissionRequest,
    RequestPermissionResponse, ToolCallContent, ToolCallUpdate, ToolCallUpdateFields,
};
use serde_json::Value;
use std::path::Path;

const ALLOW_ONCE: &str = "allow_once";
const ALLOW_SESSION: &str = "allow_session";
const DENY: &str = "deny";

/// What the texts about the calls of a session depend on.
#[derive(Clone, Copy)]
pub(super) struct SessionFacts<'a> {
    /// ID of the session.
    pub(super) session: &'a str,
    pub(super) folder: &'a Path,
    pub(super) home: Option<&'a Path>,
    pub(super) secrets: &'a KnownSecrets,
    pub(super) is_dry_run: bool,
}

impl SessionFacts<'_> {
    /// Returns the title of a call, from that of its prompt and its summary.
    pub(super) fn title_call(&self, title: &str, summary: &str) -> String {
        let label = title.trim_end_matches('?');
        let dry_run = if self.is_dry_run { "[dry run] " } else { "" };
        let summary = if summary.is_empty() { String::new() } else { format!(": {summary}") };
        to_title(&format!("{dry_run}{label}{summary}"), self.secrets)
    }
}

/// A request for a decision that the client has not answered. The answer counts only for this plan.
pub(super) struct PendingApproval {
    pub(super) call: ToolCall,
    pub(super) plan: Box<Plan>,
}

impl PendingApproval {
    /// Returns whether the call that waits is still the one that the client was asked about.
    pub(super) fn is_about(&self, call: &ToolCall, plan: &Plan) -> bool {
        self.call == *call && *self.plan == *plan
    }

    /// Returns the decision in a response. Everything but one of the offered approvals is a denial: by the user if the
    /// option for that was selected, otherwise because nobody has decided.
    pub(super) fn read_decision(&self, response: Result<Value, String>) -> (Decision, Decider) {
        let denial = || Decision::Deny(String::new());
        match selected_option(response).as_deref() {
            Some(ALLOW_ONCE) => (Decision::Once, Decider::Client),
            Some(ALLOW_SESSION) => match session_grant(&self.plan) {
                Some(grant) => (Decision::Always(grant.clone()), Decider::Client),
                None => (denial(), Decider::Headless),
            },
            Some(DENY) => (denial(), Decider::Client),
            Some(_) | None => (denial(), Decider::Headless),
        }
    }
}

/// Returns the ID of the option that a response selects; `None` if it selects none.
pub(super) fn selected_option(response: Result<Value, String>) -> Option<String> {
    let response: RequestPermissionResponse = serde_json::from_value(response.ok()?).ok()?;
    match response.outcome {
        RequestPermissionOutcome::Selected(selected) => Some(selected.option_id.0.to_string()),
        _ => None,
    }
}

/// Returns the grant that the client may give, which ends with the session. As on the screen, none for what destroys.
fn session_grant(plan: &Plan) -> Option<&Grant> {
    plan.grant.as_ref().filter(|grant| plan.destroys.is_none() && grant.span == GrantSpan::Session)
}

/// Builds the request for a decision.
pub(super) fn build_approval_request(
    (call, plan): (&ToolCall, &Plan),
    reason: &str,
    sub_agent: Option<&str>,
    facts: SessionFacts<'_>,
) -> RequestPermissionRequest {
    let mut content = preview_content(plan, facts);
    content.push(describe_plan(plan, reason, sub_agent, facts).into());
    let fields = ToolCallUpdateFields::new()
        .title(facts.title_call(&plan.title, &plan.summary))
        .kind(kind_of_call(&call.name, &plan.access))
        .locations(locate_files(&plan.access, &plan.preview, facts.folder))
        .content(content);
    let allow = match &plan.destroys {
        Some(destroyed) => format!("Allow once (destroys {destroyed})"),
        None => "Allow once".to_owned(),
    };
    let mut options =
        vec![PermissionOption::new(ALLOW_ONCE, to_title(&allow, facts.secrets), PermissionOptionKind::AllowOnce)];
    options.extend(session_grant(plan).map(|grant| {
        let name = to_title(&format!("Allow for this session: {}", grant.describe_coverage()), facts.secrets);
        PermissionOption::new(ALLOW_SESSION, name, PermissionOptionKind::AllowAlways)
    }));
    options.push(PermissionOption::new(DENY, "Deny", PermissionOptionKind::RejectOnce));
    RequestPermissionRequest::new(facts.session.to_owned(), ToolCallUpdate::new(call.id.0.clone(), fields), options)
}

/// Returns what a call would do: the diff of a file, or a text.
pub(super) fn preview_content(plan: &Plan, facts: SessionFacts<'_>) -> Vec<ToolCallContent> {
    let safe_block = |text: &str| ToolCallContent::from(to_code_block(&to_safe_text(text, facts.secrets)));
    match (plan.preview_for_reviewers(), &plan.work) {
        (Preview::Edit(diff), Work::Edit(edit)) => {
            let mask = |text: &String| facts.secrets.mask(text).into_owned();
            let whole = Diff::new(absolute_path(&edit.path, facts.folder), mask(&edit.after))
                .old_text(edit.before.as_ref().map(mask));
            let mut content = vec![whole.into()];
            if find_hidden(&edit.after).is_some() {
                content.push("The new text has hidden characters, which are marked here:".into());
                content.push(safe_block(&diff_to_text(diff)));
            }
            content
        }
        (Preview::Edit(diff), _) => vec![safe_block(&diff_to_text(diff))],
        (Preview::Command(line), _) => vec![safe_block(&line.command)],
        (Preview::Text(text), _) => vec![safe_block(text)],
        (Preview::Batch(batch), _) => vec![safe_block(&batch.describe_batch())],
    }
}

/// Describes the effect, the sandbox and the reason for asking, one per line.
fn describe_plan(plan: &Plan, reason: &str, sub_agent: Option<&str>, facts: SessionFacts<'_>) -> String {
    let mut lines = Vec::new();
    if facts.is_dry_run {
        lines.push("Dry run: nothing real is changed.".to_owned());
    }
    lines.extend(sub_agent.map(|name| format!("Requested by the sub-agent {name}")));
    lines.extend(plan.destroys.as_ref().map(|destroyed| format!("Destroys {destroyed}")));
    lines.push(format!("Effect: {}", describe_effect(&plan.access)));
    if let Access::Run(line) = &plan.access {
        let folder = abbreviate_home(&line.folder, facts.home);
        let mut parts = vec![format!("in {folder} · timeout {} s", line.seconds)];
        let sandbox = line.sandbox.describe_parts(line.network.as_deref(), facts.home);
        parts.extend(sandbox.into_iter().map(|(text, _)| text));
        lines.push(parts.join(" · "));
    }
    if let Preview::Edit(diff) = &plan.preview {
        lines.extend(diff.note.as_ref().map(|note| format!("Note: {note}")));
    }
    lines.extend(plan.preconditions.references.iter().map(|file| format!("Contains {}", file.describe())));
    if !reason.is_empty() {
        lines.push(format!("Reason: {reason}"));
    }
    // Two blanks before a line break keep the lines of a Markdown paragraph apart.
    let lines = lines.iter().map(|line| escape_markdown(&to_safe_text(&line.replace('\n', " "), facts.secrets)));
    lines.collect::<Vec<_>>().join("  \n")
}
