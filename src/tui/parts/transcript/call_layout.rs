//! Layout of a finished call: one row, or with arguments, diff and output if opened.

use super::outcome_label::{label_outcome, skipped_hooks_row};
use super::{
    LayoutContext,
    entry_layout::lay_out_plain,
    layout_cache::LinkLookups,
    result_size::{find_not_applied, format_result_size, is_short_diff},
    sub_agent_layout,
};
use crate::chat::session::CallState;
use crate::chat::tool::parse_failure_status;
use crate::chat::{
    Answer, AnswerOrigin, AnswerStatus, AnswerValue, CallId, Decider, Decision, Diff, Entry, Outcome, Preview,
    Questions, ResultOrigin,
};
use crate::text::hidden_chars::mark_hidden;
use crate::text::{clean, reveal, width};
use crate::tui::parts::quantities::format_duration;
use crate::tui::text::output::StyledOutput;
use crate::tui::text::wrap::{Shape, wrap_pieces};
use crate::tui::text::{Page, Piece, diff, links, output};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::time::Duration;

/// Maximum lines of output shown in place; the pager shows all.
const MAX_OUTPUT_LINES: usize = 200;
/// Minimum width of a path in cells; below it the line counts after the path are dropped.
const MIN_PATH_WIDTH: usize = 6;
/// Minimum width of the tool name column in cells.
const NAME_WIDTH: usize = 12;

/// End of a call.
pub struct CallEnd<'a> {
    pub outcome: &'a Outcome,
    /// Source of the result of a rehearsed call, if known.
    pub staged: Option<&'a ResultOrigin>,
    /// Run time in milliseconds.
    pub took_ms: u64,
}

/// Lays out a settled call.
pub fn lay_out_call(
    ground: &LayoutContext<'_>,
    index: usize,
    id: &CallId,
    end: &CallEnd<'_>,
    toggled: bool,
    outside: &LinkLookups,
) -> Page {
    let Some(call) = ground.agent.session.call(id) else { return Page::default() };
    let outcome = end.outcome;
    if let Some(questions) = &call.questions {
        return lay_out_answers(ground, questions, find_answer(ground, index, id), outcome);
    }
    let no = find_denial_message(ground, index, id);
    let mut page = Page { lines: vec![call_row(ground, call, end, no)], ..Page::default() };
    page.lines.extend(skipped_hooks_row(ground, call));
    let short = edit_diff(call).filter(|diff| is_short_diff(diff) && is_success(outcome));
    let not_applied = find_not_applied(call, outcome);
    if (short.is_some() || not_applied.is_some()) != toggled {
        match short {
            Some(diff) => {
                page.lines.extend(indent_lines(diff::lay_out_diff(diff, inner_width(ground), ground.theme), 4).skip(1))
            }
            None if let Some(words) = not_applied => {
                page.append_page(lay_out_block(ground, words, ground.theme.warning, outside));
            }
            None if has_sub_agent(ground, call) => {
                page.append_page(sub_agent_layout::lay_out_transcript(ground, call, outcome, outside))
            }
            None => page.append_page(lay_out_details(ground, call, outcome, outside)),
        }
    }
    page
}

/// Returns the call and everything the model receives as its result, for the pager. `staged` is the note that precedes a
/// rehearsed result.
pub fn full_text(call: &CallState, outcome: &Outcome, staged: Option<&str>) -> String {
    let staged = staged.map(|words| format!("{words}\n")).unwrap_or_default();
    let edit = call.edit_notice().unwrap_or_default();
    let (name, arguments) = (mark_hidden(&call.call.name), format_arguments(&call.call.arguments));
    format!("{name} {arguments}\n\n{staged}{edit}{}", outcome.text())
}

fn edit_diff(call: &CallState) -> Option<&Diff> {
    match &call.plan.as_ref()?.preview {
        Preview::Edit(diff) => Some(diff),
        Preview::Text(_) | Preview::Command(_) | Preview::Batch(_) => None,
    }
}

fn is_success(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Done(_) | Outcome::Rehearsed(_) => true,
        Outcome::Failed(_) | Outcome::Refused(_) | Outcome::Interrupted(_) => false,
    }
}

/// Returns the last line of a command's outcome if the command ran and failed.
fn failed_exit_line<'a>(call: &CallState, outcome: &'a Outcome) -> Option<&'a str> {
    let (Outcome::Done(text) | Outcome::Rehearsed(text)) = outcome else { return None };
    if call.is_command() { parse_failure_status(text) } else { None }
}

fn inner_width(ground: &LayoutContext<'_>) -> usize {
    ground.width.saturating_sub(4).max(1)
}

/// `✓ read_file    tests/retry.rs:1-80      80 lines · 12 ms`.
pub fn call_row(
    ground: &LayoutContext<'_>,
    call: &CallState,
    &CallEnd { outcome, staged, took_ms }: &CallEnd<'_>,
    no: Option<&str>,
) -> Line<'static> {
    let theme = ground.theme;
    let ended = failed_exit_line(call, outcome);
    let ran = staged.is_none_or(ResultOrigin::is_ran);
    let (mark, style) = match outcome {
        Outcome::Failed(_) => ("✗", theme.danger),
        // Text after the summary names where it ran.
        Outcome::Done(_) | Outcome::Rehearsed(_) if ended.is_some() && ran => ("✗", theme.danger),
        Outcome::Done(_) => ("✓", theme.success),
        Outcome::Refused(_) => ("⊘", theme.warning),
        Outcome::Rehearsed(_) if staged.is_some_and(ResultOrigin::is_withheld) => ("⊘", theme.warning),
        Outcome::Rehearsed(_) => (staged.map_or("◇", ResultOrigin::symbol), theme.accent),
        Outcome::Interrupted(_) => ("■", theme.warning),
    };
    let mut summary = call.plan.as_ref().map_or_else(String::new, |shown| shown.summary.clone());
    let said = match outcome {
        // File tools write to the overlay even on systems without an overlay sandbox for commands.
        Outcome::Rehearsed(_) if edit_diff(call).is_some() && staged.is_some_and(ResultOrigin::is_ran) => {
            "written to the overlay".to_owned()
        }
        Outcome::Rehearsed(_) => {
            staged.map_or_else(|| "rehearsed, nothing changed".to_owned(), ResultOrigin::describe_origin)
        }
        Outcome::Failed(why) => why.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned(),
        Outcome::Done(_) | Outcome::Refused(_) | Outcome::Interrupted(_) => String::new(),
    };
    let took = match took_ms {
        0 => String::new(),
        ms => format_duration(Duration::from_millis(ms)),
    };
    let took = match has_sub_agent(ground, call) {
        true => sub_agent_layout::finished_figures(ground, &call.call.id, took_ms),
        false => took,
    };
    let much = format_result_size(call, outcome);
    let right = [ended, much.as_deref(), Some(took.as_str())].into_iter().flatten();
    let took = right.filter(|words| !words.is_empty()).collect::<Vec<_>>().join(" · ");
    // The result has priority over a long command; `/audit` has the full reason.
    let said = clean::clean_line(&said);
    summary = reveal::reveal_line(&summary);
    let name = width::text_width(&clean::clean_line(&call.call.name)).max(NAME_WIDTH);
    let room = ground.width.saturating_sub(name + width::text_width(&took) + 9);
    let brief = match outcome {
        Outcome::Rehearsed(_) => {
            said.split(';').next().map_or(0, |brief| width::text_width(brief) + usize::from(brief != said))
        }
        _ => width::text_width(&said).min(room / 2),
    };
    let took = match label_outcome(outcome, no) {
        Some(words) => {
            let words = clean::clean_line(&words);
            let most = (room / 2).max((room + 2).saturating_sub(width::text_width(&summary)));
            let dot = if took.is_empty() { "" } else { " · " };
            format!("{}{dot}{took}", width::fit_start(&words, most))
        }
        None => took,
    };
    let diff = edit_diff(call);
    let cells = summary_width(ground.width, name, &took);
    // The mark already shows where a file was written. The reason of a failure is always shown.
    let says = !said.is_empty() && (diff.is_none() || !is_success(outcome));
    summary = match diff {
        Some(diff) if says => fit_path_and_counts(&summary, diff, cells.saturating_sub(brief + 3)),
        Some(diff) => fit_path_and_counts(&summary, diff, cells),
        None if says => width::fit_start(&summary, room.saturating_sub(brief)).into_owned(),
        None => summary,
    };
    if says || !said.is_empty() && width::text_width(&summary) + width::text_width(&said) + 3 <= cells {
        let dot = if summary.is_empty() { "" } else { " · " };
        summary = format!("{summary}{dot}{said}");
    }
    build_row(ground.width, (mark, style), &call.call.name, &summary, &took, (theme.text, theme.dim))
}

/// Fits a path and its line counts into a number of cells. Never truncates a count; truncates the path at its start,
/// because its end identifies the file.
fn fit_path_and_counts(path: &str, diff: &Diff, cells: usize) -> String {
    for counts in [format!(" +{} −{}", diff.added, diff.removed), String::new()] {
        let room = cells.saturating_sub(width::text_width(&counts));
        if room >= width::text_width(path).min(MIN_PATH_WIDTH) || counts.is_empty() {
            return format!("{}{counts}", width::fit_end(path, room));
        }
    }
    String::new()
}

/// Returns the cells left for the summary of a row with a name of this width and this text at the right.
fn summary_width(cells: usize, name: usize, right: &str) -> usize {
    let right = match width::text_width(right) {
        right if name + right + 17 > cells => 0,
        right => right + usize::from(right > 0),
    };
    cells.saturating_sub(name + right + 5)
}

/// Returns the row of a call in any state, never wider than `cells`. Drops the least important parts first.
pub fn build_row(
    cells: usize,
    mark: (&str, Style),
    name: &str,
    summary: &str,
    right: &str,
    (text, dim): (Style, Style),
) -> Line<'static> {
    let name = clean::clean_line(name);
    let summary = reveal::reveal_line(summary);
    let right = clean::clean_line(right);
    let right = right.as_ref();
    let name = width::fit_start(&name, cells.saturating_sub(4)).into_owned();
    let gap = NAME_WIDTH.saturating_sub(width::text_width(&name)) + 1;
    let used = 4 + width::text_width(&name) + gap;
    let right = if used + width::text_width(right) + 12 > cells { "" } else { right };
    let room = cells.saturating_sub(used + width::text_width(right) + usize::from(!right.is_empty()));
    let summary = width::fit_start(&summary, room).into_owned();
    let blank = cells.saturating_sub(used + width::text_width(&summary) + width::text_width(right));
    let mut spans = vec![
        Span::raw(if cells >= 4 { "  " } else { "" }),
        Span::styled(mark.0.to_owned(), mark.1),
        Span::styled(if name.is_empty() { String::new() } else { format!(" {name}") }, text),
    ];
    if !summary.is_empty() {
        spans.push(Span::raw(" ".repeat(gap)));
        spans.push(Span::styled(summary, dim));
    }
    if !right.is_empty() {
        spans.push(Span::styled(format!("{}{right}", " ".repeat(blank)), dim));
    }
    Line::from(spans)
}

fn lay_out_details(ground: &LayoutContext<'_>, call: &CallState, outcome: &Outcome, outside: &LinkLookups) -> Page {
    let theme = ground.theme;
    let mut page = Page::default();
    match call.plan.as_ref().map(|shown| &shown.preview) {
        Some(Preview::Edit(diff)) => {
            page.lines.extend(indent_lines(diff::lay_out_diff(diff, inner_width(ground), theme), 4));
        }
        Some(Preview::Command(line)) => {
            page.append_page(lay_out_block(ground, &format!("$ {}", line.command), theme.code, outside));
        }
        Some(Preview::Batch(batch)) => {
            for diff in batch.items.iter().filter_map(|item| item.diff.as_ref()) {
                page.lines.extend(indent_lines(diff::lay_out_diff(diff, inner_width(ground), theme), 4));
            }
        }
        Some(Preview::Text(_)) | None => {
            page.append_page(lay_out_block(ground, &format_arguments(&call.call.arguments), theme.dim, outside));
        }
    }
    let style = match outcome {
        Outcome::Failed(_) => theme.danger,
        Outcome::Done(_) | Outcome::Refused(_) | Outcome::Rehearsed(_) | Outcome::Interrupted(_) => theme.text,
    };
    let text = outcome.text().trim_end();
    let shown = match call.is_command() {
        true => output::parse_output(text, style, theme),
        false => output::clean_output(text, style),
    };
    page.append_page(lay_out_output(ground, shown, outside));
    page
}

/// Lays out the first lines of an output.
fn lay_out_output(ground: &LayoutContext<'_>, mut shown: StyledOutput, outside: &LinkLookups) -> Page {
    let total = shown.text.lines().count();
    if let Some((end, _)) = shown.text.match_indices('\n').nth(MAX_OUTPUT_LINES - 1) {
        shown.truncate_at(end);
    }
    let exists = |target: &_| outside.target_exists(target);
    let mut page = wrap_verbatim(ground, &output::output_pieces(&shown, ground.theme.link, &exists));
    if total > MAX_OUTPUT_LINES {
        let words = format!("{} more lines", total - MAX_OUTPUT_LINES);
        page.append_page(lay_out_plain(&words, ground.theme.dim, ground.width, "    "));
    }
    page
}

fn lay_out_block(ground: &LayoutContext<'_>, text: &str, style: Style, outside: &LinkLookups) -> Page {
    if text.is_empty() {
        return Page::default();
    }
    let text = clean::clean_text(text);
    let exists = |target: &_| outside.target_exists(target);
    wrap_verbatim(ground, &links::split_links(&text, style, ground.theme.link, &exists))
}

fn wrap_verbatim(ground: &LayoutContext<'_>, pieces: &[Piece]) -> Page {
    if pieces.is_empty() {
        return Page::default();
    }
    let indent = vec![Piece::new("    ", ground.theme.dim)];
    wrap_pieces(pieces, &Shape { width: ground.width, first: indent.clone(), rest: indent, verbatim: true })
}

fn indent_lines(lines: Vec<Line<'static>>, by: usize) -> impl Iterator<Item = Line<'static>> {
    lines.into_iter().map(move |mut line| {
        line.spans.insert(0, Span::raw(" ".repeat(by)));
        line
    })
}

/// Formats arguments as indented JSON, or unchanged if they are not JSON, with marks for invisible characters.
pub fn format_arguments(arguments: &str) -> String {
    let value = serde_json::from_str::<serde_json::Value>(arguments).ok();
    let pretty = value.and_then(|value| serde_json::to_string_pretty(&value).ok());
    mark_hidden(pretty.as_deref().unwrap_or(arguments)).into_owned()
}

/// Returns the message of the user's denial of this call; `None` if the user did not deny it.
pub fn find_denial_message<'a>(ground: &LayoutContext<'a>, index: usize, id: &CallId) -> Option<&'a str> {
    let before = &ground.agent.session.entries()[..index];
    before.iter().rev().find_map(|entry| denial_message(entry.unwrap_sub_agent(), id))
}

/// Returns the message if the entry is the user's denial of this call.
pub fn denial_message<'a>(entry: &'a Entry, id: &CallId) -> Option<&'a str> {
    let Entry::Decided { call, decision: Decision::Deny(words), by: Decider::User { .. }, .. } = entry else {
        return None;
    };
    (call == id).then_some(words.as_str())
}

/// Returns whether the call started a sub-agent.
fn has_sub_agent(ground: &LayoutContext<'_>, call: &CallState) -> bool {
    ground.agent.session.has_sub_agent(&call.call.id)
}

/// Returns the answer to the questions of this call, which precedes its outcome.
fn find_answer<'a>(ground: &LayoutContext<'a>, index: usize, id: &CallId) -> Option<&'a Answer> {
    ground.agent.session.entries()[..index].iter().rev().find_map(|entry| {
        if let Entry::Answered { call, answer, .. } = entry
            && call == id
        {
            Some(answer)
        } else {
            None
        }
    })
}

/// Lays out questions and answers. They are never folded.
fn lay_out_answers(ground: &LayoutContext<'_>, asked: &Questions, answer: Option<&Answer>, outcome: &Outcome) -> Page {
    let theme = ground.theme;
    let mut page = Page::default();
    for question in &asked.list {
        page.append_page(lay_out_plain(&question.text, theme.prompt, ground.width, "? "));
        let given = answer.and_then(|answer| answer.answers.iter().find(|given| given.keyword == question.keyword));
        let (words, style) = match (answer.map(|answer| answer.status), given) {
            (Some(AnswerStatus::Answered), Some(given)) => match given.value {
                AnswerValue::Skipped => ("skipped".to_owned(), theme.dim),
                AnswerValue::Selected(_) | AnswerValue::Text(_) => (given.answer_text(question), theme.person),
            },
            (Some(AnswerStatus::Declined), _) => ("declined".to_owned(), theme.dim),
            (Some(AnswerStatus::Answered), None) => ("skipped".to_owned(), theme.dim),
            (Some(AnswerStatus::Deferred), _) => ("not answered".to_owned(), theme.dim),
            (None, _) => match outcome {
                Outcome::Interrupted(_) => ("stopped before an answer".to_owned(), theme.dim),
                Outcome::Done(_) | Outcome::Failed(_) | Outcome::Refused(_) | Outcome::Rehearsed(_) => {
                    (outcome.text().to_owned(), theme.dim)
                }
            },
        };
        page.append_page(lay_out_plain(&words, style, ground.width, "  "));
        if let Some(given) = given.filter(|given| !given.note.is_empty()) {
            page.append_page(lay_out_plain(&format!("note: {}", given.note), theme.dim, ground.width, "  "));
        }
        for note in given.into_iter().flat_map(|given| &given.notes) {
            let option = question.options.get(note.option).map_or("", |choice| choice.label.as_str());
            let words = format!("note on {}: {}", clean::clean_line(option), note.text);
            page.append_page(lay_out_plain(&words, theme.dim, ground.width, "  "));
        }
    }
    if answer.is_some_and(|answer| answer.origin == AnswerOrigin::File) {
        page.append_page(lay_out_plain("answered by a file", theme.dim, ground.width, "  "));
    }
    page
}
