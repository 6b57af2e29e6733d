//! Tool that replaces text in a file.

use super::arguments::checked;
use super::{Error, Hands, Rehearsed, Stage, Tool, change, nearest, place};
use crate::chat::{Access, Intent, Plan, ToolSpec};
use crate::project::{self, Located, Reader};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};

/// Occurrences counted; more are reported as "or more".
const PLACES: usize = 100;

pub struct EditFile;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Arguments {
    path: String,
    old_text: String,
    new_text: String,
    all: Option<bool>,
}

#[async_trait]
impl Tool for EditFile {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "edit_file".to_owned(),
            description: "Replace old_text, which must occur exactly once in the file, with new_text."
                .to_owned(),
            parameters: json!({
                "type": "object",
                "properties": {
                    "path": { "type": "string", "description": "Relative to the project" },
                    "old_text": { "type": "string", "description": "Exactly as in the file, no line numbers" },
                    "new_text": { "type": "string", "description": "Replacement" },
                    "all": { "type": "boolean", "description": "Replace every occurrence" },
                },
                "required": ["path", "old_text", "new_text"],
                "additionalProperties": false,
            }),
        }
    }

    fn plan(&self, arguments: &Value, files: &dyn Reader) -> Result<Intent, Error> {
        let arguments: Arguments = checked(&self.spec(), arguments)?;
        let (old, new) = (change::bare(&arguments.old_text), change::bare(&arguments.new_text));
        if old.is_empty() {
            return Err(Error::Arguments(
                "old_text is empty. Use write_file to create or replace a file.".to_owned(),
            ));
        }
        if old == new {
            return Err(Error::Arguments(
                "old_text and new_text are the same; nothing would change.".to_owned(),
            ));
        }
        let at = place::locate(files, &arguments.path)?;
        let all = arguments.all.unwrap_or(false);
        let (before, after) = match looked_into(files, &at, old, new, all) {
            Ok(found) => found,
            Err(error) if matches!(place::reading(files, &at), Access::Read(_)) => return Err(error),
            // Nothing about a file that the user was not asked about is disclosed, not even whether it exists.
            Err(_) => {
                let shown = place::shown(&at);
                let why = format!(
                    "old_text does not occur exactly once in {shown}, or the file cannot be changed."
                );
                return match change::is_untold(files, &at) {
                    true => Ok(change::no_change(&at, &why)),
                    false => Err(Error::Failed(format!("{why} Call read_file first; the user is asked."))),
                };
            }
        };
        change::plan("edit_file", files, &at, Some(before), after, false)
    }

    async fn act(&self, plan: &Plan, hands: &Hands) -> Result<String, Error> {
        change::make(plan, hands.project.clone(), false).await
    }

    async fn rehearse(&self, plan: &Plan, stage: &Stage) -> Result<Rehearsed, Error> {
        change::rehearse(plan, stage.project.clone(), false).await
    }
}

/// Returns the file before and after the edit, or an error with all details.
fn looked_into(
    files: &dyn Reader,
    at: &Located,
    old: &str,
    new: &str,
    all: bool,
) -> Result<(String, String), Error> {
    let Some(before) = change::text(files, at)? else {
        return Err(project::Error::Missing(at.shown.clone()).into());
    };
    let shown = place::shown(at);
    match replaced(&before, old, new, all) {
        Ok(after) => Ok((before, after)),
        Err(Miss::Nowhere) => {
            Err(Error::Failed(format!("old_text does not occur in {shown}{}", nearest::told(&before, old))))
        }
        Err(Miss::Several(lines)) => {
            let count =
                if lines.len() < PLACES { lines.len().to_string() } else { format!("{PLACES} or more") };
            let named: Vec<String> = lines.iter().take(20).map(usize::to_string).collect();
            Err(Error::Failed(format!(
                "old_text occurs {count} times in {shown}, at lines {}. Include more context or set all.",
                named.join(", ")
            )))
        }
    }
}

enum Miss {
    Nowhere,
    /// Lines at which the matches start.
    Several(Vec<usize>),
}

fn replaced(before: &str, old: &str, new: &str, all: bool) -> Result<String, Miss> {
    let (crlf_old, crlf_new) = (change::to_crlf(old), change::to_crlf(new));
    let crlf = change::is_crlf(before);
    let (old, new) =
        if crlf && before.contains(&crlf_old) { (crlf_old.as_str(), crlf_new.as_str()) } else { (old, new) };
    let mut places = Vec::new();
    let mut from = 0;
    while let Some(at) = before[from..].find(old).map(|at| from + at) {
        places.push(at);
        if places.len() == PLACES {
            break;
        }
        // Overlapping matches count too: choosing one would be a guess.
        from = at + before[at..].chars().next().map_or(1, char::len_utf8);
    }
    match places.as_slice() {
        [] => Err(Miss::Nowhere),
        [_] => Ok(before.replacen(old, new, 1)),
        _ if all => Ok(before.replace(old, new)),
        several => {
            Err(Miss::Several(several.iter().map(|&at| before[..at].matches('\n').count() + 1).collect()))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::memory::Memory;
    use crate::tools::tests::{acted, planned};

    /// Checks the file after the edit, or the error.
    async fn check(before: &str, old: &str, new: &str, all: bool, expected: &str) {
        let files = Memory::with(&[("f", before)]);
        let arguments = json!({"path": "f", "old_text": old, "new_text": new, "all": all});
        let found = match planned(&EditFile, arguments, &files) {
            Ok(plan) => acted(&EditFile, &plan, &files).await.map(|_| files.text("f").unwrap_or_default()),
            Err(error) => Err(error),
        };
        assert_eq!(found.unwrap_or_else(|error| error.to_string()), expected);
    }

    #[tokio::test]
    async fn r24_replaces_exactly_the_given_text() {
        check("a\nb\n", "b", "c", false, "a\nc\n").await;
        check("a\r\nb\r\n", "a\nb", "c\nd", false, "c\r\nd\r\n").await;
        check("\u{feff}a\n", "\u{feff}a", "b", false, "\u{feff}b\n").await;
        check("x x\nx\n", "x", "y", true, "y y\ny\n").await;
        let twice = "old_text occurs 2 times in f, at lines 1, 3. Include more context or set all.";
        check("x\na\nx\n", "x", "y", false, twice).await;
        let overlap = "old_text occurs 2 times in f, at lines 1, 1. Include more context or set all.";
        check("aaa", "aa", "b", false, overlap).await;
        check(
            "  a\n",
            "\ta",
            "b",
            false,
            "old_text does not occur in f — only whitespace differs at line 1:\n1\t  a",
        )
        .await;
        check("a", "a", "a", false, "old_text and new_text are the same; nothing would change.").await;
        check("a", "", "a", false, "old_text is empty. Use write_file to create or replace a file.").await;
    }

    #[test]
    fn r13_failed_edit_discloses_nothing_of_a_secret() {
        let files = Memory::with(&[(".env", "KEY = e-hunter2\n")]);
        for old in ["KEY = x", "e", "hunter3"] {
            let arguments = json!({"path": ".env", "old_text": old, "new_text": ""});
            let error = planned(&EditFile, arguments, &files).unwrap_err().to_string();
            assert!(error.starts_with("old_text does not occur exactly once in .env"), "{old}: {error}");
        }
    }
}
