//! What each command does: one file or folder per subcommand, named after it.

mod audit;
mod chat;
mod checkpoints;
pub mod completions;
mod credentials;
mod demo;
mod doctor;
mod export;
mod export_file;
mod export_theme;
mod files;
mod folder;
pub mod help;
mod man;
mod mcp;
mod models;
mod open;
mod output;
mod rehearsal;
mod replay;
mod rules;
mod serve;
mod sessions;
mod skills;
mod tokens;
mod tools;
mod trust;
mod undo;
pub mod version;

use crate::cli::commands::{CheckpointsCommand, Command, RehearsalCommand, RulesCommand, TrustCommand};
use crate::cli::credentials::CredentialsCommand;
use crate::cli::files::FilesCommand;
use crate::cli::skills::SkillsCommand;
use crate::cli::tokens::TokensCommand;
use crate::cli::tools::ToolsCommand;
use anyhow::Result;
pub use chat::run_chat;
use output::ignore_closed_pipe;
use std::process::ExitCode;

/// Runs a command.
///
/// # Errors
/// A `UsageError` for a mistake of the user; any other error comes from the system.
pub async fn run(command: Command) -> Result<ExitCode> {
    match command {
        Command::Sessions(arguments) => ignore_closed_pipe(sessions::run(&arguments)),
        Command::Rehearsal(arguments) => match arguments.command {
            Some(RehearsalCommand::Apply(apply)) => chat::run_apply(*apply).await,
            Some(command) => ignore_closed_pipe(rehearsal::run(&command)),
            None => {
                let show = RehearsalCommand::Show { id: None, options: arguments.show };
                ignore_closed_pipe(rehearsal::run(&show))
            }
        },
        Command::Undo(arguments) => undo::run(&arguments),
        Command::Checkpoints(arguments) => {
            let list = CheckpointsCommand::List(arguments.list);
            checkpoints::run(&arguments.command.unwrap_or(list))
        }
        Command::Files(arguments) => {
            let list = FilesCommand::Ls(arguments.list);
            ignore_closed_pipe(files::run(arguments.command.unwrap_or(list)))
        }
        Command::Open(arguments) => open::run(&arguments),
        Command::Demo(arguments) => demo::run(arguments.command).await,
        Command::Export(arguments) => export::run(&arguments.format),
        Command::Replay(arguments) => replay::run(&arguments).await,
        Command::Rules(arguments) => match arguments.command {
            Some(command) => rules::run(&command),
            None => rules::run(&RulesCommand::List(arguments.list)),
        },
        Command::Audit(arguments) => audit::run(&arguments),
        Command::Tools(arguments) => {
            let list = ToolsCommand::List(arguments.list);
            tools::run(arguments.command.unwrap_or(list)).await
        }
        Command::Skills(arguments) => {
            let list = SkillsCommand::List(arguments.list);
            ignore_closed_pipe(skills::run(&arguments.command.unwrap_or(list)))
        }
        Command::Tokens(arguments) => {
            let show = TokensCommand::Show(arguments.show);
            ignore_closed_pipe(tokens::run(&arguments.command.unwrap_or(show)))
        }
        Command::Trust(arguments) => match arguments.command {
            Some(TrustCommand::List(options)) => trust::list(&options),
            None => trust::ask_for_trust(&arguments.place),
        },
        Command::Untrust(place) => trust::revoke(&place),
        Command::Mcp(arguments) => mcp::run(arguments).await,
        Command::Credentials(arguments) => {
            let command = arguments.command.unwrap_or(CredentialsCommand::List(arguments.list));
            ignore_closed_pipe(credentials::run(command).await)
        }
        Command::Serve(arguments) => serve::run(arguments).await,
        Command::Models(arguments) => models::run(arguments).await,
        Command::Doctor(arguments) => doctor::run(&arguments).await,
        Command::Completions(arguments) => ignore_closed_pipe(completions::run(&arguments)),
        Command::Man(arguments) => ignore_closed_pipe(man::run(&arguments)),
        Command::Help(arguments) => help::run(&arguments),
    }
}
