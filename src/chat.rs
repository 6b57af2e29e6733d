//! Data types of a session.

pub mod access;
pub mod apply_message;
pub mod attachments;
pub mod audit;
pub mod background;
pub mod batch;
pub mod build_output;
pub mod call_words;
pub mod checkpoint;
pub mod chunk;
pub mod command_part;
pub mod command_sandbox;
pub mod custom_command;
pub mod decider;
pub mod decision;
pub mod deferred_tools;
pub mod digest;
pub mod dry_run_counts;
pub mod dry_run_entries;
pub mod dry_run_summary;
pub mod edit;
pub mod entry;
pub mod entry_counts;
pub mod folder_instructions;
pub mod front_matter;
pub mod grant;
pub mod id;
pub mod image;
pub mod instructions;
pub mod ledger;
pub mod mcp_names;
pub mod mention;
pub mod message;
pub mod message_tokens;
pub mod output_omission;
pub mod partial_reply;
pub mod pasted_paths;
pub mod plan;
pub mod plan_digest;
pub mod preconditions;
pub mod question;
pub mod reply_limit;
pub mod result_origin;
pub mod reviewer;
pub mod sampling;
pub mod schema;
pub mod schema_diff;
pub mod script;
pub mod sensitive_paths;
pub mod server_form;
pub mod server_offer;
pub mod server_report;
pub mod session;
pub mod simulated_result;
pub mod skill;
pub mod stored_result;
pub mod summary;
pub mod todo_list;
pub mod token_budgets;
pub mod tool;
pub mod trial;
pub mod trial_counts;
pub mod turn_end;
pub mod turn_usage;
mod unaccepted_tools;
pub mod unsent_text;
pub mod usage;
pub mod user_command;

pub use access::{Access, CommandAccess, CommandLine, ExternalAccess, FetchAccess, Reach, WorkspaceAccess};
pub use background::{BackgroundCommand, BackgroundEnd};
pub use batch::{Batch, BatchWork, ChangeKind, Group, Item, Rejected};
pub use call_words::{CallResult, CallWords};
pub use checkpoint::{Checkpoint, CheckpointSpan, RESTORE_FILES, RewindPoint};
pub use chunk::{Chunk, FinishReason};
pub use command_part::{CommandPart, PartEffect};
pub use command_sandbox::{CommandSandbox, SandboxAccess};
pub use decider::Decider;
pub use decision::{Decision, Ending};
pub use digest::Digest;
pub use dry_run_counts::DryRunCounts;
pub use dry_run_summary::{ApplyOptions, DryRunChange, DryRunSummary, LiveCall, RehearsedCall};
pub use edit::{Diff, DiffLine, Edit, Hunk};
pub use entry::{Entry, TitleSource};
pub use grant::{FILE_TOOLS, Grant, GrantScope, GrantSpan, SessionGrant};
pub use id::{CallId, SessionId, TurnId};
pub use image::Image;
pub use instructions::Instructions;
pub use ledger::{LedgerResult, SimulationLedger};
pub use message::{Echo, Message, Request};
pub use partial_reply::{PartialOutput, PartialReply};
pub use plan::{Intent, Plan, Preview, Task, Work};
pub use plan_digest::DisplayedPlan;
pub use preconditions::{FileContent, FileSnapshot, HardLinks, Preconditions, ReferencedFile, RestrictedPath};
pub use question::{
    Answer, AnswerOrigin, AnswerStatus, AnswerValue, Dropped, OptionNote, Question, QuestionAnswer, QuestionOption,
    Questions,
};
pub use result_origin::{ForkMode, MAX_CHANGED_PATHS, ResultOrigin};
pub use reviewer::{Review, ReviewVerdict, Reviewer};
pub use schema::Schema;
pub use script::{Script, Scripts};
pub use server_form::{FormReply, ServerForm};
pub use server_offer::ServerOffer;
pub use server_report::{ServerReport, ToolsChange, describe_tool_count};
pub use session::{Session, TokenCount};
pub use simulated_result::{SimulatedResult, SimulationSource};
pub use tool::{Outcome, ReferenceUse, ToolCall, ToolSpec};
pub use trial::{TrialChange, TrialReport};
pub use trial_counts::TrialCounts;
pub use turn_end::{Conclusion, TurnEnd};
pub use unaccepted_tools::UnacceptedTools;
pub use unsent_text::{DraftPart, UnsentText};
pub use usage::Usage;
pub use user_command::UserCommand;

use serde_json::Value;

/// Adds the fields of a JSON object to another object.
pub(crate) fn extend_object(object: &mut Value, fields: Value) {
    if let (Some(object), Value::Object(fields)) = (object.as_object_mut(), fields) {
        object.extend(fields);
    }
}

/// Returns `1 file` or `2 files`; only for nouns whose plural ends in `s`.
pub(crate) fn pluralize(count: usize, singular: &str) -> String {
    if count == 1 { format!("1 {singular}") } else { format!("{count} {singular}s") }
}

/// Joins the first `max_items` items and counts the others: `a, b and 4 more`.
pub(crate) fn join_first(items: &[impl std::borrow::Borrow<str>], max_items: usize) -> String {
    let first_items = &items[..items.len().min(max_items)];
    match items.len() - first_items.len() {
        0 => first_items.join(", "),
        others => format!("{} and {others} more", first_items.join(", ")),
    }
}

/// Returns whether a field has its default value, which is not stored.
fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
