//! Reviewers of calls, which are asked after the policy's verdict and before the call runs, and their answers.

use super::Usage;
use crate::text::hidden_chars::is_hidden;
use crate::text::truncation::truncate_end;
use crate::text::unique_keys;
use serde::{Deserialize, Serialize};

/// Maximum characters of a reviewer's reason. A longer one is truncated.
pub const MAX_REASON_CHARS: usize = 200;
/// Maximum characters of a reviewer's answer that are quoted in an error.
const MAX_QUOTED_CHARS: usize = 40;

/// A reviewer named in the user's settings.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "who", content = "name", rename_all = "snake_case")]
pub enum Reviewer {
    /// A program, by its name in the settings.
    Hook(String),
    /// A model that reviews calls that would run without approval; it can only make them ask.
    #[serde(rename = "second_reader")]
    Model,
}

/// Verdict of a reviewer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReviewVerdict {
    /// The call may run.
    Allow,
    /// The user must be asked.
    Ask,
    /// The call must not run.
    Deny,
}

/// Result of a review.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Review {
    /// The verdict; [`ReviewVerdict::Ask`] if the review failed.
    pub verdict: ReviewVerdict,
    /// The reason, or the error; one line of at most [`MAX_REASON_CHARS`] characters.
    pub reason: String,
    /// True if the answer was missing or invalid.
    pub is_failed: bool,
    /// Milliseconds the review took.
    pub took_ms: u64,
    /// Token usage reported by the provider.
    pub usage: Option<Usage>,
}

impl Reviewer {
    /// Returns the reviewer's name, for use inside a sentence.
    pub fn display_name(&self) -> String {
        match self {
            Self::Hook(name) => format!("the hook “{}”", to_one_line(name)),
            Self::Model => "the model reviewer".to_owned(),
        }
    }

    /// Returns the kind of reviewer, without a name.
    pub fn kind_name(&self) -> &'static str {
        match self {
            Self::Hook(_) => "a hook",
            Self::Model => "the model reviewer",
        }
    }

    /// Returns the verdicts it may give.
    pub fn allowed_verdicts(&self) -> &'static [ReviewVerdict] {
        match self {
            Self::Hook(_) => &[ReviewVerdict::Allow, ReviewVerdict::Ask, ReviewVerdict::Deny],
            Self::Model => &[ReviewVerdict::Allow, ReviewVerdict::Ask],
        }
    }
}

/// Names the hooks that match a call but were not run in this dry run; `None` if there are none.
pub fn describe_hooks_not_run(names: &[String]) -> Option<String> {
    let named = names.iter().map(|name| format!("“{}”", to_one_line(name))).collect::<Vec<_>>().join(", ");
    match names.len() {
        0 => None,
        1 => Some(format!("hook {named} was not run in this dry run")),
        _ => Some(format!("hooks {named} were not run in this dry run")),
    }
}

impl ReviewVerdict {
    /// Returns the verdict's name, as used in answers and in the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl Review {
    /// Parses an answer strictly; an invalid one asks the user.
    pub fn from_answer(reviewer: &Reviewer, answer: &str) -> Self {
        match parse_answer(answer, reviewer.allowed_verdicts()) {
            Ok((verdict, reason)) => Self { verdict, reason, is_failed: false, took_ms: 0, usage: None },
            Err(error) => Self::from_error(&error),
        }
    }

    /// Returns a failed review with this error.
    pub fn from_error(error: &str) -> Self {
        Self { verdict: ReviewVerdict::Ask, reason: to_one_line(error), is_failed: true, took_ms: 0, usage: None }
    }
}

/// Parses `{"verdict": "…", "why": "…"}`: one object on one line, without duplicate or other keys and nothing after it.
fn parse_answer(answer: &str, allowed: &[ReviewVerdict]) -> Result<(ReviewVerdict, String), String> {
    let answer = answer.trim_matches([' ', '\t', '\r', '\n']);
    if answer.is_empty() {
        return Err("the answer is empty".to_owned());
    }
    if answer.contains('\n') {
        return Err("the answer has more than one line".to_owned());
    }
    let (value, trailing) = unique_keys::parse_unique(answer).map_err(|error| match error.is_data() {
        true => format!("the answer is not valid JSON: {error}"),
        false => format!("the answer is not JSON: {}", quote_excerpt(answer)),
    })?;
    if trailing.is_some() {
        return Err("the answer has text after the JSON object".to_owned());
    }
    let Some(object) = value.as_object() else {
        return Err(format!("the answer is not a JSON object: {}", quote_excerpt(answer)));
    };
    if let Some(unknown_key) = object.keys().find(|key| !["verdict", "why"].contains(&key.as_str())) {
        return Err(format!("the answer has an unknown key: {}; expected verdict and why", quote_excerpt(unknown_key)));
    }
    let name = match object.get("verdict").map(|verdict| verdict.as_str()) {
        Some(Some(name)) => name,
        Some(None) => return Err("verdict is not a string".to_owned()),
        None => return Err("the answer has no verdict".to_owned()),
    };
    let Some(verdict) = allowed.iter().find(|verdict| verdict.as_str() == name) else {
        let expected: Vec<&str> = allowed.iter().map(|verdict| verdict.as_str()).collect();
        return Err(format!("verdict is {}; expected one of {}", quote_excerpt(name), expected.join(", ")));
    };
    match object.get("why").map(|why| why.as_str()) {
        Some(Some(reason)) => Ok((*verdict, to_one_line(reason))),
        None => Ok((*verdict, String::new())),
        Some(None) => Err("why is not a string".to_owned()),
    }
}

fn quote_excerpt(text: &str) -> String {
    format!("'{}'", truncate_end(&to_one_line(text), MAX_QUOTED_CHARS))
}

/// Reduces a text to one line of at most [`MAX_REASON_CHARS`] characters. Removes hidden characters and
/// replaces typographic quotes, so that the line can be quoted safely.
pub fn to_one_line(text: &str) -> String {
    let whitespace_to_space = |c: char| if c.is_whitespace() { ' ' } else { c };
    let visible: String = text
        .chars()
        // A reason may be a megabyte long; only its beginning is processed.
        .take(MAX_REASON_CHARS * 16)
        .map(whitespace_to_space)
        .filter(|c| !is_hidden(*c))
        .map(|c| if matches!(c, '“' | '”') { '\'' } else { c })
        .collect();
    let line = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= MAX_REASON_CHARS {
        return line;
    }
    let start: String = line.chars().take(MAX_REASON_CHARS - 1).collect();
    format!("{}…", start.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn review_by_hook(answer: &str) -> Review {
        Review::from_answer(&Reviewer::Hook("x".into()), answer)
    }

    #[test]
    fn a_valid_answer_is_one_object_on_one_line() {
        for (answer, verdict, reason) in [
            (r#"{"verdict":"allow","why":"tests only"}"#, ReviewVerdict::Allow, "tests only"),
            ("{\"why\":\"\",\"verdict\":\"ask\"}\n", ReviewVerdict::Ask, ""),
            ("  {\"verdict\": \"deny\"}\r\n\n", ReviewVerdict::Deny, ""),
            (r#"{"verdict":"deny","why":"a\n\tb\u0000\u001b[31m “c”"}"#, ReviewVerdict::Deny, "a b[31m 'c'"),
        ] {
            let review = review_by_hook(answer);
            assert_eq!(
                (review.verdict, review.reason.as_str(), review.is_failed),
                (verdict, reason, false),
                "{answer}"
            );
        }
    }

    #[test]
    fn every_other_answer_asks_and_explains_the_error() {
        let deep = format!(r#"{{"verdict":"allow","why":{}{}}}"#, "[".repeat(99), "]".repeat(99));
        for (answer, part) in [
            ("", "the answer is empty"),
            (" \n ", "the answer is empty"),
            ("allow", "not JSON: 'allow'"),
            ("{\"verdict\":\"allow\"", "the answer is not JSON"),
            ("```json {\"verdict\":\"allow\"}```", "the answer is not JSON"),
            ("{\"verdict\":\"allow\"}\n{\"verdict\":\"allow\"}", "more than one line"),
            ("{\"verdict\":\n\"allow\"}", "more than one line"),
            (r#"{"verdict":"allow"}{"verdict":"deny"}"#, "text after the JSON object"),
            (r#"{"verdict":"allow"} and that is it"#, "text after the JSON object"),
            (r#"["allow"]"#, "not a JSON object"),
            (r#""allow""#, "not a JSON object"),
            (r#"{"verdict":"deny","verdict":"allow"}"#, "given twice"),
            (r#"{"verdict":"allow","why":"a","why":"b"}"#, "given twice"),
            (r#"{"verdict":"Allow"}"#, "'Allow'; expected one of allow, ask, deny"),
            (r#"{"verdict":"allow "}"#, "expected one of allow"),
            (r#"{"verdict":"yes"}"#, "expected one of allow"),
            (r#"{"verdict":true}"#, "is not a string"),
            (r#"{"verdict":null}"#, "is not a string"),
            (r#"{"why":"fine"}"#, "has no verdict"),
            ("{}", "has no verdict"),
            (r#"{"verdict":"allow","why":5}"#, "why is not a string"),
            (r#"{"verdict":"allow","always":true}"#, "an unknown key: 'always'"),
            (&deep, "nested"),
        ] {
            let review = review_by_hook(answer);
            assert_eq!((review.verdict, review.is_failed), (ReviewVerdict::Ask, true), "{answer}");
            assert!(review.reason.contains(part), "{answer}: {}", review.reason);
        }
    }

    #[test]
    fn the_model_reviewer_cannot_deny() {
        let review = Review::from_answer(&Reviewer::Model, r#"{"verdict":"deny","why":"no"}"#);
        assert_eq!((review.verdict, review.is_failed), (ReviewVerdict::Ask, true));
        assert_eq!(review.reason, "verdict is 'deny'; expected one of allow, ask");
    }

    #[test]
    fn r30_hooks_that_were_not_run_are_named() {
        let describe =
            |names: &[&str]| describe_hooks_not_run(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>());
        assert_eq!(describe(&[]), None);
        assert_eq!(describe(&["a\nb"]).as_deref(), Some("hook “a b” was not run in this dry run"));
        assert_eq!(describe(&["a", "b"]).as_deref(), Some("hooks “a”, “b” were not run in this dry run"));
    }

    #[test]
    fn a_reason_is_one_line_of_limited_length_without_hidden_characters() {
        assert_eq!(to_one_line("a\r\n\n  b\tc"), "a b c");
        assert_eq!(to_one_line("ok\u{202e}txt\u{200b}\u{e0041}.\u{feff}"), "oktxt.");
        let long = to_one_line(&"é ".repeat(100_000));
        assert_eq!(long.chars().count(), MAX_REASON_CHARS);
        assert!(long.ends_with("é…"), "{long}");
        assert_eq!(to_one_line(&"x".repeat(MAX_REASON_CHARS)), "x".repeat(MAX_REASON_CHARS));
        assert_eq!(to_one_line("\u{1b}\u{7}"), "");
    }
}
