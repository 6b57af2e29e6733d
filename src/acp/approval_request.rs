//! The request for a decision on a call. It contains all that the approval prompt of the screen shows.

use super::call_facts::{absolute_path, describe_effect, diff_to_text, kind_of_call, locate_files};
use super::outgoing_text::{escape_markdown, to_code_block, to_output_block, to_shown_text, to_title};
use crate::agent::{State, Trial, WaitingCall, grant_options};
use crate::chat::{Access, Decider, Decision, Grant, GrantSpan, Plan, Preview, ToolCall, TrialReport, Work};
use crate::text::known_secrets::KnownSecrets;
use crate::text::reveal::mark_invisible;
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
    pub(super) trial: Trial,
    /// The grant that is offered, which ends with the session.
    pub(super) grant: Option<Grant>,
}

impl PendingApproval {
    /// Remembers what waits for the decision of the client. `None` if nothing does.
    pub(super) fn of_waiting_call(state: &State) -> Option<Self> {
        let Some(WaitingCall::Approval { call, plan, trial, .. }) = state.waiting_call() else { return None };
        // As on the screen, none for what destroys.
        let options = if find_destroyed(plan, trial).is_some() { Vec::new() } else { grant_options(state) };
        let grant = options.into_iter().map(|option| option.grant).find(|grant| grant.span == GrantSpan::Session);
        Some(Self { call: call.clone(), plan: Box::new(plan.clone()), trial: trial.clone(), grant })
    }

    /// Returns whether what waits is still what the client was asked about.
    pub(super) fn is_about(&self, call: &ToolCall, plan: &Plan, trial: &Trial) -> bool {
        self.call == *call && *self.plan == *plan && self.trial == *trial
    }

    /// Returns the decision in a response. Everything but one of the offered approvals is a denial: by the user if the
    /// option for that was selected, otherwise because nobody has decided.
    pub(super) fn read_decision(&self, response: Result<Value, String>) -> (Decision, Decider) {
        let denial = || Decision::Deny(String::new());
        match selected_option(response).as_deref() {
            Some(ALLOW_ONCE) => (Decision::Once, Decider::Client),
            Some(ALLOW_SESSION) => match &self.grant {
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

/// Returns what an approval destroys, such as `deletes a.txt`: what the plan says, or what the changes of a finished trial show.
fn find_destroyed(plan: &Plan, trial: &Trial) -> Option<String> {
    plan.destroys.clone().or_else(|| Some(format!("destroys {}", trial.report()?.describe_loss()?)))
}

/// Builds the request for a decision.
pub(super) fn build_approval_request(
    pending: &PendingApproval,
    reason: &str,
    sub_agent: Option<&str>,
    facts: SessionFacts<'_>,
) -> RequestPermissionRequest {
    let PendingApproval { call, plan, trial, grant } = pending;
    let destroyed = find_destroyed(plan, trial);
    let mut content = preview_content(plan, facts);
    content.push(describe_plan(plan, (destroyed.as_deref(), reason), sub_agent, facts).into());
    if let Some(report) = trial.report() {
        content.extend(trial_content(report, facts));
    }
    let fields = ToolCallUpdateFields::new()
        .title(facts.title_call(&plan.title, &plan.summary))
        .kind(kind_of_call(&call.name, &plan.access))
        .locations(locate_files(&plan.access, &plan.preview, facts.folder))
        .content(content);
    let allow = match (&destroyed, trial.report()) {
        (Some(destroyed), _) => format!("Allow once ({destroyed})"),
        (None, Some(_)) => "Keep its changes".to_owned(),
        (None, None) => "Allow once".to_owned(),
    };
    let mut options =
        vec![PermissionOption::new(ALLOW_ONCE, to_title(&allow, facts.secrets), PermissionOptionKind::AllowOnce)];
    options.extend(grant.as_ref().map(|grant| {
        let name = to_title(&format!("Allow for this session: {}", grant.describe_coverage()), facts.secrets);
        PermissionOption::new(ALLOW_SESSION, name, PermissionOptionKind::AllowAlways)
    }));
    options.push(PermissionOption::new(DENY, "Deny", PermissionOptionKind::RejectOnce));
    RequestPermissionRequest::new(facts.session.to_owned(), ToolCallUpdate::new(call.id.0.clone(), fields), options)
}

/// Returns what a finished trial did, of which an approval makes the changes real.
fn trial_content(report: &TrialReport, facts: SessionFacts<'_>) -> Vec<ToolCallContent> {
    let mut lines = vec![format!("Tried without effect: {}. An approval keeps these changes:", report.status)];
    let changes = report.list_changes();
    lines.extend(if changes.is_empty() { vec!["none".to_owned()] } else { changes });
    lines.extend(report.unkeepable.iter().map(|(path, reason)| format!("not kept: {} · {reason}", path.display())));
    lines.extend(report.doubt.iter().map(|doubt| format!("doubt: {doubt}")));
    let changes = to_code_block(&to_shown_text(&lines.join("\n"), facts.secrets));
    vec![changes.into(), to_output_block(&report.result, facts.secrets).into()]
}

/// Returns what a call would do: the diff of a file, or a text.
pub(super) fn preview_content(plan: &Plan, facts: SessionFacts<'_>) -> Vec<ToolCallContent> {
    let safe_block = |text: &str| ToolCallContent::from(to_code_block(&to_shown_text(text, facts.secrets)));
    let diff_block =
        |diff| ToolCallContent::from(to_code_block(&mark_invisible(&facts.secrets.mask(&diff_to_text(diff)))));
    match (&plan.preview, &plan.work) {
        (Preview::Edit(diff), Work::Edit(edit)) => {
            let mask = |text: &String| facts.secrets.mask(text).into_owned();
            let whole = Diff::new(absolute_path(&edit.path, facts.folder), mask(&edit.after))
                .old_text(edit.before.as_ref().map(mask));
            let mut content = vec![whole.into()];
            if mark_invisible(&edit.after) != edit.after {
                content.push("The new text has characters that cannot be seen, which are marked here:".into());
                content.push(diff_block(diff));
            }
            content
        }
        (Preview::Edit(diff), _) => vec![diff_block(diff)],
        (Preview::Command(line), _) => vec![safe_block(&line.command)],
        (Preview::Text(text), _) => vec![safe_block(text)],
        (Preview::Batch(batch), _) => vec![safe_block(&batch.describe_batch())],
    }
}

/// Describes the effect, the sandbox and the reason for asking, one per line.
fn describe_plan(
    plan: &Plan,
    (destroyed, reason): (Option<&str>, &str),
    sub_agent: Option<&str>,
    facts: SessionFacts<'_>,
) -> String {
    let mut lines = Vec::new();
    if facts.is_dry_run {
        lines.push("Dry run: nothing real is changed.".to_owned());
    }
    lines.extend(sub_agent.map(|name| format!("Requested by the sub-agent {name}")));
    lines.extend(destroyed.map(|destroyed| format!("Warning: {destroyed}")));
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
    let lines = lines.iter().map(|line| escape_markdown(&to_shown_text(&line.replace('\n', " "), facts.secrets)));
    lines.collect::<Vec<_>>().join("  \n")
}
