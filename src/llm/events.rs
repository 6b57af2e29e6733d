//! Decodes a byte stream into server-sent events, by the specification and with tolerance for known deviations of
//! providers.

use super::tolerant_json;
use serde_json::Value;

/// Maximum size of one event in bytes.
pub const MAX_EVENT_BYTES: usize = 16 << 20;

/// Known field names of an event. The empty name begins a comment.
const FIELDS: [&str; 6] = ["", "data", "event", "error", "id", "retry"];

/// One event.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// Payload of an event. The payload of an event named `error` is wrapped under the key `error`.
    Value(Value),
    /// The provider's end marker `[DONE]`.
    Done,
    /// Start of an event that is not JSON. Later events can still be read.
    Unreadable(String),
    /// Start of data that is not an event at all. The rest of the stream is unusable.
    Broken(String),
}

/// Incremental decoder that accepts bytes in any chunks. Line ends may be LF, CRLF or CR; a byte order mark, comments
/// and unknown fields are skipped; bytes that are not UTF-8 become U+FFFD.
#[derive(Debug, Default)]
pub struct Decoder {
    line: Vec<u8>,
    /// The last byte was a CR, so a directly following LF belongs to it.
    after_cr: bool,
    past_first_line: bool,
    name: String,
    data: Option<String>,
    /// Length of the data at the last check that found it incomplete.
    incomplete_length: usize,
    /// At least one event arrived.
    has_events: bool,
    /// First line that was not a field of an event.
    first_odd_line: Option<String>,
}

impl Decoder {
    /// Returns the events completed by these bytes.
    pub fn decode(&mut self, bytes: &[u8]) -> Vec<Event> {
        let mut out = Vec::new();
        for part in bytes.split_inclusive(|byte| matches!(byte, b'\n' | b'\r')) {
            let (body, end) = match part.split_last() {
                Some((end @ (b'\n' | b'\r'), body)) => (body, Some(*end)),
                _ => (part, None),
            };
            let is_crlf_end = std::mem::take(&mut self.after_cr) && body.is_empty() && end == Some(b'\n');
            if is_crlf_end {
                continue;
            }
            self.line.extend_from_slice(body);
            if self.line.len() + self.data.as_ref().map_or(0, String::len) > MAX_EVENT_BYTES {
                self.line.clear();
                out.push(Event::Broken(format!("an event is larger than {} MB", MAX_EVENT_BYTES >> 20)));
            }
            if let Some(end) = end {
                self.after_cr = end == b'\r';
                self.process_line(&mut out);
            }
        }
        out
    }

    /// Ends the stream. An event that only lacks its empty line is returned; an incomplete one is dropped.
    pub fn finish(&mut self) -> Vec<Event> {
        let mut out = Vec::new();
        if !self.line.is_empty() {
            self.process_line(&mut out);
        }
        self.dispatch(&mut out);
        out.retain(|event| !matches!(event, Event::Broken(_) | Event::Unreadable(_)));
        // A stream of plain text is an error, not an interrupted stream.
        if let (false, Some(line)) = (self.has_events, self.first_odd_line.take()) {
            out.push(Event::Broken(line));
        }
        out
    }

    fn process_line(&mut self, out: &mut Vec<Event>) {
        let bytes = std::mem::take(&mut self.line);
        let text = String::from_utf8_lossy(&bytes);
        let is_first = !std::mem::replace(&mut self.past_first_line, true);
        let line = if is_first { text.strip_prefix('\u{feff}').unwrap_or(&text) } else { &text };
        if line.is_empty() {
            self.dispatch(out);
        } else if line.starts_with('{') {
            // Some providers write a bare JSON object into the stream to report an error.
            self.add_data(line, out);
        } else {
            let (field, value) = line.split_once(':').unwrap_or((line, ""));
            let value = value.strip_prefix(' ').unwrap_or(value);
            match field {
                "data" => self.add_data(value, out),
                "event" => self.name = value.trim().to_owned(),
                // Some server versions write this instead of `event: error`.
                "error" if !value.is_empty() => {
                    self.dispatch(out);
                    self.name = field.to_owned();
                    self.add_data(value, out);
                }
                // The last line may be an incomplete field name.
                _ if FIELDS.iter().any(|known| known.starts_with(line)) || FIELDS.contains(&field) => {}
                _ => {
                    self.first_odd_line.get_or_insert_with(|| super::provider_error::clip(line, 120));
                }
            }
        }
    }

    fn add_data(&mut self, line: &str, out: &mut Vec<Event>) {
        // Some providers omit the empty line between events; by the specification they would be one event.
        if self.data.as_deref().is_some_and(is_comment) || self.is_complete() {
            self.dispatch(out);
        }
        match &mut self.data {
            None => self.data = Some(line.to_owned()),
            Some(data) => {
                data.push('\n');
                data.push_str(line);
            }
        }
    }

    /// Returns whether the data so far is complete. Checks an incomplete event again only when its size has doubled, to
    /// avoid quadratic time.
    fn is_complete(&mut self) -> bool {
        let Some(data) = self.data.as_deref().filter(|data| data.len() >= 2 * self.incomplete_length) else {
            return false;
        };
        let is_complete = data.trim() == "[DONE]" || tolerant_json::parse_json(data).is_ok();
        self.incomplete_length = if is_complete { 0 } else { data.len() };
        is_complete
    }

    fn dispatch(&mut self, out: &mut Vec<Event>) {
        self.incomplete_length = 0;
        let name = std::mem::take(&mut self.name);
        let Some(data) = self.data.take() else { return };
        let data = data.trim();
        self.has_events |= !data.is_empty();
        match (tolerant_json::parse_json(data), name.as_str()) {
            _ if data.is_empty() || is_comment(data) => {}
            _ if data == "[DONE]" => out.push(Event::Done),
            (Ok(value), "error") if value.get("error").is_none_or(Value::is_null) => {
                out.push(Event::Value(serde_json::json!({ "error": value })));
            }
            (Ok(value), _) => out.push(Event::Value(value)),
            (Err(_), "error") => out.push(Event::Value(serde_json::json!({ "error": data }))),
            (Err(_), name) if matches!(name, "" | "message") || name.starts_with("response.") => {
                out.push(Event::Unreadable(super::provider_error::clip(data, 120)));
            }
            // A keep-alive such as `event: ping` with its own text.
            (Err(_), _) => {}
        }
    }
}

/// Returns whether the data is a stream comment, which some gateways forward as data.
fn is_comment(data: &str) -> bool {
    data.trim_start().starts_with(':')
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// Decodes in one chunk, byte by byte, and in chunks of three, with the same result.
    fn check_events(bytes: &[u8], expected: &[Event]) {
        let decode_in_chunks = |size: usize| {
            let mut decoder = Decoder::default();
            let mut out: Vec<Event> = bytes.chunks(size).flat_map(|piece| decoder.decode(piece)).collect();
            out.extend(decoder.finish());
            out
        };
        for size in [bytes.len().max(1), 1, 3] {
            assert_eq!(decode_in_chunks(size), expected, "{:?} in pieces of {size}", String::from_utf8_lossy(bytes));
        }
    }

    fn value_event(payload: Value) -> Event {
        Event::Value(payload)
    }

    #[test]
    fn r48_streams_are_decoded_by_the_specification() {
        check_events(b"data: {\"a\":1}\n\ndata: [DONE]\n\n", &[value_event(json!({"a": 1})), Event::Done]);
        check_events(
            b"data: {\"a\":1}\r\n\r\ndata:{\"a\":2}\r\n\r\n",
            &[value_event(json!({"a": 1})), value_event(json!({"a": 2}))],
        );
        check_events(b"data: {\r\ndata: \"a\":1}\r\n\r\n", &[value_event(json!({"a": 1}))]);
        check_events(b"data: 1\r\rdata: 2\r\r", &[value_event(json!(1)), value_event(json!(2))]);
        check_events("\u{feff}data: {\"a\":\"中👩‍👩‍👧\"}\n\n".as_bytes(), &[value_event(json!({"a": "中👩‍👩‍👧"}))]);
        check_events(b": hello\n\n: again\ndata: 1\nid: 7\nretry: 1\nodd\n\n", &[value_event(json!(1))]);
        check_events(b"data: {\ndata: \"a\":\ndata: 1}\n\n", &[value_event(json!({"a": 1}))]);
        check_events(b"event: ping\ndata: {\"type\":\"ping\"}\n\n", &[value_event(json!({"type": "ping"}))]);
        check_events(b"event: ping\ndata: still here\n\ndata\n\ndata:\n\n", &[]);
    }

    #[test]
    fn r48_known_deviations_lose_no_events() {
        check_events(b"data: [DONE] \n\n", &[Event::Done]);
        check_events(b"data: 1\ndata: 2\ndata: [DONE]\n", &[value_event(json!(1)), value_event(json!(2)), Event::Done]);
        check_events(b"{\"error\":\"no\"}\n\n", &[value_event(json!({"error": "no"}))]);
        check_events(
            b"event: error\ndata: {\"message\":\"no\"}\n\n",
            &[value_event(json!({"error": {"message": "no"}}))],
        );
        check_events(b"event: error\ndata: no\n\n", &[value_event(json!({"error": "no"}))]);
        check_events(b"event: error\ndata: {\"error\":\"no\"}\n\n", &[value_event(json!({"error": "no"}))]);
        check_events(
            b"data: {\"a\":\"x\xffy\"}\n\ndata: 2\n\n",
            &[value_event(json!({"a": "x\u{fffd}y"})), value_event(json!(2))],
        );
        check_events(b"data: upstream died\n\n", &[Event::Unreadable("upstream died".into())]);
        check_events(b"data: {x\n\ndata: 1\n\n", &[Event::Unreadable("{x".into()), value_event(json!(1))]);
        check_events(b"data: : OPENROUTER PROCESSING\n\ndata: 1\n\n", &[value_event(json!(1))]);
        check_events(
            b"data: : still here\ndata: 1\ndata: :\ndata: 2\n\n",
            &[value_event(json!(1)), value_event(json!(2))],
        );
        check_events(b"error: {\"message\":\"no\"}\n\n", &[value_event(json!({"error": {"message": "no"}}))]);
        check_events(
            b"data: 1\nerror: no\n\ndata: 2\n",
            &[value_event(json!(1)), value_event(json!({"error": "no"})), value_event(json!(2))],
        );
        check_events(b"upstream died\n", &[Event::Broken("upstream died".into())]);
        check_events(b"upstream died\ndata: 1\n", &[value_event(json!(1))]);
    }

    #[test]
    fn an_event_without_its_empty_line_is_complete() {
        check_events(b"data: {\"a\":1}", &[value_event(json!({"a": 1}))]);
        check_events(b"data: {\"a\":1}\n", &[value_event(json!({"a": 1}))]);
        check_events(b"data: {\"a\":", &[]);
        check_events(b"dat", &[]);
    }

    #[test]
    fn r65_an_event_of_many_lines_is_decoded_in_linear_time() {
        let lines = "data: {},\n".repeat(100_000);
        let bytes = format!("data: [\n{lines}data: 1]\n\ndata: 2\n\n");
        let start = std::time::Instant::now();
        let mut decoder = Decoder::default();
        let out = decoder.decode(bytes.as_bytes());
        assert_eq!((out.len(), &out[1]), (2, &value_event(json!(2))));
        assert!(start.elapsed() < std::time::Duration::from_secs(20), "{:?}", start.elapsed());
    }

    #[test]
    fn r65_an_event_above_the_size_limit_is_aborted() {
        let mut decoder = Decoder::default();
        decoder.decode(b"data: ");
        let out: Vec<Event> = (0..17).flat_map(|_| decoder.decode(&vec![b'a'; 1 << 20])).collect();
        assert_eq!(out, [Event::Broken("an event is larger than 16 MB".into())]);
    }
}
