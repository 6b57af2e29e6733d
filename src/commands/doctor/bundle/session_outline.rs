//! Outlines a session: kind, size and time of its entries, and none of its text.

use crate::chat::audit::{brief_decision, outcome_label};
use crate::chat::sampling::SamplingStep;
use crate::chat::{Access, CallId, Conclusion, Decider, Entry, Preview, TitleSource};
use crate::store::StoredSession;
use crate::store::session_reader::Problem;
use std::collections::{BTreeMap, HashMap};

/// Number of entries at the start of a session that are listed individually.
const FIRST: usize = 20;
/// Number of entries at its end that are listed individually.
const LAST: usize = 300;

/// Outlines a session in lines. `tools` are the names of existing tools, because a model can invent others.
pub(super) fn outline_lines(stored: &StoredSession, tools: &[String]) -> Vec<String> {
    let mut lines = Vec::new();
    match &stored.header {
        Some(header) => {
            let kind = if header.dry_run { "a dry run" } else { "live" };
            let copy_label = if header.from.is_some() { ", started as a copy" } else { "" };
            lines.push(format!("format {} · {kind}{copy_label}", header.aye));
        }
        None => lines.push("its first line is damaged".to_owned()),
    }
    for notice in &stored.notices {
        // The text of this problem would contain the name of the unknown kind, which comes from the file.
        let line = match &notice.problem {
            Problem::Unknown(_) => format!("line {} and on: written by a newer aye, skipped", notice.first),
            Problem::Damaged
            | Problem::Long
            | Problem::Incomplete
            | Problem::Repeated(_)
            | Problem::NoHeader
            | Problem::Newer(_) => notice.to_string(),
        };
        lines.push(line);
    }
    let mut call_tools: HashMap<&CallId, &str> = HashMap::new();
    // The number of entries of each kind, and their bytes.
    let mut kinds: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let start_ms = stored.times.first().copied().unwrap_or(0);
    let count = stored.entries.len();
    let mut rows = Vec::new();
    for (index, (entry, time_ms)) in stored.entries.iter().zip(&stored.times).enumerate() {
        if let Entry::Replied { calls, .. } = entry.unwrap_sub_agent() {
            call_tools.extend(calls.iter().map(|call| (&call.id, known_tool(&call.name, tools))));
        }
        let outline = EntryOutline::from_entry(entry, &call_tools, tools);
        let bytes = serde_json::to_vec(entry).map_or(0, |line| line.len());
        let total = kinds.entry(outline.kind).or_default();
        *total = (total.0 + 1, total.1 + bytes);
        if index == FIRST && count > FIRST + LAST {
            rows.push(format!("       … {} entries omitted …", count - FIRST - LAST));
        }
        if index < FIRST || index + LAST >= count {
            let (sign, delta_ms) =
                if *time_ms < start_ms { ("-", start_ms - time_ms) } else { ("+", time_ms - start_ms) };
            let elapsed = format!("{sign}{}.{:03}", delta_ms / 1000, delta_ms % 1000);
            let prefix = if matches!(entry, Entry::SubAgent { .. }) { "sub-agent: " } else { "" };
            let details = if outline.details.is_empty() { String::new() } else { format!(" · {}", outline.details) };
            rows.push(format!("{:>6}  {elapsed:>12} s  {bytes:>8}  {prefix}{}{details}", index + 1, outline.kind));
        }
    }
    let incomplete_label = if stored.incomplete_count > 0 { ", the last one an incomplete reply" } else { "" };
    lines.push(format!("{count} entries{incomplete_label}"));
    let kinds = kinds.iter().map(|(kind, (count, bytes))| format!("{kind} {count} ({bytes} bytes)"));
    lines.extend(kinds.map(|line| format!("  {line}")));
    lines.push(String::new());
    lines.push(format!("{:>6}  {:>14}  {:>8}  kind", "no", "after", "bytes"));
    lines.extend(rows);
    lines
}

/// Returns the name if a tool has it, otherwise a text that does not contain it.
fn known_tool<'a>(name: &str, tools: &'a [String]) -> &'a str {
    tools.iter().find(|tool| *tool == name).map_or("an unknown tool", String::as_str)
}

struct EntryOutline {
    kind: &'static str,
    /// Counts, sizes and fixed words.
    details: String,
}

impl EntryOutline {
    fn from_entry(entry: &Entry, call_tools: &HashMap<&CallId, &str>, tools: &[String]) -> Self {
        let call_tool = |call: &CallId| call_tools.get(call).copied().unwrap_or("an unknown call");
        let (kind, details) = match entry.unwrap_sub_agent() {
            Entry::UserMessage { text } => ("user message", format!("{} lines", text.lines().count())),
            Entry::Replied { text, reasoning, calls, incomplete, usage, thought_ms, echo, .. } => {
                let mut details = format!("text {}, reasoning {}", text.len(), reasoning.len());
                let names: Vec<&str> = calls.iter().map(|call| known_tool(&call.name, tools)).collect();
                if !names.is_empty() {
                    details.push_str(&format!(", calls {}", names.join(" ")));
                }
                if let Some(usage) = usage {
                    details.push_str(&format!(", tokens {} in {} out", usage.input, usage.output));
                }
                if *thought_ms > 0 {
                    details.push_str(&format!(", first after {thought_ms} ms"));
                }
                details.push_str(if echo.is_some() { ", replayable reasoning" } else { "" });
                details.push_str(if incomplete.is_some() { ", incomplete" } else { "" });
                ("replied", details)
            }
            Entry::Planned { call, access, preview, destroys, verdict, .. } => {
                let preview = match &**preview {
                    Preview::Text(text) => format!("text {}", text.len()),
                    Preview::Command(line) => format!("command {}", line.command.len()),
                    Preview::Edit(diff) => format!("edit +{} -{}", diff.added, diff.removed),
                    Preview::Batch(batch) => format!("{} {}", batch.group.as_str(), batch.items.len()),
                };
                let verdicts = ["allow", "ask", "rehearse", "withhold", "refuse"];
                let verdict = verdicts.iter().find(|name| *name == verdict).unwrap_or(&"unknown verdict");
                // A session's file has `refuse`, the name of `deny` in format version 1.
                let verdict = if *verdict == "refuse" { "deny" } else { verdict };
                let destroys = if destroys.is_some() { ", destroys" } else { "" };
                ("planned", format!("{}: {}, {preview}, {verdict}{destroys}", call_tool(call), access_kind(access)))
            }
            Entry::Reviewed { call, reviewer, verdict, is_failed, took_ms, .. } => {
                let (reviewer, verdict) =
                    (reviewer.kind_name(), if *is_failed { "no answer" } else { verdict.as_str() });
                ("reviewed", format!("{}: {reviewer}: {verdict} after {took_ms} ms", call_tool(call)))
            }
            Entry::Asked { questions, .. } => {
                let options: usize = questions.list.iter().map(|question| question.options.len()).sum();
                ("asked", format!("{} questions, {options} options", questions.list.len()))
            }
            Entry::Decided { call, decision, by, .. } => {
                ("decided", format!("{}: {}, {}", call_tool(call), brief_decision(decision), decided_by(by)))
            }
            Entry::Tried { call, status, changes, took_ms, .. } => {
                ("tried", format!("{}: {status}, {}, after {took_ms} ms", call_tool(call), changes.describe()))
            }
            Entry::Answered { answer, by, .. } => {
                let by = by.as_ref().map(decided_by).unwrap_or_default();
                ("answered", format!("{} answers, {by}", answer.answers.len()))
            }
            Entry::Settled { call, outcome, took_ms, staged, .. } => {
                let how = outcome_label(outcome);
                let staged_label = staged.as_ref().map(|staged| format!(", {}", staged.as_str())).unwrap_or_default();
                let text = outcome.text().len();
                ("settled", format!("{}: {how}, text {text}, after {took_ms} ms{staged_label}", call_tool(call)))
            }
            Entry::BackgroundStarted { call, number } => ("moved", format!("{}: background {number}", call_tool(call))),
            Entry::BackgroundEnded(end) => {
                let (number, text, took_ms) = (end.number, end.output.len(), end.took_ms);
                ("background ended", format!("{number}: text {text}, after {took_ms} ms"))
            }
            Entry::Concluded(Conclusion::Finished { .. }) => ("concluded", "finished".to_owned()),
            Entry::Concluded(Conclusion::Parked { note, .. }) => ("concluded", format!("parked, note {}", note.len())),
            Entry::Ended { ending } => ("ended", ending.kind_name().to_owned()),
            Entry::Titled { by, .. } => {
                let by = match by {
                    TitleSource::User => "by the user",
                    TitleSource::Model => "by the model",
                };
                ("titled", by.to_owned())
            }
            Entry::Compacted { summary, upto, tokens, .. } => {
                let (before, after) = tokens;
                let details = format!("up to {upto}, summary {}, tokens {before} to {after}", summary.len());
                ("compacted", details)
            }
            Entry::ToolsDeferred { tools, tokens, limit } => {
                ("deferred tools", format!("{}, tokens {tokens}, limit {limit}", tools.len()))
            }
            Entry::UnacceptedTools(unaccepted) => ("unaccepted tools", unaccepted.tools.len().to_string()),
            Entry::Sampling(step) => ("sampling", outline_sampling(step)),
            Entry::FellBack { .. } => ("fell back", String::new()),
            Entry::Revoked { .. } => ("revoked", String::new()),
            Entry::Switched { profile, .. } => {
                ("switched", if profile.is_some() { "another profile" } else { "" }.to_owned())
            }
            Entry::DryRunChanged { dry_run: true, .. } => ("changed", "to a dry run".to_owned()),
            Entry::DryRunChanged { dry_run: false, .. } => ("changed", "to live".to_owned()),
            Entry::UserCommand(command) => {
                let end = if command.is_success() { "succeeded" } else { "failed or stopped" };
                let (line, output) = (command.command.len(), command.output.len());
                let details = format!("{end}, command {line}, output {output}, after {} ms", command.took_ms);
                ("user command", details)
            }
            // Nested sub-agents do not occur.
            Entry::SubAgent { .. } => ("sub-agent", String::new()),
        };
        Self { kind, details }
    }
}

fn outline_sampling(step: &SamplingStep) -> String {
    let text = step.full_text("").map_or(0, |text| text.len());
    format!("{}, text {text}", step.state_name())
}

fn decided_by(by: &Decider) -> String {
    match by {
        Decider::User { after_ms, .. } => format!("the user after {after_ms} ms"),
        Decider::File => "a file".to_owned(),
        Decider::Client => "a client".to_owned(),
        Decider::AutoMode => "auto mode".to_owned(),
        Decider::Headless => "no user".to_owned(),
    }
}

fn access_kind(access: &Access) -> &'static str {
    match access {
        Access::Nothing => "accesses nothing",
        Access::Read(_) => "reads",
        Access::ReadSensitive(_) => "reads sensitive files",
        Access::Write(_) => "writes",
        Access::WriteOutside(_) => "writes outside",
        Access::AyeFiles(_) => "aye's own files",
        Access::Background(_) => "ends a background command",
        Access::Workspace(access) if access.changes => "writes a workspace",
        Access::Workspace(_) => "reads a workspace",
        Access::Run(_) => "runs",
        Access::Fetch(_) => "reads the network",
        Access::External(_) => "calls a service",
    }
}

#[cfg(test)]
mod tests;
