//! Verdicts, and the settings they depend on.

use super::mode::Mode;

/// Permission settings, which only the user can change and never from a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Policy {
    /// Permission mode.
    pub mode: Mode,
    /// True in a dry run. Fixed when the session is created.
    pub dry_run: bool,
    /// True if a dry run asks for the approvals a live run would need. Otherwise it only reports them.
    pub asks_as_live: bool,
}

/// Verdict of the policy on a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Run it; with the reason.
    Allow(String),
    /// Ask the user; with the reason shown on the approval prompt.
    Ask(String),
    /// Rehearse it in the dry run; with the reason.
    Rehearse(String),
    /// Do not run it in the dry run: it would send data to the model without the required approval.
    Withhold(Withheld),
    /// Deny it; with an error for the model.
    Deny(String),
}

impl Verdict {
    /// Returns the name used in the log.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Allow(_) => "allow",
            Self::Ask(_) => "ask",
            Self::Rehearse(_) => "rehearse",
            Self::Withhold(_) => "withhold",
            Self::Deny(_) => "refuse",
        }
    }

    /// Returns the reason for the prompt and the log.
    pub fn reason(&self) -> &str {
        match self {
            Self::Allow(why) | Self::Ask(why) | Self::Rehearse(why) | Self::Deny(why) => why,
            Self::Withhold(withheld) => &withheld.reason,
        }
    }
}

/// Reason why a dry run does not run a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Withheld {
    /// Description of what it reads: `read of .env (may hold secrets)`.
    pub reads: String,
    /// True if the call would ask live; otherwise it would run without asking.
    pub asks_live: bool,
    /// Reason of the verdict, for the log.
    pub reason: String,
}

impl Withheld {
    /// Returns the outcome for the model and the user.
    pub fn outcome_text(&self) -> String {
        let live_effect = match self.asks_live {
            true => "the user would be asked first",
            false => "it would run without asking",
        };
        format!("Withheld in this dry run: {}. Live, {live_effect}.", self.reads)
    }
}
