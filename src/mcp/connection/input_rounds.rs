//! Calls that a server answers with questions: it is called again with the answers, until there is a result.

// Roots are to be replaced in the protocol, but servers ask for them.
#![allow(deprecated)]

use super::CallError;
use crate::mcp::client_handler::{Client, form_parameters};
use rmcp::model::{CallToolRequestParams, InputRequest, InputResponses, ServerResult};
use serde_json::Value;
use std::time::Duration;

/// Maximum number of rounds of a call.
pub(super) const MAX_ROUNDS: usize = 10;
/// Maximum number of questions in all rounds of a call.
const MAX_QUESTIONS: usize = 20;
/// Pause before a round in which nothing is asked, multiplied by its number.
const PAUSE: Duration = Duration::from_millis(50);

/// What a server asks before it gives a result.
pub(super) struct Questions {
    questions: Vec<Question>,
    /// Sent back with the answers.
    state: Option<String>,
}

struct Question {
    /// Name of the question in the answer.
    key: String,
    method: String,
    parameters: Value,
}

impl Questions {
    /// Returns what this result asks; `None` if it is no question. A form with a schema that the protocol does not know, such
    /// as one for a password, is a question too.
    pub(super) fn from_result(result: &ServerResult) -> Option<Self> {
        match result {
            ServerResult::InputRequiredResult(required) => {
                let requests = required.input_requests.iter().flatten();
                let to_question = |(key, request): (&String, &InputRequest)| {
                    let value = serde_json::to_value(request).unwrap_or_default();
                    let mut question = Question::from_json(key, &value);
                    if let InputRequest::Elicitation(request) = request {
                        question.parameters = form_parameters(&request.params);
                    }
                    question
                };
                Some(Self { questions: requests.map(to_question).collect(), state: required.request_state.clone() })
            }
            ServerResult::CustomResult(result) if result.0["resultType"] == "input_required" => {
                let requests = result.0["inputRequests"].as_object().into_iter().flatten();
                let questions = requests.map(|(key, request)| Question::from_json(key, request)).collect();
                Some(Self { questions, state: result.0["requestState"].as_str().map(str::to_owned) })
            }
            _ => None,
        }
    }
}

impl Question {
    fn from_json(key: &str, request: &Value) -> Self {
        let method = request["method"].as_str().unwrap_or_default().to_owned();
        Self { key: key.to_owned(), method, parameters: request["params"].clone() }
    }

    /// Returns the answer, as the protocol's result.
    async fn answer(self, client: &Client) -> Result<Value, CallError> {
        match self.method.as_str() {
            "elicitation/create" => Ok(client.answer_form(&self.parameters).await),
            "sampling/createMessage" => client
                .answer_sampling(&self.parameters)
                .await
                .map_err(|error| CallError::Failed(format!("The call was not continued. {}", error.message))),
            "roots/list" => Ok(client.roots_value()),
            _ => Err(CallError::Failed("The server asked for input of an unknown kind.".to_owned())),
        }
    }
}

/// The rounds of one call.
#[derive(Default)]
pub(super) struct Rounds {
    count: u32,
    question_count: usize,
}

impl Rounds {
    /// Returns the parameters of the next round: with the answers to all questions, which are asked one after the other, and
    /// the state that the server wants back.
    ///
    /// # Errors
    /// If the user rejects a request for the model, if the kind of a question is unknown, or if there are too many.
    pub(super) async fn prepare_next(
        &mut self,
        client: &Client,
        mut parameters: CallToolRequestParams,
        asked: Questions,
    ) -> Result<CallToolRequestParams, CallError> {
        self.count += 1;
        self.question_count += asked.questions.len();
        if self.question_count > MAX_QUESTIONS {
            let text = format!("The server asked more than {MAX_QUESTIONS} questions in one call. The call was ended.");
            return Err(CallError::Failed(text));
        }
        if asked.questions.is_empty() {
            // The server only wants to be called again later.
            tokio::time::sleep(PAUSE * self.count).await;
        }
        let mut answers = InputResponses::new();
        for question in asked.questions {
            answers.insert(question.key.clone(), question.answer(client).await?);
        }
        parameters.input_responses = (!answers.is_empty()).then_some(answers);
        parameters.request_state = asked.state;
        Ok(parameters)
    }
}
