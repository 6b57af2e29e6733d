//! Routes a key press to the part of the screen with the focus. A key that is not used there has its global meaning.

use super::{agent, card, commands, connect, copy, links, overlay, search, sessions, sure, unheard, writing};
use crate::chat::session::Call;
use crate::chat::{Entry, Staged};
use crate::tui::effect::Effect;
use crate::tui::focus::{Focus, focus};
use crate::tui::keys::{Action, Chord, Scope};
use crate::tui::overlay::{Overlay, Picking};
use crate::tui::parts::listening::{Listening, Press};
use crate::tui::parts::toast::Kind;
use crate::tui::parts::transcript::{cache::Cache, call, entry};
use crate::tui::prompt::Card;
use crate::tui::state::State;
use crate::tui::view::layout;
use crossterm::event::{KeyCode, KeyEvent, KeyEventKind};
use std::time::Duration;

/// Two presses within this time count as a double press.
const TWICE: Duration = Duration::from_secs(1);

/// Handles a press, repeat or release of a key.
pub fn pressed(state: &mut State, cache: &mut Cache, key: KeyEvent) -> Vec<Effect> {
    if key.kind == KeyEventKind::Release {
        state.presses.sender.note_release(Chord::from(&key));
        return Vec::new();
    }
    state.toasts.key(state.now);
    if let Some(prompt) = &mut state.prompt {
        prompt.says.clear();
    }
    // The key that stops and quits works in every state.
    if state.keys.lookup(Scope::Anywhere, &key) == Some(Action::StopOrQuit) {
        state.held = None;
        return stop_or_quit(state);
    }
    let writes = is_written(&key);
    let mut effects = match state.held.take() {
        // These are the first characters of a paste, so none of them was an answer.
        Some((held, _)) if writes => no_answer(state, cache, held),
        Some((held, _)) => routed(state, cache, held),
        None => Vec::new(),
    };
    if state.presses.goes_on(Chord::from(&key), state.now) {
        unheard::held_on(state, &key);
        return effects;
    }
    let in_a_line = state.writes_in_card();
    let answers = focus(state) == Focus::Prompt && state.listening() == Some(Listening::Yes);
    let may_answer = answers && !in_a_line && state.waits.is_none();
    let seen = state.open_card().filter(|_| may_answer).and_then(|prompt| prompt.seen());
    match state.presses.sender.judge(Chord::from(&key), seen, state.now) {
        Press::Deliberate => {}
        press @ (Press::Arms | Press::Held) => {
            unheard::may_be_held(state, &key, press);
            return effects;
        }
    }
    if writes && !in_a_line && (answers || sure::listening(state) == Some(Listening::Yes)) {
        state.held = Some((key, state.now));
        return effects;
    }
    effects.extend(routed(state, cache, key));
    effects
}

/// Handles input that arrives at the speed of a paste: the key that was held back was its first character and is
/// written.
pub fn hurried(state: &mut State, cache: &mut Cache) -> Vec<Effect> {
    state.presses.hurried(state.now);
    match state.held.take() {
        Some((key, _)) => no_answer(state, cache, key),
        None => Vec::new(),
    }
}

/// Writes a key that was held back and turned out to be part of a paste, if something can be written to.
fn no_answer(state: &mut State, cache: &mut Cache, key: KeyEvent) -> Vec<Effect> {
    if state.overlays.is_empty() {
        return beside_the_card(state, cache, key);
    }
    state.presses.hurried(state.now);
    Vec::new()
}

/// Routes the key that was held back once its time is over and no other key is pending.
pub fn quiet(state: &mut State, cache: &mut Cache) -> Vec<Effect> {
    if state.held_until().is_none_or(|until| state.now < until) {
        return Vec::new();
    }
    state.held.take().map_or_else(Vec::new, |(key, _)| routed(state, cache, key))
}

/// True if the key could be a character of pasted text.
fn is_written(key: &KeyEvent) -> bool {
    Chord::from(key).typed().is_some() || matches!(key.code, KeyCode::Enter | KeyCode::Tab)
}

/// Routes a key to the focus.
fn routed(state: &mut State, cache: &mut Cache, key: KeyEvent) -> Vec<Effect> {
    let focus = focus(state);
    if !matches!(focus, Focus::Prompt | Focus::Composer) && sure::listening(state).is_none() {
        // A key typed there must not answer a prompt that gets the focus next.
        state.presses.elsewhere(state.now);
    }
    match focus {
        Focus::Overlay => overlay::key(state, cache, key),
        Focus::Search => search::key(state, cache, key),
        Focus::Transcript => match state.keys.lookup(Scope::Transcript, &key) {
            Some(Action::ReadWhole) => read_whole(state),
            Some(action) => transcript(state, cache, action),
            None => match Chord::from(&key).typed() {
                // Typed characters go to the composer.
                Some(_) => {
                    state.transcript.deselect();
                    writing::key(state, cache, key)
                }
                None => anywhere(state, cache, key),
            },
        },
        Focus::Prompt | Focus::Composer => match card::key(state, key) {
            Some(effects) => effects,
            None => {
                let before = unheard::meant(state, &key);
                let effects = beside_the_card(state, cache, key);
                unheard::say(state, &key, before);
                effects
            }
        },
    }
}

/// Handles a key that answers nothing. While a prompt is open, it delays the prompt.
fn beside_the_card(state: &mut State, cache: &mut Cache, key: KeyEvent) -> Vec<Effect> {
    let switches = state.keys.lookup(Scope::Composer, &key) == Some(Action::SwitchKeyboard);
    if switches
        && !state.complete.is_open()
        && let Some(prompt) = state.prompt.as_mut().filter(|prompt| !prompt.is_parked())
    {
        prompt.moved = !prompt.moved;
        return Vec::new();
    }
    state.presses.elsewhere(state.now);
    writing::key(state, cache, key)
}

/// Runs the action that a key has everywhere.
pub fn anywhere(state: &mut State, cache: &mut Cache, key: KeyEvent) -> Vec<Effect> {
    let again = state.keys.lookup(Scope::Again, &key).filter(|_| state.can_ask_again());
    match again.or_else(|| state.keys.lookup(Scope::Anywhere, &key)) {
        Some(action) => act(state, cache, action),
        None => Vec::new(),
    }
}

/// Runs the action of a key or command, independent of the focus.
pub fn act(state: &mut State, cache: &mut Cache, action: Action) -> Vec<Effect> {
    match action {
        Action::ScrollUp
        | Action::ScrollDown
        | Action::ScrollTop
        | Action::ScrollBottom
        | Action::PreviousSaid
        | Action::NextSaid
        | Action::SelectPrevious
        | Action::SelectNext => transcript(state, cache, action),
        Action::SearchTranscript => {
            search::begin(state);
            Vec::new()
        }
        Action::OpenLink => links::begin(state, cache),
        Action::Copy => copy::offer(state),
        Action::Palette => commands::palette(state),
        Action::Sessions => sessions::open(state, Picking::Open),
        Action::Themes => commands::themes(state),
        Action::Models => super::models::open(state),
        Action::Connect => connect::open(state),
        Action::BringQuestion => {
            card::bring_back(state);
            Vec::new()
        }
        Action::DeclineQuestion => card::decline_parked(state),
        Action::Help | Action::HelpWhenEmpty => commands::help(state),
        Action::Redraw => vec![Effect::Redraw],
        Action::Suspend => vec![Effect::Suspend],
        Action::RetryNow => agent::ask_again(state),
        Action::Stop => stop(state),
        Action::StopOrQuit => stop_or_quit(state),
        Action::OpenEditor => vec![Effect::EditText(state.composer.text())],
        Action::ChangeMode => super::modes::change(state),
        Action::TakeBack => writing::take_back(state),
        _ => Vec::new(),
    }
}

/// Runs an action that moves within the transcript.
fn transcript(state: &mut State, cache: &mut Cache, action: Action) -> Vec<Effect> {
    let height = layout::transcript_height(state);
    let mut seen = std::mem::take(&mut state.transcript);
    let ground = state.ground();
    let page = height.saturating_sub(2).max(1) as isize;
    match action {
        Action::ScrollUp => seen.scroll(&ground, cache, height, -page),
        Action::ScrollDown => seen.scroll(&ground, cache, height, page),
        Action::ScrollTop => seen.top(&ground, cache, height),
        Action::ScrollBottom => seen.follow(),
        Action::PreviousSaid => seen.jump(&ground, cache, height, true),
        Action::NextSaid => seen.jump(&ground, cache, height, false),
        Action::SelectPrevious => seen.select(&ground, cache, height, true),
        Action::SelectNext => seen.select(&ground, cache, height, false),
        Action::Toggle => {
            if let Some(item) = seen.selected() {
                seen.toggle(&ground, item);
            }
        }
        Action::Close => seen.deselect(),
        _ => {}
    }
    state.transcript = seen;
    Vec::new()
}

/// Opens the whole text of the selected entry.
fn read_whole(state: &mut State) -> Vec<Effect> {
    let entries = state.agent.session.entries();
    let mut terminal = false;
    let whole = match state.transcript.selected().and_then(|at| entries.get(at)) {
        Some(Entry::Settled { call, outcome, staged, .. }) => {
            let call = state.agent.session.call(call);
            terminal = call.is_some_and(Call::is_command);
            let staged = staged.as_ref().filter(|_| state.agent.tells_each).map(Staged::told);
            call.map(|call| (call.call.name.clone(), call::whole(call, outcome, staged)))
        }
        Some(Entry::Replied { reasoning, text, .. })
            if reasoning.trim().is_empty() || entry::is_cut(text) =>
        {
            Some(("Reply".to_owned(), text.clone()))
        }
        Some(Entry::Replied { reasoning, .. }) => Some(("Reasoning".to_owned(), reasoning.clone())),
        Some(Entry::Said { text }) => Some(("Your message".to_owned(), text.clone())),
        Some(Entry::Compacted { summary, pinned, .. }) => {
            Some(("Summary".to_owned(), format!("{summary}\n\n{pinned}")))
        }
        Some(
            Entry::Planned { .. }
            | Entry::Asked { .. }
            | Entry::Decided { .. }
            | Entry::Answered { .. }
            | Entry::Ended { .. }
            | Entry::Titled { .. }
            | Entry::Consulted { .. }
            | Entry::TakenBack { .. }
            | Entry::FellBack { .. }
            | Entry::Beneath { .. }
            | Entry::Switched { .. }
            | Entry::Became { .. },
        )
        | None => None,
    };
    if let Some((title, text)) = whole {
        overlay::open_reader(state, &title, &text, terminal);
    }
    Vec::new()
}

/// Notices of the first Esc: with an open prompt, and with a parked question.
const AGAIN: &str = "Press esc again to stop the turn";
const AGAIN_UNANSWERED: &str = "Press esc again to stop without an answer";

/// Handles Esc: parks an open question or closes the trust prompt first, then stops the turn.
fn stop(state: &mut State) -> Vec<Effect> {
    if let Some(effects) = super::trust::put_off(state) {
        return effects;
    }
    if state.agent.is_idle() {
        return Vec::new();
    }
    // Esc also parks a question prompt that does not accept answers yet, and nothing is lost.
    if let Some(effects) = card::park(state) {
        return effects;
    }
    // Pressing Esc once too often must not discard the question that it parked.
    let open = state.prompt.is_some();
    let again = state.pressed_stop.take().is_some_and(|at| state.now.saturating_sub(at) < TWICE);
    if open && !again {
        state.pressed_stop = Some(state.now);
        let words = if state.open_card().is_some() { AGAIN } else { AGAIN_UNANSWERED };
        state.notice(words, Kind::Info);
        return Vec::new();
    }
    // The turn is stopped, so the hint is outdated.
    for words in [AGAIN, AGAIN_UNANSWERED] {
        state.toasts.withdraw(words, state.now);
    }
    // The countdown ends with the turn, and with it the reason for the retry.
    if let crate::agent::Phase::Thinking(draft) = &state.agent.phase
        && let Some(retrying) = &draft.retrying
    {
        let why = retrying.why.clone();
        state.notice(&format!("Stopped while waiting to retry: {why}"), Kind::Warning);
    }
    agent::happened(state, crate::agent::Event::Interrupted)
}

/// Handles Ctrl-C: stops what runs or closes what is open. A double press quits.
fn stop_or_quit(state: &mut State) -> Vec<Effect> {
    if state.pressed_quit.is_some_and(|at| state.now.saturating_sub(at) < TWICE) {
        return quit(state);
    }
    state.pressed_quit = Some(state.now);
    let mut effects = Vec::new();
    let is_leaving = matches!(state.overlays.last(), Some(Overlay::Leaving(..)));
    if is_leaving {
        // The list stays open, so that the second press does not ask again.
    } else if !state.overlays.is_empty() {
        effects.extend(overlay::close(state));
    } else if asks(state) {
        // A question has no timeout: it keeps waiting.
    } else if !state.agent.is_idle() {
        effects.extend(agent::happened(state, crate::agent::Event::Interrupted));
    }
    let quit = state.keys.hint(Scope::Anywhere, Action::StopOrQuit);
    let kept = match (is_leaving, asks(state)) {
        (true, _) => format!(" and lose {}", state.saving.loss(state.agent.session.entries())),
        (false, true) => "; the question keeps waiting".to_owned(),
        (false, false) => String::new(),
    };
    state.notice(&format!("Press {quit} again to quit{kept}"), Kind::Info);
    effects
}

/// True if a question prompt is open or parked.
fn asks(state: &State) -> bool {
    matches!(state.prompt.as_ref().map(|prompt| &prompt.card), Some(Card::Question(_)))
}

/// Quits after saving the draft.
pub fn quit(state: &mut State) -> Vec<Effect> {
    if let Some(effects) = super::leaving::ask(state) {
        return effects;
    }
    let mut effects = super::farewell(state);
    effects.push(Effect::Quit);
    effects
}
