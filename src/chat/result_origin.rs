//! Origin of the results of rehearsed calls.

use super::{SimulatedResult, SimulationSource};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Maximum number of changed paths recorded per command. The overlay has all of them.
pub const MAX_CHANGED_PATHS: usize = 64;

/// Origin of a rehearsed call's result. The log stores its name in `staged` and the details in `simulated`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "StoredOrigin", into = "StoredOrigin")]
pub enum ResultOrigin {
    /// The call ran in the overlay. For a command, the paths of the project that it changed there, as text, at most
    /// [`MAX_CHANGED_PATHS`]; older versions recorded none.
    Ran(Vec<String>),
    /// The call did not run; the result is simulated.
    Simulated(Box<SimulatedResult>),
}

/// Format in the log.
#[derive(Serialize, Deserialize)]
struct StoredOrigin {
    staged: StoredOriginName,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    simulated: Option<Box<SimulatedResult>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    changed: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum StoredOriginName {
    Ran,
    #[serde(untagged)]
    Simulated(SimulationSource),
}

impl From<StoredOrigin> for ResultOrigin {
    fn from(StoredOrigin { staged, simulated, changed }: StoredOrigin) -> Self {
        match staged {
            StoredOriginName::Ran => Self::Ran(changed),
            StoredOriginName::Simulated(source) => {
                let mut simulated = simulated.unwrap_or_default();
                simulated.source = source;
                Self::Simulated(simulated)
            }
        }
    }
}

impl From<ResultOrigin> for StoredOrigin {
    fn from(origin: ResultOrigin) -> Self {
        match origin {
            ResultOrigin::Ran(changed) => Self { staged: StoredOriginName::Ran, simulated: None, changed },
            ResultOrigin::Simulated(simulated) => {
                let source = simulated.source;
                let has_details = *simulated != SimulatedResult::from_source(source);
                let simulated = has_details.then_some(simulated);
                Self { staged: StoredOriginName::Simulated(source), simulated, changed: Vec::new() }
            }
        }
    }
}

impl ResultOrigin {
    /// Creates the origin of a call that ran in the overlay.
    pub fn ran() -> Self {
        Self::Ran(Vec::new())
    }

    /// Returns whether the call ran in the overlay.
    pub fn has_run(&self) -> bool {
        matches!(self, Self::Ran(_))
    }

    /// Returns whether there is no result because it would have disclosed data that needs approval when live.
    pub fn is_withheld(&self) -> bool {
        matches!(self, Self::Simulated(simulated) if simulated.source == SimulationSource::Withheld)
    }

    /// Creates the origin of a simulated result with only a source.
    pub fn simulated(source: SimulationSource) -> Self {
        Self::Simulated(Box::new(SimulatedResult::from_source(source)))
    }

    /// Returns the name used in the output for programs.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ran(_) => "ran",
            Self::Simulated(simulated) => simulated.source.name(),
        }
    }

    /// Returns the name used in the log.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Ran(_) => "ran",
            Self::Simulated(simulated) => simulated.source.as_str(),
        }
    }

    /// Describes the origin, for the line of the call.
    pub fn describe_origin(&self) -> String {
        match self {
            Self::Ran(_) => "ran in the overlay sandbox".to_owned(),
            Self::Simulated(simulated) => simulated.describe_source(),
        }
    }

    /// Returns the details as JSON: `model`, `failure`, `is_reused`, `usage`; null if the call ran.
    pub fn to_json(&self) -> Value {
        let Self::Simulated(simulated) = self else { return Value::Null };
        let SimulatedResult { model, failure, is_reused, usage, .. } = &**simulated;
        let text_if_any = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        json!({ "model": text_if_any(model), "failure": text_if_any(failure), "is_reused": is_reused, "usage": usage })
    }

    /// Returns the details with the field names of version 0.1: `by`, `instead`, `again`, `usage`.
    pub fn to_old_json(&self) -> Value {
        match self.to_json() {
            Value::Null => Value::Null,
            details => json!({
                "by": details["model"], "instead": details["failure"], "again": details["is_reused"], "usage": details["usage"],
            }),
        }
    }

    /// Returns the symbol for the gutter.
    pub fn symbol(&self) -> &'static str {
        match self {
            Self::Ran(_) => "◆",
            Self::Simulated(simulated) => match simulated.source {
                SimulationSource::Fixture | SimulationSource::Sample | SimulationSource::NotRun => "◇",
                SimulationSource::Model => "◌",
                SimulationSource::Withheld => "⊘",
            },
        }
    }

    /// Returns the mark put before the result that the model receives, if the settings ask to mark each result.
    pub fn model_mark(&self) -> &'static str {
        match self {
            Self::Ran(_) => "[dry run: done in the overlay only]",
            Self::Simulated(simulated) => match simulated.source {
                SimulationSource::Fixture => "[dry run: not done; this is an example]",
                SimulationSource::Sample => "[dry run: not done; this is a sample]",
                SimulationSource::NotRun => "[dry run: not done; there is no result]",
                SimulationSource::Model => "[dry run: not done; a model wrote this]",
                SimulationSource::Withheld => "[dry run: withheld; there is no result]",
            },
        }
    }
}

/// Mode of a fork.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ForkMode {
    /// The same as the original.
    #[default]
    Unchanged,
    /// Live. Rehearsed changes and grants are not copied.
    Live,
    /// A dry run. Grants are not copied.
    DryRun,
}

/// Prefixes a title, or the name of a reply's author, with the mark of a dry run.
pub fn mark_dry_run(title: &str, dry_run: bool) -> Cow<'_, str> {
    if dry_run { Cow::Owned(format!("[dry run] {title}")) } else { Cow::Borrowed(title) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{Digest, Usage};
    use crate::chat::{Entry, Outcome};

    fn settle_entry(call: &str, outcome: Outcome, origin: Option<ResultOrigin>) -> Entry {
        Entry::Settled {
            call: call.into(),
            outcome,
            took_ms: 1,
            sha256: Digest::of_bytes(b"x"),
            staged: origin,
            usage: None,
        }
    }

    #[test]
    fn r30_the_log_has_the_changed_paths_next_to_the_origin() {
        let entry = settle_entry("a", Outcome::Rehearsed("x".into()), Some(ResultOrigin::Ran(vec!["a b".into()])));
        let text = serde_json::to_string(&entry).unwrap();
        assert!(text.contains(r#""staged":"ran","changed":["a b"]"#), "{text}");
        assert_eq!(serde_json::from_str::<Entry>(&text).unwrap(), entry);
    }

    #[test]
    fn reads_a_log_without_the_origin_of_results() {
        let old = r#"{"kind":"settled","call":"a","outcome":{"how":"rehearsed","text":"x"},"took_ms":1}"#;
        let entry: Entry = serde_json::from_str(old).unwrap();
        assert!(matches!(&entry, Entry::Settled { staged: None, .. }), "{entry:?}");
        assert_eq!(serde_json::to_string(&entry).unwrap(), old);
        for (origin, name) in [
            (ResultOrigin::ran(), "ran"),
            (ResultOrigin::simulated(SimulationSource::Fixture), "example"),
            (ResultOrigin::simulated(SimulationSource::Sample), "sampled"),
            (ResultOrigin::simulated(SimulationSource::NotRun), "not_run"),
            (ResultOrigin::simulated(SimulationSource::Model), "imagined"),
            (ResultOrigin::simulated(SimulationSource::Withheld), "withheld"),
        ] {
            assert_eq!(origin.as_str(), name);
            let entry = settle_entry("a", Outcome::Rehearsed("x".into()), Some(origin));
            let text = serde_json::to_string(&entry).unwrap();
            assert!(text.contains(&format!(r#""staged":"{name}""#)), "{text}");
            assert!(!text.contains("simulated"), "{text}");
            assert_eq!(serde_json::from_str::<Entry>(&text).unwrap(), entry);
        }
    }

    #[test]
    fn r30_the_log_has_the_details_of_a_simulated_result_next_to_its_source() {
        let simulated = SimulatedResult {
            model: "m-7b".into(),
            failure: "it was late".into(),
            is_reused: true,
            key: Digest::of_bytes(b"k"),
            usage: Some(Usage { input: 3, ..Usage::default() }),
            ..SimulatedResult::from_source(SimulationSource::Model)
        };
        let entry =
            settle_entry("a", Outcome::Rehearsed("x".into()), Some(ResultOrigin::Simulated(Box::new(simulated))));
        let text = serde_json::to_string(&entry).unwrap();
        assert!(text.contains(r#""staged":"imagined","simulated":{"by":"m-7b","#), "{text}");
        assert_eq!(serde_json::from_str::<Entry>(&text).unwrap(), entry);
        // An unknown source of a later version loses only the origin.
        let newer = text.replace("imagined", "dreamt");
        let entry: Entry = serde_json::from_str(&newer).unwrap();
        assert!(matches!(&entry, Entry::Settled { staged: None, .. }), "{entry:?}");
    }

    #[test]
    fn describes_the_source_and_why_the_model_failed() {
        let describe = |source, model: &str, failure: &str, is_reused| {
            ResultOrigin::Simulated(Box::new(SimulatedResult {
                model: model.to_owned(),
                failure: failure.to_owned(),
                is_reused,
                ..SimulatedResult::from_source(source)
            }))
            .describe_origin()
        };
        assert_eq!(describe(SimulationSource::Model, "m-7b", "", false), "simulated by m-7b");
        assert_eq!(describe(SimulationSource::Model, "m-7b", "", true), "simulated by m-7b, reused");
        assert_eq!(describe(SimulationSource::Model, "", "", false), "simulated by a model");
        assert_eq!(describe(SimulationSource::Fixture, "", "", false), "fixture, not run");
        assert_eq!(describe(SimulationSource::Withheld, "", "", false), "withheld, not run");
        assert_eq!(
            describe(SimulationSource::Sample, "", "its answer was cut off", false),
            "sample, not run; the simulator failed: its answer was cut off"
        );
    }
}
