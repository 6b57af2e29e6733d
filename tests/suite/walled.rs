//! What the card says of the sandbox, and what a person and a model see of it, in the real program.

use crate::sandbox_escapes::is_there;
use crate::support::program::{Program, Setup};
use crate::support::scene::Scene;
use crate::support::service::{Answer, Service};
use crate::support::terminal_session::{calls_after, runs, say, says, start_session};
use aye::agent::WaitingCall;
use aye::chat::Decision;
use aye::llm::scripted::{self, calls};
use serde_json::{Value, json};
use std::time::Duration;

/// Wide enough for the line about the sandbox to stand on one row.
const WIDE: (u16, u16) = (180, 40);

/// What the card says of a command's walls on this machine.
fn words(walled: &'static str) -> &'static str {
    if is_there() { walled } else { "no sandbox here: this kernel" }
}

/// What the model was told of its last call.
fn told(service: &Service) -> String {
    let requests = service.received();
    let messages = requests.last().unwrap().body["messages"].as_array().unwrap().clone();
    let of_tool = |message: &&Value| message["role"] == "tool";
    messages.iter().rev().find(of_tool).unwrap()["content"].as_str().unwrap().to_owned()
}

/// Lets the model run a command, and the person say yes to it once the card says this.
fn yes_to(call: Answer, card: &str) -> (String, Program) {
    let (_runtime, service, mut program) = start_session(vec![call, says("So it is.")], WIDE, &[]);
    say(&mut program, "go");
    program.until_asked(card);
    program.keys("y");
    program.until_quiet("So it is.");
    (told(&service), program)
}

fn asks(command: &str, network: &str) -> Answer {
    calls_after(Duration::ZERO, &[("bash_exec", json!({ "command": command, "network": network }))])
}

#[test]
fn r21_the_card_says_what_holds_a_command_back_and_a_refusal_is_explained() {
    let (told, program) = yes_to(runs("echo in > in; echo out > ../out"), words("network off · may write here"));
    assert_eq!(program.file("in").as_deref(), Some("in\n"));
    if is_there() {
        assert!(told.contains("Permission denied") && told.contains("exit 1"), "{told}");
        assert!(told.contains("This may be caused by the sandbox") && told.contains("shell.write"), "{told}");
        assert!(!program.place.path().join("out").exists());
    }
}

#[test]
fn r21_a_command_gets_the_network_where_its_card_says_so() {
    let port = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let greets = port.try_clone().unwrap();
    // Whoever connects is let go at once.
    std::thread::spawn(move || greets.incoming().for_each(drop));
    let reach = format!("cat < /dev/tcp/127.0.0.1/{} && echo reached", port.local_addr().unwrap().port());
    let (without, _) = yes_to(runs(&reach), words("network off"));
    if is_there() {
        assert!(without.contains("request it with “network”") && !without.contains("reached"), "{without}");
    }
    let (with, _) = yes_to(asks(&reach, "to reach the test"), "(“to reach the test”)");
    assert!(with.contains("reached") && with.contains("exit 0"), "{with}");
}

#[tokio::test]
async fn r11_an_always_without_the_network_does_not_cover_the_same_with_it() {
    let plain = || calls("bash_exec", json!({ "command": "sleep 0" }));
    let asking = || calls("bash_exec", json!({ "command": "sleep 0", "network": "for nothing" }));
    let mut scene = Scene::new([plain(), plain(), asking(), asking(), plain(), scripted::says("Done.")]);
    let always = |scene: &Scene| {
        let Some(WaitingCall::Approval { plan, .. }) = scene.state.waiting_call() else { panic!("nothing waits") };
        Decision::Always(plan.grant.clone().expect("a command offers a grant"))
    };
    scene.say("go").await;
    let decision = always(&scene);
    scene.decide(decision).await;
    assert_eq!(scene.outcomes().len(), 2, "the second ran on the first's always, the third waits");
    let decision = always(&scene);
    scene.decide(decision).await;
    assert_eq!(scene.outcomes().len(), 5, "each is covered by its own");
}

#[test]
fn what_the_network_is_wanted_for_cannot_forge_the_card() {
    let forged = "x\nreason: you want it";
    let answers = vec![asks("true", forged), says("Oh.")];
    let (_runtime, service, mut program) = start_session(answers, WIDE, &[]);
    say(&mut program, "go");
    program.until_quiet("Oh.");
    assert!(told(&service).contains("on one line"), "{}", told(&service));
}

#[test]
fn r26_a_command_changes_neither_ayes_settings_nor_the_persons_terminal() {
    let command = "echo x >> $AYE_HOME/config/config.toml; mkdir -p $AYE_HOME/data/x; \
        for t in /dev/pts/[0-9]* /dev/tty; do (echo FORGED-BY-IT > $t); done 2> /dev/null; echo ended";
    let (told, mut program) = yes_to(runs(command), words("network off"));
    assert!(told.contains("ended"), "{told}");
    if is_there() {
        let home = program.place.path().join("home/aye");
        assert!(!home.join("config/config.toml").exists() && !home.join("data/x").exists());
        // The card and the call show the command itself, each with a letter before.
        let screen = program.screen();
        assert!(!screen.lines().any(|line| line.trim_start().starts_with("FORGED-BY-IT")), "{screen}");
    }
}

/// The program with these settings of commands and a service with these answers.
fn with_settings(settings: &str, answers: Vec<Answer>) -> (tokio::runtime::Runtime, Service, Program) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let service = runtime.block_on(Service::start(answers));
    let setup = Setup::new(&["--base-url", &service.base_url, "--model", "m"]).size(WIDE.0, WIDE.1);
    let config = setup.place.path().join("home/aye/config");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::create_dir(setup.place.path().join("cache")).unwrap();
    let settings = settings.replace('@', setup.place.path().to_str().unwrap());
    std::fs::write(config.join("config.toml"), format!("[shell]\n{settings}\n")).unwrap();
    let mut program = setup.start();
    program.until("Connected to");
    (runtime, service, program)
}

#[test]
fn the_settings_open_a_place_and_close_the_network() {
    let answers = vec![asks("true", "to look"), runs("echo x > ../cache/x; cat ../cache/x"), says("Done.")];
    let (_runtime, service, mut program) = with_settings("network = \"off\"\nwrite = [\"@/cache\"]", answers);
    say(&mut program, "go");
    program.until_asked(words("/cache"));
    assert!(told(&service).contains("shell.network is \"off\""), "{}", told(&service));
    program.keys("y");
    program.until_quiet("Done.");
    assert!(told(&service).contains("x\nexit 0"), "{}", told(&service));
}

#[test]
fn without_a_sandbox_the_card_says_so() {
    let answers = vec![runs("echo x > ../out"), says("Done.")];
    let (_runtime, _service, mut program) = with_settings("sandbox = false", answers);
    say(&mut program, "go");
    program.until_asked("no sandbox here: shell.sandbox is false in the settings");
    program.keys("y");
    program.until_quiet("Done.");
    assert!(program.place.path().join("out").exists());
}
