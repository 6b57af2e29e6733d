//! The page of `/context`: a bar of the context window by part, the parts, and the usage and cost of each turn.

use super::status_bar::{format_dollars, format_tokens};
use crate::agent::{ContextKind, ContextPart, ContextUsage};
use crate::chat::Usage;
use crate::chat::turn_usage::{Price, TurnUsage};
use crate::text::clean::clean_line;
use crate::text::width::{fit_start, text_width};
use crate::tui::text::wrap::{cut_line, wrap_plain};
use crate::tui::theme::{ColourDepth, Theme};
use ratatui::style::Style;
use ratatui::text::{Line, Span};

/// What the page shows, as it was when the page was opened.
#[derive(Debug, Clone)]
pub struct ContextPage {
    pub usage: ContextUsage,
    pub parts: Vec<ContextPart>,
    pub turns: Vec<TurnUsage>,
    /// Usage of the whole session.
    pub total: Usage,
    /// Price of the model in use, if known.
    pub price: Option<Price>,
}

/// Maximum columns of the page.
const MAX_COLUMNS: usize = 100;
/// Columns of a token count.
const COUNT_COLUMNS: usize = 8;
/// Columns of a percentage.
const PERCENT_COLUMNS: usize = 7;
/// Kinds in the order of the bar, with their names and the letters that stand for them without colours.
const KINDS: [(ContextKind, &str, &str); 5] = [
    (ContextKind::System, "System prompt", "S"),
    (ContextKind::Tools, "Tools", "T"),
    (ContextKind::Instructions, "Instructions", "I"),
    (ContextKind::Files, "Files", "F"),
    (ContextKind::History, "History", "H"),
];
/// Mark of free space.
const FREE_MARK: &str = "·";

impl ContextPage {
    /// Returns the page in this width.
    pub fn lay_out(&self, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        let width = width.clamp(1, MAX_COLUMNS);
        let mut lines = wrap_plain(&self.headline(), theme.strong, width);
        lines.push(Line::default());
        lines.push(self.bar(width, theme));
        lines.push(Line::default());
        for (kind, name, letter) in KINDS {
            let tokens = self.tokens_of(kind);
            if tokens > 0 {
                let mark = Span::styled(format!("{} ", mark_text(letter, theme)), kind_style(kind, theme));
                lines.push(self.row(mark, name, tokens, theme.strong, (width, theme)));
            }
        }
        if let Some(window) = self.usage.context_window {
            let mark = Span::styled(format!("{FREE_MARK} "), theme.dim);
            let free = window.saturating_sub(self.usage.tokens);
            lines.push(self.row(mark, "Free", free, theme.strong, (width, theme)));
        }
        lines.push(Line::default());
        lines.extend(self.cost_lines(width, theme));
        lines.push(Line::default());
        lines.extend(wrap_plain(self.accuracy(), theme.dim, width));
        for (kind, name, _) in KINDS {
            let parts: Vec<&ContextPart> = self.parts.iter().filter(|part| part.kind == kind).collect();
            // One part may only repeat its kind.
            if parts.iter().any(|part| part.name != name.to_lowercase()) {
                lines.extend([Line::default(), Line::styled(name, theme.heading)]);
                let row = |part: &&ContextPart| {
                    self.row(Span::raw("  "), &part.name, part.tokens, theme.text, (width, theme))
                };
                lines.extend(parts.iter().map(row));
            }
        }
        lines.extend(self.turn_lines(width, theme));
        // Only on very narrow screens a line is wider than the page.
        lines.iter_mut().for_each(|line| cut_line(line, width));
        lines
    }

    fn tokens_of(&self, kind: ContextKind) -> u64 {
        self.parts.iter().filter(|part| part.kind == kind).map(|part| part.tokens).sum()
    }

    fn headline(&self) -> String {
        let mark = if self.usage.is_estimated { "about " } else { "" };
        let tokens = format_tokens(self.usage.tokens);
        match (self.usage.context_window, self.usage.used_percent()) {
            (Some(window), Some(percent)) => {
                format!("The next request has {mark}{tokens} of {} tokens, {percent} %", format_tokens(window))
            }
            _ => format!("The next request has {mark}{tokens} tokens. How many fit is not known"),
        }
    }

    /// Says what was counted and what is estimated.
    fn accuracy(&self) -> &'static str {
        match self.usage.is_estimated {
            true => "The total and its parts are estimated.",
            false => "The total is the provider's count. The shares of the parts are estimated.",
        }
    }

    /// Returns one row of cells: at least one for each kind that has tokens.
    fn bar(&self, width: usize, theme: &Theme) -> Line<'static> {
        let used: u64 = self.usage.tokens;
        let whole = self.usage.context_window.unwrap_or(used).max(used).max(1);
        let mut spans = Vec::new();
        let (mut remaining, mut last_mark) = (width, FREE_MARK);
        for (kind, _, letter) in KINDS {
            let tokens = self.tokens_of(kind);
            let cells = (tokens as f64 / whole as f64 * width as f64).round() as usize;
            let cells = cells.max(usize::from(tokens > 0)).min(remaining);
            remaining -= cells;
            if cells == 0 {
                continue;
            }
            last_mark = mark_text(letter, theme);
            spans.push(Span::styled(mark_text(letter, theme).repeat(cells), kind_style(kind, theme)));
        }
        match spans.last_mut().filter(|_| self.usage.context_window.is_none()) {
            // All cells are shares of the request; rounding may leave some.
            Some(last) => last.content = format!("{}{}", last.content, last_mark.repeat(remaining)).into(),
            None => spans.push(Span::styled(FREE_MARK.repeat(remaining), theme.dim)),
        }
        spans.retain(|span| !span.content.is_empty());
        Line::from(spans)
    }

    /// Returns a row with a name, a count and a percentage of the window, or of the request if the window is not known.
    fn row(
        &self,
        mark: Span<'static>,
        name: &str,
        tokens: u64,
        style: Style,
        (width, theme): (usize, &Theme),
    ) -> Line<'static> {
        const MAX_NAME_COLUMNS: usize = 42;
        let used = text_width(&mark.content);
        let room = width.saturating_sub(COUNT_COLUMNS + PERCENT_COLUMNS).min(MAX_NAME_COLUMNS).saturating_sub(used);
        let name = clean_line(name);
        let name = fit_start(&name, room);
        let padding = " ".repeat(room.saturating_sub(text_width(&name)));
        let whole = self.usage.context_window.unwrap_or(self.usage.tokens).max(1);
        let percent = tokens as f64 * 100.0 / whole as f64;
        let percent = match percent {
            percent if tokens > 0 && percent < 0.05 => "<0.1 %".to_owned(),
            percent if tokens > 0 && percent < 0.95 => format!("{percent:.1} %"),
            percent => format!("{percent:.0} %"),
        };
        Line::from(vec![
            mark,
            Span::styled(format!("{name}{padding}"), style),
            Span::styled(format!("{:>COUNT_COLUMNS$}", format_tokens(tokens)), style),
            Span::styled(format!("{percent:>PERCENT_COLUMNS$}"), theme.dim),
        ])
    }

    /// Returns the usage and the cost so far.
    fn cost_lines(&self, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        if self.total.total() == 0 {
            return wrap_plain("The provider has reported no usage yet.", theme.dim, width);
        }
        let cost = self.price.map(|price| format!("{} so far · ", format_dollars(self.total.cost(price))));
        let cached = match self.total.cached_percent() {
            Some(percent) if self.total.cached > 0 => format!(", {percent} % of it from the cache"),
            Some(_) | None => ", none from the cache".to_owned(),
        };
        let text = format!(
            "{}{} tokens sent{cached} · {} received",
            cost.unwrap_or_default(),
            format_tokens(self.total.input),
            format_tokens(self.total.output)
        );
        let mut lines = wrap_plain(&text, theme.strong, width);
        if self.price.is_none() {
            lines.extend(wrap_plain(
                "The price of the model is not known (price_input, price_output).",
                theme.dim,
                width,
            ));
        }
        lines
    }

    /// Returns the usage and the cost of each turn, the oldest first.
    fn turn_lines(&self, width: usize, theme: &Theme) -> Vec<Line<'static>> {
        if self.turns.is_empty() || self.total.total() == 0 {
            return Vec::new();
        }
        let mut lines = vec![Line::default()];
        let columns = |message: &str, figures: [&str; 4], style: Style| {
            let [sent, cached, received, cost] = figures;
            let cost = if self.price.is_some() { format!("{cost:>8}") } else { String::new() };
            let figures = format!("{sent:>8}{cached:>8}{received:>9}{cost}");
            let room = width.saturating_sub(text_width(&figures));
            let message = clean_line(message);
            let message = fit_start(&message, room);
            let padding = " ".repeat(room.saturating_sub(text_width(&message)));
            let figure_style = if style == theme.heading { theme.dim } else { theme.text };
            Line::from(vec![Span::styled(format!("{message}{padding}"), style), Span::styled(figures, figure_style)])
        };
        lines.push(columns("Turns", ["sent", "cached", "received", "cost"], theme.heading));
        for (index, TurnUsage { message, usage, .. }) in self.turns.iter().enumerate() {
            let cached = usage.cached_percent().map_or("–".to_owned(), |percent| format!("{percent} %"));
            let cost = self.price.map(|price| format_dollars(usage.cost(price))).unwrap_or_default();
            let (sent, received) = (format_tokens(usage.input), format_tokens(usage.output));
            let message = format!("  {}  {message}", index + 1);
            lines.push(columns(&message, [&sent, &cached, &received, &cost], theme.text));
        }
        lines
    }
}

/// Returns the cell of a kind in the bar: a letter if the theme has no colours.
fn mark_text(letter: &'static str, theme: &Theme) -> &'static str {
    if theme.depth == ColourDepth::None { letter } else { "█" }
}

fn kind_style(kind: ContextKind, theme: &Theme) -> Style {
    let role = match kind {
        ContextKind::System => theme.accent,
        ContextKind::Tools => theme.success,
        ContextKind::Instructions => theme.warning,
        ContextKind::Files => theme.syntax_type,
        ContextKind::History => theme.user,
    };
    // Only the colour: underlined or bold cells would have other shapes.
    role.fg.map_or(theme.text, |colour| Style::new().fg(colour))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page() -> ContextPage {
        let part = |kind, name: &str, tokens| ContextPart { kind, name: name.into(), tokens };
        let turn = |message: &str, input, cached, output| TurnUsage {
            message: message.into(),
            usage: Usage { input, cached, output },
            replies: 1,
        };
        let parts = vec![
            part(ContextKind::System, "system prompt", 400),
            part(ContextKind::Tools, "ask_question", 300),
            part(ContextKind::Tools, "read_file", 100),
            part(ContextKind::Files, "src/a_file_with_a_long_name_in_a_long_folder/main.rs", 9_000),
            part(ContextKind::History, "replies", 200),
        ];
        ContextPage {
            usage: ContextUsage { tokens: 10_000, context_window: Some(20_000), is_estimated: true },
            parts,
            turns: vec![turn("why does it fail?", 1_000, 0, 50), turn("fix\u{1b}[31m it", 9_000, 8_100, 500)],
            total: Usage { input: 10_000, cached: 8_100, output: 550 },
            price: Some((1.0, 0.1, 10.0)),
        }
    }

    fn text(page: &ContextPage, width: usize) -> Vec<String> {
        page.lay_out(width, &Theme::without_colours())
            .iter()
            .map(|line| line.to_string().trim_end().to_owned())
            .collect()
    }

    #[test]
    fn the_bar_and_the_rows_show_each_part() {
        let lines = text(&page(), 60);
        assert_eq!(lines[0], "The next request has about 10.0k of 20.0k tokens, 50 %");
        assert_eq!(lines[2], format!("ST{}H{}", "F".repeat(27), "·".repeat(30)));
        assert!(lines.iter().any(|line| line.starts_with("T Tools ") && line.ends_with("  400    2 %")), "{lines:#?}");
        assert!(
            lines.iter().any(|line| line.starts_with("  src/a_file") && line.ends_with("9.0k   45 %")),
            "{lines:#?}"
        );
        assert!(lines.iter().any(|line| line.starts_with("· Free") && line.ends_with("10.0k   50 %")), "{lines:#?}");
        let last = &lines[lines.len() - 3..];
        assert_eq!(last[0], "Turns                          sent  cached received    cost");
        assert_eq!(last[1], "  1  why does it fail?         1.0k     0 %       50  <$0.01");
        assert_eq!(last[2], "  2  fix<U+001B>[31m it        9.0k    90 %      500  <$0.01");
    }

    #[test]
    fn every_line_fits_and_unknown_figures_are_named() {
        let page = ContextPage {
            usage: ContextUsage { tokens: 10_000, context_window: None, is_estimated: false },
            price: None,
            ..page()
        };
        for width in [1, 9, 20, 56, 116] {
            for line in text(&page, width) {
                assert!(text_width(&line) <= width, "{width}: {line}");
            }
        }
        let lines = text(&page, 80);
        assert!(lines[0].contains("not known") && lines.iter().any(|line| line.starts_with("The price of the model")));
        let unused = ContextPage { total: Usage::default(), turns: Vec::new(), ..page };
        assert!(text(&unused, 80).contains(&"The provider has reported no usage yet.".to_owned()));
    }
}
