//! Takes the terminal over, and gives it back as it was whatever happens.

use crate::chat::hidden::mark_hidden;
use crate::runtime::is_contained;
use crossterm::event::{
    DisableBracketedPaste, DisableFocusChange, DisableMouseCapture, EnableBracketedPaste, EnableFocusChange,
    KeyboardEnhancementFlags, PopKeyboardEnhancementFlags, PushKeyboardEnhancementFlags,
};
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, SetTitle, disable_raw_mode, enable_raw_mode,
};
use crossterm::{cursor, queue};
use std::io::{self, IsTerminal, Write};
use std::panic::PanicHookInfo;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// Whether the terminal is taken over now. One program has one terminal, and a panic in any thread has to find it.
static TAKEN: AtomicBool = AtomicBool::new(false);
/// One at a time changes the terminal's modes.
static CHANGING: Mutex<()> = Mutex::new(());

/// The exit code of a program that found a bug in itself, as Rust's own.
const BUG: i32 = 101;

/// Takes a panic, its words and where it was.
type Hook = Box<dyn Fn(&PanicHookInfo<'_>) + Sync + Send + 'static>;

/// Holds the terminal; gives it back when it goes.
pub struct Terminal {
    mouse: bool,
    /// What was there before ours.
    hook: std::sync::Arc<Hook>,
}

impl Terminal {
    /// Takes the terminal: raw mode, the alternate screen, pastes and focus marked, and the mouse if it is wanted.
    /// From here on a panic in any thread gives it back before it is printed.
    pub fn take(mouse: bool) -> io::Result<Self> {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "this is not a terminal; use `aye -p \"…\"` for a reply without a screen",
            ));
        }
        let hook = std::sync::Arc::new(std::panic::take_hook());
        let before = hook.clone();
        let own = std::thread::current().id();
        std::panic::set_hook(Box::new(move |info| {
            // A call that broke down is told to the model, and the screen goes on.
            if is_contained() {
                return;
            }
            release();
            before(info);
            // Our own thread unwinds to the end by itself; behind any other the screen would stand and be dead.
            if std::thread::current().id() != own {
                std::process::exit(BUG);
            }
        }));
        let terminal = Self { mouse, hook };
        terminal.enter()?;
        Ok(terminal)
    }

    /// Takes the terminal again after [`leave`](Self::leave). Everything has to be drawn anew.
    pub fn enter(&self) -> io::Result<()> {
        let _one = CHANGING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        enable_raw_mode()?;
        TAKEN.store(true, Ordering::SeqCst);
        let mut bytes = Vec::new();
        queue!(bytes, EnterAlternateScreen, EnableBracketedPaste, EnableFocusChange)?;
        // Not asked for first: a terminal that does not know it ignores it, and asking would delay the first frame.
        queue!(
            bytes,
            PushKeyboardEnhancementFlags(KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES),
            Clear(ClearType::All)
        )?;
        // Letters stay in the cells they are written to, whichever way they are read: no text moves a frame.
        bytes.extend_from_slice(b"\x1b[8l");
        if self.mouse {
            // Presses, the wheel, and moves while a button is held: every other move would wake the program.
            bytes.extend_from_slice(b"\x1b[?1002h\x1b[?1006h");
        }
        write(&bytes)
    }

    /// Gives the terminal back for a while: to an editor, or to the shell.
    pub fn leave(&self) {
        release();
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        release();
        if !std::thread::panicking() {
            let before = self.hook.clone();
            std::panic::set_hook(Box::new(move |info| before(info)));
        }
    }
}

/// Gives the terminal back, once. Errors are nobody's: it may be gone.
fn release() {
    let _one = CHANGING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if !TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    // A frame may have been cut in the middle: no link is open, the pen is reset, and all rows scroll.
    let mut bytes = b"\x1b]8;;\x1b\\\x1b[m\x1b[r\x1b[8h".to_vec();
    let _ = queue!(
        bytes,
        crossterm::terminal::EndSynchronizedUpdate,
        PopKeyboardEnhancementFlags,
        DisableMouseCapture,
        DisableFocusChange,
        DisableBracketedPaste,
        LeaveAlternateScreen,
        cursor::Show
    );
    let _ = write(&bytes);
    let _ = disable_raw_mode();
}

/// Ends the program now, without a word to a terminal that takes none; its modes are set back all the same. Does
/// nothing while another program has the terminal.
pub fn abandon(code: i32) {
    if TAKEN.load(Ordering::SeqCst) {
        let _ = disable_raw_mode();
        std::process::exit(code);
    }
}

/// Names the terminal's window.
pub fn title(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let text = mark_hidden(text).replace(['\n', '\t'], " ").chars().take(120).collect::<String>();
    let _ = queue!(bytes, SetTitle(text));
    bytes
}

/// Writes these bytes as one, past any buffer of the standard library's.
pub fn write(bytes: &[u8]) -> io::Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(bytes)?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r32_the_name_of_the_window_holds_nothing_hidden() {
        let bytes = String::from_utf8(title("a\u{1b}]0;x\u{7}\nb\u{e0041}\u{202e}")).unwrap();
        assert_eq!(bytes, "\u{1b}]0;a<U+001B>]0;x<U+0007> b<U+E0041><U+202E>\u{7}");
    }
}
