//! Tool that asks the user for a credential that another tool needs. The model learns only whether it is connected.

use super::arguments::{object_spec, parse_arguments};
use super::{Error, LiveContext, RehearsalContext, RehearsalOutcome, Tool, summary_line};
use crate::chat::{Access, CallWords, Intent, Plan, Preview, ToolSpec, Work};
use crate::project::Reader;
use crate::web::request_credentials::NamedCredential;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;

/// Name of the tool.
pub const NAME: &str = "connect_credential";

/// Words for the rows of its calls.
pub(super) const WORDS: CallWords = CallWords::new(NAME, "Connect");
/// Maximum characters of a reason.
const MAX_REASON_CHARS: usize = 500;

/// Whether a credential is connected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Connection {
    Connected,
    /// The user does not want to connect it.
    Declined,
    /// It is not connected. Holds a sentence with the reason or what the user can do.
    Missing(String),
}

/// Connects credentials.
#[async_trait]
pub trait CredentialConnector: Send + Sync {
    /// Asks the user for a credential and stores it, unless it is connected already. Without an interactive user it is
    /// missing. The user may take any time.
    async fn connect(&self, credential: &NamedCredential, reason: &str) -> Connection;
}

/// Asks the user for one of these credentials.
pub struct ConnectCredential {
    pub credentials: Vec<NamedCredential>,
    pub connector: Arc<dyn CredentialConnector>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    name: String,
    reason: String,
}

impl ConnectCredential {
    fn find_credential(&self, name: &str) -> Result<&NamedCredential, Error> {
        self.credentials.iter().find(|credential| credential.name == name).ok_or_else(|| {
            let names: Vec<&str> = self.credentials.iter().map(|credential| credential.name.as_str()).collect();
            Error::Arguments(format!("No tool uses a credential of this name. Known names: {}.", names.join(", ")))
        })
    }
}

#[async_trait]
impl Tool for ConnectCredential {
    fn tool_spec(&self) -> ToolSpec {
        let names: Vec<&str> = self.credentials.iter().map(|credential| credential.name.as_str()).collect();
        object_spec(
            NAME,
            "Ask the user to connect a credential after a tool reported it as missing. Never ask for its value yourself.",
            json!({
                "name": { "type": "string", "enum": names, "description": "Credential" },
                "reason": { "type": "string", "description": "Why it is needed, shown to the user" },
            }),
            &["name", "reason"],
        )
    }

    fn plan_call(&self, arguments: &Value, _: &dyn Reader) -> Result<Intent, Error> {
        let arguments: Arguments = parse_arguments(&self.tool_spec(), arguments)?;
        let credential = self.find_credential(&arguments.name)?;
        if arguments.reason.chars().count() > MAX_REASON_CHARS {
            return Err(Error::Arguments(format!("The reason is longer than {MAX_REASON_CHARS} characters.")));
        }
        let preview = format!("{}\nfor {}\n\n{}", credential.name, credential.origins.join(", "), arguments.reason);
        Ok(Intent::Act(Box::new(Plan::new(
            "Connect a credential?",
            summary_line::first_line(&arguments.name, 80),
            // Without the user, who is asked by a prompt of its own, nothing happens.
            Access::Nothing,
            Preview::Text(preview),
            Work::UserInput(json!(arguments)),
        ))))
    }

    async fn run(&self, plan: &Plan, _: &LiveContext) -> Result<String, Error> {
        let Work::UserInput(arguments) = &plan.work else {
            return Err(Error::Internal("the plan belongs to another tool".to_owned()));
        };
        let Arguments { name, reason } =
            Arguments::deserialize(arguments).map_err(|error| Error::Internal(error.to_string()))?;
        let credential = self.find_credential(&name)?;
        match self.connector.connect(credential, &reason).await {
            Connection::Connected => Ok("connected".to_owned()),
            Connection::Declined => {
                Err(Error::Failed("declined by the user. Do not ask again; continue without it.".to_owned()))
            }
            Connection::Missing(reason) => Err(Error::Failed(format!("missing. {reason}"))),
        }
    }

    async fn rehearse(&self, _: &Plan, _: &RehearsalContext) -> Result<RehearsalOutcome, Error> {
        Ok(RehearsalOutcome::NotRun("missing. Dry run: no credential was connected.".to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::memory_project::MemoryProject;

    struct NoConnector;

    #[async_trait]
    impl CredentialConnector for NoConnector {
        async fn connect(&self, _: &NamedCredential, _: &str) -> Connection {
            Connection::Declined
        }
    }

    fn tool() -> ConnectCredential {
        let credential =
            |name: &str| NamedCredential { name: name.to_owned(), origins: vec!["https://a.example".into()] };
        ConnectCredential {
            credentials: vec![credential("github"), credential("crm")],
            connector: Arc::new(NoConnector),
        }
    }

    #[test]
    fn only_credentials_of_tools_can_be_connected() {
        let plan = |arguments: &Value| tool().plan_call(arguments, &MemoryProject::with_files(&[]));
        let Ok(Intent::Act(planned)) = plan(&json!({ "name": "github", "reason": "to list\nissues" })) else {
            panic!("it is planned")
        };
        assert_eq!((planned.access, planned.grant), (Access::Nothing, None));
        assert_eq!(planned.preview, Preview::Text("github\nfor https://a.example\n\nto list\nissues".to_owned()));
        let error = plan(&json!({ "name": "other", "reason": "x" })).unwrap_err().to_string();
        assert!(error.contains("github"), "{error}");
        assert!(plan(&json!({ "name": "github" })).is_err());
        assert!(plan(&json!({ "name": "github", "reason": "x", "secret": "y" })).is_err());
        assert!(plan(&json!({ "name": "github", "reason": "x".repeat(501) })).is_err());
    }
}
