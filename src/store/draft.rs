//! What was typed and not sent, kept for the next time.

use super::{Error, private};
use crate::chat::SessionId;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The folder of drafts: one for each session and for the card that waits in it, and one for each project where no session has begun.
#[derive(Debug, Clone)]
pub struct Drafts {
    folder: PathBuf,
}

/// Whose draft.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Whose<'a> {
    /// Of a session.
    Session(&'a SessionId),
    /// Of the question card that waits in a session; the text is the frontend's own.
    Card(&'a SessionId),
    /// Of a project in which the next session will begin.
    Project(&'a Path),
}

impl Drafts {
    /// The drafts in this folder, which must exist.
    pub fn new(folder: PathBuf) -> Self {
        Self { folder }
    }

    /// What was typed; empty where nothing was, or where it cannot be read.
    pub fn load(&self, whose: Whose<'_>) -> String {
        let bytes = private::held(&self.path(whose));
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// Keeps what is typed, in place of what was; nothing typed removes it. So does sending, by saving nothing.
    pub fn save(&self, whose: Whose<'_>, text: &str) -> Result<(), Error> {
        let path = self.path(whose);
        let done = if text.is_empty() {
            match fs::remove_file(&path) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
                _ => Ok(()),
            }
        } else {
            match whose {
                // Kept every second while it changes: outliving the program is enough, the power may take it.
                Whose::Card(_) => private::replace_soon(&path, text.as_bytes()),
                Whose::Session(_) | Whose::Project(_) => private::replace(&path, text.as_bytes()),
            }
        };
        done.map_err(Error::at(&path))
    }

    fn path(&self, whose: Whose<'_>) -> PathBuf {
        let name = match whose {
            Whose::Session(id) => id.0.clone(),
            Whose::Card(id) => format!("{}-card", id.0),
            Whose::Project(folder) => format!("new-{}", short_name(folder)),
        };
        self.folder.join(name).with_extension("txt")
    }
}

/// A file name for a folder, whatever is in its own.
pub(super) fn short_name(folder: &Path) -> String {
    let digest = Sha256::digest(folder.as_os_str().as_encoded_bytes());
    digest.iter().take(10).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::MetadataExt;

    #[test]
    fn a_draft_is_kept_until_it_is_sent() {
        let home = tempfile::tempdir().unwrap();
        let drafts = Drafts::new(home.path().to_owned());
        let id = SessionId("01J".into());
        let (session, project) = (Whose::Session(&id), Whose::Project(Path::new("/a")));
        assert_eq!(drafts.load(session), "");
        drafts.save(session, "one\ntwo").unwrap();
        drafts.save(project, "three").unwrap();
        assert_eq!((drafts.load(session), drafts.load(project)), ("one\ntwo".into(), "three".into()));
        assert_eq!(drafts.load(Whose::Project(Path::new("/b"))), "");
        drafts.save(session, "").unwrap();
        drafts.save(session, "").unwrap();
        assert_eq!(drafts.load(session), "");
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    }

    #[test]
    fn r56_a_draft_is_for_its_owner_alone() {
        let home = tempfile::tempdir().unwrap();
        let drafts = Drafts::new(home.path().to_owned());
        drafts.save(Whose::Project(Path::new("/a")), "x").unwrap();
        drafts.save(Whose::Card(&SessionId("01J".into())), "y").unwrap();
        assert_eq!(drafts.load(Whose::Session(&SessionId("01J".into()))), "");
        for file in fs::read_dir(home.path()).unwrap() {
            assert_eq!(file.unwrap().metadata().unwrap().mode() & 0o777, 0o600);
        }
    }
}
