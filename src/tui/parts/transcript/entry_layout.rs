//! Layout of one entry. It depends only on the entry and the entries before it, which never change.

use super::call_row::CallEnd;
use super::layout_context::LayoutContext;
use super::link_lookups::LinkLookups;
use super::plain_layout::{lay_out_plain, truncate_at_line};
use super::{call_layout, picture_caption};
use crate::chat::{Decision, DryRunCounts, Ending, Entry, SessionId};
use crate::text::clean;
use crate::tui::parts::quantities::{format_bytes, format_duration};
use crate::tui::parts::status_bar::format_tokens;
use crate::tui::text::wrap::{Shape, wrap_pieces};
use crate::tui::text::{Page, Piece, links};
use ratatui::text::Line;
use std::time::Duration;

/// Maximum bytes of a text laid out in place, so that keys stay responsive. The pager shows the rest.
const MAX_INLINE_BYTES: usize = 512 * 1024;

/// Returns whether a text is too long to be shown in place.
pub fn is_too_long(text: &str) -> bool {
    text.len() > MAX_INLINE_BYTES
}

/// Lays out a note about the part of a text that is not shown in place, if any.
fn lay_out_truncation_note(ground: &LayoutContext<'_>, text: &str, shown: &str) -> Page {
    match text.len() - shown.len() {
        0 => Page::default(),
        more => {
            let words = format!("… {} more: select this entry and press o to open in full", format_bytes(more));
            lay_out_plain(&words, ground.theme.dim, ground.width, "")
        }
    }
}

/// Returns whether the turn that ends at this entry produced text, reasoning, calls or outcomes.
fn has_partial_results(ground: &LayoutContext<'_>, index: usize) -> bool {
    let before = ground.agent.session.entries()[..index].iter().rev();
    before.take_while(|entry| !matches!(entry, Entry::UserMessage { .. })).any(|entry| {
        if let Entry::Replied { text, reasoning, calls, .. } = entry {
            return !text.trim().is_empty() || !reasoning.trim().is_empty() || !calls.is_empty();
        }
        matches!(entry, Entry::Settled { .. })
    })
}

/// Lays out an entry; no lines if it has no display. `toggled` is true if its open state differs from the default.
pub fn lay_out(ground: &LayoutContext<'_>, index: usize, toggled: bool, outside: &LinkLookups) -> Page {
    let Some(entry) = ground.agent.session.entries().get(index) else { return Page::default() };
    let page = match entry {
        Entry::UserMessage { text } => lay_out_user_message(ground, text, outside),
        // The cache lays out the text of a reply in pieces between these two.
        Entry::Replied { .. } => {
            let mut page = lay_out_before_text(ground, entry, toggled);
            let after = lay_out_after_text(ground, entry, !page.lines.is_empty());
            page.append_page(after);
            page
        }
        Entry::Settled { call, outcome, staged, took_ms, .. } => {
            let end = CallEnd { outcome, staged: staged.as_ref(), took_ms: *took_ms };
            call_layout::lay_out_call(ground, index, call, &end, toggled, outside)
        }
        Entry::Ended { ending: Ending::Failed(_) } if is_reason_displayed(ground, index) => {
            lay_out_plain("Partial results are kept. Send a message to continue.", ground.theme.dim, ground.width, "")
        }
        Entry::Ended { ending: Ending::Failed(why) } => {
            let why = why.trim_end_matches('.');
            let kept = match has_partial_results(ground, index) {
                true => "Partial results are kept. Send a message to continue.",
                false => "No reply received. Your message is kept.",
            };
            lay_out_plain(&format!("{why}. {kept}"), ground.theme.danger, ground.width, "✗ ")
        }
        Entry::Ended { ending: Ending::Interrupted } if !is_reason_displayed(ground, index) => {
            lay_out_plain("stopped", ground.theme.dim, ground.width, "")
        }
        Entry::Decided { decision: Decision::Always(grant), .. } => lay_out_plain(
            &format!("allowed from now on: {} ({})", grant.tool, grant.describe_grant()),
            ground.theme.dim,
            ground.width,
            "    ",
        ),
        Entry::Decided { decision: Decision::Edited(_), .. } => {
            lay_out_plain("you edited the arguments", ground.theme.dim, ground.width, "    ")
        }
        Entry::Switched { model, profile } => {
            let model = if model.is_empty() { "the server's default model" } else { model };
            let of = profile.as_ref().map(|profile| format!(" (profile {profile})")).unwrap_or_default();
            lay_out_plain(&format!("switched to {model}{of}"), ground.theme.dim, ground.width, "")
        }
        Entry::DryRunChanged { dry_run, copied_from: of } => {
            let style = if *dry_run { ground.theme.accent } else { ground.theme.danger };
            lay_out_plain(&describe_mode_switch(*dry_run, of), style, ground.width, "— ")
        }
        Entry::Compacted { summary, pinned, tokens, .. } => {
            lay_out_summary(ground, (summary, pinned), *tokens, toggled, outside)
        }
        Entry::FellBack { model, reason: why } => {
            let words = format!("{}; fell back to {model}", why.trim_end_matches('.'));
            lay_out_plain(&words, ground.theme.warning, ground.width, "↪ ")
        }
        Entry::Planned { .. }
        | Entry::Reviewed { .. }
        | Entry::Asked { .. }
        | Entry::Decided { decision: Decision::Once | Decision::Selected(_) | Decision::Deny(_), .. }
        | Entry::Answered { .. }
        | Entry::Ended { ending: Ending::Finished | Ending::Interrupted }
        | Entry::Titled { .. }
        | Entry::Revoked { .. }
        | Entry::SubAgent { .. } => Page::default(),
    };
    let mut page = page;
    if matches!(entry, Entry::Ended { .. }) && ground.agent.is_dry_run() {
        page.append_page(lay_out_tally(ground, index));
    }
    if page.lines.is_empty() { page } else { add_spacing(ground, index, page) }
}

/// Adds the blank line between an entry and the one before, if they need one.
pub fn add_spacing(ground: &LayoutContext<'_>, index: usize, page: Page) -> Page {
    if index == 0 || !needs_blank_line(ground, index) {
        return page;
    }
    let mut spaced = Page { lines: vec![Line::default()], ..Page::default() };
    spaced.append_page(page);
    spaced
}

/// Returns the text of a reply that is shown in place; `None` for other entries and replies without text.
pub fn reply_text(entry: &Entry) -> Option<&str> {
    match entry {
        Entry::Replied { text, .. } if !text.trim().is_empty() => Some(truncate_at_line(text, MAX_INLINE_BYTES)),
        _ => None,
    }
}

/// Lays out the reasoning before the text of a reply.
pub fn lay_out_before_text(ground: &LayoutContext<'_>, entry: &Entry, toggled: bool) -> Page {
    let mut page = Page::default();
    if let Entry::Replied { text, reasoning, thought_ms, .. } = entry
        && !reasoning.trim().is_empty()
    {
        page.append_page(lay_out_reasoning(
            ground,
            reasoning,
            format_thinking_time(Duration::from_millis(*thought_ms)),
            toggled,
        ));
        if !text.trim().is_empty() {
            push_blank_line(&mut page);
        }
    }
    page
}

/// Lays out the notes after the text of a reply. `follows` is true if any line precedes them.
pub fn lay_out_after_text(ground: &LayoutContext<'_>, entry: &Entry, follows: bool) -> Page {
    let Entry::Replied { text, incomplete, .. } = entry else { return Page::default() };
    let mut page = reply_text(entry).map(|shown| lay_out_truncation_note(ground, text, shown)).unwrap_or_default();
    if let Some(why) = incomplete {
        if follows || !page.lines.is_empty() {
            page.lines.push(Line::default());
        }
        page.append_page(lay_out_plain(&format!("… cut short: {why}"), ground.theme.warning, ground.width, ""));
    }
    page
}

/// Returns whether the entry can be opened and closed.
pub fn can_open(ground: &LayoutContext<'_>, index: usize) -> bool {
    match ground.agent.session.entries().get(index) {
        Some(Entry::Replied { reasoning, text, .. }) => !reasoning.trim().is_empty() || is_too_long(text),
        Some(Entry::UserMessage { text }) => is_too_long(text),
        Some(Entry::Compacted { .. }) => true,
        Some(Entry::Settled { call, .. }) => {
            ground.agent.session.call(call).is_some_and(|call| call.questions.is_none())
        }
        Some(_) | None => false,
    }
}

/// Adds a blank line before the next part of the same entry.
fn push_blank_line(page: &mut Page) {
    if !page.lines.is_empty() {
        page.lines.push(Line::default());
    }
}

/// Returns whether a blank line precedes the entry. Calls and reasoning are adjacent; all else is separated.
fn needs_blank_line(ground: &LayoutContext<'_>, index: usize) -> bool {
    let entries = ground.agent.session.entries();
    !(is_row(ground, &entries[index]) && ends_in_row(ground, &entries[..index]))
}

/// Returns whether the last displayed entry is a single row that other rows may follow without a blank line.
pub fn ends_in_row(ground: &LayoutContext<'_>, entries: &[Entry]) -> bool {
    let shown = |entry: &&Entry| match entry {
        Entry::Planned { .. }
        | Entry::Reviewed { .. }
        | Entry::Asked { .. }
        | Entry::Answered { .. }
        | Entry::Titled { .. }
        | Entry::Revoked { .. }
        | Entry::SubAgent { .. } => false,
        Entry::Decided { decision, .. } => matches!(decision, Decision::Always(_) | Decision::Edited(_)),
        Entry::Replied { text, reasoning, incomplete, .. } => {
            !text.trim().is_empty() || !reasoning.trim().is_empty() || incomplete.is_some()
        }
        Entry::UserMessage { .. }
        | Entry::Settled { .. }
        | Entry::Ended { .. }
        | Entry::FellBack { .. }
        | Entry::Switched { .. }
        | Entry::DryRunChanged { .. }
        | Entry::Compacted { .. } => true,
    };
    let last = entries.iter().rev().find(shown);
    last.is_some_and(|last| {
        let goes_on = matches!(last, Entry::Replied { text, incomplete, .. }
            if !text.trim().is_empty() || incomplete.is_some());
        is_row(ground, last) && !goes_on
    })
}

/// Returns whether an entry starts with a row in the column of the calls.
fn is_row(ground: &LayoutContext<'_>, entry: &Entry) -> bool {
    match entry {
        Entry::Settled { call, .. } => ground.agent.session.call(call).is_none_or(|call| call.questions.is_none()),
        Entry::Decided { .. } => true,
        Entry::Replied { reasoning, .. } => !reasoning.trim().is_empty(),
        Entry::UserMessage { .. }
        | Entry::Planned { .. }
        | Entry::Asked { .. }
        | Entry::Answered { .. }
        | Entry::Ended { .. }
        | Entry::Titled { .. }
        | Entry::Revoked { .. }
        | Entry::Compacted { .. }
        | Entry::Reviewed { .. }
        | Entry::FellBack { .. }
        | Entry::SubAgent { .. }
        | Entry::Switched { .. }
        | Entry::DryRunChanged { .. } => false,
    }
}

/// Returns whether the reply before this entry is marked as cut short, so that the reason is already displayed.
fn is_reason_displayed(ground: &LayoutContext<'_>, index: usize) -> bool {
    let before = &ground.agent.session.entries()[..index];
    matches!(before.last(), Some(Entry::Replied { incomplete: Some(_), .. }))
}

/// Describes the switch of a copied session between dry run and live.
fn describe_mode_switch(dry_run: bool, of: &SessionId) -> String {
    match dry_run {
        true => {
            format!("Dry run from here on: no live changes. The original session is kept: aye --resume {of}")
        }
        false => {
            format!("Live from here on, in a copy. The dry run is kept: aye --resume {of}")
        }
    }
}

/// Lays out the tally at the end of a dry-run turn.
fn lay_out_tally(ground: &LayoutContext<'_>, index: usize) -> Page {
    let tally = DryRunCounts::from_turn(ground.agent.session.entries(), index);
    if tally.calls == 0 {
        return Page::default();
    }
    let style = if tally.live_effects > 0 { ground.theme.danger } else { ground.theme.dim };
    lay_out_plain(&tally.describe_counts(), style, ground.width, "— ")
}

/// Lays out a user message with its bar.
pub fn lay_out_user_message(ground: &LayoutContext<'_>, text: &str, outside: &LinkLookups) -> Page {
    let shown = truncate_at_line(text, MAX_INLINE_BYTES);
    let left = lay_out_truncation_note(ground, text, shown);
    let text = clean::clean_text(shown);
    let bar = vec![Piece::new("▌ ", ground.theme.person)];
    let exists = |target: &_| outside.target_exists(target);
    let pieces = links::split_links(text.trim_end(), ground.theme.person, ground.theme.link, &exists);
    let shape = Shape { width: ground.width, first: bar.clone(), rest: bar, verbatim: false };
    let mut page = wrap_pieces(&pieces, &shape);
    page.append_page(left);
    page.append_page(picture_caption::lay_out_captions(ground, &text, |target| outside.picture_size(target)));
    page
}

/// Lays out reasoning: one line, or all of it if `open`.
pub fn lay_out_reasoning(ground: &LayoutContext<'_>, reasoning: &str, how_long: String, open: bool) -> Page {
    let mark = if open { "▾" } else { "▸" };
    let mut page = lay_out_plain(&format!("{mark} thought{how_long}"), ground.theme.dim, ground.width, "  ");
    if open {
        let reasoning = clean::clean_text(reasoning);
        let shown = truncate_at_line(reasoning.trim(), MAX_INLINE_BYTES);
        page.append_page(lay_out_plain(shown, ground.theme.dim, ground.width, "    "));
        page.append_page(lay_out_truncation_note(ground, reasoning.trim(), shown));
    }
    page
}

/// Lays out a summary of earlier turns: one line, or everything that the model receives instead if `open`.
fn lay_out_summary(
    ground: &LayoutContext<'_>,
    (summary, pinned): (&str, &str),
    (before, after): (u64, u64),
    open: bool,
    outside: &LinkLookups,
) -> Page {
    let mark = if open { "▾" } else { "▸" };
    let sizes = match before {
        0 => String::new(),
        _ => format!(" · {} → {} tokens", format_tokens(before), format_tokens(after)),
    };
    let words = format!("{mark} earlier turns summarized{sizes}");
    let mut page = lay_out_plain(&words, ground.theme.dim, ground.width, "  ");
    if open {
        page.lines.push(Line::default());
        page.append_page(outside.lay_out_markdown(ground, ground.width, truncate_at_line(summary, MAX_INLINE_BYTES)));
        page.lines.push(Line::default());
        page.append_page(lay_out_plain("Kept verbatim:", ground.theme.dim, ground.width, "  "));
        page.append_page(lay_out_plain(
            truncate_at_line(pinned, MAX_INLINE_BYTES),
            ground.theme.dim,
            ground.width,
            "    ",
        ));
    }
    page
}

/// Returns the duration after `thought`; empty below one second.
pub fn format_thinking_time(thought: Duration) -> String {
    match thought.as_secs() {
        0 => String::new(),
        _ => format!(" for {}", format_duration(thought)),
    }
}
