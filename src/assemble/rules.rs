//! Reads the rules, and notices when they are other ones: another program kept one, the person wrote one, a day is over.

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

/// So many days a rule that is kept from a card holds.
pub(super) const DAYS: i64 = 90;

/// The tools as rules and trust know them: by these settings; nothing is said of walls, since no call is run.
pub(super) fn tools(config: &Config) -> Toolbox {
    Toolbox::builtin(toolbox::Settings {
        seconds: config.shell.timeout,
        seconds_at_most: config.shell.max_timeout,
        walls: Walls::default(),
        may_ask: config.shell.network != Network::Off,
    })
}

/// Where the rules for work in this folder stand.
pub(super) fn book(places: &Places, folder: &Path, tools: &Toolbox) -> Book {
    Book {
        file: places.rules(),
        trusted: places.trusted(),
        folder: folder.to_owned(),
        tools: tools.specs().into_iter().map(|spec| spec.name).collect(),
        home: std::env::var_os("HOME").map(PathBuf::from),
    }
}

/// Where what the project in this folder brings along is looked for; of its words so many bytes are sent at most.
pub(super) fn place(places: &Places, folder: &Path, tools: &Toolbox, most: usize) -> Place {
    let Book { trusted, folder, tools, .. } = book(places, folder, tools);
    Place { folder, trusted, tools, most }
}

/// The day it is where the person is, as `2026-11-22`.
pub(super) fn today() -> String {
    jiff::Zoned::now().date().to_string()
}

/// The last day of a rule that is kept today.
pub(super) fn expiry() -> String {
    let today = jiff::Zoned::now().date();
    today.checked_add(jiff::ToSpan::days(DAYS)).unwrap_or(today).to_string()
}

/// Whose files are looked at before every call.
pub(super) struct Watch {
    book: Book,
    last: Mutex<Option<(Stamp, Loaded)>>,
}

/// By what a change is noticed.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Stamp {
    today: String,
    files: Vec<Option<[i128; 5]>>,
}

impl Watch {
    pub(super) fn new(book: Book) -> Self {
        Self { book, last: Mutex::new(None) }
    }

    /// The rules, where they are not what they were when this was last asked, and what is to be said about them.
    pub(super) fn anew(&self) -> Option<(Arc<Rules>, Vec<String>)> {
        let stamp = self.stamp();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        // What is denied through a link is denied where that leads now.
        if last.as_ref().is_some_and(|(seen, loaded)| *seen == stamp && self.book.leads_alike(loaded)) {
            return None;
        }
        let loaded = self.book.load(&stamp.today);
        // What is not trusted when a session begins is said with all that the project brings along.
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
