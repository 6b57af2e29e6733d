//! Writes drafts off the event loop: only the latest of each session, in order, one at a time.

use super::{Drafts, LoadedDraft, Owner};
use crate::chat::{SessionId, UnsentText};
use crate::store::{Error, Places};
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Writes the drafts of this process. Cheap to clone.
#[derive(Debug, Clone)]
pub struct DraftWriter(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    queue: Mutex<Vec<Job>>,
    files: Mutex<Files>,
}

#[derive(Debug)]
enum Job {
    Save(Owner, Box<UnsentText>),
    RenameNew(SessionId, PathBuf),
}

#[derive(Debug)]
struct Files {
    drafts: Drafts,
    /// The file read or written last. It stays open because that locks the draft of a new session.
    file: Option<File>,
    /// True if the content of `file` may not be on disk yet.
    is_unsynced: bool,
    /// The draft read or written last. The same content is not written twice.
    last_draft: Option<(Owner, UnsentText)>,
}

impl DraftWriter {
    /// Opens the drafts of these places, whose folders must exist.
    pub fn new(places: &Places) -> Self {
        let files = Files { drafts: Drafts::new(places), file: None, is_unsynced: false, last_draft: None };
        Self(Arc::new(Shared { queue: Mutex::default(), files: Mutex::new(files) }))
    }

    /// Queues a draft for the next `DraftWriter::write`; replaces a queued one of the same owner.
    pub fn save(&self, owner: Owner, unsent: UnsentText) {
        let mut queue = lock_mutex(&self.0.queue);
        queue.retain(|job| !matches!(job, Job::Save(other, _) if *other == owner));
        queue.push(Job::Save(owner, Box::new(unsent)));
    }

    /// Queues the renaming of a new session's draft, because the session has its first entry.
    pub fn rename_new(&self, id: SessionId, project: PathBuf) {
        lock_mutex(&self.0.queue).push(Job::RenameNew(id, project));
    }

    /// Writes the queued drafts. Blocks, also while another thread writes.
    ///
    /// # Errors
    /// [`Error::Io`] for the first draft that cannot be written. This draft and the following ones stay queued.
    pub fn write(&self) -> Result<(), Error> {
        let mut files = lock_mutex(&self.0.files);
        let mut jobs = std::mem::take(&mut *lock_mutex(&self.0.queue)).into_iter();
        while let Some(job) = jobs.next() {
            if let Err(error) = files.run_job(&job) {
                let mut queue = lock_mutex(&self.0.queue);
                let newer = std::mem::take(&mut *queue);
                let is_newer =
                    |owner: &Owner| newer.iter().any(|job| matches!(job, Job::Save(other, _) if other == owner));
                let remaining = [job].into_iter().chain(jobs);
                queue.extend(remaining.filter(|job| !matches!(job, Job::Save(owner, _) if is_newer(owner))));
                queue.extend(newer);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Writes the queued drafts and waits until they are on disk. Called when the program ends.
    ///
    /// # Errors
    /// Same as `DraftWriter::write`.
    pub fn write_and_sync(&self) -> Result<(), Error> {
        let result = self.write();
        let mut files = lock_mutex(&self.0.files);
        if let Some(file) = files.file.as_ref().filter(|_| files.is_unsynced) {
            // A failed sync is ignored: the content is written.
            let _ = file.sync_all();
            files.is_unsynced = false;
        }
        result
    }

    /// Reads a draft after writing all queued ones. A new session takes over the draft of a process that has ended, or
    /// of this process's previous new session. Blocks.
    pub fn load(&self, owner: &Owner) -> LoadedDraft {
        // After an error the draft stays in the queue, and the caller of `write` reports the error.
        let _ = self.write();
        let mut files = lock_mutex(&self.0.files);
        files.file = None;
        let mut loaded = files.drafts.load(owner);
        (files.file, files.is_unsynced) = (loaded.lock.take(), false);
        files.last_draft = Some((owner.clone(), loaded.unsent.clone()));
        loaded
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let files = self.files.get_mut().unwrap_or_else(PoisonError::into_inner);
        for job in self.queue.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // Last attempt; there is no screen left to show an error.
            let _ = files.run_job(&job);
        }
    }
}

impl Files {
    fn run_job(&mut self, job: &Job) -> Result<(), Error> {
        match job {
            Job::RenameNew(id, project) => {
                self.drafts.rename_new(id, project)?;
                if let Some((owner, _)) = &mut self.last_draft
                    && matches!(owner, Owner::New(new, _) if new == id)
                {
                    *owner = Owner::Session(id.clone());
                }
            }
            Job::Save(owner, unsent) => {
                let is_same =
                    |(last_owner, last_unsent): &(Owner, UnsentText)| last_owner == owner && last_unsent == &**unsent;
                if self.last_draft.as_ref().is_some_and(is_same) {
                    return Ok(());
                }
                self.file = self.drafts.save(owner, unsent)?;
                self.is_unsynced = true;
                self.last_draft = Some((owner.clone(), (**unsent).clone()));
            }
        }
        Ok(())
    }
}

fn lock_mutex<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
