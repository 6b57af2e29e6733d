//! Resolution of model, address and key for each way of configuring them.

use super::*;
use crate::config::settings_parser::parse_settings;

struct Case {
    file: &'static str,
    /// Name and value of each variable.
    environment: &'static [(&'static str, &'static str)],
    flags: Overrides,
    /// Address and key of each entered key.
    entered_keys: &'static [(&'static str, &'static str)],
}

const EMPTY: Case = Case {
    file: "",
    environment: &[],
    flags: Overrides { profile: None, base_url: None, model: None, mode: None, theme: None },
    entered_keys: &[],
};
const KEY: (&str, &str) = ("OPENAI_API_KEY", "sk-1");

impl Case {
    /// Resolves the profile in use.
    fn connect(&self) -> Result<Option<Connection>, Problem> {
        self.with_settings(|settings, environment, credentials| {
            resolve_connection(settings, environment, &self.flags, credentials)
        })
    }

    /// Resolves the profile in use and its fallback.
    fn connect_with_fallback(&self) -> (Connection, Result<Option<Connection>, Problem>) {
        let primary = self.connect().unwrap().unwrap();
        let fallback = self.with_settings(|settings, environment, credentials| {
            resolve_fallback(settings, environment, credentials, &primary)
        });
        (primary, fallback)
    }

    /// Returns the result of `resolve` for the settings, variables and entered keys of this case.
    fn with_settings<T>(&self, resolve: impl Fn(&Settings, Environment<'_>, &Credentials) -> T) -> T {
        let home = tempfile::tempdir().unwrap();
        let mut credentials = Credentials::load(&home.path().join("keys.toml")).unwrap();
        for (url, key) in self.entered_keys {
            credentials.save("p", url, Key::new(key)).unwrap();
        }
        let environment = |name: &str| {
            let variable = self.environment.iter().find(|(variable_name, _)| *variable_name == name);
            variable.map(|(_, value)| (*value).to_owned())
        };
        let settings = Settings::from_layers([parse_settings(self.file, "f")], &environment, &self.flags);
        resolve(&settings, &environment, &credentials)
    }
}

fn base_url_flag(base_url: &str) -> Overrides {
    Overrides { base_url: Some(base_url.to_owned()), ..EMPTY.flags }
}

/// Checks the description on the first screen and the key that is sent.
#[track_caller]
fn check_connection(case: &Case, description: &str, key: Option<&str>) -> Connection {
    let connection = case.connect().unwrap().unwrap();
    assert_eq!(connection.describe(), description);
    assert_eq!(connection.key.as_ref().map(Key::expose), key);
    connection
}

#[test]
fn no_configuration_gives_no_connection() {
    assert_eq!(EMPTY.connect(), Ok(None));
    assert_eq!(Case { environment: &[("OPENAI_API_KEY", "  ")], ..EMPTY }.connect(), Ok(None));
}

#[test]
fn the_first_screen_names_the_source_of_the_connection() {
    check_connection(
        &Case { environment: &[KEY], ..EMPTY },
        "gpt-5-mini at api.openai.com (key from OPENAI_API_KEY)",
        Some("sk-1"),
    );
    check_connection(
        &Case { environment: &[("OPENROUTER_API_KEY", "k")], ..EMPTY },
        "openai/gpt-5-mini at openrouter.ai (key from OPENROUTER_API_KEY)",
        Some("k"),
    );
    check_connection(
        &Case { entered_keys: &[("https://api.openai.com/v1", "k")], ..EMPTY },
        "gpt-5-mini at api.openai.com (with the key you entered)",
        Some("k"),
    );
    check_connection(
        &Case { file: "model.profile = \"ollama\"\nprofiles.ollama.model = \"qwen\"", ..EMPTY },
        "qwen at 127.0.0.1:11434 (set in f:2)",
        None,
    );
    check_connection(
        &Case { file: "model.profile = \"ollama\"", ..EMPTY },
        "the server's default model at 127.0.0.1:11434 (profile ollama)",
        None,
    );
    check_connection(
        &Case { environment: &[("AYE_PROFILE", "openai"), ("AYE_MODEL", "m")], ..EMPTY },
        "m at api.openai.com, but OPENAI_API_KEY is not set",
        None,
    );
    let local_case = Case { flags: base_url_flag("http://localhost:9/v1/"), ..EMPTY };
    let connection = check_connection(&local_case, "gpt-5-mini at localhost:9 (set by --base-url)", None);
    assert_eq!((connection.base_url.as_str(), connection.lacks_key), ("http://localhost:9/v1", false));
}

#[test]
fn r47_an_environment_key_is_sent_to_the_address_of_its_profile() {
    // Another address gets the key only if the user gave it for this run or in their own settings.
    let proxied = Case { environment: &[KEY], flags: base_url_flag("https://proxy.example/v1"), ..EMPTY };
    check_connection(&proxied, "gpt-5-mini at proxy.example (key from OPENAI_API_KEY)", Some("sk-1"));
    let proxied = Case { environment: &[KEY, ("OPENAI_BASE_URL", "https://proxy.example/v1")], ..EMPTY };
    check_connection(&proxied, "gpt-5-mini at proxy.example (key from OPENAI_API_KEY)", Some("sk-1"));
    // The key goes to no other profile.
    for profile in ["ollama", "lmstudio", "llamacpp", "vllm"] {
        let flags = Overrides { profile: Some(profile.into()), ..EMPTY.flags };
        let connection = Case { environment: &[KEY], flags, ..EMPTY }.connect().unwrap().unwrap();
        assert_eq!(connection.key, None, "{profile}");
    }
    // OPENAI_BASE_URL affects no other profile.
    let openrouter = Case {
        file: "model.profile = \"openrouter\"",
        environment: &[("OPENROUTER_API_KEY", "k"), ("OPENAI_BASE_URL", "https://proxy.example/v1")],
        ..EMPTY
    };
    check_connection(&openrouter, "openai/gpt-5-mini at openrouter.ai (key from OPENROUTER_API_KEY)", Some("k"));
}

#[test]
fn r47_an_entered_key_is_not_sent_to_a_changed_address() {
    let moved_case = Case {
        file: "profiles.openai.base_url = \"https://evil.example/v1\"\nmodel.profile = \"openai\"",
        entered_keys: &[("https://api.openai.com/v1", "k")],
        ..EMPTY
    };
    let connection = moved_case.connect().unwrap().unwrap();
    assert_eq!((connection.key, connection.lacks_key), (None, true));
}

#[test]
fn r47_an_unencrypted_remote_address_causes_a_warning() {
    for (url, expected) in [
        ("http://example.com/v1", true),
        ("http://192.168.1.2:8080/v1", true),
        ("http://localhost.example.com/v1", true),
        ("https://example.com/v1", false),
        ("http://127.0.0.1:1/v1", false),
        ("http://[::1]:1/v1", false),
        ("http://localhost:1/v1", false),
        ("http://2130706433/v1", false),
        ("http://127.8.9.1/v1", false),
        ("http://LOCALHOST:1/v1", false),
        ("http://localhost./v1", false),
        ("http://0.0.0.0:4000/v1", false),
        ("http://[::]:4000/v1", false),
        ("http://[::ffff:127.0.0.1]/v1", false),
        ("http://model.localhost/v1", true),
        ("http://128.0.0.1/v1", true),
        ("http://169.254.1.1/v1", true),
        ("http://[fe80::1]/v1", true),
        ("http://[::ffff:10.0.0.1]/v1", true),
        ("http://127.0.0.1.example.com/v1", true),
    ] {
        let connection = Case { flags: base_url_flag(url), ..EMPTY }.connect().unwrap().unwrap();
        assert_eq!(connection.warning.is_some(), expected, "{url}");
    }
    let connection = Case { flags: base_url_flag("http://h/v1"), ..EMPTY }.connect().unwrap().unwrap();
    assert_eq!(
        connection.warning.as_deref(),
        Some("The connection to h is not encrypted: others on the network can read all messages")
    );
}

#[test]
fn an_invalid_profile_or_address_is_reported_with_its_source() {
    let error_text = |case: Case| case.connect().unwrap_err().to_string();
    assert_eq!(
        error_text(Case { file: "\nmodel.profile = \"olama\"", ..EMPTY }),
        "f:2: profile \"olama\" does not exist. Did you mean ollama?"
    );
    assert_eq!(
        error_text(Case { environment: &[("AYE_PROFILE", "corporate")], ..EMPTY }),
        "AYE_PROFILE: profile \"corporate\" does not exist. Use one of: anthropic, azure, cerebras, deepseek, fireworks, gemini, groq, jan, koboldcpp, litellm, llamacpp, lmstudio, mistral, moonshot, ollama, openai, openrouter, sglang, together, vllm, xai"
    );
    for (url, reason) in [
        ("example.com", "it does not begin with http:// or https://. Write \"https://example.com\"."),
        ("ftp://a/b", "it does not begin with http:// or https://. Use an address such as \"https://example.com/v1\"."),
        ("http://127.0.0.1:99999/v1", "its port is out of range. Ports go from 1 to 65535."),
        ("https://a/v1/chat/completions", "it is a complete endpoint, not a base address. Write \"https://a/v1\"."),
    ] {
        assert_eq!(
            error_text(Case { flags: base_url_flag(url), ..EMPTY }),
            format!("--base-url: Cannot use this address: {reason}"),
            "{url}"
        );
    }
}

#[test]
fn an_invalid_proxy_is_an_error_not_a_direct_connection() {
    let with_proxy = |proxy: &str| {
        let file = format!(
            "model.profile = \"p\"\n[profiles.p]\nbase_url = \"https://h/v1\"\nproxy = {proxy}\n[profiles.q]\nbase_url = \"https://q/v1\""
        );
        Case { file: Box::leak(file.into_boxed_str()), ..EMPTY }
    };
    for invalid in ["\"127.0.0.1:3128\"", "\"\"", "3128", "\"ftp://h\"", "\"http://me:secret@\""] {
        let error = with_proxy(invalid).connect().unwrap_err().to_string();
        assert!(error.starts_with("f:4: profiles.p.proxy "), "{invalid}: {error}");
        assert!(!error.contains("secret"), "{error}");
    }
    for valid in ["\"none\"", "\"http://127.0.0.1:3128\"", "\"socks5h://h:1080\""] {
        assert!(with_proxy(valid).connect().is_ok(), "{valid}");
    }
    // Other profiles are not affected.
    let flags = Overrides { profile: Some("q".into()), ..EMPTY.flags };
    assert!(Case { flags, ..with_proxy("3128") }.connect().is_ok());
}

#[test]
fn an_invalid_address_of_a_built_in_profile_does_not_fall_back_to_the_default() {
    let file = "model.profile = \"openai\"\nprofiles.openai.base_url = \"https://h/v1/chat/completions\"";
    let error = Case { file, environment: &[KEY], ..EMPTY }.connect().unwrap_err().to_string();
    assert_eq!(
        error,
        "f:2: profiles.openai.base_url is a complete endpoint, not a base address. Write \"https://h/v1\"."
    );
    let flags = base_url_flag("http://127.0.0.1:1/v1");
    assert!(Case { file, flags, ..EMPTY }.connect().is_ok(), "another address was given for this run");
}

#[test]
fn the_default_profile_is_the_first_with_a_key_in_the_documented_order() {
    let default_profile = |environment: &'static [(&str, &str)]| {
        Case { environment, ..EMPTY }.connect().unwrap().map(|connection| connection.profile)
    };
    assert_eq!(default_profile(&[("MOONSHOT_API_KEY", "k"), ("GROQ_API_KEY", "k")]).as_deref(), Some("groq"));
    assert_eq!(default_profile(&[("XAI_API_KEY", "k"), ("ANTHROPIC_API_KEY", "k")]).as_deref(), Some("anthropic"));
    // A profile without an address cannot be used, and local servers are used only if the user chooses them.
    assert_eq!(default_profile(&[("AZURE_OPENAI_API_KEY", "k"), ("JAN_API_KEY", "k")]), None);
    // The first comment lines of the example name the profiles in this order.
    let example = include_str!("../../../config.example.toml");
    let documented: String = example.lines().filter(|line| line.starts_with("# ")).take(5).collect();
    let (mut position, documented_names) = (0, documented.replace(" and ", ", "));
    for name in PREFERRED_PROFILES {
        let index = documented_names[position..].find(name).unwrap_or_else(|| panic!("{name} in {documented_names}"));
        position += index + name.len();
    }
}

#[test]
fn an_invalid_key_is_reported_without_showing_it() {
    for (key, origin) in [("sk-se\ncret", "OPENAI_API_KEY"), ("sk-sécret", "OPENAI_API_KEY")] {
        let environment = [("OPENAI_API_KEY", key)];
        let environment: &'static [(&str, &str)] = Box::leak(Box::new(environment));
        let error_text = Case { environment, ..EMPTY }.connect().unwrap_err().to_string();
        assert_eq!(
            error_text,
            format!(
                "{origin}: the key contains a line break or characters that cannot be sent. Nothing was sent. Correct the key"
            )
        );
    }
    let invalid_key = Case { entered_keys: &[("https://api.openai.com", "a\u{7f}b")], ..EMPTY };
    assert!(invalid_key.connect().unwrap_err().to_string().starts_with("the key you entered: the key contains"));
}

#[test]
fn a_key_command_counts_as_a_key_and_is_not_run_on_connect() {
    let file = "model.profile = \"openai\"\nprofiles.openai.key_command = \"/none/such --of x\"";
    let connection = check_connection(
        &Case { file, ..EMPTY },
        "gpt-5-mini at api.openai.com (key from the command /none/such)",
        None,
    );
    assert!(connection.has_key() && !connection.lacks_key);
    assert_eq!(connection.settings.key_command.clone().unwrap(), ["/none/such", "--of", "x"]);
    // An environment variable overrides the command, and the command overrides an entered key.
    let with_variable = Case { file, environment: &[KEY], ..EMPTY };
    check_connection(&with_variable, "gpt-5-mini at api.openai.com (key from OPENAI_API_KEY)", Some("sk-1"));
    let with_entered_key = Case { file, entered_keys: &[("https://api.openai.com", "k")], ..EMPTY };
    check_connection(&with_entered_key, "gpt-5-mini at api.openai.com (key from the command /none/such)", None);
}

#[test]
fn r47_a_key_entered_for_another_address_is_mentioned() {
    let moved_case = |entered| Case {
        file: "profiles.openai.base_url = \"https://evil.example/v1\"\nmodel.profile = \"openai\"",
        entered_keys: entered,
        ..EMPTY
    };
    let other_key_origin = |case: Case| case.connect().unwrap().unwrap().key_elsewhere;
    let default_case = moved_case(&[("https://api.openai.com/v1", "k")]);
    assert_eq!(other_key_origin(default_case).as_deref(), Some("https://api.openai.com"));
    assert_eq!(
        other_key_origin(moved_case(&[("https://evil.example/other", "k")])),
        None,
        "this address has its own key"
    );
    assert_eq!(
        other_key_origin(moved_case(&[("https://openrouter.ai/api/v1", "k")])),
        None,
        "the key of another provider"
    );
    let own_profile = Case {
        file: "profiles.p.base_url = \"https://new.example/v1\"\nmodel.profile = \"p\"",
        entered_keys: &[("https://old.example/v1", "k")],
        ..EMPTY
    };
    assert_eq!(other_key_origin(own_profile).as_deref(), Some("https://old.example"));
}

#[test]
fn an_address_with_a_placeholder_is_reported() {
    let unfilled = Case { file: "model.profile = \"azure\"", environment: &[("AZURE_OPENAI_API_KEY", "k")], ..EMPTY };
    assert_eq!(
        unfilled.connect().unwrap_err().to_string(),
        "the default: profiles.azure.base_url contains the placeholder RESOURCE. Replace it with the name of your resource, for example https://contoso.openai.azure.com/openai/v1"
    );
    let filled = Case {
        file: "[profiles.azure]\nbase_url = \"https://contoso.openai.azure.com/openai/v1\"",
        environment: &[("AZURE_OPENAI_API_KEY", "k")],
        ..EMPTY
    };
    let connection = filled.connect().unwrap().unwrap();
    assert_eq!((connection.profile.as_str(), connection.settings.key_header.as_deref()), ("azure", Some("api-key")));
}

#[test]
fn usable_profiles_have_a_key_or_are_local() {
    let flags = Overrides { model: Some("chosen".into()), base_url: Some("http://h/v1".into()), ..EMPTY.flags };
    let environment = |name: &str| (name == "GROQ_API_KEY").then(|| "k".to_owned());
    let file = "[profiles.lan]\nbase_url = \"http://10.0.0.1/v1\"\n[profiles.locked]\nbase_url = \"https://l/v1\"\nkey_env = \"LOCKED_KEY\"\n[profiles.command]\nbase_url = \"https://c/v1\"\nkey_command = \"x\"";
    let settings = Settings::from_layers([parse_settings(file, "f")], &environment, &flags);
    let usable = usable_connections(&settings, &environment, &flags, &Credentials::default());
    let names: Vec<&str> = usable.iter().map(|connection| connection.profile.as_str()).collect();
    assert_eq!(
        names,
        ["groq", "command", "jan", "koboldcpp", "lan", "litellm", "llamacpp", "lmstudio", "ollama", "sglang", "vllm"]
    );
    assert!(usable.iter().all(|connection| connection.model.as_deref() != Some("chosen")));
    assert_eq!(usable[0].base_url, "https://api.groq.com/openai/v1");
}

#[test]
fn the_fallback_has_its_own_address_key_and_model() {
    let case = Case {
        file: "[model]\nfallback = \"openrouter\"",
        environment: &[KEY, ("OPENROUTER_API_KEY", "k"), ("AYE_MODEL", "other")],
        flags: base_url_flag("https://first.example.com/v1"),
        entered_keys: &[],
    };
    let (primary, fallback) = case.connect_with_fallback();
    let fallback = fallback.unwrap().unwrap();
    assert_eq!((primary.base_url.as_str(), primary.model.as_deref()), ("https://first.example.com/v1", Some("other")));
    assert_eq!(
        (fallback.base_url.as_str(), fallback.model.as_deref()),
        ("https://openrouter.ai/api/v1", Some("openai/gpt-5-mini"))
    );
    assert_eq!(fallback.key.as_ref().map(Key::expose), Some("k"));
    let same_profile = Case { file: "[model]\nfallback = \"openai\"", environment: &[KEY], ..EMPTY };
    let error_text = same_profile.connect_with_fallback().1.unwrap_err().to_string();
    assert_eq!(error_text, "f:2: model.fallback names the profile already in use. Set a different profile");
    assert_eq!(Case { environment: &[KEY], ..EMPTY }.connect_with_fallback().1, Ok(None));
}
