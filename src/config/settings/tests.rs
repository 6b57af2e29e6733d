//! Precedence of settings and the reported origins.

use super::*;
use crate::config::Links;
use crate::config::schema::{SECTIONS, ValueKind};

fn no_variable(_: &str) -> Option<String> {
    None
}

fn parse_user_settings(text: &str) -> Settings {
    Settings::from_layers([parse_settings(text, "f")], &no_variable, &Overrides::default())
}

const EXAMPLE: &str = include_str!("../../../config.example.toml");

#[test]
fn the_example_file_equals_the_defaults() {
    let settings = parse_user_settings(EXAMPLE);
    assert_eq!(settings.problems, []);
    assert_eq!(settings.config, Config::default());
    let parsed: Config = toml::from_str(EXAMPLE).unwrap();
    assert_eq!((parsed.screen, parsed.shell), (settings.config.screen, settings.config.shell));
}

#[test]
fn a_project_may_keep_500_mb_for_undo_unless_the_settings_say_otherwise() {
    assert_eq!(parse_user_settings("").config.undo.max_mb, 500);
    assert_eq!(parse_user_settings("[undo]\nmax_mb = 20").config.undo.max_mb, 20);
}

#[test]
fn a_server_has_five_seconds_to_list_its_tools_unless_the_settings_say_otherwise() {
    let seconds = |line: &str| {
        let settings = parse_user_settings(&format!("[mcp.a]\ncommand = [\"x\"]\n{line}"));
        settings.config.mcp["a"].discovery_seconds
    };
    assert_eq!((seconds(""), seconds("discovery_seconds = 9")), (5, 9));
}

#[test]
fn the_example_file_contains_every_setting_with_a_valid_value() {
    let uncommented: String = EXAMPLE
        .lines()
        .map(|line| match line.strip_prefix("# ").filter(|line| line.contains(" = ") || line.starts_with('[')) {
            Some(setting) => format!("{setting}\n"),
            None => format!("{line}\n"),
        })
        .collect();
    let layer = parse_settings(&uncommented, "f");
    assert_eq!(layer.problems, []);
    for (section, settings) in SECTIONS.iter().filter(|(section, _)| *section != "keys") {
        let example_names: &[&str] = match *section {
            "hooks.*" => &["check"],
            // One has a command, the other an address.
            "mcp.*" => &["files", "issues"],
            _ => &["openai"],
        };
        for (name, _) in *settings {
            let path = |example_name: &str| format!("{}.{name}", section.replace('*', example_name));
            let is_shown = example_names.iter().any(|example_name| layer.origins.contains_key(&path(example_name)));
            assert!(is_shown, "{} is not in config.example.toml", path(example_names[0]));
        }
    }
}

#[test]
fn every_word_of_a_choice_is_a_variant() {
    for (section, settings) in SECTIONS {
        for (name, accepted) in *settings {
            let ValueKind::Choice(words) = accepted else { continue };
            for word in *words {
                let text = format!("[{}]\n{name} = \"{word}\"", section.replace('*', "x"));
                assert!(toml::from_str::<Config>(&text).is_ok(), "{text}");
            }
            let text = format!("[{}]\n{name} = \"other\"", section.replace('*', "x"));
            let error = toml::from_str::<Config>(&text).unwrap_err().to_string();
            // The error quotes the invalid word and every variant in backticks: no variant is missing from `words`.
            assert_eq!(error.matches('`').count(), 2 * (words.len() + 1), "{error}");
        }
    }
}

#[test]
fn the_file_overrides_only_the_settings_it_contains() {
    let settings =
        parse_user_settings("[screen]\nlinks = \"off\"\n[profiles.openai]\nmodel = \"m\"\n[keys]\nquit = \"f10\"\n");
    assert_eq!(settings.config.screen.links, Links::Off);
    assert!(settings.config.screen.mouse);
    let openai = &settings.config.profiles["openai"];
    assert_eq!((openai.model.as_deref(), openai.base_url.as_str()), (Some("m"), "https://api.openai.com/v1"));
    assert_eq!(settings.config.profiles.len(), Config::default().profiles.len());
    assert_eq!(settings.config.keys["quit"], ["f10"]);
    assert_eq!(settings.origin("screen.links").to_string(), "f:2");
    assert_eq!(settings.origin("screen.mouse"), Origin::Default);
}

#[test]
fn a_later_file_overrides_an_earlier_one() {
    let layers = [
        parse_settings("[screen]\ntheme = \"a\"\nmouse = false", "one"),
        parse_settings("screen.theme = \"b\"", "two"),
    ];
    let settings = Settings::from_layers(layers, &no_variable, &Overrides::default());
    assert_eq!((settings.config.screen.theme.as_str(), settings.config.screen.mouse), ("b", false));
    assert_eq!(settings.origin("screen.theme").to_string(), "two:1");
}

#[test]
fn flags_override_the_environment_which_overrides_the_file() {
    let environment = |name: &str| match name {
        "AYE_PROFILE" => Some("vllm".to_owned()),
        "NO_COLOR" => Some("1".to_owned()),
        _ => None,
    };
    let file = || parse_settings("model.profile = \"ollama\"", "f");
    let profile_with_origin = |settings: &Settings| {
        let name = settings.config.model.profile.clone().unwrap();
        format!("{name} from {}", settings.origin("model.profile"))
    };
    let no_flags = Overrides::default();
    assert_eq!(profile_with_origin(&Settings::from_layers([file()], &no_variable, &no_flags)), "ollama from f:1");
    let settings = Settings::from_layers([file()], &environment, &no_flags);
    assert_eq!(profile_with_origin(&settings), "vllm from AYE_PROFILE");
    assert!(!settings.config.screen.color);
    let flags = Overrides { profile: Some("llamacpp".into()), mode: Some(Mode::Plan), ..no_flags };
    let settings = Settings::from_layers([file()], &environment, &flags);
    assert_eq!(profile_with_origin(&settings), "llamacpp from --profile");
    assert_eq!(settings.config.approval.mode, Mode::Plan);
}

#[test]
fn inconsistent_settings_are_reported() {
    let settings = parse_user_settings("[shell]\ntimeout = 900\n[profiles.mine]\nmodel = \"m\"");
    let problem_texts: Vec<String> = settings.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        problem_texts,
        [
            "f:2: shell.timeout (900) exceeds shell.max_timeout (600). Both are set to 900",
            "f:4: profiles.mine has no base_url. Set it to the address of the provider"
        ]
    );
    assert_eq!(settings.config.shell.max_timeout, 900);
    assert!(!settings.config.profiles.contains_key("mine"));
}

#[test]
fn r69_a_file_that_is_not_utf8_is_reported_and_unchanged() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("config.toml");
    fs::write(&path, b"[screen]\n\xff").unwrap();
    let home_variable = |name: &str| (name == "HOME").then(|| home.path().display().to_string());
    let settings = Settings::load(&path, &home_variable, &Overrides::default());
    assert_eq!(
        settings.problems[0].to_string(),
        "~/config.toml:2: this is not text in UTF-8. Correct it: until then the whole file is ignored"
    );
    assert_eq!(settings.config, Config::default());
    assert_eq!(fs::read(&path).unwrap(), b"[screen]\n\xff");
    let missing = Settings::load(&home.path().join("none"), &no_variable, &Overrides::default());
    assert_eq!(missing.problems, []);
}

#[test]
fn a_section_for_a_built_in_profile_overrides_only_its_keys() {
    let settings =
        parse_user_settings("[profiles.deepseek]\nbase_url = \"https://gateway.example/v1\"\nidle_seconds = 5\n");
    let (profile, default_profile) = (&settings.config.profiles["deepseek"], &Config::default().profiles["deepseek"]);
    let expected = crate::config::Profile {
        base_url: "https://gateway.example/v1".into(),
        idle_seconds: 5,
        ..default_profile.as_ref().clone()
    };
    assert_eq!(**profile, expected);
    assert!(profile.send_reasoning && profile.key_env.as_deref() == Some("DEEPSEEK_API_KEY"));
}

#[test]
fn a_repeated_profile_keeps_the_first_and_the_rest_of_the_file() {
    let settings = parse_user_settings(
        "[profiles.a]\nbase_url = \"https://one/v1\"\n[profiles.a]\nbase_url = \"https://two/v1\"\nmodel = \"x\"\n[screen]\nmouse = false\ntheem = 1\n",
    );
    let problem_texts: Vec<String> = settings.problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        problem_texts,
        [
            "f:3: profile a is already defined on line 1. Remove this definition: only the first one is used",
            "f:8: screen.theem is not a setting. Did you mean screen.theme?",
        ]
    );
    assert_eq!(settings.config.profiles["a"].base_url, "https://one/v1");
    assert_eq!(settings.config.profiles["a"].model, None);
    assert!(!settings.config.screen.mouse);
}

#[test]
fn the_fallback_must_exist_and_differ_from_the_profile() {
    let problems_of = |text: &str| -> Vec<String> {
        let settings = parse_user_settings(text);
        assert_eq!(settings.config.model.fallback.is_none(), !settings.problems.is_empty(), "{text}");
        settings.problems.iter().map(ToString::to_string).collect()
    };
    assert_eq!(problems_of("[model]\nprofile = \"openai\"\nfallback = \"openrouter\""), [""; 0]);
    assert_eq!(problems_of("[model]\nfallback = \"openai\""), [""; 0]);
    assert_eq!(
        problems_of("[model]\nprofile = \"openai\"\nfallback = \"openai\""),
        ["f:3: model.fallback names the profile already in use. Set a different profile"]
    );
    assert_eq!(
        problems_of("[model]\nfallback = \"opnrouter\""),
        ["f:2: profile \"opnrouter\" does not exist. Did you mean openrouter?"]
    );
    // The first problem is the missing address.
    let without_address = problems_of("[model]\nfallback = \"zzz\"\n[profiles.zzz]\nmodel = \"m\"");
    assert_eq!(
        without_address[1..],
        ["f:2: profile \"zzz\" does not exist"],
        "a profile without an address is ignored"
    );
}
