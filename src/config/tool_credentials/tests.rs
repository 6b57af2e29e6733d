//! Tests of the file of credentials.

use super::*;
use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};

fn bearer(secret: &str) -> ToolCredential {
    ToolCredential {
        kind: CredentialKind::Bearer,
        origins: vec![BoundOrigin::parse("https://api.example.com").unwrap()],
        source: SecretSource::File(Key::new(secret)),
    }
}

fn all_kinds() -> Vec<ToolCredential> {
    let name = |text| parse_header_name(text).unwrap();
    let client = OAuthClient {
        issuer: "https://login.example.com".to_owned(),
        authorization_endpoint: "https://login.example.com/authorize".to_owned(),
        token_endpoint: "https://login.example.com/token".to_owned(),
        device_endpoint: None,
        uses_device: false,
        client_id: "id".to_owned(),
        scopes: vec!["repo".to_owned()],
        required_scopes: vec!["admin:org".to_owned()],
        resource: Some("https://api.example.com/v1".to_owned()),
    };
    let kinds = [
        CredentialKind::Bearer,
        CredentialKind::ApiKey(name("X-API-Key")),
        CredentialKind::Basic("ada@example.com".to_owned()),
        CredentialKind::Header(name("X-Token")),
        CredentialKind::OAuth(Box::new(client)),
    ];
    let sources = [
        SecretSource::File(Key::new("s3cret \"quoted\"")),
        SecretSource::KeyStore("github-01J00000000000000000000000".to_owned()),
        SecretSource::Variable("TOKEN".to_owned()),
        SecretSource::Command(vec!["pass".to_owned(), "show".to_owned(), "a b".to_owned()]),
    ];
    let with_sources = |kind: CredentialKind| {
        sources.clone().map(|source| ToolCredential { kind: kind.clone(), source, ..bearer("") })
    };
    kinds.into_iter().flat_map(with_sources).collect()
}

#[test]
fn every_kind_is_read_as_it_was_saved() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("config/tool_credentials.toml");
    for (number, credential) in all_kinds().into_iter().enumerate() {
        let name = format!("c{number}");
        LockedCredentials::open(&path).unwrap().save(&name, &credential).unwrap();
        let loaded = ToolCredentials::load(&path).unwrap();
        assert_eq!((loaded.get(&name), loaded.problems.len()), (Some(&credential), 0));
        assert_eq!(loaded.iter().count(), number + 1, "the others are kept");
    }
    assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
    assert_eq!(path.with_extension("lock").metadata().unwrap().mode() & 0o777, 0o600);
    let loaded = ToolCredentials::load(&path).unwrap();
    assert_eq!((loaded.secrets().len(), loaded.variables().count()), (5, 5));
}

#[test]
fn an_unusable_entry_disables_only_itself_and_is_kept() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("tool_credentials.toml");
    let entries = [
        "kind = \"bearer\"\norigins = []\nsecret = \"hunter2\"",
        "kind = \"bearer\"\norigins = [\"http://a.example\"]\nsecret = \"hunter2\"",
        "kind = \"bearer\"\norigins = [\"https://a.example\"]",
        "kind = \"bearer\"\norigins = [\"https://a.example\"]\nsecret = \"hunter2\"\nenv = \"X\"",
        "kind = \"bearer\"\norigins = [\"https://a.example\"]\nsecret = \"hunter2\"\nuser = \"x\"",
        "kind = \"basic\"\norigins = [\"https://a.example\"]\nsecret = \"hunter2\"",
        "kind = \"header\"\nheader = \"Host\"\norigins = [\"https://a.example\"]\nsecret = \"hunter2\"",
        "kind = \"hunter2\"\norigins = [\"https://a.example\"]\nsecret = \"x\"",
        "kind = \"bearer\"\norigins = [\"https://a.example\"]\nsecret = \"hunter2\"\nhunter2 = 1",
        "kind = \"bearer\"\norigins = [\"https://a.example\"]\nkey_command = []",
        "kind = \"bearer\"\norigins = [\"https://a.example\"]\nsecret = \"hunter2\"\nkey_store = \"x\"",
        "kind = \"bearer\"\norigins = [\"https://a.example\"]\nkey_store = \"hunter2\\u0000\"",
        "kind = \"bearer\"\norigins = [\"https://hunter2@a.example\"]\nsecret = \"hunter2\"",
    ];
    let text: String = entries.iter().enumerate().map(|(number, entry)| format!("[bad{number}]\n{entry}\n")).collect();
    fs::write(&path, &text).unwrap();
    LockedCredentials::open(&path).unwrap().save("good", &bearer("s3cret")).unwrap();
    let loaded = ToolCredentials::load(&path).unwrap();
    assert_eq!((loaded.iter().count(), loaded.problems.len()), (1, entries.len()), "{:?}", loaded.problems);
    assert!(!format!("{:?}", loaded.problems).contains("hunter2"), "{:?}", loaded.problems);
    assert!(LockedCredentials::open(&path).unwrap().remove("bad3").unwrap());
    assert!(!LockedCredentials::open(&path).unwrap().remove("bad3").unwrap());
    assert_eq!(ToolCredentials::load(&path).unwrap().problems.len(), entries.len() - 1);
}

#[test]
fn r57_errors_and_debug_output_contain_no_secret() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("tool_credentials.toml");
    fs::write(&path, "[a]\nsecret = hunter2\n").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let error = ToolCredentials::load(&path).unwrap_err();
    assert!(!format!("{error:?}").contains("hunter2"), "{error:?}");
    assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
    assert!(LockedCredentials::open(&path).unwrap().save("b", &bearer("x")).is_err());
    assert_eq!(fs::read_to_string(&path).unwrap(), "[a]\nsecret = hunter2\n", "it is unchanged");
    assert!(!format!("{:?}", bearer("hunter2")).contains("hunter2"));
}

#[test]
fn changes_at_the_same_time_are_all_kept() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("tool_credentials.toml");
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let path = &path;
            scope.spawn(move || {
                for number in 0..5 {
                    LockedCredentials::open(path).unwrap().save(&format!("c{thread}-{number}"), &bearer("x")).unwrap();
                }
            });
        }
    });
    assert_eq!(ToolCredentials::load(&path).unwrap().iter().count(), 40);
}

#[test]
fn a_name_is_a_plain_word() {
    for name in ["github", "a", "9x", "a.b_c-D"] {
        assert_eq!(check_name(name), Ok(()));
    }
    for name in ["", "-x", ".x", "a b", "a/b", "é", "a\n", "a\u{1b}", &"x".repeat(65)] {
        assert!(check_name(name).is_err(), "{name:?}");
    }
}
