//! Parses Markdown into blocks, independent of the width.

use super::block::{Block, Frame, Item, Kind};
use super::unrendered::{ShownLinks, excess_cells, is_named_after};
use super::{Exists, Picture, options};
use crate::chat::link::{self, Target};
use crate::tui::text::clean::{clean, one_line};
use crate::tui::text::width::{cut, width};
use crate::tui::text::{Piece, links};
use crate::tui::theme::Theme;
use pulldown_cmark::{Alignment, BlockQuoteKind, CodeBlockKind, Event, HeadingLevel, Parser, Tag, TagEnd};
use ratatui::style::{Modifier, Style};
use std::sync::Arc;

/// Maximum nesting; deeper containers become part of the one around them.
const DEEPEST: usize = 24;
/// Maximum columns of the address after a link's text; the middle of longer ones is truncated.
const ADDRESS: usize = 60;
/// Columns kept at the end of a truncated address.
const TAIL: usize = 16;

/// Parses a cleaned and bounded text.
pub(super) fn read(source: &str, theme: &Theme, outside: (Exists<'_>, Picture<'_>)) -> Vec<Block> {
    let mut reader = Reader::new(source, theme, outside);
    let mut links = ShownLinks::default();
    let mut events = Parser::new_ext(source, options()).into_offset_iter();
    for (event, range) in events.by_ref() {
        match &event {
            Event::Start(tag) => links.note(tag),
            Event::End(TagEnd::TableCell) => reader.cell_end = range.end,
            _ => {}
        }
        reader.event(event);
    }
    reader.end_text();
    while reader.frames.len() > 1 {
        reader.close();
    }
    for definition in links.unused(source, events.reference_definitions()) {
        reader.push(Block::Text(vec![Piece::new(definition, theme.dim)]));
    }
    reader.frames.pop().map(|frame| frame.blocks).unwrap_or_default()
}

/// A link or picture whose text is being read.
struct OpenLink {
    /// Link target, if valid.
    target: Option<Arc<Target>>,
    /// The address as written.
    written: String,
    title: String,
    /// Index of the first piece of its text.
    first: usize,
}

struct Reader<'a> {
    source: &'a str,
    theme: &'a Theme,
    exists: Exists<'a>,
    picture: Picture<'a>,
    frames: Vec<Frame>,
    /// For each open container, whether it has a frame; too deep ones have none.
    framed: Vec<bool>,
    inline: Vec<Piece>,
    styles: Vec<Style>,
    link: Option<OpenLink>,
    code: Option<(String, String)>,
    aligned: Vec<Alignment>,
    rows: Vec<Vec<Vec<Piece>>>,
    /// Byte of the source at which the last table cell ends.
    cell_end: usize,
}

impl<'a> Reader<'a> {
    fn new(source: &'a str, theme: &'a Theme, (exists, picture): (Exists<'a>, Picture<'a>)) -> Reader<'a> {
        Reader {
            source,
            theme,
            exists,
            picture,
            frames: vec![Frame::default()],
            framed: Vec::new(),
            inline: Vec::new(),
            styles: vec![theme.text],
            link: None,
            code: None,
            aligned: Vec::new(),
            rows: Vec::new(),
            cell_end: 0,
        }
    }

    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Start(tag) => self.start(tag),
            Event::End(tag) => self.end(tag),
            Event::Text(text) => match &mut self.code {
                Some((_, code)) => code.push_str(&text),
                None => self.text(&text, Style::new()),
            },
            Event::Code(text) => self.text(&text, self.theme.code),
            Event::InlineHtml(html) if is_break(&html) => self.text("\n", Style::new()),
            Event::Html(text) | Event::InlineHtml(text) => self.text(&text, Style::new()),
            Event::SoftBreak => self.text(" ", Style::new()),
            Event::HardBreak => self.text("\n", Style::new()),
            Event::Rule => {
                self.end_text();
                self.push(Block::Rule);
            }
            Event::TaskListMarker(done) => {
                if let Some(Frame { kind: Kind::Item(task), .. }) = self.frames.last_mut() {
                    *task = Some(done);
                }
            }
            // Shown as written: it contains no emphasis, and `$HOME/$USER` is not a formula.
            Event::InlineMath(text) => self.text(&format!("${text}$"), Style::new()),
            Event::DisplayMath(text) => self.text(&format!("$${text}$$"), Style::new()),
            // The same text as before the footnote has arrived.
            Event::FootnoteReference(name) => self.text(&format!("[^{name}]"), Style::new()),
        }
    }

    fn start(&mut self, tag: Tag<'_>) {
        match tag {
            Tag::Heading { level, .. } => self.end_text_and(|reader| {
                let looks = match level {
                    HeadingLevel::H1 => Modifier::UNDERLINED,
                    HeadingLevel::H2 => Modifier::empty(),
                    HeadingLevel::H3 | HeadingLevel::H4 | HeadingLevel::H5 | HeadingLevel::H6 => {
                        Modifier::ITALIC
                    }
                };
                reader.style(reader.theme.heading.add_modifier(looks));
            }),
            Tag::BlockQuote(kind) => self.end_text_and(|reader| {
                reader.open(Kind::Quote);
                if let Some(kind) = kind {
                    reader.push(Block::Text(vec![Piece::new(alert(kind), reader.theme.heading)]));
                }
                reader.style(reader.theme.quote);
            }),
            Tag::CodeBlock(kind) => self.end_text_and(|reader| {
                let language = match kind {
                    CodeBlockKind::Fenced(language) => one_line(&language).into_owned(),
                    CodeBlockKind::Indented => String::new(),
                };
                reader.code = Some((language, String::new()));
            }),
            Tag::List(start) => self.end_text_and(|reader| reader.open(Kind::List(start, Vec::new()))),
            Tag::Item => self.end_text_and(|reader| reader.open(Kind::Item(None))),
            Tag::Table(aligned) => self.end_text_and(|reader| reader.aligned = aligned),
            Tag::TableHead => {
                self.rows = vec![Vec::new()];
                self.style(self.theme.strong);
            }
            Tag::TableRow => self.rows.push(Vec::new()),
            Tag::Emphasis => self.style(self.theme.emphasis),
            Tag::Strong => self.style(self.theme.strong),
            Tag::Strikethrough => self.style(Style::new().add_modifier(Modifier::CROSSED_OUT)),
            Tag::Link { dest_url, title, .. } | Tag::Image { dest_url, title, .. } => {
                let written = one_line(&dest_url).into_owned();
                let target = link::parse(&written).filter(|target| (self.exists)(target)).map(Arc::new);
                if target.is_some() {
                    self.style(self.theme.link);
                } else {
                    self.style(Style::new());
                }
                let title = one_line(&title).into_owned();
                self.link = Some(OpenLink { target, written, title, first: self.inline.len() });
            }
            Tag::FootnoteDefinition(name) => {
                self.end_text_and(|reader| reader.open(Kind::Note(one_line(&name).into_owned())));
            }
            Tag::Paragraph | Tag::HtmlBlock | Tag::MetadataBlock(_) => self.end_text(),
            Tag::DefinitionList | Tag::DefinitionListTitle | Tag::DefinitionListDefinition => self.end_text(),
            Tag::TableCell | Tag::Superscript | Tag::Subscript => {}
        }
    }

    fn end(&mut self, tag: TagEnd) {
        match tag {
            TagEnd::Heading(_) => {
                self.end_text();
                self.unstyle();
            }
            TagEnd::BlockQuote(_) => {
                self.end_text();
                self.unstyle();
                self.close();
            }
            TagEnd::List(_) | TagEnd::Item | TagEnd::FootnoteDefinition => {
                self.end_text();
                self.close();
            }
            TagEnd::CodeBlock => {
                if let Some((language, code)) = self.code.take() {
                    self.push(Block::Code { language, code: clean(&code).into_owned() });
                }
            }
            TagEnd::TableCell => {
                let cell = self.take_text();
                if let Some(row) = self.rows.last_mut() {
                    row.push(cell);
                }
            }
            TagEnd::TableHead => self.unstyle(),
            TagEnd::Table => {
                let (aligned, rows) = (std::mem::take(&mut self.aligned), std::mem::take(&mut self.rows));
                self.push(Block::Table { aligned, rows });
            }
            TagEnd::Emphasis | TagEnd::Strong | TagEnd::Strikethrough => self.unstyle(),
            TagEnd::Link => self.end_link(false),
            TagEnd::Image => self.end_link(true),
            TagEnd::Paragraph | TagEnd::HtmlBlock | TagEnd::MetadataBlock(_) => self.end_text(),
            TagEnd::DefinitionList | TagEnd::DefinitionListTitle | TagEnd::DefinitionListDefinition => {
                self.end_text()
            }
            TagEnd::TableRow => {
                let excess = excess_cells(self.source, self.cell_end);
                if let Some(cell) =
                    self.rows.last_mut().and_then(|row| row.last_mut()).filter(|_| !excess.is_empty())
                {
                    cell.push(Piece::new(format!(" | {excess}"), self.theme.dim));
                }
            }
            TagEnd::Superscript | TagEnd::Subscript => {}
        }
    }

    /// Appends decoded text, which may contain any character from an entity (`&#27;`).
    fn text(&mut self, text: &str, style: Style) {
        let text = clean(text);
        let style = self.styles.last().copied().unwrap_or_default().patch(style);
        let link = self.link.as_ref().and_then(|link| link.target.clone());
        let first = self.link.as_ref().map(|link| link.first);
        let inside = self.inline.len();
        match self.inline.last_mut() {
            Some(last) if last.style == style && last.link == link && first != Some(inside) => {
                last.text.push_str(&text);
            }
            _ => self.inline.push(Piece { text: text.into_owned(), style, link }),
        }
    }

    /// Appends the address and title of a link, unless its text already shows them.
    fn end_link(&mut self, is_image: bool) {
        self.unstyle();
        let Some(OpenLink { target, written, title, first }) = self.link.take() else { return };
        self.add_address(target, written, first, is_image);
        if !title.is_empty() {
            let dim = self.styles.last().copied().unwrap_or_default().patch(self.theme.dim);
            let blank = if self.inline.is_empty() { "" } else { " " };
            self.inline.push(Piece::new(format!("{blank}“{title}”"), dim));
        }
    }

    fn add_address(&mut self, target: Option<Arc<Target>>, written: String, first: usize, is_image: bool) {
        let told = target.as_deref().filter(|_| is_image).and_then(|target| (self.picture)(target));
        let words: String = self.inline.iter().skip(first).map(|piece| piece.text.as_str()).collect();
        let bare = |text: &str| -> String {
            let text = text.trim_start_matches("https://").trim_start_matches("http://");
            text.trim_start_matches("mailto:").trim_end_matches('/').to_owned()
        };
        let dim = self.styles.last().copied().unwrap_or_default().patch(self.theme.dim);
        if let Some(told) = told {
            let link = Piece { text: shortened(&written), style: self.theme.link, link: target };
            let own = bare(&words) != bare(&written) && !words.is_empty();
            if own {
                self.inline.push(Piece::new(" · ", dim));
            }
            if own || words.is_empty() {
                self.inline.push(link);
            }
            self.inline.push(Piece::new(format!(" · {told}"), dim));
            return;
        }
        if bare(&words) == bare(&written) || is_named_after(&written, &words) || written.is_empty() {
            return;
        }
        let style = dim;
        let open = if words.is_empty() { "(" } else { " (" };
        self.inline.push(Piece::new(open, style));
        self.inline.push(Piece { text: shortened(&written), style, link: target });
        self.inline.push(Piece::new(")", style));
    }

    fn style(&mut self, style: Style) {
        let style = self.styles.last().copied().unwrap_or_default().patch(style);
        self.styles.push(style);
    }

    fn unstyle(&mut self) {
        if self.styles.len() > 1 {
            self.styles.pop();
        }
    }

    fn end_text_and(&mut self, then: impl FnOnce(&mut Self)) {
        self.end_text();
        then(self);
    }

    /// Makes a block of the text so far, if any.
    fn end_text(&mut self) {
        let mut pieces = self.take_text();
        if let Some(last) = pieces.last_mut() {
            last.text.truncate(last.text.trim_end_matches(['\n', ' ']).len());
        }
        if pieces.iter().any(|piece| !piece.text.trim().is_empty()) {
            self.push(Block::Text(pieces));
        }
    }

    /// Returns the text so far, with links detected.
    fn take_text(&mut self) -> Vec<Piece> {
        let mut pieces = Vec::new();
        for piece in std::mem::take(&mut self.inline) {
            match piece.link {
                Some(_) => pieces.push(piece),
                None => pieces.extend(links::split(&piece.text, piece.style, self.theme.link, self.exists)),
            }
        }
        pieces
    }

    fn push(&mut self, block: Block) {
        if let Some(frame) = self.frames.last_mut() {
            frame.blocks.push(block);
        }
    }

    fn open(&mut self, kind: Kind) {
        let in_list = matches!(self.frames.last(), Some(Frame { kind: Kind::List(..), .. }));
        let framed = match kind {
            Kind::Item(_) => in_list,
            Kind::Whole | Kind::Quote | Kind::Note(_) | Kind::List(..) => self.frames.len() < DEEPEST,
        };
        if framed {
            self.frames.push(Frame { kind, blocks: Vec::new() });
        }
        self.framed.push(framed);
    }

    fn close(&mut self) {
        if self.framed.pop() == Some(false) || self.frames.len() < 2 {
            return;
        }
        let Some(Frame { kind, blocks }) = self.frames.pop() else { return };
        match (kind, self.frames.last_mut()) {
            (Kind::Item(task), Some(Frame { kind: Kind::List(_, items), .. })) => {
                items.push(Item { task, blocks })
            }
            (Kind::List(start, items), _) => self.push(Block::List { start, items }),
            (Kind::Quote, _) => self.push(Block::Quote(blocks)),
            (Kind::Note(name), _) => self.push(Block::Note(name, blocks)),
            (Kind::Whole | Kind::Item(_), _) => {}
        }
    }
}

/// Returns the heading of an alert quote.
fn alert(kind: BlockQuoteKind) -> &'static str {
    match kind {
        BlockQuoteKind::Note => "Note",
        BlockQuoteKind::Tip => "Tip",
        BlockQuoteKind::Important => "Important",
        BlockQuoteKind::Warning => "Warning",
        BlockQuoteKind::Caution => "Caution",
    }
}

/// Truncates an address in the middle: the start shows the host, and the end matters too.
fn shortened(written: &str) -> String {
    if width(written) <= ADDRESS {
        return written.to_owned();
    }
    let start = cut(written, ADDRESS - TAIL - 1);
    let mut end = written.len();
    for (at, _) in written[start.len()..].char_indices().rev() {
        let at = start.len() + at;
        if width(&written[at..]) > TAIL {
            break;
        }
        end = at;
    }
    format!("{start}…{}", &written[end..])
}

fn is_break(html: &str) -> bool {
    matches!(html.to_ascii_lowercase().as_str(), "<br>" | "<br/>" | "<br />")
}
