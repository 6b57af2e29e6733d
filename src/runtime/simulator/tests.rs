//! Simulated results.

use super::*;
use crate::chat::{Access, Basis, Entry, Grown, Intent, Outcome, Preview, Staged, Work};
use crate::llm::scripted::{Reply, Scripted, calls, says};
use crate::project::Reader;
use crate::runtime::Runtime;
use crate::store::Log;
use crate::tools::memory::Memory;
use crate::tools::{Hands, Rehearsed, Stage, Toolbox};
use async_trait::async_trait;
use std::time::Duration;

/// A log that stores nothing.
struct Nowhere;

impl Log for Nowhere {
    fn append(&mut self, _: &Entry) -> std::io::Result<()> {
        Ok(())
    }
    fn grew(&mut self, _: &Grown) -> std::io::Result<()> {
        Ok(())
    }
    fn printed(&mut self, _: &crate::chat::Printed) -> std::io::Result<()> {
        Ok(())
    }
}

/// A tool that sends mail.
struct Mail {
    results: Results,
}

#[async_trait]
impl Tool for Mail {
    fn spec(&self) -> ToolSpec {
        let secret = json!({ "type": "string", "writeOnly": true });
        ToolSpec {
            name: "mail".into(),
            description: "Sends mail.".into(),
            parameters: json!({ "type": "object", "properties": { "pin": secret } }),
        }
    }

    fn plan(&self, _: &Value, _: &dyn Reader) -> Result<Intent, Error> {
        unreachable!("it is planned already")
    }

    async fn act(&self, _: &Plan, _: &Hands) -> Result<String, Error> {
        unreachable!("a dry run never acts")
    }

    fn results(&self, _: &Plan) -> Results {
        self.results.clone()
    }
}

fn plan() -> Plan {
    Plan {
        title: "send?".into(),
        summary: "to ada".into(),
        access: Access::WriteOutside("mail".into()),
        preview: Preview::Text("mail".into()),
        always: None,
        destroys: None,
        basis: Basis::default(),
        work: Work::Arguments(json!({})),
    }
}

fn form() -> Results {
    let schema = json!({ "type": "object", "required": ["id"], "properties": { "id": { "type": "integer" }, "note": { "type": "string" } }, "additionalProperties": false });
    Results { schema: Some(schema), examples: Vec::new() }
}

/// A dry run with this tool and this simulator.
struct Play {
    runtime: Runtime,
    tool: Arc<dyn Tool>,
    model: Scripted,
}

impl Play {
    fn new(results: Results, replies: Vec<Reply>) -> Self {
        let model = Scripted::new(replies);
        let other = OtherModel {
            llm: Ok(Arc::new(model.clone())),
            model: "sim-7b".into(),
            profile: "other".into(),
            limit: Duration::from_secs(30),
        };
        Self::with(results, Some(other), model)
    }

    fn with(results: Results, other: Option<OtherModel>, model: Scripted) -> Self {
        let tool: Arc<dyn Tool> = Arc::new(Mail { results });
        let tools = Arc::new(Toolbox::of(vec![tool.clone()]));
        let talk = Arc::new(Scripted::new([]));
        let (mut runtime, _) =
            Runtime::new(talk, tools, Arc::new(Memory::with(&[])), None, Box::new(Nowhere));
        runtime.simulates(Simulating { model: other, ..Simulating::default() });
        Self { runtime, tool, model }
    }

    async fn call(&self, arguments: &str) -> (String, Simulated) {
        let call = ToolCall { id: "a".into(), name: "mail".into(), arguments: arguments.into() };
        let progress: Progress = Arc::new(|_| {});
        simulate(&self.runtime.means, &call, &self.tool, &plan(), "It is so.", &progress).await.unwrap()
    }

    fn asked(&self) -> usize {
        self.model.requests().lock().unwrap().len()
    }
}

const UNDONE: &str = "Dry run: this was not done. It would have been: to ada (mail). It is so.";

#[tokio::test]
async fn r30_a_fixture_is_preferred_to_the_model_and_the_model_to_a_sample() {
    let mut results = form();
    results.examples = vec![json!({ "id": 7 })];
    let play = Play::new(results, vec![says(r#"{"id":8}"#)]);
    let (text, how) = play.call("{}").await;
    assert_eq!(text, format!("{UNDONE} Simulated result:\n{{\"id\":7}}"));
    assert_eq!((how.how, play.asked()), (How::Example, 0));

    let play = Play::new(
        form(),
        vec![
            says("```json\n{\"id\":8,\"note\":\"a\\u001b[31mb\\u0007\\u202ec\\udb40\\udc41\"}\n```")
                .costs(9, 4),
        ],
    );
    let (text, how) = play.call("{}").await;
    assert_eq!(
        text,
        format!("{UNDONE} Simulated result:\n{{\"id\":8,\"note\":\"ab<U+0007><U+202E>c<U+E0041>\"}}")
    );
    assert_eq!(
        (how.how, how.by.as_str(), how.usage.map(|it| it.total())),
        (How::Imagined, "sim-7b", Some(13))
    );

    let play = Play::with(form(), None, Scripted::new([]));
    let (text, how) = play.call("{}").await;
    let value: Value = serde_json::from_str(text.rsplit('\n').next().unwrap()).unwrap();
    assert_eq!(schema::fits(&form().form(), &value), Ok(()));
    assert_eq!((how.how, how.by.as_str(), how.instead.as_str()), (How::Sampled, "", ""));
    assert_eq!(
        Play::with(form(), None, Scripted::new([])).call(" { } ").await.0,
        text,
        "the same in every run"
    );

    // Without a schema the model's answer is plain text; without a model there is no result.
    let (text, how) = Play::new(Results::default(), vec![says("\"sent\"")]).call("{}").await;
    assert_eq!((text, how.how), (format!("{UNDONE} Simulated result:\nsent"), How::Imagined));
    let (text, how) = Play::with(Results::default(), None, Scripted::new([])).call("{}").await;
    assert_eq!((text.as_str(), how.how), (UNDONE, How::NotRun));
}

#[tokio::test]
async fn r30_if_the_model_fails_the_result_is_a_sample_with_the_reason() {
    let sample = Play::with(form(), None, Scripted::new([])).call("{}").await.0;
    for (reply, part) in [
        (says("It would have been sent!"), "its answer is not JSON"),
        (says(""), "its answer is empty"),
        (says("[]"), "it is not of the type object"),
        (says(r#"{"id":"x"}"#), "'id' is not of the type integer"),
        (says(r#"{"id":1,"id":2}"#), "given twice"),
        (says(r#"{"id":1} {"id":2}"#), "text after the JSON"),
        (says(r#"{"id":1,"more":2}"#), "'more', which is not expected"),
        (
            says(&format!("{{\"id\":1,\"note\":\"{}\"}}", "x".repeat(1 << 20))),
            "its answer is longer than 16 KB",
        ),
        (says(&"[".repeat(9_000)), "nested more than"),
        (calls("mail", json!({})), "it called a tool, and has none"),
        (says(r#"{"id":1}"#).is_cut(), "its answer was cut off"),
    ] {
        let play = Play::new(form(), vec![reply]);
        let (text, how) = play.call("{}").await;
        assert_eq!((text, how.how), (sample.clone(), How::Sampled), "{part}");
        assert!(how.instead.contains(part), "{part}: {}", how.instead);
        assert_eq!(play.asked(), 1);
    }
    let llm = Err("the profile x has no key".to_owned());
    let other = OtherModel { llm, model: String::new(), profile: "x".into(), limit: Duration::from_secs(1) };
    let (text, how) = Play::with(form(), Some(other), Scripted::new([])).call("{}").await;
    assert_eq!((text, how.instead.as_str()), (sample, "the profile x has no key"));
}

#[tokio::test]
async fn r30_the_same_call_is_simulated_once_and_later_calls_are_shown_its_result() {
    let secret = "{\"pin\":\"1234\",\"nested\":[{\"API_KEY\":\"abc\",\"max_tokens\":5}],\"note\":\"sk-proj4bcdEFGH1jklMN0pqrST\"}";
    let play = Play::new(form(), vec![says(r#"{"id":8}"#), says(r#"{"id":9}"#)]);
    let (first, how) = play.call(secret).await;
    assert!(!how.again);
    let blanks = secret.replace(':', " : ");
    let (again, how) = play.call(&blanks).await;
    assert_eq!((&again, how.again, how.usage, play.asked()), (&first, true, None, 1));
    let other = play.call("{\"to\":2}").await.0;
    assert!(other.contains("{\"id\":9}"), "{other}");
    let asked = play.model.requests();
    let asked = asked.lock().unwrap();
    let words = |at: usize| match asked[at].messages.as_slice() {
        [Message::System(_), Message::Person(words)] => words.clone(),
        other => panic!("{other:?}"),
    };
    let (first, second) = (words(0), words(1));
    for secret in ["1234", "abc\"", "sk-proj4"] {
        assert!(!first.contains(secret) && !second.contains(secret), "{secret}: {first} {second}");
    }
    assert!(first.contains("\"max_tokens\":5") && first.contains(REDACTED), "{first}");
    assert!(!first.contains("<<<BEFORE") && second.contains("<<<BEFORE"), "{second}");
    assert!(second.contains("{\"id\":8}") && second.contains("{\"to\":2}"), "{second}");
    let mark = second.lines().next().unwrap().strip_prefix("The mark is ").unwrap();
    assert_eq!(second.matches(mark).count(), 1 + 2 * 4, "{second}");
}

#[tokio::test]
async fn r30_earlier_results_are_read_from_the_entries_of_the_session() {
    let play = Play::new(form(), vec![says(r#"{"id":8}"#)]);
    let (text, how) = play.call("{\"to\":1}").await;
    let call = ToolCall { id: "x".into(), name: "mail".into(), arguments: "{\"to\":1}".into() };
    let entries = [
        Entry::called(vec![call]),
        Entry::Settled {
            call: "x".into(),
            outcome: Outcome::Rehearsed(text.clone()),
            took_ms: 1,
            sha256: Digest::default(),
            staged: Some(Staged::Simulated(Box::new(how))),
        },
    ];
    let mut resumed = Play::new(form(), vec![says(r#"{"id":99}"#)]);
    let model = resumed.runtime.means.simulator.model.clone();
    resumed.runtime.simulates(Simulating { model, untold: true, ledger: Ledger::of(&entries) });
    let (again, how) = resumed.call("{ \"to\": 1 }").await;
    assert_eq!((again, how.again, resumed.asked()), (text, true, 0));
    let untold = resumed.call("{\"to\":2}").await.0;
    assert_eq!(untold, "{\"id\":99}", "the model is not told about the dry run");
    drop(resumed);
}

#[tokio::test]
async fn identical_concurrent_calls_are_simulated_once() {
    let play = Play::new(form(), vec![says(r#"{"id":8}"#), says(r#"{"id":9}"#)]);
    let all = futures::future::join_all((0..8).map(|_| play.call("{}"))).await;
    assert_eq!(play.asked(), 1);
    assert!(all.iter().all(|(text, _)| *text == all[0].0), "{all:?}");
    assert_eq!(all.iter().filter(|(_, how)| !how.again).count(), 1);
}

#[tokio::test]
async fn a_tool_without_a_result_schema_does_not_run_in_a_dry_run() {
    let stage = Stage {
        project: Arc::new(Memory::with(&[])),
        commands: crate::project::stage::Commands::Told("x".into()),
        untold: false,
        approved: false,
        simulates: false,
        left_out: crate::tools::LeftOut::default(),
        progress: Arc::new(|_| {}),
    };
    let done = Mail { results: Results::default() }.rehearse(&plan(), &stage).await.unwrap();
    assert_eq!(done, Rehearsed::Undone(String::new()));
}

#[tokio::test(start_paused = true)]
async fn a_model_that_exceeds_its_time_limit_is_abandoned() {
    let model = Scripted::new([says(r#"{"id":8}"#)]).paced(1);
    let llm: Arc<dyn crate::llm::Llm> = Arc::new(model.clone());
    let limit = Duration::from_secs(3);
    let other = OtherModel { llm: Ok(llm), model: String::new(), profile: "other".into(), limit };
    let (_, how) = Play::with(form(), Some(other), model).call("{}").await;
    assert_eq!((how.how, how.instead.as_str()), (How::Sampled, "it did not answer within 3 s"));
}
