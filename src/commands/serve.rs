//! `aye serve --mcp`: offers tools to another program over standard input and output, each call judged as in a headless
//! session. `aye serve --acp` is in `editor`. Standard output carries the protocol only.

mod call_queue;
mod client_link;
mod editor;
mod served_tools;
mod server;
mod standard_streams;

use super::chat::{note_panics, untrusted_notices};
use super::output::{print_notice, print_notices};
use crate::assemble::prepare_served_start;
use crate::cli::commands::Serve;
use crate::cli::{ChatOptions, ConnectionOptions, bail_usage};
use anyhow::Result;
use server::Server;
use standard_streams::{MAX_MESSAGE_BYTES, Output, start_reader};
use std::future::{pending, poll_fn};
use std::io::{self, IsTerminal};
use std::process::ExitCode;
use std::task::Poll;
use std::time::Duration;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, sleep_until};

/// Time in which calls may end after the client has closed the input.
const DRAIN_LIMIT: Duration = Duration::from_secs(5);

/// Serves until the client closes the input or a signal arrives.
pub(super) async fn run(arguments: Serve) -> Result<ExitCode> {
    if arguments.acp {
        return editor::run(arguments).await;
    }
    if !arguments.mcp {
        bail_usage!(
            "Cannot serve: the protocol is not named. Run `aye serve --acp` for an editor, or `aye serve --mcp` for an MCP \
             client."
        );
    }
    if arguments.connection != ConnectionOptions::default() {
        bail_usage!("Cannot serve tools with a model: they need none. Omit --model, --base-url and --profile.");
    }
    let options = ChatOptions { print: true, folder: arguments.folder, ..ChatOptions::default() };
    let start = prepare_served_start(options)?;
    let builder = &start.session_builder;
    let journal = builder.journal.clone();
    journal.note(format_args!("aye {} begins, serving, process {}", env!("CARGO_PKG_VERSION"), std::process::id()));
    note_panics(journal.clone());
    // The client may have closed standard error.
    let _ = print_notices(start.notices.iter().chain(&untrusted_notices(&builder.project_source(&builder.folder))));
    if io::stdin().is_terminal() {
        let _ =
            print_notice("waiting for messages of an MCP client; another program starts this command: aye help mcp");
    }
    let mut signals = Signals::listen()?;
    let mut server = Server::new(&start);
    let mut output = Output::start();
    let exit_signal = tokio::select! {
        () = serve(&mut server, &mut output) => None,
        number = signals.next() => Some(number),
    };
    server.stop_calls();
    output.finish().await;
    journal.note("aye ends");
    Ok(match exit_signal {
        None => ExitCode::SUCCESS,
        Some(number) => ExitCode::from(u8::try_from(128 + number).unwrap_or(1)),
    })
}

/// Handles messages and events until the client has closed the input and all calls have ended, or the output is closed.
async fn serve(server: &mut Server<'_>, output: &mut Output) {
    let mut lines = start_reader(MAX_MESSAGE_BYTES);
    // The end of the input, after which calls have a limited time.
    let mut deadline = None;
    loop {
        for message in server.take_messages() {
            if !output.send(&message).await {
                return;
            }
        }
        if deadline.is_some() && server.is_idle() {
            return;
        }
        let time_limit = async {
            match deadline {
                Some(deadline) => sleep_until(deadline).await,
                None => pending().await,
            }
        };
        tokio::select! {
            line = lines.recv(), if deadline.is_none() => match line {
                Some(line) => server.handle_line(line),
                None => {
                    deadline = Some(Instant::now() + DRAIN_LIMIT);
                    server.end_input();
                }
            },
            event = server.reads.next_event() => server.reads.handle_event(event),
            event = server.questions.next_event() => server.questions.handle_event(event),
            () = time_limit => return,
        }
        server.advance();
    }
}

/// The signals that end the program.
struct Signals(Vec<(Signal, i32)>);

impl Signals {
    fn listen() -> io::Result<Self> {
        let kinds = [SignalKind::terminate(), SignalKind::hangup(), SignalKind::interrupt(), SignalKind::quit()];
        let signals = kinds.into_iter().map(|kind| Ok((signal(kind)?, kind.as_raw_value())));
        Ok(Self(signals.collect::<io::Result<_>>()?))
    }

    /// Waits for a signal, and returns its number.
    async fn next(&mut self) -> i32 {
        poll_fn(|context| {
            let arrived =
                self.0.iter_mut().find_map(|(signal, number)| signal.poll_recv(context).is_ready().then_some(*number));
            arrived.map_or(Poll::Pending, Poll::Ready)
        })
        .await
    }
}
