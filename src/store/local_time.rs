//! Times of sessions and entries as text, in local time.

/// Formats the time of an entry in local time: `14:02:11` today, `3 Nov 14:02:11`, `3 Nov 2025 14:02:11`. Empty if the
/// time is unknown.
pub fn format_entry_time(time_ms: u64) -> String {
    let time = i64::try_from(time_ms).ok().and_then(|ms| jiff::Timestamp::from_millisecond(ms).ok());
    let Some(time) = time.filter(|_| time_ms > 0) else { return String::new() };
    let now = jiff::Zoned::now();
    let time = time.to_zoned(now.time_zone().clone());
    let format = match (time.date() == now.date(), time.year() == now.year()) {
        (true, _) => "%H:%M:%S",
        (_, true) => "%-d %b %H:%M:%S",
        _ => "%-d %b %Y %H:%M:%S",
    };
    time.strftime(format).to_string()
}

/// Formats a time in local time: `14:02`, `yesterday 14:02`, `3 Nov`, `3 Nov 2025`.
pub fn format_time(time: std::time::SystemTime) -> String {
    let now = jiff::Zoned::now();
    let Ok(time) = jiff::Timestamp::try_from(time) else { return String::new() };
    let time = time.to_zoned(now.time_zone().clone());
    let is_yesterday = now.date().yesterday().is_ok_and(|day| day == time.date());
    let format = match (time.date() == now.date(), is_yesterday, time.year() == now.year()) {
        (true, ..) => "%H:%M",
        (_, true, _) => "yesterday %H:%M",
        (.., true) => "%-d %b",
        _ => "%-d %b %Y",
    };
    time.strftime(format).to_string()
}
