//! What holds whatever happens: every call is settled once, and every request is well formed.

use super::*;
use proptest::prelude::*;

/// Any order of events: nothing panics, calls are settled once, requests are well formed, and the entries alone
/// make the same session.
fn holds(seeds: &[(u8, u8)]) {
    let mut state = idle();
    let mut log = Vec::new();
    let mut made = 0;
    for &(what, which) in seeds {
        let turn = if which % 7 == 0 { TurnId(u64::from(which)) } else { state.turn().unwrap_or(TurnId(0)) };
        let id: CallId = format!("c{}", which % 5).as_str().into();
        let event = match what % 12 {
            0 | 1 => Event::Said("x".into()),
            2 => Event::Chunk { turn, chunk: Chunk::Text("t".into()), after: Duration::ZERO },
            3 | 4 => {
                made += 1;
                Event::Chunk {
                    turn,
                    chunk: Chunk::Call(call(&format!("c{}", made % 5), "t")),
                    after: Duration::ZERO,
                }
            }
            5 | 6 => Event::Chunk { turn, chunk: Chunk::Done(Finish::Stop), after: Duration::ZERO },
            7 | 8 => Event::Planned {
                turn,
                call: id,
                intent: Ok(if which % 3 == 0 {
                    write()
                } else if which % 3 == 1 {
                    read()
                } else {
                    question()
                }),
            },
            9 => Event::Finished {
                turn,
                call: id,
                outcome: Outcome::Done(String::new()),
                took: Duration::ZERO,
            },
            10 => Event::Decided { call: id, decision: Decision::Once, by: By::Nobody },
            _ if which % 4 == 0 => Event::Interrupted,
            _ => Event::Answered { call: id, answer: Answer { status: Status::Declined, given: vec![] } },
        };
        for effect in update(&mut state, event) {
            match effect {
                Effect::Append(entry) => log.push(entry),
                Effect::Stream { request, .. } => well_formed(&request.messages),
                Effect::Plan { .. }
                | Effect::Act { .. }
                | Effect::Rehearse { .. }
                | Effect::Cancel { .. } => {}
            }
        }
    }
    let mut settled = std::collections::HashMap::new();
    for entry in &log {
        if let Entry::Settled { call, .. } = entry {
            *settled.entry(call.clone()).or_insert(0) += 1;
        }
    }
    assert!(settled.values().all(|&times| times == 1), "{settled:?}");
    assert_eq!(Session::replay(log), state.session);
    let (resumed, _) = resume(state.session, idle());
    assert!(resumed.is_idle() == resumed.session.open_calls().is_empty());
}

fn well_formed(messages: &[Message]) {
    let mut open: Vec<&CallId> = Vec::new();
    for message in messages {
        match message {
            Message::Model { calls, .. } => {
                assert!(open.is_empty());
                open = calls.iter().map(|call| &call.id).collect();
            }
            Message::Tool { call, .. } => {
                let at = open.iter().position(|id| *id == call).expect("an answer to an open call");
                open.remove(at);
            }
            Message::System(_) | Message::Person(_) => assert!(open.is_empty()),
        }
    }
    assert!(open.is_empty());
}

proptest! {
    #[test]
    fn every_call_is_settled_once_whatever_happens(seeds in prop::collection::vec(any::<(u8, u8)>(), 0..120)) {
        holds(&seeds);
    }
}
