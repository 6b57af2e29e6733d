//! Stores results that are too long for the model as files of the session's workspace.

use super::result_outline::outline_range;
use crate::chat::stored_result::{write_outline, write_sentence};
use crate::chat::{Access, Digest, ToolCall};
use crate::mcp::result_text::ResultText;
use crate::project::output::LongOutput;
use crate::project::shell::CommandOutcome;
use crate::text::byte_size::format_bytes;
use crate::text::known_secrets::KnownSecrets;
use crate::text::workspace_address::WorkspacePath;
use crate::workspace::{NewFile, Origin, Replaces, Secrecy, Workspace};
use std::ops::Range;
use std::sync::Arc;

/// Folder of the stored results.
const FOLDER: &str = "results";
/// Maximum bytes of a stored result.
pub const MAX_RESULT_BYTES: usize = 10_000_000;
/// Maximum characters of the label in the name of a file.
const MAX_LABEL_CHARS: usize = 60;
/// Put in place of NUL bytes, because a file with them is not read as text.
const NUL_SIGN: &str = "\u{2400}";
/// Digits of the digest in the name of a file.
const DIGEST_DIGITS: usize = 8;

/// Note for the model about a stored result.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ResultNote {
    /// Names the file, or says why there is none; without a full stop.
    pub sentence: String,
    /// Lines about the omitted part, which contain text of the result; empty if there is no file.
    pub outline: String,
}

/// The files of the long results of a call. Without a workspace nothing is stored.
#[derive(Clone, Default)]
pub struct ResultFiles {
    workspace: Option<Arc<Workspace>>,
    /// Name of the tool that was called, and id of the call.
    tool: String,
    call: String,
    /// Removed from what is stored.
    secrets: KnownSecrets,
    is_rehearsal: bool,
    /// True if the result may hold secrets.
    may_hold_secrets: bool,
}

/// A long result.
pub(super) struct LongResult<'a> {
    /// Part of the name of the file, such as a host.
    pub label: &'a str,
    pub text: String,
    /// False if the end of the text is missing.
    pub is_complete: bool,
    /// Bytes of the text that the result does not contain.
    pub omitted: Range<usize>,
    /// Source of a text from outside: `a page of docs.rs`.
    pub untrusted_source: Option<String>,
}

impl ResultFiles {
    /// Creates the files of a call. `secrets` are removed from what is stored.
    pub fn new(workspace: Option<Arc<Workspace>>, call: &ToolCall, secrets: KnownSecrets) -> Self {
        let (tool, call) = (call.name.clone(), call.id.0.clone());
        Self { workspace, tool, call, secrets, is_rehearsal: false, may_hold_secrets: false }
    }

    /// Marks the files that the call writes as rehearsed.
    #[must_use]
    pub fn in_rehearsal(self) -> Self {
        Self { is_rehearsal: true, ..self }
    }

    /// Records the access of the call: the result of one that reads possible secrets is not for models of other sessions.
    #[must_use]
    pub fn with_access(self, access: &Access) -> Self {
        let may_hold_secrets = match access {
            Access::ReadSensitive(_) | Access::AyeFiles(_) => true,
            Access::Run(run) => run.may_disclose,
            _ => false,
        };
        Self { may_hold_secrets, ..self }
    }

    /// Returns the origin of a file that the call writes.
    pub(super) fn origin(&self) -> Origin {
        let (tool, call) = (self.tool.clone(), self.call.clone());
        Origin { tool, call, rehearsed: self.is_rehearsal, ..Origin::default() }
    }

    /// Stores a result and returns the note for the model about it. Stores at most [`MAX_RESULT_BYTES`]. If that fails, the
    /// note says why. `None` without a workspace.
    pub(super) async fn store(&self, result: LongResult<'_>) -> Option<ResultNote> {
        let workspace = self.workspace.clone()?;
        let LongResult { label, text, is_complete, omitted, untrusted_source } = result;
        // Every copy of the session has the result that names the file, also a live one.
        let secrecy = if self.may_hold_secrets { Secrecy::Result } else { Secrecy::None };
        let origin = Origin { untrusted_source, secrecy, rehearsed: false, ..self.origin() };
        let (label, secrets) = (clean_label(label), self.secrets.clone());
        let stored = tokio::task::spawn_blocking(move || {
            let clean = |part: &str| secrets.mask(part).replace('\0', NUL_SIGN);
            let [before, after] = [&text[..omitted.start], &text[omitted.end..]].map(|part| clean(part).len());
            let text = clean(&text);
            let kept = &text[..text.floor_char_boundary(MAX_RESULT_BYTES)];
            let digest = Digest::of_bytes(kept.as_bytes());
            let path = format!("{FOLDER}/{label}-{}.txt", &digest.as_str()[..DIGEST_DIGITS]);
            let path = WorkspacePath::parse(&path).map_err(|error| error.to_string())?;
            let file =
                NewFile { path: &path, bytes: kept.as_bytes(), origin, replaces: Replaces::Any, media_type: None };
            let file = workspace.write(&file).map_err(|error| error.to_string())?;
            let outline = outline_range(kept, before..text.len().saturating_sub(after).min(kept.len()));
            Ok::<_, String>((file, outline, !is_complete || kept.len() < text.len()))
        });
        Some(match stored.await {
            Ok(Ok((file, outline, is_cut))) => {
                let size = format_bytes(file.size);
                let text = if is_cut { format!("first {size} of the text") } else { format!("full text ({size})") };
                ResultNote { sentence: write_sentence(&text, &file.id), outline: write_outline(&outline) }
            }
            Ok(Err(reason)) => ResultNote::of_failure(reason.trim_end_matches('.')),
            Err(_) => ResultNote::of_failure("internal error"),
        })
    }

    /// Stores an output of which `result` omits a part, and inserts a note after the line that says so. The name of the file
    /// begins with the first word of `label`, such as a command line.
    pub async fn attach_long_output(&self, label: &str, output: Option<LongOutput>, result: &mut String) {
        let Some(output) = output else { return };
        let is_complete = output.is_complete;
        let Ok((text, omitted)) = tokio::task::spawn_blocking(|| output.into_text()).await else { return };
        let head_bytes = omitted.start;
        let label = label.split_whitespace().next().unwrap_or_default();
        let long_result = LongResult { label, text, is_complete, omitted, untrusted_source: None };
        let Some(ResultNote { sentence, outline }) = self.store(long_result).await else { return };
        let omission_end = result.get(head_bytes..).filter(|rest| rest.starts_with("\n["));
        let position = omission_end.and_then(|rest| Some(head_bytes + 1 + rest[1..].find('\n')? + 1));
        let position = position.unwrap_or(result.len());
        let line_end = if result[..position].ends_with('\n') { "" } else { "\n" };
        result.insert_str(position, &format!("{line_end}[{sentence}]\n{outline}"));
    }

    /// As [`Self::attach_long_output`], for the outcome of a command line.
    pub(super) async fn attach_to_outcome(&self, command_line: &str, outcome: &mut CommandOutcome) {
        self.attach_long_output(command_line, outcome.long_output.take(), &mut outcome.output).await;
    }

    /// Returns the result of an MCP server for the model, with a note if a file has the part that is not shown. `service` is
    /// the name of the server in rules.
    pub(super) async fn attach_server_text(&self, service: &str, result: ResultText) -> String {
        let ResultText { mut shown, whole } = result;
        let Some((text, omitted)) = whole else { return shown };
        let untrusted_source = Some(format!("a result of {service}"));
        let long_result = LongResult { label: &self.tool, text, is_complete: true, omitted, untrusted_source };
        if let Some(ResultNote { sentence, outline }) = self.store(long_result).await {
            shown.push_str(&format!("\n[{sentence}]\n{outline}"));
        }
        shown
    }
}

impl ResultNote {
    fn of_failure(reason: &str) -> Self {
        Self { sentence: format!("the whole text could not be stored: {reason}"), outline: String::new() }
    }
}

/// Returns a text as a part of a file name: letters, digits, dots, `-` and `_`.
fn clean_label(label: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || ".-_".contains(c);
    let label: String = label.chars().take(MAX_LABEL_CHARS).map(|c| if is_plain(c) { c } else { '-' }).collect();
    match label.trim_matches(['.', '-']) {
        "" => "result".to_owned(),
        label => label.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::chat::SessionId;
    use crate::chat::output_omission::HEAD;
    use crate::project::output::Output;
    use crate::store::Places;
    use crate::text::workspace_address::PathPrefix;
    use crate::workspace::Limits;

    fn call(tool: &str) -> ToolCall {
        ToolCall { id: "c1".into(), name: tool.into(), arguments: "{}".into() }
    }

    fn long_result(text: String) -> LongResult<'static> {
        let untrusted_source = Some("a page of a.example".to_owned());
        LongResult { label: "a.example/é x", text, is_complete: true, omitted: 8..24, untrusted_source }
    }

    #[tokio::test]
    async fn the_result_names_a_file_without_secrets() {
        let home = tempfile::tempdir().unwrap();
        let session = SessionId("01JDXA0000000000000000000Z".into());
        let workspace = Arc::new(Workspace::new(&Places::within(home.path()), session, Limits::default()));
        let secrets: KnownSecrets = ["hunter2-hunter2".to_owned()].into_iter().collect();
        let files = ResultFiles::new(Some(workspace.clone()), &call("web_fetch"), secrets);
        let text = format!("{}hunter2-hunter2", "é".repeat(MAX_RESULT_BYTES / 4));
        let note = files.store(long_result(text.clone())).await.unwrap();
        assert_eq!(files.store(long_result(text)).await.unwrap(), note, "the same text is the same file");
        assert_eq!(note.outline, "[omitted ranges, as offset+length: first line]\n4+8: éééééééé\n");
        let sentence = note.sentence;
        let stored = workspace.list(&PathPrefix::parse("results").unwrap()).unwrap();
        let [file] = stored.as_slice() else { panic!("{stored:?}") };
        assert!(file.path.as_str().starts_with("results/a.example---x-"), "{}", file.path);
        assert!(sentence.starts_with("full text (5.0 MB): workspace://"), "{sentence}");
        assert!(sentence.ends_with(&format!("{}, to be read with read_workspace_file", file.id)), "{sentence}");
        assert_eq!((file.origin.call.as_str(), file.origin.tool.as_str()), ("c1", "web_fetch"));
        assert_eq!(file.origin.untrusted_source.as_deref(), Some("a page of a.example"));
        let content = String::from_utf8(workspace.read(file).unwrap()).unwrap();
        assert!(
            !content.contains("hunter2-hunter2") && content.ends_with(']'),
            "{:.100}",
            &content[content.len() - 20..]
        );
        let binary = format!("a\0{}", "b".repeat(40));
        let note = files.store(long_result(binary)).await.unwrap();
        assert_eq!(note.outline, "[omitted ranges, as offset+length: first line]\n8+16: bbbbbbbbbbbbbbbb\n");
        let stored = workspace.list(&PathPrefix::parse("results").unwrap()).unwrap();
        let file = stored.iter().find(|file| note.sentence.contains(&file.id)).unwrap();
        assert!(workspace.read(file).unwrap().starts_with("a␀bb".as_bytes()), "it can be read as text");
        let long = files.store(long_result("é".repeat(MAX_RESULT_BYTES))).await.unwrap().sentence;
        assert!(long.starts_with("first 10.0 MB of the text: "), "{long}");
        assert_eq!(ResultFiles::default().store(long_result("x".into())).await, None);
    }

    #[tokio::test]
    async fn a_failure_is_named() {
        let home = tempfile::tempdir().unwrap();
        let limits = Limits { file_bytes: 3, ..Limits::default() };
        let workspace = Workspace::new(&Places::within(home.path()), SessionId("01A".into()), limits);
        let files = ResultFiles::new(Some(Arc::new(workspace)), &call("web_fetch"), KnownSecrets::default());
        let result = LongResult { omitted: 1..2, ..long_result("text".into()) };
        let ResultNote { sentence, outline } = files.store(result).await.unwrap();
        assert_eq!(outline, "");
        assert!(
            sentence.starts_with("the whole text could not be stored: Cannot store results/a.example"),
            "{sentence}"
        );
        assert!(sentence.contains("it has 4 bytes, and the limit is 3 bytes"), "{sentence}");
    }

    #[tokio::test]
    async fn a_note_follows_the_line_about_the_omission() {
        let home = tempfile::tempdir().unwrap();
        let session = SessionId("01JDXA0000000000000000000Z".into());
        let workspace = Arc::new(Workspace::new(&Places::within(home.path()), session, Limits::default()));
        let files = ResultFiles::new(Some(workspace.clone()), &call("web_fetch"), KnownSecrets::default());
        let text: String = (0..30_000).map(|number| format!("{number} é\n")).collect();
        let mut output = Output::keeping_middle();
        output.push(text.as_bytes());
        let long_output = output.long_output();
        let (shown, _) = output.into_text();
        let mut result = shown.clone();
        files.attach_long_output("cargo  test", long_output, &mut result).await;
        let (start, rest) = result.split_once(" bytes omitted]\n[full text (").unwrap();
        assert!(shown.starts_with(start) && start.len() > HEAD);
        let (note, rest) = rest.split_once("first line]\n").unwrap();
        assert!(note.contains("workspace://"), "{note}");
        let outline: Vec<&str> = rest.lines().take_while(|line| line.contains('+')).collect();
        let [file] = &workspace.list(&PathPrefix::parse("results").unwrap()).unwrap()[..] else { panic!() };
        assert!(file.path.as_str().starts_with("results/cargo-"), "{}", file.path);
        let content = String::from_utf8(workspace.read(file).unwrap()).unwrap();
        assert!(content == text);
        let omitted = outline.iter().map(|line| {
            let (offset, rest) = line.split_once('+').unwrap();
            let (length, first) = rest.split_once(": ").unwrap();
            let range: String = content.chars().skip(offset.parse().unwrap()).take(length.parse().unwrap()).collect();
            assert!(range.trim_start().starts_with(first.trim_end_matches('…')), "{line}: {range:.40}");
            range
        });
        let omitted: String = omitted.collect();
        let (head, marked) = shown.split_once("\n[").unwrap();
        assert!(format!("{head}{omitted}{}", marked.split_once("omitted]\n").unwrap().1) == text);
        files.attach_long_output("x", None, &mut result).await;
        assert_eq!(result.matches("workspace://").count(), 1);
    }
}
