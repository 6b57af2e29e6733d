//! The real program ended at random moments during typing, queueing, denying, editing, answering, streaming and
//! printing. After a restart no text is missing that was visible for more than a second, and none at all if the program
//! was asked to exit.

use crate::support::keyboard::PATIENCE;
use crate::support::program::{Program, Setup};
use crate::support::service::{Answer, Service, Step};
use crate::support::stored_files::{NO_TITLES, read_entries, write_settings};
use crate::support::terminal_session::{calls_answer_after, command_answer, submit_message, text_answer};
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

/// The activity that is interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Activity {
    /// A first message, before a session exists.
    NewDraft,
    /// A draft in a session.
    Draft,
    /// Messages that are sent while a reply streams.
    Queue,
    /// A denial message.
    Denial,
    /// Changed arguments of a call.
    Arguments,
    /// A free-text answer.
    Answer,
    /// A command that prints.
    Output,
}

const ACTIVITIES: [Activity; 7] = [
    Activity::NewDraft,
    Activity::Draft,
    Activity::Queue,
    Activity::Denial,
    Activity::Arguments,
    Activity::Answer,
    Activity::Output,
];
/// Everything visible is saved within a second.
const PROMISED: Duration = Duration::from_secs(1);
/// Trials in parallel; each mostly waits.
const AT_ONCE: usize = 4;
/// Tokens of each kind in a trial. All of them fit on the screen.
const TOKENS_PER_KIND: usize = 30;

impl Activity {
    fn answers(self) -> Vec<Answer> {
        match self {
            Self::NewDraft | Self::Draft => vec![text_answer("Calm.")],
            Self::Queue => {
                let slow = |answer: Answer, n: usize| {
                    answer.text(&format!("{} ", token('s', n))).with_step(Step::Pause(Duration::from_millis(90)))
                };
                vec![(0..TOKENS_PER_KIND).fold(Answer::stream(), slow).with_step(Step::Stall)]
            }
            Self::Denial | Self::Arguments => vec![command_answer("echo no")],
            Self::Answer => {
                let ask = json!({ "questions": [
                    { "question": "Which clock?", "keyword": "clock", "options": ["paused", "real"] },
                ]});
                vec![calls_answer_after(Duration::ZERO, &[("ask_question", ask)])]
            }
            Self::Output => {
                let print = "for i in $(seq -w 0 29); do echo \"o$i;\"; sleep 0.09; done; sleep 60";
                vec![command_answer(print)]
            }
        }
    }

    /// Brings the program to the state in which text is typed or printed.
    fn begin(self, program: &mut Program) {
        program.until("Messages go to");
        if self != Self::NewDraft {
            submit_message(program, "go");
        }
        match self {
            Self::NewDraft => {}
            Self::Draft => drop(program.until_idle("Calm.")),
            Self::Queue => drop(program.until("s00;")),
            Self::Denial => {
                program.until_prompt("$ echo no");
                program.press_until("m", "deny: ");
            }
            Self::Arguments => {
                program.until_prompt("$ echo no");
                program.press_until("e", "command:");
            }
            Self::Answer => {
                program.until_prompt("Which clock?");
                program.press_until("3", "new line");
            }
            Self::Output => {
                program.until_prompt("seq -w");
                program.until_condition("the command runs", |program| {
                    if program.has_active_prompt() {
                        program.press_keys("y");
                        program.wait_ms(100);
                    }
                    !program.screen().contains("Run a command?")
                });
            }
        }
    }

    /// The next keys of the user, if any.
    fn next_keys(self, number: usize) -> String {
        match self {
            // More of them would scroll the first ones off the screen.
            Self::Queue if number < 8 => format!("{}\r", token('t', number)),
            Self::Queue => String::new(),
            Self::Output => String::new(),
            Self::NewDraft | Self::Draft | Self::Denial | Self::Arguments | Self::Answer => token('t', number),
        }
    }

    /// Returns the text that is present after the restart.
    fn restored_text(self, program: &mut Program) -> String {
        let screen = strip_layout(&program.screen());
        if self != Self::Output {
            return screen;
        }
        let interrupted = |entry: Entry| match entry {
            Entry::Settled { outcome: Outcome::Interrupted(text), .. } => text,
            _ => String::new(),
        };
        read_entries(program.root.path()).into_iter().map(interrupted).collect()
    }
}

/// A piece of text that can be found even if a line is wrapped in it.
fn token(kind: char, number: usize) -> String {
    format!("{kind}{number:02};")
}

/// The screen without whitespace and frames between the pieces of wrapped lines.
fn strip_layout(screen: &str) -> String {
    screen.chars().filter(|c| !c.is_whitespace() && !"│▌▏".contains(*c)).collect()
}

/// Runs one trial. Returns each lost piece of text and how long it had been on the screen.
fn run_trial(runtime: &Runtime, activity: Activity, signal: Signal, dice: &mut Dice) -> Vec<(String, Duration)> {
    let service = runtime.block_on(Service::start(activity.answers()));
    let flags = ["--base-url", &service.base_url, "--model", "m"];
    let setup = Setup::new(&flags).size(110, 40);
    write_settings(&setup, NO_TITLES);
    let root = setup.root.clone();
    let mut program = setup.start();
    activity.begin(&mut program);
    let moment = Instant::now() + Duration::from_millis(100 + dice.below(3000));
    let mut seen: BTreeMap<String, Instant> = BTreeMap::new();
    let tokens_of_kind = |kind| (0..TOKENS_PER_KIND).map(move |number| token(kind, number));
    let all: Vec<String> = "sto".chars().flat_map(tokens_of_kind).collect();
    let mut typed = (0..TOKENS_PER_KIND).flat_map(|number| activity.next_keys(number).chars().collect::<Vec<_>>());
    while Instant::now() < moment {
        match typed.next() {
            Some(key) => program.press_keys(key.encode_utf8(&mut [0; 4])),
            None => program.wait_ms(10),
        }
        let screen = strip_layout(&program.screen());
        for token in all.iter().filter(|token| screen.contains(*token)) {
            seen.entry(token.clone()).or_insert_with(Instant::now);
        }
    }
    program.signal(signal);
    let killed = Instant::now();
    program.wait_for_exit();
    let mut repeated_flags = flags.to_vec();
    repeated_flags.extend((activity != Activity::NewDraft).then_some("--continue"));
    let mut program = Setup::with_home(&root, &repeated_flags).size(110, 40).start();
    program.until("ask mode");
    // The restored text may reach the screen or the log a moment later, so the check is repeated until `end`.
    let end = Instant::now() + PATIENCE.min(Duration::from_secs(3));
    loop {
        let found = activity.restored_text(&mut program);
        let lost: Vec<(String, Duration)> = seen
            .iter()
            .filter(|(token, _)| !found.contains(*token))
            .map(|(token, at)| (token.clone(), killed - *at))
            .collect();
        let breaks_promise = lost.iter().any(|(_, age)| signal != Signal::KILL || *age > PROMISED);
        if !breaks_promise || Instant::now() > end {
            return lost;
        }
        program.wait_ms(20);
    }
}

/// For 1000 trials: `AYE_TEST_TRIALS=1000 cargo test --test suite text_older_than_a_second_survives`.
#[test]
fn text_older_than_a_second_survives_a_kill_and_all_text_an_exit() {
    let runtime = Runtime::new().unwrap();
    let count = requested_trials().unwrap_or_else(|| pick_count(8, 2) * ACTIVITIES.len());
    let (next, failures) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    // By activity and whether it was killed: the number of trials, and the age of the oldest text that was lost.
    let oldest: Mutex<BTreeMap<(Activity, bool), (usize, Duration)>> = Mutex::default();
    std::thread::scope(|scope| {
        for _ in 0..AT_ONCE {
            scope.spawn(|| {
                let mut dice = Dice(RandomState::new().build_hasher().finish());
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count {
                        return;
                    }
                    let activity = ACTIVITIES[number % ACTIVITIES.len()];
                    let is_kill = (number / ACTIVITIES.len()).is_multiple_of(2);
                    let signal = if is_kill { Signal::KILL } else { Signal::TERM };
                    let lost = run_trial(&runtime, activity, signal, &mut dice);
                    let age = lost.iter().map(|(_, age)| *age).max().unwrap_or_default();
                    {
                        let mut oldest = oldest.lock().unwrap();
                        let (trials, most) = oldest.entry((activity, is_kill)).or_default();
                        (*trials, *most) = (*trials + 1, age.max(*most));
                    }
                    if !lost.is_empty() && (!is_kill || !is_within_limit(PROMISED, age)) {
                        failures.lock().unwrap().push(format!("{activity:?} {signal:?}: {lost:?}"));
                    }
                }
            });
        }
    });
    if requested_trials().is_some() {
        for ((activity, is_kill), (trials, age)) in oldest.into_inner().unwrap() {
            let how = if is_kill { "killed" } else { "ended" };
            print_uncaptured(&format!(
                "{activity:?} {how} {trials} times: the oldest text lost was {} ms old",
                age.as_millis()
            ));
        }
    }
    let failures = failures.into_inner().unwrap();
    assert!(failures.is_empty(), "{} of {count} trials:\n{}", failures.len(), failures.join("\n"));
}
