//! The grant for all file changes of a project.

use super::*;
use crate::chat::{GrantSpan, HardLinks};

fn session_grant(tool: &str) -> [SessionGrant; 1] {
    let (grant, call) = (Grant::new(tool, GrantScope::FileChanges), "c".into());
    [SessionGrant { grant, entry_index: 0, call_number: 1, call, by: Decider::Headless }]
}

fn verdict(grants: &[SessionGrant], tool: &str, plan: &Plan) -> &'static str {
    judge_plan(&Policy::default(), grants, &Rules::default(), tool, plan).as_str()
}

#[test]
fn r11_covers_both_file_tools_inside_the_project_only() {
    let write = plan_for(Access::Write("src/a.rs".into()));
    for granted in ["edit_file", "write_file"] {
        for tool in ["edit_file", "write_file"] {
            assert_eq!(verdict(&session_grant(granted), tool, &write), "allow", "{granted} {tool}");
        }
        for tool in ["bash_exec", "apply_change", "tool"] {
            assert_eq!(verdict(&session_grant(granted), tool, &write), "ask", "{granted} {tool}");
        }
    }
    // A log that was edited by hand may name another tool.
    assert_eq!(verdict(&session_grant("bash_exec"), "bash_exec", &write), "ask");
    assert_eq!(verdict(&session_grant("bash_exec"), "edit_file", &write), "ask");
    let links = HardLinks { path: "src/a.rs".into(), names: 2 };
    let linked =
        Plan { preconditions: Preconditions { hard_links: Some(links), ..Preconditions::default() }, ..write.clone() };
    for plan in [
        plan_for(Access::Write("../a".into())),
        plan_for(Access::Write("/etc/a".into())),
        plan_for(Access::WriteOutside(".git/hooks/pre-commit".into())),
        plan_for(Access::ReadSensitive(".env".into())),
        command_plan("touch a"),
        Plan { destroys: Some("replaces all lines".into()), ..write.clone() },
        linked,
    ] {
        assert_eq!(verdict(&session_grant("edit_file"), "edit_file", &plan), "ask", "{:?}", plan.access);
    }
}

#[test]
fn r11_is_the_widest_scope_of_both_file_tools() {
    for tool in ["edit_file", "write_file"] {
        let scope = GrantScope::File("docs/b.md".into());
        let plan = Plan { grant: Some(Grant::new(tool, scope)), ..plan_for(Access::Write("docs/b.md".into())) };
        let scopes = grant_scopes(tool, &plan);
        let widest = scopes.last().unwrap();
        assert_eq!(widest.describe_coverage(), "every file change of the project, by edit_file or write_file");
        assert!(can_be_rule(widest));
        let json = serde_json::to_string(widest).unwrap();
        assert!(json.contains(r#""scope":"file_changes""#), "{json}");
        assert_eq!(serde_json::from_str::<Grant>(&json).unwrap(), *widest);
        let destructive = Plan { destroys: Some("replaces all lines".into()), ..plan };
        assert!(grant_scopes(tool, &destructive).is_empty());
        let project_grant = Grant { span: GrantSpan::Project, ..widest.clone() };
        assert!(project_grant.describe_grant().ends_with(", in this project"));
    }
}
