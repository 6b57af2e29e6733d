//! Custom commands: they are read when a command is typed, completed with the others, and their text is sent as a message.

use crate::chat::custom_command::CommandFiles;
use crate::chat::user_command::escape_message;
use crate::tui::host::HostRequest;
use crate::tui::parts::completion::Candidate;
use crate::tui::parts::toast::Kind;
use crate::tui::slash_command::SlashCommand;
use crate::tui::state::State;
use crate::tui::update::server_texts::prompt_candidate;
use crate::tui::update::slash_commands::find_unknown_name;

/// Stores the commands and reports problems of their files. Returns true if the draft waited for them and is to be sent.
pub fn set_commands(state: &mut State, files: CommandFiles) -> bool {
    let CommandFiles { mut commands, untrusted, mut problems } = files;
    let is_built_in = |name: &str| state.commands.iter().any(|row| row.names.contains(&name));
    for command in commands.extract_if(.., |command| is_built_in(&command.name)) {
        problems.push(format!("Cannot use {}: /{} is a command of aye. Rename the file.", command.file, command.name));
    }
    for problem in &problems {
        // Each is shown once.
        if !state.input.custom_commands.files.problems.contains(problem) {
            state.show_warning(problem);
        }
    }
    let custom = &mut state.input.custom_commands;
    custom.files = CommandFiles { commands, untrusted, problems };
    custom.is_loading = false;
    let is_waiting = custom.waiting_draft.take().is_some_and(|draft| draft == state.input.composer.text());
    custom.was_read_for_draft = is_waiting;
    update_candidates(state);
    is_waiting
}

/// Updates what `/` completes: the built-in commands, the custom ones and the prompts of MCP servers.
pub fn update_candidates(state: &mut State) {
    let built_in = state.commands.iter().map(|SlashCommand { names, help, .. }| Candidate::new(names[0], help));
    let custom = state.input.custom_commands.files.commands.iter().map(|command| {
        let origin = if command.is_of_project { "of this project" } else { "" };
        let parts = [command.argument_hint.as_str(), command.description.as_str(), origin];
        let description = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ");
        let send_label = if command.missing_arguments("").is_some() { "add arguments" } else { "send" };
        Candidate { send_label, ..Candidate::new(&command.name, &description) }
    });
    let prompts = state
        .input
        .server_offers
        .iter()
        .flat_map(|(server, offer)| offer.prompts.iter().map(move |prompt| prompt_candidate(server, prompt)));
    let candidates = built_in.chain(custom).chain(prompts).collect();
    state.input.completion.set_commands(candidates);
}

/// Result of expanding a draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expansion {
    /// Not a custom command.
    Unchanged,
    /// Replaced by the message of a command.
    Message,
    /// Not to be sent: it waits for the files, or has an error.
    NotSent,
}

/// Replaces a draft that is a custom command by its message. The draft is not to be sent now if that has an error, or
/// the files are being read, or they are read again because its name is not known.
pub fn expand_draft(state: &mut State) -> Expansion {
    let draft = state.input.composer.text();
    let Some(name) = find_unknown_name(&draft) else { return Expansion::Unchanged };
    let custom = &mut state.input.custom_commands;
    let was_read = std::mem::take(&mut custom.was_read_for_draft);
    if custom.is_loading {
        // What was read before may have changed.
        custom.waiting_draft = Some(draft);
        return Expansion::NotSent;
    }
    if let Some(command) = custom.files.commands.iter().find(|command| command.name == name) {
        let arguments = &draft[1 + name.len()..];
        if let Some(hint) = command.missing_arguments(arguments) {
            let notice = format!("Not sent: an argument is missing. Usage: /{name} {hint}");
            if arguments.is_empty() {
                state.input.composer.insert(" ");
            }
            state.show_notice(&notice, Kind::Draft);
            return Expansion::NotSent;
        }
        match command.expand(arguments) {
            Ok(message) => state.input.composer.set(&escape_message(&message)),
            Err(reason) => {
                let notice = format!("Not sent: /{name}: {reason}");
                state.show_notice(&notice, Kind::Draft);
                return Expansion::NotSent;
            }
        }
        return Expansion::Message;
    }
    if was_read {
        return Expansion::Unchanged;
    }
    (custom.waiting_draft, custom.is_loading) = (Some(draft), true);
    state.send_request(HostRequest::ListOffers);
    Expansion::NotSent
}
