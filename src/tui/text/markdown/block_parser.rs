//! Parses Markdown into blocks, independent of the width.

use super::block::{Block, Container};
use super::heading_style::{alert_heading, heading_style};
use super::nesting_limit::BoundedText;
use super::picture_lookup::FindPicture;
use super::unrendered_text::{ShownLinks, excess_cells, is_named_after, shorten_address};
use super::{Lookups, parser_options};
use crate::text::clean::{clean_line, clean_text};
use crate::text::link::{self, CheckTarget, LinkTarget};
use crate::tui::text::{Piece, pieces};
use crate::tui::theme::Theme;
use pulldown_cmark::{Alignment, CodeBlockKind, Event, Parser, Tag, TagEnd};
use ratatui::style::{Modifier, Style};
use std::sync::Arc;

/// Maximum nesting; deeper containers become part of the one around them.
const MAX_DEPTH: usize = 24;

/// Parses a cleaned text. Also returns the targets of its images.
pub(super) fn parse_blocks(
    text: &BoundedText<'_>,
    theme: &Theme,
    lookups: Lookups<'_>,
) -> (Vec<Block>, Vec<Arc<LinkTarget>>) {
    let source = &*text.text;
    let mut parser = BlockParser::new(source, theme, lookups);
    let mut links = ShownLinks::default();
    let mut events = Parser::new_ext(source, parser_options()).into_offset_iter();
    for (mut event, range) in events.by_ref() {
        text.remove_inserted(&mut event, range.clone(), parser.code.is_some());
        match &event {
            Event::Start(tag) => links.record_link(tag),
            Event::End(TagEnd::TableCell) => parser.cell_end = range.end,
            _ => {}
        }
        parser.handle_event(event);
    }
    parser.end_text();
    while parser.frames.len() > 1 {
        parser.close_frame();
    }
    for definition in links.unused_definitions(source, events.reference_definitions()) {
        parser.push_block(Block::Text(vec![Piece::new(definition, theme.dim)]));
    }
    (parser.frames.pop().map(|(_, blocks)| blocks).unwrap_or_default(), parser.images)
}

/// A link or picture whose text is being read.
struct OpenLink {
    /// Link target, if valid.
    target: Option<Arc<LinkTarget>>,
    /// The address as written.
    address: String,
    title: String,
    /// Index of the first piece of its text.
    first_piece: usize,
}

struct BlockParser<'a> {
    source: &'a str,
    theme: &'a Theme,
    check: CheckTarget<'a>,
    pictures: &'a dyn FindPicture,
    /// Targets of the images that have a caption.
    images: Vec<Arc<LinkTarget>>,
    /// The open containers with their blocks so far.
    frames: Vec<(Container, Vec<Block>)>,
    /// For each open container, whether it has a frame; too deep ones have none.
    has_frame: Vec<bool>,
    /// Text of the current paragraph, heading or table cell.
    inline: Vec<Piece>,
    /// Style of each open element; the last one applies.
    styles: Vec<Style>,
    /// The open link and the outermost open picture, if any; each may be inside the other.
    links: Vec<OpenLink>,
    /// Number of open pictures, which nest without limit.
    open_pictures: usize,
    /// Info string and text of the open code block, if any.
    code: Option<(String, String)>,
    /// Column alignments of the open table.
    alignments: Vec<Alignment>,
    /// Rows of the open table; a row is a list of cells.
    rows: Vec<Vec<Vec<Piece>>>,
    /// Byte of the source at which the last table cell ends.
    cell_end: usize,
}

impl<'a> BlockParser<'a> {
    fn new(source: &'a str, theme: &'a Theme, (check, pictures): Lookups<'a>) -> BlockParser<'a> {
        BlockParser {
            source,
            theme,
            check,
            pictures,
            images: Vec::new(),
            frames: vec![(Container::Root, Vec::new())],
            has_frame: Vec::new(),
            inline: Vec::new(),
            styles: vec![theme.text],
            links: Vec::new(),
            open_pictures: 0,
            code: None,
            alignments: Vec::new(),
            rows: Vec::new(),
            cell_end: 0,
        }
    }

    fn handle_event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start_tag(tag),
            Event::End(tag) => self.end_tag(tag),
            Event::Text(text) => match &mut self.code {
                Some((_, code)) => code.push_str(&text),
                None => self.push_text(&text, Style::new()),
            },
            Event::Code(text) => self.push_text(&text, self.theme.code),
            Event::InlineHtml(html) if is_line_break(&html) => self.push_text("\n", Style::new()),
            Event::Html(text) | Event::InlineHtml(text) => self.push_text(&text, Style::new()),
            Event::SoftBreak => self.push_text(" ", Style::new()),
            Event::HardBreak => self.push_text("\n", Style::new()),
            Event::Rule => {
                self.end_text();
                self.push_block(Block::Rule);
            }
            Event::TaskListMarker(is_done) => {
                if let Some((Container::Item(task), _)) = self.frames.last_mut() {
                    *task = Some(is_done);
                }
            }
            // Shown as written, because `$HOME/$USER` is not a formula. Emphasis is not parsed between dollar signs.
            Event::InlineMath(text) => self.push_text(&format!("${text}$"), Style::new()),
            Event::DisplayMath(text) => self.push_text(&format!("$${text}$$"), Style::new()),
            // The parser leaves `[^name]` as text until the footnote has arrived; it looks the same afterwards.
            Event::FootnoteReference(name) => self.push_text(&format!("[^{name}]"), Style::new()),
        }
    }

    fn start_tag(&mut self, tag: Tag<'_>) {
        if !is_inside_text(&tag) {
            self.end_text();
        }
        self.open_pictures += usize::from(matches!(tag, Tag::Image { .. }));
        match tag {
            Tag::Heading { level, .. } => {
                self.push_style(heading_style(level, self.theme));
            }
            Tag::BlockQuote(kind) => {
                self.open_frame(Container::Quote);
                if let Some(kind) = kind {
                    self.push_block(Block::Text(vec![Piece::new(alert_heading(kind), self.theme.heading)]));
                }
                self.push_style(self.theme.quote);
            }
            Tag::CodeBlock(kind) => {
                let language = match kind {
                    CodeBlockKind::Fenced(language) => clean_line(&language).into_owned(),
                    CodeBlockKind::Indented => String::new(),
                };
                self.code = Some((language, String::new()));
            }
            Tag::List(start) => self.open_frame(Container::List(start)),
            Tag::Item => self.open_frame(Container::Item(None)),
            Tag::Table(alignments) => self.alignments = alignments,
            Tag::FootnoteDefinition(name) => self.open_frame(Container::Note(clean_line(&name).into_owned())),
            Tag::TableHead => {
                self.rows = vec![Vec::new()];
                self.push_style(self.theme.strong);
            }
            Tag::TableRow => self.rows.push(Vec::new()),
            Tag::Emphasis => self.push_style(self.theme.emphasis),
            Tag::Strong => self.push_style(self.theme.strong),
            Tag::Strikethrough => self.push_style(Style::new().add_modifier(Modifier::CROSSED_OUT)),
            // Text of the outermost picture. Comparing the text of each picture with its address takes quadratic time.
            Tag::Image { dest_url, title, .. } if self.open_pictures > 1 => {
                let address = format!("{dest_url} {title}");
                self.push_text(&format!("({}) ", address.trim_end()), self.theme.dim);
            }
            Tag::Link { dest_url, title, .. } | Tag::Image { dest_url, title, .. } => {
                let address = clean_line(&dest_url).into_owned();
                let (target, style) = match link::resolve_link(&address, self.check) {
                    Some((target, false)) => (Some(Arc::new(target)), self.theme.link),
                    Some((_, true)) => (None, pieces::MISSING_LINK),
                    None => (None, Style::new()),
                };
                self.push_style(style);
                let title = clean_line(&title).into_owned();
                self.links.push(OpenLink { target, address, title, first_piece: self.inline.len() });
            }
            _ => {}
        }
    }

    fn end_tag(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.end_text();
                self.pop_style();
            }
            TagEnd::BlockQuote(_) => {
                self.end_text();
                self.pop_style();
                self.close_frame();
            }
            TagEnd::List(_) | TagEnd::Item | TagEnd::FootnoteDefinition => {
                self.end_text();
                self.close_frame();
            }
            TagEnd::CodeBlock => {
                if let Some((language, code)) = self.code.take() {
                    self.push_block(Block::Code { language, code: clean_text(&code).into_owned() });
                }
            }
            TagEnd::TableCell => {
                let cell = self.take_text();
                if let Some(row) = self.rows.last_mut() {
                    row.push(cell);
                }
            }
            TagEnd::TableHead => self.pop_style(),
            TagEnd::Table => {
                let (alignments, rows) = (std::mem::take(&mut self.alignments), std::mem::take(&mut self.rows));
                self.push_block(Block::Table { alignments, rows });
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => self.pop_style(),
            TagEnd::Link => self.end_link(false),
            TagEnd::Image => {
                self.open_pictures -= 1;
                if self.open_pictures == 0 {
                    self.end_link(true);
                }
            }
            TagEnd::TableRow => {
                let excess = excess_cells(self.source, self.cell_end);
                if let Some(cell) = self.rows.last_mut().and_then(|row| row.last_mut()).filter(|_| !excess.is_empty()) {
                    cell.push(Piece::new(format!(" | {excess}"), self.theme.dim));
                }
            }
            TagEnd::Superscript | TagEnd::Subscript => {}
            _ => self.end_text(),
        }
    }

    /// Appends text. It is cleaned again, because a decoded entity (`&#27;`) can be any character.
    fn push_text(&mut self, text: &str, style: Style) {
        let text = clean_text(text);
        let style = self.styles.last().copied().unwrap_or_default().patch(style);
        let link = self.links.iter().rev().find_map(|link| link.target.clone());
        let link_start = self.links.last().map(|link| link.first_piece);
        let next_piece = self.inline.len();
        match self.inline.last_mut() {
            Some(last) if last.style == style && last.link == link && link_start != Some(next_piece) => {
                last.text.push_str(&text);
            }
            _ => self.inline.push(Piece { text: text.into_owned(), style, link }),
        }
    }

    /// Appends the address of a link, unless its text already shows it, and its title, if any.
    fn end_link(&mut self, is_image: bool) {
        self.pop_style();
        let Some(OpenLink { target, address, title, first_piece }) = self.links.pop() else { return };
        self.add_address(target, address, first_piece, is_image);
        if !title.is_empty() {
            let dim_style = self.styles.last().copied().unwrap_or_default().patch(self.theme.dim);
            let blank = if self.inline.is_empty() { "" } else { " " };
            self.inline.push(Piece::new(format!("{blank}“{title}”"), dim_style));
        }
    }

    /// Appends the address of a link unless its text shows it, and the description of an image.
    fn add_address(&mut self, target: Option<Arc<LinkTarget>>, address: String, first_piece: usize, is_image: bool) {
        let description = target.as_deref().filter(|_| is_image).and_then(|target| self.pictures.caption(target));
        let link_text: String = self.inline.iter().skip(first_piece).map(|piece| piece.text.as_str()).collect();
        let strip_scheme = |text: &str| -> String {
            let text = text.trim_start_matches("https://").trim_start_matches("http://");
            text.trim_start_matches("mailto:").trim_end_matches('/').to_owned()
        };
        let dim_style = self.styles.last().copied().unwrap_or_default().patch(self.theme.dim);
        if let Some(description) = description {
            self.images.extend(target.clone());
            let link = Piece { text: shorten_address(&address), style: self.theme.link, link: target };
            let has_own_text = strip_scheme(&link_text) != strip_scheme(&address) && !link_text.is_empty();
            if has_own_text {
                self.inline.push(Piece::new(" · ", dim_style));
            }
            if has_own_text || link_text.is_empty() {
                self.inline.push(link);
            }
            self.inline.push(Piece::new(format!(" · {description}"), dim_style));
            return;
        }
        if strip_scheme(&link_text) == strip_scheme(&address)
            || is_named_after(&address, &link_text)
            || address.is_empty()
        {
            return;
        }
        let open = if link_text.is_empty() { "(" } else { " (" };
        self.inline.push(Piece::new(open, dim_style));
        self.inline.push(Piece { text: shorten_address(&address), style: dim_style, link: target });
        self.inline.push(Piece::new(")", dim_style));
    }

    fn push_style(&mut self, style: Style) {
        let style = self.styles.last().copied().unwrap_or_default().patch(style);
        self.styles.push(style);
    }

    fn pop_style(&mut self) {
        if self.styles.len() > 1 {
            self.styles.pop();
        }
    }

    /// Makes a block of the text so far, if any.
    fn end_text(&mut self) {
        let mut pieces = self.take_text();
        if let Some(last) = pieces.last_mut() {
            last.text.truncate(last.text.trim_end_matches(['\n', ' ']).len());
        }
        if pieces.iter().any(|piece| !piece.text.trim().is_empty()) {
            self.push_block(Block::Text(pieces));
        }
    }

    /// Returns the text so far, with links detected.
    fn take_text(&mut self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for piece in std::mem::take(&mut self.inline) {
            match piece.link {
                Some(_) => pieces.push(piece),
                None => pieces.extend(pieces::split_links(&piece.text, piece.style, self.theme.link, self.check)),
            }
        }
        pieces
    }

    fn push_block(&mut self, block: Block) {
        if let Some((_, blocks)) = self.frames.last_mut() {
            blocks.push(block);
        }
    }

    fn open_frame(&mut self, container: Container) {
        let has_frame = match container {
            Container::Item(_) => matches!(self.frames.last(), Some((Container::List(_), _))),
            _ => self.frames.len() < MAX_DEPTH,
        };
        if has_frame {
            self.frames.push((container, Vec::new()));
        }
        self.has_frame.push(has_frame);
    }

    fn close_frame(&mut self) {
        if self.has_frame.pop() != Some(false)
            && self.frames.len() > 1
            && let Some((container, blocks)) = self.frames.pop()
        {
            self.push_block(Block::Container(container, blocks));
        }
    }
}

/// Returns whether a tag is part of the text of a block or of a table, so that it does not end that text.
fn is_inside_text(tag: &Tag<'_>) -> bool {
    matches!(
        tag,
        Tag::TableHead
            | Tag::TableRow
            | Tag::TableCell
            | Tag::Emphasis
            | Tag::Strong
            | Tag::Strikethrough
            | Tag::Superscript
            | Tag::Subscript
            | Tag::Link { .. }
            | Tag::Image { .. }
    )
}

fn is_line_break(html: &str) -> bool {
    matches!(html.to_ascii_lowercase().as_str(), "<br>" | "<br/>" | "<br />")
}
