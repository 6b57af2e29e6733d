//! Counts of the changes of a trial.

use serde::{Deserialize, Serialize};

/// Numbers of files that a trial changed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TrialCounts {
    pub created: usize,
    pub modified: usize,
    pub deleted: usize,
}

impl TrialCounts {
    /// Describes the counts: `2 created, 1 changed`; `no changes` if all are zero.
    pub fn describe(self) -> String {
        let counts = [(self.created, "created"), (self.modified, "changed"), (self.deleted, "deleted")];
        let texts: Vec<String> =
            counts.iter().filter(|(count, _)| *count > 0).map(|(count, word)| format!("{count} {word}")).collect();
        if texts.is_empty() { "no changes".to_owned() } else { texts.join(", ") }
    }
}
