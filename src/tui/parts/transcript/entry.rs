//! Layout of one entry. It depends only on the entry and the entries before it, which never change.

use super::{Ground, cache::Outsides, call};
use crate::chat::{Decision, Ending, Entry, SessionId, Tally};
use crate::tui::parts::status::tokens;
use crate::tui::text::wrap::{Shape, wrap};
use crate::tui::text::{Page, Piece, clean, links};
use ratatui::style::Style;
use ratatui::text::Line;
use std::time::Duration;

/// Maximum bytes of a text laid out in place, so that keys stay responsive. The pager shows the rest.
const IN_PLACE: usize = 512 * 1024;

/// Returns the start of a text, at most `most` bytes, ending at a line end if there is one.
pub fn beginning(text: &str, most: usize) -> &str {
    if text.len() <= most {
        return text;
    }
    let mut end = most;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let end = text[..end].rfind('\n').map_or(end, |line| line + 1);
    &text[..end]
}

/// Returns whether a text is too long to be shown in place.
pub fn is_cut(text: &str) -> bool {
    text.len() > IN_PLACE
}

/// Lays out a note about the part of a text that is not shown in place, if any.
fn rest(ground: &Ground<'_>, text: &str, shown: &str) -> Page {
    match text.len() - shown.len() {
        0 => Page::default(),
        more => {
            let words =
                format!("… {} more: select this entry and press o to open in full", super::live::bytes(more));
            plain(&words, ground.theme.dim, ground.width, "")
        }
    }
}

/// Returns whether the turn that ends at this entry produced text, reasoning, calls or outcomes.
fn something_came(ground: &Ground<'_>, index: usize) -> bool {
    let before = ground.agent.session.entries()[..index].iter().rev();
    before.take_while(|entry| !matches!(entry, Entry::Said { .. })).any(|entry| {
        if let Entry::Replied { text, reasoning, calls, .. } = entry {
            return !text.trim().is_empty() || !reasoning.trim().is_empty() || !calls.is_empty();
        }
        matches!(entry, Entry::Settled { .. })
    })
}

/// Lays out an entry; no lines if it has no display. `toggled` is true if its open state differs from the default.
pub fn lay_out(ground: &Ground<'_>, index: usize, toggled: bool, outside: &Outsides) -> Page {
    let Some(entry) = ground.agent.session.entries().get(index) else { return Page::default() };
    let page = match entry {
        Entry::Said { text } => said(ground, text, outside),
        // The cache lays out the text of a reply in pieces between these two.
        Entry::Replied { .. } => {
            let mut page = before(ground, entry, toggled);
            let after = after(ground, entry, !page.lines.is_empty());
            page.append(after);
            page
        }
        Entry::Settled { call, outcome, staged, took_ms, .. } => {
            let end = call::End { outcome, staged: staged.as_ref(), took_ms: *took_ms };
            call::settled(ground, index, call, &end, toggled, outside)
        }
        Entry::Ended { ending: Ending::Failed(_) } if says_why_already(ground, index) => {
            plain("Partial results are kept. Send a message to continue.", ground.theme.dim, ground.width, "")
        }
        Entry::Ended { ending: Ending::Failed(why) } => {
            let why = why.trim_end_matches('.');
            let kept = match something_came(ground, index) {
                true => "Partial results are kept. Send a message to continue.",
                false => "No reply received. Your message is kept.",
            };
            plain(&format!("{why}. {kept}"), ground.theme.danger, ground.width, "✗ ")
        }
        Entry::Ended { ending: Ending::Interrupted } if !says_why_already(ground, index) => {
            plain("stopped", ground.theme.dim, ground.width, "")
        }
        Entry::Decided { decision: Decision::Always(grant), .. } => plain(
            &format!("allowed from now on: {} ({})", grant.tool, grant.words()),
            ground.theme.dim,
            ground.width,
            "    ",
        ),
        Entry::Decided { decision: Decision::Edited(_), .. } => {
            plain("you edited the arguments", ground.theme.dim, ground.width, "    ")
        }
        Entry::Switched { model, profile } => {
            let model = if model.is_empty() { "the server's default model" } else { model };
            let of = profile.as_ref().map(|profile| format!(" (profile {profile})")).unwrap_or_default();
            plain(&format!("switched to {model}{of}"), ground.theme.dim, ground.width, "")
        }
        Entry::Became { dry_run, of } => {
            let style = if *dry_run { ground.theme.accent } else { ground.theme.danger };
            plain(&became(*dry_run, of), style, ground.width, "— ")
        }
        Entry::Compacted { summary, pinned, tokens, .. } => {
            compacted(ground, (summary, pinned), *tokens, toggled, outside)
        }
        Entry::FellBack { model, why } => {
            let words = format!("{}; fell back to {model}", why.trim_end_matches('.'));
            plain(&words, ground.theme.warning, ground.width, "↪ ")
        }
        Entry::Planned { .. }
        | Entry::Consulted { .. }
        | Entry::Asked { .. }
        | Entry::Decided { decision: Decision::Once | Decision::Selected(_) | Decision::Deny(_), .. }
        | Entry::Answered { .. }
        | Entry::Ended { ending: Ending::Finished | Ending::Interrupted }
        | Entry::Titled { .. }
        | Entry::TakenBack { .. }
        | Entry::Beneath { .. } => Page::default(),
    };
    let mut page = page;
    if matches!(entry, Entry::Ended { .. }) && ground.agent.is_dry_run() {
        page.append(rehearsed(ground, index));
    }
    if page.lines.is_empty() { page } else { spaced(ground, index, page) }
}

/// Adds the blank line between an entry and the one before, if they need one.
pub fn spaced(ground: &Ground<'_>, index: usize, page: Page) -> Page {
    if index == 0 || !wants_space(ground, index) {
        return page;
    }
    let mut spaced = Page { lines: vec![Line::default()], ..Page::default() };
    spaced.append(page);
    spaced
}

/// Returns the text of a reply that is shown in place; `None` for other entries and replies without text.
pub fn words(entry: &Entry) -> Option<&str> {
    match entry {
        Entry::Replied { text, .. } if !text.trim().is_empty() => Some(beginning(text, IN_PLACE)),
        _ => None,
    }
}

/// Lays out the reasoning before the text of a reply.
pub fn before(ground: &Ground<'_>, entry: &Entry, toggled: bool) -> Page {
    let mut page = Page::default();
    if let Entry::Replied { text, reasoning, thought_ms, .. } = entry
        && !reasoning.trim().is_empty()
    {
        page.append(thought(ground, reasoning, took(Duration::from_millis(*thought_ms)), toggled));
        if !text.trim().is_empty() {
            apart(&mut page);
        }
    }
    page
}

/// Lays out the notes after the text of a reply. `follows` is true if any line precedes them.
pub fn after(ground: &Ground<'_>, entry: &Entry, follows: bool) -> Page {
    let Entry::Replied { text, incomplete, .. } = entry else { return Page::default() };
    let mut page = words(entry).map(|shown| rest(ground, text, shown)).unwrap_or_default();
    if let Some(why) = incomplete {
        if follows || !page.lines.is_empty() {
            page.lines.push(Line::default());
        }
        page.append(plain(&format!("… cut short: {why}"), ground.theme.warning, ground.width, ""));
    }
    page
}

/// Returns whether the entry can be opened and closed.
pub fn opens(ground: &Ground<'_>, index: usize) -> bool {
    match ground.agent.session.entries().get(index) {
        Some(Entry::Replied { reasoning, text, .. }) => !reasoning.trim().is_empty() || is_cut(text),
        Some(Entry::Said { text }) => is_cut(text),
        Some(Entry::Compacted { .. }) => true,
        Some(Entry::Settled { call, .. }) => {
            ground.agent.session.call(call).is_some_and(|call| call.questions.is_none())
        }
        Some(_) | None => false,
    }
}

/// Adds a blank line before the next part of the same entry.
fn apart(page: &mut Page) {
    if !page.lines.is_empty() {
        page.lines.push(Line::default());
    }
}

/// Returns whether a blank line precedes the entry. Calls and reasoning are adjacent; all else is separated.
fn wants_space(ground: &Ground<'_>, index: usize) -> bool {
    let entries = ground.agent.session.entries();
    !(is_row(ground, &entries[index]) && ends_in_row(ground, &entries[..index]))
}

/// Returns whether the last displayed entry is a single row that other rows may follow without a blank line.
pub fn ends_in_row(ground: &Ground<'_>, entries: &[Entry]) -> bool {
    let shown = |entry: &&Entry| match entry {
        Entry::Planned { .. }
        | Entry::Consulted { .. }
        | Entry::Asked { .. }
        | Entry::Answered { .. }
        | Entry::Titled { .. }
        | Entry::TakenBack { .. }
        | Entry::Beneath { .. } => false,
        Entry::Decided { decision, .. } => matches!(decision, Decision::Always(_) | Decision::Edited(_)),
        Entry::Replied { text, reasoning, incomplete, .. } => {
            !text.trim().is_empty() || !reasoning.trim().is_empty() || incomplete.is_some()
        }
        Entry::Said { .. }
        | Entry::Settled { .. }
        | Entry::Ended { .. }
        | Entry::FellBack { .. }
        | Entry::Switched { .. }
        | Entry::Became { .. }
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
fn is_row(ground: &Ground<'_>, entry: &Entry) -> bool {
    match entry {
        Entry::Settled { call, .. } => {
            ground.agent.session.call(call).is_none_or(|call| call.questions.is_none())
        }
        Entry::Decided { .. } => true,
        Entry::Replied { reasoning, .. } => !reasoning.trim().is_empty(),
        Entry::Said { .. }
        | Entry::Planned { .. }
        | Entry::Asked { .. }
        | Entry::Answered { .. }
        | Entry::Ended { .. }
        | Entry::Titled { .. }
        | Entry::TakenBack { .. }
        | Entry::Compacted { .. }
        | Entry::Consulted { .. }
        | Entry::FellBack { .. }
        | Entry::Beneath { .. }
        | Entry::Switched { .. }
        | Entry::Became { .. } => false,
    }
}

/// Returns whether the reply before this entry is marked as cut short, so that the reason is already displayed.
fn says_why_already(ground: &Ground<'_>, index: usize) -> bool {
    let before = &ground.agent.session.entries()[..index];
    matches!(before.last(), Some(Entry::Replied { incomplete: Some(_), .. }))
}

/// Describes the switch of a copied session between dry run and live.
fn became(dry_run: bool, of: &SessionId) -> String {
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
fn rehearsed(ground: &Ground<'_>, index: usize) -> Page {
    let tally = Tally::of_turn(ground.agent.session.entries(), index);
    if tally.calls == 0 {
        return Page::default();
    }
    let style = if tally.outside > 0 { ground.theme.danger } else { ground.theme.dim };
    plain(&tally.words(), style, ground.width, "— ")
}

/// Lays out a user message with its bar.
pub fn said(ground: &Ground<'_>, text: &str, outside: &Outsides) -> Page {
    let shown = beginning(text, IN_PLACE);
    let left = rest(ground, text, shown);
    let text = clean::clean(shown);
    let bar = vec![Piece::new("▌ ", ground.theme.person)];
    let exists = |target: &_| outside.exists(target);
    let pieces = links::split(text.trim_end(), ground.theme.person, ground.theme.link, &exists);
    let shape = Shape { width: ground.width, first: bar.clone(), rest: bar, verbatim: false };
    let mut page = wrap(&pieces, &shape);
    page.append(left);
    page.append(super::picture::attached(ground, outside, &text));
    page
}

/// Lays out reasoning: one line, or all of it if `open`.
pub fn thought(ground: &Ground<'_>, reasoning: &str, how_long: String, open: bool) -> Page {
    let mark = if open { "▾" } else { "▸" };
    let mut page = plain(&format!("{mark} thought{how_long}"), ground.theme.dim, ground.width, "  ");
    if open {
        let reasoning = clean::clean(reasoning);
        let shown = beginning(reasoning.trim(), IN_PLACE);
        page.append(plain(shown, ground.theme.dim, ground.width, "    "));
        page.append(rest(ground, reasoning.trim(), shown));
    }
    page
}

/// Lays out a summary of earlier turns: one line, or everything that the model receives instead if `open`.
fn compacted(
    ground: &Ground<'_>,
    (summary, pinned): (&str, &str),
    (before, after): (u64, u64),
    open: bool,
    outside: &Outsides,
) -> Page {
    let mark = if open { "▾" } else { "▸" };
    let sizes = match before {
        0 => String::new(),
        _ => format!(" · {} → {} tokens", tokens(before), tokens(after)),
    };
    let words = format!("{mark} earlier turns summarized{sizes}");
    let mut page = plain(&words, ground.theme.dim, ground.width, "  ");
    if open {
        page.lines.push(Line::default());
        page.append(outside.markdown(ground, ground.width, beginning(summary, IN_PLACE)));
        page.lines.push(Line::default());
        page.append(plain("Kept verbatim:", ground.theme.dim, ground.width, "  "));
        page.append(plain(beginning(pinned, IN_PLACE), ground.theme.dim, ground.width, "    "));
    }
    page
}

/// Lays out text in one style. `first` is the indent of the first line; the other lines have blanks of the same width.
pub fn plain(text: &str, style: Style, width: usize, first: &str) -> Page {
    let text = clean::clean(text).into_owned();
    let rest = " ".repeat(crate::tui::text::width::width(first));
    let indent = |text: &str| match text {
        "" => Vec::new(),
        text => vec![Piece::new(text, style)],
    };
    let shape = Shape { width, first: indent(first), rest: indent(&rest), verbatim: false };
    wrap(&[Piece::new(text, style)], &shape)
}

/// Returns the duration after `thought`; empty below one second.
pub fn took(thought: Duration) -> String {
    match thought.as_secs() {
        0 => String::new(),
        _ => format!(" for {}", super::how_long(thought)),
    }
}
