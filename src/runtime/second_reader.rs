//! The second reader: a model that is shown a call which would go ahead, and says whether the person is to be asked.
//!
//! It is never shown what the assistant said of the call or what tools returned: whoever can write there could write its
//! answer. What it is shown that the person did not write stands in blocks with a mark that nothing in them can know.

use super::beside::{answer, blocks, late};
use super::{Means, OtherModel};
use crate::agent::Brief;
use crate::chat::{Digest, Held, Message, Plan, Request, Said, Seen, ToolCall, shorten};
use std::fmt::Write as _;

/// What it goes by.
const RUBRIC: &str = include_str!("second_reader.md");
/// Tokens of its answer at most, what it thinks included.
const MOST: u32 = 4_000;
/// Bytes of its answer that are read; more is no answer.
const ANSWER: usize = 4 * 1024;
/// Bytes shown of one thing that the person said, …
const WORDS: usize = 8 * 1024;
/// … of the call, …
const CALL: usize = 24 * 1024;
/// … of one file, …
const FILE: usize = 24 * 1024;
/// … and of all files.
const FILES: usize = 64 * 1024;

/// Asks it.
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
    /// Nothing where it is not shown.
    text: String,
    /// What else there is to say of it.
    note: &'static str,
}

/// What the files hold that the command names. Blocks while they are read.
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
        return unshown("not shown: it may hold secrets, or is outside the project");
    };
    if seen.held == Held::TooMuch {
        return unshown("not shown: it is too large");
    }
    let bytes = means.project.read(&at).ok();
    if !seen.still_holds(bytes.as_deref()) {
        return Err(format!("{name} has changed since the call was looked at"));
    }
    let Some(bytes) = bytes else { return unshown("not there") };
    let Ok(text) = String::from_utf8(bytes) else { return unshown("not shown: it is not text") };
    let most = FILE.min(*room);
    let short = shorten::middle(&text, most);
    let note = if short.len() < text.len() { "cut" } else { "whole" };
    *room = room.saturating_sub(short.len());
    Ok(Shown { name, text: short.into_owned(), note })
}

/// What it is sent. It is offered no tools and shown no pictures.
fn request(model: &str, call: &ToolCall, plan: &Plan, brief: &Brief, files: &[Shown]) -> Request {
    let mut shown = Vec::new();
    for said in &brief.said {
        shown.push(("PERSON".to_owned(), shorten::middle(said, WORDS).into_owned()));
    }
    let arguments = shorten::middle(&call.arguments, CALL);
    shown.push(("CALL".to_owned(), format!("tool: {}\narguments: {arguments}", call.name)));
    shown.push(("FACTS".to_owned(), facts(plan, brief)));
    for file in files {
        shown.push((format!("FILE {:?} ({})", file.name, file.note), file.text.clone()));
    }
    let seed = Digest::of_act(&call.name, &call.arguments, plan.told());
    let mut text = blocks(&seed, &shown);
    text.push_str("\nShould the person be asked first? Answer with the one JSON object.");
    Request {
        model: model.to_owned(),
        messages: vec![Message::System(RUBRIC.to_owned()), Message::Person(text)],
        tools: Vec::new(),
        pictures: Vec::new(),
        most: Some(MOST),
    }
}

fn facts(plan: &Plan, brief: &Brief) -> String {
    // What the model wrote stands in quotes, so that it cannot begin a line of its own.
    let mut facts = format!("in short: {:?}\nmode: {}\n", plan.summary, brief.mode);
    let _ = writeln!(facts, "it would go ahead because: {:?}", brief.why);
    let access = serde_json::to_string(&plan.access).unwrap_or_default();
    let _ = writeln!(facts, "it reaches: {}", shorten::middle(&access, CALL));
    let preview = serde_json::to_string(&plan.preview).unwrap_or_default();
    let _ = writeln!(facts, "the person would be shown: {}", shorten::middle(&preview, CALL));
    if let Some(destroys) = &plan.destroys {
        let _ = writeln!(facts, "careful, this: {destroys:?}");
    }
    if plan.basis.partial {
        facts.push_str("more files may be named than are shown here\n");
    }
    facts.trim_end().to_owned()
}
