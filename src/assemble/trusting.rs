//! Reads the project's own files for the screen's trust prompt, and saves the user's trust.

use super::host::Around;
use super::rules;
use crate::agent::Event;
use crate::chat::Digest;
use crate::config::brought::{Brought, Place};
use crate::config::rules::Book;
use crate::config::trust;
use crate::tui::host::{Reply, Why};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Time limit for reading the files; a network drive may never answer.
const PATIENCE: Duration = Duration::from_secs(5);

impl Around {
    /// Reads the project's own files.
    pub(super) fn look_at_project(&self, why: Why) {
        let (place, replies) = (self.wiring.place(&self.wiring.folder), self.replies.clone());
        let folder = place.folder.clone();
        let (tell, looked) = tokio::sync::oneshot::channel();
        // A separate thread, so that no pool thread is blocked. If it cannot start, the receiver reports an error.
        let _ = std::thread::Builder::new().spawn(move || tell.send(Brought::look(&place)));
        tokio::spawn(async move {
            let brought = match tokio::time::timeout(PATIENCE, looked).await {
                Ok(Ok(brought)) => brought,
                Ok(Err(_)) | Err(_) => {
                    let words = "Cannot read the project's own files. None of them is used.";
                    let _ = replies.send(Reply::Notice(words.to_owned())).await;
                    Brought { folder, ..Brought::default() }
                }
            };
            let _ = replies.send(Reply::Brought { brought: Box::new(brought), why }).await;
        });
    }

    /// Trusts the files that the user saw, if they are unchanged.
    pub(super) fn trust(&self, folder: PathBuf, seen: Vec<(String, Digest)>) {
        let (place, book) = (self.wiring.place(&folder), self.book());
        self.aside(move || {
            Some(match Brought::trust(&place, &seen, &rules::today()) {
                Ok(true) => trusts(place, book),
                Ok(false) => Reply::Brought { brought: Box::new(Brought::look(&place)), why: Why::Changed },
                Err(error) => Reply::TrustFailed(format!(
                    "Cannot save the trust: {error}. No file of the project is used."
                )),
            })
        });
    }

    /// Removes the trust in the project's files.
    pub(super) fn trust_no_longer(&self, folder: PathBuf) {
        let (place, book) = (self.wiring.place(&folder), self.book());
        self.aside(move || {
            Some(match trust::forget(&place.trusted, &place.folder, None) {
                Ok(()) => trusts(place, book),
                Err(error) => Reply::TrustFailed(format!("Cannot remove the trust: {error}.")),
            })
        });
    }
}

/// Returns the trusted instructions and rules.
fn trusts(place: Place, book: Book) -> Reply {
    let book = Book { folder: place.folder.clone(), ..book };
    let rules = Event::RulesRead { rules: Arc::new(book.load(&rules::today()).rules), notices: Vec::new() };
    let instructions = Arc::new(Brought::trusted_words(&place));
    Reply::Trusts { folder: place.folder, instructions, rules }
}
