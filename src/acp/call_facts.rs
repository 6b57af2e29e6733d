//! Facts about a call for the client: its kind, its files and its effect.

use crate::chat::{Access, Diff, DiffLine, Preview, Reach};
use crate::text::truncation::join_items;
use agent_client_protocol_schema::v1::{ToolCallLocation, ToolKind};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Maximum number of files of a call that the client can show.
const MAX_LOCATIONS: usize = 20;

/// Returns the kind of a call, by which the client chooses an icon.
pub(super) fn kind_of_call(tool: &str, access: &Access) -> ToolKind {
    match access {
        Access::Read(_) | Access::ReadSensitive(_) if matches!(tool, "search_text" | "list_files") => ToolKind::Search,
        Access::Read(_) | Access::ReadSensitive(_) => ToolKind::Read,
        Access::Write(_) | Access::WriteOutside(_) | Access::AyeFiles(_) => ToolKind::Edit,
        Access::Workspace(access) if access.changes => ToolKind::Edit,
        Access::Workspace(_) => ToolKind::Read,
        Access::Run(_) | Access::Background(_) => ToolKind::Execute,
        Access::Fetch(_) => ToolKind::Fetch,
        Access::Nothing | Access::External(_) => ToolKind::Other,
    }
}

/// Returns the files that a call reads or changes, so that the editor can follow.
pub(super) fn locate_files(access: &Access, preview: &Preview, folder: &Path) -> Vec<ToolCallLocation> {
    let line = match preview {
        Preview::Edit(diff) => diff.hunks.first().and_then(|hunk| u32::try_from(hunk.after.max(1)).ok()),
        Preview::Text(_) | Preview::Command(_) | Preview::Batch(_) => None,
    };
    let paths: &[PathBuf] = match access {
        Access::Read(paths) => paths,
        Access::ReadSensitive(path) | Access::Write(path) | Access::WriteOutside(path) => std::slice::from_ref(path),
        Access::Nothing
        | Access::AyeFiles(_)
        | Access::Background(_)
        | Access::Workspace(_)
        | Access::Run(_)
        | Access::Fetch(_)
        | Access::External(_) => &[],
    };
    let location = |path: &PathBuf| ToolCallLocation::new(absolute_path(path, folder)).line(line);
    paths.iter().take(MAX_LOCATIONS).map(location).collect()
}

/// Returns an absolute path as Unicode: the protocol has no other paths.
pub(super) fn absolute_path(path: &Path, folder: &Path) -> PathBuf {
    PathBuf::from(folder.join(path).to_string_lossy().into_owned())
}

/// Describes the effect of a call, worded to follow “Effect: ”.
pub(super) fn describe_effect(access: &Access) -> String {
    match access {
        Access::Nothing => "none by itself".to_owned(),
        Access::Read(paths) => {
            let paths: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
            format!("reads {}", join_items(&paths, MAX_LOCATIONS))
        }
        Access::ReadSensitive(path) => {
            format!("reads {}, which is outside the project or may hold secrets", path.display())
        }
        Access::Write(path) => format!("changes {}", path.display()),
        Access::WriteOutside(path) => {
            format!("changes {}, which is outside the project or controls other programs", path.display())
        }
        Access::AyeFiles(path) => format!("uses {}, a file of aye itself", path.display()),
        Access::Background(number) => format!("ends background command {number}"),
        Access::Workspace(access) => {
            let verb = if access.changes { "changes" } else { "reads" };
            format!("{verb} {} in the workspace of the session", access.path)
        }
        Access::Run(command) => {
            let reach = match command.reach {
                Reach::Reads => "only reads",
                Reach::Writes => "creates files of the project or appends to them",
                Reach::Runs => "runs programs inside the project",
                Reach::Outside => "reaches outside the project and cannot be undone",
                Reach::Unclear => "unclear before it runs",
                Reach::Denied => "always denied",
            };
            let secrets = if command.is_sensitive { "; names files that may hold secrets" } else { "" };
            let reason = match command.reason.as_str() {
                "" => String::new(),
                reason => format!(", because {reason}"),
            };
            format!("{reach}{reason}{secrets}")
        }
        Access::Fetch(fetch) => {
            let scripts = if fetch.runs_scripts { "; its scripts run" } else { "" };
            format!("reads {}{scripts}", fetch.url)
        }
        Access::External(external) => {
            format!("{} at {}; may change something there, and cannot be undone", external.request, external.service)
        }
    }
}

/// Returns a diff as text, with line numbers of the old and new file.
pub(super) fn diff_to_text(diff: &Diff) -> String {
    let mut text = String::new();
    for hunk in &diff.hunks {
        let _ = writeln!(text, "@@ -{} +{} @@", hunk.before, hunk.after);
        for line in &hunk.lines {
            let mark = match line {
                DiffLine::Same(_) => ' ',
                DiffLine::Added(_) => '+',
                DiffLine::Removed(_) => '-',
            };
            let _ = writeln!(text, "{mark}{}", line.text());
        }
    }
    text
}
