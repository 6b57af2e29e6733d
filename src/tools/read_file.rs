//! Tool that reads a text file, a range of lines at a time.

use super::arguments::{PositiveInt, parse_arguments};
use super::planned_path::{self, PlannedPath};
use super::{
    Error, LiveContext, RehearsalContext, RehearsalOutcome, Tool, parse_plan_data, rehearse_read, run_blocking,
    summary_line,
};
use crate::chat::{Access, Intent, Plan, Preconditions, Preview, ToolSpec, Work};
use crate::project::{self, FileKind, Reader, Writer};
use async_trait::async_trait;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::io::Read;
use std::sync::Arc;

mod lines;

use lines::{Lines, MAX_LINE_CHARS, Next, TIME_LIMIT};

/// Lines returned per call.
const LINES: usize = 2_000;
/// Bytes returned per call.
const BYTES: usize = 64 * 1024;
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
struct Reading {
    place: PlannedPath,
    start: u64,
    end: Option<u64>,
}

#[async_trait]
impl Tool for ReadFile {
    fn tool_spec(&self) -> ToolSpec {
        ToolSpec {
            name: "read_file".to_owned(),
            description: "Read a text file, at most 2000 lines. Each line starts with its number and a tab.".to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "path": { "type": "string", "description": "Relative to the project" },
                    "start_line": { "type": "integer", "minimum": 1, "description": "First line, default 1" },
                    "end_line": { "type": "integer", "minimum": 1, "description": "Last line, included" },
                },
                "required": ["path"],
                "additionalProperties": false,
            }),
        }
    }

    fn plan(&self, arguments: &Value, files: &dyn Reader) -> Result<Intent, Error> {
        let Arguments { path, start_line, end_line } = parse_arguments(&self.tool_spec(), arguments)?;
        let (start, end) = (start_line.map_or(1, |line| line.0), end_line.map(|line| line.0));
        if let Some(end) = end.filter(|end| *end < start) {
            return Err(Error::Arguments(format!("end_line {end} is before start_line {start}.")));
        }
        let at = planned_path::locate(files, &path)?;
        let access = planned_path::read_access(files, &at);
        // Outside the project, whether a file exists is not disclosed before the approval.
        if matches!(access, Access::Read(_)) && !files.exists(&at) {
            return Err(project::Error::Missing(at.display_path).into());
        }
        let shown = planned_path::display_path(&at);
        let range = match (start_line, end) {
            (None, None) => String::new(),
            (_, None) => format!(":{start}-"),
            (_, Some(end)) => format!(":{start}-{end}"),
        };
        Ok(Intent::Act(Box::new(Plan {
            title: "Read a file?".to_owned(),
            summary: format!("{}{range}", summary_line::first_line(&shown, 120)),
            access,
            preview: Preview::Text(format!("{shown}{range}")),
            grant: None,
            destroys: None,
            preconditions: Preconditions::default(),
            work: Work::Arguments(json!(Reading { place: PlannedPath::record(files, &at)?, start, end })),
        })))
    }

    async fn run(&self, plan: &Plan, hands: &LiveContext) -> Result<String, Error> {
        run_read(plan, hands.project.clone()).await
    }

    async fn rehearse(&self, plan: &Plan, stage: &RehearsalContext) -> Result<RehearsalOutcome, Error> {
        rehearse_read("read_file", plan, stage, run_read(plan, stage.project.clone())).await
    }
}

async fn run_read(plan: &Plan, files: Arc<dyn Writer>) -> Result<String, Error> {
    let reading: Reading = parse_plan_data(plan)?;
    run_blocking(files, move |files| {
        let at = reading.place.locate_again(files)?;
        let shown = planned_path::display_path(&at);
        let mut lines = Lines::new(files.open(&at)?);
        if let Some(kind) = binary_kind(lines.first_bytes().map_err(|error| read_error(&shown, &error))?) {
            let Some(FileKind::File(size)) = files.file_kind(&at) else {
                return Ok(format!("{shown} is {kind}. It is not text and was not read."));
            };
            return Ok(format!("{shown} is {kind}, {size} bytes. It is not text and was not read."));
        }
        format_lines(&shown, &mut lines, reading.start, reading.end)
    })
    .await
}

fn read_error(shown: &str, error: &std::io::Error) -> Error {
    Error::Failed(format!("{shown}: {error}"))
}

/// Formats the lines from `start` to `end` with their numbers, as many as fit, and how to continue.
fn format_lines<R: Read>(shown: &str, lines: &mut Lines<R>, start: u64, end: Option<u64>) -> Result<String, Error> {
    let given_up = |lines: u64| {
        Error::Failed(format!(
            "Reading {shown} timed out after {} s, at line {lines}. Try a command such as `tail` or `sed -n`.",
            TIME_LIMIT.as_secs()
        ))
    };
    let end = end.unwrap_or(u64::MAX);
    let (mut out, mut given, mut is_full, mut is_odd) = (String::new(), 0, false, false);
    let total = loop {
        let is_wanted = lines.lines + 1 >= start && lines.lines < end && !is_full;
        match lines.read_line(if is_wanted { MAX_LINE_CHARS } else { 0 }).map_err(|error| read_error(shown, &error))? {
            Next::End => break Some(lines.lines),
            Next::TimedOut if given == 0 => return Err(given_up(lines.lines)),
            Next::TimedOut => break None,
            Next::Line(line) if is_wanted => {
                let (text, odd) = line.display_text();
                let row = format!("{}\t{text}\n", lines.lines);
                is_full = out.len() + row.len() > BYTES;
                if !is_full {
                    out.push_str(&row);
                    (given, is_odd) = (given + 1, is_odd || odd);
                    is_full = given == LINES;
                }
            }
            Next::Line(_) if given > 0 && lines.bytes > MAX_COUNTED_BYTES => break None,
            Next::Line(_) => {}
        }
    };
    if total == Some(0) {
        return Ok(format!("{shown} is empty."));
    }
    if let Some(total) = total.filter(|total| start > *total) {
        return Err(Error::Failed(format!("{shown} has {total} lines; start_line {start} is past its end.")));
    }
    let last = start + given as u64 - 1;
    let is_end = total == Some(last);
    if start > 1 || !is_end {
        let all = total.map_or_else(|| format!("more than {}", lines.lines), |total| total.to_string());
        out.push_str(&format!("[lines {start}-{last} of {all}"));
        if !is_end {
            out.push_str(&format!("; go on with start_line {}", last + 1));
        }
        out.push_str("]\n");
    }
    if is_odd {
        out.push_str("[some bytes are not UTF-8 and are shown as \u{fffd}]\n");
    }
    Ok(out)
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
    let known = KINDS.iter().find(|(magic, _)| bytes.starts_with(magic)).map(|(_, kind)| *kind);
    known.or_else(|| bytes.iter().take(8 * 1024).any(|&byte| byte == 0).then_some("a binary file"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::memory_project::MemoryProject;
    use crate::tools::tests::{plan_call, run_call};

    fn numbered(shown: &str, bytes: &[u8], start: u64, end: Option<u64>) -> Result<String, Error> {
        super::format_lines(shown, &mut Lines::new(bytes), start, end)
    }

    #[test]
    fn numbers_lines_and_shows_how_to_continue() {
        let check = |text: &str, start: u64, end: Option<u64>, expected: &str| {
            let found = numbered("f", text.as_bytes(), start, end).unwrap_or_else(|error| error.to_string());
            assert_eq!(found, expected);
        };
        check("a\nb\n", 1, None, "1\ta\n2\tb\n");
        check("a\nb\nc", 2, Some(2), "2\tb\n[lines 2-2 of 3; go on with start_line 3]\n");
        check("a\nb\nc", 2, Some(99), "2\tb\n3\tc\n[lines 2-3 of 3]\n");
        check("a\n", 2, None, "f has 1 lines; start_line 2 is past its end.");
        check("", 1, None, "f is empty.");
        check("a\r\nb\r\n", 1, None, "1\ta\n2\tb\n");
        check("\n\n", 2, None, "2\t\n[lines 2-2 of 2]\n");
    }

    #[test]
    fn limits_lines_bytes_and_width() {
        let many = numbered("f", "x\n".repeat(LINES + 1).as_bytes(), 1, None).unwrap();
        assert!(many.ends_with("2000\tx\n[lines 1-2000 of 2001; go on with start_line 2001]\n"), "{many}");
        let wide = numbered("f", format!("{}\n", "é".repeat(1_000)).repeat(100).as_bytes(), 1, None).unwrap();
        assert!(wide.len() < BYTES + 100 && wide.contains("of 100; go on with start_line 33"), "{}", wide.len());
        let long = numbered("f", "é".repeat(MAX_LINE_CHARS + 1).as_bytes(), 1, None).unwrap();
        assert!(long.ends_with(" … [truncated: the line has 2001 characters]\n"));
        let lossy = numbered("f", b"a\xffb", 1, None).unwrap();
        assert_eq!(lossy, "1\ta\u{fffd}b\n[some bytes are not UTF-8 and are shown as \u{fffd}]\n");
    }

    /// An endless reader; each read returns one line that fills the buffer.
    struct Endless(u64);

    impl Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            buffer.fill(b'x');
            if let Some(last) = buffer.last_mut() {
                *last = b'\n';
            }
            self.0 += buffer.len() as u64;
            Ok(buffer.len())
        }
    }

    #[test]
    fn r23_reads_lines_of_endless_file_and_stops() {
        let mut lines = Lines::new(Endless(0));
        let text = super::format_lines("f", &mut lines, 3, Some(4)).unwrap();
        assert!(text.starts_with("3\txxx") && text.contains("\n4\txxx"), "{text}");
        assert!(text.contains("\n[lines 3-4 of more than "), "{text}");
        assert!(text.ends_with("; go on with start_line 5]\n"), "{text}");
        assert!(lines.bytes < MAX_COUNTED_BYTES * 2, "{} bytes were read", lines.bytes);
        let mut late = Lines::new(Endless(0));
        late.started = std::time::Instant::now().checked_sub(TIME_LIMIT).unwrap();
        let error = super::format_lines("f", &mut late, 1, None).unwrap_err().to_string();
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
            "1\tx\n[lines 1-1 of 2; go on with start_line 2]\n"
        );
        let image = plan_call(&ReadFile, json!({ "path": "p.png" }), &files).unwrap();
        let told = run_call(&ReadFile, &image, &files).await.unwrap();
        assert_eq!(told, "p.png is a PNG image, 5 bytes. It is not text and was not read.");
        let missing = plan_call(&ReadFile, json!({ "path": "no" }), &files).unwrap_err();
        assert_eq!(missing.to_string(), "there is no file no");
    }
}
