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
    if let Some(notice) = document.redaction_notice() {
        page.lines.push(String::new());
        page.push_wrapped(0, &format!("{notice}."));
    }
    page.lines
}

struct Page {
    lines: Vec<String>,
    columns: usize,
}

impl Page {
    fn push_wrapped(&mut self, indent: usize, text: &str) {
        let available = self.columns.saturating_sub(indent).max(1);
        for line in wrap::wrap_plain(text.trim_end(), Style::new(), available) {
            let line = format!("{}{line}", " ".repeat(indent));
            self.lines.push(line.trim_end().to_owned());
        }
    }

    fn push_parts(&mut self, indent: usize, parts: &[Part]) {
        for part in parts {
            self.lines.push(String::new());
            match part {
                Part::Message(message) => {
                    let separator = if message.time.is_empty() { "" } else { " · " };
                    self.push_wrapped(indent, &format!("{}{separator}{}", message.author, message.time));
                    if !message.text.trim().is_empty() {
                        self.push_wrapped(indent + 2, &message.text);
                    }
                    if let Some(why) = &message.incomplete {
                        self.push_wrapped(indent + 2, &format!("(incomplete: {why})"));
                    }
                }
                Part::Call(call) => {
                    let separator = if call.summary.is_empty() { "" } else { " · " };
                    self.push_wrapped(
                        indent + 2,
                        &format!("{} {}{separator}{}", call.end.mark(), call.name, call.summary),
                    );
                    for step in &call.steps {
                        self.push_wrapped(indent + 4, &format!("· {step}"));
                    }
                    if let Some(warning) = &call.warning {
                        self.push_wrapped(indent + 4, &format!("WARNING: {warning}"));
                    }
                    for body in &call.bodies {
                        self.push_body(indent + 6, body);
                    }
                    self.push_parts(indent + 4, &call.sub_agent);
                }
                Part::Aside(text) => self.push_wrapped(indent, &format!("— {text}")),
            }
        }
    }

    fn push_body(&mut self, indent: usize, body: &Body) {
        match body {
            Body::Code { text, .. } => text.trim_end().lines().for_each(|line| self.push_wrapped(indent, line)),
            Body::Change { path, lines, .. } => {
                self.push_wrapped(indent, path);
                let format_line = |(sign, text): &(DiffSign, String)| format!("{}{text}", sign.mark());
                lines.iter().for_each(|line| self.push_wrapped(indent, &format_line(line)));
            }
            Body::Questions(questions) => {
                for question in questions {
                    self.push_wrapped(indent, &question.text);
                    for (picked, option) in &question.options {
                        self.push_wrapped(indent, &format!("[{}] {option}", if *picked { "x" } else { " " }));
                    }
                    for answer in &question.answers {
                        self.push_wrapped(indent, &format!("→ {answer}"));
                    }
                }
            }
        }
    }
}
