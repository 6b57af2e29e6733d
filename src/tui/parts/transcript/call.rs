//! Layout of a finished call: one row, or with arguments, diff and output if opened.

use super::verdict::{hooks_not_run, verdict};
use super::{
    Ground,
    cache::Outsides,
    entry::plain,
    how_long,
    how_much::{how_much, is_short, not_applied},
    sub_agent,
};
use crate::chat::hidden::mark_hidden;
use crate::chat::session::Call;
use crate::chat::tool::bad_end;
use crate::chat::{
    Answer, By, CallId, Decision, Diff, Entry, Giver, Outcome, Preview, Questions, Source, Staged, Status,
};
use crate::tui::text::output::Shown;
use crate::tui::text::wrap::{Shape, wrap};
use crate::tui::text::{Page, Piece, clean, diff, links, output, reveal, width};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::time::Duration;

/// Maximum lines of output shown in place; the pager shows all.
const OUTPUT: usize = 200;
/// Minimum width of a path in cells; below it the line counts after the path are dropped.
const SHORTEST: usize = 6;
/// Minimum width of the tool name column in cells.
const NAME: usize = 12;

/// End of a call.
pub struct End<'a> {
    pub outcome: &'a Outcome,
    /// Source of the result of a rehearsed call, if known.
    pub staged: Option<&'a Staged>,
    /// Run time in milliseconds.
    pub took_ms: u64,
}

/// Lays out a settled call.
pub fn settled(
    ground: &Ground<'_>,
    index: usize,
    id: &CallId,
    end: &End<'_>,
    toggled: bool,
    outside: &Outsides,
) -> Page {
    let Some(call) = ground.agent.session.call(id) else { return Page::default() };
    let outcome = end.outcome;
    if let Some(questions) = &call.questions {
        return answered(ground, questions, answer(ground, index, id), outcome);
    }
    let no = refused(ground, index, id);
    let mut page = Page { lines: vec![line(ground, call, end, no)], ..Page::default() };
    page.lines.extend(hooks_not_run(ground, call));
    let short = edit(call).filter(|diff| is_short(diff) && came_about(outcome));
    let not_applied = not_applied(call, outcome);
    if (short.is_some() || not_applied.is_some()) != toggled {
        match short {
            Some(diff) => {
                page.lines.extend(indented(diff::layout(diff, inner(ground), ground.theme), 4).skip(1))
            }
            None if let Some(words) = not_applied => {
                page.append(block(ground, words, ground.theme.warning, outside));
            }
            None if is_handed_on(ground, call) => {
                page.append(sub_agent::talk(ground, call, outcome, outside))
            }
            None => page.append(details(ground, call, outcome, outside)),
        }
    }
    page
}

/// Returns the call and everything the model receives as its result, for the pager. `staged` is the note that precedes a
/// rehearsed result.
pub fn whole(call: &Call, outcome: &Outcome, staged: Option<&str>) -> String {
    let staged = staged.map(|words| format!("{words}\n")).unwrap_or_default();
    let edit = call.tell_edit().unwrap_or_default();
    let (name, arguments) = (mark_hidden(&call.call.name), pretty(&call.call.arguments));
    format!("{name} {arguments}\n\n{staged}{edit}{}", outcome.text())
}

fn edit(call: &Call) -> Option<&Diff> {
    match &call.shown.as_ref()?.preview {
        Preview::Edit(diff) => Some(diff),
        Preview::Text(_) | Preview::Command(_) | Preview::Batch(_) => None,
    }
}

fn came_about(outcome: &Outcome) -> bool {
    match outcome {
        Outcome::Done(_) | Outcome::Rehearsed(_) => true,
        Outcome::Failed(_) | Outcome::Refused(_) | Outcome::Interrupted(_) => false,
    }
}

/// Returns the last line of a command's outcome if the command ran and failed.
fn ended_badly<'a>(call: &Call, outcome: &'a Outcome) -> Option<&'a str> {
    let (Outcome::Done(text) | Outcome::Rehearsed(text)) = outcome else { return None };
    if call.is_command() { bad_end(text) } else { None }
}

fn inner(ground: &Ground<'_>) -> usize {
    ground.width.saturating_sub(4).max(1)
}

/// `✓ read_file    tests/retry.rs:1-80      80 lines · 12 ms`.
pub fn line(
    ground: &Ground<'_>,
    call: &Call,
    &End { outcome, staged, took_ms }: &End<'_>,
    no: Option<&str>,
) -> Line<'static> {
    let theme = ground.theme;
    let ended = ended_badly(call, outcome);
    let ran = staged.is_none_or(Staged::is_ran);
    let (mark, style) = match outcome {
        Outcome::Failed(_) => ("✗", theme.danger),
        // Text after the summary names where it ran.
        Outcome::Done(_) | Outcome::Rehearsed(_) if ended.is_some() && ran => ("✗", theme.danger),
        Outcome::Done(_) => ("✓", theme.success),
        Outcome::Refused(_) => ("⊘", theme.warning),
        Outcome::Rehearsed(_) if staged.is_some_and(Staged::is_withheld) => ("⊘", theme.warning),
        Outcome::Rehearsed(_) => (staged.map_or("◇", Staged::mark), theme.accent),
        Outcome::Interrupted(_) => ("■", theme.warning),
    };
    let mut summary = call.shown.as_ref().map_or_else(String::new, |shown| shown.summary.clone());
    let said = match outcome {
        // File tools write to the overlay even on systems without an overlay sandbox for commands.
        Outcome::Rehearsed(_) if edit(call).is_some() && staged.is_some_and(Staged::is_ran) => {
            "written to the overlay".to_owned()
        }
        Outcome::Rehearsed(_) => {
            staged.map_or_else(|| "rehearsed, nothing changed".to_owned(), Staged::words)
        }
        Outcome::Failed(why) => {
            why.lines().find(|line| !line.trim().is_empty()).unwrap_or_default().to_owned()
        }
        Outcome::Done(_) | Outcome::Refused(_) | Outcome::Interrupted(_) => String::new(),
    };
    let took = match took_ms {
        0 => String::new(),
        ms => how_long(Duration::from_millis(ms)),
    };
    let took = match is_handed_on(ground, call) {
        true => sub_agent::summed_up(ground, &call.call.id, took_ms),
        false => took,
    };
    let much = how_much(call, outcome);
    let right = [ended, much.as_deref(), Some(took.as_str())].into_iter().flatten();
    let took = right.filter(|words| !words.is_empty()).collect::<Vec<_>>().join(" · ");
    // The result has priority over a long command; `/audit` has the full reason.
    let said = clean::one_line(&said);
    summary = reveal::one_line(&summary);
    let name = width::width(&clean::one_line(&call.call.name)).max(NAME);
    let room = ground.width.saturating_sub(name + width::width(&took) + 9);
    let brief = match outcome {
        Outcome::Rehearsed(_) => {
            said.split(';').next().map_or(0, |brief| width::width(brief) + usize::from(brief != said))
        }
        _ => width::width(&said).min(room / 2),
    };
    let took = match verdict(outcome, no) {
        Some(words) => {
            let words = clean::one_line(&words);
            let most = (room / 2).max((room + 2).saturating_sub(width::width(&summary)));
            let dot = if took.is_empty() { "" } else { " · " };
            format!("{}{dot}{took}", width::fit(&words, most))
        }
        None => took,
    };
    let diff = edit(call);
    let cells = beside(ground.width, name, &took);
    // The mark already shows where a file was written. The reason of a failure is always shown.
    let says = !said.is_empty() && (diff.is_none() || !came_about(outcome));
    summary = match diff {
        Some(diff) if says => of_file(&summary, diff, cells.saturating_sub(brief + 3)),
        Some(diff) => of_file(&summary, diff, cells),
        None if says => width::fit(&summary, room.saturating_sub(brief)).into_owned(),
        None => summary,
    };
    if says || !said.is_empty() && width::width(&summary) + width::width(&said) + 3 <= cells {
        let dot = if summary.is_empty() { "" } else { " · " };
        summary = format!("{summary}{dot}{said}");
    }
    row(ground.width, (mark, style), &call.call.name, &summary, &took, (theme.text, theme.dim))
}

/// Fits a path and its line counts into a number of cells. Never truncates a count; truncates the path at its start,
/// because its end identifies the file.
fn of_file(path: &str, diff: &Diff, cells: usize) -> String {
    for counts in [format!(" +{} −{}", diff.added, diff.removed), String::new()] {
        let room = cells.saturating_sub(width::width(&counts));
        if room >= width::width(path).min(SHORTEST) || counts.is_empty() {
            return format!("{}{counts}", width::fit_end(path, room));
        }
    }
    String::new()
}

/// Returns the cells left for the summary of a row with a name of this width and this text at the right.
fn beside(cells: usize, name: usize, right: &str) -> usize {
    let right = match width::width(right) {
        right if name + right + 17 > cells => 0,
        right => right + usize::from(right > 0),
    };
    cells.saturating_sub(name + right + 5)
}

/// Returns the row of a call in any state, never wider than `cells`. Drops the least important parts first.
pub fn row(
    cells: usize,
    mark: (&str, Style),
    name: &str,
    summary: &str,
    right: &str,
    (text, dim): (Style, Style),
) -> Line<'static> {
    let name = clean::one_line(name);
    let summary = reveal::one_line(summary);
    let right = clean::one_line(right);
    let right = right.as_ref();
    let name = width::fit(&name, cells.saturating_sub(4)).into_owned();
    let gap = NAME.saturating_sub(width::width(&name)) + 1;
    let used = 4 + width::width(&name) + gap;
    let right = if used + width::width(right) + 12 > cells { "" } else { right };
    let room = cells.saturating_sub(used + width::width(right) + usize::from(!right.is_empty()));
    let summary = width::fit(&summary, room).into_owned();
    let blank = cells.saturating_sub(used + width::width(&summary) + width::width(right));
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

fn details(ground: &Ground<'_>, call: &Call, outcome: &Outcome, outside: &Outsides) -> Page {
    let theme = ground.theme;
    let mut page = Page::default();
    match call.shown.as_ref().map(|shown| &shown.preview) {
        Some(Preview::Edit(diff)) => {
            page.lines.extend(indented(diff::layout(diff, inner(ground), theme), 4));
        }
        Some(Preview::Command(line)) => {
            page.append(block(ground, &format!("$ {}", line.command), theme.code, outside));
        }
        Some(Preview::Batch(batch)) => {
            for diff in batch.items.iter().filter_map(|item| item.diff.as_ref()) {
                page.lines.extend(indented(diff::layout(diff, inner(ground), theme), 4));
            }
        }
        Some(Preview::Text(_)) | None => {
            page.append(block(ground, &pretty(&call.call.arguments), theme.dim, outside));
        }
    }
    let style = match outcome {
        Outcome::Failed(_) => theme.danger,
        Outcome::Done(_) | Outcome::Refused(_) | Outcome::Rehearsed(_) | Outcome::Interrupted(_) => {
            theme.text
        }
    };
    let text = outcome.text().trim_end();
    let shown = match call.is_command() {
        true => output::shown(text, style, theme),
        false => output::unchanged(text, style),
    };
    page.append(output(ground, shown, outside));
    page
}

/// Lays out the first lines of an output.
fn output(ground: &Ground<'_>, mut shown: Shown, outside: &Outsides) -> Page {
    let total = shown.text.lines().count();
    if let Some((end, _)) = shown.text.match_indices('\n').nth(OUTPUT - 1) {
        shown.cut(end);
    }
    let exists = |target: &_| outside.exists(target);
    let mut page = verbatim(ground, &output::pieces(&shown, ground.theme.link, &exists));
    if total > OUTPUT {
        let words = format!("{} more lines", total - OUTPUT);
        page.append(plain(&words, ground.theme.dim, ground.width, "    "));
    }
    page
}

fn block(ground: &Ground<'_>, text: &str, style: Style, outside: &Outsides) -> Page {
    if text.is_empty() {
        return Page::default();
    }
    let text = clean::clean(text);
    let exists = |target: &_| outside.exists(target);
    verbatim(ground, &links::split(&text, style, ground.theme.link, &exists))
}

fn verbatim(ground: &Ground<'_>, pieces: &[Piece]) -> Page {
    if pieces.is_empty() {
        return Page::default();
    }
    let indent = vec![Piece::new("    ", ground.theme.dim)];
    wrap(pieces, &Shape { width: ground.width, first: indent.clone(), rest: indent, verbatim: true })
}

fn indented(lines: Vec<Line<'static>>, by: usize) -> impl Iterator<Item = Line<'static>> {
    lines.into_iter().map(move |mut line| {
        line.spans.insert(0, Span::raw(" ".repeat(by)));
        line
    })
}

/// Formats arguments as indented JSON, or unchanged if they are not JSON, with marks for invisible characters.
pub fn pretty(arguments: &str) -> String {
    let value = serde_json::from_str::<serde_json::Value>(arguments).ok();
    let pretty = value.and_then(|value| serde_json::to_string_pretty(&value).ok());
    mark_hidden(pretty.as_deref().unwrap_or(arguments)).into_owned()
}

/// Returns the message of the user's denial of this call; `None` if the user did not deny it.
pub fn refused<'a>(ground: &Ground<'a>, index: usize, id: &CallId) -> Option<&'a str> {
    let before = &ground.agent.session.entries()[..index];
    before.iter().rev().find_map(|entry| refusal(entry.bare(), id))
}

/// Returns the message if the entry is the user's denial of this call.
pub fn refusal<'a>(entry: &'a Entry, id: &CallId) -> Option<&'a str> {
    let Entry::Decided { call, decision: Decision::Deny(words), by: By::Person { .. }, .. } = entry else {
        return None;
    };
    (call == id).then_some(words.as_str())
}

/// Returns whether the call started a sub-agent.
fn is_handed_on(ground: &Ground<'_>, call: &Call) -> bool {
    ground.agent.session.is_above(&call.call.id)
}

/// Returns the answer to the questions of this call, which precedes its outcome.
fn answer<'a>(ground: &Ground<'a>, index: usize, id: &CallId) -> Option<&'a Answer> {
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
fn answered(ground: &Ground<'_>, asked: &Questions, answer: Option<&Answer>, outcome: &Outcome) -> Page {
    let theme = ground.theme;
    let mut page = Page::default();
    for question in &asked.list {
        page.append(plain(&question.text, theme.prompt, ground.width, "? "));
        let given =
            answer.and_then(|answer| answer.given.iter().find(|given| given.keyword == question.keyword));
        let (words, style) = match (answer.map(|answer| answer.status), given) {
            (Some(Status::Answered), Some(given)) => match given.source {
                Source::Skipped => ("skipped".to_owned(), theme.dim),
                Source::Picked(_) | Source::Written(_) => (given.words(question), theme.person),
            },
            (Some(Status::Declined), _) => ("declined".to_owned(), theme.dim),
            (Some(Status::Answered), None) => ("skipped".to_owned(), theme.dim),
            (Some(Status::Deferred), _) => ("not answered".to_owned(), theme.dim),
            (None, _) => match outcome {
                Outcome::Interrupted(_) => ("stopped before an answer".to_owned(), theme.dim),
                Outcome::Done(_) | Outcome::Failed(_) | Outcome::Refused(_) | Outcome::Rehearsed(_) => {
                    (outcome.text().to_owned(), theme.dim)
                }
            },
        };
        page.append(plain(&words, style, ground.width, "  "));
        if let Some(given) = given.filter(|given| !given.note.is_empty()) {
            page.append(plain(&format!("note: {}", given.note), theme.dim, ground.width, "  "));
        }
        for note in given.into_iter().flat_map(|given| &given.notes) {
            let option = question.options.get(note.option).map_or("", |choice| choice.label.as_str());
            let words = format!("note on {}: {}", clean::one_line(option), note.text);
            page.append(plain(&words, theme.dim, ground.width, "  "));
        }
    }
    if answer.is_some_and(|answer| answer.giver == Giver::File) {
        page.append(plain("answered by a file", theme.dim, ground.width, "  "));
    }
    page
}
