//! Formats a document as markdown. Text of users, models and tools stays inside quotes and fences.

use super::escaping::{code_span, escape_inline, longest_run};
use super::file_links::link_inline;
use super::file_section::format_file_list;
use super::included_files::IncludedFiles;
use super::neutral_markdown::neutralize;
use super::{Body, CallPart, DiffSign, Document, Message, Part, QuestionPart};
use std::fmt::Write as _;

/// Formats the whole document, with links to these files in its folder.
pub(in crate::commands) fn format_markdown(document: &Document, files: &IncludedFiles) -> String {
    let mut out = format!("# {}\n\n", escape_inline(&document.title));
    for (label, value) in &document.facts {
        let _ = writeln!(out, "- {label}: {}", code_span(value));
    }
    for notice in &document.notices {
        let _ = writeln!(out, "- warning: {}", escape_inline(notice));
    }
    out.push('\n');
    out.push_str(&format_parts(&document.parts, files));
    out.push_str(&format_file_list(files));
    if let Some(notice) = document.redaction_notice() {
        let _ = write!(out, "---\n\n*{notice}.*\n");
    }
    out
}

fn format_parts(parts: &[Part], files: &IncludedFiles) -> String {
    let mut out = String::new();
    for part in parts {
        match part {
            Part::Message(message) => push_message(message, files, &mut out),
            Part::Call(call) => push_call(call, files, &mut out),
            Part::Aside(text) => {
                let mut lines = text.lines();
                let _ = writeln!(out, "*{}*\n", link_inline(lines.next().unwrap_or_default(), files));
                let other_lines: Vec<&str> = lines.collect();
                if !other_lines.is_empty() {
                    push_quote(&escape_plain(&other_lines.join("\n"), files), &mut out);
                }
            }
        }
    }
    out
}

fn push_message(message: &Message, files: &IncludedFiles, out: &mut String) {
    let separator = if message.time.is_empty() { "" } else { " · " };
    let _ = writeln!(out, "**{}**{separator}{}\n", escape_inline(&message.author), message.time);
    if !message.reasoning.trim().is_empty() {
        out.push_str("> *Thought:*\n>\n");
        push_quote(&escape_plain(&message.reasoning, files), out);
    }
    if !message.text.trim().is_empty() {
        let text = match message.is_model {
            true => neutralize(&message.text, files),
            false => escape_plain(&message.text, files),
        };
        push_quote(&text, out);
    }
    if let Some(why) = &message.incomplete {
        let _ = writeln!(out, "*Incomplete: {}*\n", escape_inline(why));
    }
}

fn push_call(call: &CallPart, files: &IncludedFiles, out: &mut String) {
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
            Body::Questions(questions) => questions.iter().for_each(|question| push_question(question, files, out)),
        }
    }
    if !call.sub_agent.is_empty() {
        out.push_str("Sub-agent:\n\n");
        push_quote(&format_parts(&call.sub_agent, files), out);
    }
}

fn push_question(question: &QuestionPart, files: &IncludedFiles, out: &mut String) {
    push_quote(&escape_plain(&question.text, files), out);
    for (picked, option) in &question.options {
        let _ = writeln!(out, "- [{}] {}", if *picked { "x" } else { " " }, escape_inline(option));
    }
    if !question.options.is_empty() {
        out.push('\n');
    }
    for answer in &question.answers {
        push_quote(&escape_plain(answer, files), out);
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

/// Escapes text as typed: keeps every line, and only the addresses of included files are markup.
fn escape_plain(text: &str, files: &IncludedFiles) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let content = line.trim_start();
        // Keeps the indentation without making it a code block.
        out.push_str(&"\u{a0}".repeat(line.len() - content.len()));
        let escaped = link_inline(content, files);
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
