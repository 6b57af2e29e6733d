//! How what a dry run did came about.

use super::{Entry, How, Outcome, Simulated};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Paths that are kept of one command; what is beyond them is in the layer like the rest.
pub const PATHS_KEPT: usize = 64;

/// How the result of a rehearsed call came about. In the log it is a word, `staged`, with the rest of what is known beside it,
/// `simulated`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "Written", into = "Written")]
pub enum Staged {
    /// It was done on the stage, as it would have been done for real. Of a command, the paths of the project that it
    /// changed there, as they can be written, [`PATHS_KEPT`] at most; an older version kept none.
    Ran(Vec<String>),
    /// It was not done: something else stands in for its result.
    Simulated(Box<Simulated>),
}

/// The form in the log.
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
    /// It was done on the stage.
    pub fn ran() -> Self {
        Self::Ran(Vec::new())
    }

    /// Whether it was done on the stage.
    pub fn is_ran(&self) -> bool {
        matches!(self, Self::Ran(_))
    }

    /// Whether it was withheld because of what it reads.
    pub fn is_withheld(&self) -> bool {
        matches!(self, Self::Simulated(simulated) if simulated.how == How::Withheld)
    }

    /// It was not done, and nothing else is known of what stands in for it.
    pub fn simulated(how: How) -> Self {
        Self::Simulated(Box::new(Simulated::of(how)))
    }

    /// One word, for other programs.
    pub fn word(&self) -> &'static str {
        match self {
            Self::Ran(_) => "ran",
            Self::Simulated(simulated) => simulated.how.word(),
        }
    }

    /// In a few words, for the line of the call.
    pub fn words(&self) -> String {
        match self {
            Self::Ran(_) => "ran in the overlay sandbox".to_owned(),
            Self::Simulated(simulated) => simulated.words(),
        }
    }

    /// What else is known of it, as JSON: `by`, `instead`, `again`, `usage`; null where it ran.
    pub fn json(&self) -> Value {
        let Self::Simulated(simulated) = self else { return Value::Null };
        let Simulated { by, instead, again, usage, .. } = &**simulated;
        let said = |text: &String| Some(text.clone()).filter(|text| !text.is_empty());
        json!({ "by": said(by), "instead": said(instead), "again": again, "usage": usage })
    }

    /// Its sign in the gutter.
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

    /// What stands before the result where the model is told with each.
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

/// What a copy of a session is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Becomes {
    /// What the session is that it is made of.
    #[default]
    AsItWas,
    /// For real. What was rehearsed is not brought along, and no standing yes is.
    Live,
    /// A dry run. No standing yes is brought along.
    DryRun,
}

/// For each entry whether it is of a dry run. `now` is what the session is at its end, if known: a copy of a dry run may
/// continue live, and the other way around.
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

/// A session's name, or whose reply it is, with the mark of a dry run.
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
    fn r30_entries_are_of_a_dry_run_until_the_copy_became_live() {
        let became = |dry_run| Entry::Became { dry_run, of: crate::chat::SessionId("01J".into()) };
        let done = || settled("a", Outcome::Done("x".into()), None);
        let of = |now, entries: &[Entry]| dry_run_entries(now, entries);
        assert_eq!(of(Some(true), &[done()]), [true]);
        assert_eq!(of(Some(false), &[done(), became(false), done()]), [true, false, false]);
        assert_eq!(of(Some(true), &[done(), became(true), done()]), [false, true, true]);
        // Without a header the entries tell.
        assert_eq!(of(None, &[done(), settled("b", Outcome::Rehearsed("x".into()), None)]), [true, true]);
    }

    #[test]
    fn r30_what_a_command_changed_stands_beside_the_word_that_it_ran() {
        let entry = settled("a", Outcome::Rehearsed("x".into()), Some(Staged::Ran(vec!["a b".into()])));
        let text = serde_json::to_string(&entry).unwrap();
        assert!(text.contains(r#""staged":"ran","changed":["a b"]"#), "{text}");
        assert_eq!(serde_json::from_str::<Entry>(&text).unwrap(), entry);
    }

    #[test]
    fn a_log_that_does_not_say_how_it_came_about_is_read() {
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
    fn r30_what_is_known_of_a_made_up_result_stands_beside_its_word() {
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
        // Of a later version's word nothing is lost but the word.
        let later = text.replace("imagined", "dreamt");
        let read: Entry = serde_json::from_str(&later).unwrap();
        assert!(matches!(&read, Entry::Settled { staged: None, .. }), "{read:?}");
    }

    #[test]
    fn the_line_says_where_a_result_came_from_and_why_it_is_no_models() {
        let of = |how, by: &str, instead: &str, again| {
            let (by, instead) = (by.to_owned(), instead.to_owned());
            Staged::Simulated(Box::new(Simulated { by, instead, again, ..Simulated::of(how) })).words()
        };
        assert_eq!(of(How::Imagined, "m-7b", "", false), "imagined by m-7b");
        assert_eq!(of(How::Imagined, "m-7b", "", true), "imagined by m-7b, as before");
        assert_eq!(of(How::Imagined, "", "", false), "imagined by a model");
        assert_eq!(of(How::Example, "", "", false), "an example, not run");
        assert_eq!(of(How::Withheld, "", "", false), "withheld, not run");
        assert_eq!(
            of(How::Sampled, "", "its answer was cut off", false),
            "sampled, not run; the simulator could not be asked: its answer was cut off"
        );
    }
}
