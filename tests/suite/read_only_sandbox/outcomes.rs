//! What the user and the model see of the read-only sandbox, in the real program.

use crate::sandbox_escapes::has_sandbox;
use crate::support::program::{Program, Setup};
use crate::support::service::{Answer, Service};
use crate::support::stored_files::write_settings;
use crate::support::terminal_session::{command_answer, submit_message, text_answer};
use serde_json::Value;

struct Trial {
    _runtime: tokio::runtime::Runtime,
    service: Service,
    program: Program,
}

impl Trial {
    /// Starts the program with these settings and variables. Before that, calls `prepare` with the folder that contains
    /// the project.
    fn new(
        answers: Vec<Answer>,
        set: &str,
        environment: &[(&str, &str)],
        prepare: impl FnOnce(&std::path::Path),
    ) -> Self {
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let service = runtime.block_on(Service::start(answers));
        let mut setup = Setup::new(&["--base-url", &service.base_url, "--model", "m"]).size(150, 40);
        for (name, value) in environment {
            setup = setup.env(name, value);
        }
        write_settings(&setup, set);
        prepare(setup.root.path());
        let mut program = setup.start();
        program.until("Messages go to");
        Self { _runtime: runtime, service, program }
    }

    /// Returns the result of the last call that the model received.
    fn last_result(&self) -> String {
        let requests = self.service.received();
        let messages = requests.last().unwrap().body["messages"].as_array().unwrap().clone();
        let is_result = |message: &&Value| message["role"] == "tool";
        messages.iter().rev().find(is_result).unwrap()["content"].as_str().unwrap().to_owned()
    }
}

#[test]
fn outcome_names_withheld_files_and_the_command_asks_next_time() {
    if !has_sandbox() {
        return;
    }
    // The policy judges the name in the command; the list of sensitive files also contains the targets of links.
    let answers = vec![command_answer("cat notes"), command_answer("cat notes"), text_answer("So it is.")];
    let mut trial = Trial::new(answers, "", &[], |place| {
        std::fs::write(place.join("project/notes"), "elsewhere-4711").unwrap();
        std::os::unix::fs::symlink("notes", place.join("project/.env")).unwrap();
    });
    submit_message(&mut trial.program, "go");
    trial.program.until_prompt("needs more than the read-only sandbox");
    let result = trial.last_result();
    assert!(!result.contains("elsewhere-4711"), "{result}");
    assert!(
        result.contains("Withheld by the read-only sandbox: notes (may hold secrets or configure other programs)."),
        "{result}"
    );
    trial.program.press_keys("y");
    trial.program.until_idle("So it is.");
    assert!(trial.last_result().contains("elsewhere-4711"), "{}", trial.last_result());
}

#[test]
fn variables_of_the_user_do_not_affect_commands_without_approval() {
    let hostile_variables = [
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
    let answers = vec![command_answer(line), text_answer("So it is.")];
    let mut trial = Trial::new(answers, "", &hostile_variables, |place| {
        std::fs::write(place.join("project/mine"), "real\n").unwrap();
        std::fs::write(place.join("project/hijack"), "echo hijacked\n").unwrap();
    });
    submit_message(&mut trial.program, "go");
    trial.program.until_idle("So it is.");
    let requests = trial.service.received();
    let all = requests.last().unwrap().body.to_string();
    assert!(!all.contains("hijacked"), "{line}: {all}");
    assert!(all.contains("real\\n1\\nexit 0"), "an option after an operand is still an option: {all}");
}

#[test]
fn without_a_sandbox_only_exact_lines_run_and_screen_and_doctor_say_so() {
    let answers = vec![command_answer("ls"), command_answer("cat mine"), text_answer("So it is.")];
    let set = "[shell]\nsandbox = false\n";
    let mut trial = Trial::new(answers, set, &[], |place| {
        std::fs::write(place.join("project/mine"), "real\n").unwrap();
    });
    let screen = trial.program.screen().split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(screen.contains("No sandbox: shell.sandbox is false"), "{screen}");
    assert!(screen.contains("exact command lines run without approval; every other command asks"), "{screen}");
    submit_message(&mut trial.program, "go");
    trial.program.until_prompt("no sandbox can restrict it to reading");
    assert!(trial.last_result().starts_with("mine\nexit 0"), "ls ran: {}", trial.last_result());
    trial.program.press_keys("y");
    trial.program.until_idle("So it is.");
    assert!(trial.last_result().contains("real"), "{}", trial.last_result());

    let setup = Setup::new(&["doctor"]);
    write_settings(&setup, set);
    let (out, _, _) = setup.run_piped("");
    let flat = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("commands that run without approval: pwd · ls · "), "{flat}");
    if has_sandbox() {
        let (out, _, _) = Setup::new(&["doctor"]).run_piped("");
        let flat = out.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(flat.contains("read-only for commands without approval, tested"), "{flat}");
    }
}
