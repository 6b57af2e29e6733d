//! Keys, pastes and the wheel while a list or page is open over the screen.

use super::{
    audit, commands, connect, copy, grants, leaving, links, models, modes, rehearsal, sessions, sure,
};
use crate::tui::command::COMMANDS;
use crate::tui::effect::Effect;
use crate::tui::host::{ModelRow, Wish};
use crate::tui::keys::{Action, Scope};
use crate::tui::overlay::{Body, Overlay, Reader};
use crate::tui::parts::help;
use crate::tui::parts::picker::Pick;
use crate::tui::parts::transcript::{cache::Cache, live};
use crate::tui::state::State;
use crossterm::event::KeyEvent;
use std::cell::RefCell;

/// Handles a key while something is open over the screen.
pub fn key(state: &mut State, cache: &mut Cache, key: KeyEvent) -> Vec<Effect> {
    let page = usize::from(state.size.1.saturating_sub(4)).max(1);
    let keys = &state.keys;
    let Some(front) = state.overlays.last_mut() else { return Vec::new() };
    let pick = match front {
        Overlay::Help(page) => {
            return match page.key(&key, keys) {
                help::Reply::Closed => close(state),
                help::Reply::Nothing => Vec::new(),
            };
        }
        Overlay::Reader(reader) => {
            match keys.lookup(Scope::Page, &key) {
                Some(Action::Close) => return close(state),
                Some(action) => read(reader, action, page),
                None => {}
            }
            return Vec::new();
        }
        Overlay::Key(line) => {
            let did = line.key(&key, keys);
            return connect::entered(state, did, key.kind);
        }
        Overlay::Links(_) => return links::key(state, &key),
        Overlay::Sure(..) => return sure::key(state, &key),
        Overlay::Sessions(picker, ..)
        | Overlay::Themes(picker, _)
        | Overlay::Commands(picker)
        | Overlay::Models(picker, _)
        | Overlay::Connect(picker, _)
        | Overlay::Audit(picker, _)
        | Overlay::Grants(picker, _)
        | Overlay::Rehearsal(picker, _)
        | Overlay::Modes(picker, _)
        | Overlay::Leaving(picker, _)
        | Overlay::Copies(picker, _) => picker.key(&key, keys),
    };
    picked(state, cache, pick)
}

/// Handles pasted text: it goes into the filter of a list or the line of an API key, otherwise it is ignored.
pub fn pasted(state: &mut State, cache: &mut Cache, text: &str) -> Vec<Effect> {
    let pick = match state.overlays.last_mut() {
        Some(
            Overlay::Sessions(picker, ..)
            | Overlay::Themes(picker, _)
            | Overlay::Commands(picker)
            | Overlay::Models(picker, _)
            | Overlay::Connect(picker, _)
            | Overlay::Audit(picker, _)
            | Overlay::Grants(picker, _)
            | Overlay::Rehearsal(picker, _)
            | Overlay::Modes(picker, _)
            | Overlay::Leaving(picker, _)
            | Overlay::Copies(picker, _),
        ) => picker.paste(text),
        Some(Overlay::Key(line)) => {
            line.insert(text);
            return Vec::new();
        }
        Some(Overlay::Help(_) | Overlay::Reader(_) | Overlay::Links(_) | Overlay::Sure(..)) | None => {
            return Vec::new();
        }
    };
    picked(state, cache, pick)
}

/// Scrolls whatever is in front.
pub fn scroll(state: &mut State, cache: &mut Cache, by: isize) -> Vec<Effect> {
    let pick = match state.overlays.last_mut() {
        Some(Overlay::Reader(reader)) => {
            reader.top = reader.top.saturating_add_signed(by);
            return Vec::new();
        }
        Some(
            Overlay::Sessions(picker, ..)
            | Overlay::Themes(picker, _)
            | Overlay::Commands(picker)
            | Overlay::Models(picker, _)
            | Overlay::Connect(picker, _)
            | Overlay::Audit(picker, _)
            | Overlay::Grants(picker, _)
            | Overlay::Rehearsal(picker, _)
            | Overlay::Modes(picker, _)
            | Overlay::Leaving(picker, _)
            | Overlay::Copies(picker, _),
        ) => picker.scroll(by.signum()),
        Some(Overlay::Help(help)) => {
            help.scroll(by);
            return Vec::new();
        }
        Some(Overlay::Sure(card, _)) => {
            card.scroll(by);
            return Vec::new();
        }
        Some(Overlay::Links(_) | Overlay::Key(_)) | None => return Vec::new(),
    };
    picked(state, cache, pick)
}

/// Closes whatever is in front. A theme that was only previewed is reverted.
pub fn close(state: &mut State) -> Vec<Effect> {
    let closed = state.overlays.pop();
    // A key typed ahead must not answer a prompt that becomes visible.
    state.presses.elsewhere(state.now);
    match closed {
        Some(Overlay::Themes(_, before)) => state.theme = *before,
        Some(Overlay::Sessions(_, held, _)) if !held.wanted.is_empty() => {
            return vec![Effect::Ask(Wish::Search(String::new()))];
        }
        _ => {}
    }
    Vec::new()
}

fn picked(state: &mut State, cache: &mut Cache, pick: Pick) -> Vec<Effect> {
    let looks = sessions::typed(state);
    if !looks.is_empty() {
        return looks;
    }
    match pick {
        Pick::Nothing => Vec::new(),
        Pick::Closed => close(state),
        Pick::Moved(row) => {
            if let Some(Overlay::Themes(..)) = state.overlays.last()
                && let Some((_, theme)) = commands::theme_in(state, row)
            {
                state.theme = theme;
            }
            Vec::new()
        }
        Pick::Picked(row) => {
            let Some(front) = state.overlays.pop() else { return Vec::new() };
            state.presses.elsewhere(state.now);
            take(state, cache, front, row, false)
        }
        Pick::Kept(row) => {
            let Some(front) = state.overlays.pop() else { return Vec::new() };
            state.presses.elsewhere(state.now);
            take(state, cache, front, row, true)
        }
        Pick::Typed(keep) => {
            let Some(Overlay::Models(picker, _)) = state.overlays.pop() else { return Vec::new() };
            state.presses.elsewhere(state.now);
            let model = picker.typed().to_owned();
            models::take(state, ModelRow { model, ..ModelRow::default() }, keep)
        }
    }
}

fn take(state: &mut State, cache: &mut Cache, overlay: Overlay, row: usize, keep: bool) -> Vec<Effect> {
    match overlay {
        Overlay::Sessions(_, held, picking) => sessions::take(state, held, picking, row),
        Overlay::Themes(..) => match commands::theme_in(state, row) {
            Some((name, theme)) => {
                state.theme = theme;
                state.settings.theme.clone_from(&name);
                vec![Effect::Ask(Wish::KeepTheme(name))]
            }
            None => Vec::new(),
        },
        Overlay::Commands(_) => match COMMANDS.get(row) {
            Some(command) => commands::run(state, cache, command.command, ""),
            None => Vec::new(),
        },
        Overlay::Models(_, rows) => match rows.into_iter().nth(row) {
            Some(row) => models::take(state, row, keep),
            None => Vec::new(),
        },
        Overlay::Connect(_, choices) => match choices.into_iter().nth(row) {
            Some(choice) => connect::take(state, choice, keep),
            None => Vec::new(),
        },
        Overlay::Copies(_, texts) => match texts.get(row) {
            Some(text) => copy::copy(state, text),
            None => Vec::new(),
        },
        Overlay::Rehearsal(picker, theatre) => rehearsal::take(state, picker, theatre, row),
        Overlay::Grants(_, ledger) => grants::take(state, ledger, row),
        Overlay::Audit(picker, calls) => audit::read(state, picker, calls, row),
        Overlay::Modes(_, modes) => match modes.into_iter().nth(row) {
            Some((mode, true)) => modes::set(state, mode),
            Some((mode, false)) => modes::confirm(state, mode),
            None => Vec::new(),
        },
        Overlay::Leaving(_, choices) => match choices.into_iter().nth(row) {
            Some(choice) => leaving::take(state, choice),
            None => Vec::new(),
        },
        Overlay::Help(_) | Overlay::Reader(_) | Overlay::Links(_) | Overlay::Key(_) | Overlay::Sure(..) => {
            Vec::new()
        }
    }
}

fn read(reader: &mut Reader, action: Action, page: usize) {
    reader.top = match action {
        Action::Up => reader.top.saturating_sub(1),
        Action::Down => reader.top + 1,
        Action::PageUp => reader.top.saturating_sub(page),
        Action::PageDown => reader.top + page,
        Action::Top => 0,
        Action::Bottom => usize::MAX / 2,
        _ => reader.top,
    };
}

/// Opens a text in the pager. `terminal` is true if the text was written for a terminal.
pub fn open_reader(state: &mut State, title: &str, text: &str, terminal: bool) {
    // Upper limit in bytes, because the whole text is laid out at once.
    const MOST: usize = 2_000_000;
    let mut end = text.len().min(MOST);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let more = match text.len() - end {
        0 => String::new(),
        more => format!("\n… {} truncated; copying includes them", live::bytes(more)),
    };
    let text = format!("{}{more}", &text[..end]).into();
    let body = if terminal { Body::Terminal } else { Body::Words };
    let reader = Reader { title: title.to_owned(), text, body, top: 0, laid: RefCell::default() };
    state.overlays.push(Overlay::Reader(reader));
}
