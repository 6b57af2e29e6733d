//! Keys entered in the program, each bound to one origin.

use super::{Key, base_address, settings_file};
use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

/// Entered keys by origin: scheme, host and port.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Credentials {
    path: PathBuf,
    keys: BTreeMap<String, StoredKey>,
}

/// A key and, if recorded, the profile it was entered for.
#[derive(Debug, Clone, PartialEq, Eq)]
struct StoredKey {
    key: Key,
    profile: Option<String>,
}

impl Credentials {
    /// Loads the keys. Restricts the permissions of a file that others can read. Returns no keys if there is no file.
    pub fn load(path: &Path) -> io::Result<Self> {
        settings_file::restrict_permissions(path)?;
        let table = read_key_table(path)?;
        let parse_entry = |(origin, value): (String, Value)| {
            let text_of = |name| value.get(name).and_then(Value::as_str);
            let key = Key::new(value.as_str().or_else(|| text_of("key"))?);
            let profile = text_of("profile").map(str::to_owned);
            Some((origin, StoredKey { key, profile }))
        };
        Ok(Self { path: path.to_owned(), keys: table.into_iter().filter_map(parse_entry).collect() })
    }

    /// Returns the key for an origin.
    pub fn key_for_origin(&self, origin: &str) -> Option<Key> {
        self.keys.get(origin).map(|stored| stored.key.clone())
    }

    pub fn origins(&self) -> impl Iterator<Item = &str> {
        self.keys.keys().map(String::as_str)
    }

    /// Iterates over all keys, for redaction.
    pub fn keys(&self) -> impl Iterator<Item = &Key> {
        self.keys.values().map(|stored| &stored.key)
    }

    /// Returns an origin for which a key was entered while this profile was in use.
    pub fn origin_for_profile(&self, profile: &str) -> Option<String> {
        let is_of_profile = |stored: &StoredKey| stored.profile.as_deref() == Some(profile);
        self.keys.iter().find(|(_, stored)| is_of_profile(stored)).map(|(origin, _)| origin.clone())
    }

    /// Stores a key for the origin of an address, together with the profile. Keys saved by another process in the
    /// meantime are kept. Fails without changing the file if it cannot be read.
    pub fn save(&mut self, profile: &str, base_url: &str, key: Key) -> io::Result<()> {
        let url = base_address::parse(base_url)
            .ok()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "not a valid address"))?;
        let origin = url.origin().ascii_serialization();
        let mut table = read_key_table(&self.path)?;
        let mut entry = Table::new();
        entry.insert("key".to_owned(), Value::String(key.expose().to_owned()));
        entry.insert("profile".to_owned(), Value::String(profile.to_owned()));
        table.insert(origin.clone(), Value::Table(entry));
        let text = toml::to_string(&table).map_err(|_| invalid_key_file())?;
        settings_file::replace_file(&self.path, &text)?;
        self.keys.insert(origin, StoredKey { key, profile: Some(profile.to_owned()) });
        Ok(())
    }
}

fn read_key_table(path: &Path) -> io::Result<Table> {
    // A parse error may quote a key, so it is not passed on.
    match fs::read_to_string(path) {
        Ok(text) => text.parse().map_err(|_| invalid_key_file()),
        Err(error) if settings_file::is_missing(&error) => Ok(Table::new()),
        Err(error) => Err(error),
    }
}

fn invalid_key_file() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the key file is not valid TOML; correct or remove it")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{MetadataExt, PermissionsExt};

    #[test]
    fn r47_a_key_is_returned_only_for_its_own_origin() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("credentials.toml");
        let mut credentials = Credentials::load(&path).unwrap();
        credentials.save("p", "https://API.example.com/v1", Key::new(" sk-1\n")).unwrap();
        credentials.save("p", "http://localhost:8080/v1", Key::new("sk-2")).unwrap();
        let credentials = Credentials::load(&path).unwrap();
        for (origin, key) in [
            ("https://api.example.com", Some("sk-1")),
            ("http://localhost:8080", Some("sk-2")),
            ("http://api.example.com", None),
            ("https://api.example.com:444", None),
            ("https://example.com", None),
            ("http://localhost", None),
        ] {
            assert_eq!(credentials.key_for_origin(origin).as_ref().map(Key::expose), key, "{origin}");
        }
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
        assert_eq!(credentials.origin_for_profile("p").as_deref(), Some("http://localhost:8080"));
        assert_eq!(credentials.origin_for_profile("q"), None);
    }

    #[test]
    fn keys_stored_in_the_old_format_are_still_read() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("credentials.toml");
        fs::write(&path, "\"https://a.example\" = \"sk-1\"\n").unwrap();
        let mut credentials = Credentials::load(&path).unwrap();
        assert_eq!(credentials.key_for_origin("https://a.example").unwrap().expose(), "sk-1");
        credentials.save("p", "https://b.example", Key::new("sk-2")).unwrap();
        let credentials = Credentials::load(&path).unwrap();
        assert_eq!(credentials.key_for_origin("https://a.example").unwrap().expose(), "sk-1");
    }

    #[test]
    fn r56_permissions_of_a_readable_key_file_are_restricted() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("credentials.toml");
        fs::write(&path, "\"https://a\" = \"sk-1\"\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        Credentials::load(&path).unwrap();
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o600);
    }

    #[test]
    fn r57_errors_and_debug_output_contain_no_key() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("credentials.toml");
        fs::write(&path, "\"https://a\" = sk-secret\n").unwrap();
        let error = format!("{:?}", Credentials::load(&path).unwrap_err());
        assert!(!error.contains("secret"), "{error}");
        let mut credentials = Credentials { path: path.clone(), ..Credentials::default() };
        assert!(credentials.save("p", "https://b", Key::new("sk-other")).is_err());
        assert_eq!(fs::read_to_string(&path).unwrap(), "\"https://a\" = sk-secret\n");
        fs::remove_file(&path).unwrap();
        credentials.save("p", "https://b", Key::new("sk-other")).unwrap();
        assert!(!format!("{credentials:?}").contains("other"));
    }
}
