//! The TOML of a demo script as it is written.

use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawScript {
    pub(super) title: Option<String>,
    pub(super) model: Option<String>,
    pub(super) size: Option<Spanned<String>>,
    pub(super) theme: Option<String>,
    #[serde(default)]
    pub(super) show_keys: bool,
    pub(super) mode: Option<Spanned<String>>,
    #[serde(default)]
    pub(super) dry_run: bool,
    pub(super) folder: Option<Spanned<String>>,
    pub(super) speed: Option<Spanned<u32>>,
    pub(super) typing: Option<Spanned<u32>>,
    pub(super) pause: Option<Spanned<f64>>,
    pub(super) delay: Option<Spanned<f64>>,
    pub(super) duration: Option<Spanned<f64>>,
    pub(super) end: Option<Spanned<f64>>,
    pub(super) interrupted: Option<String>,
    #[serde(default)]
    pub(super) file: Vec<Spanned<RawFile>>,
    #[serde(default)]
    pub(super) step: Vec<Spanned<RawStep>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawFile {
    pub(super) path: String,
    pub(super) text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawStep {
    // Of the user.
    pub(super) r#type: Option<String>,
    pub(super) press: Option<OneOrMore<String>>,
    pub(super) paste: Option<String>,
    pub(super) wait: Option<String>,
    pub(super) gone: Option<String>,
    pub(super) mark: Option<String>,
    pub(super) resize: Option<Spanned<String>>,
    pub(super) pause: Option<Spanned<f64>>,
    #[serde(default)]
    pub(super) early: bool,
    pub(super) typing: Option<Spanned<u32>>,
    // Of the model.
    pub(super) reply: Option<String>,
    pub(super) reasoning: Option<String>,
    #[serde(default)]
    pub(super) text: Vec<RawText>,
    #[serde(default)]
    pub(super) call: Vec<Spanned<RawCall>>,
    #[serde(default)]
    pub(super) when: Option<OneOrMore<RawCondition>>,
    #[serde(default)]
    pub(super) repeat: bool,
    pub(super) speed: Option<Spanned<u32>>,
    pub(super) delay: Option<Spanned<f64>>,
    pub(super) error: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawText {
    #[serde(default)]
    pub(super) when: Option<OneOrMore<RawCondition>>,
    pub(super) text: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCall {
    pub(super) id: Option<String>,
    pub(super) tool: String,
    #[serde(default)]
    pub(super) arguments: RawArguments,
    pub(super) plan: Option<String>,
    pub(super) result: Option<String>,
    pub(super) failure: Option<String>,
    #[serde(default)]
    pub(super) may_fail: bool,
    pub(super) duration: Option<Spanned<f64>>,
}

/// Arguments: a table, or JSON in a string.
#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum RawArguments {
    Table(BTreeMap<String, toml::Value>),
    Json(String),
}

impl Default for RawArguments {
    fn default() -> Self {
        Self::Table(BTreeMap::new())
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawCondition {
    pub(super) call: Option<String>,
    pub(super) was: Option<OneOrMore<String>>,
    pub(super) answer: Option<OneOrMore<String>>,
    pub(super) own_words: Option<bool>,
    pub(super) note: Option<bool>,
    pub(super) dry_run: Option<bool>,
}

#[derive(Deserialize)]
#[serde(untagged)]
pub(super) enum OneOrMore<T> {
    One(T),
    More(Vec<T>),
}

impl<T> OneOrMore<T> {
    pub(super) fn into_vec(self) -> Vec<T> {
        match self {
            Self::One(item) => vec![item],
            Self::More(items) => items,
        }
    }
}
