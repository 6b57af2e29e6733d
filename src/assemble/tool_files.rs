//! Tools that files define: finds them, and makes them for a session.

use super::connected_model::ConnectedModel;
use super::found_tool::{FoundTool, ToolState};
use super::request_credentials::CredentialStore;
use super::session_builder::SessionBuilder;
use super::settings_profiles::SettingsProfiles;
use super::skills::{build_session_tool, build_tool, find_skills};
use super::tool_list::{format_rows, list_tools};
use super::web_search::{SearchChoice, WEB_SEARCH};
use crate::browser::executable::{BrowserProgram, find_browser_program};
use crate::chat::CommandSandbox;
use crate::config::definition_files::{DefinitionFile, TOOL_FILES};
use crate::config::rules::ProjectSource;
use crate::config::trust::TrustedProject;
use crate::config::{Config, Docs, Network, Web};
use crate::project::sandbox::writable_folders::expand_home;
use crate::runtime::Runtime;
use crate::store::Places;
use crate::text::truncation::abbreviate_home;
use crate::tools::command_tool::CommandTool;
use crate::tools::doc_sources::DocFolder;
use crate::tools::end_conversation_tool::EndConversationTool;
use crate::tools::http_tool::HttpTool;
use crate::tools::project_programs::ProjectPrograms;
use crate::tools::prompt_tool::PromptTool;
use crate::tools::tool_file::{
    Destination, FileProblem, ParsedTool, ToolDefinition, ToolKind, TransferDefinition, parse_tool,
};
use crate::tools::transfer_tool::{ProfileFinder, TransferTool};
use crate::tools::{Tool, ToolSettings, Toolbox};
use crate::web::client::WebClient;
use crate::web::target::PrivateHosts;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// What tools of files need to run.
pub(crate) struct ToolFactory {
    settings: ToolSettings,
    credentials: Arc<CredentialStore>,
    profiles: Arc<SettingsProfiles>,
    /// Names of the tools that are turned off.
    disabled: Vec<String>,
    search: SearchChoice,
}

impl ToolFactory {
    pub(crate) fn new(
        settings: ToolSettings,
        config: &Config,
        credentials: Arc<CredentialStore>,
        profiles: Arc<SettingsProfiles>,
    ) -> Self {
        let Config { web, tools, .. } = config;
        let search = SearchChoice { service: web.search, url: web.search_url.clone() };
        Self { settings, credentials, profiles, disabled: tools.disabled.clone(), search }
    }

    /// Checks tool files. Each name may be used once, and not by the tools of `taken`.
    pub(crate) fn check_files(&self, files: Vec<DefinitionFile>, taken: &[String]) -> Vec<FoundTool> {
        let mut found: Vec<FoundTool> = Vec::new();
        for DefinitionFile { name: file, text } in files {
            let mut parsed = match text {
                Ok(text) => parse_tool(&file, &text),
                Err(reason) => ParsedTool {
                    function_name: String::new(),
                    definition: None,
                    problems: vec![file_problem(&file, reason)],
                },
            };
            self.check_profile(&file, &mut parsed);
            let name = &parsed.function_name;
            let is_taken = parsed.definition.is_some()
                && (taken.contains(name) || found.iter().any(|other| other.parsed.function_name == *name));
            if is_taken {
                let message = format!("another tool has the name {name}");
                parsed.problems.push(file_problem(&file, message));
                parsed.definition = None;
            }
            let state = match &parsed.definition {
                None => ToolState::Invalid,
                Some(_) if self.disabled.contains(&parsed.function_name) => ToolState::Disabled,
                Some(_) => ToolState::Active,
            };
            found.push(FoundTool { file, parsed, state });
        }
        found
    }

    /// Reports a transfer or a prompt to a profile that does not exist.
    fn check_profile(&self, file: &str, parsed: &mut ParsedTool) {
        let (key, name, line) = match parsed.definition.as_ref().map(|definition| &definition.kind) {
            Some(ToolKind::Transfer(TransferDefinition { destination: Destination::Profile(name), line, .. })) => {
                ("destination", name, *line)
            }
            Some(ToolKind::Prompt(prompt)) => match &prompt.profile {
                Some(name) => ("profile", name, prompt.profile_line),
                None => return,
            },
            Some(_) | None => return,
        };
        if let Err(reason) = self.profiles.check_profile(name) {
            parsed.problems.push(FileProblem { line, ..file_problem(file, format!("{key}: {reason}")) });
            parsed.definition = None;
        }
    }

    /// Sets the model of the open session, whose provider answers prompts.
    pub(crate) fn set_session_model(&self, model: &ConnectedModel) {
        self.profiles.set_session_model(model);
    }

    /// Returns the chosen web search, if any.
    fn find_search(&self) -> Option<FoundTool> {
        self.search.find_search(&self.disabled, &self.credentials)
    }

    /// Finds the tool files of the user and of the project, also those that are not trusted.
    pub(crate) fn find_all(&self, places: &Places, source: &ProjectSource) -> Vec<FoundTool> {
        let search = self.find_search();
        let mut taken = reserved_names();
        taken.extend(search.as_ref().map(|search| search.parsed.function_name.clone()));
        let mut files = self.check_files(TOOL_FILES.read_user(&places.tools()), &taken);
        let shown_folder = abbreviate_home(&places.tools(), source.home.as_deref());
        files.iter_mut().for_each(|tool| tool.show_in_folder(&shown_folder));
        taken.extend(files.iter().map(|tool| tool.parsed.function_name.clone()));
        let (project_files, trusted): (Vec<_>, Vec<bool>) = TOOL_FILES.read_project(source).into_iter().unzip();
        let mut project_tools = self.check_files(project_files, &taken);
        for (tool, is_trusted) in project_tools.iter_mut().zip(trusted) {
            if !is_trusted && tool.state != ToolState::Invalid {
                tool.state = ToolState::Untrusted;
            }
        }
        files.extend(project_tools);
        search.into_iter().chain(files).chain(self.search.find_other_searches()).collect()
    }

    /// Makes the tools that can be used, and notices about the files that cannot.
    fn build_tools(&self, found: &[FoundTool]) -> (Vec<Arc<dyn Tool>>, Vec<String>) {
        let active = found.iter().filter(|tool| tool.state == ToolState::Active);
        let tools = active.filter_map(|tool| Some(self.build_tool(tool.parsed.definition.clone()?))).collect();
        (tools, found.iter().filter_map(FoundTool::error_notice).collect())
    }

    /// Makes a tool.
    pub(crate) fn build_tool(&self, definition: ToolDefinition) -> Arc<dyn Tool> {
        let ToolDefinition { head, kind } = definition;
        match kind {
            ToolKind::Http(http) => Arc::new(HttpTool::new(head, *http, &self.settings.web, self.credentials.clone())),
            ToolKind::Command(command) => Arc::new(CommandTool::new(head, command, self.settings.clone())),
            ToolKind::Prompt(prompt) => Arc::new(PromptTool { head, prompt: *prompt, models: self.profiles.clone() }),
            ToolKind::EndConversation(end) => Arc::new(EndConversationTool { head, end }),
            ToolKind::Transfer(transfer) => Arc::new(TransferTool { head, transfer, profiles: self.profiles.clone() }),
        }
    }

    /// Returns the built-in tools and those of the user's files, and notices about files that cannot be used.
    pub(crate) fn user_toolbox(&self, places: &Places) -> (Toolbox, Vec<String>) {
        let builtin = Toolbox::with_builtin_tools(self.settings.clone());
        let search = self.find_search();
        let taken =
            reserved_names().into_iter().chain(search.as_ref().map(|_| WEB_SEARCH.to_owned())).collect::<Vec<_>>();
        let mut found = self.check_files(TOOL_FILES.read_user(&places.tools()), &taken);
        found.iter_mut().for_each(|tool| tool.show_in_folder("tools"));
        found.extend(search);
        let (tools, notices) = self.build_tools(&found);
        let disabled = found.iter().filter(|tool| tool.state != ToolState::Active);
        let disabled = disabled.map(|tool| tool.parsed.function_name.clone()).filter(|name| !name.is_empty());
        // A rule may name the search also while it is off.
        let disabled = disabled.chain([WEB_SEARCH.to_owned()]).collect();
        (builtin.with_user_tools(tools, disabled), notices)
    }
}

/// Returns the browser for sessions in this folder, or why there is none; `None` if it is turned off.
pub(crate) fn find_browser(web: &Web, folder: &Path) -> Option<Result<BrowserProgram, String>> {
    let path = web.browser_path.as_deref().map(expand_home);
    web.browser.then(|| find_browser_program(path.as_deref(), folder))
}

/// Returns the settings of the tools in this folder.
pub(crate) fn tool_settings(config: &Config, sandbox: CommandSandbox, folder: &Path) -> ToolSettings {
    let Config { shell, web, .. } = config;
    ToolSettings {
        default_timeout: shell.timeout,
        max_timeout: shell.max_timeout,
        sandbox,
        allow_network: shell.network != Network::Off,
        browser: find_browser(web, folder).and_then(Result::ok),
        has_requests: web.fetch,
        web: Arc::new(WebClient::new(PrivateHosts(web.private_hosts.clone()))),
        project_programs: ProjectPrograms::new(folder, std::env::var_os("PATH").as_deref()),
        doc_folders: config.docs.enabled.then(|| doc_folders(&config.docs)),
    }
}

/// Returns the folders of the settings for documents.
pub(crate) fn doc_folders(docs: &Docs) -> Vec<DocFolder> {
    let folder = |path: &PathBuf| DocFolder { path: expand_home(path), shown: path.display().to_string() };
    docs.folders.iter().map(folder).collect()
}

fn file_problem(file: &str, message: String) -> FileProblem {
    FileProblem { file: file.to_owned(), line: 1, message, is_warning: false }
}

/// Returns the names that no file may use: those of the built-in tools, also of any that are turned off.
pub(crate) fn reserved_names() -> Vec<String> {
    use crate::chat::deferred_tools::RUN_TOOL;
    use crate::tools::connect_credential;
    use crate::tools::toolbox::USER_TOOLS;
    let internal = [&USER_TOOLS[..], &[connect_credential::NAME, RUN_TOOL]].concat().into_iter().map(str::to_owned);
    Toolbox::with_builtin_tools(ToolSettings::default()).rule_names().into_iter().chain(internal).collect()
}

/// Describes what a tool file does, or why it cannot be used.
fn describe_tool(file: &str, text: &str) -> Result<Vec<String>, String> {
    let parsed = parse_tool(file, text);
    let error = parsed.errors().next().map(|error| format!("line {}: {}", error.line, error.message));
    match parsed.definition {
        Some(definition) => {
            let warnings = parsed.problems.iter().map(|problem| format!("warning: {}", problem.message));
            Ok(definition.describe_effects().into_iter().chain(warnings).collect())
        }
        None => Err(error.unwrap_or_else(|| "it defines no tool".to_owned())),
    }
}

/// Returns the source of the rules and files of a project. Rules may name the given tools, and those of the project that
/// the user trusts.
pub(crate) fn open_source(
    places: &Places,
    folder: &Path,
    names: Vec<String>,
    max_instruction_bytes: usize,
) -> ProjectSource {
    let mut source = ProjectSource::new(places, folder, names, max_instruction_bytes, describe_tool);
    for file in TOOL_FILES.read_trusted(&source) {
        let name = file.text.map(|text| parse_tool(&file.name, &text).function_name).unwrap_or_default();
        if !name.is_empty() && !source.tools.contains(&name) {
            source.tools.push(name);
        }
    }
    source
}

/// Returns the names that rules may have: those of the given tools, and those of the user's files.
pub(crate) fn rule_names(places: &Places, tools: &Toolbox) -> Vec<String> {
    let files = TOOL_FILES.read_user(&places.tools());
    let parsed = files.into_iter().filter_map(|file| Some(parse_tool(&file.name, &file.text.ok()?).function_name));
    let mut names = tools.rule_names();
    names.push(WEB_SEARCH.to_owned());
    names.extend(parsed.filter(|name| !name.is_empty()));
    names
}

impl SessionBuilder {
    /// Returns the source of the project's own files (instructions, rules and tools).
    pub(crate) fn project_source(&self, folder: &Path) -> ProjectSource {
        let source = open_source(&self.places, folder, self.tools.rule_names(), self.max_instruction_bytes);
        ProjectSource { folder_files: self.read_folders.file_names(folder), ..source }
    }

    /// Returns the tools of a session in this folder, and notices about files of tools and skills that cannot be used. The tool
    /// for skills changes with the trust in the project, so it is among those of the project.
    pub(super) fn session_tools(&self, source: &ProjectSource) -> (Toolbox, Vec<String>) {
        let trusted = TrustedProject::find_project(&source.trust_file, &source.folder);
        let (mut project_tools, mut notices) = self.project_tools(TOOL_FILES.read_trusted_by(&trusted, source));
        let (skill_tool, skill_notices) = build_session_tool(&self.places, source, &trusted);
        project_tools.extend(skill_tool);
        notices.extend(skill_notices);
        (Toolbox::clone(&self.tools).with_project_tools(project_tools), notices)
    }

    /// Returns the tools that trusted files of a project define, and notices about those that cannot be used.
    fn project_tools(&self, files: Vec<DefinitionFile>) -> (Vec<Arc<dyn Tool>>, Vec<String>) {
        if files.is_empty() {
            return Default::default();
        }
        let mut taken: Vec<String> = reserved_names().into_iter().chain(self.tools.rule_names()).collect();
        if !self.tool_factory.search.is_chosen() && !self.tools.tool_names().iter().any(|name| name == WEB_SEARCH) {
            taken.retain(|name| name != WEB_SEARCH);
        }
        self.tool_factory.build_tools(&self.tool_factory.check_files(files, &taken))
    }

    /// Lists the tools of a session in this folder, one per line. `limit` is that of the profile in use.
    pub(super) fn list_tools(&self, folder: &Path, limit: Option<u64>) -> String {
        let source = self.project_source(folder);
        let files = self.tool_factory.find_all(&self.places, &source);
        let mut specs = Toolbox::with_builtin_tools(self.tool_factory.settings.clone()).tool_specs();
        specs.extend(Toolbox::workspace_specs());
        specs.extend(build_tool(&find_skills(&self.places, &source)).map(|tool| tool.tool_spec()));
        specs.extend(self.tools.mcp_specs());
        let mut lines = format_rows(&list_tools(&files, &specs, limit));
        lines.push(format!("\nyour tool files are in {}", self.places.tools().display()));
        lines.join("\n")
    }

    /// Gives a session the tools of the project that are trusted now. Returns the event for the agent.
    pub(super) fn reload_project_tools(&self, runtime: &mut Runtime, source: &ProjectSource) -> crate::agent::Event {
        let (tools, _) = self.session_tools(source);
        let removed = runtime.context.tools.project_specs().into_iter().map(|spec| spec.name).collect();
        let added = tools.project_specs();
        runtime.context.tools = Arc::new(runtime.context.tools.with_project_tools_of(&tools));
        crate::agent::Event::ProjectToolsChanged { removed, added }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::deferred_tools::RUN_TOOL;
    use crate::tui::parts::call_action::own_tool_name;

    /// A prompt names the tool of a file. One for a tool of the program would look as if a file had defined it.
    #[test]
    fn no_tool_of_the_program_is_taken_for_one_of_a_file() {
        // A call of this one becomes the call inside it before anything is asked.
        let names = reserved_names().into_iter().filter(|name| name != RUN_TOOL);
        let own: Vec<String> = names.filter(|name| own_tool_name(name).is_some()).collect();
        assert_eq!(own, [""; 0]);
    }
}
