//! What is not an entry yet: the reply that comes, the calls under way, and what waits to be sent.

use super::cache::{Laid, Outsides};
use super::{Ground, call, entry, how_long};
use crate::agent::{Draft, Pending, Phase, Step};
use crate::chat::TurnId;
use crate::tui::text::{Page, markdown, width, wrap};
use ratatui::text::Line;
use std::sync::Arc;
use std::time::Duration;

/// Closed blocks of the reply are gathered in pieces of about so many lines, so that adding one never copies all.
const PIECE: usize = 400;
/// A block that is not closed is laid out as a whole up to so many bytes; of a longer one only the end is shown
/// while it comes.
const OPEN_BLOCK: usize = 32 * 1024;
/// Blocks are looked for in so many bytes at a time: of a longer one the end is not waited for.
const LOOK: usize = 256 * 1024;
/// Of a running call's output so many lines are shown.
const OUTPUT: usize = 4;
/// The spinner's pictures, one for each tenth of a second.
const SPINNER: [&str; 10] = ["⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏"];

/// The reply so far: its closed blocks are laid out once.
#[derive(Default)]
pub struct Live {
    turn: Option<TurnId>,
    /// Bytes of the reply that are laid out for good.
    done: usize,
    pages: Vec<Arc<Page>>,
    height: usize,
    /// Bytes that were laid out since the start, for tests of what a frame costs.
    #[cfg(test)]
    pub bytes: usize,
}

/// The spinner's picture now.
pub fn spinner(now: Duration) -> &'static str {
    SPINNER[(now.as_millis() / 100 % 10) as usize]
}

impl Live {
    /// What is live now. The reply's closed blocks come from the last time.
    pub fn lay_out(&mut self, ground: &Ground<'_>, outside: &Outsides) -> Laid {
        let mut laid = match &ground.agent.phase {
            Phase::Idle => self.nothing(),
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

    fn nothing(&mut self) -> Laid {
        *self = Self::default();
        Laid::default()
    }

    fn reply(&mut self, ground: &Ground<'_>, draft: &Draft, outside: &Outsides) -> Laid {
        // A reply of the same turn that is shorter is another one.
        if self.turn != Some(draft.turn) || draft.text.len() < self.done {
            *self = Self { turn: Some(draft.turn), ..Self::default() };
        }
        self.close(ground, &draft.text, outside);
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
        laid.height += self.height;
        laid.pages.extend(self.pages.iter().cloned());
        add(&mut laid, self.open(ground, &draft.text, outside));
        add(&mut laid, status(ground, draft));
        laid
    }

    /// Lays out the blocks that were closed since the last time.
    fn close(&mut self, ground: &Ground<'_>, text: &str, outside: &Outsides) {
        while self.close_some(ground, text, outside) {}
    }

    /// Lays out the next of them. Whether there were any.
    fn close_some(&mut self, ground: &Ground<'_>, text: &str, outside: &Outsides) -> bool {
        let rest = entry::beginning(&text[self.done..], LOOK);
        let stable = markdown::stable_prefix(rest);
        if stable == 0 {
            return false;
        }
        let mut page = outside.markdown(ground, ground.width, &rest[..stable]);
        self.done += stable;
        if page.lines.is_empty() {
            return true;
        }
        if self.height > 0 {
            let mut spaced = Page { lines: vec![Line::default()], ..Page::default() };
            spaced.append(page);
            page = spaced;
        }
        self.height += page.lines.len();
        match self.pages.last_mut() {
            Some(last) if last.lines.len() < PIECE => Arc::make_mut(last).append(page),
            _ => self.pages.push(Arc::new(page)),
        }
        true
    }

    /// Lays out what may still change.
    fn open(&mut self, ground: &Ground<'_>, text: &str, outside: &Outsides) -> Page {
        let rest = &text[self.done..];
        #[cfg(test)]
        {
            self.bytes += rest.len().min(OPEN_BLOCK);
        }
        if rest.trim().is_empty() {
            return Page::default();
        }
        let mut page = Page::default();
        if self.height > 0 {
            page.lines.push(Line::default());
        }
        if rest.len() <= OPEN_BLOCK {
            page.append(outside.markdown(ground, ground.width, rest));
            return page;
        }
        let mut from = rest.len() - OPEN_BLOCK / 2;
        while !rest.is_char_boundary(from) {
            from += 1;
        }
        let words = format!("… {} before this, shown when it is whole", bytes(from));
        page.append(entry::plain(&words, ground.theme.dim, ground.width, ""));
        page.lines.extend(wrap::plain(&rest[from..], ground.theme.text, ground.width));
        page
    }
}

fn add(laid: &mut Laid, page: Page) {
    if !page.lines.is_empty() {
        laid.height += page.lines.len();
        laid.pages.push(Arc::new(page));
    }
}

fn thinking(ground: &Ground<'_>, draft: &Draft, has_text: bool) -> Page {
    if has_text {
        let took = draft.thought.map(entry::took).unwrap_or_default();
        return entry::thought(ground, "", took, false);
    }
    // The last words only: the rest is one key away once the reply is whole.
    let tail: String =
        draft.reasoning.chars().rev().take(2000).collect::<Vec<_>>().into_iter().rev().collect();
    let lines = wrap::plain(&tail, ground.theme.dim, ground.width.saturating_sub(4).max(1));
    let mut page = Page::default();
    for mut line in lines.into_iter().rev().take(3).rev() {
        line.spans.insert(0, ratatui::text::Span::raw("    "));
        page.lines.push(line);
    }
    page
}

/// What the model does, where its text does not show it.
fn status(ground: &Ground<'_>, draft: &Draft) -> Page {
    let elapsed = how_long(ground.now.saturating_sub(ground.since));
    let words = if let Some(again) = &draft.retrying {
        format!("{}; trying again in {} (try {})", again.why, how_long(again.wait), again.attempt)
    } else if let Some((name, count)) = &draft.writing {
        format!("writes a call of {name} · {}", bytes(*count))
    } else if !draft.text.is_empty() {
        return Page::default();
    } else if !draft.reasoning.is_empty() {
        format!("thinks · {elapsed}")
    } else {
        format!("waiting for {} · {elapsed}", ground.agent.model)
    };
    let mut page = Page { lines: vec![Line::default()], ..Page::default() };
    page.append(entry::plain(&words, ground.theme.dim, ground.width, &format!("  {} ", spinner(ground.now))));
    page
}

fn acting(ground: &Ground<'_>, calls: &[Pending]) -> Page {
    let theme = ground.theme;
    let mut page = Page::default();
    // A question is its card, or its chip.
    let shown = |step: &Step| !matches!(step, Step::Settled | Step::ForAnswer(_));
    let open = calls.iter().filter(|pending| shown(&pending.step));
    for pending in open {
        let (mark, style, words) = match &pending.step {
            Step::Waiting => ("·", theme.dim, "waits for the one before".to_owned()),
            Step::Planning => (spinner(ground.now), theme.accent, "looks".to_owned()),
            Step::ForApproval(plan, _) => ("?", theme.prompt, plan.summary.clone()),
            Step::Running(plan) => (spinner(ground.now), theme.accent, plan.summary.clone()),
            Step::ForAnswer(_) | Step::Settled => continue,
        };
        let right = match &pending.step {
            Step::Running(_) => how_long(ground.now.saturating_sub(ground.since)),
            Step::Waiting | Step::Planning | Step::ForApproval(..) | Step::ForAnswer(_) | Step::Settled => {
                String::new()
            }
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
        let tail: Vec<&str> = pending.output.lines().rev().take(OUTPUT).collect();
        for line in tail.into_iter().rev() {
            let line = crate::tui::text::clean::one_line(line);
            let line = width::fit(&line, ground.width.saturating_sub(4)).into_owned();
            page.lines.push(Line::styled(format!("    {line}"), theme.dim));
        }
    }
    if !page.lines.is_empty() && !entry::ends_in_row(ground, ground.agent.session.entries()) {
        page.lines.insert(0, Line::default());
    }
    page
}

/// What the person said while the turn ran.
fn queue(ground: &Ground<'_>, outside: &Outsides) -> Page {
    let mut page = Page::default();
    for text in &ground.agent.queue {
        page.lines.push(Line::default());
        page.append(entry::said(ground, text, outside));
    }
    if !page.lines.is_empty() {
        page.append(entry::plain("waits; goes with the next request", ground.theme.dim, ground.width, "  "));
    }
    page
}

/// So many bytes, in words.
pub fn bytes(count: usize) -> String {
    match count {
        0..1000 => format!("{count} bytes"),
        1000..1_000_000 => format!("{:.1} kB", count as f64 / 1e3),
        _ => format!("{:.1} MB", count as f64 / 1e6),
    }
}
