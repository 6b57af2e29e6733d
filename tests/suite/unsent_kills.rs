//! The real program ended at random moments while something is typed, queued, denied, edited, answered, streamed or
//! printed: after it is started again nothing is missing that was on the screen for more than a second, and nothing at
//! all if it was asked to end.

use crate::support::keyboard::PATIENCE;
use crate::support::program::{Program, Setup};
use crate::support::service::{Answer, Service, Step};
use crate::support::stored_files::{NO_TITLES, read_entries, write_settings};
use crate::support::terminal_session::{calls_after, runs, say, says};
use crate::support::time_limits::is_within_limit;
use crate::support::{Dice, pick_count, print_uncaptured, requested_trials};
use aye::chat::{Entry, Outcome};
use rustix::process::Signal;
use serde_json::json;
use std::collections::BTreeMap;
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// The activity that is cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Amid {
    /// A first message, before there is a session.
    NewDraft,
    /// A draft in a session.
    Draft,
    /// Messages that are sent while a reply streams.
    Queue,
    /// A denial message.
    Denial,
    /// Other arguments for a call.
    Arguments,
    /// An answer in one's own words.
    Answer,
    /// A command that prints.
    Output,
}

const AMID: [Amid; 7] =
    [Amid::NewDraft, Amid::Draft, Amid::Queue, Amid::Denial, Amid::Arguments, Amid::Answer, Amid::Output];
/// A second may pass before anything is kept.
const PROMISED: Duration = Duration::from_secs(1);
/// Trials that run side by side: they mostly wait.
const AT_ONCE: usize = 4;
/// Tokens of one trial, so that all of them fit on the screen.
const MOST: usize = 30;

impl Amid {
    fn answers(self) -> Vec<Answer> {
        match self {
            Self::NewDraft | Self::Draft => vec![says("Calm.")],
            Self::Queue => {
                let slow = |answer: Answer, n: usize| {
                    answer.says(&format!("{} ", token('s', n))).then(Step::Pause(Duration::from_millis(90)))
                };
                vec![(0..MOST).fold(Answer::stream(), slow).then(Step::Stall)]
            }
            Self::Denial | Self::Arguments => vec![runs("echo no")],
            Self::Answer => {
                let ask = json!({ "questions": [
                    { "question": "Which clock?", "keyword": "clock", "options": ["paused", "real"] },
                ]});
                vec![calls_after(Duration::ZERO, &[("ask_question", ask)])]
            }
            Self::Output => {
                let print = "for i in $(seq -w 0 29); do echo \"o$i;\"; sleep 0.09; done; sleep 60";
                vec![runs(print)]
            }
        }
    }

    /// Goes to where something is written or printed.
    fn begin(self, program: &mut Program) {
        program.until("Connected to");
        if self != Self::NewDraft {
            say(program, "go");
        }
        match self {
            Self::NewDraft => {}
            Self::Draft => drop(program.until_quiet("Calm.")),
            Self::Queue => drop(program.until("s00;")),
            Self::Denial => {
                program.until_asked("$ echo no");
                program.press_until("m", "deny: ");
            }
            Self::Arguments => {
                program.until_asked("$ echo no");
                program.press_until("e", "command:");
            }
            Self::Answer => {
                program.until_asked("Which clock?");
                program.press_until("3", "new line");
            }
            Self::Output => {
                program.until_asked("seq -w");
                program.until_that("the command runs", |program| {
                    if program.is_asked() {
                        program.keys("y");
                        program.wait_ms(100);
                    }
                    !program.screen().contains("run a command?")
                });
            }
        }
    }

    /// The next keys of the user, if any.
    fn types(self, number: usize) -> String {
        match self {
            // More of them would scroll the first ones off the screen.
            Self::Queue if number < 8 => format!("{}\r", token('t', number)),
            Self::Queue => String::new(),
            Self::Output => String::new(),
            Self::NewDraft | Self::Draft | Self::Denial | Self::Arguments | Self::Answer => token('t', number),
        }
    }

    /// The text that is there after the restart.
    fn found(self, program: &mut Program) -> String {
        let screen = bare(&program.screen());
        if self != Self::Output {
            return screen;
        }
        let interrupted = |entry: Entry| match entry {
            Entry::Settled { outcome: Outcome::Interrupted(text), .. } => text,
            _ => String::new(),
        };
        read_entries(program.place.path()).into_iter().map(interrupted).collect()
    }
}

/// A piece of text that is found again wherever a line is broken in it.
fn token(kind: char, number: usize) -> String {
    format!("{kind}{number:02};")
}

/// The screen without what stands between the pieces of a wrapped line.
fn bare(screen: &str) -> String {
    screen.chars().filter(|c| !c.is_whitespace() && !"│▌▏".contains(*c)).collect()
}

/// Runs one trial. Returns each lost piece of text and how long it had been on the screen.
fn trial(runtime: &Runtime, amid: Amid, signal: Signal, dice: &mut Dice) -> Vec<(String, Duration)> {
    let service = runtime.block_on(Service::start(amid.answers()));
    let flags = ["--base-url", &service.base_url, "--model", "m"];
    let setup = Setup::new(&flags).size(110, 40);
    write_settings(&setup, NO_TITLES);
    let place = setup.place.clone();
    let mut program = setup.start();
    amid.begin(&mut program);
    let moment = Instant::now() + Duration::from_millis(100 + dice.below(3000));
    let mut seen: BTreeMap<String, Instant> = BTreeMap::new();
    let all: Vec<String> = "sto".chars().flat_map(|kind| (0..MOST).map(move |number| token(kind, number))).collect();
    let mut typed = (0..MOST).flat_map(|number| amid.types(number).chars().collect::<Vec<_>>());
    while Instant::now() < moment {
        match typed.next() {
            Some(key) => program.keys(key.encode_utf8(&mut [0; 4])),
            None => program.wait_ms(10),
        }
        let screen = bare(&program.screen());
        for token in all.iter().filter(|token| screen.contains(*token)) {
            seen.entry(token.clone()).or_insert_with(Instant::now);
        }
    }
    program.signal(signal);
    let killed = Instant::now();
    program.wait_for_exit();
    let mut again = flags.to_vec();
    again.extend((amid != Amid::NewDraft).then_some("--continue"));
    let mut program = Setup::again(&place, &again).size(110, 40).start();
    program.until("ask mode");
    // It takes its keys only once the first frame stands, and what is kept is in that.
    let end = Instant::now() + PATIENCE.min(Duration::from_secs(3));
    loop {
        let found = amid.found(&mut program);
        let lost: Vec<(String, Duration)> = seen
            .iter()
            .filter(|(token, _)| !found.contains(*token))
            .map(|(token, at)| (token.clone(), killed - *at))
            .collect();
        let too_old = lost.iter().any(|(_, age)| signal != Signal::KILL || *age > PROMISED);
        if !too_old || Instant::now() > end {
            return lost;
        }
        program.wait_ms(20);
    }
}

/// `AYE_TEST_TRIALS=1000 cargo test --test suite nothing_older_than_a_second` ends it a thousand times.
#[test]
fn nothing_older_than_a_second_is_lost_by_a_kill_and_nothing_by_an_end() {
    let runtime = Runtime::new().unwrap();
    let count = requested_trials().unwrap_or_else(|| pick_count(8, 2) * AMID.len());
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let oldest: Mutex<BTreeMap<(Amid, bool), (usize, Duration)>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                let mut dice = Dice(RandomState::new().build_hasher().finish());
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    let amid = AMID[number % AMID.len()];
                    let is_kill = (number / AMID.len()).is_multiple_of(2);
                    let signal = if is_kill { Signal::KILL } else { Signal::TERM };
                    let lost = trial(&runtime, amid, signal, &mut dice);
                    let age = lost.iter().map(|(_, age)| *age).max().unwrap_or_default();
                    {
                        let mut oldest = oldest.lock().unwrap();
                        let (trials, most) = oldest.entry((amid, is_kill)).or_default();
                        (*trials, *most) = (*trials + 1, age.max(*most));
                    }
                    if !lost.is_empty() && (!is_kill || !is_within_limit(PROMISED, age)) {
                        wrong.lock().unwrap().push(format!("{amid:?} {signal:?}: {lost:?}"));
                    }
                }
            });
        }
    });
    if requested_trials().is_some() {
        for ((amid, is_kill), (trials, age)) in oldest.into_inner().unwrap() {
            let how = if is_kill { "killed" } else { "ended" };
            print_uncaptured(&format!(
                "{amid:?} {how} {trials} times: the oldest text lost was {} ms old",
                age.as_millis()
            ));
        }
    }
    let wrong = wrong.into_inner().unwrap();
    assert!(wrong.is_empty(), "{} of {count} trials:\n{}", wrong.len(), wrong.join("\n"));
}
