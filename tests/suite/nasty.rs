//! A model that misbehaves on purpose, and a person who answers its cards by key: what the session holds of decisions
//! is exactly what was pressed.
//!
//! A long trial, made by hand: it presses without looking, and where the machine is busy its keys come too early, which
//! says nothing of the program. `AYE_TEST_SECONDS=3600 cargo test --test suite nasty -- --ignored --nocapture`

mod model;
mod person;

use crate::support::program::{Program, Setup};
use crate::support::service::Service;
use crate::support::terminal_session::say;
use crate::support::{Dice, pick_count};
use aye::chat::{Decision, Entry, Outcome, Session};
use person::{Person, entries};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;

/// Replies of a session; then another one begins.
const REPLIES: usize = 30;
/// The terminals it is answered in, the smallest in which every prompt can be.
const SIZES: [(u16, u16); 4] = [(60, 15), (80, 24), (120, 36), (60, 15)];

/// How long the model misbehaves.
fn lasts() -> Duration {
    let said = std::env::var("AYE_TEST_SECONDS").ok().and_then(|seconds| seconds.parse().ok());
    Duration::from_secs(said.unwrap_or(pick_count(40, 12) as u64))
}

#[test]
#[ignore = "a long trial, made by hand on a machine that does little else"]
#[allow(clippy::print_stdout, reason = "figures are there to be read")]
fn r08_what_was_decided_is_exactly_what_was_pressed_whatever_the_model_does() {
    let (began, lasts) = (Instant::now(), lasts());
    let seed = std::env::var("AYE_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
    let mut dice = Dice(seed.unwrap_or_else(|| u64::from(std::process::id())));
    let (mut sessions, mut answered) = (0, 0);
    while began.elapsed() < lasts {
        let seed = dice.0;
        answered += session(&mut dice, began + lasts, SIZES[sessions % SIZES.len()], seed);
        sessions += 1;
    }
    println!("{answered} cards answered in {sessions} sessions, each as it was pressed");
    assert!(answered > 0);
}

/// One session until its replies are used up or the time is; how many cards were answered.
#[allow(clippy::print_stdout, reason = "who finds something wants to see it again")]
fn session(dice: &mut Dice, until: Instant, (columns, rows): (u16, u16), seed: u64) -> usize {
    let runtime = Runtime::new().unwrap();
    let answers: Vec<_> = (0..REPLIES).flat_map(|_| model::turn(dice)).collect();
    let service = runtime.block_on(Service::start(answers));
    let setup = Setup::new(&["--base-url", &service.base_url, "--model", "scripted-7b"]).size(columns, rows);
    std::fs::create_dir(setup.place.path().join("project/gone")).unwrap();
    let mut program = setup.start();
    program.until("Connected to");
    println!("AYE_TEST_SEED={seed} at {columns}x{rows}");
    let mut person = Person::default();
    for _ in 0..REPLIES {
        if Instant::now() > until {
            break;
        }
        say(&mut program, "go");
        person.answers_until_the_turn_ends(&mut program, dice);
        checks(&program, &person);
    }
    for _ in 0..2 {
        program.keys("\x03");
        program.wait_ms(60);
    }
    program.wait_for_exit();
    person.pressed.len()
}

/// The whole session against everything that was pressed in it.
fn checks(program: &Program, person: &Person) {
    let entries = entries(program);
    assert_eq!(person::decisions(&entries), person.pressed, "more or something else was decided");
    let session = Session::replay(entries.clone());
    for entry in &entries {
        let Entry::Settled { call, outcome: Outcome::Done(_), .. } = entry else { continue };
        let call = session.call(call).expect("it was called");
        if call.questions.is_some() || !["bash_exec", "write_file"].contains(&call.call.name.as_str()) {
            continue;
        }
        let decided = call.decided_at.map(|at| &entries[at]);
        let yes = matches!(decided, Some(Entry::Decided { decision: Decision::Once, .. }));
        assert!(yes, "{} was done without a yes: {decided:?}", call.call.id);
    }
}
