//! Durations and sizes as they are shown on the screen.

use std::time::Duration;

/// Formats a duration for the screen: `12 ms`, `3.4 s`, `45 s`, `2 min 5 s`, `1 h 30 min`.
pub fn format_duration(duration: Duration) -> String {
    match (duration.as_millis(), duration.as_secs()) {
        (ms, 0) => format!("{ms} ms"),
        (ms, s @ 1..10) if ms % 1000 >= 100 => format!("{s}.{} s", ms % 1000 / 100),
        (_, s @ 0..60) => format!("{s} s"),
        (_, s @ 60..3600) => format!("{} min {} s", s / 60, s % 60),
        (_, s) => format!("{} h {} min", s / 3600, s % 3600 / 60),
    }
}

/// Formats the time of a reply: `40 ms`, `0.3 s`, `2.8 s`, `45 s`, `2 min 5 s`. Times next to each other have one format.
pub fn format_reply_time(duration: Duration) -> String {
    match (duration.as_millis(), duration.as_secs()) {
        (ms @ 0..100, _) => format!("{ms} ms"),
        (_, 0..10) => format!("{:.1} s", duration.as_secs_f64()),
        (_, s) => format_seconds(s),
    }
}

/// Formats whole seconds: `12 s`, `90 s`, `50 min 0 s`.
pub fn format_seconds(count: u64) -> String {
    match count {
        0..120 => format!("{count} s"),
        _ => format_duration(Duration::from_secs(count)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_a_reply_have_one_format() {
        let formatted =
            [0, 99, 282, 800, 2_800, 45_000, 125_000].map(|ms| format_reply_time(Duration::from_millis(ms)));
        assert_eq!(formatted, ["0 ms", "99 ms", "0.3 s", "0.8 s", "2.8 s", "45 s", "2 min 5 s"]);
    }
}
