//! Formats a session as JSON: every stored entry, with secrets of known forms redacted.

use super::included_files::IncludedFiles;
use crate::chat::dry_run_entries::dry_run_entries;
use crate::chat::{Session, SessionId};
use crate::commands::output::redaction_notice;
use crate::print::escape_json;
use crate::store::StoredSession;
use crate::text::redaction::Redactor;
use serde_json::{Value, json};

/// Returns one JSON object, and the number of secrets redacted.
pub(in crate::commands) fn format_json(
    id: &SessionId,
    stored: &StoredSession,
    files: &IncludedFiles,
) -> (String, usize) {
    let session = Session::replay(stored.entries.iter().cloned());
    let (mut redacted, no_schema) = (0, None);
    let mut entries = Vec::new();
    let dry_run_flags = dry_run_entries(stored.header.as_ref().map(|header| header.dry_run), &stored.entries);
    for (index, entry) in stored.entries.iter().enumerate() {
        let mut value = serde_json::to_value(entry).unwrap_or_default();
        redacted += Redactor::default().redact_json(&mut value, no_schema);
        if dry_run_flags[index] {
            mark_reply(&mut value);
        }
        if let (Some(object), Some(time)) = (value.as_object_mut(), stored.times.get(index)) {
            object.insert("at".to_owned(), json!(time));
        }
        entries.push(value);
    }
    let mut root = json!({ "session": id.0, "title": session.title() });
    if let Some(header) = &stored.header {
        root["folder"] = json!(header.folder.to_string_lossy());
        root["time"] = json!(header.time);
        root["model"] = json!(header.model);
        root["dry_run"] = json!(header.dry_run);
        root["from"] = json!(header.from);
    }
    redacted += Redactor::default().redact_json(&mut root, no_schema);
    root["notices"] = stored.notices.iter().map(|notice| json!(notice.to_string())).collect();
    root["entries"] = Value::Array(entries);
    root["redacted"] = json!(redacted);
    if !files.is_empty() {
        root["files"] = files.to_json();
    }
    // `careful`, `left_out` and `masked` are names of version 0.1, kept for one release.
    if let Some(notice) = redaction_notice(redacted) {
        (root["redaction_notice"], root["careful"]) = (json!(notice), json!(notice));
    }
    (root["left_out"], root["masked"]) = (root["notices"].clone(), json!(redacted));
    let text = serde_json::to_string_pretty(&root).unwrap_or_default();
    let lines: Vec<String> = text.lines().map(escape_json).collect();
    (lines.join("\n") + "\n", redacted)
}

/// Marks an entry of a dry run with `dry_run` if a model wrote its text: a reply or a summary, also of a sub-agent.
fn mark_reply(entry: &mut Value) {
    if matches!(entry["kind"].as_str(), Some("replied" | "compacted")) {
        entry["dry_run"] = json!(true);
    }
    if let Some(inner) = entry.get_mut("entry") {
        mark_reply(inner);
    }
}
