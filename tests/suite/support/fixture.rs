//! One quirk of a real server, written down in a file: the bytes it sends, and what must come of them.
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
//! The head says what must come of it. What is not said must not come: no text, no calls, no usage, no failure.
//!
//! - `what`, `source`: what the server does, and where that is told: `owner/repo#number`, an `https://` page,
//!   `grammar: …` (a standard) or `own: …` (thought up here). Both may stand more than once.
//! - `text`, `reasoning`: of the first reply. `call: name arguments`, once for each, in their order; the arguments as
//!   the program keeps them. After a reply with calls the service says `Done.`, unless the file has a further answer.
//! - `usage: input+output` or `input(cached)+output`.
//! - `fails`: the one sentence that the person reads; the exit code is 1. `again`: one such sentence for each attempt
//!   that failed before. `exit`: where it is neither 0 nor, with `fails`, 1.
//! - `asked`: how often the service is asked, where that is not once for each answer.
//! - `sent: 2 lacks stream_options`, `sent: 1 has tools`: what a request has at its top.
//! - `idle`: the profile's `idle_seconds`, 30 where it is not said.
//!
//! How an answer is written is told in `bytes.rs`.

mod bytes;

use super::service::Answer;
use std::path::{Path, PathBuf};

/// Where the fixtures are.
pub fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/wire")
}

/// One quirk.
#[derive(Debug, Clone, Default)]
pub struct Fixture {
    /// Its path below the folder, without its ending.
    pub name: String,
    /// What the server does.
    pub what: Vec<String>,
    /// Where that is told.
    pub source: Vec<String>,
    /// What the service answers, one after another.
    pub answers: Vec<Answer>,
    /// What must come of it.
    pub expected: Expected,
    /// The longest silence, in seconds.
    pub idle: Option<u64>,
    /// What requests must have at their top: which one, whether it has it, and its name.
    pub sent: Vec<(usize, bool, String)>,
}

/// What must come of an answer.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Expected {
    pub text: String,
    pub reasoning: String,
    /// Names and arguments.
    pub calls: Vec<(String, String)>,
    /// Input, cached, output.
    pub usage: Option<(u64, u64, u64)>,
    pub fails: Option<String>,
    pub again: Vec<String>,
    pub exit: i32,
    pub asked: usize,
}

/// All fixtures, by their names. An error names the file and the line.
pub fn all() -> Result<Vec<Fixture>, String> {
    let mut files = Vec::new();
    let mut folders = vec![folder()];
    while let Some(at) = folders.pop() {
        for entry in std::fs::read_dir(&at).map_err(|error| format!("{}: {error}", at.display()))? {
            let path = entry.map_err(|error| error.to_string())?.path();
            if path.is_dir() { folders.push(path) } else { files.push(path) }
        }
    }
    files.sort();
    files.iter().map(|file| one(file)).collect()
}

fn one(file: &Path) -> Result<Fixture, String> {
    let short = file.strip_prefix(folder()).unwrap_or(file).to_string_lossy().into_owned();
    let Some(name) = short.strip_suffix(".wire") else { return Err(format!("{short}: not a .wire file")) };
    let text = std::fs::read_to_string(file).map_err(|error| format!("{short}: {error}"))?;
    read(name, &text).map_err(|error| format!("tests/wire/{short}:{error}"))
}

/// Reads one. An error begins with the line.
pub fn read(name: &str, text: &str) -> Result<Fixture, String> {
    let mut fixture = Fixture { name: name.to_owned(), ..Fixture::default() };
    let (mut exit, mut asked) = (None, None);
    let lines: Vec<&str> = text.lines().collect();
    let mut at = 0;
    while at < lines.len() && !lines[at].starts_with("--- ") {
        head(&mut fixture, lines[at], &mut exit, &mut asked).map_err(|why| format!("{}: {why}", at + 1))?;
        at += 1;
    }
    loop {
        let fail = |why: &str| Err(format!("{}: {why}", at + 1));
        let Some(line) = lines.get(at) else { return fail("the file ends without `--- end`") };
        let headed = match *line {
            "--- end" => break,
            "--- answer" => true,
            "--- bytes" => false,
            _ => return fail("a section is `--- answer`, `--- bytes` or `--- end`"),
        };
        let first = at + 1;
        at = first + lines[first..].iter().position(|line| line.starts_with("--- ")).unwrap_or(lines.len() - first);
        let answer = bytes::read(&lines[first..at], headed);
        fixture.answers.push(answer.map_err(|(line, why)| format!("{}: {why}", first + line + 1))?);
    }
    let fail = |why: &str| Err(format!("{}: {why}", at + 1));
    if at + 1 != lines.len() {
        return fail("something stands behind `--- end`");
    }
    if fixture.what.is_empty() || fixture.source.is_empty() || fixture.answers.is_empty() {
        return fail("a fixture says `what` and `source`, and has an answer");
    }
    let expected = &mut fixture.expected;
    if !expected.calls.is_empty() && expected.fails.is_some() {
        return fail("what fails runs no calls");
    }
    if !expected.calls.is_empty() && fixture.answers.len() == 1 {
        fixture.answers.push(Answer::stream().says("Done.").finish("stop").done());
    }
    expected.exit = exit.unwrap_or(i32::from(expected.fails.is_some()));
    expected.asked = asked.unwrap_or(fixture.answers.len());
    Ok(fixture)
}

fn head(fixture: &mut Fixture, line: &str, exit: &mut Option<i32>, asked: &mut Option<usize>) -> Result<(), String> {
    if line.is_empty() || line.starts_with('#') {
        return Ok(());
    }
    let (key, value) = line.split_once(':').ok_or("a line of the head is `key: value`")?;
    let value = value.strip_prefix(' ').unwrap_or(value);
    if value.is_empty() {
        return Err(format!("`{key}` says nothing"));
    }
    let number = || value.parse::<u64>().map_err(|_| format!("`{value}` is no number"));
    let expected = &mut fixture.expected;
    match key {
        "what" => fixture.what.push(value.to_owned()),
        "source" if is_source(value) => fixture.source.push(value.to_owned()),
        "source" => {
            return Err("a source is `owner/repo#1`, `https://…`, `grammar: …` or `own: …`".to_owned());
        }
        "text" => once(&mut expected.text, bytes::text(value)?)?,
        "reasoning" => once(&mut expected.reasoning, bytes::text(value)?)?,
        "call" => {
            let (name, arguments) = value.split_once(' ').ok_or("a call is `name arguments`")?;
            expected.calls.push((bytes::text(name)?, bytes::text(arguments)?));
        }
        "usage" if expected.usage.is_none() => expected.usage = Some(usage(value).ok_or("`input(cached)+output`")?),
        "fails" if expected.fails.is_none() => expected.fails = Some(bytes::text(value)?),
        "again" => expected.again.push(bytes::text(value)?),
        "exit" if exit.is_none() => *exit = Some(i32::try_from(number()?).map_err(|_| "no exit code")?),
        "asked" if asked.is_none() => *asked = usize::try_from(number()?).ok(),
        "idle" if fixture.idle.is_none() => fixture.idle = Some(number()?),
        "sent" => {
            let words: Vec<&str> = value.split(' ').collect();
            let [which, has @ ("has" | "lacks"), name] = words[..] else {
                return Err("`sent` is `1 has name` or `1 lacks name`".to_owned());
            };
            let which = which.parse().map_err(|_| format!("`{which}` is no number"))?;
            fixture.sent.push((which, has == "has", name.to_owned()));
        }
        "usage" | "fails" | "exit" | "asked" | "idle" => return Err(format!("`{key}` stands twice")),
        _ => return Err(format!("`{key}` is no key of a fixture")),
    }
    Ok(())
}

fn once(place: &mut String, value: String) -> Result<(), String> {
    if !place.is_empty() {
        return Err("stands twice".to_owned());
    }
    *place = value;
    Ok(())
}

fn is_source(value: &str) -> bool {
    let thread = value.split_once('#').is_some_and(|(repo, number)| {
        repo.split('/').filter(|part| !part.is_empty() && !part.contains(' ')).count() == 2
            && repo.matches('/').count() == 1
            && number.parse::<u32>().is_ok()
    });
    thread || ["https://", "grammar: ", "own: "].iter().any(|start| value.starts_with(start))
}

fn usage(value: &str) -> Option<(u64, u64, u64)> {
    let (input, output) = value.split_once('+')?;
    let (input, cached) = match input.split_once('(') {
        Some((input, cached)) => (input, cached.strip_suffix(')')?),
        None => (input, "0"),
    };
    Some((input.parse().ok()?, cached.parse().ok()?, output.parse().ok()?))
}
