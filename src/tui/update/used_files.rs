//! The files that a session used: named by the user, read or changed by calls.

use crate::chat::mention::find_mentions;
use crate::chat::{Access, Entry, Session};
use crate::text::workspace_address::SCHEME;

/// Maximum number of files.
const MAX_FILES: usize = 20;
/// Number of the latest entries that are searched.
const MAX_ENTRIES: usize = 500;

/// Returns the files that the latest entries used, the last used one first, each once.
pub(super) fn list_used_files(session: &Session) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for entry in session.entries().iter().rev().take(MAX_ENTRIES) {
        let used = match entry {
            Entry::UserMessage { text } => find_mentions(text).iter().map(|mention| mention.name.to_owned()).collect(),
            Entry::Settled { call, .. } => session
                .find_call(call)
                .and_then(|call| call.plan.as_ref())
                .map(|plan| accessed_files(&plan.access))
                .unwrap_or_default(),
            _ => Vec::new(),
        };
        for file in used {
            if files.len() == MAX_FILES {
                return files;
            }
            if !files.contains(&file) {
                files.push(file);
            }
        }
    }
    files
}

fn accessed_files(access: &Access) -> Vec<String> {
    match access {
        Access::Read(paths) => paths.iter().map(|path| path.to_string_lossy().into_owned()).collect(),
        Access::Write(path) => vec![path.to_string_lossy().into_owned()],
        Access::Workspace(workspace) if workspace.session.is_none() => vec![format!("{SCHEME}/{}", workspace.path)],
        Access::Nothing
        | Access::ReadSensitive(_)
        | Access::WriteOutside(_)
        | Access::AyeFiles(_)
        | Access::Background(_)
        | Access::Workspace(_)
        | Access::Run(_)
        | Access::Fetch(_)
        | Access::External(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tui::tests::Screen;

    #[test]
    fn lists_named_and_accessed_files_the_last_used_one_first() {
        let mut screen = Screen::new();
        screen.send_text("compare @a.rs with @b.rs:3");
        screen.receive_reply("Done.");
        screen.send_text("and @c/ with @a.rs");
        assert_eq!(list_used_files(&screen.state.agent.session), ["c/", "a.rs", "b.rs"]);
        assert_eq!(accessed_files(&Access::Read(vec!["x/y".into(), "z".into()])), ["x/y", "z"]);
        assert_eq!(accessed_files(&Access::Write("x/y".into())), ["x/y"]);
        let workspace = crate::chat::WorkspaceAccess { path: "q1.md".into(), ..Default::default() };
        assert_eq!(accessed_files(&Access::Workspace(Box::new(workspace))), ["workspace:///q1.md"]);
        assert!(accessed_files(&Access::ReadSensitive(".env".into())).is_empty());
    }
}
