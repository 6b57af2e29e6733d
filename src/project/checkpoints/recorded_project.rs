//! The live project as one call sees it: each write is recorded before it is made.

use super::call_recorder::CallRecorder;
use crate::chat::Digest;
use crate::project::{Error, FileKind, Location, Reader, UnknownHardLinkCheck, Visit, Writer};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// A project whose writes are recorded.
pub struct RecordedProject {
    project: Arc<dyn Writer>,
    recorder: Arc<CallRecorder>,
}

impl RecordedProject {
    pub fn new(project: Arc<dyn Writer>, recorder: Arc<CallRecorder>) -> Self {
        Self { project, recorder }
    }
}

impl Writer for RecordedProject {
    fn write(&self, location: &Location, before: Option<&[u8]>, after: &[u8]) -> Result<(), Error> {
        self.recorder.record_write(&location.real, before, after);
        self.project.write(location, before, after)
    }

    fn write_whole(&self, location: &Location, before: Option<&[u8]>, after: &[u8]) -> Result<(), Error> {
        self.recorder.record_write(&location.real, before, after);
        self.project.write_whole(location, before, after)
    }

    fn state_digest(&self) -> Digest {
        self.project.state_digest()
    }
}

impl Reader for RecordedProject {
    fn root(&self) -> &Path {
        self.project.root()
    }

    fn locate(&self, path: &str) -> Result<Location, Error> {
        self.project.locate(path)
    }

    fn read(&self, location: &Location) -> Result<Vec<u8>, Error> {
        self.project.read(location)
    }

    fn open(&self, location: &Location) -> Result<Box<dyn io::Read + Send>, Error> {
        self.project.open(location)
    }

    fn link_count(&self, location: &Location) -> u64 {
        self.project.link_count(location)
    }

    fn unknown_hard_link_check(&self) -> UnknownHardLinkCheck<'_> {
        self.project.unknown_hard_link_check()
    }

    fn is_rehearsal(&self) -> bool {
        self.project.is_rehearsal()
    }

    fn has_only_rehearsed_content(&self, location: &Location) -> bool {
        self.project.has_only_rehearsed_content(location)
    }

    fn exists(&self, location: &Location) -> bool {
        self.project.exists(location)
    }

    fn file_kind(&self, location: &Location) -> Option<FileKind> {
        self.project.file_kind(location)
    }

    fn list_names(&self, location: &Location) -> Result<Vec<String>, Error> {
        self.project.list_names(location)
    }

    fn walk(&self, under: &Location, hidden: bool, visit: Visit<'_>) -> Result<(), Error> {
        self.project.walk(under, hidden, visit)
    }
}
