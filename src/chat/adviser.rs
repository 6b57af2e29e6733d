//! Who is asked about a call between its verdict and the act, and what they say.

use super::{Usage, once};
use serde::{Deserialize, Serialize};

/// The most letters that are taken of an adviser's reason.
pub const WHY: usize = 200;
/// The most letters of an adviser's own words that a complaint repeats.
const QUOTED: usize = 40;

/// Somebody of the person's choice who is asked about a call.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(tag = "who", content = "name", rename_all = "snake_case")]
pub enum Adviser {
    /// A program, by its name in the settings.
    Hook(String),
    /// A model that looks at what would go ahead, and can only make it ask.
    SecondReader,
}

/// What an adviser says of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Advice {
    /// It may go ahead.
    Allow,
    /// The person is to be asked.
    Ask,
    /// Never.
    Deny,
}

/// What came of asking an adviser.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// Its word; [`Advice::Ask`] where it failed.
    pub advice: Advice,
    /// Its reason, or what went wrong; one line of at most [`WHY`] letters.
    pub why: String,
    /// Whether it gave no answer that counts.
    pub failed: bool,
    /// Milliseconds until then.
    pub took_ms: u64,
    /// What a service counted for it.
    pub usage: Option<Usage>,
}

impl Adviser {
    /// In words, for the middle of a sentence.
    pub fn words(&self) -> String {
        match self {
            Self::Hook(name) => format!("the hook “{}”", one_line(name)),
            Self::SecondReader => "the second reader".to_owned(),
        }
    }

    /// What it may say.
    pub fn may_say(&self) -> &'static [Advice] {
        match self {
            Self::Hook(_) => &[Advice::Allow, Advice::Ask, Advice::Deny],
            Self::SecondReader => &[Advice::Allow, Advice::Ask],
        }
    }
}

/// Says which hooks wanted a call and were not run in this dry run; `None` if there are none.
pub fn words_of_hooks_not_run(names: &[String]) -> Option<String> {
    let named = names.iter().map(|name| format!("“{}”", one_line(name))).collect::<Vec<_>>().join(", ");
    match names.len() {
        0 => None,
        1 => Some(format!("hook {named} was not run in this dry run")),
        _ => Some(format!("hooks {named} were not run in this dry run")),
    }
}

impl Advice {
    /// Its one word, as it is written in an answer and in the log.
    pub fn word(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }
}

impl Said {
    /// An answer as it came, read strictly; what is none asks.
    pub fn of(adviser: &Adviser, answer: &str) -> Self {
        match read(answer, adviser.may_say()) {
            Ok((advice, why)) => Self { advice, why, failed: false, took_ms: 0, usage: None },
            Err(what) => Self::failed(&what),
        }
    }

    /// No answer that counts, and why.
    pub fn failed(what: &str) -> Self {
        Self { advice: Advice::Ask, why: one_line(what), failed: true, took_ms: 0, usage: None }
    }
}

/// Reads `{"verdict": "…", "why": "…"}`: one object on one line, each key once and no other, and nothing behind it.
fn read(answer: &str, may_say: &[Advice]) -> Result<(Advice, String), String> {
    let answer = answer.trim_matches([' ', '\t', '\r', '\n']);
    if answer.is_empty() {
        return Err("it said nothing".to_owned());
    }
    if answer.contains('\n') {
        return Err("it said more than one line".to_owned());
    }
    let (value, behind) = once::read(answer).map_err(|error| match error.is_data() {
        true => format!("it did not answer with JSON that counts: {error}"),
        false => format!("it did not answer with JSON but with {}", quoted(answer)),
    })?;
    if behind.is_some() {
        return Err("it said more than one object".to_owned());
    }
    let Some(object) = value.as_object() else {
        return Err(format!("it did not answer with an object but with {}", quoted(answer)));
    };
    if let Some(other) = object.keys().find(|key| !["verdict", "why"].contains(&key.as_str())) {
        return Err(format!("its answer has {} in it; verdict and why are expected", quoted(other)));
    }
    let word = match object.get("verdict").map(|verdict| verdict.as_str()) {
        Some(Some(word)) => word,
        Some(None) => return Err("its verdict is not a text".to_owned()),
        None => return Err("its answer has no verdict".to_owned()),
    };
    let Some(advice) = may_say.iter().find(|advice| advice.word() == word) else {
        let known: Vec<&str> = may_say.iter().map(|advice| advice.word()).collect();
        return Err(format!("its verdict is {}; it can be {}", quoted(word), known.join(", ")));
    };
    match object.get("why").map(|why| why.as_str()) {
        Some(Some(why)) => Ok((*advice, one_line(why))),
        None => Ok((*advice, String::new())),
        Some(None) => Err("its why is not a text".to_owned()),
    }
}

fn quoted(text: &str) -> String {
    let line = one_line(text);
    let short: String = line.chars().take(QUOTED).collect();
    let more = if short.len() < line.len() { "…" } else { "" };
    format!("'{short}{more}'")
}

/// One line of at most [`WHY`] letters: nothing in it is obeyed by a terminal, hides, turns letters around or ends a
/// quotation.
pub fn one_line(text: &str) -> String {
    let hides = |c: &char| {
        c.is_control()
            || matches!(c, '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e0fff}')
    };
    let blank = |c: char| if c.is_whitespace() { ' ' } else { c };
    let plain: String = text
        .chars()
        // A reason may be a megabyte, and only its beginning is looked at.
        .take(WHY * 16)
        .map(blank)
        .filter(|c| !hides(c))
        .map(|c| if matches!(c, '“' | '”') { '\'' } else { c })
        .collect();
    let line = plain.split_whitespace().collect::<Vec<_>>().join(" ");
    if line.chars().count() <= WHY {
        return line;
    }
    let cut: String = line.chars().take(WHY - 1).collect();
    format!("{}…", cut.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hook(answer: &str) -> Said {
        Said::of(&Adviser::Hook("x".into()), answer)
    }

    #[test]
    fn an_answer_that_counts_is_one_object_on_one_line() {
        for (answer, advice, why) in [
            (r#"{"verdict":"allow","why":"tests only"}"#, Advice::Allow, "tests only"),
            ("{\"why\":\"\",\"verdict\":\"ask\"}\n", Advice::Ask, ""),
            ("  {\"verdict\": \"deny\"}\r\n\n", Advice::Deny, ""),
            (r#"{"verdict":"deny","why":"a\n\tb\u0000\u001b[31m “c”"}"#, Advice::Deny, "a b[31m 'c'"),
        ] {
            let said = hook(answer);
            assert_eq!((said.advice, said.why.as_str(), said.failed), (advice, why, false), "{answer}");
        }
    }

    #[test]
    fn every_other_answer_asks_and_says_what_was_wrong_with_it() {
        let deep = format!(r#"{{"verdict":"allow","why":{}{}}}"#, "[".repeat(99), "]".repeat(99));
        for (answer, part) in [
            ("", "it said nothing"),
            (" \n ", "it said nothing"),
            ("allow", "not answer with JSON but with 'allow'"),
            ("{\"verdict\":\"allow\"", "not answer with JSON"),
            ("```json {\"verdict\":\"allow\"}```", "not answer with JSON"),
            ("{\"verdict\":\"allow\"}\n{\"verdict\":\"allow\"}", "more than one line"),
            ("{\"verdict\":\n\"allow\"}", "more than one line"),
            (r#"{"verdict":"allow"}{"verdict":"deny"}"#, "more than one object"),
            (r#"{"verdict":"allow"} and that is it"#, "more than one object"),
            (r#"["allow"]"#, "not answer with an object"),
            (r#""allow""#, "not answer with an object"),
            (r#"{"verdict":"deny","verdict":"allow"}"#, "given twice"),
            (r#"{"verdict":"allow","why":"a","why":"b"}"#, "given twice"),
            (r#"{"verdict":"Allow"}"#, "'Allow'; it can be allow, ask, deny"),
            (r#"{"verdict":"allow "}"#, "it can be allow"),
            (r#"{"verdict":"yes"}"#, "it can be allow"),
            (r#"{"verdict":true}"#, "is not a text"),
            (r#"{"verdict":null}"#, "is not a text"),
            (r#"{"why":"fine"}"#, "has no verdict"),
            ("{}", "has no verdict"),
            (r#"{"verdict":"allow","why":5}"#, "its why is not a text"),
            (r#"{"verdict":"allow","always":true}"#, "'always' in it"),
            (&deep, "nested"),
        ] {
            let said = hook(answer);
            assert_eq!((said.advice, said.failed), (Advice::Ask, true), "{answer}");
            assert!(said.why.contains(part), "{answer}: {}", said.why);
        }
    }

    #[test]
    fn the_second_reader_can_not_deny() {
        let said = Said::of(&Adviser::SecondReader, r#"{"verdict":"deny","why":"no"}"#);
        assert_eq!((said.advice, said.failed), (Advice::Ask, true));
        assert_eq!(said.why, "its verdict is 'deny'; it can be allow, ask");
    }

    #[test]
    fn r30_hooks_that_were_not_run_are_named() {
        let words = |names: &[&str]| {
            words_of_hooks_not_run(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>())
        };
        assert_eq!(words(&[]), None);
        assert_eq!(words(&["a\nb"]).as_deref(), Some("hook “a b” was not run in this dry run"));
        assert_eq!(words(&["a", "b"]).as_deref(), Some("hooks “a”, “b” were not run in this dry run"));
    }

    #[test]
    fn a_reason_is_one_line_of_so_many_letters_that_hides_nothing() {
        assert_eq!(one_line("a\r\n\n  b\tc"), "a b c");
        assert_eq!(one_line("ok\u{202e}txt\u{200b}\u{e0041}.\u{feff}"), "oktxt.");
        let long = one_line(&"é ".repeat(100_000));
        assert_eq!(long.chars().count(), WHY);
        assert!(long.ends_with("é…"), "{long}");
        assert_eq!(one_line(&"x".repeat(WHY)), "x".repeat(WHY));
        assert_eq!(one_line("\u{1b}\u{7}"), "");
    }
}
