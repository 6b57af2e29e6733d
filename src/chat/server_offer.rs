//! Resources and prompts that an MCP server offers to the user.

use crate::text::words::split_words;
use serde::{Deserialize, Serialize};

/// What a server offers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerOffer {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<OfferedResource>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<OfferedPrompt>,
}

/// A resource. It is named `@SERVER:URI`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferedResource {
    pub uri: String,
    /// For the user; may be empty.
    pub title: String,
}

/// A prompt. It is run as `/SERVER:NAME`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OfferedPrompt {
    pub name: String,
    /// For the user; may be empty.
    pub title: String,
    /// Names of the arguments, each with whether it is required.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub arguments: Vec<(String, bool)>,
}

impl OfferedPrompt {
    /// Parses the words after the command: `name=value` for an argument of this name, otherwise a value for the next
    /// argument. Quotes keep blanks together; the last argument gets all words that are left.
    ///
    /// # Errors
    /// What is missing, with the form of the command.
    pub fn parse_arguments(&self, text: &str) -> Result<Vec<(String, String)>, String> {
        let mut given: Vec<(String, String)> = Vec::new();
        for word in split_words(text) {
            let named = word.split_once('=').filter(|(name, _)| self.arguments.iter().any(|(known, _)| known == name));
            if let Some((name, value)) = named {
                given.retain(|(known, _)| known != name);
                given.push((name.to_owned(), value.to_owned()));
                continue;
            }
            let is_free = |(name, _): &&(String, bool)| given.iter().all(|(known, _)| known != name);
            match (self.arguments.iter().find(is_free), given.last_mut()) {
                (Some((name, _)), _) => given.push((name.clone(), word)),
                (None, Some((_, value))) => *value = format!("{value} {word}"),
                (None, None) => return Err("It takes no arguments".to_owned()),
            }
        }
        let is_missing =
            |(name, is_required): &&(String, bool)| *is_required && given.iter().all(|(known, _)| known != name);
        match self.arguments.iter().find(is_missing) {
            Some((name, _)) => Err(format!("Missing: {name}. Arguments: {}", self.describe_arguments())),
            None => Ok(given),
        }
    }

    /// Describes the arguments: `topic style?`.
    pub fn describe_arguments(&self) -> String {
        let describe = |(name, is_required): &(String, bool)| format!("{name}{}", if *is_required { "" } else { "?" });
        self.arguments.iter().map(describe).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_are_given_by_position_or_name() {
        let arguments = vec![("topic".to_owned(), true), ("style".to_owned(), false)];
        let prompt = OfferedPrompt { name: "a".into(), title: String::new(), arguments };
        let parse = |text: &str| {
            let parsed = prompt.parse_arguments(text);
            parsed
                .map(|given| given.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(";"))
        };
        assert_eq!(parse("rust short"), Ok("topic=rust;style=short".into()));
        assert_eq!(parse("'two words' very short"), Ok("topic=two words;style=very short".into()));
        assert_eq!(parse("style=dry x=1"), Ok("style=dry;topic=x=1".into()));
        assert_eq!(parse("it's"), Ok("topic=it's".into()), "an open quote is a character");
        assert_eq!(parse("style=dry"), Err("Missing: topic. Arguments: topic style?".into()));
        let none = OfferedPrompt { name: "a".into(), title: String::new(), arguments: vec![] };
        assert!(none.parse_arguments("x").is_err() && none.parse_arguments("") == Ok(vec![]));
    }
}
