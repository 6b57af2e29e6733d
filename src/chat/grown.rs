//! What came of a reply that is not whole yet: kept about once a second, so that a kill costs no more than that of it.

use super::CallId;
use serde::{Deserialize, Serialize};

/// What came since the last record of the same reply. It is no fact of the session: the reply itself is, once it came to
/// its end, and whoever reads a session makes one of these records only where that never happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grown {
    /// The call of the sub-agent whose reply it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beneath: Option<CallId>,
    /// The model's name.
    pub model: String,
    /// Of the text.
    #[serde(default, skip_serializing_if = "More::is_nothing")]
    pub text: More,
    /// Of the reasoning.
    #[serde(default, skip_serializing_if = "More::is_nothing")]
    pub reasoning: More,
}

/// What a running call has printed since the last record of the same call. It is no fact either: the outcome is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Printed {
    /// Which call.
    pub call: CallId,
    /// The output.
    pub text: String,
}

/// A piece of a text, and the byte of it where the piece begins; what stood behind that before counts no longer.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct More(pub usize, pub String);

impl More {
    fn is_nothing(&self) -> bool {
        *self == Self::default()
    }

    /// What a text has behind the `kept` bytes that are known of it. Where it is shorter than that it is another one.
    pub fn of(text: &str, kept: usize) -> Self {
        match text.get(kept..) {
            Some(more) => Self(kept, more.to_owned()),
            None => Self(0, text.to_owned()),
        }
    }
}

/// A text as its pieces make it. What a lost piece would have held is told by three dots.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Growing {
    text: String,
    /// The byte of the text itself that comes next.
    end: usize,
}

impl Growing {
    /// Adds a piece.
    pub fn add(&mut self, More(from, more): &More) {
        match from.checked_sub(self.end) {
            _ if *from == 0 => self.text.clear(),
            Some(0) => {}
            Some(_) => self.text.push('…'),
            None => {
                let keep = self.text.len().saturating_sub(self.end - from);
                self.text.truncate(self.text.floor_char_boundary(keep));
            }
        }
        self.end = from.saturating_add(more.len());
        self.text.push_str(more);
    }

    /// All of it.
    pub fn whole(self) -> String {
        self.text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(pieces: &[(usize, &str)], whole: &str) {
        let mut growing = Growing::default();
        for (from, more) in pieces {
            growing.add(&More(*from, (*more).to_owned()));
        }
        assert_eq!(growing.whole(), whole, "{pieces:?}");
    }

    #[test]
    fn pieces_make_the_text_and_a_lost_one_is_told() {
        check(&[], "");
        check(&[(0, "one "), (4, "two"), (7, "")], "one two");
        check(&[(0, "one "), (0, "another")], "another");
        check(&[(0, "one "), (4, "two"), (4, "2")], "one 2");
        check(&[(0, "one "), (20, "three"), (25, "!")], "one …three!");
        check(&[(4, "two")], "…two");
        check(&[(1, "x"), (2, "y")], "…xy");
        check(&[(0, "é"), (1, "x")], "x");
    }

    #[test]
    fn a_text_tells_what_it_has_more() {
        assert_eq!(More::of("one two", 4), More(4, "two".into()));
        assert_eq!(More::of("one", 3), More(3, String::new()));
        assert_eq!(More::of("one", 9), More(0, "one".into()));
        assert_eq!(More::of("éa", 1), More(0, "éa".into()));
    }
}
