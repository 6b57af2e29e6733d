//! What stands in for the result of a call that a dry run leaves undone, and how it came about.

use super::{Digest, Usage};
use serde::{Deserialize, Serialize};

/// Where the result of a call came from that was not done.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// It is an example of the tool's own.
    Example,
    /// It is a sample of the form that the tool declares. Older versions wrote this also if there was no result.
    #[default]
    Sampled,
    /// There is no result: the tool declares no form of one.
    NotRun,
    /// A model wrote what might have come of it.
    Imagined,
    /// There is no result: what it reads would have gone to the model, and live the user would have been asked about that.
    Withheld,
}

/// How the result of a call came about that was not done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Simulated {
    /// Where it came from; the log has it as a word beside this.
    #[serde(skip)]
    pub how: How,
    /// The model that imagined it: one line, as its service knows it; older versions did not say.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub by: String,
    /// Why it is no model's, where one was to be asked: one line.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub instead: String,
    /// Whether it is the result of an earlier call, which was the same on the same stage.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
    /// Of the call and of the stage that it was made on: [`Digest::of_call`].
    #[serde(skip_serializing_if = "Digest::is_none")]
    pub key: Digest,
    /// What a service counted for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

impl How {
    /// One word.
    pub fn word(self) -> &'static str {
        match self {
            Self::Example => "example",
            Self::Sampled => "sampled",
            Self::NotRun => "not_run",
            Self::Imagined => "imagined",
            Self::Withheld => "withheld",
        }
    }
}

impl Simulated {
    /// One of which nothing else is known.
    pub fn of(how: How) -> Self {
        Self { how, ..Self::default() }
    }

    /// In a few words, for the line of the call.
    pub fn words(&self) -> String {
        let words = match (self.how, self.by.as_str()) {
            (How::Example, _) => "an example, not run".to_owned(),
            (How::Sampled, _) => "sampled, not run".to_owned(),
            (How::NotRun, _) => "not run, without a result".to_owned(),
            (How::Withheld, _) => "withheld, not run".to_owned(),
            (How::Imagined, "") => "imagined by a model".to_owned(),
            (How::Imagined, by) => format!("imagined by {by}"),
        };
        let again = if self.again { ", as before" } else { "" };
        match self.instead.as_str() {
            "" => format!("{words}{again}"),
            why => format!("{words}{again}; the simulator could not be asked: {why}"),
        }
    }
}
