//! Writes a script as TOML.

use super::script::{Action, Reply, Script, ScriptedCall, UserAct, UserStep};
use crate::chat::Outcome;
use crate::text::redaction::{Redactor, redact};
use serde_json::Value;
use std::fmt::Write;
use std::time::Duration;

/// Returns the TOML of the script of a session, and the number of secrets that were redacted in it.
pub fn write_script(script: &Script) -> (String, usize) {
    let mut toml = String::from(
        "# Written by aye demo new. Play it with `aye demo play`; `aye help demos` explains the keys.\n\n",
    );
    let mut writer = Writer { toml: &mut toml, redacted: 0 };
    if let Some(title) = &script.title {
        writer.text("title", title);
    }
    writer.text("model", &script.model);
    writer.text("folder", &script.folder);
    if script.is_dry_run {
        writer.line("dry_run = true");
    }
    for step in &script.steps {
        writer.line("\n[[step]]");
        match &step.action {
            Action::User(user) => writer.user_step(user),
            Action::Reply(reply) => writer.reply(reply),
        }
    }
    let redacted = writer.redacted;
    (toml, redacted)
}

struct Writer<'a> {
    toml: &'a mut String,
    redacted: usize,
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        self.toml.push_str(line);
        self.toml.push('\n');
    }

    fn text(&mut self, key: &str, text: &str) {
        let (shown, count) = redact(text);
        self.redacted += count;
        self.string(key, shown.into_owned());
    }

    /// Writes JSON in a string. Secrets are redacted in its strings, so it stays valid.
    fn json(&mut self, key: &str, mut value: Value) {
        self.redacted += Redactor::default().redact_json(&mut value, None);
        self.string(key, value.to_string());
    }

    fn string(&mut self, key: &str, text: String) {
        let _ = writeln!(self.toml, "{key} = {}", toml::Value::String(text));
    }

    fn seconds(&mut self, key: &str, time: Duration) {
        let _ = writeln!(self.toml, "{key} = {:.1}", time.as_secs_f64());
    }

    fn user_step(&mut self, step: &UserStep) {
        match &step.act {
            UserAct::Type(text, _) => self.text("type", text),
            UserAct::Press(keys) => self.text("press", &keys.join(" ")),
            UserAct::Paste(text) => self.text("paste", text),
            UserAct::WaitFor(text) => self.text("wait", text),
            UserAct::WaitGone(text) => self.text("gone", text),
            UserAct::Mark(name) => self.text("mark", name),
            UserAct::Resize(columns, rows) => self.text("resize", &format!("{columns}x{rows}")),
            UserAct::Pause => {}
        }
        self.seconds("pause", step.pause);
    }

    fn reply(&mut self, reply: &Reply) {
        if !reply.reasoning.is_empty() {
            self.text("reasoning", &reply.reasoning);
        }
        // Braces of a session are no placeholders.
        let text: String = reply.text.iter().map(|part| part.text.replace("{{", "{ {")).collect();
        self.text("reply", &text);
        self.seconds("delay", reply.delay);
        if reply.speed > 0 {
            self.line(&format!("speed = {}", reply.speed.min(100_000)));
        }
        if let Some(error) = &reply.error {
            self.text("error", error);
        }
        for call in &reply.calls {
            self.call(call);
        }
    }

    fn call(&mut self, call: &ScriptedCall) {
        self.line("[[step.call]]");
        self.text("id", &call.id);
        self.text("tool", &call.tool);
        self.json("arguments", call.arguments.clone());
        match &call.outcome {
            Some(Outcome::Failed(text) | Outcome::Refused(text) | Outcome::Interrupted(text)) => {
                self.text("failure", text)
            }
            Some(Outcome::Done(text) | Outcome::Rehearsed(text)) => self.text("result", text),
            None => {}
        }
        if let Some(plan) = call.plan.as_deref().and_then(|plan| serde_json::to_value(plan).ok()) {
            self.json("plan", plan);
        }
        self.seconds("duration", call.duration);
    }
}
