//! A fixture file for one quirk of a real server: the bytes that it sends, and the expected result.
//!
//! ```text
//! # A remark.
//! what: every call of a reply has the index 0
//! source: ollama/ollama#15457
//! call: read_file {"path":"a.txt"}
//! usage: 9(4)+2
//! --- answer
//! HTTP/1.1 200 OK
//! content-type: text/event-stream
//!
//! data: {"choices":[]}
//!
//! --- end
//! ```
//!
//! The head defines the expected result. Anything it does not list must be absent: no text, no calls, no usage, no
//! error.
//!
//! - `what`, `source`: the quirk, and where it is documented: `owner/repo#number`, an `https://` page, `grammar: …` (a
//!   standard) or `own: …` (made up for this test). Both may be repeated.
//! - `text`, `reasoning`: of the first reply. `call: name arguments`, once per call, in order, with the arguments as
//!   the program saves them. After a reply with calls the service replies `Done.`, unless the file has another answer.
//! - `usage: input+output` or `input(cached)+output`.
//! - `fails`: the error that the user sees; the exit code is 1. `again`: the error of an attempt that is retried, once
//!   per attempt. `exit`: the exit code, if it is neither 0 nor, with `fails`, 1.
//! - `asked`: the number of requests, if it is not the number of answers.
//! - `sent: 2 lacks stream_options`, `sent: 1 has tools`: a top-level field of a request.
//! - `idle`: the profile's `idle_seconds`; 30 by default.
//!
//! The format of an answer is documented in `bytes.rs`.

mod bytes;

use super::service::Answer;
use std::path::{Path, PathBuf};

/// The folder with the fixtures.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wire")
}

/// One quirk.
#[derive(Debug, Clone, Default)]
pub struct Fixture {
    /// Path in the folder, without the extension.
    pub name: String,
    /// Description of the quirk.
    pub description: Vec<String>,
    /// Where it is documented.
    pub source: Vec<String>,
    /// The answers of the service, in order.
    pub answers: Vec<Answer>,
    /// The expected result.
    pub expected: Expected,
    /// The `idle_seconds` of the profile.
    pub idle: Option<u64>,
    /// Expected top-level fields of requests: request number, whether the field is present, and its name.
    pub request_fields: Vec<(usize, bool, String)>,
}

/// The expected result of an answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Expected {
    pub text: String,
    pub reasoning: String,
    /// Names and arguments.
    pub calls: Vec<(String, String)>,
    /// Input, cached and output tokens.
    pub usage: Option<(u64, u64, u64)>,
    pub error: Option<String>,
    pub retried_errors: Vec<String>,
    pub exit_code: i32,
    pub request_count: usize,
}

/// Reads all fixtures, sorted by name. An error names the file and the line.
pub fn read_all() -> Result<Vec<Fixture>, String> {
    let mut files = Vec::new();
    let mut folders = vec![folder()];
    while let Some(directory) = folders.pop() {
        for entry in std::fs::read_dir(&directory).map_err(|error| format!("{}: {error}", directory.display()))? {
            let path = entry.map_err(|error| error.to_string())?.path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files.iter().map(|file| read_file(file)).collect()
}

fn read_file(file: &Path) -> Result<Fixture, String> {
    let relative = file.strip_prefix(folder()).unwrap_or(file).to_string_lossy().into_owned();
    let Some(name) = relative.strip_suffix(".wire") else { return Err(format!("{relative}: not a .wire file")) };
    let text = std::fs::read_to_string(file).map_err(|error| format!("{relative}: {error}"))?;
    parse(name, &text).map_err(|error| format!("tests/wire/{relative}:{error}"))
}

/// Parses one fixture. An error begins with the line.
pub fn parse(name: &str, text: &str) -> Result<Fixture, String> {
    let mut fixture = Fixture { name: name.to_owned(), ..Fixture::default() };
    let (mut exit_code, mut request_count) = (None, None);
    let lines: Vec<&str> = text.lines().collect();
    let mut index = 0;
    while index < lines.len() && !lines[index].starts_with("--- ") {
        parse_head_line(&mut fixture, lines[index], &mut exit_code, &mut request_count)
            .map_err(|reason| format!("{}: {reason}", index + 1))?;
        index += 1;
    }
    loop {
        let fail = |reason: &str| Err(format!("{}: {reason}", index + 1));
        let Some(line) = lines.get(index) else { return fail("the file ends without `--- end`") };
        let has_head = match *line {
            "--- end" => break,
            "--- answer" => true,
            "--- bytes" => false,
            _ => return fail("a section is `--- answer`, `--- bytes` or `--- end`"),
        };
        let start = index + 1;
        index = start + lines[start..].iter().position(|line| line.starts_with("--- ")).unwrap_or(lines.len() - start);
        let answer = bytes::read(&lines[start..index], has_head);
        fixture.answers.push(answer.map_err(|(line, reason)| format!("{}: {reason}", start + line + 1))?);
    }
    let fail = |reason: &str| Err(format!("{}: {reason}", index + 1));
    if index + 1 != lines.len() {
        return fail("there is text after `--- end`");
    }
    if fixture.description.is_empty() || fixture.source.is_empty() || fixture.answers.is_empty() {
        return fail("a fixture needs `what`, `source` and an answer");
    }
    let expected = &mut fixture.expected;
    if !expected.calls.is_empty() && expected.error.is_some() {
        return fail("a fixture with `fails` cannot have calls");
    }
    if !expected.calls.is_empty() && fixture.answers.len() == 1 {
        fixture.answers.push(Answer::stream().text("Done.").finish("stop").done());
    }
    expected.exit_code = exit_code.unwrap_or(i32::from(expected.error.is_some()));
    expected.request_count = request_count.unwrap_or(fixture.answers.len());
    Ok(fixture)
}

fn parse_head_line(
    fixture: &mut Fixture,
    line: &str,
    exit_code: &mut Option<i32>,
    request_count: &mut Option<usize>,
) -> Result<(), String> {
    if line.is_empty() || line.starts_with('#') {
        return Ok(());
    }
    let (key, value) = line.split_once(':').ok_or("a line of the head is `key: value`")?;
    let value = value.strip_prefix(' ').unwrap_or(value);
    if value.is_empty() {
        return Err(format!("`{key}` has no value"));
    }
    let parse_number = || value.parse::<u64>().map_err(|_| format!("`{value}` is not a number"));
    let expected = &mut fixture.expected;
    match key {
        "what" => fixture.description.push(value.to_owned()),
        "source" if is_source(value) => fixture.source.push(value.to_owned()),
        "source" => {
            return Err("a source is `owner/repo#1`, `https://…`, `grammar: …` or `own: …`".to_owned());
        }
        "text" => set_once(&mut expected.text, bytes::parse_text(value)?)?,
        "reasoning" => set_once(&mut expected.reasoning, bytes::parse_text(value)?)?,
        "call" => {
            let (name, arguments) = value.split_once(' ').ok_or("a call is `name arguments`")?;
            expected.calls.push((bytes::parse_text(name)?, bytes::parse_text(arguments)?));
        }
        "usage" if expected.usage.is_none() => {
            expected.usage = Some(parse_usage(value).ok_or("`input(cached)+output`")?)
        }
        "fails" if expected.error.is_none() => expected.error = Some(bytes::parse_text(value)?),
        "again" => expected.retried_errors.push(bytes::parse_text(value)?),
        "exit" if exit_code.is_none() => {
            *exit_code = Some(i32::try_from(parse_number()?).map_err(|_| "not an exit code")?)
        }
        "asked" if request_count.is_none() => *request_count = usize::try_from(parse_number()?).ok(),
        "idle" if fixture.idle.is_none() => fixture.idle = Some(parse_number()?),
        "sent" => {
            let parts: Vec<&str> = value.split(' ').collect();
            let [request_text, presence @ ("has" | "lacks"), name] = parts[..] else {
                return Err("`sent` is `1 has name` or `1 lacks name`".to_owned());
            };
            let request_number = request_text.parse().map_err(|_| format!("`{request_text}` is not a number"))?;
            fixture.request_fields.push((request_number, presence == "has", name.to_owned()));
        }
        "usage" | "fails" | "exit" | "asked" | "idle" => return Err(format!("`{key}` is given twice")),
        _ => return Err(format!("`{key}` is not a key of a fixture")),
    }
    Ok(())
}

fn set_once(target: &mut String, value: String) -> Result<(), String> {
    if !target.is_empty() {
        return Err("given twice".to_owned());
    }
    *target = value;
    Ok(())
}

fn is_source(value: &str) -> bool {
    let is_thread = value.split_once('#').is_some_and(|(repo, number)| {
        repo.split('/').filter(|part| !part.is_empty() && !part.contains(' ')).count() == 2
            && repo.matches('/').count() == 1
            && number.parse::<u32>().is_ok()
    });
    is_thread || ["https://", "grammar: ", "own: "].iter().any(|start| value.starts_with(start))
}

fn parse_usage(value: &str) -> Option<(u64, u64, u64)> {
    let (input, output) = value.split_once('+')?;
    let (input, cached) = match input.split_once('(') {
        Some((input, cached)) => (input, cached.strip_suffix(')')?),
        None => (input, "0"),
    };
    Some((input.parse().ok()?, cached.parse().ok()?, output.parse().ok()?))
}
