//! `aye credentials`: adds, lists, rotates and removes the credentials of tools.

pub(super) mod oauth_sign_in;
pub(super) mod secret_input;

use super::output::{confirm, print_lines, print_notice, print_notices};
use crate::cli::credentials::{AddCredential, CredentialsCommand, KindOption, ListCredentials, SecretOptions};
use crate::cli::{UsageError, bail_usage};
use crate::config::tool_credentials::{
    BoundOrigin, CredentialKind, LockedCredentials, SavedCredential, SecretSource, StoredSecrets, ToolCredential,
    ToolCredentials, check_name, header_of_secret, parse_header_name,
};
use crate::config::{Key, Overrides, Settings, split_command};
use crate::print::json_line;
use crate::store::Places;
use crate::text::clean::clean_line;
use anyhow::{Context, Result};
use secret_input::read_secret;
use serde_json::json;
use std::path::Path;
use std::process::ExitCode;

/// Runs a subcommand.
pub(super) async fn run(command: CredentialsCommand) -> Result<ExitCode> {
    let places = Places::find(std::env::var_os("AYE_HOME"))?;
    let file = places.tool_credentials();
    let open_secrets = || {
        let environment = |name: &str| std::env::var(name).ok();
        let settings = Settings::load(&places.settings(), &environment, &Overrides::default());
        // A wrong setting could be the one about the place of secrets.
        print_notices(&settings.problems).map(|()| StoredSecrets::new(settings.config.credentials.store))
    };
    match command {
        CredentialsCommand::List(options) => list(&file, &options),
        CredentialsCommand::Add(arguments) => add(&file, &open_secrets()?, &arguments).await,
        CredentialsCommand::Rotate { name, source } => rotate(&file, &open_secrets()?, &name, &source).await,
        CredentialsCommand::Remove { name, yes } => remove(&file, &open_secrets()?, &name, yes),
    }
}

fn list(file: &Path, options: &ListCredentials) -> Result<ExitCode> {
    let loaded = load(file)?;
    for (name, reason) in &loaded.problems {
        print_notice(&format!("the credential {} cannot be used: {reason}.", clean_line(name)))?;
    }
    let lines: Vec<String> = match options.json {
        true => loaded.iter().map(|(name, credential)| credential_json(name, credential)).collect(),
        false => text_lines(&loaded),
    };
    print_lines(lines)
}

fn credential_json(name: &str, credential: &ToolCredential) -> String {
    let (header, user) = match &credential.kind {
        CredentialKind::ApiKey(header) | CredentialKind::Header(header) => (Some(header.as_str()), None),
        CredentialKind::Basic(user) => (None, Some(user)),
        CredentialKind::Bearer | CredentialKind::OAuth(_) => (None, None),
    };
    let (source, variable) = match &credential.source {
        SecretSource::File(_) => ("file", None),
        SecretSource::KeyStore(_) => ("key_store", None),
        SecretSource::Variable(name) => ("env", Some(name)),
        SecretSource::Command(_) => ("key_command", None),
    };
    let origins: Vec<&str> = credential.origins.iter().map(BoundOrigin::as_str).collect();
    json_line(&json!({
        "name": name, "kind": credential.kind.name(), "header": header, "user": user, "origins": origins,
        "secret": source, "env": variable,
    }))
}

fn text_lines(loaded: &ToolCredentials) -> Vec<String> {
    let row = |(name, credential): (&str, &ToolCredential)| {
        [name.to_owned(), credential.kind.to_string(), credential.describe_origins(), credential.source.to_string()]
    };
    let rows: Vec<[String; 4]> = loaded.iter().map(row).collect();
    if rows.is_empty() {
        return vec!["no credentials; add one with: aye credentials add NAME --origin ORIGIN".to_owned()];
    }
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or_default();
    let widths = [width(0), width(1), width(2)];
    let line = |[name, kind, origins, source]: &[String; 4]| {
        let [name_width, kind_width, origins_width] = widths;
        format!("{name:name_width$}  {kind:kind_width$}  {origins:origins_width$}  {source}")
    };
    rows.iter().map(|row| clean_line(&line(row)).into_owned()).collect()
}

async fn add(file: &Path, secrets: &StoredSecrets, arguments: &AddCredential) -> Result<ExitCode> {
    let name = &arguments.name;
    check_name(name).map_err(UsageError)?;
    if arguments.origin.is_empty() {
        bail_usage!(
            "Cannot add {name}: it has no origin. Name the scheme, host and port that may receive it, such as \
             `--origin https://api.github.com`."
        );
    }
    let plain_kind = if arguments.oauth.issuer.is_some() { None } else { Some(parse_kind(arguments)?) };
    let parse_origin = |text: &String| BoundOrigin::parse(text).map_err(UsageError);
    let mut origins = arguments.origin.iter().map(parse_origin).collect::<Result<Vec<_>, _>>()?;
    origins.sort();
    origins.dedup();
    // Before the user enters a secret.
    check_new(&load(file)?, name)?;
    let (kind, source) = match plain_kind {
        Some(kind) => {
            let source = read_source(&kind, &arguments.source, &format!("Secret for {name}"))?;
            (kind, source)
        }
        None => oauth_sign_in::register(name, arguments).await?,
    };
    let credential = ToolCredential { kind, origins, source };
    let locked = lock(file)?;
    check_new(&locked.load().with_context(|| cannot_read(file))?, name)?;
    let SavedCredential { credential, notices } =
        secrets.save(&locked, name, credential).with_context(|| cannot_save(file))?;
    print_notices(notices)?;
    print_lines([format!(
        "Added {name}: {}, {}, sent only to {}.",
        clean_line(&credential.kind.to_string()),
        clean_line(&credential.source.to_string()),
        credential.describe_origins()
    )])
}

fn check_new(loaded: &ToolCredentials, name: &str) -> Result<()> {
    if loaded.get(name).is_some() || loaded.problems.iter().any(|(known, _)| known == name) {
        bail_usage!(
            "Cannot add {name}: it exists. Replace its secret with `aye credentials rotate {name}`, or remove it first."
        );
    }
    Ok(())
}

/// Returns the kind that the options name.
fn parse_kind(arguments: &AddCredential) -> Result<CredentialKind> {
    let AddCredential { kind, header, user, .. } = arguments;
    if user.is_some() && *kind != KindOption::Basic {
        bail_usage!("Cannot use --user here: only --kind basic has a user name. Omit it, or add --kind basic.");
    }
    if header.is_some() && !matches!(kind, KindOption::ApiKey | KindOption::Header) {
        bail_usage!(
            "Cannot use --header here: this --kind has its own header. Omit it, or add --kind api-key or --kind header."
        );
    }
    let parse_header = |text: &str| parse_header_name(text).map_err(UsageError);
    Ok(match kind {
        KindOption::Bearer => CredentialKind::Bearer,
        KindOption::ApiKey => {
            CredentialKind::ApiKey(parse_header(header.as_deref().unwrap_or(CredentialKind::DEFAULT_API_KEY_HEADER))?)
        }
        KindOption::Header => match header {
            Some(header) => CredentialKind::Header(parse_header(header)?),
            None => bail_usage!("Cannot use --kind header: the header has no name. Add --header NAME."),
        },
        KindOption::Basic => match user {
            Some(user) if !user.contains(':') && !user.contains(char::is_control) => {
                CredentialKind::Basic(user.clone())
            }
            Some(_) => bail_usage!("Cannot use this user name: it contains a colon or a control character. Remove it."),
            None => bail_usage!("Cannot use --kind basic: there is no user name. Add --user NAME."),
        },
    })
}

/// Returns the source that the options name; without any, asks for the secret.
fn read_source(kind: &CredentialKind, options: &SecretOptions, question: &str) -> Result<SecretSource> {
    if let Some(variable) = &options.env {
        if variable.is_empty() || variable.contains(['=', '\0']) {
            bail_usage!("Cannot use --env: this is no name of a variable. Name the variable, not its value.");
        }
        return Ok(SecretSource::Variable(variable.clone()));
    }
    if let Some(command) = &options.key_command {
        let words = split_command(command).map_err(|reason| {
            UsageError(format!("Cannot use --key-command: it {reason}. Use a program with its arguments."))
        })?;
        return Ok(SecretSource::Command(words));
    }
    let secret: Key = read_secret(options.stdin, question)?;
    if let Err(reason) = header_of_secret(kind, &secret) {
        bail_usage!("Cannot use this secret: {reason}. Nothing was saved: enter another.");
    }
    Ok(SecretSource::File(secret))
}

async fn rotate(file: &Path, secrets: &StoredSecrets, name: &str, options: &SecretOptions) -> Result<ExitCode> {
    let known = find(&load(file)?, name)?;
    let source = match &known.kind {
        CredentialKind::OAuth(client) => oauth_sign_in::sign_in_again(client, &known.source, secrets, options).await?,
        CredentialKind::Bearer | CredentialKind::ApiKey(_) | CredentialKind::Basic(_) | CredentialKind::Header(_) => {
            read_source(&known.kind, options, &format!("New secret for {name}"))?
        }
    };
    let locked = lock(file)?;
    // Another process may have changed it while the user was asked.
    let current = find(&locked.load().with_context(|| cannot_read(file))?, name)?;
    if current.kind != known.kind {
        bail_usage!(
            "Cannot replace the secret of {name}: the credential changed meanwhile. Nothing was saved: run this again."
        );
    }
    let rotated = ToolCredential { source, ..current };
    let SavedCredential { credential, notices } =
        secrets.save(&locked, name, rotated).with_context(|| cannot_save(file))?;
    print_notices(notices)?;
    print_lines([format!(
        "Replaced the secret of {name}, {}, sent only to {}.",
        clean_line(&credential.source.to_string()),
        credential.describe_origins()
    )])
}

fn find(loaded: &ToolCredentials, name: &str) -> Result<ToolCredential> {
    match loaded.get(name) {
        Some(credential) => Ok(credential.clone()),
        None => bail_usage!(
            "Cannot replace the secret of {}: there is no usable credential of this name. List all with `aye credentials`.",
            clean_line(name)
        ),
    }
}

fn remove(file: &Path, secrets: &StoredSecrets, name: &str, yes: bool) -> Result<ExitCode> {
    let loaded = load(file)?;
    if loaded.get(name).is_none() && !loaded.problems.iter().any(|(known, _)| known == name) {
        bail_usage!(
            "Cannot delete {}: there is no credential of this name. List all with `aye credentials`.",
            clean_line(name)
        );
    }
    let question = || Ok(format!("To delete {} and its secret", clean_line(name)));
    if !yes && !confirm(question, "Cannot ask for confirmation: not a terminal. Use --yes.")? {
        return print_lines(["Nothing was deleted.".to_owned()]);
    }
    let notice = secrets.remove(&lock(file)?, name).with_context(|| cannot_save(file))?;
    print_notices(notice)?;
    print_lines([format!("Deleted {}. Revoke it at its service too.", clean_line(name))])
}

fn load(file: &Path) -> Result<ToolCredentials> {
    ToolCredentials::load(file).with_context(|| cannot_read(file))
}

fn lock(file: &Path) -> Result<LockedCredentials> {
    LockedCredentials::open(file).with_context(|| cannot_save(file))
}

fn cannot_read(file: &Path) -> String {
    format!("Cannot read {}", file.display())
}

fn cannot_save(file: &Path) -> String {
    format!("Cannot save {}", file.display())
}
