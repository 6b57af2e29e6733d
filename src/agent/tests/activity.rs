//! Activity while the user is waited for.

use super::sub_agents::{card, idle, is, looked, ran, says, task};
use super::*;

#[test]
fn stays_busy_while_other_work_runs_beside_a_question() {
    let mut state = idle();
    said(&mut state, "go");
    replies(&mut state, "", &[("one", "sub_agent"), ("two", "sub_agent")]);
    planned(&mut state, "one", task("one"));
    says(&mut state, "one", "", &[("a", "ask")]);
    looked(&mut state, "one", "a", question());
    assert_eq!(card(&state), is("a", Some("one")));
    assert!(state.is_busy(), "the other task is being planned");
    planned(&mut state, "two", task("two"));
    assert!(state.is_busy(), "the sub-agent works");
    says(&mut state, "two", "", &[("b", "read")]);
    looked(&mut state, "two", "b", plan(Access::Nothing));
    assert!(state.is_busy(), "its call runs");
    ran(&mut state, "two", "b");
    says(&mut state, "two", "done", &[]);
    assert_eq!(card(&state), is("a", Some("one")));
    assert!(!state.is_busy(), "only the question is left");
}
