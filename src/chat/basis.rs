//! Preconditions of a plan: the files it was made from and the environment variables of its command.

use super::access::as_unicode;
use super::{Digest, Scripts};
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Preconditions of a plan. They are compared again before the plan runs; if any differs, it does not run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Basis {
    /// Files with their content.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<Seen>,
    /// Names of the environment variables that a command receives, sorted; never their values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub environment: Vec<String>,
    /// The first path a command names that is outside the project, holds secrets or controls other programs, as it is
    /// shown. Only a grant or rule for exactly this command covers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beyond: Option<Beyond>,
    /// True if the command may use more files than were checked.
    #[serde(default, skip_serializing_if = "is_false")]
    pub partial: bool,
    /// The first file it writes that has several hard links. No rule, grant or mode covers such a write.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hard_links: Option<HardLinks>,
    /// Scripts that the command runs, as far as they are known.
    #[serde(default, skip_serializing_if = "Scripts::is_none")]
    pub scripts: Scripts,
}

/// A path named by a command that limits which rules and grants cover it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Beyond {
    /// As it is shown: relative to the project if inside.
    #[serde(serialize_with = "as_unicode")]
    pub path: PathBuf,
    /// True if it holds secrets or controls other programs: then not even a rule for exactly this command covers it.
    #[serde(default, skip_serializing_if = "is_false")]
    pub sensitive: bool,
}

/// A file with several hard links: writing it may change, or leave unchanged, a file elsewhere.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HardLinks {
    /// The name that the plan writes, as it is shown.
    #[serde(serialize_with = "as_unicode")]
    pub path: PathBuf,
    /// Number of names of the file, including this one.
    pub names: u64,
}

/// A file and its content when the plan was made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// Relative to the project if inside, else absolute.
    #[serde(serialize_with = "as_unicode")]
    pub path: PathBuf,
    pub held: Held,
    /// Digest of the new content, if the plan changes the file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub becomes: Option<Digest>,
    /// True if the file may grow until the call runs, as the log of a running program does.
    #[serde(default, skip_serializing_if = "is_false")]
    pub grows: bool,
}

/// Content of a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "snake_case")]
pub enum Held {
    /// The file did not exist.
    Nothing,
    /// The content, by length and digest.
    Read { bytes: u64, sha256: Digest },
    /// Larger than the limit; not compared.
    TooMuch,
}

impl Basis {
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl Held {
    /// Returns the content of a file with these bytes; of a missing file for `None`.
    pub fn of(bytes: Option<&[u8]>) -> Self {
        match bytes {
            None => Self::Nothing,
            Some(bytes) => Self::Read { bytes: bytes.len() as u64, sha256: Digest::of(bytes) },
        }
    }
}

impl Seen {
    /// Returns whether the file's present content matches. A file above the size limit always does.
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

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !value
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r08_a_file_matches_only_with_the_same_bytes() {
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
