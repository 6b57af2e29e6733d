//! The record of a call as text: a row of a list, and a page. Used by the screen and by `aye audit`.

use crate::chat::audit::{EndKind, Integrity, Record, SamplingRecord, outcome_label};
use crate::chat::reviewer::describe_hooks_not_run;
use crate::chat::{
    Access, AnswerStatus, Decider, Decision, Entry, FileContent, FileSnapshot, Outcome, Preconditions, UserCommand,
};
use crate::text::byte_size::format_bytes;
use crate::text::link::{CheckTarget, Existence};
use crate::text::{clean, escape_sequences, reveal, width};
use crate::tui::parts::decision_label::{brief_verdict, decider_name, describe_verdict, label_decision};
use crate::tui::parts::quantities::format_duration;
use crate::tui::parts::sub_agent_name::quote_name;
use crate::tui::text::pieces::{OUTSIDE_BAR, split_revealed_links};
use crate::tui::text::wrap::{Shape, wrap_pieces};
use crate::tui::text::{Page, Piece};
use ratatui::style::Style;
use ratatui::text::Line;
use std::time::Duration;

/// Maximum lines of one text, such as the arguments or the result, unless all lines are requested.
const SHORT_TEXT_LINES: usize = 6;
/// Minimum width of the column for times and labels, in cells.
const MIN_LABEL_CELLS: usize = 11;
/// Maximum width of that column.
const MAX_LABEL_CELLS: usize = 24;

/// Returns the time at which the entry with this index was written; empty if unknown.
pub type EntryTime<'a> = &'a dyn Fn(usize) -> String;

/// Returns the texts of a row in the list: mark and tool of the call, and its decision, outcome and summary.
pub fn audit_row_texts(record: &Record<'_>) -> (String, String) {
    let mut parts = vec![summarize_decision(record)];
    parts.extend(record.sub_agent.map(quote_name));
    parts.extend(Some(record.summary()).filter(|summary| !summary.is_empty()).map(str::to_owned));
    if let Integrity::Broken(reason) = record.verify_digests() {
        parts.insert(0, format!("warning: {reason}"));
    }
    (format!("{} {}", record.end().mark(), record.call.name), parts.join(" · "))
}

/// Summarizes the decision and the outcome of a call.
fn summarize_decision(record: &Record<'_>) -> String {
    let outcome = record.outcome().map_or_else(|| "open".to_owned(), |outcome| describe_outcome(record, outcome));
    match (label_decision(record), record.last_decision(), record.last_plan()) {
        (Some(label), Some(Entry::Decided { by: Decider::Headless, .. } | Entry::Answered { .. }), _)
        | (Some(label), Some(Entry::Decided { decision: Decision::Deny(_), .. }), _) => label,
        (Some(label), ..) => format!("{label}, {outcome}"),
        (None, _, Some(Entry::Planned { verdict, .. })) if !outcome.starts_with(brief_verdict(verdict)) => {
            format!("{}, {outcome}", brief_verdict(verdict))
        }
        (None, ..) => outcome,
    }
}

/// Returns the outcome of a call as the user reads it. A command that ran and failed has its status: `exit 1`.
fn describe_outcome(record: &Record<'_>, outcome: &Outcome) -> String {
    match (record.failure_status(), outcome) {
        (Some(status), Outcome::Rehearsed(_)) => format!("{}, {status}", outcome_label(outcome)),
        (Some(status), _) => status.to_owned(),
        (None, _) => outcome_label(outcome).to_owned(),
    }
}

/// Returns the texts of a row for a command that the user ran, as [`audit_row_texts`] does for a call.
pub fn command_row_texts(command: &UserCommand) -> (String, String) {
    let text = format!("{} your command", EndKind::from(command).mark());
    (text, format!("{} · {}", describe_user_command(command), command.command))
}

/// Returns a command that the user ran as text: the command, its output, and how it ended.
pub fn user_command_text(command: &UserCommand) -> String {
    let output = command.output.trim_end();
    let line_end = if output.is_empty() { "" } else { "\n" };
    format!("$ {}\n{output}{line_end}{}", command.command, describe_user_command(command))
}

/// Describes a command that the user ran, in one line.
pub fn describe_user_command(command: &UserCommand) -> String {
    let reader = if command.is_shared { "" } else { ", kept from the model" };
    let place = if command.is_rehearsed { ", in the overlay sandbox" } else { "" };
    format!("you ran it: {}{place}{reader}", command.status)
}

/// Returns the texts of a row for a request of an MCP server, as [`audit_row_texts`] does for a call.
pub fn sampling_row_texts(record: &SamplingRecord<'_>) -> (String, String) {
    (format!("· request of MCP server {}", record.server()), record.describe())
}

/// Returns a request of an MCP server as text: each step with what was asked or answered, which has bars.
pub fn sampling_text(record: &SamplingRecord<'_>) -> String {
    let steps = record.steps.iter().map(|(_, step)| {
        let text = step.full_text(OUTSIDE_BAR).map(|text| format!("\n{text}\n")).unwrap_or_default();
        format!("{}{text}", clean::clean_line(&step.describe()))
    });
    steps.collect::<Vec<_>>().join("\n")
}

/// Returns everything known about the call as lines of this width, as [`AuditPage`] does.
pub fn audit_page_lines(record: &Record<'_>, entry_time: EntryTime<'_>, width: usize, is_full: bool) -> Vec<String> {
    build_audit_page(record, entry_time, is_full).lay_out_lines(width)
}

/// Returns everything known about the call. Long texts are cut, and environment variables are only counted, unless
/// `is_full`.
pub fn build_audit_page(record: &Record<'_>, entry_time: EntryTime<'_>, is_full: bool) -> AuditPage {
    let times = std::iter::once(record.reply_index).chain(record.steps.iter().map(|(index, _)| *index));
    let label_cells = times
        .map(|index| width::text_width(&entry_time(index)) + 2)
        .max()
        .unwrap_or(0)
        .clamp(MIN_LABEL_CELLS, MAX_LABEL_CELLS);
    let max_lines = if is_full { usize::MAX } else { SHORT_TEXT_LINES };
    let mut page = AuditPage { texts: Vec::new(), label_cells, max_lines };
    let caller = match record.sub_agent {
        Some(sub_agent) => quote_name(sub_agent),
        None if record.is_served => "another program".to_owned(),
        None => "the model".to_owned(),
    };
    page.push_text(&entry_time(record.reply_index), &format!("{caller} called {}", record.call.name));
    page.push_text("", &record.call.arguments);
    for (index, entry) in &record.steps {
        if let Some(text) = describe_step(record, entry) {
            page.push_text(&entry_time(*index), &text);
        }
        if let Entry::Tried { paths, .. } = entry
            && !paths.is_empty()
        {
            page.push_text("", &paths.join("\n"));
        }
    }
    if record.outcome().is_none() {
        let is_allowed = record.is_allowed();
        page.push_text("", if is_allowed { "allowed, but no outcome is recorded" } else { "waiting for a decision" });
    }
    if let Some(Entry::Planned { access, preconditions, destroys, .. }) = record.last_plan() {
        page.push_facts(access, preconditions, destroys.as_deref());
    }
    page.push_digest(record);
    if let Some(outcome) = record.outcome() {
        page.push_result(outcome);
    }
    if let Some(Entry::Planned { preconditions, .. }) = record.last_plan() {
        page.push_variables(preconditions, is_full);
    }
    page
}

/// Everything known about a call: texts with labels, laid out for the width of the screen each time that changes.
#[derive(Debug, Clone)]
pub struct AuditPage {
    /// Labels, which may be empty, and clean texts.
    texts: Vec<(String, String)>,
    /// Width of the labels in cells.
    label_cells: usize,
    /// Maximum lines of one text.
    max_lines: usize,
}

impl AuditPage {
    /// Returns the page as lines of this width.
    pub fn lay_out_lines(&self, width: usize) -> Vec<String> {
        let page = self.lay_out_page(width, [Style::new(); 2], &|_| Existence::Unknown);
        page.lines.iter().map(|line| line.to_string().trim_end().to_owned()).collect()
    }

    /// Returns the page in this width. The styles are those of the text and of links.
    pub fn lay_out_page(&self, width: usize, styles: [Style; 2], check: CheckTarget<'_>) -> Page {
        let mut page = Page::default();
        for (label, text) in &self.texts {
            page.append_page(self.lay_out_text(label, text, width.max(1), (styles, check)));
        }
        page
    }

    /// Adds a text with marks for invisible characters, after a label that may be empty.
    fn push_text(&mut self, label: &str, text: &str) {
        self.push_clean(label, &reveal::reveal_to_string(text));
    }

    /// Adds a clean text after a label that may be empty.
    fn push_clean(&mut self, label: &str, text: &str) {
        self.texts.push((label.to_owned(), text.to_owned()));
    }

    fn lay_out_text(
        &self,
        label: &str,
        text: &str,
        width: usize,
        ([style, link_style], check): ([Style; 2], CheckTarget<'_>),
    ) -> Page {
        // A narrow page has no column for labels: they are part of the text.
        let has_column = width >= 3 * self.label_cells;
        let column = if has_column { self.label_cells } else { 0 };
        let first_prefix = match (has_column, label) {
            (true, _) => {
                let label = width::cut_to_width(label, column);
                format!("{label}{}", " ".repeat(column - width::text_width(label)))
            }
            (false, "") => String::new(),
            (false, label) => format!("{label} "),
        };
        let prefix = |text: String| vec![Piece::new(text, style)];
        let (first_prefix, next_prefix) = (prefix(first_prefix), prefix(" ".repeat(column)));
        let shape = Shape { width, first_prefix, next_prefix, ..Shape::default() };
        // To save time, only this much text is laid out: 4 bytes for each cell of the visible lines. The rest is cut.
        let end = self.max_lines.saturating_mul(4 * width.max(16)).min(text.len());
        let visible = text.get(..text.floor_char_boundary(end)).unwrap_or_default();
        let mut page = wrap_pieces(&split_revealed_links(visible, style, link_style, check), &shape);
        if visible.len() < text.len() || page.lines.len() > self.max_lines {
            page.truncate_lines(self.max_lines);
            let note = format!("… {} in total; see --json", format_bytes(text.len() as u64));
            let note = format!("{}{}", " ".repeat(column), width::fit_start(&note, width.saturating_sub(column)));
            page.lines.push(Line::styled(note, style));
        }
        page
    }

    /// Adds the folder and timeout of a command, the warning of a destructive call, and the files among the preconditions.
    fn push_facts(&mut self, access: &Access, preconditions: &Preconditions, destroys: Option<&str>) {
        if let Access::Run(line) = access {
            self.push_text("folder", &format!("{} · timeout {} s", line.folder.display(), line.seconds));
        }
        if let Some(destroys) = destroys {
            self.push_text("warning", &format!("this {destroys}"));
        }
        for file in &preconditions.files {
            self.push_text("file", &describe_file(file));
        }
        preconditions.references.iter().for_each(|file| self.push_text("contains", &file.describe()));
        if preconditions.is_partial {
            self.push_text("file", "the call may use more files than these");
        }
    }

    /// Adds the variables in the environment of a command. They come last because they are many.
    fn push_variables(&mut self, preconditions: &Preconditions, is_full: bool) {
        if !preconditions.environment.is_empty() {
            let count = preconditions.environment.len();
            let names = if is_full { preconditions.environment.join(" ") } else { "listed by --json".to_owned() };
            self.push_text("variables", &format!("{count}: {names}"));
        }
    }

    fn push_digest(&mut self, record: &Record<'_>) {
        let Some(sha256) = record.sha256() else {
            if record.last_plan().is_some() {
                self.push_text("sha256", "not recorded by the version of aye that wrote this");
            }
            return;
        };
        self.push_text("sha256", sha256.as_str());
        match record.verify() {
            Integrity::Intact => {
                let has_run = record
                    .steps
                    .iter()
                    .any(|(_, entry)| matches!(entry, Entry::Settled { sha256, .. } if !sha256.is_none()));
                // Only a user sees a prompt.
                let had_prompt = matches!(record.decider(), Some(Decider::User { .. }));
                let text = match (had_prompt, record.outcome().filter(|_| has_run)) {
                    // A call that failed may not have run; its result says so.
                    (true, Some(Outcome::Failed(_))) => "unchanged from prompt to attempt",
                    (true, Some(_)) => "unchanged from prompt to run",
                    (true, None) => "unchanged from prompt to decision",
                    (false, Some(Outcome::Failed(_))) => "unchanged from plan to attempt",
                    (false, Some(_)) => "unchanged from plan to run",
                    (false, None) => "unchanged since it was planned",
                };
                self.push_text("", text);
            }
            Integrity::Broken(reason) => self.push_text("", &format!("warning: {reason}")),
            Integrity::Unknown => {}
        }
    }

    fn push_result(&mut self, outcome: &Outcome) {
        self.push_clean("result", clean::clean_text(&escape_sequences::strip_colors(outcome.text())).trim_end());
    }
}

/// Describes one step of the call of this record; `None` for an entry that is not a step.
pub fn describe_step(record: &Record<'_>, entry: &Entry) -> Option<String> {
    Some(match entry {
        Entry::Planned { verdict, reason, hooks_not_run, .. } => {
            let hooks = describe_hooks_not_run(hooks_not_run).map(|text| format!("; {text}"));
            format!("{}{}", describe_verdict(verdict, reason), hooks.unwrap_or_default())
        }
        Entry::Reviewed { reviewer, verdict, reason, is_failed, took_ms, .. } => {
            let result = match (is_failed, reason.is_empty()) {
                (true, _) => format!("failed: {reason}"),
                (false, true) => format!("returned {}", verdict.as_str()),
                (false, false) => format!("returned {}: {reason}", verdict.as_str()),
            };
            let duration = format_duration(Duration::from_millis(*took_ms));
            format!("{} {result} · {duration}", reviewer.display_name())
        }
        Entry::Asked { questions, .. } => match questions.list.as_slice() {
            [question] => format!("asked you: {}", question.text),
            list => format!("asked you {} questions", list.len()),
        },
        Entry::Tried { status, changes, destroys, is_automatic, took_ms, trial, .. } => {
            let by = if *is_automatic { "auto mode" } else { "you" };
            let counts = changes.describe();
            let loss = destroys.as_ref().map(|loss| format!(", destroys {loss}")).unwrap_or_default();
            let duration = format_duration(Duration::from_millis(*took_ms));
            format!("{by} tried it: {status} in {duration}, {counts}{loss} · trial {}", trial.short_hex())
        }
        Entry::Decided { decision, by, .. } => {
            format!("{} {}{}", decider_name(by), describe_decision(decision), describe_key_press(Some(by)))
        }
        Entry::Answered { answer, by, .. } => {
            let status = match answer.status {
                AnswerStatus::Answered => "answered",
                AnswerStatus::Declined => "declined to answer",
                AnswerStatus::Deferred => "deferred",
            };
            let name = by.as_ref().map_or("you", decider_name);
            format!("{name} {status}{}", describe_key_press(by.as_ref()))
        }
        Entry::Settled { outcome, took_ms, staged, .. } => {
            let origin = staged.as_ref().map(|staged| format!(", {}", staged.describe_origin())).unwrap_or_default();
            let duration = match took_ms {
                0 => String::new(),
                ms => format!(" in {}", format_duration(Duration::from_millis(*ms))),
            };
            format!("{}{duration}{origin}", describe_outcome(record, outcome))
        }
        Entry::BackgroundStarted { number, .. } => format!("you moved it to the background as {number}"),
        Entry::BackgroundEnded(end) => {
            let duration = match end.took_ms {
                0 => String::new(),
                ms => format!(" after {}", format_duration(Duration::from_millis(ms))),
            };
            format!("background command {} ended: {}{duration}", end.number, end.status)
        }
        _ => return None,
    })
}

fn describe_decision(decision: &Decision) -> String {
    match decision {
        Decision::Once => "approved once".to_owned(),
        Decision::Selected(rejected) => format!("approved, {} rejected", rejected.len()),
        Decision::Always(grant) => format!("approved with a grant: {}", grant.describe_grant()),
        Decision::Edited(arguments) => format!("edited the arguments to {arguments}"),
        Decision::Deny(message) if message.is_empty() => "denied".to_owned(),
        Decision::Deny(message) => format!("denied: {message}"),
        Decision::Kept(trial) => format!("kept the changes of trial {}", trial.short_hex()),
    }
}

/// Describes the key of a decision and the delay after the prompt was first drawn: ` · y · 1.2 s after it was shown`. Empty
/// if no key was pressed.
fn describe_key_press(decider: Option<&Decider>) -> String {
    match decider {
        Some(Decider::User { key, after_ms }) => {
            format!(" · {key} · {} after it was shown", format_duration(Duration::from_millis(*after_ms)))
        }
        Some(Decider::File | Decider::Client | Decider::AutoMode | Decider::Headless) | None => String::new(),
    }
}

/// Describes a file among the preconditions of a plan.
pub fn describe_file(file: &FileSnapshot) -> String {
    let path = file.path.display();
    let content = match &file.content {
        FileContent::Missing => "new".to_owned(),
        FileContent::TooLarge => "too large to be compared".to_owned(),
        FileContent::Bytes { bytes, sha256 } => {
            let bytes = usize::try_from(*bytes).unwrap_or(usize::MAX);
            format!("{} · sha256 {}", format_bytes(bytes as u64), sha256.short_hex())
        }
    };
    let change = match (&file.new_sha256, file.may_grow) {
        (Some(sha256), _) => format!(" → {}", sha256.short_hex()),
        (None, true) => " · may grow".to_owned(),
        (None, false) => String::new(),
    };
    format!("{path} · {content}{change}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_is_not_repeated_by_its_reason() {
        for (verdict, reason, expected) in [
            ("allow", "", "allowed"),
            ("allow", "read inside the project", "allowed: read inside the project"),
            ("allow", "allowed before with a, on call 1", "allowed before with a, on call 1"),
            ("ask", "file change in the project", "needed approval: file change in the project"),
        ] {
            assert_eq!(describe_verdict(verdict, reason), expected);
        }
    }
}
