//! Layout of a finished call: one row, or with arguments, diff and output if opened.

use super::call_row::{CallEnd, call_row, edit_diff, find_denial_message, is_success};
use super::layout_context::LayoutContext;
use super::link_lookups::LinkLookups;
use super::outcome_label::skipped_hooks_row;
use super::plain_layout::lay_out_plain;
use super::result_size::{find_not_applied, is_short_diff};
use super::sub_agent_layout;
use crate::chat::session::CallState;
use crate::chat::{Answer, AnswerOrigin, AnswerStatus, AnswerValue, CallId, Entry, Outcome, Preview, Questions};
use crate::text::clean;
use crate::text::hidden_chars::mark_hidden;
use crate::tui::text::output::StyledOutput;
use crate::tui::text::wrap::{Shape, wrap_pieces};
use crate::tui::text::{Page, Piece, diff, links, output};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// Maximum lines of output shown in place; the pager shows all.
const MAX_OUTPUT_LINES: usize = 200;

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
            None if ground.agent.session.has_sub_agent(&call.call.id) => {
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

fn inner_width(ground: &LayoutContext<'_>) -> usize {
    ground.width.saturating_sub(4).max(1)
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
