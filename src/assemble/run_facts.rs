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
    let short_path = shorten_home(folder);
    match current_branch(folder) {
        Some(branch) => format!("{short_path} ⎇ {branch}"),
        None => short_path,
    }
}

/// Shortens a path with `~` for the home folder.
pub(crate) fn shorten_home(path: &Path) -> String {
    abbreviate_home(path, std::env::var_os("HOME").as_deref().map(Path::new))
}

/// Formats the time of an entry in local time: `14:02:11` today, `3 Nov 14:02:11`, `3 Nov 2025 14:02:11`. Empty if the
/// time is unknown.
pub(crate) fn format_entry_time(time_ms: u64) -> String {
    let time = i64::try_from(time_ms).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    let Some(time) = time.filter(|_| time_ms > 0) else { return String::new() };
    let now = jiff::Zoned::now();
    let time = time.to_zoned(now.time_zone().clone());
    let format = match () {
        () if time.date() == now.date() => "%H:%M:%S",
        () if time.year() == now.year() => "%-d %b %H:%M:%S",
        () => "%-d %b %Y %H:%M:%S",
    };
    time.strftime(format).to_string()
}

/// Formats a time in local time: `14:02`, `yesterday 14:02`, `3 Nov`, `3 Nov 2025`.
pub(crate) fn format_time(time: std::time::SystemTime) -> String {
    let now = jiff::Zoned::now();
    let Ok(time) = jiff::Timestamp::try_from(time) else { return String::new() };
    let time = time.to_zoned(now.time_zone().clone());
    let is_yesterday = now.date().yesterday().is_ok_and(|day| day == time.date());
    let format = match () {
        () if time.date() == now.date() => "%H:%M",
        () if is_yesterday => "yesterday %H:%M",
        () if time.year() == now.year() => "%-d %b",
        () => "%-d %b %Y",
    };
    time.strftime(format).to_string()
}
