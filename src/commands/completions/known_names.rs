//! Names for completions: those of sessions, and those in the settings and next to them. Nothing is contacted,
//! no secret is returned, and a file that cannot be read has no names.

use crate::assemble::skills::{FoundSkill, find_skills};
use crate::assemble::tool_files::open_source;
use crate::chat::SessionId;
use crate::cli::line_completion::{Candidate, Completion, Values};
use crate::config::definition_files::TOOL_FILES;
use crate::config::settings_file::read_bounded_text;
use crate::config::{self, Overrides, Settings};
use crate::project::folder_facts::shorten_home;
use crate::store::session_list::ListedName;
use crate::store::{Places, Sessions};
use crate::tools::tool_file::parse_tool;
use crate::tools::{ToolSettings, Toolbox};
use crate::tui::theme::catalog::Themes;
use std::path::Path;
use std::sync::Arc;

/// Maximum number of sessions.
const MAX_SESSIONS: usize = 50;
/// Bytes of session files that are read for titles: some milliseconds. Further sessions have no title.
const MAX_SESSION_BYTES: u64 = 2 << 20;
/// Maximum size of the file of credentials in bytes.
const MAX_CREDENTIALS_BYTES: u64 = 1 << 20;

/// Lists the names that are known only at run time, best first.
pub(super) fn list_names(completion: &Completion) -> Vec<Candidate> {
    let Ok(places) = Places::find(std::env::var_os("AYE_HOME")) else { return Vec::new() };
    match completion.values {
        Values::Sessions => list_sessions(&places, &completion.typed, false),
        Values::DryRuns => list_sessions(&places, &completion.typed, true),
        Values::Profiles => list_profiles(&load_settings(&places)),
        Values::Models => list_models(&load_settings(&places), completion.profile.as_deref()),
        Values::Themes => list_themes(&places),
        Values::Tools => [list_file_tools(&places), list_built_in_tools()].concat(),
        Values::FileTools => list_file_tools(&places),
        Values::Skills => list_skills(&places),
        Values::McpServers => list_servers(&load_settings(&places)),
        Values::Credentials => list_credentials(&places.tool_credentials()),
        Values::Unknown | Values::Files | Values::Folders => Vec::new(),
    }
}

fn load_settings(places: &Places) -> Settings {
    Settings::load(&places.settings(), &|name| std::env::var(name).ok(), &Overrides::default())
}

/// Lists sessions by ID, those of this folder first.
fn list_sessions(places: &Places, typed: &str, only_dry_runs: bool) -> Vec<Candidate> {
    let folder = std::env::current_dir().and_then(|folder| folder.canonicalize()).unwrap_or_default();
    let mut names = Sessions::new(places.sessions()).list_names(typed, MAX_SESSIONS, MAX_SESSION_BYTES);
    if only_dry_runs {
        names.retain(|name| name.details.as_ref().is_some_and(|details| details.dry_run));
    }
    let is_elsewhere = |name: &ListedName| name.details.as_ref().is_some_and(|details| details.folder != folder);
    names.sort_by_key(is_elsewhere);
    let to_candidate = |name: ListedName| {
        let is_elsewhere = is_elsewhere(&name);
        let ListedName { id: SessionId(id), details } = name;
        let description = details.map(|details| match (details.title, is_elsewhere) {
            (Some(title), true) => format!("{title} · {}", shorten_home(&details.folder)),
            (Some(title), false) => title,
            (None, _) => String::new(),
        });
        Candidate::new(id, description.unwrap_or_default())
    };
    names.into_iter().map(to_candidate).collect()
}

/// Lists profiles, those of the user's settings first.
fn list_profiles(settings: &Settings) -> Vec<Candidate> {
    let is_own = |name: &str| {
        let prefix = format!("profiles.{name}.");
        settings.origins().any(|(path, _)| path.starts_with(&prefix))
    };
    let (own, built_in): (Vec<_>, Vec<_>) = settings.config.profiles.iter().partition(|(name, _)| is_own(name));
    let to_candidate = |(name, profile): (&String, &Arc<config::Profile>)| {
        Candidate::new(name, profile.model.clone().unwrap_or_default())
    };
    own.into_iter().chain(built_in).map(to_candidate).collect()
}

/// Lists the models that profiles name: of one profile, if it is given, otherwise of all.
fn list_models(settings: &Settings, profile: Option<&str>) -> Vec<Candidate> {
    let profiles = settings.config.profiles.iter();
    let profiles = profiles.filter(|(name, _)| profile.is_none_or(|profile| profile == *name));
    let mut models: Vec<Candidate> = Vec::new();
    for (name, settings) in profiles {
        let Some(model) = &settings.model else { continue };
        if !models.iter().any(|known| known.value == *model) {
            models.push(Candidate::new(model, name));
        }
    }
    models
}

fn list_themes(places: &Places) -> Vec<Candidate> {
    let themes = Themes::with_folder(&places.themes());
    let automatic = Candidate::new("auto", "light or dark, as the terminal is");
    std::iter::once(automatic).chain(themes.names().into_iter().map(|name| Candidate::new(name, ""))).collect()
}

fn list_file_tools(places: &Places) -> Vec<Candidate> {
    let files = TOOL_FILES.read_user(&places.tools()).into_iter();
    let tools = files.filter_map(|file| {
        let parsed = parse_tool(&file.name, &file.text.ok()?);
        (!parsed.function_name.is_empty()).then(|| Candidate::new(parsed.function_name, file.name))
    });
    tools.collect()
}

/// Lists the skills of the user and of the project in the working folder.
fn list_skills(places: &Places) -> Vec<Candidate> {
    let folder = std::env::current_dir().and_then(|folder| folder.canonicalize()).unwrap_or_default();
    let skills = find_skills(places, &open_source(places, &folder, Vec::new(), 0));
    let description = |skill: &FoundSkill| skill.text.as_ref().map(|text| text.description.clone()).unwrap_or_default();
    skills.iter().map(|skill| Candidate::new(skill.name(), description(skill))).collect()
}

fn list_built_in_tools() -> Vec<Candidate> {
    let specs = Toolbox::with_builtin_tools(ToolSettings::default()).tool_specs().into_iter();
    let specs = specs.chain(Toolbox::doc_specs());
    let first_sentence = |text: &str| text.split(". ").next().unwrap_or_default().to_owned();
    specs.map(|spec| Candidate::new(spec.name, first_sentence(&spec.description))).collect()
}

fn list_servers(settings: &Settings) -> Vec<Candidate> {
    settings.config.mcp.keys().map(|name| Candidate::new(name, "")).collect()
}

/// Lists the credentials of tools. Their secrets, if the file has any, are skipped.
fn list_credentials(file: &Path) -> Vec<Candidate> {
    let text = read_bounded_text(file, MAX_CREDENTIALS_BYTES).ok().flatten().unwrap_or_default();
    let table: toml::Table = text.parse().unwrap_or_default();
    table.into_iter().map(|(name, _)| Candidate::new(name, "")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::{Entry, TitleSource};
    use crate::store::{Header, Log};

    fn values(candidates: &[Candidate]) -> Vec<&str> {
        candidates.iter().map(|candidate| candidate.value.as_str()).collect()
    }

    fn create_session(places: &Places, id: &str, folder: &Path, dry_run: bool, title: &str) {
        let header = Header::new(SessionId(id.into()), folder, "m", dry_run);
        let mut log = Sessions::new(places.sessions()).begin_session(&header);
        log.append(&Entry::Titled { title: title.into(), by: TitleSource::User, usage: None }).unwrap();
    }

    #[test]
    fn sessions_of_this_folder_are_first() {
        let home = tempfile::tempdir().unwrap();
        let places = Places::within(home.path());
        assert_eq!(list_sessions(&places, "", false), []);
        let here = std::env::current_dir().unwrap().canonicalize().unwrap();
        create_session(&places, "01A", &here, false, "here");
        create_session(&places, "01B", Path::new("/elsewhere"), true, "there");
        create_session(&places, "02C", &here, true, "dry");
        let listed = list_sessions(&places, "01", false);
        assert_eq!(values(&listed), ["01A", "01B"]);
        assert_eq!((&*listed[0].description, &*listed[1].description), ("here", "there · /elsewhere"));
        assert_eq!(values(&list_sessions(&places, "", true)), ["02C", "01B"]);
        let unread = Sessions::new(places.sessions()).list_names("01", 1, 0);
        assert!(unread.len() == 1 && unread[0].details.is_none(), "{unread:?}");
    }

    #[test]
    fn profiles_of_the_settings_are_first_and_name_models() {
        let home = tempfile::tempdir().unwrap();
        let places = Places::within(home.path());
        std::fs::create_dir_all(places.settings().parent().unwrap()).unwrap();
        let text =
            "[profiles.work]\nbase_url = \"http://h/v1\"\nmodel = \"m-1\"\n[mcp.notes]\nurl = \"http://h/mcp\"\n";
        std::fs::write(places.settings(), text).unwrap();
        let settings = load_settings(&places);
        let profiles = list_profiles(&settings);
        assert_eq!(profiles[0], Candidate::new("work", "m-1"));
        assert!(values(&profiles).contains(&"openai"));
        assert_eq!(list_models(&settings, Some("work")), [Candidate::new("m-1", "work")]);
        assert!(values(&list_models(&settings, None)).contains(&"m-1"));
        assert_eq!(values(&list_servers(&settings)), ["notes"]);
    }

    #[test]
    fn credentials_are_listed_without_their_secrets() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join("x.toml");
        assert_eq!(list_credentials(&file), []);
        std::fs::write(&file, "[github]\nkind = \"bearer\"\nsecret = \"s3cret\"\n").unwrap();
        assert_eq!(list_credentials(&file), [Candidate::new("github", "")]);
    }

    #[test]
    fn tools_and_themes_are_listed() {
        let home = tempfile::tempdir().unwrap();
        let places = Places::within(home.path());
        std::fs::create_dir_all(places.tools()).unwrap();
        std::fs::write(places.tools().join("broken.toml"), "= 1").unwrap();
        assert_eq!(list_file_tools(&places), []);
        assert!(values(&list_built_in_tools()).contains(&"read_file"));
        assert_eq!(values(&list_themes(&places))[..2], ["auto", "dark"]);
    }
}
