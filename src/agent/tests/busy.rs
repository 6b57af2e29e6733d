//! What goes on while a person is waited for.

use super::sub_agents::{card, idle, is, looked, ran, says, task};
use super::*;

#[test]
fn while_a_question_waits_whatever_needs_nobody_goes_on_and_is_no_end() {
    let mut state = idle();
    said(&mut state, "go");
    replies(&mut state, "", &[("one", "sub_agent"), ("two", "sub_agent")]);
    planned(&mut state, "one", task("one"));
    says(&mut state, "one", "", &[("a", "ask")]);
    looked(&mut state, "one", "a", question());
    assert_eq!(card(&state), is("a", Some("one")));
    assert!(state.is_busy(), "the other task is still looked at");
    planned(&mut state, "two", task("two"));
    assert!(state.is_busy(), "it is worked on");
    says(&mut state, "two", "", &[("b", "read")]);
    looked(&mut state, "two", "b", plan(Access::Nothing));
    assert!(state.is_busy(), "its call runs");
    ran(&mut state, "two", "b");
    says(&mut state, "two", "done", &[]);
    assert_eq!(card(&state), is("a", Some("one")));
    assert!(!state.is_busy(), "nothing but the question is left");
}
