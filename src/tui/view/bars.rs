//! Header, footer, and the row of chips above the composer.

use super::layout::shows_command_hint;
use crate::agent::{self, CallStage, Phase};
use crate::chat::apply_message::COPY_TO_PROJECT;
use crate::chat::user_command::parse_command_draft;
use crate::chat::{Entry, RESTORE_FILES, result_origin};
use crate::policy::Mode;
use crate::text::{clean, width};
use crate::tui::focus::{Focus, current_focus};
use crate::tui::keys::{Action, Scope};
use crate::tui::parts::call_action::name_pending_action;
use crate::tui::parts::quantities::{format_reply_time, format_seconds};
use crate::tui::parts::reply_timing::Wait;
use crate::tui::parts::spinner::spinner_frame;
use crate::tui::parts::status_bar::{StatusBar, format_dollars, format_tokens};
use crate::tui::parts::sub_agent_name::quote_name;
use crate::tui::parts::transcript::Layouts;
use crate::tui::parts::transcript::layout_cache::LayoutCache;
use crate::tui::state::State;
use ratatui::buffer::Buffer;
use ratatui::layout::Rect;

/// Maximum width of a model's name in the footer, in columns.
const MAX_MODEL_NAME: usize = 24;

/// Draws title, model, project and branch. The last argument of each segment is its priority: if the bar is too narrow,
/// the segment with the highest number is removed first, 0 is never removed.
pub fn draw_header(state: &State, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    let mut bar = StatusBar::with_separator(" · ", theme.dim);
    bar.push_left("aye", theme.strong, 1);
    let title = state.agent.session.title().unwrap_or_default();
    bar.push_left(result_origin::mark_dry_run(title, state.agent.is_dry_run() && !title.is_empty()), theme.text, 3);
    if state.agent.session.title().is_some() {
        bar.shrink_last();
    }
    let model = match replying_model(&state.agent) {
        _ if state.session.connection.is_tour => "the tour",
        _ if state.session.connection.is_unconfigured => "no provider",
        "" => &state.session.connection.model,
        model => model,
    };
    bar.push_right(model, theme.text, 2);
    bar.push_right(state.settings.location.as_str(), theme.dim, 4);
    bar.draw(area, buffer);
}

/// Returns the model that replies: the requested one, or the one the provider used instead. Empty if not yet known.
fn replying_model(agent: &agent::State) -> &str {
    let last_reply_model = || {
        agent
            .session
            .entries()
            .iter()
            .rev()
            .find_map(|entry| if let Entry::Replied { model, .. } = entry { Some(model.as_str()) } else { None })
    };
    match &agent.phase {
        Phase::Replying(draft) => draft.model.as_deref().unwrap_or(&agent.model.name),
        Phase::RunningCalls { .. } => last_reply_model().unwrap_or(&agent.model.name),
        Phase::Idle | Phase::RunningUserCommand(_) if agent.model.name.is_empty() => {
            last_reply_model().unwrap_or_default()
        }
        Phase::Idle | Phase::RunningUserCommand(_) => &agent.model.name,
    }
}

/// Draws the line below the header or between transcript and composer.
pub fn draw_horizontal_line(state: &State, area: Rect, buffer: &mut Buffer) {
    for x in area.left()..area.right() {
        for y in area.top()..area.bottom() {
            buffer[(x, y)].set_symbol("─").set_style(state.theme.border_dim);
        }
    }
}

/// Highlights DRY RUN in the footer, which is otherwise dimmed under a popup.
pub fn highlight_dry_run(state: &State, footer: Rect, buffer: &mut Buffer) {
    if state.agent.is_dry_run() && !footer.is_empty() {
        let columns = width::fit_start("DRY RUN", usize::from(footer.width)).len();
        // The bar begins with a blank cell.
        let cells = u16::try_from(columns).unwrap_or(u16::MAX).saturating_add(1).min(footer.width);
        buffer.set_style(Rect { width: cells, ..footer }, state.theme.danger);
    }
}

/// Draws dry run state, permission mode, usage, current activity and pending prompts.
pub fn draw_footer(state: &State, cache: &mut LayoutCache, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    let session = &state.agent.session;
    let mut bar = StatusBar::with_separator(" · ", theme.dim);
    if state.agent.is_dry_run() {
        bar.push_left("DRY RUN", theme.danger, 0);
        bar.push_left(format!("{} rehearsed", session.rehearsed_count()), theme.danger, 5);
        if session.would_ask_count() > 0 {
            bar.push_left(format!("would have asked: {}", session.would_ask_count()), theme.warning, 3);
        }
    }
    // Neither an undo nor a copied file is the live run of what was rehearsed.
    let is_rehearsed = |tool: &str| ![RESTORE_FILES, COPY_TO_PROJECT].contains(&tool);
    let applies_rehearsal = || state.agent.pending().iter().all(|pending| is_rehearsed(&pending.call.name));
    if state.agent.is_applying() && applies_rehearsal() {
        bar.push_left("LIVE RUN", theme.danger, 0);
    }
    if state.session.saving.unsaved().is_some() {
        bar.push_left("NOT SAVED", theme.danger, 0);
    } else if state.input.draft_saving.has_failed() {
        bar.push_left("draft not saved", theme.danger, 0);
    }
    if let Some(activity) = describe_activity(state) {
        bar.push_left(activity, theme.accent, 2);
    }
    let background_count = state.agent.background.len();
    if background_count > 0 {
        bar.push_left(format!("{background_count} in background"), theme.accent, 1);
    }
    let wait = state.timing.pace.current_wait(&state.agent, state.timing.now);
    let retry_key = state.keys.first_chord(Scope::FailedRequest, Action::RetryNow);
    if matches!(wait, Some(Wait::Countdown { .. })) && !retry_key.is_empty() {
        bar.push_left(retry_key + " now", theme.dim, 3);
    }
    let stop_key = state.keys.first_chord(Scope::Anywhere, Action::Stop);
    if wait.is_some() && !stop_key.is_empty() {
        bar.push_left(stop_key + " stops", theme.dim, 3);
    }
    let mode = state.agent.policy.mode;
    match mode {
        Mode::Plan | Mode::Ask => bar.push_left(format!("{} mode", mode.as_str()), theme.dim, 4),
        // Always visible, also on narrow screens and without colours.
        Mode::Auto => bar.push_left("AUTO MODE", theme.warning, 0),
        Mode::Full => bar.push_left("FULL MODE", theme.danger, 0),
    };
    if current_focus(state) == Focus::Transcript {
        // While an entry is selected the composer shows no cursor, so the footer shows which keys work.
        let chord = |action| state.keys.first_chord(Scope::Transcript, action);
        let move_keys = match (&*chord(Action::SelectPrevious), &*chord(Action::SelectNext)) {
            ("up", "down") => "↑↓".to_owned(),
            (up, down) => format!("{up} {down}").trim().to_owned(),
        };
        let mut layouts = Layouts { context: state.layout_context(), cache, height: 0 };
        let is_open = state.viewport.transcript.is_selection_open(&mut layouts);
        let hints = [
            (chord(Action::Toggle), if is_open { "close" } else { "open" }, 1),
            (move_keys, "move", 4),
            (chord(Action::OpenFull), "open in full", 5),
            (chord(Action::ExplainCall), "why", 6),
            (chord(Action::Close), "back", 2),
        ];
        if state.viewport.transcript.selected_call().is_some() {
            let key = chord(Action::MoveToBackground);
            bar.push_right(if key.is_empty() { key } else { key + " background" }, theme.text, 1);
        }
        for (key, label, priority) in hints.iter().filter(|(key, ..)| !key.is_empty()) {
            bar.push_right(format!("{key} {label}"), theme.text, *priority);
        }
        bar.draw(area, buffer);
        return;
    }
    let context = state.agent.context_usage();
    if let Some(percent) = context.used_percent() {
        let estimate_mark = if context.is_estimated { "~" } else { "" };
        let (style, priority) = if percent >= 80 { (theme.warning, 3) } else { (theme.dim, 7) };
        bar.push_left(format!("ctx {estimate_mark}{percent}%"), style, priority);
    }
    let usage = session.usage();
    if usage.total() > 0 {
        bar.push_left(format!("{} tok", format_tokens(usage.total())), theme.dim, 8);
        if let Some(price) = state.session.connection.price {
            bar.push_left(format_dollars(usage.cost(price)), theme.dim, 6);
        }
    }
    if let Some(figures) = state.timing.pace.figures().filter(|_| wait.is_none() && state.prompts.current.is_none()) {
        let total_time = figures.total.filter(|_| state.agent.is_idle());
        let total_text = total_time.map(|time| format!("took {}", format_reply_time(time))).unwrap_or_default();
        bar.push_left(figures.first_chunk_text(), theme.dim, 10);
        bar.push_left(figures.speed_text().unwrap_or_default(), theme.dim, 9);
        bar.push_left(total_text, theme.dim, 11);
    }
    let has_keys = current_focus(state) == Focus::Composer && state.prompts.current.is_none();
    let help = match state.input.composer.is_empty() && has_keys {
        true => state.keys.first_chord(Scope::Composer, Action::HelpWhenEmpty),
        false => state.keys.first_chord(Scope::Anywhere, Action::Help),
    };
    bar.push_right(format!("{help} help"), theme.dim, 1);
    bar.draw(area, buffer);
}

/// Describes the current activity and its duration, or the pending prompt.
fn describe_activity(state: &State) -> Option<String> {
    // Whole seconds, so that the footer does not flicker.
    let elapsed = format_seconds(state.timing.now.saturating_sub(state.timing.activity_start).as_secs());
    let spinner = spinner_frame(state.timing.now);
    let waiting_text = state.prompts.current.as_ref().map(|prompt| match state.agent.waiting_position() {
        (position, count) if count > 1 && prompt.call().is_some() => format!("waiting for you · {position} of {count}"),
        _ => "waiting for you".to_owned(),
    });
    let activity_text = || match &state.agent.phase {
        Phase::Idle => None,
        Phase::RunningUserCommand(_) => Some(format!("{spinner} your command · {elapsed}")),
        Phase::Replying(draft) => Some(match state.timing.pace.current_wait(&state.agent, state.timing.now) {
            Some(Wait::Countdown { retry, seconds_left }) => {
                format!("try {} of {} in {}", retry.attempt, retry.max_attempts, format_seconds(seconds_left))
            }
            Some(Wait::Retrying(_)) => format!("{spinner} retrying · {elapsed}"),
            Some(Wait::Silence { elapsed: silent_seconds, .. }) => {
                format!("no data for {}", format_seconds(silent_seconds))
            }
            // Another model replies than the requested one, and the header may be too narrow for its name.
            None if !state.agent.model.name.is_empty() && replying_model(&state.agent) != state.agent.model.name => {
                let model = clean::clean_line(replying_model(&state.agent));
                format!("{spinner} {} replying · {elapsed}", width::fit_start(&model, MAX_MODEL_NAME))
            }
            None if draft.is_summary() => format!("{spinner} summarizing · {elapsed}"),
            None => format!("{spinner} replying · {elapsed}"),
        }),
        Phase::RunningCalls { calls, .. } => {
            let running =
                calls.iter().find(|pending| matches!(pending.stage, CallStage::Running(_) | CallStage::OnTrial(..)));
            let is_reviewing = calls.iter().any(|pending| matches!(pending.stage, CallStage::UnderReview(_)));
            let label = if is_reviewing { "reviewing" } else { "planning" };
            let sub_agents = calls.iter().filter(|pending| pending.sub_agent().is_some()).count();
            Some(match (running, sub_agents) {
                (Some(pending), _) => format!("{spinner} {} · {elapsed}", name_pending_action(pending)),
                (None, 0) => format!("{spinner} {label} · {elapsed}"),
                (None, 1) => format!("{spinner} 1 sub-agent running · {elapsed}"),
                (None, count) => format!("{spinner} {count} sub-agents running · {elapsed}"),
            })
        }
    };
    waiting_text.or_else(activity_text)
}

/// Describes what Enter does with a draft that is a command of the user.
fn describe_command_draft(state: &State) -> Option<String> {
    let text = shows_command_hint(state).then(|| state.input.composer.text())?;
    let draft = parse_command_draft(&text)?;
    let script = match state.input.composer.line_count() {
        1 => String::new(),
        lines => format!("{lines} lines as one script "),
    };
    let place = if state.agent.is_dry_run() { "in the overlay sandbox" } else { "in your shell" };
    let reader = if draft.is_shared { "the model gets the output" } else { "kept from the model" };
    Some(format!("Runs {script}{place} · {reader}"))
}

/// Draws the row between transcript and composer: search, parked question, hint on a command, number of new lines.
pub fn draw_chips(state: &State, cache: &mut LayoutCache, area: Rect, buffer: &mut Buffer) {
    let theme = &state.theme;
    let mut bar = StatusBar::with_separator("  ", theme.dim);
    if let Some(search) = &state.viewport.transcript.search {
        let suffix = if search.has_no_match && !search.query.is_empty() { " · not found" } else { "" };
        bar.push_left(format!("search: {}▏{suffix}", search.query), theme.accent, 0);
        bar.push_right("↑↓ next match · esc back", theme.dim, 3);
    }
    if let Some(prompt) = state.prompts.current.as_ref().filter(|prompt| prompt.is_parked()) {
        bar.push_left(prompt.chip_text(&state.keys), theme.prompt, 0);
        if let Some(origin) = prompt.call().and_then(|call| state.agent.session.sub_agent_name(call)) {
            bar.push_left(quote_name(origin), theme.prompt, 5).shrink_last();
        }
    }
    if let Some(hint) = describe_command_draft(state) {
        bar.push_left(hint, theme.warning, 0);
        bar.push_right("\\! sends text", theme.dim, 4);
    }
    if !state.viewport.transcript.is_following() {
        let mut layouts = Layouts { context: state.layout_context(), cache, height: 0 };
        let text = match state.viewport.transcript.count_new_lines(&mut layouts) {
            0 => "more below ↓".to_owned(),
            1 => "1 new line ↓".to_owned(),
            lines => format!("{lines} new lines ↓"),
        };
        bar.push_right(text, theme.accent, 1);
    }
    bar.draw(area, buffer);
}
