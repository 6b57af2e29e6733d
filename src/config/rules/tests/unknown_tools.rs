//! Rules for tools that this project does not have.

use super::*;

#[test]
fn a_rule_that_allows_a_tool_of_another_project_is_no_problem_here() {
    let project = TestProject::new();
    let rule = |lines: &str| format!("[[rule]]\nverdict = \"allow\"\nhost = \"h.example\"\n{lines}\n");
    let load = |lines: &str| project.load_user_rules(&rule(lines)).problems;
    assert_eq!(load("tool = \"deploy_status\"\nproject = \"/elsewhere\""), []);
    assert_eq!(load("tool = \"deploy_status\"").len(), 1, "without a project it may be a typing error");
    assert_eq!(load("tool = \"write_fil\"\nproject = \"/elsewhere\"").len(), 1, "a typing error");
    let deny = rule("tool = \"deploy_status\"\nproject = \"/elsewhere\"").replace("allow", "deny");
    assert_eq!(project.load_user_rules(&deny).problems.len(), 1, "a lost denial is reported");
}
