//! The run without a screen (`-p`).

use super::answers;
use super::rehearsal::dry_run_report;
use super::start::Start;
use super::usage_error::UsageError;
use crate::chat::image;
use crate::config::project_files::{ProjectFile, ProjectFileKind, ProjectFiles, ProjectSource};
use crate::config::rules::PROJECT_RULES_FILE;
use crate::config::trust::TrustState;
use crate::print::{self, Answers, OutputFormat};
use crate::store::Drafts;
use crate::store::draft::Owner;
use crate::text::clean::clean_text;
use crate::tui::parts::trust_prompt::describe_file;
use anyhow::Result;
use std::io::{IsTerminal, Read};
use std::path::Path;
use std::process::ExitCode;

/// Largest prompt from a pipe, in bytes.
const MAX_PIPE_BYTES: u64 = 10 * 1024 * 1024;

/// Prints one reply.
pub(super) async fn run(start: Start) -> Result<ExitCode> {
    if start.model.shown.is_tour && !start.options.tour {
        return Err(UsageError(
            "no model is configured: set OPENAI_API_KEY, or use --base-url or --profile (--tour runs the scripted demo)".to_owned(),
        )
        .into());
    }
    if start.options.resume.as_deref() == Some("") {
        return Err(UsageError("--resume needs a session ID here".to_owned()).into());
    }
    let prompt = read_prompt(&start)?;
    let answers = match &start.options.answers {
        Some(file) => answers::read_answers(file)?,
        None => Answers::default(),
    };
    let resumes = start.options.continue_last || start.options.resume.is_some();
    if prompt.trim().is_empty() && !resumes {
        return Err(UsageError("no prompt: give one as an argument, or pipe it in".to_owned()).into());
    }
    let mut session = start.open_session()?;
    let waited = answers::check_answers(&answers, &session, &prompt)?;
    let journal = start.wiring.journal.clone();
    let drafts = Drafts::new(&start.wiring.places);
    let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
    let mut notices = start.notices;
    if let Some((from, _)) = session.keep_copy() {
        notices.push(format!("session {} is a copy of {from}, which is unchanged", session.id));
    }
    notices.extend(session.notices);
    notices.extend(untrusted_notices(&start.wiring.project_files(&session.folder)));
    if !session.model.shown.accepts_images && !session.model.shown.is_tour && !image::find_images(&prompt).is_empty() {
        let words = "The model receives only the file name of the picture: its profile does not set images = true.";
        notices.push(words.to_owned());
    }
    for notice in notices {
        use std::io::Write;
        writeln!(err, "aye: {}", clean_text(&notice))?;
    }
    let tidy = |text: &str| clean_text(text).into_owned();
    let as_it_is = |text: &str| text.to_owned();
    let run = print::HeadlessRun {
        state: session.state,
        runtime: session.runtime,
        events: session.events,
        effects: session.effects,
        session: session.id.clone(),
        prompt,
        answers,
        format: if start.options.json { OutputFormat::Json } else { OutputFormat::Text },
        clean: if start.options.raw { as_it_is } else { print::to_printable },
        clean_errors: tidy,
        out: &mut out,
        err: &mut err,
    };
    let dry_run = run.state.is_dry_run();
    let mut ran = print::run_headless(run).await;
    if dry_run && ran.is_ok() {
        let told = dry_run_report::print_summary(&start.wiring, &session.id, start.options.json, &mut out);
        if let Err(error) = told {
            match error.downcast::<std::io::Error>() {
                Ok(error) => ran = Err(error),
                Err(error) => {
                    use std::io::Write;
                    writeln!(err, "aye: {error:#}")?;
                    return Ok(ExitCode::FAILURE);
                }
            }
        }
    }
    if waited {
        // A half-answered question prompt is no longer valid.
        let owner = Owner::Session(session.id.clone());
        let mut loaded = drafts.load(&owner);
        for notice in &loaded.notices {
            use std::io::Write;
            writeln!(err, "aye: {}", clean_text(notice))?;
        }
        loaded.unsent.questions.clear();
        drafts.save(&owner, &loaded.unsent).map_err(UsageError::from_error)?;
    }
    match ran {
        Ok(exit) => {
            journal.note(format_args!("exit code {}", exit.code()));
            Ok(ExitCode::from(exit.code()))
        }
        // The reader of the pipe has closed it.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => Ok(ExitCode::SUCCESS),
        Err(error) => Err(error.into()),
    }
}

/// Lists the project files that are not used because they are not trusted, one sentence each. A headless run cannot
/// ask.
fn untrusted_notices(place: &ProjectSource) -> Vec<String> {
    let brought = ProjectFiles::load(place);
    let names: Vec<String> = brought.untrusted().map(describe_file).collect();
    let mut said = Vec::new();
    if !names.is_empty() {
        let what = if brought.untrusted().any(|file| file.trust_state == TrustState::Changed) {
            "as it is now"
        } else {
            "yet"
        };
        let names = names.join(" and ");
        said.push(format!("not used, because it is not trusted {what}: {names}. Review and trust it with aye trust"));
    }
    let unread = |file: &ProjectFile| match &file.kind {
        ProjectFileKind::Unusable(why) if file.name != PROJECT_RULES_FILE => {
            Some(format!("{} of this project is not used: {why}", file.name))
        }
        ProjectFileKind::Unusable(_) | ProjectFileKind::Instructions(_) | ProjectFileKind::Rules { .. } => None,
    };
    said.extend(brought.files.iter().filter_map(unread));
    said
}

/// Returns the prompt arguments, followed by the text from a pipe.
fn read_prompt(start: &Start) -> Result<String> {
    let mut prompt = start.options.prompt();
    let answers = start.options.answers.as_deref() == Some(Path::new("-"));
    if answers || std::io::stdin().is_terminal() {
        return Ok(prompt);
    }
    let mut bytes = Vec::new();
    std::io::stdin().take(MAX_PIPE_BYTES + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_PIPE_BYTES {
        return Err(
            UsageError(format!("standard input has more than {MAX_PIPE_BYTES} bytes, which is the limit")).into()
        );
    }
    let piped = String::from_utf8(bytes).map_err(|_| UsageError("standard input is not UTF-8 text".to_owned()))?;
    if !piped.trim().is_empty() {
        if !prompt.is_empty() {
            prompt.push_str("\n\n");
        }
        prompt.push_str(&piped);
    }
    Ok(prompt)
}
