//! Simulated results for calls that a dry run cannot run: a fixture of the tool, an answer of the configured model, or
//! a sample of the tool's result schema. The same call on the same overlay gets the same result.

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

/// System prompt.
const RUBRIC: &str = include_str!("simulator.md");
/// Maximum tokens of its answer, including reasoning.
const MOST: u32 = 8_000;
/// Maximum bytes of its answer; a longer one is an error.
const ANSWER: usize = 16 * 1024;
/// Maximum bytes shown of the tool, of the call and of the schema, each.
const SHOWN: usize = 16 * 1024;
/// Maximum bytes shown of one earlier call with its result.
const EARLIER: usize = 3 * 1024;
/// Maximum number of earlier calls shown.
const CALLS: usize = 10;

/// Settings of the simulator.
#[derive(Clone, Default)]
pub struct Simulating {
    /// The model named in the user's settings.
    pub model: Option<OtherModel>,
    /// True if the model of the conversation is not told about the dry run.
    pub untold: bool,
    /// Earlier simulated results of this session.
    pub ledger: Ledger,
}

/// State of the simulator during a session.
pub(super) struct Simulator {
    model: Option<OtherModel>,
    pub(super) untold: bool,
    ledger: Mutex<Ledger>,
    /// Locks per call, so that identical calls are simulated once.
    under_way: Mutex<HashMap<Digest, Arc<tokio::sync::Mutex<()>>>>,
}

impl Simulator {
    pub(super) fn new(Simulating { model, untold, ledger }: Simulating) -> Self {
        Self { model, untold, ledger: Mutex::new(ledger), under_way: Mutex::default() }
    }

    /// Returns whether a model is configured for simulated results.
    pub(super) fn has_model(&self) -> bool {
        self.model.is_some()
    }

    /// Returns the simulated results of this session.
    pub(super) fn ledger(&self) -> MutexGuard<'_, Ledger> {
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn turn(&self, key: &Digest) -> Arc<tokio::sync::Mutex<()>> {
        let mut under_way = self.under_way.lock().unwrap_or_else(PoisonError::into_inner);
        under_way.entry(key.clone()).or_default().clone()
    }
}

/// Returns the result for a call that does not run, and its origin. `why` is a sentence, or empty.
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
        (means.project.clone(), || Error::Broken("its overlay could not be read".to_owned()));
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
        progress(Shown::status(&format!("asking {} for a simulated result…", one_line(model.name()))));
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

/// Formats the tool result for the model of the conversation.
fn told(untold: bool, undone: &str, why: &str, result: Option<String>) -> String {
    let blank = if why.is_empty() { "" } else { " " };
    match (untold, result) {
        (true, result) => result.unwrap_or_else(|| "done".to_owned()),
        (false, Some(result)) => format!("{undone}{blank}{why} Simulated result:\n{result}"),
        (false, None) => format!("{undone}{blank}{why}"),
    }
}

/// Asks the model for a result that matches the tool's result schema.
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
        .map_err(|why| format!("its answer does not match the result schema: {why}"))?;
    Ok(value)
}

/// Parses an answer that is one JSON value, optionally in a code fence.
fn read(answer: &str) -> Result<Value, String> {
    let answer = answer.trim();
    if answer.is_empty() {
        return Err("its answer is empty".to_owned());
    }
    let fenced = answer.strip_prefix("```").and_then(|inner| inner.strip_suffix("```"));
    let inner = fenced.and_then(|inner| inner.split_once('\n')).map_or(answer, |(_, inner)| inner);
    match once::read(inner) {
        Ok((value, None)) => Ok(value),
        Ok((_, Some(_))) => Err("there is text after the JSON of its answer".to_owned()),
        Err(error) if error.is_data() => Err(format!("its answer is not valid JSON: {error}")),
        Err(_) => Err("its answer is not JSON".to_owned()),
    }
}

/// Removes colours from every string, and marks other hidden characters.
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

/// Builds the request. It contains no tools and nothing of the conversation.
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
    text.push_str("\nWhat does the tool return? Answer with one JSON value.");
    Request {
        model: model.model.clone(),
        messages: vec![Message::System(RUBRIC.to_owned()), Message::Person(text)],
        tools: Vec::new(),
        pictures: Vec::new(),
        most: Some(MOST),
    }
}

/// Returns the last simulated calls, each with its result.
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

/// Redacts the arguments: by name, by form, and by the tool's schema.
fn redacted(arguments: &Value, schema: Option<&Value>) -> String {
    let mut arguments = arguments.clone();
    Redactor::default().redact_json(&mut arguments, schema);
    redact(&arguments.to_string()).0.into_owned()
}

#[cfg(test)]
mod tests;
