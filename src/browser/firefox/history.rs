//! The history of the page. BiDi does not list it, so it is derived from the addresses and lengths that were seen.
//!
//! What is derived may be wrong, because scripts change the history too. So an entry is opened only if the request for it is the
//! expected one.

use crate::browser::page_watch::HistoryEntry;

/// Addresses of the history; `None` for those that are unknown.
#[derive(Debug, Default)]
pub struct History {
    entries: Vec<Option<String>>,
    current: usize,
}

impl History {
    /// Records the page that is shown now. `length` is the number of entries, `step` how far this program has gone since.
    pub fn record(&mut self, url: &str, length: usize, step: i64) {
        let length = length.clamp(1, 1_000);
        let stepped = usize::try_from(i64::try_from(self.current).unwrap_or(0) + step).ok();
        if let Some(stepped) = stepped.filter(|at| step != 0 && length == self.entries.len() && *at < length) {
            self.current = stepped;
        } else if length != self.entries.len() {
            // New entries replace those after the current one.
            self.entries.truncate(self.current + 1);
            self.entries.resize(length, None);
            self.current = length - 1;
        } else if !self.is_at(self.current, url) {
            let places: Vec<usize> = (0..length).filter(|at| self.is_at(*at, url)).collect();
            match places[..] {
                // A script has gone there.
                [place] => self.current = place,
                // A new entry has replaced the only one after the current one.
                _ if self.current + 2 == length => self.current += 1,
                _ => {}
            }
        }
        if let Some(entry) = self.entries.get_mut(self.current) {
            *entry = Some(url.to_owned());
        }
    }

    fn is_at(&self, at: usize, url: &str) -> bool {
        self.entries.get(at).is_some_and(|entry| entry.as_deref() == Some(url))
    }

    /// Returns the pages before and after the current one.
    pub fn neighbors(&self) -> [Option<HistoryEntry>; 2] {
        [-1, 1].map(|id| {
            let at = usize::try_from(i64::try_from(self.current).ok()? + id).ok()?;
            let url = self.entries.get(at)?.clone().filter(|url| url.starts_with("http"))?;
            Some(HistoryEntry { id, url })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn neighbors(history: &History) -> [Option<String>; 2] {
        history.neighbors().map(|entry| entry.map(|entry| entry.url))
    }

    #[test]
    fn the_history_follows_pages_steps_and_scripts() {
        let url = |name: &str| format!("http://a.example/{name}");
        let known = |name: &str| Some(url(name));
        let mut history = History::default();
        assert_eq!(neighbors(&history), [None, None]);
        history.record("about:blank", 1, 0);
        history.record(&url("1"), 2, 0);
        assert_eq!(neighbors(&history), [None, None], "the empty page of the start is no page");
        history.record(&url("1"), 2, 0);
        history.record(&url("2"), 3, 0);
        history.record(&url("3"), 4, 0);
        assert_eq!(neighbors(&history), [known("2"), None]);
        history.record(&url("2"), 4, -1);
        assert_eq!(neighbors(&history), [known("1"), known("3")]);
        // A script goes back, and a link replaces what was ahead.
        history.record(&url("1"), 4, 0);
        assert_eq!(neighbors(&history), [None, known("2")]);
        history.record(&url("4"), 3, 0);
        assert_eq!(neighbors(&history), [known("1"), None]);
        // Two new entries, one of which was not seen.
        history.record(&url("6"), 5, 0);
        assert_eq!(neighbors(&history), [None, None]);
        history.record(&url("7"), usize::MAX, 0);
        history.record(&url("8"), 0, -5);
        assert_eq!(neighbors(&history), [None, None]);
    }
}
