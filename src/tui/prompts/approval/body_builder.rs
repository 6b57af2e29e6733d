//! Builder of the text of an approval prompt: the plan, its conditions and its details.

use super::approval_content::ApprovalContent;
use crate::chat::{Access, CommandLine, FileContent, Plan, Preconditions, Preview, ReferencedFile};
use crate::policy::explain_no_scopes;
use crate::text::link::CheckTarget;
use crate::text::reveal::reveal_line;
use crate::text::truncation::abbreviate_home;
use crate::text::width;
use crate::tui::parts::audit_page;
use crate::tui::parts::scope_choice::ChoiceLine;
use crate::tui::parts::sub_agent_name::origin_line;
use crate::tui::text::pieces::revealed_links;
use crate::tui::text::wrap::cut_line;
use crate::tui::text::wrap::{self, Piece, Shape};
use crate::tui::text::{Page, diff, revealed_pieces};
use crate::tui::theme::Theme;
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// Unchanged lines before and after each change of a diff that does not fit into the prompt.
pub(super) const COMPACT_CONTEXT: usize = 1;

/// How much of the body is shown besides the plan itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Density {
    #[default]
    Full,
    /// For an area with fewer rows than all of the body needs: the changes of a diff come first, and a scope of a choice
    /// has one row.
    Compact,
    /// For a choice of scope in this many rows, which is fewer than the compact body needs: only the start of the preview
    /// is shown above it.
    Excerpt(usize),
}

/// Mark after the last row of a preview that goes on.
const EXCERPT_MARK: &str = " ⋯";

/// Returns why no grant is offered for a command. `None` if the prompt already shows the reason: the warning of a
/// destructive command, or a sensitive file.
fn explain_missing_grant(plan: &Plan) -> Option<String> {
    let is_shown = plan.destroys.is_some() || plan.preconditions.sensitive_path().is_some();
    let is_missing = matches!(plan.access, Access::Run(_)) && plan.grant.is_none() && !is_shown;
    // The reason does not depend on the tool's name, which is left empty.
    if is_missing { explain_no_scopes("", plan) } else { None }
}

/// Returns whether this is the last row of a preview that goes on.
pub(super) fn is_excerpt_end(line: &Line<'static>) -> bool {
    line.spans.last().is_some_and(|span| span.content.starts_with(EXCERPT_MARK))
}

/// Builder of the lines of the body.
pub(super) struct BodyBuilder<'a> {
    pub(super) page: Page,
    pub(super) width: usize,
    pub(super) theme: &'a Theme,
    /// Decides which texts are links.
    pub(super) check: CheckTarget<'a>,
}

impl<'a> BodyBuilder<'a> {
    /// Creates a builder of an empty body with this many columns, at least one.
    pub(super) fn new(width: usize, theme: &'a Theme, check: CheckTarget<'a>) -> Self {
        Self { page: Page::default(), width: width.max(1), theme, check }
    }

    /// Adds wrapped text with its links and with marks for invisible characters.
    pub(super) fn push_text(&mut self, text: &str, style: Style) {
        let pieces = revealed_links(text, style, self.theme, self.check);
        self.page.append_page(wrap::wrap_pieces(&pieces, &Shape::with_width(self.width)));
    }

    /// Adds a line as it is.
    pub(super) fn push_line(&mut self, line: Line<'static>) {
        self.page.lines.push(line);
    }

    /// Returns the number of lines so far.
    pub(super) fn line_count(&self) -> usize {
        self.page.lines.len()
    }

    /// Adds wrapped text after a prefix; further rows are indented by the width of the prefix.
    fn push_hanging(&mut self, prefix: Piece, pieces: &[Piece]) {
        let shape = Shape::with_hanging_prefix(self.width, vec![prefix]);
        self.page.append_page(wrap::wrap_pieces(pieces, &shape));
    }

    /// Adds a command or a rule after a prefix; further rows are marked, so that none passes for a line of its own.
    fn push_code(&mut self, prefix: Piece, pieces: &[Piece]) {
        let shape = Shape { verbatim: true, ..Shape::with_hanging_prefix(self.width, vec![prefix]) };
        let continuation_mark = Piece::new(wrap::CONTINUATION_MARK, self.theme.dim);
        self.page.append_page(wrap::wrap_code(pieces, &shape, &continuation_mark));
    }

    /// Adds the files whose content the arguments contain.
    pub(super) fn push_references(&mut self, files: &[ReferencedFile]) {
        for file in files {
            let style = if file.is_excerpt { self.theme.warning } else { self.theme.dim };
            self.push_text(&format!("contains {}", file.describe()), style);
        }
    }

    /// Adds the names of the files whose content the arguments contain, on one line.
    pub(super) fn push_reference_names(&mut self, files: &[ReferencedFile]) {
        let text = match files {
            [] => return,
            [file] => format!("contains {}", file.describe()),
            files => {
                let names: Vec<&str> = files.iter().map(|file| file.name.as_str()).collect();
                format!("contains {} files: {}", files.len(), names.join(", "))
            }
        };
        let text = reveal_line(&text);
        let style = if files.iter().any(|file| file.is_excerpt) { self.theme.warning } else { self.theme.dim };
        self.push_line(Line::styled(width::fit_start(&text, self.width).into_owned(), style));
    }

    /// Adds the reason the policy asks, and the reason no grant is offered, if any. If both are the same, it is shown once.
    pub(super) fn push_reason(&mut self, content: &ApprovalContent<'_>) {
        let grant_problem = explain_missing_grant(content.plan);
        let is_same = grant_problem.as_deref() == Some(content.reason);
        let note = if is_same { ", which needs approval each time" } else { "" };
        if !content.reason.is_empty() {
            self.push_text(&format!("reason: {}{note}", content.reason), self.theme.dim);
        }
        if let Some(problem) = grant_problem.filter(|_| !is_same) {
            self.push_text(&format!("needs approval each time: {problem}"), self.theme.dim);
        }
    }

    /// Adds what the call would do.
    pub(super) fn push_preview(&mut self, preview: &Preview, density: Density) {
        match preview {
            // A text that ends with a line break has no empty row below.
            Preview::Text(text) => self.push_text(text.strip_suffix('\n').unwrap_or(text), self.theme.text),
            // `lay_out_body` lays out the rows of a batch.
            Preview::Batch(batch) => self.push_text(&batch.describe_batch(), self.theme.text),
            Preview::Edit(change) if density == Density::Full => {
                self.page.append_page(diff::lay_out_linked_diff(change, self.width, self.theme, self.check));
            }
            Preview::Edit(change) => {
                let trimmed = diff::trim_context(change, COMPACT_CONTEXT);
                self.page.append_page(diff::lay_out_linked_diff(&trimmed, self.width, self.theme, self.check));
            }
            Preview::Command(CommandLine { command, .. }) => {
                let pieces = revealed_links(command, self.theme.strong, self.theme, self.check);
                self.push_code(Piece::new("$ ", self.theme.accent), &pieces);
            }
        }
    }

    /// Adds the start of what the call would do in at most this many rows: of a diff the header and the first changes, or
    /// only the changes if there is no row for the header. If it goes on, the last row ends with one of the texts of
    /// `describe_hidden` for the number of rows that are not shown whole, longest first.
    pub(super) fn push_preview_start(
        &mut self,
        preview: &Preview,
        max_rows: usize,
        describe_hidden: impl Fn(usize) -> [String; 3],
    ) {
        let mut start = BodyBuilder::new(self.width, self.theme, self.check);
        match preview {
            Preview::Edit(change) => {
                let changes = diff::trim_context(change, 0);
                let header = diff::lay_out_header(change, self.width, self.theme, self.check);
                if header.lines.len() < max_rows {
                    start.page = header;
                }
                start.page.lines.extend(diff::lay_out_changes(&changes, self.width, self.theme));
            }
            Preview::Text(_) | Preview::Command(_) | Preview::Batch(_) => start.push_preview(preview, Density::Full),
        }
        let hidden_rows = start.line_count().saturating_sub(max_rows);
        start.page.truncate_lines(max_rows);
        if hidden_rows > 0 {
            // A link may be cut off.
            start.page.links.retain(|link| link.line + 1 < max_rows);
        }
        if let Some(last) = start.page.lines.last_mut().filter(|_| hidden_rows > 0) {
            // The mark between two changes of a diff is replaced.
            if last.to_string() == EXCERPT_MARK.trim_start() {
                last.spans.clear();
            }
            let fitting_mark = |hidden_rows| {
                let marks = describe_hidden(hidden_rows).map(|text| format!("{EXCERPT_MARK} {text}"));
                let fits = |mark: &String| width::text_width(mark) <= self.width * 2 / 3;
                marks.into_iter().find(fits).unwrap_or_else(|| EXCERPT_MARK.to_owned())
            };
            let (row_cells, mark) = (last.width(), fitting_mark(hidden_rows));
            let is_cut = row_cells + width::text_width(&mark) > self.width;
            let mark = if is_cut { fitting_mark(hidden_rows + 1) } else { mark };
            cut_line(last, self.width.saturating_sub(width::text_width(&mark)));
            last.spans.push(Span::styled(mark, self.theme.dim));
        }
        self.page.append_page(start.page);
    }

    /// Adds the working directory, the time limit and the sandbox of a command.
    pub(super) fn push_location(&mut self, content: &ApprovalContent<'_>) {
        let Access::Run(line) = &content.plan.access else { return };
        let folder = abbreviate_home(&line.folder, content.home);
        // Each text, and whether it names access that sandboxes deny by default.
        let mut parts = vec![(format!("in {folder} · timeout {} s", line.seconds), false)];
        parts.extend(line.sandbox.describe_parts(line.network.as_deref(), content.home));
        if parts.len() == 1 && !content.sandbox_note.is_empty() {
            parts.push((content.sandbox_note.to_owned(), false));
        }
        let mut pieces = Vec::new();
        for (index, (text, is_exception)) in parts.iter().enumerate() {
            if index > 0 {
                pieces.push(Piece::new(" · ", self.theme.dim));
            }
            let style = if *is_exception { self.theme.warning } else { self.theme.dim };
            pieces.extend(revealed_pieces(text, style, self.theme.mark));
        }
        self.page.append_page(wrap::wrap_pieces(&pieces, &Shape::with_width(self.width)));
    }

    /// Adds the name of the sub-agent, if any, on one line.
    pub(super) fn push_sub_agent(&mut self, content: &ApprovalContent<'_>) {
        if let Some(name) = content.sub_agent {
            self.push_text(&width::fit_start(&origin_line(name), self.width), self.theme.accent);
        }
    }

    /// Adds the lines of a choice of scope.
    pub(super) fn push_choice(&mut self, lines: &[ChoiceLine]) {
        for ChoiceLine { prefix, text, style, dim_text, is_code, part: _ } in lines {
            let mut pieces = revealed_pieces(text, *style, self.theme.mark);
            pieces.extend(revealed_pieces(dim_text, self.theme.dim, self.theme.mark));
            match is_code {
                true => self.push_code(Piece::new(prefix, *style), &pieces),
                false => self.push_hanging(Piece::new(prefix, *style), &pieces),
            }
        }
    }

    /// Adds the call as the model sent it, and all that is rechecked before it runs.
    pub(super) fn push_details(&mut self, content: &ApprovalContent<'_>) {
        self.push_sub_agent(content);
        self.push_text(&format!("tool {}", content.call.name), self.theme.text);
        self.push_text(&format!("arguments {}", content.call.arguments), self.theme.text);
        self.push_location(content);
        self.push_references(&content.plan.preconditions.references);
        self.push_preconditions(&content.plan.preconditions);
        self.push_reason(content);
    }

    fn push_preconditions(&mut self, preconditions: &Preconditions) {
        for file in &preconditions.files {
            let text = match file.content {
                FileContent::TooLarge => audit_page::describe_file(file),
                FileContent::Missing | FileContent::Bytes { .. } => {
                    format!("{}, rechecked before the call", audit_page::describe_file(file))
                }
            };
            self.push_text(&format!("file {text}"), self.theme.text);
        }
        if preconditions.is_partial {
            self.push_text("the call may use files that are not checked", self.theme.warning);
        }
        if !preconditions.environment.is_empty() {
            let names = preconditions.environment.join(" ");
            self.push_text(
                &format!("{} environment variables: {names}", preconditions.environment.len()),
                self.theme.dim,
            );
        }
    }
}
