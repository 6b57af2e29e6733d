//! Tool that acts on the page of the browser: clicks, fills fields, presses keys.

use super::arguments::{object_spec, parse_arguments};
use super::{Error, LiveContext, Tool, parse_plan_data, summary_line};
use crate::browser::known_page::PlannedPage;
use crate::browser::session::BrowserSession;
use crate::browser::step::{ActionKind, Direction, Step};
use crate::chat::{Access, CallWords, ExternalAccess, Grant, GrantScope, Intent, Plan, Preview, ToolSpec, Work};
use crate::project::Reader;
use crate::web::target::Target;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;

pub const NAME: &str = "browser_act";

/// Words for the rows of its calls.
pub(super) const WORDS: CallWords = CallWords::new(NAME, "Act");

/// Acts on the page of the session's browser.
pub struct BrowserAct(pub Arc<BrowserSession>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    action: ActionKind,
    target: Option<String>,
    value: Option<String>,
    direction: Option<Direction>,
}

/// The action of a plan, and the page it was planned for.
#[derive(Serialize, Deserialize)]
struct PlannedStep {
    step: Step,
    page: PlannedPage,
}

/// Returns the description of the tool for the model.
pub fn tool_spec() -> ToolSpec {
    object_spec(
        NAME,
        "Act on the page of browser_navigate. Returns its elements.",
        json!({
            "action": {
                "type": "string", "enum": ActionKind::ALL.map(ActionKind::name),
                "description": "target: click, dblclick, hover, check, uncheck, wait; target and value: fill, type, select; value: press",
            },
            "target": { "type": "string", "description": "Ref or CSS selector" },
            "value": { "type": "string", "description": "Text, option or key: Enter, Control+a" },
            "direction": {
                "type": "string", "enum": ["up", "down", "left", "right"], "description": "For scroll, default down",
            },
        }),
        &["action"],
    )
}

#[async_trait]
impl Tool for BrowserAct {
    fn name(&self) -> Cow<'_, str> {
        WORDS.tool.into()
    }

    fn tool_spec(&self) -> ToolSpec {
        tool_spec()
    }

    fn is_for_sub_agents(&self) -> bool {
        false
    }

    fn plan_call(&self, arguments: &Value, files: &dyn Reader) -> Result<Intent, Error> {
        let Arguments { action, target, value, direction } = parse_arguments(&tool_spec(), arguments)?;
        let step = Step::from_arguments(action, target, value, direction).map_err(Error::Arguments)?;
        let (page, opened) = self.0.page_for_plan(Some(&step), files.is_rehearsal()).map_err(Error::Failed)?;
        let request = describe_step(&step, &page);
        let host = page.host.clone();
        let page_host = page.frame_host.is_some().then(|| host.clone());
        let service = page.frame_host.clone().unwrap_or_else(|| host.clone());
        let access = ExternalAccess { request: request.clone(), service: service.clone(), page_host };
        let mut plan = Plan::new(
            "Act on the web page?",
            summary_line::first_line(&format!("{request} on {service}"), 120),
            Access::External(Box::new(access)),
            Preview::Text(preview_step(&request, &step, &page, opened.as_ref())),
            Work::Arguments(json!(PlannedStep { step, page })),
        );
        // In a frame of another host it would cover neither.
        plan.grant = (service == host).then(|| Grant::new(NAME, GrantScope::Service(host)));
        Ok(Intent::Act(Box::new(plan)))
    }

    async fn run(&self, plan: &Plan, _: &LiveContext) -> Result<String, Error> {
        let PlannedStep { step, page } = parse_plan_data(plan)?;
        self.0.act(&step, &page).await.map_err(Error::Failed)
    }
}

/// Describes a step on one line, without its value: `click button "Send" [e4]`.
fn describe_step(step: &Step, page: &PlannedPage) -> String {
    let name = if step.action == ActionKind::Wait { "wait for" } else { step.action.name() };
    match (step.action, &page.element, &page.address) {
        (ActionKind::Scroll, ..) => format!("{name} {}", step.direction.name()),
        (ActionKind::Press, ..) => format!("{name} {}", step.value),
        (_, Some(element), _) => format!("{name} {element} [{}]", step.target),
        (_, None, Some(address)) => format!("{name} to {address}"),
        (_, None, None) if step.target.is_empty() => name.to_owned(),
        (_, None, None) => format!("{name} the element {}", step.target),
    }
}

/// Returns the whole text of the prompt.
fn preview_step(request: &str, step: &Step, page: &PlannedPage, opened: Option<&Target>) -> String {
    let mut lines = vec![request.to_owned()];
    lines.extend(page.frame_host.as_ref().map(|host| format!("in a frame of {host}, another host than the page")));
    if let Some(opened) = opened {
        lines.push(format!("page: {}", opened.url));
        if opened.is_private_allowed {
            lines.push("the host is in a private network, allowed by web.private_hosts".to_owned());
        }
    }
    match step.action {
        ActionKind::Fill | ActionKind::Type | ActionKind::Select => {
            lines.extend(["value:".to_owned(), step.value.clone()]);
        }
        ActionKind::Click
        | ActionKind::Dblclick
        | ActionKind::Scroll
        | ActionKind::Hover
        | ActionKind::Press
        | ActionKind::Check
        | ActionKind::Uncheck
        | ActionKind::Wait
        | ActionKind::Back
        | ActionKind::Forward
        | ActionKind::Reload => {}
    }
    lines.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::browser::session::NO_PAGE;
    use crate::tools::memory_project::MemoryProject;
    use crate::tools::tests::plan_call;

    fn tool() -> BrowserAct {
        let program = crate::browser::executable::BrowserProgram {
            path: "/nonexistent".into(),
            aye_path: "/nonexistent".into(),
            environment: Vec::new(),
        };
        BrowserAct(Arc::new(BrowserSession::new(program, Default::default())))
    }

    #[test]
    fn fourteen_actions_are_offered_and_any_needs_a_page() {
        let spec = tool_spec();
        assert_eq!(spec.parameters.to_value()["properties"]["action"]["enum"].as_array().unwrap().len(), 14);
        let files = MemoryProject::with_files(&[]);
        let error = plan_call(&tool(), json!({ "action": "click", "target": "e1" }), &files).unwrap_err();
        assert_eq!(error.to_string(), NO_PAGE);
        for (arguments, part) in [
            (json!({ "action": "submit" }), "unknown variant `submit`"),
            (json!({ "action": "click" }), "click needs a target"),
            (json!({ "action": "reload", "target": "e1" }), "reload has no target"),
            (json!({ "action": "press", "value": "Hyper+x" }), "no modifier"),
            (json!({ "action": "scroll", "direction": "over" }), "unknown variant `over`"),
            (json!({ "action": "click", "target": "e1", "x": 1 }), "unknown field `x`"),
        ] {
            let error = plan_call(&tool(), arguments.clone(), &files).unwrap_err().to_string();
            assert!(error.contains(part), "{arguments}: {error}");
        }
    }

    #[test]
    fn the_prompt_names_the_element_and_shows_the_whole_value() {
        let step = |action, target: &str, value: &str| Step {
            action,
            target: target.into(),
            value: value.into(),
            direction: Direction::default(),
        };
        let page = PlannedPage {
            host: "a.example".into(),
            element: Some("textbox \"Name\"".into()),
            ..PlannedPage::default()
        };
        let fill = step(ActionKind::Fill, "e4", "two\nlines");
        let request = describe_step(&fill, &page);
        assert_eq!(request, "fill textbox \"Name\" [e4]");
        assert!(preview_step(&request, &fill, &page, None).ends_with("\nvalue:\ntwo\nlines"));
        let page = PlannedPage { element: None, frame_host: Some("b.example".into()), ..page };
        let preview = preview_step("press Enter", &step(ActionKind::Press, "", "Enter"), &page, None);
        assert_eq!(preview, "press Enter\nin a frame of b.example, another host than the page");
        assert_eq!(describe_step(&step(ActionKind::Click, "#send", ""), &page), "click the element #send");
        assert_eq!(describe_step(&step(ActionKind::Wait, "h1", ""), &page), "wait for the element h1");
        assert_eq!(describe_step(&step(ActionKind::Press, "", "Enter"), &page), "press Enter");
        let page = PlannedPage { address: Some("https://a.example/".into()), ..page };
        assert_eq!(describe_step(&step(ActionKind::Back, "", ""), &page), "back to https://a.example/");
    }
}
