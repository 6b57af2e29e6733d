//! Writes a recording while the screen is drawn, so that it can be played however the program ends.

use super::cast::{CastEvent, CastHeader, EventLines};
use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver, SyncSender, TrySendError};
use std::time::Duration;

/// Number of lines that may wait for the disk.
const MAX_WAITING: usize = 4096;
/// Time for the waiting lines at the end.
const END_TIME: Duration = Duration::from_secs(2);

/// A recording that is being written. Its lines are written by a thread, so that a slow disk does not hold up the screen.
pub struct CastWriter {
    path: PathBuf,
    lines: EventLines,
    /// `None` after a failure.
    sender: Option<SyncSender<String>>,
    /// The end of the thread, with the failure of the first line that was not written.
    result: Receiver<io::Result<()>>,
}

impl CastWriter {
    /// Creates the file, which only the user can read, and writes the header.
    ///
    /// # Errors
    /// If the file exists or cannot be written.
    pub fn create(path: &Path, header: &CastHeader) -> io::Result<Self> {
        let mut file = OpenOptions::new().append(true).create_new(true).mode(0o600).open(path)?;
        write_line(&mut file, header.to_line())?;
        let (sender, receiver) = mpsc::sync_channel::<String>(MAX_WAITING);
        let (result_sender, result) = mpsc::sync_channel(1);
        std::thread::Builder::new().name("recording".to_owned()).spawn(move || {
            let written = receiver.into_iter().try_for_each(|line| write_line(&mut file, line));
            let _ = result_sender.send(written);
        })?;
        Ok(Self { path: path.to_owned(), lines: EventLines::new(header.version), sender: Some(sender), result })
    }

    /// Returns the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Writes an event at a time since the start.
    ///
    /// # Errors
    /// Why an earlier line was not written, or that the disk is too slow. Afterwards nothing more is written: each frame changes the
    /// one before.
    pub fn write(&mut self, time: Duration, event: CastEvent<'_>) -> io::Result<()> {
        let Some(sender) = &self.sender else { return Ok(()) };
        let failure = match sender.try_send(self.lines.line(time, event)) {
            Ok(()) => return Ok(()),
            Err(TrySendError::Full(_)) => io::Error::other("the disk is too slow"),
            Err(TrySendError::Disconnected(_)) => match self.result.recv() {
                Ok(Err(error)) => error,
                Ok(Ok(())) | Err(_) => io::Error::other("the thread that writes it ended"),
            },
        };
        self.sender = None;
        Err(failure)
    }

    /// Waits up to 2 seconds until all lines are written.
    ///
    /// # Errors
    /// Why lines are missing at the end.
    pub fn finish(mut self) -> io::Result<()> {
        let had_failed = self.sender.take().is_none();
        match self.result.recv_timeout(END_TIME) {
            _ if had_failed => Ok(()),
            Ok(result) => result,
            Err(_) => Err(io::Error::other("the disk is too slow")),
        }
    }
}

/// Writes a line by one call, so that a line is cut only if the program ends within it.
fn write_line(file: &mut File, mut line: String) -> io::Result<()> {
    line.push('\n');
    file.write_all(line.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::super::cast::CastVersion;
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    const HEADER: CastHeader =
        CastHeader { version: CastVersion::V3, size: (80, 24), timestamp: 0, title: None, colours: ([255; 3], [0; 3]) };

    #[test]
    fn lines_are_written_in_order_and_only_for_the_user() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.cast");
        let mut writer = CastWriter::create(&path, &HEADER).unwrap();
        for number in 0..1000_u64 {
            let text = number.to_string();
            writer.write(Duration::from_millis(number), CastEvent::Output(&text)).unwrap();
        }
        writer.finish().unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        let numbers = text.lines().skip(1).map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap());
        assert!(
            numbers.map(|line| line[2].as_str().unwrap().to_owned()).eq((0..1000).map(|number| number.to_string()))
        );
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }

    #[test]
    fn an_existing_file_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.cast");
        std::fs::write(&path, "mine").unwrap();
        let error = CastWriter::create(&path, &HEADER).err().unwrap();
        assert_eq!(error.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "mine");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_disk_is_an_error_that_is_reported_once() {
        let mut file = OpenOptions::new().write(true).open("/dev/full").unwrap();
        assert!(write_line(&mut file, "a".to_owned()).is_err());
        let (sender, receiver) = mpsc::sync_channel::<String>(1);
        let (result_sender, result) = mpsc::sync_channel(1);
        drop(receiver);
        result_sender.send(Err(io::Error::other("no space left"))).unwrap();
        let lines = EventLines::default();
        let mut writer = CastWriter { path: PathBuf::new(), lines, sender: Some(sender), result };
        let failures: Vec<_> = (0..3)
            .map(|_| writer.write(Duration::ZERO, CastEvent::Output("")).map_err(|error| error.to_string()))
            .collect();
        assert_eq!(failures, [Err("no space left".to_owned()), Ok(()), Ok(())]);
        assert!(writer.finish().is_ok());
    }
}
