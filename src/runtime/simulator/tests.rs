//! Simulated results.

use super::*;
use crate::chat::SimulationLedger;
use crate::chat::{
    Access, Chunk, Entry, Intent, Message, Outcome, Preconditions, Preview, ReferencedFile, ResultOrigin, Work,
};
use crate::project::Reader;
use crate::runtime::Runtime;
use crate::runtime::Simulator;
use crate::runtime::null_log::NullLog;
use crate::scripted::{Reply, Scripted, calls, says};
use crate::tools::memory_project::MemoryProject;
use crate::tools::{LiveContext, RehearsalContext, RehearsalOutcome, Toolbox};
use async_trait::async_trait;
use std::time::Duration;

/// A tool that sends mail.
struct Mail {
    kind: ResultKind,
}

#[async_trait]
impl Tool for Mail {
    fn tool_spec(&self) -> ToolSpec {
        let secret = json!({ "type": "string", "writeOnly": true });
        ToolSpec {
            name: "mail".into(),
            description: "Sends mail.".into(),
            parameters: json!({ "type": "object", "properties": { "pin": secret } }).into(),
            ..ToolSpec::default()
        }
    }

    fn plan_call(&self, _: &Value, _: &dyn Reader) -> Result<Intent, Error> {
        unreachable!("it is planned already")
    }

    async fn run(&self, _: &Plan, _: &LiveContext) -> Result<String, Error> {
        unreachable!("a dry run never acts")
    }

    fn result_kind(&self, _: &Plan) -> ResultKind {
        self.kind.clone()
    }
}

fn sample_plan() -> Plan {
    Plan {
        title: "send?".into(),
        summary: "to ada".into(),
        access: Access::WriteOutside("mail".into()),
        preview: Preview::Text("mail".into()),
        full_preview: None,
        grant: None,
        destroys: None,
        preconditions: Preconditions::default(),
        work: Work::Arguments(json!({})),
    }
}

const COMMAND: ResultKind = ResultKind::Command { is_silent: false };

/// A reply with a result of a command.
fn command_answer(output: &str) -> Reply {
    says(&json!({ "output": output, "exit": 0 }).to_string())
}

/// A dry run with this tool and this simulator.
struct SimulatorSetup {
    runtime: Runtime,
    tool: Arc<dyn Tool>,
    model: Scripted,
}

impl SimulatorSetup {
    fn new(kind: ResultKind, replies: Vec<Reply>) -> Self {
        let model = Scripted::new(replies);
        let side_model = SideModel {
            llm: Ok(Arc::new(model.clone())),
            model: "sim-7b".into(),
            profile: "other".into(),
            limit: Duration::from_secs(30),
        };
        Self::with_model(kind, Some(side_model), model)
    }

    fn with_model(kind: ResultKind, side_model: Option<SideModel>, model: Scripted) -> Self {
        let tool: Arc<dyn Tool> = Arc::new(Mail { kind });
        let tools = Arc::new(Toolbox::from_tools(vec![tool.clone()]));
        let main_model = Arc::new(Scripted::new([]));
        let (mut runtime, _) =
            Runtime::new(main_model, tools, Arc::new(MemoryProject::with_files(&[])), None, Box::new(NullLog));
        let hides_dry_run = false;
        runtime.set_simulator(Simulator::new(side_model, hides_dry_run, SimulationLedger::default()));
        Self { runtime, tool, model }
    }

    async fn rehearse_call(&self, arguments: &str) -> (String, SimulatedResult) {
        self.rehearse_plan(arguments, &sample_plan()).await
    }

    async fn rehearse_plan(&self, arguments: &str, plan: &Plan) -> (String, SimulatedResult) {
        let call = ToolCall { id: "a".into(), name: "mail".into(), arguments: arguments.into() };
        let progress: Progress = Arc::new(|_| {});
        simulate_result(&self.runtime.context, &call, &self.tool, plan, "It is so.", &progress).await.unwrap()
    }

    fn request_count(&self) -> usize {
        self.model.requests().lock().unwrap().len()
    }
}

const UNDONE: &str = "Dry run: this call was not run: to ada (mail). It is so.";

#[tokio::test]
async fn r30_a_fixture_is_preferred_to_the_model_and_the_model_to_a_sample() {
    let setup = SimulatorSetup::new(ResultKind::Command { is_silent: true }, vec![command_answer("8")]);
    let (text, origin) = setup.rehearse_call("{}").await;
    assert_eq!(text, format!("{UNDONE} Simulated result:\nexit 0"));
    assert_eq!((origin.source, setup.request_count()), (SimulationSource::Fixture, 0));

    let setup = SimulatorSetup::new(
        COMMAND,
        vec![
            says("```json\n{\"output\":\"a\\u001b[31mb\\u0007\\u202ec\\udb40\\udc41\",\"exit\":3}\n```")
                .push_chunk(Chunk::Usage(Usage { input: 9, cached: 0, output: 4 })),
        ],
    );
    let (text, origin) = setup.rehearse_call("{}").await;
    assert_eq!(text, format!("{UNDONE} Simulated result:\nab<U+0007><U+202E>c<U+E0041>\nexit 3"));
    assert_eq!(
        (origin.source, origin.model.as_str(), origin.usage.map(|usage| usage.total())),
        (SimulationSource::Model, "sim-7b", Some(13))
    );

    let setup = SimulatorSetup::with_model(COMMAND, None, Scripted::new([]));
    let (text, origin) = setup.rehearse_call("{}").await;
    assert_eq!(text, format!("{UNDONE} Simulated result:\nexit 0"));
    assert_eq!((origin.source, origin.model.as_str(), origin.failure.as_str()), (SimulationSource::Sample, "", ""));
    assert_eq!(
        SimulatorSetup::with_model(COMMAND, None, Scripted::new([])).rehearse_call(" { } ").await.0,
        text,
        "the same in every run"
    );

    // If the result is a text, the model's answer is plain text; without a model there is no result.
    let (text, origin) = SimulatorSetup::new(ResultKind::Text, vec![says("\"sent\"")]).rehearse_call("{}").await;
    assert_eq!((text, origin.source), (format!("{UNDONE} Simulated result:\nsent"), SimulationSource::Model));
    let (text, origin) =
        SimulatorSetup::with_model(ResultKind::Text, None, Scripted::new([])).rehearse_call("{}").await;
    assert_eq!((text.as_str(), origin.source), (UNDONE, SimulationSource::NotRun));
}

#[tokio::test]
async fn r30_if_the_model_fails_the_result_is_a_sample_with_the_reason() {
    let sample = SimulatorSetup::with_model(COMMAND, None, Scripted::new([])).rehearse_call("{}").await.0;
    for (reply, part) in [
        (says("It would have been sent!"), "its answer is not JSON"),
        (says(""), "its answer is empty"),
        (says("[]"), "it is not of the type object"),
        (says(r#"{"output":"","exit":"x"}"#), "expected f64"),
        (says(r#"{"output":"","exit":1,"exit":2}"#), "given twice"),
        (says(r#"{"output":"","exit":1} {}"#), "text after the JSON"),
        (says(r#"{"output":"","exit":1,"more":2}"#), "unknown field"),
        (command_answer(&"x".repeat(1 << 20)), "its answer is longer than 16 KB"),
        (says(&"[".repeat(9_000)), "nested more than"),
        (calls("mail", json!({})), "it called a tool, and has none"),
        (command_answer("1").without_end(), "its answer was cut off"),
    ] {
        let setup = SimulatorSetup::new(COMMAND, vec![reply]);
        let (text, origin) = setup.rehearse_call("{}").await;
        assert_eq!((text, origin.source), (sample.clone(), SimulationSource::Sample), "{part}");
        assert!(origin.failure.contains(part), "{part}: {}", origin.failure);
        assert_eq!(setup.request_count(), 1);
    }
    let llm = Err("the profile x has no key".to_owned());
    let side_model = SideModel { llm, model: String::new(), profile: "x".into(), limit: Duration::from_secs(1) };
    let (text, origin) =
        SimulatorSetup::with_model(COMMAND, Some(side_model), Scripted::new([])).rehearse_call("{}").await;
    assert_eq!((text, origin.failure.as_str()), (sample, "the profile x has no key"));
}

#[tokio::test]
async fn the_content_of_referenced_files_decides_a_simulated_result() {
    let plan = |text: &str| {
        let mut plan = Plan { preview: Preview::Text("excerpt".into()), ..sample_plan() };
        plan.full_preview = Some(Box::new(Preview::Text(format!("API_KEY=sk-proj4bcdEFGH1jklMN0pqrST {text}"))));
        plan.preconditions.references = vec![ReferencedFile {
            name: "a.txt".into(),
            lines: None,
            path: None,
            bytes: 5,
            sha256: Digest::of_bytes(text.as_bytes()),
            is_excerpt: true,
        }];
        plan
    };
    let setup = SimulatorSetup::new(COMMAND, vec![command_answer("1"), command_answer("2")]);
    let arguments = r#"{"body":"@@file:a.txt"}"#;
    setup.rehearse_plan(arguments, &plan("first")).await;
    let (_, again) = setup.rehearse_plan(arguments, &plan("first")).await;
    let (text, changed) = setup.rehearse_plan(arguments, &plan("second")).await;
    assert!(again.is_reused && !changed.is_reused && text.contains("2\nexit 0"), "{text}");
    let requests = setup.model.requests();
    let request = format!("{:?}", requests.lock().unwrap()[0].messages);
    assert!(request.contains("first") && !request.contains("sk-proj4"), "{request}");
}

#[tokio::test]
async fn r30_the_same_call_is_simulated_once_and_later_calls_are_shown_its_result() {
    let secret = "{\"pin\":\"1234\",\"nested\":[{\"API_KEY\":\"abc\",\"max_tokens\":5}],\"note\":\"sk-proj4bcdEFGH1jklMN0pqrST\"}";
    let setup = SimulatorSetup::new(COMMAND, vec![command_answer("DB_PASSWORD=hunter2\n8"), command_answer("9")]);
    let (first_result, origin) = setup.rehearse_call(secret).await;
    assert!(!origin.is_reused);
    let spaced = secret.replace(':', " : ");
    let (repeated, origin) = setup.rehearse_call(&spaced).await;
    assert_eq!((&repeated, origin.is_reused, origin.usage, setup.request_count()), (&first_result, true, None, 1));
    let second_result = setup.rehearse_call("{\"to\":2}").await.0;
    assert!(second_result.contains("9\nexit 0"), "{second_result}");
    let requests = setup.model.requests();
    let requests = requests.lock().unwrap();
    let user_message = |index: usize| match requests[index].messages.as_slice() {
        [Message::System(_), Message::User(text)] => text.clone(),
        other => panic!("{other:?}"),
    };
    let (first_request, second_request) = (user_message(0), user_message(1));
    for secret in ["1234", "abc\"", "sk-proj4", "hunter2"] {
        assert!(
            !first_request.contains(secret) && !second_request.contains(secret),
            "{secret}: {first_request} {second_request}"
        );
    }
    assert!(first_request.contains("\"max_tokens\":5") && first_request.contains(REDACTED), "{first_request}");
    assert!(
        !first_request.contains("<<<EARLIER_CALL") && second_request.contains("<<<EARLIER_CALL"),
        "{second_request}"
    );
    assert!(second_request.contains("8\nexit 0") && second_request.contains("{\"to\":2}"), "{second_request}");
    let mark = second_request.lines().next().unwrap().strip_prefix("The mark is ").unwrap();
    // In the first line, and at the begin and the end of four blocks.
    assert_eq!(second_request.matches(mark).count(), 1 + 2 * 4, "{second_request}");
}

#[tokio::test]
async fn r30_earlier_results_are_read_from_the_entries_of_the_session() {
    let setup = SimulatorSetup::new(COMMAND, vec![command_answer("8")]);
    let (text, origin) = setup.rehearse_call("{\"to\":1}").await;
    let call = ToolCall { id: "x".into(), name: "mail".into(), arguments: "{\"to\":1}".into() };
    let entries = [
        Entry::from_calls(vec![call]),
        Entry::Settled {
            call: "x".into(),
            outcome: Outcome::Rehearsed(text.clone()),
            took_ms: 1,
            sha256: Digest::default(),
            staged: Some(ResultOrigin::Simulated(Box::new(origin))),
            usage: None,
        },
    ];
    let mut resumed = SimulatorSetup::new(COMMAND, vec![command_answer("99")]);
    let model = resumed.runtime.context.simulator.model.clone();
    let hides_dry_run = true;
    resumed.runtime.set_simulator(Simulator::new(model, hides_dry_run, SimulationLedger::from_entries(&entries)));
    let (repeated, origin) = resumed.rehearse_call("{ \"to\": 1 }").await;
    assert_eq!((repeated, origin.is_reused, resumed.request_count()), (text, true, 0));
    let hidden = resumed.rehearse_call("{\"to\":2}").await.0;
    assert_eq!(hidden, "99\nexit 0", "the model is not told about the dry run");
}

#[tokio::test]
async fn identical_concurrent_calls_are_simulated_once() {
    let setup = SimulatorSetup::new(COMMAND, vec![command_answer("8"), command_answer("9")]);
    let results = futures::future::join_all((0..8).map(|_| setup.rehearse_call("{}"))).await;
    assert_eq!(setup.request_count(), 1);
    assert!(results.iter().all(|(text, _)| *text == results[0].0), "{results:?}");
    assert_eq!(results.iter().filter(|(_, origin)| !origin.is_reused).count(), 1);
}

#[tokio::test]
async fn a_tool_that_returns_a_text_does_not_run_in_a_dry_run() {
    let rehearsal_context = RehearsalContext {
        project: Arc::new(MemoryProject::with_files(&[])),
        commands: crate::project::overlay_sandbox::CommandRehearsal::Simulated("x".into()),
        is_hidden: false,
        is_approved: false,
        has_simulator: false,
        excluded: crate::policy::ExcludedPaths::default(),
        results: crate::tools::ResultFiles::default(),
        progress: Arc::new(|_| {}),
    };
    let outcome = Mail { kind: ResultKind::Text }.rehearse(&sample_plan(), &rehearsal_context).await.unwrap();
    assert_eq!(outcome, RehearsalOutcome::Simulate(String::new()));
}

#[tokio::test(start_paused = true)]
async fn a_model_that_exceeds_its_time_limit_is_abandoned() {
    let model = Scripted::new([command_answer("8")]).paced(1);
    let llm: Arc<dyn crate::llm::Llm> = Arc::new(model.clone());
    let limit = Duration::from_secs(3);
    let side_model = SideModel { llm: Ok(llm), model: String::new(), profile: "other".into(), limit };
    let (_, origin) = SimulatorSetup::with_model(COMMAND, Some(side_model), model).rehearse_call("{}").await;
    assert_eq!((origin.source, origin.failure.as_str()), (SimulationSource::Sample, "it did not answer within 3 s"));
}
