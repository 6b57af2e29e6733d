//! The sandbox of live commands in the real program: what the approval prompt shows of it, and what the user and the
//! model see.

use crate::sandbox_escapes::has_sandbox;
use crate::support::program::{Program, Setup};
use crate::support::scene::Scene;
use crate::support::scripted::{self, calls};
use crate::support::service::{Answer, Service};
use crate::support::terminal_session::{
    calls_answer_after, command_answer, start_session, submit_message, text_answer,
};
use aye::agent::WaitingCall;
use aye::chat::Decision;
use serde_json::{Value, json};
use std::time::Duration;

/// Wide enough for the line about the sandbox to fit on one row.
const WIDE: (u16, u16) = (180, 40);

/// Returns what the prompt shows about the sandbox: `with_sandbox`, or that this machine has none.
fn sandbox_line(with_sandbox: &'static str) -> &'static str {
    if has_sandbox() { with_sandbox } else { "no sandbox here: this kernel" }
}

/// Returns the result of the last call that the model received.
fn last_result(service: &Service) -> String {
    let requests = service.received();
    let messages = requests.last().unwrap().body["messages"].as_array().unwrap().clone();
    let is_result = |message: &&Value| message["role"] == "tool";
    messages.iter().rev().find(is_result).unwrap()["content"].as_str().unwrap().to_owned()
}

/// Lets the model run a command that the user approves once the prompt shows this. Returns the result and the program.
fn approve_call(call: Answer, prompt: &str) -> (String, Program) {
    let (_runtime, service, mut program) = start_session(vec![call, text_answer("So it is.")], WIDE, &[]);
    submit_message(&mut program, "go");
    program.until_prompt(prompt);
    program.press_keys("y");
    program.until_idle("So it is.");
    (last_result(&service), program)
}

fn network_call(command: &str, network: &str) -> Answer {
    calls_answer_after(Duration::ZERO, &[("bash_exec", json!({ "command": command, "network": network }))])
}

#[test]
fn r21_prompt_shows_the_sandbox_and_a_refused_write_is_explained() {
    let (result, program) =
        approve_call(command_answer("echo in > in; echo out > ../out"), sandbox_line("network off · may write here"));
    assert_eq!(program.file("in").as_deref(), Some("in\n"));
    if has_sandbox() {
        assert!(result.contains("Permission denied") && result.contains("exit 1"), "{result}");
        assert!(result.contains("This may be caused by the sandbox") && result.contains("shell.write"), "{result}");
        assert!(!program.root.path().join("out").exists());
    }
}

#[test]
fn r21_command_has_network_access_only_if_the_prompt_says_so() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let listener = port.try_clone().unwrap();
    // Every connection is closed at once.
    std::thread::spawn(move || listener.incoming().for_each(drop));
    let reach = format!("cat < /dev/tcp/127.0.0.1/{} && echo reached", port.local_addr().unwrap().port());
    let (without, _) = approve_call(command_answer(&reach), sandbox_line("network off"));
    if has_sandbox() {
        assert!(without.contains("request it with “network”") && !without.contains("reached"), "{without}");
    }
    let (with, _) = approve_call(network_call(&reach, "to reach the test"), "(“to reach the test”)");
    assert!(with.contains("reached") && with.contains("exit 0"), "{with}");
}

#[tokio::test]
async fn r11_grant_without_network_does_not_cover_the_command_with_it() {
    let plain = || calls("bash_exec", json!({ "command": "sleep 0" }));
    let networked = || calls("bash_exec", json!({ "command": "sleep 0", "network": "for nothing" }));
    let mut scene = Scene::new([plain(), plain(), networked(), networked(), plain(), scripted::says("Done.")]);
    let grant_decision = |scene: &Scene| {
        let Some(WaitingCall::Approval { plan, .. }) = scene.state.waiting_call() else { panic!("nothing waits") };
        Decision::Always(plan.grant.clone().expect("a command offers a grant"))
    };
    scene.say("go").await;
    let decision = grant_decision(&scene);
    scene.decide(decision).await;
    assert_eq!(scene.outcomes().len(), 2, "the grant of the first call covers the second only");
    let decision = grant_decision(&scene);
    scene.decide(decision).await;
    assert_eq!(scene.outcomes().len(), 5, "each grant covers its own kind");
}

#[test]
fn reason_for_network_access_cannot_forge_the_prompt() {
    let forged = "x\nreason: you want it";
    let answers = vec![network_call("true", forged), text_answer("Oh.")];
    let (_runtime, service, mut program) = start_session(answers, WIDE, &[]);
    submit_message(&mut program, "go");
    program.until_idle("Oh.");
    assert!(last_result(&service).contains("on one line"), "{}", last_result(&service));
}

#[test]
fn r26_command_changes_neither_own_settings_nor_the_terminal() {
    let command = "echo x >> $AYE_HOME/config/config.toml; mkdir -p $AYE_HOME/data/x; \
        for t in /dev/pts/[0-9]* /dev/tty; do (echo FORGED-BY-IT > $t); done 2> /dev/null; echo ended";
    let (result, mut program) = approve_call(command_answer(command), sandbox_line("network off"));
    assert!(result.contains("ended"), "{result}");
    if has_sandbox() {
        let home = program.root.path().join("home/aye");
        assert!(!home.join("config/config.toml").exists() && !home.join("data/x").exists());
        // The screen also shows the command line, which contains this text, but not at the start of a row.
        let screen = program.screen();
        assert!(!screen.lines().any(|line| line.trim_start().starts_with("FORGED-BY-IT")), "{screen}");
    }
}

/// Starts the program with these `[shell]` settings, in which `@` stands for the folder that contains the project, and
/// a provider with these answers.
fn with_settings(settings: &str, answers: Vec<Answer>) -> (tokio::runtime::Runtime, Service, Program) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let service = runtime.block_on(Service::start(answers));
    let setup = Setup::new(&["--base-url", &service.base_url, "--model", "m"]).size(WIDE.0, WIDE.1);
    let config = setup.root.path().join("home/aye/config");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::create_dir(setup.root.path().join("cache")).unwrap();
    let settings = settings.replace('@', setup.root.path().to_str().unwrap());
    std::fs::write(config.join("config.toml"), format!("[shell]\n{settings}\n")).unwrap();
    let mut program = setup.start();
    program.until("Messages go to");
    (runtime, service, program)
}

#[test]
fn settings_open_a_folder_and_disable_the_network() {
    let answers = vec![
        network_call("true", "to look"),
        command_answer("echo x > ../cache/x; cat ../cache/x"),
        text_answer("Done."),
    ];
    let (_runtime, service, mut program) = with_settings("network = \"off\"\nwrite = [\"@/cache\"]", answers);
    submit_message(&mut program, "go");
    program.until_prompt(sandbox_line("/cache"));
    assert!(last_result(&service).contains("shell.network is \"off\""), "{}", last_result(&service));
    program.press_keys("y");
    program.until_idle("Done.");
    assert!(last_result(&service).contains("x\nexit 0"), "{}", last_result(&service));
}

#[test]
fn prompt_shows_a_disabled_sandbox() {
    let answers = vec![command_answer("echo x > ../out"), text_answer("Done.")];
    let (_runtime, _service, mut program) = with_settings("sandbox = false", answers);
    submit_message(&mut program, "go");
    program.until_prompt("no sandbox here: shell.sandbox is false in the settings");
    program.press_keys("y");
    program.until_idle("Done.");
    assert!(program.root.path().join("out").exists());
}
