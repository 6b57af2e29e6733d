//! What the person presses, and what the session has to hold of it.

use crate::support::Dice;
use crate::support::program::Program;
use aye::chat::{AnswerOrigin, AnswerStatus, AnswerValue, CallId, Decider, Decision, Entry, Questions, Session};
use std::time::{Duration, Instant};

/// A card listens by then, on a machine that is not too busy.
const LISTENS: u64 = 700;
/// Nothing takes longer.
const PATIENCE: Duration = Duration::from_secs(90);

/// One decision, as it was pressed and as it was kept.
#[derive(Debug, Clone, PartialEq)]
pub enum Pressed {
    /// A call was told this, by this key.
    Decided(CallId, Decision, String),
    /// Questions were answered like this.
    Answered(CallId, AnswerStatus, Vec<AnswerValue>),
}

/// What waits for the person, as the session has it.
enum Open {
    Approval(CallId),
    Question(CallId, Questions),
}

/// Everything that was pressed and meant as a decision, oldest first.
#[derive(Default)]
pub struct Person {
    pub pressed: Vec<Pressed>,
    turns: usize,
}

/// Every entry of the only session; what is being written right now is waited for.
pub fn entries(program: &Program) -> Vec<Entry> {
    let folder = program.place.path().join("home/aye/data/sessions");
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

/// The decisions of a session, oldest first. A person cannot have read a card in less than half a second.
pub fn decisions(entries: &[Entry]) -> Vec<Pressed> {
    let of = |entry: &Entry| match entry {
        Entry::Decided { call, decision, by: Decider::User { key, after_ms }, .. } => {
            assert!(*after_ms >= 500, "{call} was decided after {after_ms} ms");
            Some(Pressed::Decided(call.clone(), decision.clone(), key.clone()))
        }
        Entry::Answered { call, answer, .. } => {
            assert_eq!(answer.origin, AnswerOrigin::User);
            let sources = answer.answers.iter().map(|given| given.value.clone()).collect();
            Some(Pressed::Answered(call.clone(), answer.status, sources))
        }
        Entry::Decided { by: Decider::Headless, .. } => panic!("nobody decided: {entry:?}"),
        _ => None,
    };
    entries.iter().filter_map(of).collect()
}

/// How many calls are open, the last of them where nothing was said of it yet, and what waits.
fn open(entries: &[Entry]) -> (usize, Option<CallId>, Option<Open>) {
    let session = Session::replay(entries.iter().cloned());
    let calls = session.open_calls();
    let undecided = |id: &&CallId| session.call(id).is_some_and(|call| call.decided_at.is_none());
    let last = calls.last().filter(undecided).cloned();
    let first = calls.iter().find_map(|id| {
        let call = session.call(id)?;
        if let Some(questions) = &call.questions {
            return Some(Open::Question(id.clone(), questions.clone()));
        }
        let asks = call.plan.as_ref().is_some_and(|shown| shown.verdict == "ask") && !call.is_started;
        asks.then(|| Open::Approval(id.clone()))
    });
    (calls.len(), last, first)
}

fn turns(entries: &[Entry]) -> usize {
    entries.iter().filter(|entry| matches!(entry, Entry::Ended { .. })).count()
}

impl Person {
    /// Answers whatever waits, one way or another, until the turn is over.
    pub fn answers_until_the_turn_ends(&mut self, program: &mut Program, dice: &mut Dice) {
        let began = Instant::now();
        loop {
            assert!(began.elapsed() < PATIENCE, "the turn does not end:\n{}", program.screen());
            let entries = entries(program);
            if turns(&entries) > self.turns {
                self.turns = turns(&entries);
                return program.wait_ms(30);
            }
            match open(&entries) {
                (_, _, None) => program.wait_ms(20),
                (many, Some(last), Some(_)) if many > 20 && dice.one_of(2) => {
                    // The last of very many, before its turn.
                    let yes = Pressed::Decided(last, Decision::Once, "y".into());
                    self.press(program, &["l", "", "\x1b[F", "", "\r", "", "", "y"], &yes);
                }
                (many, _, Some(_)) if (many > 20 && dice.one_of(3)) || dice.one_of(12) => stop(program),
                (_, _, Some(Open::Approval(call))) => self.approves(&call, program, dice),
                (_, _, Some(Open::Question(call, questions))) => {
                    self.asked(&call, &questions, program, dice);
                }
            }
        }
    }

    fn approves(&mut self, call: &CallId, program: &mut Program, dice: &mut Dice) {
        let deny = |words: &str, key: &str| Pressed::Decided(call.clone(), Decision::Deny(words.into()), key.into());
        match dice.below(7) {
            0 => self.press(program, &["n"], &deny("", "n")),
            1 => self.press(program, &["m", "n", "o", "t", " ", "y", "\r"], &deny("not y", "enter")),
            2 => self.press(program, &["l", "", "n"], &deny("", "n")),
            3 => self.press(program, &["d", "", "n"], &deny("", "n")),
            4 => self.means_nothing(program, dice),
            _ => {
                // Yes, once its end was seen; a great one where something goes for good.
                program.wait_ms(LISTENS);
                program.keys("\x1b[F");
                program.wait_ms(200);
                let key = if program.screen().contains("Y approve") { "Y" } else { "y" };
                let yes = Pressed::Decided(call.clone(), Decision::Once, key.into());
                self.press(program, &["\x1b[F", "", key], &yes);
            }
        }
    }

    fn asked(&mut self, call: &CallId, asked: &Questions, program: &mut Program, dice: &mut Dice) {
        let declined = Pressed::Answered(call.clone(), AnswerStatus::Declined, Vec::new());
        match dice.below(6) {
            0 => self.press(program, &["x"], &declined),
            1 => self.press(program, &["\x1b", "", "\x1bx"], &declined),
            2 => self.press(program, &["\x1b", "", "\x11", "", "x"], &declined),
            3 => self.means_nothing(program, dice),
            _ if asked.list.len() > 4 => self.press(program, &["x"], &declined),
            _ => {
                let (mut keys, mut sources) = (Vec::new(), Vec::new());
                for question in &asked.list {
                    match (question.options.is_empty(), question.is_multiple) {
                        (true, _) => keys.extend(["\r", "", "w", "y", "", "\r", ""]),
                        (false, true) => keys.extend(["1", "", "\r", ""]),
                        (false, false) => keys.extend(["1", ""]),
                    }
                    sources.push(match question.options.is_empty() {
                        true => AnswerValue::Text("wy".into()),
                        false => AnswerValue::Selected(vec![0]),
                    });
                }
                let [only] = asked.list.as_slice() else {
                    if asked.list.iter().any(|question| question.options.is_empty()) {
                        keys.push("see wy");
                    }
                    keys.push("\r");
                    let all = Pressed::Answered(call.clone(), AnswerStatus::Answered, sources);
                    return self.press(program, &keys, &all);
                };
                if !only.options.is_empty() && !only.is_multiple {
                    keys.push("\r");
                }
                self.press(program, &keys, &Pressed::Answered(call.clone(), AnswerStatus::Answered, sources));
            }
        }
    }

    /// Keys that answer nothing, whatever waits.
    fn means_nothing(&mut self, program: &mut Program, dice: &mut Dice) {
        let before = decisions(&entries(program)).len();
        let all = [
            "\x1b[200~y\n1\nY\x1b[201~",
            "y\rY\ryes\r",
            "\x1b[I",
            "?q",
            "\x1b[5~\x1b[6~",
            "\x1b[<0;9;12M\x1b[<0;9;12m",
        ];
        program.keys(all[dice.below(all.len() as u64) as usize]);
        program.wait_ms(150);
        assert_eq!(decisions(&entries(program)).len(), before, "{}", program.screen());
        clear(program);
    }

    /// Presses these, a longer moment where a key is empty, until the session holds one decision more: this one. A key
    /// that came before its card listened was written, and is pressed again. `see x` is no key: where no card shows x
    /// the person lost their place, and stops the turn.
    fn press(&mut self, program: &mut Program, keys: &[&str], expected: &Pressed) {
        let before = decisions(&entries(program)).len();
        for tried in 0.. {
            program.wait_ms(LISTENS << tried.min(2));
            for key in keys {
                match *key {
                    "" => program.wait_ms(620),
                    key => match key.strip_prefix("see ") {
                        None => program.keys(key),
                        Some(text) if is_on_card(program, text) => {}
                        Some(_) => {
                            stop(program);
                            assert_eq!(decisions(&entries(program)).len(), before, "{}", program.screen());
                            return clear(program);
                        }
                    },
                }
                program.wait_ms(40);
            }
            let began = Instant::now();
            while began.elapsed() < Duration::from_secs(2) {
                let now = decisions(&entries(program));
                if now.len() > before {
                    assert_eq!(&now[before..], std::slice::from_ref(expected), "{}", program.screen());
                    self.pressed.push(expected.clone());
                    return clear(program);
                }
                program.wait_ms(20);
            }
            assert!(tried < 6, "{expected:?} was not taken:\n{}", program.screen());
            // Out of whatever line or step it is in, and everything from the beginning.
            clear(program);
            let screen = program.screen();
            if screen.contains("─ Queue ─") {
                program.keys("\x1b");
            } else if screen.contains("alt-x decline") {
                program.keys("\x11");
            }
        }
    }
}

/// Whether a card shows this.
fn is_on_card(program: &mut Program, text: &str) -> bool {
    program.screen().lines().any(|line| line.starts_with('│') && line.contains(text))
}

/// Empties the composer, or the line that is written.
fn clear(program: &mut Program) {
    for _ in 0..3 {
        program.keys("\x15");
        program.wait_ms(15);
        program.keys("\x7f");
        program.wait_ms(15);
    }
}

/// Stops the turn.
fn stop(program: &mut Program) {
    for _ in 0..3 {
        program.keys("\x1b");
        program.wait_ms(120);
    }
}
