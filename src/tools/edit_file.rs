//! Tool that replaces text in a file.

use super::arguments::{object_spec, parse_arguments};
use super::built_in_tool::BuiltInTool;
use super::{Error, LiveContext, RehearsalContext, RehearsalOutcome, Tool, closest_match, file_change, planned_path};
use crate::chat::{CallWords, Intent, Plan, ReferenceUse, ToolSpec};
use crate::project::{self, Location, Reader};
use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use std::borrow::Cow;
use std::sync::Arc;

/// The tool and its words.
pub(super) const TOOL: BuiltInTool =
    BuiltInTool { words: CallWords::new("edit_file", "Edit").with_path(), make: |_| Some(Arc::new(EditFile)) };

/// Maximum number of occurrences counted; more are reported as "or more".
const MAX_MATCHES: usize = 100;
/// The model gives only a part of the new content, unlike for write_file.
const IS_FULL_REPLACEMENT: bool = false;

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
    fn name(&self) -> Cow<'_, str> {
        TOOL.words.tool.into()
    }

    fn tool_spec(&self) -> ToolSpec {
        object_spec(
            "edit_file",
            "Replace old_text, which must occur once, with new_text.",
            json!({
                "path": { "type": "string", "description": "Relative to the project" },
                "old_text": { "type": "string", "description": "Without line numbers" },
                "new_text": { "type": "string", "description": "Replacement" },
                "all": { "type": "boolean", "description": "Every occurrence" },
            }),
            &["path", "old_text", "new_text"],
        )
        .with_file_references(&[("new_text", ReferenceUse::Text)])
    }

    fn plan_call(&self, arguments: &Value, files: &dyn Reader) -> Result<Intent, Error> {
        let arguments: Arguments = parse_arguments(&self.tool_spec(), arguments)?;
        let (old, new) = (file_change::strip_bom(&arguments.old_text), file_change::strip_bom(&arguments.new_text));
        if old.is_empty() {
            return Err(Error::Arguments("old_text is empty. Use write_file to create or replace a file.".to_owned()));
        }
        if old == new {
            return Err(Error::Arguments("old_text and new_text are the same; nothing would change.".to_owned()));
        }
        let location = planned_path::locate(files, &arguments.path)?;
        let replace_all = arguments.all.unwrap_or(false);
        let (before, after) = match plan_replacement(files, &location, old, new, replace_all) {
            Ok(texts) => texts,
            // An error with details could disclose the content of a file, or that the file exists.
            Err(error) => {
                let displayed_path = planned_path::display_path(&location);
                let message =
                    format!("old_text does not occur exactly once in {displayed_path}, or the file cannot be changed.");
                return file_change::hide_read_error(files, &location, error, &message);
            }
        };
        file_change::plan_change("edit_file", files, &location, Some(before), after, IS_FULL_REPLACEMENT)
    }

    async fn run(&self, plan: &Plan, context: &LiveContext) -> Result<String, Error> {
        file_change::write_change(plan, context.project.clone(), IS_FULL_REPLACEMENT).await
    }

    async fn rehearse(&self, plan: &Plan, context: &RehearsalContext) -> Result<RehearsalOutcome, Error> {
        file_change::rehearse_change(plan, context.project.clone(), IS_FULL_REPLACEMENT).await
    }
}

/// Returns the file before and after the edit, or an error with all details.
fn plan_replacement(
    files: &dyn Reader,
    location: &Location,
    old: &str,
    new: &str,
    replace_all: bool,
) -> Result<(String, String), Error> {
    let Some(before) = file_change::read_text(files, location)? else {
        return Err(project::Error::Missing(location.display_path.clone()).into());
    };
    let displayed_path = planned_path::display_path(location);
    match replace_text(&before, old, new, replace_all) {
        Ok(after) => Ok((before, after)),
        Err(ReplaceError::NotFound) => Err(Error::Failed(format!(
            "old_text does not occur in {displayed_path}{}",
            closest_match::describe_closest(&before, old)
        ))),
        Err(ReplaceError::Ambiguous(lines)) => {
            let count =
                if lines.len() < MAX_MATCHES { lines.len().to_string() } else { format!("{MAX_MATCHES} or more") };
            let line_numbers: Vec<String> = lines.iter().take(20).map(usize::to_string).collect();
            Err(Error::Failed(format!(
                "old_text occurs {count} times in {displayed_path}, at lines {}. Include more context or set all.",
                line_numbers.join(", ")
            )))
        }
    }
}

enum ReplaceError {
    NotFound,
    /// Lines at which the matches start.
    Ambiguous(Vec<usize>),
}

fn replace_text(before: &str, old: &str, new: &str, replace_all: bool) -> Result<String, ReplaceError> {
    let (crlf_old, crlf_new) = (file_change::to_crlf(old), file_change::to_crlf(new));
    let crlf = file_change::is_crlf(before);
    let (old, new) =
        if crlf && before.contains(&crlf_old) { (crlf_old.as_str(), crlf_new.as_str()) } else { (old, new) };
    let mut match_offsets = Vec::new();
    let mut search_start = 0;
    while let Some(offset) = before[search_start..].find(old).map(|relative| search_start + relative) {
        match_offsets.push(offset);
        if match_offsets.len() == MAX_MATCHES {
            break;
        }
        // Overlapping matches count too: choosing one would be a guess.
        search_start = offset + before[offset..].chars().next().map_or(1, char::len_utf8);
    }
    match match_offsets.as_slice() {
        [] => Err(ReplaceError::NotFound),
        [_] => Ok(before.replacen(old, new, 1)),
        _ if replace_all => Ok(before.replace(old, new)),
        offsets => Err(ReplaceError::Ambiguous(
            offsets.iter().map(|&offset| before[..offset].matches('\n').count() + 1).collect(),
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::memory_project::MemoryProject;
    use crate::tools::tests::{plan_call, run_call};

    /// Checks the file after the edit, or the error.
    async fn check_edit(before: &str, old: &str, new: &str, all: bool, expected: &str) {
        let files = MemoryProject::with_files(&[("f", before)]);
        let arguments = json!({"path": "f", "old_text": old, "new_text": new, "all": all});
        let result = match plan_call(&EditFile, arguments, &files) {
            Ok(plan) => run_call(&EditFile, &plan, &files).await.map(|_| files.text("f").unwrap_or_default()),
            Err(error) => Err(error),
        };
        assert_eq!(result.unwrap_or_else(|error| error.to_string()), expected);
    }

    #[tokio::test]
    async fn r24_replaces_exactly_the_given_text() {
        check_edit("a\nb\n", "b", "c", false, "a\nc\n").await;
        check_edit("a\r\nb\r\n", "a\nb", "c\nd", false, "c\r\nd\r\n").await;
        check_edit("\u{feff}a\n", "\u{feff}a", "b", false, "\u{feff}b\n").await;
        check_edit("x x\nx\n", "x", "y", true, "y y\ny\n").await;
        let twice = "old_text occurs 2 times in f, at lines 1, 3. Include more context or set all.";
        check_edit("x\na\nx\n", "x", "y", false, twice).await;
        let overlap = "old_text occurs 2 times in f, at lines 1, 1. Include more context or set all.";
        check_edit("aaa", "aa", "b", false, overlap).await;
        check_edit(
            "  a\n",
            "\ta",
            "b",
            false,
            "old_text does not occur in f — only whitespace differs at line 1:\n1\t  a",
        )
        .await;
        check_edit("a", "a", "a", false, "old_text and new_text are the same; nothing would change.").await;
        check_edit("a", "", "a", false, "old_text is empty. Use write_file to create or replace a file.").await;
    }

    #[test]
    fn r13_failed_edit_discloses_nothing_of_a_secret() {
        let files = MemoryProject::with_files(&[(".env", "KEY = e-hunter2\n")]);
        for old in ["KEY = x", "e", "hunter3"] {
            let arguments = json!({"path": ".env", "old_text": old, "new_text": ""});
            let error = plan_call(&EditFile, arguments, &files).unwrap_err().to_string();
            assert!(error.starts_with("old_text does not occur exactly once in .env"), "{old}: {error}");
        }
    }
}
