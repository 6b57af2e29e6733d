//! Layout of a run of reads: its row, and its calls below it.

use super::call_layout;
use super::call_row::{CallEnd, build_row};
use super::entry_layout::ends_in_row;
use super::layout_context::LayoutContext;
use super::read_runs::ReadRun;
use crate::chat::session::CallState;
use crate::chat::{Access, Entry, ResultOrigin};
use crate::tui::parts::quantities::format_duration;
use crate::tui::text::Page;
use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

/// Blanks before the calls of a run.
const INDENT: usize = 2;

/// Lays out the row of a run: `✓ Read 6 files, searched 2 times      40 ms`.
pub fn lay_out_header(context: &LayoutContext<'_>, run: &ReadRun) -> Page {
    let theme = context.theme;
    let took_ms: u64 = find_reads(context, run).map(|(_, end)| end.took_ms).sum();
    let figures = if took_ms > 0 { format_duration(Duration::from_millis(took_ms)) } else { String::new() };
    let mark = match run.is_rehearsed {
        true => (ResultOrigin::ran().symbol(), theme.accent),
        false => ("✓", theme.success),
    };
    let text = describe_run(context, run);
    let (action, summary) = text.split_once(' ').unwrap_or((&text, ""));
    let page = Page { lines: vec![build_row(context, mark, action, summary, &figures)], ..Page::default() };
    let earlier_entries = &context.agent.session.entries()[..run.header];
    if run.header == 0 || ends_in_row(context, earlier_entries) { page } else { page.below_blank_line() }
}

/// Lays out a call of a run, indented if the width allows.
pub fn lay_out_run_call(context: &LayoutContext<'_>, index: usize, is_toggled: bool) -> Page {
    let Some(Entry::Settled { call, outcome, staged, took_ms, .. }) = context.agent.session.entries().get(index) else {
        return Page::default();
    };
    let end = CallEnd { outcome, origin: staged.as_ref(), took_ms: *took_ms };
    let indent = if context.width > 4 * INDENT { INDENT } else { 0 };
    let context = LayoutContext { width: context.width - indent, ..*context };
    call_layout::lay_out_call(&context, index, call, &end, is_toggled).indent_lines(indent)
}

/// Returns the whole texts of the calls of a run, for the pager and the clipboard.
pub fn full_texts(context: &LayoutContext<'_>, run: &ReadRun) -> String {
    let has_labels = context.agent.config.dry_run.labels_results;
    let texts = find_reads(context, run).map(|(call, end)| {
        let staging_note = end.origin.filter(|_| has_labels).map(ResultOrigin::model_mark);
        call_layout::full_text(call, end.outcome, staging_note)
    });
    texts.collect::<Vec<_>>().join("\n\n")
}

/// Describes a run: `Read 6 files, searched 2 times`. A file that was read in several parts counts once.
pub fn describe_run(context: &LayoutContext<'_>, run: &ReadRun) -> String {
    let mut counts: Vec<ReadCount<'_>> = Vec::new();
    for (call, _) in find_reads(context, run) {
        let tool = call.call.name.as_str();
        let position = counts.iter().position(|count| count.tool == tool).unwrap_or_else(|| {
            counts.push(ReadCount { tool, calls: 0, paths: HashSet::new() });
            counts.len() - 1
        });
        counts[position].calls += 1;
        if let Some(Access::Read(paths)) = call.plan.as_ref().map(|plan| &plan.access) {
            counts[position].paths.extend(paths);
        }
    }
    let text = counts.iter().map(ReadCount::describe_count).collect::<Vec<_>>().join(", ");
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Calls of one tool in a run.
struct ReadCount<'a> {
    tool: &'a str,
    calls: usize,
    paths: HashSet<&'a PathBuf>,
}

impl ReadCount<'_> {
    fn describe_count(&self) -> String {
        match (self.tool, self.paths.len().max(1), self.calls) {
            ("search_text", _, 1) => "searched once".to_owned(),
            ("search_text", _, calls) => format!("searched {calls} times"),
            ("list_files", 1, _) => "listed 1 folder".to_owned(),
            ("list_files", folders, _) => format!("listed {folders} folders"),
            (_, 1, _) => "read 1 file".to_owned(),
            (_, files, _) => format!("read {files} files"),
        }
    }
}

/// Returns the calls of a run and how each ended.
fn find_reads<'a>(context: &LayoutContext<'a>, run: &ReadRun) -> impl Iterator<Item = (&'a CallState, CallEnd<'a>)> {
    let session = &context.agent.session;
    run.calls.iter().filter_map(|index| {
        let Entry::Settled { call, outcome, staged, took_ms, .. } = session.entries().get(*index)? else { return None };
        Some((session.find_call(call)?, CallEnd { outcome, origin: staged.as_ref(), took_ms: *took_ms }))
    })
}
