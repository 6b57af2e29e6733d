//! Unreadable events of a reply, and when they make the whole reply unusable.
//!
//! An unreadable event is *damaged* if it begins like JSON: it may have contained a part of the reply. Any other
//! unreadable event, such as a plain-text keep-alive, contained none.

use super::Error;

/// Character shown in place of a damaged event.
pub const DAMAGE_MARK: &str = "\u{fffd}";

/// The unreadable events of one reply.
#[derive(Debug, Default)]
pub struct UnreadableEvents {
    /// Start of the first one.
    start: Option<String>,
    /// At least one of them is damaged.
    is_damaged: bool,
    /// A damaged event is not yet marked in the text.
    is_unmarked: bool,
}

impl UnreadableEvents {
    /// Adds an event that begins with `start`.
    pub fn add_event(&mut self, start: String) {
        let is_damaged = start.starts_with(['{', '[', '"']);
        self.is_damaged |= is_damaged;
        self.is_unmarked |= is_damaged;
        self.start.get_or_insert(start);
    }

    /// Returns the mark to put before the next text, if a damaged event is unmarked and text was shown before.
    pub fn take_mark(&mut self, was_shown: bool) -> &'static str {
        if was_shown && std::mem::take(&mut self.is_unmarked) { DAMAGE_MARK } else { "" }
    }

    /// Returns the error of a reply without an end marker: the unreadable event is the likely cause.
    pub fn error_without_end(&self) -> Option<Error> {
        self.start.as_deref().map(unreadable_event_error)
    }

    /// Checks a reply with an end marker.
    ///
    /// # Errors
    /// Fails if nothing readable was shown, or if the reply has calls whose arguments may lack the content of a damaged
    /// event. Such calls must not run.
    pub fn check_end(&self, was_shown: bool, has_calls: bool) -> Result<(), Error> {
        match &self.start {
            Some(start) if has_calls && self.is_damaged => Err(Error::ConnectionLost(format!(
                "an event is not valid JSON ({start}), so its tool calls may be incomplete and were not run"
            ))),
            Some(start) if !was_shown && !has_calls => Err(unreadable_event_error(start)),
            Some(_) | None => Ok(()),
        }
    }
}

/// Returns the error of a reply that is unusable because of an event that begins with `start`.
fn unreadable_event_error(start: &str) -> Error {
    Error::InvalidReply(format!("Cannot read the reply: an event is not valid JSON: {start}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_damaged_event_is_marked_once_and_stops_calls() {
        let mut events = UnreadableEvents::default();
        // The arguments are `was_shown` for a mark, and `was_shown, has_calls` for the end.
        assert_eq!(
            (events.take_mark(true), events.error_without_end(), events.check_end(false, true)),
            ("", None, Ok(()))
        );
        events.add_event("keep-alive".into());
        assert_eq!((events.take_mark(true), events.check_end(true, true)), ("", Ok(())));
        assert!(events.error_without_end().is_some() && events.check_end(false, false).is_err());
        events.add_event("{\"choices".into());
        assert_eq!((events.take_mark(false), events.take_mark(true), events.take_mark(true)), ("", DAMAGE_MARK, ""));
        assert_eq!(events.check_end(true, false), Ok(()));
        assert!(matches!(events.check_end(true, true), Err(Error::ConnectionLost(cause)) if cause.contains("not run")));
    }
}
