//! Why a key did nothing on an approval card, and what would work: said, and nothing is decided by it.

use super::{Approval, Reply, Step};
use crate::agent::why_not_kept;
use crate::chat::Plan;
use crate::tui::keys::{Action, Keymap, Scope};

impl Approval {
    /// What the card says to a key that it listened to and did not take.
    pub(super) fn unheard(&self, action: Action, keys: &Keymap, plan: &Plan) -> Reply {
        let key = |action| keys.hint(Scope::Approval, action);
        let destroys = self.destroys(plan);
        let yes = key(if destroys { Action::ApproveDestroying } else { Action::ApproveOnce });
        let says = matches!(action, Action::ApproveOnce | Action::ApproveDestroying | Action::ApproveAlways);
        Reply::Says(match (&self.step, action) {
            (Step::Plan, _) if says && !self.end_seen => {
                format!("not all of it was seen yet · {} shows the end", key(Action::Bottom))
            }
            (Step::Plan, _) if says && self.is_empty(plan) => {
                let (tick, no) = (key(Action::Tick), key(Action::Refuse));
                format!("nothing is ticked · {tick} ticks, {no} rejects all")
            }
            (Step::Plan, Action::ApproveOnce) if destroys => {
                format!("this destroys, so {} is not enough · {yes} says yes", key(action))
            }
            (Step::Plan, Action::ApproveDestroying) => {
                format!("{} is for what destroys · {yes} says yes to this", key(action))
            }
            (Step::Plan, Action::ApproveAlways) if destroys => {
                format!("what destroys is asked about each time · {yes} says yes")
            }
            (Step::Plan, Action::ApproveAlways) => match why_not_kept("", plan) {
                Some(why) => format!("asked about each time, because {why} · {yes} says yes"),
                None => format!("this is asked about each time · {yes} says yes"),
            },
            (Step::Details, _) if says => {
                format!("a yes is said on the card · {} goes back to it", key(Action::Details))
            }
            (Step::Plan | Step::Scope(_) | Step::Because(_) | Step::Details | Step::Edit(_), _) => {
                format!("that key does nothing here · {} goes back to the card", key(Action::Close))
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

    /// The words for keys pressed one after the other; only the last of them has to say something.
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
    fn a_key_that_is_not_taken_says_why_and_what_would_work() {
        let (wide, small) = ((80, 24), (60, 15));
        let (ls, long) = (plan("ls"), plan(&"ls\n".repeat(60)));
        let asks = Plan { always: None, ..plan("ls") };
        let rm = Plan { destroys: Some("deletes".into()), ..plan("rm -r x") };
        let long_rm = Plan { destroys: Some("deletes".into()), ..long.clone() };
        check(&ls, wide, "Y", "Y is for what destroys · y says yes to this");
        check(&asks, wide, "a", "this is asked about each time · y says yes");
        let mut loops = asks.clone();
        loops.basis.scripts = Scripts::Unseen("it holds a loop".into());
        check(&loops, wide, "a", "asked about each time, because it holds a loop · y says yes");
        check(&rm, wide, "y", "this destroys, so y is not enough · Y says yes");
        check(&rm, wide, "a", "what destroys is asked about each time · Y says yes");
        for key in ["y", "a", "Y"] {
            check(&long, small, key, "not all of it was seen yet · end shows the end");
            check(&long_rm, small, key, "not all of it was seen yet · end shows the end");
            check(&rm, wide, &format!("d{key}"), "a yes is said on the card · d goes back to it");
        }
        check(&ls, wide, "al", "that key does nothing here · esc goes back to the card");
        check(&ls, wide, "aY", "that key does nothing here · esc goes back to the card");
    }

    #[test]
    fn what_destroys_is_told_by_its_frame_without_any_colour() {
        let rm = Plan { destroys: Some("deletes the folder x".into()), ..plan("rm -r x") };
        let shown = text(&draw(&mut drawn(&rm, (60, 9)), &rm, (60, 9), Listening::Yes, 0));
        insta::assert_snapshot!(shown, @r#"
┏━ careful: run a command? ━━━━━━━━━━━━━━━━━━━━━━━ 1 of 3 ━┓
┃ $ rm -r x                                                ┃
┃                                                          ┃
┃ in ~/src/app · 30 s · network off                        ┃
┃ careful: this deletes the folder x                       ┃
┃ asked because cargo runs the project's own code          ┃
┃                                                          ┃
┃                                                          ┃
┗━ Y yes · e edit · n no · m because · d more · l list ━━━━┛
"#);
    }
}
