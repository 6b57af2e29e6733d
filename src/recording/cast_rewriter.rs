//! Writes a recording again: in another version of the format, or with shorter pauses.

use super::cast::{CastEvent, CastVersion, EventLines, HeaderFields};
use super::cast_reader::{RecordedEvent, Recording};
use serde_json::json;
use std::time::Duration;

/// What changes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RewriteOptions {
    /// `None` keeps the version.
    pub version: Option<CastVersion>,
    /// Longest pause; `None` keeps all pauses.
    pub idle_limit: Option<Duration>,
}

/// Returns the text of the new file. Output, sizes and markers are kept with their times; input, comments and fields of the
/// header that say where the recording was made are not.
pub fn rewrite_cast(recording: &Recording, options: RewriteOptions) -> String {
    let version = options.version.unwrap_or(recording.version);
    let mut text = header_line(recording, version, options.idle_limit);
    text.push('\n');
    let mut lines = EventLines::new(version);
    let limit = options.idle_limit.unwrap_or(Duration::MAX);
    for (time, event) in recording.events_with_limit(limit) {
        let event = match event {
            RecordedEvent::Output(output) => CastEvent::Output(output),
            RecordedEvent::Resized(columns, rows) => CastEvent::Resized(*columns, *rows),
            RecordedEvent::Marker(name) => CastEvent::Marker(name),
        };
        text.push_str(&lines.line(time, event));
        text.push('\n');
    }
    text
}

fn header_line(recording: &Recording, version: CastVersion, idle_limit: Option<Duration>) -> String {
    let theme = &recording.theme;
    let colours = || json!({ "fg": theme.text, "bg": theme.background, "palette": theme.palette.join(":") });
    // A limit of the file that is longer than all pauses would change nothing.
    let shown = idle_limit.map_or(recording.idle_limit, |limit| recording.idle_limit.filter(|shown| *shown < limit));
    let fields = HeaderFields {
        theme: recording.has_theme.then(colours),
        timestamp: recording.timestamp,
        idle_limit: shown.map(|limit| limit.as_secs_f64()),
        title: recording.title.as_deref(),
    };
    fields.to_line(version, recording.size)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const V2: &str = r##"{"version":2,"width":80,"height":24,"timestamp":1700000000,"idle_time_limit":2,"title":"T","env":{"HOME":"/home/x"},"theme":{"fg":"#010203","bg":"#ffffff","palette":"#000000:#111111:#222222:#333333:#444444:#555555:#666666:#777777"}}
[1.5, "o", "a\u001b[31m"]
[1.5, "i", "typed"]
[9, "r", "60x15"]
[9.25, "m", "Chapter"]
"##;

    fn rewrite(text: &str, version: Option<CastVersion>, idle: Option<u64>) -> String {
        let options = RewriteOptions { version, idle_limit: idle.map(Duration::from_millis) };
        rewrite_cast(&Recording::parse(text).unwrap(), options)
    }

    #[test]
    fn versions_are_converted_in_both_directions() {
        let v3 = rewrite(V2, Some(CastVersion::V3), None);
        let lines: Vec<&str> = v3.lines().collect();
        assert_eq!(
            lines[1..],
            ["[1.500000, \"o\", \"a\\u001b[31m\"]", "[7.500000, \"r\", \"60x15\"]", "[0.250000, \"m\", \"Chapter\"]"]
        );
        let header: serde_json::Value = serde_json::from_str(lines[0]).unwrap();
        assert_eq!((&header["version"], &header["term"]["cols"]), (&json!(3), &json!(80)));
        assert_eq!((&header["term"]["theme"]["bg"], &header["title"]), (&json!("#ffffff"), &json!("T")));
        assert_eq!((&header["timestamp"], &header["idle_time_limit"]), (&json!(1_700_000_000), &json!(2.0)));
        assert!(!v3.contains("HOME") && !v3.contains("typed"), "{v3}");
        let (read, again) = (Recording::parse(V2).unwrap(), Recording::parse(&v3).unwrap());
        assert_eq!(Recording { version: CastVersion::V2, ..again }, read);
        assert_eq!(rewrite(&v3, Some(CastVersion::V2), None), rewrite(V2, None, None));
    }

    #[test]
    fn pauses_are_shortened_in_the_times_of_the_events() {
        let text = rewrite(V2, None, Some(1_000));
        let lines: Vec<&str> = text.lines().collect();
        assert_eq!(
            lines[1..],
            ["[1.000000, \"o\", \"a\\u001b[31m\"]", "[2.000000, \"r\", \"60x15\"]", "[2.250000, \"m\", \"Chapter\"]"]
        );
        assert!(!lines[0].contains("idle_time_limit"), "{text}");
        assert!(rewrite(V2, None, Some(5_000)).contains("\"idle_time_limit\":2.0"));
    }

    #[test]
    fn a_recording_without_colours_gets_none() {
        let text = rewrite("{\"version\":3,\"term\":{\"cols\":4,\"rows\":2}}\n", None, None);
        assert_eq!(text, "{\"version\":3,\"term\":{\"cols\":4,\"rows\":2}}\n");
    }

    proptest! {
        #[test]
        fn a_rewritten_recording_plays_the_same(events in proptest::collection::vec((0_u64..9_000_000, "\\PC{0,9}"), 0..20)) {
            let mut text = "{\"version\":3,\"term\":{\"cols\":9,\"rows\":3}}\n".to_owned();
            for (micros, output) in events {
                text += &format!("[{}.{:06}, \"o\", {}]\n", micros / 1_000_000, micros % 1_000_000, json!(output));
            }
            let read = Recording::parse(&text).unwrap();
            for version in [CastVersion::V2, CastVersion::V3] {
                let again = Recording::parse(&rewrite(&text, Some(version), None)).unwrap();
                prop_assert_eq!(again.events.len(), read.events.len());
                for ((time, event), (other_time, other)) in again.events.iter().zip(&read.events) {
                    prop_assert_eq!(event, other);
                    prop_assert!(time.abs_diff(*other_time) < Duration::from_micros(30));
                }
            }
        }
    }
}
