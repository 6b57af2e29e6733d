//! The run without a screen (`-p`).

use super::{Mistake, Start, answers, rehearsal};
use crate::chat::picture;
use crate::config::brought::{Brought, File, Place, What};
use crate::config::rules::OF_PROJECT;
use crate::config::trust::Look;
use crate::print::{self, Answers, Format};
use crate::store::Drafts;
use crate::store::draft::Owner;
use crate::tui::parts::trust::short;
use crate::tui::text::clean::clean;
use anyhow::Result;
use std::io::{IsTerminal, Read};
use std::path::Path;
use std::process::ExitCode;

/// Largest prompt from a pipe, in bytes.
const PIPE: u64 = 10 * 1024 * 1024;

/// Prints one reply.
pub(super) async fn run(start: Start) -> Result<ExitCode> {
    if start.model.seen.tour && !start.cli.tour {
        return Err(Mistake(
            "no model is configured: set OPENAI_API_KEY, or use --base-url or --profile (--tour runs the scripted demo)".to_owned(),
        )
        .into());
    }
    if start.cli.resume.as_deref() == Some("") {
        return Err(Mistake("--resume needs a session ID here".to_owned()).into());
    }
    let prompt = prompt(&start)?;
    let answers = match &start.cli.answers {
        Some(file) => answers::read(file)?,
        None => Answers::default(),
    };
    let resumes = start.cli.go_on || start.cli.resume.is_some();
    if prompt.trim().is_empty() && !resumes {
        return Err(Mistake("no prompt: give one as an argument, or pipe it in".to_owned()).into());
    }
    let mut session = start.session()?;
    let waited = answers::fits(&answers, &session, &prompt)?;
    let journal = start.wiring.journal.clone();
    let drafts = Drafts::new(&start.wiring.places);
    let (mut out, mut err) = (std::io::stdout(), std::io::stderr());
    let mut notices = start.notices;
    if let Some((from, _)) = session.settle() {
        notices.push(format!("session {} is a copy of {from}, which is unchanged", session.id));
    }
    notices.extend(session.notices);
    notices.extend(untrusted(&start.wiring.place(&session.folder)));
    if !session.model.seen.images && !session.model.seen.tour && !picture::named(&prompt).is_empty() {
        let words =
            "The model receives only the file name of the picture: its profile does not set images = true.";
        notices.push(words.to_owned());
    }
    for notice in notices {
        use std::io::Write;
        writeln!(err, "aye: {}", clean(&notice))?;
    }
    let tidy = |text: &str| clean(text).into_owned();
    let as_it_is = |text: &str| text.to_owned();
    let run = print::Run {
        state: session.state,
        runtime: session.runtime,
        events: session.events,
        effects: session.effects,
        session: session.id.clone(),
        prompt,
        answers,
        format: if start.cli.json { Format::Json } else { Format::Text },
        clean: if start.cli.raw { as_it_is } else { print::printable },
        tidy,
        out: &mut out,
        err: &mut err,
    };
    let dry_run = run.state.is_dry_run();
    let mut ran = print::run(run).await;
    if dry_run && ran.is_ok() {
        let told = rehearsal::plan(&start.wiring, &session.id, start.cli.json, &mut out);
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
            writeln!(err, "aye: {}", clean(notice))?;
        }
        loaded.unsent.questions.clear();
        drafts.save(&owner, &loaded.unsent).map_err(Mistake::of)?;
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
fn untrusted(place: &Place) -> Vec<String> {
    let brought = Brought::look(place);
    let names: Vec<String> = brought.untrusted().map(short).collect();
    let mut said = Vec::new();
    if !names.is_empty() {
        let what =
            if brought.untrusted().any(|file| file.look == Look::Changed) { "as it is now" } else { "yet" };
        let names = names.join(" and ");
        said.push(format!(
            "not used, because it is not trusted {what}: {names}. Review and trust it with aye trust"
        ));
    }
    let unread = |file: &File| match &file.what {
        What::Unread(why) if file.name != OF_PROJECT => {
            Some(format!("{} of this project is not used: {why}", file.name))
        }
        What::Unread(_) | What::Words(_) | What::Rules { .. } => None,
    };
    said.extend(brought.files.iter().filter_map(unread));
    said
}

/// Returns the prompt arguments, followed by the text from a pipe.
fn prompt(start: &Start) -> Result<String> {
    let mut prompt = start.cli.prompt();
    let answers = start.cli.answers.as_deref() == Some(Path::new("-"));
    if answers || std::io::stdin().is_terminal() {
        return Ok(prompt);
    }
    let mut bytes = Vec::new();
    std::io::stdin().take(PIPE + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > PIPE {
        return Err(Mistake(format!("standard input has more than {PIPE} bytes, which is the limit")).into());
    }
    let piped =
        String::from_utf8(bytes).map_err(|_| Mistake("standard input is not UTF-8 text".to_owned()))?;
    if !piped.trim().is_empty() {
        if !prompt.is_empty() {
            prompt.push_str("\n\n");
        }
        prompt.push_str(&piped);
    }
    Ok(prompt)
}
