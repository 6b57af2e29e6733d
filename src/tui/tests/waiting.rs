//! The screen while a reply is awaited: countdowns, silence, failures and the keys that work.

use super::*;

/// A screen of this size with a running request.
fn asks(width: u16, height: u16) -> Screen {
    let mut screen = Screen::new();
    screen.resized(width, height);
    screen.says("why does it flake?");
    screen
}

fn retries(screen: &mut Screen, attempt: u32, seconds: u64) {
    let why = "the service failed (503): overloaded".into();
    screen.chunk(Chunk::Retrying {
        attempt,
        of: 5,
        wait: Duration::from_secs(seconds),
        why,
        kind: String::new(),
    });
    screen.frame();
}

fn fails(screen: &mut Screen, why: &str) {
    let turn = screen.state.agent.turn().expect("a turn runs");
    screen.happens(Event::Agent(agent::Event::Failed { turn, why: why.into(), too_long: false }));
    screen.frame();
}

fn orders(screen: &mut Screen) -> Vec<agent::Effect> {
    let of_agent = |effect| if let Effect::Agent(effects) = effect { effects } else { Vec::new() };
    std::mem::take(&mut screen.effects).into_iter().flat_map(of_agent).collect()
}

fn foot(screen: &mut Screen) -> String {
    screen.shows().lines().last().unwrap_or_default().to_owned()
}

#[test]
fn r49_a_countdown_shows_the_reason_and_the_keys() {
    let mut screen = asks(60, 15);
    retries(&mut screen, 3, 12);
    insta::assert_snapshot!(screen.shows(), @r"
     aye · why does it flake?     gpt-5-mini · ~/project ⎇ main
    ────────────────────────────────────────────────────────────
     ▌ why does it flake?

       ↻ the service failed (503): overloaded
         try 3 of 5 in 12 s · alt-r retry now · esc stop







     ❯ Write a message, / for commands, @ for files
     try 3 of 5 in 12 s · alt-r now · esc stops          ? help
    ");
    screen.waits(11_500);
    assert!(screen.shows().contains("try 3 of 5 in 1 s · alt-r retry now · esc stop"), "{}", screen.shows());
    screen.waits(500);
    assert!(screen.shows().contains("retrying, try 3 of 5"), "{}", screen.shows());
    screen.chunk(Chunk::Text("Now.".into()));
    assert!(!screen.shows().contains("overloaded"), "{}", screen.shows());
}

#[test]
fn r49_a_countdown_wakes_the_screen_once_a_second() {
    let mut screen = asks(80, 24);
    screen.waits(137);
    retries(&mut screen, 2, 40);
    screen.waits(6000);
    let (mut wakes, end) = (0, screen.state.now + Duration::from_secs(20));
    while let Some(at) = screen.state.wakes_at().filter(|at| *at < end) {
        assert!(at > screen.state.now, "the loop would never end");
        screen.happens(Event::Tick(at));
        let before = screen.state.now;
        screen.frame();
        assert_eq!(before, screen.state.now);
        wakes += 1;
    }
    assert!((19..=21).contains(&wakes), "{wakes} times in twenty seconds");
}

#[test]
fn r49_alt_r_retries_now_and_esc_stops() {
    let mut screen = asks(80, 24);
    orders(&mut screen);
    screen.presses("alt-r");
    assert_eq!(orders(&mut screen), [], "nothing failed yet");
    retries(&mut screen, 2, 3000);
    assert!(screen.shows().contains("try 2 of 5 in 50 min 0 s"), "{}", screen.shows());
    screen.presses("alt-r");
    assert_eq!(orders(&mut screen), [agent::Effect::Hurry]);
    assert!(screen.shows().contains("retrying"), "{}", screen.shows());
    screen.presses("alt-r");
    assert_eq!(orders(&mut screen), [], "the request is running already");
    retries(&mut screen, 3, 3000);
    assert!(screen.shows().contains("try 3 of 5 in 50 min 0 s"), "{}", screen.shows());
    screen.presses("esc");
    assert!(matches!(orders(&mut screen)[0], agent::Effect::Cancel { .. }));
    assert!(!screen.shows().contains("try 3"), "{}", screen.shows());
}

#[test]
fn help_lists_the_retry_key_only_while_it_works() {
    let mut screen = asks(80, 60);
    let helps = |screen: &mut Screen| {
        screen.presses("f1");
        let shows = screen.shows();
        screen.presses("esc");
        shows.contains("Retry now")
    };
    assert!(!helps(&mut screen));
    retries(&mut screen, 2, 12);
    assert!(helps(&mut screen));
    fails(&mut screen, "down");
    assert!(helps(&mut screen));
    screen.says("more");
    assert!(!helps(&mut screen));
}

#[test]
fn a_changed_key_binding_is_shown() {
    let mut screen = asks(80, 24);
    let own = [("retry_now".to_owned(), vec!["f9".to_owned()]), ("stop".to_owned(), vec![])].into();
    screen.state.keys = Keymap::with(&own).0;
    retries(&mut screen, 2, 12);
    let shows = screen.shows();
    assert!(shows.contains("in 12 s · f9 now") && !shows.contains("stops"), "{shows}");
}

#[test]
fn a_long_silence_is_shown_with_its_limit() {
    let mut screen = asks(60, 15);
    screen.waits(45_000);
    screen.chunk(Chunk::Quiet { since: Duration::from_secs(45), limit: Duration::from_secs(90) });
    screen.waits(2000);
    insta::assert_snapshot!(screen.shows(), @r"
     aye · why does it flake?     gpt-5-mini · ~/project ⎇ main
    ────────────────────────────────────────────────────────────
     ▌ why does it flake?

       … no data for 47 s · timeout at 90 s · esc stop








     ❯ Write a message, / for commands, @ for files
     no data for 47 s · esc stops · ask mode             ? help
    ");
    screen.chunk(Chunk::Quiet { since: Duration::ZERO, limit: Duration::from_secs(90) });
    assert!(screen.shows().contains("waiting for gpt-5-mini"), "{}", screen.shows());
}

#[test]
fn silence_within_a_reply_is_shown_below_its_text() {
    let mut screen = asks(80, 24);
    screen.chunk(Chunk::Text("Half a reply".into()));
    screen.chunk(Chunk::Quiet { since: Duration::from_secs(45), limit: Duration::from_secs(90) });
    let shows = screen.shows();
    let (came, quiet) = (shows.find("Half a reply").unwrap(), shows.find("no data for 45 s").unwrap());
    assert!(came < quiet, "{shows}");
    fails(&mut screen, "the service sent nothing for 90 s");
    let shows = screen.shows();
    assert!(
        shows.contains("Half a reply") && shows.contains("… cut short: the service sent nothing"),
        "{shows}"
    );
}

#[test]
fn a_failure_offers_a_retry() {
    let mut screen = asks(60, 15);
    fails(&mut screen, "the service failed (503): overloaded");
    insta::assert_snapshot!(screen.shows(), @r"
     aye · why does it flake?     gpt-5-mini · ~/project ⎇ main
    ────────────────────────────────────────────────────────────
     ▌ why does it flake?

     ✗ the service failed (503): overloaded. No reply received.
       Your message is kept.

       ↻ alt-r retry · alt-m change model · alt-c connect
         provider




     ❯ Write a message, / for commands, @ for files
     ask mode                                            ? help
    ");
    screen.types("but wait");
    orders(&mut screen);
    screen.presses("alt-r");
    assert!(matches!(&orders(&mut screen)[..], [agent::Effect::Stream { .. }]), "sent without a new message");
    let shows = screen.shows();
    assert!(shows.contains("but wait") && !shows.contains("alt-r retry"), "the draft stays: {shows}");
    screen.replies("Here.");
    assert!(!screen.shows().contains("alt-r retry"));
}

#[test]
fn the_retry_command_sends_the_request_again() {
    let mut screen = asks(80, 24);
    fails(&mut screen, "down");
    orders(&mut screen);
    screen.says("/retry");
    assert!(matches!(&orders(&mut screen)[..], [agent::Effect::Stream { .. }]));
    screen.replies("Here.");
    orders(&mut screen);
    screen.says("/again");
    assert_eq!(orders(&mut screen), []);
    assert!(screen.shows().contains("No failed request"), "{}", screen.shows());
}

#[test]
fn a_fallback_model_is_announced_and_shown_while_it_answers() {
    let mut screen = asks(60, 15);
    let instead = Some("the service failed (503): overloaded".to_owned());
    screen.chunk(Chunk::Answering { model: "llama-3.3-70b".into(), instead });
    screen.waits(1000);
    screen.chunk(Chunk::Text("Two places:".into()));
    insta::assert_snapshot!(screen.shows(), @r"
     aye · why does it flake?  llama-3.3-70b · ~/project ⎇ main
    ────────────────────────────────────────────────────────────
     ▌ why does it flake?

     ↪ the service failed (503): overloaded; fell back to
       llama-3.3-70b

     Two places:





     ❯ Write a message, / for commands, @ for files
     ⠙ llama-3.3-70b replying · 1 s · ask mode           ? help
    ");
    screen.chunk(Chunk::Done(Finish::Stop));
    let head = screen.shows().lines().next().unwrap().to_owned();
    assert!(head.contains("gpt-5-mini"), "the next turn tries the first again: {head}");
    screen.says("more");
    assert!(screen.shows().contains("waiting for gpt-5-mini"), "{}", screen.shows());
}

#[test]
fn the_footer_shows_reply_timing_and_drops_the_least_important() {
    let mut screen = asks(100, 24);
    screen.state.agent.window = Some(128_000);
    screen.state.connection.price = Some((1.0, 1.0, 1.0));
    screen.waits(800);
    screen.chunk(Chunk::Text("a".repeat(80)));
    screen.waits(1000);
    screen.chunk(Chunk::Text("a".repeat(160)));
    let words = foot(&mut screen);
    assert!(words.contains("replying · 1 s") && words.contains("first after 0.8 s · ~60 tok/s"), "{words}");
    screen.waits(1000);
    screen.chunk(Chunk::Usage(Usage { input: 14_000, cached: 0, output: 60 }));
    screen.chunk(Chunk::Done(Finish::Stop));
    let shows = |width: u16, screen: &mut Screen| {
        screen.resized(width, 24);
        foot(screen).split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let wide = "ask mode · ctx 10% · 14.1k tok · $0.01 · first after 0.8 s · 60 tok/s · took 2.8 s ? help";
    assert_eq!(shows(100, &mut screen), wide);
    assert_eq!(
        shows(80, &mut screen),
        "ask mode · ctx 10% · 14.1k tok · $0.01 · first after 0.8 s · 60 tok/s ? help"
    );
    assert_eq!(shows(60, &mut screen), "ask mode · ctx 10% · 14.1k tok · $0.01 · 60 tok/s ? help");
    screen.waits(60_000);
    assert!(foot(&mut screen).contains("60 tok/s"), "the figures stay");
    assert_eq!(screen.state.wakes_at(), None, "and nothing moves");
    screen.says("more");
    assert!(!foot(&mut screen).contains("tok/s"));
}

#[test]
fn a_hostile_reason_draws_no_control_characters() {
    let mut screen = asks(60, 15);
    let why = format!("\u{1b}[2J\u{202e}evil\n\n{}", "x".repeat(300));
    screen.chunk(Chunk::Retrying {
        attempt: 2,
        of: 5,
        wait: Duration::from_secs(9),
        why: why.clone(),
        kind: String::new(),
    });
    assert!(screen.shows().contains("try 2 of 5 in 9 s"), "{}", screen.shows());
    screen.chunk(Chunk::Answering { model: "m\u{1b}[31m\u{202e}".into(), instead: Some(why) });
    let shows = screen.shows();
    assert!(!shows.contains(['\u{1b}', '\u{202e}']), "{shows}");
}

#[test]
fn stopping_a_countdown_keeps_the_reason_on_screen() {
    let mut screen = asks(80, 24);
    screen.chunk(Chunk::Retrying {
        attempt: 2,
        of: 5,
        wait: Duration::from_secs(20),
        why: "the service asks to wait 20 s (429)".into(),
        kind: String::new(),
    });
    screen.waits(1_000);
    screen.presses("esc");
    let shows = screen.shows();
    let why = ["Stopped while waiting to retry: the service asks to", "wait 20 s (429)"];
    assert!(why.iter().all(|part| shows.contains(part)), "{shows}");
}

#[test]
fn zero_and_endless_waits_are_drawn() {
    let mut screen = asks(60, 15);
    for wait in [Duration::ZERO, Duration::MAX] {
        let why = String::new();
        screen.chunk(Chunk::Retrying { attempt: 2, of: 5, wait, why, kind: String::new() });
        screen.waits(10);
        screen.chunk(Chunk::Quiet { since: wait, limit: wait });
        screen.waits(10);
        assert!(screen.state.wakes_at().is_some());
        screen.chunk(Chunk::Quiet { since: Duration::ZERO, limit: wait });
    }
    for size in [(1, 1), (8, 3), (20, 6)] {
        screen.resized(size.0, size.1);
        screen.chunk(Chunk::Retrying {
            attempt: 2,
            of: 5,
            wait: Duration::from_secs(9),
            why: "w".repeat(99),
            kind: String::new(),
        });
        screen.frame();
    }
}
