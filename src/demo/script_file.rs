//! Reads the TOML of a demo script and checks it.

use super::raw_script::{OneOrMore, RawArguments, RawCondition, RawFile, RawScript, RawStep};
use super::script::{
    Action, Condition, Pace, Reply, ResultKind, Script, ScriptError, ScriptedCall, Step, TextPart, UserAct, UserStep,
};
use super::script_checks::{check_path, check_references, is_id, is_plain_name, parse_size};
use crate::chat::Outcome;
use crate::policy::Mode;
use serde_json::Value;
use std::ops::Range;
use std::time::Duration;
use toml::Spanned;

/// Most steps of a script.
const MAX_STEPS: usize = 10_000;
/// Longest pause, delay and run time in seconds.
const MAX_SECONDS: f64 = 600.0;
/// Fastest reply and typing in characters per second.
const MAX_SPEED: u32 = 100_000;

/// Reads a script with these files besides its own.
pub(super) fn parse(name: &str, text: &str, files: Vec<(String, String)>) -> Result<Script, ScriptError> {
    let reader = Reader { text };
    let raw: RawScript =
        toml::from_str(text).map_err(|error| reader.error(error.span().unwrap_or(0..0), one_line(error.message())))?;
    reader.read_script(name, raw, files)
}

/// Finds the lines of what cannot be used.
struct Reader<'a> {
    text: &'a str,
}

impl Reader<'_> {
    fn line(&self, span: &Range<usize>) -> usize {
        self.text.as_bytes()[..span.start.min(self.text.len())].iter().filter(|byte| **byte == b'\n').count() + 1
    }

    fn error(&self, span: Range<usize>, message: impl Into<String>) -> ScriptError {
        ScriptError { line: self.line(&span), message: message.into() }
    }

    fn read_script(&self, name: &str, raw: RawScript, mut files: Vec<(String, String)>) -> Result<Script, ScriptError> {
        let standard = Pace::default();
        let pace = Pace {
            reply: self.speed("speed", raw.speed, standard.reply)?,
            typing: self.speed("typing", raw.typing, standard.typing)?,
            pause: self.seconds("pause", raw.pause, standard.pause)?,
            delay: self.seconds("delay", raw.delay, standard.delay)?,
            call: self.seconds("duration", raw.duration, standard.call)?,
            end: self.seconds("end", raw.end, standard.end)?,
        };
        for file in raw.file {
            let (span, RawFile { path, text }) = (file.span(), file.into_inner());
            files.push((path.clone(), text));
            check_path(&path).map_err(|message| self.error(span, message))?;
        }
        for (index, (path, _)) in files.iter().enumerate() {
            check_path(path).map_err(|message| self.error(0..0, message))?;
            if files[..index].iter().any(|(other, _)| other == path) {
                return Err(self.error(0..0, format!("the file {path} is given twice")));
            }
        }
        let folder = match raw.folder {
            None => "project".to_owned(),
            Some(folder) if is_plain_name(folder.get_ref()) => folder.into_inner(),
            Some(folder) => {
                let expected = "use letters, digits, spaces, `-`, `_` and dots, and no path";
                return Err(self.error(folder.span(), format!("`folder` is the name of a folder: {expected}")));
            }
        };
        let mode = match raw.mode {
            None => Mode::default(),
            Some(word) => Mode::ALL.into_iter().find(|mode| mode.as_str() == word.get_ref()).ok_or_else(|| {
                self.error(word.span(), "`mode` is \"plan\", \"ask\", \"auto\" or \"full\"".to_owned())
            })?,
        };
        let size = raw.size.map(|size| self.size("size", &size)).transpose()?;
        if raw.step.len() > MAX_STEPS {
            let span = raw.step[MAX_STEPS].span();
            return Err(self.error(span, format!("a script has at most {MAX_STEPS} steps")));
        }
        let mut steps = Vec::new();
        for step in raw.step {
            let line = self.line(&step.span());
            let action = self.read_step(step.span(), step.into_inner(), &pace, steps.len())?;
            steps.push(Step { line, action });
        }
        let script = Script {
            name: name.to_owned(),
            title: raw.title,
            model: raw.model.unwrap_or_else(|| "demo".to_owned()),
            size,
            theme: raw.theme,
            shows_keys: raw.show_keys,
            mode,
            is_dry_run: raw.dry_run,
            folder,
            files,
            pace,
            interrupted: raw.interrupted,
            steps,
        };
        check_references(&script)?;
        Ok(script)
    }

    fn read_step(&self, span: Range<usize>, raw: RawStep, pace: &Pace, index: usize) -> Result<Action, ScriptError> {
        let is_reply = raw.reply.is_some() || raw.error.is_some() || !raw.text.is_empty() || !raw.call.is_empty();
        let typing = self.speed("typing", raw.typing, pace.typing)?;
        let mut acts: Vec<UserAct> = Vec::new();
        acts.extend(raw.r#type.map(|text| UserAct::Type(text, typing)));
        acts.extend(raw.press.map(|keys| UserAct::Press(keys.into_vec())));
        acts.extend(raw.paste.map(UserAct::Paste));
        acts.extend(raw.wait.map(UserAct::WaitFor));
        acts.extend(raw.gone.map(UserAct::WaitGone));
        acts.extend(raw.mark.map(UserAct::Mark));
        if let Some(size) = raw.resize {
            let (columns, rows) = self.size("resize", &size)?;
            acts.push(UserAct::Resize(columns, rows));
        }
        let has_pause = raw.pause.is_some();
        if acts.is_empty() && has_pause && !is_reply {
            acts.push(UserAct::Pause);
        }
        let expected =
            "a step has one of type, press, paste, wait, gone, mark, resize, pause, reply, text, call and error";
        match (is_reply, acts.len()) {
            (true, 0) => {
                if has_pause || raw.early {
                    return Err(self.error(span, "`pause` and `early` belong to a user step; use `delay` in a reply"));
                }
            }
            (false, 1) => {
                let is_empty = match &acts[0] {
                    UserAct::Type(text, _) | UserAct::Paste(text) | UserAct::WaitFor(text) => text.is_empty(),
                    UserAct::WaitGone(text) | UserAct::Mark(text) => text.is_empty(),
                    UserAct::Press(keys) => keys.is_empty() || keys.iter().any(String::is_empty),
                    UserAct::Pause | UserAct::Resize(..) => false,
                };
                if is_empty {
                    return Err(self.error(span, "the value of the step is empty"));
                }
                let is_control = |c: char| c.is_control() && c != '\n';
                if matches!(&acts[0], UserAct::Type(text, _) if text.contains(is_control)) {
                    return Err(
                        self.error(span, "`type` has a control character: use `press` for keys, `paste` for text")
                    );
                }
                if raw.reasoning.is_some() || raw.when.is_some() || raw.repeat || raw.delay.is_some() {
                    let message = "`reasoning`, `when`, `repeat` and `delay` belong to a reply";
                    return Err(self.error(span, message));
                }
                let instant = matches!(acts[0], UserAct::WaitFor(_) | UserAct::WaitGone(_) | UserAct::Mark(_));
                let pause = if instant && !has_pause { Duration::ZERO } else { pace.pause };
                let pause = self.seconds("pause", raw.pause, pause)?;
                let act = acts.remove(0);
                let is_early = raw.early || matches!(act, UserAct::WaitFor(_) | UserAct::WaitGone(_));
                return Ok(Action::User(UserStep { act, pause, is_early }));
            }
            _ => return Err(self.error(span, expected)),
        }
        if raw.reply.is_some() && !raw.text.is_empty() {
            return Err(self.error(span, "a reply has `reply` or parts (`[[step.text]]`), not both"));
        }
        let simple = raw.reply.map(|text| TextPart { conditions: Vec::new(), text });
        let mut text: Vec<TextPart> = simple.into_iter().filter(|part| !part.text.is_empty()).collect();
        for part in raw.text {
            text.push(TextPart { conditions: self.conditions(&span, part.when)?, text: part.text });
        }
        let mut calls = Vec::new();
        for call in raw.call {
            let (call_span, call) = (call.span(), call.into_inner());
            let id = call.id.unwrap_or_else(|| format!("{}_{}", index + 1, calls.len() + 1));
            if !is_id(&id) {
                return Err(self.error(call_span, "the `id` of a call has letters, digits and `_`"));
            }
            let outcome = match (call.result, call.failure) {
                (None, None) => None,
                (Some(text), None) => Some(Outcome::Done(text)),
                (None, Some(text)) => Some(Outcome::Failed(text)),
                (Some(_), Some(_)) => {
                    return Err(self.error(call_span, "a call has a `result` or a `failure`, not both"));
                }
            };
            let arguments = match call.arguments {
                RawArguments::Table(table) => serde_json::to_value(&table).unwrap_or(Value::Null),
                RawArguments::Json(text) => match serde_json::from_str(&text) {
                    Ok(arguments @ Value::Object(_)) => arguments,
                    Ok(_) | Err(_) => {
                        return Err(self.error(call_span, "`arguments` is a table, or a JSON object in a string"));
                    }
                },
            };
            let plan = match call.plan.map(|plan| serde_json::from_str(&plan)).transpose() {
                Ok(plan) => plan.map(Box::new),
                Err(error) => {
                    let message = format!("`plan` is what aye demo new --from writes: {error}");
                    return Err(self.error(call_span, message));
                }
            };
            if plan.is_some() && outcome.is_none() {
                return Err(self.error(call_span, "a call with a `plan` has a `result` or a `failure`"));
            }
            let duration = self.seconds("duration", call.duration, pace.call)?;
            let may_fail = call.may_fail;
            calls.push(ScriptedCall { id, tool: call.tool, arguments, outcome, plan, may_fail, duration });
        }
        Ok(Action::Reply(Box::new(Reply {
            conditions: self.conditions(&span, raw.when)?,
            reasoning: raw.reasoning.unwrap_or_default(),
            text,
            calls,
            repeats: raw.repeat,
            speed: self.speed("speed", raw.speed, pace.reply)?,
            delay: self.seconds("delay", raw.delay, pace.delay)?,
            error: raw.error,
        })))
    }

    fn conditions(
        &self,
        span: &Range<usize>,
        raw: Option<OneOrMore<RawCondition>>,
    ) -> Result<Vec<Condition>, ScriptError> {
        let mut conditions = Vec::new();
        for raw in raw.into_iter().flat_map(OneOrMore::into_vec) {
            let read = match raw {
                RawCondition {
                    call: None,
                    was: None,
                    answer: None,
                    own_words: None,
                    note: None,
                    dry_run: Some(is),
                } => Condition::DryRun(is),
                RawCondition { call: Some(call), was, answer, own_words, note, dry_run: None } => {
                    match (was, answer, own_words, note) {
                        (Some(words), None, None, None) => Condition::Result(call, self.result_kinds(span, words)?),
                        (None, Some(options), None, None) => Condition::Answer(call, options.into_vec()),
                        (None, None, Some(own), None) => Condition::OwnWords(call, own),
                        (None, None, None, Some(true)) => Condition::HasNote(call),
                        _ => return Err(self.error(span.clone(), CONDITION)),
                    }
                }
                _ => return Err(self.error(span.clone(), CONDITION)),
            };
            conditions.push(read);
        }
        Ok(conditions)
    }

    fn result_kinds(&self, span: &Range<usize>, words: OneOrMore<String>) -> Result<Vec<ResultKind>, ScriptError> {
        let kind = |word: &String| match word.as_str() {
            "denied" => Ok(ResultKind::Denied),
            "rehearsed" => Ok(ResultKind::Rehearsed),
            "stopped" => Ok(ResultKind::Stopped),
            "run" => Ok(ResultKind::Ran),
            _ => Err(self.error(span.clone(), "`was` is \"run\", \"denied\", \"rehearsed\" or \"stopped\"")),
        };
        words.into_vec().iter().map(kind).collect()
    }

    fn size(&self, name: &str, size: &Spanned<String>) -> Result<(u16, u16), ScriptError> {
        parse_size(size.get_ref()).map_err(|expected| self.error(size.span(), format!("`{name}`: {expected}")))
    }

    fn speed(&self, name: &str, value: Option<Spanned<u32>>, standard: u32) -> Result<u32, ScriptError> {
        match value {
            None => Ok(standard),
            Some(value) if (1..=MAX_SPEED).contains(value.get_ref()) => Ok(value.into_inner()),
            Some(value) => {
                let message = format!("`{name}` is a number of characters per second, from 1 to {MAX_SPEED}");
                Err(self.error(value.span(), message))
            }
        }
    }

    fn seconds(&self, name: &str, value: Option<Spanned<f64>>, standard: Duration) -> Result<Duration, ScriptError> {
        match value {
            None => Ok(standard),
            Some(value) if (0.0..=MAX_SECONDS).contains(value.get_ref()) => {
                Ok(Duration::from_millis((value.into_inner() * 1000.0).round() as u64))
            }
            Some(value) => {
                Err(self.error(value.span(), format!("`{name}` is a number of seconds, from 0 to {MAX_SECONDS}")))
            }
        }
    }
}

const CONDITION: &str = "a condition is { dry_run = true }, or names a `call` and one of `was`, `answer`, `own_words` and \
                         note = true";

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
