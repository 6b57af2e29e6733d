//! The next reply of a script, as a pure function of the conversation. So a session that was stopped or resumed continues where it was.

use super::call_result::{self, CallResult};
use super::script::{Condition, Reply, ResultKind, Script, is_extended_id};
use super::text_template;
use crate::chat::{CallId, Message, ToolCall};
use std::time::Duration;

/// A reply with its placeholders filled.
#[derive(Debug, Clone, PartialEq)]
pub struct NextReply {
    /// Index of its step.
    pub step: usize,
    pub reasoning: String,
    pub text: String,
    pub calls: Vec<ToolCall>,
    pub error: Option<String>,
    /// Characters of its text per second.
    pub speed: u32,
    /// Time before its first character.
    pub delay: Duration,
}

/// Returns the next reply; `None` if the script has no more. A reply that was stopped before its calls were made is played again.
pub fn next_reply(script: &Script, messages: &[Message]) -> Option<NextReply> {
    next_reply_after(script, messages, None)
}

/// Like [`next_reply`], for a player that has played this step: the conversation does not hold replies that were errors.
pub fn next_reply_after(script: &Script, messages: &[Message], played: Option<usize>) -> Option<NextReply> {
    let conversation = Conversation { script, messages };
    let position = conversation.position().max(played);
    let (step, reply) = conversation.find_next(position)?;
    let mut text = conversation.text_of(reply);
    if let Some(interrupted) = script.interrupted.as_deref().filter(|_| conversation.is_interrupted(position, step)) {
        text.insert_str(0, interrupted);
    }
    let calls = reply.calls.iter().map(|call| ToolCall {
        id: CallId::from(script.call_id(&call.id).as_str()),
        name: call.tool.clone(),
        arguments: call.arguments.to_string(),
    });
    Some(NextReply {
        step,
        reasoning: reply.reasoning.clone(),
        text,
        calls: calls.collect(),
        error: reply.error.clone(),
        speed: reply.speed,
        delay: reply.delay,
    })
}

struct Conversation<'a> {
    script: &'a Script,
    messages: &'a [Message],
}

impl Conversation<'_> {
    /// Returns the step of the last reply that was played; `None` at the start.
    fn position(&self) -> Option<usize> {
        let called = self.messages.iter().enumerate().rev().find_map(|(index, message)| {
            let Message::Model { calls, .. } = message else { return None };
            let is_of = |reply: &Reply| {
                let mut ids = reply.calls.iter().map(|call| self.script.call_id(&call.id));
                ids.any(|id| calls.iter().any(|call| is_extended_id(&call.id.0, &id)))
            };
            let (step, _) = self.script.replies().rev().find(|(_, reply)| is_of(reply))?;
            Some((step, index))
        });
        let (mut position, start) = called.map_or((None, 0), |(step, index)| (Some(step), index + 1));
        // Replies without calls since then. Where a reply with calls was expected, it was stopped.
        for message in &self.messages[start..] {
            if matches!(message, Message::Model { .. })
                && let Some((step, reply)) = self.find_next(position)
                && reply.calls.is_empty()
            {
                position = Some(step);
            }
        }
        position
    }

    /// Returns the first reply after a step whose conditions hold.
    fn find_next(&self, position: Option<usize>) -> Option<(usize, &Reply)> {
        let is_usable = |(_, reply): &(usize, &Reply)| reply.conditions.iter().all(|condition| self.holds(condition));
        let mut later = self.script.replies().filter(|(step, _)| position.is_none_or(|position| *step > position));
        let repeated = || self.script.replies().filter(|(_, reply)| reply.repeats).find(is_usable);
        later.find(is_usable).or_else(repeated)
    }

    /// Returns whether the user sent a message although the script did not wait for one.
    fn is_interrupted(&self, position: Option<usize>, next: usize) -> bool {
        let has_started = self.messages.iter().any(|message| matches!(message, Message::Model { .. }));
        // After a reply without calls, which may have been one for another kind of session, the user is expected to say something.
        let is_last_of_turn = |(step, reply): (usize, &Reply)| {
            position.is_some_and(|position| step >= position) && step < next && reply.calls.is_empty()
        };
        let last_reply = self.messages.iter().rev().find(|message| matches!(message, Message::Model { .. }));
        let has_no_calls = matches!(last_reply, Some(Message::Model { calls, .. }) if calls.is_empty());
        let expects_user = has_no_calls && self.script.replies().any(is_last_of_turn);
        let is_repeated = self.script.replies().any(|(step, reply)| step == next && reply.repeats);
        has_started && matches!(self.messages.last(), Some(Message::User(_))) && !expects_user && !is_repeated
    }

    fn text_of(&self, reply: &Reply) -> String {
        let parts = reply.text.iter().filter(|part| part.conditions.iter().all(|condition| self.holds(condition)));
        parts.map(|part| text_template::fill(&part.text, &|call| self.find_result(call))).collect()
    }

    fn holds(&self, condition: &Condition) -> bool {
        match condition {
            Condition::DryRun(expected) => self.is_dry_run() == *expected,
            Condition::Result(call, kinds) => self.find_result(call).is_some_and(|result| {
                let kind = match call_result::classify_result(&result) {
                    CallResult::Denied => ResultKind::Denied,
                    CallResult::Rehearsed => ResultKind::Rehearsed,
                    CallResult::Stopped => ResultKind::Stopped,
                    CallResult::Output(_) => ResultKind::Ran,
                };
                kinds.contains(&kind)
            }),
            Condition::Answer(call, options) => self
                .find_result(call)
                .and_then(|result| call_result::find_answer(&result))
                .is_some_and(|answer| options.contains(&answer)),
            Condition::OwnWords(call, expected) => {
                self.find_result(call).is_some_and(|result| match call_result::find_answer(&result) {
                    Some(answer) => *expected && !self.offered_options(call).contains(&answer),
                    None => !*expected,
                })
            }
            Condition::HasNote(call) => {
                self.find_result(call).is_some_and(|result| call_result::find_note(&result).is_some())
            }
        }
    }

    /// Returns the labels of the options that a question of the script offers.
    fn offered_options(&self, id: &str) -> Vec<String> {
        let mut calls = self.script.replies().flat_map(|(_, reply)| &reply.calls);
        let questions = calls.find(|call| call.id == id).and_then(|call| call.arguments["questions"].as_array());
        let options = questions.into_iter().flatten().filter_map(|question| question["options"].as_array()).flatten();
        options.filter_map(|option| option["label"].as_str().map(str::to_owned)).collect()
    }

    /// Returns whether the model is told that the session is a dry run.
    fn is_dry_run(&self) -> bool {
        let is_said = |message: &Message| matches!(message, Message::System(prompt) if prompt.contains("is a dry run"));
        self.messages.iter().any(is_said)
    }

    /// Returns the last result of a call of the script.
    fn find_result(&self, id: &str) -> Option<String> {
        let id = self.script.call_id(id);
        self.messages.iter().rev().find_map(|message| match message {
            Message::Tool { call, text } if is_extended_id(&call.0, &id) => Some(text.clone()),
            Message::Tool { .. } | Message::System(_) | Message::User(_) | Message::Model { .. } => None,
        })
    }
}
