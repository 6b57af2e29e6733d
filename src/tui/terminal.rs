//! Takes over the terminal and restores it in all cases, including panics.

use crate::text::hidden_chars::mark_hidden;
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

/// True while the terminal is taken over. Static, because a panic in any thread restores the terminal.
static IS_TAKEN: AtomicBool = AtomicBool::new(false);
/// True while the terminal, still in raw mode, belongs to a command whose bytes are forwarded.
static IS_LENT: AtomicBool = AtomicBool::new(false);
/// Serializes changes of the terminal's modes.
static MODES_LOCK: Mutex<()> = Mutex::new(());

/// Ends whatever a command left in the terminal that was lent to it: an unfinished string, a link, a synchronized update,
/// scroll region, styles, insert mode, character set, keypad and cursor modes, mouse and focus reports, bracketed paste,
/// keyboard flags and cursor shape. The cursor stays where it is, because the user reads on below it.
const RESET: &[u8] = b"\x18\x1b\\\x1b]8;;\x1b\\\x1b[?2026l\x1b7\x1b[r\x1b8\x1b[m\x1b[4l\x1b(B\x0f\x1b>\x1b[?1l\x1b[?7h\x1b[?9l\x1b[?1000l\x1b[?1002l\x1b[?1003l\x1b[?1004l\x1b[?1005l\x1b[?1006l\x1b[?1015l\x1b[?2004l\x1b[=0;1u\x1b[0 q\x1b[?25h\r\n";
/// Leaves the alternate screen, on which a panic found a command.
const LEAVE_ALTERNATE: &[u8] = b"\x1b[?1049l";

/// Exit code after a panic, the same as Rust's own.
const PANIC_EXIT_CODE: i32 = 101;

/// A panic hook.
type Hook = Box<dyn Fn(&PanicHookInfo<'_>) + Sync + Send + 'static>;

/// The terminal while it is taken over; restores it when dropped.
pub struct Terminal {
    has_mouse: bool,
    /// The panic hook that was installed before.
    previous_hook: std::sync::Arc<Hook>,
}

impl Terminal {
    /// Takes over the terminal: raw mode, alternate screen, bracketed paste, focus reports, and the mouse if wanted.
    /// From here on, a panic in any thread restores the terminal before the panic message is printed, unless
    /// `is_panic_caught` returns true in that thread.
    pub fn take_over(has_mouse: bool, is_panic_caught: fn() -> bool) -> io::Result<Self> {
        if !io::stdin().is_terminal() || !io::stdout().is_terminal() {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                "this is not a terminal. Use `aye -p \"…\"` to print a reply",
            ));
        }
        let previous_hook = std::sync::Arc::new(std::panic::take_hook());
        let chained_hook = previous_hook.clone();
        let screen_thread = std::thread::current().id();
        std::panic::set_hook(Box::new(move |info| {
            // A panic inside a tool call is reported to the model, and the screen continues.
            if is_panic_caught() {
                return;
            }
            if IS_LENT.load(Ordering::SeqCst) {
                let _ = write_bytes(LEAVE_ALTERNATE);
            }
            restore_terminal();
            chained_hook(info);
            // A panic of the screen's thread ends the program by itself. After a panic of another thread the screen
            // would hang, so the program exits here.
            if std::thread::current().id() != screen_thread {
                std::process::exit(PANIC_EXIT_CODE);
            }
        }));
        let terminal = Self { has_mouse, previous_hook };
        terminal.retake()?;
        Ok(terminal)
    }

    /// Takes the terminal again after `release`. The caller has to redraw everything.
    pub fn retake(&self) -> io::Result<()> {
        let _lock = MODES_LOCK.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if IS_LENT.swap(false, Ordering::SeqCst) {
            write_bytes(RESET)?;
        }
        enable_raw_mode()?;
        IS_TAKEN.store(true, Ordering::SeqCst);
        let mut bytes = Vec::new();
        queue!(bytes, EnterAlternateScreen, EnableBracketedPaste, EnableFocusChange)?;
        // The keyboard flags are sent without asking whether the terminal supports them: others ignore them, and a
        // query would delay the first frame.
        queue!(
            bytes,
            PushKeyboardEnhancementFlags(KeyboardEnhancementFlags::DISAMBIGUATE_ESCAPE_CODES),
            Clear(ClearType::All)
        )?;
        // Disable reordering of right-to-left text by the terminal, so that no text moves a border.
        bytes.extend_from_slice(b"\x1b[8l");
        if self.has_mouse {
            // Presses, wheel and drags: reports of every other move would wake the program.
            bytes.extend_from_slice(b"\x1b[?1002h\x1b[?1006h");
        }
        write_bytes(&bytes)
    }

    /// Releases the terminal to a command whose bytes are forwarded: raw mode, normal screen.
    pub fn lend(&self) -> io::Result<()> {
        restore_terminal();
        let _lock = MODES_LOCK.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        enable_raw_mode()?;
        IS_LENT.store(true, Ordering::SeqCst);
        Ok(())
    }

    /// Releases the terminal for a while, to an editor or the shell.
    pub fn release(&self) {
        restore_terminal();
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        restore_terminal();
        if !std::thread::panicking() {
            let previous_hook = self.previous_hook.clone();
            std::panic::set_hook(Box::new(move |info| previous_hook(info)));
        }
    }
}

/// Restores the terminal, once. Errors are ignored: it may be gone.
fn restore_terminal() {
    let _lock = MODES_LOCK.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if IS_LENT.swap(false, Ordering::SeqCst) {
        let _ = write_bytes(RESET);
        let _ = disable_raw_mode();
    }
    if !IS_TAKEN.swap(false, Ordering::SeqCst) {
        return;
    }
    // A frame may have been cut short: close links, reset style and scroll region. The last sequence lets the terminal
    // reorder right-to-left text again.
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
    let _ = write_bytes(&bytes);
    let _ = disable_raw_mode();
}

/// Leaves raw mode and ends the program at once without writing anything, for a terminal that accepts no output. Does
/// nothing while another program has the terminal.
pub fn exit_now(code: i32) {
    if IS_TAKEN.load(Ordering::SeqCst) || IS_LENT.load(Ordering::SeqCst) {
        let _ = disable_raw_mode();
        std::process::exit(code);
    }
}

/// Returns whether erasing uses the current background colour. Only GNU screen uses the terminal's default colour
/// instead; tmux may set the same `TERM`, so `TMUX` is checked first.
pub(super) fn erase_uses_background() -> bool {
    let is_gnu_screen = |term: String| term.starts_with("screen");
    std::env::var_os("TMUX").is_some() || !std::env::var("TERM").is_ok_and(is_gnu_screen)
}

/// Returns the bytes that set the title of the terminal window.
pub fn title_bytes(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let text = mark_hidden(text).replace(['\n', '\t'], " ").chars().take(120).collect::<String>();
    let _ = queue!(bytes, SetTitle(text));
    bytes
}

/// Returns width and height of a cell in pixels; 0 if the terminal does not tell.
pub fn cell_pixels() -> (u32, u32) {
    let Ok(size) = crossterm::terminal::window_size() else { return (0, 0) };
    let divide = |pixels: u16, cells: u16| u32::from(pixels.checked_div(cells).unwrap_or(0));
    (divide(size.width, size.columns), divide(size.height, size.rows))
}

/// Writes these bytes to stdout and flushes it.
pub fn write_bytes(bytes: &[u8]) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(bytes)?;
    stdout.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r32_window_title_contains_no_hidden_characters() {
        let bytes = String::from_utf8(title_bytes("a\u{1b}]0;x\u{7}\nb\u{e0041}\u{202e}")).unwrap();
        assert_eq!(bytes, "\u{1b}]0;a<U+001B>]0;x<U+0007> b<U+E0041><U+202E>\u{7}");
    }
}
