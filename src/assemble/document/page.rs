//! Formats a document as plain text lines, for a terminal or a pipe.

use super::{Body, Document, Part, Sign};
use crate::tui::text::wrap;
use ratatui::style::Style;

/// Formats the document in lines of at most this width.
pub(in crate::assemble) fn lines(document: &Document, columns: usize) -> Vec<String> {
    let mut page = Page { lines: Vec::new(), columns };
    page.put(0, &document.title);
    for (label, value) in &document.facts {
        page.put(0, &format!("{label}: {value}"));
    }
    for notice in &document.notices {
        page.put(0, &format!("warning: {notice}"));
    }
    page.parts(0, &document.parts);
    if let Some(told) = document.told() {
        page.lines.push(String::new());
        page.put(0, &format!("{told}."));
    }
    page.lines
}

struct Page {
    lines: Vec<String>,
    columns: usize,
}

impl Page {
    fn put(&mut self, by: usize, text: &str) {
        let room = self.columns.saturating_sub(by).max(1);
        for line in wrap::plain(text.trim_end(), Style::new(), room) {
            let line = format!("{}{line}", " ".repeat(by));
            self.lines.push(line.trim_end().to_owned());
        }
    }

    fn parts(&mut self, by: usize, parts: &[Part]) {
        for part in parts {
            self.lines.push(String::new());
            match part {
                Part::Words(words) => {
                    let dot = if words.when.is_empty() { "" } else { " · " };
                    self.put(by, &format!("{}{dot}{}", words.who, words.when));
                    if !words.text.trim().is_empty() {
                        self.put(by + 2, &words.text);
                    }
                    if let Some(why) = &words.incomplete {
                        self.put(by + 2, &format!("(incomplete: {why})"));
                    }
                }
                Part::Call(call) => {
                    let dot = if call.summary.is_empty() { "" } else { " · " };
                    self.put(by + 2, &format!("{} {}{dot}{}", call.end.mark(), call.name, call.summary));
                    for step in &call.steps {
                        self.put(by + 4, &format!("· {step}"));
                    }
                    if let Some(careful) = &call.careful {
                        self.put(by + 4, &format!("WARNING: {careful}"));
                    }
                    for body in &call.bodies {
                        self.body(by + 6, body);
                    }
                    self.parts(by + 4, &call.beneath);
                }
                Part::Aside(text) => self.put(by, &format!("— {text}")),
            }
        }
    }

    fn body(&mut self, by: usize, body: &Body) {
        match body {
            Body::Code { text, .. } => text.trim_end().lines().for_each(|line| self.put(by, line)),
            Body::Change { path, lines, .. } => {
                self.put(by, path);
                let line = |(sign, text): &(Sign, String)| format!("{}{text}", sign.mark());
                lines.iter().for_each(|one| self.put(by, &line(one)));
            }
            Body::Asked(questions) => {
                for question in questions {
                    self.put(by, &question.text);
                    for (picked, option) in &question.options {
                        self.put(by, &format!("[{}] {option}", if *picked { "x" } else { " " }));
                    }
                    for answer in &question.answer {
                        self.put(by, &format!("→ {answer}"));
                    }
                }
            }
        }
    }
}
