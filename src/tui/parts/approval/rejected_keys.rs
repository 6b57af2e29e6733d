//! Messages for keys that have no effect in the approval prompt: the reason, and the key that works.

use super::{Approval, ApprovalView, KeyResult};
use crate::chat::Plan;
use crate::policy::explain_no_scopes;
use crate::tui::keys::{Action, Keymap, Scope};

impl Approval {
    /// Explains why a key that the prompt received has no effect.
    pub(super) fn explain_ignored_key(&self, action: Action, keys: &Keymap, plan: &Plan) -> KeyResult {
        let key = |action| keys.first_chord(Scope::Approval, action);
        let destroys = self.is_destructive(plan);
        let yes = key(if destroys { Action::ApproveDestructive } else { Action::ApproveOnce });
        let says = matches!(action, Action::ApproveOnce | Action::ApproveDestructive | Action::ApproveAlways);
        KeyResult::Explained(match (&self.view, action) {
            (ApprovalView::Plan, _) if says && !self.has_reached_end => {
                format!("Read to the end first · {} to jump there", key(Action::Bottom))
            }
            (ApprovalView::Plan, _) if says && self.is_selection_empty(plan) => {
                let (tick, no) = (key(Action::Select), key(Action::Deny));
                format!("Nothing is ticked · {tick} to tick, {no} to deny all")
            }
            (ApprovalView::Plan, Action::ApproveOnce) if destroys => {
                format!("Destructive: {} is not enough · {yes} to approve", key(action))
            }
            (ApprovalView::Plan, Action::ApproveDestructive) => {
                format!("{} is for destructive calls only · {yes} to approve", key(action))
            }
            (ApprovalView::Plan, Action::ApproveAlways) if destroys => {
                format!("Destructive calls need approval each time · {yes} to approve")
            }
            (ApprovalView::Plan, Action::ApproveAlways) => match explain_no_scopes("", plan) {
                Some(why) => format!("Needs approval each time: {why} · {yes} to approve"),
                None => format!("This call needs approval each time · {yes} to approve"),
            },
            (ApprovalView::Details, _) if says => {
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
}

#[cfg(test)]
mod tests {
    use super::super::tests::{decision_of, draw, drawn_prompt, plan, press, screen_text};
    use super::*;
    use crate::chat::Scripts;
    use crate::tui::parts::listening::Listening;
    use crossterm::event::KeyCode;

    /// Presses the keys in turn and compares the message for the last one.
    #[track_caller]
    fn assert_message(plan: &Plan, size: (u16, u16), keys: &str, expected: &str) {
        let mut card = drawn_prompt(plan, size);
        let mut last = KeyResult::Handled;
        for (letter, now) in keys.chars().zip((1_000..).step_by(600)) {
            last = press(&mut card, plan, KeyCode::Char(letter), now);
            draw(&mut card, plan, size, Listening::Ready, now);
        }
        let KeyResult::Explained(words) = last.clone() else { panic!("{keys}: {last:?}") };
        assert_eq!((words.as_str(), decision_of(last)), (expected, None), "{keys}");
    }

    #[test]
    fn an_ignored_key_gets_a_reason_and_the_key_that_works() {
        let (wide, small) = ((80, 24), (60, 15));
        let (ls, long) = (plan("ls"), plan(&"ls\n".repeat(60)));
        let asks = Plan { grant: None, ..plan("ls") };
        let rm = Plan { destroys: Some("deletes".into()), ..plan("rm -r x") };
        let long_rm = Plan { destroys: Some("deletes".into()), ..long.clone() };
        assert_message(&ls, wide, "Y", "Y is for destructive calls only · y to approve");
        assert_message(&asks, wide, "a", "This call needs approval each time · y to approve");
        let mut loops = asks.clone();
        loops.preconditions.scripts = Scripts::Unknown("it holds a loop".into());
        assert_message(&loops, wide, "a", "Needs approval each time: it holds a loop · y to approve");
        assert_message(&rm, wide, "y", "Destructive: y is not enough · Y to approve");
        assert_message(&rm, wide, "a", "Destructive calls need approval each time · Y to approve");
        for key in ["y", "a", "Y"] {
            assert_message(&long, small, key, "Read to the end first · end to jump there");
            assert_message(&long_rm, small, key, "Read to the end first · end to jump there");
            assert_message(&rm, wide, &format!("d{key}"), "Close the details to approve · d to go back");
        }
        assert_message(&ls, wide, "al", "This key does nothing here · esc to go back");
        assert_message(&ls, wide, "aY", "This key does nothing here · esc to go back");
    }

    #[test]
    fn a_destructive_call_has_a_thick_frame_and_a_label_without_colour() {
        let rm = Plan { destroys: Some("deletes the folder x".into()), ..plan("rm -r x") };
        let shown = screen_text(&draw(&mut drawn_prompt(&rm, (60, 9)), &rm, (60, 9), Listening::Ready, 0));
        insta::assert_snapshot!(shown, @r#"
┏━ Warning: Run a command? ━━━━━━━━━━━━━━━━━━━━━━━ 1 of 3 ━┓
┃ $ rm -r x                                                ┃
┃                                                          ┃
┃ in ~/src/app · timeout 30 s · network off                ┃
┃ warning: this deletes the folder x                       ┃
┃ reason: project code run by cargo                        ┃
┃                                                          ┃
┃                                                          ┃
┗━ Y approve · e edit · n deny · m message · l list ━━━━━━━┛
"#);
    }
}
