//! The words of a conversation: plain data, known to every other floor and knowing none of them.

pub mod access;
pub mod chunk;
pub mod edit;
pub mod entry;
pub mod escape;
pub mod grant;
pub mod id;
pub mod link;
pub mod message;
pub mod picture;
pub mod plan;
pub mod question;
pub mod session;
pub mod shorten;
pub mod summary;
pub mod tokens;
pub mod tool;
pub mod usage;

pub use access::{Access, CommandLine};
pub use chunk::{Chunk, Finish};
pub use edit::{Diff, Edit, Hunk, Line};
pub use entry::{By, Decision, Ending, Entry, Namer};
pub use grant::{Grant, Scope};
pub use id::{CallId, SessionId, TurnId};
pub use message::{Echo, Message, Request};
pub use picture::Picture;
pub use plan::{Intent, Plan, Preview, Work};
pub use question::{Answer, Choice, Dropped, Given, Giver, Question, Questions, Source, Status};
pub use session::{Counted, Session};
pub use tool::{Outcome, ToolCall, ToolSpec};
pub use usage::Usage;
