//! Token usage of replies.

use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// Tokens as reported by the provider; zero if not reported.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens sent, cached ones included.
    pub input: u64,
    /// Part of `input` that was in the provider's cache.
    pub cached: u64,
    /// Tokens received, reasoning included.
    pub output: u64,
}

impl Usage {
    /// Returns all tokens that are billed.
    pub fn total(&self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

impl AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input = self.input.saturating_add(other.input);
        self.cached = self.cached.saturating_add(other.cached);
        self.output = self.output.saturating_add(other.output);
    }
}
