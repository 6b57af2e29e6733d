//! Questions of the model. The protocol has no questions: those with a choice of one option become a request for a
//! permission whose options are the answers, and all others are answered by the next prompt.

use super::approval_request::{SessionFacts, selected_option};
use super::outgoing_text::{escape_markdown, to_safe_text, to_title};
use crate::chat::{
    Answer, AnswerOrigin, AnswerStatus, AnswerValue, CallId, Question, QuestionAnswer, QuestionOption, Questions,
};
use agent_client_protocol_schema::v1::{
    PermissionOption, PermissionOptionKind, RequestPermissionRequest, ToolCallUpdate, ToolCallUpdateFields, ToolKind,
};
use serde_json::Value;
use std::fmt::Write;

/// ID of the options before the index of an option.
const OPTION_PREFIX: &str = "option-";
const OWN_WORDS: &str = "own_words";
const SKIP: &str = "skip";

/// The questions of a call, and the answers so far.
pub(super) struct OpenQuestions {
    pub(super) call: CallId,
    pub(super) questions: Questions,
    answers: Vec<QuestionAnswer>,
    /// True if the next prompt is the answer to the current question.
    pub(super) awaits_prompt: bool,
}

/// Result of an answer.
#[derive(Debug, PartialEq)]
pub(super) enum AnswerStep {
    /// The next question is to be asked, or the same one by text.
    Continue,
    /// Every question is answered.
    Answered(Answer),
    /// Nobody has answered: the questions stay open, as without a user.
    Deferred(Answer),
}

impl OpenQuestions {
    pub(super) fn new(call: CallId, questions: Questions) -> Self {
        Self { call, questions, answers: Vec::new(), awaits_prompt: false }
    }

    fn current(&self) -> Option<&Question> {
        self.questions.list.get(self.answers.len())
    }

    /// Builds the request for the current question; `None` if the next prompt must answer it.
    pub(super) fn build_request(&self, facts: SessionFacts<'_>) -> Option<RequestPermissionRequest> {
        let question = self.current().filter(|question| !question.is_multiple && !question.options.is_empty())?;
        let option = |(index, option): (usize, &QuestionOption)| {
            let note = if question.recommended == Some(index) { " (recommended)" } else { "" };
            let name = to_title(&format!("{}{note}", option.label), facts.secrets);
            PermissionOption::new(format!("{OPTION_PREFIX}{index}"), name, PermissionOptionKind::AllowOnce)
        };
        let mut options: Vec<PermissionOption> = question.options.iter().enumerate().map(option).collect();
        if question.allow_text {
            let name = "Answer with the next message";
            options.push(PermissionOption::new(OWN_WORDS, name, PermissionOptionKind::RejectOnce));
        }
        options.push(PermissionOption::new(SKIP, "Skip this question", PermissionOptionKind::RejectOnce));
        let fields = ToolCallUpdateFields::new()
            .title(facts.title_call("Question", &question.text))
            .kind(ToolKind::Other)
            .content(vec![self.describe_current(facts).into()]);
        let call = ToolCallUpdate::new(self.call.0.clone(), fields);
        Some(RequestPermissionRequest::new(facts.session.to_owned(), call, options))
    }

    /// Describes the current question with its options, as Markdown.
    pub(super) fn describe_current(&self, facts: SessionFacts<'_>) -> String {
        let Some(question) = self.current() else { return String::new() };
        let safe_line = |text: &str| escape_markdown(&to_safe_text(&text.replace('\n', " "), facts.secrets));
        let mut text = format!("**Question:** {}\n", safe_line(&question.text));
        for (index, option) in question.options.iter().enumerate() {
            let note = if question.recommended == Some(index) { " (recommended)" } else { "" };
            let description = match option.description.as_str() {
                "" => String::new(),
                description => format!(": {}", safe_line(description)),
            };
            let _ = write!(text, "\n{}. {}{note}{description}", index + 1, safe_line(&option.label));
        }
        text
    }

    /// Explains how the next prompt answers the current question.
    pub(super) fn explain_text_answer(&self) -> &'static str {
        match self.current() {
            Some(question) if question.is_multiple => {
                "Answer with your next message: the numbers of the options, such as 1, 3, or your own words."
            }
            Some(_) | None => "Answer with your next message.",
        }
    }

    /// Reads the response to the request for the current question.
    pub(super) fn read_response(&mut self, response: Result<Value, String>) -> AnswerStep {
        let Some(question) = self.current() else { return self.finish() };
        let selected = selected_option(response);
        let value = match selected.as_deref() {
            Some(SKIP) => AnswerValue::Skipped,
            Some(OWN_WORDS) if question.allow_text => {
                self.awaits_prompt = true;
                return AnswerStep::Continue;
            }
            Some(id) => {
                let index = id.strip_prefix(OPTION_PREFIX).and_then(|index| index.parse::<usize>().ok());
                match index.filter(|index| *index < question.options.len()) {
                    Some(index) => AnswerValue::Selected(vec![index]),
                    None => return deferred(),
                }
            }
            None => return deferred(),
        };
        self.add_answer(value)
    }

    /// Reads a prompt as the answer to the current question.
    pub(super) fn read_prompt(&mut self, text: &str) -> AnswerStep {
        self.awaits_prompt = false;
        let Some(question) = self.current() else { return self.finish() };
        let value = match parse_selection(text, question) {
            Some(selected) => AnswerValue::Selected(selected),
            None => AnswerValue::Text(text.trim().to_owned()),
        };
        self.add_answer(value)
    }

    fn add_answer(&mut self, value: AnswerValue) -> AnswerStep {
        if let Some(question) = self.current() {
            let answer = QuestionAnswer::new(&question.keyword, value);
            self.answers.push(answer);
        }
        if self.current().is_some() { AnswerStep::Continue } else { self.finish() }
    }

    fn finish(&mut self) -> AnswerStep {
        let answers = std::mem::take(&mut self.answers);
        AnswerStep::Answered(Answer { status: AnswerStatus::Answered, answers, origin: AnswerOrigin::Client })
    }
}

fn deferred() -> AnswerStep {
    AnswerStep::Deferred(Answer::from_status(AnswerStatus::Deferred))
}

/// Parses the numbers or labels of options, separated by commas; `None` if the text is something else.
fn parse_selection(text: &str, question: &Question) -> Option<Vec<usize>> {
    let find_option = |part: &str| {
        let by_label = question.options.iter().position(|option| option.label.eq_ignore_ascii_case(part));
        let by_number = || part.parse::<usize>().ok()?.checked_sub(1).filter(|index| *index < question.options.len());
        by_label.or_else(by_number)
    };
    let mut selected = text.split(',').map(|part| find_option(part.trim())).collect::<Option<Vec<usize>>>()?;
    selected.sort_unstable();
    selected.dedup();
    (question.is_multiple || selected.len() == 1).then_some(selected)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::Dropped;
    use serde_json::json;

    fn open(is_multiple: bool) -> OpenQuestions {
        let question = Question {
            keyword: "k".into(),
            text: "Which?".into(),
            options: vec![QuestionOption::new("one"), QuestionOption::new("two"), QuestionOption::new("three")],
            is_multiple,
            allow_text: true,
            text_description: String::new(),
            recommended: None,
        };
        OpenQuestions::new("c".into(), Questions { list: vec![question], dropped: Dropped::default() })
    }

    fn answer(value: AnswerValue) -> AnswerStep {
        let answers = vec![QuestionAnswer::new("k", value)];
        AnswerStep::Answered(Answer { status: AnswerStatus::Answered, answers, origin: AnswerOrigin::Client })
    }

    #[test]
    fn only_an_offered_option_is_an_answer() {
        let select = |id: &str| Ok(json!({ "outcome": { "outcome": "selected", "optionId": id } }));
        assert_eq!(open(false).read_response(select("option-1")), answer(AnswerValue::Selected(vec![1])));
        assert_eq!(open(false).read_response(select("skip")), answer(AnswerValue::Skipped));
        let cancelled = Ok(json!({ "outcome": { "outcome": "cancelled" } }));
        for response in [select("option-3"), select("x"), cancelled, Err("no".into()), Ok(json!(1))] {
            assert_eq!(open(false).read_response(response), deferred());
        }
    }

    #[test]
    fn a_message_selects_options_or_is_text() {
        let read = |is_multiple, text| open(is_multiple).read_prompt(text);
        assert_eq!(read(true, "3, One"), answer(AnswerValue::Selected(vec![0, 2])));
        assert_eq!(read(false, "2"), answer(AnswerValue::Selected(vec![1])));
        for (is_multiple, text) in [(false, "1, 2"), (true, "0"), (true, "4"), (true, "none of them"), (false, "")] {
            assert_eq!(read(is_multiple, text), answer(AnswerValue::Text(text.into())), "{text}");
        }
    }
}
