//! What the project in the folder brings along, looked at away from the screen, and trusted where the person says so.

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

/// So long a project may take to be looked at: a folder far away may never answer.
const PATIENCE: Duration = Duration::from_secs(5);

impl Around {
    /// Looks at what the project brings along.
    pub(super) fn look_at_project(&self, why: Why) {
        let (place, replies) = (self.wiring.place(&self.wiring.folder), self.replies.clone());
        let folder = place.folder.clone();
        let (tell, looked) = tokio::sync::oneshot::channel();
        // A thread of its own, so that none is left waiting for more work while nothing goes on. Where there can be none,
        // nobody tells, and that is said.
        let _ = std::thread::Builder::new().spawn(move || tell.send(Brought::look(&place)));
        tokio::spawn(async move {
            let brought = match tokio::time::timeout(PATIENCE, looked).await {
                Ok(Ok(brought)) => brought,
                Ok(Err(_)) | Err(_) => {
                    let words = "The project's own files could not be looked at, so none of them is used.";
                    let _ = replies.send(Reply::Notice(words.to_owned())).await;
                    Brought { folder, ..Brought::default() }
                }
            };
            let _ = replies.send(Reply::Brought { brought: Box::new(brought), why }).await;
        });
    }

    /// Trusts what a person saw, if it still is that.
    pub(super) fn trust(&self, folder: PathBuf, seen: Vec<(String, Digest)>) {
        let (place, book) = (self.wiring.place(&folder), self.book());
        self.aside(move || {
            Some(match Brought::trust(&place, &seen, &rules::today()) {
                Ok(true) => trusts(place, book),
                Ok(false) => Reply::Brought { brought: Box::new(Brought::look(&place)), why: Why::Changed },
                Err(error) => Reply::TrustFailed(format!(
                    "The trust could not be kept: {error}. Nothing of the project is used."
                )),
            })
        });
    }

    /// Trusts nothing any more that the project brings along.
    pub(super) fn trust_no_longer(&self, folder: PathBuf) {
        let (place, book) = (self.wiring.place(&folder), self.book());
        self.aside(move || {
            Some(match trust::forget(&place.trusted, &place.folder, None) {
                Ok(()) => trusts(place, book),
                Err(error) => Reply::TrustFailed(format!("The trust could not be taken back: {error}.")),
            })
        });
    }
}

/// What is trusted now.
fn trusts(place: Place, book: Book) -> Reply {
    let book = Book { folder: place.folder.clone(), ..book };
    let rules = Event::RulesRead { rules: Arc::new(book.load(&rules::today()).rules), notices: Vec::new() };
    let instructions = Arc::new(Brought::trusted_words(&place));
    Reply::Trusts { folder: place.folder, instructions, rules }
}
