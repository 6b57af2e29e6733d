//! The file of accepted definitions, by server. It is also the cache from which tools are offered before their server is
//! connected.

use super::definition::Definition;
use crate::chat::ServerOffer;
use crate::store::private_files;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

/// The file of accepted definitions. It is read again by each use, because other processes change it too.
#[derive(Debug, Clone)]
pub struct Catalogue {
    file: PathBuf,
}

/// Content of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
struct Content {
    /// Accepted definitions by [`super::server_config::Endpoint::identity`].
    servers: BTreeMap<String, KnownServer>,
    /// Resources and prompts that each server offered when it was last connected.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    offers: BTreeMap<String, ServerOffer>,
}

/// What is known of a server.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct KnownServer {
    /// Accepted definitions.
    pub tools: Vec<Definition>,
    /// Names of tools that are new or changed since. They are not offered.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub changed: BTreeSet<String>,
}

impl KnownServer {
    /// Returns a server whose tools were all accepted.
    pub fn from_accepted(tools: &[Definition]) -> Self {
        Self { tools: tools.to_vec(), changed: BTreeSet::new() }
    }

    /// Returns the number of tools, accepted or not.
    pub fn count_tools(&self) -> usize {
        self.tools.iter().map(|tool| &tool.name).chain(&self.changed).collect::<BTreeSet<_>>().len()
    }

    /// Returns the accepted definitions that did not change since.
    pub fn into_offered(self) -> Vec<Definition> {
        let Self { tools, changed } = self;
        tools.into_iter().filter(|tool| !changed.contains(&tool.name)).collect()
    }
}

/// Difference between the accepted definitions of a server and those that it gives now.
#[derive(Debug, Clone, PartialEq)]
pub enum Difference {
    /// The tool is new.
    Added(Definition),
    /// The definition of the tool changed.
    Changed { old: Box<Definition>, new: Box<Definition> },
    /// The server no longer has the tool.
    Removed(Definition),
}

impl Difference {
    /// Returns the tool's own name.
    pub fn tool_name(&self) -> &str {
        match self {
            Self::Added(definition) | Self::Removed(definition) => &definition.name,
            Self::Changed { new, .. } => &new.name,
        }
    }

    /// Returns the name of the tool, for a text of the program.
    pub fn display_name(&self) -> String {
        match self {
            Self::Added(definition) | Self::Removed(definition) => definition.display_name(),
            Self::Changed { new, .. } => new.display_name(),
        }
    }

    /// Returns whether the user must accept it before the tool is offered: not if the tool is gone.
    pub fn needs_acceptance(&self) -> bool {
        match self {
            Self::Added(_) | Self::Changed { .. } => true,
            Self::Removed(_) => false,
        }
    }

    /// Returns a text that differs for each difference.
    pub fn identity(&self) -> String {
        match self {
            Self::Added(new) => format!("added {}", new.digest()),
            Self::Changed { old, new } => format!("changed {} {}", old.digest(), new.digest()),
            Self::Removed(old) => format!("removed {}", old.digest()),
        }
    }

    /// Describes the difference for the user, line by line.
    pub fn describe(&self) -> Vec<String> {
        let mut lines = Vec::new();
        match self {
            Self::Added(new) => {
                lines.push(format!("new tool {}", new.display_name()));
                lines.extend(new.describe().into_iter().map(|line| format!("  + {line}")));
            }
            Self::Removed(old) => lines.push(format!("removed tool {}", old.display_name())),
            Self::Changed { old, new } => {
                lines.push(format!("changed tool {}", new.display_name()));
                let (old, new) = (old.describe().join("\n"), new.describe().join("\n"));
                let diff = similar::TextDiff::from_lines(&old, &new);
                lines.extend(diff.iter_all_changes().filter_map(|change| {
                    let mark = match change.tag() {
                        similar::ChangeTag::Equal => return None,
                        similar::ChangeTag::Delete => "-",
                        similar::ChangeTag::Insert => "+",
                    };
                    Some(format!("  {mark} {}", change.value().trim_end_matches('\n')))
                }));
            }
        }
        lines
    }
}

/// Compares the accepted definitions with the ones that the server gives now.
pub fn compare(accepted: &[Definition], listed: &[Definition]) -> Vec<Difference> {
    let find =
        |definitions: &[Definition], name: &str| definitions.iter().find(|definition| definition.name == name).cloned();
    let mut differences: Vec<Difference> = listed
        .iter()
        .filter_map(|new| match find(accepted, &new.name) {
            None => Some(Difference::Added(new.clone())),
            Some(old) if old.digest() == new.digest() => None,
            Some(old) => Some(Difference::Changed { old: Box::new(old), new: Box::new(new.clone()) }),
        })
        .collect();
    let removed = accepted.iter().filter(|old| find(listed, &old.name).is_none());
    differences.extend(removed.cloned().map(Difference::Removed));
    differences
}

impl Catalogue {
    /// Creates the catalogue of this file, which need not exist.
    pub fn new(file: PathBuf) -> Self {
        Self { file }
    }

    /// Returns the file.
    pub fn file(&self) -> &Path {
        &self.file
    }

    /// Returns what is known of a server; `None` if it was never connected.
    ///
    /// # Errors
    /// If the file cannot be read or is damaged.
    pub fn load(&self, identity: &str) -> io::Result<Option<KnownServer>> {
        Ok(self.read()?.servers.remove(identity))
    }

    /// Replaces what is known of a server. `None` forgets it. A damaged file is replaced.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn save(&self, identity: &str, known: Option<KnownServer>) -> io::Result<()> {
        self.change(|content| match known {
            Some(known) => drop(content.servers.insert(identity.to_owned(), known)),
            None => drop((content.servers.remove(identity), content.offers.remove(identity))),
        })
    }

    /// Returns what a server offered when it was last connected.
    pub fn load_offer(&self, identity: &str) -> ServerOffer {
        self.read().unwrap_or_default().offers.remove(identity).unwrap_or_default()
    }

    /// Replaces what a server offers.
    ///
    /// # Errors
    /// If the file cannot be written, or is damaged.
    pub fn save_offer(&self, identity: &str, offer: ServerOffer) -> io::Result<()> {
        self.read()?;
        self.change(|content| drop(content.offers.insert(identity.to_owned(), offer)))
    }

    fn change(&self, change: impl FnOnce(&mut Content)) -> io::Result<()> {
        let folder = self.file.parent().unwrap_or(Path::new("."));
        private_files::create_folder(folder)?;
        let lock = self.file.with_extension("lock");
        let lock = File::options().create(true).truncate(false).write(true).mode(0o600).open(lock)?;
        lock.lock()?;
        let mut content = self.read().unwrap_or_default();
        change(&mut content);
        private_files::replace(&self.file, &serde_json::to_vec(&content)?)
    }

    fn read(&self) -> io::Result<Content> {
        match private_files::read_file(&self.file) {
            Ok(bytes) => Ok(serde_json::from_slice(&bytes)?),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Content::default()),
            Err(error) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::os::unix::fs::MetadataExt;

    fn tool(name: &str, description: &str) -> Definition {
        serde_json::from_value(json!({"name": name, "description": description, "input_schema": {}})).unwrap()
    }

    #[test]
    fn every_new_or_changed_tool_needs_acceptance() {
        let accepted = [tool("same", "x"), tool("changed", "old"), tool("gone", "x")];
        let listed = [tool("same", "x"), tool("changed", "new"), tool("more", "x")];
        let differences = compare(&accepted, &listed);
        let found: Vec<(String, bool)> =
            differences.iter().map(|difference| (difference.display_name(), difference.needs_acceptance())).collect();
        assert_eq!(found, [("changed".into(), true), ("more".into(), true), ("gone".into(), false)]);
        assert_eq!(differences[0].describe(), ["changed tool changed", "  - description: old", "  + description: new"]);
        assert_eq!(compare(&accepted, &accepted), []);
    }

    #[test]
    fn a_changed_word_in_a_long_text_is_shown_alone() {
        let text = |word: &str| (0..50).map(|n| format!("line {n}\n")).collect::<String>() + word;
        let lines = compare(&[tool("a", &text("good"))], &[tool("a", &text("evil\u{202E}"))])[0].describe();
        assert_eq!(lines, ["changed tool a", "  - description: good", "  + description: evil<U+202E>"]);
    }

    #[test]
    fn the_file_is_private_and_a_damaged_one_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let catalogue = Catalogue::new(folder.path().join("data/mcp.json"));
        assert_eq!(catalogue.load("a").unwrap(), None);
        let known = KnownServer { tools: vec![tool("x", "d"), tool("y", "d")], changed: ["y".to_owned()].into() };
        catalogue.save("a", Some(known.clone())).unwrap();
        catalogue.save("b", Some(KnownServer::default())).unwrap();
        assert_eq!(catalogue.load("a").unwrap(), Some(known.clone()));
        assert_eq!(known.into_offered(), [tool("x", "d")], "a changed tool is not offered by the next run either");
        assert_eq!(catalogue.load("b").unwrap(), Some(KnownServer::default()));
        assert_eq!(std::fs::metadata(catalogue.file()).unwrap().mode() & 0o777, 0o600);
        catalogue.save("a", None).unwrap();
        assert_eq!(catalogue.load("a").unwrap(), None);
        std::fs::write(catalogue.file(), "{").unwrap();
        assert!(catalogue.load("b").is_err(), "a server is not taken for an unknown one");
    }
}
