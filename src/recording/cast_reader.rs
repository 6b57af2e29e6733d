//! Reads recordings: asciicasts of version 2 and 3, also those of other programs.

use super::cast::{CastVersion, PALETTE};
use serde::Deserialize;
use std::collections::HashMap;
use std::time::Duration;

/// Maximum time of an event.
const MAX_TIME: Duration = Duration::from_secs(366 * 24 * 60 * 60);
/// Maximum columns and rows of a recording.
const MAX_SIZE: u16 = 1000;

/// A recording that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Recording {
    /// Version of the file.
    pub version: CastVersion,
    /// Columns and rows at the start.
    pub size: (u16, u16),
    pub title: Option<String>,
    /// Start in seconds since 1970.
    pub timestamp: Option<u64>,
    /// Longest pause that is shown.
    pub idle_limit: Option<Duration>,
    /// The theme of the file, or else a usual one.
    pub theme: RecordingTheme,
    /// Whether the file has a theme.
    pub has_theme: bool,
    /// False if the cursor is left out of its frames.
    pub shows_cursor: bool,
    /// Events in the order of their times since the start.
    pub events: Vec<(Duration, RecordedEvent)>,
}

/// Colours of the terminal, each `#rrggbb`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordingTheme {
    pub text: String,
    pub background: String,
    /// The 16 standard colours; the second 8 are the bright ones.
    pub palette: Vec<String>,
    /// Colours of text that the recording has, and those that are drawn instead.
    pub replaced_text: HashMap<[u8; 3], [u8; 3]>,
    /// The same for backgrounds.
    pub replaced_backgrounds: HashMap<[u8; 3], [u8; 3]>,
}

/// An event of a recording. Others, such as input, are left out.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordedEvent {
    Output(String),
    /// New columns and rows.
    Resized(u16, u16),
    Marker(String),
}

#[derive(Deserialize)]
struct Header {
    version: u64,
    width: Option<u16>,
    height: Option<u16>,
    term: Option<Terminal>,
    title: Option<String>,
    timestamp: Option<f64>,
    idle_time_limit: Option<f64>,
    theme: Option<Theme>,
}

#[derive(Deserialize)]
struct Terminal {
    cols: u16,
    rows: u16,
    theme: Option<Theme>,
}

#[derive(Deserialize)]
struct Theme {
    fg: String,
    bg: String,
    palette: String,
}

impl Recording {
    /// Reads a recording. A last line that is cut is left out: the program that wrote it was killed.
    ///
    /// # Errors
    /// What is wrong with which line, worded to follow the name of the file.
    pub fn parse(text: &str) -> Result<Self, String> {
        let lines: Vec<(usize, &str)> = text.lines().enumerate().map(|(index, line)| (index + 1, line)).collect();
        let (_, first) = lines.first().ok_or("it is empty; expected an asciicast")?;
        let mut header: Header = serde_json::from_str(first)
            .map_err(|error| format!("line 1 is not the header of an asciicast: {error}"))?;
        let version = match header.version {
            2 => CastVersion::V2,
            3 => CastVersion::V3,
            version => return Err(format!("it is an asciicast of version {version}; expected version 2 or 3")),
        };
        let terminal = header.term.take();
        let size = match (&terminal, header.width, header.height) {
            (Some(terminal), ..) => (terminal.cols, terminal.rows),
            (None, Some(columns), Some(rows)) => (columns, rows),
            (None, ..) => return Err("line 1 has no size of the terminal".to_owned()),
        };
        check_size(size).map_err(|error| format!("line 1: {error}"))?;
        let theme = terminal.and_then(|terminal| terminal.theme).or(header.theme);
        let events = parse_events(&lines[1..], text.ends_with('\n'), version == CastVersion::V3)?;
        let idle_limit = header.idle_time_limit.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
        Ok(Self {
            version,
            size,
            title: header.title,
            timestamp: header.timestamp.map(|seconds| seconds as u64),
            idle_limit,
            has_theme: theme.is_some(),
            shows_cursor: true,
            theme: RecordingTheme::new(theme),
            events,
        })
    }

    /// Returns the events with pauses shortened to the limit of the file.
    pub fn shortened_events(&self) -> Vec<(Duration, &RecordedEvent)> {
        self.events_with_limit(self.idle_limit.unwrap_or(Duration::MAX))
    }

    /// Returns the events with pauses shortened to this limit.
    pub fn events_with_limit(&self, limit: Duration) -> Vec<(Duration, &RecordedEvent)> {
        let (mut last, mut shown) = (Duration::ZERO, Duration::ZERO);
        let mut events = Vec::with_capacity(self.events.len());
        for (time, event) in &self.events {
            shown += limit.min(*time - last);
            last = *time;
            events.push((shown, event));
        }
        events
    }
}

impl RecordingTheme {
    /// A colour that is not `#rrggbb` is replaced by the default one, so that no text of the file becomes part of an export.
    fn new(theme: Option<Theme>) -> Self {
        let (text, background) = ("#e5e5e5", "#000000");
        let default_palette: Vec<String> = PALETTE.split(':').map(str::to_owned).collect();
        let (replaced_text, replaced_backgrounds) = Default::default();
        let Some(theme) = theme else {
            let (text, background, palette) = (text.to_owned(), background.to_owned(), default_palette);
            return Self { text, background, palette, replaced_text, replaced_backgrounds };
        };
        let choose = |colour: &str, default: &str| if is_colour(colour) { colour } else { default }.to_owned();
        let given: Vec<&str> = theme.palette.split(':').collect();
        // A palette of 8 colours has the same ones for bright text.
        let colour = |index: usize| given.get(index).or_else(|| given.get(index % 8)).copied().unwrap_or_default();
        let palette = default_palette.iter().enumerate().map(|(index, default)| choose(colour(index), default));
        Self {
            text: choose(&theme.fg, text),
            background: choose(&theme.bg, background),
            palette: palette.collect(),
            replaced_text,
            replaced_backgrounds,
        }
    }
}

fn is_colour(text: &str) -> bool {
    text.len() == 7 && text.starts_with('#') && text[1..].bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn parse_events(
    lines: &[(usize, &str)],
    is_complete: bool,
    is_relative: bool,
) -> Result<Vec<(Duration, RecordedEvent)>, String> {
    let mut events = Vec::new();
    let mut last = Duration::ZERO;
    for (index, (number, line)) in lines.iter().enumerate() {
        // Version 3 allows comments.
        if line.trim().is_empty() || line.starts_with('#') {
            continue;
        }
        let (seconds, code, data): (f64, String, String) = match serde_json::from_str(line) {
            Ok(event) => event,
            Err(_) if index + 1 == lines.len() && !is_complete => break,
            Err(error) => return Err(format!("line {number}: expected [TIME, \"CODE\", \"DATA\"]: {error}")),
        };
        let time = Duration::try_from_secs_f64(seconds)
            .map_err(|_| format!("line {number}: expected a time in seconds, got {seconds}"))?;
        let time = if is_relative { last.checked_add(time) } else { Some(time.max(last)) };
        last = time
            .filter(|time| *time <= MAX_TIME)
            .ok_or_else(|| format!("line {number}: the time is more than a year after the start"))?;
        let event = match code.as_str() {
            "o" => RecordedEvent::Output(data),
            "m" => RecordedEvent::Marker(data),
            "r" => {
                let size =
                    data.split_once('x').and_then(|(columns, rows)| Some((columns.parse().ok()?, rows.parse().ok()?)));
                let size = size.ok_or_else(|| format!("line {number}: expected COLUMNSxROWS, got {data:?}"))?;
                check_size(size).map_err(|error| format!("line {number}: {error}"))?;
                RecordedEvent::Resized(size.0, size.1)
            }
            _ => continue,
        };
        events.push((last, event));
    }
    Ok(events)
}

fn check_size((columns, rows): (u16, u16)) -> Result<(), String> {
    match (1..=MAX_SIZE).contains(&columns) && (1..=MAX_SIZE).contains(&rows) {
        true => Ok(()),
        false => Err(format!("expected 1 to {MAX_SIZE} columns and rows, got {columns}x{rows}")),
    }
}

#[cfg(test)]
mod tests {
    use super::super::cast::{CastEvent, CastHeader, CastVersion, EventLines};
    use super::*;
    use proptest::prelude::*;

    fn parse(lines: &[&str]) -> Result<Recording, String> {
        Recording::parse(&(lines.join("\n") + "\n"))
    }

    #[test]
    fn both_versions_are_read_back() {
        for version in [CastVersion::V2, CastVersion::V3] {
            let header = CastHeader {
                version,
                size: (80, 24),
                timestamp: 0,
                title: Some("T".into()),
                colours: ([0; 3], [255; 3]),
            };
            let mut lines = EventLines::new(version);
            let mut text = header.to_line() + "\n";
            for (millis, event) in
                [(1_000, CastEvent::Output("a")), (1_500, CastEvent::Resized(60, 15)), (9_500, CastEvent::Marker("m"))]
            {
                text += &(lines.line(Duration::from_millis(millis), event) + "\n");
            }
            let recording = Recording::parse(&text).unwrap();
            assert_eq!((recording.size, recording.title.as_deref()), ((80, 24), Some("T")));
            assert_eq!((&*recording.theme.text, &*recording.theme.background), ("#000000", "#ffffff"));
            let events = [
                (Duration::from_millis(1_000), RecordedEvent::Output("a".into())),
                (Duration::from_millis(1_500), RecordedEvent::Resized(60, 15)),
                (Duration::from_millis(9_500), RecordedEvent::Marker("m".into())),
            ];
            assert_eq!(recording.events, events);
            let shown: Vec<u128> = recording.shortened_events().iter().map(|(time, _)| time.as_millis()).collect();
            assert_eq!(shown, [1_000, 1_500, 3_500], "pauses of more than 2 seconds are shortened");
        }
    }

    #[test]
    fn a_cut_last_line_is_left_out_and_other_faults_name_their_line() {
        let header = r#"{"version":2,"width":80,"height":24}"#;
        let cut = format!("{header}\n[0.5, \"o\", \"a\"]\n[0.6, \"o\", \"b");
        assert_eq!(Recording::parse(&cut).unwrap().events.len(), 1);
        for (lines, expected) in [
            (&["hello"][..], "line 1 is not the header"),
            (&[r#"{"version":1,"width":80,"height":24}"#], "version 1; expected version 2 or 3"),
            (&[r#"{"version":3}"#], "line 1 has no size"),
            (&[r#"{"version":2,"width":0,"height":24}"#], "expected 1 to 1000 columns and rows, got 0x24"),
            (&[header, "[0.5, \"o\"]", "[1, \"o\", \"\"]"], "line 2: expected [TIME, \"CODE\", \"DATA\"]"),
            (&[header, "[-1, \"o\", \"\"]"], "line 2: expected a time in seconds, got -1"),
            (&[header, "[1e300, \"o\", \"\"]"], "line 2: expected a time in seconds"),
            (&[header, "[1, \"r\", \"80\"]"], "line 2: expected COLUMNSxROWS, got \"80\""),
            (&[header, "", "[1, \"r\", \"80x9999\"]"], "line 3: expected 1 to 1000"),
        ] {
            let error = parse(lines).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
        assert!(Recording::parse("").unwrap_err().contains("it is empty"));
        let others = [header, "# comment", "[1, \"i\", \"x\"]", "[2, \"x\", \"0\"]"];
        assert_eq!(parse(&others).unwrap().events, []);
    }

    #[test]
    fn a_colour_of_a_theme_is_a_colour() {
        let theme =
            r##"{"fg":"red","bg":"#00000\"","palette":"#111111:#222222:x:#444444:#555555:#666666:#777777:#888888"}"##;
        let header = format!(r#"{{"version":2,"width":80,"height":24,"theme":{theme}}}"#);
        let theme = parse(&[&header]).unwrap().theme;
        assert_eq!((&*theme.text, &*theme.background), ("#e5e5e5", "#000000"));
        assert_eq!(theme.palette[..3], ["#111111", "#222222", "#00cd00"]);
        assert_eq!(theme.palette[8], "#111111", "8 colours stand for 16");
    }

    proptest! {
        #[test]
        fn hostile_recordings_are_read_or_refused(text in "\\PC*", lines in proptest::collection::vec("\\[[0-9.e-]{0,6}, ?\"[orm]\", ?\"\\PC{0,9}\"\\]", 0..5)) {
            let _ = Recording::parse(&text);
            let text = format!("{{\"version\":3,\"term\":{{\"cols\":9,\"rows\":9}}}}\n{}", lines.join("\n"));
            if let Ok(recording) = Recording::parse(&text) {
                prop_assert!(recording.events.is_sorted_by_key(|(time, _)| *time));
                recording.shortened_events();
            }
        }
    }
}
