//! How much runs without asking: fixed by the person, outside any card.

use crate::chat::{Access, Plan, Reach};
use serde::{Deserialize, Serialize};

/// How much runs without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Reading inside the project runs; everything else is refused.
    Plan,
    /// Reading inside the project runs; everything else asks.
    #[default]
    Ask,
    /// Changing files of the project runs too.
    Auto,
    /// Commands run too. What cannot be taken back outside the project still asks, and what is never done is not done.
    Full,
}

impl Mode {
    /// Every one, from the narrowest to the widest.
    pub const ALL: [Self; 4] = [Self::Plan, Self::Ask, Self::Auto, Self::Full];

    /// The one that a person's key changes to from here. A key that is pressed by mistake never widens it beyond asking.
    pub fn next(self) -> Self {
        match self {
            Self::Plan => Self::Ask,
            Self::Ask | Self::Auto | Self::Full => Self::Plan,
        }
    }

    /// Its one word, as it is written in the settings and on the screen.
    pub fn word(self) -> &'static str {
        match self {
            Self::Plan => "plan",
            Self::Ask => "ask",
            Self::Auto => "auto",
            Self::Full => "full",
        }
    }

    /// What it means, in a few words for the person.
    pub fn meaning(self) -> &'static str {
        match self {
            Self::Plan => "the project is read, nothing is changed or run",
            Self::Ask => "reading runs, everything else asks you",
            Self::Auto => "reading and changing files of the project run, everything else asks you",
            Self::Full => "everything runs without asking you, but what cannot be taken back",
        }
    }

    /// Whether less is asked than by default.
    pub fn is_wide(self) -> bool {
        match self {
            Self::Plan | Self::Ask => false,
            Self::Auto | Self::Full => true,
        }
    }

    /// Whether a plan goes ahead in this mode that does more than read. What destroys something asks in auto, and in full
    /// where that is not plainly inside the project.
    pub(super) fn lets_through(self, plan: &Plan) -> bool {
        let full = self == Self::Full;
        let whole = plan.destroys.is_none();
        match &plan.access {
            Access::Nothing | Access::Read(_) => true,
            Access::ReadSensitive(_) => full,
            Access::Write(_) => full || (self == Self::Auto && whole),
            Access::WriteOutside(_) => false,
            Access::Run(run) => match run.reach {
                Reach::Reads | Reach::Writes => full || (self == Self::Auto && whole),
                Reach::Runs => full,
                Reach::Outside | Reach::Unclear | Reach::Never => false,
            },
        }
    }
}
