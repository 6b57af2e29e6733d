//! What rules and grants are asked about: one call, as far as it is known.

use super::reach;
use super::shell::{self, Reading};
use crate::chat::{Access, Basis, CommandLine, Plan, Preview};
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
    /// The command it runs, where it runs one, be it only to read.
    pub line: Option<&'a CommandLine>,
    reading: OnceCell<Option<Reading>>,
}

impl<'a> Subject<'a> {
    /// A call of this tool, and what is shown of it.
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

    /// A call that was looked at.
    pub fn of(tool: &'a str, plan: &'a Plan) -> Self {
        Self::new(tool, &plan.access, &plan.preview, plan.destroys.is_some(), &plan.basis)
    }

    /// Whether it is a command whose every program is known to stay off the network.
    pub(super) fn stays_local(&self) -> bool {
        self.reading().is_some_and(reach::stays_local)
    }

    /// Its command line, as the shell reads it. Read once, when it is first wanted.
    pub fn reading(&self) -> Option<&Reading> {
        self.reading.get_or_init(|| self.line.map(|line| shell::read(&line.command))).as_ref()
    }
}
