//! Settings on disk, read by one run after another.

use crate::support::folder::Folder;
use aye::config::{Credentials, Key, Overrides, Settings, resolve_connection, write_setting};
use aye::store::Places;
use std::fs;
use std::os::unix::fs::MetadataExt;

fn no_environment(_: &str) -> Option<String> {
    None
}

#[test]
fn settings_and_keys_of_one_run_apply_in_the_next() {
    let home = Folder::new();
    let places = Places::find(Some(home.path().into())).unwrap();
    places.prepare().unwrap();
    let flags = Overrides::default();

    let settings = Settings::load(&places.settings(), &no_environment, &flags);
    let mut credentials = Credentials::load(&places.credentials()).unwrap();
    assert_eq!(resolve_connection(&settings, &no_environment, &flags, &credentials), Ok(None));
    credentials.save("openai", "https://api.openai.com/v1", Key::new("sk-entered")).unwrap();
    write_setting(&places.settings(), &["screen", "theme"], "dark").unwrap();
    write_setting(&places.settings(), &["profiles", "openai", "model"], "gpt-5").unwrap();
    write_setting(&places.settings(), &["screen", "mouse"], false).unwrap();

    let settings = Settings::load(&places.settings(), &no_environment, &flags);
    assert_eq!(settings.problems, []);
    assert_eq!((settings.config.screen.theme.as_str(), settings.config.screen.mouse), ("dark", false));
    let credentials = Credentials::load(&places.credentials()).unwrap();
    let connection = resolve_connection(&settings, &no_environment, &flags, &credentials).unwrap().unwrap();
    assert_eq!(connection.describe(), "gpt-5 at api.openai.com (with the key you entered)");
    assert_eq!(connection.origin(), "https://api.openai.com");
    for file in [places.settings(), places.credentials()] {
        assert_eq!(file.metadata().unwrap().mode() & 0o777, 0o600, "{}", file.display());
    }
}

#[test]
fn r57_key_from_the_environment_is_stored_in_no_file() {
    let home = Folder::new();
    let places = Places::within(home.path());
    places.prepare().unwrap();
    let environment = |name: &str| (name == "OPENAI_API_KEY").then(|| "sk-from-environment".to_owned());
    let flags = Overrides::default();
    let settings = Settings::load(&places.settings(), &environment, &flags);
    let credentials = Credentials::load(&places.credentials()).unwrap();
    let connection = resolve_connection(&settings, &environment, &flags, &credentials).unwrap().unwrap();
    assert!(!format!("{connection:?}{settings:?}").contains("sk-from"));
    write_setting(&places.settings(), &["screen", "theme"], "dark").unwrap();
    let text = fs::read_to_string(places.settings()).unwrap();
    assert_eq!(text, "[screen]\ntheme = \"dark\"\n");
}

#[test]
fn r69_broken_file_is_reported_and_never_changed() {
    let home = Folder::new();
    let path = home.path().join("config.toml");
    for broken in ["[screen\n", "screen = [\n", "\u{0}", "[a]\n[a]\n", "theme = 'x\n"] {
        fs::write(&path, broken).unwrap();
        let settings = Settings::load(&path, &no_environment, &Overrides::default());
        assert_eq!(settings.problems.len(), 1, "{broken:?}: {:?}", settings.problems);
        let problem = settings.problems[0].to_string();
        assert!(problem.starts_with(&format!("{}:", path.display())), "{problem}");
        assert!(write_setting(&path, &["screen", "theme"], "dark").is_err(), "{broken:?}");
        assert_eq!(fs::read_to_string(&path).unwrap(), broken);
    }
}
