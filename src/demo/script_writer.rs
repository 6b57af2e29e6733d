//! Writes a script as TOML.

use super::script::{Action, Reply, Script, ScriptedCall, UserAct, UserStep};
use crate::chat::Outcome;
use std::fmt::Write;
use std::time::Duration;

/// Returns the TOML of the script of a session. `mask` removes secrets from each text.
pub fn write_script(script: &Script, mask: &mut dyn FnMut(&str) -> String) -> String {
    let mut toml = String::from(
        "# Written by aye demo new. Play it with `aye demo play`; `aye help demos` explains the keys.\n\n",
    );
    let mut writer = Writer { toml: &mut toml, mask };
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
    toml
}

struct Writer<'a> {
    toml: &'a mut String,
    mask: &'a mut dyn FnMut(&str) -> String,
}

impl Writer<'_> {
    fn line(&mut self, line: &str) {
        self.toml.push_str(line);
        self.toml.push('\n');
    }

    fn text(&mut self, key: &str, text: &str) {
        let masked = (self.mask)(text);
        let value = toml::Value::String(masked);
        let _ = writeln!(self.toml, "{key} = {value}");
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
        self.text("arguments", &call.arguments.to_string());
        match &call.outcome {
            Some(Outcome::Failed(text) | Outcome::Refused(text) | Outcome::Interrupted(text)) => {
                self.text("failure", text)
            }
            Some(Outcome::Done(text) | Outcome::Rehearsed(text)) => self.text("result", text),
            None => {}
        }
        if let Some(plan) = call.plan.as_deref().and_then(|plan| serde_json::to_string(plan).ok()) {
            self.text("plan", &plan);
        }
        self.seconds("duration", call.duration);
    }
}
