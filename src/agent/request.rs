//! From a session to a request.

use super::State;
use crate::chat::{Message, Request};

/// What every request begins with, before the facts of the project.
const WORDS: &str = include_str!("system.md");
/// Added in a dry run.
const DRY_RUN: &str = "This session is a dry run. File changes go to a layer that your later reads see; commands and everything else are not run, and you are told what would have been done. Work as you would for real, and do not claim that anything was really done.";

/// The standing words with the facts of this session. `facts` are lines such as `Project: ~/src/app`.
pub fn standing_words(facts: &[String], dry_run: bool) -> String {
    let mut words = WORDS.trim().to_owned();
    if !facts.is_empty() {
        words.push_str("\n\n");
        words.push_str(&facts.join("\n"));
    }
    if dry_run {
        words.push_str("\n\n");
        words.push_str(DRY_RUN);
    }
    words
}

/// The request for the next reply.
pub(super) fn build(state: &State) -> Request {
    let mut messages = vec![Message::System(state.system.clone())];
    messages.extend(state.session.messages());
    Request { model: state.model.clone(), messages, tools: state.tools.clone() }
}
