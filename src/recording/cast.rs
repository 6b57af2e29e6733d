//! Lines of an asciicast: a header, then one line per event. Version 3 has the time since the event before, version 2 the time
//! since the start.

use serde_json::{Value, json};
use std::time::Duration;

/// Longest pause that a player shows, in seconds. It skips the rest of a longer one.
const IDLE_LIMIT: f64 = 2.0;
/// Standard colours of xterm, for themes that use those of the terminal.
pub const PALETTE: &str = "#000000:#cd0000:#00cd00:#cdcd00:#0000ee:#cd00cd:#00cdcd:#e5e5e5:\
                       #7f7f7f:#ff0000:#00ff00:#ffff00:#5c5cff:#ff00ff:#00ffff:#ffffff";

/// Version of the format. Version 2 is understood by asciinema before 3.0 and by older players.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum CastVersion {
    #[value(name = "2")]
    V2,
    #[default]
    #[value(name = "3")]
    V3,
}

/// The first line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CastHeader {
    pub version: CastVersion,
    /// Columns and rows of the screen.
    pub size: (u16, u16),
    /// Start in seconds since 1970.
    pub timestamp: u64,
    pub title: Option<String>,
    /// Colours of text and background, each red, green and blue, of cells without a colour of their own.
    pub colours: ([u8; 3], [u8; 3]),
}

impl CastHeader {
    /// Returns the line without its end.
    pub fn to_line(&self) -> String {
        let [text, background] = [self.colours.0, self.colours.1].map(hex_colour);
        let theme = json!({ "fg": text, "bg": background, "palette": PALETTE });
        let fields = HeaderFields {
            theme: Some(theme),
            timestamp: Some(self.timestamp),
            idle_limit: Some(IDLE_LIMIT),
            title: self.title.as_deref(),
        };
        fields.to_line(self.version, self.size)
    }
}

/// Fields that a header may have.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct HeaderFields<'a> {
    pub(super) theme: Option<Value>,
    /// Start in seconds since 1970.
    pub(super) timestamp: Option<u64>,
    /// Longest pause that a player shows, in seconds.
    pub(super) idle_limit: Option<f64>,
    pub(super) title: Option<&'a str>,
}

impl HeaderFields<'_> {
    /// Returns the line of a header for a screen of these columns and rows, without its end.
    pub(super) fn to_line(&self, version: CastVersion, (columns, rows): (u16, u16)) -> String {
        let mut terminal = match version {
            CastVersion::V2 => json!({ "width": columns, "height": rows }),
            CastVersion::V3 => json!({ "cols": columns, "rows": rows }),
        };
        if let Some(theme) = &self.theme {
            terminal["theme"] = theme.clone();
        }
        let mut header = match version {
            CastVersion::V2 => json!({ "version": 2 }),
            CastVersion::V3 => json!({ "version": 3, "term": terminal.clone() }),
        };
        if let (CastVersion::V2, Some(header), Value::Object(terminal)) = (version, header.as_object_mut(), terminal) {
            header.extend(terminal);
        }
        if let Some(timestamp) = self.timestamp {
            header["timestamp"] = timestamp.into();
        }
        if let Some(limit) = self.idle_limit {
            header["idle_time_limit"] = limit.into();
        }
        if let Some(title) = self.title {
            header["title"] = title.into();
        }
        header.to_string()
    }
}

/// Returns a colour as `#rrggbb`.
pub fn hex_colour([red, green, blue]: [u8; 3]) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// What happened at one time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CastEvent<'a> {
    /// The terminal got this output.
    Output(&'a str),
    /// The terminal got these columns and rows.
    Resized(u16, u16),
    /// A place with a name, to which a player can jump.
    Marker(&'a str),
}

/// Makes the lines of events.
#[derive(Debug, Clone, Default)]
pub struct EventLines {
    version: CastVersion,
    /// Time of the last event in microseconds since the start.
    last_micros: u128,
}

impl EventLines {
    /// The first event follows the start of the recording.
    pub fn new(version: CastVersion) -> Self {
        Self { version, last_micros: 0 }
    }

    /// Returns the line of an event at a time since the start, without its end. Time that goes back counts as no time.
    pub fn line(&mut self, time: Duration, event: CastEvent<'_>) -> String {
        let micros = time.as_micros().max(self.last_micros);
        let written = match self.version {
            CastVersion::V2 => micros,
            CastVersion::V3 => micros - self.last_micros,
        };
        self.last_micros = micros;
        let (code, data): (_, Value) = match event {
            CastEvent::Output(text) => ("o", text.into()),
            CastEvent::Resized(columns, rows) => ("r", format!("{columns}x{rows}").into()),
            CastEvent::Marker(name) => ("m", name.into()),
        };
        format!("[{}.{:06}, \"{code}\", {data}]", written / 1_000_000, written % 1_000_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn header(version: CastVersion) -> CastHeader {
        CastHeader {
            version,
            size: (80, 24),
            timestamp: 1_700_000_000,
            title: Some("a \"b\"\n".into()),
            colours: ([1, 2, 255], [255; 3]),
        }
    }

    #[test]
    fn the_header_has_the_fields_of_its_version() {
        let v2: Value = serde_json::from_str(&header(CastVersion::V2).to_line()).unwrap();
        assert_eq!((&v2["version"], &v2["width"], &v2["height"]), (&json!(2), &json!(80), &json!(24)));
        let v3: Value = serde_json::from_str(&header(CastVersion::V3).to_line()).unwrap();
        assert_eq!((&v3["version"], &v3["term"]["cols"], &v3["term"]["rows"]), (&json!(3), &json!(80), &json!(24)));
        for (fields, theme) in [(&v2, &v2["theme"]), (&v3, &v3["term"]["theme"])] {
            assert_eq!(fields["title"], "a \"b\"\n");
            assert_eq!((&fields["timestamp"], &fields["idle_time_limit"]), (&json!(1_700_000_000), &json!(2.0)));
            assert_eq!((&theme["fg"], &theme["bg"]), (&json!("#0102ff"), &json!("#ffffff")));
            assert_eq!(theme["palette"].as_str().unwrap().split(':').count(), 16);
        }
        assert!(!CastHeader { title: None, ..header(CastVersion::V3) }.to_line().contains("title"));
    }

    #[test]
    fn events_have_relative_or_absolute_times() {
        let events = [
            (1_500, CastEvent::Output("\u{1b}[H\"é\u{7f}")),
            (1_250, CastEvent::Resized(60, 15)),
            (61_000, CastEvent::Marker("Prompt\n")),
        ];
        let lines = |version| {
            let mut lines = EventLines::new(version);
            events.map(|(millis, event)| lines.line(Duration::from_millis(millis), event))
        };
        assert_eq!(
            lines(CastVersion::V2),
            [
                "[1.500000, \"o\", \"\\u001b[H\\\"é\u{7f}\"]",
                "[1.500000, \"r\", \"60x15\"]",
                "[61.000000, \"m\", \"Prompt\\n\"]"
            ]
        );
        assert_eq!(lines(CastVersion::V3)[1..], ["[0.000000, \"r\", \"60x15\"]", "[59.500000, \"m\", \"Prompt\\n\"]"]);
    }

    proptest! {
        #[test]
        fn times_of_version_3_add_up_to_those_of_version_2(micros in proptest::collection::vec(0_u64..10_000_000, 1..50)) {
            let (mut relative, mut absolute) = (EventLines::new(CastVersion::V3), EventLines::new(CastVersion::V2));
            let (mut time, mut sum, mut last) = (Duration::ZERO, 0, 0);
            let read_micros = |line: &str| line[1..].split_once(',').unwrap().0.replace('.', "").parse::<u64>().unwrap();
            for step in micros {
                time += Duration::from_micros(step);
                sum += read_micros(&relative.line(time, CastEvent::Output("")));
                last = read_micros(&absolute.line(time, CastEvent::Output("")));
            }
            prop_assert_eq!(sum, last);
        }
    }
}
