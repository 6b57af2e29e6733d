//! Files in a project that change the behaviour of aye. They have no effect until the user trusts them.

use super::McpServer;
use super::definition_files::{COMMAND_FILES, DefinitionFolder, SKILL_FILES, TOOL_FILES};
use super::folder_instructions::{is_folder_file, read_folder_file};
use super::instruction_files::{InstructionFile, InstructionFiles};
use super::mcp_files::{ForeignServer, read_foreign_settings};
use super::project_text::{read_project_text, resolve_in_project};
use super::rules::{self, PROJECT_RULES_FILE, ProjectSource, rules_parser::ParsedRules};
use super::trust::{self, TrustState, TrustedProject};
use crate::chat::custom_command::CustomCommand;
use crate::chat::skill::SkillText;
use crate::chat::{Diff, Digest, Edit, Instructions};
use crate::policy::{RuleEffect, RuleScope};
use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

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
    /// Problems of the user's own instructions and of trusted files, one sentence each.
    pub problems: Vec<String>,
    /// Day on which a file of the project was last trusted; empty if none was.
    pub trusted_on: String,
}

/// One project file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProjectFile {
    /// Name relative to the project directory. That of a file above it begins with `../`.
    pub name: String,
    pub kind: ProjectFileKind,
    /// Trust state of the file.
    pub trust_state: TrustState,
    /// The whole text that trust covers, with the text of imports; empty for an unusable file.
    pub text: String,
    /// Digest of this text.
    pub sha256: Digest,
    /// Size of this text in bytes.
    pub bytes: usize,
    /// Names of the files whose text is imported.
    pub imports: Vec<String>,
    /// Imports that failed.
    pub import_problems: Vec<String>,
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
    },
    /// A custom command.
    Command {
        /// How it is typed and what it does.
        description: String,
    },
    /// A skill.
    Skill {
        /// Its name and description.
        description: String,
        /// Estimated tokens of the line in the list of skills, and of the text that is loaded.
        tokens: (u64, u64),
    },
    /// Unusable file, with the reason.
    Unusable(String),
}

impl ProjectFiles {
    /// Reads all project files without applying any of them.
    pub fn load(source: &ProjectSource) -> Self {
        let trusted = TrustedProject::find_project(&source.trust_file, &source.folder);
        let instruction_files = InstructionFiles::read_all(source);
        let (_, mut files) = build_instructions(source, &trusted, &instruction_files);
        files.extend(load_folder_files(source, &trusted));
        let problems = list_problems(instruction_files.user.as_ref(), &files);
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
        let tools = load_definitions(source, &trusted, TOOL_FILES, |name, text| {
            (source.describe_tool)(name, text).map(|effects| ProjectFileKind::Tool { effects })
        });
        let commands = load_definitions(source, &trusted, COMMAND_FILES, |name, text| {
            let command = CustomCommand::parse_file(name, name, text)?;
            Ok(ProjectFileKind::Command { description: command.describe() })
        });
        let skills = load_definitions(source, &trusted, SKILL_FILES, |name, text| {
            let skill = SkillText::parse(name, text)?;
            let description = format!("{}: {}", skill.name, skill.description);
            Ok(ProjectFileKind::Skill { description, tokens: skill.tokens() })
        });
        let used_folders = [(&tools, TOOL_FILES), (&commands, COMMAND_FILES), (&skills, SKILL_FILES)];
        let used_folders = used_folders.iter().filter(|(files, _)| !files.is_empty()).map(|(_, kind)| kind.in_project);
        let other_names = list_other_names(&source.folder, &used_folders.collect::<Vec<_>>());
        files.extend(tools.into_iter().chain(commands).chain(skills));
        Self { folder: source.folder.clone(), files, other_names, problems, trusted_on: trusted.trusted_on }
    }

    /// Returns the instructions that are sent: those of the user, then the trusted ones of the project. Reads no project
    /// file if the user never trusted one of this project.
    pub fn trusted_instructions(source: &ProjectSource) -> Vec<Instructions> {
        let trusted = TrustedProject::find_project(&source.trust_file, &source.folder);
        let files = match trusted.files.is_empty() {
            true => InstructionFiles::read_user_file(source),
            false => InstructionFiles::read_all(source),
        };
        let (user, project) = build_instructions(source, &trusted, &files);
        user.into_iter().chain(project.into_iter().filter_map(ProjectFile::into_trusted_instructions)).collect()
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
        let current = Self::load(source);
        let find_unchanged = |(name, sha256): &(String, Digest)| {
            current.usable().find(|file| file.name == *name && file.sha256 == *sha256)
        };
        let unchanged: Option<Vec<_>> = accepted.iter().map(find_unchanged).collect();
        let Some(unchanged) = unchanged else { return Ok(false) };
        let files: Vec<(&str, &str)> =
            unchanged.into_iter().map(|file| (file.name.as_str(), file.text.as_str())).collect();
        trust::trust_files(&source.trust_file, &source.folder, &files, today)?;
        Ok(true)
    }
}

impl ProjectFile {
    /// Warns of each import that failed, in one sentence.
    pub fn import_warnings(&self) -> impl Iterator<Item = String> {
        self.import_problems.iter().map(|problem| describe_import_problem(problem))
    }

    fn into_trusted_instructions(self) -> Option<Instructions> {
        match self.kind {
            ProjectFileKind::Instructions(instructions) if self.trust_state == TrustState::Trusted => {
                Some(instructions)
            }
            ProjectFileKind::Instructions(_)
            | ProjectFileKind::Rules { .. }
            | ProjectFileKind::McpServers { .. }
            | ProjectFileKind::Tool { .. }
            | ProjectFileKind::Command { .. }
            | ProjectFileKind::Skill { .. }
            | ProjectFileKind::Unusable(_) => None,
        }
    }
}

/// Returns the instructions of the user, and the instruction files of the project, unusable ones last.
fn build_instructions(
    source: &ProjectSource,
    trusted: &TrustedProject,
    files: &InstructionFiles,
) -> (Option<Instructions>, Vec<ProjectFile>) {
    let (user, project) = files.to_instructions(source.max_instruction_bytes);
    let contents = files.project.iter().filter_map(|file| Some((&file.name, file.content.as_ref().ok()?)));
    let contents = contents.filter(|(_, content)| !content.is_blank());
    let mut built: Vec<ProjectFile> = contents
        .zip(project)
        .map(|((name, content), instructions)| ProjectFile {
            imports: content.imports.clone(),
            import_problems: content.problems.clone(),
            ..build_file(source, trusted, name, &content.text, ProjectFileKind::Instructions(instructions))
        })
        .collect();
    let unusable = files.project.iter().filter_map(|file| Some((&file.name, file.content.as_ref().err()?)));
    built.extend(unusable.map(|(name, reason)| unusable_file(name, reason.clone())));
    (user, built)
}

/// Reads the instruction files of folders that were read in, and those that the user trusted earlier.
fn load_folder_files(source: &ProjectSource, trusted: &TrustedProject) -> Vec<ProjectFile> {
    let trusted_names = trusted.files.keys().filter(|name| is_folder_file(name));
    let names: BTreeSet<&String> = source.folder_files.iter().chain(trusted_names).collect();
    let is_on = source.max_instruction_bytes > 0;
    let files = names.into_iter().filter(|_| is_on).filter_map(|name| read_folder_file(source, name));
    let built = files.flat_map(|file| {
        let files = InstructionFiles { user: None, project: vec![file] };
        build_instructions(source, trusted, &files).1
    });
    built.collect()
}

/// Lists the problems of the user's own instructions, and the imports that fail in trusted files of the project.
fn list_problems(user: Option<&InstructionFile>, files: &[ProjectFile]) -> Vec<String> {
    let user_problems = user.iter().flat_map(|file| match &file.content {
        Ok(content) => content.problems.iter().map(|problem| describe_import_problem(problem)).collect(),
        Err(reason) => vec![format!("{}, your instructions for every project, is not used: {reason}", file.name)],
    });
    let trusted = files.iter().filter(|file| file.trust_state == TrustState::Trusted);
    let project_problems = trusted.flat_map(ProjectFile::import_warnings);
    user_problems.chain(project_problems).collect()
}

/// Describes an import that failed, after the place, path and reason.
fn describe_import_problem(problem: &str) -> String {
    format!("Cannot import a file in {problem}. The line is sent as it is.")
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

/// Reads the files that each define something.
fn load_definitions(
    source: &ProjectSource,
    trusted: &TrustedProject,
    kind: DefinitionFolder,
    parse: impl Fn(&str, &str) -> Result<ProjectFileKind, String>,
) -> Vec<ProjectFile> {
    let load = |name: &String| {
        let text = match read_project_text(&source.folder, name) {
            Ok(text) => text?,
            Err(reason) => return Some(unusable_file(name, reason)),
        };
        Some(match parse(name, &text) {
            Ok(kind) => build_file(source, trusted, name, &text, kind),
            Err(reason) => unusable_file(name, reason),
        })
    };
    kind.list_in_project(&source.folder).iter().filter_map(load).collect()
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
        text: text.to_owned(),
        sha256: Digest::of_bytes(text.as_bytes()),
        bytes: text.len(),
        imports: Vec::new(),
        import_problems: Vec::new(),
        diff: edit.map(|edit| edit.diff()),
    }
}

fn unusable_file(name: &str, reason: String) -> ProjectFile {
    ProjectFile {
        name: name.to_owned(),
        kind: ProjectFileKind::Unusable(reason),
        trust_state: TrustState::Unknown,
        text: String::new(),
        sha256: Digest::default(),
        bytes: 0,
        imports: Vec::new(),
        import_problems: Vec::new(),
        diff: None,
    }
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
fn list_other_names(folder: &Path, used_folders: &[&str]) -> Vec<String> {
    let Ok(Some(folder_path)) = resolve_in_project(folder, ".aye") else { return Vec::new() };
    let known = [".aye/instructions.md", PROJECT_RULES_FILE];
    let names = fs::read_dir(folder_path).into_iter().flatten().flatten().take(1_000);
    let mut names: Vec<String> = names.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    let is_known = |name: &str| known.iter().chain(used_folders).any(|known| *known == format!(".aye/{name}"));
    names.retain(|name| !is_known(name));
    names.sort();
    let omitted = names.len().saturating_sub(MAX_OTHER_NAMES);
    names.truncate(MAX_OTHER_NAMES);
    names.extend((omitted > 0).then(|| format!("{omitted} more")));
    names
}

#[cfg(test)]
mod tests;
