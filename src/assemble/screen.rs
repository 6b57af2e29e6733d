//! The run with the screen.

use super::screen_host::ScreenHost;
use super::session::{Session, connect_runtime};
use super::start::Start;
use super::terminal_query::{color_depth, draws_pictures, is_ascii};
use crate::config::{Links, Screen};
use crate::project::folder_facts;
use crate::runtime::FIRST_FRAME_DELAY;
use crate::store::Journal;
use crate::tui::graphics::answers::PictureSupport;
use crate::tui::host::{AgentLink, HostReply};
use crate::tui::keys::Keymap;
use crate::tui::parts::pictures::Protocol;
use crate::tui::popup::PickedAction;
use crate::tui::terminal_features::{has_clipboard, is_remote, reorders_text};
use crate::tui::theme::catalog::Themes;
use crate::tui::theme::depth::ColourDepth;
use crate::tui::{self, Exit, RecordingOptions, terminal};
use anyhow::Result;
use std::convert::Infallible;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc;

/// Replies of the host that may wait for the screen.
const MAX_REPLIES: usize = 64;

/// Shows the screen until the user leaves. `open_session` opens the session that the command line asks for.
///
/// # Errors
/// A `UsageError` if the caller is at fault; any other error is of the system.
pub(crate) async fn run_screen(start: Start, open_session: impl Fn(&Start) -> Result<Session>) -> Result<Exit> {
    let (screen_start, journal) = prepare_screen(start, open_session)?;
    let exit = tokio::select! {
        exit = tui::run_screen(screen_start) => exit?,
        never = test_panic() => match never {},
    };
    if let Some(signal) = exit.exit_signal {
        journal.note(format_args!("ended by signal {signal}"));
    }
    Ok(exit)
}

/// Opens the session and builds its screen. Not inlined, because its many values would stay on the stack as long as the screen is open.
#[inline(never)]
fn prepare_screen(mut start: Start, open_session: impl Fn(&Start) -> Result<Session>) -> Result<(tui::Start, Journal)> {
    let depth = color_depth(&start.connector.settings.config.screen);
    let apply_request = start.initial_apply_request();
    // If it is uncertain which session to continue, the user picks one from the list. With `--answers` it is an error,
    // because the answers belong to one session.
    let doubt = start.explain_doubt().filter(|_| start.options.answers.is_none());
    let open_or_start = || match doubt {
        Some(_) => start.session_builder.start_session(&start.model, start.options.dry_run),
        None => open_session(&start),
    };
    let session = apply_request.and_then(|apply_request| Ok((open_or_start()?, apply_request)));
    // The answer is awaited before anything else uses the terminal.
    let startup_input = std::mem::take(&mut start.terminal_query).finish();
    let light = startup_input.is_light;
    let (mut session, apply_request) = session?;
    let copy_notice = session.keep_copy().and_then(|(_, notice)| notice);
    let picked_action =
        if start.options.fork { PickedAction::Fork(start.options.fork_mode()) } else { PickedAction::Open };
    let shows_picker = doubt.is_some() || start.options.resume.as_ref().is_some_and(String::is_empty);
    let session_picker = shows_picker.then_some(picked_action);
    let screen_config = &start.connector.settings.config.screen;
    let pictures = draws_pictures(screen_config, depth)
        .then(|| picture_protocol(startup_input.picture_support, terminal::cell_pixels()));
    let (first_message, record_to) = (start.options.prompt(), start.options.record.clone());
    let doubt = doubt.map(|doubt| format!("No session was continued: {doubt}"));
    let built = build_screen(start, session, doubt, &TerminalLook { depth, is_light: light, pictures });
    if let Some(notice) = copy_notice {
        built.host.send(HostReply::Done(notice));
    }
    let journal = built.journal;
    let screen_start = tui::Start {
        state: built.state,
        link: built.link,
        host: Box::new(built.host),
        replies: built.replies,
        startup_input,
        first_message: if apply_request.is_some() { String::new() } else { first_message },
        approvals: apply_request,
        session_picker,
        record_to,
        recording_options: built.recording_options,
        is_panic_caught: crate::tools::panic_guard::is_panic_caught,
    };
    Ok((screen_start, journal))
}

/// What the screen needs to know of the terminal.
#[derive(Debug, Clone, Copy)]
pub(super) struct TerminalLook {
    pub(super) depth: ColourDepth,
    /// True if its background is light; `None` if unknown.
    pub(super) is_light: Option<bool>,
    /// How pictures are drawn; `None` if they are not.
    pub(super) pictures: Option<Protocol>,
}

/// The parts of a screen before it is shown.
pub(super) struct BuiltScreen {
    pub(super) state: Box<tui::State>,
    pub(super) link: AgentLink,
    pub(super) host: ScreenHost,
    pub(super) replies: mpsc::Receiver<HostReply>,
    pub(super) recording_options: RecordingOptions,
    pub(super) journal: Journal,
}

/// Builds the screen of a session, whose runtime starts to work.
pub(super) fn build_screen(start: Start, session: Session, notice: Option<String>, look: &TerminalLook) -> BuiltScreen {
    let Start { options, mut session_builder, connector, real_folder, mut notices, .. } = start;
    let model = session.model;
    notices.extend(notice);
    notices.extend(session.notices);
    session_builder.folder.clone_from(&session.folder);
    let journal = session_builder.journal.clone();
    let (effects, mut runtime) = (session.effects, session.runtime);
    notices.extend(runtime.execute(effects));
    let runtime = Arc::new(Mutex::new(runtime));

    let screen = connector.settings.config.screen.clone();
    let (keys, key_problems) = Keymap::with_overrides(&connector.settings.config.keys);
    notices.extend(key_problems);
    let themes = Themes::with_folder(&session_builder.places.themes());
    notices.extend(themes.warnings.iter().map(ToString::to_string));
    let themes = themes.adapted_to_terminal(look.depth, look.is_light);
    let (theme, theme_problem) = themes.choose_configured(&screen, look.is_light);
    notices.extend(theme_problem);

    let (replies, from_host) = mpsc::channel(MAX_REPLIES);
    session_builder.credentials.set_screen(replies.clone());
    session_builder.server_forms.set_screen(replies.clone());
    session_builder.server_samplings.set_screen(replies.clone());
    let has_entries = !session.state.session.entries().is_empty();
    let settings = tui::Settings {
        auto_theme: themes.resolve_name(screen.auto_theme(look.is_light), look.is_light).to_owned(),
        pictures: look.pictures,
        ..screen_settings(&screen, &session.folder)
    };
    let connection = model.connection_info.clone();
    if let Some(provider) = model.provider.clone() {
        tokio::spawn(async move {
            tokio::time::sleep(FIRST_FRAME_DELAY).await;
            provider.prepare().await;
        });
    }
    let link = connect_runtime(&runtime, session.events);
    let recording_options = RecordingOptions {
        version: options.record_version.unwrap_or_default(),
        secrets: session_builder.credentials.known_secrets(),
        title: None,
        timestamp: None,
    };
    let host = ScreenHost::new(
        session_builder,
        real_folder,
        model,
        connector,
        (session.id.clone(), has_entries),
        runtime,
        replies,
    );
    host.send_offers();
    let (unsent, draft_notices) = host.load_draft();
    notices.extend(draft_notices);
    let history = host.load_history();
    let (state, id) = (session.state, session.id);
    let mut state =
        Box::new(tui::State::new(state, id, connection, themes, theme, keys, settings, unsent, history, notices));
    state.input.key_caps.is_shown = options.show_keys;
    BuiltScreen { state, link, host, replies: from_host, recording_options, journal }
}

/// Returns how pictures are drawn on a terminal with this size of a cell in pixels.
fn picture_protocol(support: PictureSupport, cell_pixels: (u32, u32)) -> Protocol {
    // The terminal may store pictures of other programs too. Numbers have 24 bits and begin at 1.
    let first_id = (std::process::id() % 16_383 + 1) << 10;
    match support {
        PictureSupport::Placeholders => Protocol::Kitty { first_id },
        PictureSupport::Iterm => Protocol::Iterm,
        // Otherwise the number of cells that a picture covers would be a guess.
        PictureSupport::Sixel if cell_pixels.0 > 0 && cell_pixels.1 > 0 => Protocol::Sixel,
        PictureSupport::Sixel | PictureSupport::None => Protocol::Blocks,
    }
}

fn screen_settings(screen: &Screen, folder: &Path) -> tui::Settings {
    tui::Settings {
        folder: folder.to_owned(),
        location: folder_facts::folder_and_branch(folder),
        home: std::env::var_os("HOME").map(PathBuf::from),
        // Shown for a plan without sandbox details.
        sandbox_note: "no sandbox".to_owned(),
        host_name: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        has_mouse: screen.mouse,
        is_ascii: is_ascii(screen),
        terminal_reorders: reorders_text(&|name| std::env::var(name).ok()),
        has_links: match screen.links {
            Links::Auto => supports_hyperlinks::on(supports_hyperlinks::Stream::Stdout),
            Links::On => true,
            Links::Off => false,
        },
        link_scheme: screen.link_scheme,
        is_remote: is_remote(&|name| std::env::var(name).ok()),
        reads_terminal_clipboard: has_clipboard(&|name| std::env::var(name).ok()),
        pictures: None,
        has_bell: screen.bell,
        theme: screen.theme.clone(),
        auto_theme: String::new(),
        editor: screen.editor.clone(),
    }
}

/// Panics in debug builds if `AYE_PANIC` is set, shortly after the start: on the main thread for `main`, otherwise on
/// another. Tests that the terminal is restored.
async fn test_panic() -> Infallible {
    let thread = if cfg!(debug_assertions) { std::env::var_os("AYE_PANIC") } else { None };
    let Some(thread) = thread else { return std::future::pending().await };
    tokio::time::sleep(Duration::from_millis(300)).await;
    if thread != "main" {
        std::thread::spawn(|| panic!("on purpose"));
        return std::future::pending().await;
    }
    panic!("on purpose");
}
