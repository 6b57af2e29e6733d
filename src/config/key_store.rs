//! The key store of the system, such as GNOME Keyring or KWallet. There is none on macOS.
//!
//! Each call runs on a thread of its own, because a key store may hang. One that is locked is not asked to unlock itself.

#[cfg(all(feature = "keyring", not(target_os = "macos")))]
mod secret_service_store;

use super::Key;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, TryRecvError};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;
use thiserror::Error;

/// Time limit of a call. A key store that needs longer counts as none.
const TIME_LIMIT: Duration = Duration::from_secs(3);

/// Why the key store cannot be used, as part of a sentence. It does not quote a secret.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum KeyStoreError {
    #[error("no key store is running")]
    Absent,
    #[error("the key store is locked")]
    Locked,
    #[error("the key store did not answer within {} s", TIME_LIMIT.as_secs())]
    TimedOut {
        /// True if the operation had begun, so that the secret may still be saved or deleted.
        is_unfinished: bool,
    },
    #[error("it is not in the key store")]
    NotFound,
    /// Holds the reason, on one line.
    #[error("the key store refused: {0}")]
    Refused(String),
    #[error("this aye was built without support for key stores")]
    Unsupported,
}

impl KeyStoreError {
    /// Returns what the user can do, other than to replace the secret, as part of a sentence.
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Locked => "unlock it",
            Self::Absent | Self::TimedOut { .. } | Self::NotFound | Self::Refused(_) | Self::Unsupported => {
                "correct that"
            }
        }
    }
}

/// What a call does with one secret.
enum Operation {
    Load,
    Save(Key),
    Delete,
}

/// The secret that was loaded; `None` after another operation.
type Answer = Result<Option<Key>, KeyStoreError>;

/// Permission to start an operation. A call that exceeds the limit takes it away, so that nothing changes later.
#[derive(Clone, Default)]
struct StartPermit(Arc<AtomicBool>);

impl StartPermit {
    /// Returns true the first time, on whichever thread.
    fn take(&self) -> bool {
        !self.0.swap(true, Ordering::SeqCst)
    }

    /// Takes the permission to start the operation.
    ///
    /// # Errors
    /// If the call exceeded the limit.
    fn take_or_stop(&self) -> Result<(), KeyStoreError> {
        if self.take() { Ok(()) } else { Err(KeyStoreError::TimedOut { is_unfinished: false }) }
    }
}

/// The key store of the user who runs this program. Nothing connects to it before the first call.
#[derive(Debug, Clone, Default)]
pub struct KeyStore {
    /// Receives the answer of a call that exceeded the limit. Until it arrives, every other call fails at once.
    overdue: Arc<Mutex<Option<Receiver<Answer>>>>,
}

impl KeyStore {
    /// Loads the secret with this ID. Blocks for at most the time limit, as the others do.
    ///
    /// # Errors
    /// If there is none, or the key store cannot be used.
    pub fn load_secret(&self, id: &str) -> Result<Key, KeyStoreError> {
        self.run(id, Operation::Load)?.ok_or(KeyStoreError::NotFound)
    }

    /// Saves a secret, or replaces the one with this ID.
    ///
    /// # Errors
    /// If the key store cannot be used.
    pub fn save_secret(&self, id: &str, secret: &Key) -> Result<(), KeyStoreError> {
        self.run(id, Operation::Save(secret.clone())).map(|_| ())
    }

    /// Deletes the secret with this ID.
    ///
    /// # Errors
    /// If there is none, or the key store cannot be used.
    pub fn delete_secret(&self, id: &str) -> Result<(), KeyStoreError> {
        self.run(id, Operation::Delete).map(|_| ())
    }

    fn run(&self, id: &str, operation: Operation) -> Answer {
        let id = id.to_owned();
        self.run_with_limit(move |permit| run_operation(&id, operation, permit))
    }

    /// Runs a call, which takes the permit before it changes anything.
    fn run_with_limit(&self, call: impl FnOnce(&StartPermit) -> Answer + Send + 'static) -> Answer {
        if self.is_hanging() {
            return Err(KeyStoreError::TimedOut { is_unfinished: false });
        }
        let permit = StartPermit::default();
        let given = permit.clone();
        let (sender, receiver) = mpsc::channel();
        // It is not joined, because a key store that hangs must not keep the program from exiting.
        let started = thread::Builder::new().name("key store".to_owned()).spawn(move || sender.send(call(&given)));
        started.map_err(|error| KeyStoreError::Refused(error.to_string()))?;
        match receiver.recv_timeout(TIME_LIMIT) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) => {
                let is_unfinished = !permit.take();
                *self.overdue() = Some(receiver);
                Err(KeyStoreError::TimedOut { is_unfinished })
            }
            Err(RecvTimeoutError::Disconnected) => Err(KeyStoreError::Refused("internal error".to_owned())),
        }
    }

    /// Returns whether an earlier call still waits.
    fn is_hanging(&self) -> bool {
        let mut overdue = self.overdue();
        let is_waiting = |receiver: &Receiver<Answer>| matches!(receiver.try_recv(), Err(TryRecvError::Empty));
        let is_hanging = overdue.as_ref().is_some_and(is_waiting);
        if !is_hanging {
            *overdue = None;
        }
        is_hanging
    }

    fn overdue(&self) -> MutexGuard<'_, Option<Receiver<Answer>>> {
        self.overdue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(feature = "keyring", not(target_os = "macos")))]
fn run_operation(id: &str, operation: Operation, permit: &StartPermit) -> Answer {
    secret_service_store::run_operation(id, operation, permit)
}

#[cfg(not(all(feature = "keyring", not(target_os = "macos"))))]
fn run_operation(_: &str, operation: Operation, permit: &StartPermit) -> Answer {
    permit.take_or_stop()?;
    match operation {
        Operation::Load | Operation::Delete => {}
        Operation::Save(secret) => drop(secret),
    }
    Err(KeyStoreError::Unsupported)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    #[test]
    fn a_key_store_that_hangs_is_waited_for_once() {
        let store = KeyStore::default();
        let (release, released) = mpsc::channel::<()>();
        let started = Instant::now();
        let hanging = move |_: &StartPermit| {
            let _ = released.recv();
            Ok(None)
        };
        assert_eq!(store.run_with_limit(hanging), Err(KeyStoreError::TimedOut { is_unfinished: false }));
        assert!(started.elapsed() >= TIME_LIMIT);
        let started = Instant::now();
        let is_called = |_: &StartPermit| panic!("another call waits");
        let timed_out = Err(KeyStoreError::TimedOut { is_unfinished: false });
        assert_eq!(store.clone().run_with_limit(is_called), timed_out);
        assert!(started.elapsed() < TIME_LIMIT, "it fails at once");
        release.send(()).unwrap();
        // Its thread answers soon, and from then on the key store is used again.
        while store.is_hanging() {
            thread::yield_now();
        }
        assert_eq!(store.run_with_limit(|_| Ok(Some(Key::new("s3cret")))), Ok(Some(Key::new("s3cret"))));
    }

    #[test]
    fn a_call_that_exceeds_the_limit_changes_nothing_later() {
        let store = KeyStore::default();
        let (release, released) = mpsc::channel::<()>();
        let (report, reported) = mpsc::channel();
        let started = move |permit: &StartPermit| {
            permit.take_or_stop()?;
            let _ = released.recv();
            Ok(None)
        };
        assert_eq!(store.run_with_limit(started), Err(KeyStoreError::TimedOut { is_unfinished: true }));
        release.send(()).unwrap();
        while store.is_hanging() {
            thread::yield_now();
        }
        let (release, released) = mpsc::channel::<()>();
        let late = move |permit: &StartPermit| {
            let _ = released.recv();
            let _ = report.send(permit.take_or_stop());
            Ok(None)
        };
        let stopped = KeyStoreError::TimedOut { is_unfinished: false };
        assert_eq!(store.run_with_limit(late), Err(stopped.clone()));
        release.send(()).unwrap();
        assert_eq!(reported.recv().unwrap(), Err(stopped));
    }

    #[test]
    fn a_call_that_panics_is_an_error() {
        // Without a message: a backtrace of it may take longer than the limit on a busy machine.
        let answer = KeyStore::default().run_with_limit(|_| std::panic::resume_unwind(Box::new(())));
        assert_eq!(answer, Err(KeyStoreError::Refused("internal error".to_owned())));
    }
}
