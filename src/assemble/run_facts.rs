//! Facts about this run, for the system prompt and the screen's header.

use crate::project::branch::current_branch;
use crate::text::truncation::abbreviate_home;
use std::path::Path;

/// Returns lines for the system prompt.
pub(crate) fn system_prompt_facts(folder: &Path) -> Vec<String> {
    let mut facts = vec![
        format!("Project: {}", folder.display()),
        format!("System: {}", std::env::consts::OS),
        format!("Date: {}", jiff::Zoned::now().date()),
    ];
    facts.extend(current_branch(folder).map(|branch| format!("Branch: {branch}")));
    facts
}

/// Returns the folder with `~`, and the branch if there is one.
pub(crate) fn folder_and_branch(folder: &Path) -> String {
    let shown = shorten_home(folder);
    match current_branch(folder) {
        Some(branch) => format!("{shown} ⎇ {branch}"),
        None => shown,
    }
}

/// Shortens a path with `~` for the home folder.
pub(crate) fn shorten_home(path: &Path) -> String {
    abbreviate_home(path, std::env::var_os("HOME").as_deref().map(Path::new))
}

/// Formats the time of an entry in local time: `14:02:11`, or `3 Nov 14:02` on another day.
pub(crate) fn format_entry_time(at: u64) -> String {
    let then = i64::try_from(at).ok().and_then(|at| jiff::Timestamp::from_millisecond(at).ok());
    let Some(then) = then.filter(|_| at > 0) else { return String::new() };
    let now = jiff::Zoned::now();
    let then = then.to_zoned(now.time_zone().clone());
    let form = match () {
        () if then.date() == now.date() => "%H:%M:%S",
        () if then.year() == now.year() => "%-d %b %H:%M:%S",
        () => "%-d %b %Y %H:%M:%S",
    };
    then.strftime(form).to_string()
}

/// Formats a time in local time: `14:02`, `yesterday 14:02`, `3 Nov`, `3 Nov 2025`.
pub(crate) fn format_time(then: std::time::SystemTime) -> String {
    let now = jiff::Zoned::now();
    let Ok(then) = jiff::Timestamp::try_from(then) else { return String::new() };
    let then = then.to_zoned(now.time_zone().clone());
    let yesterday = now.date().yesterday().is_ok_and(|day| day == then.date());
    let form = match () {
        () if then.date() == now.date() => "%H:%M",
        () if yesterday => "yesterday %H:%M",
        () if then.year() == now.year() => "%-d %b",
        () => "%-d %b %Y",
    };
    then.strftime(form).to_string()
}
