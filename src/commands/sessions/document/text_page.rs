//! Formats a document as plain text lines, for a terminal or a pipe.

use super::{Body, DiffSign, Document, Part};
use crate::tui::text::wrap;
use ratatui::style::Style;

/// Formats the document in lines of at most this width.
pub(in crate::commands) fn format_lines(document: &Document, columns: usize) -> Vec<String> {
    let mut page = Page { lines: Vec::new(), columns };
    page.push_wrapped(0, &document.title);
    for (label, value) in &document.facts {
        page.push_wrapped(0, &format!("{label}: {value}"));
    }
    for notice in &document.notices {
        page.push_wrapped(0, &format!("warning: {notice}"));
    }
    page.push_parts(0, &document.parts);
    if let Some(told) = document.redaction_notice() {
        page.lines.push(String::new());
        page.push_wrapped(0, &format!("{told}."));
    }
    page.lines
}

struct Page {
    lines: Vec<String>,
    columns: usize,
}

impl Page {
    fn push_wrapped(&mut self, by: usize, text: &str) {
        let room = self.columns.saturating_sub(by).max(1);
        for line in wrap::wrap_plain(text.trim_end(), Style::new(), room) {
            let line = format!("{}{line}", " ".repeat(by));
            self.lines.push(line.trim_end().to_owned());
        }
    }

    fn push_parts(&mut self, by: usize, parts: &[Part]) {
        for part in parts {
            self.lines.push(String::new());
            match part {
                Part::Words(words) => {
                    let dot = if words.when.is_empty() { "" } else { " · " };
                    self.push_wrapped(by, &format!("{}{dot}{}", words.who, words.when));
                    if !words.text.trim().is_empty() {
                        self.push_wrapped(by + 2, &words.text);
                    }
                    if let Some(why) = &words.incomplete {
                        self.push_wrapped(by + 2, &format!("(incomplete: {why})"));
                    }
                }
                Part::Call(call) => {
                    let dot = if call.summary.is_empty() { "" } else { " · " };
                    self.push_wrapped(by + 2, &format!("{} {}{dot}{}", call.end.mark(), call.name, call.summary));
                    for step in &call.steps {
                        self.push_wrapped(by + 4, &format!("· {step}"));
                    }
                    if let Some(careful) = &call.warning {
                        self.push_wrapped(by + 4, &format!("WARNING: {careful}"));
                    }
                    for body in &call.bodies {
                        self.push_body(by + 6, body);
                    }
                    self.push_parts(by + 4, &call.sub_agent);
                }
                Part::Aside(text) => self.push_wrapped(by, &format!("— {text}")),
            }
        }
    }

    fn push_body(&mut self, by: usize, body: &Body) {
        match body {
            Body::Code { text, .. } => text.trim_end().lines().for_each(|line| self.push_wrapped(by, line)),
            Body::Change { path, lines, .. } => {
                self.push_wrapped(by, path);
                let line = |(sign, text): &(DiffSign, String)| format!("{}{text}", sign.mark());
                lines.iter().for_each(|one| self.push_wrapped(by, &line(one)));
            }
            Body::Asked(questions) => {
                for question in questions {
                    self.push_wrapped(by, &question.text);
                    for (picked, option) in &question.options {
                        self.push_wrapped(by, &format!("[{}] {option}", if *picked { "x" } else { " " }));
                    }
                    for answer in &question.answer {
                        self.push_wrapped(by, &format!("→ {answer}"));
                    }
                }
            }
        }
    }
}
