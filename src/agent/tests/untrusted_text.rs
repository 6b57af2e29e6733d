//! Calls after text from the network was read.

use super::*;
use crate::chat::attachments::{Attachment, Content, attach};

fn fetch_intent(host: &str) -> Intent {
    let access = FetchAccess { url: format!("https://{host}/"), host: host.into(), runs_scripts: false };
    let access = Access::Fetch(Box::new(access));
    let (preview, work) = (Preview::Text(String::new()), Work::Arguments(serde_json::Value::Null));
    let mut plan = Plan::new("Read from the web?", host.into(), access, preview, work);
    plan.grant = Some(Grant::new("fetch", GrantScope::Host(host.into())));
    Intent::Act(Box::new(plan))
}

/// A state in which the user has allowed a host and the first page of it was read.
fn state_after_page() -> State {
    let mut state = idle_state();
    send_user_message(&mut state, "go");
    receive_reply(&mut state, "", &[("a", "fetch"), ("b", "fetch"), ("c", "fetch")]);
    receive_plan(&mut state, "a", fetch_intent("docs.example"));
    let grant = Grant::new("fetch", GrantScope::Host("docs.example".into()));
    decide_call(&mut state, "a", Decision::Always(grant));
    finish_call(&mut state, "a");
    state
}

#[test]
fn a_request_after_a_page_asks_once_although_its_host_is_allowed() {
    let mut state = state_after_page();
    receive_plan(&mut state, "b", fetch_intent("docs.example"));
    let Some(WaitingCall::Approval { reason, .. }) = state.waiting_call() else { panic!("it asks") };
    assert_eq!(reason, "the turn has read a page of docs.example, which may have led to this request");
    decide_call(&mut state, "b", Decision::Once);
    finish_call(&mut state, "b");
    receive_plan(&mut state, "c", fetch_intent("docs.example"));
    assert!(state.waiting_call().is_none(), "once a turn");
    finish_call(&mut state, "c");
    receive_reply(&mut state, "End.", &[]);
    send_user_message(&mut state, "more");
    receive_reply(&mut state, "", &[("d", "fetch")]);
    receive_plan(&mut state, "d", fetch_intent("docs.example"));
    assert!(state.waiting_call().is_none(), "a new turn has read nothing");
}

#[test]
fn a_page_changes_nothing_for_calls_that_stay_here() {
    let mut state = state_after_page();
    receive_plan(&mut state, "b", read_intent());
    assert!(state.waiting_call().is_none());
}

#[test]
fn commands_ask_after_a_page_only_if_they_may_reach_the_network() {
    let mut text = crate::agent::untrusted_text::UntrustedText::default();
    let plan = |access| {
        let (preview, work) = (Preview::Text(String::new()), Work::Arguments(serde_json::Value::Null));
        Plan::new("", "curl x".into(), access, preview, work)
    };
    let command = |reach, network: Option<&str>| {
        let line = CommandLine { network: network.map(Into::into), ..CommandLine::default() };
        plan(Access::Run(CommandAccess { reach, ..CommandAccess::from(line) }))
    };
    let asks = |text: &crate::agent::untrusted_text::UntrustedText, plan| text.ask_reason(&plan).is_some();
    text.record_read(&command(Reach::Outside, Some("why")));
    assert!(!asks(&text, command(Reach::Outside, Some("why"))), "no page was read");
    text.record_read(&plan(Access::Fetch(Box::default())));
    assert!(asks(&text, command(Reach::Outside, None)) && asks(&text, command(Reach::Reads, Some("why"))));
    assert!(!asks(&text, command(Reach::Reads, None)));
    text.confirm(&command(Reach::Reads, None));
    assert!(asks(&text, command(Reach::Outside, None)), "what was approved stays here");
    text.confirm(&command(Reach::Outside, None));
    assert!(!asks(&text, command(Reach::Outside, None)));
}

#[test]
fn a_request_after_an_attached_resource_asks_although_its_host_is_allowed() {
    let resource = Attachment { source: "notes:doc://a".into(), content: Content::Resource("x".into()) };
    let mut state = state_after_page();
    receive_plan(&mut state, "b", read_intent());
    finish_call(&mut state, "b");
    receive_plan(&mut state, "c", read_intent());
    finish_call(&mut state, "c");
    receive_reply(&mut state, "End.", &[]);
    send_user_message(&mut state, &attach("go on", &[resource]));
    receive_reply(&mut state, "", &[("d", "fetch")]);
    receive_plan(&mut state, "d", fetch_intent("docs.example"));
    let Some(WaitingCall::Approval { reason, .. }) = state.waiting_call() else { panic!("it asks") };
    assert_eq!(reason, "the turn has read the resource notes:doc://a, which may have led to this request");
}
