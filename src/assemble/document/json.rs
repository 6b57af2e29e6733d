//! A session as JSON: every entry as it is kept, but for secrets of known shapes.

use super::told;
use crate::chat::mask::{MASK, mask};
use crate::chat::{Session, SessionId};
use crate::print::harmless;
use crate::store::Read;
use serde_json::{Value, json};

/// One object, and how many secrets were masked in it.
pub(in crate::assemble) fn write(id: &SessionId, read: &Read) -> (String, usize) {
    let session = Session::replay(read.entries.iter().cloned());
    let mut masked = 0;
    let mut entries = Vec::new();
    for (at, entry) in read.entries.iter().enumerate() {
        let mut value = serde_json::to_value(entry).unwrap_or_default();
        Masking { inside: false, masked: &mut masked }.value(&mut value);
        if let (Some(object), Some(time)) = (value.as_object_mut(), read.times.get(at)) {
            object.insert("at".to_owned(), json!(time));
        }
        entries.push(value);
    }
    let mut about = json!({ "session": id.0, "title": session.title() });
    if let Some(header) = &read.header {
        about["folder"] = json!(header.folder.to_string_lossy());
        about["time"] = json!(header.time);
        about["model"] = json!(header.model);
        about["dry_run"] = json!(header.dry_run);
        about["from"] = json!(header.from);
    }
    Masking { inside: false, masked: &mut masked }.value(&mut about);
    about["left_out"] = read.notices.iter().map(|notice| json!(notice.to_string())).collect();
    about["entries"] = Value::Array(entries);
    about["masked"] = json!(masked);
    if let Some(told) = told(masked) {
        about["careful"] = json!(told);
    }
    let text = serde_json::to_string_pretty(&about).unwrap_or_default();
    let lines: Vec<String> = text.lines().map(harmless).collect();
    (lines.join("\n") + "\n", masked)
}

/// Masks the texts of one entry. The lines of a change are texts of their own, and a private key stands on many.
struct Masking<'a> {
    /// Whether the end of a private key is still to come.
    inside: bool,
    masked: &'a mut usize,
}

impl Masking<'_> {
    fn value(&mut self, value: &mut Value) {
        match value {
            Value::String(text) => self.text(text),
            Value::Array(values) => values.iter_mut().for_each(|value| self.value(value)),
            Value::Object(object) => object.values_mut().for_each(|value| self.value(value)),
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }

    fn text(&mut self, text: &mut String) {
        if self.inside {
            match text.find("-----END ") {
                Some(end) => {
                    self.inside = false;
                    *text = text.split_off(end);
                }
                None => {
                    MASK.clone_into(text);
                    return;
                }
            }
        }
        self.inside = opens(text);
        let (masked, count) = mask(text);
        *self.masked += count + usize::from(self.inside && count == 0);
        if count > 0 {
            *text = masked.into_owned();
        }
    }
}

/// Whether a private key begins in this text and does not end in it.
fn opens(text: &str) -> bool {
    let begin = text.rfind("-----BEGIN ");
    let key = begin.is_some_and(|begin| text[begin..].contains("PRIVATE KEY"));
    key && begin > text.rfind("-----END ")
}
