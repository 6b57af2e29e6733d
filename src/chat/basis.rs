//! What a plan rests on beside its arguments: the files it was made from, and the variables a command will find.

use super::access::as_unicode;
use super::{Digest, Scripts};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// What a plan rests on. It is compared again before the plan is done, and where it is not the same any more, the plan
/// is not done.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Basis {
    /// The files, with what they held.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Seen>,
    /// The names of the variables that a command finds, sorted; never what they hold.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<String>,
    /// The first thing a command names that lies outside of the project, holds secrets or is obeyed by other programs,
    /// as it is shown. No lasting yes covers such a command but the one for exactly it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beyond: Option<Beyond>,
    /// Whether there may be more files than were looked at.
    #[serde(default, skip_serializing_if = "is_false")]
    pub partial: bool,
    /// The first file it writes that has other names. No rule, grant or mode covers such a write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hard_links: Option<HardLinks>,
    /// How much is known of the scripts that a command runs.
    #[serde(default, skip_serializing_if = "Scripts::is_none")]
    pub scripts: Scripts,
}

/// What a command names that no rule of some width may cover.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beyond {
    /// As it is shown: relative to the project where it is inside.
    #[serde(serialize_with = "as_unicode")]
    pub path: PathBuf,
    /// Whether it holds secrets or is obeyed by other programs: then not even a rule for exactly this command covers it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub sensitive: bool,
}

/// A file with several names (hard links): what is written to it may change, or leave behind, a file elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HardLinks {
    /// The name that the plan writes, as it is shown.
    #[serde(serialize_with = "as_unicode")]
    pub path: PathBuf,
    /// How many names the file has, this one included.
    pub names: u64,
}

/// A file, and what it held when the plan was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// Relative to the project where it is inside, absolute elsewhere.
    #[serde(serialize_with = "as_unicode")]
    pub path: PathBuf,
    /// What it held.
    pub held: Held,
    /// What it will hold, where the plan changes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub becomes: Option<Digest>,
    /// Whether more may have come at its end until then, as with the log of something that runs.
    #[serde(default, skip_serializing_if = "is_false")]
    pub grows: bool,
}

/// What a file held.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Held {
    /// There was no such file.
    Nothing,
    /// These bytes.
    Read {
        /// How many.
        bytes: u64,
        /// Which.
        sha256: Digest,
    },
    /// More than is read: it is not compared.
    TooMuch,
}

impl Basis {
    /// Whether there is nothing to compare.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Held {
    /// A file with this in it; `None` for no file.
    pub fn of(bytes: Option<&[u8]>) -> Self {
        match bytes {
            None => Self::Nothing,
            Some(bytes) => Self::Read { bytes: bytes.len() as u64, sha256: Digest::of(bytes) },
        }
    }
}

impl Seen {
    /// Whether this, which the file holds now, is what was seen. What was too much to be read is taken to be.
    pub fn still_holds(&self, now: Option<&[u8]>) -> bool {
        match (&self.held, now) {
            (Held::TooMuch, _) => true,
            (Held::Nothing, now) => now.is_none(),
            (Held::Read { .. }, None) => false,
            (Held::Read { bytes, sha256 }, Some(now)) => {
                let length = usize::try_from(*bytes).unwrap_or(usize::MAX);
                let same = if self.grows { now.get(..length) } else { Some(now) };
                same.is_some_and(|same| same.len() == length && Digest::of(same) == *sha256)
            }
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over like that")]
fn is_false(value: &bool) -> bool {
    !value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r08_a_file_still_holds_what_was_seen_to_the_byte() {
        let seen = |held: Option<&[u8]>, grows| Seen {
            path: "a".into(),
            held: Held::of(held),
            becomes: None,
            grows,
        };
        let check = |held: Option<&[u8]>, grows: bool, now: Option<&[u8]>, same: bool| {
            assert_eq!(seen(held, grows).still_holds(now), same, "{held:?} {grows} {now:?}");
        };
        check(Some(b"ls\n"), false, Some(b"ls\n"), true);
        check(Some(b"ls\n"), false, Some(b"ls\nrm x\n"), false);
        check(Some(b"ls\n"), false, Some(b"LS\n"), false);
        check(Some(b"ls\n"), false, None, false);
        check(Some(b""), false, Some(b""), true);
        check(None, false, None, true);
        check(None, false, Some(b""), false);
        check(Some(b"one\n"), true, Some(b"one\ntwo\n"), true);
        check(Some(b"one\n"), true, Some(b"two\none\n"), false);
        check(Some(b"one\n"), true, Some(b"on"), false);
        assert!(Seen { held: Held::TooMuch, ..seen(None, false) }.still_holds(None));
    }
}
