//! `State::is_busy` while calls wait for the user.

use super::sub_agents::{
    delegating_state, finish_in_sub_agent, plan_in_sub_agent, prompt_for, reply_in_sub_agent, shown_prompt, task_intent,
};
use super::*;

#[test]
fn stays_busy_while_other_work_runs_during_a_question() {
    let mut state = delegating_state();
    send_user_message(&mut state, "go");
    receive_reply(&mut state, "", &[("one", "sub_agent"), ("two", "sub_agent")]);
    receive_plan(&mut state, "one", task_intent("one"));
    reply_in_sub_agent(&mut state, "one", "", &[("a", "ask")]);
    plan_in_sub_agent(&mut state, "one", "a", question_intent());
    assert_eq!(shown_prompt(&state), prompt_for("a", Some("one")));
    assert!(state.is_busy(), "the other task is being planned");
    receive_plan(&mut state, "two", task_intent("two"));
    assert!(state.is_busy(), "the sub-agent works");
    reply_in_sub_agent(&mut state, "two", "", &[("b", "read")]);
    plan_in_sub_agent(&mut state, "two", "b", plan_intent(Access::Nothing));
    assert!(state.is_busy(), "its call runs");
    finish_in_sub_agent(&mut state, "two", "b");
    reply_in_sub_agent(&mut state, "two", "done", &[]);
    assert_eq!(shown_prompt(&state), prompt_for("a", Some("one")));
    assert!(!state.is_busy(), "only the question is left");
}
