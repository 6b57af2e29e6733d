//! Formats a document as markdown. Text of users, models and tools stays inside quotes and fences.

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
    if let Some(notice) = document.redaction_notice() {
        let _ = write!(out, "---\n\n*{notice}.*\n");
    }
    out
}

fn format_parts(parts: &[Part]) -> String {
    let mut out = String::new();
    for part in parts {
        match part {
            Part::Message(message) => push_message(message, &mut out),
            Part::Call(call) => push_call(call, &mut out),
            Part::Aside(text) => {
                let mut lines = text.lines();
                let _ = writeln!(out, "*{}*\n", escape_inline(lines.next().unwrap_or_default()));
                let other_lines: Vec<&str> = lines.collect();
                if !other_lines.is_empty() {
                    push_quote(&escape_plain(&other_lines.join("\n")), &mut out);
                }
            }
        }
    }
    out
}

fn push_message(message: &Message, out: &mut String) {
    let separator = if message.time.is_empty() { "" } else { " · " };
    let _ = writeln!(out, "**{}**{separator}{}\n", escape_inline(&message.author), message.time);
    if !message.reasoning.trim().is_empty() {
        out.push_str("> *Thought:*\n>\n");
        push_quote(&escape_plain(&message.reasoning), out);
    }
    if !message.text.trim().is_empty() {
        push_quote(&if message.is_model { neutralize(&message.text) } else { escape_plain(&message.text) }, out);
    }
    if let Some(why) = &message.incomplete {
        let _ = writeln!(out, "*Incomplete: {}*\n", escape_inline(why));
    }
}

fn push_call(call: &CallPart, out: &mut String) {
    let _ = write!(out, "{} {} {}", call.end.mark(), code_span(&call.name), escape_inline(&call.summary));
    let _ = writeln!(out, " — *{}*\n", call.end.label());
    for step in &call.steps {
        let _ = writeln!(out, "- {}", escape_inline(step));
    }
    if let Some(warning) = &call.warning {
        let _ = writeln!(out, "- **warning**: {}", escape_inline(warning));
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
                let format_line = |(sign, text): &(DiffSign, String)| match sign {
                    DiffSign::Position => format!("@@ {text} @@\n"),
                    sign => format!("{}{text}\n", sign.mark()),
                };
                push_fence("diff", &lines.iter().map(format_line).collect::<String>(), out);
            }
            Body::Questions(questions) => questions.iter().for_each(|question| push_question(question, out)),
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
    for answer in &question.answers {
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
    let backticks = "`".repeat(longest_run(text) + 1);
    let padding = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{backticks}{padding}{text}{padding}{backticks}")
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
        let content = line.trim_start();
        // Keeps the indentation without making it a code block.
        out.push_str(&"\u{a0}".repeat(line.len() - content.len()));
        let escaped = escape_inline(content);
        let digits = content.bytes().take_while(u8::is_ascii_digit).count();
        match content.as_bytes().get(digits) {
            // Prevents a list, a heading underline or a horizontal rule.
            Some(b'-' | b'+' | b'=') if digits == 0 => out.push('\\'),
            Some(b'.' | b')') if digits > 0 => {
                out.push_str(&escaped[..digits]);
                out.push('\\');
                out.push_str(&escaped[digits..]);
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
    let mut offsets = Vec::new();
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    for (event, range) in Parser::new_ext(text, options).into_offset_iter() {
        match event {
            Event::Html(_) | Event::InlineHtml(_) => {
                let html = &text[range.clone()];
                offsets.extend(html.match_indices(['<', '>', '&']).map(|(offset, _)| range.start + offset));
            }
            Event::Start(Tag::Image { dest_url, .. }) => {
                // Without the `!` it is a link.
                offsets.extend([range.start, range.start + 1].into_iter().take(if is_web(&dest_url) { 1 } else { 2 }));
            }
            Event::Start(Tag::Link { dest_url, .. }) if !is_web(&dest_url) => offsets.push(range.start),
            _ => {}
        }
    }
    offsets.sort_unstable();
    offsets.dedup();
    let mut out = String::with_capacity(text.len() + offsets.len());
    let mut start = 0;
    for offset in offsets {
        out.push_str(&text[start..offset]);
        // In an HTML block a backslash is no escape.
        match text.as_bytes().get(offset) {
            Some(b'<') => out.push_str("&lt;"),
            Some(b'>') => out.push_str("&gt;"),
            Some(b'&') => out.push_str("&amp;"),
            Some(b'!') => out.push_str("\\!"),
            Some(_) | None => {
                out.push('\\');
                out.push_str(&text[offset..=offset]);
            }
        }
        start = offset + 1;
    }
    out.push_str(&text[start..]);
    out
}

/// Returns whether a link leads to the web.
pub(super) fn is_web(address: &str) -> bool {
    let lowercase = address.trim().to_ascii_lowercase();
    lowercase.starts_with("https://") || lowercase.starts_with("http://") || lowercase.starts_with("mailto:")
}
