//! What a reply cost in tokens.

use serde::{Deserialize, Serialize};
use std::ops::AddAssign;

/// Tokens as the service counted them; zero where it said nothing.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Usage {
    /// Tokens sent, cached ones included.
    pub input: u64,
    /// Of those sent, the ones the service had in its cache.
    pub cached: u64,
    /// Tokens received, reasoning included.
    pub output: u64,
}

impl Usage {
    /// Everything that was paid for.
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
