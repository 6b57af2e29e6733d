//! `aye mcp` and its subcommands.

use clap::{Args, Subcommand};
use std::path::PathBuf;

/// `aye mcp`.
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_value_name = "COMMAND", disable_help_subcommand = true)]
pub struct Mcp {
    /// What to do; `list` if none.
    #[command(subcommand)]
    pub command: Option<McpCommand>,
    /// Options of `list`.
    #[command(flatten)]
    pub list: McpList,
}

/// Subcommand of `aye mcp`.
#[derive(Debug, Clone, Subcommand)]
pub enum McpCommand {
    /// List the MCP servers and the number of their accepted tools
    List(McpList),
    /// Show a server and its accepted tools
    Show {
        /// Name of the server
        name: String,
    },
    /// Add a server to the settings, connect to it and accept its tools
    Add(McpAdd),
    /// Remove a server from the settings, and forget its tools
    Remove {
        /// Name of the server
        name: String,
    },
    /// Connect to a server and show what changed in its tools. The exit code is 1 if something must be accepted
    #[command(alias = "refresh")]
    Check {
        /// Name of the server
        name: String,
        /// Accept the tools as they are now
        #[arg(long)]
        accept: bool,
    },
    /// Log in to a server with an address, in the browser (OAuth). Its token is kept like other credentials
    Login(McpLogin),
    /// Delete the token of a server
    Logout {
        /// Name of the server
        name: String,
    },
    /// Add the servers of a file of another program: .mcp.json, mcp.json or config.toml
    Import {
        /// File of Claude Code, VS Code or codex
        file: PathBuf,
    },
}

/// `aye mcp list`.
#[derive(Debug, Clone, Default, Args)]
pub struct McpList {
    /// Print one JSON object per server
    #[arg(long)]
    pub json: bool,
}

/// `aye mcp login`.
#[derive(Debug, Clone, Args)]
pub struct McpLogin {
    /// Name of the server
    pub name: String,
    /// Client that is registered at the authorization server; without it aye registers itself
    #[arg(long, value_name = "ID")]
    pub client_id: Option<String>,
    /// With --client-id: ask for the secret of the client, or read it with --stdin, if the server requires one
    #[arg(long, requires = "client_id")]
    pub client_secret: bool,
    /// Read that secret from standard input
    #[arg(long, requires = "client_secret")]
    pub stdin: bool,
    /// Scope to ask for, instead of those that the server names; may be repeated
    #[arg(long, value_name = "SCOPE")]
    pub scope: Vec<String>,
}

/// `aye mcp add`.
#[derive(Debug, Clone, Args)]
pub struct McpAdd {
    /// Name of the server: lower-case letters, digits, hyphens and underscores
    pub name: String,
    /// Address of the server (streamable HTTP)
    #[arg(conflicts_with = "command", required_unless_present = "command")]
    pub url: Option<String>,
    /// Program of the server with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
    /// Environment variable of the program, NAME=VALUE; may be repeated
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// Header of requests, NAME: VALUE; may be repeated
    #[arg(long, value_name = "NAME: VALUE")]
    pub header: Vec<String>,
}
