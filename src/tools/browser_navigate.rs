//! Tool that opens a page in the browser.

use super::arguments::{object_spec, parse_arguments};
use super::{Error, LiveContext, Tool, parse_plan_data, summary_line};
use crate::browser::page_watch::LoadStage;
use crate::browser::session::BrowserSession;
use crate::chat::{Access, CallWords, FetchAccess, Grant, GrantScope, Intent, Plan, Preview, ToolSpec, Work};
use crate::project::Reader;
use crate::project::output::CommandProgress;
use crate::web::client::{ALLOWED_BY_SETTING, describe_network};
use crate::web::target::parse_target;
use async_trait::async_trait;
use reqwest::Url;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;

pub const NAME: &str = "browser_navigate";

/// Words for the rows of its calls.
pub(super) const WORDS: CallWords = CallWords::new(NAME, "Open");

/// Opens pages in the browser of the session.
pub struct BrowserNavigate(pub Arc<BrowserSession>);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    url: String,
    #[serde(default)]
    wait_for: LoadStage,
}

/// The page of a plan.
#[derive(Serialize, Deserialize)]
struct PageVisit {
    url: String,
    wait_for: LoadStage,
}

/// Returns the description of the tool for the model.
pub fn tool_spec() -> ToolSpec {
    object_spec(
        NAME,
        "Open a page in a browser that runs scripts. Returns its elements with refs such as e1.",
        json!({
            "url": { "type": "string", "description": "http or https" },
            "wait_for": {
                "type": "string", "enum": ["networkidle", "load", "domcontentloaded"],
                "description": "Default networkidle",
            },
        }),
        &["url"],
    )
}

#[async_trait]
impl Tool for BrowserNavigate {
    fn name(&self) -> Cow<'_, str> {
        WORDS.tool.into()
    }

    fn tool_spec(&self) -> ToolSpec {
        tool_spec()
    }

    fn is_for_sub_agents(&self) -> bool {
        false
    }

    fn plan_call(&self, arguments: &Value, _: &dyn Reader) -> Result<Intent, Error> {
        let Arguments { url, wait_for } = parse_arguments(&tool_spec(), arguments)?;
        let target = parse_target(&url, self.0.private_hosts()).map_err(Error::Arguments)?;
        let url = page_url(&url)?;
        let mut preview = format!("{url}\nIts scripts run. They can load data from other public hosts.");
        if let Some(network) = describe_network(&target, ALLOWED_BY_SETTING) {
            preview.push_str(&format!("\n{network}"));
        }
        let access = FetchAccess { url: url.to_string(), host: target.host.clone(), runs_scripts: true };
        let mut plan = Plan::new(
            "Open in the browser?",
            summary_line::first_line(url.as_str(), 120),
            Access::Fetch(Box::new(access)),
            Preview::Text(preview),
            Work::Arguments(json!(PageVisit { url: url.to_string(), wait_for })),
        );
        plan.grant = Some(Grant::new(NAME, GrantScope::Host(target.host)));
        Ok(Intent::Act(Box::new(plan)))
    }

    async fn run(&self, plan: &Plan, context: &LiveContext) -> Result<String, Error> {
        let PageVisit { url, wait_for } = parse_plan_data(plan)?;
        let target = parse_target(&url, self.0.private_hosts()).map_err(Error::Failed)?;
        (context.progress)(CommandProgress::from_status("opening the page…"));
        self.0.navigate(&page_url(&url)?, &target, wait_for).await.map_err(Error::Failed)
    }
}

/// Parses an address with the part after `#`, which scripts of a page may read.
fn page_url(text: &str) -> Result<Url, Error> {
    Url::parse(text.trim()).map_err(|error| Error::Arguments(format!("The address is invalid: {error}.")))
}
