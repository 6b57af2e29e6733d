//! Invariants under any order of events: every call is settled once, and every request is well formed.

use super::compaction::text_of_tokens;
use super::*;
use crate::chat::audit::{Integrity, collect_records};
use crate::chat::message_tokens;
use crate::text::{tokens, truncation};
use proptest::prelude::*;
use serde_json::Value;

/// Applies events in any order: nothing panics, calls are settled once, requests are well formed, and the entries alone
/// restore the same session.
fn check_session(seeds: &[(u8, u8)]) {
    let mut state = idle_state();
    let mut log = Vec::new();
    let mut call_count = 0;
    for &(action, selector) in seeds {
        // Some events belong to another turn.
        let turn =
            if selector % 7 == 0 { TurnId(u64::from(selector)) } else { state.current_turn().unwrap_or(TurnId(0)) };
        let id: CallId = format!("c{}", selector % 5).as_str().into();
        let event = match action % 21 {
            17 => Event::QueueOpened,
            18 => Event::EarlyPromptRequested((selector % 3 > 0).then_some(id)),
            19 => Event::CallDecided { call: id, decision: Decision::Deny(String::new()), by: Decider::Headless },
            20 => Event::CallDecided { call: id, decision: Decision::Edited(Value::Null), by: Decider::Headless },
            0 | 1 => Event::UserMessage("x".into()),
            2 => Event::ReplyChunk { turn, chunk: Chunk::Text("t".into()), elapsed: Duration::ZERO },
            3 | 4 => {
                call_count += 1;
                Event::ReplyChunk {
                    turn,
                    chunk: Chunk::Call(tool_call(&format!("c{}", call_count % 5), "t")),
                    elapsed: Duration::ZERO,
                }
            }
            5 | 6 => Event::ReplyChunk { turn, chunk: Chunk::Done(FinishReason::Stop), elapsed: Duration::ZERO },
            7 | 8 => Event::CallPlanned {
                turn,
                call: id,
                intent: Ok(if selector % 3 == 0 {
                    write_intent()
                } else if selector % 3 == 1 {
                    read_intent()
                } else {
                    question_intent()
                }),
            },
            9 => Event::CallFinished {
                turn,
                call: id,
                outcome: Outcome::Done(String::new()),
                result_source: None,
                duration: Duration::ZERO,
            },
            12 => Event::RequestFailed { turn, reason: "no".into(), too_long: selector % 2 == 0 },
            13 => Event::CompactionRequested,
            14 => Event::ContextWindowChanged((selector % 3 > 0).then_some(u64::from(selector) * 4)),
            10 => {
                let decision = match selector % 4 {
                    0 => Decision::Edited(serde_json::json!({ "z": selector, "a": 1.5 })),
                    1 => Decision::Deny(String::new()),
                    _ => Decision::Once,
                };
                Event::CallDecided { call: id, decision, by: Decider::Headless }
            }
            11 => Event::TurnRetried,
            _ if selector % 4 == 0 => Event::TurnInterrupted,
            _ => Event::QuestionsAnswered {
                call: id,
                answer: Answer::from_status(AnswerStatus::Declined),
                by: Decider::Headless,
            },
        };
        for effect in update(&mut state, event) {
            match effect {
                Effect::AppendEntry(entry) => log.push(entry),
                Effect::RunCall { call, .. } => check_approved_start(&log, &state, &call.id),
                Effect::RequestReply { request, .. } => check_well_formed(&request.messages),
                Effect::CheckTrialSupport { .. }
                | Effect::TryCall { .. }
                | Effect::KeepTrial { .. }
                | Effect::DropTrial { .. }
                | Effect::PlanCall { .. }
                | Effect::ReviewCall { .. }
                | Effect::RehearseCall { .. }
                | Effect::RunUserCommand { .. }
                | Effect::RequestTitle { .. }
                | Effect::SavePartialReply(_)
                | Effect::SaveOutput(_)
                | Effect::RetryNow
                | Effect::DetachCall { .. }
                | Effect::StopBackground { .. }
                | Effect::SwitchProfile { .. }
                | Effect::CancelTurn { .. } => {}
            }
        }
    }
    let mut outcome_counts = std::collections::HashMap::new();
    for entry in &log {
        if let Entry::Settled { call, .. } = entry {
            *outcome_counts.entry(call.clone()).or_insert(0) += 1;
        }
    }
    assert!(outcome_counts.values().all(|&times| times == 1), "{outcome_counts:?}");
    assert_eq!(Session::replay(log), state.session);
    assert!(state.is_summarizing() || state.session.entries().len() < 2 || state.context_usage().tokens > 0);
    let (resumed, _) = resume(state.session, idle_state());
    // R8, R15: only approved calls ran, and the log shows it, also after reading it back.
    let json = serde_json::to_string(resumed.session.entries()).unwrap();
    let entries: Vec<Entry> = serde_json::from_str(&json).unwrap();
    for record in collect_records(&entries) {
        assert!(!matches!(record.verify(), Integrity::Broken(_)), "{record:?}");
    }
    assert!(resumed.is_idle() == resumed.session.open_calls().is_empty());
}

/// Checks that a call with effects starts after everything before it is settled, and with an approval or a grant.
fn check_approved_start(log: &[Entry], state: &State, id: &CallId) {
    let Some(position) = state.pending().iter().position(|pending| pending.call.id == *id) else { return };
    let CallStage::Running(plan) = &state.pending()[position].stage else { return };
    if matches!(plan.access, Access::Nothing | Access::Read(_)) {
        return;
    }
    assert!(state.pending()[..position].iter().all(|earlier| earlier.stage == CallStage::Settled), "before its turn");
    let is_plan_or_decision =
        |entry: &&Entry| matches!(entry, Entry::Planned { call, .. } | Entry::Decided { call, .. } if call == id);
    let last_entry = log.iter().rev().find(is_plan_or_decision);
    let is_approved = matches!(last_entry, Some(Entry::Decided { decision: Decision::Once | Decision::Always(_), .. }));
    let is_allowed = matches!(last_entry, Some(Entry::Planned { verdict, .. }) if verdict == "allow");
    assert!(is_approved || is_allowed, "{last_entry:?}");
}

pub(super) fn check_well_formed(messages: &[Message]) {
    let mut open_calls: Vec<&CallId> = Vec::new();
    for message in messages {
        match message {
            Message::Model { calls, .. } => {
                assert!(open_calls.is_empty());
                open_calls = calls.iter().map(|call| &call.id).collect();
            }
            Message::Tool { call, .. } => {
                let index = open_calls.iter().position(|id| *id == call).expect("an answer to an open call");
                open_calls.remove(index);
            }
            Message::System(_) | Message::User(_) => assert!(open_calls.is_empty()),
        }
    }
    assert!(open_calls.is_empty());
    assert!(!matches!(messages.last(), Some(Message::Model { .. })), "a provider would continue it");
}

/// Returns the minimum tokens of a request for the running turn: the system prompt, and the turn's entries with every
/// outcome truncated to 80 bytes, the shortest length.
fn min_tokens(state: &State) -> u64 {
    let entries = state.session.entries();
    let turn_start =
        entries.iter().rposition(|entry| matches!(entry, Entry::Ended { .. })).map_or(0, |index| index + 1);
    let entry_tokens = |entry: &Entry| match entry {
        Entry::UserMessage { text } => message_tokens::MESSAGE_OVERHEAD + tokens::estimate_text(text),
        Entry::Replied { text, calls, .. } => {
            message_tokens::MESSAGE_OVERHEAD + tokens::estimate_text(text) + message_tokens::estimate_calls(calls)
        }
        Entry::Settled { outcome, .. } => {
            message_tokens::MESSAGE_OVERHEAD + tokens::estimate_text(&truncation::truncate_middle(outcome.text(), 80))
        }
        _ => 0,
    };
    message_tokens::MESSAGE_OVERHEAD
        + tokens::estimate_text(&state.config.system_prompt)
        + entries[turn_start..].iter().map(entry_tokens).sum::<u64>()
}

/// Runs a session of turns with calls of any length. With a model that summarizes, no request exceeds the window if the
/// running turn leaves room for a summary and the verbatim parts.
fn check_requests_fit(window: u64, steps: &[(u8, u16)]) {
    let mut state = idle_state();
    update(&mut state, Event::ContextWindowChanged(Some(window)));
    let mut call_count = 0;
    for &(action, length) in steps {
        let length = usize::from(length % 600);
        let effects = match action % 8 {
            _ if state.is_summarizing() => receive_reply(&mut state, "A short summary.", &[]),
            0 | 1 if state.is_idle() => send_user_message(&mut state, &text_of_tokens(length)),
            2 if state.is_idle() => update(&mut state, Event::CompactionRequested),
            _ if state.is_idle() => send_user_message(&mut state, "on"),
            3 => {
                let turn = running_turn(&state);
                update(&mut state, Event::RequestFailed { turn, reason: "no".into(), too_long: false })
            }
            4 => update(&mut state, Event::TurnInterrupted),
            5 => receive_reply(&mut state, &text_of_tokens(length), &[]),
            _ if matches!(state.phase, Phase::Replying(_)) => {
                call_count += 1;
                receive_reply(&mut state, "", &[(&format!("c{call_count}"), "read")])
            }
            _ => {
                let id = format!("c{call_count}");
                receive_plan(&mut state, &id, read_intent());
                let (turn, outcome) = (running_turn(&state), Outcome::Done(text_of_tokens(length * 3)));
                let call = id.as_str().into();
                update(
                    &mut state,
                    Event::CallFinished { turn, call, outcome, result_source: None, duration: Duration::ZERO },
                )
            }
        };
        for effect in effects {
            let Effect::RequestReply { request, .. } = effect else { continue };
            check_well_formed(&request.messages);
            let size: u64 = request.messages.iter().map(message_tokens::estimate_message).sum();
            // Room for a summary and the verbatim parts: a quarter of the window and 200 tokens. A fifth of the window
            // is reserved for the reply.
            let required_tokens = min_tokens(&state) + window / 4 + 200;
            assert!(
                size <= window || required_tokens > window * 4 / 5,
                "{size} of {window}, at least {}",
                min_tokens(&state)
            );
            // A request above 125 % of the window is certainly too long and is never sent.
            assert!(size <= window * 5 / 4, "{size} of {window} is sent");
        }
    }
}

/// Regression: only the first turn was summarized, which saved nothing, and the long turn after it remained.
#[test]
fn useless_summary_is_followed_by_a_larger_one() {
    let steps = [
        (0, 0),
        (0, 0),
        (0, 0),
        (0, 0),
        (0, 1),
        (45, 46),
        (40, 49),
        (0, 0),
        (107, 0),
        (27, 0),
        (228, 0),
        (3, 0),
        (14, 0),
        (46, 41667),
        (11, 0),
        (3, 0),
        (67, 0),
        (0, 39601),
        (123, 0),
        (152, 9808),
        (0, 0),
        (6, 0),
        (134, 9),
        (38, 0),
        (150, 43),
        (86, 0),
        (30, 43),
        (70, 0),
        (62, 28907),
        (6, 0),
        (86, 707),
        (0, 0),
        (182, 0),
        (62, 1),
        (0, 0),
        (14, 783),
        (134, 0),
        (156, 0),
        (104, 24232),
        (0, 0),
        (6, 96),
        (214, 22232),
        (77, 36733),
        (57, 44760),
        (22, 23414),
    ];
    check_requests_fit(1500, &steps);
}

proptest! {
    #[test]
    fn r65_requests_fit_the_window_if_possible(
        window in 1_500_u64..12_000,
        steps in prop::collection::vec(any::<(u8, u16)>(), 0..80),
    ) {
        check_requests_fit(window, &steps);
    }

    #[test]
    fn every_call_is_settled_once(seeds in prop::collection::vec(any::<(u8, u8)>(), 0..120)) {
        check_session(&seeds);
    }
}
