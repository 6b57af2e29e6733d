//! The action of a call, which its row on the screen starts with.

use crate::agent::{CallStage, PendingCall};
use crate::chat::mcp_names::PREFIX;
use crate::chat::session::LoggedPlan;
use crate::chat::{Access, CallResult, Plan, Preview};
use crate::runtime::call_words;
use crate::text::clean;
use std::borrow::Cow;

/// Parts of a plan from which the row of its call is made.
#[derive(Debug, Clone, Copy)]
pub struct PlannedCall<'a> {
    /// Title of the approval prompt, by the program.
    pub title: &'a str,
    pub summary: &'a str,
    pub access: &'a Access,
    pub preview: &'a Preview,
}

impl<'a> From<&'a Plan> for PlannedCall<'a> {
    fn from(Plan { title, summary, access, preview, .. }: &'a Plan) -> Self {
        Self { title, summary, access, preview }
    }
}

impl<'a> From<&'a LoggedPlan> for PlannedCall<'a> {
    fn from(LoggedPlan { title, summary, access, preview, .. }: &'a LoggedPlan) -> Self {
        Self { title, summary, access, preview }
    }
}

impl<'a> PlannedCall<'a> {
    /// Returns the text after the action: the summary, without the method of a request, which the action names.
    pub fn subject(self) -> &'a str {
        let without_method = self.request_method().and_then(|method| self.summary.strip_prefix(method));
        without_method.map_or(self.summary, str::trim_start)
    }

    /// Returns the HTTP method, if the call sends a request whose method the plan names.
    fn request_method(self) -> Option<&'a str> {
        let (method, url) = match self.access {
            Access::Fetch(fetch) => {
                let (method, url) = self.summary.split_once(' ')?;
                fetch.url.starts_with(url.trim_end_matches('…')).then_some((method, url))?
            }
            Access::External(external) => external.request.split_once(' ')?,
            Access::Nothing
            | Access::Read(_)
            | Access::ReadSensitive(_)
            | Access::Write(_)
            | Access::WriteOutside(_)
            | Access::AyeFiles(_)
            | Access::Background(_)
            | Access::Workspace(_)
            | Access::Run(_) => return None,
        };
        let is_method = !method.is_empty() && method.bytes().all(|byte| byte.is_ascii_uppercase());
        (is_method && url.starts_with("http")).then_some(method)
    }

    /// Returns the action of a call whose tool is not part of the program: `Run`, the method of a request, or otherwise
    /// the title of its approval prompt.
    fn name_action(self) -> Cow<'a, str> {
        if let Preview::Command(_) = self.preview {
            return "Run".into();
        }
        match self.request_method() {
            // A search reads too, but its title says more than the method.
            Some(method) if !self.title.starts_with("Search") => {
                let (first, rest) = method.split_at(1);
                format!("{first}{}", rest.to_ascii_lowercase()).into()
            }
            _ => clean::clean_line(self.title.trim_end_matches('?')),
        }
    }
}

/// Returns the action of a call of this tool: `Run`, `Read`, `Post`. `plan` is its plan, if it was planned. Without a
/// plan, returns the cleaned name of a tool that is not part of the program: the model may have invented it.
pub fn name_action<'a>(tool: &'a str, plan: Option<PlannedCall<'a>>) -> Cow<'a, str> {
    match builtin_action(tool, plan.map(|plan| plan.preview)) {
        Some(action) => Cow::Borrowed(action),
        // The summary names the server and its tool. Without a plan there may be no such tool.
        None if plan.is_some() && tool.starts_with(PREFIX) => Cow::Borrowed("Call"),
        None => plan.map_or_else(|| clean::clean_line(tool), PlannedCall::name_action),
    }
}

/// Returns the action of a call and its subject, as in its row: `Run cargo test`.
pub fn describe_call(tool: &str, plan: Option<PlannedCall<'_>>) -> String {
    let subject = clean::clean_line(plan.map_or("", PlannedCall::subject));
    format!("{} {subject}", name_action(tool, plan)).trim_end().to_owned()
}

/// Returns the cleaned name of a tool that a tool file defines; `None` for tools of the program and of MCP servers.
pub fn own_tool_name(tool: &str) -> Option<Cow<'_, str>> {
    let is_own = builtin_action(tool, None).is_none() && !tool.starts_with(PREFIX);
    is_own.then(|| clean::clean_line(tool))
}

/// Returns the action of a tool of the program.
fn builtin_action(tool: &str, preview: Option<&Preview>) -> Option<&'static str> {
    let words = call_words(tool)?;
    let creates = matches!(preview, Some(Preview::Edit(diff)) if diff.created);
    Some(words.creation.filter(|_| creates).unwrap_or(words.action))
}

/// Returns whether the summary of a call of this tool is the path of a file or folder, whose end matters.
pub fn names_path(tool: &str) -> bool {
    call_words(tool).is_some_and(|words| words.names_path)
}

/// Returns what the results of a tool are; text, if it is not part of the program.
pub fn result_of(tool: &str) -> CallResult {
    call_words(tool).map_or(CallResult::Text, |words| words.result)
}

/// Returns the action of a call that is not settled.
pub fn name_pending_action(pending: &PendingCall) -> Cow<'_, str> {
    let plan = match &pending.stage {
        CallStage::AwaitingApproval(plan, _) | CallStage::OnTrial(plan, _) | CallStage::Running(plan) => Some(&**plan),
        CallStage::UnderReview(review) => Some(&*review.plan),
        CallStage::AwaitingTurn => pending.preapproval.approved_plan(),
        CallStage::Planning | CallStage::AwaitingAnswer(_) | CallStage::Delegated(_) | CallStage::Settled => None,
    };
    name_action(&pending.call.name, plan.map(PlannedCall::from))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{CommandLine, Edit, ExternalAccess, FetchAccess, Work};
    use crate::tools::toolbox::USER_TOOLS;

    fn plan(title: &str, summary: &str, access: Access, preview: Preview) -> Plan {
        Plan::new(title, summary.to_owned(), access, preview, Work::Arguments(serde_json::Value::Null))
    }

    fn text_plan(title: &str, summary: &str, access: Access) -> Plan {
        plan(title, summary, access, Preview::Text(String::new()))
    }

    fn fetch(url: &str) -> Access {
        Access::Fetch(Box::new(FetchAccess { url: url.to_owned(), ..FetchAccess::default() }))
    }

    fn external(request: &str) -> Access {
        Access::External(Box::new(ExternalAccess {
            request: request.to_owned(),
            service: "a.example".to_owned(),
            page_host: None,
        }))
    }

    #[track_caller]
    fn assert_row(plan: &Plan, expected: &str) {
        let planned = PlannedCall::from(plan);
        assert_eq!(format!("{} {}", name_action("own_tool", Some(planned)), planned.subject()).trim_end(), expected);
    }

    #[test]
    fn every_tool_of_the_program_has_an_action() {
        let builtin_tools = crate::tools::Toolbox::with_builtin_tools(crate::tools::ToolSettings::default());
        let others = USER_TOOLS.map(str::to_owned);
        let names = builtin_tools.rule_names().into_iter().chain(others);
        for name in names {
            let action = name_action(&name, None);
            assert!(action.starts_with(char::is_uppercase) && !action.contains('_'), "{name}: {action}");
        }
    }

    #[test]
    fn a_call_of_a_users_tool_starts_with_what_its_plan_does() {
        let command = Preview::Command(CommandLine { command: "psql -c x".into(), ..CommandLine::default() });
        assert_row(&plan("Run a command?", "psql -c x", Access::Nothing, command), "Run psql -c x");
        let url = "https://a.example/tickets?limit=1";
        assert_row(&text_plan("Read from the web?", &format!("GET {url}"), fetch(url)), &format!("Get {url}"));
        assert_row(
            &text_plan("Read from the web?", "GET https://a.example/tick…", fetch(url)),
            "Get https://a.example/tick…",
        );
        let post = format!("POST {url}");
        assert_row(&text_plan("Call a service?", &post, external(&post)), &format!("Post {url}"));
        assert_row(&text_plan("Search the web?", &format!("GET {url}"), fetch(url)), &format!("Search the web {url}"));
        assert_row(&text_plan("Ask a model?", "Rate this text", Access::Nothing), "Ask a model Rate this text");
        assert_row(&text_plan("End the conversation?", "", Access::Nothing), "End the conversation");
        assert_row(
            &text_plan("Hand the session to the user?", "I need a key", Access::Nothing),
            "Hand the session to the user I need a key",
        );
        let switch = external("switch to the profile deep");
        assert_row(
            &text_plan("Switch to another model?", "to deep (o3)", switch),
            "Switch to another model to deep (o3)",
        );
    }

    #[test]
    fn only_a_tool_of_a_file_has_a_name_of_its_own() {
        assert_eq!(own_tool_name("weather").as_deref(), Some("weather"));
        for tool in ["bash_exec", "write_file", "mcp__a__b", crate::chat::RESTORE_FILES] {
            assert_eq!(own_tool_name(tool), None, "{tool}");
        }
    }

    #[test]
    fn a_text_for_a_model_cannot_pass_for_a_request() {
        let ask = external("ask o3 at a.example (profile deep)");
        assert_row(&text_plan("Ask a model?", "GET https://b.example", ask), "Ask a model GET https://b.example");
        assert_row(
            &text_plan("Read from the web?", "GET https://b.example", fetch("https://a.example")),
            "Read from the web GET https://b.example",
        );
    }

    #[test]
    fn only_a_planned_call_of_a_server_is_named_so() {
        let planned = text_plan("Call an MCP tool?", "a: b", external("b"));
        assert_eq!(name_action("mcp__a__b", Some((&planned).into())), "Call");
        assert_eq!(name_action("mcp__a__\u{202E}b", None), "mcp__a__<U+202E>b");
    }

    #[test]
    fn a_write_that_creates_its_file_is_named_so() {
        let planned = |before: Option<&str>| {
            let edit = Edit { path: "a".into(), before: before.map(str::to_owned), after: "x\n".into() };
            plan("Change a file?", "a", Access::Write("a".into()), Preview::Edit(edit.diff()))
        };
        assert_eq!(name_action("write_file", Some((&planned(None)).into())), "Create");
        assert_eq!(name_action("write_file", Some((&planned(Some("y\n"))).into())), "Write");
        assert_eq!(name_action("edit_file", Some((&planned(None)).into())), "Edit");
    }

    #[test]
    fn r10_the_name_of_an_unknown_tool_is_cleaned() {
        assert_eq!(name_action("Read\u{202e}\x1b[1m\nx", None), clean::clean_line("Read\u{202e}\x1b[1m\nx"));
        assert!(!name_action("a\x1b[31mb\nc", None).contains(char::is_control));
    }
}
