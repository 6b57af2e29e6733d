//! The row of tabs above several questions: a label and a check mark for each, and the review.

use super::QuestionPrompt;
use crate::chat::Questions;
use crate::text::{reveal, width};
use crate::tui::theme::Theme;
use ratatui::text::{Line, Span};

/// Maximum cells of a label.
const MAX_LABEL: usize = 20;
/// Label of the page with all answers.
const REVIEW: &str = "review";

impl QuestionPrompt {
    /// Returns the row of tabs, in this width; `None` for a single question, or if not even numbers fit.
    pub(super) fn lay_out_tabs(&self, questions: &Questions, cells: usize, theme: &Theme) -> Option<Line<'static>> {
        if self.pages.len() < 2 {
            return None;
        }
        // Shorter and shorter labels, then only numbers.
        [MAX_LABEL, 12, 8, 0]
            .into_iter()
            .map(|max_label| self.build_tabs(questions, max_label, theme))
            .find(|line| line.width() <= cells)
    }

    fn build_tabs(&self, questions: &Questions, max_label: usize, theme: &Theme) -> Line<'static> {
        let labels = questions.list.iter().enumerate().map(|(index, question)| {
            let mark = if self.pages[index].is_empty() { ' ' } else { '✓' };
            let keyword = reveal::reveal_line(&question.keyword);
            match max_label {
                0 => format!("{}{mark}", index + 1),
                _ if question.has_generated_keyword(index) => format!("{} {mark}", index + 1),
                _ => format!("{} {mark}", width::fit_start(&keyword, max_label)),
            }
        });
        let mut spans: Vec<Span<'static>> = Vec::new();
        for (index, label) in labels.chain([REVIEW.to_owned()]).enumerate() {
            if index > 0 {
                spans.push(Span::styled(" │ ", theme.border_dim));
            }
            let style = if index == self.page { theme.strong } else { theme.dim };
            let cursor = if index == self.page { "❯ " } else { "" };
            spans.push(Span::styled(format!("{cursor}{}", label.trim_end()), style));
        }
        Line::from(spans)
    }
}
