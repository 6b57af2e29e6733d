//! Formats a document as one HTML page that runs nothing and loads nothing.

use super::reply::{code, escape, html};
use super::{Asked, Body, Called, Document, End, Part, Sign, Words};
use std::fmt::Write as _;

/// Style sheet, light and dark.
const STYLE: &str = include_str!("style.css");
/// Content security policy: display only.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// Formats the whole page.
pub(in crate::assemble) fn write(document: &Document) -> String {
    let title = escape(&document.title);
    let mut out = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"{POLICY}\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"referrer\" content=\"no-referrer\">\n<title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n\
         <body>\n<h1>{title}</h1>\n"
    );
    if let Some((_, words)) = document.facts.iter().find(|(label, _)| *label == "dry run") {
        let _ = writeln!(out, "<p class=\"dry\">Dry run: {}.</p>", escape(words));
    }
    out.push_str("<dl>\n");
    for (label, value) in &document.facts {
        let _ = writeln!(out, "<dt>{}</dt><dd>{}</dd>", escape(label), escape(value));
    }
    out.push_str("</dl>\n");
    for notice in &document.notices {
        let _ = writeln!(out, "<p class=\"careful\">{}</p>", escape(notice));
    }
    parts(&document.parts, &mut out);
    if let Some(told) = document.told() {
        let _ = writeln!(out, "<hr>\n<p class=\"aside\">{}.</p>", escape(&told));
    }
    out.push_str("</body>\n</html>\n");
    out
}

fn parts(parts: &[Part], out: &mut String) {
    for part in parts {
        match part {
            Part::Words(words) => said(words, out),
            Part::Call(call) => called(call, out),
            Part::Aside(text) => {
                let _ = writeln!(out, "<p class=\"aside\">{}</p>", escape(text));
            }
        }
    }
}

fn said(words: &Words, out: &mut String) {
    let class = if words.model { "model" } else { "you" };
    let _ = writeln!(
        out,
        "<section class=\"{class}\">\n<p class=\"who\"><b>{}</b> {}</p>",
        escape(&words.who),
        escape(&words.when)
    );
    if !words.reasoning.trim().is_empty() {
        let reasoning = escape(words.reasoning.trim());
        let _ = writeln!(
            out,
            "<details><summary class=\"end\">thought</summary><p class=\"aside\">{reasoning}</p></details>"
        );
    }
    match words.model {
        true => out.push_str(&html(&words.text)),
        false => {
            let _ = writeln!(out, "<div class=\"said\">{}</div>", escape(words.text.trim_end()));
        }
    }
    if let Some(why) = &words.incomplete {
        let _ = writeln!(out, "<p class=\"careful\">incomplete: {}</p>", escape(why));
    }
    out.push_str("</section>\n");
}

fn called(call: &Called, out: &mut String) {
    // Bodies worth reading are open.
    let asks = call.bodies.iter().any(|body| matches!(body, Body::Asked(_) | Body::Change { .. }));
    let open = asks || !call.beneath.is_empty() || call.end != End::Done;
    let _ = writeln!(
        out,
        "<details class=\"call\"{}><summary>{} <code>{}</code> {} <span class=\"end {word}\">{word} {}</span></summary>",
        if open { " open" } else { "" },
        call.end.mark(),
        escape(&call.name),
        escape(&call.summary),
        escape(&call.when),
        word = call.end.word(),
    );
    out.push_str("<ul class=\"steps\">\n");
    for step in &call.steps {
        let _ = writeln!(out, "<li>{}</li>", escape(step));
    }
    out.push_str("</ul>\n");
    if let Some(careful) = &call.careful {
        let _ = writeln!(out, "<p class=\"careful\">warning: {}</p>", escape(careful));
    }
    for body in &call.bodies {
        match body {
            Body::Code { label, language, text } => {
                if !label.is_empty() {
                    let _ = writeln!(out, "<p class=\"label\">{label}</p>");
                }
                out.push_str(&code(language, text));
            }
            Body::Change { path, note, lines } => change(path, note.as_deref(), lines, out),
            Body::Asked(questions) => questions.iter().for_each(|question| asked(question, out)),
        }
    }
    if !call.beneath.is_empty() {
        out.push_str("<div class=\"beneath\">\n");
        parts(&call.beneath, out);
        out.push_str("</div>\n");
    }
    out.push_str("</details>\n");
}

fn change(path: &str, note: Option<&str>, lines: &[(Sign, String)], out: &mut String) {
    let note = note.map(|note| format!(" · {}", escape(note))).unwrap_or_default();
    let _ = writeln!(out, "<p class=\"label\"><code>{}</code>{note}</p>", escape(path));
    out.push_str("<pre class=\"diff\"><code>");
    for (sign, text) in lines {
        let class = match sign {
            Sign::Same => "",
            Sign::Added => "a",
            Sign::Removed => "r",
            Sign::Place => "place",
        };
        let _ = write!(out, "<span class=\"{class}\">{}{}</span>", sign.mark(), escape(text));
    }
    out.push_str("</code></pre>\n");
}

fn asked(question: &Asked, out: &mut String) {
    let _ = writeln!(out, "<div class=\"said\">{}</div>\n<ul class=\"options\">", escape(&question.text));
    for (picked, option) in &question.options {
        let (class, mark) = if *picked { (" class=\"picked\"", "●") } else { ("", "○") };
        let _ = writeln!(out, "<li{class}>{mark} {}</li>", escape(option));
    }
    out.push_str("</ul>\n");
    for answer in &question.answer {
        let _ = writeln!(out, "<p class=\"said\">{}</p>", escape(answer));
    }
}
