//! Formats a document as one HTML page that runs nothing and loads nothing.

use super::escaping::escape;
use super::file_links::escape_with_links;
use super::file_section::write_files;
use super::included_files::IncludedFiles;
use super::markdown_html::{code_block, markdown_to_html};
use super::{Body, CallPart, DiffSign, Document, Message, Part, QuestionPart};
use crate::chat::audit::EndKind;
use std::fmt::Write as _;

/// Style sheet, light and dark.
const STYLE: &str = include_str!("style.css");
/// Content security policy: display only.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// What the policy allows in addition if pictures are embedded.
const PICTURE_POLICY: &str = "; img-src data:";

/// Formats the whole page, with these files in it.
pub(in crate::commands) fn format_html(document: &Document, files: &IncludedFiles) -> String {
    let title = escape(&document.title);
    let picture_policy = if files.is_empty() { "" } else { PICTURE_POLICY };
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}{picture_policy}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n<h1>{title}</h1>\n"
    );
    if let Some((_, extent)) = document.facts.iter().find(|(label, _)| *label == "dry run") {
        let _ = writeln!(out, "<p class=\"dry\">Dry run: {}.</p>", escape(extent));
    }
    out.push_str("<dl>\n");
    for (label, value) in &document.facts {
        let _ = writeln!(out, "<dt>{}</dt><dd>{}</dd>", escape(label), escape(value));
    }
    out.push_str("</dl>\n");
    for notice in &document.notices {
        let _ = writeln!(out, "<p class=\"careful\">{}</p>", escape(notice));
    }
    write_parts(&document.parts, files, &mut out);
    write_files(files, &mut out);
    if let Some(notice) = document.redaction_notice() {
        let _ = writeln!(out, "<hr>\n<p class=\"aside\">{}.</p>", escape(&notice));
    }
    out.push_str("</body>\n</html>\n");
    out
}

fn write_parts(parts: &[Part], files: &IncludedFiles, out: &mut String) {
    for part in parts {
        match part {
            Part::Message(message) => write_message(message, files, out),
            Part::Call(call) => write_call(call, files, out),
            Part::Aside(text) => {
                let _ = writeln!(out, "<p class=\"aside\">{}</p>", escape_with_links(text, files));
            }
        }
    }
}

fn write_message(message: &Message, files: &IncludedFiles, out: &mut String) {
    let class = if message.is_model { "model" } else { "you" };
    let _ = writeln!(
        out,
        "<section class=\"{class}\">\n<p class=\"who\"><b>{}</b> {}</p>",
        escape(&message.author),
        escape(&message.time)
    );
    if !message.reasoning.trim().is_empty() {
        let reasoning = escape_with_links(message.reasoning.trim(), files);
        let _ = writeln!(
            out,
            "<details><summary class=\"end\">thought</summary><p class=\"aside\">{reasoning}</p></details>"
        );
    }
    match message.is_model {
        true => out.push_str(&markdown_to_html(&message.text, files)),
        false => {
            let text = escape_with_links(message.text.trim_end(), files);
            let _ = writeln!(out, "<div class=\"said\">{text}</div>");
        }
    }
    if let Some(why) = &message.incomplete {
        let _ = writeln!(out, "<p class=\"careful\">incomplete: {}</p>", escape(why));
    }
    out.push_str("</section>\n");
}

fn write_call(call: &CallPart, files: &IncludedFiles, out: &mut String) {
    // Calls with a diff, questions or a sub-agent start expanded, and all whose end is not `Done`.
    let has_diff_or_questions = call.bodies.iter().any(|body| matches!(body, Body::Questions(_) | Body::Change { .. }));
    let is_open = has_diff_or_questions || !call.sub_agent.is_empty() || call.end != EndKind::Done;
    let _ = writeln!(
        out,
        "<details class=\"call\"{}><summary>{} <code>{}</code> {} <span class=\"end{warning_class}\">{} {}</span></summary>",
        if is_open { " open" } else { "" },
        call.end.mark(),
        escape(&call.name),
        escape(&call.summary),
        call.end.label(),
        escape(&call.time),
        warning_class = if call.end.is_problem() { " problem" } else { "" },
    );
    out.push_str("<ul class=\"steps\">\n");
    for step in &call.steps {
        let _ = writeln!(out, "<li>{}</li>", escape(step));
    }
    out.push_str("</ul>\n");
    if let Some(warning) = &call.warning {
        let _ = writeln!(out, "<p class=\"careful\">warning: {}</p>", escape(warning));
    }
    for body in &call.bodies {
        match body {
            Body::Code { label, language, text } => {
                if !label.is_empty() {
                    let _ = writeln!(out, "<p class=\"label\">{label}</p>");
                }
                out.push_str(&code_block(language, text, files));
            }
            Body::Change { path, note, lines } => write_change(path, note.as_deref(), lines, out),
            Body::Questions(questions) => questions.iter().for_each(|question| write_question(question, files, out)),
        }
    }
    if !call.sub_agent.is_empty() {
        out.push_str("<div class=\"sub-agent\">\n");
        write_parts(&call.sub_agent, files, out);
        out.push_str("</div>\n");
    }
    out.push_str("</details>\n");
}

fn write_change(path: &str, note: Option<&str>, lines: &[(DiffSign, String)], out: &mut String) {
    let note = note.map(|note| format!(" · {}", escape(note))).unwrap_or_default();
    let _ = writeln!(out, "<p class=\"label\"><code>{}</code>{note}</p>", escape(path));
    out.push_str("<pre class=\"diff\"><code>");
    for (sign, text) in lines {
        let class = match sign {
            DiffSign::Same => "",
            DiffSign::Added => "a",
            DiffSign::Removed => "r",
            DiffSign::Position => "place",
        };
        let _ = write!(out, "<span class=\"{class}\">{}{}</span>", sign.mark(), escape(text));
    }
    out.push_str("</code></pre>\n");
}

fn write_question(question: &QuestionPart, files: &IncludedFiles, out: &mut String) {
    let _ =
        writeln!(out, "<div class=\"said\">{}</div>\n<ul class=\"options\">", escape_with_links(&question.text, files));
    for (picked, option) in &question.options {
        let (class, mark) = if *picked { (" class=\"picked\"", "●") } else { ("", "○") };
        let _ = writeln!(out, "<li{class}>{mark} {}</li>", escape(option));
    }
    out.push_str("</ul>\n");
    for answer in &question.answers {
        let _ = writeln!(out, "<p class=\"said\">{}</p>", escape_with_links(answer, files));
    }
}
