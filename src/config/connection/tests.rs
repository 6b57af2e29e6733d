//! Which model, where, with which key: one line for each way it can be configured.

use super::*;
use crate::config::read::read;

struct Case {
    file: &'static str,
    environment: &'static [(&'static str, &'static str)],
    flags: Overrides,
    entered: &'static [(&'static str, &'static str)],
}

const NOTHING: Case = Case {
    file: "",
    environment: &[],
    flags: Overrides { profile: None, base_url: None, model: None, mode: None, theme: None },
    entered: &[],
};
const KEY: (&str, &str) = ("OPENAI_API_KEY", "sk-1");

impl Case {
    fn connect(&self) -> Result<Option<Connection>, Problem> {
        let home = tempfile::tempdir().unwrap();
        let mut credentials = Credentials::load(&home.path().join("keys.toml")).unwrap();
        for (url, key) in self.entered {
            credentials.save(url, Key::new(key)).unwrap();
        }
        let environment = |name: &str| {
            let found = self.environment.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let settings = Settings::from_layers([read(self.file, "f")], &environment, &self.flags);
        connect(&settings, &environment, &self.flags, &credentials)
    }
}

fn flag(base_url: &str) -> Overrides {
    Overrides { base_url: Some(base_url.to_owned()), ..NOTHING.flags }
}

/// What the first screen says, and the key that is sent.
#[track_caller]
fn check(case: &Case, words: &str, key: Option<&str>) -> Connection {
    let connection = case.connect().unwrap().unwrap();
    assert_eq!(connection.words(), words);
    assert_eq!(connection.key.as_ref().map(Key::expose), key);
    connection
}

#[test]
fn nothing_configured_is_no_connection() {
    assert_eq!(NOTHING.connect(), Ok(None));
    assert_eq!(Case { environment: &[("OPENAI_API_KEY", "  ")], ..NOTHING }.connect(), Ok(None));
}

#[test]
fn the_first_screen_says_where_the_model_came_from() {
    check(
        &Case { environment: &[KEY], ..NOTHING },
        "gpt-5-mini at api.openai.com, from OPENAI_API_KEY",
        Some("sk-1"),
    );
    check(
        &Case { environment: &[("OPENROUTER_API_KEY", "k")], ..NOTHING },
        "openai/gpt-5-mini at openrouter.ai, from OPENROUTER_API_KEY",
        Some("k"),
    );
    check(
        &Case { entered: &[("https://api.openai.com/v1", "k")], ..NOTHING },
        "gpt-5-mini at api.openai.com, from the key you entered",
        Some("k"),
    );
    check(
        &Case { file: "model.profile = \"ollama\"\nprofiles.ollama.model = \"qwen\"", ..NOTHING },
        "qwen at 127.0.0.1:11434, from f:2",
        None,
    );
    check(
        &Case { file: "model.profile = \"ollama\"", ..NOTHING },
        "the server's own model at 127.0.0.1:11434, from the profile ollama",
        None,
    );
    check(
        &Case { environment: &[("AYE_PROFILE", "openai"), ("AYE_MODEL", "m")], ..NOTHING },
        "m at api.openai.com, but OPENAI_API_KEY is not set",
        None,
    );
    let local = Case { flags: flag("http://localhost:9/v1/"), ..NOTHING };
    let connection = check(&local, "gpt-5-mini at localhost:9, from --base-url", None);
    assert_eq!((connection.base_url.as_str(), connection.lacks_key), ("http://localhost:9/v1", false));
}

#[test]
fn r47_a_key_of_the_environment_goes_to_the_address_its_profile_names() {
    // To another address only where the person said so for this run or in their own settings.
    let given = Case { environment: &[KEY], flags: flag("https://proxy.example/v1"), ..NOTHING };
    check(&given, "gpt-5-mini at proxy.example, from OPENAI_API_KEY", Some("sk-1"));
    let given = Case { environment: &[KEY, ("OPENAI_BASE_URL", "https://proxy.example/v1")], ..NOTHING };
    check(&given, "gpt-5-mini at proxy.example, from OPENAI_API_KEY", Some("sk-1"));
    // To no other profile's.
    for profile in ["ollama", "lmstudio", "llamacpp", "vllm"] {
        let flags = Overrides { profile: Some(profile.into()), ..NOTHING.flags };
        let connection = Case { environment: &[KEY], flags, ..NOTHING }.connect().unwrap().unwrap();
        assert_eq!(connection.key, None, "{profile}");
    }
    // And the variable that moves one profile moves no other.
    let other = Case {
        file: "model.profile = \"openrouter\"",
        environment: &[("OPENROUTER_API_KEY", "k"), ("OPENAI_BASE_URL", "https://proxy.example/v1")],
        ..NOTHING
    };
    check(&other, "openai/gpt-5-mini at openrouter.ai, from OPENROUTER_API_KEY", Some("k"));
}

#[test]
fn r47_an_entered_key_does_not_follow_a_changed_address() {
    let moved = Case {
        file: "profiles.openai.base_url = \"https://evil.example/v1\"\nmodel.profile = \"openai\"",
        entered: &[("https://api.openai.com/v1", "k")],
        ..NOTHING
    };
    let connection = moved.connect().unwrap().unwrap();
    assert_eq!((connection.key, connection.lacks_key), (None, true));
}

#[test]
fn r47_an_address_without_encryption_is_warned_of_unless_it_is_this_machine() {
    for (url, warned) in [
        ("http://example.com/v1", true),
        ("http://192.168.1.2:8080/v1", true),
        ("http://localhost.example.com/v1", true),
        ("https://example.com/v1", false),
        ("http://127.0.0.1:1/v1", false),
        ("http://[::1]:1/v1", false),
        ("http://localhost:1/v1", false),
        ("http://2130706433/v1", false),
    ] {
        let connection = Case { flags: flag(url), ..NOTHING }.connect().unwrap().unwrap();
        assert_eq!(connection.warning.is_some(), warned, "{url}");
    }
    let connection = Case { flags: flag("http://h/v1"), ..NOTHING }.connect().unwrap().unwrap();
    assert_eq!(
        connection.warning.as_deref(),
        Some("h is reached without encryption: others on the way can read everything that is said")
    );
}

#[test]
fn what_cannot_be_says_where_it_was_written() {
    let said = |case: Case| case.connect().unwrap_err().to_string();
    assert_eq!(
        said(Case { file: "\nmodel.profile = \"olama\"", ..NOTHING }),
        "f:2: no profile is called \"olama\"; did you mean ollama?"
    );
    assert_eq!(
        said(Case { environment: &[("AYE_PROFILE", "corporate")], ..NOTHING }),
        "AYE_PROFILE: no profile is called \"corporate\"; there are llamacpp, lmstudio, ollama, openai, openrouter, vllm"
    );
    for url in ["example.com", "ftp://a/b", "https://me:pw@a/v1", "file:///etc", "https://a/v1?key=1", ""] {
        assert_eq!(
            said(Case { flags: flag(url), ..NOTHING }),
            "--base-url: this is no address to send to; it takes one such as \"https://example.com/v1\"",
            "{url}"
        );
    }
}
