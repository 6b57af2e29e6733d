//! The call that rules and grants are matched against.

use super::command_line::{self, ParsedLine};
use super::effects;
use crate::chat::{Access, CommandLine, Plan, Preconditions, Preview};
use std::cell::OnceCell;

/// A call, with the parts of its plan that the policy looks at.
#[derive(Debug)]
pub struct Subject<'a> {
    pub tool: &'a str,
    pub access: &'a Access,
    /// True if the call destroys something.
    pub destroys: bool,
    /// Preconditions of the plan.
    pub preconditions: &'a Preconditions,
    /// Command that it runs, if any, including commands that only read.
    pub command_line: Option<&'a CommandLine>,
    parsed_line: OnceCell<Option<ParsedLine>>,
}

impl<'a> Subject<'a> {
    /// Creates a subject from a tool and the parts of its plan.
    pub fn new(
        tool: &'a str,
        access: &'a Access,
        preview: &'a Preview,
        destroys: bool,
        preconditions: &'a Preconditions,
    ) -> Self {
        let command_line = match (access, preview) {
            (Access::Run(run), _) => Some(&*run.line),
            (_, Preview::Command(line)) => Some(line),
            (_, Preview::Text(_) | Preview::Edit(_) | Preview::Batch(_)) => None,
        };
        Self { tool, access, destroys, preconditions, command_line, parsed_line: OnceCell::new() }
    }

    /// Creates a subject from a plan.
    pub fn from_plan(tool: &'a str, plan: &'a Plan) -> Self {
        Self::new(tool, &plan.access, &plan.preview, plan.destroys.is_some(), &plan.preconditions)
    }

    /// Returns whether all programs of the command are known to stay off the network.
    pub(super) fn stays_local(&self) -> bool {
        self.parsed_line().is_some_and(effects::stays_local)
    }

    /// Returns the parsed command line, which is parsed on first use.
    pub fn parsed_line(&self) -> Option<&ParsedLine> {
        self.parsed_line
            .get_or_init(|| self.command_line.map(|line| command_line::parse_command_line(&line.command)))
            .as_ref()
    }
}
