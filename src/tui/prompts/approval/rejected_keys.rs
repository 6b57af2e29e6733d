//! Explanations of keys that have no effect in the approval prompt: the reason, and the key that works.

use super::answer_verbs::{approval_verb, is_restoration};
use super::{Approval, ApprovalView};
use crate::agent::Trial;
use crate::chat::{Plan, ToolCall};
use crate::policy::explain_no_scopes;
use crate::tui::keys::{Action, Keymap, Scope};
use crate::tui::parts::key_hints::explain_unseen_end;
use crate::tui::prompts::prompt::KeyResult;

impl Approval {
    /// Explains why a key that the prompt received has no effect.
    pub(super) fn explain_ignored_key(
        &self,
        action: Action,
        keys: &Keymap,
        call: &ToolCall,
        (plan, trial): (&Plan, &Trial),
    ) -> KeyResult {
        let key = |action| keys.first_chord(Scope::Approval, action);
        let is_destructive = self.is_destructive(plan, trial);
        let answers = self.name_answers(keys, approval_verb(call), (plan, trial));
        let is_trial = matches!(action, Action::TryCall | Action::KeepTrial | Action::KeepDestructive);
        let is_approval =
            is_trial || matches!(action, Action::ApproveOnce | Action::ApproveDestructive | Action::ApproveAlways);
        KeyResult::Explained(match (&self.view, action) {
            (ApprovalView::Plan, _) if is_approval && !self.has_reached_end => explain_unseen_end(&key(Action::Bottom)),
            (ApprovalView::Plan, _) if is_approval && self.is_selection_empty(plan) => {
                let (select_key, deny_key) = (key(Action::Select), key(Action::Deny));
                let deny = if is_restoration(call) { "cancel" } else { "deny all" };
                format!("Nothing is selected · {select_key} to select, {deny_key} to {deny}")
            }
            (ApprovalView::Plan, Action::KeepTrial | Action::KeepDestructive) => {
                format!("Nothing was tried · {answers}")
            }
            (ApprovalView::Plan, Action::ApproveOnce) if is_destructive => {
                format!("Destructive: {} is not enough · {answers}", key(action))
            }
            (ApprovalView::Plan, Action::ApproveDestructive) => {
                format!("{} is for destructive calls only · {answers}", key(action))
            }
            (ApprovalView::Plan, Action::ApproveAlways) if is_restoration(call) => {
                format!("Each undo is a decision of its own · {answers}")
            }
            (ApprovalView::Plan, Action::ApproveAlways) if is_destructive => {
                format!("This call needs approval each time · {answers}")
            }
            // The reason does not depend on the tool's name, which is left empty.
            (ApprovalView::Plan, Action::ApproveAlways) => match explain_no_scopes("", plan) {
                Some(reason) => format!("Needs approval each time: {reason} · {answers}"),
                None => format!("This call needs approval each time · {answers}"),
            },
            (ApprovalView::Details, _) if is_approval => {
                format!("Close the details to approve · {} to go back", key(Action::Details))
            }
            (
                ApprovalView::Plan
                | ApprovalView::Scope(_)
                | ApprovalView::DenyMessage(_)
                | ApprovalView::Details
                | ApprovalView::Form(_),
                _,
            ) => {
                format!("This key does nothing here · {} to go back", key(Action::Close))
            }
        })
    }

    /// Names the keys that approve: `y to approve`, or after a trial `k to keep, y to run live`.
    pub(super) fn name_answers(&self, keys: &Keymap, verb: &'static str, call: (&Plan, &Trial)) -> String {
        let answers = self.approving_keys(keys, verb, call);
        answers.iter().map(|(key, action)| format!("{key} to {action}")).collect::<Vec<_>>().join(", ")
    }

    /// Returns the keys that approve, with what they do. `verb` is that of [`approval_verb`].
    pub(super) fn approving_keys(
        &self,
        keys: &Keymap,
        verb: &'static str,
        (plan, trial): (&Plan, &Trial),
    ) -> Vec<(String, &'static str)> {
        let key = |action| keys.first_chord(Scope::Approval, action);
        let approve = match self.is_destructive(plan, trial) {
            true => key(Action::ApproveDestructive),
            false => key(Action::ApproveOnce),
        };
        match trial.report() {
            Some(report) => {
                let keep = if report.describe_loss().is_some() { Action::KeepDestructive } else { Action::KeepTrial };
                vec![(key(keep), "keep"), (approve, "run live")]
            }
            None => vec![(approve, verb)],
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{command_plan, draw_prompt, drawn_prompt, extract_decision, press_key, screen_text};
    use super::*;
    use crate::chat::Scripts;
    use crate::tui::parts::listening::Listening;
    use crossterm::event::KeyCode;

    /// Presses the keys in turn and compares the message for the last one. The keys are 600 ms apart, longer than
    /// `listening::QUIET_TIME`, so that none is ignored as typed too early.
    #[track_caller]
    fn assert_message(plan: &Plan, size: (u16, u16), keys: &str, expected: &str) {
        let mut approval = drawn_prompt(plan, size);
        let mut result = KeyResult::Handled;
        for (key_char, now) in keys.chars().zip((1_000..).step_by(600)) {
            result = press_key(&mut approval, plan, KeyCode::Char(key_char), now);
            draw_prompt(&mut approval, plan, size, Listening::Ready, now);
        }
        let KeyResult::Explained(message) = result.clone() else { panic!("{keys}: {result:?}") };
        assert_eq!((message.as_str(), extract_decision(result)), (expected, None), "{keys}");
    }

    #[test]
    fn an_ignored_key_gets_a_reason_and_the_key_that_works() {
        let (wide, small) = ((80, 24), (60, 15));
        let (ls, long) = (command_plan("ls"), command_plan(&"ls\n".repeat(60)));
        let ungrantable = Plan { grant: None, ..command_plan("ls") };
        let rm = Plan { destroys: Some("deletes".into()), ..command_plan("rm -r x") };
        let long_rm = Plan { destroys: Some("deletes".into()), ..long.clone() };
        assert_message(&ls, wide, "Y", "Y is for destructive calls only · y to approve");
        assert_message(&ungrantable, wide, "a", "This call needs approval each time · y to approve");
        let mut with_loop = ungrantable.clone();
        with_loop.preconditions.scripts = Scripts::Unknown("it holds a loop".into());
        assert_message(&with_loop, wide, "a", "Needs approval each time: it holds a loop · y to approve");
        assert_message(&rm, wide, "y", "Destructive: y is not enough · Y to approve");
        assert_message(&rm, wide, "a", "This call needs approval each time · Y to approve");
        for key in ["y", "a", "Y"] {
            assert_message(&long, small, key, "The end has not been shown yet · press end to see it");
            assert_message(&long_rm, small, key, "The end has not been shown yet · press end to see it");
            assert_message(&rm, wide, &format!("d{key}"), "Close the details to approve · d to go back");
        }
        assert_message(&ls, wide, "al", "This key does nothing here · esc to go back");
        assert_message(&ls, wide, "aY", "This key does nothing here · esc to go back");
    }

    #[test]
    fn the_reason_for_asking_each_time_is_said_once() {
        let reason_rows = |problem: &str| {
            let mut plan = Plan { grant: None, ..command_plan("for i in a; do ls; done") };
            plan.preconditions.scripts = Scripts::Unknown(problem.into());
            let screen =
                screen_text(&draw_prompt(&mut drawn_prompt(&plan, (70, 12)), &plan, (70, 12), Listening::Ready, 0));
            let rows = screen.lines().filter(|row| row.contains("reason: ") || row.contains("each time"));
            rows.map(|row| row.trim_matches(['│', ' ']).to_owned()).collect::<Vec<_>>()
        };
        // `draw_prompt` gives this reason for asking.
        let asked = "cargo runs project code";
        assert_eq!(reason_rows(asked), [format!("reason: {asked}, which needs approval each time")]);
        assert_eq!(reason_rows("loop"), [format!("reason: {asked}"), "needs approval each time: loop".to_owned()]);
    }

    #[test]
    fn a_destructive_call_has_a_thick_frame_and_a_label_without_colour() {
        let rm = Plan { destroys: Some("deletes the folder x".into()), ..command_plan("rm -r x") };
        let screen = screen_text(&draw_prompt(&mut drawn_prompt(&rm, (60, 9)), &rm, (60, 9), Listening::Ready, 0));
        insta::assert_snapshot!(screen, @r#"
┏━ Warning: Run a command? ━━━━━━━━━━━━━━━━━━━━━━━ 1 of 3 ━┓
┃ $ rm -r x                                                ┃
┃                                                          ┃
┃ in ~/src/app · timeout 30 s · network off                ┃
┃ warning: this deletes the folder x                       ┃
┃ reason: cargo runs project code                          ┃
┃                                                          ┃
┃                                                          ┃
┗━ Y approve · e edit · n deny · m message · l list ━━━━━━━┛
"#);
    }
}
