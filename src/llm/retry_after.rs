//! Parses how long a provider asks to wait, from every header that is used for it.

use jiff::Timestamp;
use reqwest::header::HeaderMap;
use std::time::Duration;

/// Returns the wait requested by the headers of an error response: `retry-after-ms`, `retry-after` in seconds or as a
/// date, or else, for status 429, the reset time of the exceeded rate limit. Ambiguous headers are ignored.
pub fn parse_requested_wait(status: u16, headers: &HeaderMap, now: Timestamp) -> Option<Duration> {
    let header_text = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::trim);
    // Dates refer to the provider's clock; the local clock may be wrong.
    let now = header_text("date").and_then(parse_date).unwrap_or(now);
    let milliseconds = header_text("retry-after-ms").and_then(|ms| ms.parse::<f64>().ok());
    if let Some(wait) = milliseconds.and_then(|ms| duration_from_seconds(ms / 1000.0)) {
        return Some(wait);
    }
    let retry_after = header_text("retry-after").and_then(|after| match after.parse::<f64>() {
        Ok(number) => duration_from_seconds(number),
        Err(_) => duration_until(parse_date(after)?, now),
    });
    if retry_after.is_some() || status != 429 {
        return retry_after;
    }
    let resets = ["", "-requests", "-tokens"].into_iter().filter_map(|suffix| {
        let reset = header_text(&format!("x-ratelimit-reset{suffix}"))?;
        let remaining = header_text(&format!("x-ratelimit-remaining{suffix}"));
        // Of several limits only an exhausted one counts. A single limit without a remaining count is assumed to be
        // exhausted.
        let is_exhausted = remaining.map_or(suffix.is_empty(), |count| count.parse::<f64>() == Ok(0.0));
        if is_exhausted { parse_reset_time(reset, now) } else { None }
    });
    resets.max()
}

/// Returns the time until a limit resets. Formats: `6m0s`, `120ms`, `30`, seconds or milliseconds since 1970, a date.
fn parse_reset_time(text: &str, now: Timestamp) -> Option<Duration> {
    match text.parse::<f64>() {
        Ok(number) if number >= 1e12 => duration_until(Timestamp::from_millisecond(number as i64).ok()?, now),
        Ok(number) if number >= 1e9 => duration_until(Timestamp::from_second(number as i64).ok()?, now),
        Ok(number) => duration_from_seconds(number),
        Err(_) => parse_duration(text).or_else(|| duration_until(parse_date(text)?, now)),
    }
}

/// Parses a duration made of numbers with units, such as `1h2m3.5s`.
fn parse_duration(text: &str) -> Option<Duration> {
    let (mut remaining, mut seconds) = (text, 0.0);
    while !remaining.is_empty() {
        let end = remaining.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let number: f64 = remaining[..end].parse().ok()?;
        let (unit, unit_seconds) = [("ms", 0.001), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("d", 86_400.0)]
            .into_iter()
            .find(|(unit, _)| remaining[end..].starts_with(unit))?;
        seconds += number * unit_seconds;
        remaining = &remaining[end + unit.len()..];
    }
    if text.is_empty() { None } else { duration_from_seconds(seconds) }
}

fn parse_date(text: &str) -> Option<Timestamp> {
    jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(text).ok().or_else(|| text.parse().ok())
}

/// Returns the time until a moment. A moment in the past gives zero.
fn duration_until(moment: Timestamp, now: Timestamp) -> Option<Duration> {
    duration_from_seconds(moment.duration_since(now).as_secs_f64())
}

fn duration_from_seconds(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds.max(0.0)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_wait(status: u16, headers: &[(&'static str, &str)], expected: Option<f64>) {
        let now: Timestamp = "2026-11-20T12:00:00Z".parse().unwrap();
        let header_pairs = headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        let wait = parse_requested_wait(status, &header_pairs.collect(), now);
        assert_eq!(wait, expected.map(Duration::from_secs_f64), "{status} {headers:?}");
    }

    #[test]
    fn r49_waits_are_parsed_from_seconds_milliseconds_and_dates() {
        for (value, expected) in [
            ("7", Some(7.0)),
            (" 7 ", Some(7.0)),
            ("1.5", Some(1.5)),
            ("-3", Some(0.0)),
            ("Fri, 20 Nov 2026 12:00:30 GMT", Some(30.0)),
            ("Fri, 20 Nov 2026 11:00:00 GMT", Some(0.0)),
            ("2026-11-20T12:01:00Z", Some(60.0)),
            ("soon", None),
            ("", None),
            ("nan", Some(0.0)),
            ("1e400", None),
        ] {
            check_wait(503, &[("retry-after", value)], expected);
        }
        check_wait(429, &[("retry-after-ms", "250"), ("retry-after", "1")], Some(0.25));
        check_wait(429, &[("retry-after-ms", "x"), ("retry-after", "1")], Some(1.0));
        check_wait(429, &[("other", "1")], None);
    }

    #[test]
    fn r49_r55_a_wrong_local_clock_does_not_shorten_a_wait() {
        let headers_with_clock = |clock| [("retry-after", "Fri, 20 Nov 2026 09:00:30 GMT"), ("date", clock)];
        check_wait(503, &headers_with_clock("Fri, 20 Nov 2026 09:00:00 GMT"), Some(30.0));
        check_wait(503, &headers_with_clock("whenever"), Some(0.0));
        check_wait(503, &[("retry-after", "7"), ("date", "Fri, 20 Nov 2026 09:00:00 GMT")], Some(7.0));
    }

    #[test]
    fn r49_the_reset_time_of_a_limit_is_used_if_unambiguous() {
        for (value, expected) in [
            ("30", Some(30.0)),
            ("1s", Some(1.0)),
            ("6m0s", Some(360.0)),
            ("1h2m3.5s", Some(3723.5)),
            ("120ms", Some(0.12)),
            ("1795176030", Some(30.0)),
            ("1795176030000", Some(30.0)),
            ("2026-11-20T12:00:30Z", Some(30.0)),
            ("1x", None),
            ("s", None),
            ("", None),
        ] {
            check_wait(429, &[("x-ratelimit-reset", value)], expected);
            check_wait(429, &[("x-ratelimit-reset-tokens", value), ("x-ratelimit-remaining-tokens", "0")], expected);
            check_wait(503, &[("x-ratelimit-reset", value)], None);
        }
        // Two limits without remaining counts: unknown which one was exceeded.
        check_wait(429, &[("x-ratelimit-reset-requests", "1s"), ("x-ratelimit-reset-tokens", "6m")], None);
        let two_limits = [
            ("x-ratelimit-reset-requests", "1s"),
            ("x-ratelimit-remaining-requests", "12"),
            ("x-ratelimit-reset-tokens", "6m"),
            ("x-ratelimit-remaining-tokens", "0"),
        ];
        check_wait(429, &two_limits, Some(360.0));
        check_wait(429, &[("retry-after", "2"), ("x-ratelimit-reset", "9")], Some(2.0));
    }
}
