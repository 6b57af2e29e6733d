//! The model reviewer: a model that is shown a call which would run without approval and decides whether to ask the
//! user.
//!
//! It never sees what the assistant said about the call or what tools returned, because their authors could write its
//! answer there. All other text that the user did not write is in blocks with an unpredictable mark.

use super::beside::{answer, blocks, late};
use super::{Means, OtherModel};
use crate::agent::Brief;
use crate::chat::{Digest, Held, Message, Plan, Request, Said, Seen, ToolCall, shorten};
use std::fmt::Write as _;

/// System prompt.
const RUBRIC: &str = include_str!("second_reader.md");
/// Maximum tokens of its answer, including reasoning.
const MOST: u32 = 4_000;
/// Maximum bytes of its answer; a longer one is an error.
const ANSWER: usize = 4 * 1024;
/// Maximum bytes shown of one user message.
const WORDS: usize = 8 * 1024;
/// Maximum bytes shown of the arguments, and of other parts of the call.
const CALL: usize = 24 * 1024;
/// Maximum bytes shown of one file.
const FILE: usize = 24 * 1024;
/// Maximum bytes shown of all files.
const FILES: usize = 64 * 1024;

/// Asks the model reviewer.
pub(super) async fn ask(
    means: &Means,
    reader: &OtherModel,
    call: &ToolCall,
    plan: &Plan,
    brief: &Brief,
) -> Said {
    let llm = match &reader.llm {
        Ok(llm) => llm.clone(),
        Err(why) => return Said::failed(why),
    };
    let mut usage = None;
    let asked = async {
        let (looks, shown) = (means.clone(), plan.clone());
        let files = tokio::task::spawn_blocking(move || files(&looks, &shown)).await;
        let files = files.map_err(|_| "a file that the command names could not be read".to_owned())?;
        let request = request(&reader.model, call, plan, brief, &files?);
        answer(llm.stream(request), ANSWER, &mut usage).await
    };
    let said = match tokio::time::timeout(reader.limit, asked).await {
        Ok(Ok(answer)) => Said::of(&brief.adviser, &answer),
        Ok(Err(what)) => Said::failed(&what),
        Err(_) => Said::failed(&late(reader)),
    };
    Said { usage, ..said }
}

/// A file that the command names, as it is shown.
struct Shown {
    name: String,
    /// Empty if it is not shown.
    text: String,
    /// Status: complete, truncated, or the reason why it is not shown.
    note: &'static str,
}

/// Reads the files that the command names. Blocks meanwhile.
fn files(means: &Means, plan: &Plan) -> Result<Vec<Shown>, String> {
    let mut room = FILES;
    let named = plan.basis.files.iter().filter(|seen| seen.becomes.is_none());
    named.map(|seen| shown(means, seen, &mut room)).collect()
}

fn shown(means: &Means, seen: &Seen, room: &mut usize) -> Result<Shown, String> {
    let name = seen.path.display().to_string();
    let unshown = |note| Ok(Shown { name: name.clone(), text: String::new(), note });
    let at = seen.path.to_str().and_then(|path| means.project.locate(path).ok());
    let Some(at) = at.filter(|at| at.inside && !at.sensitive) else {
        return unshown("not shown: possibly secret, or outside the project");
    };
    if seen.held == Held::TooMuch {
        return unshown("not shown: too large");
    }
    let bytes = means.project.read(&at).ok();
    if !seen.still_holds(bytes.as_deref()) {
        return Err(format!("{name} has changed since the call was planned"));
    }
    let Some(bytes) = bytes else { return unshown("does not exist") };
    let Ok(text) = String::from_utf8(bytes) else { return unshown("not shown: not text") };
    let most = FILE.min(*room);
    let short = shorten::middle(&text, most);
    let note = if short.len() < text.len() { "truncated" } else { "complete" };
    *room = room.saturating_sub(short.len());
    Ok(Shown { name, text: short.into_owned(), note })
}

/// Builds the request. It contains no tools and no images.
fn request(model: &str, call: &ToolCall, plan: &Plan, brief: &Brief, files: &[Shown]) -> Request {
    let mut shown = Vec::new();
    for said in &brief.said {
        shown.push(("USER".to_owned(), shorten::middle(said, WORDS).into_owned()));
    }
    let arguments = shorten::middle(&call.arguments, CALL);
    shown.push(("CALL".to_owned(), format!("tool: {}\narguments: {arguments}", call.name)));
    shown.push(("FACTS".to_owned(), facts(plan, brief)));
    for file in files {
        shown.push((format!("FILE {:?} ({})", file.name, file.note), file.text.clone()));
    }
    let seed = Digest::of_act(&call.name, &call.arguments, plan.told());
    let mut text = blocks(&seed, &shown);
    text.push_str("\nMust the user be asked first? Answer with one JSON object.");
    Request {
        model: model.to_owned(),
        messages: vec![Message::System(RUBRIC.to_owned()), Message::Person(text)],
        tools: Vec::new(),
        pictures: Vec::new(),
        most: Some(MOST),
    }
}

fn facts(plan: &Plan, brief: &Brief) -> String {
    // Text of the model is quoted, so that it cannot start a line of its own.
    let mut facts = format!("summary: {:?}\nmode: {}\n", plan.summary, brief.mode);
    let _ = writeln!(facts, "allowed because: {:?}", brief.why);
    let access = serde_json::to_string(&plan.access).unwrap_or_default();
    let _ = writeln!(facts, "access: {}", shorten::middle(&access, CALL));
    let preview = serde_json::to_string(&plan.preview).unwrap_or_default();
    let _ = writeln!(facts, "preview: {}", shorten::middle(&preview, CALL));
    if let Some(destroys) = &plan.destroys {
        let _ = writeln!(facts, "destroys: {destroys:?}");
    }
    if plan.basis.partial {
        facts.push_str("the command may use files that are not shown here\n");
    }
    facts.trim_end().to_owned()
}
