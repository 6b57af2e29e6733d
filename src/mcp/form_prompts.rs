//! Asking the user for a server (elicitation). Only a form is shown, only while a call of the server runs, and none that asks
//! for a secret.

use super::calls_in_progress::CallsInProgress;
use crate::chat::{FormReply, ServerForm};
use async_trait::async_trait;
use serde_json::{Value, json};
use std::sync::Arc;

/// Shows forms to the user.
#[async_trait]
pub trait FormPrompts: Send + Sync {
    /// Asks the user. Dropping the future withdraws the question.
    async fn ask(&self, form: ServerForm) -> FormReply;

    /// Tells the user something in one sentence.
    async fn warn(&self, notice: String);
}

/// Answers a request of a server with these parameters, as the protocol's result.
pub(super) async fn answer_request(
    server: &str,
    parameters: &Value,
    calls: &CallsInProgress,
    prompts: Option<&Arc<dyn FormPrompts>>,
) -> Value {
    let Some(prompts) = prompts.filter(|_| calls.is_any_running()) else { return to_result(FormReply::Declined) };
    // Any other mode would send the user to an address.
    let form = match parameters["mode"].as_str() {
        None | Some("form") => {
            let message = parameters["message"].as_str().unwrap_or_default();
            ServerForm::parse(server, message, &parameters["requestedSchema"])
        }
        Some(_) => Err("it wants to open an address".to_owned()),
    };
    let reply = match form {
        Ok(form) => tokio::select! {
            reply = prompts.ask(form) => reply,
            () = calls.end() => FormReply::Cancelled,
        },
        Err(reason) => {
            prompts.warn(format!("A question of MCP server {server} was declined: {reason}.")).await;
            FormReply::Declined
        }
    };
    to_result(reply)
}

fn to_result(reply: FormReply) -> Value {
    match reply {
        FormReply::Accepted(content) => json!({ "action": "accept", "content": content }),
        FormReply::Declined => json!({ "action": "decline" }),
        FormReply::Cancelled => json!({ "action": "cancel" }),
    }
}
