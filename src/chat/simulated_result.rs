//! Simulated results: placeholders for calls that a dry run does not run.

use super::{Digest, Usage};
use serde::{Deserialize, Serialize};

/// Source of a simulated result.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SimulationSource {
    /// A fixture of the tool.
    #[serde(rename = "example")]
    Fixture,
    /// A sample generated from the tool's result schema. Older versions also used this if there was no result.
    #[default]
    #[serde(rename = "sampled")]
    Sample,
    /// There is no result: the tool declares no schema.
    NotRun,
    /// Written by a model.
    #[serde(rename = "imagined")]
    Model,
    /// There is no result: in a live session, disclosing its data to the model would have needed approval.
    Withheld,
}

/// Origin of a simulated result.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SimulatedResult {
    /// The source; stored in the log as a separate field.
    #[serde(skip)]
    pub source: SimulationSource,
    /// The model that wrote the result, as named by its provider; one line. Missing in logs of older versions.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[serde(rename = "by")]
    pub model: String,
    /// Why the configured model failed to write the result; one line. Empty if it did not fail.
    #[serde(skip_serializing_if = "String::is_empty")]
    #[serde(rename = "instead")]
    pub failure: String,
    /// True if it is the result of an earlier identical call on the same overlay.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[serde(rename = "again")]
    pub is_reused: bool,
    /// Digest of the call and of the overlay it was made on: [`Digest::of_call`].
    #[serde(skip_serializing_if = "Digest::is_none")]
    pub key: Digest,
    /// Token usage reported by the provider.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
}

impl SimulationSource {
    /// Returns the name of the source in the output for programs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fixture => "fixture",
            Self::Sample => "sample",
            Self::NotRun => "not_run",
            Self::Model => "model",
            Self::Withheld => "withheld",
        }
    }

    /// Returns the name of the source, as used in the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fixture => "example",
            Self::Sample => "sampled",
            Self::NotRun => "not_run",
            Self::Model => "imagined",
            Self::Withheld => "withheld",
        }
    }
}

impl SimulatedResult {
    /// Creates an origin with only a source.
    pub fn from_source(source: SimulationSource) -> Self {
        Self { source, ..Self::default() }
    }

    /// Describes the origin for the line of the call, such as `sample, not run`.
    pub fn describe_source(&self) -> String {
        let source = match (self.source, self.model.as_str()) {
            (SimulationSource::Fixture, _) => "fixture, not run".to_owned(),
            (SimulationSource::Sample, _) => "sample, not run".to_owned(),
            (SimulationSource::NotRun, _) => "not run, no result".to_owned(),
            (SimulationSource::Withheld, _) => "withheld, not run".to_owned(),
            (SimulationSource::Model, "") => "simulated by a model".to_owned(),
            (SimulationSource::Model, model) => format!("simulated by {model}"),
        };
        let reuse_note = if self.is_reused { ", reused" } else { "" };
        match self.failure.as_str() {
            "" => format!("{source}{reuse_note}"),
            failure => format!("{source}{reuse_note}; the simulator failed: {failure}"),
        }
    }
}
