//! What the row of a call says before its subject, and what its subject is.

/// Words for the rows of the calls of a tool. Each tool of the program has them in its own file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CallWords {
    /// Name of the tool.
    pub tool: &'static str,
    /// What a call does: `Read`, `Run`.
    pub action: &'static str,
    /// What a call does that creates a file, if the row says so.
    pub creation: Option<&'static str>,
    /// Whether the summary of a call is a path, whose end matters.
    pub names_path: bool,
    /// What a result is, besides text.
    pub result: CallResult,
}

/// What the results of a tool are, for the screen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallResult {
    /// Text of any kind.
    Text,
    /// What the project has: rows of successive calls may be one.
    Reading,
    /// Like [`Reading`](Self::Reading); the last lines may say which lines of the file it is.
    Lines,
    /// A picture in the workspace, which the plan or the result names.
    Picture,
}

impl CallWords {
    pub const fn new(tool: &'static str, action: &'static str) -> Self {
        Self { tool, action, creation: None, names_path: false, result: CallResult::Text }
    }

    /// Declares that the summaries are paths.
    #[must_use]
    pub const fn with_path(self) -> Self {
        Self { names_path: true, ..self }
    }

    /// Sets the word for calls that create a file.
    #[must_use]
    pub const fn with_creation(self, creation: &'static str) -> Self {
        Self { creation: Some(creation), ..self }
    }

    /// Sets what the results are.
    #[must_use]
    pub const fn with_result(self, result: CallResult) -> Self {
        Self { result, ..self }
    }
}
