//! Figures of a sub-agent: calls, tokens, time.

use super::layout_context::LayoutContext;
use crate::chat::{CallId, Entry, Usage};
use crate::tui::parts::quantities::format_duration;
use crate::tui::parts::status_bar::format_tokens;
use std::time::Duration;

/// Minimum width in cells for showing all figures of a sub-agent.
const FIGURES_MIN_WIDTH: usize = 72;

/// Formats figures as `3 calls · 12k tok · 8 s`. Omits zero values, and in a narrow terminal all but the first figure.
pub fn format_figures(context: &LayoutContext<'_>, calls: usize, usage: Usage, time: Option<String>) -> String {
    let calls = match calls {
        0 => None,
        1 => Some("1 call".to_owned()),
        calls => Some(format!("{calls} calls")),
    };
    let tokens = (usage.total() > 0).then(|| format!("{} tok", format_tokens(usage.total())));
    let mut figures: Vec<String> = [calls, tokens, time].into_iter().flatten().collect();
    if context.width < FIGURES_MIN_WIDTH {
        figures.truncate(1);
    }
    figures.join(" · ")
}

/// Returns the figures of a finished sub-agent.
pub fn finished_figures(context: &LayoutContext<'_>, id: &CallId, took_ms: u64) -> String {
    let mut calls = 0;
    let mut usage = Usage::default();
    for (_, entry) in context.agent.session.sub_agent_entries(id) {
        match entry {
            Entry::Replied { calls: reply_calls, usage: reply_usage, .. } => {
                calls += reply_calls.len();
                usage += reply_usage.unwrap_or_default();
            }
            Entry::Compacted { usage: reply_usage, .. } => usage += reply_usage.unwrap_or_default(),
            _ => {}
        }
    }
    let time = (took_ms > 0).then(|| format_duration(Duration::from_millis(took_ms)));
    format_figures(context, calls, usage, time)
}
