//! A model that misbehaves on purpose, and a user who answers its prompts by key: the decisions in the session are
//! exactly the keys that were pressed.
//!
//! A long trial that is started by hand. It presses keys without reading the screen, and on a busy machine they can
//! come too early, so a failure there proves nothing. `AYE_TEST_SECONDS=3600 cargo test --test suite misbehaving_models
//! -- --ignored --nocapture`

mod model;
mod user;

use crate::support::program::{Program, Setup};
use crate::support::service::Service;
use crate::support::terminal_session::submit_message;
use crate::support::{Dice, pick_count};
use aye::chat::{Decision, Entry, Outcome, Session};
use std::time::{Duration, Instant};
use tokio::runtime::Runtime;
use user::{Persona, read_session_entries};

/// Replies per session.
const REPLIES: usize = 30;
/// Terminal sizes; the smallest is the smallest in which every prompt fits.
const SIZES: [(u16, u16); 4] = [(60, 15), (80, 24), (120, 36), (60, 15)];

/// Duration of the trial.
fn trial_duration() -> Duration {
    let seconds = std::env::var("AYE_TEST_SECONDS").ok().and_then(|text| text.parse().ok());
    Duration::from_secs(seconds.unwrap_or(pick_count(40, 12) as u64))
}

#[test]
#[ignore = "a long trial; run it by hand on an idle machine"]
#[allow(clippy::print_stdout, reason = "the figures are the result")]
fn r08_decisions_are_exactly_the_keys_pressed_for_any_model() {
    let (started, duration) = (Instant::now(), trial_duration());
    let seed = std::env::var("AYE_TEST_SEED").ok().and_then(|seed| seed.parse().ok());
    let mut dice = Dice(seed.unwrap_or_else(|| u64::from(std::process::id())));
    let (mut sessions, mut answered) = (0, 0);
    while started.elapsed() < duration {
        let seed = dice.0;
        answered += run_session(&mut dice, started + duration, SIZES[sessions % SIZES.len()], seed);
        sessions += 1;
    }
    println!("{answered} prompts answered in {sessions} sessions, each as pressed");
    assert!(answered > 0);
}

/// Runs one session until its replies are used up or `deadline` is reached. Returns the number of answered prompts.
#[allow(clippy::print_stdout, reason = "the seed reproduces a failure")]
fn run_session(dice: &mut Dice, deadline: Instant, (columns, rows): (u16, u16), seed: u64) -> usize {
    let runtime = Runtime::new().unwrap();
    let answers: Vec<_> = (0..REPLIES).flat_map(|_| model::random_turn(dice)).collect();
    let service = runtime.block_on(Service::start(answers));
    let setup = Setup::new(&["--base-url", &service.base_url, "--model", "scripted-7b"]).size(columns, rows);
    std::fs::create_dir(setup.root.path().join("project/gone")).unwrap();
    let mut program = setup.start();
    program.until("Messages go to");
    println!("AYE_TEST_SEED={seed} at {columns}x{rows}");
    let mut persona = Persona::default();
    for _ in 0..REPLIES {
        if Instant::now() > deadline {
            break;
        }
        submit_message(&mut program, "go");
        persona.answer_until_turn_ends(&mut program, dice);
        check_decisions(&program, &persona);
    }
    for _ in 0..2 {
        program.press_keys("\x03");
        program.wait_ms(60);
    }
    program.wait_for_exit();
    persona.pressed.len()
}

/// Compares the whole session with all keys that were pressed in it.
fn check_decisions(program: &Program, test_user: &Persona) {
    let entries = read_session_entries(program);
    assert_eq!(user::list_decisions(&entries), test_user.pressed, "the decisions differ from the keys pressed");
    let session = Session::replay(entries.clone());
    for entry in &entries {
        let Entry::Settled { call, outcome: Outcome::Done(_), .. } = entry else { continue };
        let call = session.find_call(call).expect("the call is in the session");
        if call.questions.is_some() || !["bash_exec", "write_file"].contains(&call.call.name.as_str()) {
            continue;
        }
        let decided = call.decided_at.map(|at| &entries[at]);
        let is_approved = matches!(decided, Some(Entry::Decided { decision: Decision::Once, .. }));
        assert!(is_approved, "{} ran without approval: {decided:?}", call.call.id);
    }
}
