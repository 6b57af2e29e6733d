//! Tests that the outline of a session contains none of its text.

use super::*;
use crate::store::session_reader::Notice;
use serde_json::{Value, json};

/// Part of every text of the session.
const WORD: &str = "plover";

fn parse_entries(values: &[Value]) -> Vec<Entry> {
    values.iter().map(|entry| serde_json::from_value(entry.clone()).unwrap()).collect()
}

/// Returns the outline of a session with these entries, one every 1.5 seconds.
fn outline_of(values: &[Value]) -> Vec<String> {
    let entries = parse_entries(values);
    let times = (0..entries.len() as u64).map(|n| 1_000_000 + n * 1500).collect();
    outline_lines(&StoredSession { entries, times, ..StoredSession::default() }, &["bash_exec".to_owned()])
}

#[test]
fn r57_shows_kind_and_size_of_entries_and_no_text() {
    let call = |id: &str, name: &str| json!({ "id": id, "name": name, "arguments": WORD });
    let all = outline_of(&[
        json!({ "kind": "said", "text": format!("{WORD}\n{WORD}") }),
        json!({ "kind": "replied", "text": WORD, "reasoning": WORD, "incomplete": WORD, "model": WORD,
            "calls": [call("c1", "bash_exec"), call(WORD, WORD)], "usage": { "input": 7, "output": 8 } }),
        json!({ "kind": "planned", "call": "c1", "title": WORD, "summary": WORD, "verdict": WORD, "why": WORD,
            "access": { "reach": "read", "of": [WORD] }, "preview": { "as": "text", "what": WORD }, "destroys": WORD }),
        json!({ "kind": "consulted", "call": "c1", "by": { "who": "hook", "name": WORD }, "before": WORD, "advice": "deny", "why": WORD }),
        json!({ "kind": "decided", "call": "c1", "decision": { "what": "deny", "with": WORD },
            "by": { "who": "person", "key": WORD, "after_ms": 9 } }),
        json!({ "kind": "settled", "call": "c1", "outcome": { "how": "failed", "text": WORD }, "took_ms": 3 }),
        json!({ "kind": "settled", "call": WORD, "outcome": { "how": "refused", "text": WORD } }),
        json!({ "kind": "ended", "ending": { "how": "failed", "why": WORD } }),
        json!({ "kind": "titled", "title": WORD, "by": "model" }),
        json!({ "kind": "compacted", "summary": WORD, "pinned": WORD, "upto": 2 }),
        json!({ "kind": "fell_back", "model": WORD, "why": WORD }),
        json!({ "kind": "taken_back", "what": WORD, "by": { "who": "file" } }),
        json!({ "kind": "switched", "model": WORD, "profile": WORD }),
        json!({ "kind": "beneath", "call": "c1", "entry": { "kind": "said", "text": WORD } }),
    ]);
    let text = all.join("\n");
    assert!(!text.contains(WORD), "{text}");
    for part in [
        "14 entries",
        "  user message 2 (",
        "     1        +0.000 s        39  user message · 2 lines",
        "     2        +1.500 s ",
        "replied · text 6, reasoning 6, calls bash_exec an unknown tool, tokens 7 in 8 out, incomplete",
        "planned · bash_exec: reads, text 6, unknown verdict, destroys",
        "reviewed · bash_exec: a hook: deny after 0 ms",
        "decided · bash_exec: denied, the user after 9 ms",
        "settled · bash_exec: failed, text 6, after 3 ms",
        "settled · an unknown tool: denied",
        "ended · failed",
        "sub-agent: user message · 1 lines",
    ] {
        assert!(text.contains(part), "{part:?} is not in it:\n{text}");
    }
}

#[test]
fn shows_beginning_and_end_of_a_long_session() {
    let said = json!({ "kind": "said", "text": "x" });
    let few = outline_of(&vec![said.clone(); FIRST + LAST]);
    assert!(few.iter().all(|line| !line.contains("omitted")), "{few:#?}");
    let many = outline_of(&vec![said; FIRST + LAST + 5]);
    assert_eq!(many.len(), few.len() + 1);
    assert!(many.iter().any(|line| line.trim() == "… 5 entries omitted …"), "{many:#?}");
    let last_number = format!("{} ", FIRST + LAST + 5);
    assert!(many.last().unwrap().trim_start().starts_with(&last_number), "{many:#?}");
}

#[test]
fn name_of_an_unknown_kind_is_not_shown() {
    let notice = Notice { first: 3, last: 4, problem: Problem::Unknown(WORD.to_owned()) };
    let text = outline_lines(&StoredSession { notices: vec![notice], ..StoredSession::default() }, &[]).join("\n");
    assert!(text.contains("line 3 and on: written by a newer aye, skipped") && !text.contains(WORD), "{text}");
}
