//! Events of a reply that could not be read: what is lost with them, and when the reply is lost too.
//!
//! An event is *damaged* if it begins as JSON does: it may have held a part of the reply. Any other, such as a
//! keep-alive in words, held none.

use super::Error;

/// Shown in place of what a damaged event may have held.
pub const MARK: &str = "\u{fffd}";

/// The unreadable events of one reply.
#[derive(Debug, Default)]
pub struct Unreadable {
    /// The start of the first of them.
    start: Option<String>,
    is_damaged: bool,
    /// One of them is not marked in the text yet.
    is_unmarked: bool,
}

impl Unreadable {
    /// One more, which begins like this.
    pub fn add(&mut self, start: String) {
        let is_damaged = start.starts_with(['{', '[', '"']);
        self.is_damaged |= is_damaged;
        self.is_unmarked |= is_damaged;
        self.start.get_or_insert(start);
    }

    /// What has to be put before more of the reply, of which something `was_shown` or not.
    pub fn take_mark(&mut self, was_shown: bool) -> &'static str {
        if was_shown && std::mem::take(&mut self.is_unmarked) { MARK } else { "" }
    }

    /// The error of a reply that came to no end of its own: what could not be read is the likely reason.
    pub fn error(&self) -> Option<Error> {
        self.start.as_deref().map(unreadable)
    }

    /// The error of a reply that is whole by the word of its provider. Nothing readable came before its end; or it has
    /// calls, whose arguments may lack what a damaged event held, and such calls must not run.
    pub fn error_at_end(&self, was_shown: bool, has_calls: bool) -> Option<Error> {
        let start = self.start.as_deref()?;
        match (has_calls && self.is_damaged, was_shown || has_calls) {
            (true, _) => Some(Error::Cut(format!(
                "an event of it is not valid JSON ({start}), so its calls may not be whole and were not run"
            ))),
            (false, false) => Some(unreadable(start)),
            (false, true) => None,
        }
    }
}

/// The error of a reply that is lost because of an event that begins like this.
pub fn unreadable(start: &str) -> Error {
    Error::NotAModel(format!("Cannot read the reply: an event is not valid JSON: {start}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_event_is_marked_once_and_stops_calls_and_words_do_neither() {
        let mut events = Unreadable::default();
        assert_eq!(
            (events.take_mark(true), events.error(), events.error_at_end(false, true)),
            ("", None, None)
        );
        events.add("keep-alive".into());
        assert_eq!((events.take_mark(true), events.error_at_end(true, true)), ("", None));
        assert!(events.error().is_some() && events.error_at_end(false, false).is_some());
        events.add("{\"choices".into());
        assert_eq!((events.take_mark(false), events.take_mark(true), events.take_mark(true)), ("", MARK, ""));
        assert_eq!(events.error_at_end(true, false), None);
        assert!(matches!(events.error_at_end(true, true), Some(Error::Cut(why)) if why.contains("not run")));
    }
}
