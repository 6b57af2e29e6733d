//! A text to read on a page, with its links.

use crate::chat::DryRunSummary;
use crate::text::clean::clean_text;
use crate::text::link::{CheckTarget, Existence, LinkTarget};
use crate::tui::parts::audit_page::AuditPage;
use crate::tui::parts::context_page::ContextPage;
use crate::tui::parts::file_page::{FilePage, PreviewLayout};
use crate::tui::parts::json_view::JsonView;
use crate::tui::parts::line_cache::LineCache;
use crate::tui::parts::link_lookups::LinkLookups;
use crate::tui::parts::link_page::LinkPage;
use crate::tui::parts::page_search::PageSearch;
use crate::tui::parts::rehearsal_lines;
use crate::tui::text::markdown::{NoPictures, lay_out_markdown};
use crate::tui::text::pieces::{split_links, styled_pieces, wrap_barred};
use crate::tui::text::{Page, output, wrap};
use crate::tui::theme::Theme;
use ratatui::text::Line;
use std::cell::Cell;
use std::ops::Range;
use std::sync::Arc;

/// Maximum columns of the page of a call.
const MAX_AUDIT_COLUMNS: usize = 100;

/// Beginning of a line of a list with details of the row above it.
const DETAIL_INDENT: &str = "    ";

/// A text to read, such as a full output.
#[derive(Debug, Clone)]
pub struct Reader {
    /// Title of the page.
    pub title: String,
    /// The original text; cleaned when drawn.
    pub text: Arc<str>,
    /// Kind of the text.
    pub body: ReaderBody,
    /// Address of the file with the whole text, if the text has only parts of it.
    pub whole_text: Option<String>,
    /// Search in the page, if it is open.
    pub search: Option<PageSearch>,
    /// First visible line. A value past the end is corrected when the page is drawn.
    pub top: Cell<usize>,
    /// Cached layout.
    pub layout: LineCache<(), PreviewLayout>,
}

/// Kind of text in a reader.
#[derive(Debug, Clone)]
pub enum ReaderBody {
    /// Plain text.
    Plain,
    /// A list, whose rows go on below their second column, with details in indented lines.
    List,
    /// Text with commands, whose rows are marked if they go on with a line.
    Commands,
    /// Plain text with a bar before the lines from outside.
    Barred,
    /// Terminal output of a command.
    Terminal,
    /// Markdown, such as a page of the manual.
    Markdown,
    /// Output so far of the background command with this number.
    Background(u32),
    /// A part of the rehearsal; the text is empty.
    Rehearsal(Arc<DryRunSummary>, RehearsalPart),
    /// Everything known about a call; the text is empty.
    Audit(Arc<AuditPage>),
    /// Use of the context window; the text is empty.
    Context(Arc<ContextPage>),
    /// Preview of a file of the workspace; the text is empty.
    File(Box<FilePage>),
    /// Preview of what a link names; the text is empty.
    Link(Arc<LinkPage>),
}

/// A part of the rehearsal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RehearsalPart {
    /// Everything.
    All,
    /// These changes, by index.
    Changes(Range<usize>),
    /// This change outside the project, by index.
    Outside(usize),
    /// This call, by index.
    Step(usize),
}

impl RehearsalPart {
    fn lay_out_part(&self, summary: &DryRunSummary, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let all_outside = 0..summary.outside.changes.len();
        let (changes, outside, steps) = match self {
            Self::All => (0..summary.changes.len(), all_outside, 0..summary.calls.len()),
            Self::Changes(range) => (range.clone(), 0..0, 0..0),
            Self::Outside(index) => (0..0, *index..index + 1, 0..0),
            Self::Step(index) => (0..0, 0..0, *index..index + 1),
        };
        let changes = summary.changes.get(changes).unwrap_or_default();
        let steps = summary.calls.get(steps).unwrap_or_default();
        let changes = changes.iter().map(|change| rehearsal_lines::change_lines(change, width, theme));
        let is_full = true;
        let steps = steps.iter().map(|step| rehearsal_lines::call_lines(step, is_full, width, theme));
        let outside = summary.outside.changes.get(outside).unwrap_or_default();
        let outside = outside.iter().map(|change| rehearsal_lines::outside_change_lines(change, width, theme));
        let parts: Vec<_> = changes.chain(outside).chain(steps).collect();
        parts.join(&Line::default())
    }
}

impl Reader {
    /// Replaces the text.
    pub fn set_text(&mut self, text: Arc<str>) {
        (self.text, self.layout) = (text, LineCache::default());
    }

    /// Returns the text in this width, with its links.
    pub fn lay_out_text(&self, width: usize, theme: &Theme, lookups: &LinkLookups) -> Arc<PreviewLayout> {
        let check: CheckTarget<'_> = &|target| lookups.check_target(target);
        let split = || split_links(&clean_text(&self.text), theme.text, theme.link, check);
        self.layout.linked_lines_for(width, (), theme, lookups, || {
            let page = match &self.body {
                ReaderBody::File(page) => return page.lay_out_page(width, theme, lookups),
                ReaderBody::Link(page) => return page.lay_out(width, theme, lookups),
                ReaderBody::Terminal | ReaderBody::Background(_) => {
                    output::lay_out_linked_output(&self.text, theme.text, theme, width, check)
                }
                ReaderBody::Plain => wrap::wrap_pieces(&split(), &wrap::Shape::with_width(width)),
                ReaderBody::List => {
                    let text = clean_text(&self.text);
                    let mut end = 0;
                    let style_line = |line: &str| {
                        end += line.len();
                        (end, if line.starts_with(DETAIL_INDENT) { theme.dim } else { theme.text })
                    };
                    let style_ends: Vec<_> = text.split_inclusive('\n').map(style_line).collect();
                    let pieces = styled_pieces(&text, &style_ends, theme.link, check);
                    wrap::wrap_pieces(&pieces, &wrap::Shape::hanging(width))
                }
                ReaderBody::Commands => wrap::wrap_command_pieces(&split(), theme.dim, width),
                ReaderBody::Barred => {
                    wrap_barred(&self.text, [theme.text, theme.border_dim, theme.link], "", width, check)
                }
                // A page of the manual names files of examples, not of the project.
                ReaderBody::Markdown => lay_out_markdown(&self.text, width, theme, &check_web_address, &NoPictures),
                ReaderBody::Rehearsal(summary, part) => Page::from(part.lay_out_part(summary, width, theme)),
                ReaderBody::Context(page) => Page::from(page.lay_out(width, theme)),
                ReaderBody::Audit(page) => {
                    page.lay_out_page(width.min(MAX_AUDIT_COLUMNS), [theme.text, theme.link], check)
                }
            };
            PreviewLayout { page, numbered: None }
        })
    }

    /// Returns whether the page as it was last laid out has links.
    pub fn has_links(&self) -> bool {
        self.layout.last_lines().is_some_and(|layout| layout.page.links.iter().any(|link| link.picture.is_none()))
    }

    /// Returns whether the page is one of a file, with its keys.
    pub fn has_file_keys(&self) -> bool {
        matches!(self.body, ReaderBody::File(_) | ReaderBody::Link(_))
    }

    /// Returns the view of the JSON on the page, if it is the page of a JSON file.
    pub fn json_view(&self) -> Option<&JsonView> {
        self.file_page()?.json.as_ref()
    }

    /// Returns the page of a file of the workspace, if this is one.
    pub fn file_page(&self) -> Option<&FilePage> {
        match &self.body {
            ReaderBody::File(page) => Some(page),
            ReaderBody::Plain
            | ReaderBody::List
            | ReaderBody::Commands
            | ReaderBody::Barred
            | ReaderBody::Terminal
            | ReaderBody::Markdown
            | ReaderBody::Background(_)
            | ReaderBody::Rehearsal(..)
            | ReaderBody::Link(_)
            | ReaderBody::Context(_)
            | ReaderBody::Audit(_) => None,
        }
    }
}

/// Makes only web addresses links.
fn check_web_address(target: &LinkTarget) -> Existence {
    match target {
        LinkTarget::Web(_) => Existence::Exists,
        LinkTarget::File { .. } | LinkTarget::Workspace(_) => Existence::Unknown,
    }
}
