//! Files of unsent text: one per session, and one per running program whose session has no entry yet.

mod draft_writer;

use super::{Error, Places, private_files, session_log};
use crate::chat::{SessionId, UnsentText};
pub use draft_writer::DraftWriter;
use sha2::{Digest, Sha256};
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// The folder of drafts.
#[derive(Debug, Clone)]
pub struct Drafts {
    folder: PathBuf,
    places: Places,
}

/// The session that a draft belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Owner {
    /// A session that has begun. Its own file is locked while it is open, so its draft needs no lock.
    Session(SessionId),
    /// A session of this project that has no entry yet. Its draft is locked while its program runs; after that the next
    /// new session of the project takes it over.
    New(SessionId, PathBuf),
}

/// A draft that was read.
#[derive(Debug, Default)]
pub struct LoadedDraft {
    /// The unsent text; empty if there is none.
    pub unsent: UnsentText,
    /// Notices for the user.
    pub notices: Vec<String>,
    /// The file of a new session's draft, which is locked while it is open.
    lock: Option<File>,
}

impl Drafts {
    /// Opens the drafts of these places, whose folders must exist.
    pub fn new(places: &Places) -> Self {
        Self { folder: places.drafts(), places: places.clone() }
    }

    /// Reads a draft. A new session takes over a draft of the same project whose program has ended; if there are
    /// several, the one written last.
    pub fn load(&self, owner: &Owner) -> LoadedDraft {
        match owner {
            Owner::Session(id) => self.read_with_notice(id),
            Owner::New(_, project) => self.take_over(owner, project),
        }
    }

    /// Replaces a draft as a whole, without waiting for the disk. An empty draft is removed, and `None` is returned.
    /// The returned file is locked while it is open, so that other programs do not take over a new session's draft.
    ///
    /// # Errors
    /// [`Error::Io`] if the draft cannot be written; the old draft is kept then.
    pub fn save(&self, owner: &Owner, unsent: &UnsentText) -> Result<Option<File>, Error> {
        let path = self.draft_path(owner);
        let result = match unsent.is_empty() {
            true => remove_if_exists(&path).map(|()| None),
            false => serde_json::to_vec(unsent)
                .map_err(io::Error::from)
                .and_then(|bytes| {
                    // The folder may have been removed since the program started.
                    if !self.folder.exists() {
                        private_files::create_folder(&self.folder)?;
                    }
                    private_files::replace_soon(&path, &bytes)
                })
                .map(Some),
        };
        let lock = result.map_err(Error::with_path(&path))?;
        for legacy_file in self.legacy_files(owner) {
            remove_if_exists(&legacy_file).map_err(Error::with_path(&legacy_file))?;
        }
        Ok(lock)
    }

    /// Renames the draft file of a new session (`new-PROJECT-ID.json` to `ID.json`) when the session gets its first
    /// entry.
    ///
    /// # Errors
    /// [`Error::Io`] if it cannot be renamed.
    pub fn rename_new(&self, id: &SessionId, project: &Path) -> Result<(), Error> {
        let new = self.draft_path(&Owner::New(id.clone(), project.to_owned()));
        let renamed = self.draft_path(&Owner::Session(id.clone()));
        ignore_missing(fs::rename(&new, renamed)).map_err(Error::with_path(&new))
    }

    /// Removes all drafts of a session.
    ///
    /// # Errors
    /// [`Error::Io`] if one of them cannot be removed.
    pub fn remove(&self, id: &SessionId) -> Result<(), Error> {
        self.save(&Owner::Session(id.clone()), &UnsentText::default())?;
        self.misnamed_draft(id)
            .into_iter()
            .try_for_each(|path| remove_if_exists(&path).map_err(Error::with_path(&path)))
    }

    /// Copies the draft of a session for another one.
    ///
    /// # Errors
    /// [`Error::Io`] if the copy cannot be written.
    pub fn copy(&self, from: &SessionId, to: &SessionId) -> Result<(), Error> {
        let unsent = self.read_session(from).1;
        self.save(&Owner::Session(to.clone()), &unsent).map(drop)
    }

    fn read_with_notice(&self, id: &SessionId) -> LoadedDraft {
        let (path, unsent, error) = self.read_session(id);
        LoadedDraft { unsent, notices: error.map(|error| set_aside(&path, &error)).into_iter().collect(), lock: None }
    }

    /// Returns the path, the content, and the error if the file is unreadable.
    fn read_session(&self, id: &SessionId) -> (PathBuf, UnsentText, Option<String>) {
        let owner = Owner::Session(id.clone());
        // If the program was killed as the session began, its draft file was not renamed and is still called `new-…`.
        let candidates = [self.draft_path(&owner)].into_iter().chain(self.misnamed_draft(id));
        let Some(path) = candidates.into_iter().find(|path| path.exists()) else {
            return (self.draft_path(&owner), self.read_legacy(&owner), None);
        };
        match read_draft(&path) {
            Ok(unsent) => (path, unsent, None),
            Err(error) => (path, UnsentText::default(), Some(error)),
        }
    }

    fn take_over(&self, owner: &Owner, project: &Path) -> LoadedDraft {
        let mut loaded = LoadedDraft::default();
        for (_, path) in self.list_new_drafts(project) {
            let Some(lock) = lock_draft(&path) else { continue };
            match read_draft(&path) {
                Ok(unsent) => {
                    // A file that cannot be renamed keeps its name, and the next program finds it again.
                    let renamed = fs::rename(&path, self.draft_path(owner)).is_ok();
                    if renamed && let (Owner::New(id, _), Some(old)) = (owner, new_session(&path, project)) {
                        self.take_workspace(&old, id);
                    }
                    return LoadedDraft { unsent, lock: renamed.then_some(lock), ..loaded };
                }
                Err(error) => loaded.notices.push(set_aside(&path, &error)),
            }
        }
        LoadedDraft { unsent: self.read_legacy(owner), ..loaded }
    }

    /// Moves the workspace of a session without entries, with files such as pasted pictures, to the session that takes over its
    /// draft. If that fails, the message names the missing file when it is sent.
    fn take_workspace(&self, from: &SessionId, to: &SessionId) {
        let target = self.places.workspace(to);
        if !target.exists() {
            let _ = fs::rename(self.places.workspace(from), target);
        }
    }

    /// Returns the drafts of a project's new sessions that have no entry, with the time of their last change, newest
    /// first. Their programs may still run.
    fn list_new_drafts(&self, project: &Path) -> Vec<(SystemTime, PathBuf)> {
        let mut drafts: Vec<(SystemTime, PathBuf)> = self
            .file_names()
            .filter_map(|name| {
                let path = self.folder.join(&name);
                let id = new_session(&path, project)?;
                let modified = fs::metadata(&path).and_then(|metadata| metadata.modified());
                (!self.places.session(&id).exists()).then(|| (modified.unwrap_or(SystemTime::UNIX_EPOCH), path))
            })
            .collect();
        drafts.sort_by(|a, b| b.cmp(a));
        drafts
    }

    /// Returns the draft file of the session if it was not renamed and is still called `new-…`.
    fn misnamed_draft(&self, id: &SessionId) -> Option<PathBuf> {
        let suffix = format!("-{}.json", id.0);
        let name = self.file_names().find(|name| name.starts_with("new-") && name.ends_with(&suffix));
        name.map(|name| self.folder.join(name))
    }

    fn file_names(&self) -> impl Iterator<Item = String> {
        let entries = fs::read_dir(&self.folder).into_iter().flatten().flatten();
        entries.filter_map(|entry| entry.file_name().into_string().ok())
    }

    fn draft_path(&self, owner: &Owner) -> PathBuf {
        let name = match owner {
            Owner::Session(id) => format!("{}.json", id.0),
            Owner::New(id, project) => format!("new-{}-{}.json", short_name(project), id.0),
        };
        self.folder.join(name)
    }

    /// Returns the files of earlier versions: the composer's text and the question prompt.
    fn legacy_files(&self, owner: &Owner) -> Vec<PathBuf> {
        let names = match owner {
            Owner::Session(id) => vec![format!("{}.txt", id.0), format!("{}-card.txt", id.0)],
            Owner::New(_, project) => vec![format!("new-{}.txt", short_name(project))],
        };
        names.into_iter().map(|name| self.folder.join(name)).collect()
    }

    fn read_legacy(&self, owner: &Owner) -> UnsentText {
        let mut texts = self.legacy_files(owner).into_iter().map(|path| {
            let bytes = private_files::read_or_empty(&path);
            String::from_utf8_lossy(&bytes).into_owned()
        });
        let mut unsent = UnsentText::from_text(&texts.next().unwrap_or_default());
        unsent.questions = texts.filter(|text| !text.is_empty()).collect();
        unsent
    }
}

fn read_draft(path: &Path) -> Result<UnsentText, String> {
    let bytes = private_files::read_file(path).map_err(|error| error.to_string())?;
    serde_json::from_slice(&bytes).map_err(|error| error.to_string())
}

/// Opens a draft for this process alone; `None` while another program has it, or if it is gone.
fn lock_draft(path: &Path) -> Option<File> {
    let file = private_files::open_read(path).ok()?;
    // Without locks on this file system, finding a draft twice is better than never.
    let is_locked = matches!(file.try_lock(), Err(TryLockError::WouldBlock));
    (!is_locked && !session_log::is_deleted(&file)).then_some(file)
}

/// Keeps a damaged draft under another name, and returns a notice.
fn set_aside(path: &Path, reason: &str) -> String {
    let damaged = path.with_extension("damaged");
    let kept_path = if fs::rename(path, &damaged).is_ok() { damaged } else { path.to_owned() };
    format!("Cannot read the unsent draft: {reason}. Its file is kept as {}.", kept_path.display())
}

fn remove_if_exists(path: &Path) -> io::Result<()> {
    ignore_missing(fs::remove_file(path))
}

/// Returns success if the error means that the file does not exist.
fn ignore_missing(result: io::Result<()>) -> io::Result<()> {
    result.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

/// Returns a short file name for a folder with any name.
pub(super) fn short_name(folder: &Path) -> String {
    let digest = Sha256::digest(folder.as_os_str().as_encoded_bytes());
    digest.iter().take(10).map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the session without entries whose draft is at this path, if it is one of the project.
fn new_session(path: &Path, project: &Path) -> Option<SessionId> {
    let prefix = format!("new-{}-", short_name(project));
    Some(SessionId(path.file_name()?.to_str()?.strip_prefix(&prefix)?.strip_suffix(".json")?.to_owned()))
}

#[cfg(test)]
mod tests;
