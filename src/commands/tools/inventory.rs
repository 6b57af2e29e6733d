//! The tools of a folder: those of files with their states, the built-in ones, and those of MCP servers as accepted.

use crate::assemble::connected_model::ConnectedModel;
use crate::assemble::found_tool::FoundTool;
use crate::assemble::mcp_setup::{connection_context, project_servers, set_up_servers, user_servers};
use crate::assemble::request_credentials::CredentialStore;
use crate::assemble::sandbox_setup;
use crate::assemble::settings_profiles::SettingsProfiles;
use crate::assemble::skills::{build_tool, find_skills};
use crate::assemble::tool_files::{ToolFactory, open_source, tool_settings};
use crate::assemble::tool_list::{DOCS_OFF, format_rows, list_tools, spec_json};
use crate::chat::ToolSpec;
use crate::chat::mcp_names::{server_of, service_name};
use crate::cli::{FolderOptions, UsageError, bail_usage};
use crate::commands::folder::open_places;
use crate::config::{self, Connection, Credentials, Overrides, Profile};
use crate::print::json_line;
use crate::project::guard::own_program;
use crate::project::shell::Shell;
use crate::store::{Journal, Places};
use crate::text::clean::clean_text;
use crate::text::known_secrets::KnownSecrets;
use crate::tools::Toolbox;
use anyhow::Result;
use std::path::PathBuf;
use std::sync::Arc;

/// The tools of a folder.
pub(in crate::commands) struct Inventory {
    pub(in crate::commands) places: Places,
    pub(in crate::commands) settings: Arc<config::Settings>,
    pub(in crate::commands) folder: PathBuf,
    pub(in crate::commands) sandbox: sandbox_setup::SandboxSetup,
    pub(in crate::commands) factory: ToolFactory,
    /// The built-in tools and those of MCP servers. No server is started.
    tools: Toolbox,
    pub(in crate::commands) files: Vec<FoundTool>,
    /// The tool for skills, if there are any.
    pub(in crate::commands) skills: Option<ToolSpec>,
}

impl Inventory {
    /// Reads the tool files of the user and of the project.
    pub(in crate::commands) fn load(place: &FolderOptions) -> Result<Self> {
        let (places, folder) = open_places(place)?;
        let settings =
            config::Settings::load(&places.settings(), &|name| std::env::var(name).ok(), &Overrides::default());
        let settings = Arc::new(settings);
        let sandbox = sandbox_setup::setup_sandbox(&settings.config.shell, &places);
        let tool_settings = tool_settings(&settings.config, sandbox.sandbox.clone(), &folder);
        let builtin = Toolbox::with_builtin_tools(tool_settings.clone());
        let credentials =
            Arc::new(CredentialStore::new(&places, KnownSecrets::default(), settings.config.credentials.store));
        let profiles = Arc::new(SettingsProfiles::new(settings.clone(), &Overrides::default(), &places));
        let factory = ToolFactory::new(tool_settings, &settings.config, credentials.clone(), profiles);
        let source = open_source(&places, &folder, Vec::new(), 0);
        let files = factory.find_all(&places, &source);
        let context = connection_context(&Shell::new(own_program()), &folder, &Journal::default(), credentials);
        let servers = set_up_servers(user_servers(&settings.config), &places, context);
        servers.set_project_servers(project_servers(&source));
        let tools = builtin.with_servers(servers);
        let skills = build_tool(&find_skills(&places, &source)).map(|tool| tool.tool_spec());
        Ok(Self { places, settings, folder, sandbox, factory, tools, files, skills })
    }

    /// Returns the tool of a file with this name.
    pub(in crate::commands) fn find(&self, name: &str) -> Result<&FoundTool> {
        // Of several the first one is used.
        if let Some(tool) = self.files.iter().find(|tool| tool.parsed.function_name == name) {
            return Ok(tool);
        }
        let mut names: Vec<&str> = self.files.iter().map(|tool| tool.parsed.function_name.as_str()).collect();
        names.dedup();
        let advice = match names.as_slice() {
            [] => "Add one with `aye tools new NAME`.".to_owned(),
            names => format!("Use one of: {}.", names.join(", ")),
        };
        bail_usage!("Cannot find the tool {name:?}: no file defines it. {advice}")
    }

    /// Returns the configured model, if any.
    pub(in crate::commands) fn connect_model(&self) -> Result<Option<ConnectedModel>> {
        let is_watched = false;
        let connection = self.resolve_connection()?;
        Ok(connection.map(|connection| ConnectedModel::configured(&connection, is_watched)))
    }

    /// Returns the specs of the built-in tools that a new session has, and of the MCP servers as they were last accepted.
    pub(in crate::commands) fn session_specs(&self) -> Vec<ToolSpec> {
        let skills: Vec<ToolSpec> = self.skills.iter().cloned().collect();
        [Toolbox::workspace_specs(), self.tools.tool_specs(), skills].concat()
    }

    /// Lists all tools, those of files first and those that are off last.
    pub(in crate::commands) fn list(&self, as_json: bool) -> Vec<String> {
        let rows = list_tools(&self.files, &self.session_specs(), self.tool_limit());
        match as_json {
            true => rows.iter().map(|row| json_line(&row.to_json())).collect(),
            false => format_rows(&rows),
        }
    }

    /// Returns the connection that a session would use, if any is configured.
    pub(in crate::commands) fn resolve_connection(&self) -> Result<Option<Connection>> {
        let credentials = Credentials::load(&self.places.credentials()).unwrap_or_default();
        let read_variable = |name: &str| std::env::var(name).ok();
        let flags = Overrides::default();
        let connection = config::resolve_connection(&self.settings, &read_variable, &flags, &credentials);
        Ok(connection.map_err(UsageError::from_error)?)
    }

    /// Returns the limit for tools in the profile that a session would use; `None` if it sends no tools.
    pub(in crate::commands) fn tool_limit(&self) -> Option<u64> {
        let connection = self.resolve_connection().ok().flatten();
        let profile = connection.map_or_else(Arc::<Profile>::default, |connection| connection.settings);
        profile.tools.then_some(profile.tool_tokens)
    }

    /// Describes one tool: what it does, its problems, and what the model sees.
    pub(in crate::commands) fn show(&self, name: &str) -> Result<Vec<String>> {
        if let Some(spec) = self.session_specs().into_iter().find(|spec| spec.name == name) {
            let origin = server_of(name).map_or_else(|| "built in".to_owned(), service_name);
            return Ok(vec![format!("{name} · {origin}"), spec.description.clone(), json_line(&spec_json(&spec))]);
        }
        if let Some(spec) = Toolbox::doc_specs().into_iter().find(|spec| spec.name == name) {
            return Ok(vec![
                format!("{name} · off · {DOCS_OFF}"),
                spec.description.clone(),
                json_line(&spec_json(&spec)),
            ]);
        }
        let tool = self.find(name)?;
        let mut lines = vec![format!("{name} · {} · {}", tool.state.name(), tool.file)];
        lines.extend(tool.parsed.problems.iter().map(|problem| match problem.is_warning {
            true => format!("warning: {problem}"),
            false => problem.to_string(),
        }));
        if let Some(definition) = &tool.parsed.definition {
            lines.extend(definition.describe_effects());
            lines.push("the model sees:".to_owned());
            lines.push(json_line(&spec_json(&definition.head.tool_spec())));
        }
        let clean = |line: String| clean_text(&line).into_owned();
        Ok(lines.into_iter().map(clean).collect())
    }

    /// Returns the problems of all files, each with whether it is only a warning.
    pub(in crate::commands) fn problems(&self) -> Vec<(String, bool)> {
        let problems = self.files.iter().flat_map(|tool| &tool.parsed.problems);
        problems.map(|problem| (problem.to_string(), problem.is_warning)).collect()
    }

    /// Returns the path of a new file of the user.
    ///
    /// # Errors
    /// If there is one already.
    pub(in crate::commands) fn new_file(&self, file_stem: &str) -> Result<PathBuf> {
        let path = self.places.tools().join(format!("{file_stem}.toml"));
        match path.symlink_metadata() {
            Ok(_) => Err(UsageError(format!(
                "Cannot write {}: it exists already. Edit it, or choose another name.",
                path.display()
            ))
            .into()),
            Err(_) => Ok(path),
        }
    }
}
