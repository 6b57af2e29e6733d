//! Tool of a file that hands the session over: to another profile, or to the user. The agent does it.

use super::end_conversation_tool::{plan_conclusion, read_text};
use super::tool_file::parameters::check_arguments;
use super::tool_file::{Destination, ToolHead, TransferDefinition};
use super::{Error, Tool};
use crate::chat::{Access, Conclusion, ExternalAccess, Intent, Plan, Preview, ToolSpec, TurnEnd, Work};
use crate::project::Reader;
use async_trait::async_trait;
use serde_json::Value;
use std::sync::Arc;

/// Finds the profiles of the settings.
pub trait ProfileFinder: Send + Sync {
    /// Checks that there is a profile of this name.
    ///
    /// # Errors
    /// What is wrong, in one sentence.
    fn check_profile(&self, name: &str) -> Result<(), String>;
    /// Returns where requests of a profile are sent. May read files.
    ///
    /// # Errors
    /// Why it cannot be used, in one sentence.
    fn find_profile(&self, name: &str) -> Result<ProfileTarget, String>;
}

/// Where requests of a profile are sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProfileTarget {
    /// Model of the profile; `None` for the provider's first one.
    pub model: Option<String>,
    /// Host in lower case, without a port.
    pub host: String,
}

/// Hands the session over.
pub struct TransferTool {
    pub head: ToolHead,
    pub transfer: TransferDefinition,
    pub profiles: Arc<dyn ProfileFinder>,
}

impl TransferTool {
    /// Plans the switch to another profile. With the next message the whole conversation is sent there.
    fn plan_switch(&self, profile: &str, note: &str) -> Result<Intent, Error> {
        let target = self.profiles.find_profile(profile).map_err(Error::Failed)?;
        let shown_model = target.model.as_deref().unwrap_or("the default model");
        let mut lines = vec![
            format!("profile {profile}: {shown_model} at {}", target.host),
            "From your next message on it answers, and the whole conversation is sent there.".to_owned(),
        ];
        let message = self.transfer.message.as_str();
        lines.extend(
            [message, note].into_iter().filter(|text| !text.is_empty()).flat_map(|text| ["".into(), text.into()]),
        );
        let request = format!("switch to the profile {profile}");
        let access = ExternalAccess { request, service: target.host, page_host: None };
        Ok(Intent::Act(Box::new(Plan::new(
            "Switch to another model?",
            format!("to {profile} ({shown_model})"),
            Access::External(Box::new(access)),
            Preview::Text(lines.join("\n")),
            Work::EndTurn(TurnEnd::SwitchProfile {
                profile: profile.to_owned(),
                model: target.model.clone().unwrap_or_default(),
            }),
        ))))
    }
}

#[async_trait]
impl Tool for TransferTool {
    fn tool_spec(&self) -> ToolSpec {
        self.head.tool_spec()
    }

    fn is_for_sub_agents(&self) -> bool {
        false
    }

    fn plan_call(&self, arguments: &Value, _: &dyn Reader) -> Result<Intent, Error> {
        let arguments = check_arguments(&self.tool_spec(), &self.head.parameters, arguments)?;
        let note = read_text(&arguments, "note")?;
        match &self.transfer.destination {
            Destination::Profile(profile) => self.plan_switch(profile, &note),
            Destination::User => {
                let message = self.transfer.message.clone();
                Ok(plan_conclusion("Hand the session to the user?", Conclusion::Parked { message, note }))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::memory_project::MemoryProject;
    use crate::tools::tests::plan_call;
    use crate::tools::tool_file::{ToolKind, parse_tool};
    use serde_json::json;

    struct OneProfile;

    impl ProfileFinder for OneProfile {
        fn check_profile(&self, _: &str) -> Result<(), String> {
            Ok(())
        }

        fn find_profile(&self, name: &str) -> Result<ProfileTarget, String> {
            match name {
                "local" => Ok(ProfileTarget { model: Some("m".into()), host: "gpu.example".into() }),
                other => Err(format!("the profile {other} has no key")),
            }
        }
    }

    fn plan(destination: &str) -> Result<Plan, String> {
        let text = format!("name = \"Hand over\"\ntype = \"transfer\"\ndestination = \"{destination}\"\n");
        let parsed = parse_tool("t.toml", &text);
        let definition = parsed.definition.unwrap_or_else(|| panic!("{:?}", parsed.problems));
        let ToolKind::Transfer(transfer) = definition.kind else { panic!("a transfer") };
        let tool = TransferTool { head: definition.head, transfer, profiles: Arc::new(OneProfile) };
        plan_call(&tool, json!({ "note": "look at a.rs" }), &MemoryProject::with_files(&[]))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn a_switch_is_judged_as_sending_the_conversation_to_the_host() {
        let planned = plan("profile:local").unwrap();
        let Access::External(access) = &planned.access else { panic!("{planned:?}") };
        assert_eq!(access.service, "gpu.example");
        let Preview::Text(text) = &planned.preview else { panic!("{planned:?}") };
        assert!(text.starts_with("profile local: m at gpu.example\n") && text.ends_with("look at a.rs"), "{text}");
        assert_eq!(plan("profile:other").unwrap_err(), "the profile other has no key");
    }

    #[test]
    fn the_user_gets_the_note() {
        let planned = plan("human").unwrap();
        let conclusion = Conclusion::Parked { message: String::new(), note: "look at a.rs".into() };
        assert_eq!(planned.work, Work::EndTurn(TurnEnd::Conclude(conclusion)));
        assert_eq!(planned.access, Access::Nothing);
    }
}
