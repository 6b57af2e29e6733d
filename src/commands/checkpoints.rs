//! `aye checkpoints`: lists, shows and restores what calls changed.

use super::folder::open_places;
use super::output::print_lines;
use super::undo::{checkpoint_limit, print_batch, restore_after_asking};
use crate::assemble::undo::open_checkpoints;
use crate::chat::checkpoint::join_spans;
use crate::chat::{Checkpoint, SessionId, join_first, pluralize};
use crate::cli::commands::{CheckpointOptions, CheckpointsCommand};
use crate::cli::{FolderOptions, UsageError, bail_usage};
use crate::print::json_line;
use crate::project::checkpoints::{RecordedCall, Restoration, SessionCheckpoints};
use crate::store::{Sessions, local_time};
use crate::text::clean::clean_line;
use crate::tools::restore_files::describe_empty_plan;
use anyhow::Result;
use serde_json::{Value, json};
use std::io::{self, Write};
use std::process::ExitCode;
use std::time::{Duration, SystemTime};

/// Files named in a row of the list.
const MAX_NAMED_FILES: usize = 3;

/// The checkpoints of a folder.
struct Listing {
    restoration: Restoration,
    recording: SessionCheckpoints,
    /// Oldest first.
    checkpoints: Vec<Checkpoint>,
}

/// Runs the command.
pub(super) fn run(command: &CheckpointsCommand) -> Result<ExitCode> {
    match command {
        CheckpointsCommand::List(options) => {
            let listing = Listing::load(&options.report.place, options.session.as_deref())?;
            print_lines(listing.list(options.report.json))
        }
        CheckpointsCommand::Show { id, options } => {
            Listing::load(&options.report.place, options.session.as_deref())?.show(id, options)
        }
        CheckpointsCommand::Restore { id, yes, session, place } => {
            let listing = Listing::load(place, session.as_deref())?;
            let since = listing.find(id)?;
            let spans = join_spans(&listing.checkpoints[since..]);
            restore_after_asking(&listing.restoration, &listing.recording, &spans, *yes)
        }
    }
}

impl Listing {
    fn load(place: &FolderOptions, session: Option<&str>) -> Result<Self> {
        let (places, folder) = open_places(place)?;
        let limit = checkpoint_limit(&places)?;
        let session = match session {
            None => None,
            Some(name) => Some(Sessions::new(places.sessions()).find_id(name).map_err(UsageError::from_error)?),
        };
        let recording_session = session.clone().unwrap_or_else(|| SessionId("command-line".to_owned()));
        let (restoration, recording) = open_checkpoints(&places, &folder, &recording_session, limit)?;
        let mut checkpoints: Vec<Checkpoint> =
            recording.checkpoints.read_calls().iter().map(RecordedCall::summary).collect();
        checkpoints.retain(|checkpoint| session.as_ref().is_none_or(|session| checkpoint.session == *session));
        Ok(Self { restoration, recording, checkpoints })
    }

    /// Returns the index of a checkpoint by its ID or the beginning of its ID.
    fn find(&self, name: &str) -> Result<usize> {
        let prefix = name.trim().to_ascii_uppercase();
        let is_match =
            |(_, checkpoint): &(usize, &Checkpoint)| !prefix.is_empty() && checkpoint.id.starts_with(&prefix);
        let mut matches = self.checkpoints.iter().enumerate().filter(is_match).map(|(index, _)| index);
        match (matches.next(), matches.next()) {
            (Some(index), None) => Ok(index),
            (Some(_), Some(_)) => {
                bail_usage!("Cannot find the checkpoint {name:?}: several IDs begin with it. Type more characters.")
            }
            (None, _) => bail_usage!(
                "Cannot find the checkpoint {name:?}: there is none in this folder. List all with `aye checkpoints`."
            ),
        }
    }

    fn list(&self, as_json: bool) -> Vec<String> {
        let newest_first = self.checkpoints.iter().rev();
        if as_json {
            return newest_first.map(|checkpoint| json_line(&to_json(checkpoint))).collect();
        }
        let mut lines: Vec<String> = newest_first.map(describe_row).collect();
        if lines.is_empty() {
            lines.push("no change is recorded in this folder".to_owned());
        }
        lines
    }

    fn show(&self, name: &str, options: &CheckpointOptions) -> Result<ExitCode> {
        let checkpoint = &self.checkpoints[self.find(name)?];
        let plan = self.restoration.plan(&join_spans(std::slice::from_ref(checkpoint))).map_err(UsageError)?;
        let (batch, _) = self.restoration.draft_batch(&plan);
        if options.report.json {
            let mut object = to_json(checkpoint);
            crate::chat::extend_object(&mut object, json!({ "restore": batch }));
            return print_lines([json_line(&object)]);
        }
        let mut out = io::stdout().lock();
        writeln!(out, "{}\n{} · session {}\n", describe_row(checkpoint), checkpoint.tool, checkpoint.session)?;
        print_batch(&batch, &mut out)?;
        for note in &batch.notes {
            writeln!(out, "{}", clean_line(note))?;
        }
        if plan.is_empty() {
            writeln!(out, "{}", describe_empty_plan(&batch.notes))?;
        }
        Ok(ExitCode::SUCCESS)
    }
}

/// Returns a row of the list: ID, time and files.
fn describe_row(checkpoint: &Checkpoint) -> String {
    let time = SystemTime::UNIX_EPOCH + Duration::from_secs(checkpoint.seconds);
    let files: Vec<&str> = checkpoint.files.iter().map(String::as_str).collect();
    let what = match (files.is_empty(), checkpoint.undoes.is_empty()) {
        (true, _) => "no files".to_owned(),
        (false, true) => format!("{}: {}", pluralize(files.len(), "file"), join_first(&files, MAX_NAMED_FILES)),
        (false, false) => {
            format!("undo of {}: {}", pluralize(files.len(), "file"), join_first(&files, MAX_NAMED_FILES))
        }
    };
    let not_restored = match checkpoint.not_stored.as_slice() {
        [] => String::new(),
        texts => format!(" · cannot restore {}", texts.join(", ")),
    };
    clean_line(&format!("{}  {}  {what}{not_restored}", checkpoint.id, local_time::format_time(time))).into_owned()
}

fn to_json(checkpoint: &Checkpoint) -> Value {
    let Checkpoint { id, session, call, tool, seconds, files, undoes, not_stored } = checkpoint;
    json!({
        "id": id, "session": session.0, "call": call.0, "tool": tool, "time": seconds, "files": files,
        "undoes": undoes, "not_restored": not_stored,
    })
}
