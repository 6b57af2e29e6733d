//! The tools of a session, by name, including those that are not offered to the model.

use super::background_commands::BackgroundCommands;
use super::built_in_tool::BuiltInTool;
use super::connect_credential::{ConnectCredential, CredentialConnector};
use super::doc_sources::DocLibrary;
use super::references::{Sources, plan_with_references};
use super::{Error, Tool, arguments};
use crate::browser::session::BrowserSession;
use crate::chat::apply_message::COPY_TO_PROJECT;
use crate::chat::batch::APPLY_GROUP;
use crate::chat::deferred_tools::{DESCRIBE_TOOL, FIND_TOOL, RUN_TOOL};
use crate::chat::dry_run_summary::APPLY_CHANGE;
use crate::chat::skill::LOAD_SKILL;
use crate::chat::{CallWords, Intent, RESTORE_FILES, Session, ToolCall, ToolSpec, join_first};
use crate::mcp::server_pool::ServerPool;
use crate::project::Reader;
use crate::web::request_credentials::NamedCredential;
use crate::workspace::Workspace;
use std::sync::Arc;

pub use super::tool_settings::ToolSettings;

/// Names of the tools of a workspace.
const WORKSPACE_TOOLS: [&str; 4] = [
    super::list_workspace_files::NAME,
    super::read_workspace_file::NAME,
    super::write_workspace_file::NAME,
    super::delete_workspace_file::NAME,
];
/// Names of the tools for documents.
const DOC_TOOLS: [&str; 2] = [super::search_docs::NAME, super::get_doc_page::NAME];
/// Names of the tools that only the user starts. No other tool may have one of them.
pub const USER_TOOLS: [&str; 4] = [APPLY_CHANGE, APPLY_GROUP, RESTORE_FILES, COPY_TO_PROJECT];
/// Names of the tools of the browser.
const BROWSER_TOOLS: [&str; 3] =
    [super::browser_navigate::NAME, super::browser_act::NAME, super::browser_screenshot::NAME];

/// The tools that the settings alone can make, in the order of a request.
static BUILT_IN: [BuiltInTool; 12] = [
    super::ask_question::TOOL,
    super::read_file::TOOL,
    super::list_files::TOOL,
    super::search_text::TOOL,
    super::edit_file::TOOL,
    super::write_file::TOOL,
    super::bash_exec::TOOL,
    super::sub_agent::TOOL,
    super::calculator::TOOL,
    super::todo_write::TOOL,
    super::web_fetch::TOOL,
    super::run_mcp_tool::TOOL,
];
/// The words of the others, which need a part of a session.
static OTHER_WORDS: [CallWords; 19] = [
    super::search_docs::WORDS,
    super::get_doc_page::WORDS,
    super::list_workspace_files::WORDS,
    super::read_workspace_file::WORDS,
    super::write_workspace_file::WORDS,
    super::delete_workspace_file::WORDS,
    super::browser_navigate::WORDS,
    super::browser_act::WORDS,
    super::browser_screenshot::WORDS,
    super::read_output::WORDS,
    super::kill::WORDS,
    super::find_tool::WORDS,
    super::describe_tool::WORDS,
    super::load_skill::WORDS,
    super::connect_credential::WORDS,
    super::apply_change::WORDS,
    super::apply_group::WORDS,
    super::restore_files::WORDS,
    super::copy_to_project::WORDS,
];

/// Returns the words for the rows of the calls of a tool; `None` if it is not part of the program.
pub fn call_words(tool: &str) -> Option<CallWords> {
    let words = BUILT_IN.iter().map(|tool| &tool.words).chain(&OTHER_WORDS);
    words.into_iter().find(|words| words.tool == tool).copied()
}

#[derive(Clone)]
pub struct Toolbox {
    tools: Vec<Arc<dyn Tool>>,
    /// The browser of the session, if one is installed.
    browser: Option<Arc<BrowserSession>>,
    /// The workspace of the session.
    workspace: Option<Arc<Workspace>>,
    /// MCP servers, whose tools change while sessions are open.
    servers: Option<Arc<ServerPool>>,
    /// Tools that files of the project define, and the tool for skills.
    project_tools: Vec<Arc<dyn Tool>>,
    /// Names of tools that are turned off. Rules may have them.
    disabled_names: Vec<String>,
    /// Asks the user for credentials.
    connector: Option<Arc<dyn CredentialConnector>>,
}

impl Toolbox {
    /// Returns the built-in tools.
    pub fn with_builtin_tools(settings: ToolSettings) -> Self {
        let hosts = settings.web.private_hosts().clone();
        let doc_folders = settings.doc_folders.clone();
        let browser = settings.browser.clone().map(|program| Arc::new(BrowserSession::new(program, hosts)));
        let mut tools = Self::from_tools(BUILT_IN.iter().filter_map(|tool| (tool.make)(&settings)).collect());
        if let Some(folders) = doc_folders {
            let library = Arc::new(DocLibrary::new(folders));
            tools = tools.with_tool(Arc::new(super::search_docs::SearchDocs(library.clone())));
            tools = tools.with_tool(Arc::new(super::get_doc_page::GetDocPage(library)));
        }
        Self { browser, ..tools }
    }

    /// Returns these tools with a browser of their own, which is not started.
    #[must_use]
    pub fn with_own_browser(self) -> Self {
        let browser = self.browser.as_ref().map(|browser| Arc::new(browser.for_other_session()));
        Self { browser, ..self }
    }

    /// Tells the browser of a resumed session whether an earlier one had pages.
    pub fn note_earlier_calls(&self, session: &Session) {
        let has_pages =
            session.calls().any(|state| state.call.name == super::browser_navigate::NAME && state.is_started);
        if let Some(browser) = self.browser.as_ref().filter(|_| has_pages) {
            browser.note_lost_pages();
        }
    }

    /// Returns the tools of the browser; none if no browser is installed. Pictures need a workspace.
    fn browser_tools(&self) -> impl Iterator<Item = Arc<dyn Tool>> {
        let tools = |browser: &Arc<BrowserSession>| -> [Arc<dyn Tool>; 2] {
            [
                Arc::new(super::browser_navigate::BrowserNavigate(browser.clone())),
                Arc::new(super::browser_act::BrowserAct(browser.clone())),
            ]
        };
        let screenshot = self.browser.clone().zip(self.workspace.clone()).map(|(browser, workspace)| {
            Arc::new(super::browser_screenshot::BrowserScreenshot { browser, workspace }) as Arc<dyn Tool>
        });
        self.browser.iter().flat_map(tools).chain(screenshot)
    }

    /// Returns these tools with those of the workspace of a session.
    #[must_use]
    pub fn with_workspace(self, workspace: Arc<Workspace>) -> Self {
        Self { workspace: Some(workspace), ..self }
    }

    /// Returns the tools of the workspace; none without one.
    fn workspace_tools(&self) -> impl Iterator<Item = Arc<dyn Tool>> {
        let tools = |workspace: &Arc<Workspace>| -> [Arc<dyn Tool>; 4] {
            [
                Arc::new(super::list_workspace_files::ListWorkspaceFiles(workspace.clone())),
                Arc::new(super::read_workspace_file::ReadWorkspaceFile(workspace.clone())),
                Arc::new(super::write_workspace_file::WriteWorkspaceFile(workspace.clone())),
                Arc::new(super::delete_workspace_file::DeleteWorkspaceFile(workspace.clone())),
            ]
        };
        self.workspace.iter().flat_map(tools)
    }

    /// Returns the specs of all built-in tools with default settings, by the groups of
    /// [`GROUPS`](crate::chat::token_budgets::GROUPS).
    pub fn spec_groups() -> Vec<(&'static str, Vec<ToolSpec>)> {
        let of_settings = |has_requests| {
            Self::with_builtin_tools(ToolSettings { has_requests, ..ToolSettings::default() }).tool_specs()
        };
        let core = of_settings(false);
        let web = of_settings(true).into_iter().filter(|spec| !core.contains(spec)).collect();
        vec![
            ("core", core),
            ("workspace", Self::workspace_specs()),
            ("web", web),
            ("browser", Self::browser_specs()),
            ("background", Self::background_specs()),
            ("search", Self::search_specs()),
            ("skills", vec![super::load_skill::tool_spec()]),
            ("docs", Self::doc_specs()),
        ]
    }

    /// Returns the specs of the tools of a workspace, which every session has.
    pub fn workspace_specs() -> Vec<ToolSpec> {
        vec![
            super::list_workspace_files::tool_spec(),
            super::read_workspace_file::tool_spec(),
            super::write_workspace_file::tool_spec(),
            super::delete_workspace_file::tool_spec(),
        ]
    }

    /// Returns the specs of the tools of the browser, whether one is installed or not.
    pub fn browser_specs() -> Vec<ToolSpec> {
        vec![
            super::browser_navigate::tool_spec(),
            super::browser_act::tool_spec(),
            super::browser_screenshot::tool_spec(),
        ]
    }

    /// Returns the specs of the tools for documents, whether they are turned on or not.
    pub fn doc_specs() -> Vec<ToolSpec> {
        vec![super::search_docs::tool_spec(), super::get_doc_page::tool_spec()]
    }

    /// Returns the tools of a session with these background commands.
    pub fn with_background_commands(&self, commands: &Arc<BackgroundCommands>) -> Self {
        let tools = self.tools.iter().cloned().chain(Self::background_tools(commands).tools);
        Self { tools: tools.collect(), ..self.clone() }
    }

    /// Returns the tools for background commands, which are offered once there is one.
    fn background_tools(commands: &Arc<BackgroundCommands>) -> Self {
        Self::from_tools(vec![
            Arc::new(super::read_output::ReadOutput(commands.clone())),
            Arc::new(super::kill::Kill(commands.clone())),
        ])
    }

    /// Returns the specs of the tools for background commands.
    pub fn background_specs() -> Vec<ToolSpec> {
        let tools = Self::background_tools(&Arc::default()).tools;
        tools.iter().map(|tool| ToolSpec { is_main_only: true, ..tool.tool_spec() }).collect()
    }

    /// Returns the tools that find, describe and call the tools of files and MCP servers. They are offered only if those
    /// are deferred.
    fn search_tools(&self) -> [Arc<dyn Tool>; 3] {
        let custom: Vec<ToolSpec> = self.tool_specs().into_iter().filter(|spec| spec.is_custom).collect();
        [
            Arc::new(super::find_tool::FindTool(custom.clone())),
            Arc::new(super::describe_tool::DescribeTool(custom)),
            Arc::new(super::run_tool::RunTool),
        ]
    }

    /// Returns the specs of the tools that find, describe and call deferred tools.
    pub fn search_specs() -> Vec<ToolSpec> {
        Self::from_tools(Vec::new()).search_tools().iter().map(|tool| tool.tool_spec()).collect()
    }

    /// Offers to connect the credentials that tools name.
    #[must_use]
    pub fn with_credential_prompts(self, connector: Arc<dyn CredentialConnector>) -> Self {
        Self { connector: Some(connector), ..self }
    }

    /// Returns the credentials that tools name, each once.
    pub fn named_credentials(&self) -> Vec<NamedCredential> {
        let mut credentials: Vec<NamedCredential> = Vec::new();
        for named in self.tools.iter().chain(&self.project_tools).filter_map(|tool| tool.named_credential()) {
            match credentials.iter_mut().find(|known| known.name == named.name) {
                Some(known) => {
                    known.origins.extend(named.origins);
                    known.origins.sort();
                    known.origins.dedup();
                }
                None => credentials.push(named),
            }
        }
        credentials
    }

    /// Returns the tool that connects the credentials which tools name; `None` if none does.
    fn credential_tool(&self) -> Option<Arc<dyn Tool>> {
        let (connector, credentials) = (self.connector.clone()?, self.named_credentials());
        (!credentials.is_empty()).then(|| Arc::new(ConnectCredential { credentials, connector }) as Arc<dyn Tool>)
    }

    pub fn with_tool(mut self, tool: Arc<dyn Tool>) -> Self {
        self.tools.push(tool);
        self
    }

    /// Adds the tools that files of the user define, and the names of those that are turned off.
    #[must_use]
    pub fn with_user_tools(mut self, tools: Vec<Arc<dyn Tool>>, disabled_names: Vec<String>) -> Self {
        self.tools.extend(tools);
        Self { disabled_names, ..self }
    }

    /// Replaces the tools that files of the project define.
    #[must_use]
    pub fn with_project_tools(self, project_tools: Vec<Arc<dyn Tool>>) -> Self {
        Self { project_tools, ..self }
    }

    /// Returns these tools with the tools of the project that another toolbox has.
    #[must_use]
    pub fn with_project_tools_of(&self, other: &Self) -> Self {
        self.clone().with_project_tools(other.project_tools.clone())
    }

    /// Returns the specs of the tools that files of the project define, and of the one whose credentials depend on them.
    pub fn project_specs(&self) -> Vec<ToolSpec> {
        self.project_tools.iter().chain(&self.credential_tool()).map(|tool| spec_of(&**tool)).collect()
    }

    pub fn from_tools(tools: Vec<Arc<dyn Tool>>) -> Self {
        let (project_tools, disabled_names) = (Vec::new(), Vec::new());
        Self { tools, browser: None, workspace: None, project_tools, disabled_names, servers: None, connector: None }
    }

    /// Adds the tools of these MCP servers.
    pub fn with_servers(self, servers: Arc<ServerPool>) -> Self {
        Self { servers: Some(servers), ..self }
    }

    /// Returns all tools: the built-in ones and those of files, then those that MCP servers offer now.
    fn all_tools(&self) -> impl Iterator<Item = Arc<dyn Tool>> {
        let offered = self.servers.iter().flat_map(|servers| servers.offered_tools());
        let of_servers = offered.map(|tool| Arc::new(super::mcp_tool::McpTool(tool)) as Arc<dyn Tool>);
        let tools = self.tools.iter().cloned().chain(self.workspace_tools()).chain(self.browser_tools());
        let tools = tools.chain(self.project_tools.iter().cloned());
        tools.chain(self.credential_tool()).chain(of_servers)
    }

    /// Returns the specs of the tools that MCP servers offer now.
    pub fn mcp_specs(&self) -> Vec<ToolSpec> {
        let offered = self.servers.iter().flat_map(|servers| servers.offered_tools());
        offered.map(|tool| tool.spec().clone()).collect()
    }

    /// Returns the specs of all offered tools: the built-in ones in the same order, then those of MCP servers.
    pub fn tool_specs(&self) -> Vec<ToolSpec> {
        self.all_tools().filter(|tool| tool.is_offered()).map(|tool| spec_of(&*tool)).collect()
    }

    /// Returns the names that a rule may have: those of all offered tools, of the tools for background commands, of those
    /// that search deferred tools, load skills or search documents, of those of a workspace and of the browser, and of those
    /// that are turned off. A call of `run_tool` has the name of the called tool.
    pub fn rule_names(&self) -> Vec<String> {
        let background = Self::background_tools(&Arc::default()).tools;
        let offered = self.tool_names();
        let has_skills = offered.iter().any(|name| name == LOAD_SKILL);
        let has_docs = offered.iter().any(|name| DOC_TOOLS.contains(&name.as_str()));
        let names = offered.into_iter().chain(background.iter().map(|tool| tool.name().into_owned()));
        let names = names.chain([FIND_TOOL, DESCRIBE_TOOL].map(str::to_owned));
        let names = names.chain((!has_skills).then(|| LOAD_SKILL.to_owned()));
        let names = names.chain(DOC_TOOLS.iter().filter(|_| !has_docs).map(|name| (*name).to_owned()));
        let workspace = WORKSPACE_TOOLS.into_iter().filter(|_| self.workspace.is_none());
        let browser = BROWSER_TOOLS.into_iter().filter(|_| self.browser.is_none() || self.workspace.is_none());
        let names = names.chain(workspace.chain(browser).map(str::to_owned));
        names.filter(|name| name != RUN_TOOL).chain(self.disabled_names.iter().cloned()).collect()
    }

    /// Returns the names of all offered tools.
    pub fn tool_names(&self) -> Vec<String> {
        self.all_tools().filter(|tool| tool.is_offered()).map(|tool| tool.name().into_owned()).collect()
    }

    /// Returns the tool with this name, or an error that lists the available tools.
    pub fn find_tool(&self, name: &str) -> Result<Arc<dyn Tool>, Error> {
        let has_name = |tool: &Arc<dyn Tool>| tool.name() == name;
        let tool = self.all_tools().find(has_name).or_else(|| self.search_tools().into_iter().find(has_name));
        tool.ok_or_else(|| self.unknown_tool_error(name))
    }

    /// Plans a call from its raw arguments. Blocks while files are read. A tool that is not offered to models is unknown
    /// unless `is_apply_call`: the user started the call, for example to apply changes of a dry run.
    pub fn plan_call(&self, call: &ToolCall, files: &dyn Reader, is_apply_call: bool) -> Result<Intent, Error> {
        let tool = self.find_tool(&call.name)?;
        if !tool.is_offered() && !is_apply_call {
            return Err(self.unknown_tool_error(&call.name));
        }
        let arguments = arguments::parse_call_arguments(&call.arguments)?;
        let sources = Sources { project: files, workspace: self.workspace.as_ref() };
        plan_with_references(&*tool, &arguments, &sources)
    }

    fn unknown_tool_error(&self, name: &str) -> Error {
        const MAX_NAME_CHARS: usize = 64;
        const MAX_LISTED_NAMES: usize = 40;
        let name = super::summary_line::first_line(name, MAX_NAME_CHARS);
        let names = self.tool_names();
        let names = join_first(&names, MAX_LISTED_NAMES);
        Error::Arguments(format!("Unknown tool “{name}”. Available tools: {names}."))
    }
}

/// Returns the spec of a tool, with who gets it.
fn spec_of(tool: &dyn Tool) -> ToolSpec {
    ToolSpec { is_main_only: !tool.is_for_sub_agents(), ..tool.tool_spec() }
}

#[cfg(test)]
mod tests;
