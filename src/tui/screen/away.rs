//! Hands the terminal to an external program such as the editor, and restores it afterwards.

use super::{Event, Screen, Signals, outside};
use crate::chat::picture;
use futures::FutureExt;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

impl Screen {
    pub(super) fn open_file(&mut self, path: &str, line: Option<usize>) -> io::Result<()> {
        let file = self.state.settings.folder.join(path_of(path));
        if picture::is_named(path) && line.is_none() {
            return outside::open_picture(&file);
        }
        let editor = self.editor();
        let command = outside::at_line(&editor, &file, line);
        self.away(|folder| outside::run(&command, folder))
    }

    pub(super) fn edit_text(&mut self, text: &str) -> io::Result<()> {
        let editor = self.editor();
        let written = self.away(|folder| outside::edit(&editor, text, folder))?;
        let _ = self.back.send(Event::Edited(Some(written)));
        Ok(())
    }

    fn editor(&self) -> Vec<String> {
        outside::editor(self.state.settings.editor.as_deref(), &|name| std::env::var_os(name))
    }

    /// Releases the terminal to another program until it ends.
    fn away<T>(&mut self, with: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
        self.input = None;
        self.terminal.leave();
        let folder = self.state.settings.folder.clone();
        let stdin = io::stdin();
        let modes = rustix::termios::tcgetattr(&stdin);
        let done = tokio::task::block_in_place(|| with(&folder));
        if let Ok(modes) = modes {
            // The program may have died without restoring the modes.
            let _ = rustix::termios::tcsetattr(&stdin, rustix::termios::OptionalActions::Now, &modes);
        }
        self.signals.forget_keys();
        self.take_again()?;
        done
    }
}

/// Maximum delay between a signal and its arrival here.
const LATE: Duration = Duration::from_millis(500);

impl Signals {
    /// Returns whether a signal comes from keys pressed in the program that had the terminal until just now. Signals
    /// arrive on another thread, possibly after that program has ended.
    pub(super) fn is_late(&self, signal: i32) -> bool {
        let [_, _, (_, interrupt), (_, quit)] = &self.ends;
        [*interrupt, *quit].contains(&signal) && self.back.is_some_and(|back| back.elapsed() < LATE)
    }

    /// Discards signals that the terminal's keys sent to another program and to this one.
    fn forget_keys(&mut self) {
        self.back = Some(Instant::now());
        let [_, _, (interrupt, _), (quit, _)] = &mut self.ends;
        for signal in [interrupt, quit, &mut self.stop, &mut self.goes_on] {
            while signal.recv().now_or_never().is_some() {}
        }
    }
}

/// Expands `~` in a path to the user's home directory.
fn path_of(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => Path::new(&home).join(rest),
        _ => path.into(),
    }
}
