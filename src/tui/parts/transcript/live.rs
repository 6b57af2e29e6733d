//! The live item: everything that is not an entry yet. The streaming reply, pending calls and queued messages.

use super::cache::{Laid, Outsides};
use super::pieces::Pieces;
use super::{Ground, call, entry, how_long, sub_agent};
use crate::agent::{Draft, Look, Pending, Phase, Step, Waiting};
use crate::chat::{Ending, Entry, TurnId, escape};
use crate::tui::keys::{Action, Scope};
use crate::tui::parts::gist::gist;
use crate::tui::parts::pace::{self, Wait};
use crate::tui::state::SPIN;
use crate::tui::text::{Page, output, width, wrap};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use std::sync::Arc;
use std::time::Duration;

/// Maximum lines shown of a running call's output.
const OUTPUT: usize = 4;
/// Maximum bytes of a queued call's description used for its row.
const IN_LINE: usize = 400;
/// Frames of the spinner.
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// Identity of a reply: turn, number of entries before it, and number of times its text was reclassified as reasoning.
type Which = (TurnId, usize, u32);

/// Layout of the streaming reply, with final layouts of closed blocks.
#[derive(Default)]
pub struct Live {
    /// Identity of the reply.
    reply: Option<Which>,
    pieces: Pieces,
    /// Pieces of the previous reply, until its entry takes them over.
    left: Option<Pieces>,
}

/// Returns the frame of the spinner at a time.
pub fn spinner(now: Duration) -> &'static str {
    SPINNER[(now.as_millis() / SPIN.as_millis() % 10) as usize]
}

impl Live {
    /// Lays out the live item. Reuses the layouts of closed blocks of the reply.
    pub fn lay_out(&mut self, ground: &Ground<'_>, outside: &Outsides) -> Laid {
        let mut laid = match &ground.agent.phase {
            Phase::Idle => {
                let mut laid = self.nothing();
                add(&mut laid, offer(ground));
                laid
            }
            Phase::Thinking(draft) => self.reply(ground, draft, outside),
            Phase::Acting { calls, .. } => {
                let mut laid = self.nothing();
                add(&mut laid, acting(ground, calls));
                laid
            }
        };
        add(&mut laid, queue(ground, outside));
        laid
    }

    /// Takes the layout of a finished reply with this text.
    pub fn take(&mut self, text: &str) -> Option<Pieces> {
        self.left.take_if(|pieces| pieces.begin(text))
    }

    fn nothing(&mut self) -> Laid {
        self.leave(None);
        Laid::default()
    }

    fn leave(&mut self, next: Option<Which>) {
        let pieces = std::mem::take(&mut self.pieces);
        if pieces.done() > 0 {
            self.left = Some(pieces);
        }
        self.reply = next;
    }

    fn reply(&mut self, ground: &Ground<'_>, draft: &Draft, outside: &Outsides) -> Laid {
        if draft.is_summary() {
            let mut laid = self.nothing();
            add(&mut laid, status(ground, draft));
            return laid;
        }
        let reply = Some((draft.turn, ground.agent.session.entries().len(), draft.turned));
        // A shorter text belongs to a different reply.
        if self.reply != reply || draft.text.len() < self.pieces.done() {
            self.leave(reply);
        }
        self.pieces.close(ground, &draft.text, outside);
        let mut laid = Laid::default();
        let mut head = Page::default();
        let has_text = !draft.text.trim().is_empty();
        if !draft.reasoning.trim().is_empty() {
            if !(has_text && entry::ends_in_row(ground, ground.agent.session.entries())) {
                head.lines.push(Line::default());
            }
            head.append(thinking(ground, draft, has_text));
        }
        if has_text {
            head.lines.push(Line::default());
        }
        add(&mut laid, head);
        self.pieces.add_to(&mut laid);
        if let Some(open) = self.pieces.open(ground, &draft.text, outside) {
            laid.add(open);
        }
        add(&mut laid, status(ground, draft));
        laid
    }
}

fn add(laid: &mut Laid, page: Page) {
    if !page.lines.is_empty() {
        laid.add(Arc::new(page));
    }
}

fn thinking(ground: &Ground<'_>, draft: &Draft, has_text: bool) -> Page {
    if has_text {
        let took = draft.thought.map(entry::took).unwrap_or_default();
        return entry::thought(ground, "", took, false);
    }
    // Only the last lines. The finished entry can be opened for the rest.
    let tail: String =
        draft.reasoning.chars().rev().take(2000).collect::<Vec<_>>().into_iter().rev().collect();
    let lines = wrap::plain(&tail, ground.theme.dim, ground.width.saturating_sub(4).max(1));
    let mut page = Page::default();
    for mut line in lines.into_iter().rev().take(3).rev() {
        line.spans.insert(0, Span::raw("    "));
        page.lines.push(line);
    }
    page
}

/// Lays out the activity of the model if its text does not show it.
fn status(ground: &Ground<'_>, draft: &Draft) -> Page {
    if let Some(wait) = ground.pace.wait(ground.agent, ground.now) {
        return waiting(ground, wait);
    }
    let elapsed = how_long(ground.now.saturating_sub(ground.since));
    let words = if draft.is_summary() {
        format!("summarizing earlier turns… · {elapsed}")
    } else if let Some((name, count)) = &draft.writing {
        format!("writing call: {name} · {}", bytes(*count))
    } else if !draft.text.is_empty() {
        return Page::default();
    } else if !draft.reasoning.is_empty() {
        format!("thinking · {elapsed}")
    } else {
        let model = match &draft.model {
            Some(model) => model,
            None if ground.agent.model.is_empty() => "the provider",
            None => &ground.agent.model,
        };
        format!("waiting for {model} · {elapsed}")
    };
    let mut page = Page { lines: vec![Line::default()], ..Page::default() };
    page.append(entry::plain(&words, ground.theme.dim, ground.width, &format!("  {} ", spinner(ground.now))));
    page
}

/// Lays out the reason of a wait and the keys that end it.
fn waiting(ground: &Ground<'_>, wait: Wait<'_>) -> Page {
    let theme = ground.theme;
    let line = |words: &str, style, first| entry::plain(words, style, ground.width, first);
    let mut page = Page { lines: vec![Line::default()], ..Page::default() };
    let stop = ground.keys.hint(Scope::Anywhere, Action::Stop);
    let stop = if stop.is_empty() { String::new() } else { format!(" · {stop} stop") };
    match wait {
        Wait::Again { why, left } => {
            page.append(line(&why.why, theme.warning, "  ↻ "));
            let now = ground.keys.hint(Scope::Again, Action::RetryNow);
            let now = if now.is_empty() { String::new() } else { format!(" · {now} retry now") };
            let try_in = format!("try {} of {} in {}", why.attempt, why.of, pace::seconds(left));
            page.append(line(&format!("{try_in}{now}{stop}"), theme.text, "    "));
        }
        Wait::Asking(why) => {
            let elapsed = how_long(ground.now.saturating_sub(ground.since));
            page.append(line(&why.why, theme.dim, "  ↻ "));
            let mark = format!("  {} ", spinner(ground.now));
            let words = format!("retrying, try {} of {} · {elapsed}{stop}", why.attempt, why.of);
            page.append(line(&words, theme.dim, &mark));
        }
        Wait::Quiet { since, limit } => {
            let (since, limit) = (pace::seconds(since), pace::seconds(limit));
            let words = format!("no data for {since} · timeout at {limit}{stop}");
            page.append(line(&words, theme.warning, "  … "));
        }
    }
    page
}

/// Lays out the keys that continue after a failed or stopped turn.
fn offer(ground: &Ground<'_>) -> Page {
    let key = ground.keys.hint(Scope::Again, Action::RetryNow);
    if key.is_empty() || !ground.agent.can_ask_again() {
        return Page::default();
    }
    let mut page = Page { lines: vec![Line::default()], ..Page::default() };
    // After a failure also offer another model, provider or API key.
    let hint = |action| ground.keys.hint(Scope::Anywhere, action);
    let others = [(hint(Action::Models), "change model"), (hint(Action::Connect), "connect provider")];
    let failed = |ending: &Ending| matches!(ending, Ending::Failed(_));
    let endings = ground.agent.session.entries().iter().rev().find_map(|entry| match entry {
        Entry::Ended { ending } => Some(ending),
        _ => None,
    });
    let mut other = String::new();
    for (key, words) in others.iter().filter(|(key, _)| endings.is_some_and(failed) && !key.is_empty()) {
        other.push_str(&format!(" · {key} {words}"));
    }
    page.append(entry::plain(&format!("{key} retry{other}"), ground.theme.dim, ground.width, "  ↻ "));
    page
}

fn acting(ground: &Ground<'_>, calls: &[Pending]) -> Page {
    let theme = ground.theme;
    let mut page = Page::default();
    // The current question has a prompt or a chip. A question queued after another prompt gets a row.
    let asked = match ground.agent.waiting() {
        Some(Waiting::Answer { call, .. }) => Some(&call.id),
        Some(Waiting::Approval { .. }) | None => None,
    };
    let shown = |pending: &&Pending| match &pending.step {
        Step::Settled => false,
        Step::ForAnswer(_) => asked != Some(&pending.call.id),
        Step::Waiting
        | Step::Planning
        | Step::Consulting(_)
        | Step::ForApproval(..)
        | Step::Running(_)
        | Step::Delegated(_) => true,
    };
    let open = calls.iter().filter(shown);
    for pending in open {
        if let Some(sub_agent) = pending.sub_agent() {
            page.lines.extend(sub_agent::at_work(ground, pending, sub_agent));
            continue;
        }
        let (mark, style, words) = match &pending.step {
            Step::Waiting => ("·", theme.dim, in_line(pending)),
            Step::Planning => (spinner(ground.now), theme.accent, "planning".to_owned()),
            Step::Consulting(asked) => {
                let words = format!("asking {}… · {}", asked.adviser.words(), asked.plan.summary);
                (spinner(ground.now), theme.accent, words)
            }
            Step::ForApproval(plan, _) => ("?", theme.prompt, plan.summary.clone()),
            Step::Running(plan) => (spinner(ground.now), theme.accent, plan.summary.clone()),
            Step::ForAnswer(questions) => {
                let text = questions.list.first().map_or("", |question| question.text.as_str());
                ("?", theme.prompt, format!("waiting for your answer: {}", width::cut(text, IN_LINE)))
            }
            Step::Delegated(_) | Step::Settled => continue,
        };
        let right = match &pending.step {
            Step::Running(_) | Step::Consulting(_) => how_long(ground.now.saturating_sub(ground.since)),
            Step::Waiting
            | Step::Planning
            | Step::ForApproval(..)
            | Step::ForAnswer(_)
            | Step::Delegated(_)
            | Step::Settled => String::new(),
        };
        let name = &pending.call.name;
        page.lines.push(call::row(
            ground.width,
            (mark, style),
            name,
            &words,
            &right,
            (theme.text, theme.dim),
        ));
        let shown = output::shown(escape::trim_unfinished(&pending.output), theme.dim, theme);
        page.lines.extend(shown.last(OUTPUT).iter().map(|line| tail(line, ground.width)));
    }
    if !page.lines.is_empty() && !entry::ends_in_row(ground, ground.agent.session.entries()) {
        page.lines.insert(0, Line::default());
    }
    page
}

/// Returns the row text of a queued call, with its summary as far as known.
fn in_line(pending: &Pending) -> String {
    let what = match (pending.ahead.yes(), &pending.ahead.look) {
        (Some(plan), _) => plan.summary.as_str(),
        (None, Some(Look::Would { summary, .. })) => summary.as_str(),
        (None, Some(Look::Question(text))) => text.as_str(),
        (None, Some(Look::Fails(_)) | None) => &gist(&pending.call.arguments).about,
    };
    let what = width::cut(what, IN_LINE);
    match pending.ahead.has_yes() {
        true => format!("approved, queued: {what}"),
        false => format!("queued: {what}"),
    }
}

/// Returns a line of output, truncated to the width.
fn tail(line: &[(&str, Style)], cells: usize) -> Line<'static> {
    let mut spans = vec![Span::raw("    ")];
    let mut room = cells.saturating_sub(4);
    for (part, look) in line {
        let words = width::fit(part, room).into_owned();
        room -= width::width(&words).min(room);
        spans.push(Span::styled(words, *look));
        if room == 0 {
            break;
        }
    }
    Line::from(spans)
}

/// Lays out messages that the user queued while the turn ran.
fn queue(ground: &Ground<'_>, outside: &Outsides) -> Page {
    let mut page = Page::default();
    for text in &ground.agent.queue {
        page.lines.push(Line::default());
        page.append(entry::said(ground, text, outside));
    }
    if !page.lines.is_empty() {
        let hint = |action| ground.keys.hint(Scope::Composer, action);
        let mut words = match (ground.agent.is_idle(), hint(Action::Send)) {
            (false, _) => "queued for the next request".to_owned(),
            (true, enter) if enter.is_empty() => "not sent".to_owned(),
            (true, enter) => format!("not sent · {enter} send"),
        };
        let back = hint(Action::TakeBack);
        if !back.is_empty() {
            words.push_str(&format!(" · {back} take back"));
        }
        page.append(entry::plain(&words, ground.theme.dim, ground.width, "  "));
    }
    page
}

/// Formats a number of bytes: `12 bytes`, `3.4 kB`, `1.2 MB`.
pub fn bytes(count: usize) -> String {
    match count {
        0..1000 => format!("{count} bytes"),
        1000..1_000_000 => format!("{:.1} kB", count as f64 / 1e3),
        _ => format!("{:.1} MB", count as f64 / 1e6),
    }
}
