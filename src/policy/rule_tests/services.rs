//! Tests: calls of services run without a prompt only if the tool and the service are named.

use super::*;
use crate::chat::{ExternalAccess, FetchAccess};

fn service_plan(service: &str) -> Plan {
    plan_for(Access::External(Box::new(ExternalAccess {
        request: "POST /".into(),
        service: service.into(),
        page_host: None,
    })))
}

#[test]
fn allow_rules_for_services_name_the_tool_and_the_host() {
    let host = |host: &str| RuleTarget::Host(host.into());
    let for_tool = |tool: &str, rule: Rule| Rule { tool: Some(tool.into()), ..rule };
    for (rule, service, expected) in [
        (rule(RuleEffect::Allow, host("api.example")), "api.example", "ask"),
        (rule(RuleEffect::Allow, RuleTarget::EveryCall), "api.example", "ask"),
        (for_tool("tool", rule(RuleEffect::Allow, RuleTarget::EveryCall)), "api.example", "ask"),
        (for_tool("tool", rule(RuleEffect::Allow, host("api.example"))), "api.example", "allow"),
        (for_tool("tool", rule(RuleEffect::Allow, host("mcp:issues"))), "mcp:issues", "allow"),
        (for_tool("tool", rule(RuleEffect::Allow, host("api.example"))), "api.example.evil.example", "ask"),
        (for_tool("other", rule(RuleEffect::Allow, host("api.example"))), "api.example", "ask"),
        (rule(RuleEffect::Deny, host("*.evil.example")), "api.evil.example", "refuse"),
        (rule(RuleEffect::Deny, host("mcp:issues")), "mcp:issues", "refuse"),
    ] {
        let description = format!("{} {service}", rule.describe());
        assert_eq!(judge(&rules_from(vec![rule]), &service_plan(service)), expected, "{description}");
    }
}

/// A call in a frame concerns the host of the frame and the one of the page around it.
#[test]
fn an_allow_for_a_frame_covers_both_hosts() {
    let access = ExternalAccess {
        request: "click".into(),
        service: "pay.shop.example".into(),
        page_host: Some("www.shop.example".into()),
    };
    let plan = plan_for(Access::External(Box::new(access)));
    for (effect, host, expected) in [
        (RuleEffect::Allow, "pay.shop.example", "ask"),
        (RuleEffect::Allow, "www.shop.example", "ask"),
        (RuleEffect::Allow, "*.shop.example", "allow"),
        (RuleEffect::Deny, "pay.shop.example", "refuse"),
        (RuleEffect::Deny, "www.shop.example", "refuse"),
    ] {
        let rule = Rule { tool: Some("tool".into()), ..rule(effect, RuleTarget::Host(host.into())) };
        assert_eq!(judge(&rules_from(vec![rule]), &plan), expected, "{effect:?} {host}");
    }
    for host in ["pay.shop.example", "www.shop.example"] {
        let grants = session_grants(GrantScope::Service(host.into()));
        let verdict = judge_plan(&Policy::default(), &grants, &Rules::default(), "tool", &plan);
        assert_eq!(verdict.as_str(), "ask", "{host}");
    }
}

#[test]
fn an_allow_rule_for_requests_covers_scripts_only_if_it_names_the_tool() {
    let host = || rule(RuleEffect::Allow, RuleTarget::Host("docs.example".into()));
    let for_tool = |tool: &str| Rule { tool: Some(tool.into()), ..host() };
    for (rule, runs_scripts, expected) in [
        (host(), false, "allow"),
        (host(), true, "ask"),
        (for_tool("tool"), true, "allow"),
        (for_tool("other"), true, "ask"),
        (rule(RuleEffect::Deny, RuleTarget::Host("docs.example".into())), true, "refuse"),
    ] {
        let access = FetchAccess { host: "docs.example".into(), runs_scripts, ..FetchAccess::default() };
        let plan = plan_for(Access::Fetch(Box::new(access)));
        let description = format!("{:?} {} {runs_scripts}", rule.tool, rule.describe());
        assert_eq!(judge(&rules_from(vec![rule]), &plan), expected, "{description}");
    }
}

#[test]
fn a_grant_covers_one_tool_at_one_service() {
    let grants = session_grants(GrantScope::Service("mcp:issues".into()));
    let judge = |tool: &str, service: &str| {
        judge_plan(&Policy::default(), &grants, &Rules::default(), tool, &service_plan(service)).as_str()
    };
    assert_eq!(judge("tool", "mcp:issues"), "allow");
    assert_eq!(judge("tool", "mcp:other"), "ask");
    assert_eq!(judge("other", "mcp:issues"), "ask");
}
