//! `aye doctor`: what it finds, what it says to do, and what it never tells.

use crate::support::program::Setup;
use crate::support::service::{Answer, Service, Step};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;

const KEY: &str = "sk-doctor-1234567890";
const HEADER: &str = "header-0987654321";

/// Puts these settings in place.
fn set(setup: &Setup, text: &str) {
    let config = setup.place.path().join("home/aye/config");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), text).unwrap();
}

fn models(names: &[&str]) -> Answer {
    let data: Vec<Value> = names.iter().map(|name| serde_json::json!({ "id": name, "object": "model" })).collect();
    let body = serde_json::json!({ "object": "list", "data": data }).to_string();
    Answer::body(200, "application/json", &[], &body)
}

/// What it finds, and its exit code.
async fn finds(setup: Setup) -> (Vec<Value>, i32) {
    let (out, err, code) = tokio::task::spawn_blocking(move || setup.print("")).await.unwrap();
    assert_eq!(err, "");
    (out.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), code)
}

/// The findings of an area that are so, in words.
fn of(found: &[Value], area: &str, state: &str) -> Vec<String> {
    let is = |value: &&Value| value["area"] == area && value["state"] == state;
    found.iter().filter(is).map(|value| value["words"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_all_is_well_it_says_so_and_tells_no_secret() {
    let service = Service::strict([models(&["m", "other"])]).await;
    let setup = Setup::new(&["doctor", "--json"]).env("MY_KEY", KEY);
    set(
        &setup,
        &format!(
            "[model]\nprofile = \"mine\"\n[profiles.mine]\nbase_url = \"{}\"\nmodel = \"m\"\nkey_env = \"MY_KEY\"\nheaders = {{ X-Team = \"{HEADER}\" }}\n",
            service.base_url
        ),
    );
    let home = setup.place.path().join("home").to_str().unwrap().to_owned();
    let (found, code) = finds(setup).await;
    assert_eq!(code, 0, "{found:#?}");
    let all = serde_json::to_string(&found).unwrap();
    for secret in [KEY, HEADER, home.as_str()] {
        assert!(!all.contains(secret), "{all}");
    }
    assert_eq!(service.received()[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(of(&found, "key", "ok"), ["from MY_KEY"]);
    assert!(of(&found, "model", "ok").iter().any(|words| words.contains("answers, with 2 models")), "{all}");
    let settings = of(&found, "settings", "ok");
    assert!(settings.contains(&"profiles.mine.model = \"m\" from ~/aye/config/config.toml:5".to_owned()), "{all}");
    for area in ["version", "terminal", "sandbox", "folders", "sessions", "shell", "git", "project"] {
        assert!(found.iter().any(|value| value["area"] == area), "{area}: {all}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_comes_with_what_to_do_and_the_exit_code() {
    let service = Service::strict([Answer::body(
        401,
        "application/json",
        &[],
        &format!("{{\"error\":{{\"message\":\"bad {KEY}\"}}}}"),
    )])
    .await;
    let setup =
        Setup::new(&["doctor", "--json", "--base-url", &service.base_url, "--model", "m"]).env("OPENAI_API_KEY", KEY);
    set(&setup, "[screen]\ntheme = \"nope\"\nmuose = true\n[keys]\nno_such = \"f2\"\n");
    let keys = setup.place.path().join("home/aye/config/credentials.toml");
    std::fs::write(&keys, "\"https://a.example\" = \"sk-entered-123456\"\n").unwrap();
    std::fs::set_permissions(&keys, PermissionsExt::from_mode(0o644)).unwrap();
    let sessions = setup.place.path().join("home/aye/data/sessions");
    std::fs::create_dir_all(&sessions).unwrap();
    std::fs::write(sessions.join("01JAAAAAAAAAAAAAAAAAAAAAAA.jsonl"), "no line of a session\n").unwrap();
    let (found, code) = finds(setup).await;
    let all = serde_json::to_string(&found).unwrap();
    assert_eq!(code, 1, "{all}");
    assert!(!all.contains(KEY) && !all.contains("sk-entered"), "{all}");
    for (area, part) in [
        ("settings", "config.toml:3: screen.muose is not a setting; did you mean screen.mouse?"),
        ("settings", "no_such"),
        ("theme", "unknown theme \"nope\""),
        ("keys", "was accessible to others (644)"),
        ("model", "401"),
        ("sessions", "01JAAAAAAAAAAAAAAAAAAAAAAA"),
    ] {
        let wrong = of(&found, area, "wrong");
        assert!(wrong.iter().any(|words| words.contains(part)), "{area}: {part}: {all}");
    }
    assert!(found.iter().filter(|value| value["state"] == "wrong").all(|value| value["do"].is_string()), "{all}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_that_never_answers_is_said_to_be_silent() {
    let service = Service::strict([Answer::default().then(Step::Stall)]).await;
    let setup = Setup::new(&["doctor", "--json", "--base-url", &service.base_url, "--model", "m"]);
    let (found, code) = finds(setup).await;
    assert_eq!(code, 1);
    let wrong = of(&found, "model", "wrong");
    assert!(wrong.iter().any(|words| words.contains("did not answer within 2.2 s")), "{found:#?}");
}

#[test]
fn it_works_where_nothing_else_does() {
    for text in ["[screen\n", "\u{0}", "[model]\nprofile = \"none\"\n", "[[[[\n", "= = =\n"] {
        let setup = Setup::new(&["doctor"]);
        set(&setup, text);
        let (out, err, code) = setup.print("");
        assert_eq!((err.as_str(), code), ("", 1), "{text:?}: {out}");
        assert!(out.contains("config.toml:") && out.contains("see !! above."), "{text:?}: {out}");
        assert!(out.lines().all(|line| line.chars().count() <= 100), "{out}");
    }
    let (out, _, code) = Setup::new(&["doctor", "-C", "/no/such/folder"]).print("");
    assert!(code == 1 && out.contains("/no/such/folder"), "{out}");
    let (out, _, _) = Setup::new(&["doctor"]).env("TERM", "x\u{1b}[2J\u{202e}\nfake").print("");
    assert!(!out.contains('\u{1b}') && !out.contains('\u{202e}') && !out.contains("\nfake"), "{out:?}");
}

#[test]
fn in_a_terminal_it_says_what_the_terminal_can() {
    let mut program = Setup::new(&["doctor"]).size(100, 60).env("TMUX", "x").start();
    assert_eq!(program.ends(), 0, "{}", program.screen());
    let screen = program.screen();
    assert!(screen.contains("TERM xterm-256color · 100x60 · 16 million colours"), "{screen}");
    assert!(screen.contains("set-clipboard on") && screen.contains("No problems."), "{screen}");
    assert!(program.is_restored());
}

#[test]
fn what_says_what_goes_ahead_is_found_and_which_of_it_is_off() {
    let setup = Setup::new(&["doctor", "--json"]);
    set(
        &setup,
        "[hooks.right]\ncommand = [\"sh\", \"-c\", \"hook-secret-4711\"]\ntools = [\"bash_exec\"]\n[hooks.gone]\ncommand = [\"/no/such/hook\"]\n\
         [second_reader]\nprofile = \"none-such\"\n",
    );
    let home = setup.place.path().join("home/aye/config");
    let rule =
        |says: &str, words: &str, more: &str| format!("[[rule]]\nsays = \"{says}\"\nwords = \"{words}\"\n{more}\n");
    let mine = rule("allow", "cargo test", "")
        + &rule("deny", "git push", "")
        + &rule("allow", "make lint", "matches = \"make\"")
        + &rule("allow", "npm test", "expires = 2001-02-03");
    std::fs::write(home.join("rules.toml"), mine).unwrap();
    std::fs::write(home.join("trusted.toml"), "[[project").unwrap();
    let own = setup.place.path().join("project/.aye");
    std::fs::create_dir_all(&own).unwrap();
    std::fs::write(own.join("rules.toml"), rule("allow", "touch", "")).unwrap();
    let place = setup.place.clone();
    let (out, _, code) = setup.print("");
    let found: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(code, 1, "{out}");
    for (area, state, part) in [
        ("rules", "ok", "rules.toml: 2 rules apply here (1 allow, 1 deny)"),
        (
            "rules",
            "wrong",
            "rules.toml:12: the rule does not match \"make\", its example under matches; the rule is disabled",
        ),
        ("rules", "note", "expired: allow npm test … ("),
        ("rules", "note", ".aye/rules.toml of this project (1 allow) is not trusted: its rules do not apply"),
        ("rules", "wrong", "trusted.toml: this is not TOML; no project's own rules apply"),
        ("hooks", "ok", "right (sh with 2 arguments) reviews calls of bash_exec, time limit 10 s"),
        (
            "hooks",
            "wrong",
            "gone is not available, so every call that does more than read inside the project asks you: /no/such/hook does not exist",
        ),
        ("reviewer", "wrong", "the model reviewer is not available, so every call asks"),
    ] {
        let words = of(&found, area, state);
        assert!(words.iter().any(|words| words.contains(part)), "{area} {state}: {part}: {out}");
    }
    assert!(!out.contains("hook-secret") && !out.contains(home.to_str().unwrap()), "{out}");
    let wrong = found.iter().filter(|value| value["state"] == "wrong");
    assert!(wrong.into_iter().all(|value| value["do"].is_string()), "{out}");

    // A file that says nothing makes everything ask, and that is what it tells.
    std::fs::write(place.path().join("home/aye/config/rules.toml"), "[[rule\n").unwrap();
    let (out, _, code) = Setup::again(&place, &["doctor"]).print("");
    let words = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(code == 1 && words.contains("rules.toml:1: this is not TOML"), "{out}");
    assert!(words.contains("until then every call asks"), "{out}");
}

#[test]
fn where_nothing_is_said_about_what_goes_ahead_that_is_told_too() {
    let (out, _, _) = Setup::new(&["doctor", "--json"]).print("");
    let found: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (area, part) in [
        ("rules", "does not exist: only the mode decides"),
        ("hooks", "off: no program reviews calls"),
        ("reviewer", "off: no model reviews calls"),
    ] {
        assert!(of(&found, area, "ok").iter().any(|words| words.contains(part)), "{area}: {out}");
    }
}
