//! Tool that reads a text file, a range of lines at a time.

use super::arguments::{PositiveInt, object_spec, parse_arguments};
use super::built_in_tool::BuiltInTool;
use super::planned_path::{self, PlannedPath};
use super::{
    Error, LiveContext, RehearsalContext, RehearsalOutcome, Tool, parse_plan_data, rehearse_read, run_blocking,
    summary_line,
};
use crate::chat::{Access, CallResult, CallWords, Intent, Plan, Preview, ToolSpec, Work};
use crate::project::{self, FileKind, Reader, Writer};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::borrow::Cow;
use std::io::Read;
use std::sync::Arc;

mod lines;

use lines::{Lines, MAX_LINE_CHARS, NextLine, TIME_LIMIT};

/// The tool and its words.
pub(super) const TOOL: BuiltInTool = BuiltInTool {
    words: CallWords::new("read_file", "Read").with_path().with_result(CallResult::Lines),
    make: |_| Some(Arc::new(ReadFile)),
};

/// Maximum number of lines returned per call.
const MAX_LINES: usize = 2_000;
/// Maximum number of bytes returned per call.
const MAX_BYTES: usize = 64 * 1024;
/// Bytes read to count the lines of a file; longer files are not counted to the end.
const MAX_COUNTED_BYTES: u64 = 64 * 1024 * 1024;

pub struct ReadFile;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    start_line: Option<PositiveInt>,
    end_line: Option<PositiveInt>,
}

#[derive(Serialize, Deserialize)]
struct ReadRequest {
    place: PlannedPath,
    start: u64,
    end: Option<u64>,
}

#[async_trait]
impl Tool for ReadFile {
    fn name(&self) -> Cow<'_, str> {
        TOOL.words.tool.into()
    }

    fn tool_spec(&self) -> ToolSpec {
        object_spec(
            "read_file",
            "Read at most 2000 lines of a text file, each after its number and a tab.",
            json!({
                "path": { "type": "string", "description": "Relative to the project" },
                "start_line": { "type": "integer", "minimum": 1, "description": "Default 1" },
                "end_line": { "type": "integer", "minimum": 1, "description": "Included" },
            }),
            &["path"],
        )
    }

    fn plan_call(&self, arguments: &Value, files: &dyn Reader) -> Result<Intent, Error> {
        let Arguments { path, start_line, end_line } = parse_arguments(&self.tool_spec(), arguments)?;
        let (start, end) = (start_line.map_or(1, |line| line.0), end_line.map(|line| line.0));
        if let Some(end) = end.filter(|end| *end < start) {
            return Err(Error::Arguments(format!("end_line {end} is before start_line {start}.")));
        }
        let location = planned_path::locate(files, &path)?;
        let access = planned_path::read_access(files, &location);
        // Outside the project, whether a file exists is not disclosed before the approval.
        if matches!(access, Access::Read(_)) && !files.exists(&location) {
            return Err(project::Error::Missing(location.display_path).into());
        }
        let displayed_path = planned_path::display_path(&location);
        let range = match (start_line, end) {
            (None, None) => String::new(),
            (_, None) => format!(":{start}-"),
            (_, Some(end)) => format!(":{start}-{end}"),
        };
        Ok(Intent::Act(Box::new(Plan::new(
            "Read a file?",
            format!("{}{range}", summary_line::first_line(&displayed_path, 120)),
            access,
            Preview::Text(format!("{displayed_path}{range}")),
            Work::Arguments(json!(ReadRequest { place: PlannedPath::record(files, &location)?, start, end })),
        ))))
    }

    async fn run(&self, plan: &Plan, context: &LiveContext) -> Result<String, Error> {
        run_read(plan, context.project.clone()).await
    }

    async fn rehearse(&self, plan: &Plan, context: &RehearsalContext) -> Result<RehearsalOutcome, Error> {
        rehearse_read("read_file", plan, context, run_read(plan, context.project.clone())).await
    }
}

async fn run_read(plan: &Plan, files: Arc<dyn Writer>) -> Result<String, Error> {
    let request: ReadRequest = parse_plan_data(plan)?;
    run_blocking(files, move |files| {
        let location = request.place.locate_again(files)?;
        let displayed_path = planned_path::display_path(&location);
        let mut lines = Lines::new(files.open(&location)?);
        if let Some(kind) = binary_kind(lines.first_bytes().map_err(|error| read_error(&displayed_path, &error))?) {
            let size = match files.file_kind(&location) {
                Some(FileKind::File(size)) => format!(", {size} bytes"),
                _ => String::new(),
            };
            return Ok(format!("{displayed_path} is {kind}{size}. It is not text and was not read."));
        }
        format_lines(&displayed_path, &mut lines, request.start, request.end)
    })
    .await
}

fn read_error(displayed_path: &str, error: &std::io::Error) -> Error {
    Error::Failed(format!("{displayed_path}: {error}"))
}

/// Formats the lines from `start` to `end` with their numbers, as many as fit, and how to continue.
fn format_lines<R: Read>(
    displayed_path: &str,
    lines: &mut Lines<R>,
    start: u64,
    end: Option<u64>,
) -> Result<String, Error> {
    let timeout_error = |lines: u64| {
        Error::Failed(format!(
            "Reading {displayed_path} timed out after {} s, at line {lines}. Try a command such as `tail` or `sed -n`.",
            TIME_LIMIT.as_secs()
        ))
    };
    let end = end.unwrap_or(u64::MAX);
    let (mut output, mut returned_count, mut is_full, mut has_invalid_bytes) = (String::new(), 0, false, false);
    let total = loop {
        let is_in_range = lines.line_count + 1 >= start && lines.line_count < end && !is_full;
        match lines
            .read_line(if is_in_range { MAX_LINE_CHARS } else { 0 })
            .map_err(|error| read_error(displayed_path, &error))?
        {
            NextLine::End => break Some(lines.line_count),
            NextLine::TimedOut if returned_count == 0 => return Err(timeout_error(lines.line_count)),
            NextLine::TimedOut => break None,
            NextLine::Line(line) if is_in_range => {
                let (line_text, is_invalid) = line.display_text();
                let row = format!("{}\t{line_text}\n", lines.line_count);
                is_full = output.len() + row.len() > MAX_BYTES;
                if !is_full {
                    output.push_str(&row);
                    (returned_count, has_invalid_bytes) = (returned_count + 1, has_invalid_bytes || is_invalid);
                    is_full = returned_count == MAX_LINES;
                }
            }
            NextLine::Line(_) if returned_count > 0 && lines.byte_count > MAX_COUNTED_BYTES => break None,
            NextLine::Line(_) => {}
        }
    };
    if total == Some(0) {
        return Ok(format!("{displayed_path} is empty."));
    }
    if let Some(total) = total.filter(|total| start > *total) {
        return Err(Error::Failed(format!("{displayed_path} has {total} lines; start_line {start} is past its end.")));
    }
    let last_line = start + returned_count as u64 - 1;
    let is_end = total == Some(last_line);
    if start > 1 || !is_end {
        let total_label = total.map_or_else(|| format!("more than {}", lines.line_count), |total| total.to_string());
        output.push_str(&format!("[lines {start}-{last_line} of {total_label}"));
        if !is_end {
            output.push_str(&format!("; continue with start_line {}", last_line + 1));
        }
        output.push_str("]\n");
    }
    if has_invalid_bytes {
        output.push_str("[some bytes are not UTF-8 and are shown as \u{fffd}]\n");
    }
    Ok(output)
}

/// Returns the kind of a binary file, with an article.
fn binary_kind(bytes: &[u8]) -> Option<&'static str> {
    const KINDS: [(&[u8], &str); 10] = [
        (b"\x89PNG", "a PNG image"),
        (b"\xff\xd8\xff", "a JPEG image"),
        (b"GIF8", "a GIF image"),
        (b"%PDF-", "a PDF document"),
        (b"PK\x03\x04", "a ZIP archive"),
        (b"\x1f\x8b", "a gzip archive"),
        (b"\x7fELF", "an ELF program"),
        (b"SQLite format 3\0", "an SQLite database"),
        (b"\xff\xfe", "UTF-16 text"),
        (b"\xfe\xff", "UTF-16 text"),
    ];
    let known_kind = KINDS.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, kind)| *kind);
    known_kind.or_else(|| bytes.iter().take(8 * 1024).any(|&byte| byte == 0).then_some("a binary file"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::memory_project::MemoryProject;
    use crate::tools::tests::{plan_call, run_call};

    fn number_lines(displayed_path: &str, bytes: &[u8], start: u64, end: Option<u64>) -> Result<String, Error> {
        super::format_lines(displayed_path, &mut Lines::new(bytes), start, end)
    }

    #[test]
    fn numbers_lines_and_shows_how_to_continue() {
        let check = |text: &str, start: u64, end: Option<u64>, expected: &str| {
            let numbered_text =
                number_lines("f", text.as_bytes(), start, end).unwrap_or_else(|error| error.to_string());
            assert_eq!(numbered_text, expected);
        };
        check("a\nb\n", 1, None, "1\ta\n2\tb\n");
        check("a\nb\nc", 2, Some(2), "2\tb\n[lines 2-2 of 3; continue with start_line 3]\n");
        check("a\nb\nc", 2, Some(99), "2\tb\n3\tc\n[lines 2-3 of 3]\n");
        check("a\n", 2, None, "f has 1 lines; start_line 2 is past its end.");
        check("", 1, None, "f is empty.");
        check("a\r\nb\r\n", 1, None, "1\ta\n2\tb\n");
        check("\n\n", 2, None, "2\t\n[lines 2-2 of 2]\n");
    }

    #[test]
    fn limits_lines_bytes_and_width() {
        let many_lines = number_lines("f", "x\n".repeat(MAX_LINES + 1).as_bytes(), 1, None).unwrap();
        assert!(
            many_lines.ends_with("2000\tx\n[lines 1-2000 of 2001; continue with start_line 2001]\n"),
            "{many_lines}"
        );
        let wide_lines = number_lines("f", format!("{}\n", "é".repeat(1_000)).repeat(100).as_bytes(), 1, None).unwrap();
        assert!(
            wide_lines.len() < MAX_BYTES + 100 && wide_lines.contains("of 100; continue with start_line 33"),
            "{}",
            wide_lines.len()
        );
        let long_line = number_lines("f", "é".repeat(MAX_LINE_CHARS + 1).as_bytes(), 1, None).unwrap();
        assert!(long_line.ends_with(" … [truncated: the line has 2001 characters]\n"));
        let lossy_line = number_lines("f", b"a\xffb", 1, None).unwrap();
        assert_eq!(lossy_line, "1\ta\u{fffd}b\n[some bytes are not UTF-8 and are shown as \u{fffd}]\n");
    }

    /// An endless reader; each read returns one line that fills the buffer.
    struct Endless;

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            buffer.fill(b'x');
            if let Some(last) = buffer.last_mut() {
                *last = b'\n';
            }
            Ok(buffer.len())
        }
    }

    #[test]
    fn r23_reads_lines_of_endless_file_and_stops() {
        let mut lines = Lines::new(Endless);
        let text = super::format_lines("f", &mut lines, 3, Some(4)).unwrap();
        assert!(text.starts_with("3\txxx") && text.contains("\n4\txxx"), "{text}");
        assert!(text.contains("\n[lines 3-4 of more than "), "{text}");
        assert!(text.ends_with("; continue with start_line 5]\n"), "{text}");
        assert!(lines.byte_count < MAX_COUNTED_BYTES * 2, "{} bytes were read", lines.byte_count);
        let mut late_lines = Lines::new(Endless);
        late_lines.started = std::time::Instant::now().checked_sub(TIME_LIMIT).unwrap();
        let error = super::format_lines("f", &mut late_lines, 1, None).unwrap_err().to_string();
        assert!(error.contains("timed out after 10 s, at line 0"), "{error}");
    }

    #[test]
    fn r13_reading_secrets_or_outside_is_sensitive() {
        let files = MemoryProject::with_files(&[("a", "x"), (".env", "KEY")]);
        let check = |path: &str, access: Access| {
            assert_eq!(plan_call(&ReadFile, json!({ "path": path }), &files).unwrap().access, access);
        };
        check("a", Access::Read(vec!["a".into()]));
        check(".env", Access::ReadSensitive(".env".into()));
        check("/etc/passwd", Access::ReadSensitive("/etc/passwd".into()));
        check("../b", Access::ReadSensitive("/b".into()));
    }

    #[tokio::test]
    async fn reads_file_as_planned() {
        let files = MemoryProject::with_bytes([("a", b"x\ny\n".to_vec()), ("p.png", b"\x89PNG\0".to_vec())]);
        let plan = plan_call(&ReadFile, json!({ "path": "@a", "start_line": 1, "end_line": 1 }), &files).unwrap();
        assert_eq!(plan.summary, "a:1-1");
        assert_eq!(
            run_call(&ReadFile, &plan, &files).await.unwrap(),
            "1\tx\n[lines 1-1 of 2; continue with start_line 2]\n"
        );
        let image = plan_call(&ReadFile, json!({ "path": "p.png" }), &files).unwrap();
        let outcome = run_call(&ReadFile, &image, &files).await.unwrap();
        assert_eq!(outcome, "p.png is a PNG image, 5 bytes. It is not text and was not read.");
        let missing = plan_call(&ReadFile, json!({ "path": "no" }), &files).unwrap_err();
        assert_eq!(missing.to_string(), "there is no file no");
    }
}
