//! Tool that searches the deferred tools by words.

use super::arguments::{object_spec, parse_arguments};
use super::{Error, LiveContext, RehearsalContext, RehearsalOutcome, Tool, parse_plan_data, summary_line};
use crate::chat::deferred_tools::{DESCRIBE_TOOL, FIND_TOOL};
use crate::chat::{Access, CallWords, Intent, Plan, Preview, ToolSpec, Work};
use crate::project::Reader;
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;

/// Words for the rows of its calls.
pub(super) const WORDS: CallWords = CallWords::new(FIND_TOOL, "Find");

/// Maximum number of tools in a result.
const MAX_RESULTS: usize = 20;
/// Maximum characters of a description in a result.
const MAX_DESCRIPTION_CHARS: usize = 120;
/// Minimum characters of a word of a tool that also matches a longer search word which begins with it: `issue` matches
/// `issues`.
const MIN_STEM_CHARS: usize = 4;
/// Weight of a word in the name of a tool; one in its description counts 1.
const NAME_WEIGHT: usize = 4;

/// Searches these tools.
pub struct FindTool(pub Vec<ToolSpec>);

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    words: String,
}

impl FindTool {
    /// Lists the tools that match, the best first.
    fn search(&self, words: &str) -> String {
        let words = split_words(words);
        let mut matches: Vec<(usize, &ToolSpec)> = self.0.iter().map(|spec| (score(spec, &words), spec)).collect();
        let has_match = matches.iter().any(|(score, _)| *score > 0);
        matches.retain(|(score, _)| *score > 0 || !has_match);
        // Stable: tools with the same score stay in their order.
        matches.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
        let describe = |(_, spec): &(usize, &ToolSpec)| {
            format!("{}: {}", spec.name, summary_line::first_line(&spec.description, MAX_DESCRIPTION_CHARS))
        };
        let mut lines: Vec<String> = matches.iter().take(MAX_RESULTS).map(describe).collect();
        if !has_match && !words.is_empty() {
            lines.insert(0, "No tool matches these words. Some of the others:".to_owned());
        }
        if matches.len() > MAX_RESULTS {
            lines.push(format!("{} more; search with other words.", matches.len() - MAX_RESULTS));
        }
        lines.push(format!("{DESCRIBE_TOOL} returns the parameters of one of them."));
        lines.join("\n")
    }
}

/// Splits a text at all characters that are not alphanumeric.
fn split_words(text: &str) -> Vec<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    words.map(str::to_lowercase).collect()
}

/// Returns how well a tool matches the words; 0 if it does not.
fn score(spec: &ToolSpec, words: &[String]) -> usize {
    let (name, description) = (split_words(&spec.name), split_words(&spec.description));
    let has_word = |text: &[String], word: &str| {
        let matches = |known: &String| {
            known.starts_with(word) || known.chars().count() >= MIN_STEM_CHARS && word.starts_with(known.as_str())
        };
        text.iter().any(matches)
    };
    let score_word =
        |word: &String| NAME_WEIGHT * usize::from(has_word(&name, word)) + usize::from(has_word(&description, word));
    words.iter().map(score_word).sum()
}

#[async_trait]
impl Tool for FindTool {
    fn name(&self) -> Cow<'_, str> {
        WORDS.tool.into()
    }

    fn tool_spec(&self) -> ToolSpec {
        object_spec(
            FIND_TOOL,
            "Search tools that are not listed here. Returns names and descriptions.",
            json!({ "words": { "type": "string", "description": "What it should do; empty for any" } }),
            &["words"],
        )
    }

    fn plan_call(&self, arguments: &Value, _: &dyn Reader) -> Result<Intent, Error> {
        let arguments: Arguments = parse_arguments(&self.tool_spec(), arguments)?;
        Ok(Intent::Act(Box::new(Plan::new(
            "Search tools?",
            summary_line::first_line(&format!("tools for {:?}", arguments.words), 80),
            Access::Nothing,
            Preview::Text(arguments.words.clone()),
            Work::Arguments(json!(arguments)),
        ))))
    }

    async fn run(&self, plan: &Plan, _: &LiveContext) -> Result<String, Error> {
        let Arguments { words } = parse_plan_data(plan)?;
        Ok(self.search(&words))
    }

    async fn rehearse(&self, plan: &Plan, _: &RehearsalContext) -> Result<RehearsalOutcome, Error> {
        let Arguments { words } = parse_plan_data(plan)?;
        Ok(RehearsalOutcome::Ran(self.search(&words)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn search(tools: &[(&str, &str)], words: &str) -> Vec<String> {
        let to_spec = |(name, description): &(&str, &str)| ToolSpec {
            name: (*name).to_owned(),
            description: (*description).to_owned(),
            ..ToolSpec::default()
        };
        let found = FindTool(tools.iter().map(to_spec).collect()).search(words);
        found.lines().map(str::to_owned).collect()
    }

    #[test]
    fn names_count_more_than_descriptions_and_words_may_be_inflected() {
        let tools = [
            ("mcp__hub__list_repos", "List repositories. Also shows issues."),
            ("mcp__hub__create_issue", "Create one."),
            ("weather", "Forecast.\nMore text."),
        ];
        let lines = search(&tools, "Issues");
        assert_eq!(
            lines[..2],
            ["mcp__hub__create_issue: Create one.", "mcp__hub__list_repos: List repositories. Also shows issues."]
        );
        assert_eq!(lines.len(), 3);
        assert_eq!(search(&tools, "weath")[0], "weather: Forecast.…");
        assert_eq!(search(&tools, "")[..3].len(), 3, "without words all are listed");
        let none = search(&tools, "unrelated");
        assert!(none[0].starts_with("No tool matches") && none[1].starts_with("mcp__hub__list_repos"), "{none:?}");
    }

    #[test]
    fn a_long_list_is_truncated() {
        let names: Vec<String> = (0..500).map(|number| format!("tool_{number}")).collect();
        let tools: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "x")).collect();
        let lines = search(&tools, "tool");
        assert_eq!((lines.len(), lines[MAX_RESULTS].as_str()), (MAX_RESULTS + 2, "480 more; search with other words."));
    }
}
