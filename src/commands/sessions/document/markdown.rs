//! Formats a document as markdown. Outside text is in quotes and fences that it cannot leave.

use super::{Body, CallPart, DiffSign, Document, Message, Part, QuestionPart};
use pulldown_cmark::{Event, Options, Parser, Tag};
use std::fmt::Write as _;

/// Formats the whole document.
pub(in crate::commands) fn format_markdown(document: &Document) -> String {
    let mut out = format!("# {}\n\n", escape_inline(&document.title));
    for (label, value) in &document.facts {
        let _ = writeln!(out, "- {label}: {}", code_span(value));
    }
    for notice in &document.notices {
        let _ = writeln!(out, "- warning: {}", escape_inline(notice));
    }
    out.push('\n');
    out.push_str(&format_parts(&document.parts));
    if let Some(told) = document.redaction_notice() {
        let _ = write!(out, "---\n\n*{told}.*\n");
    }
    out
}

fn format_parts(parts: &[Part]) -> String {
    let mut out = String::new();
    for part in parts {
        match part {
            Part::Words(words) => push_message(words, &mut out),
            Part::Call(call) => push_call(call, &mut out),
            Part::Aside(text) => {
                let mut lines = text.lines();
                let _ = writeln!(out, "*{}*\n", escape_inline(lines.next().unwrap_or_default()));
                let rest: Vec<&str> = lines.collect();
                if !rest.is_empty() {
                    push_quote(&escape_plain(&rest.join("\n")), &mut out);
                }
            }
        }
    }
    out
}

fn push_message(words: &Message, out: &mut String) {
    let dot = if words.when.is_empty() { "" } else { " · " };
    let _ = writeln!(out, "**{}**{dot}{}\n", escape_inline(&words.who), words.when);
    if !words.reasoning.trim().is_empty() {
        out.push_str("> *Thought:*\n>\n");
        push_quote(&escape_plain(&words.reasoning), out);
    }
    if !words.text.trim().is_empty() {
        push_quote(&if words.model { neutralize(&words.text) } else { escape_plain(&words.text) }, out);
    }
    if let Some(why) = &words.incomplete {
        let _ = writeln!(out, "*Incomplete: {}*\n", escape_inline(why));
    }
}

fn push_call(call: &CallPart, out: &mut String) {
    let _ = write!(out, "{} {} {}", call.end.mark(), code_span(&call.name), escape_inline(&call.summary));
    let _ = writeln!(out, " — *{}*\n", call.end.word());
    for step in &call.steps {
        let _ = writeln!(out, "- {}", escape_inline(step));
    }
    if let Some(careful) = &call.warning {
        let _ = writeln!(out, "- **warning**: {}", escape_inline(careful));
    }
    out.push('\n');
    for body in &call.bodies {
        match body {
            Body::Code { label, language, text } => {
                if !label.is_empty() {
                    let _ = writeln!(out, "{label}:\n");
                }
                push_fence(language, text, out);
            }
            Body::Change { path, note, lines } => {
                let note = note.as_ref().map(|note| format!(" · {}", escape_inline(note))).unwrap_or_default();
                let _ = writeln!(out, "{}{note}\n", code_span(path));
                let line = |(sign, text): &(DiffSign, String)| match sign {
                    DiffSign::Position => format!("@@ {text} @@\n"),
                    sign => format!("{}{text}\n", sign.mark()),
                };
                push_fence("diff", &lines.iter().map(line).collect::<String>(), out);
            }
            Body::Asked(questions) => questions.iter().for_each(|question| push_question(question, out)),
        }
    }
    if !call.sub_agent.is_empty() {
        out.push_str("Sub-agent:\n\n");
        push_quote(&format_parts(&call.sub_agent), out);
    }
}

fn push_question(question: &QuestionPart, out: &mut String) {
    push_quote(&escape_plain(&question.text), out);
    for (picked, option) in &question.options {
        let _ = writeln!(out, "- [{}] {}", if *picked { "x" } else { " " }, escape_inline(option));
    }
    if !question.options.is_empty() {
        out.push('\n');
    }
    for answer in &question.answer {
        push_quote(&escape_plain(answer), out);
    }
}

/// Quotes each line, so that any content stays inside.
fn push_quote(text: &str, out: &mut String) {
    for line in text.trim_end().lines() {
        out.push_str(if line.is_empty() { ">" } else { "> " });
        out.push_str(line);
        out.push('\n');
    }
    out.push('\n');
}

fn push_fence(language: &str, text: &str, out: &mut String) {
    let fence = "`".repeat(longest_run(text).max(2) + 1);
    let text = text.strip_suffix('\n').unwrap_or(text);
    let _ = write!(out, "{fence}{language}\n{text}\n{fence}\n\n");
}

/// Returns the length of the longest run of backticks.
fn longest_run(text: &str) -> usize {
    text.split(|c| c != '`').map(str::len).max().unwrap_or(0)
}

fn code_span(text: &str) -> String {
    let marks = "`".repeat(longest_run(text) + 1);
    let blank = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{marks}{blank}{text}{blank}{marks}")
}

/// Escapes text for a line, so that nothing in it is markup.
fn escape_inline(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if matches!(c, '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '#' | '!' | '|' | '&' | '~' | '$') {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Escapes text as typed: keeps every line, and nothing in it is markup.
fn escape_plain(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let shown = line.trim_start();
        // Keeps the indentation without making it a code block.
        out.push_str(&"\u{a0}".repeat(line.len() - shown.len()));
        let escaped = escape_inline(shown);
        let number = shown.bytes().take_while(u8::is_ascii_digit).count();
        match shown.as_bytes().get(number) {
            // Prevents a list or a rule.
            Some(b'-' | b'+' | b'=') if number == 0 => out.push('\\'),
            Some(b'.' | b')') if number > 0 => {
                out.push_str(&escaped[..number]);
                out.push('\\');
                out.push_str(&escaped[number..]);
                out.push_str("  \n");
                continue;
            }
            _ => {}
        }
        out.push_str(&escaped);
        out.push_str(if line.is_empty() { "\n" } else { "  \n" });
    }
    out
}

/// Makes a model's markdown harmless: HTML becomes text, pictures become links, and only web links are kept.
fn neutralize(text: &str) -> String {
    let mut marks = Vec::new();
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Html(_) | Event::InlineHtml(_) => {
                let html = &text[range.clone()];
                marks.extend(html.match_indices(['<', '>', '&']).map(|(at, _)| range.start + at));
            }
            Event::Start(Tag::Image { .. }) => marks.push(range.start),
            Event::Start(Tag::Link { dest_url, .. }) if !is_web(&dest_url) => marks.push(range.start),
            _ => {}
        }
    }
    marks.sort_unstable();
    marks.dedup();
    let mut out = String::with_capacity(text.len() + marks.len());
    let mut from = 0;
    for at in marks {
        out.push_str(&text[from..at]);
        // In an HTML block a backslash is no escape.
        match text.as_bytes().get(at) {
            Some(b'<') => out.push_str("&lt;"),
            Some(b'>') => out.push_str("&gt;"),
            Some(b'&') => out.push_str("&amp;"),
            Some(b'!') => out.push_str("\\!"),
            Some(_) | None => {
                out.push('\\');
                out.push_str(&text[at..=at]);
            }
        }
        from = at + 1;
    }
    out.push_str(&text[from..]);
    out
}

/// Returns whether a link leads to the web.
pub(super) fn is_web(address: &str) -> bool {
    let low = address.trim().to_ascii_lowercase();
    low.starts_with("https://") || low.starts_with("http://") || low.starts_with("mailto:")
}
