//! The model reviewer: a model that is shown a call which would run without approval and decides whether to ask the
//! user.
//!
//! It never sees text of the assistant about the call or results of tools, because their authors could put an answer
//! for the reviewer there. All other text that the user did not write is in blocks with an unpredictable mark.

use super::side_request::{format_blocks, request_answer};
use super::{EffectContext, SideModel};
use crate::agent::ReviewContext;
use crate::chat::{Digest, FileContent, FileSnapshot, Plan, Review, ToolCall};
use crate::text::truncation;
use std::fmt::Write as _;

const SYSTEM_PROMPT: &str = include_str!("model_reviewer.md");
/// Maximum tokens of the reviewer's answer, including reasoning.
const MAX_TOKENS: u32 = 4_000;
/// Maximum bytes of the reviewer's answer; a longer one is an error.
const MAX_ANSWER_BYTES: usize = 4 * 1024;
/// Maximum bytes shown of one user message.
const MAX_MESSAGE_BYTES: usize = 8 * 1024;
/// Maximum bytes shown of the arguments, and of other parts of the call.
const MAX_CALL_BYTES: usize = 24 * 1024;
/// Maximum bytes shown of one file.
const MAX_FILE_BYTES: usize = 24 * 1024;
/// Maximum bytes shown of all files.
const MAX_FILES_BYTES: usize = 64 * 1024;

/// Asks the model reviewer.
pub(super) async fn ask_model(
    context: &EffectContext,
    side_model: &SideModel,
    call: &ToolCall,
    plan: &Plan,
    review_context: &ReviewContext,
) -> Review {
    let mut usage = None;
    let request = async {
        let (task_context, task_plan) = (context.clone(), plan.clone());
        let files = tokio::task::spawn_blocking(move || read_named_files(&task_context, &task_plan)).await;
        let files = files.map_err(|_| "a file that the command names could not be read".to_owned())?;
        let text = build_question(call, plan, review_context, &files?);
        Ok(side_model.build_request(SYSTEM_PROMPT, text, MAX_TOKENS))
    };
    let review = match request_answer(side_model, request, MAX_ANSWER_BYTES, &mut usage).await {
        Ok(answer) => Review::from_answer(&review_context.reviewer, &answer),
        Err(error) => Review::from_error(&error),
    };
    Review { usage, ..review }
}

/// A file that the command names, as it is shown.
struct FileExcerpt {
    name: String,
    /// Empty if it is not shown.
    text: String,
    /// Status: complete, truncated, or the reason why it is not shown.
    note: &'static str,
}

/// Reads the files that the command names. Blocks.
fn read_named_files(context: &EffectContext, plan: &Plan) -> Result<Vec<FileExcerpt>, String> {
    let mut bytes_left = MAX_FILES_BYTES;
    // Exclude the files that the call itself changes: only those have a new digest.
    let named_files = plan.preconditions.files.iter().filter(|snapshot| snapshot.new_sha256.is_none());
    named_files.map(|snapshot| read_named_file(context, snapshot, &mut bytes_left)).collect()
}

fn read_named_file(
    context: &EffectContext,
    snapshot: &FileSnapshot,
    bytes_left: &mut usize,
) -> Result<FileExcerpt, String> {
    let name = snapshot.path.display().to_string();
    let file_without_text = |note| Ok(FileExcerpt { name: name.clone(), text: String::new(), note });
    let location = snapshot.path.to_str().and_then(|path| context.project.locate(path).ok());
    let Some(location) = location.filter(|at| at.is_inside && !at.is_sensitive) else {
        return file_without_text("not shown: possibly secret, or outside the project");
    };
    if snapshot.content == FileContent::TooLarge {
        return file_without_text("not shown: too large");
    }
    let bytes = context.project.read(&location).ok();
    if !snapshot.matches_content(bytes.as_deref()) {
        return Err(format!("{name} has changed since the call was planned"));
    }
    let Some(bytes) = bytes else { return file_without_text("does not exist") };
    let Ok(text) = String::from_utf8(bytes) else { return file_without_text("not shown: not text") };
    let max_bytes = MAX_FILE_BYTES.min(*bytes_left);
    let excerpt = truncation::truncate_middle(&text, max_bytes);
    let note = if excerpt.len() < text.len() { "truncated" } else { "complete" };
    *bytes_left = bytes_left.saturating_sub(excerpt.len());
    Ok(FileExcerpt { name, text: excerpt.into_owned(), note })
}

/// Builds the text of the request: user messages, call, facts and files in marked blocks, then the question.
fn build_question(call: &ToolCall, plan: &Plan, review_context: &ReviewContext, files: &[FileExcerpt]) -> String {
    let mut blocks = Vec::new();
    for user_message in &review_context.user_messages {
        blocks.push(("USER".to_owned(), truncation::truncate_middle(user_message, MAX_MESSAGE_BYTES).into_owned()));
    }
    let arguments = truncation::truncate_middle(&call.arguments, MAX_CALL_BYTES);
    blocks.push(("CALL".to_owned(), format!("tool: {}\narguments: {arguments}", call.name)));
    blocks.push(("FACTS".to_owned(), describe_facts(plan, review_context)));
    for file in files {
        blocks.push((format!("FILE {:?} ({})", file.name, file.note), file.text.clone()));
    }
    let seed = Digest::of_plan(&call.name, &call.arguments, plan.displayed_plan());
    let mut text = format_blocks(&seed, &blocks);
    text.push_str("\nMust the user be asked first? Answer with one JSON object.");
    text
}

fn describe_facts(plan: &Plan, review_context: &ReviewContext) -> String {
    // Text of the model is quoted, so that it cannot start a line of its own.
    let mut facts = format!("summary: {:?}\nmode: {}\n", plan.summary, review_context.mode);
    let _ = writeln!(facts, "allowed because: {:?}", review_context.reason);
    let access = serde_json::to_string(&plan.access).unwrap_or_default();
    let _ = writeln!(facts, "access: {}", truncation::truncate_middle(&access, MAX_CALL_BYTES));
    let preview = serde_json::to_string(plan.preview_for_reviewers()).unwrap_or_default();
    let _ = writeln!(facts, "preview: {}", truncation::truncate_middle(&preview, MAX_CALL_BYTES));
    if let Some(destroys) = &plan.destroys {
        let _ = writeln!(facts, "destroys: {destroys:?}");
    }
    for file in plan.references_for_reviewers() {
        let _ = writeln!(
            facts,
            "the arguments name a file; its content is in the preview, whose middle is omitted if it is long: {:?}",
            file.describe()
        );
    }
    if plan.preconditions.is_partial {
        facts.push_str("the command may use files that are not shown here\n");
    }
    facts.trim_end().to_owned()
}
