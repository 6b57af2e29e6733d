//! A user whose model has a browser, and the prompts of its calls.

use super::folder::Folder;
use super::program::Program;
use super::report_skipped;
use super::service::Answer;
use super::terminal_session::submit_message;
use super::tool_service::{add_settings, call, outcomes};
use super::user::User;
use super::web_server::WebServer;
use aye::browser::executable::{CHROMIUM_NAMES, FIREFOX_NAMES, find_program};
use aye::chat::Outcome;
use serde_json::json;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Condvar, Mutex, OnceLock, PoisonError};

/// Allows to open pages of this machine, but for the question after a page was read.
pub const OPEN_RULE: &str = "[[rule]]\nverdict = \"allow\"\ntool = \"browser_navigate\"\nhost = \"127.0.0.1\"\n";
/// Allows to act on them too.
pub const ACT_RULE: &str = "[[rule]]\nverdict = \"allow\"\ntool = \"browser_act\"\nhost = \"127.0.0.1\"\n";

/// Makes tests of functions that have the path of a browser: one for each browser, left out if it is not installed.
#[macro_export]
macro_rules! for_each_browser {
    ($($name:ident),+ $(,)?) => {
        mod chromium {
            $(#[test] fn $name() { $crate::support::browser::installed_browser().iter().for_each(|browser| $crate::support::browser::run_in_turn(|| super::$name(browser))); })+
        }
        mod firefox {
            $(#[test] fn $name() { $crate::support::browser::installed_firefox().iter().for_each(|browser| $crate::support::browser::run_in_turn(|| super::$name(browser))); })+
        }
    };
}

/// Number of tests that run browsers at a time. Ten browsers that start at once on a slow machine exceed the time that the
/// program waits for one.
const MAX_BROWSERS: usize = 3;

/// Runs a test with a browser once fewer than [`MAX_BROWSERS`] others run.
pub fn run_in_turn(test: impl FnOnce()) {
    static RUNNING: Mutex<usize> = Mutex::new(0);
    static ENDED: Condvar = Condvar::new();
    struct Turn;
    impl Drop for Turn {
        fn drop(&mut self) {
            *RUNNING.lock().unwrap_or_else(PoisonError::into_inner) -= 1;
            ENDED.notify_one();
        }
    }
    let running = RUNNING.lock().unwrap_or_else(PoisonError::into_inner);
    let mut running =
        ENDED.wait_while(running, |running| *running >= MAX_BROWSERS).unwrap_or_else(PoisonError::into_inner);
    *running += 1;
    drop(running);
    let _turn = Turn;
    test();
}

/// Returns an installed Chromium; reports that the test is left out if there is none.
pub fn installed_browser() -> Option<PathBuf> {
    let Some(found) = find_installed(&CHROMIUM_NAMES) else {
        report_skipped("no Chromium is installed");
        return None;
    };
    // An ordinary user may have no namespaces, which its own sandbox needs.
    static STARTS: OnceLock<bool> = OnceLock::new();
    let starts = *STARTS.get_or_init(|| load_page(&found, "about:blank").is_ok_and(|output| output.status.success()));
    if !starts {
        report_skipped("Chromium does not start");
    }
    starts.then_some(found)
}

/// Returns an installed Firefox that can have a network of its own; reports that the test is left out if there is none.
pub fn installed_firefox() -> Option<PathBuf> {
    let Some(found) = find_installed(&FIREFOX_NAMES) else {
        report_skipped("no Firefox is installed");
        return None;
    };
    #[cfg(target_os = "linux")]
    match aye::browser::firefox::launcher::test_network(Path::new(env!("CARGO_BIN_EXE_aye"))) {
        Ok(()) => return Some(found),
        Err(reason) => report_skipped(&reason),
    }
    None
}

fn find_installed(names: &[&str]) -> Option<PathBuf> {
    let search_path = std::env::var_os("PATH")?;
    names.iter().find_map(|name| find_program(name, &search_path))
}

/// Returns the elements of a page when its scripts had a minute, which passes at once while they wait.
pub fn run_page(browser: &Path, address: &str) -> String {
    String::from_utf8(load_page_with(browser, address, &["--virtual-time-budget=60000"]).unwrap().stdout).unwrap()
}

fn load_page(browser: &Path, address: &str) -> io::Result<Output> {
    load_page_with(browser, address, &[])
}

/// Loads a page in a browser without a profile; its output is the elements of the page.
fn load_page_with(browser: &Path, address: &str, options: &[&str]) -> io::Result<Output> {
    let profile = Folder::new();
    let mut command = Command::new(browser);
    command.args(options);
    command.args(["--headless=new", "--dump-dom", address, "--disable-gpu"]).env("HOME", profile.path());
    // A page does not play by itself then, so what it shows does not depend on the speed of the machine.
    command.arg("--force-prefers-reduced-motion");
    command.arg(format!("--user-data-dir={}", profile.path().display()));
    command.args(rustix::process::geteuid().is_root().then_some("--no-sandbox"));
    command.output()
}

/// Returns the elements of a page, once it is loaded.
pub fn dump_page(browser: &Path, address: &str) -> String {
    String::from_utf8(load_page(browser, address).unwrap().stdout).unwrap()
}

pub fn open(url: &str) -> Answer {
    call("browser_navigate", json!({ "url": url }))
}

/// A user with this browser, who allows the server in a private network.
pub fn user_with(answers: Vec<Answer>, server: &WebServer, browser: &Path) -> User {
    let user = User::new(answers);
    let (port, browser) = (server.port, browser.display());
    add_settings(&user, &format!("[web]\nprivate_hosts = [\"127.0.0.1:{port}\"]\nbrowser_path = \"{browser}\"\n"));
    user
}

pub fn start(user: &User, arguments: &[&str]) -> Program {
    let mut program = user.start(arguments);
    program.until("Messages go to");
    submit_message(&mut program, "go");
    program
}

/// Approves the open prompt.
pub fn approve(program: &mut Program, title: &str, part: &str) -> String {
    let screen = program.until_prompt(part);
    assert!(screen.contains(title), "{screen}");
    program.press_keys("y");
    screen
}

/// Waits until a number of calls is settled.
pub fn until_settled(user: &User, program: &mut Program, count: usize) -> Vec<Outcome> {
    program.until_condition("the outcomes are saved", |_| outcomes(user).len() >= count);
    outcomes(user)
}
