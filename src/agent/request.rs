//! From a session to a request.

use super::State;
use crate::chat::{Message, Request, Session};

/// What every request begins with, before the facts of the project.
const WORDS: &str = include_str!("system.md");
/// Added in a dry run whose commands run on a stage.
pub const DRY_RUN_STAGED: &str = "This session is a dry run. File changes go to a layer that your later reads see; commands run over that layer, without a network, and nothing of what they do is left outside it. Work as you would for real, and do not claim that anything was really done.";
/// Added in a dry run whose commands do not run.
pub const DRY_RUN_TOLD: &str = "This session is a dry run. File changes go to a layer that your later reads see; commands and everything else are not run, and you are told what would have been done and what to take for its result. Work as you would for real, and do not claim that anything was really done.";

/// Added where a session goes on for real behind what was rehearsed in it.
pub const WAS_REHEARSED: &str = "This session began as a dry run and goes on for real. What calls did before that was only rehearsed: nothing of it is real but what the person has applied since. Look again before you rely on it.";

/// Added for a sub-agent.
const BENEATH: &str = "You are a sub-agent: the model that talks with the person has handed you one task, which is all you know of their talk. Do that task and nothing beyond it. Your last reply is its result: say what was found or done, with path:line, and what was not. The person sees your calls and answers them like any other; what they refuse stays refused.";

/// The standing words with the facts of this session. `facts` are lines such as `Project: ~/src/app`; `stage` says
/// what is rehearsed, or was.
pub fn standing_words(facts: &[String], stage: Option<&str>) -> String {
    let mut words = WORDS.trim().to_owned();
    if !facts.is_empty() {
        words.push_str("\n\n");
        words.push_str(&facts.join("\n"));
    }
    if let Some(stage) = stage {
        words.push_str("\n\n");
        words.push_str(stage);
    }
    words
}

/// What a sub-agent is given of these words, with what it is.
pub fn words_beneath(words: &str) -> String {
    format!("{words}\n\n{BENEATH}")
}

/// The request for the next reply.
pub(super) fn build(state: &State) -> Request {
    let mut messages = vec![Message::System(state.words())];
    let (before, most) = state.measure.shortened().map_or((0, usize::MAX), |it| (it.before, it.most));
    state.session.tell(&mut messages, before, most);
    leave_out_replaced(&mut messages);
    if state.tells_each {
        tell_each(&state.session, &mut messages);
    }
    Request { model: state.model.clone(), messages, tools: state.tools.clone(), most: None, pictures: vec![] }
}

/// Puts before each result that was rehearsed that it was, and how it came about.
fn tell_each(session: &Session, messages: &mut [Message]) {
    for message in messages {
        if let Message::Tool { call, text } = message
            && let Some(staged) = session.staged(call)
        {
            *text = format!("{}\n{text}", staged.told());
        }
    }
}

/// Leaves out what came of a reply that was asked for again: nobody said anything after it, and what the model says in
/// its place follows, or is asked for with this request.
fn leave_out_replaced(messages: &mut Vec<Message>) {
    let ends = |message: &Message| matches!(message, Message::Model { calls, .. } if calls.is_empty());
    let follows = |message: Option<&Message>| matches!(message, None | Some(Message::Model { .. }));
    let is_replaced = |at: &usize| ends(&messages[*at]) && follows(messages.get(at + 1));
    let replaced: Vec<usize> = (0..messages.len()).filter(is_replaced).collect();
    if !replaced.is_empty() {
        let mut at = 0..;
        messages.retain(|_| at.next().is_none_or(|at| replaced.binary_search(&at).is_err()));
    }
}
