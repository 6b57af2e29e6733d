//! What stands in for the result of a call that a dry run leaves undone: the tool's own example, what a model of the
//! person's choice imagines, or a sample of the form that the tool declares. The same call on the same stage has the same.

use super::beside::{self, OtherModel};
use super::{Means, noting};
use crate::chat::adviser::one_line;
use crate::chat::redact::{REDACTED, Redactor, redact};
use crate::chat::{
    Digest, How, Kept, Ledger, Message, Plan, Request, Simulated, ToolCall, ToolSpec, Usage, escape, once,
    shorten,
};
use crate::project::output::Shown;
use crate::tools::{Error, Progress, Results, Tool, arguments, schema, would_have};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What it goes by.
const RUBRIC: &str = include_str!("simulator.md");
/// Tokens of its answer at most, what it thinks included.
const MOST: u32 = 8_000;
/// Bytes of its answer that are read; more is no answer.
const ANSWER: usize = 16 * 1024;
/// Bytes shown of the tool, of the call and of the form, each; …
const SHOWN: usize = 16 * 1024;
/// … of one earlier call with its result, …
const EARLIER: usize = 3 * 1024;
/// … and how many of those.
const CALLS: usize = 10;

/// What makes up results in a dry run.
#[derive(Clone, Default)]
pub struct Simulating {
    /// The model that the person's settings name for it.
    pub model: Option<OtherModel>,
    /// Whether the model that is talked to is told nothing of the dry run.
    pub untold: bool,
    /// What was made up so far in this session.
    pub ledger: Ledger,
}

/// The same while a session runs.
pub(super) struct Simulator {
    model: Option<OtherModel>,
    pub(super) untold: bool,
    ledger: Mutex<Ledger>,
    /// One of a kind at a time: the same call is not imagined twice.
    under_way: Mutex<HashMap<Digest, Arc<tokio::sync::Mutex<()>>>>,
}

impl Simulator {
    pub(super) fn new(Simulating { model, untold, ledger }: Simulating) -> Self {
        Self { model, untold, ledger: Mutex::new(ledger), under_way: Mutex::default() }
    }

    /// Whether a model is configured that makes up results.
    pub(super) fn has_model(&self) -> bool {
        self.model.is_some()
    }

    /// What was made up so far.
    pub(super) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turn(&self, key: &Digest) -> Arc<tokio::sync::Mutex<()>> {
        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        under_way.entry(key.clone()).or_default().clone()
    }
}

/// What the model is told of a call that was not done, and how that came about. `why` is a sentence, or empty.
pub(super) async fn simulate(
    means: &Means,
    call: &ToolCall,
    tool: &Arc<dyn Tool>,
    plan: &Plan,
    why: &str,
    progress: &Progress,
) -> Result<(String, Simulated), Error> {
    let arguments = arguments::parse(&call.arguments)?;
    let (project, broken) =
        (means.project.clone(), || Error::Broken("its layer could not be read".to_owned()));
    let stage = tokio::task::spawn_blocking(move || project.state()).await.map_err(|_| broken())?;
    let key = Digest::of_call(&call.name, &arguments, &stage);
    let simulator = &means.simulator;
    let turn = simulator.turn(&key);
    let _turn = turn.lock().await;
    if let Some(kept) = simulator.ledger().same(&key) {
        return Ok((kept.text.clone(), Simulated { again: true, usage: None, ..kept.how.clone() }));
    }
    let results = tool.results(plan);
    let seed = Digest::of_call(&call.name, &arguments, &Digest::default());
    let mut how = Simulated { key, ..Simulated::default() };
    let mut result = results.example(&seed);
    if result.is_some() {
        how.how = How::Example;
    } else if let Some(model) = &simulator.model {
        progress(Shown::status(&format!("asks {} what might come of it…", one_line(model.name()))));
        match imagine(means, model, &tool.spec(), &arguments, &results, &mut how.usage).await {
            Ok(imagined) => {
                (how.how, how.by) = (How::Imagined, one_line(model.name()));
                result = Some(imagined);
            }
            Err(what) => how.instead = one_line(&what),
        }
        noting::imagined(means, how.how == How::Imagined);
    }
    let result = result.or_else(|| results.sample(&seed)).map(|result| tool.tells(plan, &result));
    if result.is_none() {
        how.how = How::NotRun;
    }
    let text = told(simulator.untold, &would_have(&call.name, plan), why, result);
    let (tool, arguments) = (call.name.clone(), call.arguments.clone());
    simulator.ledger().keep(Kept { tool, arguments, text: text.clone(), how: how.clone() });
    Ok((text, how))
}

/// What the model that is talked to is told.
fn told(untold: bool, undone: &str, why: &str, result: Option<String>) -> String {
    let blank = if why.is_empty() { "" } else { " " };
    match (untold, result) {
        (true, result) => result.unwrap_or_else(|| "done".to_owned()),
        (false, Some(result)) => format!("{undone}{blank}{why} Take this for its result:\n{result}"),
        (false, None) => format!("{undone}{blank}{why}"),
    }
}

/// What the model says would come of it, where that has the form that the tool declares.
async fn imagine(
    means: &Means,
    model: &OtherModel,
    spec: &ToolSpec,
    arguments: &Value,
    results: &Results,
    usage: &mut Option<Usage>,
) -> Result<Value, String> {
    let form = results.form();
    let before = earlier(means, means.simulator.ledger().kept());
    let request = request(model, spec, arguments, &form, before);
    let answer = beside::ask(model, request, ANSWER, usage).await?;
    let mut value = read(&answer)?;
    make_plain(&mut value);
    schema::fits(&form, &value)
        .map_err(|why| format!("its answer does not have the form of a result: {why}"))?;
    Ok(value)
}

/// The one value of JSON that an answer is, also within a code fence.
fn read(answer: &str) -> Result<Value, String> {
    let answer = answer.trim();
    if answer.is_empty() {
        return Err("it said nothing".to_owned());
    }
    let fenced = answer.strip_prefix("```").and_then(|inner| inner.strip_suffix("```"));
    let inner = fenced.and_then(|inner| inner.split_once('\n')).map_or(answer, |(_, inner)| inner);
    match once::read(inner) {
        Ok((value, None)) => Ok(value),
        Ok((_, Some(_))) => Err("there is text behind the JSON that it answered with".to_owned()),
        Err(error) if error.is_data() => Err(format!("it did not answer with JSON that counts: {error}")),
        Err(_) => Err("it did not answer with JSON".to_owned()),
    }
}

/// Removes colours from every string, and marks what else does not show.
fn make_plain(value: &mut Value) {
    let plain = |text: &str| escape::strip_colors(&escape::readable_output(text)).into_owned();
    match value {
        Value::String(text) => *text = plain(text),
        Value::Array(items) => items.iter_mut().for_each(make_plain),
        Value::Object(fields) => {
            fields.values_mut().for_each(make_plain);
            let names = std::mem::take(fields).into_iter();
            *fields = names.map(|(name, value)| (plain(&name), value)).collect();
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// What it is sent. It is offered no tools, and shown nothing that was said.
fn request(
    model: &OtherModel,
    spec: &ToolSpec,
    arguments: &Value,
    form: &Value,
    before: Vec<String>,
) -> Request {
    let short = |text: &str| shorten::middle(text, SHOWN).into_owned();
    let tool = json!({ "name": spec.name, "does": spec.description, "takes": spec.parameters });
    let mut blocks = vec![("TOOL".to_owned(), short(&tool.to_string()))];
    blocks.extend(before.into_iter().map(|earlier| ("BEFORE".to_owned(), earlier)));
    blocks.push(("CALL".to_owned(), short(&redacted(arguments, Some(&spec.parameters)))));
    blocks.push(("FORM".to_owned(), short(&form.to_string())));
    let mut text = beside::blocks(&Digest::of_call(&spec.name, arguments, &Digest::default()), &blocks);
    text.push_str("\nWhat does the tool return? Answer with the one JSON value.");
    Request {
        model: model.model.clone(),
        messages: vec![Message::System(RUBRIC.to_owned()), Message::Person(text)],
        tools: Vec::new(),
        pictures: Vec::new(),
        most: Some(MOST),
    }
}

/// The last calls that something was made up for, each with what that was.
fn earlier(means: &Means, kept: &[Kept]) -> Vec<String> {
    let one = |Kept { tool, arguments, text, .. }: &Kept| {
        let form = means.tools.find(tool).ok().map(|tool| tool.spec().parameters);
        let read = arguments::parse(arguments);
        let arguments = read.map_or(REDACTED.to_owned(), |arguments| redacted(&arguments, form.as_ref()));
        let earlier = format!("{tool} {arguments}\n{}", redact(text).0);
        shorten::middle(&earlier, EARLIER).into_owned()
    };
    kept[kept.len().saturating_sub(CALLS)..].iter().map(one).collect()
}

/// The arguments without secrets: by name, by form, and by what the schema of the tool says.
fn redacted(arguments: &Value, schema: Option<&Value>) -> String {
    let mut arguments = arguments.clone();
    Redactor::default().redact_json(&mut arguments, schema);
    redact(&arguments.to_string()).0.into_owned()
}

#[cfg(test)]
mod tests;
