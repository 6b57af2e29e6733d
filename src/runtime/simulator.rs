//! Simulated results for calls that a dry run cannot run: a fixture of the tool, an answer of the configured model, or
//! a sample. The same call on the same overlay gets the same result.

use super::side_request::{self, SideModel};
use super::{EffectContext, journal_events};
use crate::chat::reviewer::to_one_line;
use crate::chat::{
    Digest, LedgerResult, Message, Plan, Request, SimulatedResult, SimulationSource, ToolCall, ToolSpec, Usage,
};
use crate::project::output::CommandProgress;
use crate::text::redaction::{REDACTED, Redactor, redact};
use crate::text::{escape_sequences, truncation, unique_keys};
use crate::tools::{Error, Progress, ResultKind, Tool, arguments, describe_skipped_call};
use serde_json::{Value, json};
use std::sync::Arc;

/// System prompt.
const SYSTEM_PROMPT: &str = include_str!("simulator.md");
/// Maximum tokens of its answer, including reasoning.
const MAX_TOKENS: u32 = 8_000;
/// Maximum bytes of its answer; a longer one is an error.
const MAX_ANSWER_BYTES: usize = 16 * 1024;
/// Maximum bytes shown of the tool, of the call and of the schema, each.
const MAX_PART_BYTES: usize = 16 * 1024;
/// Maximum bytes shown of one earlier call with its result.
const MAX_EARLIER_BYTES: usize = 3 * 1024;
/// Maximum number of earlier calls shown.
const MAX_EARLIER_CALLS: usize = 10;

/// Returns the result for a call that does not run, and its origin. `why` is a sentence, or empty.
pub(super) async fn simulate_result(
    means: &EffectContext,
    call: &ToolCall,
    tool: &Arc<dyn Tool>,
    plan: &Plan,
    why: &str,
    progress: &Progress,
) -> Result<(String, SimulatedResult), Error> {
    let arguments = arguments::parse(&call.arguments)?;
    let (project, broken) = (means.project.clone(), || Error::Broken("its overlay could not be read".to_owned()));
    let stage = tokio::task::spawn_blocking(move || project.state_digest()).await.map_err(|_| broken())?;
    let key = Digest::of_call(&call.name, &arguments, &stage);
    let simulator = &means.simulator;
    let turn = simulator.call_lock(&key);
    let _turn = turn.lock().await;
    if let Some(kept) = simulator.ledger().get(&key) {
        return Ok((kept.text.clone(), SimulatedResult { is_reused: true, usage: None, ..kept.origin.clone() }));
    }
    let kind = tool.result_kind(plan);
    let mut how = SimulatedResult { key, ..SimulatedResult::default() };
    let mut result = kind.fixture();
    if result.is_some() {
        how.source = SimulationSource::Fixture;
    } else if let Some(model) = &simulator.model {
        progress(CommandProgress::from_status(&format!(
            "asking {} for a simulated result…",
            to_one_line(model.display_name())
        )));
        match ask_model(means, model, &tool.tool_spec(), &arguments, kind, &mut how.usage).await {
            Ok(imagined) => {
                (how.source, how.model) = (SimulationSource::Model, to_one_line(model.display_name()));
                result = Some(imagined);
            }
            Err(what) => how.failure = to_one_line(&what),
        }
        journal_events::note_simulation(means, how.source == SimulationSource::Model);
    }
    let result = result.or_else(|| kind.sample());
    if result.is_none() {
        how.source = SimulationSource::NotRun;
    }
    let text = format_result(simulator.hides_dry_run, &describe_skipped_call(&call.name, plan), why, result);
    let (tool, arguments) = (call.name.clone(), call.arguments.clone());
    simulator.ledger().insert(LedgerResult { tool, arguments, text: text.clone(), origin: how.clone() });
    Ok((text, how))
}

/// Formats the tool result for the model of the conversation.
fn format_result(untold: bool, undone: &str, why: &str, result: Option<String>) -> String {
    let blank = if why.is_empty() { "" } else { " " };
    match (untold, result) {
        (true, result) => result.unwrap_or_else(|| "done".to_owned()),
        (false, Some(result)) => format!("{undone}{blank}{why} Simulated result:\n{result}"),
        (false, None) => format!("{undone}{blank}{why}"),
    }
}

/// Asks the model for a result that matches the tool's result schema.
async fn ask_model(
    means: &EffectContext,
    model: &SideModel,
    spec: &ToolSpec,
    arguments: &Value,
    kind: ResultKind,
    usage: &mut Option<Usage>,
) -> Result<String, String> {
    let before = earlier_calls(means, means.simulator.ledger().results());
    let request = build_request(model, spec, arguments, &kind.json_schema(), before);
    let answer = side_request::request_answer(model, request, MAX_ANSWER_BYTES, usage).await?;
    let mut value = parse_answer(&answer)?;
    clean_strings(&mut value);
    kind.format_answer(value).map_err(|why| format!("its answer does not match the result schema: {why}"))
}

/// Parses an answer that is one JSON value, optionally in a code fence.
fn parse_answer(answer: &str) -> Result<Value, String> {
    let answer = answer.trim();
    if answer.is_empty() {
        return Err("its answer is empty".to_owned());
    }
    let fenced = answer.strip_prefix("```").and_then(|inner| inner.strip_suffix("```"));
    let inner = fenced.and_then(|inner| inner.split_once('\n')).map_or(answer, |(_, inner)| inner);
    match unique_keys::parse_unique(inner) {
        Ok((value, None)) => Ok(value),
        Ok((_, Some(_))) => Err("there is text after the JSON of its answer".to_owned()),
        Err(error) if error.is_data() => Err(format!("its answer is not valid JSON: {error}")),
        Err(_) => Err("its answer is not JSON".to_owned()),
    }
}

/// Removes colours from every string, and marks other hidden characters.
fn clean_strings(value: &mut Value) {
    let plain = |text: &str| escape_sequences::strip_colors(&escape_sequences::readable_output(text)).into_owned();
    match value {
        Value::String(text) => *text = plain(text),
        Value::Array(items) => items.iter_mut().for_each(clean_strings),
        Value::Object(fields) => {
            fields.values_mut().for_each(clean_strings);
            let names = std::mem::take(fields).into_iter();
            *fields = names.map(|(name, value)| (plain(&name), value)).collect();
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Builds the request. It contains no tools and nothing of the conversation.
fn build_request(model: &SideModel, spec: &ToolSpec, arguments: &Value, form: &Value, before: Vec<String>) -> Request {
    let short = |text: &str| truncation::truncate_middle(text, MAX_PART_BYTES).into_owned();
    let tool = json!({ "name": spec.name, "does": spec.description, "takes": spec.parameters });
    let mut blocks = vec![("TOOL".to_owned(), short(&tool.to_string()))];
    blocks.extend(before.into_iter().map(|earlier| ("BEFORE".to_owned(), earlier)));
    blocks.push(("CALL".to_owned(), short(&redact_arguments(arguments, Some(&spec.parameters)))));
    blocks.push(("FORM".to_owned(), short(&form.to_string())));
    let mut text = side_request::format_blocks(&Digest::of_call(&spec.name, arguments, &Digest::default()), &blocks);
    text.push_str("\nWhat does the tool return? Answer with one JSON value.");
    Request {
        model: model.model.clone(),
        messages: vec![Message::System(SYSTEM_PROMPT.to_owned()), Message::User(text)],
        tools: Vec::new(),
        pictures: Vec::new(),
        max_tokens: Some(MAX_TOKENS),
    }
}

/// Returns the last simulated calls, each with its result.
fn earlier_calls(means: &EffectContext, kept: &[LedgerResult]) -> Vec<String> {
    let one = |LedgerResult { tool, arguments, text, .. }: &LedgerResult| {
        let form = means.tools.find_tool(tool).ok().map(|tool| tool.tool_spec().parameters);
        let read = arguments::parse(arguments);
        let arguments = read.map_or(REDACTED.to_owned(), |arguments| redact_arguments(&arguments, form.as_ref()));
        let earlier = format!("{tool} {arguments}\n{}", redact(text).0);
        truncation::truncate_middle(&earlier, MAX_EARLIER_BYTES).into_owned()
    };
    kept[kept.len().saturating_sub(MAX_EARLIER_CALLS)..].iter().map(one).collect()
}

/// Redacts the arguments: by name, by form, and by the tool's schema.
fn redact_arguments(arguments: &Value, schema: Option<&Value>) -> String {
    let mut arguments = arguments.clone();
    Redactor::default().redact_json(&mut arguments, schema);
    redact(&arguments.to_string()).0.into_owned()
}

#[cfg(test)]
mod tests;
