//! The trial of a command on its approval prompt: what is shown of it, its keys and their hints.

mod trial_rows;

use super::answer_verbs::APPROVE;
use super::{Approval, ApprovalContent};
use crate::agent::Trial;
use crate::chat::{Plan, Work};
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::frame::{heading_in_view, scroll_position};
use crate::tui::parts::key_hints::{self, Hint, key_hint};
use crate::tui::parts::line_cache::LineCache;
use crate::tui::prompts::prompt::{KeyResult, PromptCommand, PromptFacts};
use crate::tui::theme::Theme;
use ratatui::text::{Line, Span};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
pub(super) use trial_rows::TrialRow;
use trial_rows::{TrialPart, lay_out_rows};

/// What the prompt shows of a trial.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct TrialView {
    /// Version of the content that was on the screen: [`version`].
    drawn_version: u64,
    /// Time at which the user started the trial.
    started: Option<Duration>,
    /// Part that has the cursor; `None` for the first one.
    cursor: Option<TrialPart>,
    /// Parts that are shown whole.
    open_parts: BTreeSet<TrialPart>,
    rows: LineCache<Inputs, Vec<TrialRow>>,
}

/// Everything that the rows depend on besides width and theme.
#[derive(Debug, Clone, Default, PartialEq)]
struct Inputs {
    version: u64,
    output: String,
    elapsed: Duration,
    open_parts: BTreeSet<TrialPart>,
}

/// Returns a number that differs whenever the prompt shows something else of a trial that must be seen before an
/// answer; 0 without a trial.
pub(super) fn version(trial: &Trial) -> u64 {
    match trial {
        Trial::None => 0,
        Trial::Running { number, .. } => 4 * number,
        Trial::Finished { number, .. } => 4 * number + 1,
        Trial::Failed(_) => 2,
    }
}

impl TrialView {
    /// Records which content is on the screen. Returns whether it is new, so that it must be seen before an answer.
    pub(super) fn record_version(&mut self, version: u64) -> bool {
        let is_new = self.drawn_version != version;
        if is_new {
            (self.drawn_version, self.cursor) = (version, None);
            self.open_parts.clear();
        }
        is_new
    }

    /// Returns whether the screen shows this trial.
    pub(super) fn is_drawn(&self, trial: &Trial) -> bool {
        self.drawn_version == version(trial)
    }

    /// Returns the rows of the prompt.
    pub(super) fn lay_out_rows(
        &self,
        content: &ApprovalContent<'_>,
        width: usize,
        theme: &Theme,
    ) -> Arc<Vec<TrialRow>> {
        let elapsed = self.started.map_or(Duration::ZERO, |started| content.now.saturating_sub(started));
        let inputs = Inputs {
            version: version(content.trial),
            output: if let Trial::Running { output, .. } = content.trial { output.clone() } else { String::new() },
            elapsed: if content.trial.is_running() { Duration::from_secs(elapsed.as_secs()) } else { Duration::ZERO },
            open_parts: self.open_parts.clone(),
        };
        let width = width.max(1);
        self.rows.linked_lines_for(width, inputs.clone(), theme, content.lookups, || {
            lay_out_rows(content, width, theme, (elapsed, &self.open_parts))
        })
    }

    /// Draws one row: that of the selected part is marked.
    pub(super) fn draw_row(row: &TrialRow, selected: Option<TrialPart>, theme: &Theme) -> Line<'static> {
        let mut line = row.line.clone();
        if row.part.is_some()
            && row.part == selected
            && let Some(mark) = line.spans.first_mut()
        {
            *mark = Span::styled("❯ ", theme.accent);
        }
        line
    }

    /// Moves the cursor or scrolls. Returns the row to scroll to, `None` for other actions.
    fn handle_move(&mut self, action: Action, top: usize, page: usize) -> Option<usize> {
        let parts = self.parts();
        let headings: Vec<usize> = parts.iter().map(|(row, _)| *row).collect();
        let cursor = self.cursor_index(&parts);
        let scrolled = scroll_position(action, top, page)?;
        let is_visible = |row: usize| (top..top + page).contains(&row);
        let next = match action {
            Action::Down => Some(cursor + 1),
            Action::Up => cursor.checked_sub(1),
            _ => None,
        };
        let next = next.filter(|next| headings.get(*next).is_some_and(|row| is_visible(*row)));
        let Some(next) = next else {
            // The cursor follows the rows that are visible: inside a diff it is on the change of that diff.
            let row_count = self.rows.last_lines().map_or(0, |rows| rows.len());
            let new_top = scrolled.min(row_count.saturating_sub(page));
            let is_lost = headings.get(cursor).is_none_or(|row| !(new_top..new_top + page).contains(row));
            if is_lost {
                self.cursor = parts.get(heading_in_view(&headings, new_top, page)).map(|(_, part)| *part);
            }
            return Some(scrolled);
        };
        self.cursor = parts.get(next).map(|(_, part)| *part);
        Some(top)
    }

    /// Returns the parts that can be opened, with their first rows, in the last layout.
    fn parts(&self) -> Vec<(usize, TrialPart)> {
        let rows = self.rows.last_lines().unwrap_or_default();
        rows.iter().enumerate().filter_map(|(index, row)| Some((index, row.part?))).collect()
    }

    /// Returns the index of the part with the cursor. After a change of the width the output may be no part any more.
    fn cursor_index(&self, parts: &[(usize, TrialPart)]) -> usize {
        parts.iter().position(|(_, part)| Some(*part) == self.cursor).unwrap_or(0)
    }

    /// Returns the part with the cursor; `None` if there is nothing to open.
    pub(super) fn selected_part(&self) -> Option<TrialPart> {
        let parts = self.parts();
        parts.get(self.cursor_index(&parts)).map(|(_, part)| *part)
    }

    /// Returns whether the last layout has a part that can be opened.
    pub(super) fn can_open(&self) -> bool {
        self.selected_part().is_some()
    }

    /// Returns what the key that opens and closes does, in a long and a short form; `None` if there is nothing to open.
    fn toggle_labels(&self) -> Option<[&'static str; 2]> {
        let part = self.selected_part()?;
        Some(match (part, self.open_parts.contains(&part)) {
            (TrialPart::Output, false) => ["open whole output", "output"],
            (TrialPart::Output, true) => ["close output", "close"],
            (TrialPart::Change(_), false) => ["open diff", "diff"],
            (TrialPart::Change(_), true) => ["close diff", "close"],
        })
    }
}

impl Approval {
    /// Handles a key that is about a trial. Returns `None` for keys that mean the same with and without one, and for keys
    /// that must not answer yet.
    pub(super) fn handle_trial_key(
        &mut self,
        action: Action,
        (plan, trial): (&Plan, &Trial),
        is_listening: bool,
        facts: &PromptFacts<'_>,
    ) -> Option<KeyResult> {
        let keys = facts.context.keys;
        let key = |action| keys.first_chord(Scope::Approval, action);
        let call = || self.call.clone();
        let explain = |text: String| Some(KeyResult::Explained(text));
        let is_answer = matches!(action, Action::TryCall | Action::KeepTrial | Action::KeepDestructive);
        // Other calls cannot be tried, so these keys type a character in the composer.
        if is_answer && !matches!(plan.work, Work::Command(_)) {
            return Some(KeyResult::PassedOn);
        }
        if is_answer && !(is_listening && self.has_reached_end) {
            return None;
        }
        match (action, trial) {
            (Action::Close, Trial::Running { .. }) => Some(KeyResult::answered(PromptCommand::StopTrial(call()))),
            (Action::TryCall, Trial::Running { .. }) => {
                explain(format!("The trial is running · {} stops it", key(Action::Close)))
            }
            // What the trial shows may change which scopes there are.
            (Action::ApproveAlways, Trial::Running { .. }) => {
                explain(format!("The trial is running · {} stops it", key(Action::Close)))
            }
            (Action::TryCall, Trial::Finished { .. }) => {
                explain(format!("The command was tried · {}", self.name_answers(keys, APPROVE, (plan, trial))))
            }
            (Action::TryCall, _) if !facts.agent.offers_trial(plan) => {
                explain(format!("This call cannot be tried · {} to deny", key(Action::Deny)))
            }
            (Action::TryCall, Trial::None | Trial::Failed(_)) => {
                self.trial_view.started = Some(facts.now);
                Some(KeyResult::answered(PromptCommand::TryCall(call())))
            }
            (Action::KeepTrial | Action::KeepDestructive, Trial::Finished { report, .. }) => {
                let is_destructive = report.describe_loss().is_some();
                let keep = if is_destructive { Action::KeepDestructive } else { Action::KeepTrial };
                if action != keep {
                    let why = if is_destructive { "Keeping destroys something" } else { "Nothing is destroyed" };
                    return explain(format!("{why} · {} to keep", key(keep)));
                }
                let decision = crate::chat::Decision::Kept(report.digest.clone());
                Some(KeyResult::answered(PromptCommand::Decide(call(), decision)))
            }
            (Action::Toggle, Trial::Finished { .. }) if is_listening && self.trial_view.can_open() => {
                self.toggle_part();
                Some(KeyResult::Handled)
            }
            // Nobody who wants to keep the trial is led to run the command again.
            (Action::ApproveOnce, Trial::Finished { .. }) if is_listening && self.is_destructive(plan, trial) => {
                explain(format!("Destructive: {}", self.name_answers(keys, APPROVE, (plan, trial))))
            }
            (_, Trial::Finished { .. }) => {
                let row = self.trial_view.handle_move(action, self.scroll, self.page_rows)?;
                Some(self.scroll_to(row))
            }
            _ => None,
        }
    }

    /// Opens or closes the part with the cursor. What is opened must be read to its end before an answer.
    fn toggle_part(&mut self) {
        let parts = self.trial_view.parts();
        let Some((heading, part)) = parts.get(self.trial_view.cursor_index(&parts)).copied() else { return };
        // The cursor stays at this part also if another one appears above it.
        self.trial_view.cursor = Some(part);
        if !self.trial_view.open_parts.remove(&part) {
            self.trial_view.open_parts.insert(part);
            self.has_reached_end = false;
            return;
        }
        // The row of the part stays visible below the number of rows above.
        self.scroll = self.scroll.min(heading.saturating_sub(1));
    }

    /// Returns the title of the prompt, and whether its answer destroys something, while a trial runs and after it.
    pub(super) fn trial_title(trial: &Trial) -> Option<(&'static str, bool)> {
        match trial {
            Trial::Running { .. } => Some(("Trying the command", false)),
            Trial::Finished { report, .. } => Some(("Keep what the trial did?", report.describe_loss().is_some())),
            Trial::None | Trial::Failed(_) => None,
        }
    }

    /// Returns the key hints of the prompt while a trial runs and after it.
    pub(super) fn trial_hints(&self, content: &ApprovalContent<'_>, keys: &Keymap, shows_end: bool) -> Vec<String> {
        let key = |action| keys.first_chord(Scope::Approval, action);
        let is_destructive = self.is_destructive(content.plan, content.trial);
        let approve = if is_destructive { Action::ApproveDestructive } else { Action::ApproveOnce };
        let is_running = matches!(content.trial, Trial::Running { .. });
        let can_grant = !is_destructive && !is_running && content.plan.grant.is_some();
        let grant_key = if can_grant { key(Action::ApproveAlways) } else { String::new() };
        let others: [Option<Hint>; 4] = [
            key_hint(2, &key(approve), &["run live"]),
            key_hint(1, &key(Action::Deny), &["deny"]),
            key_hint(4, &key(Action::DenyWithMessage), &["deny with message…", "message"]),
            key_hint(5, &grant_key, &["run live always…", "live always"]),
        ];
        match content.trial {
            Trial::Running { .. } => {
                let stop = key_hint(0, &key(Action::Close), &["stop trial"]);
                key_hints::hint_rows([stop].into_iter().chain(others))
            }
            Trial::Finished { report, .. } => {
                let is_destructive = report.describe_loss().is_some();
                let keep = key(if is_destructive { Action::KeepDestructive } else { Action::KeepTrial });
                let open = self.trial_view.toggle_labels();
                let open = open.and_then(|labels| key_hint(3, &key(Action::Toggle), &labels));
                if !self.has_reached_end && !shows_end {
                    // Nothing approves before the end was seen.
                    let [_, deny, message, _] = others;
                    let hints = [deny, message, open];
                    return key_hints::hint_rows_with_end_first(&key(Action::Bottom), &keep, "keep", &hints);
                }
                let what = if report.changes.is_empty() { "keep the result" } else { "keep these changes" };
                let keep = key_hint(0, &keep, &[what, "keep"]);
                key_hints::hint_rows([keep].into_iter().chain(others).chain([open]))
            }
            Trial::None | Trial::Failed(_) => Vec::new(),
        }
    }
}
