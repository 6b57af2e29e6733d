//! What the user and the model see of it, in the real program.

use crate::sandbox_escapes::is_there;
use crate::support::program::{Program, Setup};
use crate::support::service::{Answer, Service};
use crate::support::stored_files::write_settings;
use crate::support::terminal_session::{runs, say, says};
use serde_json::Value;

struct Talk {
    _runtime: tokio::runtime::Runtime,
    service: Service,
    program: Program,
}

impl Talk {
    /// The program with these settings and variables, after this was done in its project.
    fn new(answers: Vec<Answer>, set: &str, more: &[(&str, &str)], prepare: impl FnOnce(&std::path::Path)) -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let service = runtime.block_on(Service::start(answers));
        let mut setup = Setup::new(&["--base-url", &service.base_url, "--model", "m"]).size(150, 40);
        for (name, value) in more {
            setup = setup.env(name, value);
        }
        write_settings(&setup, set);
        prepare(setup.place.path());
        let mut program = setup.start();
        program.until("Connected to");
        Self { _runtime: runtime, service, program }
    }

    /// What the model was told of its last call.
    fn told(&self) -> String {
        let requests = self.service.received();
        let messages = requests.last().unwrap().body["messages"].as_array().unwrap().clone();
        let of_tool = |message: &&Value| message["role"] == "tool";
        messages.iter().rev().find(of_tool).unwrap()["content"].as_str().unwrap().to_owned()
    }
}

#[test]
fn the_outcome_names_what_was_withheld_and_the_same_command_asks_the_next_time() {
    if !is_there() {
        return;
    }
    // The policy judges the name that the command has; the list of sensitive files also has what their names lead to.
    let answers = vec![runs("cat notes"), runs("cat notes"), says("So it is.")];
    let mut talk = Talk::new(answers, "", &[], |place| {
        std::fs::write(place.join("project/notes"), "elsewhere-4711").unwrap();
        std::os::unix::fs::symlink("notes", place.join("project/.env")).unwrap();
    });
    say(&mut talk.program, "go");
    talk.program.until_asked("needs more than the read-only sandbox");
    let told = talk.told();
    assert!(!told.contains("elsewhere-4711"), "{told}");
    assert!(
        told.contains("Withheld by the read-only sandbox: notes (may hold secrets or configure other programs)."),
        "{told}"
    );
    talk.program.keys("y");
    talk.program.until_quiet("So it is.");
    assert!(talk.told().contains("elsewhere-4711"), "{}", talk.told());
}

#[test]
fn no_variable_of_the_users_changes_what_a_command_without_approval_does() {
    let spoilt = [
        ("BASH_FUNC_cat%%", "() { echo hijacked; }"),
        ("BASH_ENV", "/proc/self/cwd/hijack"),
        ("ENV", "/proc/self/cwd/hijack"),
        ("GREP_OPTIONS", "--hijacked"),
        ("POSIXLY_CORRECT", "1"),
        ("GIT_CONFIG_COUNT", "1"),
        ("GIT_CONFIG_KEY_0", "alias.version"),
        ("GIT_CONFIG_VALUE_0", "!echo hijacked"),
        ("PYTHONSTARTUP", "/hijacked"),
    ];
    let line = "cat mine; grep real mine -c";
    let answers = vec![runs(line), says("So it is.")];
    let mut talk = Talk::new(answers, "", &spoilt, |place| {
        std::fs::write(place.join("project/mine"), "real\n").unwrap();
        std::fs::write(place.join("project/hijack"), "echo hijacked\n").unwrap();
    });
    say(&mut talk.program, "go");
    talk.program.until_quiet("So it is.");
    let requests = talk.service.received();
    let all = requests.last().unwrap().body.to_string();
    assert!(!all.contains("hijacked"), "{line}: {all}");
    assert!(all.contains("real\\n1\\nexit 0"), "options after the operand count: {all}");
}

#[test]
fn without_a_sandbox_all_but_exact_lines_ask_and_the_first_screen_and_the_doctor_say_so() {
    let answers = vec![runs("ls"), runs("cat mine"), says("So it is.")];
    let set = "[shell]\nsandbox = false\n";
    let mut talk = Talk::new(answers, set, &[], |place| {
        std::fs::write(place.join("project/mine"), "real\n").unwrap();
    });
    let screen = talk.program.screen().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(screen.contains("No sandbox: shell.sandbox is false"), "{screen}");
    assert!(screen.contains("exact command lines run without approval; every other command asks"), "{screen}");
    say(&mut talk.program, "go");
    talk.program.until_asked("no sandbox can restrict it to reading");
    assert!(talk.told().starts_with("mine\nexit 0"), "ls ran: {}", talk.told());
    talk.program.keys("y");
    talk.program.until_quiet("So it is.");
    assert!(talk.told().contains("real"), "{}", talk.told());

    let setup = Setup::new(&["doctor"]);
    write_settings(&setup, set);
    let (out, _, _) = setup.print("");
    let words = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(words.contains("commands that run without approval: pwd · ls · "), "{words}");
    if is_there() {
        let (out, _, _) = Setup::new(&["doctor"]).print("");
        let words = out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("read-only for commands without approval, tested"), "{words}");
    }
}
