//! Converts a model's markdown to HTML: raw HTML becomes text, pictures become links, and only web links are kept.

use super::escaping::{escape, is_web};
use super::file_links::escape_with_links;
use super::included_files::IncludedFiles;
use crate::text::hidden_chars::mark_hidden;
use crate::tui::text::code::{self, SyntaxRole};
use crate::tui::text::markdown::unrendered_text::{ShownLinks, excess_cells, is_named_after, unrendered_info};
use pulldown_cmark::{Alignment, CodeBlockKind, CowStr, Event, LinkType, Options, Parser, Tag, TagEnd};

/// Like `escape`, for text that markdown decoded: an entity (`&#27;`) may stand for any character.
fn escape_decoded(text: &str) -> String {
    escape(&mark_hidden(text))
}

/// Converts a reply to HTML. The addresses of included files become links.
pub(super) fn markdown_to_html(markdown: &str, files: &IncludedFiles) -> String {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut writer = Writer::new(files);
    let mut links = ShownLinks::default();
    let mut events = Parser::new_ext(markdown, options).into_offset_iter();
    for (event, range) in events.by_ref() {
        if !matches!(event, Event::Text(_) | Event::Html(_) | Event::InlineHtml(_)) {
            writer.flush_text();
        }
        match &event {
            Event::Start(tag) => links.record_link(tag),
            Event::End(TagEnd::TableCell) => writer.cell_end = range.end,
            Event::End(TagEnd::TableRow) => writer.write_excess_cells(excess_cells(markdown, writer.cell_end)),
            _ => {}
        }
        writer.write_event(event);
    }
    writer.flush_text();
    for definition in links.unused_definitions(markdown, events.reference_definitions()) {
        writer.out.push_str(&format!("<p class=\"aside\">{}</p>\n", escape(definition)));
    }
    writer.out
}

/// Formats a code block with syntax colors. The addresses of included files become links.
pub(super) fn code_block(language: &str, text: &str, files: &IncludedFiles) -> String {
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
                "" => out.push_str(&escape_with_links(part, files)),
                class => out.push_str(&format!("<span class=\"{class}\">{}</span>", escape_with_links(part, files))),
            }
        }
        out.push_str(&escape_with_links(&line[start..], files));
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
    /// True if it is a link in the output.
    is_link: bool,
    /// Start of its text in the output.
    text_start: usize,
}

struct Writer<'a> {
    files: &'a IncludedFiles,
    out: String,
    /// Text not yet written. The parser splits a text, and maybe an address in it.
    text: String,
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

impl<'a> Writer<'a> {
    fn new(files: &'a IncludedFiles) -> Self {
        Self {
            files,
            out: String::new(),
            text: String::new(),
            code: None,
            open_links: Vec::new(),
            columns: Vec::new(),
            column: 0,
            is_header_row: false,
            cell_end: 0,
        }
    }

    /// Formats text with links, unless it is in a link.
    fn format_text(&self, text: &str) -> String {
        let text = mark_hidden(text);
        match self.open_links.iter().any(|link| link.is_link) {
            true => escape(&text),
            false => escape_with_links(&text, self.files),
        }
    }

    /// Returns the attributes of a link to the web or to an included file; `None` for any other.
    fn href(&self, address: &str) -> Option<String> {
        match is_web(address) {
            true => {
                let address = escape_decoded(address.trim());
                Some(format!("href=\"{address}\" rel=\"noopener noreferrer nofollow\""))
            }
            false => self.files.find_address(address).map(|file| format!("href=\"#{}\"", escape(&file.anchor()))),
        }
    }

    /// Writes the collected text.
    fn flush_text(&mut self) {
        let text = std::mem::take(&mut self.text);
        if !text.is_empty() {
            self.out.push_str(&self.format_text(&text));
        }
    }

    fn write_event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start_tag(tag),
            Event::End(tag) => self.end_tag(tag),
            Event::Text(text) | Event::Html(text) | Event::InlineHtml(text) => self.write_text(&text),
            Event::Code(text) | Event::InlineMath(text) | Event::DisplayMath(text) => {
                self.out.push_str(&format!("<code>{}</code>", self.format_text(&text)));
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
            None => self.text.push_str(text),
        }
    }

    /// Opens a link. Only one to the web or to an included file becomes a link; any other is written as text followed by
    /// its address.
    fn start_link(&mut self, address: &str, title: &str) {
        let href = self.href(address);
        if let Some(href) = &href {
            self.out.push_str(&format!("<a {href}>"));
        }
        let (address, title) = (address.to_owned(), title.to_owned());
        self.open_links.push(OpenLink { address, title, is_link: href.is_some(), text_start: self.out.len() });
    }

    /// Returns the text after a link.
    fn end_link(&mut self) -> String {
        let OpenLink { address, title, is_link, text_start } = self.open_links.pop().unwrap_or_default();
        let mut suffix = String::new();
        if is_link {
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
                info.unwrap_or_default() + &code_block(&language, &text, self.files)
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
