//! The tokens of a new session's requests by part. What is built in was measured; everything else is estimated.

use crate::agent::{build_system_prompt, system_prompt_texts};
use crate::assemble::found_tool::ToolState;
use crate::assemble::tool_files::open_source;
use crate::assemble::tool_list::DOCS_OFF;
use crate::chat::deferred_tools::exceeds_limit;
use crate::chat::instructions::{InstructionScope, append_instructions};
use crate::chat::message_tokens::estimate_tools;
use crate::chat::token_budgets::{Budgets, TokenCounts, prompt_row, tool_row};
use crate::chat::{ToolSpec, extend_object, mcp_names, pluralize};
use crate::commands::tools::inventory::Inventory;
use crate::config::ProjectFiles;
use crate::print::json_line;
use crate::project::folder_facts::{shorten_home, system_prompt_facts};
use crate::text::clean::clean_line;
use crate::text::tokens::estimate_text;
use crate::tools::Toolbox;
use anyhow::Result;
use serde_json::{Value, json};

/// Tokens of a part: measured, or the estimate in place of both counts.
#[derive(Clone, Copy)]
struct PartTokens {
    counts: TokenCounts,
    is_estimated: bool,
    estimate: u64,
}

/// A part of a request: the system prompt, instructions, or a tool.
struct Part {
    /// Heading that it belongs to.
    section: String,
    name: String,
    tokens: PartTokens,
    /// Why it is not sent; empty if it is.
    absence: &'static str,
    /// What else is known of it, for the user.
    note: String,
    /// The row for programs, without what this struct states.
    row: Value,
}

/// The report.
pub(super) struct Report {
    parts: Vec<Part>,
    budgets: Budgets,
    /// Folder, profile and context window.
    title: String,
    context_window: Option<u64>,
    /// Facts about what is missing or not sent.
    notes: Vec<String>,
}

const SYSTEM_PROMPT: &str = "system prompt";
const INSTRUCTIONS: &str = "instructions";
const DEFERRED: &str = "deferred";

impl PartTokens {
    fn new(measured: Option<TokenCounts>, estimate: u64) -> Self {
        let counts = measured.unwrap_or(TokenCounts { cl100k: estimate, o200k: estimate });
        Self { counts, is_estimated: measured.is_none(), estimate }
    }

    /// Returns the columns of both encodings.
    fn columns(self) -> [String; 2] {
        let mark = if self.is_estimated { "~" } else { "" };
        [self.counts.cl100k, self.counts.o200k].map(|count| format!("{mark}{count}"))
    }

    fn sum(tokens: impl Iterator<Item = Self>) -> Self {
        let mut sum = Self::new(Some(TokenCounts::default()), 0);
        for PartTokens { counts, is_estimated, estimate } in tokens {
            sum.counts.cl100k += counts.cl100k;
            sum.counts.o200k += counts.o200k;
            sum.is_estimated |= is_estimated;
            sum.estimate += estimate;
        }
        sum
    }
}

impl Report {
    /// Reads the settings, the tool files, the instructions and the accepted tools of MCP servers.
    pub(super) fn new(inventory: &Inventory) -> Result<Self> {
        let budgets = Budgets::built_in();
        let connection = inventory.resolve_connection()?;
        let profile = connection.map(|connection| (connection.profile, connection.settings));
        let context_window = profile.as_ref().and_then(|(_, profile)| profile.context_window);
        let mut title = format!("each request in {}, before any message", shorten_home(&inventory.folder));
        match &profile {
            Some((name, _)) => title.push_str(&format!(" · profile {name}")),
            None => title.push_str(" · no provider is configured"),
        }
        let mut report = Self { parts: Vec::new(), budgets, title, context_window, notes: Vec::new() };
        report.add_prompts(inventory)?;
        report.add_tools(inventory, profile.as_ref().is_none_or(|(_, profile)| profile.tools));
        Ok(report)
    }

    fn add_prompts(&mut self, inventory: &Inventory) -> Result<()> {
        for (name, text) in system_prompt_texts() {
            let measured = self.budgets.measured_prompt(name, text);
            let tokens = PartTokens::new(measured, estimate_text(text));
            let absence = match name {
                "session" => "",
                "sub_agent" => "only in sub-agents",
                "former_dry_run" => "only after a dry run",
                _ => "only in a dry run",
            };
            let row = prompt_row(name, text, measured, tokens.estimate);
            self.push(SYSTEM_PROMPT, name, tokens, absence, row);
        }
        let facts = system_prompt_facts(&inventory.folder);
        let text = build_system_prompt(&facts, None);
        let added = text.strip_prefix(system_prompt_texts()[0].1).unwrap_or(&text);
        let tokens = PartTokens::new(None, estimate_text(added));
        self.push(SYSTEM_PROMPT, "facts about the project", tokens, "", json!({ "part": "facts" }));
        if let Some(spec) = &inventory.skills {
            let tokens = PartTokens::new(None, estimate_text(&spec.prompt_section));
            self.push(SYSTEM_PROMPT, "list of skills", tokens, "", json!({ "part": "skills" }));
        }
        let max_bytes = inventory.settings.config.project.instructions_kib << 10;
        let source = open_source(&inventory.places, &inventory.folder, Vec::new(), max_bytes);
        for file in ProjectFiles::trusted_instructions(&source) {
            let text = append_instructions("", std::slice::from_ref(&file));
            let tokens = PartTokens::new(None, estimate_text(&text));
            let scope = match file.scope {
                InstructionScope::User => "user",
                InstructionScope::Project => "project",
            };
            let row = json!({ "part": "instructions", "scope": scope, "bytes": file.bytes, "omitted_bytes": file.omitted_bytes() });
            self.push(INSTRUCTIONS, &file.file, tokens, "", row);
            if let Some(part) = self.parts.last_mut().filter(|_| file.omitted_bytes() > 0) {
                part.note = format!("its first {} of {} bytes", file.text.len(), file.bytes);
            }
        }
        let files = ProjectFiles::load(&source);
        let untrusted: Vec<&str> = files.untrusted().map(|file| file.name.as_str()).collect();
        if !untrusted.is_empty() {
            self.notes.push(format!("not sent, because not trusted (aye trust): {}", untrusted.join(", ")));
        }
        Ok(())
    }

    fn add_tools(&mut self, inventory: &Inventory, sends_tools: bool) {
        let sent = inventory.session_specs();
        let files = inventory.files.iter().filter(|tool| tool.state == ToolState::Active);
        let of_files: Vec<(ToolSpec, String)> =
            files.filter_map(|tool| Some((tool.spec()?, tool.file.clone()))).collect();
        let all: Vec<ToolSpec> = of_files.iter().map(|(spec, _)| spec.clone()).chain(sent.iter().cloned()).collect();
        let defers = exceeds_limit(&all, inventory.tool_limit());
        let absence = |is_sent: bool, otherwise: &'static str| match (sends_tools, is_sent) {
            (false, _) => "the profile sends no tools",
            (true, false) => otherwise,
            (true, true) => "",
        };
        for (group, specs) in Toolbox::spec_groups() {
            for default_spec in specs {
                let session_spec = sent.iter().find(|spec| spec.name == default_spec.name);
                let is_sent = session_spec.is_some() || group == "search" && defers;
                let spec = session_spec.unwrap_or(&default_spec);
                let otherwise = match group {
                    "web" => "web.fetch is false",
                    "browser" => "no browser is installed, or it is turned off",
                    "background" => "until a command runs in the background",
                    "skills" => "there are no skills",
                    "docs" => DOCS_OFF,
                    _ => "no tool is deferred",
                };
                // A session has a workspace, but the list of tools was made without one.
                let is_sent = is_sent || default_spec.name == "browser_screenshot" && has_tool(&sent, "browser_act");
                self.push_tool(spec, group, &format!("tools: {group}"), absence(is_sent, otherwise));
            }
        }
        let otherwise = DEFERRED;
        for (spec, file) in &of_files {
            self.push_tool(spec, "files", "tools of files", absence(!defers, otherwise));
            if let Some(part) = self.parts.last_mut() {
                part.note.clone_from(file);
            }
        }
        for spec in sent.iter().filter(|spec| spec.is_custom) {
            let server = mcp_names::server_of(&spec.name).unwrap_or_default();
            self.push_tool(spec, "mcp", &format!("tools of MCP server {server}"), absence(!defers, otherwise));
        }
        if sent.iter().any(|spec| spec.is_custom) {
            self.notes.push("tools of MCP servers: as they were last accepted; no server was started".to_owned());
        }
    }

    fn push_tool(&mut self, spec: &ToolSpec, group: &str, section: &str, absence: &'static str) {
        let measured = self.budgets.measured_tool(spec);
        let tokens = PartTokens::new(measured, estimate_tools(std::slice::from_ref(spec)));
        let row = tool_row(spec, group, measured, tokens.estimate);
        self.push(section, &spec.name, tokens, absence, row);
    }

    fn push(&mut self, section: &str, name: &str, tokens: PartTokens, absence: &'static str, row: Value) {
        let (section, name, note) = (section.to_owned(), name.to_owned(), String::new());
        self.parts.push(Part { section, name, tokens, absence, note, row });
    }

    fn total(&self) -> PartTokens {
        PartTokens::sum(self.parts.iter().filter(|part| part.absence.is_empty()).map(|part| part.tokens))
    }

    /// Returns the report for the user.
    pub(super) fn lines(&self) -> Vec<String> {
        let name_width = self.parts.iter().map(|part| part.name.chars().count() + 2).max().unwrap_or(0).max(30);
        let row = |name: &str, tokens: PartTokens, note: &str| {
            let [cl100k, o200k] = tokens.columns();
            clean_line(format!("{name:name_width$} {cl100k:>8} {o200k:>8}  {note}").trim_end()).into_owned()
        };
        let total = self.total();
        let share = self.context_window.filter(|window| *window > 0);
        let share = share
            .map(|window| format!("{} % of the context window, {window}", total.counts.o200k * 100 / window))
            .unwrap_or_default();
        let mut lines = vec![
            clean_line(&self.title).into_owned(),
            format!("{:name_width$} {:>8} {:>8}", "", "cl100k", "o200k"),
            row("total", total, &share),
        ];
        for is_sent in [true, false] {
            if !is_sent {
                lines.extend([String::new(), "not sent now".to_owned()]);
            }
            let parts = self.parts.iter().filter(|part| part.absence.is_empty() == is_sent);
            let mut sections: Vec<(&str, Vec<&Part>)> = Vec::new();
            for part in parts {
                match sections.iter_mut().find(|(section, _)| *section == part.section) {
                    Some((_, parts)) => parts.push(part),
                    None => sections.push((&part.section, vec![part])),
                }
            }
            for (section, parts) in sections {
                let sum = PartTokens::sum(parts.iter().map(|part| part.tokens));
                let has_one_reason = parts.iter().all(|part| part.absence == parts[0].absence);
                let reason = if has_one_reason { parts[0].absence } else { "" };
                lines.push(row(section, sum, reason));
                lines.extend(parts.iter().map(|part| {
                    let notes = [if has_one_reason { "" } else { part.absence }, &part.note];
                    let notes: Vec<&str> = notes.into_iter().filter(|note| !note.is_empty()).collect();
                    row(&format!("  {}", part.name), part.tokens, &notes.join(" · "))
                }));
            }
        }
        lines.push(String::new());
        lines.extend(self.notes.iter().map(|note| clean_line(note).into_owned()));
        lines.push(self.accuracy());
        lines.push(
            "No provider was contacted. What it bills may differ: it has a format and a tokenizer of its own.".into(),
        );
        lines
    }

    /// Says how good the estimates are, by the tools that were measured too.
    fn accuracy(&self) -> String {
        let measured = self.parts.iter().filter(|part| part.row["part"] == "tool");
        let measured = measured.map(|part| part.tokens).filter(|tokens| !tokens.is_estimated);
        let measured: Vec<(u64, u64)> = measured.map(|tokens| (tokens.counts.o200k, tokens.estimate)).collect();
        let (counts, estimates) = measured.iter().fold((0, 0), |sums, pair| (sums.0 + pair.0, sums.1 + pair.1));
        let percent = (estimates as f64 / (counts as f64).max(1.0) - 1.0) * 100.0;
        format!(
            "Exact numbers were measured with the tokenizers. ~ marks estimates: for the {} measured above they are {percent:+.0} % off together, and up to 25 % for one.",
            pluralize(measured.len(), "tool")
        )
    }

    /// Returns one JSON object per part, then one per profile of built-in tools, then the sum.
    pub(super) fn json_lines(&self) -> Vec<String> {
        let mut lines: Vec<String> = Vec::new();
        for part in &self.parts {
            let mut row = part.row.clone();
            if row["name"].is_null() {
                let fields =
                    json!({ "name": part.name, "cl100k": null, "o200k": null, "estimate": part.tokens.estimate });
                extend_object(&mut row, fields);
            }
            let absence = Some(part.absence).filter(|absence| !absence.is_empty());
            extend_object(&mut row, json!({ "sent": absence.is_none(), "not_sent_because": absence }));
            lines.push(json_line(&row));
        }
        for (name, profile) in &self.budgets.profiles {
            lines.push(json_line(&json!({
                "part": "tool_set", "name": name, "groups": profile.groups, "cl100k": profile.cl100k, "o200k": profile.o200k,
            })));
        }
        let total = self.total();
        lines.push(json_line(&json!({
            "part": "total", "cl100k": total.counts.cl100k, "o200k": total.counts.o200k,
            "is_estimated": total.is_estimated, "context_window": self.context_window,
        })));
        lines
    }
}

fn has_tool(specs: &[ToolSpec], name: &str) -> bool {
    specs.iter().any(|spec| spec.name == name)
}
