//! Tests of paths and addresses.

use super::*;
use proptest::prelude::*;

const ID: &str = "01JDXA0000000000000000000Z";

fn parse_path(text: &str) -> Result<String, AddressError> {
    ScopedPath::parse(text).map(|path| path.to_string())
}

#[test]
fn a_path_has_one_spelling() {
    for (text, expected) in [
        ("reports/q1.md", "reports/q1.md"),
        ("/reports/q1.md", "reports/q1.md"),
        ("cafe\u{301}.txt", "café.txt"),
        ("a b/…/.hidden", "a b/…/.hidden"),
        (&format!("/sessions/{ID}/a"), &format!("/sessions/{ID}/a")),
        (&format!("sessions/{ID}/a/b"), &format!("/sessions/{ID}/a/b")),
    ] {
        assert_eq!(parse_path(text).as_deref(), Ok(expected), "{text}");
    }
    assert_eq!(WorkspacePath::parse(&format!("/sessions/{ID}/a")), Err(AddressError::Session));
}

#[test]
fn a_path_leaves_no_folder() {
    let long = "x".repeat(MAX_NAME_BYTES + 1);
    for (text, error) in [
        ("", AddressError::Empty),
        ("/", AddressError::Empty),
        ("//a", AddressError::EmptyName),
        ("a//b", AddressError::EmptyName),
        ("a/", AddressError::EmptyName),
        ("..", AddressError::Dots),
        ("a/../b", AddressError::Dots),
        ("./a", AddressError::Dots),
        ("a\\b", AddressError::Backslash),
        ("a\0", AddressError::Control),
        ("a\n", AddressError::Control),
        ("a\u{85}", AddressError::Control),
        (&long, AddressError::LongName),
        (&["x".repeat(200).as_str(); 6].join("/"), AddressError::Long),
        ("/sessions", AddressError::Session),
        ("/sessions/", AddressError::EmptyName),
        ("sessions/a/b", AddressError::Session),
        (&format!("/sessions/{ID}"), AddressError::Session),
        (&format!("/sessions/{ID}/../x"), AddressError::Dots),
    ] {
        assert_eq!(parse_path(text), Err(error), "{text}");
    }
}

#[test]
fn a_prefix_ends_between_names() {
    let matches =
        |prefix: &str, path: &str| PathPrefix::parse(prefix).unwrap().matches(&WorkspacePath::parse(path).unwrap());
    for prefix in ["", "/", "doc", "/doc/", "doc/a.md"] {
        assert!(matches(prefix, "doc/a.md"), "{prefix}");
    }
    for prefix in ["doc", "documents/a", "documents/a.m"] {
        assert!(!matches(prefix, "documents/a.md"), "{prefix}");
    }
    assert_eq!(PathPrefix::parse(&format!("/sessions/{ID}/")).unwrap().session.as_deref(), Some(ID));
    assert_eq!(PathPrefix::parse("/sessions/"), Err(AddressError::Session));
    assert_eq!(PathPrefix::parse("../"), Err(AddressError::Dots));
}

#[test]
fn addresses_name_an_id_or_a_path() {
    for text in [
        format!("workspace://{ID}"),
        format!("workspace://{ID}@12#text/csv"),
        "workspace:///reports/q1.md".to_owned(),
        "workspace:///a b#image/svg+xml".to_owned(),
        format!("workspace:///sessions/{ID}/a"),
    ] {
        assert_eq!(text.parse::<WorkspaceAddress>().map(|address| address.to_string()), Ok(text));
    }
    for (text, error) in [
        ("workspace://reports/q1.md".to_owned(), AddressError::Id),
        ("workspace://".to_owned(), AddressError::Id),
        ("workspace:///".to_owned(), AddressError::Empty),
        ("https://a".to_owned(), AddressError::Scheme),
        ("workspacé://".to_owned(), AddressError::Scheme),
        (format!("workspace://{}", ID.to_lowercase()), AddressError::Id),
        (format!("workspace://{ID}@0"), AddressError::Version),
        (format!("workspace://{ID}@"), AddressError::Version),
        (format!("workspace://{ID}@+1"), AddressError::Version),
        (format!("workspace://{ID}#csv"), AddressError::MediaType),
        (format!("workspace://{ID}#text/csv; charset=x"), AddressError::MediaType),
    ] {
        assert_eq!(text.parse::<WorkspaceAddress>(), Err(error), "{text}");
    }
}

proptest! {
    #[test]
    fn a_parsed_path_is_safe_and_stays_as_it_is(text in "[a-zé\u{301}./\\\\@#\u{0}\n ]{0,24}|(/?sessions/)?01JDXA0000000000000000000Z(/[a./]{0,6})?|\\PC{0,40}") {
        if let Ok(parsed) = ScopedPath::parse(&text) {
            let path = parsed.path.as_str();
            prop_assert!(!path.is_empty() && !path.contains(['\\', '\0']) && path.len() <= MAX_PATH_BYTES);
            prop_assert!(path.split('/').all(|name| !matches!(name, "" | "." | "..") && name.len() <= MAX_NAME_BYTES));
            prop_assert_eq!(ScopedPath::parse(&parsed.to_string()), Ok(parsed.clone()));
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            // A folder with this name at the top would name a session.
            prop_assume!(folder != SESSIONS && !folder.starts_with("sessions/"));
            prop_assert!(PathPrefix::parse(folder).unwrap().matches(&parsed.path));
            let longer = PathPrefix::parse(&[path, "x"].concat());
            prop_assert!(!longer.is_ok_and(|prefix| prefix.matches(&parsed.path)));
        }
        let _ = PathPrefix::parse(&text);
    }

    #[test]
    fn a_parsed_address_is_written_as_it_was_read(text in "(workspace|WorkSpace|http)://(01JDXA0000000000000000000Z|/?[a-z./@#]{0,12})?(@[0-9+]{0,3})?(#[a-z/+]{0,8})?|\\PC{0,40}") {
        if let Ok(address) = text.parse::<WorkspaceAddress>() {
            prop_assert_eq!(address.to_string().parse::<WorkspaceAddress>(), Ok(address));
        }
    }
}
