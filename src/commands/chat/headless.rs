//! The run without a screen (`-p`).

use super::answers;
use crate::assemble::Start;
use crate::assemble::attached_files::read_session_files;
use crate::assemble::mcp_setup::discover_servers;
use crate::chat::attachments::{Content, attach, max_file_bytes};
use crate::chat::image;
use crate::cli::{UsageError, bail_usage};
use crate::commands::output::print_notices;
use crate::commands::rehearsal::dry_run_report;
use crate::config::project_files::{ProjectFile, ProjectFileKind, ProjectFiles};
use crate::config::rules::{PROJECT_RULES_FILE, ProjectSource};
use crate::config::trust::TrustState;
use crate::print::{self, Answers, OutputFormat};
use crate::store::Drafts;
use crate::store::draft::Owner;
use crate::tui::prompts::trust_prompt::describe_file;
use anyhow::Result;
use std::io::{IsTerminal, Read, Write};
use std::path::Path;
use std::process::ExitCode;

/// Largest prompt from a pipe, in bytes.
const MAX_PIPE_BYTES: u64 = 10 * 1024 * 1024;

/// Prints one reply.
pub(super) async fn run(start: Start) -> Result<ExitCode> {
    let is_resuming = start.options.continue_last || start.options.resume.is_some();
    if start.model.provider.is_none() && !start.options.tour && !is_resuming {
        print_notices(&start.notices)?;
        return Err(no_provider_error());
    }
    if start.options.resume.as_deref() == Some("") {
        bail_usage!("Cannot continue a session: --resume has no session ID. Name one, or use --continue.");
    }
    let prompt = read_prompt(&start)?;
    let answers = match &start.options.answers {
        Some(file) => Answers::read(file).map_err(UsageError)?,
        None => Answers::default(),
    };
    if prompt.trim().is_empty() && !is_resuming {
        bail_usage!("Cannot start a turn: there is no prompt. Give one as an argument, or pipe it in.");
    }
    let mut session = start.open_session()?;
    if session.model.connection_info.is_unconfigured {
        print_notices(&start.notices)?;
        print_notices(&session.notices)?;
        return Err(no_provider_error());
    }
    discover_servers(&start.session_builder, &mut session).await;
    let was_waiting = answers::check_answers(&answers, &session, &prompt)?;
    let journal = start.session_builder.journal.clone();
    let drafts = Drafts::new(&start.session_builder.places);
    let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
    let mut notices = start.notices;
    if let Some((original, _)) = session.keep_copy() {
        notices.push(format!("session {} is a copy of {original}, which is unchanged", session.id));
    }
    notices.extend(session.notices);
    notices.extend(untrusted_notices(&start.session_builder.project_source(&session.folder)));
    if !session.model.connection_info.accepts_images
        && !session.model.connection_info.is_tour
        && !image::find_images(&prompt).is_empty()
    {
        let notice = "The model receives only the file name of the picture: its profile does not set images = true.";
        notices.push(notice.to_owned());
    }
    let max_bytes = max_file_bytes(session.state.context_usage().context_window);
    // Only what the user wrote names files, not the text from a pipe.
    let (builder, id, prompt_text) = (start.session_builder.clone(), session.id.clone(), start.options.prompt());
    let read_files = move || read_session_files(&builder, &id, &prompt_text, max_bytes);
    let files = tokio::task::spawn_blocking(read_files).await?;
    notices.extend(files.iter().filter_map(|file| match &file.content {
        Content::Missing(reason) => Some(format!("{} is not attached: {reason}.", file.source)),
        Content::File { .. } | Content::Resource(_) => None,
    }));
    let prompt = attach(&prompt, &files);
    print_notices(&notices)?;
    let keep_unchanged = |text: &str| text.to_owned();
    let run = print::HeadlessRun {
        state: session.state,
        runtime: session.runtime,
        events: session.events,
        effects: session.effects,
        session: session.id.clone(),
        prompt,
        answers,
        format: if start.options.json { OutputFormat::Json } else { OutputFormat::Text },
        clean: if start.options.raw { keep_unchanged } else { print::to_printable },
        out: &mut out,
        err: &mut err,
    };
    let dry_run = run.state.is_dry_run();
    let mut result = print::run_headless(run).await;
    if dry_run && result.is_ok() {
        let summary_result =
            dry_run_report::print_summary(&start.session_builder, &session.id, start.options.json, &mut out);
        if let Err(error) = summary_result {
            match error.downcast::<std::io::Error>() {
                Ok(error) => result = Err(error),
                Err(error) => {
                    writeln!(err, "aye: {error:#}")?;
                    return Ok(ExitCode::FAILURE);
                }
            }
        }
    }
    if was_waiting {
        // The question is answered, so answers to it in the session's draft are outdated.
        let owner = Owner::Session(session.id.clone());
        let mut loaded = drafts.load(&owner);
        print_notices(&loaded.notices)?;
        loaded.unsent.questions.clear();
        drafts.save(&owner, &loaded.unsent).map_err(UsageError::from_error)?;
    }
    match result {
        Ok(exit) => {
            journal.note(format_args!("exit code {}", exit.code()));
            Ok(ExitCode::from(exit.code()))
        }
        // The reader of the pipe has closed it.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(error) => Err(error.into()),
    }
}

fn no_provider_error() -> anyhow::Error {
    let message = "Cannot start a turn: no model is configured. Set OPENAI_API_KEY, or use --base-url or --profile; --tour runs a script.";
    UsageError(message.to_owned()).into()
}

/// Lists the project files that are not used because they are not trusted, one sentence each. A headless run cannot
/// ask.
pub(in crate::commands) fn untrusted_notices(source: &ProjectSource) -> Vec<String> {
    let project_files = ProjectFiles::load(source);
    let names: Vec<String> = project_files.untrusted().map(describe_file).collect();
    let mut notices = Vec::new();
    if !names.is_empty() {
        let state = if project_files.untrusted().any(|file| file.trust_state == TrustState::Changed) {
            "as it is now"
        } else {
            "yet"
        };
        let names = names.join(" and ");
        notices
            .push(format!("not used, because it is not trusted {state}: {names}. Review and trust it with aye trust"));
    }
    let unusable_notice = |file: &ProjectFile| match &file.kind {
        ProjectFileKind::Unusable(reason) if file.name != PROJECT_RULES_FILE => {
            Some(format!("{} of this project is not used: {reason}", file.name))
        }
        ProjectFileKind::Unusable(_)
        | ProjectFileKind::Instructions(_)
        | ProjectFileKind::McpServers { .. }
        | ProjectFileKind::Rules { .. }
        | ProjectFileKind::Tool { .. }
        | ProjectFileKind::Command { .. }
        | ProjectFileKind::Skill { .. } => None,
    };
    notices.extend(project_files.files.iter().filter_map(unusable_notice));
    notices.extend(project_files.problems);
    notices
}

/// Returns the prompt arguments, followed by the text from a pipe.
fn read_prompt(start: &Start) -> Result<String> {
    let mut prompt = start.options.prompt();
    let reads_answers = start.options.answers.as_deref() == Some(Path::new("-"));
    if reads_answers || std::io::stdin().is_terminal() {
        return Ok(prompt);
    }
    let mut bytes = Vec::new();
    std::io::stdin().take(MAX_PIPE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_PIPE_BYTES {
        bail_usage!(
            "Cannot read standard input: it has more than {} MiB, which is the limit. Save it as a file, and name the file \
             in the prompt.",
            MAX_PIPE_BYTES >> 20
        );
    }
    let piped = String::from_utf8(bytes).map_err(|_| {
        UsageError(
            "Cannot read standard input: it is not UTF-8 text. Convert it, such as with `iconv -t utf-8`.".to_owned(),
        )
    })?;
    if !piped.trim().is_empty() {
        if !prompt.is_empty() {
            prompt.push_str("\n\n");
        }
        prompt.push_str(&piped);
    }
    Ok(prompt)
}
