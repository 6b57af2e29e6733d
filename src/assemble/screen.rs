//! The run with the screen.

use super::answers;
use super::runtime_link::connect_runtime;
use super::screen_host::ScreenHost;
use super::start::Start;
use crate::config::{Links, Screen};
use crate::project::folder_facts;
use crate::tui::host::HostReply;
use crate::tui::input::startup;
use crate::tui::keys::Keymap;
use crate::tui::overlay::PickedAction;
use crate::tui::theme::Theme;
use crate::tui::theme::catalog::Themes;
use crate::tui::theme::depth::ColourDepth;
use crate::tui::{self, Exit};
use anyhow::Result;
use std::convert::Infallible;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::mpsc;

/// Replies of the host that may wait for the screen.
const MAX_REPLIES: usize = 64;
/// Time limit for the terminal to report whether it is light or dark. Only remote terminals need long.
const COLOR_TIMEOUT: Duration = Duration::from_millis(400);

/// Delay before less urgent work starts; the first frame is shown by then.
const FIRST_FRAME_DELAY: Duration = Duration::from_millis(150);

/// Shows the screen until the user leaves.
pub(super) async fn run(start: Start) -> Result<ExitCode> {
    // The terminal is queried while the session is read. Its answer is awaited before anything else uses the terminal.
    let depth = color_depth(&start.connector.settings.config.screen);
    let term = std::env::var("TERM").ok();
    let color_query = (depth != ColourDepth::None)
        .then(|| std::thread::spawn(move || startup::query_colours(COLOR_TIMEOUT, term.as_deref())));
    let apply_request = start.initial_apply_request();
    // If it is uncertain which session to continue, the user picks one from the list.
    let doubt = start.explain_doubt().filter(|_| start.options.answers.is_none());
    let open_or_start = || match doubt {
        Some(_) => start.session_builder.start_session(&start.model, start.options.dry_run),
        None => open_session(&start),
    };
    let session = apply_request.and_then(|apply_request| Ok((open_or_start()?, apply_request)));
    let startup_input = color_query.and_then(|query| query.join().ok()).unwrap_or_default();
    let light = startup_input.is_light;
    let (mut session, apply_request) = session?;
    let kept_copy = session.keep_copy();
    let picked_action =
        if start.options.fork { PickedAction::Fork(start.options.fork_mode()) } else { PickedAction::Open };
    let shows_picker = doubt.is_some() || start.options.resume.as_ref().is_some_and(String::is_empty);
    let session_picker = shows_picker.then_some(picked_action);
    let Start { options, apply: _, session_builder: mut builder, model: _, connector, real_folder, mut notices } =
        start;
    let model = session.model;
    notices.extend(doubt.map(|doubt| format!("No session was continued: {doubt}")));
    notices.extend(session.notices);
    builder.folder.clone_from(&session.folder);
    let (journal, sessions) = (builder.journal.clone(), builder.places.sessions());
    let (effects, mut runtime) = (session.effects, session.runtime);
    notices.extend(runtime.execute(effects));
    let runtime = Arc::new(Mutex::new(runtime));

    let screen = connector.settings.config.screen.clone();
    let (keys, key_problems) = Keymap::with_overrides(&connector.settings.config.keys);
    notices.extend(key_problems);
    let themes = Themes::with_folder(&builder.places.themes());
    notices.extend(themes.warnings.iter().map(ToString::to_string));
    let themes = themes.adapted_to_terminal(depth, light);
    let (theme, theme_problem) = pick_theme(&themes, &screen, light);
    notices.extend(theme_problem);

    let (replies, from_host) = mpsc::channel(MAX_REPLIES);
    let has_entries = !session.state.session.entries().is_empty();
    let settings = tui::Settings {
        auto_theme: themes.choose_theme(auto_theme_name(&screen, light), light).name,
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
    let screen_host =
        ScreenHost::new(builder, real_folder, model, connector, (session.id.clone(), has_entries), runtime, replies);
    if let Some((_, Some(notice))) = kept_copy {
        screen_host.send(HostReply::Done(notice));
    }
    let (unsent, draft_notices) = screen_host.load_draft();
    notices.extend(draft_notices);
    let screen_run = tui::run_screen(tui::Start {
        agent: session.state,
        session: session.id,
        link,
        unsent,
        history: screen_host.load_history(),
        host: Box::new(screen_host),
        replies: from_host,
        connection,
        themes,
        theme,
        keys,
        settings,
        startup_input,
        notices,
        first_message: if apply_request.is_some() { String::new() } else { options.prompt() },
        approvals: apply_request,
        session_picker,
        is_panic_caught: crate::tools::panic_guard::is_panic_caught,
    });
    let exit = tokio::select! {
        exit = screen_run => exit?,
        never = test_panic() => match never {},
    };
    if let Some(signal) = exit.exit_signal {
        journal.note(format_args!("ended by signal {signal}"));
    }
    Ok(print_farewell(&exit, &crate::store::session_header::session_path(&sessions, &exit.session)))
}

/// Prints the session's title and how to resume it, unless it is empty or the terminal is gone. Returns the exit code.
fn print_farewell(exit: &Exit, session_file: &Path) -> ExitCode {
    if let (Some(title), None, None, None) = (&exit.title, exit.exit_signal, &exit.loss, &exit.saved_to) {
        let title = crate::text::clean::clean_line(title);
        // If this cannot be written, there is no reader.
        let _ = writeln!(std::io::stdout(), "{title}\naye --resume {}", exit.session);
    }
    let id = &exit.session;
    let message = match (&exit.saved_to, &exit.loss) {
        (Some(file), _) => Some(format!(
            "session {id} is in {}. To continue it, move it to {}, then: aye --resume {id}",
            file.display(),
            session_file.display()
        )),
        (None, Some(loss)) => Some(format!("session {id} is not saved: {loss}")),
        (None, None) => None,
    };
    if let Some(message) = &message {
        let _ = writeln!(std::io::stderr(), "aye: {}", crate::text::clean::clean_line(message));
    }
    match exit.exit_signal {
        None if message.is_some() => ExitCode::FAILURE,
        None => ExitCode::SUCCESS,
        Some(signal) => ExitCode::from(u8::try_from(128 + signal).unwrap_or(1)),
    }
}

/// Returns the color depth of the terminal.
fn color_depth(screen: &Screen) -> ColourDepth {
    if screen.color { ColourDepth::from_environment(&|name| std::env::var(name).ok()) } else { ColourDepth::None }
}

/// Returns the configured theme.
fn pick_theme(themes: &Themes, screen: &Screen, light: Option<bool>) -> (Theme, Option<String>) {
    if screen.theme != "auto" {
        let problem = themes.get(&screen.theme).is_none().then(|| {
            let names: Vec<&str> = themes.all.iter().map(|theme| theme.name.as_str()).collect();
            format!("Unknown theme {:?}. Available themes: auto, {}.", screen.theme, names.join(", "))
        });
        return (themes.choose_theme(&screen.theme, light), problem);
    }
    (themes.choose_theme(auto_theme_name(screen, light), light), None)
}

/// Returns the theme that is configured for a light or dark terminal.
fn auto_theme_name(screen: &Screen, light: Option<bool>) -> &str {
    if light == Some(true) { &screen.theme_light } else { &screen.theme_dark }
}

/// Opens the session that the command line asks for, and applies an answers file.
fn open_session(start: &Start) -> Result<super::session::Session> {
    let answers = start.options.answers.as_deref().map(answers::read_answers).transpose()?;
    let mut session = start.open_session()?;
    if let Some(mut answers) = answers {
        answers::apply_answers(&mut answers, &mut session)?;
    }
    Ok(session)
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
        is_ascii: screen.ascii.unwrap_or_else(|| needs_ascii(&|name| std::env::var(name).ok())),
        terminal_reorders: reorders_text(&|name| std::env::var(name).ok()),
        has_links: match screen.links {
            Links::Auto => supports_hyperlinks::on(supports_hyperlinks::Stream::Stdout),
            Links::On => true,
            Links::Off => false,
        },
        has_bell: screen.bell,
        theme: screen.theme.clone(),
        auto_theme: String::new(),
        editor: screen.editor.clone(),
    }
}

/// Returns whether the terminal is known to lack box-drawing characters: it is not UTF-8, or it is the Linux console.
/// Without a locale UTF-8 is assumed.
fn needs_ascii(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    let set_value = |name: &&str| variable(name).filter(|value| !value.is_empty());
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(set_value).map(|locale| locale.to_ascii_lowercase());
    let utf = locale.is_none_or(|locale| locale.contains("utf-8") || locale.contains("utf8"));
    !utf || variable("TERM").is_some_and(|term| term == "linux")
}

/// Returns whether the terminal is known to reorder right-to-left text by itself.
fn reorders_text(variable: &dyn Fn(&str) -> Option<String>) -> bool {
    let is_apple = variable("TERM_PROGRAM").is_some_and(|program| program == "Apple_Terminal");
    is_apple || ["KONSOLE_VERSION", "MLTERM"].iter().any(|name| variable(name).is_some())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn uses_ascii_if_the_terminal_is_not_utf8() {
        for (variables, expected) in [
            (&[("LANG", "en_US.UTF-8")][..], false),
            (&[("LC_ALL", "C"), ("LANG", "en_US.UTF-8")], true),
            (&[("LC_ALL", ""), ("LC_CTYPE", "C.utf8")], false),
            (&[("LANG", "de_DE.ISO-8859-1")], true),
            (&[("LANG", "en_US.UTF-8"), ("TERM", "linux")], true),
            (&[], false),
        ] {
            let variable =
                |name: &str| variables.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned());
            assert_eq!(needs_ascii(&variable), expected, "{variables:?}");
        }
    }
}
