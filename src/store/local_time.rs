//! Times of sessions and entries as text, in local time.

use super::clock;

/// Formats the time of an entry in local time: `14:02:11` today, `3 Nov 14:02:11`, `3 Nov 2025 14:02:11`. Empty if the
/// time is unknown.
pub fn format_entry_time(time_ms: u64) -> String {
    let Some(time) = to_timestamp(time_ms) else { return String::new() };
    let now = clock::now().to_zoned(jiff::tz::TimeZone::system());
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
    jiff::Timestamp::try_from(time).map(format_timestamp).unwrap_or_default()
}

/// Formats the time of a change like [`format_time`]. Empty if the time is unknown.
pub fn format_change_time(time_ms: u64) -> String {
    to_timestamp(time_ms).map(format_timestamp).unwrap_or_default()
}

/// Converts milliseconds since 1970; `None` if they are 0 or no possible time.
fn to_timestamp(time_ms: u64) -> Option<jiff::Timestamp> {
    let time_ms = i64::try_from(time_ms).ok().filter(|ms| *ms > 0)?;
    jiff::Timestamp::from_millisecond(time_ms).ok()
}

fn format_timestamp(time: jiff::Timestamp) -> String {
    let now = clock::now().to_zoned(jiff::tz::TimeZone::system());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_a_change_is_formatted_as_the_same_system_time() {
        for time_ms in [1, 1_700_000_000_000] {
            let time = std::time::UNIX_EPOCH + std::time::Duration::from_millis(time_ms);
            assert_eq!(format_change_time(time_ms), format_time(time));
        }
        for time_ms in [0, i64::MAX as u64, u64::MAX] {
            assert_eq!((format_change_time(time_ms), format_entry_time(time_ms)), (String::new(), String::new()));
        }
    }
}
