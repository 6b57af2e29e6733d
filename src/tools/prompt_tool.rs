//! Tool of a file that asks a model once, outside the conversation.

use super::tool_file::answer_schema::AnswerSchema;
use super::tool_file::parameters::check_arguments;
use super::tool_file::presets::apply_presets;
use super::tool_file::{PromptDefinition, ToolHead, project_values};
use super::{Error, LiveContext, ResultKind, Tool, parse_plan_data, summary_line};
use crate::chat::{Access, ExternalAccess, Grant, GrantScope, Intent, Plan, Preview, ToolSpec, Usage, Work};
use crate::project::Reader;
use crate::project::output::CommandProgress;
use crate::text::truncation;
use crate::text::unique_keys::parse_json_answer;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;

/// Maximum bytes of an answer; a longer one is an error.
pub const MAX_ANSWER_BYTES: usize = 16 << 10;
/// Maximum bytes of a rejected answer that the model sees again.
const MAX_REJECTED_BYTES: usize = 4 << 10;

/// The models that can be asked.
#[async_trait]
pub trait PromptModels: Send + Sync {
    /// Returns where a prompt would be sent: to this profile, or to the provider of the session, and to this model, or to
    /// the one in use there. May read files.
    ///
    /// # Errors
    /// Why it cannot be sent, in one sentence.
    fn find_target(&self, profile: Option<&str>, model: Option<&str>) -> Result<PromptTarget, String>;
    /// Sends a prompt and returns the answer, of at most [`MAX_ANSWER_BYTES`], with the usage if it was reported.
    async fn ask(&self, target: &PromptTarget, prompt: &Prompt) -> (Result<String, String>, Option<Usage>);
}

/// Where a prompt is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PromptTarget {
    /// Profile; `None` for the provider of the session.
    pub profile: Option<String>,
    /// Model as its provider knows it; empty for the provider's first one.
    pub model: String,
    /// Host in lower case, without a port.
    pub host: String,
    /// True if the session's own replies come from there too.
    pub is_of_session: bool,
}

impl PromptTarget {
    /// Describes the model and where it is.
    pub fn describe(&self) -> String {
        let model = if self.model.is_empty() { "the default model" } else { &self.model };
        let profile = self.profile.as_ref().map(|profile| format!(" (profile {profile})")).unwrap_or_default();
        format!("{model} at {}{profile}", self.host)
    }
}

/// A prompt with all its values.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// System prompt; may be empty.
    pub system: String,
    pub text: String,
    /// JSON schema of the answer, if it has one.
    pub schema: Option<Value>,
    pub max_tokens: u32,
    /// Time limit.
    pub timeout: Duration,
}

/// What is planned and run.
#[derive(Serialize, Deserialize)]
struct PlannedPrompt {
    target: PromptTarget,
    prompt: Prompt,
}

/// Asks a model.
pub struct PromptTool {
    pub head: ToolHead,
    pub prompt: PromptDefinition,
    pub models: Arc<dyn PromptModels>,
}

impl PromptTool {
    fn find_target(&self) -> Result<PromptTarget, Error> {
        let PromptDefinition { profile, model, .. } = &self.prompt;
        self.models.find_target(profile.as_deref(), model.as_deref()).map_err(Error::Failed)
    }

    /// Asks, and once more if the answer does not match the schema. Adds the reported usage.
    async fn ask_checked(&self, planned: &PlannedPrompt, usage: &mut Option<Usage>) -> Result<String, String> {
        let PlannedPrompt { target, prompt } = planned;
        let answer = self.ask(target, prompt, usage).await?;
        let Some(schema) = &self.prompt.schema else { return Ok(answer) };
        let reason = match check_answer(schema, &answer) {
            Ok(checked) => return Ok(checked),
            Err(reason) => reason,
        };
        let rejected = truncation::truncate_middle(&answer, MAX_REJECTED_BYTES);
        let text = format!(
            "{}\n\nYour previous answer does not match the schema: {reason}. Answer again with corrected JSON only. The previous answer:\n{rejected}",
            prompt.text
        );
        let answer = self.ask(target, &Prompt { text, ..prompt.clone() }, usage).await?;
        check_answer(schema, &answer)
            .map_err(|reason| format!("its second answer does not match the schema either: {reason}"))
    }

    async fn ask(&self, target: &PromptTarget, prompt: &Prompt, usage: &mut Option<Usage>) -> Result<String, String> {
        let (answer, reported) = self.models.ask(target, prompt).await;
        if let Some(reported) = reported {
            *usage.get_or_insert_default() += reported;
        }
        let answer = answer?.trim().to_owned();
        if answer.is_empty() { Err("its answer is empty".to_owned()) } else { Ok(answer) }
    }
}

/// Returns the JSON of an answer that matches the schema.
fn check_answer(schema: &AnswerSchema, answer: &str) -> Result<String, String> {
    let value = parse_json_answer(answer)?;
    schema.check(&value)?;
    Ok(value.to_string())
}

#[async_trait]
impl Tool for PromptTool {
    fn tool_spec(&self) -> ToolSpec {
        self.head.tool_spec()
    }

    fn time_limit(&self) -> Option<Duration> {
        // The answer may be requested twice.
        Some(2 * self.prompt.timeout)
    }

    fn plan_call(&self, arguments: &Value, files: &dyn Reader) -> Result<Intent, Error> {
        let mut arguments = check_arguments(&self.tool_spec(), &self.head.parameters, arguments)?;
        let mut values = project_values(files.root());
        apply_presets(&self.head.presets, &values, &mut arguments)?;
        for (name, value) in arguments {
            values.insert(&name, value);
        }
        let target = self.find_target()?;
        let PromptDefinition { template, system, max_tokens, timeout, schema, .. } = &self.prompt;
        let prompt = Prompt {
            system: system.clone(),
            text: template.render(&values),
            schema: schema.as_ref().map(|schema| schema.as_value().clone()),
            max_tokens: *max_tokens,
            timeout: *timeout,
        };
        let mut lines = vec![format!("to {}", target.describe())];
        lines.extend(prompt.schema.as_ref().map(|schema| format!("answer: JSON of the schema {schema}")));
        for text in [&prompt.system, &prompt.text].into_iter().filter(|text| !text.trim().is_empty()) {
            lines.extend([String::new(), text.clone()]);
        }
        // The provider of the session receives the conversation anyway.
        let (access, grant) = match target.is_of_session {
            true => (Access::Nothing, None),
            false => {
                let service = target.host.clone();
                let request = format!("ask {}", target.describe());
                let access = ExternalAccess { request, service: service.clone(), page_host: None };
                (
                    Access::External(Box::new(access)),
                    Some(Grant::new(&self.head.function_name, GrantScope::Service(service))),
                )
            }
        };
        let first_line = prompt.text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        let mut plan = Plan::new(
            "Ask a model?",
            summary_line::first_line(first_line, 120),
            access,
            Preview::Text(lines.join("\n")),
            Work::Arguments(json!(PlannedPrompt { target, prompt })),
        );
        plan.grant = grant;
        Ok(Intent::Act(Box::new(plan)))
    }

    async fn run(&self, plan: &Plan, context: &LiveContext) -> Result<String, Error> {
        self.run_counted(plan, context).await.0
    }

    async fn run_counted(&self, plan: &Plan, context: &LiveContext) -> (Result<String, Error>, Option<Usage>) {
        let mut usage = None;
        let work = async {
            let planned: PlannedPrompt = parse_plan_data(plan)?;
            if self.find_target()? != planned.target {
                let reason = "Another model is in use since this call was planned. Nothing was sent; call it again.";
                return Err(Error::Failed(reason.to_owned()));
            }
            let described = planned.target.describe();
            (context.progress)(CommandProgress::from_status(&format!("asking {described}…")));
            let answer = self.ask_checked(&planned, &mut usage).await;
            answer.map_err(|reason| Error::Failed(format!("{described} gave no answer: {reason}")))
        };
        let result = work.await;
        (result, usage)
    }

    fn result_kind(&self, _: &Plan) -> ResultKind {
        match (&self.head.example, &self.prompt.schema) {
            (Some(example), _) => ResultKind::Example(example.clone()),
            (None, Some(schema)) => ResultKind::Sample(schema.sample().to_string()),
            (None, None) => ResultKind::Text,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::memory_project::MemoryProject;
    use crate::tools::tests::{plan_call, run_call};
    use crate::tools::tool_file::{ToolKind, parse_tool};
    use std::sync::Mutex;

    /// Answers in order, and records the prompts.
    struct Scripted {
        target: Mutex<PromptTarget>,
        answers: Mutex<Vec<&'static str>>,
        prompts: Mutex<Vec<Prompt>>,
    }

    #[async_trait]
    impl PromptModels for Scripted {
        fn find_target(&self, profile: Option<&str>, model: Option<&str>) -> Result<PromptTarget, String> {
            let target = self.target.lock().unwrap().clone();
            let model = model.map_or(target.model, str::to_owned);
            Ok(PromptTarget { profile: profile.map(str::to_owned), model, is_of_session: profile.is_none(), ..target })
        }

        async fn ask(&self, _: &PromptTarget, prompt: &Prompt) -> (Result<String, String>, Option<Usage>) {
            self.prompts.lock().unwrap().push(prompt.clone());
            let answer = self.answers.lock().unwrap().remove(0);
            (Ok(answer.to_owned()), Some(Usage { input: 10, cached: 0, output: 3 }))
        }
    }

    const SCHEMA: &str =
        "answer_schema = { type = \"object\", required = [\"n\"], properties = { n = { type = \"integer\" } } }\n";

    fn tool(lines: &str, answers: &[&'static str]) -> (PromptTool, Arc<Scripted>) {
        let text = format!(
            "name = \"Ask\"\ntype = \"prompt\"\ntemplate = \"Count {{{{text}}}} in {{{{project.name}}}}\"\n{lines}[[parameters]]\nname = \"text\"\ntype = \"string\"\n"
        );
        let parsed = parse_tool("ask.toml", &text);
        let definition = parsed.definition.unwrap_or_else(|| panic!("{:?}", parsed.problems));
        let ToolKind::Prompt(prompt) = definition.kind else { panic!("a prompt") };
        let target = PromptTarget { profile: None, model: "m".into(), host: "a.example".into(), is_of_session: true };
        let answers = Mutex::new(answers.to_vec());
        let models = Arc::new(Scripted { target: Mutex::new(target), answers, prompts: Mutex::default() });
        (PromptTool { head: definition.head, prompt: *prompt, models: models.clone() }, models)
    }

    fn plan(tool: &PromptTool) -> Plan {
        plan_call(tool, json!({ "text": "{{words}}\\n" }), &MemoryProject::with_files(&[])).unwrap()
    }

    #[test]
    fn another_provider_is_an_external_call_and_that_of_the_session_is_not() {
        let own = plan(&tool("system = \"Be short.\"\n", &[]).0);
        assert_eq!((own.access, own.grant), (Access::Nothing, None));
        let Preview::Text(text) = own.preview else { panic!("a text") };
        assert!(text.starts_with("to m at a.example\n\nBe short.\n\nCount {{words}}\\n in "), "{text}");
        let other = plan(&tool("profile = \"two\"\nmodel = \"x\"\n", &[]).0);
        let Access::External(access) = &other.access else { panic!("{other:?}") };
        assert_eq!(
            (access.service.as_str(), access.request.as_str()),
            ("a.example", "ask x at a.example (profile two)")
        );
        assert!(other.grant.is_some());
    }

    #[tokio::test]
    async fn an_answer_that_does_not_match_is_requested_once_more() {
        let project = MemoryProject::with_files(&[]);
        let (ask, models) = tool(SCHEMA, &["{\"n\": \"two\"}", "```json\n{\"n\": 2}\n```"]);
        let planned = plan(&ask);
        assert_eq!(run_call(&ask, &planned, &project).await.unwrap(), "{\"n\":2}");
        let prompts = models.prompts.lock().unwrap().clone();
        assert_eq!(prompts.len(), 2);
        assert!(prompts[1].text.contains("the answer.n is not of the type integer") && prompts[1].text.contains("two"));
        assert!(prompts.iter().all(|prompt| prompt.schema.is_some()));
        let (ask, models) = tool(SCHEMA, &["no", "{\"n\": null}"]);
        let error = run_call(&ask, &plan(&ask), &project).await.unwrap_err().to_string();
        assert!(
            error.contains("second answer does not match the schema either: the answer.n is not of the type integer"),
            "{error}"
        );
        assert_eq!(models.prompts.lock().unwrap().len(), 2);
    }

    #[tokio::test]
    async fn nothing_is_sent_if_another_model_is_in_use_meanwhile() {
        let (ask, models) = tool("", &["never"]);
        let planned = plan(&ask);
        models.target.lock().unwrap().host = "b.example".into();
        let error = run_call(&ask, &planned, &MemoryProject::with_files(&[])).await.unwrap_err().to_string();
        assert!(error.contains("Nothing was sent"), "{error}");
        assert_eq!(models.prompts.lock().unwrap().len(), 0);
    }

    #[test]
    fn a_dry_run_returns_the_example_or_a_sample() {
        let kind = |lines: &str| {
            let ask = tool(lines, &[]).0;
            ask.result_kind(&plan(&ask))
        };
        assert_eq!(kind(&format!("example = '{{\"n\":7}}'\n{SCHEMA}")), ResultKind::Example("{\"n\":7}".into()));
        assert_eq!(kind(SCHEMA), ResultKind::Sample("{\"n\":0}".into()));
        assert_eq!(kind(""), ResultKind::Text);
    }
}
