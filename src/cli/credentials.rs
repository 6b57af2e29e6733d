//! The arguments of `aye credentials`.

use clap::{Args, Subcommand, ValueEnum};

/// `aye credentials`.
#[derive(Debug, Clone, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_value_name = "COMMAND", disable_help_subcommand = true)]
pub struct Credentials {
    /// What to do; `list` if none.
    #[command(subcommand)]
    pub command: Option<CredentialsCommand>,
    /// Options of `list`.
    #[command(flatten)]
    pub list: ListCredentials,
}

/// Subcommand of `aye credentials`.
#[derive(Debug, Clone, Subcommand)]
pub enum CredentialsCommand {
    /// List the credentials, without their secrets
    List(ListCredentials),
    /// Add a credential that tools may send to these origins
    Add(Box<AddCredential>),
    /// Replace the secret of a credential and keep everything else
    Rotate {
        /// Name of the credential
        name: String,
        /// Source of the new secret.
        #[command(flatten)]
        source: SecretOptions,
    },
    /// Delete a credential and its secret
    Remove {
        /// Name of the credential
        name: String,
        /// Do not ask for confirmation
        #[arg(long)]
        yes: bool,
    },
}

/// `aye credentials list`.
#[derive(Debug, Clone, Default, Args)]
pub struct ListCredentials {
    /// Print JSON objects, one per line
    #[arg(long)]
    pub json: bool,
}

/// `aye credentials add`.
#[derive(Debug, Clone, Args)]
pub struct AddCredential {
    /// Name by which tools use it
    pub name: String,
    /// Scheme, host and port that may receive it. Required; may be repeated
    #[arg(long, value_name = "ORIGIN")]
    pub origin: Vec<String>,
    /// How it is sent
    #[arg(long, value_enum, default_value_t = KindOption::Bearer)]
    pub kind: KindOption,
    /// Header that carries it [default with --kind api-key: X-API-Key]
    #[arg(long, value_name = "HEADER")]
    pub header: Option<String>,
    /// User name for --kind basic
    #[arg(long, value_name = "NAME")]
    pub user: Option<String>,
    /// Source of the secret.
    #[command(flatten)]
    pub source: SecretOptions,
    /// Sign-in with OAuth.
    #[command(flatten)]
    pub oauth: OAuthOptions,
}

/// Sign-in with OAuth instead of a secret.
#[derive(Debug, Clone, Default, Args)]
pub struct OAuthOptions {
    /// Sign in with OAuth at this authorization server, in the browser
    #[arg(long = "oauth", value_name = "ISSUER", requires = "client_id", conflicts_with_all = ["kind", "env", "key_command"])]
    pub issuer: Option<String>,
    /// With --oauth: ID of a client registered there, with the redirect address http://127.0.0.1
    #[arg(long, value_name = "ID", requires = "issuer", hide_short_help = true)]
    pub client_id: Option<String>,
    /// With --oauth: ask for the secret of the client, or read it with --stdin, if the server requires one
    #[arg(long, requires = "issuer", hide_short_help = true)]
    pub client_secret: bool,
    /// With --oauth: permission to ask for. May be repeated
    #[arg(long, value_name = "SCOPE", requires = "issuer", hide_short_help = true)]
    pub scope: Vec<String>,
    /// With --oauth: sign in on another device, with a code, if the server supports it
    #[arg(long, requires = "issuer", hide_short_help = true)]
    pub device: bool,
    /// With --oauth: address of the sign-in, if the server has no metadata
    #[arg(long, value_name = "URL", requires = "token_endpoint", hide_short_help = true)]
    pub authorization_endpoint: Option<String>,
    /// With --oauth: address that issues tokens, if the server has no metadata
    #[arg(long, value_name = "URL", requires = "authorization_endpoint", hide_short_help = true)]
    pub token_endpoint: Option<String>,
    /// With --oauth: address of the sign-in on another device, if the server has no metadata
    #[arg(long, value_name = "URL", requires = "token_endpoint", hide_short_help = true)]
    pub device_endpoint: Option<String>,
}

/// How a credential is sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum KindOption {
    /// Authorization: Bearer SECRET
    Bearer,
    /// Secret in a header, X-API-Key unless named
    ApiKey,
    /// Authorization: Basic with a user name; the secret is the password
    Basic,
    /// Secret as the value of the named header
    Header,
}

/// Source of a secret. Without any, the user is asked for it in the terminal.
#[derive(Debug, Clone, Default, Args)]
#[group(multiple = false)]
pub struct SecretOptions {
    /// Read the secret from standard input
    #[arg(long)]
    pub stdin: bool,
    /// Store no secret: read this environment variable when it is needed
    #[arg(long, value_name = "VARIABLE")]
    pub env: Option<String>,
    /// Store no secret: run this command when it is needed; it prints the secret
    #[arg(long, value_name = "COMMAND")]
    pub key_command: Option<String>,
}
