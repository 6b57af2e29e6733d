//! The real program in a terminal: how it starts and exits, and what it leaves behind.

use crate::support::pick_count;
use crate::support::processes::read_process_files;
use crate::support::program::{Program, Setup};
use crate::support::stored_files::is_closed_folder;
use crate::support::time_limits::try_three_times;
use rustix::process::Signal;
use std::path::PathBuf;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(2);

fn start_tour() -> Program {
    let mut program = Setup::new(&[]).start();
    program.until("Connected to the tour");
    program
}

#[test]
fn tour_opens_without_configuration_and_ctrl_d_exits() {
    let mut program = start_tour();
    program.until("? help");
    program.press_keys("\x04");
    assert_eq!(program.wait_for_exit(), 0);
    assert!(program.is_restored());
    assert!(!program.screen().contains("--resume"), "an empty session cannot be resumed");
}

#[test]
fn exit_prints_how_to_resume() {
    let mut program = start_tour();
    program.type_text("hello");
    program.press_keys("\r");
    program.until("This is the tour");
    program.press_keys("\x03");
    program.press_keys("\x03");
    assert_eq!(program.wait_for_exit(), 0);
    let screen = program.screen();
    assert!(screen.contains("hello") && screen.contains("aye --resume 01"), "{screen}");
}

#[test]
fn r58_terminal_is_restored_after_every_signal() {
    for (signal, code) in [(Signal::TERM, 143), (Signal::HUP, 129), (Signal::INT, 130), (Signal::QUIT, 131)] {
        let mut program = start_tour();
        program.signal(signal);
        assert_eq!(program.wait_for_exit(), code, "{signal:?}");
        assert!(program.is_restored(), "{signal:?}");
    }
}

#[test]
fn r58_terminal_is_restored_after_a_panic_in_any_thread() {
    for thread in ["main", "other"] {
        let mut program = Setup::new(&[]).env("AYE_PANIC", thread).start();
        assert_eq!(program.wait_for_exit(), 101, "{thread}");
        assert!(program.is_restored(), "{thread}");
        assert!(program.screen().contains("on purpose"), "{}", program.screen());
    }
}

#[test]
fn r59_exits_when_terminal_disconnects() {
    let mut program = start_tour();
    program.type_text("hello");
    program.lose_terminal();
    program.wait_for_exit_within(SOON);
}

#[test]
fn r60_suspending_restores_the_terminal_until_it_continues() {
    let mut program = start_tour();
    program.press_keys("\x1a");
    program.until_suspended();
    program.signal(Signal::CONT);
    program.until("Connected to the tour");
    assert!(!program.is_restored());
    program.press_keys("\x04");
    assert_eq!(program.wait_for_exit(), 0);
}

/// The test of the sandbox runs when the program starts.
#[test]
fn r60_suspending_at_any_time_leaves_no_process_behind() {
    for number in 0..pick_count(20, 3) {
        let mut program = Setup::new(&[]).start();
        let root = program.root.path().to_string_lossy().into_owned();
        program.until_condition("the program has taken the terminal", |program| !program.is_restored());
        program.wait_ms(number as u64 % 10 * 3);
        program.send_bytes("\x1a");
        program.until_suspended();
        program.signal(Signal::CONT);
        program.until("Connected to the tour");
        program.press_keys("\x04");
        assert_eq!(program.wait_for_exit(), 0);
        program.until_condition("the end of all processes", |_| {
            let lines = read_process_files("cmdline");
            !lines.iter().any(|(_, line)| String::from_utf8_lossy(line).contains(&root))
        });
    }
}

#[test]
fn r34_works_at_every_size() {
    let mut program = start_tour();
    program.type_text("漢字 hello");
    for (columns, rows) in [(1, 1), (2, 1), (1, 40), (10, 3), (300, 2), (60, 15), (500, 200), (3, 3), (80, 24)] {
        program.resize(columns, rows);
        program.wait_ms(40);
    }
    program.until("漢字 hello");
    program.press_keys("\x03");
    program.until("again to quit");
    program.press_keys("\x03");
    assert_eq!(program.wait_for_exit(), 0);
}

#[test]
fn r34_starts_in_a_terminal_of_one_cell() {
    let mut program = Setup::new(&[]).size(1, 1).start();
    program.until_condition("the program has taken the terminal", |program| !program.is_restored());
    program.resize(80, 24);
    program.until("Connected to the tour");
}

#[test]
fn draft_is_restored_at_the_next_start() {
    let mut program = start_tour();
    program.type_text("half a thought");
    program.until("half a thought");
    let root = program.root.clone();
    program.signal(Signal::TERM);
    program.wait_for_exit();
    let mut program = Setup::with_home(&root, &[]).start();
    program.until("half a thought");
}

/// Starts the program, whose terminal has been asked for its colours and has not answered.
fn start_until_colours_are_queried() -> Program {
    let program = Setup::new(&[]).start();
    while !program.bytes().windows(3).any(|window| window == b"\x1b[c") {
        std::thread::sleep(Duration::from_millis(1));
    }
    program
}

#[test]
fn r03_keys_typed_before_the_first_frame_are_kept_and_send_nothing() {
    let starts: [fn() -> Program; 3] =
        [|| Setup::new(&[]).start(), || Setup::new(&[]).env("NO_COLOR", "1").start(), start_until_colours_are_queried];
    for start in starts {
        // On a busy machine the first frame may be drawn before these keys are written, which then count as pasted.
        try_three_times("keys typed before the first frame", || {
            let mut program = start();
            program.send_bytes("\rhello early\rand more");
            // Until the program takes the terminal, the terminal itself echoes the keys.
            let screen = program.until_all(&["Connected to the tour", "  and more"]);
            if !screen.contains("❯ hello early") || !screen.contains("enter to send") {
                return Err(screen);
            }
            program.press_keys("!");
            program.until("  and more!");
            Ok(())
        });
    }
}

#[test]
fn terminal_report_between_keys_is_not_typed() {
    let mut program = start_until_colours_are_queried();
    program.send_bytes("hel\x1b]10;rgb:0000/0000/0000\x1b\\\x1b]11;rgb:ffff/ffff/ffff\x1b\\lo");
    program.until("❯ hello");
    program.press_keys("\x1bt");
    program.until("light now");
}

#[test]
fn invalid_settings_and_themes_are_reported_and_the_rest_applies() {
    let setup = Setup::new(&[]).size(120, 30);
    let config = setup.root.path().join("home/aye/config");
    std::fs::create_dir_all(config.join("themes")).unwrap();
    std::fs::write(config.join("config.toml"), "[screen]\nmouse = \"maybe\"\ntheme = \"mine\"\n").unwrap();
    std::fs::write(config.join("themes/mine.toml"), "inherits = \"dark\"\ntext = \"no colour\"\n").unwrap();
    let mut program = setup.start();
    let screen = program.until("config.toml:2");
    assert!(screen.contains("true or false"), "{screen}");
    program.until("mine.toml:2");
}

/// Returns the number of files in these folders, and every path that other users could access.
fn open_to_others(mut folders: Vec<PathBuf>) -> (usize, Vec<String>) {
    use std::os::unix::fs::PermissionsExt;
    let (mut files, mut open) = (0, Vec::new());
    while let Some(folder) = folders.pop() {
        // A process that was killed may leave a test of its sandbox, which is removed meanwhile.
        let Ok(metadata) = std::fs::metadata(&folder) else { continue };
        if is_closed_folder(&metadata) {
            continue;
        }
        let mode = metadata.permissions().mode() & 0o777;
        open.extend((mode != 0o700).then(|| format!("{} is {mode:o}", folder.display())));
        for entry in std::fs::read_dir(&folder).into_iter().flatten() {
            let path = entry.unwrap().path();
            let Ok(metadata) = path.symlink_metadata() else { continue };
            let mode = metadata.permissions().mode() & 0o777;
            if path.is_dir() {
                // The tour's project is not checked: its files have the usual modes, as in any project.
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
fn r56_stored_and_exported_files_are_private_with_any_umask_and_exit() {
    for umask in ["000", "077"].into_iter().take(pick_count(2, 1)) {
        let mut program = Setup::new(&[]).umask(umask).start();
        let root = program.root.clone();
        program.until("Connected to the tour");
        program.type_text("hello");
        program.press_keys("\r");
        program.until("There are three ways to fix it");
        program.type_text("a draft");
        program.until("a draft");
        program.signal(Signal::TERM);
        program.wait_for_exit();
        let setup_again = |arguments: &[&str]| Setup::with_home(&root, arguments).umask(umask);
        let mut program = setup_again(&["--tour", "--continue"]).start();
        program.until("There are three ways to fix it");
        program.signal(Signal::KILL);
        program.wait_for_exit();
        assert_eq!(setup_again(&[]).env("AYE_PANIC", "main").start().wait_for_exit(), 101);
        assert_eq!(setup_again(&["-p", "--tour", "--debug-content", "hi"]).run_piped("").2, 3);
        for (format, force) in [("markdown", false), ("html", false), ("html", true), ("json", false)] {
            let arguments = ["sessions", "export", "--tour", "--format", format, "--output", format, "--force"];
            let (_, err, code) = setup_again(&arguments[..arguments.len() - usize::from(!force)]).run_piped("");
            assert_eq!(code, 0, "{err}");
        }
        let home = root.path().join("home/aye");
        let (files, open) = open_to_others(vec![home.clone()]);
        assert!(files > 5 && open.is_empty(), "umask {umask}: {open:?} of {files}");
        for kind in ["sessions", "drafts", "history", "journal"] {
            let folder = home.join("data").join(kind);
            assert!(std::fs::read_dir(&folder).unwrap().count() > 0, "there are no files of {kind}");
        }
        let (exports, open) = open_to_others(vec![root.path().join("project")]);
        let open: Vec<_> = open.iter().filter(|open| !open.contains("project is ")).collect();
        assert!(exports == 3 && open.is_empty(), "umask {umask}: {open:?} of {exports}");
        assert_eq!(std::fs::read_dir(root.path().join("tmp")).unwrap().count(), 0, "temporary files are left");
    }
}

#[test]
fn r59_blocked_terminal_does_not_delay_exit() {
    let mut program = Setup::new(&[]).size(200, 60).start();
    program.until("Connected to the tour");
    program.stop_reading();
    for _ in 0..40 {
        program.press_keys("\x0c");
    }
    program.signal(Signal::TERM);
    assert_eq!(program.wait_for_exit_within(SOON), 143);
}
