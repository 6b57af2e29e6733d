//! Checkpoints: what aye changed in a project, with the content before each change, so that it can be restored.
//!
//! A checkpoint is everything that one call changed. It is recorded before the change is made, so that a kill loses
//! nothing: a change that was recorded but not made is recognised by the state of the file. Contents are stored once,
//! under their digest. The oldest checkpoints are removed once a project's checkpoints exceed their limit.

mod call_recorder;
mod change_log;
mod command_snapshot;
#[cfg(test)]
mod command_tests;
#[cfg(test)]
mod ignored_file_tests;
mod kept_changes;
mod object_store;
mod path_state;
mod recorded_project;
mod restore_plan;
mod restored_batch;
#[cfg(test)]
mod storage_tests;
#[cfg(test)]
mod tests;

pub use call_recorder::{CallRecorder, SessionCheckpoints};
pub use change_log::{Checkpoints, RecordedCall};
pub use command_snapshot::CommandSnapshot;
pub use kept_changes::record_kept;
pub use path_state::{FileContent, PathState};
pub use recorded_project::RecordedProject;
pub use restore_plan::{RestoreItem, RestorePlan};
pub use restored_batch::Restoration;
