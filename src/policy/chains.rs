//! Splitting of command lines such as `cd x && a | tail` into parts that can be judged alone.

use super::command_line::{Connector, ParsedLine, Redirect, SimpleCommand, parse_command_line};
use super::effects::working_directories;
use super::step_folders::step_folders;
use std::ops::Range;

/// Maximum number of parts that are judged one by one. A longer line is judged only as a whole.
const MAX_PARTS: usize = 12;

/// One command of a line, with the text that would run it alone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainPart {
    /// Text without redirections.
    pub command: String,
    /// Possible working directories in one shell, relative to the project.
    pub folders: Vec<String>,
    /// Those of a line that runs in steps. None if the part never runs.
    pub step_folders: Vec<String>,
    /// True if it reads the output of another part.
    pub has_input: bool,
    /// True for the builtin `cd`.
    pub changes_folder: bool,
    /// Operator before it.
    pub connector: Connector,
    /// Its bytes in the line, with its redirections.
    pub span: Range<usize>,
}

/// Commands of a line that run at the same time: a pipeline, or a single command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pipeline {
    /// Operator before it.
    pub connector: Connector,
    /// Its text in the line, with its redirections.
    pub text: String,
    /// Indexes of its parts.
    pub parts: Range<usize>,
}

/// Splits a line that consists of plain commands joined by `&&`, `||`, `;`, newlines and pipes. Returns no parts for a
/// single plain command, and for a line with any other syntax, except redirections that reach no file.
pub fn split_chain(parsed_line: &ParsedLine) -> Vec<ChainPart> {
    let commands = &parsed_line.commands;
    let is_single = commands.len() == 1 && commands[0].redirects.is_empty();
    if parsed_line.unclear.is_some() || is_single || commands.len() > MAX_PARTS {
        return Vec::new();
    }
    let parts: Option<Vec<ChainPart>> = commands
        .iter()
        .zip(working_directories(parsed_line))
        .zip(step_folders(commands))
        .map(|((simple, folders), step_folders)| to_part(simple, folders, step_folders))
        .collect();
    parts.unwrap_or_default()
}

fn to_part(simple: &SimpleCommand, folders: Vec<String>, step_folders: Vec<String>) -> Option<ChainPart> {
    let is_joined_plainly = simple.nesting.is_empty()
        && simple.pipelines.len() <= 1
        && !simple.is_background
        && !simple.is_negated
        && simple.redirects.iter().all(reaches_no_file);
    // Only a text that is known to run the same command is judged in its place.
    let alone = parse_command_line(&simple.text);
    let [same] = alone.commands.as_slice() else { return None };
    let is_same = alone.unclear.is_none()
        && !simple.words.is_empty()
        && same.words == simple.words
        && same.assignments == simple.assignments
        && same.wrappers == simple.wrappers
        && same.inline_code == simple.inline_code
        && same.script == simple.script
        && same.redirects.is_empty();
    let changes_folder = simple.program() == Some("cd");
    // A `cd` in a pipeline or run by another program moves nothing.
    let is_plain_cd = simple.pipelines.is_empty() && simple.wrappers.is_empty() && simple.assignments.is_empty();
    (is_joined_plainly && is_same && (!changes_folder || is_plain_cd)).then(|| ChainPart {
        command: simple.text.clone(),
        folders,
        step_folders,
        has_input: simple.pipelines.iter().any(|(_, stage)| *stage > 0),
        changes_folder,
        connector: simple.connector,
        span: simple.span.clone(),
    })
}

/// Groups the parts of a line into its pipelines. `None` if anything but the operators is between them.
pub fn group_pipelines(line: &str, parts: &[ChainPart]) -> Option<Vec<Pipeline>> {
    let mut pipelines: Vec<Pipeline> = Vec::new();
    let mut end = 0;
    for (index, part) in parts.iter().enumerate() {
        let is_expected = |operator: &str| match part.connector {
            Connector::First => operator.is_empty(),
            Connector::Semicolon => operator.is_empty() || operator == ";",
            Connector::And => operator == "&&",
            Connector::Or => operator == "||",
            Connector::Pipe => operator == "|",
            Connector::PipeWithStderr => operator == "|&",
            Connector::Ampersand => false,
        };
        if !is_expected(&operator_in(line.get(end..part.span.start)?)) {
            return None;
        }
        match pipelines.last_mut().filter(|_| part.has_input) {
            Some(pipeline) => {
                pipeline.parts.end = index + 1;
                pipeline.text.push_str(line.get(end..part.span.end)?);
            }
            None => pipelines.push(Pipeline {
                connector: part.connector,
                text: line.get(part.span.clone())?.to_owned(),
                parts: index..index + 1,
            }),
        }
        end = part.span.end;
    }
    operator_in(line.get(end..)?).trim_end_matches(';').is_empty().then_some(pipelines)
}

/// Returns what is between two commands, without blanks, line continuations and comments.
fn operator_in(gap: &str) -> String {
    let without_comment = |line: &str| line.split('#').next().unwrap_or_default().trim().to_owned();
    gap.replace("\\\n", "").lines().map(without_comment).collect()
}

/// Returns whether a redirection only joins descriptors, or opens `/dev/null`.
fn reaches_no_file(redirect: &Redirect) -> bool {
    match redirect {
        Redirect::Descriptor => true,
        Redirect::Read(word) | Redirect::Write(word) | Redirect::Append(word) => word.known_text() == Some("/dev/null"),
        Redirect::Text(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the parts as `command@folder,folder`, with `|` before those that read the output of another part.
    fn split(line: &str) -> Vec<String> {
        let parts = split_chain(&parse_command_line(line));
        let format_part = |part: &ChainPart| {
            format!("{}{}@{}", if part.has_input { "|" } else { "" }, part.command, part.folders.join(","))
        };
        parts.iter().map(format_part).collect()
    }

    #[test]
    fn splits_lines_of_plain_commands() {
        for (line, expected) in [
            ("a x && b", vec!["a x@", "b@"]),
            ("a; b || c\nd", vec!["a@", "b@", "c@", "d@"]),
            ("cargo test 2>&1 | tail -n 20", vec!["cargo test@", "|tail -n 20@"]),
            ("a 2>/dev/null", vec!["a@"]),
            ("a > /dev/null 2>&1 && b", vec!["a@", "b@"]),
            ("a 2>&1 x && b", vec!["a x@", "b@"]),
            ("a 1 2>&1 'x y' >/dev/null -q | tail", vec!["a 1 'x y' -q@", "|tail@"]),
            ("cd 2>/dev/null web && b", vec!["cd web@", "b@web"]),
            ("timeout 2>&1 5 a && b", vec!["timeout 5 a@", "b@"]),
            ("bash 2>&1 x.sh && a", vec!["bash x.sh@", "a@"]),
            ("cd web && npm test", vec!["cd web@", "npm test@web"]),
            ("cd web; npm test", vec!["cd web@", "npm test@,web"]),
            ("cd web && a; b", vec!["cd web@", "a@web", "b@,web"]),
            ("cd web && a || b", vec!["cd web@", "a@web", "b@,web"]),
            ("a |& tail", vec!["a@", "|tail@"]),
            ("a; echo \"exit: $?\"", vec!["a@", "echo \"exit: $?\"@"]),
            ("git commit -m 'a && b' && c", vec!["git commit -m 'a && b'@", "c@"]),
        ] {
            assert_eq!(split(line), expected, "{line}");
        }
    }

    #[test]
    fn leaves_every_other_syntax_whole() {
        for line in [
            "a",
            "a x y",
            "a & b",
            "a && b &",
            "(a) && b",
            "{ a; } && b",
            "a $(b) && c",
            "a `b` && c",
            "a <(b) && c",
            "! a && b",
            "a && ! b",
            "a > x && b",
            "a >> x && b",
            "a < x && b",
            "a <<E && b\nx\nE",
            "a <<< x && b",
            "for x in y; do a; done",
            "if a; then b; fi",
            "f() { a; }; f",
            "f() { a; } && f",
            "alias a=b && a",
            "bash -c 'a' && b",
            "a 2>&1 $(b) && c",
            "a 2>&1 x > y && b",
            "timeout 5 a 2>&1 b && c",
            "bash 2>&1 -c 'a' && b",
            "find . 2>/dev/null -exec rm '{}' ';' && a",
            "2>&1 a x && b",
            "A=b && a",
            "a && > /dev/null",
            "cd x | a",
            "env cd x && a",
            "$X && a",
            "a && 'unclosed",
            "a >& x && b",
            "find . -exec b ';' && a",
        ] {
            assert_eq!(split(line), Vec::<String>::new(), "{line}");
        }
        assert_eq!(split(&["a"; MAX_PARTS].join(" && ")).len(), MAX_PARTS);
        assert_eq!(split(&["a"; MAX_PARTS + 1].join(" && ")), Vec::<String>::new());
    }
}
