//! Origin of the results of rehearsed calls.

use super::{Entry, How, Outcome, Simulated};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Paths recorded per command. All changed paths are in the overlay.
pub const PATHS_KEPT: usize = 64;

/// Origin of a rehearsed call's result. The log stores its name in `staged` and the details in `simulated`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub enum Staged {
    /// The call ran in the overlay. For a command, the paths of the project that it changed there, as text, at most
    /// [`PATHS_KEPT`]; older versions recorded none.
    Ran(Vec<String>),
    /// The call did not run; the result is simulated.
    Simulated(Box<Simulated>),
}

/// Format in the log.
#[derive(Serialize, Deserialize)]
struct Written {
    staged: Word,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    simulated: Option<Box<Simulated>>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    changed: Vec<String>,
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Word {
    Ran,
    #[serde(untagged)]
    Simulated(How),
}

impl From<Written> for Staged {
    fn from(Written { staged, simulated, changed }: Written) -> Self {
        match staged {
            Word::Ran => Self::Ran(changed),
            Word::Simulated(how) => {
                let mut simulated = simulated.unwrap_or_default();
                simulated.how = how;
                Self::Simulated(simulated)
            }
        }
    }
}

impl From<Staged> for Written {
    fn from(staged: Staged) -> Self {
        match staged {
            Staged::Ran(changed) => Self { staged: Word::Ran, simulated: None, changed },
            Staged::Simulated(simulated) => {
                let how = simulated.how;
                let more = *simulated != Simulated::of(how);
                let simulated = more.then_some(simulated);
                Self { staged: Word::Simulated(how), simulated, changed: Vec::new() }
            }
        }
    }
}

impl Staged {
    /// Creates the origin of a call that ran in the overlay.
    pub fn ran() -> Self {
        Self::Ran(Vec::new())
    }

    /// Returns whether the call ran in the overlay.
    pub fn is_ran(&self) -> bool {
        matches!(self, Self::Ran(_))
    }

    /// Returns whether it was withheld because of what it reads.
    pub fn is_withheld(&self) -> bool {
        matches!(self, Self::Simulated(simulated) if simulated.how == How::Withheld)
    }

    /// Creates the origin of a simulated result with only a source.
    pub fn simulated(how: How) -> Self {
        Self::Simulated(Box::new(Simulated::of(how)))
    }

    /// Returns the name used in JSON.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Ran(_) => "ran",
            Self::Simulated(simulated) => simulated.how.word(),
        }
    }

    /// Describes the origin, for the line of the call.
    pub fn words(&self) -> String {
        match self {
            Self::Ran(_) => "ran in the overlay sandbox".to_owned(),
            Self::Simulated(simulated) => simulated.words(),
        }
    }

    /// Returns the details as JSON: `by`, `instead`, `again`, `usage`; null if the call ran.
    pub fn json(&self) -> Value {
        let Self::Simulated(simulated) = self else { return Value::Null };
        let Simulated { by, instead, again, usage, .. } = &**simulated;
        let said = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        json!({ "by": said(by), "instead": said(instead), "again": again, "usage": usage })
    }

    /// Returns the symbol for the gutter.
    pub fn mark(&self) -> &'static str {
        match self {
            Self::Ran(_) => "◆",
            Self::Simulated(simulated) => match simulated.how {
                How::Example | How::Sampled | How::NotRun => "◇",
                How::Imagined => "◌",
                How::Withheld => "⊘",
            },
        }
    }

    /// Returns the mark that precedes the result, if the model is told about every rehearsed call.
    pub fn told(&self) -> &'static str {
        match self {
            Self::Ran(_) => "[dry run: done in the overlay only]",
            Self::Simulated(simulated) => match simulated.how {
                How::Example => "[dry run: not done; this is an example]",
                How::Sampled => "[dry run: not done; this is a sample]",
                How::NotRun => "[dry run: not done; there is no result]",
                How::Imagined => "[dry run: not done; a model wrote this]",
                How::Withheld => "[dry run: withheld; there is no result]",
            },
        }
    }
}

/// Mode of a fork.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Becomes {
    /// The same as the original.
    #[default]
    AsItWas,
    /// Live. Rehearsed changes and grants are not copied.
    Live,
    /// A dry run. Grants are not copied.
    DryRun,
}

/// Returns for each entry whether it belongs to a dry run. `now` is the mode at the end, if known: a copy of a dry run
/// may continue live, and the other way around.
pub fn dry_run_entries(now: Option<bool>, entries: &[Entry]) -> Vec<bool> {
    let became = |entry: &Entry| match entry {
        Entry::Became { dry_run, .. } => Some(*dry_run),
        _ => None,
    };
    let rehearsed =
        |entry: &Entry| matches!(entry.bare(), Entry::Settled { outcome: Outcome::Rehearsed(_), .. });
    let first = entries.iter().find_map(became).map(|dry_run| !dry_run);
    let mut dry_run = first.or(now).unwrap_or_else(|| entries.iter().any(rehearsed));
    let state = |entry: &Entry| {
        dry_run = became(entry).unwrap_or(dry_run);
        dry_run
    };
    entries.iter().map(state).collect()
}

/// Prefixes a title, or the name of a reply's author, with the mark of a dry run.
pub fn titled(title: &str, dry_run: bool) -> Cow<'_, str> {
    if dry_run { Cow::Owned(format!("[dry run] {title}")) } else { Cow::Borrowed(title) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{Digest, Usage};

    fn settled(call: &str, outcome: Outcome, staged: Option<Staged>) -> Entry {
        Entry::Settled { call: call.into(), outcome, took_ms: 1, sha256: Digest::of(b"x"), staged }
    }

    #[test]
    fn r30_entries_belong_to_a_dry_run_until_the_copy_becomes_live() {
        let became = |dry_run| Entry::Became { dry_run, of: crate::chat::SessionId("01J".into()) };
        let done = || settled("a", Outcome::Done("x".into()), None);
        let of = |now, entries: &[Entry]| dry_run_entries(now, entries);
        assert_eq!(of(Some(true), &[done()]), [true]);
        assert_eq!(of(Some(false), &[done(), became(false), done()]), [true, false, false]);
        assert_eq!(of(Some(true), &[done(), became(true), done()]), [false, true, true]);
        // Without a header the entries decide.
        assert_eq!(of(None, &[done(), settled("b", Outcome::Rehearsed("x".into()), None)]), [true, true]);
    }

    #[test]
    fn r30_the_log_has_the_changed_paths_next_to_the_origin() {
        let entry = settled("a", Outcome::Rehearsed("x".into()), Some(Staged::Ran(vec!["a b".into()])));
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
        for (staged, word) in [
            (Staged::ran(), "ran"),
            (Staged::simulated(How::Example), "example"),
            (Staged::simulated(How::Sampled), "sampled"),
            (Staged::simulated(How::NotRun), "not_run"),
            (Staged::simulated(How::Imagined), "imagined"),
            (Staged::simulated(How::Withheld), "withheld"),
        ] {
            assert_eq!(staged.word(), word);
            let entry = settled("a", Outcome::Rehearsed("x".into()), Some(staged));
            let text = serde_json::to_string(&entry).unwrap();
            assert!(text.contains(&format!(r#""staged":"{word}""#)), "{text}");
            assert!(!text.contains("simulated"), "{text}");
            assert_eq!(serde_json::from_str::<Entry>(&text).unwrap(), entry);
        }
    }

    #[test]
    fn r30_the_log_has_the_details_of_a_simulated_result_next_to_its_source() {
        let simulated = Simulated {
            by: "m-7b".into(),
            instead: "it was late".into(),
            again: true,
            key: Digest::of(b"k"),
            usage: Some(Usage { input: 3, ..Usage::default() }),
            ..Simulated::of(How::Imagined)
        };
        let entry =
            settled("a", Outcome::Rehearsed("x".into()), Some(Staged::Simulated(Box::new(simulated))));
        let text = serde_json::to_string(&entry).unwrap();
        assert!(text.contains(r#""staged":"imagined","simulated":{"by":"m-7b","#), "{text}");
        assert_eq!(serde_json::from_str::<Entry>(&text).unwrap(), entry);
        // An unknown source of a later version loses only the origin.
        let later = text.replace("imagined", "dreamt");
        let read: Entry = serde_json::from_str(&later).unwrap();
        assert!(matches!(&read, Entry::Settled { staged: None, .. }), "{read:?}");
    }

    #[test]
    fn describes_the_source_and_why_the_model_failed() {
        let of = |how, by: &str, instead: &str, again| {
            let (by, instead) = (by.to_owned(), instead.to_owned());
            Staged::Simulated(Box::new(Simulated { by, instead, again, ..Simulated::of(how) })).words()
        };
        assert_eq!(of(How::Imagined, "m-7b", "", false), "simulated by m-7b");
        assert_eq!(of(How::Imagined, "m-7b", "", true), "simulated by m-7b, reused");
        assert_eq!(of(How::Imagined, "", "", false), "simulated by a model");
        assert_eq!(of(How::Example, "", "", false), "fixture, not run");
        assert_eq!(of(How::Withheld, "", "", false), "withheld, not run");
        assert_eq!(
            of(How::Sampled, "", "its answer was cut off", false),
            "sample, not run; the simulator failed: its answer was cut off"
        );
    }
}
