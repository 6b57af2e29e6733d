//! Asking the model of the session for a server (sampling): only if the settings allow it, only while a call of the server
//! runs, and never without the user.

use super::calls_in_progress::CallsInProgress;
use crate::chat::sampling::SamplingRequest;
use async_trait::async_trait;
use rmcp::model::{ErrorCode, ErrorData};
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// Error of the protocol for a request that the user rejected.
const USER_REJECTED: ErrorCode = ErrorCode(-1);

/// Asks the user and the model.
#[async_trait]
pub trait Sampler: Send + Sync {
    /// Sends the request to the model if the user approves, and returns the answer if the user approves that too. Dropping
    /// the future withdraws the prompt and stops the model.
    async fn sample(&self, request: SamplingRequest) -> Result<SampledAnswer, SamplingRefusal>;

    /// Tells the user something in one sentence.
    async fn warn(&self, notice: String);
}

/// Answer of a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SampledAnswer {
    pub text: String,
    /// Name of the model; may be empty.
    pub model: String,
    /// True if it ends at the maximum number of tokens.
    pub is_cut_off: bool,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SamplingRefusal {
    /// The user did not approve the request or the answer.
    Denied,
    /// One sentence for the server.
    Failed(String),
}

/// The requests of one connection: one at a time, and none in a call in which the user denied one.
#[derive(Clone)]
pub(super) struct SamplingRequests {
    server: String,
    /// Why there are no requests, or who answers them.
    sampler: Result<Arc<dyn Sampler>, &'static str>,
    is_open: Arc<AtomicBool>,
    /// Number of the last call when the user denied a request; 0 if none was denied.
    denied_in: Arc<AtomicU64>,
    /// The same for a notice about a refused request.
    noticed_in: Arc<AtomicU64>,
}

/// Clears the mark of the open request when it is dropped.
struct OpenRequest(Arc<AtomicBool>);

impl Drop for OpenRequest {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

impl SamplingRequests {
    pub(super) fn new(server: &str, sampler: Result<Arc<dyn Sampler>, &'static str>) -> Self {
        let server = server.to_owned();
        Self { server, sampler, is_open: Arc::default(), denied_in: Arc::default(), noticed_in: Arc::default() }
    }

    /// Returns whether requests are answered at all.
    pub(super) fn are_possible(&self) -> bool {
        self.sampler.is_ok()
    }

    /// Answers a request with these parameters, as the protocol's result.
    pub(super) async fn answer(&self, parameters: &Value, calls: &CallsInProgress) -> Result<Value, ErrorData> {
        let refuse = |code: ErrorCode, reason: String| Err(ErrorData::new(code, reason, None));
        let sampler = match &self.sampler {
            Ok(sampler) => sampler,
            Err(reason) => return refuse(ErrorCode::METHOD_NOT_FOUND, format!("Sampling is not available: {reason}.")),
        };
        if !calls.is_any_running() {
            let reason = "A request for the model is answered only while a tool call runs.";
            return refuse(ErrorCode::INVALID_REQUEST, reason.to_owned());
        }
        let call = calls.last_number();
        if self.denied_in.load(Ordering::Acquire) == call {
            return refuse(USER_REJECTED, "The user rejected an earlier request of this call.".to_owned());
        }
        if self.is_open.swap(true, Ordering::AcqRel) {
            let reason = "Another request for the model is open. Wait for its answer.";
            return refuse(ErrorCode::INVALID_REQUEST, reason.to_owned());
        }
        let _open = OpenRequest(self.is_open.clone());
        let request = match SamplingRequest::parse(&self.server, parameters) {
            Ok(request) => request,
            Err(reason) => {
                let notice = format!("A request of MCP server {} for the model was refused: {reason}.", self.server);
                if self.noticed_in.swap(call, Ordering::AcqRel) != call {
                    sampler.warn(notice).await;
                }
                return refuse(ErrorCode::INVALID_PARAMS, format!("The request was refused: {reason}."));
            }
        };
        let answer = tokio::select! {
            answer = sampler.sample(request) => answer,
            () = calls.end() => Err(SamplingRefusal::Failed("The call ended before the request was answered.".to_owned())),
        };
        match answer {
            Ok(answer) => Ok(to_result(&answer)),
            Err(SamplingRefusal::Denied) => {
                self.denied_in.store(call, Ordering::Release);
                refuse(USER_REJECTED, "User rejected sampling request".to_owned())
            }
            Err(SamplingRefusal::Failed(reason)) => refuse(ErrorCode::INTERNAL_ERROR, reason),
        }
    }
}

fn to_result(answer: &SampledAnswer) -> Value {
    let model = if answer.model.is_empty() { "unknown" } else { &answer.model };
    json!({
        "role": "assistant", "content": { "type": "text", "text": answer.text }, "model": model,
        "stopReason": if answer.is_cut_off { "maxTokens" } else { "endTurn" },
    })
}
