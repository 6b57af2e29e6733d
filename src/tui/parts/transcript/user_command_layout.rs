//! Layout of a command of the user: its row, and its output.

use super::call_row::build_row;
use super::inline_output::lay_out_output;
use super::layout_context::LayoutContext;
use super::output_tail::{lay_out_final_lines, lay_out_running_tail};
use crate::agent::RunningUserCommand;
use crate::chat::UserCommand;
use crate::chat::audit::EndKind;
use crate::chat::user_command::sign_of;
use crate::tui::keys::{Action, Scope};
use crate::tui::parts::quantities::format_duration;
use crate::tui::parts::spinner::spinner_frame;
use crate::tui::text::{Page, output};
use std::time::Duration;

/// Lines of output shown without opening the entry. With them its row still fits on a screen of 15 rows.
const CLOSED_LINES: usize = 8;
/// Run time after which the row names the key that hands over the terminal.
const HINT_DELAY: Duration = Duration::from_secs(1);

/// Lays out a command that has ended: its row with the last lines of output, or with all of it if `is_open`.
pub fn lay_out_user_command(context: &LayoutContext<'_>, command: &UserCommand, is_open: bool) -> Page {
    let theme = context.theme;
    let kind = EndKind::from(command);
    let style = match kind {
        EndKind::Done => theme.success,
        EndKind::Rehearsed => theme.accent,
        EndKind::Interrupted => theme.warning,
        EndKind::ExitError | EndKind::RehearsedExitError | EndKind::Failed | EndKind::Refused | EndKind::Open => {
            theme.danger
        }
    };
    let took =
        if command.took_ms == 0 { String::new() } else { format_duration(Duration::from_millis(command.took_ms)) };
    let parts = [
        if command.is_shared { "" } else { "kept from the model" },
        if command.is_rehearsed { "rehearsed" } else { "" },
        if command.is_success() { "" } else { &command.status },
        &took,
    ];
    let right = parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" · ");
    let row = build_row(context, (kind.mark(), style), command.sign(), &command.command, &right);
    let mut page = Page { lines: vec![row], ..Page::default() };
    let text = command.output.trim_end();
    if is_open {
        if command.command.contains('\n') {
            page.append_page(context.lay_out_plain(&command.command, theme.code, "    "));
        }
        page.append_page(lay_out_output(context, output::parse_output(text, theme.text, theme)));
        return page;
    }
    page.lines.extend(lay_out_final_lines(context, text, CLOSED_LINES));
    page
}

/// Lays out the running command, with its latest output and the keys that stop it and hand over the terminal.
pub fn lay_out_running(context: &LayoutContext<'_>, running: &RunningUserCommand) -> Page {
    let run_time = context.now.saturating_sub(context.activity_start);
    let key_for = |scope, action| context.keys.first_chord(scope, action);
    let stop_key = key_for(Scope::Anywhere, Action::Stop);
    let stop_hint = if stop_key.is_empty() { String::new() } else { format!(" · {stop_key} stops") };
    let right = format!("{}{stop_hint}", format_duration(run_time));
    let mark = (spinner_frame(context.now), context.theme.accent);
    let row = build_row(context, mark, sign_of(running.is_shared), &running.command, &right);
    let mut page = Page { lines: vec![row], ..Page::default() };
    page.lines.extend(lay_out_running_tail(context, &running.latest_output));
    let attach_key = key_for(Scope::Composer, Action::Send);
    if !context.agent.is_dry_run() && !attach_key.is_empty() && run_time >= HINT_DELAY {
        let note = match running.needs_terminal {
            true => format!("waits for keys · {attach_key} in the empty composer attaches the terminal"),
            false => format!("{attach_key} attaches the terminal"),
        };
        page.append_page(context.lay_out_note(&note, "    "));
    }
    if context.agent.session.entries().is_empty() { page } else { page.below_blank_line() }
}
