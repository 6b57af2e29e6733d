//! Loads the rules, and detects changes: by another process, by the user in the file, or by a new day.

use crate::chat::Walls;
use crate::config::brought::Place;
use crate::config::rules::{Book, Loaded, OF_PROJECT};
use crate::config::{Config, Network};
use crate::policy::Rules;
use crate::store::Places;
use crate::tools::toolbox::{self, Toolbox};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// Days until a rule saved from a prompt expires.
pub(super) const DAYS: i64 = 90;

/// Returns the tools for checking rules and trust. They have no sandbox, because no call runs.
pub(super) fn tools(config: &Config) -> Toolbox {
    Toolbox::builtin(toolbox::Settings {
        seconds: config.shell.timeout,
        seconds_at_most: config.shell.max_timeout,
        walls: Walls::default(),
        may_ask: config.shell.network != Network::Off,
    })
}

/// Returns the files with the rules for work in this folder.
pub(super) fn book(places: &Places, folder: &Path, tools: &Toolbox) -> Book {
    Book {
        file: places.rules(),
        trusted: places.trusted(),
        folder: folder.to_owned(),
        tools: tools.specs().into_iter().map(|spec| spec.name).collect(),
        home: std::env::var_os("HOME").map(PathBuf::from),
    }
}

/// Returns where the project's own files are read; at most `most` bytes of its instructions are sent.
pub(super) fn place(places: &Places, folder: &Path, tools: &Toolbox, most: usize) -> Place {
    let Book { trusted, folder, tools, .. } = book(places, folder, tools);
    Place { folder, trusted, tools, most }
}

/// Returns the local date as `2026-11-22`.
pub(super) fn today() -> String {
    jiff::Zoned::now().date().to_string()
}

/// Returns the last day of a rule that is saved today.
pub(super) fn expiry() -> String {
    let today = jiff::Zoned::now().date();
    today.checked_add(jiff::ToSpan::days(DAYS)).unwrap_or(today).to_string()
}

/// Detects changes of the rule files before every call.
pub(super) struct Watch {
    book: Book,
    last: Mutex<Option<(Stamp, Loaded)>>,
}

/// State of the files by which a change is detected.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    today: String,
    files: Vec<Option<[i128; 5]>>,
}

impl Watch {
    pub(super) fn new(book: Book) -> Self {
        Self { book, last: Mutex::new(None) }
    }

    /// Returns the rules and new notices if anything changed since the last call.
    pub(super) fn anew(&self) -> Option<(Arc<Rules>, Vec<String>)> {
        let stamp = self.stamp();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        // A deny rule for a link applies to its current target.
        if last.as_ref().is_some_and(|(seen, loaded)| *seen == stamp && self.book.leads_alike(loaded)) {
            return None;
        }
        let loaded = self.book.load(&stamp.today);
        // At the start, the notice about an untrusted project file is part of the trust prompt.
        let before = match &*last {
            Some((_, before)) => before.notices(),
            None => loaded.untrusted().into_iter().collect(),
        };
        let notices = loaded.notices().into_iter().filter(|notice| !before.contains(notice)).collect();
        let rules = Arc::new(loaded.rules.clone());
        *last = Some((stamp, loaded));
        Some((rules, notices))
    }

    fn stamp(&self) -> Stamp {
        let own = self.book.folder.join(OF_PROJECT);
        let of = |path: &Path| {
            let found = fs::metadata(path).ok()?;
            let (place, time) = (
                [found.dev(), found.ino(), found.len()].map(i128::from),
                [found.mtime(), found.mtime_nsec()].map(i128::from),
            );
            Some([place[0], place[1], place[2], time[0], time[1]])
        };
        let files = [&self.book.file, &self.book.trusted, &own].map(|path| of(path)).to_vec();
        Stamp { today: today(), files }
    }
}
