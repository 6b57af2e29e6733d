//! How what a dry run did came about, and how much of it there was.

use super::{Access, CallId, Entry, How, Outcome, Preview, Simulated};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

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
            Self::Ran(_) => "ran on the stage".to_owned(),
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
            },
        }
    }

    /// What stands before the result where the model is told with each.
    pub fn told(&self) -> &'static str {
        match self {
            Self::Ran(_) => "[dry run: done on the stage alone]",
            Self::Simulated(simulated) => match simulated.how {
                How::Example => "[dry run: not done; this is an example]",
                How::Sampled => "[dry run: not done; this is a sample]",
                How::NotRun => "[dry run: not done; there is no result]",
                How::Imagined => "[dry run: not done; a model wrote this]",
            },
        }
    }
}

/// What a turn of a dry run came to.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Calls that were rehearsed.
    pub rehearsed: usize,
    /// The commands of them that ran on the stage; what was changed in the layer alone does not count.
    pub ran: usize,
    /// Calls that were started for real and did more than read.
    pub outside: usize,
    /// Calls that were refused, by the person, a rule or the program.
    pub refused: usize,
    /// Calls in all, those that only read among them.
    pub calls: usize,
}

impl Tally {
    /// Of these entries.
    pub fn of(entries: &[Entry]) -> Self {
        let mut tally = Self::default();
        // For each call that may start for real, whether it does more than read.
        let mut started: HashMap<&CallId, (bool, bool)> = HashMap::new();
        let mut commands: HashSet<&CallId> = HashSet::new();
        for entry in entries {
            let entry = entry.bare();
            if let Entry::Settled { outcome, .. } = entry {
                tally.calls += 1;
                tally.refused += usize::from(matches!(outcome, Outcome::Refused(_)));
            }
            match entry {
                Entry::Planned { call, access, preview, verdict, .. } => {
                    let reads = matches!(access, Access::Nothing | Access::Read(_));
                    started.insert(call, (!reads, verdict == "allow"));
                    if matches!(**preview, Preview::Command(_)) {
                        commands.insert(call);
                    }
                }
                Entry::Decided { call, decision, .. } if decision.is_approval() => {
                    if let Some((_, may)) = started.get_mut(call) {
                        *may = true;
                    }
                }
                Entry::Settled { call, outcome: Outcome::Rehearsed(_), staged, .. } => {
                    tally.rehearsed += 1;
                    tally.ran +=
                        usize::from(staged.as_ref().is_some_and(Staged::is_ran) && commands.contains(call));
                }
                // A hash is kept of what was run, and of nothing else.
                Entry::Settled { call, sha256, staged: None, .. } if !sha256.is_none() => {
                    tally.outside += usize::from(started.get(call) == Some(&(true, true)));
                }
                _ => {}
            }
        }
        tally
    }

    /// Of the turn that this entry ends, or that has come so far with it.
    pub fn of_turn(entries: &[Entry], end: usize) -> Self {
        let before = entries.get(..end).unwrap_or_default();
        let begin =
            before.iter().rposition(|entry| matches!(entry, Entry::Ended { .. })).map_or(0, |at| at + 1);
        Self::of(&before[begin..])
    }

    /// `4 calls rehearsed, 2 ran on the stage, 1 refused, 0 effects outside`; that none was refused is not said.
    pub fn words(self) -> String {
        let Self { rehearsed, ran, outside, refused, calls: _ } = self;
        let calls = if rehearsed == 1 { "1 call" } else { &format!("{rehearsed} calls") };
        let effects = if outside == 1 { "1 effect" } else { &format!("{outside} effects") };
        let refused = if refused == 0 { String::new() } else { format!("{refused} refused, ") };
        format!("{calls} rehearsed, {ran} ran on the stage, {refused}{effects} outside")
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
    use crate::chat::{By, CommandLine, Digest, Ending, Preview, Usage};

    fn planned(call: &str, access: Access, verdict: &str) -> Entry {
        Entry::Planned {
            call: call.into(),
            title: String::new(),
            summary: String::new(),
            access,
            preview: Box::new(Preview::Text(String::new())),
            destroys: None,
            basis: Box::default(),
            verdict: verdict.into(),
            why: String::new(),
            sha256: Digest::default(),
        }
    }

    fn settled(call: &str, outcome: Outcome, staged: Option<Staged>) -> Entry {
        Entry::Settled { call: call.into(), outcome, took_ms: 1, sha256: Digest::of(b"x"), staged }
    }

    fn rehearsed(call: &str, staged: Option<Staged>) -> [Entry; 2] {
        let outcome = Outcome::Rehearsed("x".into());
        let mut planned = planned(call, Access::Write("a".into()), "rehearse");
        if let Entry::Planned { preview, .. } = &mut planned {
            **preview = Preview::Command(CommandLine::default());
        }
        [planned, settled(call, outcome, staged)]
    }

    #[test]
    fn r30_a_turn_counts_what_was_rehearsed_what_ran_and_what_had_an_effect() {
        let mut entries = vec![Entry::Ended { ending: Ending::Finished }];
        entries.extend(rehearsed("a", Some(Staged::ran())));
        entries.extend(rehearsed("b", Some(Staged::simulated(How::Sampled))));
        // What was written to the layer ran nowhere.
        entries.push(planned("w", Access::Write("a".into()), "rehearse"));
        entries.push(settled("w", Outcome::Rehearsed("x".into()), Some(Staged::ran())));
        // One of an older version, and one of a sub-agent.
        entries.extend(rehearsed("c", None));
        let beneath = |entry: Entry| Entry::Beneath { call: "s".into(), entry: Box::new(entry) };
        entries.extend(rehearsed("d", Some(Staged::ran())).map(beneath));
        entries.push(planned("e", Access::Read(vec![]), "allow"));
        entries.push(settled("e", Outcome::Done("x".into()), None));
        let tally = Tally::of_turn(&entries, entries.len());
        assert_eq!(tally, Tally { rehearsed: 5, ran: 2, outside: 0, refused: 0, calls: 6 });
        assert_eq!(tally.words(), "5 calls rehearsed, 2 ran on the stage, 0 effects outside");
        assert_eq!(
            Tally::of_turn(&entries, 3).words(),
            "1 call rehearsed, 1 ran on the stage, 0 effects outside"
        );
        // What should never be in a dry run would not be hidden.
        entries.push(planned("f", Access::Write("a".into()), "allow"));
        entries.push(settled("f", Outcome::Failed("x".into()), None));
        entries.push(planned("g", Access::WriteOutside("a".into()), "ask"));
        let by = By::Nobody;
        entries.push(Entry::Decided {
            call: "g".into(),
            decision: crate::chat::Decision::Once,
            by,
            sha256: Digest::default(),
        });
        entries.push(settled("g", Outcome::Done("x".into()), None));
        assert_eq!(Tally::of(&entries).outside, 2);
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
    fn r30_what_was_refused_is_said_and_reading_alone_is_a_call_too() {
        let refused = settled("a", Outcome::Refused("no".into()), None);
        let reads = settled("b", Outcome::Done("x".into()), None);
        let words = Tally::of(&[refused]).words();
        assert_eq!(words, "0 calls rehearsed, 0 ran on the stage, 1 refused, 0 effects outside");
        assert_eq!(Tally::of(&[reads]), Tally { calls: 1, ..Tally::default() });
        assert_eq!(Tally::of(&[]).calls, 0);
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
        assert_eq!(
            of(How::Sampled, "", "its answer was cut off", false),
            "sampled, not run; the simulator could not be asked: its answer was cut off"
        );
    }
}
