//! Simulated results for calls that a dry run cannot run: a fixture of the tool, an answer of the configured model, or
//! a sample. The same call on the same overlay gets the same result.

use super::side_request::{self, SideModel};
use super::{EffectContext, journal_events};
use crate::chat::reviewer::to_one_line;
use crate::chat::{Digest, LedgerResult, Plan, Request, SimulatedResult, SimulationSource, ToolCall, ToolSpec, Usage};
use crate::project::output::CommandProgress;
use crate::text::redaction::{REDACTED, Redactor, redact};
use crate::text::unique_keys::parse_json_answer;
use crate::text::{escape_sequences, truncation};
use crate::tools::{Error, Progress, ResultKind, Tool, arguments, describe_skipped_call};
use serde_json::{Value, json};
use std::sync::Arc;

const SYSTEM_PROMPT: &str = include_str!("simulator.md");
/// Maximum tokens of the model's answer, including reasoning.
const MAX_TOKENS: u32 = 8_000;
/// Maximum bytes of the model's answer; a longer one is an error.
const MAX_ANSWER_BYTES: usize = 16 * 1024;
/// Maximum bytes shown of the tool, of the call and of the schema, each.
const MAX_PART_BYTES: usize = 16 * 1024;
/// Maximum bytes shown of one earlier call with its result.
const MAX_EARLIER_BYTES: usize = 3 * 1024;
/// Maximum number of earlier calls shown.
const MAX_EARLIER_CALLS: usize = 10;

/// Returns the result for a call that does not run, and its origin. `why` is a sentence with the reason why the call
/// does not run, or empty.
pub(super) async fn simulate_result(
    context: &EffectContext,
    call: &ToolCall,
    tool: &Arc<dyn Tool>,
    plan: &Plan,
    why: &str,
    progress: &Progress,
) -> Result<(String, SimulatedResult), Error> {
    let arguments = arguments::parse_call_arguments(&call.arguments)?;
    let project = context.project.clone();
    let overlay_digest = tokio::task::spawn_blocking(move || project.state_digest())
        .await
        .map_err(|_| Error::Internal("its overlay could not be read".to_owned()))?;
    let key = Digest::of_call(&call.name, &with_references(&arguments, plan), &overlay_digest);
    let simulator = &context.simulator;
    let call_lock = simulator.call_lock(&key);
    let _call_guard = call_lock.lock().await;
    if let Some(known_result) = simulator.ledger().get(&key) {
        return Ok((
            known_result.text.clone(),
            SimulatedResult { is_reused: true, usage: None, ..known_result.origin.clone() },
        ));
    }
    let kind = tool.result_kind(plan);
    let mut origin = SimulatedResult { key, ..SimulatedResult::default() };
    let mut result = kind.fixture();
    if result.is_some() {
        origin.source = SimulationSource::Fixture;
    } else if let Some(model) = &simulator.model {
        progress(CommandProgress::from_status(&format!(
            "asking {} for a simulated result…",
            to_one_line(model.display_name())
        )));
        let spec = tool.tool_spec();
        let question = Question { spec: &spec, arguments: &arguments, plan };
        match ask_model(context, model, &question, &kind, &mut origin.usage).await {
            Ok(simulated) => {
                (origin.source, origin.model) = (SimulationSource::Model, to_one_line(model.display_name()));
                result = Some(simulated);
            }
            Err(error) => origin.failure = to_one_line(&error),
        }
        journal_events::note_simulation(context, origin.source == SimulationSource::Model);
    }
    let result = result.or_else(|| kind.sample());
    if result.is_none() {
        origin.source = SimulationSource::NotRun;
    }
    let text = format_result(simulator.hides_dry_run, &describe_skipped_call(&call.name, plan), why, result);
    let (tool, arguments) = (call.name.clone(), call.arguments.clone());
    simulator.ledger().insert(LedgerResult { tool, arguments, text: text.clone(), origin: origin.clone() });
    Ok((text, origin))
}

/// Formats the tool result for the model of the conversation.
fn format_result(hides_dry_run: bool, notice: &str, why: &str, result: Option<String>) -> String {
    let separator = if why.is_empty() { "" } else { " " };
    match (hides_dry_run, result) {
        (true, result) => result.unwrap_or_else(|| "done".to_owned()),
        (false, Some(result)) => format!("{notice}{separator}{why} Simulated result:\n{result}"),
        (false, None) => format!("{notice}{separator}{why}"),
    }
}

/// A call whose result is simulated.
struct Question<'a> {
    spec: &'a ToolSpec,
    arguments: &'a Value,
    plan: &'a Plan,
}

/// Returns the arguments with the digests of the files that they name, if any: other content may lead to another result.
fn with_references(arguments: &Value, plan: &Plan) -> Value {
    match plan.preconditions.references.is_empty() {
        true => arguments.clone(),
        false => json!({ "arguments": arguments, "references": plan.preconditions.references }),
    }
}

/// Asks the model for a result that matches the tool's result schema.
async fn ask_model(
    context: &EffectContext,
    model: &SideModel,
    question: &Question<'_>,
    kind: &ResultKind,
    usage: &mut Option<Usage>,
) -> Result<String, String> {
    let earlier_results = earlier_calls(context, context.simulator.ledger().results());
    let request = build_request(model, question, &kind.json_schema(), earlier_results);
    let answer = side_request::request_answer(model, async { Ok(request) }, MAX_ANSWER_BYTES, usage).await?;
    let mut value = parse_json_answer(&answer)?;
    clean_strings(&mut value);
    kind.format_answer(value).map_err(|why| format!("its answer does not match the result schema: {why}"))
}

/// Removes colours from every string, and marks other hidden characters.
fn clean_strings(value: &mut Value) {
    let clean = |text: &str| escape_sequences::strip_colors(&escape_sequences::readable_output(text)).into_owned();
    match value {
        Value::String(text) => *text = clean(text),
        Value::Array(items) => items.iter_mut().for_each(clean_strings),
        Value::Object(fields) => {
            fields.values_mut().for_each(clean_strings);
            let names = std::mem::take(fields).into_iter();
            *fields = names.map(|(name, value)| (clean(&name), value)).collect();
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// Builds the request. It contains neither tools nor the conversation.
fn build_request(
    model: &SideModel,
    question: &Question<'_>,
    result_schema: &Value,
    earlier_results: Vec<String>,
) -> Request {
    let Question { spec, arguments, plan } = question;
    let truncate = |text: &str| truncation::truncate_middle(text, MAX_PART_BYTES).into_owned();
    let tool = json!({ "name": spec.name, "does": spec.description, "takes": spec.parameters });
    let mut blocks = vec![("TOOL".to_owned(), truncate(&tool.to_string()))];
    blocks.extend(earlier_results.into_iter().map(|earlier| ("EARLIER_CALL".to_owned(), earlier)));
    blocks.push(("CALL".to_owned(), truncate(&redact_arguments(arguments, Some(&spec.parameters.to_value())))));
    if !plan.preconditions.references.is_empty() {
        let preview = serde_json::to_string(plan.preview_for_reviewers()).unwrap_or_default();
        blocks.push(("CALL_WITH_FILES".to_owned(), truncate(&redact(&preview).0)));
    }
    blocks.push(("RESULT_SCHEMA".to_owned(), truncate(&result_schema.to_string())));
    // The mark at the start and the end of each block is made from this seed.
    let seed = Digest::of_call(&spec.name, &with_references(arguments, plan), &Digest::default());
    let mut text = side_request::format_blocks(&seed, &blocks);
    text.push_str("\nWhat does the tool return? Answer with one JSON value.");
    model.build_request(SYSTEM_PROMPT, text, MAX_TOKENS)
}

/// Returns the last simulated calls, each with its result.
fn earlier_calls(context: &EffectContext, results: &[LedgerResult]) -> Vec<String> {
    let format_call = |LedgerResult { tool, arguments, text, .. }: &LedgerResult| {
        let schema = context.tools.find_tool(tool).ok().map(|tool| tool.tool_spec().parameters.to_value());
        let parsed = arguments::parse_call_arguments(arguments);
        let arguments = parsed.map_or(REDACTED.to_owned(), |arguments| redact_arguments(&arguments, schema.as_ref()));
        let earlier = format!("{tool} {arguments}\n{}", redact(text).0);
        truncation::truncate_middle(&earlier, MAX_EARLIER_BYTES).into_owned()
    };
    results[results.len().saturating_sub(MAX_EARLIER_CALLS)..].iter().map(format_call).collect()
}

/// Redacts secrets in the arguments: by key name, by format, and by the tool's schema.
fn redact_arguments(arguments: &Value, schema: Option<&Value>) -> String {
    let mut arguments = arguments.clone();
    Redactor::default().redact_json(&mut arguments, schema);
    redact(&arguments.to_string()).0.into_owned()
}

#[cfg(test)]
mod tests;
