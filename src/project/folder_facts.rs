//! Facts about the working folder, for the system prompt and the screen's header.

use super::branch::current_branch;
use crate::text::truncation::abbreviate_home;
use std::path::Path;

/// Returns lines for the system prompt: folder, system, date and branch.
pub fn system_prompt_facts(folder: &Path) -> Vec<String> {
    let mut facts = vec![
        format!("Project: {}", folder.display()),
        format!("System: {}", std::env::consts::OS),
        format!("Date: {}", jiff::Zoned::now().date()),
    ];
    facts.extend(current_branch(folder).map(|branch| format!("Branch: {branch}")));
    facts
}

/// Returns the folder with `~`, and the branch if there is one.
pub fn folder_and_branch(folder: &Path) -> String {
    let short_path = shorten_home(folder);
    match current_branch(folder) {
        Some(branch) => format!("{short_path} ⎇ {branch}"),
        None => short_path,
    }
}

/// Shortens a path with `~` for the home folder.
pub fn shorten_home(path: &Path) -> String {
    abbreviate_home(path, std::env::var_os("HOME").as_deref().map(Path::new))
}
