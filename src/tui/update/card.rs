//! Keys for the open prompt. Keys that the prompt does not use go to the composer, and no character is lost.

use super::{agent, trust, unheard, waits};
use crate::agent::{Event, Waiting, why_none, widths};
use crate::chat::{By, CallId, Decision, Grant, Span};
use crate::tui::effect::Effect;
use crate::tui::host::Wish;
use crate::tui::keys::{Action, Chord, Scope};
use crate::tui::parts::question::QuestionCard;
use crate::tui::parts::scope::Choosing;
use crate::tui::parts::toast::Kind;
use crate::tui::parts::{approval, question};
use crate::tui::prompt::Card;
use crate::tui::state::State;
use crate::tui::view::layout;
use crossterm::event::{KeyEvent, MouseEvent};
use ratatui::layout::Position;
use std::time::Duration;

/// Passes a key to the open prompt; `None` if the prompt does not use it.
pub fn key(state: &mut State, key: KeyEvent) -> Option<Vec<Effect>> {
    let listening = state.listening()?;
    if state.waits.is_some() {
        return waits::key(state, &key, listening);
    }
    if matches!(state.prompt.as_ref()?.card, Card::Trust(_)) {
        return trust::key(state, &key, listening);
    }
    let now = state.now;
    let chord = Chord::from(&key);
    let turns = matches!(
        state.keys.lookup(Scope::Question, &key),
        Some(Action::NextQuestion | Action::PreviousQuestion)
    );
    let waiting = state.agent.waiting()?;
    let event = match (&mut state.prompt.as_mut()?.card, waiting) {
        (Card::Approval(card), Waiting::Approval { call, plan, .. }) => {
            match card.key(&key, &state.keys, plan, listening, now) {
                approval::Reply::Passed => return None,
                approval::Reply::Nothing => return Some(Vec::new()),
                approval::Reply::Says(words) => return Some(unheard::says(state, words)),
                approval::Reply::Scopes => {
                    let widths = widths(&state.agent);
                    match Choosing::open(widths, &state.settings.folder, &state.keys, now) {
                        Some(choosing) => card.choose(choosing),
                        None => {
                            let why = why_none(&state.agent).map(|why| format!(": {why}"));
                            let words = format!("This call always asks{}", why.unwrap_or_default());
                            return Some(unheard::says(state, words));
                        }
                    }
                    return Some(Vec::new());
                }
                approval::Reply::Lists => return Some(waits::open(state, &key)),
                approval::Reply::Edits => {
                    let tool = state.agent.tools.iter().find(|tool| tool.name == call.name);
                    if card.edit(tool, call) {
                        return Some(Vec::new());
                    }
                    state.notice("This call has no arguments to edit", Kind::Info);
                    return Some(Vec::new());
                }
                approval::Reply::Editor(text) => return Some(vec![Effect::EditText(text)]),
                approval::Reply::Decided { decision: Decision::Always(grant), by }
                    if grant.span != Span::Session && state.agent.is_dry_run() =>
                {
                    // A rule would also apply outside the dry run.
                    let decision = Decision::Always(Grant { span: Span::Session, ..grant });
                    let event = Event::Decided { call: call.id.clone(), decision, by };
                    let words = "A dry run stores no rules: this grant applies to this session only";
                    state.notice(words, Kind::Info);
                    event
                }
                approval::Reply::Decided { decision: Decision::Always(grant), by }
                    if grant.span != Span::Session =>
                {
                    // The call is decided once the rule is written.
                    let call = call.id.clone();
                    state.presses.answered(chord, now);
                    return Some(vec![Effect::Ask(Wish::KeepRule { call, grant, by })]);
                }
                approval::Reply::Decided { decision, by } => {
                    Event::Decided { call: call.id.clone(), decision, by }
                }
            }
        }
        (Card::Question(card), Waiting::Answer { call, questions, .. }) => {
            let page = card.page();
            match card.key(&key, &state.keys, questions, listening) {
                question::Reply::Passed => return None,
                question::Reply::Says(words) => return Some(unheard::says(state, words)),
                question::Reply::Nothing => {
                    // A repeat of the key that answered one question must not answer the next.
                    if card.page() != page && !turns {
                        state.presses.answered(chord, now);
                    }
                    return Some(Vec::new());
                }
                question::Reply::Took => {
                    state.presses.answered(chord, now);
                    return Some(Vec::new());
                }
                question::Reply::Parked => return Some(put_off(state)),
                question::Reply::Answered(answer) => {
                    let after = card.seen().map_or(Duration::ZERO, |seen| now.saturating_sub(seen));
                    Event::Answered { call: call.id.clone(), answer, by: By::with(chord.to_string(), after) }
                }
            }
        }
        (Card::Approval(_), Waiting::Answer { .. })
        | (Card::Question(_), Waiting::Approval { .. })
        | (Card::Trust(_), _) => return None,
    };
    state.presses.answered(chord, now);
    Some(agent::happened(state, event))
}

/// Runs the call once its rule is written. If the rule cannot be written, the prompt stays open for another decision.
pub fn rule_kept(
    state: &mut State,
    call: CallId,
    grant: Grant,
    by: By,
    failed: Option<String>,
) -> Vec<Effect> {
    // Writing the rule can take as long as another process holds the file. By then a call of another session may wait
    // under the same id, which the user has not approved.
    let is_it =
        |card: &Card| matches!(card, Card::Approval(card) if *card.call() == call && card.is_keeping());
    let waits = state.prompt.as_ref().is_some_and(|prompt| is_it(&prompt.card))
        && matches!(state.agent.waiting(), Some(Waiting::Approval { call: waiting, .. }) if waiting.id == call);
    if let Some(why) = failed {
        let end = if waits { "; the call was not run" } else { "" };
        state.notice(&format!("Cannot store the rule: {why}{end}"), Kind::Warning);
        let card = state.prompt.as_mut().map(|prompt| &mut prompt.card);
        if let Some(Card::Approval(card)) = card.filter(|_| waits) {
            card.unkept(state.now);
        }
        return Vec::new();
    }
    state.notice(&format!("Stored: {}. Revoke it with /grants", grant.words()), Kind::Info);
    if waits {
        return agent::happened(state, Event::Decided { call, decision: Decision::Always(grant), by });
    }
    Vec::new()
}

/// Passes pasted text to a line of the open prompt. Returns whether it was used. It is never an answer.
pub fn pasted(state: &mut State, text: &str) -> bool {
    if let Some(list) = &mut state.waits {
        return list.pasted(text);
    }
    match state.prompt.as_mut().map(|prompt| &mut prompt.card) {
        Some(Card::Approval(card)) => card.pasted(text),
        Some(Card::Question(card)) => card.pasted(text),
        Some(Card::Trust(_)) | None => false,
    }
}

/// Passes text from the external editor to a field of the open prompt. Returns whether it was used.
pub fn edited(state: &mut State, text: &str) -> bool {
    match state.prompt.as_mut().map(|prompt| &mut prompt.card) {
        Some(Card::Approval(card)) => card.edited(text),
        Some(Card::Question(_) | Card::Trust(_)) | None => false,
    }
}

/// Scrolls the question or trust prompt under the mouse. Returns whether there was one.
pub fn read_on(state: &mut State, event: &MouseEvent, lines: isize) -> bool {
    let over = layout::areas(state).card.contains(Position::new(event.column, event.row));
    match state.prompt.as_mut().map(|prompt| &mut prompt.card) {
        Some(Card::Question(card)) if over && state.overlays.is_empty() => card.read_on(lines),
        Some(Card::Trust(card)) if over && state.overlays.is_empty() => card.read_on(lines),
        Some(Card::Question(_) | Card::Approval(_) | Card::Trust(_)) | None => return false,
    }
    true
}

/// Parks the open question. Returns `None` if no question is open.
pub fn park(state: &mut State) -> Option<Vec<Effect>> {
    match state.prompt.as_mut().map(|prompt| &mut prompt.card) {
        Some(Card::Question(card)) if !card.is_parked() => card.park(),
        Some(Card::Question(_) | Card::Approval(_) | Card::Trust(_)) | None => return None,
    }
    Some(put_off(state))
}

/// Returns a parked question that was opened before its turn to its place, so that it hides no other prompt.
fn put_off(state: &mut State) -> Vec<Effect> {
    if !state.agent.is_brought() {
        return Vec::new();
    }
    let list = state.keys.hint(Scope::Approval, Action::ListWaiting);
    state.notice(&format!("The question keeps waiting with your choices · {list} lists it"), Kind::Info);
    agent::happened(state, Event::Brought(None))
}

/// Reopens a parked question.
pub fn bring_back(state: &mut State) {
    if let Some(Card::Question(card)) = state.prompt.as_mut().map(|prompt| &mut prompt.card)
        && card.is_parked()
    {
        card.bring_back();
    }
}

/// Declines a parked question.
pub fn decline_parked(state: &mut State) -> Vec<Effect> {
    match &state.prompt {
        Some(prompt) if prompt.is_parked() => {
            let Some(call) = prompt.call().cloned() else { return Vec::new() };
            let after = prompt.seen().map_or(Duration::ZERO, |seen| state.now.saturating_sub(seen));
            let by = By::with(state.keys.hint(Scope::Anywhere, Action::DeclineQuestion), after);
            agent::happened(state, Event::Answered { call, answer: QuestionCard::declined(), by })
        }
        Some(_) | None => Vec::new(),
    }
}
