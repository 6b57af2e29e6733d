//! Converts a model's markdown to HTML: raw HTML becomes text, pictures become links, and only web links are kept.

use super::markdown::is_web;
use crate::text::hidden_chars::mark_hidden;
use crate::tui::text::code::{self, SyntaxRole};
use crate::tui::text::markdown::unrendered_text::{ShownLinks, excess_cells, is_named_after, unrendered_info};
use pulldown_cmark::{Alignment, CodeBlockKind, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd};

/// Escapes text for HTML content and attributes.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

/// Like `escape`, for text that markdown decoded: an entity (`&#27;`) may stand for any character.
fn escape_decoded(text: &str) -> String {
    escape(&mark_hidden(text))
}

/// Converts a reply to HTML.
pub(super) fn markdown_to_html(markdown: &str) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut writer = Writer::default();
    let mut links = ShownLinks::default();
    let mut events = Parser::new_ext(markdown, options).into_offset_iter();
    for (event, range) in events.by_ref() {
        match &event {
            Event::Start(tag) => links.record_link(tag),
            Event::End(TagEnd::TableCell) => writer.cell_end = range.end,
            Event::End(TagEnd::TableRow) => writer.write_excess_cells(excess_cells(markdown, writer.cell_end)),
            _ => {}
        }
        writer.write_event(event);
    }
    for definition in links.unused_definitions(markdown, events.reference_definitions()) {
        writer.out.push_str(&format!("<p class=\"aside\">{}</p>\n", escape(definition)));
    }
    writer.out
}

/// Formats a code block with syntax colors.
pub(super) fn code_block(language: &str, text: &str) -> String {
    let text = text.strip_suffix('\n').unwrap_or(text);
    let short = text.lines().count() <= code::MAX_LINES && text.lines().all(|line| line.len() <= code::MAX_LINE_LENGTH);
    let language_name = language.split([' ', ',', '{']).next().unwrap_or_default();
    let highlighting = if short && !language_name.is_empty() {
        code::highlight(language_name, text)
    } else {
        code::Highlighting::default()
    };
    let mut out = String::from("<pre><code>");
    for (index, line) in text.split('\n').enumerate() {
        let mut start = 0;
        for (length, role) in highlighting.lines.get(index).map_or(&[][..], Vec::as_slice) {
            let Some(part) = line.get(start..start + length) else { break };
            start += length;
            match color_class(*role) {
                "" => out.push_str(&escape(part)),
                class => out.push_str(&format!("<span class=\"{class}\">{}</span>", escape(part))),
            }
        }
        out.push_str(&escape(&line[start..]));
        out.push('\n');
    }
    out.push_str("</code></pre>\n");
    out
}

fn color_class(role: SyntaxRole) -> &'static str {
    match role {
        SyntaxRole::Plain => "",
        SyntaxRole::Keyword => "k",
        SyntaxRole::String => "s",
        SyntaxRole::Number => "n",
        SyntaxRole::Comment => "c",
        SyntaxRole::Function => "f",
        SyntaxRole::Type => "t",
        SyntaxRole::Punctuation => "p",
        SyntaxRole::Added => "a",
        SyntaxRole::Removed => "r",
    }
}

/// A link or picture whose text is being written.
#[derive(Default)]
struct OpenLink {
    address: String,
    title: String,
    /// Start of its text in the output.
    text_start: usize,
}

#[derive(Default)]
struct Writer {
    out: String,
    /// The open code block: its language and text so far.
    code: Option<(String, String)>,
    /// Open links and pictures.
    open_links: Vec<OpenLink>,
    /// Alignment of each column of the open table.
    columns: Vec<Alignment>,
    /// Index of the column of the next table cell.
    column: usize,
    /// True in the header row of a table.
    is_header_row: bool,
    /// Byte offset in the source where the last table cell ends.
    cell_end: usize,
}

impl Writer {
    fn write_event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start_tag(tag),
            Event::End(tag) => self.end_tag(tag),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.write_text(&text),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.out.push_str(&format!("<code>{}</code>", escape_decoded(&text)));
            }
            Event::SoftBreak => self.out.push('\n'),
            Event::HardBreak => self.out.push_str("<br>\n"),
            Event::Rule => self.out.push_str("<hr>\n"),
            Event::TaskListMarker(is_done) => self.write_task_marker(is_done),
            Event::FootnoteReference(name) => self.write_text(&format!("[{name}]").into()),
        }
    }

    /// Replaces the list bullet with a checkbox.
    fn write_task_marker(&mut self, is_done: bool) {
        let item_tag = "<li>";
        let item = self.out.rfind(item_tag).filter(|at| matches!(&self.out[at + item_tag.len()..], "" | "<p>"));
        if let Some(start) = item {
            self.out.replace_range(start..start + item_tag.len(), "<li class=\"task\">");
        }
        self.out.push_str(if is_done { "☑ " } else { "☐ " });
    }

    fn write_text(&mut self, text: &CowStr<'_>) {
        match &mut self.code {
            Some((_, code)) => code.push_str(&mark_hidden(text)),
            None => self.out.push_str(&escape_decoded(text)),
        }
    }

    /// Opens a link. Only a web link becomes one; any other is written as text followed by its address.
    fn start_link(&mut self, address: &str, title: &str) {
        if is_web(address) {
            let address = escape_decoded(address.trim());
            self.out.push_str(&format!("<a href=\"{address}\" rel=\"noopener noreferrer nofollow\">"));
        }
        let (address, title) = (address.to_owned(), title.to_owned());
        self.open_links.push(OpenLink { address, title, text_start: self.out.len() });
    }

    /// Returns the text after a link.
    fn end_link(&mut self) -> String {
        let OpenLink { address, title, text_start } = self.open_links.pop().unwrap_or_default();
        let mut suffix = String::new();
        if is_web(&address) {
            suffix.push_str("</a>");
        } else if !address.is_empty() && !is_named_after(&address, &self.out[text_start..]) {
            suffix.push_str(&format!(" ({})", escape_decoded(&address)));
        }
        if !title.is_empty() {
            suffix.push_str(&format!(" “{}”", escape_decoded(&title)));
        }
        suffix
    }

    /// Writes the cells of a row beyond the table's columns.
    fn write_excess_cells(&mut self, cells: &str) {
        if !cells.is_empty() {
            self.out.push_str(&format!("<td>{}</td>", escape(cells)));
        }
    }

    fn start_tag(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Paragraph => self.out.push_str("<p>"),
            // The page has its own headings above these.
            Tag::Heading { level, .. } => self.out.push_str(&format!("<h{}>", (level as usize + 2).min(6))),
            Tag::BlockQuote(_) => self.out.push_str("<blockquote>\n"),
            Tag::CodeBlock(kind) => {
                let language = match kind {
                    CodeBlockKind::Fenced(language) => language.to_string(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((language, String::new()));
            }
            Tag::List(None) => self.out.push_str("<ul>\n"),
            Tag::List(Some(first)) => self.out.push_str(&format!("<ol start=\"{first}\">\n")),
            Tag::Item => self.out.push_str("<li>"),
            Tag::Table(columns) => {
                self.columns = columns;
                self.out.push_str("<table>\n");
            }
            Tag::TableHead => {
                (self.is_header_row, self.column) = (true, 0);
                self.out.push_str("<tr>");
            }
            Tag::TableRow => {
                (self.is_header_row, self.column) = (false, 0);
                self.out.push_str("<tr>");
            }
            Tag::TableCell => {
                let alignment = match self.columns.get(self.column) {
                    Some(Alignment::Right) => " class=\"right\"",
                    Some(Alignment::Center) => " class=\"center\"",
                    Some(Alignment::Left | Alignment::None) | None => "",
                };
                self.column += 1;
                self.out.push_str(&format!("<{}{alignment}>", if self.is_header_row { "th" } else { "td" }));
            }
            Tag::Emphasis => self.out.push_str("<em>"),
            Tag::Strong => self.out.push_str("<strong>"),
            Tag::Strikethrough => self.out.push_str("<del>"),
            Tag::Link { link_type, dest_url, title, .. } => match link_type {
                LinkType::Email => self.start_link(&format!("mailto:{dest_url}"), &title),
                _ => self.start_link(&dest_url, &title),
            },
            Tag::Image { dest_url, title, .. } => {
                self.out.push_str("picture: ");
                self.start_link(&dest_url, &title);
            }
            _ => {}
        }
    }

    fn end_tag(&mut self, tag: TagEnd) {
        let closing = match tag {
            TagEnd::Paragraph => "</p>\n".to_owned(),
            TagEnd::Heading(level) => format!("</h{}>\n", (level as usize + 2).min(6)),
            TagEnd::BlockQuote(_) => "</blockquote>\n".to_owned(),
            TagEnd::CodeBlock => {
                let (language, text) = self.code.take().unwrap_or_default();
                let info =
                    unrendered_info(&language).map(|info| format!("<p class=\"label\">{}</p>\n", escape_decoded(info)));
                info.unwrap_or_default() + &code_block(&language, &text)
            }
            TagEnd::List(false) => "</ul>\n".to_owned(),
            TagEnd::List(true) => "</ol>\n".to_owned(),
            TagEnd::Item => "</li>\n".to_owned(),
            TagEnd::Table => "</table>\n".to_owned(),
            TagEnd::TableHead | TagEnd::TableRow => "</tr>\n".to_owned(),
            TagEnd::TableCell => if self.is_header_row { "</th>" } else { "</td>" }.to_owned(),
            TagEnd::Emphasis => "</em>".to_owned(),
            TagEnd::Strong => "</strong>".to_owned(),
            TagEnd::Strikethrough => "</del>".to_owned(),
            TagEnd::Link | TagEnd::Image => self.end_link(),
            _ => String::new(),
        };
        self.out.push_str(&closing);
    }
}
