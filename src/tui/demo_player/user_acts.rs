//! What the user of a demo types and presses.

use super::{PlayError, Player};
use crate::demo::script::UserAct;
use crate::tui::event::Event;
use crate::tui::keys::Chord;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

impl Player {
    /// Does the next part of the user's step.
    pub(super) fn act(&mut self) -> Result<(), PlayError> {
        let Some((act, part)) = self.position.take_part(&self.script, self.now) else { return Ok(()) };
        match act {
            UserAct::Type(text, _) => {
                if let Some(c) = text.chars().nth(part) {
                    match c {
                        '\n' => self.press("alt-enter"),
                        c => self.press_key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE)),
                    }
                }
            }
            UserAct::Press(keys) => self.press(&keys[part]),
            UserAct::Paste(text) => self.handle_event(Event::Pasted(text)),
            UserAct::Mark(name) => {
                if let Some(recorder) = &mut self.recorder {
                    recorder.mark(&name, self.now)?;
                }
            }
            UserAct::Resize(columns, rows) => {
                if let Some(viewer) = &mut self.viewer {
                    viewer.check_size((columns, rows))?;
                }
                self.handle_event(Event::Resized(columns, rows));
            }
            UserAct::Pause | UserAct::WaitFor(_) | UserAct::WaitGone(_) => {}
        }
        Ok(())
    }

    fn press(&mut self, chord: &str) {
        let Ok(chord) = chord.parse::<Chord>() else { return };
        self.press_key(chord.to_key_event());
    }

    fn press_key(&mut self, key: KeyEvent) {
        self.handle_event(Event::Key(key));
        self.handle_event(Event::Key(KeyEvent { kind: KeyEventKind::Release, ..key }));
    }
}
