//! Layout of one entry. It depends only on the entry and the entries before it, which never change.

use super::call_row::CallEnd;
use super::layout_context::LayoutContext;
use super::user_command_layout::lay_out_user_command;
use super::{attachment_rows, background_layout, call_layout, picture_caption};
use crate::chat::apply_message::describe_request;
use crate::chat::attachments::own_text;
use crate::chat::deferred_tools::describe_change;
use crate::chat::sampling::SamplingStep;
use crate::chat::{Conclusion, Decision, DryRunCounts, Ending, Entry, Grant, Session, SessionId};
use crate::text::byte_size::format_bytes;
use crate::text::clean;
use crate::text::truncation::truncate_at_line;
use crate::text::width;
use crate::tui::parts::quantities::format_duration;
use crate::tui::parts::status_bar::format_tokens;
use crate::tui::text::wrap::{Shape, wrap_pieces};
use crate::tui::text::{Page, Piece, pieces};
use ratatui::text::Line;
use std::time::Duration;

/// Maximum bytes of a text laid out in place, so that keys stay responsive. The pager shows the rest.
const MAX_INLINE_BYTES: usize = 512 * 1024;
/// Note after a failed turn that produced something.
const PARTIAL_RESULTS_NOTE: &str = "Partial results are kept. Send a message to continue.";

/// Returns whether a text is too long to be shown in place.
pub fn is_too_long(text: &str) -> bool {
    text.len() > MAX_INLINE_BYTES
}

/// Lays out a note about the part of a text that is not shown in place, if any.
fn lay_out_truncation_note(context: &LayoutContext<'_>, text: &str, inline_text: &str) -> Page {
    match text.len() - inline_text.len() {
        0 => Page::default(),
        hidden_bytes => {
            let note =
                format!("… {} more: select this entry and press o to open in full", format_bytes(hidden_bytes as u64));
            context.lay_out_note(&note, "")
        }
    }
}

/// Returns whether the turn that ends at this entry produced text, reasoning, calls or outcomes.
fn has_partial_results(context: &LayoutContext<'_>, index: usize) -> bool {
    let earlier = context.agent.session.entries()[..index].iter().rev();
    earlier.take_while(|entry| !matches!(entry, Entry::UserMessage { .. })).any(|entry| {
        if let Entry::Replied { text, reasoning, calls, .. } = entry {
            return !text.trim().is_empty() || !reasoning.trim().is_empty() || !calls.is_empty();
        }
        matches!(entry, Entry::Settled { .. })
    })
}

/// Lays out an entry; no lines if it is not displayed. `is_toggled` is true if the user opened an entry that is closed by
/// default, or closed one that is open by default.
pub fn lay_out(context: &LayoutContext<'_>, index: usize, is_toggled: bool) -> Page {
    let Some(entry) = context.agent.session.entries().get(index) else { return Page::default() };
    let mut page = match entry {
        Entry::UserMessage { text } => match describe_request(text) {
            Some(request) => context.lay_out_note(request, "— "),
            None => lay_out_user_message(context, text),
        },
        // Only what comes before and after the text of the reply. The cache lays out the text itself, in pieces.
        Entry::Replied { .. } => {
            let mut page = lay_out_before_text(context, entry, is_toggled);
            let notes = lay_out_after_text(context, entry, !page.lines.is_empty());
            page.append_page(notes);
            page
        }
        Entry::Settled { call, outcome, staged, took_ms, .. } => {
            let end = CallEnd { outcome, origin: staged.as_ref(), took_ms: *took_ms };
            call_layout::lay_out_call(context, index, call, &end, is_toggled)
        }
        Entry::Ended { ending: Ending::Failed(_) } if is_reason_displayed(context, index) => {
            context.lay_out_note(PARTIAL_RESULTS_NOTE, "")
        }
        Entry::Ended { ending: Ending::Failed(reason) } => {
            let reason = reason.trim_end_matches('.');
            let hint = match has_partial_results(context, index) {
                true => PARTIAL_RESULTS_NOTE,
                false => "No reply received. Your message is kept.",
            };
            context.lay_out_plain(&format!("{reason}. {hint}"), context.theme.danger, "✗ ")
        }
        Entry::Ended { ending: Ending::Interrupted } if !is_reason_displayed(context, index) => {
            context.lay_out_note("stopped", "")
        }
        Entry::Decided { decision: Decision::Always(grant), .. } => {
            context.lay_out_note(&describe_new_grant(grant), "    ")
        }
        Entry::Decided { decision: Decision::Edited(_), .. } => {
            context.lay_out_note("you edited the arguments", "    ")
        }
        Entry::Switched { model, profile } => {
            let model = if model.is_empty() { "the server's default model" } else { model };
            let profile_note = profile.as_ref().map(|profile| format!(" (profile {profile})")).unwrap_or_default();
            context.lay_out_note(&format!("switched to {model}{profile_note}"), "")
        }
        Entry::DryRunChanged { dry_run, copied_from } => {
            let style = if *dry_run { context.theme.accent } else { context.theme.danger };
            let text = describe_switch(*dry_run, copied_from, context.width);
            context.lay_out_plain(&text, style, SWITCH_PREFIX)
        }
        Entry::Concluded(conclusion) => lay_out_conclusion(context, conclusion),
        Entry::BackgroundEnded(end) => background_layout::lay_out_end(context, end, is_toggled),
        Entry::Compacted { summary, pinned, tokens, .. } => {
            lay_out_summary(context, summary, pinned, *tokens, is_toggled)
        }
        Entry::UserCommand(command) => lay_out_user_command(context, command, is_toggled),
        Entry::ToolsDeferred { tools, tokens, limit } => {
            context.lay_out_note(&describe_change(tools, *tokens, *limit), "")
        }
        Entry::UnacceptedTools(unaccepted) => context.lay_out_plain(&unaccepted.describe(), context.theme.warning, ""),
        Entry::Sampling(step) => lay_out_sampling(context, step, is_toggled),
        Entry::FellBack { model, reason } => {
            let note = format!("{}; fell back to {model}", reason.trim_end_matches('.'));
            context.lay_out_plain(&note, context.theme.warning, "↪ ")
        }
        Entry::Planned { .. }
        | Entry::Reviewed { .. }
        | Entry::Asked { .. }
        | Entry::Tried { .. }
        | Entry::Decided {
            decision: Decision::Once | Decision::Selected(_) | Decision::Deny(_) | Decision::Kept(_),
            ..
        }
        | Entry::Answered { .. }
        | Entry::Ended { ending: Ending::Finished | Ending::Interrupted }
        | Entry::Titled { .. }
        | Entry::Revoked { .. }
        | Entry::BackgroundStarted { .. }
        | Entry::SubAgent { .. } => Page::default(),
    };
    if matches!(entry, Entry::Ended { .. }) && is_rehearsed_turn(context, index) {
        page.append_page(lay_out_tally(context, index));
    }
    if page.lines.is_empty() { page } else { add_spacing(context, index, page) }
}

/// Adds the blank line between an entry and the one before, if they need one.
pub fn add_spacing(context: &LayoutContext<'_>, index: usize, page: Page) -> Page {
    if index == 0 || !needs_blank_line(context, index) { page } else { page.below_blank_line() }
}

/// Returns the text of a reply that is shown in place; `None` for other entries and replies without text.
pub fn reply_text(entry: &Entry) -> Option<&str> {
    match entry {
        Entry::Replied { text, .. } if !text.trim().is_empty() => Some(truncate_at_line(text, MAX_INLINE_BYTES)),
        _ => None,
    }
}

/// Lays out the reasoning before the text of a reply.
pub fn lay_out_before_text(context: &LayoutContext<'_>, entry: &Entry, is_toggled: bool) -> Page {
    let Entry::Replied { text, reasoning, thought_ms, .. } = entry else { return Page::default() };
    if reasoning.trim().is_empty() {
        return Page::default();
    }
    let duration = format_thinking_time(Duration::from_millis(*thought_ms));
    let mut page = lay_out_reasoning(context, reasoning, duration, is_toggled);
    if !text.trim().is_empty() {
        page.lines.push(Line::default());
    }
    page
}

/// Lays out the notes after the text of a reply. `has_lines_before` is true if the reply has lines above the notes.
pub fn lay_out_after_text(context: &LayoutContext<'_>, entry: &Entry, has_lines_before: bool) -> Page {
    let Entry::Replied { text, incomplete, .. } = entry else { return Page::default() };
    let mut page =
        reply_text(entry).map(|inline_text| lay_out_truncation_note(context, text, inline_text)).unwrap_or_default();
    if let Some(reason) = incomplete {
        if has_lines_before || !page.lines.is_empty() {
            page.lines.push(Line::default());
        }
        page.append_page(context.lay_out_plain(&format!("… cut short: {reason}"), context.theme.warning, ""));
    }
    page
}

/// Returns whether the user can open and close the entry.
pub fn can_open(context: &LayoutContext<'_>, index: usize) -> bool {
    match context.agent.session.entries().get(index) {
        Some(Entry::Replied { reasoning, text, .. }) => !reasoning.trim().is_empty() || is_too_long(text),
        Some(Entry::UserMessage { text }) => is_too_long(own_text(text)),
        Some(Entry::Compacted { .. } | Entry::BackgroundEnded(_)) => true,
        Some(Entry::Sampling(step)) => step.has_text(),
        Some(Entry::UserCommand(command)) => !command.output.trim().is_empty() || command.command.contains('\n'),
        Some(Entry::Settled { call, .. }) => {
            context.agent.session.find_call(call).is_some_and(|call| call.questions.is_none())
        }
        Some(_) | None => false,
    }
}

/// Returns whether an entry is open, so that its key closes it.
pub fn is_open(context: &LayoutContext<'_>, index: usize, is_toggled: bool) -> bool {
    match context.agent.session.entries().get(index) {
        Some(Entry::Settled { call, outcome, .. }) => context
            .agent
            .session
            .find_call(call)
            .is_some_and(|call| call_layout::is_call_open(call, outcome, is_toggled)),
        Some(_) | None => is_toggled,
    }
}

/// Returns whether a blank line precedes the entry. There is none between the rows of calls and reasoning.
fn needs_blank_line(context: &LayoutContext<'_>, index: usize) -> bool {
    let entries = context.agent.session.entries();
    !(entry_form(&context.agent.session, &entries[index]) == EntryForm::Row && ends_in_row(context, &entries[..index]))
}

/// Returns whether the last displayed entry ends in a single row, which other rows follow without a blank line.
pub fn ends_in_row(context: &LayoutContext<'_>, entries: &[Entry]) -> bool {
    let mut forms = entries.iter().rev().map(|entry| (entry, entry_form(&context.agent.session, entry)));
    let last_displayed = forms.find(|(_, form)| *form != EntryForm::Hidden);
    last_displayed.is_some_and(|(entry, form)| {
        let ends_in_text = matches!(entry, Entry::Replied { text, incomplete, .. }
            if !text.trim().is_empty() || incomplete.is_some());
        form == EntryForm::Row && !ends_in_text
    })
}

/// Returns whether an entry has no rows of its own, whatever comes before it.
pub fn is_hidden(session: &Session, entry: &Entry) -> bool {
    entry_form(session, entry) == EntryForm::Hidden
}

/// Form in which an entry starts on the screen. Entries that [`lay_out`] lays out without lines are hidden.
#[derive(PartialEq, Eq)]
enum EntryForm {
    Hidden,
    /// A row in the column of the calls.
    Row,
    /// Lines that start below a blank line.
    Block,
}

fn entry_form(session: &Session, entry: &Entry) -> EntryForm {
    match entry {
        Entry::Settled { call, .. } if session.find_call(call).is_some_and(|call| call.questions.is_some()) => {
            EntryForm::Block
        }
        Entry::Settled { .. }
        | Entry::BackgroundEnded(_)
        | Entry::Sampling(_)
        | Entry::Decided { decision: Decision::Always(_) | Decision::Edited(_), .. } => EntryForm::Row,
        Entry::Replied { reasoning, .. } if !reasoning.trim().is_empty() => EntryForm::Row,
        Entry::Replied { text, incomplete: None, .. } if text.trim().is_empty() => EntryForm::Hidden,
        Entry::Replied { .. }
        | Entry::UserMessage { .. }
        | Entry::Ended { .. }
        | Entry::Concluded(_)
        | Entry::FellBack { .. }
        | Entry::ToolsDeferred { .. }
        | Entry::UnacceptedTools(_)
        | Entry::Switched { .. }
        | Entry::DryRunChanged { .. }
        | Entry::Compacted { .. }
        | Entry::UserCommand(_) => EntryForm::Block,
        _ => EntryForm::Hidden,
    }
}

/// Returns whether the reply before this entry is marked as cut short, so that the reason is already displayed.
fn is_reason_displayed(context: &LayoutContext<'_>, index: usize) -> bool {
    let earlier = &context.agent.session.entries()[..index];
    matches!(earlier.last(), Some(Entry::Replied { incomplete: Some(_), .. }))
}

/// Describes a grant or rule that the user gave with an approval, and where it is kept.
pub fn describe_new_grant(grant: &Grant) -> String {
    format!("granted: {} · {}, /grants revokes it", grant.describe_coverage(), grant.span.describe_place())
}

/// Prefix of the row about a switch between dry run and live.
const SWITCH_PREFIX: &str = "— ";

/// Describes the switch between dry run and live, which continues in a copy of the `original` session. The command that
/// opens it has a row of its own if it does not fit after the description.
fn describe_switch(is_dry_run: bool, original: &SessionId, width: usize) -> String {
    let description = match is_dry_run {
        true => "Dry run from here on: no live changes. The original session is kept:",
        false => "Live from here on, in a copy. The dry run is kept:",
    };
    let text = format!("{description} aye --resume {original}");
    match width::text_width(SWITCH_PREFIX) + width::text_width(&text) <= width {
        true => text,
        false => format!("{description}\naye --resume {original}"),
    }
}

/// Lays out the end of the model's work: the message of the tool file, then the text of the model.
fn lay_out_conclusion(context: &LayoutContext<'_>, conclusion: &Conclusion) -> Page {
    let mut page = match conclusion.message() {
        "" => Page::default(),
        message => context.lay_out_plain(message, context.theme.text, ""),
    };
    page.append_page(context.lay_out_plain(&conclusion.describe(), context.theme.accent, "— "));
    page
}

/// Returns whether the session was a dry run at this entry. A copy of a live session begins with live turns.
fn is_rehearsed_turn(context: &LayoutContext<'_>, index: usize) -> bool {
    let is_start = |entry: &Entry| matches!(entry, Entry::DryRunChanged { dry_run: true, .. });
    context.agent.is_dry_run() && !context.agent.session.entries()[index..].iter().any(is_start)
}

/// Lays out the tally at the end of a dry-run turn.
fn lay_out_tally(context: &LayoutContext<'_>, index: usize) -> Page {
    let tally = DryRunCounts::from_turn(context.agent.session.entries(), index);
    if tally.calls == 0 {
        return Page::default();
    }
    let style = if tally.live_effects > 0 { context.theme.danger } else { context.theme.dim };
    let next_step = if tally.rehearsed > 0 { " · /rehearsal to review or apply" } else { "" };
    context.lay_out_plain(&format!("{}{next_step}", tally.describe_counts()), style, "— ")
}

/// Lays out a user message with its bar.
pub fn lay_out_user_message(context: &LayoutContext<'_>, message: &str) -> Page {
    let text = own_text(message);
    let inline_text = truncate_at_line(text, MAX_INLINE_BYTES);
    let truncation_note = lay_out_truncation_note(context, text, inline_text);
    let text = clean::clean_text(inline_text);
    let check = |target: &_| context.lookups.check_target(target);
    let pieces = pieces::split_links(text.trim_end(), context.theme.user, context.theme.link, &check);
    let shape = Shape::with_prefix(context.width, Piece::new("▌ ", context.theme.user));
    let mut page = wrap_pieces(&pieces, &shape);
    page.append_page(truncation_note);
    page.append_page(picture_caption::lay_out_captions(context, &text, |target| context.lookups.picture_size(target)));
    page.append_page(attachment_rows::lay_out_attachments(context, message));
    page
}

/// Lays out reasoning: one line, or, if `is_open`, also its text. `duration` follows the word `thought`.
pub fn lay_out_reasoning(context: &LayoutContext<'_>, reasoning: &str, duration: String, is_open: bool) -> Page {
    let mark = if is_open { "▾" } else { "▸" };
    let mut page = context.lay_out_note(&format!("{mark} thought{duration}"), "  ");
    if is_open {
        let reasoning = clean::clean_text(reasoning);
        let inline_text = truncate_at_line(reasoning.trim(), MAX_INLINE_BYTES);
        page.append_page(context.lay_out_note(inline_text, "    "));
        page.append_page(lay_out_truncation_note(context, reasoning.trim(), inline_text));
    }
    page
}

/// Lays out a summary of earlier turns: one line, or, if `is_open`, also what the model receives in place of these turns.
fn lay_out_summary(
    context: &LayoutContext<'_>,
    summary: &str,
    pinned: &str,
    (tokens_before, tokens_after): (u64, u64),
    is_open: bool,
) -> Page {
    let mark = if is_open { "▾" } else { "▸" };
    let sizes = match tokens_before {
        0 => String::new(),
        _ => format!(" · {} → {} tokens", format_tokens(tokens_before), format_tokens(tokens_after)),
    };
    let label = format!("{mark} earlier turns summarized{sizes}");
    let mut page = context.lay_out_note(&label, "  ");
    if is_open {
        page.lines.push(Line::default());
        page.append_page(context.lay_out_markdown(truncate_at_line(summary, MAX_INLINE_BYTES)));
        page.lines.push(Line::default());
        page.append_page(context.lay_out_note("Kept verbatim:", "  "));
        page.append_page(context.lay_out_note(truncate_at_line(pinned, MAX_INLINE_BYTES), "    "));
    }
    page
}

/// Lays out a step of a request of an MCP server for the model: one line, or, if `is_open`, also the texts.
fn lay_out_sampling(context: &LayoutContext<'_>, step: &SamplingStep, is_open: bool) -> Page {
    let mark = match (step.has_text(), is_open) {
        (false, _) => "  ",
        (true, true) => "▾ ",
        (true, false) => "▸ ",
    };
    let mut page = context.lay_out_note(&format!("{mark}{}", clean::clean_line(&step.describe())), "  ");
    if let Some(text) = step.full_text(pieces::OUTSIDE_BAR).filter(|_| is_open) {
        page.append_page(context.lay_out_barred(truncate_at_line(&text, MAX_INLINE_BYTES), "    "));
    }
    page
}

/// Formats a duration to follow the word `thought`: ` for 12 s`. Empty below one second.
pub fn format_thinking_time(duration: Duration) -> String {
    match duration.as_secs() {
        0 => String::new(),
        _ => format!(" for {}", format_duration(duration)),
    }
}
