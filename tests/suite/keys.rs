//! Keys as people give them, right and wrong: from a variable, a command, a file or by hand.

use crate::support::kept;
use crate::support::program::{Program, Setup, asleep, nobody_elses_sleep, none_sleeps};
use crate::support::service::{Answer, Service};
use crate::support::talking::{say, says};
use tokio::runtime::Runtime;

const KEY: &str = "sk-printed-1234567890";

fn serves(answers: Vec<Answer>) -> (Runtime, Service) {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start(answers));
    (runtime, service)
}

/// Writes the settings of a profile in use.
fn profile(setup: Setup, service: &Service, lines: &str) -> Setup {
    let folder = setup.place.path().join("home/aye/config");
    std::fs::create_dir_all(&folder).unwrap();
    let text = format!(
        "[model]\nprofile = \"p\"\n[profiles.p]\nbase_url = \"{}\"\nmodel = \"m\"\n{lines}\n",
        service.base_url
    );
    std::fs::write(folder.join("config.toml"), text).unwrap();
    setup
}

/// Puts a program into the person's home.
fn program(setup: &Setup, name: &str, script: &str) {
    let file = setup.place.path().join("home").join(name);
    kept::script(&file, script);
}

fn sent(service: &Service) -> Vec<String> {
    let key =
        |request: &crate::support::service::Received| request.header("authorization").unwrap_or("none").to_owned();
    service.received().iter().map(key).collect()
}

#[test]
fn r57_a_key_that_cannot_be_sent_is_one_sentence_and_nothing_is_sent() {
    let (_runtime, service) = serves(vec![says("never")]);
    let says = |setup: Setup, said: &str, code: i32| {
        let (out, err, exit) = setup.print("");
        assert_eq!((out.as_str(), exit), ("", code), "{err}");
        assert!(err.contains(said) && !err.contains("cret"), "{said}: {err}");
        assert_eq!(err.lines().count(), 1, "{err}");
        assert!(service.received().is_empty(), "{said}");
    };
    let by_variable =
        |value: &str| profile(Setup::new(&["-p", "hi"]), &service, "key_env = \"MY_KEY\"").env("MY_KEY", value);
    let cannot = "MY_KEY: the key contains a line break or characters that cannot be sent";
    for key in ["se\ncret", "sé-cret", "se\u{7f}cret", "se\u{200b}cret"] {
        says(by_variable(key), cannot, 2);
    }
    let by_command = |script: &str| {
        let setup = profile(Setup::new(&["-p", "hi"]), &service, "key_command = \"~/give some 'thing else'\"");
        program(&setup, "give", script);
        setup
    };
    let about = "the key command ~/give ";
    for (script, said) in [
        ("exit 3", "failed (3)"),
        ("echo 'no such\x1b[31m entry' >&2; echo more >&2; echo secret; exit 1", "failed (1): no such[31m entry"),
        ("echo secret; echo cannot take secret >&2; exit 1", "failed (1): cannot take [key]"),
        ("true", "printed nothing on its first line"),
        ("echo; echo secret", "printed nothing on its first line"),
        ("printf 'sé-cret\\n'", "printed a key with characters that cannot be sent"),
        ("printf 'se\\rcret\\n'", "printed a key with characters that cannot be sent"),
        ("kill -9 $$", "was killed by a signal"),
    ] {
        says(by_command(script), &format!("{about}{said}"), 1);
    }
    let missing = profile(Setup::new(&["-p", "hi"]), &service, "key_command = [\"/none/such\"]");
    says(missing, "the key command /none/such failed (127): cannot start the program: No such file", 1);
    let damaged = profile(Setup::new(&["-p", "hi"]), &service, "");
    let keys = damaged.place.path().join("home/aye/config/credentials.toml");
    let origin = service.base_url.trim_end_matches("/v1");
    std::fs::write(&keys, format!("\"{origin}\" = \"se\\ncret\"\n")).unwrap();
    says(damaged, "the key you entered: the key contains a line break", 2);
}

#[test]
fn a_command_gives_the_key_without_a_terminal_and_from_home() {
    let (_runtime, service) = serves(vec![says("Fine.")]);
    let setup = profile(Setup::new(&[]), &service, "key_command = [\"~/give\", \"one two\", \"$HOME\"]");
    let sees = "{ pwd; echo \"$1|$2|$#\"; (: < /dev/tty) 2>/dev/null && echo tty || echo none; cat; } > ~/seen";
    program(&setup, "give", &format!("{sees}; echo \"  {KEY}  \"; echo second-line"));
    let mut program = setup.start();
    program.until("Connected to");
    say(&mut program, "hello");
    program.until("Fine.");
    program.keys("\x04");
    program.ends();
    assert_eq!(sent(&service), [format!("Bearer {KEY}")]);
    let home = program.place.path().join("home");
    let seen = std::fs::read_to_string(home.join("seen")).unwrap();
    assert_eq!(seen, format!("{}\none two|$HOME|2\nnone\n", home.canonicalize().unwrap().display()));
    assert_eq!(kept::holders(program.place.path(), KEY), [home.join("give")]);
}

#[test]
fn a_command_is_run_when_something_is_sent_and_again_where_the_key_is_refused() {
    let refused = Answer::body(401, "application/json", &[], r#"{"error":{"message":"expired"}}"#);
    let (_runtime, service) = serves(vec![says("One."), says("Two."), refused, says("Three.")]);
    let setup = profile(Setup::new(&[]), &service, "key_command = \"~/give\"");
    program(&setup, "give", "echo x >> ~/asked; echo \"key-number-$(wc -l < ~/asked | tr -d ' ')\"");
    let asked = setup.place.path().join("home/asked");
    let mut program = setup.start();
    program.until("from the command ~/give");
    program.lets_pass(100);
    assert!(!asked.exists(), "nothing was sent yet");
    for (words, reply) in [("first", "One."), ("second", "Two."), ("third", "Three.")] {
        say(&mut program, words);
        program.until(reply);
    }
    let key = |number: usize| format!("Bearer key-number-{number}");
    assert_eq!(sent(&service), [key(1), key(1), key(1), key(2)]);
    assert!(!String::from_utf8_lossy(&program.bytes()).contains("key-number"));
}

#[test]
fn a_command_that_hangs_is_ended_with_the_turn_and_with_the_program() {
    let (_runtime, service) = serves(vec![says("never")]);
    for quits in [false, true] {
        let seconds = nobody_elses_sleep();
        let setup = profile(Setup::new(&[]), &service, "key_command = \"~/give\"");
        program_that_sleeps(&setup, seconds);
        let mut program = setup.start();
        program.until("Connected to");
        say(&mut program, "hello");
        program.until_that("the command runs", |_| asleep(seconds) == 1);
        program.types("still ");
        program.until("still");
        if quits {
            program.signal(rustix::process::Signal::KILL);
        } else {
            program.keys("\x1b");
            program.until("stopped");
        }
        none_sleeps(seconds);
    }
    assert!(service.received().is_empty());
}

fn program_that_sleeps(setup: &Setup, seconds: u32) {
    program(setup, "give", &format!("exec sleep {seconds}"));
}

#[test]
fn a_command_that_takes_too_long_is_given_up() {
    if crate::support::often(1, 0) == 0 {
        return crate::support::leave_out("it takes long; AYE_TEST_THOROUGH=1 runs it");
    }
    let (_runtime, service) = serves(vec![says("never")]);
    let seconds = nobody_elses_sleep();
    let setup = profile(Setup::new(&["-p", "hi"]), &service, "key_command = \"~/give\"");
    program(&setup, "give", &format!("sleep {seconds}; echo late"));
    let (out, err, exit) = setup.print("");
    assert_eq!((out.as_str(), exit), ("", 1));
    assert!(err.contains("did not finish within 10 s and was stopped"), "{err}");
    none_sleeps(seconds);
    assert_eq!(service.received().len(), 0);
}

#[test]
fn what_a_command_leaves_running_is_left_alone_and_not_waited_for() {
    let (_runtime, service) = serves(vec![says("Fine.")]);
    let setup = profile(Setup::new(&["-p", "hi"]), &service, "key_command = \"~/give\"");
    let seconds = nobody_elses_sleep();
    program(&setup, "give", &format!("sleep {seconds} & echo $! > ~/agent; echo {KEY}"));
    let agent = setup.place.path().join("home/agent");
    let (out, err, exit) = setup.print("");
    assert_eq!((out.as_str(), err.as_str(), exit), ("Fine.\n", "", 0));
    for _ in 0..500 {
        // It may not have become what it is to be yet.
        if asleep(seconds) == 1 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(asleep(seconds), 1, "an agent that keeps a passphrase stays");
    let pid: i32 = std::fs::read_to_string(agent).unwrap().trim().parse().unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

#[test]
fn r47_a_key_that_was_entered_goes_to_no_other_address_and_that_is_said() {
    let (_one, old) = serves(vec![says("Old.")]);
    let (_two, new) = serves(vec![says("New."), says("Newer.")]);
    let setup = profile(Setup::new(&[]), &old, "key_env = \"MY_KEY\"");
    let mut program = setup.size(100, 30).start();
    program.until("Connected to");
    let enters = |program: &mut Program| {
        program.keys("\x1bc");
        program.until("Enter an API key");
        program.types("enter a key");
        program.keys("\r");
        program.until("╭─ Enter API key");
    };
    enters(&mut program);
    for (typed, said) in [("sk two words", "it contains a space"), (KEY, "from the key you entered")] {
        if typed == KEY {
            enters(&mut program);
        }
        program.keys(&format!("\x1b[200~{typed}\x1b[201~"));
        program.keys("\r");
        program.until(said);
    }
    say(&mut program, "first");
    program.until("Old.");
    assert_eq!(sent(&old), [format!("Bearer {KEY}")]);
    program.keys("\x04");
    program.ends();
    let place = program.place.clone();
    let moved = profile(Setup::again(&place, &["-p", "hi"]), &new, "key_env = \"MY_KEY\"");
    let (out, err, exit) = moved.print("");
    assert_eq!((out.as_str(), exit), ("New.\n", 0));
    let (from, to) = (old.base_url.trim_end_matches("/v1"), new.base_url.trim_end_matches("/v1"));
    assert!(
        err.contains(&format!(
            "The key saved for {from} is not sent to {to}. To enter a key for this address, use /connect."
        )),
        "{err}"
    );
    assert_eq!(sent(&new), ["none"]);
    assert!(!String::from_utf8_lossy(&program.bytes()).contains(KEY));
}

#[test]
fn what_is_wrong_in_the_settings_is_said_and_the_rest_counts() {
    let (_runtime, service) = serves(vec![says("Fine.")]);
    let says = |lines: &str, said: &[&str]| {
        let (out, err, exit) = profile(Setup::new(&["-p", "hi"]), &service, lines).print("");
        assert_eq!((out.as_str(), exit), ("Fine.\n", 0), "{lines}: {err}");
        let lines: Vec<&str> = err.lines().collect();
        assert_eq!(lines.len(), said.len(), "{err}");
        for (line, said) in lines.iter().zip(said) {
            assert!(line.contains(said) && !line.contains("cret"), "{said}: {line}");
        }
    };
    says("", &[]);
    says(
        "[profiles.p]\nbase_url = \"https://second.example/v1\"\n[screen]\nmosue = true",
        &[
            "config.toml:6: profile p is already defined on line 3.",
            "config.toml:9: screen.mosue is not a setting; did you mean screen.mouse?",
        ],
    );
    says(
        "headers = { X-Good = \"1\", X-Bad = \"se\\ncret\" }",
        &["config.toml:6: profiles.p.headers has the header X-Bad"],
    );
    says(
        "key_command = \"give secret | head -1\"",
        &["profiles.p.key_command needs a shell, which is not used by default"],
    );
    says("reasonning_back = true", &["did you mean profiles.p.reasoning_back?"]);
    says("api_key = \"sk-secret\"", &["keys are not stored in this file"]);
    says("max_tokens_name = \"null\"", &["profiles.p.max_tokens_name has no value; remove the line"]);
    says("[profiles.other]\nbase_url = \"not an address\"", &["profiles.other.base_url has an invalid value"]);
    assert!(service.received().iter().all(|request| request.header("x-good").is_none()), "not half of them");
    let (_, err, exit) = profile(Setup::new(&["-p", "hi", "--profile", "azure"]), &service, "").print("");
    assert_eq!(exit, 2);
    assert!(err.contains("profiles.azure.base_url contains the placeholder RESOURCE"), "{err}");
}

#[test]
fn parameters_and_what_is_left_out_reach_the_service() {
    let (_runtime, service) = serves(vec![says("Fine.")]);
    let lines = "parameters = { temperature = 0.5, nested = { a = [1, true] } }\nleave_out = [\"stream_options\"]\nheaders = { X-One = \"1\" }";
    let (_, err, exit) = profile(Setup::new(&["-p", "hi"]), &service, lines).print("");
    assert_eq!((err.as_str(), exit), ("", 0));
    let request = &service.received()[0];
    assert_eq!(request.body["temperature"], 0.5);
    assert_eq!(request.body["nested"].to_string(), "{\"a\":[1,true]}");
    assert_eq!((request.body.get("stream_options"), request.header("x-one")), (None, Some("1")));
}
