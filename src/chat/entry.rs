//! One fact of a session: one line of its log.

use super::{
    Access, Advice, Adviser, Answer, Basis, CallId, Digest, Echo, Grant, Outcome, Preview, Questions,
    Rejected, SessionId, Staged, ToolCall, Usage,
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::time::Duration;

/// A fact kept forever. A session is nothing but its entries in their order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Entry {
    /// By the person.
    Said {
        /// Whole, with pasted parts.
        text: String,
    },
    /// By the model.
    Replied {
        /// Markdown; may be empty where there are calls.
        text: String,
        /// What the model thought, where the service showed it. Never sent back.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reasoning: String,
        /// What it called. Empty where the reply is incomplete: half a reply runs nothing.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        calls: Vec<ToolCall>,
        /// Why the reply is not whole, where it is not.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        incomplete: Option<String>,
        /// The model's name.
        #[serde(default)]
        model: String,
        /// What the service counted.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        /// Milliseconds from the request to the first text or call; what the screen says the model thought for.
        #[serde(default)]
        thought_ms: u64,
        /// What the service wants to see again with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        echo: Option<Box<Echo>>,
    },
    /// A call was looked at: this is what it would do, and why the person is asked where they are.
    Planned {
        /// Which call.
        call: CallId,
        /// The card's heading.
        title: String,
        /// The call in a few words.
        summary: String,
        /// How far it reaches.
        access: Access,
        /// What was shown.
        preview: Box<Preview>,
        /// What it destroys, where it does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        destroys: Option<String>,
        /// What it was made from, and will find.
        #[serde(default, skip_serializing_if = "is_empty")]
        basis: Box<Basis>,
        /// The verdict, in one word: `allow`, `ask`, `rehearse`, `withhold`, `refuse`.
        verdict: String,
        /// What said so: the verdict's reason.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
        /// The hooks that wanted this call and were not run, since their settings do not let them run in a dry run.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        hooks_not_run: Vec<String>,
        /// Of the call and what was shown of it: [`Digest::of_act`].
        #[serde(default, skip_serializing_if = "Digest::is_none")]
        sha256: Digest,
    },
    /// Somebody of the person's choice was asked about a call, before the verdict that follows.
    Consulted {
        /// Which call.
        call: CallId,
        /// Who was asked.
        by: Adviser,
        /// The verdict so far, in one word.
        before: String,
        /// What they said; `ask` where they gave no answer that counts.
        advice: Advice,
        /// Their reason, or what went wrong: one line.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        why: String,
        /// Whether they gave no answer that counts.
        #[serde(default, skip_serializing_if = "is_false")]
        failed: bool,
        /// Milliseconds until then.
        #[serde(default)]
        took_ms: u64,
        /// What a service counted for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
        /// Of what they were asked about, which is what is judged next: [`Digest::of_act`].
        #[serde(default, skip_serializing_if = "Digest::is_none")]
        sha256: Digest,
    },
    /// A call asks the person.
    Asked {
        /// Which call.
        call: CallId,
        /// What it asks.
        questions: Questions,
        /// Of the call and its questions: [`Digest::of_questions`].
        #[serde(default, skip_serializing_if = "Digest::is_none")]
        sha256: Digest,
    },
    /// A call was decided by a person.
    Decided {
        /// Which call.
        call: CallId,
        /// What was decided.
        decision: Decision,
        /// Who decided, and how.
        by: By,
        /// Of what they decided over, which is what was planned last.
        #[serde(default, skip_serializing_if = "Digest::is_none")]
        sha256: Digest,
    },
    /// The person answered.
    Answered {
        /// Which call.
        call: CallId,
        /// What they answered.
        answer: Answer,
        /// Who gave it, and how; older versions did not say.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<By>,
        /// Of what they answered, which is what was asked.
        #[serde(default, skip_serializing_if = "Digest::is_none")]
        sha256: Digest,
    },
    /// A call came to its end: each exactly once.
    Settled {
        /// Which call.
        call: CallId,
        /// What came of it.
        outcome: Outcome,
        /// Milliseconds it ran; 0 where it never did.
        #[serde(default)]
        took_ms: u64,
        /// Of what ran, where anything did.
        #[serde(default, skip_serializing_if = "Digest::is_none")]
        sha256: Digest,
        /// How it came about, where it was rehearsed; older versions did not say. What a newer one says is left out.
        #[serde(flatten)]
        staged: Option<Staged>,
    },
    /// The turn is over.
    Ended {
        /// How.
        ending: Ending,
    },
    /// The session has a name now. The person's own counts before the model's, a later one before an earlier.
    Titled {
        /// One line.
        title: String,
        /// Who named it.
        #[serde(default)]
        by: Namer,
        /// What the service counted for it, where the model named it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
    /// What was said before is told to the model by a summary from here on. Nothing is lost: the entries stay.
    Compacted {
        /// The model's summary of the entries before `upto` that no earlier summary covered, and of that summary.
        summary: String,
        /// What is kept word for word beside it.
        pinned: String,
        /// Entries before this index are no longer sent themselves.
        upto: usize,
        /// Tokens of the next request before and after, about.
        #[serde(default)]
        tokens: (u64, u64),
        /// What the service counted for the summary.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        usage: Option<Usage>,
    },
    /// The model that was asked could not answer, and another one does this once.
    FellBack {
        /// Who answers.
        model: String,
        /// What went wrong with the first, in one sentence.
        why: String,
    },
    /// The person took a standing yes back.
    TakenBack {
        /// The call on whose card it was given in this session; none for a rule of the person's file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        given_on: Option<CallId>,
        /// What it was, in words.
        what: String,
        /// Who took it back, and how.
        by: By,
    },
    /// A fact of the sub-agent that works on a call: of its own talk, in which the call's task was said first.
    Beneath {
        /// The call that handed it the task.
        call: CallId,
        /// The fact. One that is beneath another in turn is kept, and counts for nothing.
        entry: Box<Entry>,
    },
    /// Another model answers from here on.
    Switched {
        /// The model's name.
        model: String,
        /// The profile of the settings that leads to it, where that changed too.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        profile: Option<String>,
    },
    /// The session is a copy, and from here on for real where what it was made of was a dry run, or the other way round.
    Became {
        /// Whether it is a dry run now.
        dry_run: bool,
        /// The session that it was made of, which stays as it was.
        of: SessionId,
    },
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over like that")]
fn is_false(value: &bool) -> bool {
    !value
}

impl Entry {
    /// A reply of nothing but these calls, by no model.
    pub fn called(calls: Vec<ToolCall>) -> Self {
        Self::Replied {
            text: String::new(),
            reasoning: String::new(),
            calls,
            incomplete: None,
            model: String::new(),
            usage: None,
            thought_ms: 0,
            echo: None,
        }
    }

    /// The fact itself, whoever's it is: of the turn or of a sub-agent beneath it.
    pub fn bare(&self) -> &Self {
        if let Self::Beneath { entry, .. } = self { entry.bare() } else { self }
    }

    /// Whether it says nothing of whether a turn runs or how it ended: it may come between turns and within one.
    pub fn is_beside(&self) -> bool {
        matches!(
            self,
            Self::Titled { .. }
                | Self::TakenBack { .. }
                | Self::Switched { .. }
                | Self::Became { .. }
                | Self::Compacted { .. }
        )
    }
}

#[expect(clippy::borrowed_box, reason = "serde hands it over like that")]
fn is_empty(basis: &Box<Basis>) -> bool {
    basis.is_empty()
}

/// Who named a session.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Namer {
    /// The person; no model changes that.
    #[default]
    Person,
    /// The model, from what was said.
    Model,
}

/// What was decided about a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "what", content = "with", rename_all = "snake_case")]
pub enum Decision {
    /// Yes, this time.
    Once,
    /// Yes, and from now on whatever the grant covers.
    Always(Grant),
    /// Yes, this time, without these parts of it.
    Selected(Vec<Rejected>),
    /// These arguments in place of the model's. They were looked at and judged anew, and the call waits again.
    Edited(Value),
    /// No, with words for the model; they may be empty.
    Deny(String),
}

impl Decision {
    /// Whether the call runs, at least in part.
    pub fn is_approval(&self) -> bool {
        match self {
            Self::Once | Self::Selected(_) | Self::Always(_) => true,
            Self::Edited(_) | Self::Deny(_) => false,
        }
    }
}

/// Who decided a call, or answered it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "who", rename_all = "snake_case")]
pub enum By {
    /// A person, with this key, this long after the card was first drawn.
    Person {
        /// The chord, as it is written in the settings.
        key: String,
        /// Milliseconds since the card was first drawn.
        after_ms: u64,
    },
    /// A person, in a file of answers.
    File,
    /// Nobody was there: what the print frontend does with every question.
    Nobody,
}

impl By {
    /// A person, with this key, so long after the card was first drawn.
    pub fn with(key: String, after: Duration) -> Self {
        Self::Person { key, after_ms: u64::try_from(after.as_millis()).unwrap_or(u64::MAX) }
    }
}

/// How a turn ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", content = "why", rename_all = "snake_case")]
pub enum Ending {
    /// The model was done.
    Finished,
    /// The person stopped it, or the program ended in the middle.
    Interrupted,
    /// Something went wrong, in one sentence.
    Failed(String),
}
