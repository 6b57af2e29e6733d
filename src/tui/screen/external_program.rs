//! Hands the terminal to an external program such as the editor, and restores it afterwards.

use super::{Event, Screen, external};
use crate::chat::image;
use std::io;
use std::path::{Path, PathBuf};

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

/// Expands `~` in a path to the user's home directory.
pub(super) fn expand_home(path: &str) -> PathBuf {
    match (path.strip_prefix("~/"), std::env::var_os("HOME")) {
        (Some(rest), Some(home)) => Path::new(&home).join(rest),
        _ => path.into(),
    }
}
