//! Keys that the user presses, and the decisions that the session must hold for them.

use crate::support::Dice;
use crate::support::program::Program;
use aye::chat::{AnswerOrigin, AnswerStatus, AnswerValue, CallId, Decider, Decision, Entry, Questions, Session};
use std::time::{Duration, Instant};

/// Milliseconds after which a prompt takes keys, on a machine that is not too busy.
const PROMPT_DELAY: u64 = 700;
/// Limit for everything else.
const PATIENCE: Duration = Duration::from_secs(90);

/// One decision, as pressed and as stored in the session.
#[derive(Debug, Clone, PartialEq)]
pub enum Pressed {
    /// A call was decided with this key.
    Decided(CallId, Decision, String),
    /// Questions were answered with these values.
    Answered(CallId, AnswerStatus, Vec<AnswerValue>),
}

/// What waits for the user, according to the session.
enum Open {
    Approval(CallId),
    Question(CallId, Questions),
}

/// All decisions that were pressed, oldest first.
#[derive(Default)]
pub struct Persona {
    pub pressed: Vec<Pressed>,
    /// Turns that have ended so far.
    turns: usize,
}

/// Returns every entry of the only session; waits if an entry is being written.
pub fn read_session_entries(program: &Program) -> Vec<Entry> {
    let folder = program.root.path().join("home/aye/data/sessions");
    loop {
        let Some(file) = std::fs::read_dir(&folder).ok().and_then(|mut files| files.next()) else {
            return Vec::new();
        };
        let read = aye::store::read(&file.unwrap().path()).unwrap();
        if read.notices.is_empty() {
            return read.entries;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
}

/// Returns the decisions of a session, oldest first. Prompts ignore keys in their first half second.
pub fn list_decisions(entries: &[Entry]) -> Vec<Pressed> {
    let decision_of = |entry: &Entry| match entry {
        Entry::Decided { call, decision, by: Decider::User { key, after_ms }, .. } => {
            assert!(*after_ms >= 500, "{call} was decided after {after_ms} ms");
            Some(Pressed::Decided(call.clone(), decision.clone(), key.clone()))
        }
        Entry::Answered { call, answer, .. } => {
            assert_eq!(answer.origin, AnswerOrigin::User);
            let sources = answer.answers.iter().map(|given| given.value.clone()).collect();
            Some(Pressed::Answered(call.clone(), answer.status, sources))
        }
        Entry::Decided { by: Decider::Headless, .. } => panic!("decided without the user: {entry:?}"),
        _ => None,
    };
    entries.iter().filter_map(decision_of).collect()
}

/// Returns the number of open calls, the last one if undecided, and what waits for the user.
fn find_open(entries: &[Entry]) -> (usize, Option<CallId>, Option<Open>) {
    let session = Session::replay(entries.iter().cloned());
    let calls = session.open_calls();
    let undecided = |id: &&CallId| session.find_call(id).is_some_and(|call| call.decided_at.is_none());
    let last = calls.last().filter(undecided).cloned();
    let first = calls.iter().find_map(|id| {
        let call = session.find_call(id)?;
        if let Some(questions) = &call.questions {
            return Some(Open::Question(id.clone(), questions.clone()));
        }
        let is_asking = call.plan.as_ref().is_some_and(|shown| shown.verdict == "ask") && !call.is_started;
        is_asking.then(|| Open::Approval(id.clone()))
    });
    (calls.len(), last, first)
}

fn count_turns(entries: &[Entry]) -> usize {
    entries.iter().filter(|entry| matches!(entry, Entry::Ended { .. })).count()
}

impl Persona {
    /// Answers everything that waits, in random ways, until the turn ends.
    pub fn answer_until_turn_ends(&mut self, program: &mut Program, dice: &mut Dice) {
        let started = Instant::now();
        loop {
            assert!(started.elapsed() < PATIENCE, "the turn does not end:\n{}", program.screen());
            let entries = read_session_entries(program);
            if count_turns(&entries) > self.turns {
                self.turns = count_turns(&entries);
                return program.wait_ms(30);
            }
            match find_open(&entries) {
                (_, _, None) => program.wait_ms(20),
                (open_count, Some(last), Some(_)) if open_count > 20 && dice.one_of(2) => {
                    // The last of very many calls, from the queue.
                    let approval = Pressed::Decided(last, Decision::Once, "y".into());
                    self.press(program, &["l", "", "\x1b[F", "", "\r", "", "", "y"], &approval);
                }
                (open_count, _, Some(_)) if (open_count > 20 && dice.one_of(3)) || dice.one_of(12) => {
                    stop_turn(program)
                }
                (_, _, Some(Open::Approval(call))) => self.decide_call(&call, program, dice),
                (_, _, Some(Open::Question(call, questions))) => {
                    self.answer_questions(&call, &questions, program, dice);
                }
            }
        }
    }

    fn decide_call(&mut self, call: &CallId, program: &mut Program, dice: &mut Dice) {
        let deny =
            |message: &str, key: &str| Pressed::Decided(call.clone(), Decision::Deny(message.into()), key.into());
        match dice.below(7) {
            0 => self.press(program, &["n"], &deny("", "n")),
            1 => self.press(program, &["m", "n", "o", "t", " ", "y", "\r"], &deny("not y", "enter")),
            2 => self.press(program, &["l", "", "n"], &deny("", "n")),
            3 => self.press(program, &["d", "", "n"], &deny("", "n")),
            4 => self.press_ignored_keys(program, dice),
            _ => {
                // Approves at the end of the prompt, with `Y` if the call is destructive.
                program.wait_ms(PROMPT_DELAY);
                program.press_keys("\x1b[F");
                program.wait_ms(200);
                let key = if program.screen().contains("Y approve") { "Y" } else { "y" };
                let approval = Pressed::Decided(call.clone(), Decision::Once, key.into());
                self.press(program, &["\x1b[F", "", key], &approval);
            }
        }
    }

    fn answer_questions(&mut self, call: &CallId, asked: &Questions, program: &mut Program, dice: &mut Dice) {
        let declined = Pressed::Answered(call.clone(), AnswerStatus::Declined, Vec::new());
        // The text field of a question without options is open at once, and takes these keys as text.
        let starts_with_text = asked.list[0].options.is_empty();
        match dice.below(6) {
            // `x` twice declines, and Enter sends that at once. Esc parks the question; then Alt-X is the first `x`, or Ctrl-Q
            // opens it again.
            0 if !starts_with_text => self.press(program, &["x", "", "x", "", "\r"], &declined),
            1 if !starts_with_text => self.press(program, &["\x1b", "", "\x1bx", "", "x", "", "\r"], &declined),
            2 if !starts_with_text => {
                self.press(program, &["\x1b", "", "\x11", "", "x", "", "x", "", "\r"], &declined);
            }
            3 => self.press_ignored_keys(program, dice),
            _ => {
                let (mut keys, mut sources) = (Vec::new(), Vec::new());
                for question in &asked.list {
                    match question.options.is_empty() {
                        true => keys.extend(["w", "y", "", "\r", ""]),
                        false => keys.extend(["1", "", "\r", ""]),
                    }
                    sources.push(match question.options.is_empty() {
                        true => AnswerValue::Text("wy".into()),
                        false => AnswerValue::Selected(vec![0]),
                    });
                }
                if asked.list.len() > 1 {
                    if asked.list.iter().any(|question| question.options.is_empty()) {
                        keys.push("see wy");
                    }
                    keys.push("\r");
                    let all = Pressed::Answered(call.clone(), AnswerStatus::Answered, sources);
                    return self.press(program, &keys, &all);
                }
                self.press(program, &keys, &Pressed::Answered(call.clone(), AnswerStatus::Answered, sources));
            }
        }
    }

    /// Presses keys that answer nothing, whatever waits.
    fn press_ignored_keys(&mut self, program: &mut Program, dice: &mut Dice) {
        let before = list_decisions(&read_session_entries(program)).len();
        let all = [
            "\x1b[200~y\n1\nY\x1b[201~",
            "y\rY\ryes\r",
            "\x1b[I",
            "?q",
            "\x1b[5~\x1b[6~",
            "\x1b[<0;9;12M\x1b[<0;9;12m",
        ];
        program.press_keys(all[dice.below(all.len() as u64) as usize]);
        program.wait_ms(150);
        assert_eq!(list_decisions(&read_session_entries(program)).len(), before, "{}", program.screen());
        clear_composer(program);
    }

    /// Presses these keys until the session holds exactly one more decision, the expected one. An empty key is a longer
    /// pause. A key pressed before the prompt takes keys is typed, deleted and pressed again. `see x` is a condition:
    /// if no prompt shows x, the keys have gone astray, and the turn is stopped.
    fn press(&mut self, program: &mut Program, keys: &[&str], expected: &Pressed) {
        let before = list_decisions(&read_session_entries(program)).len();
        for attempt in 0.. {
            program.wait_ms(PROMPT_DELAY << attempt.min(2));
            for key in keys {
                match *key {
                    "" => program.wait_ms(620),
                    key => match key.strip_prefix("see ") {
                        None => program.press_keys(key),
                        Some(text) if is_in_prompt(program, text) => {}
                        Some(_) => {
                            stop_turn(program);
                            assert_eq!(
                                list_decisions(&read_session_entries(program)).len(),
                                before,
                                "{}",
                                program.screen()
                            );
                            return clear_composer(program);
                        }
                    },
                }
                program.wait_ms(40);
            }
            let started = Instant::now();
            while started.elapsed() < Duration::from_secs(2) {
                let now = list_decisions(&read_session_entries(program));
                if now.len() > before {
                    assert_eq!(&now[before..], std::slice::from_ref(expected), "{}", program.screen());
                    self.pressed.push(expected.clone());
                    return clear_composer(program);
                }
                program.wait_ms(20);
            }
            assert!(attempt < 6, "{expected:?} was not recorded:\n{}", program.screen());
            // Leave any text field or step, and start again.
            clear_composer(program);
            let screen = program.screen();
            if screen.contains("─ Queue ─") {
                program.press_keys("\x1b");
            } else if screen.contains("alt-x decline") {
                program.press_keys("\x11");
            }
        }
    }
}

/// Returns whether a prompt shows this text.
fn is_in_prompt(program: &mut Program, text: &str) -> bool {
    program.screen().lines().any(|line| line.starts_with('│') && line.contains(text))
}

/// Empties the composer or the text field.
fn clear_composer(program: &mut Program) {
    for _ in 0..3 {
        program.press_keys("\x15");
        program.wait_ms(15);
        program.press_keys("\x7f");
        program.wait_ms(15);
    }
}

/// Stops the turn.
fn stop_turn(program: &mut Program) {
    for _ in 0..3 {
        program.press_keys("\x1b");
        program.wait_ms(120);
    }
}
