//! `aye serve --acp`: the agent of an editor.

use super::Signals;
use super::standard_streams::{Output, start_reader};
use crate::acp::{AcpServer, OpenedSession, SessionOpener};
use crate::assemble::attached_files::read_session_files;
use crate::assemble::connected_model::home_folder;
use crate::assemble::mcp_setup::discover_servers;
use crate::assemble::{prepare_served_start, prepare_start};
use crate::chat::SessionId;
use crate::cli::ChatOptions;
use crate::cli::commands::Serve;
use crate::commands::chat::{note_panics, untrusted_notices};
use crate::commands::output::{print_notice, print_notices};
use anyhow::{Result, bail};
use futures::FutureExt;
use futures::future::BoxFuture;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Duration;

/// Maximum bytes of a message. A prompt may contain files.
const MAX_MESSAGE_BYTES: usize = 8 << 20;

/// Time in which an editor takes the last messages.
const LAST_MESSAGES_LIMIT: Duration = Duration::from_secs(1);

/// Error if no model is connected.
const NO_MODEL: &str =
    "Cannot open a session: no model is configured. Run aye in a terminal to connect one, or set OPENAI_API_KEY.";

/// Serves until the editor closes the input or a signal arrives.
pub(super) async fn run(arguments: Serve) -> Result<ExitCode> {
    let options = ChatOptions {
        print: true,
        dry_run: arguments.dry_run,
        mode: arguments.mode,
        connection: arguments.connection,
        ..ChatOptions::default()
    };
    // A session connects to the model when it is opened, so that an error about that is shown in the editor.
    let start = prepare_served_start(options.clone())?;
    let journal = start.session_builder.journal.clone();
    journal.note(format_args!(
        "aye {} begins, serving an editor, process {}",
        env!("CARGO_PKG_VERSION"),
        std::process::id()
    ));
    note_panics(journal.clone());
    // The editor may have closed standard error.
    let _ = print_notices(&start.notices);
    if io::stdin().is_terminal() {
        let _ = print_notice("waiting for messages of an editor, which starts this command: aye help editors");
    }
    let mut signals = Signals::listen()?;
    let mut server = AcpServer::new(Box::new(Opener { options }));
    let mut output = Output::start();
    let exit_signal = tokio::select! {
        () = serve(&mut server, &mut output) => None,
        number = signals.next() => Some(number),
    };
    let _ = print_notices(server.stop());
    // The prompts whose turns were stopped are answered, if the editor still reads.
    let send_rest = async {
        for message in server.take_messages() {
            if !output.send(&message).await {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(LAST_MESSAGES_LIMIT, send_rest).await;
    output.finish().await;
    journal.note("aye ends");
    Ok(match exit_signal {
        None => ExitCode::SUCCESS,
        Some(number) => ExitCode::from(u8::try_from(128 + number).unwrap_or(1)),
    })
}

/// Handles messages and events until the editor has closed the input or the output.
async fn serve(server: &mut AcpServer, output: &mut Output) {
    let mut lines = start_reader(MAX_MESSAGE_BYTES);
    loop {
        for message in server.take_messages() {
            if !output.send(&message).await {
                return;
            }
        }
        tokio::select! {
            line = lines.recv() => match line {
                Some(line) => server.handle_line(line, MAX_MESSAGE_BYTES),
                None => return,
            },
            happening = server.next_happening() => server.handle_happening(happening),
        }
    }
}

/// Opens each session as a headless run in its folder does: with the settings, rules and trust of that moment.
struct Opener {
    options: ChatOptions,
}

impl SessionOpener for Opener {
    fn open_session(
        &self,
        folder: PathBuf,
        stored: Option<SessionId>,
    ) -> BoxFuture<'static, Result<OpenedSession, String>> {
        let options = ChatOptions {
            folder: Some(folder.clone()),
            resume: stored.as_ref().map(|id| id.0.clone()),
            ..self.options.clone()
        };
        open_session(options, folder, stored).map(|result| result.map_err(|error| format!("{error:#}"))).boxed()
    }
}

async fn open_session(options: ChatOptions, folder: PathBuf, stored: Option<SessionId>) -> Result<OpenedSession> {
    let open_folder = folder.clone();
    let open = move || {
        let start = prepare_start(options)?;
        if start.model.provider.is_none() && stored.is_none() {
            bail!("{NO_MODEL}");
        }
        let session = start.open_session()?;
        if session.model.connection_info.is_unconfigured {
            bail!("{NO_MODEL}");
        }
        if let Some(stored) = stored
            && (session.id != stored || open_folder.canonicalize().ok() != session.folder.canonicalize().ok())
        {
            bail!(
                "Cannot load the session: no session of this folder has the ID {}. List them with: aye sessions list",
                stored.0
            );
        }
        Ok((start, session))
    };
    let (start, mut session) = tokio::task::spawn_blocking(open).await??;
    let builder = start.session_builder;
    discover_servers(&builder, &mut session).await;
    let mut notices = start.notices;
    notices.extend(session.notices);
    notices.extend(untrusted_notices(&builder.project_source(&session.folder)));
    let id = session.id.clone();
    let read_files = move |message: &str, max_bytes| read_session_files(&builder, &id, message, max_bytes);
    Ok(OpenedSession {
        id: session.id,
        folder,
        state: session.state,
        runtime: session.runtime,
        events: session.events,
        effects: session.effects,
        notices,
        read_files: Box::new(read_files),
        home: Some(home_folder()),
    })
}
