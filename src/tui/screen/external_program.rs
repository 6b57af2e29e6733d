//! Hands the terminal to an external program such as the editor, and restores it afterwards.

use super::{Event, Screen, Signals, external};
use crate::chat::image;
use futures::FutureExt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

impl Screen {
    pub(super) fn open_file(&mut self, path: &str, line: Option<usize>) -> io::Result<()> {
        let file = self.state.settings.folder.join(expand_home(path));
        if image::is_image_path(path) && line.is_none() {
            return external::open_picture(&file);
        }
        let editor = self.configured_editor();
        let command = external::editor_command(&editor, &file, line);
        let result = self.run_external(|folder| external::run_in_foreground(&command, folder));
        self.state.lookups.request_repeat();
        result
    }

    pub(super) fn edit_text(&mut self, text: &str) -> io::Result<()> {
        let editor = self.configured_editor();
        let edited = self.run_external(|folder| external::edit_text(&editor, text, folder))?;
        // Handled at once: queued, it would come after keys pressed meanwhile, and the edited text would replace what
        // they typed.
        self.handle_event(Event::Edited(edited));
        Ok(())
    }

    fn configured_editor(&self) -> Vec<String> {
        external::find_editor(self.state.settings.editor.as_deref(), &|name| std::env::var_os(name))
    }

    /// Releases the terminal to another program until it ends.
    fn run_external<T>(&mut self, run: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
        self.input = None;
        self.terminal.release();
        let folder = self.state.settings.folder.clone();
        let stdin = io::stdin();
        let modes = rustix::termios::tcgetattr(&stdin);
        let result = tokio::task::block_in_place(|| run(&folder));
        if let Ok(modes) = modes {
            // The program may have died without restoring the modes.
            let _ = rustix::termios::tcsetattr(&stdin, rustix::termios::OptionalActions::Now, &modes);
        }
        self.signals.discard_key_signals();
        self.retake_terminal()?;
        result
    }
}

/// Maximum delay between a signal and its arrival here.
const LATE_SIGNAL: Duration = Duration::from_millis(500);

impl Signals {
    /// Returns whether a signal comes from keys pressed in the program that had the terminal until just now. Signals
    /// arrive on another thread, possibly after that program has ended.
    pub(super) fn is_late_signal(&self, signal: i32) -> bool {
        let [_, _, (_, interrupt), (_, quit)] = &self.ending;
        [*interrupt, *quit].contains(&signal)
            && self.terminal_returned_at.is_some_and(|returned_at| returned_at.elapsed() < LATE_SIGNAL)
    }

    /// Discards signals that the terminal's keys sent to another program and to this one.
    pub(super) fn discard_key_signals(&mut self) {
        self.terminal_returned_at = Some(Instant::now());
        let [_, _, (interrupt, _), (quit, _)] = &mut self.ending;
        for signal in [interrupt, quit, &mut self.suspend, &mut self.resume] {
            while signal.recv().now_or_never().is_some() {}
        }
    }
}

/// Expands `~` in a path to the user's home directory.
fn expand_home(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => Path::new(&home).join(rest),
        _ => path.into(),
    }
}
