//! The words of a conversation: plain data, known to every other floor and knowing none of them.

pub mod access;
pub mod chunk;
pub mod edit;
pub mod entry;
pub mod grant;
pub mod id;
pub mod link;
pub mod message;
pub mod plan;
pub mod question;
pub mod session;
pub mod tool;
pub mod usage;

pub use access::{Access, CommandLine};
pub use chunk::{Chunk, Finish};
pub use edit::{Diff, Edit, Hunk, Line};
pub use entry::{By, Decision, Ending, Entry};
pub use grant::{Grant, Scope};
pub use id::{CallId, SessionId, TurnId};
pub use message::{Message, Request};
pub use plan::{Intent, Plan, Preview, Work};
pub use question::{Answer, Choice, Given, Question, Questions, Source, Status};
pub use session::Session;
pub use tool::{Outcome, ToolCall, ToolSpec};
pub use usage::Usage;
