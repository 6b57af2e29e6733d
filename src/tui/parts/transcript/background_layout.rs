//! The row of a background command that ended.

use super::call_row::build_row;
use super::inline_output::lay_out_output;
use super::layout_context::LayoutContext;
use super::output_tail::lay_out_failed_lines;
use crate::chat::BackgroundEnd;
use crate::tui::parts::quantities::format_duration;
use crate::tui::text::{Page, output};
use std::time::Duration;

/// Lays out the end of a background command: one row, and its last lines if it failed, or all of its output if `is_open`.
pub fn lay_out_end(context: &LayoutContext<'_>, end: &BackgroundEnd, is_open: bool) -> Page {
    let theme = context.theme;
    let mark = match (end.is_success(), end.is_stopped()) {
        (true, _) => ("✓", theme.success),
        (false, true) => ("■", theme.warning),
        (false, false) => ("✗", theme.danger),
    };
    let plan = context.agent.session.find_call(&end.call).and_then(|call| call.plan.as_ref());
    let summary = plan.map_or("", |plan| plan.summary.as_str());
    let duration = match end.took_ms {
        0 => String::new(),
        ms => format!(" · {}", format_duration(Duration::from_millis(ms))),
    };
    let action = format!("Background {}", end.number);
    let row = build_row(context, mark, &action, summary, &format!("{}{duration}", end.status));
    let mut page = Page { lines: vec![row], ..Page::default() };
    if is_open {
        page.append_page(lay_out_output(context, output::parse_output(end.output.trim_end(), theme.text, theme)));
    } else if !end.is_success() && !end.is_stopped() {
        page.lines.extend(lay_out_failed_lines(context, &end.output));
    }
    page
}
