//! Files in a project that change the behaviour of aye. They have no effect until the user trusts them.

pub use super::project_text::read_project_text;

use super::McpServer;
use super::mcp_files::{ForeignServer, read_foreign_settings};
use super::project_text::resolve_in_project;
use super::rules::{self, PROJECT_RULES_FILE, ProjectSource, rules_parser::ParsedRules};
use super::definition_files::TOOL_FILES;
use super::trust::{self, TrustState, TrustedProject};
use crate::chat::{Diff, Digest, Edit, Instructions};
use crate::policy::{RuleEffect, RuleScope};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

/// Instruction files for the model, in the order in which they are sent.
pub const INSTRUCTION_FILES: [&str; 2] = ["AGENTS.md", ".aye/instructions.md"];

/// File of MCP servers, in the format of Claude Code.
pub const PROJECT_MCP_FILE: &str = ".mcp.json";

/// Maximum number of other names in `.aye` that are listed.
const MAX_OTHER_NAMES: usize = 6;

/// Project files that affect aye.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ProjectFiles {
    pub folder: PathBuf,
    /// Project files that have an effect once trusted, and those that exist but are unusable.
    pub files: Vec<ProjectFile>,
    /// Other names in `.aye`. aye never reads them.
    pub other_names: Vec<String>,
    /// Day on which a file of the project was last trusted; empty if none was.
    pub trusted_on: String,
}

/// One project file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectFile {
    /// Name relative to the project directory.
    pub name: String,
    pub kind: ProjectFileKind,
    /// Trust state of the file.
    pub trust_state: TrustState,
    /// Digest of the whole file.
    pub sha256: Digest,
    /// Size in bytes.
    pub bytes: usize,
    /// Difference to the trusted version, if the file changed since and a copy of that version exists.
    pub diff: Option<Diff>,
}

/// Kind and content of a project file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProjectFileKind {
    /// Instructions for the model.
    Instructions(Instructions),
    Rules {
        /// Number of rules of each kind, such as `2 allow, 1 deny`.
        counts: String,
        /// Number of rules that allow calls.
        allow_count: usize,
        /// Description of each rule.
        descriptions: Vec<String>,
        /// Errors in the rules.
        problems: Vec<String>,
    },
    /// MCP servers.
    McpServers {
        /// Description of each server: what it starts, or where it connects.
        descriptions: Vec<String>,
        /// Number of servers that are programs, which are started.
        program_count: usize,
    },
    /// A tool for the model.
    Tool {
        /// What it sends where, one fact per line.
        effects: Vec<String>,
        text: String,
    },
    /// Unusable file, with the reason.
    Unusable(String),
}

impl ProjectFiles {
    /// Reads all project files without applying any of them.
    pub fn load(source: &ProjectSource) -> Self {
        let trusted = TrustedProject::find_project(&source.trust_file, &source.folder);
        let mut files = load_instructions(source, &trusted);
        match read_project_text(&source.folder, PROJECT_RULES_FILE) {
            Ok(None) => {}
            Ok(Some(text)) => {
                let parsed = rules::rules_parser::parse_rules(
                    &text,
                    PROJECT_RULES_FILE,
                    &source.tools,
                    &RuleScope::TrustedProject,
                );
                // A file without rules and errors has no effect.
                if !parsed.rules.is_empty() || !parsed.problems.is_empty() {
                    files.push(build_file(source, &trusted, PROJECT_RULES_FILE, &text, describe_rules(&parsed)));
                }
            }
            Err(reason) => files.push(unusable_file(PROJECT_RULES_FILE, reason)),
        }
        files.extend(load_mcp_servers(source, &trusted));
        let tool_names = TOOL_FILES.list_in_project(&source.folder);
        files.extend(tool_names.iter().filter_map(|name| {
            let text = match read_project_text(&source.folder, name) {
                Ok(text) => text?,
                Err(reason) => return Some(unusable_file(name, reason)),
            };
            Some(match (source.describe_tool)(name, &text) {
                Ok(effects) => {
                    let kind = ProjectFileKind::Tool { effects, text: text.clone() };
                    build_file(source, &trusted, name, &text, kind)
                }
                Err(reason) => unusable_file(name, reason),
            })
        }));
        Self {
            folder: source.folder.clone(),
            files,
            other_names: list_other_names(&source.folder, !tool_names.is_empty()),
            trusted_on: trusted.trusted_on,
        }
    }

    /// Returns the trusted instructions. Reads no project file if the user never trusted one of this project.
    pub fn trusted_instructions(source: &ProjectSource) -> Vec<Instructions> {
        let trusted = TrustedProject::find_project(&source.trust_file, &source.folder);
        if trusted.files.is_empty() {
            return Vec::new();
        }
        load_instructions(source, &trusted).into_iter().filter_map(ProjectFile::into_trusted_instructions).collect()
    }

    /// Returns the MCP servers of a trusted file. Reads no project file if the user never trusted one of this project.
    pub fn trusted_mcp_servers(source: &ProjectSource) -> Vec<(String, McpServer)> {
        let trusted = TrustedProject::find_project(&source.trust_file, &source.folder);
        if !trusted.files.contains_key(PROJECT_MCP_FILE) {
            return Vec::new();
        }
        let text = read_project_text(&source.folder, PROJECT_MCP_FILE).ok().flatten().unwrap_or_default();
        if trusted.trust_state(PROJECT_MCP_FILE, &text) != TrustState::Trusted {
            return Vec::new();
        }
        let servers = read_foreign_settings(&text).unwrap_or_default().into_iter();
        servers.filter_map(|found| Some((found.name, found.server?))).collect()
    }

    /// Iterates over the usable files that are not trusted in their current version.
    pub fn untrusted(&self) -> impl Iterator<Item = &ProjectFile> {
        self.usable().filter(|file| file.trust_state != TrustState::Trusted)
    }

    /// Iterates over the files that can be used once they are trusted.
    pub fn usable(&self) -> impl Iterator<Item = &ProjectFile> {
        self.files.iter().filter(|file| !matches!(file.kind, ProjectFileKind::Unusable(_)))
    }

    /// Returns the name and digest of each usable file, which is what the user trusts by accepting them.
    pub fn signature(&self) -> Vec<(String, Digest)> {
        self.usable().map(|file| (file.name.clone(), file.sha256.clone())).collect()
    }

    /// Trusts the given files if the project still contains exactly these versions. Returns whether it does.
    pub fn trust(source: &ProjectSource, accepted: &[(String, Digest)], today: &str) -> io::Result<bool> {
        let names: Vec<&str> = INSTRUCTION_FILES
            .into_iter()
            .filter(|_| source.max_instruction_bytes > 0)
            .chain([PROJECT_RULES_FILE, PROJECT_MCP_FILE])
            .chain(accepted.iter().map(|(name, _)| name.as_str()).filter(|name| TOOL_FILES.is_of_project(name)))
            .collect();
        let current: Vec<(&str, String)> =
            names.iter().filter_map(|name| Some((*name, read_project_text(&source.folder, name).ok()??))).collect();
        let find_unchanged = |(name, sha256): &(String, Digest)| {
            current
                .iter()
                .find(|(current_name, text)| current_name == name && Digest::of_bytes(text.as_bytes()) == *sha256)
        };
        let unchanged: Option<Vec<_>> = accepted.iter().map(find_unchanged).collect();
        let Some(unchanged) = unchanged else { return Ok(false) };
        let files: Vec<(&str, &str)> = unchanged.into_iter().map(|(name, text)| (*name, text.as_str())).collect();
        trust::trust_files(&source.trust_file, &source.folder, &files, today)?;
        Ok(true)
    }
}

impl ProjectFile {
    fn into_trusted_instructions(self) -> Option<Instructions> {
        match self.kind {
            ProjectFileKind::Instructions(instructions) if self.trust_state == TrustState::Trusted => {
                Some(instructions)
            }
            ProjectFileKind::Instructions(_)
            | ProjectFileKind::Rules { .. }
            | ProjectFileKind::McpServers { .. }
            | ProjectFileKind::Tool { .. }
            | ProjectFileKind::Unusable(_) => None,
        }
    }
}

fn load_instructions(source: &ProjectSource, trusted: &TrustedProject) -> Vec<ProjectFile> {
    if source.max_instruction_bytes == 0 {
        return Vec::new();
    }
    let results = INSTRUCTION_FILES.map(|name| (name, read_project_text(&source.folder, name)));
    let non_blank_text = |(name, result): &(&'static str, Result<Option<String>, String>)| match result {
        Ok(Some(text)) if !text.trim().is_empty() => Some((*name, text.clone())),
        Ok(_) | Err(_) => None,
    };
    let texts: Vec<(&str, String)> = results.iter().filter_map(non_blank_text).collect();
    let instructions =
        Instructions::from_files(texts.iter().map(|(name, text)| (*name, text.as_str())), source.max_instruction_bytes);
    let mut files: Vec<ProjectFile> = texts
        .iter()
        .zip(instructions)
        .map(|((name, text), instructions)| {
            build_file(source, trusted, name, text, ProjectFileKind::Instructions(instructions))
        })
        .collect();
    let to_unusable_file =
        |(name, result): (&str, Result<Option<String>, String>)| Some(unusable_file(name, result.err()?));
    files.extend(results.into_iter().filter_map(to_unusable_file));
    files
}

/// Reads the file of MCP servers; `None` if it does not exist or has no servers.
fn load_mcp_servers(source: &ProjectSource, trusted: &TrustedProject) -> Option<ProjectFile> {
    let text = match read_project_text(&source.folder, PROJECT_MCP_FILE) {
        Ok(text) => text?,
        Err(reason) => return Some(unusable_file(PROJECT_MCP_FILE, reason)),
    };
    let servers = match read_foreign_settings(&text) {
        Ok(servers) if servers.is_empty() => return None,
        Ok(servers) => servers,
        Err(reason) => return Some(unusable_file(PROJECT_MCP_FILE, reason)),
    };
    let programs = servers.iter().filter_map(|found| found.server.as_ref()).filter(|server| server.url.is_none());
    let kind = ProjectFileKind::McpServers {
        program_count: programs.count(),
        descriptions: servers.iter().map(ForeignServer::describe).collect(),
    };
    Some(build_file(source, trusted, PROJECT_MCP_FILE, &text, kind))
}

fn build_file(
    source: &ProjectSource,
    trusted: &TrustedProject,
    name: &str,
    text: &str,
    kind: ProjectFileKind,
) -> ProjectFile {
    let trust_state = trusted.trust_state(name, text);
    let trusted_digest = trusted.files.get(name).filter(|_| trust_state == TrustState::Changed);
    let trusted_text = trusted_digest.and_then(|sha256| trust::read_trusted_text(&source.trust_file, sha256));
    let edit =
        trusted_text.map(|text_before| Edit { path: name.into(), before: Some(text_before), after: text.to_owned() });
    ProjectFile {
        name: name.to_owned(),
        kind,
        trust_state,
        sha256: Digest::of_bytes(text.as_bytes()),
        bytes: text.len(),
        diff: edit.map(|edit| edit.diff()),
    }
}

fn unusable_file(name: &str, reason: String) -> ProjectFile {
    let (trust_state, kind) = (TrustState::Unknown, ProjectFileKind::Unusable(reason));
    ProjectFile { name: name.to_owned(), kind, trust_state, sha256: Digest::default(), bytes: 0, diff: None }
}

fn describe_rules(parsed: &ParsedRules) -> ProjectFileKind {
    ProjectFileKind::Rules {
        counts: parsed.count_by_kind(),
        allow_count: parsed.rules.iter().filter(|rule| rule.effect == RuleEffect::Allow).count(),
        descriptions: list_in_order(parsed),
        problems: parsed.problems.iter().map(ToString::to_string).collect(),
    }
}

/// Describes every rule in file order, invalid ones included.
fn list_in_order(parsed: &ParsedRules) -> Vec<String> {
    let valid_rules = parsed.rules.iter().map(|rule| (rule.location.line, rule.describe_with_location()));
    let invalid_rules = parsed.problems.iter().map(|problem| {
        let line = problem.origin.line();
        (line, format!("line {line}, invalid: {}", problem.message))
    });
    let mut lines: Vec<(usize, String)> = valid_rules.chain(invalid_rules).collect();
    lines.sort_by_key(|(line, _)| *line);
    lines.into_iter().map(|(_, description)| description).collect()
}

/// Lists the other names in `.aye`, sorted. If there are more than `MAX_OTHER_NAMES`, the last item is the number of
/// omitted ones. At most 1,000 names are read. A symlink that leads out of the project is not followed.
fn list_other_names(folder: &Path, has_tools: bool) -> Vec<String> {
    let Ok(Some(folder_path)) = resolve_in_project(folder, ".aye") else { return Vec::new() };
    let known = [".aye/instructions.md", PROJECT_RULES_FILE];
    let names = fs::read_dir(folder_path).into_iter().flatten().flatten().take(1_000);
    let mut names: Vec<String> = names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let is_known = |name: &str| known.contains(&format!(".aye/{name}").as_str()) || has_tools && name == "tools";
    names.retain(|name| !is_known(name));
    names.sort();
    let omitted = names.len().saturating_sub(MAX_OTHER_NAMES);
    names.truncate(MAX_OTHER_NAMES);
    names.extend((omitted > 0).then(|| format!("{omitted} more")));
    names
}

#[cfg(test)]
mod tests;
