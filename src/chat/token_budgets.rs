//! Measured tokens of the built-in tools and system prompts, from `budgets.toml`. Tests compare them with the tokenizers.
//!
//! The program contains no tokenizer: a text that is not exactly the measured one is estimated.

use super::{Digest, ToolSpec};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// The file of budgets.
const BUDGETS: &str = include_str!("budgets.toml");

/// Groups of built-in tools, in the order of reports. A session has those whose condition is met.
pub const GROUPS: [(&str, &str); 8] = [
    ("core", "always"),
    ("workspace", "always"),
    ("web", "unless web.fetch is false"),
    ("browser", "if a browser is installed"),
    ("background", "once a command runs in the background"),
    ("search", "if tools of files or servers are deferred"),
    ("skills", "if there are skills"),
    ("docs", "if docs.enabled is true"),
];

/// Tokens of a text by two encodings of OpenAI.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct TokenCounts {
    pub cl100k: u64,
    pub o200k: u64,
}

impl TokenCounts {
    /// Returns the larger of both.
    pub fn larger(self) -> u64 {
        self.cl100k.max(self.o200k)
    }
}

/// Line of `budgets.toml`: the measured tokens of a text, and their limit.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budget {
    pub cl100k: u64,
    pub o200k: u64,
    /// Maximum for both encodings. At most 5 % above the larger one.
    pub limit: u64,
    /// First digits of the SHA-256 of the measured text.
    pub digest: String,
}

impl Budget {
    pub fn counts(&self) -> TokenCounts {
        TokenCounts { cl100k: self.cl100k, o200k: self.o200k }
    }
}

/// Line of `budgets.toml`: the measured tokens of groups of tools as one request contains them.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProfileBudget {
    /// Names from [`GROUPS`].
    pub groups: Vec<String>,
    pub cl100k: u64,
    pub o200k: u64,
    pub limit: u64,
}

/// Defaults of settings that limit what is not built in.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OtherLimits {
    /// Bytes of the instructions of a project (AGENTS.md) that are sent: `project.instructions_kib`.
    pub instruction_bytes: usize,
    /// Estimated tokens of all tools above which those of files and MCP servers are deferred: `tool_tokens`.
    pub tool_tokens: u64,
}

/// The content of `budgets.toml`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Budgets {
    pub limits: OtherLimits,
    /// System prompts by name, without facts about the project.
    pub system_prompts: BTreeMap<String, Budget>,
    /// Built-in tools by group and name.
    pub tools: BTreeMap<String, BTreeMap<String, Budget>>,
    /// Sets of groups by name.
    pub profiles: BTreeMap<String, ProfileBudget>,
}

impl Budgets {
    /// Parses a file of budgets.
    ///
    /// # Errors
    /// The problem with its place in the file.
    pub fn parse(text: &str) -> Result<Self, String> {
        toml::from_str(text).map_err(|error| error.to_string())
    }

    /// Returns the budgets of this program. Parses them, so only reports call it.
    pub fn built_in() -> Self {
        // A test parses the same text. Without budgets everything is estimated.
        Self::parse(BUDGETS).unwrap_or_default()
    }

    /// Returns the measured tokens of a tool; `None` if it is not built in, or its text is not the measured one.
    pub fn measured_tool(&self, spec: &ToolSpec) -> Option<TokenCounts> {
        let budget = self.tools.values().find_map(|tools| tools.get(&spec.name))?;
        (budget.digest == short_digest(&request_text(spec))).then(|| budget.counts())
    }

    /// Returns the name of the group that a built-in tool belongs to.
    pub fn group_of(&self, tool: &str) -> Option<&'static str> {
        let has_tool = |group: &str| self.tools.get(group).is_some_and(|tools| tools.contains_key(tool));
        GROUPS.iter().map(|(group, _)| *group).find(|group| has_tool(group))
    }

    /// Returns the measured tokens of the system prompt with this name; `None` if this is not the measured text.
    pub fn measured_prompt(&self, name: &str, text: &str) -> Option<TokenCounts> {
        let budget = self.system_prompts.get(name)?;
        (budget.digest == short_digest(text)).then(|| budget.counts())
    }
}

/// Returns a tool as a request of the chat completions API contains it.
pub fn request_json(spec: &ToolSpec) -> Value {
    let function = json!({ "name": spec.name, "description": spec.description, "parameters": spec.parameters });
    json!({ "type": "function", "function": function })
}

/// Returns the text of a tool that is measured: compact JSON.
pub fn request_text(spec: &ToolSpec) -> String {
    request_json(spec).to_string()
}

/// Returns the digest that a line of `budgets.toml` has for this text.
pub fn short_digest(text: &str) -> String {
    Digest::of_bytes(text.as_bytes()).short_hex().to_owned()
}

/// Returns the row of a tool in `aye tokens --json` and in the checked-in file of schemas.
pub fn tool_row(spec: &ToolSpec, group: &str, counts: Option<TokenCounts>, estimate: u64) -> Value {
    json!({
        "part": "tool", "name": spec.name, "group": group, "cl100k": counts.map(|counts| counts.cl100k),
        "o200k": counts.map(|counts| counts.o200k), "estimate": estimate,
        "description": spec.description, "parameters": spec.parameters,
    })
}

/// Returns the row of a system prompt in `aye tokens --json` and in the checked-in file of schemas.
pub fn prompt_row(name: &str, text: &str, counts: Option<TokenCounts>, estimate: u64) -> Value {
    json!({
        "part": "system_prompt", "name": name, "cl100k": counts.map(|counts| counts.cl100k),
        "o200k": counts.map(|counts| counts.o200k), "estimate": estimate, "text": text,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_measured_text_has_measured_tokens() {
        let spec = ToolSpec { name: "a".into(), description: "Does it.".into(), ..ToolSpec::default() };
        let line = format!("cl100k = 3, o200k = 2, limit = 3, digest = \"{}\"", short_digest(&request_text(&spec)));
        let text = format!(
            "[limits]\ninstruction_bytes = 1\ntool_tokens = 2\n[system_prompts]\n[profiles]\n[tools.web]\na = {{ {line} }}\n"
        );
        let budgets = Budgets::parse(&text).unwrap();
        assert_eq!(budgets.measured_tool(&spec), Some(TokenCounts { cl100k: 3, o200k: 2 }));
        assert_eq!(budgets.group_of("a"), Some("web"));
        let changed = ToolSpec { description: "Does that.".into(), ..spec };
        assert_eq!((budgets.measured_tool(&changed), budgets.group_of("b")), (None, None));
    }

    #[test]
    fn the_built_in_budgets_are_valid() {
        let budgets = Budgets::parse(BUDGETS).unwrap();
        let groups: Vec<&str> = GROUPS.iter().map(|(group, _)| *group).collect();
        assert!(budgets.tools.keys().all(|group| groups.contains(&group.as_str())), "{:?}", budgets.tools.keys());
        assert!(budgets.profiles.values().flat_map(|profile| &profile.groups).all(|name| groups.contains(&&**name)));
    }
}
