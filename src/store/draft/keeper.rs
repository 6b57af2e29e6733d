//! Writes drafts off the event loop: only the latest one of each session, in order, and never two at once.

use super::{Drafts, Loaded, Owner};
use crate::chat::{SessionId, Unsent};
use crate::store::{Error, Places};
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Keeps the drafts of one program. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Keeper(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    waiting: Mutex<Vec<Job>>,
    files: Mutex<Files>,
}

#[derive(Debug)]
enum Job {
    Save(Owner, Box<Unsent>),
    Begin(SessionId, PathBuf),
}

#[derive(Debug)]
struct Files {
    drafts: Drafts,
    /// The file that was read or written last; open, it is the lock of a new session's draft.
    file: Option<File>,
    /// Whether that file may not have reached the disk.
    is_unsynced: bool,
    /// Content on disk of the draft that was read or written last. The same content is not written twice.
    held: Option<(Owner, Unsent)>,
}

impl Keeper {
    /// The drafts of these places, whose folders must exist.
    pub fn new(places: &Places) -> Self {
        let files = Files { drafts: Drafts::new(places), file: None, is_unsynced: false, held: None };
        Self(Arc::new(Shared { waiting: Mutex::default(), files: Mutex::new(files) }))
    }

    /// Takes a draft to be written by the next [`Keeper::write`], in place of one of the same owner that waits for it.
    pub fn save(&self, owner: Owner, unsent: Unsent) {
        let mut waiting = lock(&self.0.waiting);
        waiting.retain(|job| !matches!(job, Job::Save(other, _) if *other == owner));
        waiting.push(Job::Save(owner, Box::new(unsent)));
    }

    /// The new session of a project has its first entry: from the next write on its draft is found by its name.
    pub fn begin(&self, id: SessionId, project: PathBuf) {
        lock(&self.0.waiting).push(Job::Begin(id, project));
    }

    /// Writes what waits. This blocks, also while another thread writes.
    ///
    /// # Errors
    /// [`Error::Io`] for the first that cannot be written; it and those after it wait for the next call.
    pub fn write(&self) -> Result<(), Error> {
        let mut files = lock(&self.0.files);
        let mut jobs = std::mem::take(&mut *lock(&self.0.waiting)).into_iter();
        while let Some(job) = jobs.next() {
            if let Err(error) = files.run(&job) {
                let mut waiting = lock(&self.0.waiting);
                let newer = std::mem::take(&mut *waiting);
                let is_newer = |owner: &Owner| {
                    newer.iter().any(|job| matches!(job, Job::Save(other, _) if other == owner))
                };
                let left = [job].into_iter().chain(jobs);
                waiting.extend(left.filter(|job| !matches!(job, Job::Save(owner, _) if is_newer(owner))));
                waiting.extend(newer);
                return Err(error);
            }
        }
        Ok(())
    }

    /// Writes what waits and waits for the disk: for the end of the program, after which the machine may be switched off.
    ///
    /// # Errors
    /// As [`Keeper::write`].
    pub fn finish(&self) -> Result<(), Error> {
        let written = self.write();
        let mut files = lock(&self.0.files);
        if let Some(file) = files.file.as_ref().filter(|_| files.is_unsynced) {
            // It is written; a file system that cannot sync it keeps it as well as it can.
            let _ = file.sync_all();
            files.is_unsynced = false;
        }
        written
    }

    /// Reads a draft, once everything that waits is written. The draft of a new session is taken over from a program
    /// that has ended, or from the new session that this program had in hand before. This blocks.
    pub fn load(&self, owner: &Owner) -> Loaded {
        // The job stays in the queue after an error, and the user was told by the caller of `write`.
        let _ = self.write();
        let mut files = lock(&self.0.files);
        files.file = None;
        let mut loaded = files.drafts.load(owner);
        (files.file, files.is_unsynced) = (loaded.lock.take(), false);
        files.held = Some((owner.clone(), loaded.unsent.clone()));
        loaded
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let files = self.files.get_mut().unwrap_or_else(PoisonError::into_inner);
        for job in self.waiting.get_mut().unwrap_or_else(PoisonError::into_inner).drain(..) {
            // The last try: there is no screen left to show an error on.
            let _ = files.run(&job);
        }
    }
}

impl Files {
    fn run(&mut self, job: &Job) -> Result<(), Error> {
        match job {
            Job::Begin(id, project) => {
                self.drafts.begin(id, project)?;
                if let Some((owner, _)) = &mut self.held
                    && matches!(owner, Owner::New(new, _) if new == id)
                {
                    *owner = Owner::Session(id.clone());
                }
            }
            Job::Save(owner, unsent) => {
                let is_held = |(of, held): &(Owner, Unsent)| of == owner && held == &**unsent;
                if self.held.as_ref().is_some_and(is_held) {
                    return Ok(());
                }
                self.file = self.drafts.save(owner, unsent)?;
                self.is_unsynced = true;
                self.held = Some((owner.clone(), (**unsent).clone()));
            }
        }
        Ok(())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
