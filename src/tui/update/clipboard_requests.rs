//! Asking for what is on the clipboard: that of the system, or that of the terminal.

use crate::tui::effect::Effect;
use crate::tui::host::HostRequest;
use crate::tui::state::State;
use crate::tui::user_input::Clipboard;

/// Requests the content of the clipboard, unless that of the system is being read already. A terminal that does not answer is
/// asked again.
pub(super) fn request_clipboard(state: &mut State) {
    if state.settings.reads_terminal_clipboard && state.settings.is_remote {
        return ask_terminal(state);
    }
    let system = (Clipboard::System, state.session.id.clone());
    if state.input.awaited_clipboard.as_ref() != Some(&system) {
        state.input.awaited_clipboard = Some(system);
        state.send_request(HostRequest::PasteClipboard(None));
    }
}

/// Asks the terminal for its clipboard.
pub(super) fn ask_terminal(state: &mut State) {
    state.input.awaited_clipboard = Some((Clipboard::Terminal, state.session.id.clone()));
    state.push_effect(Effect::ReadTerminalClipboard);
    state.show_info("The terminal may ask you to allow it to read its clipboard");
}
