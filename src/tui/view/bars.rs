//! Header, footer, and the row of chips above the composer.

use crate::agent::{self, Mode, Phase, Step};
use crate::chat::{Entry, staged};
use crate::tui::focus::{Focus, focus};
use crate::tui::keys::{Action, Scope};
use crate::tui::parts::pace::{self, Wait};
use crate::tui::parts::status::{Bar, dollars, tokens};
use crate::tui::parts::transcript::cache::Cache;
use crate::tui::parts::transcript::sub_agent::asked_by;
use crate::tui::parts::transcript::{how_long, live};
use crate::tui::prompt::Card;
use crate::tui::state::State;
use crate::tui::text::{clean, width};
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use std::time::Duration;

/// Maximum width of a model's name in the footer, in columns.
const NAME: usize = 24;

/// Draws title, model, project and branch.
pub fn head(state: &State, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    let mut bar = Bar::between(" · ", theme.dim);
    bar.left("aye", theme.strong, 1);
    let title = state.agent.session.title().unwrap_or_default();
    bar.left(staged::titled(title, state.agent.is_dry_run() && !title.is_empty()), theme.text, 3);
    if state.agent.session.title().is_some() {
        bar.shrinks();
    }
    let model = match answering(&state.agent) {
        _ if state.connection.tour => "the tour",
        "" => &state.connection.model,
        model => model,
    };
    bar.right(model, theme.text, 2);
    bar.right(state.settings.place.as_str(), theme.dim, 4);
    bar.draw(area, buffer);
}

/// Returns the model that replies: the requested one, or the one the provider used instead.
fn answering(agent: &agent::State) -> &str {
    let replied = || {
        agent.session.entries().iter().rev().find_map(|entry| {
            if let Entry::Replied { model, .. } = entry { Some(model.as_str()) } else { None }
        })
    };
    match &agent.phase {
        Phase::Thinking(draft) => draft.model.as_deref().unwrap_or(&agent.model),
        Phase::Acting { .. } => replied().unwrap_or(&agent.model),
        Phase::Idle if agent.model.is_empty() => replied().unwrap_or_default(),
        Phase::Idle => &agent.model,
    }
}

/// Draws the line below the header.
pub fn rule(state: &State, area: Rect, buffer: &mut Buffer) {
    for x in area.left()..area.right() {
        for y in area.top()..area.bottom() {
            buffer[(x, y)].set_symbol("─").set_style(state.theme.border_dim);
        }
    }
}

/// Highlights DRY RUN in the footer, which is otherwise dimmed under an overlay.
pub fn dry_run(state: &State, foot: Rect, buffer: &mut Buffer) {
    if state.agent.is_dry_run() && !foot.is_empty() {
        let words = width::fit("DRY RUN", usize::from(foot.width)).len();
        let cells = u16::try_from(words).unwrap_or(u16::MAX).saturating_add(1).min(foot.width);
        buffer.set_style(Rect { width: cells, ..foot }, state.theme.danger);
    }
}

/// Draws dry run state, permission mode, usage, current activity and pending prompts.
pub fn foot(state: &State, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    let session = &state.agent.session;
    let mut bar = Bar::between(" · ", theme.dim);
    if state.agent.is_dry_run() {
        bar.left("DRY RUN", theme.danger, 0);
        bar.left(format!("{} rehearsed", session.rehearsed()), theme.danger, 5);
        if session.would_ask() > 0 {
            bar.left(format!("would have asked: {}", session.would_ask()), theme.warning, 3);
        }
    }
    if state.agent.applies() {
        bar.left("LIVE RUN", theme.danger, 0);
    }
    if state.saving.unsaved().is_some() {
        bar.left("NOT SAVED", theme.danger, 0);
    } else if state.keeping.has_failed() {
        bar.left("draft not saved", theme.danger, 0);
    }
    if let Some(words) = doing(state) {
        bar.left(words, theme.accent, 2);
    }
    let wait = state.pace.wait(&state.agent, state.now);
    let now = state.keys.hint(Scope::Again, Action::RetryNow);
    if matches!(wait, Some(Wait::Again { .. })) && !now.is_empty() {
        bar.left(now + " now", theme.dim, 3);
    }
    let stop = state.keys.hint(Scope::Anywhere, Action::Stop);
    if wait.is_some() && !stop.is_empty() {
        bar.left(stop + " stops", theme.dim, 3);
    }
    let mode = state.agent.policy.mode;
    match mode {
        Mode::Plan | Mode::Ask => bar.left(format!("{} mode", mode.word()), theme.dim, 4),
        // Always visible, also on narrow screens and without colours.
        Mode::Auto => bar.left("AUTO MODE", theme.warning, 0),
        Mode::Full => bar.left("FULL MODE", theme.danger, 0),
    };
    if focus(state) == Focus::Transcript {
        // The composer shows no cursor while a call has the keyboard.
        let key = |action| state.keys.hint(Scope::Transcript, action);
        let to = match (&*key(Action::SelectPrevious), &*key(Action::SelectNext)) {
            ("up", "down") => "↑↓".to_owned(),
            (up, down) => format!("{up} {down}").trim().to_owned(),
        };
        let words = [
            (key(Action::Toggle), "open", 1),
            (to, "move", 4),
            (key(Action::ReadWhole), "open in full", 5),
            (key(Action::Close), "back", 2),
        ];
        for (key, words, goes) in words.iter().filter(|(key, ..)| !key.is_empty()) {
            bar.right(format!("{key} {words}"), theme.text, *goes);
        }
        bar.draw(area, buffer);
        return;
    }
    let gauge = state.agent.gauge();
    if let Some(share) = gauge.share() {
        let about = if gauge.estimated { "~" } else { "" };
        let style = if share >= 80 { theme.warning } else { theme.dim };
        bar.left(format!("ctx {about}{share}%"), style, if share >= 80 { 3 } else { 7 });
    }
    let usage = session.usage();
    if usage.total() > 0 {
        bar.left(format!("{} tok", tokens(usage.total())), theme.dim, 8);
        if let Some((sent, cached, received)) = state.connection.price {
            let fresh = usage.input.saturating_sub(usage.cached) as f64;
            let cost = fresh * sent + usage.cached as f64 * cached + usage.output as f64 * received;
            bar.left(dollars(cost / 1e6), theme.dim, 6);
        }
    }
    if let Some(figures) = state.pace.figures().filter(|_| wait.is_none() && state.prompt.is_none()) {
        let took = figures.took.filter(|_| state.agent.is_idle());
        bar.left(figures.soon(), theme.dim, 10);
        bar.left(figures.fast().unwrap_or_default(), theme.dim, 9);
        bar.left(took.map(|took| format!("took {}", how_long(took))).unwrap_or_default(), theme.dim, 11);
    }
    let help = match state.composer.is_empty() && state.prompt.is_none() {
        true => state.keys.hint(Scope::Composer, Action::HelpWhenEmpty),
        false => state.keys.hint(Scope::Anywhere, Action::Help),
    };
    bar.right(format!("{help} help"), theme.dim, 1);
    bar.draw(area, buffer);
}

/// Describes the current activity and its duration, or the pending prompt.
fn doing(state: &State) -> Option<String> {
    let elapsed = elapsed(state.now.saturating_sub(state.since));
    let spin = live::spinner(state.now);
    let waits = state.prompt.as_ref().map(|prompt| match state.agent.place() {
        (at, of) if of > 1 && prompt.call().is_some() => format!("waiting for you · {at} of {of}"),
        _ => "waiting for you".to_owned(),
    });
    let runs = || match &state.agent.phase {
        Phase::Idle => None,
        Phase::Thinking(draft) => Some(match state.pace.wait(&state.agent, state.now) {
            Some(Wait::Again { why, left }) => {
                format!("try {} of {} in {}", why.attempt, why.of, pace::seconds(left))
            }
            Some(Wait::Asking(_)) => format!("{spin} retrying · {elapsed}"),
            Some(Wait::Quiet { since, .. }) => format!("no data for {}", pace::seconds(since)),
            // The header may be too narrow for it.
            None if !state.agent.model.is_empty() && answering(&state.agent) != state.agent.model => {
                let model = clean::one_line(answering(&state.agent));
                format!("{spin} {} replying · {elapsed}", width::fit(&model, NAME))
            }
            None if draft.is_summary() => format!("{spin} summarizing · {elapsed}"),
            None => format!("{spin} replying · {elapsed}"),
        }),
        Phase::Acting { calls, .. } => {
            let runs = calls.iter().find(|pending| matches!(pending.step, Step::Running(_)));
            let asks = calls.iter().any(|pending| matches!(pending.step, Step::Consulting(_)));
            let idle = if asks { "reviewing" } else { "planning" };
            let sub_agents = calls.iter().filter(|pending| pending.sub_agent().is_some()).count();
            Some(match (runs, sub_agents) {
                (Some(pending), _) => format!("{spin} {} · {elapsed}", pending.call.name),
                (None, 0) => format!("{spin} {idle} · {elapsed}"),
                (None, 1) => format!("{spin} 1 sub-agent running · {elapsed}"),
                (None, count) => format!("{spin} {count} sub-agents running · {elapsed}"),
            })
        }
    };
    waits.or_else(runs)
}

/// Formats a duration in whole seconds, so that the footer does not flicker.
fn elapsed(time: Duration) -> String {
    pace::seconds(time.as_secs())
}

/// Draws the row between transcript and composer: search, parked question, number of new lines.
pub fn chip(state: &State, cache: &mut Cache, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    let mut bar = Bar::between("  ", theme.dim);
    if let Some(search) = &state.transcript.search {
        let nothing = if search.nothing && !search.words.is_empty() { " · not found" } else { "" };
        bar.left(format!("search: {}▏{nothing}", search.words), theme.accent, 0);
        bar.right("↑↓ next match · esc back", theme.dim, 3);
    }
    if let Some(Card::Question(card)) = state.prompt.as_ref().map(|prompt| &prompt.card)
        && card.is_parked()
    {
        bar.left(card.chip(&state.keys), theme.prompt, 0);
        let by = state.agent.session.sub_agent(card.call()).map(asked_by);
        bar.left(by.unwrap_or_default(), theme.prompt, 5);
    }
    if !state.transcript.follows() {
        let words = match state.transcript.new_lines(&state.ground(), cache) {
            0 => "more below ↓".to_owned(),
            1 => "1 new line ↓".to_owned(),
            lines => format!("{lines} new lines ↓"),
        };
        bar.right(words, theme.accent, 1);
    }
    bar.draw(area, buffer);
}
