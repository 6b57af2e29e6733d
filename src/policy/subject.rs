//! What rules and grants are asked about: one call, as far as it is known.

use super::shell::{self, Reading};
use crate::chat::{Access, Basis, Plan};
use std::cell::OnceCell;

/// A call that is judged, or one that was.
#[derive(Debug)]
pub struct Subject<'a> {
    /// The tool.
    pub tool: &'a str,
    /// How far it reaches.
    pub access: &'a Access,
    /// Whether something is destroyed.
    pub destroys: bool,
    /// What it rests on.
    pub basis: &'a Basis,
    reading: OnceCell<Option<Reading>>,
}

impl<'a> Subject<'a> {
    /// A call of this tool.
    pub fn new(tool: &'a str, access: &'a Access, destroys: bool, basis: &'a Basis) -> Self {
        Self { tool, access, destroys, basis, reading: OnceCell::new() }
    }

    /// A call that was looked at.
    pub fn of(tool: &'a str, plan: &'a Plan) -> Self {
        Self::new(tool, &plan.access, plan.destroys.is_some(), &plan.basis)
    }

    /// Its command line, where it runs one, as the shell reads it. Read once, when it is first wanted.
    pub fn reading(&self) -> Option<&Reading> {
        let read = || match self.access {
            Access::Run(line) => Some(shell::read(&line.command)),
            Access::Nothing
            | Access::Read(_)
            | Access::ReadSensitive(_)
            | Access::Write(_)
            | Access::WriteOutside(_) => None,
        };
        self.reading.get_or_init(read).as_ref()
    }
}
