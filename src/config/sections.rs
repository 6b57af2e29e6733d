//! The sections of the settings other than models and profiles.

use super::schema::{section, words};
use crate::policy::Mode;
use std::collections::BTreeMap;
use std::path::PathBuf;

section! {
    /// `[approval]`: calls that run without asking.
    pub struct Approval {
        mode: Mode => Choice(&["plan", "ask", "auto", "full"]),
    }
}

section! {
    /// `[hooks.NAME]`: a program that reviews calls. A hook with invalid settings stays configured and every call asks:
    /// a failing guard must not silently disappear.
    pub struct Hook {
        /// Program and arguments, run without a shell. Empty: invalid, so every call asks.
        command: Vec<String> => Command,
        /// Tools whose calls it reviews. `None`: every call that does more than read in the project.
        tools: Option<Vec<String>> => Names,
        /// Timeout in seconds.
        seconds: u64 = 10 => Integer(1..=60, "seconds"),
        /// Run the hook in a dry run too.
        dry_run: bool => Switch,
    }
}

section! {
    /// `[model_reviewer]`: the model reviewer of calls that would run without asking.
    pub struct ModelReviewer {
        /// Profile of the reviewer. `None`: no model reviewer. If the profile does not exist, every call that would run
        /// without asking asks.
        profile: Option<String> => Name,
        /// Model to request. `None`: the model of the profile.
        model: Option<String> => Name,
        /// Timeout in seconds.
        seconds: u64 = 30 => Integer(1..=120, "seconds"),
    }
}

section! {
    /// `[mcp.NAME]`: an MCP server, whose tools are offered to the model. It has a command or an address.
    pub struct McpServer {
        /// Program that is the server, with its arguments, run without a shell in the home directory.
        command: Vec<String> => Command,
        /// Environment variables of the program, in addition to those of commands. They may hold secrets.
        env: BTreeMap<String, String> => Variables,
        /// Address of a server that is not started by aye (streamable HTTP).
        url: Option<String> => Url,
        /// Headers of every request to that address. They may hold secrets.
        headers: BTreeMap<String, String> => Headers,
        /// Credential that is sent to that address: its name in `aye credentials`.
        credential: Option<String> => Name,
        /// Use the server.
        enabled: bool = true => Switch,
        /// Tools to offer, by the server's own names. `None`: all.
        tools: Option<Vec<String>> => Names,
        /// Believe the server which of its tools only read.
        trusted: bool => Switch,
        /// Let the server ask the model during its calls. Each request asks you twice.
        sampling: bool => Switch,
        /// Begin the connection with a handshake. Servers of the protocol version 2026-07-28 have none; if they reject it, the
        /// connection is opened without. `false` saves that attempt.
        handshake: bool = true => Switch,
        /// Time limit of a call in seconds.
        call_seconds: u64 = 300 => Integer(1..=3600, "seconds"),
        /// Time limit in seconds for connecting and listing the tools.
        discovery_seconds: u64 = 5 => Integer(1..=120, "seconds"),
    }
}

section! {
    /// `[project]`: limits for the instructions of the user and of a trusted project.
    pub struct Project {
        /// Maximum KiB of all instruction files together. 0: none is read.
        instructions_kib: usize = 32 => Integer(0..=1024, "KiB"),
    }
}

section! {
    /// `[undo]`: contents of files from before aye changed them.
    pub struct Undo {
        /// Maximum MB per project. The oldest contents are removed first. 0: none are kept, and nothing can be undone.
        max_mb: u64 = 500 => Integer(0..=1_000_000, "MB"),
    }
}

section! {
    /// `[workspace]`: files of a session that are not in the project.
    pub struct WorkspaceSettings {
        /// Maximum MB of a file.
        file_mb: u64 = 100 => Integer(1..=10_000, "MB"),
        /// Maximum MB of the latest versions of all files of a session.
        session_mb: u64 = 1_000 => Integer(1..=1_000_000, "MB"),
        /// Maximum number of earlier versions of a file.
        old_versions: usize = 20 => Integer(0..=1_000, "versions"),
        /// Maximum MB of earlier versions and deleted files of a session. The oldest are removed first.
        old_mb: u64 = 200 => Integer(0..=1_000_000, "MB"),
    }
}

section! {
    /// `[dry_run]`: behaviour of a dry run.
    pub struct DryRun {
        /// Frequency of telling the model that the session is a dry run.
        tell_model: TellModel => Choice(TellModel::WORDS),
        /// Handling of calls that would ask the user in a live session.
        ask: AskHandling => Choice(AskHandling::WORDS),
        /// Use of the overlay sandbox for commands.
        overlay_sandbox: OverlaySandbox => Choice(OverlaySandbox::WORDS),
        /// Paths outside the project, and sensitive files, that commands may read: absolute or from `~`. A directory
        /// includes everything in it except files that may hold secrets.
        read: Vec<PathBuf> => Paths,
        /// Handling of commands' writes to the home directory and `/var/tmp`, except in `shell.write`.
        outside: OutsideWrites => Choice(OutsideWrites::WORDS),
        /// Profile of the model that simulates results. `None`: a sample is used instead. If the profile does not exist,
        /// the results report it.
        simulator: Option<String> => Name,
        /// Model to request. `None`: the profile's model.
        simulator_model: Option<String> => Name,
        /// Timeout of the simulator in seconds.
        simulator_seconds: u64 = 30 => Integer(1..=120, "seconds"),
    }
}

words! {
    /// Frequency of telling the model that the session is a dry run.
    pub enum TellModel {
        /// Never, except if the dry run itself makes a call fail (such as a full overlay), and in the summary of a long
        /// conversation.
        Never = "never",
        /// Once, in the system prompt.
        #[default]
        Once = "once",
        /// In the system prompt and before the result of each rehearsed call.
        EachResult = "each_result",
    }
}

words! {
    /// Handling of calls that would ask the user in a live session.
    pub enum AskHandling {
        /// No prompt is shown; each result states that the call would have asked, and why.
        #[default]
        Report = "report",
        /// Prompts are shown as in a live session, and approved calls are rehearsed.
        AsLive = "as live",
    }
}

words! {
    /// Handling of commands' writes to the home directory and `/var/tmp` in a dry run.
    pub enum OutsideWrites {
        /// Writes are denied, as in a live session.
        #[default]
        Refuse = "refuse",
        /// Writes are kept in the overlay and listed as outside the project.
        Overlay = "overlay",
    }
}

words! {
    /// Use of the overlay sandbox for commands.
    pub enum OverlaySandbox {
        /// If the system supports it.
        #[default]
        Auto = "auto",
        /// Never: commands do not run and their results are simulated.
        Off = "off",
    }
}

section! {
    /// `[web]`: requests of tools to the web.
    pub struct Web {
        /// Offer the tool `web_fetch` to the model.
        fetch: bool = true => Switch,
        /// Service of the tool `web_search`, which is offered once the service has its credential or address.
        search: WebSearch => Choice(WebSearch::WORDS),
        /// Address of the search service. `None`: its usual one; SearXNG has none.
        search_url: Option<String> => Address,
        /// Offer the tools of a browser to the model, if one is installed.
        browser: bool = true => Switch,
        /// Program of the browser. `None`: the first Chromium in `PATH`, otherwise Firefox.
        browser_path: Option<PathBuf> => File,
        /// Hosts in private networks that may be requested: a name or an address, with a port or without.
        private_hosts: Vec<String> => Names,
    }
}

words! {
    /// Service of the tool `web_search`.
    pub enum WebSearch {
        /// The tool is not offered.
        #[default]
        Off = "off",
        /// Brave, with the credential `brave`.
        Brave = "brave",
        /// Tavily, with the credential `tavily`.
        Tavily = "tavily",
        /// Exa, with the credential `exa`.
        Exa = "exa",
        /// A server with SearXNG, at `search_url`.
        Searxng = "searxng",
    }
}

impl WebSearch {
    /// Returns the name in the settings.
    pub fn name(self) -> &'static str {
        Self::WORDS[self as usize]
    }
}

section! {
    /// `[credentials]`: the credentials of tools.
    pub struct CredentialSettings {
        /// Place of new secrets.
        store: SecretStore => Choice(SecretStore::WORDS),
    }
}

words! {
    /// Place of new secrets of credentials.
    pub enum SecretStore {
        /// The key store of the system, or the file if none is running or it is locked.
        #[default]
        Auto = "auto",
        /// The file of credentials.
        File = "file",
    }
}

section! {
    /// `[tools]`: tools of files, see `docs/tools.md`.
    pub struct Tools {
        /// Tools that are not offered to the model, by their names for it.
        disabled: Vec<String> => Names,
    }
}

section! {
    /// `[docs]`: tools that search documents, see `docs/docs-search.md`.
    pub struct Docs {
        /// Offer the tools `search_docs` and `get_doc_page` to the model.
        enabled: bool => Switch,
        /// Folders of documents in addition to those of the project: absolute or from `~`. They are read without a prompt.
        folders: Vec<PathBuf> => Paths,
    }
}

section! {
    /// `[shell]`: limits for commands.
    pub struct Shell {
        /// Default timeout of a command in seconds.
        timeout: u64 = 30 => Integer(1..=3600, "seconds"),
        /// Maximum timeout in seconds that the model may request. Never less than `timeout` once settings are loaded.
        max_timeout: u64 = 600 => Integer(1..=3600, "seconds"),
        /// Run commands in the sandbox if the kernel supports it.
        sandbox: bool = true => Switch,
        /// Network access of commands.
        network: Network => Choice(Network::WORDS),
        /// Directories outside the project and the temporary directory that commands may write to: absolute or from `~`.
        write: Vec<PathBuf> => Paths,
        /// Paths outside the project that a trial of a command may read, in addition to the system's programs and the
        /// toolchains in the home: absolute or from `~`.
        read: Vec<PathBuf> => Paths,
        /// Let commands connect to Unix sockets of other programs.
        sockets: bool => Switch,
    }
}

words! {
    /// Network access of commands.
    pub enum Network {
        /// No command has network access.
        Off = "off",
        /// Commands that request network access get it if the user approves.
        #[default]
        Ask = "ask",
        /// All commands have network access.
        On = "on",
    }
}

section! {
    /// `[screen]`: appearance and input of the terminal UI.
    pub struct Screen {
        /// Theme name, or `auto` to choose by the terminal's background.
        theme: String = "auto".to_owned() => Text,
        /// Theme used by `auto` in a light terminal.
        theme_light: String = "light".to_owned() => Text,
        /// Theme used by `auto` in a dark terminal.
        theme_dark: String = "dark".to_owned() => Text,
        /// Use colors. `NO_COLOR` in the environment turns them off too.
        color: bool = true => Switch,
        /// Scroll and click with the mouse.
        mouse: bool = true => Switch,
        /// Draw boxes and marks in ASCII. `None`: only if the locale is not UTF-8.
        ascii: Option<bool> => Switch,
        /// Write terminal hyperlinks.
        links: Links => Choice(Links::WORDS),
        /// Program that opens hyperlinks to files.
        link_scheme: LinkScheme => Choice(LinkScheme::WORDS),
        /// Draw pictures.
        pictures: DrawnPictures => Choice(DrawnPictures::WORDS),
        /// Ring the bell when a prompt is waiting.
        bell: bool = true => Switch,
        /// Command that opens a file. `None`: `$VISUAL`, then `$EDITOR`.
        editor: Option<String> => Text,
    }
}

impl Screen {
    /// Returns the theme for a light or dark terminal; dark if unknown.
    pub fn auto_theme(&self, is_light: Option<bool>) -> &str {
        if is_light == Some(true) { &self.theme_light } else { &self.theme_dark }
    }
}

words! {
    /// Scheme of hyperlinks to files, which decides the program that opens them.
    pub enum LinkScheme {
        /// The terminal's program for files.
        #[default]
        File = "file",
        Vscode = "vscode",
        VscodeInsiders = "vscode-insiders",
        Vscodium = "vscodium",
        Cursor = "cursor",
        Zed = "zed",
        /// Editors of `JetBrains`.
        Idea = "idea",
        Textmate = "textmate",
    }
}

words! {
    /// How pictures are drawn.
    pub enum DrawnPictures {
        /// As the terminal can show them.
        #[default]
        Auto = "auto",
        /// As half blocks, if the terminal has 24-bit colours.
        Blocks = "blocks",
        /// Not at all: only their captions are shown.
        Off = "off",
    }
}

words! {
    /// Use of terminal hyperlinks.
    pub enum Links {
        /// If the terminal is known to support them.
        #[default]
        Auto = "auto",
        /// Always.
        On = "on",
        /// Never.
        Off = "off",
    }
}
