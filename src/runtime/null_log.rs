//! Log for tests that store nothing.

use crate::chat::{Entry, PartialOutput, PartialReply};
use crate::store::Log;
use std::io;

/// A log that stores nothing.
pub struct NullLog;

impl Log for NullLog {
    fn append(&mut self, _: &Entry) -> io::Result<()> {
        Ok(())
    }

    fn append_reply_piece(&mut self, _: &PartialReply) -> io::Result<()> {
        Ok(())
    }

    fn append_output_piece(&mut self, _: &PartialOutput) -> io::Result<()> {
        Ok(())
    }
}
