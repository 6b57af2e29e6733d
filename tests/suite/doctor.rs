//! `aye doctor`: its findings, its advice, and the secrets that it never prints.

use crate::support::program::Setup;
use crate::support::service::{Answer, Service, Step};
use serde_json::Value;
use std::os::unix::fs::PermissionsExt;

const KEY: &str = "sk-doctor-1234567890";
const HEADER: &str = "header-0987654321";

/// Writes these settings.
fn write_settings(setup: &Setup, text: &str) {
    let config = setup.root.path().join("home/aye/config");
    std::fs::create_dir_all(&config).unwrap();
    std::fs::write(config.join("config.toml"), text).unwrap();
}

fn models_response(names: &[&str]) -> Answer {
    let data: Vec<Value> = names.iter().map(|name| serde_json::json!({ "id": name, "object": "model" })).collect();
    let body = serde_json::json!({ "object": "list", "data": data }).to_string();
    Answer::body(200, "application/json", &[], &body)
}

/// Runs the doctor; returns its findings and its exit code.
async fn run_doctor(setup: Setup) -> (Vec<Value>, i32) {
    let (out, err, code) = tokio::task::spawn_blocking(move || setup.run_piped("")).await.unwrap();
    assert_eq!(err, "");
    (out.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), code)
}

/// The texts of the findings with this area and state.
fn filter_findings(found: &[Value], area: &str, state: &str) -> Vec<String> {
    let is_wanted = |value: &&Value| value["area"] == area && value["state"] == state;
    found.iter().filter(is_wanted).map(|value| value["words"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reports_a_working_setup_without_secrets() {
    let service = Service::start_strict([models_response(&["m", "other"])]).await;
    let setup = Setup::new(&["doctor", "--json"]).env("MY_KEY", KEY);
    write_settings(
        &setup,
        &format!(
            "[model]\nprofile = \"mine\"\n[profiles.mine]\nbase_url = \"{}\"\nmodel = \"m\"\nkey_env = \"MY_KEY\"\nheaders = {{ X-Team = \"{HEADER}\" }}\n",
            service.base_url
        ),
    );
    let home = setup.root.path().join("home").to_str().unwrap().to_owned();
    let (findings, code) = run_doctor(setup).await;
    assert_eq!(code, 0, "{findings:#?}");
    let all = serde_json::to_string(&findings).unwrap();
    for secret in [KEY, HEADER, home.as_str()] {
        assert!(!all.contains(secret), "{all}");
    }
    assert_eq!(service.received()[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    assert_eq!(filter_findings(&findings, "key", "ok"), ["from MY_KEY"]);
    assert!(
        filter_findings(&findings, "model", "ok").iter().any(|words| words.contains("answers, with 2 models")),
        "{all}"
    );
    let settings = filter_findings(&findings, "settings", "ok");
    assert!(settings.contains(&"profiles.mine.model = \"m\" from ~/aye/config/config.toml:5".to_owned()), "{all}");
    for area in ["version", "terminal", "sandbox", "folders", "sessions", "shell", "git", "project"] {
        assert!(findings.iter().any(|value| value["area"] == area), "{area}: {all}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reports_problems_with_advice_and_exit_code_1() {
    let service = Service::start_strict([Answer::body(
        401,
        "application/json",
        &[],
        &format!("{{\"error\":{{\"message\":\"bad {KEY}\"}}}}"),
    )])
    .await;
    let setup =
        Setup::new(&["doctor", "--json", "--base-url", &service.base_url, "--model", "m"]).env("OPENAI_API_KEY", KEY);
    write_settings(&setup, "[screen]\ntheme = \"nope\"\nmuose = true\n[keys]\nno_such = \"f2\"\n");
    let keys = setup.root.path().join("home/aye/config/credentials.toml");
    std::fs::write(&keys, "\"https://a.example\" = \"sk-entered-123456\"\n").unwrap();
    std::fs::set_permissions(&keys, PermissionsExt::from_mode(0o644)).unwrap();
    let sessions = setup.root.path().join("home/aye/data/sessions");
    std::fs::create_dir_all(&sessions).unwrap();
    std::fs::write(sessions.join("01JAAAAAAAAAAAAAAAAAAAAAAA.jsonl"), "no line of a session\n").unwrap();
    let (findings, code) = run_doctor(setup).await;
    let all = serde_json::to_string(&findings).unwrap();
    assert_eq!(code, 1, "{all}");
    assert!(!all.contains(KEY) && !all.contains("sk-entered"), "{all}");
    for (area, part) in [
        ("settings", "config.toml:3: screen.muose is not a setting. Did you mean screen.mouse?"),
        ("settings", "no_such"),
        ("theme", "unknown theme \"nope\""),
        ("keys", "was accessible to others (644)"),
        ("model", "401"),
        ("sessions", "01JAAAAAAAAAAAAAAAAAAAAAAA"),
    ] {
        let wrong = filter_findings(&findings, area, "wrong");
        assert!(wrong.iter().any(|words| words.contains(part)), "{area}: {part}: {all}");
    }
    assert!(findings.iter().filter(|value| value["state"] == "wrong").all(|value| value["do"].is_string()), "{all}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn reports_a_server_that_never_answers() {
    let service = Service::start_strict([Answer::default().with_step(Step::Stall)]).await;
    let setup = Setup::new(&["doctor", "--json", "--base-url", &service.base_url, "--model", "m"]);
    let (findings, code) = run_doctor(setup).await;
    assert_eq!(code, 1);
    let wrong = filter_findings(&findings, "model", "wrong");
    assert!(wrong.iter().any(|words| words.contains("did not answer within 2.2 s")), "{findings:#?}");
}

#[test]
fn works_with_broken_settings() {
    for text in ["[screen\n", "\u{0}", "[model]\nprofile = \"none\"\n", "[[[[\n", "= = =\n"] {
        let setup = Setup::new(&["doctor"]);
        write_settings(&setup, text);
        let (out, err, code) = setup.run_piped("");
        assert_eq!((err.as_str(), code), ("", 1), "{text:?}: {out}");
        assert!(out.contains("config.toml:") && out.contains("see !! above."), "{text:?}: {out}");
        assert!(out.lines().all(|line| line.chars().count() <= 100), "{out}");
    }
    let (out, _, code) = Setup::new(&["doctor", "-C", "/no/such/folder"]).run_piped("");
    assert!(code == 1 && out.contains("/no/such/folder"), "{out}");
    let (out, _, _) = Setup::new(&["doctor"]).env("TERM", "x\u{1b}[2J\u{202e}\nfake").run_piped("");
    assert!(!out.contains('\u{1b}') && !out.contains('\u{202e}') && !out.contains("\nfake"), "{out:?}");
}

#[test]
fn describes_the_terminal() {
    let mut program = Setup::new(&["doctor"]).size(100, 60).env("TMUX", "x").start();
    assert_eq!(program.wait_for_exit(), 0, "{}", program.screen());
    let screen = program.screen();
    assert!(screen.contains("TERM xterm-256color · 100x60 · 16 million colours"), "{screen}");
    assert!(screen.contains("set-clipboard on") && screen.contains("No problems."), "{screen}");
    assert!(program.is_restored());
}

#[test]
fn old_names_of_settings_are_notes() {
    let setup = Setup::new(&["doctor", "--json"]);
    write_settings(&setup, "[second_reader]\nseconds = 7\n");
    let themes = setup.root.path().join("home/aye/config/themes");
    std::fs::create_dir_all(&themes).unwrap();
    std::fs::write(themes.join("mine.toml"), "inherits = 'dark'\nperson = 'red'\n").unwrap();
    let (out, _, code) = setup.run_piped("");
    let objects: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let line_with = |text: &str| objects.iter().find(|line| line["words"].as_str().unwrap().contains(text)).unwrap();
    assert_eq!(line_with("`[second_reader]` is now `[model_reviewer]`")["state"], "note", "{out}");
    assert_eq!(line_with("mine.toml:2: `person` is now `user`")["state"], "note", "{out}");
    assert!(line_with("model_reviewer.seconds = 7")["words"].as_str().unwrap().ends_with("config.toml:2"), "{out}");
    let has_problem = objects.iter().any(|line| line["severity"] == "problem");
    assert_eq!(code == 1, has_problem, "{out}");
    // The keys `words`, `do` and `state` of version 0.1 are kept with the same content.
    for line in &objects {
        let old_state = if line["severity"] == "problem" { "wrong" } else { line["severity"].as_str().unwrap() };
        assert_eq!(
            (&line["message"], &line["advice"], old_state),
            (&line["words"], &line["do"], line["state"].as_str().unwrap())
        );
    }
}

#[test]
fn lists_rules_hooks_and_reviewers_and_which_are_disabled() {
    let setup = Setup::new(&["doctor", "--json"]);
    write_settings(
        &setup,
        "[hooks.right]\ncommand = [\"sh\", \"-c\", \"hook-secret-4711\"]\ntools = [\"bash_exec\"]\n[hooks.gone]\ncommand = [\"/no/such/hook\"]\n\
         [model_reviewer]\nprofile = \"none-such\"\n",
    );
    let config = setup.root.path().join("home/aye/config");
    let rule = |verdict: &str, prefix: &str, more: &str| {
        format!("[[rule]]\nverdict = \"{verdict}\"\nprefix = \"{prefix}\"\n{more}\n")
    };
    let mine = rule("allow", "cargo test", "")
        + &rule("deny", "git push", "")
        + &rule("allow", "make lint", "matches = \"make\"")
        + &rule("allow", "npm test", "expires = 2001-02-03");
    std::fs::write(config.join("rules.toml"), mine).unwrap();
    std::fs::write(config.join("trusted.toml"), "[[project").unwrap();
    let aye_folder = setup.root.path().join("project/.aye");
    std::fs::create_dir_all(&aye_folder).unwrap();
    std::fs::write(aye_folder.join("rules.toml"), rule("allow", "touch", "")).unwrap();
    let root = setup.root.clone();
    let (out, _, code) = setup.run_piped("");
    let objects: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(code, 1, "{out}");
    for (area, state, part) in [
        ("rules", "ok", "rules.toml: 2 rules apply here (1 allow, 1 deny)"),
        (
            "rules",
            "wrong",
            "rules.toml:12: the rule does not match \"make\", its example under matches. Correct it: until then the rule is disabled",
        ),
        ("rules", "note", "expired: allow npm test … ("),
        ("rules", "note", ".aye/rules.toml of this project (1 allow) is not trusted: its rules do not apply"),
        ("rules", "wrong", "trusted.toml: this is not TOML; no project's own rules apply"),
        ("hooks", "ok", "right (sh with 2 arguments) reviews calls of bash_exec, time limit 10 s"),
        (
            "hooks",
            "wrong",
            "gone is not available, so aye asks about every call that does more than read inside the project: /no/such/hook does not exist",
        ),
        ("reviewer", "wrong", "the model reviewer is not available, so every call asks"),
    ] {
        let words = filter_findings(&objects, area, state);
        assert!(words.iter().any(|words| words.contains(part)), "{area} {state}: {part}: {out}");
    }
    assert!(!out.contains("hook-secret") && !out.contains(config.to_str().unwrap()), "{out}");
    let problems = objects.iter().filter(|value| value["state"] == "wrong");
    assert!(problems.into_iter().all(|value| value["do"].is_string()), "{out}");

    // Everything asks if the rules file cannot be read, and the doctor says so.
    std::fs::write(root.path().join("home/aye/config/rules.toml"), "[[rule\n").unwrap();
    let (out, _, code) = Setup::with_home(&root, &["doctor"]).run_piped("");
    let text = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(code == 1 && text.contains("rules.toml:1: this is not TOML"), "{out}");
    assert!(text.contains("until then every call asks"), "{out}");
}

#[test]
fn reports_missing_rules_hooks_and_reviewers() {
    let (out, _, _) = Setup::new(&["doctor", "--json"]).run_piped("");
    let objects: Vec<Value> = out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for (area, part) in [
        ("rules", "does not exist: only the mode decides"),
        ("hooks", "off: no program reviews calls"),
        ("reviewer", "off: no model reviews calls"),
    ] {
        assert!(filter_findings(&objects, area, "ok").iter().any(|words| words.contains(part)), "{area}: {out}");
    }
}
