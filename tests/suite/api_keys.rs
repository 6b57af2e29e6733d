//! API keys, valid and invalid: from a variable, a command, a file or entered by hand.

use crate::support::program::{Program, Setup, count_sleeping, unique_sleep_seconds, wait_until_none_sleeps};
use crate::support::service::{Answer, Service};
use crate::support::stored_files;
use crate::support::terminal_session::{submit_message, text_answer};
use tokio::runtime::Runtime;

const KEY: &str = "sk-printed-1234567890";

fn start_service(answers: Vec<Answer>) -> (Runtime, Service) {
    let runtime = Runtime::new().unwrap();
    let service = runtime.block_on(Service::start(answers));
    (runtime, service)
}

/// Configures and selects a profile with these further settings.
fn with_profile(setup: Setup, service: &Service, lines: &str) -> Setup {
    let folder = setup.root.path().join("home/aye/config");
    std::fs::create_dir_all(&folder).unwrap();
    let text = format!(
        "[model]\nprofile = \"p\"\n[profiles.p]\nbase_url = \"{}\"\nmodel = \"m\"\n{lines}\n",
        service.base_url
    );
    std::fs::write(folder.join("config.toml"), text).unwrap();
    setup
}

/// Writes a script into the user's home.
fn write_program(setup: &Setup, name: &str, script: &str) {
    let file = setup.root.path().join("home").join(name);
    stored_files::write_script(&file, script);
}

/// Returns the `authorization` header of each request; `none` for a request without one.
fn list_keys(service: &Service) -> Vec<String> {
    let key =
        |request: &crate::support::service::Received| request.header("authorization").unwrap_or("none").to_owned();
    service.received().iter().map(key).collect()
}

#[test]
fn r57_reports_an_unusable_key_in_one_line_and_sends_nothing() {
    let (_runtime, service) = start_service(vec![text_answer("never")]);
    let check = |setup: Setup, expected: &str, code: i32| {
        let (out, err, exit) = setup.run_piped("");
        assert_eq!((out.as_str(), exit), ("", code), "{err}");
        assert!(err.contains(expected) && !err.contains("cret"), "{expected}: {err}");
        assert_eq!(err.lines().count(), 1, "{err}");
        assert!(service.received().is_empty(), "{expected}");
    };
    let by_variable =
        |value: &str| with_profile(Setup::new(&["-p", "hi"]), &service, "key_env = \"MY_KEY\"").env("MY_KEY", value);
    let expected = "MY_KEY: the key contains a line break or characters that cannot be sent";
    for key in ["se\ncret", "sé-cret", "se\u{7f}cret", "se\u{200b}cret"] {
        check(by_variable(key), expected, 2);
    }
    let by_command = |script: &str| {
        let setup = with_profile(Setup::new(&["-p", "hi"]), &service, "key_command = \"~/give some 'thing else'\"");
        write_program(&setup, "give", script);
        setup
    };
    let prefix = "the key command ~/give ";
    for (script, expected) in [
        ("exit 3", "failed (3)"),
        ("echo 'no such\x1b[31m entry' >&2; echo more >&2; echo secret; exit 1", "failed (1): no such[31m entry"),
        ("echo secret; echo cannot take secret >&2; exit 1", "failed (1): cannot take [key]"),
        ("true", "printed nothing on its first line"),
        ("echo; echo secret", "printed nothing on its first line"),
        ("printf 'sé-cret\\n'", "printed a key with characters that cannot be sent"),
        ("printf 'se\\rcret\\n'", "printed a key with characters that cannot be sent"),
        ("kill -9 $$", "was killed by a signal"),
    ] {
        check(by_command(script), &format!("{prefix}{expected}"), 1);
    }
    let missing = with_profile(Setup::new(&["-p", "hi"]), &service, "key_command = [\"/none/such\"]");
    check(missing, "the key command /none/such failed (127): cannot start the program: No such file", 1);
    let damaged = with_profile(Setup::new(&["-p", "hi"]), &service, "");
    let keys = damaged.root.path().join("home/aye/config/credentials.toml");
    let origin = service.base_url.trim_end_matches("/v1");
    std::fs::write(&keys, format!("\"{origin}\" = \"se\\ncret\"\n")).unwrap();
    check(damaged, "the key you entered: the key contains a line break", 2);
}

#[test]
fn key_command_runs_in_the_home_folder_without_a_terminal() {
    let (_runtime, service) = start_service(vec![text_answer("Fine.")]);
    let setup = with_profile(Setup::new(&[]), &service, "key_command = [\"~/give\", \"one two\", \"$HOME\"]");
    let write_seen = "{ pwd; echo \"$1|$2|$#\"; (: < /dev/tty) 2>/dev/null && echo tty || echo none; cat; } > ~/seen";
    write_program(&setup, "give", &format!("{write_seen}; echo \"  {KEY}  \"; echo second-line"));
    let mut program = setup.start();
    program.until("Messages go to");
    submit_message(&mut program, "hello");
    program.until("Fine.");
    program.press_keys("\x04");
    program.wait_for_exit();
    assert_eq!(list_keys(&service), [format!("Bearer {KEY}")]);
    let home = program.root.path().join("home");
    let content = std::fs::read_to_string(home.join("seen")).unwrap();
    assert_eq!(content, format!("{}\none two|$HOME|2\nnone\n", home.canonicalize().unwrap().display()));
    assert_eq!(stored_files::find_files_with(program.root.path(), KEY), [home.join("give")]);
}

#[test]
fn key_command_runs_on_the_first_request_and_after_a_rejection() {
    let refused = Answer::body(401, "application/json", &[], r#"{"error":{"message":"expired"}}"#);
    let (_runtime, service) =
        start_service(vec![text_answer("One."), text_answer("Two."), refused, text_answer("Three.")]);
    let setup = with_profile(Setup::new(&[]), &service, "key_command = \"~/give\"");
    write_program(&setup, "give", "echo x >> ~/asked; echo \"key-number-$(wc -l < ~/asked | tr -d ' ')\"");
    let asked = setup.root.path().join("home/asked");
    let mut program = setup.start();
    program.until("from the command ~/give");
    program.wait_ms(100);
    assert!(!asked.exists(), "the key command ran before a request was sent");
    for (words, reply) in [("first", "One."), ("second", "Two."), ("third", "Three.")] {
        submit_message(&mut program, words);
        program.until(reply);
    }
    let key = |number: usize| format!("Bearer key-number-{number}");
    assert_eq!(list_keys(&service), [key(1), key(1), key(1), key(2)]);
    assert!(!String::from_utf8_lossy(&program.bytes()).contains("key-number"));
}

#[test]
fn hanging_key_command_ends_with_the_turn_or_the_program() {
    let (_runtime, service) = start_service(vec![text_answer("never")]);
    for quits in [false, true] {
        let seconds = unique_sleep_seconds();
        let setup = with_profile(Setup::new(&[]), &service, "key_command = \"~/give\"");
        write_sleeping_program(&setup, seconds);
        let mut program = setup.start();
        program.until("Messages go to");
        submit_message(&mut program, "hello");
        program.until_condition("the key command runs", |_| count_sleeping(seconds) == 1);
        program.type_text("still ");
        program.until("still");
        if quits {
            program.signal(rustix::process::Signal::KILL);
        } else {
            program.press_keys("\x1b");
            program.until("stopped");
        }
        wait_until_none_sleeps(seconds);
    }
    assert!(service.received().is_empty());
}

fn write_sleeping_program(setup: &Setup, seconds: u32) {
    write_program(setup, "give", &format!("exec sleep {seconds}"));
}

#[test]
fn key_command_has_a_time_limit() {
    if crate::support::pick_count(1, 0) == 0 {
        return crate::support::report_skipped("it takes long; AYE_TEST_THOROUGH=1 runs it");
    }
    let (_runtime, service) = start_service(vec![text_answer("never")]);
    let seconds = unique_sleep_seconds();
    let setup = with_profile(Setup::new(&["-p", "hi"]), &service, "key_command = \"~/give\"");
    write_program(&setup, "give", &format!("sleep {seconds}; echo late"));
    let (out, err, exit) = setup.run_piped("");
    assert_eq!((out.as_str(), exit), ("", 1));
    assert!(err.contains("did not finish within 10 s and was stopped"), "{err}");
    wait_until_none_sleeps(seconds);
    assert_eq!(service.received().len(), 0);
}

#[test]
fn background_process_of_a_key_command_keeps_running() {
    let (_runtime, service) = start_service(vec![text_answer("Fine.")]);
    let setup = with_profile(Setup::new(&["-p", "hi"]), &service, "key_command = \"~/give\"");
    let seconds = unique_sleep_seconds();
    write_program(&setup, "give", &format!("sleep {seconds} & echo $! > ~/agent; echo {KEY}"));
    let agent = setup.root.path().join("home/agent");
    let (out, err, exit) = setup.run_piped("");
    assert_eq!((out.as_str(), err.as_str(), exit), ("Fine.\n", "", 0));
    for _ in 0..500 {
        // The background process may not have started `sleep` yet.
        if count_sleeping(seconds) == 1 {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(count_sleeping(seconds), 1, "the background process was ended");
    let pid: i32 = std::fs::read_to_string(agent).unwrap().trim().parse().unwrap();
    let pid = rustix::process::Pid::from_raw(pid).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
}

#[test]
fn r47_reports_that_an_entered_key_is_not_sent_to_another_address() {
    let (_one, old) = start_service(vec![text_answer("Old.")]);
    let refused = Answer::body(401, "application/json", &[], r#"{"error":{"message":"who are you"}}"#);
    let (_two, new) = start_service(vec![text_answer("New."), refused]);
    let setup = with_profile(Setup::new(&[]), &old, "key_env = \"MY_KEY\"");
    let mut program = setup.size(100, 30).start();
    program.until("Messages go to");
    let open_key_input = |program: &mut Program| {
        program.press_keys("\x1bc");
        program.until("Enter an API key");
        program.type_text("enter a key");
        program.press_keys("\r");
        program.until("╭─ Enter API key");
    };
    open_key_input(&mut program);
    for (typed, expected) in [("sk two words", "it contains a space"), (KEY, "with the key you entered")] {
        if typed == KEY {
            open_key_input(&mut program);
        }
        program.press_keys(&format!("\x1b[200~{typed}\x1b[201~"));
        program.press_keys("\r");
        program.until(expected);
    }
    submit_message(&mut program, "first");
    program.until("Old.");
    assert_eq!(list_keys(&old), [format!("Bearer {KEY}")]);
    program.press_keys("\x04");
    program.wait_for_exit();
    let root = program.root.clone();
    let moved = with_profile(Setup::with_home(&root, &["-p", "hi"]), &new, "key_env = \"MY_KEY\"");
    // A server that needs no key is no reason for a notice.
    assert_eq!(moved.run_piped(""), ("New.\n".to_owned(), String::new(), 0));
    let (out, err, exit) = moved.run_piped("");
    assert_eq!((out.as_str(), exit), ("", 1));
    let (from, to) = (old.base_url.trim_end_matches("/v1"), new.base_url.trim_end_matches("/v1"));
    let expected = format!(
        "aye: The provider requires a key (401): who are you. No key was sent: the key saved for {from} is not sent to \
         {to}. Set the variable of the key, or enter one in aye with alt-c.\n"
    );
    assert_eq!(err, expected);
    assert_eq!(list_keys(&new), ["none", "none"]);
    assert!(!String::from_utf8_lossy(&program.bytes()).contains(KEY));
}

#[test]
fn reports_that_no_key_was_sent_if_the_provider_requires_one() {
    let refused = Answer::body(401, "application/json", &[], r#"{"error":{"message":"who are you"}}"#);
    let (_runtime, service) = start_service(vec![refused]);
    let setup = with_profile(Setup::new(&[]), &service, "key_env = \"MY_KEY\"");
    let mut program = setup.size(140, 30).start();
    let screen = program.until("Messages go to m");
    assert!(!screen.contains("Connected"), "{screen}");
    submit_message(&mut program, "hello");
    program.until("No key was sent (MY_KEY is not set). alt-c enters one.");
}

#[test]
fn reports_invalid_settings_before_a_missing_provider() {
    let (_runtime, service) = start_service(vec![text_answer("never")]);
    for arguments in [&["-p", "hi"][..], &["-p", "--profile", "p", "hi"], &["models"]] {
        let setup = with_profile(Setup::new(arguments), &service, "");
        let file = setup.root.path().join("home/aye/config/config.toml");
        let text = std::fs::read_to_string(&file).unwrap();
        std::fs::write(&file, text.replace("[model]", "[model")).unwrap();
        let (_, err, code) = setup.run_piped("");
        let lines: Vec<&str> = err.lines().collect();
        assert_eq!((lines.len(), code), (2, 2), "{err}");
        assert!(lines[0].contains("config.toml:1: this is not TOML"), "{err}");
        assert!(lines[0].ends_with("the whole file is ignored"), "{err}");
        let (out, _, _) = Setup::with_home(&setup.root, &["doctor"]).run_piped("");
        assert!(out.contains("until then no setting of this file applies"), "{out}");
        assert!(!out.contains("all valid settings apply"), "{out}");
    }
}

#[test]
fn reports_wrong_settings_and_uses_the_rest() {
    let (_runtime, service) = start_service(vec![text_answer("Fine.")]);
    let check = |lines: &str, expected: &[&str]| {
        let (out, err, exit) = with_profile(Setup::new(&["-p", "hi"]), &service, lines).run_piped("");
        assert_eq!((out.as_str(), exit), ("Fine.\n", 0), "{lines}: {err}");
        let lines: Vec<&str> = err.lines().collect();
        assert_eq!(lines.len(), expected.len(), "{err}");
        for (line, expected) in lines.iter().zip(expected) {
            assert!(line.contains(expected) && !line.contains("cret"), "{expected}: {line}");
        }
    };
    check("", &[]);
    check(
        "leave_out = [\"user\"]",
        &["config.toml:6: `profiles.p.leave_out` is now `omit_parameters`; the old name works in this release"],
    );
    check(
        "[profiles.p]\nbase_url = \"https://second.example/v1\"\n[screen]\nmosue = true",
        &[
            "config.toml:6: profile p is already defined on line 3.",
            "config.toml:9: screen.mosue is not a setting. Did you mean screen.mouse?",
        ],
    );
    check(
        "headers = { X-Good = \"1\", X-Bad = \"se\\ncret\" }",
        &["config.toml:6: profiles.p.headers has the header X-Bad"],
    );
    check(
        "key_command = \"give secret | head -1\"",
        &["profiles.p.key_command needs a shell, which is not used by default"],
    );
    check("send_reasonning = true", &["Did you mean profiles.p.send_reasoning?"]);
    check("api_key = \"sk-secret\"", &["Keys are not stored in this file"]);
    check("max_tokens_parameter = \"null\"", &["profiles.p.max_tokens_parameter has no value; remove the line"]);
    check("[profiles.other]\nbase_url = \"not an address\"", &["profiles.other.base_url has an invalid value"]);
    assert!(service.received().iter().all(|request| request.header("x-good").is_none()), "some headers were sent");
    let (_, err, exit) = with_profile(Setup::new(&["-p", "hi", "--profile", "azure"]), &service, "").run_piped("");
    assert_eq!(exit, 2);
    assert!(err.contains("profiles.azure.base_url contains the placeholder RESOURCE"), "{err}");
}

#[test]
fn sends_configured_parameters_and_omits_configured_fields() {
    let (_runtime, service) = start_service(vec![text_answer("Fine.")]);
    let lines = "parameters = { temperature = 0.5, nested = { a = [1, true] } }\nomit_parameters = [\"stream_options\"]\nheaders = { X-One = \"1\" }";
    let (_, err, exit) = with_profile(Setup::new(&["-p", "hi"]), &service, lines).run_piped("");
    assert_eq!((err.as_str(), exit), ("", 0));
    let request = &service.received()[0];
    assert_eq!(request.body["temperature"], 0.5);
    assert_eq!(request.body["nested"].to_string(), "{\"a\":[1,true]}");
    assert_eq!((request.body.get("stream_options"), request.header("x-one")), (None, Some("1")));
}
