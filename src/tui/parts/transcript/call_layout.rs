//! Layout of a finished call: one row, or with arguments, diff and output if opened.

use super::call_row::{CallEnd, edit_diff, find_denial_message, is_success, lay_out_call_row};
use super::inline_output::{lay_out_output, wrap_verbatim};
use super::layout_context::LayoutContext;
use super::outcome_label::skipped_hooks_row;
use super::output_tail::lay_out_failed_tail;
use super::picture_caption::lay_out_saved_picture;
use super::result_size::{find_not_applied, is_short_diff, split_unmade};
use super::sub_agent_layout;
use crate::chat::session::CallState;
use crate::chat::stored_result::describe_for_user;
use crate::chat::{Answer, AnswerOrigin, AnswerStatus, AnswerValue, CallId, Diff, Entry, Outcome, Preview, Questions};
use crate::text::clean;
use crate::text::hidden_chars::mark_hidden;
use crate::text::truncation::truncate_end;
use crate::tui::parts::authority::find_authority;
use crate::tui::text::wrap::{Piece, Shape, wrap_pieces};
use crate::tui::text::{Page, diff, output, pieces, prefix_line};
use ratatui::style::Style;
use ratatui::text::Line;
use std::borrow::Cow;

/// Maximum characters about changes that were not made, below the row of a call that is not open.
const MAX_UNMADE_CHARS: usize = 400;

/// Lays out a settled call, whose outcome is the entry at `index`. `is_toggled` is true if the user opened a call that
/// is closed by default, or closed one that is open by default.
pub fn lay_out_call(
    context: &LayoutContext<'_>,
    index: usize,
    id: &CallId,
    end: &CallEnd<'_>,
    is_toggled: bool,
) -> Page {
    let Some(call) = context.agent.session.find_call(id) else { return Page::default() };
    let outcome = end.outcome;
    if let Some(questions) = &call.questions {
        return lay_out_answers(context, questions, find_answer(context, index, id), outcome);
    }
    let denial = find_denial_message(context, index, id);
    let mut page = lay_out_call_row(context, call, end, denial);
    page.lines.extend(skipped_hooks_row(context, call));
    if let (Some(unmade), _) = split_unmade(call, outcome) {
        let unmade = if is_toggled { unmade.to_owned() } else { truncate_end(unmade, MAX_UNMADE_CHARS) };
        page.append_page(context.lay_out_plain(&unmade, context.theme.warning, "    "));
    }
    page.append_page(lay_out_saved_picture(context, call, outcome));
    let (short_diff, not_applied) = default_details(call, outcome);
    if is_call_open(call, outcome, is_toggled) {
        match short_diff {
            // Without the header of the diff, because the row of the call shows the path.
            Some(diff) => page.lines.extend(indented_diff(context, diff).skip(1)),
            None if let Some(text) = not_applied => {
                page.append_page(lay_out_block(context, text, context.theme.warning));
            }
            None if context.agent.session.has_sub_agent(&call.call.id) => {
                page.append_page(sub_agent_layout::lay_out_transcript(context, call, outcome))
            }
            None => page.append_page(lay_out_details(context, call, outcome)),
        }
    } else {
        page.lines.extend(lay_out_failed_tail(context, call, end));
    }
    page
}

/// Returns the short diff of a call and the list of changes that were not applied, which are open by default.
fn default_details<'a>(call: &'a CallState, outcome: &'a Outcome) -> (Option<&'a Diff>, Option<&'a str>) {
    let short_diff = edit_diff(call).filter(|diff| is_short_diff(diff) && is_success(outcome));
    (short_diff, find_not_applied(call, outcome))
}

/// Returns whether the details of a settled call are shown.
pub fn is_call_open(call: &CallState, outcome: &Outcome, is_toggled: bool) -> bool {
    let (short_diff, not_applied) = default_details(call, outcome);
    (short_diff.is_some() || not_applied.is_some()) != is_toggled
}

/// Returns the call and its result as the model receives it, except for its notes about a stored text, for the pager.
/// `staging_note` precedes the result of a rehearsed call.
pub fn full_text(call: &CallState, outcome: &Outcome, staging_note: Option<&str>) -> String {
    let staging_note = staging_note.map(|note| format!("{note}\n")).unwrap_or_default();
    let edit_notice = call.edit_notice().unwrap_or_default();
    let request = match call.plan.as_ref().map(|plan| &plan.preview) {
        Some(Preview::Command(line)) => format!("$ {}", mark_hidden(&line.command)),
        Some(Preview::Edit(_) | Preview::Batch(_) | Preview::Text(_)) | None => {
            format!("{} {}", mark_hidden(&call.call.name), format_arguments(&call.call.arguments))
        }
    };
    let changes = match call.trial.as_ref().filter(|trial| !trial.paths.is_empty()) {
        Some(trial) => format!("changes of its trial:\n{}\n\noutput:\n", trial.paths.join("\n")),
        None => String::new(),
    };
    format!("{request}\n\n{staging_note}{edit_notice}{changes}{}", user_text(outcome.text(), call))
}

/// Returns the text of a result without notes for the model about its stored text.
pub fn user_text<'a>(result: &'a str, call: &CallState) -> Cow<'a, str> {
    match describe_for_user(result, call.is_command()) {
        Some((text, _)) => Cow::Owned(text),
        None => Cow::Borrowed(result),
    }
}

fn indented_diff(context: &LayoutContext<'_>, diff: &Diff) -> impl Iterator<Item = Line<'static>> {
    let lines = diff::lay_out_diff(diff, context.width.saturating_sub(4).max(1), context.theme);
    lines.into_iter().map(|line| prefix_line(line, "    "))
}

fn lay_out_details(context: &LayoutContext<'_>, call: &CallState, outcome: &Outcome) -> Page {
    let theme = context.theme;
    let mut page = context.lay_out_note(&format!("tool {}", mark_hidden(&call.call.name)), "    ");
    if let Some(reason) = find_authority(context.agent.session.entries(), &call.call.id).describe() {
        page.append_page(context.lay_out_note(&mark_hidden(&reason), "    "));
    }
    match call.plan.as_ref().map(|plan| &plan.preview) {
        Some(Preview::Edit(diff)) => page.lines.extend(indented_diff(context, diff)),
        Some(Preview::Command(line)) => {
            page.append_page(lay_out_block(context, &format!("$ {}", line.command), theme.code));
        }
        Some(Preview::Batch(batch)) => {
            let diffs = batch.items.iter().filter_map(|item| item.diff.as_ref());
            page.lines.extend(diffs.flat_map(|diff| indented_diff(context, diff)));
        }
        Some(Preview::Text(_)) | None => {
            page.append_page(lay_out_block(context, &format_arguments(&call.call.arguments), theme.dim));
        }
    }
    if let Some(trial) = call.trial.as_ref().filter(|trial| !trial.paths.is_empty()) {
        let heading = match (call.is_kept, split_unmade(call, outcome).0) {
            (true, None) => "kept changes:",
            (true, Some(_)) => "changes of its trial; those named above were not made:",
            (false, _) => "changes of its trial, which were not kept:",
        };
        page.append_page(context.lay_out_note(heading, "    "));
        page.append_page(lay_out_block(context, &trial.paths.join("\n"), theme.text));
        // No line of the output can pass for a change.
        page.append_page(context.lay_out_note("output:", "    "));
    }
    let style = match outcome {
        Outcome::Failed(_) => theme.danger,
        Outcome::Done(_) | Outcome::Refused(_) | Outcome::Rehearsed(_) | Outcome::Interrupted(_) => theme.text,
    };
    // The row of the call has the changes that were not made.
    let text = user_text(split_unmade(call, outcome).1, call);
    let styled_output = match call.is_command() {
        true => output::parse_output(text.trim_end(), style, theme),
        false => output::clean_output(text.trim_end(), style),
    };
    page.append_page(lay_out_output(context, styled_output));
    page
}

fn lay_out_block(context: &LayoutContext<'_>, text: &str, style: Style) -> Page {
    if text.is_empty() {
        return Page::default();
    }
    let text = clean::clean_text(text);
    let check = |target: &_| context.lookups.check_target(target);
    wrap_verbatim(context, &pieces::split_links(&text, style, context.theme.link, &check))
}

/// Formats arguments as indented JSON, or unchanged if they are not JSON, with marks for invisible characters.
pub fn format_arguments(arguments: &str) -> String {
    let value = serde_json::from_str::<serde_json::Value>(arguments).ok();
    let pretty = value.and_then(|value| serde_json::to_string_pretty(&value).ok());
    mark_hidden(pretty.as_deref().unwrap_or(arguments)).into_owned()
}

/// Returns the answer to the questions of this call. Its entry precedes the outcome of the call at `index`.
fn find_answer<'a>(context: &LayoutContext<'a>, index: usize, id: &CallId) -> Option<&'a Answer> {
    context.agent.session.entries()[..index].iter().rev().find_map(|entry| match entry {
        Entry::Answered { call, answer, .. } if call == id => Some(answer),
        _ => None,
    })
}

/// Lays out questions and answers. They are never folded.
fn lay_out_answers(
    context: &LayoutContext<'_>,
    questions: &Questions,
    answer: Option<&Answer>,
    outcome: &Outcome,
) -> Page {
    let theme = context.theme;
    let mut page = Page::default();
    for question in &questions.list {
        let given_answer = answer.and_then(|answer| answer.find_answer(question));
        let chosen = given_answer.filter(|candidate| candidate.value != AnswerValue::Skipped);
        let (text, style) = match (answer.map(|answer| answer.status), chosen) {
            (Some(AnswerStatus::Answered), Some(chosen)) => (chosen.answer_text(question), theme.user),
            (Some(AnswerStatus::Answered), None) => ("skipped".to_owned(), theme.dim),
            (Some(AnswerStatus::Declined), _) => ("declined".to_owned(), theme.dim),
            (Some(AnswerStatus::Deferred), _) => ("not answered".to_owned(), theme.dim),
            (None, _) if matches!(outcome, Outcome::Interrupted(_)) => {
                ("stopped before an answer".to_owned(), theme.dim)
            }
            (None, _) => (outcome.text().to_owned(), theme.dim),
        };
        // The marks of the rows of calls; `?` is that of a question that waits.
        let (mark, mark_style) = match (answer.map(|answer| answer.status), outcome) {
            (Some(AnswerStatus::Answered), _) if chosen.is_some() => ("✓ ", theme.success),
            (Some(AnswerStatus::Answered), _) => ("⊘ ", theme.dim),
            (Some(AnswerStatus::Declined), _) => ("⊘ ", theme.warning),
            (Some(AnswerStatus::Deferred), _) | (None, Outcome::Interrupted(_)) => ("■ ", theme.warning),
            (None, Outcome::Done(_) | Outcome::Failed(_) | Outcome::Refused(_) | Outcome::Rehearsed(_)) => {
                ("✗ ", theme.danger)
            }
        };
        let shape = Shape::with_hanging_prefix(context.width, vec![Piece::new(mark, mark_style)]);
        page.append_page(wrap_pieces(&[Piece::new(clean::clean_text(&question.text), theme.strong)], &shape));
        page.append_page(context.lay_out_plain(&text, style, "  "));
        if let Some(given_answer) = given_answer.filter(|candidate| !candidate.note.is_empty()) {
            page.append_page(context.lay_out_note(&format!("note: {}", given_answer.note), "  "));
        }
        for note in given_answer.into_iter().flat_map(|question_answer| &question_answer.notes) {
            let option = question.options.get(note.option).map_or("", |choice| choice.label.as_str());
            let text = format!("note on {}: {}", clean::clean_line(option), note.text);
            page.append_page(context.lay_out_note(&text, "  "));
        }
    }
    let origin_note = match answer.map(|answer| answer.origin) {
        Some(AnswerOrigin::File) => Some("answered by a file"),
        Some(AnswerOrigin::Client) => Some("answered by the client of aye serve"),
        Some(AnswerOrigin::User) | None => None,
    };
    if let Some(note) = origin_note {
        page.append_page(context.lay_out_note(note, "  "));
    }
    page
}
