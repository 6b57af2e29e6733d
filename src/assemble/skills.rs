//! Skills of the user and of the project: finds them, lists them, and makes the tool that loads them.

use crate::chat::message_tokens::estimate_tools;
use crate::chat::skill::{LOAD_SKILL, Skill, SkillText, folder_name};
use crate::chat::{Digest, pluralize};
use crate::config::definition_files::{DefinitionFile, SKILL_FILES};
use crate::config::rules::ProjectSource;
use crate::config::trust::TrustedProject;
use crate::store::Places;
use crate::text::clean::clean_line;
use crate::text::tokens::estimate_text;
use crate::text::truncation::abbreviate_home;
use crate::text::width::text_width;
use crate::tools::Tool;
use crate::tools::load_skill::LoadSkill;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A skill that was found.
pub(crate) struct FoundSkill {
    /// The main file as it is shown.
    pub(crate) file: String,
    /// Path of its folder.
    folder: PathBuf,
    pub(crate) is_of_project: bool,
    pub(crate) state: SkillState,
    /// Content of the main file, if it can be used.
    pub(crate) text: Option<SkillText>,
    /// Digest of the main file.
    sha256: Digest,
}

/// State of a skill.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum SkillState {
    Usable,
    /// Of a project, and not trusted in its current version.
    Untrusted,
    /// Of the user, and replaced by one of the project.
    Replaced,
    /// Cannot be used, with the reason.
    Invalid(String),
}

impl SkillState {
    /// Returns the name in lists.
    fn name(&self) -> &'static str {
        match self {
            Self::Usable => "usable",
            Self::Untrusted => "not trusted",
            Self::Replaced => "replaced",
            Self::Invalid(_) => "invalid",
        }
    }
}

impl FoundSkill {
    fn new(folder: &Path, shown_folder: &str, file: DefinitionFile) -> Self {
        let DefinitionFile { name, text } = file;
        let sha256 = Digest::of_bytes(text.as_deref().unwrap_or_default().as_bytes());
        let parsed = text.and_then(|text| SkillText::parse(&name, &text));
        let (state, text) = match parsed {
            Ok(text) => (SkillState::Usable, Some(text)),
            Err(reason) => (SkillState::Invalid(reason), None),
        };
        let path = folder.join(&name);
        let folder = path.parent().unwrap_or(&path).to_owned();
        let file = if shown_folder.is_empty() { name } else { format!("{shown_folder}/{name}") };
        Self { file, folder, is_of_project: false, state, text, sha256 }
    }

    fn of_project(source: &ProjectSource, file: DefinitionFile, is_trusted: bool) -> Self {
        let mut skill = Self { is_of_project: true, ..Self::new(&source.folder, "", file) };
        if !is_trusted && skill.state == SkillState::Usable {
            skill.state = SkillState::Untrusted;
        }
        skill
    }

    pub(crate) fn is_usable(&self) -> bool {
        self.state == SkillState::Usable
    }

    /// Returns its state, and why it cannot be used.
    pub(crate) fn describe_state(&self) -> String {
        match &self.state {
            SkillState::Invalid(reason) => format!("{}: {reason}", self.state.name()),
            SkillState::Usable | SkillState::Untrusted | SkillState::Replaced => self.state.name().to_owned(),
        }
    }

    /// Returns its name; for one that cannot be used, the name of its folder.
    pub(crate) fn name(&self) -> &str {
        self.text.as_ref().map_or_else(|| folder_name(&self.file), |text| &text.name)
    }

    pub(crate) fn origin(&self) -> &'static str {
        if self.is_of_project { "project" } else { "user" }
    }

    /// Returns what the tool needs to load it; `None` if it cannot be used.
    fn to_skill(&self) -> Option<Skill> {
        let text = self.text.as_ref().filter(|_| self.state == SkillState::Usable)?;
        let shown_folder = match self.is_of_project {
            true => self.file.rsplit_once('/')?.0.to_owned(),
            false => self.folder.display().to_string(),
        };
        Some(Skill {
            name: text.name.clone(),
            description: text.description.clone(),
            folder: self.folder.canonicalize().ok()?,
            shown_folder,
            trusted: self.is_of_project.then(|| self.sha256.clone()),
        })
    }

    /// Returns the notice for the user if the file cannot be used.
    fn error_notice(&self) -> Option<String> {
        let SkillState::Invalid(reason) = &self.state else { return None };
        Some(clean_line(&format!("Skill not used: {}: {reason}.", self.file)).into_owned())
    }

    /// Describes the skill after an empty line: its name in this many columns, its state and costs; its description; its file.
    fn describe(&self, name_columns: usize) -> Vec<String> {
        let costs = match (&self.state, self.text.as_ref().map(SkillText::tokens)) {
            (SkillState::Usable, Some((listed, loaded))) => {
                format!(" · {} in the list, {loaded} when loaded", pluralize(listed as usize, "token"))
            }
            (_, Some((_, loaded))) => format!(" · {} when loaded", pluralize(loaded as usize, "token")),
            (_, None) => String::new(),
        };
        let (name, state, origin) = (clean_line(self.name()), self.describe_state(), self.origin());
        let blanks = " ".repeat(name_columns.saturating_sub(text_width(&name)) + 2);
        let first = format!("{name}{blanks}{}", clean_line(&format!("{origin} · {state}{costs}")));
        let description = self.text.as_ref().map(|text| &text.description);
        let further = description.into_iter().chain([&self.file]);
        let further = further.map(|text| format!("{}{}", " ".repeat(name_columns + 2), clean_line(text)));
        [String::new(), first].into_iter().chain(further).collect()
    }

    /// Returns the row for programs.
    pub(crate) fn to_json(&self) -> Value {
        let tokens = self.text.as_ref().map(SkillText::tokens);
        let problem = match &self.state {
            SkillState::Invalid(reason) => Some(reason),
            SkillState::Usable | SkillState::Untrusted | SkillState::Replaced => None,
        };
        json!({
            "name": self.name(), "origin": self.origin(), "state": self.state.name(), "file": self.file,
            "description": self.text.as_ref().map(|text| &text.description),
            "list_tokens": tokens.map(|tokens| tokens.0), "text_tokens": tokens.map(|tokens| tokens.1), "problem": problem,
        })
    }
}

/// Finds the skills of the project, also those that are not trusted, and of the user. Sorted by name.
pub(crate) fn find_skills(places: &Places, source: &ProjectSource) -> Vec<FoundSkill> {
    let project = SKILL_FILES.read_project(source).into_iter();
    let project = project.map(|(file, is_trusted)| FoundSkill::of_project(source, file, is_trusted)).collect();
    add_user_skills(project, places, source)
}

/// Finds the skills of the user and the trusted ones of the project. Sorted by name.
fn find_active_skills(places: &Places, source: &ProjectSource, trusted: &TrustedProject) -> Vec<FoundSkill> {
    let project = SKILL_FILES.read_trusted_by(trusted, source).into_iter();
    add_user_skills(project.map(|file| FoundSkill::of_project(source, file, true)).collect(), places, source)
}

fn add_user_skills(mut skills: Vec<FoundSkill>, places: &Places, source: &ProjectSource) -> Vec<FoundSkill> {
    let folder = places.skills();
    let shown_folder = abbreviate_home(&folder, source.home.as_deref());
    let of_project: Vec<String> =
        skills.iter().filter(|skill| skill.is_usable()).map(|skill| skill.name().to_owned()).collect();
    for file in SKILL_FILES.read_user(&folder) {
        let mut skill = FoundSkill::new(&folder, &shown_folder, file);
        if skill.is_usable() && of_project.iter().any(|name| name == skill.name()) {
            skill.state = SkillState::Replaced;
        }
        skills.push(skill);
    }
    skills.sort_by(|a, b| a.name().cmp(b.name()));
    skills
}

/// Returns the tool that loads the usable skills; `None` without any.
pub(crate) fn build_tool(found: &[FoundSkill]) -> Option<Arc<dyn Tool>> {
    let skills: Vec<Skill> = found.iter().filter_map(FoundSkill::to_skill).collect();
    (!skills.is_empty()).then(|| Arc::new(LoadSkill(skills)) as Arc<dyn Tool>)
}

/// Formats the list as lines: a summary, a few lines for each skill, and the folder of the user's skills.
pub(crate) fn format_skills(found: &[FoundSkill], places: &Places) -> Vec<String> {
    let folder = clean_line(&format!("your skills are in {}", places.skills().display())).into_owned();
    if found.is_empty() {
        return vec!["no skills".to_owned(), String::new(), folder];
    }
    let usable = found.iter().filter(|skill| skill.is_usable()).count();
    let spec = build_tool(found).map(|tool| tool.tool_spec());
    let tokens =
        spec.map_or(0, |spec| estimate_text(&spec.prompt_section) + estimate_tools(std::slice::from_ref(&spec)));
    let width = found.iter().map(|skill| text_width(&clean_line(skill.name()))).max().unwrap_or(0);
    let summary = format!(
        "{usable} of {} usable · about {tokens} tokens in each request, with the tool {LOAD_SKILL} (estimates)",
        pluralize(found.len(), "skill")
    );
    let rows = found.iter().flat_map(|skill| skill.describe(width));
    std::iter::once(summary).chain(rows).chain([String::new(), folder]).collect()
}

/// Returns the tool for the skills of a session, if it has any, and notices about files of the user that cannot be used.
pub(super) fn build_session_tool(
    places: &Places,
    source: &ProjectSource,
    trusted: &TrustedProject,
) -> (Option<Arc<dyn Tool>>, Vec<String>) {
    let found = find_active_skills(places, source, trusted);
    (build_tool(&found), found.iter().filter_map(FoundSkill::error_notice).collect())
}
