//! The action of a call in one word, which its row on the screen starts with.

use crate::agent::{CallStage, PendingCall};
use crate::chat::batch::APPLY_GROUP;
use crate::chat::deferred_tools::{DESCRIBE_TOOL, FIND_TOOL};
use crate::chat::dry_run_summary::APPLY_CHANGE;
use crate::chat::mcp_names::PREFIX;
use crate::chat::{Preview, RESTORE_FILES};
use crate::text::clean;
use std::borrow::Cow;

/// Returns the action of a call of this tool: `Run`, `Read`. `preview` is that of its plan, if it was planned. For an
/// unknown tool, whose name the model may have invented, returns the cleaned name.
pub fn name_action<'a>(tool: &'a str, preview: Option<&Preview>) -> Cow<'a, str> {
    let action = match tool {
        "read_file" => "Read",
        "list_files" => "List",
        "search_text" => "Search",
        "write_file" if matches!(preview, Some(Preview::Edit(diff)) if diff.created) => "Create",
        "write_file" => "Write",
        "edit_file" => "Edit",
        "bash_exec" => "Run",
        "ask_question" => "Ask",
        "sub_agent" => "Sub-agent",
        "web_fetch" => "Fetch",
        "browser_navigate" => "Open",
        "browser_act" => "Act",
        "browser_screenshot" => "Capture",
        "run_mcp_tool" => "Call",
        "calculator" => "Calculate",
        "read_output" => "Output",
        "kill" => "Stop",
        FIND_TOOL => "Find",
        DESCRIBE_TOOL => "Describe",
        APPLY_CHANGE | APPLY_GROUP => "Apply",
        RESTORE_FILES => "Restore",
        // The summary names the server and its tool. Without a plan there may be no such tool.
        _ if preview.is_some() && tool.starts_with(PREFIX) => "Call",
        _ => return clean::clean_line(tool),
    };
    Cow::Borrowed(action)
}

/// Returns whether the summary of a call of this tool is the path of a file or folder, whose end matters.
pub fn names_path(tool: &str) -> bool {
    matches!(tool, "read_file" | "list_files" | "write_file" | "edit_file")
}

/// Returns the action of a call that is not settled.
pub fn name_pending_action(pending: &PendingCall) -> Cow<'_, str> {
    let plan = match &pending.stage {
        CallStage::AwaitingApproval(plan, _) | CallStage::OnTrial(plan, _) | CallStage::Running(plan) => Some(plan),
        CallStage::UnderReview(review) => Some(&review.plan),
        CallStage::AwaitingTurn
        | CallStage::Planning
        | CallStage::AwaitingAnswer(_)
        | CallStage::Delegated(_)
        | CallStage::Settled => None,
    };
    name_action(&pending.call.name, plan.map(|plan| &plan.preview))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::Edit;

    #[test]
    fn every_tool_of_the_program_has_an_action() {
        let builtin_tools = crate::tools::Toolbox::with_builtin_tools(crate::tools::ToolSettings::default());
        let others = [APPLY_CHANGE, APPLY_GROUP, RESTORE_FILES].map(str::to_owned);
        let names = builtin_tools.rule_names().into_iter().chain(others);
        for name in names {
            let action = name_action(&name, None);
            assert!(action.starts_with(char::is_uppercase) && !action.contains('_'), "{name}: {action}");
        }
    }

    #[test]
    fn only_a_planned_call_of_a_server_is_named_so() {
        let preview = Preview::Text(String::new());
        assert_eq!(name_action("mcp__a__b", Some(&preview)), "Call");
        assert_eq!(name_action("mcp__a__\u{202E}b", None), "mcp__a__<U+202E>b");
    }

    #[test]
    fn a_write_that_creates_its_file_is_named_so() {
        let preview = |before: Option<&str>| {
            let edit = Edit { path: "a".into(), before: before.map(str::to_owned), after: "x\n".into() };
            Preview::Edit(edit.diff())
        };
        assert_eq!(name_action("write_file", Some(&preview(None))), "Create");
        assert_eq!(name_action("write_file", Some(&preview(Some("y\n")))), "Write");
        assert_eq!(name_action("edit_file", Some(&preview(None))), "Edit");
    }

    #[test]
    fn r10_the_name_of_an_unknown_tool_is_cleaned() {
        assert_eq!(name_action("Read\u{202e}\x1b[1m\nx", None), clean::clean_line("Read\u{202e}\x1b[1m\nx"));
        assert!(!name_action("a\x1b[31mb\nc", None).contains(char::is_control));
    }
}
