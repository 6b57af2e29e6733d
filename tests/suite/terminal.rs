//! The real program in a terminal: how it begins, how it ends, and what it leaves behind.

use crate::support::pick_count;
use crate::support::program::{Program, Setup};
use crate::support::time_limits::try_three_times;
use rustix::process::Signal;
use std::path::PathBuf;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(2);

fn tour() -> Program {
    let mut program = Setup::new(&[]).start();
    program.until("Connected to the tour");
    program
}

#[test]
fn nothing_configured_opens_the_tour_and_ctrl_d_leaves_it() {
    let mut program = tour();
    program.until("? help");
    program.keys("\x04");
    assert_eq!(program.wait_for_exit(), 0);
    assert!(program.is_restored());
    assert!(!program.screen().contains("--resume"), "nothing was said, so there is nothing to come back to");
}

#[test]
fn leaving_says_how_to_come_back() {
    let mut program = tour();
    program.types("hello");
    program.keys("\r");
    program.until("This is the tour");
    program.keys("\x03");
    program.keys("\x03");
    assert_eq!(program.wait_for_exit(), 0);
    let screen = program.screen();
    assert!(screen.contains("hello") && screen.contains("aye --resume 01"), "{screen}");
}

#[test]
fn r58_every_signal_that_ends_it_gives_the_terminal_back() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130), (Signal::QUIT, 131)] {
        let mut program = tour();
        program.signal(signal);
        assert_eq!(program.wait_for_exit(), code, "{signal:?}");
        assert!(program.is_restored(), "{signal:?}");
    }
}

#[test]
fn r58_a_panic_in_any_thread_gives_the_terminal_back_and_is_told() {
    for thread in ["main", "other"] {
        let mut program = Setup::new(&[]).env("AYE_PANIC", thread).start();
        assert_eq!(program.wait_for_exit(), 101, "{thread}");
        assert!(program.is_restored(), "{thread}");
        assert!(program.screen().contains("on purpose"), "{}", program.screen());
    }
}

#[test]
fn r59_a_terminal_that_is_gone_ends_the_program() {
    let mut program = tour();
    program.types("hello");
    program.lose_terminal();
    program.wait_for_exit_within(SOON);
}

#[test]
fn r60_suspended_it_gives_the_terminal_back_and_takes_it_again() {
    let mut program = tour();
    program.keys("\x1a");
    program.until_suspended();
    program.signal(Signal::CONT);
    program.until("Connected to the tour");
    assert!(!program.is_restored());
    program.keys("\x04");
    assert_eq!(program.wait_for_exit(), 0);
}

#[test]
fn r34_it_holds_at_every_size() {
    let mut program = tour();
    program.types("漢字 hello");
    for (columns, rows) in [(1, 1), (2, 1), (1, 40), (10, 3), (300, 2), (60, 15), (500, 200), (3, 3), (80, 24)] {
        program.resize(columns, rows);
        program.wait_ms(40);
    }
    program.until("漢字 hello");
    program.keys("\x03");
    program.until("again to quit");
    program.keys("\x03");
    assert_eq!(program.wait_for_exit(), 0);
}

#[test]
fn r34_it_begins_in_a_terminal_of_one_cell() {
    let mut program = Setup::new(&[]).size(1, 1).start();
    program.until_that("it has begun", |program| !program.is_restored());
    program.resize(80, 24);
    program.until("Connected to the tour");
}

#[test]
fn what_is_unsent_is_there_the_next_time() {
    let mut program = tour();
    program.types("half a thought");
    program.until("half a thought");
    let place = program.place.clone();
    program.signal(Signal::TERM);
    program.wait_for_exit();
    let mut program = Setup::again(&place, &[]).start();
    program.until("half a thought");
}

/// The program whose terminal has been asked for its colours and has not answered.
fn asked_for_colours() -> Program {
    let program = Setup::new(&[]).start();
    while !program.bytes().windows(3).any(|window| window == b"\x1b[c") {
        std::thread::sleep(Duration::from_millis(1));
    }
    program
}

#[test]
fn r03_what_is_typed_before_the_first_picture_is_kept_and_sends_nothing() {
    let begins: [fn() -> Program; 3] =
        [|| Setup::new(&[]).start(), || Setup::new(&[]).env("NO_COLOR", "1").start(), asked_for_colours];
    for begin in begins {
        // On a machine that is busy the picture may stand before this writes, and then it was a paste.
        try_three_times("what was typed before the picture", || {
            let mut program = begin();
            program.send_bytes("\rhello early\rand more");
            // Until the program has the terminal, the terminal itself shows what is typed.
            let screen = program.until_all(&["Connected to the tour", "  and more"]);
            if !screen.contains("❯ hello early") || !screen.contains("enter to send") {
                return Err(screen);
            }
            program.keys("!");
            program.until("  and more!");
            Ok(())
        });
    }
}

#[test]
fn an_answer_of_the_terminal_between_letters_is_none_of_them() {
    let mut program = asked_for_colours();
    program.send_bytes("hel\x1b]10;rgb:0000/0000/0000\x1b\\\x1b]11;rgb:ffff/ffff/ffff\x1b\\lo");
    program.until("❯ hello");
    program.keys("\x1bt");
    program.until("light now");
}

#[test]
fn wrong_settings_and_themes_are_told_and_the_rest_is_used() {
    let setup = Setup::new(&[]).size(120, 30);
    let config = setup.place.path().join("home/aye/config");
    std::fs::create_dir_all(config.join("themes")).unwrap();
    std::fs::write(config.join("config.toml"), "[screen]\nmouse = \"maybe\"\ntheme = \"mine\"\n").unwrap();
    std::fs::write(config.join("themes/mine.toml"), "inherits = \"dark\"\ntext = \"no colour\"\n").unwrap();
    let mut program = setup.start();
    let screen = program.until("config.toml:2");
    assert!(screen.contains("true or false"), "{screen}");
    program.until("mine.toml:2");
}

/// What others could look into, of all that is in these folders.
fn open_to_others(mut folders: Vec<PathBuf>) -> (usize, Vec<String>) {
    use std::os::unix::fs::PermissionsExt;
    let (mut files, mut open) = (0, Vec::new());
    while let Some(folder) = folders.pop() {
        let mode = std::fs::metadata(&folder).unwrap().permissions().mode() & 0o777;
        open.extend((mode != 0o700).then(|| format!("{} is {mode:o}", folder.display())));
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            let mode = path.symlink_metadata().unwrap().permissions().mode() & 0o777;
            if path.is_dir() {
                // The tour's own project is a project like any other.
                folders.extend(Some(path).filter(|path| !path.ends_with("tour")));
            } else {
                files += 1;
                open.extend((mode != 0o600).then(|| format!("{} is {mode:o}", path.display())));
            }
        }
    }
    (files, open)
}

#[test]
fn r56_what_is_kept_and_exported_is_the_persons_alone_whatever_the_umask_and_however_it_ends() {
    for umask in ["000", "077"].into_iter().take(pick_count(2, 1)) {
        let mut program = Setup::new(&[]).umask(umask).start();
        let place = program.place.clone();
        program.until("Connected to the tour");
        program.types("hello");
        program.keys("\r");
        program.until("There are three ways to fix it");
        program.types("a draft");
        program.until("a draft");
        program.signal(Signal::TERM);
        program.wait_for_exit();
        let again = |arguments: &[&str]| Setup::again(&place, arguments).umask(umask);
        let mut program = again(&["--continue"]).start();
        program.until("There are three ways to fix it");
        program.signal(Signal::KILL);
        program.wait_for_exit();
        assert_eq!(again(&[]).env("AYE_PANIC", "main").start().wait_for_exit(), 101);
        assert_eq!(again(&["-p", "--tour", "--debug-content", "hi"]).print("").2, 3);
        for (format, force) in [("markdown", false), ("html", false), ("html", true), ("json", false)] {
            let ask = ["sessions", "export", "--tour", "--format", format, "--output", format, "--force"];
            let (_, err, code) = again(&ask[..ask.len() - usize::from(!force)]).print("");
            assert_eq!(code, 0, "{err}");
        }
        let home = place.path().join("home/aye");
        let (files, open) = open_to_others(vec![home.clone()]);
        assert!(files > 5 && open.is_empty(), "umask {umask}: {open:?} of {files}");
        for kind in ["sessions", "drafts", "history", "journal"] {
            let folder = home.join("data").join(kind);
            assert!(std::fs::read_dir(&folder).unwrap().count() > 0, "{kind} was there to be looked at");
        }
        let (exports, open) = open_to_others(vec![place.path().join("project")]);
        let open: Vec<_> = open.iter().filter(|open| !open.contains("project is ")).collect();
        assert!(exports == 3 && open.is_empty(), "umask {umask}: {open:?} of {exports}");
        assert_eq!(std::fs::read_dir(place.path().join("tmp")).unwrap().count(), 0, "nothing is left there");
    }
}

#[test]
fn r59_a_terminal_that_takes_no_more_bytes_holds_up_no_end() {
    let mut program = Setup::new(&[]).size(200, 60).start();
    program.until("Connected to the tour");
    program.stop_reading();
    for _ in 0..40 {
        program.keys("\x0c");
    }
    program.signal(Signal::TERM);
    assert_eq!(program.wait_for_exit_within(SOON), 143);
}
