//! The call that rules and grants are matched against.

use super::reach;
use super::shell::{self, Reading};
use crate::chat::{Access, Basis, CommandLine, Plan, Preview};
use std::cell::OnceCell;

/// A call that is or was judged.
#[derive(Debug)]
pub struct Subject<'a> {
    pub tool: &'a str,
    pub access: &'a Access,
    /// True if something is destroyed.
    pub destroys: bool,
    /// Preconditions of the plan.
    pub basis: &'a Basis,
    /// Command that it runs, if any, including commands that only read.
    pub line: Option<&'a CommandLine>,
    reading: OnceCell<Option<Reading>>,
}

impl<'a> Subject<'a> {
    /// Creates a subject from a tool and the parts of its plan.
    pub fn new(
        tool: &'a str,
        access: &'a Access,
        preview: &'a Preview,
        destroys: bool,
        basis: &'a Basis,
    ) -> Self {
        let line = match (access, preview) {
            (Access::Run(run), _) => Some(&*run.line),
            (_, Preview::Command(line)) => Some(line),
            (_, Preview::Text(_) | Preview::Edit(_) | Preview::Batch(_)) => None,
        };
        Self { tool, access, destroys, basis, line, reading: OnceCell::new() }
    }

    /// Creates a subject from a plan.
    pub fn of(tool: &'a str, plan: &'a Plan) -> Self {
        Self::new(tool, &plan.access, &plan.preview, plan.destroys.is_some(), &plan.basis)
    }

    /// Returns whether all programs of the command are known to stay off the network.
    pub(super) fn stays_local(&self) -> bool {
        self.reading().is_some_and(reach::stays_local)
    }

    /// Returns the parsed command line, which is parsed on first use.
    pub fn reading(&self) -> Option<&Reading> {
        self.reading.get_or_init(|| self.line.map(|line| shell::read(&line.command))).as_ref()
    }
}
