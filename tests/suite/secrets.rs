//! Keys stay where they belong: on the wire to their own service, and nowhere else.

use crate::support::program::Setup;
use crate::support::service::{Answer, Service};
use serde_json::json;

const KEY: &str = "odd-name-1234567890";
const HEADER: &str = "header-1234567890";
const OTHER: &str = "router-1234567890";

fn calls(name: &str, arguments: &serde_json::Value) -> Answer {
    let function = json!({ "name": name, "arguments": arguments.to_string() });
    let delta = json!({ "tool_calls": [{ "index": 0, "id": "c1", "function": function }] });
    Answer::stream().event(json!({ "choices": [{ "index": 0, "delta": delta }] })).finish("tool_calls").done()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r57_no_key_reaches_a_command_the_screen_the_session_or_an_error() {
    let env = json!({ "command": "env; tr '\\0' '\\n' < /proc/$PPID/environ; echo ran-to-the-end" });
    let echoed = format!(r#"{{"error":{{"message":"bad {KEY} {HEADER}"}}}}"#);
    let service =
        Service::start([calls("bash_exec", &env), Answer::body(400, "application/json", &[], &echoed)]).await;
    let setup = Setup::new(&["--profile", "mine"])
        .size(100, 30)
        .env("MY_MODEL", KEY)
        .env("OPENROUTER_API_KEY", OTHER)
        .env("OPENAI_API_KEY", OTHER);
    let config = setup.place.path().join("home/aye/config");
    std::fs::create_dir_all(&config).unwrap();
    let settings = format!(
        "[profiles.mine]\nbase_url = \"{}\"\nmodel = \"m\"\nkey_env = \"MY_MODEL\"\nheaders = {{ \"x-api-key\" = \"{HEADER}\" }}\n",
        service.base_url
    );
    std::fs::write(config.join("config.toml"), settings).unwrap();
    let place = setup.place.clone();
    let mut program = setup.start();
    let bytes = tokio::task::spawn_blocking(move || {
        program.until("ask mode");
        program.types("go");
        program.keys("\r");
        program.until("run a command?");
        program.lets_pass(700);
        program.keys("y");
        program.until("(400)");
        program.keys("\u{4}");
        program.ends();
        program.bytes()
    })
    .await
    .unwrap();
    let requests = service.received();
    assert_eq!(requests[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(requests[0].header("x-api-key"), Some(HEADER));
    let told = requests[1].body.to_string();
    assert!(told.contains("ran-to-the-end"), "{told}");
    std::fs::remove_file(config.join("config.toml")).unwrap();
    for key in [KEY, HEADER, OTHER] {
        assert!(!told.contains(key), "a command saw {key}");
        assert!(!String::from_utf8_lossy(&bytes).contains(key), "the screen showed {key}");
        let found = std::process::Command::new("grep").args(["-r", key]).arg(place.path()).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&found.stdout), "", "{key} is in a file");
    }
}
