//! Messages for keys that have no effect in the approval prompt: the reason, and the key that works.

use super::{Approval, Reply, Step};
use crate::agent::why_not_kept;
use crate::chat::Plan;
use crate::tui::keys::{Action, Keymap, Scope};

impl Approval {
    /// Explains why a key that the prompt received has no effect.
    pub(super) fn unheard(&self, action: Action, keys: &Keymap, plan: &Plan) -> Reply {
        let key = |action| keys.hint(Scope::Approval, action);
        let destroys = self.destroys(plan);
        let yes = key(if destroys { Action::ApproveDestroying } else { Action::ApproveOnce });
        let says = matches!(action, Action::ApproveOnce | Action::ApproveDestroying | Action::ApproveAlways);
        Reply::Says(match (&self.step, action) {
            (Step::Plan, _) if says && !self.end_seen => {
                format!("Read to the end first · {} to jump there", key(Action::Bottom))
            }
            (Step::Plan, _) if says && self.is_empty(plan) => {
                let (tick, no) = (key(Action::Tick), key(Action::Refuse));
                format!("Nothing is ticked · {tick} to tick, {no} to deny all")
            }
            (Step::Plan, Action::ApproveOnce) if destroys => {
                format!("Destructive: {} is not enough · {yes} to approve", key(action))
            }
            (Step::Plan, Action::ApproveDestroying) => {
                format!("{} is for destructive calls only · {yes} to approve", key(action))
            }
            (Step::Plan, Action::ApproveAlways) if destroys => {
                format!("Destructive calls need approval each time · {yes} to approve")
            }
            (Step::Plan, Action::ApproveAlways) => match why_not_kept("", plan) {
                Some(why) => format!("Needs approval each time: {why} · {yes} to approve"),
                None => format!("This call needs approval each time · {yes} to approve"),
            },
            (Step::Details, _) if says => {
                format!("Close the details to approve · {} to go back", key(Action::Details))
            }
            (Step::Plan | Step::Scope(_) | Step::Because(_) | Step::Details | Step::Edit(_), _) => {
                format!("This key does nothing here · {} to go back", key(Action::Close))
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::{decision, draw, drawn, plan, press, text};
    use super::*;
    use crate::chat::Scripts;
    use crate::tui::parts::listening::Listening;
    use crossterm::event::KeyCode;

    /// Presses the keys in turn and compares the message for the last one.
    #[track_caller]
    fn check(plan: &Plan, size: (u16, u16), keys: &str, expected: &str) {
        let mut card = drawn(plan, size);
        let mut last = Reply::Nothing;
        for (letter, now) in keys.chars().zip((1_000..).step_by(600)) {
            last = press(&mut card, plan, KeyCode::Char(letter), now);
            draw(&mut card, plan, size, Listening::Yes, now);
        }
        let Reply::Says(words) = last.clone() else { panic!("{keys}: {last:?}") };
        assert_eq!((words.as_str(), decision(last)), (expected, None), "{keys}");
    }

    #[test]
    fn an_ignored_key_gets_a_reason_and_the_key_that_works() {
        let (wide, small) = ((80, 24), (60, 15));
        let (ls, long) = (plan("ls"), plan(&"ls\n".repeat(60)));
        let asks = Plan { always: None, ..plan("ls") };
        let rm = Plan { destroys: Some("deletes".into()), ..plan("rm -r x") };
        let long_rm = Plan { destroys: Some("deletes".into()), ..long.clone() };
        check(&ls, wide, "Y", "Y is for destructive calls only · y to approve");
        check(&asks, wide, "a", "This call needs approval each time · y to approve");
        let mut loops = asks.clone();
        loops.basis.scripts = Scripts::Unseen("it holds a loop".into());
        check(&loops, wide, "a", "Needs approval each time: it holds a loop · y to approve");
        check(&rm, wide, "y", "Destructive: y is not enough · Y to approve");
        check(&rm, wide, "a", "Destructive calls need approval each time · Y to approve");
        for key in ["y", "a", "Y"] {
            check(&long, small, key, "Read to the end first · end to jump there");
            check(&long_rm, small, key, "Read to the end first · end to jump there");
            check(&rm, wide, &format!("d{key}"), "Close the details to approve · d to go back");
        }
        check(&ls, wide, "al", "This key does nothing here · esc to go back");
        check(&ls, wide, "aY", "This key does nothing here · esc to go back");
    }

    #[test]
    fn a_destructive_call_has_a_thick_frame_and_a_label_without_colour() {
        let rm = Plan { destroys: Some("deletes the folder x".into()), ..plan("rm -r x") };
        let shown = text(&draw(&mut drawn(&rm, (60, 9)), &rm, (60, 9), Listening::Yes, 0));
        insta::assert_snapshot!(shown, @r#"
┏━ careful: run a command? ━━━━━━━━━━━━━━━━━━━━━━━ 1 of 3 ━┓
┃ $ rm -r x                                                ┃
┃                                                          ┃
┃ in ~/src/app · 30 s · network off                        ┃
┃ careful: this deletes the folder x                       ┃
┃ reason: project code run by cargo                        ┃
┃                                                          ┃
┃                                                          ┃
┗━ Y approve · e edit · n deny · m message · l list ━━━━━━━┛
"#);
    }
}
