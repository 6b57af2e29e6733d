//! Decides whether the arguments are a command, a request for help, or a chat.
//!
//! The first word is a command only if the whole line parses as that command; otherwise it is the first word of a prompt,
//! unless it looks mistyped. Options may precede the command and its subcommand.

use super::help::{self, HelpPage};
use super::mistyped_command::explain_mistyped;
use super::{ChatOptions, Cli, Command};
use clap::builder::Resettable;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Arg, ArgAction, Args, CommandFactory, FromArgMatches, Parser, value_parser};
use std::ffi::OsString;

/// What the user asked for.
#[derive(Debug)]
pub enum Request {
    /// A chat with the model.
    Chat(Box<ChatOptions>),
    /// A command.
    Command(Command),
    /// A page of help.
    Help(HelpPage),
    /// The version, with details of the build.
    DetailedVersion,
}

/// Why the arguments are rejected.
#[derive(Debug, thiserror::Error)]
pub enum ParseError {
    /// An error of the parser; also the version, which is no error.
    #[error(transparent)]
    Clap(#[from] clap::Error),
    /// One sentence that says what was expected.
    #[error("{0}")]
    Usage(String),
}

/// Parses the arguments after the program's name.
///
/// # Errors
/// If they are no command and no chat, or look like a mistyped command.
pub fn parse_arguments(arguments: impl IntoIterator<Item = OsString>) -> Result<Request, ParseError> {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    if let Some(page) = requested_help(&arguments) {
        return Ok(Request::Help(page));
    }
    if is_detailed_version(&arguments) {
        return Ok(Request::DetailedVersion);
    }
    // Without any word, no command needs to be looked for. The tree of all commands costs as much as the rest of the parser.
    if let Some(chat) = parse_without_words(&arguments) {
        return finish_chat(chat);
    }
    parse_with_words(&arguments)
}

/// Parses a line of options of the chat and their values; `None` if it has anything else.
fn parse_without_words(arguments: &[OsString]) -> Option<ChatOptions> {
    match_chat(arguments).ok().filter(|chat| chat.prompt_words.is_empty())
}

/// Parses a line that may begin with a command.
fn parse_with_words(arguments: &[OsString]) -> Result<Request, ParseError> {
    if arguments.iter().all(|argument| argument.as_encoded_bytes().starts_with(b"-")) {
        return parse_chat(arguments);
    }
    let tree = Cli::command();
    // `None`: the first word is no command. `Some(None)`: `aye help` with words that name no page.
    let command_error = match split_command(&tree, arguments) {
        Some(line) => match parse_command(line) {
            Ok(request) => return Ok(request),
            Err(error) => Some(error),
        },
        None => None,
    };
    let Some(words) = read_words(&tree, arguments) else {
        return command_error.flatten().map_or_else(|| parse_chat(arguments), |error| Err(describe_error(error)));
    };
    if words.is_prompt {
        return parse_chat(arguments);
    }
    // If the line is a command without its options, the error is about an option. So is one about a value of an option.
    let line = words.before_escape.iter().map(OsString::from).collect();
    if let Some(Some(error)) = command_error
        && (names_option_value(&error) || parse_command(line).is_ok())
    {
        return Err(explain_option(&tree, &words.before_escape, error));
    }
    if let Some(explanation) = explain_mistyped(&tree, &words.before_escape) {
        return Err(ParseError::Usage(explanation));
    }
    parse_chat(arguments)
}

/// Returns whether both `--version` and `--verbose` are among the options.
fn is_detailed_version(arguments: &[OsString]) -> bool {
    let mut options = arguments.iter().take_while(|argument| *argument != "--");
    options.clone().any(|option| option == "--version" || option == "-V") && options.any(|option| option == "--verbose")
}

/// Returns the page requested by `--help` or `-h`: that of the command named by the words, or of the program.
fn requested_help(arguments: &[OsString]) -> Option<HelpPage> {
    let end = arguments.iter().position(|argument| argument == "--").unwrap_or(arguments.len());
    let (before_escape, _) = arguments.split_at(end);
    let is_help = |argument: &&OsString| *argument == "--help" || *argument == "-h";
    before_escape.iter().find(is_help)?;
    let non_help_arguments: Vec<OsString> =
        before_escape.iter().filter(|argument| !is_help(argument)).cloned().collect();
    let words = read_words(&Cli::command(), &non_help_arguments).filter(|words| !words.is_prompt);
    let words = words.map(|words| words.before_escape).unwrap_or_default();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let is_long = before_escape.iter().any(|argument| argument == "--help");
    Some(help::command_help(&words, is_long))
}

fn parse_chat(arguments: &[OsString]) -> Result<Request, ParseError> {
    finish_chat(match_chat(arguments).map_err(|error| explain_option(&Cli::command(), &[], error))?)
}

fn match_chat(arguments: &[OsString]) -> Result<ChatOptions, clap::Error> {
    let command = clap::Command::new("aye")
        .override_usage("aye [OPTIONS] [PROMPT]...\n       aye [OPTIONS] COMMAND")
        .version(env!("CARGO_PKG_VERSION"));
    let command = ChatOptions::augment_args(command);
    let line = std::iter::once(OsString::from("aye")).chain(arguments.iter().cloned());
    command.try_get_matches_from(line).and_then(|matches| ChatOptions::from_arg_matches(&matches))
}

/// Checks what depends on several options.
fn finish_chat(chat: ChatOptions) -> Result<Request, ParseError> {
    if chat.verbose {
        return Err(ParseError::Usage("Cannot use --verbose here: it says more about --version only.".to_owned()));
    }
    if chat.json && !chat.print {
        let commands = commands_with_option(&Cli::command(), "json", &[]).join(", ");
        return Err(ParseError::Usage(format!(
            "Cannot use --json here: it is an option of other commands. Use it with -p, or with: {commands}"
        )));
    }
    Ok(Request::Chat(Box::new(chat)))
}

/// Parses a line that begins with a command. The error is `None` if it is `aye help` with words that name no page.
fn parse_command(line: Vec<OsString>) -> Result<Request, Option<clap::Error>> {
    let cli = Cli::try_parse_from(std::iter::once(OsString::from("aye")).chain(line))?;
    match cli.command {
        Some(Command::Help(help)) => {
            let words: Vec<&str> = help.words.iter().map(String::as_str).collect();
            help::find_page(&words).map(Request::Help).ok_or(None)
        }
        Some(command) => Ok(Request::Command(command)),
        None => Err(None),
    }
}

/// Returns the line with the command and its subcommand first and their options after; `None` if the first word is no
/// command.
fn split_command(tree: &clap::Command, arguments: &[OsString]) -> Option<Vec<OsString>> {
    let first = first_word(tree, arguments)?;
    let command = tree.find_subcommand(&arguments[first])?;
    let (mut options, mut remaining) = (arguments[..first].to_vec(), &arguments[first + 1..]);
    let mut line = vec![arguments[first].clone()];
    if let Some(second) =
        first_word(tree, remaining).filter(|index| command.find_subcommand(&remaining[*index]).is_some())
    {
        line.push(remaining[second].clone());
        options.extend_from_slice(&remaining[..second]);
        remaining = &remaining[second + 1..];
    }
    line.extend(options);
    line.extend_from_slice(remaining);
    Some(line)
}

/// Returns the index of the first argument that is no option and no value of one; `None` if there is none before `--`.
fn first_word(tree: &clap::Command, arguments: &[OsString]) -> Option<usize> {
    let words = Arg::new("words").num_args(0..).trailing_var_arg(true).value_parser(value_parser!(OsString));
    let line = std::iter::once(OsString::from("aye")).chain(arguments.iter().cloned());
    let matches = with_all_options(tree).arg(words).try_get_matches_from(line).ok()?;
    // The first word and everything after it are taken for words.
    let index = arguments.len() - matches.get_raw("words")?.len();
    (index == 0 || arguments[index - 1] != "--").then_some(index)
}

/// Words of a line, without its options.
struct Words {
    /// Words before `--`.
    before_escape: Vec<String>,
    /// Whether all words are for the model.
    is_prompt: bool,
}

/// Reads the words of a line that may use the options of any command; `None` if it is not readable.
fn read_words(tree: &clap::Command, arguments: &[OsString]) -> Option<Words> {
    let command = with_all_options(tree)
        .arg(Arg::new("words").num_args(0..).action(ArgAction::Append))
        .arg(Arg::new("literal").num_args(0..).last(true));
    let line = std::iter::once(OsString::from("aye")).chain(arguments.iter().cloned());
    let matches = command.try_get_matches_from(line).ok()?;
    let before_escape: Vec<String> = matches.get_many("words").into_iter().flatten().cloned().collect();
    let is_prompt = matches.get_flag("print") || before_escape.is_empty();
    Some(Words { before_escape, is_prompt })
}

/// Returns a command that accepts the options of the program and of all its commands, in any combination.
fn with_all_options(tree: &clap::Command) -> clap::Command {
    let mut combined = clap::Command::new("aye").args_override_self(true).disable_help_flag(true);
    let mut names: Vec<String> = Vec::new();
    let mut pending = vec![tree];
    while let Some(command) = pending.pop() {
        pending.extend(command.get_subcommands());
        for option in command.get_arguments() {
            let Some(long) = option.get_long().filter(|long| !names.iter().any(|name| name == long)) else { continue };
            names.push(long.to_owned());
            let relaxed = option.clone().required(false).requires(Resettable::Reset).conflicts_with(Resettable::Reset);
            let relaxed = match option.get_action().takes_values() {
                true => relaxed.value_parser(value_parser!(OsString)),
                false => relaxed,
            };
            combined = combined.arg(relaxed);
        }
    }
    combined
}

/// Returns whether the error is about a value of an option. Commands with required options do not parse without them.
fn names_option_value(error: &clap::Error) -> bool {
    let is_option = |argument: &ContextValue| matches!(argument, ContextValue::String(name) if name.starts_with('-'));
    matches!(error.kind(), ErrorKind::InvalidValue | ErrorKind::ValueValidation)
        && error.get(ContextKind::InvalidArg).is_some_and(is_option)
}

/// Says which commands an option belongs to, if it is unknown here and known elsewhere. Other errors stay as they are.
fn explain_option(tree: &clap::Command, words: &[String], error: clap::Error) -> ParseError {
    let option = match (error.kind(), error.get(ContextKind::InvalidArg)) {
        (ErrorKind::UnknownArgument, Some(ContextValue::String(option))) => option.clone(),
        _ => return describe_error(error),
    };
    let Some(long) = option.strip_prefix("--") else { return describe_error(error) };
    let commands = commands_with_option(tree, long, words);
    if commands.is_empty() {
        return describe_error(error);
    }
    ParseError::Usage(format!(
        "Cannot use {option} here: it is an option of another command. Use it with: {}",
        commands.join(", ")
    ))
}

/// Describes an error of the parser on one line, with what to do. The version stays as it is.
fn describe_error(error: clap::Error) -> ParseError {
    if !error.use_stderr() {
        return ParseError::Clap(error);
    }
    let rendered = error.to_string();
    // The paragraphs after the first are advice for programs in general.
    let paragraph = rendered.split("\n\n").next().unwrap_or_default();
    let lines = paragraph.lines().map(str::trim).filter(|line| !line.starts_with('['));
    let reason = lines.collect::<Vec<_>>().join(" ");
    let reason = reason.strip_prefix("error: ").unwrap_or(&reason).replace('\'', "`");
    let advice = match (
        error.get(ContextKind::SuggestedArg).or(error.get(ContextKind::SuggestedValue)),
        error.get(ContextKind::ValidValue),
    ) {
        (Some(ContextValue::String(nearest)), _) => format!("Did you mean `{nearest}`?"),
        (Some(ContextValue::Strings(nearest)), _) if !nearest.is_empty() => format!("Did you mean `{}`?", nearest[0]),
        (_, Some(ContextValue::Strings(values))) if !values.is_empty() => format!("Use one of: {}.", values.join(", ")),
        _ => format!("See `{} --help`.", usage_command(&error)),
    };
    ParseError::Usage(format!("Cannot read the command line: {}. {advice}", reason.trim_end_matches('.')))
}

/// Returns the command that the usage of the error names, such as `aye sessions export`.
fn usage_command(error: &clap::Error) -> String {
    let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) else { return "aye".to_owned() };
    let usage = usage.to_string();
    let words = usage.split_whitespace().skip_while(|word| *word != "aye");
    words.take_while(|word| word.starts_with(|c: char| c.is_ascii_lowercase())).collect::<Vec<_>>().join(" ")
}

/// Returns the commands with this option: those of the command that the words begin with, if any, otherwise all.
fn commands_with_option(tree: &clap::Command, long: &str, words: &[String]) -> Vec<String> {
    let has_option = |command: &clap::Command| command.get_arguments().any(|option| option.get_long() == Some(long));
    let (mut same_command, mut every_command) = (Vec::new(), Vec::new());
    for command in tree.get_subcommands() {
        let verbs: Vec<&clap::Command> = command.get_subcommands().filter(|verb| has_option(verb)).collect();
        let names = match verbs.is_empty() {
            true if has_option(command) => vec![format!("aye {}", command.get_name())],
            true => Vec::new(),
            false => verbs.iter().map(|verb| format!("aye {} {}", command.get_name(), verb.get_name())).collect(),
        };
        if words.first().is_some_and(|word| word == command.get_name()) {
            same_command.clone_from(&names);
        }
        every_command.extend(names);
    }
    if same_command.is_empty() { every_command } else { same_command }
}

#[cfg(test)]
mod tests;
