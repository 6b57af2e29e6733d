//! Simulated results: placeholders for calls that a dry run does not run.

use super::{Digest, Usage};
use serde::{Deserialize, Serialize};

/// Source of a simulated result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum How {
    /// A fixture of the tool.
    Example,
    /// A sample generated from the tool's result schema. Older versions also used this if there was no result.
    #[default]
    Sampled,
    /// There is no result: the tool declares no schema.
    NotRun,
    /// Written by a model.
    Imagined,
    /// There is no result: it would have disclosed data to the model that live would have needed approval.
    Withheld,
}

/// Origin of a simulated result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Simulated {
    /// The source; stored in the log as a separate field.
    #[serde(skip)]
    pub how: How,
    /// The model that wrote it, as its provider knows it; one line. Missing in logs of older versions.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub by: String,
    /// Why the configured model did not write it, if so; one line.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub instead: String,
    /// True if it is the result of an earlier identical call on the same overlay.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
    /// Digest of the call and of the overlay it was made on: [`Digest::of_call`].
    #[serde(skip_serializing_if = "Digest::is_none")]
    pub key: Digest,
    /// Token usage reported by the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

impl How {
    /// Returns the name of the source, as used in the log.
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
    /// Creates an origin with only a source.
    pub fn of(how: How) -> Self {
        Self { how, ..Self::default() }
    }

    /// Describes the origin, for the line of the call.
    pub fn words(&self) -> String {
        let words = match (self.how, self.by.as_str()) {
            (How::Example, _) => "fixture, not run".to_owned(),
            (How::Sampled, _) => "sample, not run".to_owned(),
            (How::NotRun, _) => "not run, no result".to_owned(),
            (How::Withheld, _) => "withheld, not run".to_owned(),
            (How::Imagined, "") => "simulated by a model".to_owned(),
            (How::Imagined, by) => format!("simulated by {by}"),
        };
        let again = if self.again { ", reused" } else { "" };
        match self.instead.as_str() {
            "" => format!("{words}{again}"),
            why => format!("{words}{again}; the simulator failed: {why}"),
        }
    }
}
