//! Ends of a turn that the model requests by a call: the end of the conversation, and transfers.

use serde::{Deserialize, Serialize};

/// What a call does that ends its turn.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TurnEnd {
    /// The model's work in this session ends.
    Conclude(Conclusion),
    /// Another profile answers from the next turn on.
    SwitchProfile {
        profile: String,
        /// Model of the profile; empty for the provider's first one.
        model: String,
    },
}

/// How the model ended its work in a session. The user can continue it with another message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "how", rename_all = "snake_case")]
pub enum Conclusion {
    /// The conversation ended.
    Finished {
        /// Message of the tool file for the user; may be empty.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        message: String,
        /// Reason of the model; may be empty.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        reason: String,
    },
    /// The session waits for the user.
    Parked {
        /// Message of the tool file for the user; may be empty.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        message: String,
        /// What the user needs to know, by the model.
        note: String,
    },
}

impl Conclusion {
    /// Returns the message of the tool file for the user; may be empty.
    pub fn message(&self) -> &str {
        match self {
            Self::Finished { message, .. } | Self::Parked { message, .. } => message,
        }
    }

    /// Describes the end with the text of the model.
    pub fn describe(&self) -> String {
        match self {
            Self::Finished { reason, .. } if reason.is_empty() => "Conversation ended".to_owned(),
            Self::Finished { reason, .. } => format!("Conversation ended: {reason}"),
            Self::Parked { note, .. } => format!("Handed to you: {note}"),
        }
    }
}
