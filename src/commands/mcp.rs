//! `aye mcp`: adds, lists, checks and removes MCP servers.

mod server_login;
mod unusual_login;

use super::output::{print_lines, print_notice, print_notices};
use crate::assemble::known_secrets;
use crate::assemble::mcp_setup::{connection_context, server_config};
use crate::assemble::request_credentials::CredentialStore;
use crate::assemble::tool_files::open_source;
use crate::chat::mcp_names::explain_invalid_server;
use crate::chat::{describe_tool_count, pluralize};
use crate::cli::mcp::{Mcp, McpAdd, McpCommand, McpList};
use crate::cli::{UsageError, bail_usage, resolve_folder};
use crate::config::mcp_files::{ForeignServer, read_foreign_settings};
use crate::config::schema::value_kind::ValueKind;
use crate::config::setting_writer::remove_section;
use crate::config::settings_file::read_bounded_text;
use crate::config::tool_credentials::ToolCredentials;
use crate::config::{Credentials, McpServer, Overrides, ProjectFiles, Settings, write_setting};
use crate::mcp::catalogue::{Catalogue, KnownServer, compare};
use crate::mcp::connection::Connection;
use crate::mcp::definition::Definition;
use crate::mcp::server_config::ServerConfig;
use crate::print::json_line;
use crate::project::guard::own_program;
use crate::project::shell::Shell;
use crate::store::{Journal, Places};
use crate::text::clean::clean_text;
use crate::text::known_secrets::KnownSecrets;
use crate::text::reveal;
use anyhow::{Result, anyhow};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;
use toml_edit::{Array, InlineTable, Value};

/// Files that can be imported.
const EXPECTED_FILE: &str = "Name a .mcp.json, mcp.json or config.toml with MCP servers.";
/// Time limit for connecting: a program may be downloaded by its first start.
const CONNECT_LIMIT: Duration = Duration::from_secs(60);

/// Maximum bytes of a file of another program.
const MAX_FILE_BYTES: u64 = 4 << 20;

/// Runs `aye mcp`.
pub(super) async fn run(arguments: Mcp) -> Result<ExitCode> {
    let servers = Servers::load()?;
    match arguments.command.unwrap_or(McpCommand::List(arguments.list)) {
        McpCommand::List(options) => servers.list(&options),
        McpCommand::Show { name } => servers.show(&name),
        McpCommand::Add(add) => {
            let server = server_to_add(&add)?;
            servers.write_server(&add.name, &server)?;
            let place = servers.config(&add.name, &server).endpoint.describe();
            print_lines([clean_line(&format!("added {}: {place}", add.name))])?;
            Servers::load()?.check(&add.name, true).await
        }
        McpCommand::Remove { name } => servers.remove(&name),
        McpCommand::Check { name, accept } => servers.check(&name, accept).await,
        McpCommand::Login(options) => servers.login(&options).await,
        McpCommand::Logout { name } => servers.logout(&name),
        McpCommand::Import { file } => servers.import(&file),
    }
}

/// The configured servers.
struct Servers {
    settings: Settings,
    /// Servers of the project in this folder, if the user trusts them.
    project: BTreeMap<String, McpServer>,
    /// This folder.
    folder: PathBuf,
    places: Places,
    catalogue: Catalogue,
}

impl Servers {
    fn load() -> Result<Self> {
        let places = Places::find(std::env::var_os("AYE_HOME"))?;
        let environment = |name: &str| std::env::var(name).ok();
        let settings = Settings::load(&places.settings(), &environment, &Overrides::default());
        let catalogue = Catalogue::new(places.mcp_catalogue());
        let folder = resolve_folder(None)?;
        let no_tools = Vec::new();
        let source = open_source(&places, &folder, no_tools, 0);
        let mut project: BTreeMap<String, McpServer> = ProjectFiles::trusted_mcp_servers(&source).into_iter().collect();
        project.retain(|name, _| !settings.config.mcp.contains_key(name));
        Ok(Self { settings, project, folder, places, catalogue })
    }

    /// Iterates over all servers.
    fn all(&self) -> impl Iterator<Item = (&String, &McpServer)> {
        self.settings.config.mcp.iter().chain(&self.project)
    }

    /// Returns the settings of a server.
    fn find(&self, name: &str) -> Result<&McpServer> {
        let found = self.all().find(|(known, _)| *known == name);
        found.map(|(_, server)| server).ok_or_else(|| {
            let problem =
                self.settings.problems.iter().find(|problem| problem.message.contains(&format!("mcp.{name}")));
            let names: Vec<&str> = self.all().map(|(name, _)| name.as_str()).collect();
            UsageError(match problem {
                Some(problem) => problem.to_string(),
                None if names.is_empty() => {
                    format!("Cannot find the MCP server {name:?}: none is configured. Add one with `aye mcp add`.")
                }
                None => {
                    let known = names.join(", ");
                    format!("Cannot find the MCP server {name:?}: none has this name. Use one of: {known}.")
                }
            })
            .into()
        })
    }

    fn config(&self, name: &str, server: &McpServer) -> ServerConfig {
        let home = crate::assemble::connected_model::home_folder();
        server_config(name, server, if self.project.contains_key(name) { &self.folder } else { &home })
    }

    fn known(&self, config: &ServerConfig) -> Result<Option<KnownServer>> {
        let file = self.catalogue.file().display();
        self.catalogue.load(&config.endpoint.identity()).map_err(|error| {
            anyhow!(
                "Cannot read {file}: {error}. Accept the tools again with `aye mcp check {} --accept`.",
                config.name
            )
        })
    }

    fn list(&self, options: &McpList) -> Result<ExitCode> {
        print_notices(self.settings.problems.iter().filter(|problem| problem.message.contains("mcp.")))?;
        let mut lines = Vec::new();
        for (name, server) in self.all() {
            let config = self.config(name, server);
            let known = self.known(&config)?;
            let place = config.endpoint.describe();
            lines.push(match options.json {
                true => json_line(&json!({
                    "name": name, "project": self.project.contains_key(name), "endpoint": place, "enabled": server.enabled, "trusted": server.trusted,
                    "tools": known.as_ref().map(|known| known.tools.iter().map(|tool| &tool.name).collect::<Vec<_>>()),
                    "changed": known.as_ref().map(|known| &known.changed),
                })),
                false => {
                    let state = match &known {
                        _ if !server.enabled => "disabled".to_owned(),
                        None => "never connected".to_owned(),
                        Some(known) => {
                            let accepted = known.clone().into_offered();
                            let offered = accepted.iter().filter(|tool| config.explain_excluded(tool).is_none());
                            let count = describe_tool_count(offered.count(), known.count_tools());
                            match known.changed.len() {
                                0 => count,
                                changed => format!("{count}, {changed} changed: aye mcp check {name}"),
                            }
                        }
                    };
                    let origin = if self.project.contains_key(name) { " · of this project" } else { "" };
                    clean_line(&format!("{name}{origin} · {place} · {state}"))
                }
            });
        }
        if lines.is_empty() && !options.json {
            lines.push("no MCP server is configured. Add one with: aye mcp add NAME -- COMMAND".to_owned());
        }
        print_lines(lines)
    }

    fn show(&self, name: &str) -> Result<ExitCode> {
        let server = self.find(name)?;
        let config = self.config(name, server);
        let mut lines = vec![format!("{name}: {}", config.endpoint.describe())];
        // Their values may be secrets.
        let names = server.env.keys().chain(server.headers.keys());
        lines.extend(names.map(|name| format!("sets {name}")));
        match self.known(&config)? {
            None => lines.push(format!("never connected. Its tools are read with: aye mcp check {name}")),
            Some(known) => {
                for tool in &known.tools {
                    let state = if known.changed.contains(&tool.name) { " (changed, not offered)" } else { "" };
                    lines.push(String::new());
                    lines.push(format!("tool {}{state}", tool.display_name()));
                    lines.extend(config.explain_excluded(tool).map(|reason| format!("  not offered: it {reason}")));
                    lines.extend(tool.describe().into_iter().map(|line| format!("  {line}")));
                }
            }
        }
        print_lines(lines.iter().map(|line| clean_text(line).into_owned()))
    }

    fn remove(&self, name: &str) -> Result<ExitCode> {
        if let Some(server) = self.settings.config.mcp.get(name) {
            self.catalogue.save(&self.config(name, server).endpoint.identity(), None)?;
        }
        let file = self.places.settings();
        if !remove_section(&file, &["mcp", name])? {
            bail_usage!(
                "Cannot remove the MCP server {name:?}: it is not in {}. List all with `aye mcp`.",
                file.display()
            );
        }
        print_lines([format!("removed MCP server {name}")])
    }

    /// Connects to a server, shows what changed in its tools, and accepts it if requested.
    async fn check(&self, name: &str, accepts: bool) -> Result<ExitCode> {
        let server = self.find(name)?;
        let mut config = self.config(name, server);
        config.discovery_limit = config.discovery_limit.max(CONNECT_LIMIT);
        let definitions = self.list_definitions(&config).await;
        let definitions = definitions.map_err(|reason| {
            let reason = reason.trim_end_matches('.');
            // The reason may already say what to do.
            let advice = match reason.contains("aye mcp") {
                true => String::new(),
                false => format!(". Correct its settings, and check it again with `aye mcp check {name}`."),
            };
            anyhow!("Cannot use the MCP server {name}: {reason}{advice}")
        })?;
        // A damaged file is replaced if the user accepts what is shown.
        let known = if accepts { self.known(&config).unwrap_or_default() } else { self.known(&config)? };
        let is_first = known.is_none();
        let known = known.unwrap_or_default();
        let differences = compare(&known.tools, &definitions);
        let pending: Vec<_> = differences.iter().filter(|difference| difference.needs_acceptance()).collect();
        let mut lines: Vec<String> = match is_first {
            true => definitions.iter().map(Definition::describe_briefly).collect(),
            false => differences.iter().flat_map(|difference| difference.describe()).collect(),
        };
        let is_saved = accepts || is_first || pending.is_empty();
        let updated = match is_saved {
            true => KnownServer::from_accepted(&definitions),
            false => {
                let changed = pending.iter().map(|difference| difference.tool_name().to_owned()).collect();
                KnownServer { changed, ..known }
            }
        };
        self.catalogue.save(&config.endpoint.identity(), Some(updated))?;
        lines.push(match (is_saved, pending.len()) {
            (true, 0) => format!("{name}: {}, unchanged", pluralize(definitions.len(), "tool")),
            (true, count) => format!("{name}: accepted {}", pluralize(count, "tool")),
            (false, count) => format!(
                "{name}: {} not offered until you accept the change: aye mcp check {name} --accept",
                pluralize(count, "tool")
            ),
        });
        for tool in &definitions {
            lines
                .extend(tool.explain_unusable().map(|reason| format!("not offered: {} {reason}", tool.display_name())));
        }
        print_lines(lines.iter().map(|line| clean_text(line).into_owned()))?;
        Ok(if is_saved { ExitCode::SUCCESS } else { ExitCode::FAILURE })
    }

    async fn list_definitions(&self, config: &ServerConfig) -> Result<Vec<Definition>, String> {
        let profiles = self.settings.config.profiles.values();
        let key_variables = profiles.filter_map(|profile| profile.key_env.clone()).collect();
        let shell = Shell::new(own_program()).without_variables(key_variables);
        let secrets = known_secrets(&self.settings.config, &Credentials::default(), &ToolCredentials::default());
        let secrets: KnownSecrets = secrets.into_iter().collect();
        let credentials =
            Arc::new(CredentialStore::new(&self.places, secrets.clone(), self.settings.config.credentials.store));
        let journal = Journal::new(self.places.journal(), false, secrets);
        let context = connection_context(&shell, &self.folder, &journal, credentials);
        let connect = async { Connection::open(config, &context).await?.list_definitions().await };
        let limit = config.discovery_limit;
        let listed = tokio::time::timeout(limit, connect).await;
        listed.unwrap_or_else(|_| Err(format!("it did not answer within {} s", limit.as_secs())))
    }

    /// Adds the servers of a file of another program. None is connected.
    fn import(&self, file: &Path) -> Result<ExitCode> {
        let text = match read_bounded_text(file, MAX_FILE_BYTES) {
            Ok(Some(text)) => text,
            Ok(None) => bail_usage!("Cannot import {}: it does not exist. Check the path.", file.display()),
            Err(reason) => bail_usage!("Cannot import {}: {reason}. {EXPECTED_FILE}", file.display()),
        };
        let servers = read_foreign_settings(&text);
        let servers = servers
            .map_err(|error| UsageError(format!("Cannot import {}: {error}. {EXPECTED_FILE}", file.display())))?;
        let mut count = 0;
        for ForeignServer { name, server, notes } in servers {
            print_notices(notes.iter().map(|note| format!("{name}: {note}")))?;
            let Some(server) = server else { continue };
            if self.settings.config.mcp.contains_key(&name) {
                print_notice(&format!("{name}: a server of this name exists and was left unchanged"))?;
                continue;
            }
            self.write_server(&name, &server)?;
            print_lines([clean_line(&format!("added {name}: {}", self.config(&name, &server).endpoint.describe()))])?;
            count += 1;
        }
        print_lines([match count {
            0 => "nothing was added".to_owned(),
            count => format!("added {}. Its tools are accepted when it is first connected", pluralize(count, "server")),
        }])
    }

    /// Writes a server to the settings file.
    fn write_server(&self, name: &str, server: &McpServer) -> Result<()> {
        if let Some(reason) = explain_invalid_server(name) {
            bail_usage!("Cannot add the MCP server {name:?}: its name {reason}. Choose another name.");
        }
        if self.settings.config.mcp.contains_key(name) {
            bail_usage!("Cannot add the MCP server {name}: it exists. Remove it first with `aye mcp remove {name}`.");
        }
        let to_table = |values: &BTreeMap<String, String>| -> Value {
            values.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect::<InlineTable>().into()
        };
        let mut values: Vec<(&str, Value)> = Vec::new();
        if !server.command.is_empty() {
            values.push(("command", server.command.iter().map(String::as_str).collect::<Array>().into()));
        }
        values.extend(server.url.as_deref().map(|url| ("url", url.into())));
        values.extend((!server.env.is_empty()).then(|| ("env", to_table(&server.env))));
        values.extend((!server.headers.is_empty()).then(|| ("headers", to_table(&server.headers))));
        for (setting, value) in values {
            write_setting(&self.places.settings(), &["mcp", name, setting], value).map_err(|error| {
                UsageError(format!("Cannot write the settings: {error}. Correct the file, then run this again."))
            })?;
        }
        Ok(())
    }
}

/// Returns the server that the command line describes.
fn server_to_add(add: &McpAdd) -> Result<McpServer> {
    let split = |texts: &[String], separator: char, example: &str| {
        let parse = |text: &String| {
            let (name, value) = text.split_once(separator)?;
            Some((name.trim().to_owned(), value.trim().to_owned())).filter(|(name, _)| !name.is_empty())
        };
        let parsed: Option<BTreeMap<String, String>> = texts.iter().map(parse).collect();
        parsed.ok_or_else(|| {
            UsageError(format!("Cannot add the MCP server {}: an option has another form. Use {example}.", add.name))
        })
    };
    let server = McpServer {
        command: add.command.clone(),
        url: add.url.clone(),
        env: split(&add.env, '=', "--env NAME=VALUE")?,
        headers: split(&add.header, ':', "--header 'NAME: VALUE'")?,
        ..McpServer::default()
    };
    let url_error = server.url.as_ref().and_then(|url| ValueKind::Url.find_error(&toml::Value::String(url.clone())));
    if url_error.is_some() {
        bail_usage!(
            "Cannot add the MCP server {}: its address is invalid. Use {}, or give a program after --.",
            add.name,
            ValueKind::Url.describe_expected()
        );
    }
    Ok(server)
}

/// Marks hidden characters, so that the text is one line.
fn clean_line(text: &str) -> String {
    clean_text(&reveal::reveal_line(text)).into_owned()
}
